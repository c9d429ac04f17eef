"""Rows that are units: those of plain Python, whatever the order of rows; one unit is one row."""

from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from math import floor
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.makers import MAKERS, arrow_table, from_arrow
from engines.reference import Reference
from engines.test_engine_laws import ROW, SCHEMA
from engines.unit_rows import unit_rows
from letalone.engines.core.measures import (
    CellCounts,
    DistinctUnits,
    GridSum,
    Rows,
    RowScope,
    RowsWith,
)
from letalone.engines.core.syntax import column, print_sql
from letalone.engines.duckdb.duck_dialect import DUCKDB
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.plans.aggregates import per_unit
from letalone.plans.aggregates.features import PerUnit, rows_schema
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn, PublicJoin, units_of
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from stages import pick

FEATURES = {
    "n": per_unit.count(),
    "total": per_unit.sum("cost", lower=-2, upper=1000),
    "days": per_unit.sum("age"),
    "huge": per_unit.sum("year", lower=-(2**60), upper=2**60),
    "urgents": per_unit.sum(col("urgent")),
    "average": per_unit.mean("cost", lower=0.1, upper=999.9),
    "mean_age": per_unit.mean("age"),
    "oldest": per_unit.max("age"),
    "cheapest": per_unit.min("cost"),
    "since": per_unit.min("day"),
    "seen": per_unit.max("at"),
    "ever": per_unit.any("urgent"),
    "always": per_unit.all(col("cost") > 0.5),
    "latest": per_unit.last("ward", by="year"),
    "earliest": per_unit.first("cost", by="age"),
    "by_day": per_unit.last("day", by="cost"),
    "flag": per_unit.first("urgent", by="day"),
}
NUMBERS = ("n", "total", "days", "huge", "urgents", "average", "mean_age", "oldest", "cheapest")
MEASURES = [
    Rows(),
    DistinctUnits(),
    *(RowsWith(col(name)) for name in FEATURES),
    *(GridSum(col(name), -(2**21), 2**21, 12) for name in NUMBERS if name != "huge"),
    GridSum(col("huge"), -(2**21), 2**21, -40),
    GridSum(col("total"), 0, 4000 << 18, 18, 2),
    GridSum(col("since").part("year"), 0, 3000, 0),
    GridSum(col("seen").part("hour"), 0, 23, 0),
    CellCounts(col("earliest"), Fraction(0), Fraction(1, 100), 60),
]
GROUPINGS = {
    "latest": (Type.TEXT, ["A", "a", "ä", "x'y", "B ", None, "nobody"]),
    "n": (Type.INTEGER, [1, 2, 3, 4, 25]),
    "by_day": (Type.DATE, [date(1, 1, 1), date(2024, 2, 29), None]),
    "ever": (Type.BOOLEAN, [False, True]),
    "flag": (Type.BOOLEAN, [False, True, None]),
}
BEFORE = {
    "all rows": (None, ()),
    "some rows": (col("twice") > 1.5, (("twice", col("cost") * 2),)),
    "no rows": (col("age") > 300, ()),
}
AFTER = {
    "all units": (None, ()),
    "some units": (
        (col("each") > 10) | col("always"),
        (("each", col("total") / col("n")),),
    ),
}


def scope_of(
    grouping: str | None, before: str, after: str, schema: Schema = SCHEMA, features=FEATURES
) -> RowScope:
    where, derived = BEFORE[before]
    units = units_of(PerUnit(tuple(features.items()), where, derived), schema)
    kept, more = AFTER[after]
    kind, keys = GROUPINGS[grouping] if grouping else (None, [])
    return RowScope(
        schema=schema,
        where=kept,
        derived=more,
        joins=(),
        groups=(GroupColumn("key", col(grouping), kind),) if grouping else (),
        keys=tuple((key,) for key in keys) if grouping else None,
        bounding=Bounding(max_rows=1),
        per_unit=units,
    )


def slow(rows, scope: RowScope, measures) -> list:
    """The measures of the units of plain Python, each a row of its own."""
    units = list(unit_rows(rows, scope.schema, scope.per_unit).values())
    schema = rows_schema(scope.schema, scope.per_unit)
    about = replace(scope, schema=schema, bounding=Bounding(), per_unit=None)
    return Reference(units).measure(about, measures)


