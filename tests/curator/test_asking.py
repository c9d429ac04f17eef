"""Asking: own answers only, no forged plan, no file of the server; one cap for all together."""

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import pandas as pd
import pytest
from sqlalchemy import update

from curator.makers import (
    COUNT,
    NAME,
    OTHER,
    PURPOSE,
    SCHEMA,
    SECRET,
    ask,
    grant,
    open_curator,
    put,
    registration,
)
from letalone.curator.asking.service import release_id
from letalone.curator.storage.refusals import NotThere
from letalone.curator.storage.service_records import DataSetQuestion, Purpose, QuestionPrice
from letalone.curator.storage.stored_values import write_time
from letalone.curator.storage.tables import RELEASES
from letalone.errors import (
    BudgetExceeded,
    FormatError,
    LetaloneError,
    NotAllowed,
    ParameterError,
)
from letalone.ledger import verify_receipt
from letalone.plans.aggregates.requests import count, mean
from letalone.plans.plan import make_plan
from letalone.plans.schema import Column, Schema
from letalone.privacy import Budget, PureDP
from letalone.wire.records import Role

BY_WARD = f"SELECT ward, COUNT(*) AS n FROM {NAME} GROUP BY ward"


def entries(curator):
    return [one.kind.value for one in curator.ledger.entries(NAME)]


def test_a_repeat_is_free_and_the_same(ready):
    first = ask(ready, BY_WARD)
    before = len(ready.ledger)
    again = ask(ready, BY_WARD)
    assert first.to_json() == again.to_json()
    assert (first.repeated, again.repeated) == (False, True)
    assert len(ready.ledger) == before


def test_a_repeat_by_another_analyst_costs_that_analyst_and_not_the_data_set(ready):
    mine = ask(ready)
    spent = ready.ledger.data_set(NAME).spent
    grant(ready, "ben", budget=Budget(1))
    theirs = ask(ready, by="ben")
    assert theirs.to_json() == mine.to_json()
    assert not theirs.repeated, "ben is not told that somebody asked before"
    assert ready.ledger.data_set(NAME).spent == spent
    (own,) = ready.requests.grants(by="ben", own=True)
    assert own.spent.epsilon == Fraction(1, 10)
    with pytest.raises(BudgetExceeded):
        ask(ready, by="ben", epsilon=0.95)


def test_answers_of_the_same_second_come_in_the_order_of_the_ledger(ready):
    asked = [ask(ready, epsilon=number / 100).to_json() for number in range(1, 9)]
    moment = ready._shared.clock()
    with ready._shared.database.writing() as connection:
        connection.execute(update(RELEASES).values(time=write_time(moment)))
    assert [one.release for one in ready.asking.history(by="ann")] == asked[::-1]


def test_own_answers_and_receipts_only(ready):
    found = ask(ready)
    (past,) = ready.asking.history(by="ann")
    assert past.id == release_id(found, analyst="ann", purpose=PURPOSE)
    assert past.release == found.to_json()
    receipt = ready.asking.receipt(past.id, by="ann")
    assert verify_receipt(receipt, public_key=ready.ledger.public_key).compared
    for who in ("ben", "stan", "olga", "aud"):
        assert ready.asking.history(by=who) == []
        with pytest.raises(NotThere):
            ready.asking.past(past.id, by=who)
        with pytest.raises(NotThere):
            ready.asking.receipt(past.id, by=who)
    assert ready.asking.history(by="ann", data_set="other") == []


def test_a_remembered_answer_is_forgotten_where_grant_or_version_change(ready):
    ask(ready, BY_WARD)
    grant(ready, columns=["cost"])
    with pytest.raises(NotAllowed, match="Column 'ward'"):
        ask(ready, BY_WARD)
    grant(ready, columns=["ward"])
    assert ask(ready, BY_WARD).repeated
    ready.data_sets.raise_version(NAME, by="olga")
    assert not ask(ready, BY_WARD).repeated
    grant(ready, "ben", columns=["cost"])
    with pytest.raises(NotAllowed):
        ask(ready, BY_WARD, by="ben")


