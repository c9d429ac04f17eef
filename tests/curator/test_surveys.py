"""Surveys of a service: an invitation counts once, and nothing tells whose report is whose."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from letalone.curator.storage.refusals import AlreadyDecided, NotPermitted, NotThere
from letalone.errors import ParameterError
from letalone.local.questionnaires.questions import read_questionnaire

SURVEY = {
    "name": "mood",
    "title": "How are we?",
    "purpose": "To plan.",
    "epsilon": 2,
    "questions": [
        {"text": "Do you smoke?", "kind": "yes_no"},
        {"text": "Which floor?", "kind": "one_of", "options": ["1", "2", "3"]},
    ],
}


def make(curator, clock, **changes):
    ends = (clock() + timedelta(days=3)).date().isoformat()
    return curator.surveys.make(read_questionnaire(SURVEY | {"ends": ends} | changes), by="stan")


def test_each_invitation_counts_once_and_reports_are_added_up(peopled, clock):
    make(peopled, clock)
    first, second = peopled.surveys.invite("mood", 2, by="stan")
    peopled.surveys.take("mood", first, ["80", "20"])
    with pytest.raises(AlreadyDecided, match="used before"):
        peopled.surveys.take("mood", first, ["40", "20"])
    peopled.surveys.take("mood", second, ["80", "40"])
    record = peopled.surveys.record("mood", by="aud")
    assert (record.invited, record.people) == (2, 2)
    results = peopled.surveys.results("mood", by="aud")
    assert [result.people for result in results] == [2, 2]
    assert results[0].choices[0].value > 1, "two reports of yes: unbiased, so above 1"


@pytest.mark.parametrize(
    "reports", [["80"], ["80", "20", "80"], ["c0", "20"], ["80", "10"], ["80", "zz"], []]
)
def test_what_is_refused_uses_no_invitation_and_counts_nothing(peopled, clock, reports):
    make(peopled, clock)
    (secret,) = peopled.surveys.invite("mood", 1, by="stan")
    with pytest.raises(ParameterError):
        peopled.surveys.take("mood", secret, reports)
    assert peopled.surveys.record("mood", by="stan").people == 0
    assert all(not result.people for result in peopled.surveys.results("mood", by="stan"))
    peopled.surveys.take("mood", secret, ["80", "20"])


def test_the_store_tells_no_invitation_from_another_by_its_report(peopled, clock, tmp_path):
    """All that differs between the stores of two orders of the same reports: nothing."""
    make(peopled, clock)
    secrets = peopled.surveys.invite("mood", 3, by="stan")
    given = [["80", "20"], ["40", "40"], ["80", "40"]]
    for secret, reports in zip(secrets, given, strict=True):
        peopled.surveys.take("mood", secret, reports)
    database = peopled.surveys._shared.database
    with database.reading() as connection:
        tables = {
            name: connection.exec_driver_sql(f"SELECT * FROM {name}").all()
            for name in ("invitations", "report_counts")
        }
    assert {len(row) for row in tables["invitations"]} == {3}, "a digest, a survey, whether used"
    assert all(row[2] for row in tables["invitations"])
    counted = {(row[1], row[2]): row[3] for row in tables["report_counts"]}
    assert counted == {(0, "80"): 2, (0, "40"): 1, (1, "20"): 1, (1, "40"): 2}
    stored = json.dumps([[str(cell) for cell in row] for rows in tables.values() for row in rows])
    assert not any(secret in stored for secret in secrets)


def log_of(service):
    """SQLite's log: pages as they were after each transaction, one after the other."""
    return Path(f"{service._shared.database.place}-wal").read_bytes()


def test_no_log_tells_which_report_came_by_which_invitation(peopled, clock, monkeypatch):
    make(peopled, clock)
    surveys = peopled.surveys
    secrets = surveys.invite("mood", 3, by="stan")
    for secret in secrets[:2]:
        surveys.take("mood", secret, ["80", "20"])
        assert log_of(surveys) == b""
    with monkeypatch.context() as patch:
        patch.setattr(type(surveys._shared.database), "overwrite", lambda *_, **__: True)
        surveys.take("mood", secrets[2], ["40", "20"])
        assert b"report_counts" in log_of(surveys) or len(log_of(surveys)) > 4096, "power"
    surveys.close("mood", by="stan")
    assert log_of(surveys) == b""


