"""Features of units: what is public about them, what is refused, how they are stored and said."""

import json
from fractions import Fraction
from math import inf

import pytest

import letalone as la
from letalone.errors import FormatError, LetaloneError, ParameterError, UnsupportedQuery
from letalone.plans.aggregates import per_unit
from letalone.plans.aggregates.features import PerUnit, UnitExtreme, UnitTotal
from letalone.plans.expressions import case, col
from letalone.plans.plan import Bounding, Plan, PublicJoin, make_plan
from letalone.plans.schema import Column, Schema
from letalone.plans.stored_plans import plan_from_json
from letalone.plans.types import Type
from letalone.tables.sensitivity import Contribution, contribution
from plans.test_stored import changed, places

F = Fraction
SCHEMA = Schema(
    "visits",
    (
        Column("patient", Type.TEXT),
        Column("ward", Type.TEXT, keys=("A", "B")),
        Column("cost", Type.NUMBER, F(0), F(1000)),
        Column("days", Type.INTEGER, F(0), F(30)),
        Column("score", Type.NUMBER),
        Column("day", Type.DATE),
        Column("at", Type.TIMESTAMP),
        Column("urgent", Type.BOOLEAN),
        Column("blob", Type.OTHER),
    ),
    unit="patient",
)


def plan(features: dict, *, asked: dict | None = None, schema: Schema = SCHEMA, **more) -> Plan:
    before = {key: more.pop(key) for key in ("row_where", "row_derived") if key in more}
    units = PerUnit(tuple(features.items()), before.get("row_where"), before.get("row_derived", ()))
    return make_plan(schema, asked or {"n": la.count()}, per_unit=units, **more)


@pytest.mark.parametrize(
    ("feature", "kind", "lower", "upper", "nullable"),
    [
        (per_unit.count(), Type.INTEGER, 1, inf, False),
        (per_unit.sum("cost"), Type.NUMBER, 0, inf, True),
        (per_unit.sum("cost", lower=-5, upper=7), Type.NUMBER, -inf, inf, True),
        (per_unit.sum("score", lower=-9, upper=-2), Type.NUMBER, -inf, -2, True),
        (per_unit.sum("days"), Type.INTEGER, 0, inf, True),
        (per_unit.sum("days", lower=0.5, upper=7), Type.INTEGER, 1, inf, True),
        (per_unit.sum("urgent"), Type.INTEGER, 0, inf, True),
        (per_unit.mean("cost"), Type.NUMBER, 0, 1000, True),
        (per_unit.mean("days"), Type.NUMBER, 0, 30, True),
        (per_unit.max("days"), Type.INTEGER, 0, 30, True),
        (per_unit.min(col("cost") * 2), Type.NUMBER, 0, 2000, True),
        (per_unit.max("score"), Type.NUMBER, -inf, inf, True),
        (per_unit.max(case((col("urgent"), 1), otherwise=1)), Type.INTEGER, -inf, inf, False),
        (per_unit.max("day"), Type.DATE, -inf, inf, True),
        (per_unit.any(col("ward") == "A"), Type.BOOLEAN, -inf, inf, False),
        (per_unit.all("urgent"), Type.BOOLEAN, -inf, inf, False),
        (per_unit.last("ward", by="day"), Type.TEXT, -inf, inf, True),
        (per_unit.first("cost", by="at"), Type.NUMBER, 0, 1000, True),
    ],
)
def test_the_type_and_the_interval_follow_from_what_is_public(
    feature, kind, lower, upper, nullable
):
    typed = plan({"x": feature}).columns.type_of(col("x"))
    assert (typed.type, typed.lower, typed.upper, typed.nullable) == (kind, lower, upper, nullable)


def test_what_every_row_has_every_unit_has():
    there = ~col("cost").is_null()
    for feature in (per_unit.sum("cost"), per_unit.mean("cost"), per_unit.max("cost")):
        assert not plan({"x": feature}, row_where=there).columns.type_of(col("x")).nullable
    named = per_unit.last("cost", by="day")
    assert not plan({"x": named}, row_where=there).columns.type_of(col("x")).nullable
    assert not plan({"x": named}, where=col("x") > 1).columns.type_of(col("x")).nullable


def test_one_unit_is_one_row_whatever_is_asked():
    for neighbours in (la.ADD_REMOVE, la.REPLACE):
        schema = Schema("v", SCHEMA.columns, unit="patient", neighbours=neighbours)
        replaced = neighbours is la.REPLACE
        one = plan({"x": per_unit.sum("cost")}, schema=schema)
        assert contribution(one) == Contribution(1, 1, 1, 1, replaced)
        three = plan({"w": per_unit.last("ward", by="day")}, groups=["w"], schema=schema)
        assert contribution(three) == Contribution(1, 1, 1, 2, replaced)


def test_the_keys_of_a_value_are_those_of_its_column():
    by_ward = plan({"w": per_unit.last("ward", by="day")}, groups=["w"])
    assert by_ward.keys == (("A",), ("B",))
    by_month = plan({"m": per_unit.max(col("day").part("month"))}, groups=["m"])
    assert by_month.keys == tuple((month,) for month in range(1, 13))
    by_truth = plan({"u": per_unit.any("urgent")}, groups=["u"])
    assert by_truth.keys == ((False,), (True,))


