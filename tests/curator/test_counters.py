"""Two counters in two services: both count the same reports, and each tells a noisy total once."""

from datetime import timedelta
from json import loads
from pathlib import Path
from secrets import token_bytes

import numpy as np
import pytest

from curator.makers import open_curator, with_people
from letalone.curator.storage.refusals import AlreadyDecided, NotRecognised, NotThere
from letalone.curator.surveys import service as survey_service
from letalone.curator.surveys.counters import FIRST, SECOND, HalfReport, split_questions
from letalone.errors import ParameterError, ServiceUnavailable
from letalone.local.questionnaires.questions import read_questionnaire

QUESTIONS = [
    {"text": "Do you smoke?", "kind": "yes_no"},
    {"text": "Which floor?", "kind": "one_of", "options": ["1", "2", "3"]},
    {"text": "Hours of sleep?", "kind": "number", "lower": 0, "upper": 12},
]


class Pair:
    """Two services that reach each other without a network; `away` cuts the line."""

    def __init__(self, first, second, clock):
        self.first, self.second, self.away = first.surveys, second.surveys.counters, ""
        ends = (clock() + timedelta(days=3)).date().isoformat()
        fields = {"name": "mood", "title": "How?", "purpose": "To plan.", "epsilon": 30}
        more = {"ends": ends, "two_counters": True, "questions": QUESTIONS}
        self.survey = read_questionnaire(fields | more)
        self.first.make(self.survey, by="stan")
        self.second.join(self.first.counters.invitation("mood"))
        self.secrets = self.first.invite("mood", 20, by="stan")

    def check(self, address, _, *, nonce, told):
        assert address == "https://second.example"
        if self.away == "before":
            raise ServiceUnavailable("away")
        answer = self.second.check("mood", nonce, told)
        if self.away == "after":
            raise ServiceUnavailable("away")
        return answer

    def total(self, _, part, nonces):
        self.second.check_bearer("mood", part.bearer)
        return [[int(n) for n in vector] for vector in self.second.tell("mood", SECOND, nonces)]

    def halves(self, *answers):
        nonce, questions = token_bytes(16), split_questions(self.survey)
        made = [
            question.prio3.shard(answer, nonce, token_bytes(question.prio3.random_size))
            for question, answer in zip(questions, answers, strict=True)
        ]
        public = tuple(one.public for one in made)
        return [HalfReport(nonce, public, tuple(one.shares[at] for one in made)) for at in (0, 1)]

    def send(self, secret, *answers):
        one, other = self.halves(*answers)
        self.second.receive("mood", other)
        self.first.take_half("mood", secret, one)
        return one


@pytest.fixture
def pair(tmp_path, clock, monkeypatch):
    more = {"other_counter": "https://second.example"}
    with (
        open_curator(tmp_path / "one", clock=clock, **more) as first,
        open_curator(tmp_path / "two", clock=clock) as second,
    ):
        with_people(first)
        made = Pair(first, second, clock)
        monkeypatch.setattr(survey_service, "ask_to_check", made.check)
        monkeypatch.setattr(survey_service, "ask_for_total", made.total)
        yield made


def test_results_come_when_the_survey_is_over_and_their_noise_is_drawn_once(pair):
    given = [(1, 0, 500), (1, 2, 1000), (0, 2, 250), (1, 2, 250)]
    for secret, answers in zip(pair.secrets, given, strict=False):
        pair.send(secret, *answers)
    assert all(not result.choices for result in pair.first.results("mood", by="stan")), "open"
    pair.first.close("mood", by="stan")
    smoke, floor, sleep = pair.first.results("mood", by="stan")
    assert smoke.people == 4
    assert [choice.label for choice in floor.choices] == ["1", "2", "3"]
    assert 0 <= sleep.choices[0].low <= sleep.choices[0].high <= 12
    assert pair.first.results("mood", by="stan") == [smoke, floor, sleep]


