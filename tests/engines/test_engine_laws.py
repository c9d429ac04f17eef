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
from re import search

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.makers import MAKERS
from engines.reference import Reference
from letalone.engines.core.measures import (
    CellCounts,
    DistinctUnits,
    DistinctValues,
    GridSum,
    ProductSum,
    Rows,
    RowScope,
    RowsWith,
    ValueCounts,
)
from letalone.errors import ParameterError
from letalone.plans.expressions import Bin, case, col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from stages import ALL, pick

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
LETTER = GroupColumn("letter", col("ward").substr(1, 1).lower(), Type.TEXT)
NAMED_DAY = GroupColumn("named", col("day").strftime("%A %q"), Type.TEXT)
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
    "letter": ((LETTER,), (("b",), ("a",), ("ä",), (None,), ("\U0001f600",), ("x",))),
    "named day": ((NAMED_DAY,), (("Thursday 1",), (None,), ("Monday 1",))),
    "cost": ((PAID,), ((2**53,), (0,), (1000,), (None,), (1,), (7,))),
}
FILTERS = {
    "all": None,
    "old": col("age") >= 65,
    "derived": col("twice") > 1.5,
    "like": col("ward").like("%a%") | (col("ward").trim().concat(col("age")) == "B65"),
    "pattern": col("ward").like("x%'!_%_%y", escape="!") | col("ward").like("%a%'%b_+%"),
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
    Bounding(max_groups=3, max_rows=1),
    Bounding(max_rows=2**31),
    Bounding(max_groups=2**31, max_rows=2**31),
    Bounding(max_rows=3, key_groups=1),
]
WEIGHTS = list(product((20, 8), (1, 2)))  # bits and norm
WHOLE = 1 << 20  # what a whole row counts for
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
COUNTED = [
    ValueCounts(col("ward"), ("B ", "a", "nobody", "x'y", "\U0001f600")),
    ValueCounts(col("cost"), (2**53, 0, 1000, 7)),
    ValueCounts(col("year"), (2024, -(2**63), 7)),
    ValueCounts(col("day"), (date(2024, 2, 29), date(2023, 1, 1))),
    ValueCounts(col("urgent"), (False, True)),
]
WIDE = GridSum(col("cost"), -(2**17), 2**17, 7)
SPAN = GridSum(col("age"), 0, 2**18, 11)
SIGNED = GridSum(col("half"), -50, 70, 6)
PRODUCTS = [
    ProductSum((WIDE, SPAN), powers) for powers in ((0, 0), (0, 1), (2, 1), (2, 2))
]  # up to 2^68: beyond 64 bits, and with weights 2^88
PRODUCTS.append(ProductSum((SIGNED, WIDE, SPAN), (1, 0, 1)))
VALUES = [DistinctValues(col(name)) for name in ("ward", "year", "day", "urgent")]
VALUES.append(DistinctValues(col("ward").upper()))
LOOSE = [DistinctValues(col(name)) for name in ("cost", "half")]  # spelled in several ways


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
        lambda grouping, where, bounding, weights: RowScope(
            schema=replace(SCHEMA, unit=unit),
            where=FILTERS[where],
            derived=DERIVED,
            joins=(),
            groups=GROUPINGS[grouping][0],
            keys=GROUPINGS[grouping][1],
            bounding=bounding,
            weight_bits=weights[0],
            norm=weights[1],
        ),
        st.sampled_from(sorted(GROUPINGS)),
        st.sampled_from(sorted(FILTERS)),
        st.sampled_from(BOUNDINGS),
        st.sampled_from(WEIGHTS),
    )
    return st.lists(one, min_size=3, max_size=3)