def test_bounds_of_a_total_of_rows_must_be_given_to_what_is_asked_of_it():
    with pytest.raises(ParameterError, match="'total' has no declared upper bound"):
        plan({"total": per_unit.sum("cost")}, asked={"m": la.mean("total")})
    asked = plan({"total": per_unit.sum("cost")}, asked={"m": la.mean("total", upper=5000)})
    assert asked.aggregates[0][1].lower == 0


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ({}, "got 0 features, but needs from 1 to 100"),
        ({"x": per_unit.sum("score")}, "'score' has no declared lower and upper bound"),
        ({"x": per_unit.sum("ward", lower=0, upper=1)}, "'ward' is text, but adding up"),
        ({"x": per_unit.max("ward")}, "'ward' is text, which has no order"),
        ({"x": per_unit.max("urgent")}, "Use la.per_unit.any or all"),
        ({"x": per_unit.last("cost", by="ward")}, "'ward' is text, which has no order"),
        ({"x": per_unit.last("blob", by="day")}, "whose type letalone does not know"),
        ({"x": per_unit.any("cost")}, "'cost' is number, but must be a condition"),
        ({"x": per_unit.sum("days", lower=0.1, upper=0.9)}, "no whole number between"),
        ({"x": per_unit.sum("cots")}, "Did you mean 'cost'"),
        ({"x": la.sum("cost")}, "must be one such as la.per_unit.sum"),
        ({"x": per_unit.count(), "X": per_unit.count()}, "must differ in more than capital"),
        ({" ": per_unit.count()}, "feature name"),
    ],
)
def test_features_that_have_no_answer_are_refused_with_the_remedy(features, words):
    with pytest.raises((ParameterError, UnsupportedQuery), match=words):
        plan(features)


def test_the_columns_of_rows_are_gone_afterwards_and_so_is_the_unit():
    for name in ("cost", "patient"):
        with pytest.raises(ParameterError, match=f"Column {name!r} is not in table 'visits'"):
            plan({"x": per_unit.count()}, where=col(name) == 1)


def test_a_unit_that_is_the_row_has_no_features_and_units_have_nothing_to_bound():
    with pytest.raises(ParameterError, match="The unit is the row, so each row is a unit"):
        plan({"x": per_unit.count()}, schema=Schema("v", SCHEMA.columns))
    for more in ({"max_rows": 2}, {"max_groups": 1}, {"clip": True, "max_groups": 1}):
        with pytest.raises(ParameterError, match="each unit is one row, so there is nothing"):
            plan({"x": per_unit.max("ward_")} | {"x": per_unit.count()}, **more)
    assert plan({"x": per_unit.count()}, max_rows=1).bounding == Bounding(max_rows=1)


def test_wrong_arguments_are_refused_where_they_are_written():
    with pytest.raises(ParameterError, match="must be a column's name or an expression"):
        per_unit.sum(3)
    with pytest.raises(ParameterError, match="lower must be below upper"):
        per_unit.mean("cost", lower=2, upper=1)


def everything() -> Plan:
    join = PublicJoin("p", (("ward", "code"),), (Column("rent", Type.NUMBER),), "ab" * 32)
    units = PerUnit(
        (
            ("n", per_unit.count()),
            ("total", per_unit.sum(col("twice"), lower=0, upper=F(1, 3))),
            ("mean", per_unit.mean("days")),
            ("most", per_unit.max("day")),
            ("every", per_unit.all(col("day") >= "2024-01-31")),
            ("last", per_unit.last("ward", by="at")),
            ("first", per_unit.first("rent", by="cost")),
        ),
        col("at") < "2024-05-01",
        (("twice", col("cost") * 2),),
        (join,),
    )
    return make_plan(
        SCHEMA,
        {"n": la.count(), "m": la.mean("total", upper=9)},
        where=col("most") > "2024-02-01",
        groups=["last"],
        per_unit=units,
    )


def test_features_come_back_and_a_plan_without_them_does_not_mention_them():
    stored = everything().to_json()
    assert plan_from_json(json.dumps(stored)) == everything()
    plain = make_plan(SCHEMA, {"n": la.count()}).to_json()
    assert "per_unit" not in plain
    with pytest.raises(FormatError):
        plan_from_json({**plain, "per_unit": None})


@pytest.mark.parametrize("new", [None, 7, "x", [], {}, True, {"node": "UnitCount"}])
def test_damaged_features_are_refused_or_are_another_valid_plan(new):
    stored = everything().to_json()
    for path in places(stored["per_unit"]):
        damaged = changed(stored, ("per_unit", *path), new)
        try:
            again = plan_from_json(damaged)
        except FormatError:
            continue
        assert again.to_json() == damaged
        again.in_words()


def test_flags_that_are_no_truth_values_are_refused():
    with pytest.raises(LetaloneError, match="largest"):
        plan({"x": UnitExtreme(col("days"), 7)})
    with pytest.raises(LetaloneError, match="bound"):
        plan({"x": UnitTotal(col("score"), F(0), None)})


def test_features_are_said_in_words():
    words = everything().in_words()
    for part in (
        "each patient is one row, made of all its rows",
        "total is the total of twice clamped to [0, 1/3]",
        "last is ward in the one with the largest at",
        "every is whether day >= 2024-01-31 in each of them",
        "only of its rows with at < 2024-05-01 00:00:00",
        "only units with most > 2024-02-01",
        "joined with the public table p on ward = code",
    ):
        assert part in words