def test_only_stewards_and_owners_make_invite_and_close_and_analysts_see_nothing(peopled, clock):
    make(peopled, clock)
    ends = clock().date().isoformat()
    surveys = peopled.surveys
    other = read_questionnaire(SURVEY | {"name": "other", "ends": ends})
    for name in ("ann", "aud"):
        for act in (
            lambda by: surveys.make(other, by=by),
            lambda by: surveys.invite("mood", 1, by=by),
            lambda by: surveys.close("mood", by=by),
        ):
            with pytest.raises(NotPermitted):
                act(name)
    for look in (surveys.records, lambda by: surveys.results("mood", by=by)):
        with pytest.raises(NotPermitted):
            look(by="ann")


def test_a_survey_that_is_over_takes_nothing(peopled, clock):
    make(peopled, clock)
    make(peopled, clock, name="second")
    secret, late = peopled.surveys.invite("mood", 2, by="stan")
    peopled.surveys.close("mood", by="stan")
    for act in (
        lambda: peopled.surveys.take("mood", secret, ["80", "20"]),
        lambda: peopled.surveys.published("mood"),
        lambda: peopled.surveys.invite("mood", 1, by="stan"),
    ):
        with pytest.raises(NotThere, match="over"):
            act()
    (other,) = peopled.surveys.invite("second", 1, by="stan")
    clock.passed += timedelta(days=4)
    with pytest.raises(NotThere, match="over"):
        peopled.surveys.take("second", other, ["80", "20"])
    assert late


def test_names_ends_and_numbers_that_cannot_be_are_refused(peopled, clock):
    make(peopled, clock)
    with pytest.raises(AlreadyDecided, match="already"):
        make(peopled, clock)
    with pytest.raises(ParameterError, match="must be today or later"):
        make(peopled, clock, name="late", ends="2001-01-01")
    for number in (0, -1, 100_001):
        with pytest.raises(ParameterError, match="from 1 to 100,000"):
            peopled.surveys.invite("mood", number, by="stan")
    for name, secret in (("mood", "made-up"), ("nothing", "made-up")):
        with pytest.raises(NotThere):
            peopled.surveys.take(name, secret, ["80", "20"])


def test_an_invitation_of_one_survey_is_none_of_another(peopled, clock):
    make(peopled, clock)
    make(peopled, clock, name="second")
    (secret,) = peopled.surveys.invite("mood", 1, by="stan")
    with pytest.raises(NotThere, match="not one of this survey"):
        peopled.surveys.take("second", secret, ["80", "20"])


def test_closing_writes_rows_anew_and_changes_none(peopled, clock):
    make(peopled, clock)
    secrets = peopled.surveys.invite("mood", 3, by="stan")
    for secret, reports in zip(secrets, [["80", "80"], ["40", "20"], ["40", "20"]], strict=True):
        peopled.surveys.take("mood", secret, reports)
    before = peopled.surveys.results("mood", by="stan")
    record = peopled.surveys.close("mood", by="stan")
    assert (record.invited, record.people) == (3, 3)
    assert peopled.surveys.results("mood", by="stan") == before
    with peopled.surveys._shared.database.reading() as connection:
        query = "SELECT question, report FROM report_counts ORDER BY rowid"
        rows = [tuple(row) for row in connection.exec_driver_sql(query)]
    assert rows == sorted(rows), "and not as they came"


def test_a_survey_that_has_ended_is_written_anew_though_nobody_closes_it(peopled, clock):
    make(peopled, clock)
    secrets = peopled.surveys.invite("mood", 3, by="stan")
    for secret, reports in zip(secrets, [["80", "80"], ["40", "20"], ["40", "20"]], strict=True):
        peopled.surveys.take("mood", secret, reports)
    query = "SELECT question, report FROM report_counts ORDER BY rowid"
    database = peopled.surveys._shared.database
    with database.reading() as connection:
        rows = [tuple(row) for row in connection.exec_driver_sql(query)]
    assert rows != sorted(rows), "power: as they came"
    clock.passed += timedelta(days=4)
    assert peopled.surveys.close_ended() == ["mood"]
    with database.reading() as connection:
        rows = [tuple(row) for row in connection.exec_driver_sql(query)]
    assert rows == sorted(rows)
    assert peopled.surveys.record("mood", by="stan").closed is not None


@pytest.mark.parametrize("ends", ["9999-12-31", "0001-01-01"])
def test_an_end_that_no_calendar_goes_beyond_is_refused_in_words(peopled, clock, ends):
    with pytest.raises(ParameterError, match="within ten years"):
        make(peopled, clock, ends=ends)