@pytest.mark.long
@given(
    rows=st.lists(ROW, max_size=25),
    asked=st.tuples(
        st.sampled_from([None, *GROUPINGS]), st.sampled_from([*BEFORE]), st.sampled_from([*AFTER])
    ),
    unit=st.sampled_from(["patient", "cost", "day", "year"]),
    random=st.randoms(use_true_random=False),
)
@settings(max_examples=pick(5, 15), deadline=None)
def test_all_features_are_those_of_plain_python_whatever_the_order_of_rows(
    rows, asked, unit, random
):
    schema = replace(SCHEMA, unit=unit)
    scope = scope_of(*asked, schema=schema)
    shuffled = random.sample(rows, len(rows))
    for order in (rows, shuffled):
        made = from_arrow(order, schema, None)
        assert made.engine.measure(scope, MEASURES) == slow(rows, scope, MEASURES)
        if scope.groups:
            found = made.engine.discover(scope)
            about = replace(scope, keys=tuple(key for key, _ in found))
            assert [[many for _, many in found]] == slow(rows, about, [DistinctUnits()])
        made.engine.close()


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.few("parquet", "csv", "postgres")
def test_every_kind_of_source_has_the_same_units(maker, tmp_path):
    random = Random(5)
    rows = [
        {
            "patient": random.choice(["p1", "p2", "p3", "p4", None]),
            "ward": random.choice("ABC"),
            "year": random.randint(2020, 2024),
            "cost": random.choice([0.5, 1.25, 99.0, 1e6]),
            "age": random.randint(0, 120),
            "day": date(2024, 1, random.randint(1, 28)),
            "at": datetime(2024, 1, 1, random.randint(0, 23), tzinfo=UTC),
            "urgent": random.random() < 0.5,
        }
        for _ in range(60)
    ]
    made = MAKERS[maker](rows, SCHEMA, tmp_path)
    for grouping in (None, "latest"):
        scope = scope_of(grouping, "some rows", "all units")
        assert made.engine.measure(scope, MEASURES) == slow(rows, scope, MEASURES)
    made.engine.close()


