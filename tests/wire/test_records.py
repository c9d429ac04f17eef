"""What a service writes is what a client reads: every record, and the values in them."""

from dataclasses import dataclass, is_dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from json import dumps, loads

import pytest
from pydantic import ValidationError

import letalone as la
from letalone.wire import records
from letalone.wire.json_values import BudgetField, SchemaField, budget_as_json, to_json
from letalone.wire.records import (
    AccessRequest,
    AccessToken,
    ColumnEffects,
    DataSetRecord,
    DataSetStanding,
    DeclaredPurpose,
    Grant,
    Holding,
    ImportEffects,
    OpenOwnerTask,
    PastReleaseRecord,
    Person,
    Proposal,
    ReleaseMade,
    Role,
    Scope,
    State,
    SubjectActResult,
    read_answer,
)

NOON = datetime(2031, 5, 6, 12, 30, 1, tzinfo=UTC)
THIRD = la.Budget(Fraction(1, 3), 1e-9)
EFFECTS = ColumnEffects("cost", 1, 2, 3, 4)
GRANT = Grant("visits", "care", "ann", ("ward",), THIRD, la.Budget(0.1), THIRD, NOON, False)
CARE = DeclaredPurpose("care", THIRD, NOON, "of patients")
SCHEMA = la.Schema("visits", (la.Column("ward", "text", keys=("A",)),), unit=None)
DATA_SET = ("visits", "of May", SCHEMA, (CARE,), True, date(2031, 5, 6), False)
STANDS = {"budget": THIRD, "spent": la.Budget(0.1), "remaining": THIRD}
SAMPLES = [
    GRANT,
    CARE,
    DataSetRecord(*DATA_SET),
    DataSetStanding(*DATA_SET, removal=NOON, version=2, frozen=False, **STANDS),
    AccessRequest("1", "visits", "care", "ann", ("a", "b"), THIRD, "?", None, State.OPEN, NOON),
    AccessToken("1", "ann", frozenset(Scope), "mine", NOON, NOON, False, True, date(2031, 5, 6)),
    EFFECTS,
    Holding("visits", None, True, NOON),
    ImportEffects(3, 2, 1, (EFFECTS,), version=7),
    OpenOwnerTask("1", "visits", "erase", NOON),
    PastReleaseRecord("1", "visits", "care", NOON, "count", {"n": [1, "1/3"]}),
    Person("ann", frozenset({Role.OWNER, Role.ANALYST}), True, False, NOON, "olga"),
    Proposal("1", "visits", None, "ann", THIRD, "more", State.GRANTED, "stan", NOON, reason="so"),
    ReleaseMade(7, "2031-05-06T12:30:01Z", "visits", 2, "count"),
    SubjectActResult("visits", 3, 2, "done"),
]


@dataclass(frozen=True)
class Declared:
    """A schema beside a budget, as a client reads a data set."""

    schema: SchemaField
    budget: BudgetField


def sent(value: object) -> object:
    return loads(dumps(to_json(value)))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_what_a_service_writes_a_client_reads(sample: object) -> None:
    assert read_answer(type(sample), sent(sample)) == sample


def test_every_record_has_its_sample() -> None:
    declared = {kind for kind in vars(records).values() if is_dataclass(kind)}
    assert {type(sample) for sample in SAMPLES} == declared


def test_what_a_newer_service_adds_is_ignored_and_what_is_missing_is_not() -> None:
    said = sent(GRANT)
    assert isinstance(said, dict)
    assert read_answer(Grant, {**said, "colour": "red"}) == GRANT
    with pytest.raises(ValidationError):
        read_answer(Grant, {name: value for name, value in said.items() if name != "budget"})


def test_an_error_holds_nothing_of_what_was_sent() -> None:
    said = sent(GRANT)
    assert isinstance(said, dict)
    for name in ("expires", "columns", "withdrawn"):
        with pytest.raises(ValidationError) as error:
            read_answer(Grant, {**said, name: "la_SECRET"})
        assert "SECRET" not in str(error.value)


@pytest.mark.parametrize("typed", [0.1, Fraction(1, 3), 1e-9, 2, Fraction(10**30, 7)])
def test_exact_digits_come_back_exactly(typed: float) -> None:
    budget = la.Budget(typed)
    assert read_answer(Declared, {"schema": la.Schema("t", (la.Column("x", "integer"),)),
                                  "budget": sent(budget)}).budget == budget  # fmt: skip
    assert "e" not in str(budget_as_json(budget)["epsilon"])


def test_a_schema_comes_back_with_its_bounds_and_keys() -> None:
    columns = (
        la.Column("patient", "integer"),
        la.Column("cost", "number", lower=Fraction(1, 3), upper=10),
        la.Column("ward", "text", keys=["A", None]),
        la.Column("day", "date", keys=[date(2024, 1, 31)]),
    )
    schema = la.Schema("visits", columns, unit="patient", neighbours=la.REPLACE)
    said = {"schema": sent(schema), "budget": sent(THIRD)}
    assert read_answer(Declared, said).schema == schema
