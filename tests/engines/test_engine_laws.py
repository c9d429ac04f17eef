"""What every engine promises: the integers of a slow engine in plain Python, in every scope.

The engines are in makers.py; each law runs on each. The two dear ones run on files and on a server
at once, and on the other kinds of source in the second stage: there only the reader differs, which
the small laws look at on all of them.
"""

from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import product
from math import inf, nan
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.makers import MAKERS
from engines.reference import Reference
from letalone.engines.measures import (
    CellCounts,
    DistinctUnits,
    DistinctValues,
    GridSum,
    ProductSum,
    Rows,
    RowScope,
    RowsWith,
)
from letalone.errors import ParameterError
from letalone.plans.expressions import Bin, case, col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from stages import pick

SCHEMA = Schema(
    "visits",
    (
        Column("patient", Type.TEXT),
        Column("ward", Type.TEXT),
        Column("year", Type.INTEGER),
        Column("cost", Type.NUMBER),
        Column("age", Type.INTEGER, Fraction(0), Fraction(100)),
        Column("day", Type.DATE),
        Column("at", Type.TIMESTAMP),
        Column("urgent", Type.BOOLEAN),
    ),
    unit="patient",
)
WARDS = ["A", "a", "ä", "x'y", 'q"', "\U0001f600", "B "]
COSTS = [
    0.0,
    -0.0,
    0.29,
    1.0,
    999.9999,
    1000.0,
    5000.0,
    -3.5,
    1e308,
    -1e308,
    nan,
    inf,
    -inf,
    5e-324,
    2.0**53,
    2.0**53 + 2,
    -(2.0**63),
]
YEARS = [2023, 2024, -(2**63), 2**63 - 1]
ROW = st.fixed_dictionaries(
    {
        "patient": st.sampled_from(["p1", "p2", "p3", "P1", None]),
        "ward": st.none() | st.sampled_from(WARDS),
        "year": st.none() | st.sampled_from(YEARS),
        "cost": st.none() | st.sampled_from(COSTS),
        "age": st.none() | st.sampled_from([-5, 0, 18, 64, 65, 200, 2**63 - 1]),
        "day": st.none() | st.sampled_from([date(1, 1, 1), date(2024, 2, 29)]),
        "at": st.none() | st.sampled_from([datetime(2024, 3, 31, 1, 30, tzinfo=UTC)]),
        "urgent": st.none() | st.booleans(),
    }
)
WARD = GroupColumn("ward", col("ward"), Type.TEXT)
YEAR = GroupColumn("year", col("year"), Type.INTEGER)
AGES = GroupColumn("age", Bin(col("age"), Fraction(0), Fraction(25), 4), Type.INTEGER)
DAY = GroupColumn("day", col("day"), Type.DATE)
URGENT = GroupColumn("urgent", col("urgent"), Type.BOOLEAN)
PAID = GroupColumn("cost", col("cost"), Type.NUMBER)
GROUPINGS = {
    "none": ((), None),
    "ward": ((WARD,), (("B ",), ("a",), ("A",), (None,), ("nobody",), ("x'y",), ('q"',))),
    "year": ((YEAR,), tuple((year,) for year in YEARS)),
    "day and urgent": (
        (DAY, URGENT),
        tuple(product((date(2024, 2, 29), date(1, 1, 1)), (True, False, None))),
    ),
    "age": ((AGES,), ((3,), (0,), (1,), (2,))),
    "cost": ((PAID,), ((2**53,), (0,), (1000,), (None,), (1,), (7,))),
}
FILTERS = {
    "all": None,
    "old": col("age") >= 65,
    "derived": col("twice") > 1.5,
    "not urgent": ~col("urgent") | (col("at").part("hour") == 1),
}
DERIVED = (("twice", col("cost") * 2), ("half", 1 / (col("twice") + 1)))
BOUNDINGS = [
    Bounding(),
    Bounding(max_rows=1),
    Bounding(max_rows=3),
    Bounding(max_groups=1),
    Bounding(max_groups=2, max_rows=2),
    Bounding(max_groups=2, clip=True),
]
COST = GridSum(col("cost"), 0, 1000 << 10, 10)
MEASURES = [
    Rows(),
    RowsWith(col("cost")),
    RowsWith(col("age")),
    DistinctUnits(),
    COST,
    replace(COST, power=2),
    GridSum(col("half"), -50, 70, 6),
    GridSum(col("cost"), -(2**31), -1, -20),
    GridSum(col("age"), 0, 100, 0, 2),
    GridSum(case((col("urgent"), col("cost")), otherwise=7), 3, 3 + 2**31 - 1, 20),
]
HISTOGRAMS = [
    CellCounts(col("cost"), Fraction(0), Fraction(1, 100), 60),
    CellCounts(col("age"), Fraction(-1), Fraction(3), 10),
    CellCounts(col("twice"), Fraction(1, 3), Fraction(7, 9), 7),
]
WIDE = GridSum(col("cost"), -(2**19), 2**19, 9)
SPAN = GridSum(col("age"), 0, 2**20, 13)
SIGNED = GridSum(col("half"), -50, 70, 6)
PRODUCTS = [
    ProductSum((WIDE, SPAN), powers) for powers in ((0, 0), (0, 1), (2, 1), (2, 2))
]  # up to 2^76: beyond 64 bits
PRODUCTS.append(ProductSum((SIGNED, WIDE, SPAN), (1, 0, 1)))
VALUES = [DistinctValues(col(name)) for name in ("cost", "ward", "day", "urgent", "half")]


