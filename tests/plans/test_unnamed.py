"""Nobody is named in a question: the unit column meets no constant, wherever that could be."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from letalone.errors import UnsupportedQuery
from letalone.plans.aggregates import of_pairs as pairs
from letalone.plans.aggregates import per_unit
from letalone.plans.aggregates import requests as ask
from letalone.plans.aggregates.features import PerUnit
from letalone.plans.clauses import PrivateJoin, PublicJoin
from letalone.plans.expressions import Bin, Clamp, Expression, case, col
from letalone.plans.plan import Plan, bins, make_plan
from letalone.plans.schema import Column
from letalone.plans.stored_plans import plan_from_json
from letalone.plans.types import Type
from letalone.plans.unnamed import check_names_nobody
from plans.samples import SCHEMA

ID = 47_110
UNIT = col("patient_id")
COUNT = {"n": ask.count()}
ADDED = (Column("code", Type.INTEGER), Column("rent", Type.NUMBER))
PUBLIC = PublicJoin("list", (("patient_id", "code"),), ADDED, "ab" * 32)
OTHER = PrivateJoin("stays", (("patient_id", "pid"),), (Column("pid", Type.INTEGER),), 1)
CONDITIONS = (
    UNIT == ID,
    ID == UNIT,
    UNIT != ID,
    UNIT < ID,
    UNIT.isin([ID, 5]),
    (UNIT >= ID) & (UNIT <= ID),
    ~((col("age") > 5) | (UNIT == ID)),
    (UNIT - ID).is_null(),
    UNIT - ID == 0,
    -UNIT == -ID,
    case((UNIT == ID, True), otherwise=False),
    case((col("age") > 5, UNIT), otherwise=0) == ID,
    Bin(UNIT, ID, 1, 1) == 0,
    Clamp(UNIT, ID, ID + 1) == ID,
    col("stay") == UNIT,
)
ID_TEXT = "p47110"
NAME = col("person")
NAMES = replace(
    SCHEMA,
    columns=(Column("person", Type.TEXT), Column("born", Type.DATE), *SCHEMA.columns),
    unit="person",
)
TEXT_CONDITIONS = (
    NAME.like(ID_TEXT),
    ~NAME.like("p4711%"),
    NAME.ilike("P47110"),
    NAME.starts_with("p4711"),
    NAME.ends_with("0"),
    NAME.contains("4711"),
    NAME.upper() == "P47110",
    NAME.trim().isin([ID_TEXT]),
    NAME.substr(1, 2) == "p4",
    NAME.length() > 3,
    NAME.concat("x") == "p47110x",
    NAME.concat(col("ward")).is_null(),
    NAME.if_null("nobody") == ID_TEXT,
    col("ward").concat(NAME.substr(2)).like("%4711%"),
)
ASKED = (
    ask.sum("patient_id", lower=0, upper=ID),
    ask.mean(UNIT, lower=0, upper=ID),
    ask.variance(UNIT, lower=0, upper=ID),
    ask.median("patient_id", lower=0, upper=ID, step=1),
    ask.max("patient_id", lower=0, upper=ID, step=1),
    ask.histogram("patient_id", edges=[0, ID]),
    ask.top_k("patient_id", 1, candidates=[ID, 5]),
    pairs.covariance("cost", "patient_id", bounds={"patient_id": (0, ID)}),
    pairs.linear_regression("cost", ["age", "patient_id"], bounds={"patient_id": (0, ID)}),
    ask.private_bounds("patient_id"),
    ask.count_distinct(UNIT + ID),
    ask.count(case((UNIT == ID, 1))),
    100 * ask.sum("patient_id", lower=0, upper=ID) / ask.count(),
)
FEATURES = (
    per_unit.any(UNIT == ID),
    per_unit.max("patient_id"),
    per_unit.sum("patient_id", lower=0, upper=ID),
    per_unit.last("patient_id", by="day"),
    per_unit.last("cost", by="patient_id"),
)


def asked(aggregates: object = None, **more: object) -> Callable[[], Plan]:
    return lambda: make_plan(SCHEMA, aggregates or COUNT, **more)


PLACES = {
    **{f"where {n}": asked(where=one) for n, one in enumerate(CONDITIONS)},
    **{f"derived {n}": asked(derived=[("x", one)]) for n, one in enumerate(CONDITIONS)},
    **{f"aggregate {n}": asked({"x": one}) for n, one in enumerate(ASKED)},
    **{f"feature {n}": asked(per_unit=PerUnit((("x", one),))) for n, one in enumerate(FEATURES)},
    "another name": asked(derived=[("x", UNIT), ("y", col("x"))], where=col("y") == ID),
    "keys": asked(groups=["patient_id"], keys=[ID]),
    "keys of another name": asked(derived=[("x", UNIT)], groups=["x"], keys=[ID]),
    "ranges": asked(groups=[bins("patient_id", ID, ID + 1, 1)]),
    "a group that is calculated": asked(groups=[("x", UNIT == ID)]),
    "the key of a public table": asked(joins=[PUBLIC], where=col("code") == ID),
    "a constant beside it": asked(
        {"n": ask.count_distinct(case((col("cost") > 2, UNIT), otherwise=ID))}
    ),
    "the unit of a partner": asked(joins=[OTHER], where=col("pid") == ID),
    "before units": asked(
        per_unit=PerUnit((("x", per_unit.count()),), where=UNIT == ID),
    ),
    "derived before units": asked(
        per_unit=PerUnit((("x", per_unit.count()),), derived=(("y", UNIT == ID),)),
    ),
}


def test_the_unit_column_meets_no_constant_wherever_it_stands() -> None:
    for place, make in PLACES.items():
        with pytest.raises(UnsupportedQuery, match="identifies people") as refused:
            pytest.fail(f"{place}: {make().in_words()}")
        assert str(ID) not in str(refused.value)


@pytest.mark.parametrize("condition", TEXT_CONDITIONS, ids=repr)
def test_no_function_of_text_names_somebody(condition: Expression) -> None:
    """As a filter, a derived column, a group with keys or without, and in what is counted."""
    group = ("x", condition)
    for more in (
        {"where": condition},
        {"derived": [group]},
        {"groups": [group]},
        {"groups": [("x", NAME.upper())], "keys": ["P47110"]},
        {"groups": [("x", NAME.substr(1, 3))]},
        {"per_unit": PerUnit((("x", per_unit.any(condition)),))},
    ):
        with pytest.raises(UnsupportedQuery, match="identifies people") as refused:
            make_plan(NAMES, COUNT, **more)
        assert "4711" not in str(refused.value)
    for counted in (ask.count(NAME.upper()), ask.count_distinct(NAME.substr(1, 2))):
        with pytest.raises(UnsupportedQuery, match="identifies people"):
            make_plan(NAMES, {"n": counted})


def test_dates_that_identify_people_are_not_subtracted_or_written() -> None:
    dated = replace(NAMES, unit="born")
    for condition in (
        col("born") - col("day") == 47_110,
        col("born").days_since("2024-01-31") == 0,
        col("born").strftime("%Y-%m") == "1947-11",
        col("born").quarter() == 1,
    ):
        with pytest.raises(UnsupportedQuery, match="identifies people"):
            make_plan(dated, COUNT, where=condition)


def test_the_unit_column_is_counted_tested_for_missing_and_joined() -> None:
    for make in (
        asked({"n": ask.count_distinct()}),
        asked({"n": ask.count_distinct("patient_id"), "m": ask.count("patient_id")}),
        asked(where=UNIT.is_null() | ~UNIT.is_null(), groups=[("there", UNIT.is_null())]),
        asked({"n": ask.count_distinct(case((col("cost") > 2, UNIT)))}),
        asked({"n": ask.count("x")}, derived=[("x", UNIT)], where=~col("x").is_null()),
        asked(joins=[PUBLIC], where=col("rent") > 500),
        asked(per_unit=PerUnit((("x", per_unit.count()),), joins=(PUBLIC,))),
        asked(joins=[replace(OTHER, columns=(Column("rent", Type.NUMBER),))]),
        asked(per_unit=PerUnit((("patient_id", per_unit.count()),)), where=col("patient_id") > 5),
    ):
        check_names_nobody(make())


def test_a_schema_that_lists_people_is_not_asked_about() -> None:
    columns = [
        replace(one, keys=(ID, 5)) if one.name == "patient_id" else one for one in SCHEMA.columns
    ]
    with pytest.raises(UnsupportedQuery, match="listed in the schema") as refused:
        make_plan(replace(SCHEMA, columns=tuple(columns)), COUNT)
    assert str(ID) not in str(refused.value)


def test_a_partner_that_lists_people_is_not_joined() -> None:
    listed = replace(OTHER, columns=(Column("pid", Type.INTEGER, keys=(ID, 5)),))
    with pytest.raises(UnsupportedQuery, match="listed in the schema") as refused:
        make_plan(SCHEMA, COUNT, joins=[listed])
    assert str(ID) not in str(refused.value)


def test_without_a_unit_column_all_columns_are_alike() -> None:
    make_plan(replace(SCHEMA, unit=None), COUNT, where=UNIT == ID)


def test_a_plan_of_before_can_still_be_read() -> None:
    plan = replace(make_plan(SCHEMA, COUNT), where=UNIT == ID)
    assert plan_from_json(plan.to_json()) == plan
    with pytest.raises(UnsupportedQuery, match="identifies people"):
        check_names_nobody(plan)
