"""Rows of two private tables, joined on the unit: one partner each, of the same unit."""

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.makers import arrow_table
from engines.reference import Reference
from evaluator import read
from letalone.engines.core.measures import (
    WEIGHT_BITS,
    DistinctUnits,
    GridSum,
    Rows,
    RowScope,
    RowsWith,
)
from letalone.engines.duckdb.duck_engine import DuckEngine, open_duck
from letalone.plans.aggregates import per_unit
from letalone.plans.aggregates.features import PerUnit
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn, PrivateJoin, units_of
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from stages import pick

VISITS = Schema(
    "visits",
    (Column("u", Type.TEXT), Column("cost", Type.NUMBER), Column("ward", Type.TEXT)),
    unit="u",
)
PATIENTS = Schema(
    "patients",
    (
        Column("id", Type.TEXT),
        Column("sex", Type.TEXT),
        Column("age", Type.INTEGER, Fraction(0), Fraction(100)),
        Column("weight", Type.NUMBER),
        Column("born", Type.DATE),
    ),
    unit="id",
)
JOIN = PrivateJoin("patients", (("u", "id"),), PATIENTS.columns[1:], 1)
SEX = GroupColumn("sex", col("sex"), Type.TEXT)
MEASURES = [
    Rows(),
    DistinctUnits(),
    GridSum(col("cost"), 0, 1000, 0),
    GridSum(col("age"), 0, 100, 0, 2),
    GridSum(col("weight"), 0, 200, 0),
    GridSum(col("born").part("year"), 0, 3000, 0),
    RowsWith(col("weight")),
]
BOUNDINGS = [
    Bounding(max_rows=1),
    Bounding(max_rows=2),
    Bounding(max_groups=1, max_rows=2),
    Bounding(max_groups=2, clip=True),
]
UNITS = ["a", "b", "c", "A", "", None]
a_visit = st.fixed_dictionaries(
    {
        "u": st.sampled_from(UNITS),
        "cost": st.none() | st.sampled_from([0.0, 3.5, 999.0, float("nan")]),
        "ward": st.sampled_from(["x", "y"]),
    }
)
a_patient = st.fixed_dictionaries(
    {
        "id": st.sampled_from(UNITS),
        "sex": st.none() | st.sampled_from("FM"),
        "age": st.none() | st.sampled_from([-4, 20, 55, 300]),
        "weight": st.none() | st.sampled_from([50.5, float("inf"), 80.0]),
        "born": st.none() | st.just(date(1990, 1, 1)),
    }
)


def engine_of(rows: list, schema: Schema) -> DuckEngine:
    table = arrow_table(rows, schema)
    return open_duck(table, schema=schema, threads=2)


def partners_of(theirs: DuckEngine) -> dict:
    """What is lent of each unit; one row at most."""
    lent = theirs.lend(PATIENTS, JOIN, [column.name for column in JOIN.columns]).to_pylist()
    assert len({row["unit"] for row in lent}) == len(lent)
    names = {f"column{n}": column.name for n, column in enumerate(JOIN.columns)}
    return {row["unit"]: {names[n]: x for n, x in row.items() if n in names} for row in lent}


def joined(visits: list, partners: dict) -> list:
    """Each visit with the row of its patient, in plain Python; left out without one."""
    return [{**visit, **partners[visit["u"]]} for visit in visits if visit["u"] in partners]


def own_rows(patients: list, unit: str) -> list:
    """What may be lent of a unit, as it is declared to be."""
    rows = [row for row in patients if row["id"] == unit]
    return [{c.name: read(row[c.name], c) for c in JOIN.columns} for row in rows]


def asked(bounding: Bounding, *, grouped: bool, where: bool) -> RowScope:
    return RowScope(
        schema=VISITS,
        where=col("age") > 30 if where else None,
        derived=(),
        joins=(JOIN,),
        groups=(SEX,) if grouped else (),
        keys=(("F",), ("M",), (None,)) if grouped else None,
        bounding=bounding,
    )


def together(scope: RowScope) -> RowScope:
    """The same question about one table that has all columns."""
    columns = (*VISITS.columns, *PATIENTS.columns[1:])
    schema = Schema("visits", columns, unit="u")
    return RowScope(schema, scope.where, (), (), scope.groups, scope.keys, scope.bounding)


def measured(mine: DuckEngine, theirs: DuckEngine, scope: RowScope, measures: list) -> list:
    lent = theirs.lend(PATIENTS, JOIN, [column.name for column in JOIN.columns])
    with mine.borrowing({"patients": lent}):
        return mine.measure(scope, measures)