def test_totals_without_noise_are_exact(pair, monkeypatch):
    monkeypatch.setattr(
        "letalone.mechanisms.geometric.Geometric.release",
        lambda _, value, **__: np.asarray(value),
    )
    for secret, answers in zip(pair.secrets, [(1, 0, 500), (1, 2, 1000), (0, 2, 0)], strict=False):
        pair.send(secret, *answers)
    pair.first.close("mood", by="stan")
    smoke, floor, sleep = pair.first.results("mood", by="stan")
    assert [choice.value for choice in smoke.choices] == [pytest.approx(2 / 3)]
    assert [choice.value for choice in floor.choices] == pytest.approx([1 / 3, 0, 2 / 3])
    assert sleep.choices[0].value == pytest.approx(6)


def files_of(counters):
    """All bytes of the store: the database and its log."""
    place = counters._database.place
    return b"".join(Path(f"{place}{end}").read_bytes() for end in ("", "-wal"))


def shares_of(counters, place):
    """A long number of each stored share: the shares of one number add up to an answer."""
    query = f"SELECT shares FROM split_reports WHERE place = {place} AND shares IS NOT NULL"
    with counters._database.reading() as connection:
        rows = [loads(row[0]) for row in connection.exec_driver_sql(query).all()]
    return [max(vectors[0], key=len).encode() for vectors in rows]


def test_no_share_is_left_when_the_totals_are_told(pair):
    """Whoever holds both stores afterwards finds two noisy totals, and no answer."""
    for secret, answers in zip(pair.secrets, [(1, 0, 500), (0, 2, 250)], strict=False):
        pair.send(secret, *answers)
    stores = [(pair.first.counters, FIRST), (pair.second, SECOND)]
    shares = [shares_of(*store) for store in stores]
    for (counters, _), written in zip(stores, shares, strict=True):
        kept = files_of(counters)
        assert len(written) == 2
        assert all(share in kept for share in written), "power: before, the files hold them"
    pair.first.close("mood", by="stan")
    assert not any(share in files_of(pair.first.counters) for share in shares[0]), "at the end"
    before = pair.first.results("mood", by="stan")
    for (counters, _), written in zip(stores, shares, strict=True):
        kept = files_of(counters)
        assert not any(share in kept for share in written)
    assert pair.first.results("mood", by="stan") == before
    assert before[0].people == 2
    with pytest.raises(NotThere, match="over"):
        pair.second.check("mood", pair.first.counters.counted("mood")[0], [])


def test_junk_displaces_junk(pair, monkeypatch):
    """Halves that nobody asks about do not close the survey: one of them goes for the next."""
    monkeypatch.setattr("letalone.curator.surveys.counters.MAX_WAITING", 3)
    for _ in range(5):
        pair.second.receive("mood", pair.halves(1, 1, 1)[1])
    for secret in pair.secrets[:5]:
        pair.send(secret, 1, 0, 100)
    with pair.second._database.reading() as connection:
        query = "SELECT count(*) FROM split_reports WHERE shares IS NULL"
        assert connection.exec_driver_sql(query).scalar_one() <= 3
    assert pair.first.record("mood", by="stan").people == 5


def test_room_is_made_by_keys_alone_and_no_half_that_counts_is_looked_at(pair, monkeypatch):
    """Else junk is dear: each half would be read again with every half that comes."""
    database, plans = pair.second._database, []
    one = pair.send(pair.secrets[0], 1, 0, 100)
    monkeypatch.setattr("letalone.curator.surveys.counters.MAX_WAITING", 1)
    with database.reading() as connection:
        sqlite = connection.connection.driver_connection
    sqlite.set_trace_callback(plans.append)
    for _ in range(2):
        pair.second.receive("mood", pair.halves(1, 1, 1)[1])
    sqlite.set_trace_callback(None)
    with database.reading() as connection:
        looks = [words for words in plans if words.startswith("SELECT") and "place = 2" in words]
        room = [words for words in looks if "count(" in words or "OFFSET" in words]
        assert len(room) == 3, "two counts, and one that went"
        for words in room:
            (plan,) = connection.exec_driver_sql("EXPLAIN QUERY PLAN " + words).all()
            assert "COVERING INDEX" in plan[-1]
    pair.second.receive("mood", pair.halves(1, 1, 1)[1])
    assert len(shares_of(pair.second, SECOND)) == 1
    assert pair.first.counters.counted("mood") == [one.nonce.hex()]


