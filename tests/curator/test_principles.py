"""G1 to G8: what the curator promises to people in the data and to those who answer for it."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pyarrow.parquet as pq
import pytest
from sqlalchemy import create_engine, text

from curator.makers import (
    COUNT,
    LINES,
    NAME,
    OTHER,
    PASSWORD,
    PEOPLE,
    PURPOSE,
    SECRET,
    ask,
    grant,
    open_curator,
    put,
    registered,
    registration,
    whats,
    with_people,
)
from letalone.curator.data_sets import copies
from letalone.curator.storage.refusals import NotPermitted
from letalone.curator.storage.service_records import DataSetQuestion, Purpose
from letalone.errors import (
    BudgetExceeded,
    LedgerDamaged,
    LetaloneError,
    NotAllowed,
    ParameterError,
    UnsupportedQuery,
)
from letalone.ledger.chain.entries import EntryKind
from letalone.privacy import Budget
from letalone.wire.records import Role, Scope


def everything_in(folder):
    return b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file())


def test_g1_an_undeclared_column_is_nowhere_in_the_folder_of_the_curator(peopled):
    upload = peopled.data_sets.incoming("csv")
    upload.write_text("\n".join(LINES) + "\n")
    peopled.data_sets.register(registration(), upload=upload, by="olga")
    (kept,) = peopled.settings.data_folder.glob("*.parquet")
    assert pq.ParquetFile(kept).schema_arrow.names == ["patient", "ward", "cost", "age"]
    assert not upload.exists()
    content = everything_in(peopled.settings.folder)
    assert SECRET.encode() not in content
    assert b"diary" not in content


def test_g1_an_undeclared_column_is_not_even_loaded_to_be_left_out_later(peopled, monkeypatch):
    seen = []
    real = copies.save

    def look(duck, schema, target):
        seen.extend(duck.connection.execute("SELECT column_name FROM duckdb_columns()").fetchall())
        real(duck, schema, target)

    monkeypatch.setattr(copies, "save", look)
    registered(peopled)
    names = {name for (name,) in seen}
    assert "ward" in names
    assert "diary" not in names


def test_g2_bounds_and_types_are_enforced_and_the_counts_are_for_owner_and_steward(peopled):
    lines = ["patient,ward,cost,age", "p1,A,9999,30", "p2,C,x,31", ",B,5,32", "p3,B,5,", "p4,B,6,1"]
    registered(peopled, lines)
    found = peopled.data_sets.affected(NAME, by="stan")
    assert (found.rows_read, found.rows_kept, found.rows_without_unit) == (5, 4, 1)
    by_name = {one.name: one for one in found.columns}
    assert (by_name["cost"].clamped, by_name["cost"].unreadable) == (1, 1)
    assert by_name["ward"].other_keys == 1
    assert by_name["age"].missing == 1
    (kept,) = peopled.settings.data_folder.glob("*.parquet")
    assert pq.read_table(kept)["cost"].to_pylist() == [500.0, None, 5.0, 6.0]
    for name in ("ann", "aud"):
        with pytest.raises(NotPermitted):
            peopled.data_sets.affected(NAME, by=name)


def test_g3_every_data_set_grant_and_question_names_a_purpose(ready):
    with pytest.raises(ParameterError, match="needs at least one purpose"):
        registration(purposes=())
    with pytest.raises(ParameterError, match=r"has no purpose 'fun'\. Its purposes are: planning"):
        ready.requests.make(
            NAME, purpose="fun", columns=["ward"], budget=Budget(1), why="x", by="ann"
        )
    with pytest.raises(ParameterError, match="must be a text of 1 to 200"):
        DataSetQuestion(data_set=NAME, purpose="", sql=COUNT)
    assert [one.purpose for one in ready.requests.grants(by="ann", own=True)] == [PURPOSE]


@pytest.mark.parametrize(
    ("sql", "more", "error", "words"),
    [
        (COUNT, {"purpose": OTHER}, NotAllowed, "no grant to ask about 'visits' for the purpose"),
        (COUNT, {"by": "ben"}, NotAllowed, "no grant"),
        (f"SELECT AVG(age) FROM {NAME}", {}, NotAllowed, "Column 'age' of 'visits' is not in your"),
        (f"{COUNT} WHERE age > 30", {}, NotAllowed, "Column 'age'"),
        (COUNT, {"epsilon": 2.1}, BudgetExceeded, "'ann' for the purpose 'planning'|too little"),
        (f"SELECT * FROM {NAME}", {}, UnsupportedQuery, "returns single rows"),
    ],
)
def test_g4_a_question_outside_the_grant_is_refused_with_the_reason(ready, sql, more, error, words):
    before = ready.ledger.data_set(NAME).spent
    with pytest.raises(error, match=words):
        ask(ready, sql, **more)
    last = ready.ledger.entries(NAME)[-1]
    assert last.kind is EntryKind.REFUSED
    assert last.body["reason"] == error.__name__
    assert last.body["analyst"] == more.get("by", "ann")
    assert ready.ledger.data_set(NAME).spent == before
    assert ask(ready).epsilon == 0.1


def test_g4_a_purpose_or_grant_that_is_over_or_withdrawn_answers_nothing(ready, clock):
    ready.requests.withdraw_grant(NAME, purpose=PURPOSE, analyst="ann", why="left", by="stan")
    with pytest.raises(NotAllowed, match="Your grant for 'visits' was withdrawn"):
        ask(ready)
    soon = datetime.now(UTC) + timedelta(days=1)
    ready.data_sets.add_purpose(NAME, Purpose("brief", Budget(1), soon), by="olga")
    grant(ready, "ben", purpose="brief", budget=Budget(1))
    assert ask(ready, by="ben", purpose="brief")
    clock.passed = timedelta(days=2)
    with pytest.raises(NotAllowed, match="The purpose 'brief' for 'visits' has expired"):
        ask(ready, by="ben", purpose="brief")
    ready.data_sets.withdraw_purpose(NAME, "brief", why="done", by="stan")
    with pytest.raises(NotAllowed, match="was withdrawn"):
        ask(ready, by="ben", purpose="brief")


def test_g5_passwords_and_tokens_stand_nowhere_and_each_role_does_its_own_acts_only(ready):
    secret, _ = ready.tokens.make("ann", [Scope.ASK])
    content = everything_in(ready.settings.folder)
    assert secret.encode() not in content
    assert PASSWORD.encode() not in content
    assert sha256(secret.encode()).hexdigest().encode() in content
    assert b"$argon2id$" in content
    for name, acts in forbidden(ready).items():
        for act in acts:
            with pytest.raises(NotPermitted):
                act(name)


def forbidden(curator):
    """What each person may not do; each act would be fine for somebody else."""
    owners = [
        lambda by: curator.people.add("new", [Role.ANALYST], by=by),
        lambda by: curator.people.change_roles("ann", [Role.OWNER], by=by),
        lambda by: curator.people.reset_password("ann", by=by),
        lambda by: curator.people.disable("ann", by=by),
        lambda by: curator.people.enable("ann", by=by),
        lambda by: curator.data_sets.register(registration(), file=put(curator), by=by),
        lambda by: curator.data_sets.renew(NAME, file=put(curator), by=by),
        lambda by: curator.data_sets.raise_version(NAME, by=by),
        lambda by: curator.data_sets.add_purpose(NAME, Purpose("x", Budget(1)), by=by),
        lambda by: curator.data_sets.thaw(NAME, why="x", by=by),
        lambda by: curator.data_sets.retire(NAME, why="x", by=by),
        lambda by: curator.tokens.of("oskar", by=by),
    ]
    stewards = [
        lambda by: curator.requests.decide("x", grant=True, reason="x", by=by),
        lambda by: curator.requests.withdraw_grant(
            NAME, purpose=PURPOSE, analyst="ann", why="x", by=by
        ),
        lambda by: curator.proposals.make(NAME, Budget(9), why="x", by=by),
        lambda by: curator.proposals.second("x", by=by),
        lambda by: curator.proposals.refuse("x", reason="x", by=by),
        lambda by: curator.data_sets.withdraw_purpose(NAME, PURPOSE, why="x", by=by),
        lambda by: curator.data_sets.affected(NAME, by=by),
        lambda by: curator.subjects.holdings("p1", why="x", by=by),
        lambda by: curator.subjects.releases(NAME, "p1", why="x", by=by),
        lambda by: curator.subjects.rows(NAME, "p1", why="x", by=by),
        lambda by: curator.subjects.correct(NAME, "p1", row=0, changes={"age": 1}, why="x", by=by),
        lambda by: curator.subjects.erase(NAME, "p1", why="x", by=by),
        lambda by: curator.subjects.record_outcome("x", done=True, words="x", by=by),
    ]
    readers = [
        lambda by: curator.people.everybody(by=by),
        lambda by: curator.proposals.proposals(by=by),
        lambda by: curator.processing.record(by=by),
        lambda by: curator.processing.markdown(by=by),
    ]
    analysts = [
        lambda by: ask(curator, by=by),
        lambda by: curator.requests.make(
            NAME, purpose=PURPOSE, columns=["ward"], budget=Budget(1), why="x", by=by
        ),
    ]
    return {
        "ann": [*owners, *stewards, *readers],
        "aud": [*owners, *stewards, *analysts],
        "stan": [*owners, *analysts],
        "olga": analysts,
        "nobody": [*owners, *stewards, *readers, *analysts],
    }


def test_g6_the_public_page_says_purposes_unit_and_budget_and_nothing_of_the_rows(tmp_path):
    def page(folder, lines):
        with open_curator(folder, controller="A hospital") as curator:
            registered(with_people(curator), lines)
            found = curator.openness.page() | {"key": ""}
            return found, curator.openness.markdown()

    (tmp_path / "full").mkdir()
    (tmp_path / "empty").mkdir()
    full, words = page(tmp_path / "full", LINES)
    assert (full, words) == page(tmp_path / "empty", LINES[:1])
    (found,) = full["data_sets"]
    assert (found["name"], found["unit"], found["budget"]["epsilon"]) == (NAME, "patient", 5.0)
    assert [one["name"] for one in found["purposes"]] == [PURPOSE, OTHER]
    assert "A hospital" in words
    assert not set(words.split()) & set(PEOPLE)


def test_g6_the_public_page_shows_what_was_spent(ready):
    ask(ready, epsilon=0.5)
    (found,) = ready.openness.page()["data_sets"]
    assert found["spent"]["epsilon"] >= 0.5
    assert found["releases"] == 1
    assert "spent on 1 answer." in ready.openness.markdown()


def test_g7_a_person_learns_sees_corrects_and_erases_and_what_was_spent_stays(ready):
    ask(ready)
    held = ready.subjects.holdings("p3", by="stan", why="case 1")
    assert [(one.data_set, one.held) for one in held] == [(NAME, True)]
    assert len(ready.subjects.releases(NAME, "p3", by="stan", why="case 1")) == 1
    assert len(ready.subjects.rows(NAME, "p3", by="stan", why="case 1")) == 3
    done = ready.subjects.correct(
        NAME, "p3", row=1, changes={"cost": 7, "ward": "A"}, by="stan", why="case 1"
    )
    assert done.version == 2
    rows = ready.subjects.rows(NAME, "p3", by="stan", why="case 1")
    assert [(one["cost"], one["ward"]) for one in rows] == [(30.0, "B"), (7.0, "A"), (430.0, "B")]
    spent = ready.ledger.data_set(NAME).spent
    done = ready.subjects.erase(NAME, "p3", by="stan", why="case 2")
    assert (done.rows, done.version) == (3, 3)
    assert "What was spent stays spent" in done.words
    assert ready.ledger.data_set(NAME).spent == spent
    assert ready.subjects.rows(NAME, "p3", by="stan", why="case 2") == []
    assert len(ready.subjects.rows(NAME, "p4", by="stan", why="case 3")) == 3
    assert ask(ready).asked.version == 3


def test_g8_every_release_refusal_and_decision_is_an_entry_that_cannot_be_changed(ready):
    ask(ready)
    with pytest.raises(LetaloneError):
        ask(ready, f"SELECT MAX(diary) FROM {NAME}")
    found = whats(ready)
    acts = ["person added", "password changed", "registered", "requested", "granted"]
    assert set(acts) <= set(found)
    assert found[-3:] == ["reserved", "settled", "refused"]
    assert ready.ledger.verify()
    record = ready.processing.record(by="aud")
    assert record["activities"][0]["recipients"] == ["ann"]
    assert record["ledger"]["entries"] == len(ready.ledger)
    engine = create_engine(f"sqlite:///{ready.ledger.path}")
    with engine.begin() as connection:
        changed = "UPDATE entries SET text = replace(text, '\"granted\"', '\"refused\"')"
        assert connection.execute(text(changed)).rowcount
    engine.dispose()
    with pytest.raises(LedgerDamaged):
        ready.ledger.verify()


def test_g8_the_record_of_processing_has_the_fields_of_article_30(ready):
    (activity,) = ready.processing.record(by="stan")["activities"]
    assert set(activity) >= {
        "purposes", "categories_of_data_subjects", "categories_of_personal_data", "recipients",
        "transfers_to_third_countries", "time_limit_for_erasure",
    }  # fmt: skip
    words = ready.processing.markdown(by="stan")
    assert "| recipients | ann |" in words