def test_after_a_restart_a_repeat_is_still_free(ready, tmp_path):
    first = ask(ready, BY_WARD)
    with open_curator(tmp_path) as again:
        found = ask(again, BY_WARD)
        assert found.repeated
        assert found.to_json() == first.to_json()
        assert len(again.asking.history(by="ann")) == 1


def test_analysts_together_stay_within_the_data_sets_budget(ready):
    grant(ready, purpose=OTHER, budget=Budget(3))
    grant(ready, "ben", budget=Budget(2))
    grant(ready, "ben", purpose=OTHER, budget=Budget(3))
    grants = [("ann", PURPOSE), ("ann", OTHER), ("ben", PURPOSE), ("ben", OTHER)]
    paid = Fraction(0)
    for turn, (by, purpose) in enumerate(3 * grants):
        price = Fraction(600 + turn, 1000)  # each another, so that no answer is shared
        try:
            paid += ask(ready, by=by, purpose=purpose, epsilon=price).asked.epsilon
        except BudgetExceeded:
            continue
    assert 4 < paid <= 5, "the cap of the data set is 5, of the four grants together 10"
    assert ready.ledger.data_set(NAME).spent.epsilon == paid
    assert ready.ledger.verify()


def plan(schema):
    return make_plan(schema, {"n": count(), "cost": mean("cost")}).to_json()


def by_plan(curator, stored, **more):
    question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, plan=stored, **more)
    return curator.asking.release(question, QuestionPrice(epsilon=0.1), by="ann")


def test_a_plan_is_answered_as_its_sql_is(ready):
    found = by_plan(ready, plan(SCHEMA))
    asked = ask(ready, f"SELECT COUNT(*) AS n, AVG(cost) AS cost FROM {NAME}")
    assert found.asked.digest == asked.asked.digest
    assert found.to_json() == asked.to_json()


def forged(schema):
    columns = [replace(c, upper=1) if c.name == "cost" else c for c in schema.columns]
    yield replace(schema, columns=tuple(columns))  # bounds narrower: less noise
    yield replace(schema, unit=None)  # rows instead of people
    yield replace(schema, unit="ward", columns=tuple(replace(c, keys=None) for c in schema.columns))
    yield replace(schema, columns=(*schema.columns, Column("diary", "text")))
    yield replace(schema, name="other")
    yield replace(schema, version=7)


@pytest.mark.parametrize("schema", list(forged(SCHEMA)))
def test_a_plan_about_another_schema_is_refused_and_written_down(ready, schema):
    with pytest.raises(ParameterError, match="declared in another way"):
        by_plan(ready, plan(schema))
    assert entries(ready)[-1] == "refused"
    assert ready.ledger.data_set(NAME).releases == 0


@pytest.mark.parametrize("stored", [{}, {"format": 1}, {"format": 99, "kind": "plan"}, {"x": 0.5}])
def test_what_is_no_plan_is_refused_and_written_down(ready, stored):
    with pytest.raises(FormatError):
        by_plan(ready, stored)
    assert entries(ready)[-1] == "refused"


def test_a_public_table_is_sent_and_never_read_from_the_server(ready, tmp_path):
    (tmp_path / "x.csv").write_text("ward,site\nA,north\nB,south\n")
    for table in (str(tmp_path / "x.csv"), tmp_path / "x.csv", "/etc/passwd"):
        with pytest.raises(ParameterError, match="must be sent as a table"):
            DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=COUNT, tables={"x": table})
    frame = pd.DataFrame({"ward": ["A", "B"], "site": ["north", "south"]})
    sql = (
        f"SELECT site, COUNT(*) AS n FROM {NAME} JOIN sites ON {NAME}.ward = sites.ward"
        " GROUP BY site"
    )
    question = DataSetQuestion(
        data_set=NAME, purpose=PURPOSE, sql=sql, tables={"sites": frame},
        keys=["north", "south"],
    )  # fmt: skip
    assert len(ready.asking.release(question, QuestionPrice(epsilon=0.1), by="ann").rows()) == 2
    stored = ready.asking.history(by="ann")[0].release["plan"]
    assert by_plan(ready, stored, tables={"sites": frame}).repeated
    with pytest.raises(ParameterError, match="Send this public table"):
        by_plan(ready, stored)
    other = pd.DataFrame({"ward": ["A", "B"], "site": ["south", "north"]})
    with pytest.raises(ParameterError, match="in another way than the table is now"):
        by_plan(ready, stored, tables={"sites": other})
    grant(ready, columns=["cost"])
    with pytest.raises(NotAllowed, match="Column 'ward'"):
        ready.asking.release(question, QuestionPrice(epsilon=0.2), by="ann")