def test_shares_that_a_reader_kept_in_the_log_go_with_the_next_question(pair, monkeypatch):
    """Two reports: of one alone the total is its share, where the noise is 0."""
    monkeypatch.setattr("letalone.curator.storage.database.OVERWRITE_MILLISECONDS", 1)
    for secret in pair.secrets[:2]:
        pair.send(secret, 1, 0, 500)
    pair.first.close("mood", by="stan")
    share, _ = shares_of(pair.second, SECOND)
    with pair.second._database.reading() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM split_reports").all()
        before = pair.first.results("mood", by="stan")
        assert share in files_of(pair.second), "power: a reader needs what it began with"
    assert pair.first.results("mood", by="stan") == before
    assert share not in files_of(pair.second)


def test_what_waits_goes_with_the_shares(pair):
    pair.send(pair.secrets[0], 1, 0, 500)
    waiting = pair.halves(1, 1, 1)[1]
    pair.second.receive("mood", waiting)
    assert waiting.nonce.hex().encode() in files_of(pair.second), "power"
    pair.first.close("mood", by="stan")
    pair.first.results("mood", by="stan")
    assert waiting.nonce.hex().encode() not in files_of(pair.second)


def test_a_survey_that_has_ended_keeps_no_share_though_nobody_closes_it(pair, clock):
    for secret in pair.secrets[:2]:
        pair.send(secret, 1, 0, 500)
    share, _ = shares_of(pair.first.counters, FIRST)
    assert pair.first.close_ended() == [], "its last day is not over"
    assert share in files_of(pair.first.counters), "power"
    clock.passed += timedelta(days=4)
    assert pair.first.close_ended() == ["mood"]
    assert share not in files_of(pair.first.counters)
    assert pair.first.results("mood", by="stan")[0].people == 2
    assert pair.first.close_ended() == []


@pytest.mark.parametrize("away", ["before", "after"])
def test_a_lost_line_loses_nothing_and_the_same_report_counts_once(pair, away):
    one, other = pair.halves(1, 0, 100)
    pair.second.receive("mood", other)
    pair.away = away
    with pytest.raises(ServiceUnavailable):
        pair.first.take_half("mood", pair.secrets[0], one)
    assert pair.first.record("mood", by="stan").people == 0
    pair.away = ""
    pair.second.receive("mood", other)
    pair.first.take_half("mood", pair.secrets[0], one)
    with pytest.raises(AlreadyDecided):
        pair.first.take_half("mood", pair.secrets[0], one)
    assert pair.first.counters.counted("mood") == [one.nonce.hex()]
    with pytest.raises(ParameterError, match="counted before"):
        pair.first.take_half("mood", pair.secrets[1], one)
    assert pair.first.record("mood", by="stan").people == 1


def test_a_half_that_does_not_fit_is_counted_by_neither(pair):
    one, other = pair.halves(1, 0, 100)
    changed = bytes([one.shares[0][0] ^ 1]) + one.shares[0][1:]
    broken = HalfReport(one.nonce, one.public, (changed, *one.shares[1:]))
    pair.second.receive("mood", other)
    with pytest.raises(ParameterError):
        pair.first.take_half("mood", pair.secrets[0], broken)
    with pytest.raises(NotThere, match="has not come"):
        pair.first.take_half("mood", pair.secrets[0], pair.halves(0, 0, 0)[0])
    assert pair.first.counters.counted("mood") == []
    pair.first.take_half("mood", pair.secrets[0], one)  # the right half still counts
    for nonce in ("", "00" * 15, "zz"):
        with pytest.raises(ParameterError):
            HalfReport.read(nonce, [], [])


def test_the_second_counter_answers_the_first_alone_and_tells_once(pair):
    pair.send(pair.secrets[0], 1, 0, 100)
    for bearer in ("0" * 64, "", "ÿ", "\ud800"):
        with pytest.raises(NotRecognised):
            pair.second.check_bearer("mood", bearer)
    waiting = pair.halves(1, 1, 1)[1]
    pair.second.receive("mood", waiting)
    for nonce in (token_bytes(16).hex(), waiting.nonce.hex()):
        with pytest.raises(ParameterError, match="has not counted"):
            pair.second.tell("mood", SECOND, [nonce])
    told = pair.second.tell("mood", SECOND, pair.first.counters.counted("mood"))
    assert pair.second.tell("mood", SECOND, []) == told, "a second draw would tell more"
    with pytest.raises(NotThere, match="over"):
        pair.second.receive("mood", pair.halves(1, 1, 1)[1])
    part = pair.first.counters.part("mood", FIRST)
    assert part.key.hex() not in part.bearer