AT_ONCE = ("parquet", "postgres")
SOME_LATER = [
    pytest.param(name, marks=() if name in AT_ONCE else pytest.mark.long) for name in MAKERS
]


@pytest.fixture(params=MAKERS)
def make(request, tmp_path_factory):
    """Opens rows; all engines are closed at the end."""
    opened = []

    def maker(rows, schema=SCHEMA):
        opened.append(MAKERS[request.param](rows, schema, tmp_path_factory.mktemp("rows")))
        return opened[-1]

    yield maker
    for made in opened:
        made.engine.close()


@pytest.fixture
def once(make):
    """The same, closing each before the next: for many examples."""
    last = []

    def maker(rows, schema=SCHEMA):
        for made in last:
            made.engine.close()
        last[:] = [make(rows, schema)]
        return last[0]

    return maker


def scopes(unit):
    """A few scopes in one example: opening costs more than asking."""
    one = st.builds(
        lambda grouping, where, bounding: RowScope(
            schema=replace(SCHEMA, unit=unit),
            where=FILTERS[where],
            derived=DERIVED,
            joins=(),
            groups=GROUPINGS[grouping][0],
            keys=GROUPINGS[grouping][1],
            bounding=bounding,
        ),
        st.sampled_from(sorted(GROUPINGS)),
        st.sampled_from(sorted(FILTERS)),
        st.sampled_from(BOUNDINGS),
    )
    return st.lists(one, min_size=3, max_size=3)


