"""Spark keeps the laws of every engine: the integers of a slow engine in plain Python."""

from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines import test_engine_laws as laws
from engines.odd_tables import TABLES, asked
from engines.reference import Reference
from engines.test_engine_laws import (
    BOUNDINGS,
    COST,
    COUNTED,
    DERIVED,
    FILTERS,
    GROUPINGS,
    HISTOGRAMS,
    PRODUCTS,
    ROW,
    SCHEMA,
    VALUES,
    WARD,
    WHOLE,
    check_measures,
    crowd,
    is_spelled_alike,
    row,
    scope_of,
    scopes,
    test_an_empty_table_answers_every_key_with_zero,
)
from engines.test_odd_tables import check_joined
from engines.test_units import AFTER, BEFORE, MEASURES, slow
from engines.test_units import GROUPINGS as OF_UNITS
from engines.test_units import scope_of as scope_of_units
from letalone.engines.core.measures import DistinctUnits, Rows, RowScope
from letalone.plans.plan import Bounding
from on_spark.spark import from_spark, opened

SHARED = (test_an_empty_table_answers_every_key_with_zero,)
LAWS = (
    laws.test_no_unit_counts_for_more_different_values_than_it_may,
    laws.test_others_do_not_change_what_a_unit_weighs,
    laws.test_the_order_and_the_files_of_rows_do_not_matter,
)


@pytest.fixture
def make():
    opened = []

    def maker(rows, schema=SCHEMA):
        opened.append(from_spark(rows, schema, None))
        return opened[-1]

    yield maker
    for made in opened:
        made.engine.close()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_laws_of_all_engines_hold(make, law):
    law(make)


@given(
    rows=st.lists(ROW, min_size=3, max_size=25),
    asked=st.sampled_from(["patient", "year", "cost", "day", None]).flatmap(scopes),
)
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_measures_are_those_of_a_slow_engine(make, rows, asked):
    check_measures(make(rows, asked[0].schema), rows, asked[:2])


@pytest.fixture(scope="module", params=["compiled", "interpreted"])
def crowded(request):
    rows = crowd()
    made = from_spark(rows, SCHEMA, request.param)
    yield made, Reference(rows)
    made.engine.close()


@pytest.mark.parametrize(
    ("bounding", "grouping"), list(zip(BOUNDINGS, ["ward", "day and urgent"] * 5, strict=False))
)
def test_bounds_weigh_what_they_should_in_a_crowd(crowded, bounding, grouping):
    """Few of the keys that occur are listed, and filters leave some of each unit's rows."""
    made, slow = crowded
    norm = 2 if bounding.max_rows == 2 or bounding.clip else 1
    scope = RowScope(
        SCHEMA, FILTERS["derived"], DERIVED, (), *GROUPINGS[grouping], bounding, norm=norm
    )
    more = [HISTOGRAMS[0], *COUNTED[:2], *PRODUCTS[1:4], VALUES[1]]
    measures = [Rows(), DistinctUnits(), COST] + ([] if bounding.clip else more)
    assert made.engine.measure(scope, measures) == slow.measure(scope, measures)
    assert is_spelled_alike(scope)
    assert dict(made.engine.discover(scope)) == slow.discover(scope)


@pytest.mark.parametrize("table", TABLES)
def test_odd_tables_have_the_integers_of_the_slow_engine(make, table):
    """All of them, and of the questions those that have most in them: a statement takes long."""
    made, slow = make(TABLES[table]), Reference(TABLES[table])
    for number, (scope, measures) in enumerate(list(asked())[1:7]):
        assert made.engine.measure(scope, measures) == slow.measure(scope, measures)
        if number % 2:
            assert dict(made.engine.discover(scope)) == slow.discover(scope)


def test_private_tables_are_joined_as_elsewhere(make):
    check_joined(lambda rows, schema: make(rows, schema).engine, 5)