def test_of_all_reports_with_one_name_one_counts(pair, monkeypatch):
    """A person who is told to send again counts once, whatever the first counter keeps."""
    monkeypatch.setattr(
        "letalone.mechanisms.geometric.Geometric.release",
        lambda _, value, **__: np.asarray(value),
    )
    nonce, questions = token_bytes(16), split_questions(pair.survey)
    made = [
        [question.prio3.shard(1, nonce, token_bytes(question.prio3.random_size)) for question in
         questions]
        for _ in range(3)
    ]  # fmt: skip
    sent = [
        [
            HalfReport(nonce, tuple(p.public for p in one), tuple(p.shares[at] for p in one))
            for at in (0, 1)
        ]
        for one in made
    ]
    pair.second.receive("mood", sent[0][1])
    pair.second.receive("mood", sent[1][1])
    with pytest.raises(ParameterError):
        pair.first.take_half("mood", pair.secrets[0], sent[0][0])  # its other half was replaced
    pair.first.take_half("mood", pair.secrets[0], sent[1][0])
    pair.second.receive("mood", sent[2][1])
    with pytest.raises(ParameterError):
        pair.first.take_half("mood", pair.secrets[1], sent[2][0])
    pair.first.close("mood", by="stan")
    smoke, floor, _ = pair.first.results("mood", by="stan")
    assert (smoke.people, smoke.choices[0].value) == (1, 1)
    assert [choice.value for choice in floor.choices] == [0, 1, 0]


def test_a_report_that_is_named_in_two_spellings_is_added_once(pair, monkeypatch):
    monkeypatch.setattr(
        "letalone.mechanisms.geometric.Geometric.release",
        lambda _, value, **__: np.asarray(value),
    )
    nonce = pair.send(pair.secrets[0], 1, 0, 100).nonce.hex()
    first = [[int(n) for n in v] for v in pair.first.counters.tell("mood", FIRST, [nonce])]
    spelled = [nonce, nonce.upper(), " ".join(nonce[at : at + 2] for at in range(0, 32, 2))]
    second = [[int(n) for n in v] for v in pair.second.tell("mood", SECOND, spelled)]
    totals = [
        question.prio3.add_up([one, other])
        for question, one, other in zip(split_questions(pair.survey), first, second, strict=True)
    ]
    assert totals == [[1], [1, 0, 0], [100]]


@pytest.mark.parametrize("told", [[], ["00"], ["zz"] * 3, ["00"] * 4])
def test_what_a_counter_makes_up_is_refused_in_words(pair, told, monkeypatch):
    one, other = pair.halves(1, 0, 100)
    pair.second.receive("mood", other)
    with pytest.raises(ParameterError):
        pair.second.check("mood", one.nonce.hex(), told)
    monkeypatch.setattr(survey_service, "ask_to_check", lambda *_, **__: told)
    with pytest.raises(ParameterError):
        pair.first.take_half("mood", pair.secrets[0], one)
    assert pair.first.record("mood", by="stan").people == 0


def test_two_counters_count_no_more_than_can_be_named_at_once(pair, monkeypatch):
    monkeypatch.setattr(survey_service, "MAX_COUNTED", 25)
    pair.first.invite("mood", 5, by="stan")
    with pytest.raises(ParameterError, match="at most 25"):
        pair.first.invite("mood", 1, by="stan")


def test_one_strength_is_not_mixed_with_the_other(pair, peopled):
    with pytest.raises(ParameterError, match="No second counter is named"):
        peopled.surveys.make(pair.survey, by="stan")
    with pytest.raises(ParameterError, match="two counters"):
        pair.first.take("mood", pair.secrets[0], ["80", "80", "80"])
    short = {"format": 1, "survey": pair.survey.to_json(), "key": "00"}
    alone = {"format": 1, "survey": pair.survey.to_json() | {"two_counters": False}}
    for document in ({}, [], {"format": 2}, short, alone | {"key": "00" * 32}):
        with pytest.raises(ParameterError):
            peopled.surveys.counters.join(document)