@pytest.mark.parametrize("make", SOME_LATER, indirect=True)
@given(
    rows=st.lists(ROW, max_size=25),
    asked=st.sampled_from(["patient", "year", "cost", "day", None]).flatmap(scopes),
)
@settings(max_examples=pick(4, 12), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_measures_are_those_of_a_slow_engine(once, rows, asked):
    check_measures(once(rows, asked[0].schema), rows, asked)


def check_measures(made, rows, asked):
    """Whether an engine's integers are those of the slow one, in each of these scopes."""
    for scope in asked:
        needed = scope.bounding.max_rows or scope.bounding.max_groups
        bounded = scope.schema.unit is not None and needed
        ranks = made.ranks(replace(scope, bounding=Bounding(max_rows=1))) if bounded else None
        slow = Reference(rows, ranks or [1] * len(rows), made.spelled)
        clipped = scope.bounding.clip and scope.schema.unit is not None
        measures = MEASURES + ([] if clipped else HISTOGRAMS + PRODUCTS + VALUES[:1])
        assert made.engine.measure(scope, measures) == slow.measure(scope, measures)
        if scope.groups:
            found = made.engine.discover(scope)
            assert dict(found) == slow.discover(scope)
            assert len(found) == len(dict(found))


def crowd(size=400):
    """Rows of 25 patients in all wards and years: every bound has something to cut off."""
    random = Random(8)
    choices = {
        "patient": [f"p{number}" for number in range(25)] + [None],
        "ward": [*WARDS, None],
        "year": [2020, 2021, 2023, 2024],
        "cost": [float(number) for number in range(0, 1500, 7)] + [nan, None],
        "age": list(range(0, 120, 3)),
        "day": [date(2024, 2, 29), date(1, 1, 1), date(2000, 1, 1), None],
        "at": [datetime(2024, 3, 31, hour, tzinfo=UTC) for hour in (0, 1)],
        "urgent": [True, False, None],
    }
    return [{name: random.choice(some) for name, some in choices.items()} for _ in range(size)]


@pytest.mark.few(
    "max_groups=1, clip=False)-parquet",
    "max_groups=2, clip=False)-postgres",
    "clip=True)-parquet",
    "max_rows=3, max_groups=None, clip=False)-parquet",
)
@pytest.mark.parametrize("make", SOME_LATER, indirect=True)
@pytest.mark.parametrize("bounding", BOUNDINGS, ids=str)
def test_bounds_cut_off_what_they_should_in_a_crowd(make, bounding):
    """Few of the keys that occur are listed, and filters leave gaps in each unit's ranks."""
    rows = crowd()
    made = make(rows)
    slow = Reference(rows, made.ranks(scope_of(Bounding(max_rows=1))), made.spelled)
    for grouping, where in product(GROUPINGS, ("all", "derived")):
        groups, keys = GROUPINGS[grouping]
        scope = RowScope(SCHEMA, FILTERS[where], DERIVED, (), groups, keys, bounding)
        more = [*HISTOGRAMS[:1], *PRODUCTS[1:4]]
        measures = [Rows(), DistinctUnits(), COST] + ([] if bounding.clip else more)
        assert made.engine.measure(scope, measures) == slow.measure(scope, measures)
        assert not groups or dict(made.engine.discover(scope)) == slow.discover(scope)


def scope_of(bounding, *, groups=(), keys=None, schema=SCHEMA, where=None):
    return RowScope(schema, where, (), (), groups, keys, bounding)


def row(**values):
    return dict.fromkeys(column.name for column in SCHEMA.columns) | values


def test_an_empty_table_answers_every_key_with_zero(make):
    engine = make([]).engine
    scope = scope_of(Bounding(max_rows=2), groups=(WARD,), keys=(("A",), (None,)))
    cells = CellCounts(col("cost"), Fraction(0), Fraction(1), 3)
    assert engine.measure(scope, [Rows(), DistinctUnits(), COST, cells]) == [
        [0, 0],
        [0, 0],
        [0, 0],
        [[0, 0, 0], [0, 0, 0]],
    ]
    assert engine.discover(scope) == []


def test_ranks_are_an_order_of_each_units_rows_and_missing_units_have_none(make):
    rows = [row(patient=p, year=n) for n, p in enumerate(["x", "y", None, "x", "x", "y"] * 5)]
    ranks = make(rows).ranks(scope_of(Bounding(max_rows=1)))
    for unit, many in (("x", 15), ("y", 10)):
        mine = [rank for rank, one in zip(ranks, rows, strict=True) if one["patient"] == unit]
        assert sorted(mine) == list(range(1, many + 1))
    assert [ranks[n] for n, one in enumerate(rows) if one["patient"] is None] == [None] * 5


@pytest.mark.few("parquet", "postgres")
def test_a_unit_with_100_000_rows_counts_with_as_many_as_it_may(make):
    """More than 2^16: ranks of 16 bits would begin again."""
    rows = [row(patient="p", cost=1.0)] * 100_000 + [row(patient="q", cost=2.0)]
    engine = make(rows).engine
    for most in (1, 10, 65_536, 70_000, 100_000):
        found = engine.measure(scope_of(Bounding(max_rows=most)), [Rows(), DistinctUnits(), COST])
        assert found == [[most + 1], [2], [(most + 2) << 10]]


def test_the_same_scope_gives_the_same_rows_again(make):
    rows = [row(patient="p", cost=float(n)) for n in range(50)]
    engine = make(rows).engine
    scope = scope_of(Bounding(max_rows=5))
    assert engine.measure(scope, [COST]) == engine.measure(scope, [COST])


def test_the_statement_shows_no_key_and_no_place_of_a_file(make):
    engine = make([row(patient="p", ward="SECRET")]).engine
    scope = scope_of(Bounding(max_rows=2), groups=(WARD,), keys=(("LISTED",),))
    shown = engine.sql(scope, [Rows(), COST])
    assert "SECRET" not in shown
    assert "LISTED" not in shown
    assert "/" not in shown
    assert '"visits"' in shown


@pytest.mark.few("parquet", "csv", "postgres")
def test_different_values_of_every_type_are_counted_and_missing_ones_are_not(make):
    """Both zeros are one value; NaN and the infinities are missing."""
    rows = [*crowd(60), row(patient="p", cost=0.0), row(patient="q", cost=-0.0)]
    made = make(rows)
    slow = Reference(rows, made.ranks(scope_of(Bounding(max_rows=1))), made.spelled)
    for bounding in (Bounding(max_rows=3), Bounding(max_groups=2, max_rows=2)):
        scope = RowScope(SCHEMA, None, DERIVED, (), *GROUPINGS["ward"], bounding)
        assert made.engine.measure(scope, VALUES) == slow.measure(scope, VALUES)


def test_a_product_beyond_128_bits_of_sums_is_refused_before_it_is_asked():
    with pytest.raises(ParameterError, match="coarser grids"):
        ProductSum((WIDE, WIDE), (4, 2))
    assert ProductSum((WIDE, SPAN), (2, 2)).largest > 2**63, "no case is beyond 64 bits"
