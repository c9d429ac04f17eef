"""A plan that is sent is believed in nothing: its joins are made anew from what is there."""

from copy import deepcopy
from dataclasses import replace

import pandas as pd
import pytest

from curator.makers import NAME, PURPOSE, ask, put, registration
from letalone.curator.storage.service_records import DataSetQuestion, Purpose, QuestionPrice
from letalone.errors import LetaloneError, NeighboursDiffer, ParameterError
from letalone.plans.clauses import PrivateJoin
from letalone.plans.schema import Column, Schema
from letalone.plans.stored_plans import plan_from_json
from letalone.privacy import REPLACE, Budget

SITES = pd.DataFrame({"ward": ["A", "B"], "beds": [10, 20]})
OTHERS = pd.DataFrame({"ward": ["A", "B"], "beds": [11, 20]})


@pytest.fixture
def plan(ready):
    """An honest plan that joins a public table."""
    sql = f"SELECT AVG(beds) AS b FROM {NAME} JOIN sites ON {NAME}.ward = sites.ward"
    question = DataSetQuestion(
        data_set=NAME, purpose=PURPOSE, sql=sql, tables={"sites": SITES}, bounds={"beds": (0, 30)}
    )
    return ready.asking.release(question, QuestionPrice(epsilon=0.1), by="ann").plan


def asked(curator, plan, *, tables=None, others=()):
    question = DataSetQuestion(
        data_set=NAME, purpose=PURPOSE, plan=plan, tables=tables or {}, others=others
    )
    return curator.asking.release(question, QuestionPrice(epsilon=0.1), by="ann")


def changed(plan, **fields):
    found = deepcopy(plan)
    found["joins"][0] |= fields
    return found


def test_an_honest_plan_is_answered_as_before(ready, plan):
    assert asked(ready, plan, tables={"sites": SITES}).repeated


def test_another_table_under_the_same_digest_is_refused(ready, plan):
    with pytest.raises(ParameterError, match="in another way"):
        asked(ready, plan, tables={"sites": OTHERS})


def test_columns_bounds_or_a_digest_that_are_made_up_are_refused(ready, plan):
    column = plan["joins"][0]["columns"][0]
    lies = [
        changed(plan, columns=[{**column, "type": {"type": "text"}}]),
        changed(plan, columns=[{**column, "lower": {"number": "0"}, "upper": {"number": "1"}}]),
        changed(plan, table_digest="0" * 64),
    ]
    spent = ready.ledger.data_set(NAME).spent
    for lie in lies:
        with pytest.raises(LetaloneError):
            asked(ready, lie, tables={"sites": SITES})
    found = ready.ledger.data_set(NAME)
    assert (found.spent, found.frozen) == (spent, False)


def labs(curator, **more):
    """Another table, for which ann has a grant."""
    columns = (Column("patient", more.pop("kind", "text")), Column("level", "integer"))
    schema = Schema("labs", columns, unit="patient", **more)
    lines = ["patient,level", *(f"{n},{n % 9}" for n in range(20))]
    one = registration(schema=schema, purposes=(Purpose(PURPOSE, Budget(4)),))
    curator.data_sets.register(one, file=put(curator, "labs.csv", lines), by="olga")
    made = curator.requests.make(
        "labs", purpose=PURPOSE, columns=["level"], budget=Budget(1), why="x", by="ann"
    )
    curator.requests.decide(made.id, grant=True, reason="x", by="stan")


def joining(curator):
    """A count joined with the other table, as somebody could write it by hand."""
    plan = plan_from_json(ask(curator).plan)
    kind = curator.data_sets.record("labs").schema.column("level")
    join = PrivateJoin("labs", (("patient", "patient"),), (kind,), 1)
    return replace(plan, joins=(join,)).to_json()


def test_two_private_tables_that_are_alike_are_joined_by_a_plan(ready):
    labs(ready)
    assert asked(ready, joining(ready), others=("labs",)).rows()
    assert ready.ledger.data_set("labs").spent == Budget(0.1)


@pytest.mark.parametrize(
    ("more", "error"),
    [({"neighbours": REPLACE}, NeighboursDiffer), ({"kind": "integer"}, ParameterError)],
)
def test_two_that_differ_in_neighbours_or_units_are_not(ready, more, error):
    labs(ready, **more)
    with pytest.raises(error):
        asked(ready, joining(ready), others=("labs",))
    assert not ready.ledger.data_set(NAME).frozen
    assert ready.ledger.data_set("labs").spent == Budget(0)