@given(
    visits=st.lists(a_visit, max_size=15),
    patients=st.lists(a_patient, max_size=10),
    bounding=st.sampled_from(BOUNDINGS),
    grouped=st.booleans(),
    where=st.booleans(),
)
@settings(max_examples=pick(5, 15), deadline=None)
def test_a_joined_table_is_that_of_plain_python(visits, patients, bounding, grouped, where):
    if bounding.max_groups is not None and not grouped:
        bounding = Bounding(max_rows=2)
    scope = asked(bounding, grouped=grouped, where=where)
    measures = [m for m in MEASURES if not (bounding.clip and getattr(m, "power", 1) == 2)]
    mine, theirs = engine_of(visits, VISITS), engine_of(patients, PATIENTS)
    partners = partners_of(theirs)
    assert set(partners) == {row["id"] for row in patients} - {None}
    assert all(row in own_rows(patients, unit) for unit, row in partners.items())
    slow = Reference(joined(visits, partners))
    assert measured(mine, theirs, scope, measures) == slow.measure(together(scope), measures)
    mine.close()
    theirs.close()


@pytest.mark.long
@given(visits=st.lists(a_visit, min_size=1, max_size=8), patients=st.lists(a_patient, max_size=6))
@settings(max_examples=pick(2, 4), deadline=None)
def test_no_unit_moves_a_joined_table_by_more_than_its_rows(visits, patients):
    """Every neighbour through DuckDB: a unit is left out of either table, or of both."""
    scope = asked(Bounding(max_rows=2), grouped=True, where=False)
    measures = [Rows(), GridSum(col("cost"), 0, 1000, 0), GridSum(col("age"), 0, 100, 0)]
    most = [2 << WEIGHT_BITS, 2000 << WEIGHT_BITS, 200 << WEIGHT_BITS]

    def all_of(these: list, those: list) -> list:
        mine, theirs = engine_of(these, VISITS), engine_of(those, PATIENTS)
        found = measured(mine, theirs, scope, measures)
        mine.close()
        theirs.close()
        return found

    whole = all_of(visits, patients)
    for unit in {row["u"] for row in visits} - {None}:
        these = [row for row in visits if row["u"] != unit]
        those = [row for row in patients if row["id"] != unit]
        for pair in ((these, patients), (visits, those), (these, those)):
            moved = [
                sum(abs(a - b) for a, b in zip(*two, strict=True))
                for two in zip(whole, all_of(*pair), strict=True)
            ]
            assert all(far <= limit for far, limit in zip(moved, most, strict=True))


def test_features_can_be_made_of_both_tables():
    visits = [
        {"u": "a", "cost": 1.0, "ward": "x"},
        {"u": "a", "cost": 2.0, "ward": "y"},
        {"u": "b", "cost": 4.0, "ward": "y"},
        {"u": "gone", "cost": 8.0, "ward": "y"},
    ]
    patients = [
        {"id": "a", "sex": "F", "age": 30, "weight": 1.5, "born": None},
        {"id": "b", "sex": "M", "age": 40, "weight": None, "born": None},
    ]
    mine, theirs = engine_of(visits, VISITS), engine_of(patients, PATIENTS)
    features = (
        ("total", per_unit.sum("cost", lower=0, upper=10)),
        ("sex", per_unit.first("sex", by="age")),
        ("heavy", per_unit.max(col("weight") + col("cost"))),
    )
    units = units_of(PerUnit(features, joins=(JOIN,)), VISITS)
    scope = RowScope(VISITS, None, (), (), (SEX,), (("F",), ("M",)), Bounding(max_rows=1), units)
    measures = [Rows(), GridSum(col("total"), 0, 100, 0), RowsWith(col("heavy"))]
    assert measured(mine, theirs, scope, measures) == [[1, 1], [3, 4], [1, 0]]
    mine.close()
    theirs.close()


def test_what_was_lent_is_gone_afterwards_and_only_what_is_asked_for_is_lent():
    mine, theirs = engine_of([], VISITS), engine_of([], PATIENTS)
    lent = theirs.lend(PATIENTS, JOIN, ["age"])
    assert lent.column_names == ["unit", "column1"]
    with pytest.raises(RuntimeError), mine.borrowing({"patients": lent}):
        raise RuntimeError
    views = mine._duck.connection.sql("SELECT view_name FROM duckdb_views()").fetchall()
    assert not [name for (name,) in views if "lent" in name]
    mine.close()
    theirs.close()