def change(one, other, scope, measures) -> list[int]:
    """How far each measure moves, over all groups."""
    found = []
    for rows in (one, other):
        made = from_arrow(rows, scope.schema, None)
        found.append(made.engine.measure(scope, measures))
        made.engine.close()
    pairs = zip(*found, strict=True)
    return [sum(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in pairs]


@given(
    rows=st.lists(ROW, min_size=1, max_size=10),
    asked=st.tuples(
        st.sampled_from([None, "latest", "n"]),
        st.sampled_from(["all rows", "some rows"]),
        st.sampled_from([*AFTER]),
    ),
)
@settings(max_examples=pick(3, 6), deadline=None)
def test_no_unit_moves_a_measure_by_more_than_one_row_could(rows, asked):
    """Every neighbour, through DuckDB: the unit is left out with all of its rows."""
    few = {name: FEATURES[name] for name in ("n", "total", "average", "latest", "always")}
    scope = scope_of(*asked, features=few)
    measures = [
        Rows(),
        DistinctUnits(),
        GridSum(col("total"), 0, 1000, 0),
        RowsWith(col("average")),
    ]
    for unit in {row["patient"] for row in rows}:
        without = [row for row in rows if row["patient"] != unit]
        moved = change(rows, without, scope, measures)
        most = [0, 0, 0, 0] if unit is None else [1, 1, 1000, 1]
        assert all(far <= limit for far, limit in zip(moved, most, strict=True)), unit


def test_a_unit_of_a_million_rows_is_one_row():
    """Its total is exact beyond 2^53 steps, and its least ward of the last year is found."""
    many = 1_000_000
    table = pa.table(
        {
            "u": ["giant"] * many + ["other"],
            "x": [0.75] * many + [1.5],
            "w": ["b"] * (many - 1) + ["a", "c"],
            "t": [7] * (many + 1),
        }
    )
    engine = open_duck(table)
    schema = replace(engine.schema(), unit="u")
    features = {
        "total": per_unit.sum("x", lower=0, upper=1),
        "last": per_unit.last("w", by="t"),
        "n": per_unit.count(),
    }
    units = units_of(PerUnit(tuple(features.items())), schema)
    group = GroupColumn("w", col("last"), Type.TEXT)
    keys = (("a",), ("b",), ("c",))
    scope = RowScope(schema, None, (), (), (group,), keys, Bounding(max_rows=1), units)
    found = engine.measure(scope, [Rows(), GridSum(col("total"), 0, 2**30, 0)])
    assert found == [[1, 0, 1], [750_000, 0, 1]]
    engine.close()


@pytest.mark.parametrize("many", [30_001, 20_000_001])
def test_totals_beyond_the_doubles_lose_their_last_bits_towards_zero(many):
    """Not to the nearest double: engines round long whole numbers in ways of their own."""
    engine = open_duck(pa.table({"x": [1]}))
    total = many * floor(Fraction(-0.7) * 2**39)
    dropped = 11 if abs(total) < 2**64 else 32
    expected = -((abs(total) >> dropped) << dropped)
    query = f"SELECT {print_sql(DUCKDB.double_of(column('t')))} FROM (SELECT {total}::HUGEINT AS t)"
    assert engine._duck.connection.sql(query).fetchall() == [(float(expected),)]
    assert int(float(expected)) == expected != total
    assert float(total) != float(expected)
    engine.close()


def test_whole_totals_stop_at_64_bits_and_do_not_fail():
    rows = [{"u": 1, "x": 2**52 - 1}] * 5000 + [{"u": 2, "x": -(2**52)}] * 5000 + [{"u": 3, "x": 5}]
    schema = Schema("t", (Column("u", Type.INTEGER), Column("x", Type.INTEGER)), unit="u")
    engine = open_duck(arrow_table(rows, schema), schema=schema)
    features = (("s", per_unit.sum("x", lower=1 - 2**52, upper=2**52 - 1)),)
    units = units_of(PerUnit(features), schema)
    ends = (2**63 - 1, 1 - 2**63, 5)
    for end in ends:
        scope = RowScope(schema, col("s") == end, (), (), (), None, Bounding(max_rows=1), units)
        assert engine.measure(scope, [Rows()]) == [[1]]
    engine.close()


def test_public_tables_are_joined_to_rows_before_and_to_units_after():
    rows = [
        {"u": "a", "w": "x", "t": 1},
        {"u": "a", "w": "y", "t": 2},
        {"u": "b", "w": "x", "t": 1},
        {"u": "c", "w": "gone", "t": 1},
    ]
    columns = (Column("u", Type.TEXT), Column("w", Type.TEXT), Column("t", Type.INTEGER))
    schema = Schema("t", columns, unit="u")
    engine = open_duck(arrow_table(rows, schema), schema=schema)
    wards = pa.table({"code": ["x", "y"], "beds": [10, 20]})
    join = PublicJoin("wards", (("w", "code"),), (Column("beds", Type.INTEGER),), "a")
    sizes = pa.table({"beds": [10, 20, 30], "size": ["small", "middle", "large"]})
    after = PublicJoin("sizes", (("most", "beds"),), (Column("size", Type.TEXT),), "b")
    engine.add_public(join, wards)
    engine.add_public(after, sizes)
    units = units_of(PerUnit((("most", per_unit.max("beds")),), joins=(join,)), schema)
    group = GroupColumn("size", col("size"), Type.TEXT)
    keys = (("small",), ("middle",), ("large",))
    scope = RowScope(schema, None, (), (after,), (group,), keys, Bounding(max_rows=1), units)
    assert engine.measure(scope, [Rows()]) == [[1, 1, 0]]
    engine.close()


def test_names_like_those_of_the_statement_are_no_trouble():
    columns = (Column("#unit", Type.TEXT), Column("#raw0", Type.INTEGER), Column("x", Type.INTEGER))
    schema = Schema("t", columns, unit="#unit")
    rows = [{"#unit": "a", "#raw0": 3, "x": 1}, {"#unit": "a", "#raw0": 4, "x": 2}]
    engine = open_duck(arrow_table(rows, schema), schema=schema)
    features = (("#key0", per_unit.max("#raw0")), ("#1", per_unit.min("x")), ("##n", UNITS))
    units = units_of(PerUnit(features), schema)
    group = GroupColumn("k", col("#key0"), Type.INTEGER)
    where = (col("#1") == 1) & (col("##n") == 2)
    scope = RowScope(schema, where, (), (), (group,), ((3,), (4,)), Bounding(max_rows=1), units)
    assert engine.measure(scope, [Rows()]) == [[0, 1]]
    assert engine.discover(scope) == [((4,), 1)]
    engine.close()


UNITS = per_unit.count()