@pytest.mark.parametrize(("before", "after"), list(zip(BEFORE, AFTER, strict=False)))
def test_measures_of_units_are_those_of_plain_python(before, after):
    """One unit's total does not fit into 64 bits."""
    rows = [one | {"year": (one["year"] - 2000) * 2**52} for one in crowd(200)]
    rows += [row(patient="huge", year=2**63 - 1, cost=1e308, age=0)] * 40
    engine = opened(rows, SCHEMA)
    for grouping in list(OF_UNITS)[:2]:
        scope = scope_of_units(grouping, before, after)
        assert engine.measure(scope, MEASURES) == slow(rows, scope, MEASURES)
    engine.close()


def test_sums_of_every_width_are_exact(make):
    """Words of 24 bits: sums of one word, two and three, of either sign, past 2^64."""
    from letalone.engines.core.measures import GridSum
    from letalone.plans.expressions import col

    rows = [row(patient=f"p{n}", cost=x) for n, x in enumerate([-1e300, -7.0, 5.0, 1e300] * 50)]
    grids = [
        GridSum(col("cost"), -(2**b), 2**b + odd, 0, p)
        for b in (3, 23, 24, 25, 30)
        for odd in (0, 1)
        for p in (1, 2)
    ]
    made = make(rows)
    slow = Reference(rows)
    for bounding in (Bounding(), Bounding(max_rows=1), Bounding(max_rows=2)):
        scope = scope_of(bounding)
        assert made.engine.measure(scope, grids) == slow.measure(scope, grids)
    assert max(slow.measure(scope, grids))[0] > 2**64, "no sum is beyond 64 bits"


def test_a_user_with_nine_tenths_of_the_rows_weighs_no_more_than_they_may(make):
    rows = [row(patient="p", ward="A", cost=1.0)] * 18_000
    rows += [row(patient=f"q{n % 500}", ward="B", cost=2.0) for n in range(2000)]
    engine = make(rows).engine
    for most in (1, 3):
        found = engine.measure(scope_of(Bounding(max_rows=most)), [Rows(), DistinctUnits(), COST])
        one, each = 18_000 * (most * WHOLE // 18_000), 4 * (most * WHOLE // 4)
        assert found == [[one + 500 * each], [501 * WHOLE], [(one + 1000 * each) << 10]]
    grouped = scope_of(Bounding(max_groups=1, max_rows=2), groups=(WARD,), keys=(("A",), ("B",)))
    one, each = 18_000 * (2 * WHOLE // 18_000), 4 * (WHOLE // 2)
    assert engine.measure(grouped, [Rows()]) == [[one, 500 * each]]


def test_the_statement_shows_no_key_and_no_name_of_the_view(make):
    engine = make([row(patient="p", ward="SECRET")]).engine
    scope = scope_of(Bounding(max_rows=2), groups=(WARD,), keys=(("LISTED",),))
    shown = engine.sql(scope, [Rows(), COST])
    for word in ("SECRET", "LISTED", "global_temp", "letalone_0"):
        assert word not in shown
    assert "`visits`" in shown


@pytest.mark.parametrize("bounding", [one for one in BOUNDINGS if one != Bounding()], ids=str)
def test_one_unit_more_moves_counts_by_no_more_than_its_bound(make, bounding):
    rows = [one for one in crowd(150) if one["patient"] != "p3"]
    mine = [
        row(patient="p3", ward=w, year=y, cost=900.0, day=None)
        for w, y in product("AaB", (2023, 2024))
    ] * 3
    groups, keys = GROUPINGS["ward"]
    scope = RowScope(SCHEMA, None, (), (), groups, keys, bounding)
    most = min(bounding.max_groups or 3, 3) * (1 if bounding.clip else bounding.max_rows or 18)
    found = [make(some).engine.measure(scope, [Rows(), COST]) for some in (rows, rows + mine)]
    moved = [
        sum(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in zip(*found, strict=True)
    ]
    assert 0 < moved[0] <= most * WHOLE
    assert moved[1] <= most * (1000 << 10) * WHOLE