def test_two_data_sets_are_joined_only_with_grants_for_both(ready):
    columns = (Column("patient", "text"), Column("level", "number", lower=0, upper=9))
    labs = Schema("labs", columns, unit="patient")
    lines = ["patient,level", *(f"p{n},{n % 9}" for n in range(20))]
    one = registration(schema=labs, purposes=(Purpose(PURPOSE, Budget(4)),))
    ready.data_sets.register(one, file=put(ready, "labs.csv", lines), by="olga")
    sql = f"SELECT AVG(level) AS m FROM {NAME} JOIN labs ON {NAME}.patient = labs.patient"
    question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=sql, others=("labs",))
    with pytest.raises(NotAllowed, match="no grant to ask about 'labs'"):
        ready.asking.release(question, QuestionPrice(epsilon=0.1), by="ann")
    made = ready.requests.make(
        "labs", purpose=PURPOSE, columns=["patient"], budget=Budget(1), why="x", by="ann"
    )
    ready.requests.decide(made.id, grant=True, reason="x", by="stan")
    with pytest.raises(NotAllowed, match="Column 'level' of 'labs'"):
        ready.asking.release(question, QuestionPrice(epsilon=0.1), by="ann")
    made = ready.requests.make(
        "labs", purpose=PURPOSE, columns=["level"], budget=Budget(1), why="x", by="ann"
    )
    ready.requests.decide(made.id, grant=True, reason="x", by="stan")
    refused = [one.name for one in ready.ledger.entries() if one.kind.value == "refused"]
    assert sorted(refused) == ["labs"] * 2 + [NAME] * 2  # each stands in the record of both
    found = ready.asking.release(question, QuestionPrice(epsilon=0.1), by="ann")
    assert [one.releases for one in ready.ledger.data_sets()] == [1, 1]
    stored = DataSetQuestion(data_set=NAME, purpose=PURPOSE, plan=found.plan, others=("labs",))
    assert ready.asking.release(stored, QuestionPrice(epsilon=0.1), by="ann").repeated
    for field, value in (("version", 7), ("on", []), ("on", [["ward", "patient"]])):
        forged = deepcopy(found.plan)
        forged["joins"][0][field] = value
        with pytest.raises(LetaloneError):
            by_plan(ready, forged, others=("labs",))
    alone = DataSetQuestion(data_set=NAME, purpose=PURPOSE, plan=found.plan)
    with pytest.raises(ParameterError, match="Name it among the others"):
        ready.asking.release(alone, QuestionPrice(epsilon=0.2), by="ann")


def test_what_is_free_leaves_no_entry_where_it_is_refused(ready):
    asking, before = ready.asking, entries(ready)
    slips = (
        (DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql="SELECT wrad FROM visits"), 0.1),
        (DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql="SELECT AVG(age) FROM visits"), 0.1),
        (DataSetQuestion(data_set=NAME, purpose="fun", sql=COUNT), 0.1),
        (DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=COUNT), 1001),
    )
    for free in (asking.preview, asking.explain, asking.how_many_more, asking.epsilon_for):
        for question, epsilon in slips:
            with pytest.raises(LetaloneError):
                free(question, QuestionPrice(epsilon=epsilon, error=None), by="ann")
    assert entries(ready) == before


def test_previews_and_prices_touch_and_spend_nothing(ready):
    question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=BY_WARD)
    before = len(ready.ledger)
    preview = ready.asking.preview(question, QuestionPrice(epsilon=0.5), by="ann")
    epsilon = ready.asking.epsilon_for(question, QuestionPrice(error=30), by="ann")
    assert preview.errors["n"] > 0
    assert (
        ready.asking.preview(question, QuestionPrice(epsilon=epsilon), by="ann").errors["n"] <= 30
    )
    assert len(ready.ledger) == before
    found = ready.asking.release(question, QuestionPrice(error=30), by="ann")
    assert found.epsilon == epsilon


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"epsilon": None}, "either an epsilon to spend or an error to keep"),
        ({"epsilon": 0.1, "error": 5}, "and not both"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": 0.1, "delta": 2}, "delta"),
    ],
)
def test_prices_are_read_and_refusals_written_down(ready, more, words):
    with pytest.raises(ParameterError, match=words):
        ask(ready, **more)
    assert entries(ready)[-1] == "refused"


