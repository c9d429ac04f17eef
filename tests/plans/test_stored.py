"""Stored plans come back whole; what is damaged, newer or spelled otherwise is refused."""

import json
from copy import deepcopy
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings

from letalone.errors import FormatError
from letalone.exact.canonical import canonical
from letalone.plans.aggregates import requests as ask
from letalone.plans.expressions import Expression, case, col
from letalone.plans.plan import Plan, PublicJoin, bins, make_plan
from letalone.plans.schema import Column
from letalone.plans.stored_plans import plan_from_json
from letalone.plans.types import Type
from plans.samples import SCHEMA, conditions, numbers
from stages import pick

SAMPLE = Path(__file__).parent / "formats" / "plan_1.json"
DIGEST = "8a16aa6159f1c7fdfa26718da29589e443ebb5b64201d794c1fc7e58ef20a493"


def everything() -> Plan:
    """A plan with every kind of node, constant, aggregate and record."""
    conditions = [
        col("age") + 1 > -col("stay"),
        col("score") < Fraction(1, 3),
        ~(col("smokes") | (col("ward") == "é")),
        col("ward").isin(["A", "B"]),
        col("day") >= date(2024, 1, 31),
        col("seen") < datetime(2024, 1, 31, 12, 30, 0, 5),
        col("note").is_null(),
    ]
    where = conditions[0]
    for condition in conditions[1:]:
        where = where & condition
    return make_plan(
        SCHEMA,
        {
            "n": ask.count(),
            "units": ask.count_distinct(),
            "s": ask.sum("cost"),
            "m": ask.mean("age"),
            "v": ask.variance("age"),
            "d": ask.std("age"),
            "q": ask.quantile("age", [0.25, 0.75]),
            "e": ask.max("age"),
            "h": ask.histogram("age", [0, 18, 120]),
            "t": ask.top_k("ward", 2),
            "b": ask.private_bounds("score"),
        },
        where=where,
        derived=[("part", case((col("age") < 18, "child"), otherwise=None))],
        joins=[PublicJoin("p", (("ward", "code"),), (Column("rent", Type.NUMBER),), "ab" * 32)],
        groups=["part", bins("age", 0, 100, 50), ("year", col("day").part("year"))],
        keys=[("child", 0, 2024), (None, 1, -(2**63))],
        max_rows=3,
        max_groups=2,
    )


def test_every_part_comes_back_from_json_and_from_text() -> None:
    plan = everything()
    assert plan_from_json(plan.to_json()) == plan
    assert plan_from_json(json.dumps(plan.to_json())) == plan
    assert plan_from_json(canonical(plan.to_json()).decode()).digest() == plan.digest()


@settings(max_examples=pick(60, 200), deadline=None)
@given(conditions(3), numbers(3))
def test_every_expression_comes_back(where: Expression, of: Expression) -> None:
    plan = make_plan(SCHEMA, {"m": ask.mean(of, lower=0, upper=1)}, where=where)
    assert plan_from_json(json.dumps(plan.to_json())) == plan


def test_the_sample_of_format_1_is_read_for_ever() -> None:
    """Written by the first letalone that wrote plans; never rewrite it."""
    text = SAMPLE.read_text("utf-8")
    plan = plan_from_json(text)
    assert plan == everything()
    assert canonical(json.loads(text)).decode() == text.rstrip("\n")
    assert plan.digest() == DIGEST


def places(value: object, path: tuple = ()) -> list[tuple]:
    found = [path]
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for name, item in inner:
            found += places(item, (*path, name))
    return found


def changed(stored: dict, path: tuple, new: object) -> dict:
    copy = deepcopy(stored)
    *way, last = path
    at = copy
    for name in way:
        at = at[name]
    if new is KeyError:
        del at[last]
    else:
        at[last] = new
    return copy


STORED = everything().to_json()


@pytest.mark.long
@pytest.mark.parametrize("new", [KeyError, None, "x", 7, {}, [], True, {"integer": "07"}])
def test_any_part_that_is_damaged_is_refused_or_is_another_valid_plan(new: object) -> None:
    """Nothing but a FormatError comes out, and what is read is spelled as it was stored."""
    refused = 0
    for path in places(STORED)[1:]:
        damaged = changed(STORED, path, new)
        try:
            plan = plan_from_json(damaged)
        except FormatError:
            refused += 1
        else:
            assert plan.to_json() == damaged
    assert refused > 50


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "JSON object"),
        ({}, "no 'format' number"),
        ({**STORED, "format": 2}, "format 2, and this letalone reads up to format 1"),
        ({**STORED, "format": True}, "no 'format' number"),
        ({**STORED, "kind": "release"}, "kind is another"),
        ({**STORED, "more": 1}, "not spelled"),
        ({name: v for name, v in STORED.items() if name != "where"}, "damaged"),
        ({**STORED, "where": {"node": "Plan"}}, "damaged"),
        ({**STORED, "where": {"node": "ColumnRef", "name": "x"}}, "'x' is not in table"),
        ('{"format": 1, "format": 1}', "not JSON"),
    ],
)
def test_damaged_newer_and_foreign_json_is_refused(stored: object, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        plan_from_json(stored)


def test_hostile_depth_is_refused_before_the_stack_ends() -> None:
    where: object = {"node": "ColumnRef", "name": "smokes"}
    for _ in range(5000):
        where = {"node": "Not", "of": where}
    with pytest.raises(FormatError, match="nested deeper"):
        plan_from_json({**STORED, "where": where})
    while isinstance(where, dict):  # taken apart by hand: freeing it would recurse
        where = where.get("of")


@pytest.mark.parametrize("text", ["1e20000000", "1e-20000000", "1.5", " 1/3", "1_0/3", "9" * 5000])
def test_no_short_text_of_a_long_number_is_read(text: str) -> None:
    """It would take minutes, in which nothing else is answered."""
    stored = json.dumps(everything().to_json()).replace(
        '{"number": "1/3"}', f'{{"number": "{text}"}}'
    )
    assert text in stored
    began = process_time()
    with pytest.raises(FormatError):
        plan_from_json(stored)
    assert process_time() - began < 5