@pytest.mark.parametrize("make", SOME_LATER, indirect=True)
@given(
    rows=st.lists(ROW, max_size=25),
    asked=st.sampled_from(["patient", "year", "cost", "day", None]).flatmap(scopes),
)
@settings(max_examples=pick(3, 12), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_measures_are_those_of_a_slow_engine(once, rows, asked):
    check_measures(once(rows, asked[0].schema), rows, asked)


def check_measures(made, rows, asked):
    """Whether an engine's integers are those of the slow one, in each of these scopes."""
    slow = Reference(rows, made.spelled)
    for scope in asked:
        clipped = scope.bounding.clip and scope.schema.unit is not None
        values = VALUES[:2] if is_spelled_alike(scope) else []
        measures = MEASURES + ([] if clipped else HISTOGRAMS + COUNTED + PRODUCTS + values)
        assert made.engine.measure(scope, measures) == slow.measure(scope, measures)
        if scope.groups and is_spelled_alike(scope):
            found = made.engine.discover(scope)
            assert dict(found) == slow.discover(scope)
            assert len(found) == len(dict(found))


def is_spelled_alike(scope):
    """Whether every engine writes units and keys in the same way, so that cuts are the same."""
    unit = None if scope.schema.unit is None else scope.schema.column(scope.schema.unit).type
    kinds = {unit, *(group.type for group in scope.groups)}
    return unit is None or not kinds & {Type.NUMBER, Type.TIMESTAMP}


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
    "max_groups=1, clip=False, key_groups=None)-parquet",
    "max_groups=2, clip=False, key_groups=None)-postgres",
    "clip=True, key_groups=None)-parquet",
    "max_rows=3, max_groups=None, clip=False, key_groups=None)-parquet",
    "key_groups=1)-parquet",
)
@pytest.mark.parametrize("make", SOME_LATER, indirect=True)
@pytest.mark.parametrize("bounding", BOUNDINGS, ids=str)
def test_bounds_weigh_what_they_should_in_a_crowd(make, bounding):
    """Few of the keys that occur are listed, and filters leave some of each unit's rows."""
    rows = crowd()
    made = make(rows)
    slow = Reference(rows, made.spelled)
    asked = list(product(GROUPINGS, ("all", "derived")))
    for number, (grouping, where) in enumerate(asked[:: pick(3, 1)]):
        groups, keys = GROUPINGS[grouping]
        for bits, norm in WEIGHTS[number % 4 :: 2 if ALL else 4]:
            scope = RowScope(
                *(SCHEMA, FILTERS[where], DERIVED, (), groups, keys, bounding),
                weight_bits=bits,
                norm=norm,
            )
            more = [*HISTOGRAMS[:1], *PRODUCTS[1:4]]
            measures = [Rows(), DistinctUnits(), COST] + ([] if bounding.clip else more)
            assert made.engine.measure(scope, measures) == slow.measure(scope, measures)
        if groups and is_spelled_alike(scope):
            assert dict(made.engine.discover(scope)) == slow.discover(scope)


def scope_of(bounding, *, groups=(), keys=None, schema=SCHEMA, where=None, bits=20, norm=1):
    return RowScope(schema, where, (), (), groups, keys, bounding, weight_bits=bits, norm=norm)


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


AGES_IN_CELLS = CellCounts(col("age"), Fraction(0), Fraction(30), 4)


def check_bounds(engine, scope):
    """Whether what is counted of one unit's rows, which are all there are, keeps the bounds."""
    bounding, whole = scope.bounding, 1 << scope.weight_bits
    keys = len(scope.keys) if scope.groups else 1
    paired = bool(scope.groups) and bounding.max_groups is not None
    each = 1 if bounding.clip else bounding.max_rows
    counted = [] if each is None else [Rows(), RowsWith(col("cost"))]
    counted += [] if each is None or bounding.clip else [AGES_IN_CELLS, COUNTED[0]]
    units, *rows = engine.measure(scope, [DistinctUnits(), *counted])
    check_norms(units, min(bounding.max_groups or bounding.max_rows, keys), whole, scope.norm)
    for found in rows:
        sums = [sum(one) if isinstance(one, list) else one for one in found]
        most = min(bounding.max_groups, keys) if paired else 1
        check_norms(sums, most, each * whole, scope.norm if paired else 1)