def test_questions_are_read():
    for more in ({}, {"sql": "x", "plan": {}}, {"plan": {}, "keys": ["A"]}):
        with pytest.raises(ParameterError):
            DataSetQuestion(data_set=NAME, purpose=PURPOSE, **more)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT",
        "DROP TABLE visits",
        f"SELECT cost FROM {NAME}",
        f"SELECT MAX(diary) FROM {NAME}",
        "SELECT COUNT(*) FROM other",
        "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
        f"EXPLAIN {COUNT}",
        f"{COUNT} WHERE ward = '" + "x" * 200_000 + "'",
    ],
)
def test_sql_that_is_refused_is_written_down_and_tells_nothing(ready, sql):
    with pytest.raises(LetaloneError) as error:
        ask(ready, sql)
    assert SECRET not in str(error.value)
    assert str(ready.settings.folder) not in str(error.value)
    assert entries(ready)[-1] == "refused"


def test_an_unknown_data_set_is_not_there(ready):
    question = DataSetQuestion(data_set="nothing", purpose=PURPOSE, sql=COUNT)
    with pytest.raises(NotThere):
        ready.asking.release(question, QuestionPrice(epsilon=0.1), by="ann")


def test_what_is_left_is_told_anew_with_each_repeat(ready):
    first = ask(ready)
    ask(ready, epsilon=0.5)
    assert str(first.standing.left) != str(ask(ready).standing.left)


def test_a_refusal_has_the_same_words_whether_or_not_another_has_asked_before(ready):
    grant(ready, "ben", budget=Budget(1))
    said = []
    for _ in range(2):
        with pytest.raises(BudgetExceeded) as error:
            ask(ready, by="ben", epsilon=1.5)
        said.append((str(error.value), error.value.level, error.value.asked, error.value.left))
        ask(ready, by="ann", epsilon=1.5)
    assert said[0] == said[1]
    assert "PureDP" not in said[0][0]


def left(curator, by):
    question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql="SELECT COUNT(*) FROM visits")
    return curator.asking.remaining(question, PureDP(0.1), delta=0, by=by).words


def test_what_is_left_is_the_least_of_the_grant_the_purpose_and_the_data_set(ready):
    assert "ε = 2 of your grant of ε = 2, about 20 more" in left(ready, "ann")
    for name in ("ben", "kim"):
        if name == "kim":
            ready.people.add(name, [Role.ANALYST], by="olga")
        grant(ready, name, budget=Budget(2))
    ask(ready, by="ben", epsilon=2)
    ask(ready, by="kim", epsilon=1.5)
    assert "ε = 0.5 of the whole purpose 'planning' (ε = 4)" in left(ready, "ann")
    assert "about 5 more like this" in left(ready, "ann")
    grant(ready, "ben", purpose=OTHER, budget=Budget(3))
    ask(ready, by="ben", purpose=OTHER, epsilon=1.3)
    assert "ε = 0.2 of the whole data set 'visits' (ε = 5)" in left(ready, "ann")


@pytest.mark.parametrize("purpose", [" ", "\ud800", "a\x00b", "x" * 5000, "p\u202e", "nope"])
def test_a_refusal_for_an_odd_purpose_is_an_entry_too(ready, purpose):
    before = entries(ready)
    with pytest.raises(NotAllowed, match="no grant"):
        ask(ready, purpose=purpose)
    assert entries(ready) == [*before, "refused"]
    assert ready.ledger.verify()


def test_an_epsilon_beyond_a_thousand_is_refused_and_written_down(ready):
    before = entries(ready)
    with pytest.raises(ParameterError, match="at most 1,000 here"):
        ask(ready, epsilon=1001)
    assert entries(ready) == [*before, "refused"]