def check_norms(sums, groups, each, norm):
    """That many groups may be full in all: by their sum, or by that of their squares."""
    assert all(0 <= one <= each for one in sums)
    assert sum(one * one for one in sums) <= groups * each**2
    assert norm == 2 or sum(sums) <= groups * each


@pytest.mark.parametrize("make", SOME_LATER, indirect=True)
@given(
    rows=st.lists(ROW, min_size=1, max_size=40).map(
        lambda rows: [{**one, "patient": "p1"} for one in rows]
    ),
    where=st.sampled_from(sorted(FILTERS)),
    random=st.randoms(use_true_random=False),
)
@settings(max_examples=pick(2, 20), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nobody_weighs_more_than_the_bounds_whatever_the_rows(once, rows, where, random):
    """Of one unit's rows alone: their weights are all that is counted."""
    engine = once(rows).engine
    every = list(product(BOUNDINGS[1:], ("none", "ward", "year", "age"), WEIGHTS))
    for bounding, grouping, (bits, norm) in random.sample(every, pick(5, 24)):
        parts = (SCHEMA, FILTERS[where], DERIVED, (), *GROUPINGS[grouping], bounding)
        check_bounds(engine, RowScope(*parts, weight_bits=bits, norm=norm))


@pytest.mark.few("parquet", "postgres")
def test_a_unit_that_has_too_much_of_everything_weighs_as_much_as_it_may(make):
    """Seven rows in each listed ward: within a part for each row of the bound, and not beyond."""
    wards = [ward for (ward,) in GROUPINGS["ward"][1]]
    rows = [row(patient="p", ward=ward, cost=1.0, age=n) for ward in wards for n in range(7)]
    engine = make(rows).engine
    for bounding, norm in product(BOUNDINGS[1:7], (1, 2)):
        scope = scope_of(bounding, groups=(WARD,), keys=GROUPINGS["ward"][1], norm=norm)
        check_bounds(engine, scope)
        if bounding.max_rows is not None:
            (found,) = engine.measure(scope, [Rows()])
            each, groups = bounding.max_rows * WHOLE, bounding.max_groups or 1
            power = norm if bounding.max_groups else 1
            assert sum(one**power for one in found) > 0.9999 * groups * each**power


@pytest.mark.few("parquet", "postgres")
def test_a_unit_with_100_000_rows_weighs_no_more_than_it_may(make):
    """More than 2^16, and more than 2^8 times the bound: then its rows weigh nothing."""
    rows = [row(patient="p", cost=1.0)] * 100_000 + [row(patient="q", cost=2.0)]
    engine = make(rows).engine
    for most, bits in product((1, 10, 65_536, 70_000, 100_000), (20, 8)):
        whole = 1 << bits
        scope = scope_of(Bounding(max_rows=most), bits=bits)
        heavy = 100_000 * (most * whole // 100_000)
        found = engine.measure(scope, [Rows(), DistinctUnits(), COST])
        assert found == [[heavy + whole], [2 * whole], [(heavy + 2 * whole) << 10]]


@pytest.mark.few("parquet", "postgres")
def test_the_order_and_the_files_of_rows_do_not_matter(make):
    """Written again in another order, cut at other places: the same integers, keys and values."""
    rows = crowd(150)
    mixed = rows.copy()
    Random(4).shuffle(mixed)
    engines = [make(some).engine for some in (rows, mixed)]
    for bounding, where in product(BOUNDINGS[2 : 7 : pick(2, 1)], ("all", "old")):
        scope = RowScope(SCHEMA, FILTERS[where], (), (), *GROUPINGS["ward"], bounding)
        measures = [Rows(), DistinctUnits(), COST] + ([] if bounding.clip else VALUES[1:3])
        first, again = [engine.measure(scope, measures) for engine in engines]
        assert first == again
        keys, same = [dict(engine.discover(scope)) for engine in engines]
        assert keys == same


@pytest.mark.few("parquet", "postgres")
def test_others_do_not_change_what_a_unit_weighs(make):
    """Numbers of a table are those of its units, each alone, added up."""
    rows = crowd(120)
    units = sorted({one["patient"] for one in rows if one["patient"]})[:5]
    some = [one for one in rows if one["patient"] in units]
    alone = [make([one for one in some if one["patient"] == unit]).engine for unit in units]
    together = make(some).engine
    for bounding in BOUNDINGS[1:7]:
        scope = scope_of(bounding, groups=(WARD,), keys=GROUPINGS["ward"][1], norm=2)
        measures = [Rows(), DistinctUnits(), COST] if bounding.max_rows or bounding.clip else []
        each = [engine.measure(scope, measures) for engine in alone]
        added = [
            [sum(numbers) for numbers in zip(*of_one, strict=True)]
            for of_one in zip(*each, strict=True)
        ]
        assert together.measure(scope, measures) == added


def test_the_statement_shows_no_key_and_no_place_of_a_file(make):
    engine = make([row(patient="p", ward="SECRET")]).engine
    scope = scope_of(Bounding(max_rows=2), groups=(WARD,), keys=(("LISTED",),))
    shown = engine.sql(scope, [Rows(), COST])
    assert "SECRET" not in shown
    assert "LISTED" not in shown
    assert not search(r"\w/|/\w", shown)  # 2097152 // "#n" is no place
    assert search('["`]visits["`]', shown)


@pytest.mark.few("parquet", "csv", "postgres")
def test_different_values_of_every_type_are_counted_and_missing_ones_are_not(make):
    """Both zeros are one value; NaN and the infinities are missing.

    Values that engines spell in several ways are asked for where no unit has more than it may.
    """
    rows = [*crowd(60), row(patient="p", cost=0.0), row(patient="q", cost=-0.0)]
    made = make(rows)
    slow = Reference(rows, made.spelled)
    for bounding in (Bounding(max_rows=3), Bounding(max_groups=2, max_rows=2)):
        scope = RowScope(SCHEMA, None, DERIVED, (), *GROUPINGS["ward"], bounding)
        assert made.engine.measure(scope, VALUES) == slow.measure(scope, VALUES)
    for bounding in (Bounding(max_rows=90), Bounding(max_groups=9, max_rows=90)):
        scope = RowScope(SCHEMA, None, DERIVED, (), *GROUPINGS["ward"], bounding)
        assert made.engine.measure(scope, LOOSE) == slow.measure(scope, LOOSE)


@pytest.mark.few("parquet", "postgres")
def test_no_unit_counts_for_more_different_values_than_it_may(make):
    """Also of numbers, which engines spell in several ways."""
    rows = [row(patient="p", ward="ABa"[n % 3], cost=n / 7, year=n) for n in range(60)]
    engine = make(rows).engine
    asked = [DistinctValues(col("cost")), DistinctValues(col("year"))]
    keys = (("A",), ("B",), ("a",))
    for bounding, most in (
        (Bounding(max_rows=4), 4),
        (Bounding(max_groups=2, max_rows=3), 6),
        (Bounding(max_groups=1, max_rows=5), 5),
    ):
        scope = scope_of(bounding, groups=(WARD,), keys=keys)
        found = engine.measure(scope, asked)
        assert [sum(one) for one in found] == [most << 20] * 2


def test_a_product_beyond_128_bits_of_sums_is_refused_before_it_is_asked():
    with pytest.raises(ParameterError, match="coarser grids"):
        ProductSum((WIDE, WIDE), (4, 2))
    assert ProductSum((WIDE, SPAN), (2, 2)).largest > 2**63, "no case is beyond 64 bits"
