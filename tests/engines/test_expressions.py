"""Expressions as SQL: no row makes a statement fail, and every value is the semantics' one."""

from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache
from math import inf, nan

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import evaluate
from letalone.engines.core import syntax
from letalone.engines.core.measures import RowScope
from letalone.engines.core.rows import ScopeRows, Tables
from letalone.engines.duckdb.duck_dialect import DUCKDB
from letalone.engines.duckdb.duck_sources import relation_of_view
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.plans.expressions import (
    PERIODS,
    And,
    Arithmetic,
    Bin,
    Case,
    Clamp,
    ColumnRef,
    Comparison,
    Concat,
    DatePart,
    DateText,
    IsNull,
    Length,
    Like,
    Literal,
    Negated,
    Not,
    OneOf,
    Or,
    Respelled,
    StartOf,
    Substring,
)
from letalone.plans.plan import Bounding
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from stages import pick

NUMBERS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e-320, -5e-324, 1e308, -1e308, 2.0**53, nan, inf, -inf, 3.0]
INTEGERS = [0, 1, -1, 7, 2**53 + 1, 2**63 - 1, -(2**63), 2**31, 100]
TEXTS = ["", "a", "A", "ä", "a\u0308", "x'y\"z", "\x00", "a\x00b", " a", "\U0001f600", "NULL"]
TEXTS += ["%", "_", "a\\", "+%a_", "a\nb", "abAB ", "\t a", "\u0130ß", "aaaaaab", "\U0001f600a_b%"]
PATTERNS = [
    "",
    "%",
    "a",
    "a%",
    "%a",
    "%a%",
    "_",
    "__",
    "a_b",
    "_%",
    "%_",
    "%a%b%",
    "a%b",
    "a%a",
    "%a_",
]
PATTERNS += [
    "\\%",
    "%\\_%",
    "\\\\%",
    "%\\\\",
    "+%",
    "\U0001f600%",
    "%b%\U0001f600_%",
    "%a%a_b",
    "ä%",
]
PATTERNS += ["%a%a%a%a%b", "a%a%a_%b", "%\n%", "%'%", "%\x00%", "_\u0308%", "%b%\\%", " %", "% "]
DATES = [date(1, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(9999, 12, 31)]
TIMES = [
    datetime(1, 1, 1),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(2024, 2, 29, 12, 30),
    datetime(9999, 12, 30, 23),
]
COLUMNS = {
    "x": (Type.NUMBER, NUMBERS, pa.float64()),
    "y y": (Type.NUMBER, NUMBERS, pa.float64()),
    "i": (Type.INTEGER, INTEGERS, pa.int64()),
    "j": (Type.INTEGER, INTEGERS, pa.int64()),
    't"': (Type.TEXT, TEXTS, pa.string()),
    "b": (Type.BOOLEAN, [True, False], pa.bool_()),
    "d": (Type.DATE, DATES, pa.date32()),
    "s": (Type.TIMESTAMP, TIMES, pa.timestamp("us")),
    "bounded": (Type.NUMBER, NUMBERS, pa.float64()),
    "few": (Type.INTEGER, INTEGERS, pa.int64()),
}
BOUNDS = {"bounded": (Fraction(-1, 10), Fraction(7, 3)), "few": (Fraction(-3), Fraction(50))}
SCHEMA = Schema(
    "nasty", tuple(Column(n, kind, *BOUNDS.get(n, ())) for n, (kind, _, _) in COLUMNS.items())
)

DUCK = LockedDuck(threads=1)


def rows():
    row = st.fixed_dictionaries(
        {name: st.none() | st.sampled_from(values) for name, (_, values, _) in COLUMNS.items()}
    )
    return st.lists(row, min_size=1, max_size=12)


def columns(*kinds):
    return st.sampled_from([ColumnRef(n) for n, (kind, _, _) in COLUMNS.items() if kind in kinds])


@cache
def expressions(kind, depth):
    if kind is Type.NUMBER:
        leaf = columns(Type.NUMBER, Type.INTEGER) | st.sampled_from(
            [Literal(Fraction(value)) for value in NUMBERS[:10]] + [Literal(3), Literal(2**62)]
        )
    elif kind is Type.BOOLEAN:
        leaf = columns(Type.BOOLEAN) | st.sampled_from([Literal(True), Literal(False)])
    else:
        constants = {Type.TEXT: TEXTS, Type.DATE: DATES, Type.TIMESTAMP: TIMES}
        constants |= {Type.INTEGER: INTEGERS}
        leaf = columns(kind) | st.sampled_from([Literal(value) for value in constants[kind]])
    if not depth:
        return leaf
    return leaf | larger(kind, depth - 1)


DAY_PARTS = ["year", "quarter", "month", "day", "yearday", "week", "weekday"]
DAY_PATTERNS = ["%Y", "%Y-%m", "%m", "%d", "%A", "%a", "%B %d", "%b", "%j", "%y%q%u", "100%% %d'"]
SPELLINGS = ["upper", "lower", "trim", "trim_start", "trim_end"]
HALVES = [(Fraction(-1, 3), Fraction(5, 2)), (None, Fraction(1, 10)), (Fraction(1, 2), None)]
WHOLES = [(Fraction(-1), Fraction(7)), (None, Fraction(0)), (Fraction(2**53), None)]


@cache
def larger(kind, depth):
    number = expressions(Type.NUMBER, depth)
    if kind is Type.NUMBER:
        made = st.builds(Arithmetic, st.sampled_from("+-*/"), number, number)
        made |= st.builds(Negated, number)
        either = number | expressions(Type.INTEGER, depth)
        made |= st.builds(lambda of, ends: Clamp(of, *ends), either, st.sampled_from(HALVES))
        days = expressions(Type.DATE, depth)
        made |= st.builds(Arithmetic, st.just("-"), days, days)
    elif kind is Type.INTEGER:
        dates = expressions(Type.DATE, depth) | expressions(Type.TIMESTAMP, depth)
        made = st.builds(DatePart, st.sampled_from(DAY_PARTS), dates)
        timed = st.sampled_from(["hour", "minute", "second"])
        made |= st.builds(DatePart, timed, expressions(Type.TIMESTAMP, depth))
        made |= st.builds(Length, expressions(Type.TEXT, depth))
        widths = st.sampled_from([Fraction(1, 10), Fraction(7), Fraction(10**9)])
        made |= st.builds(Bin, number, widths, widths, st.integers(1, 50))
        whole = expressions(Type.INTEGER, depth)
        made |= st.builds(lambda of, ends: Clamp(of, *ends), whole, st.sampled_from(WHOLES))
    elif kind is Type.BOOLEAN:
        made = conditions(depth)
    elif kind is Type.DATE:
        dates = expressions(Type.DATE, depth) | expressions(Type.TIMESTAMP, depth)
        made = st.builds(StartOf, st.sampled_from(PERIODS), dates)
    elif kind is Type.TEXT:
        made = texts(depth)
    else:
        made = st.nothing()
    return made | cases(kind, depth)


@cache
def texts(depth):
    text = expressions(Type.TEXT, depth)
    made = st.builds(Respelled, st.sampled_from(SPELLINGS), text)
    made |= st.builds(Substring, text, st.integers(1, 4), st.none() | st.integers(1, 3))
    made |= st.builds(Substring, text, st.integers(-3, -1), st.none())
    parts = st.lists(text | expressions(Type.INTEGER, depth), min_size=1, max_size=3).map(tuple)
    made |= st.builds(Concat, parts)
    days = expressions(Type.DATE, depth) | expressions(Type.TIMESTAMP, depth)
    made |= st.builds(DateText, st.sampled_from(DAY_PATTERNS), days)
    timed = expressions(Type.TIMESTAMP, depth)
    return made | st.builds(DateText, st.sampled_from(["%H", "%Y-%m-%d %H:%M"]), timed)


@cache
def conditions(depth):
    order = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
    equal = st.sampled_from(["=", "<>"])
    ordered = (Type.NUMBER, Type.INTEGER, Type.DATE, Type.TIMESTAMP)
    made = st.nothing()
    for kind in ordered:
        sides = expressions(kind, depth)
        made |= st.builds(Comparison, order, sides, sides)
    for kind in (Type.TEXT, Type.BOOLEAN):
        sides = expressions(kind, depth)
        made |= st.builds(Comparison, equal, sides, sides)
    mixed = st.lists(
        st.sampled_from([0, 7, 2**63 - 1, Fraction(1, 2), Fraction(2**53 + 2)]), min_size=1
    )
    numeric = expressions(Type.NUMBER, depth) | expressions(Type.INTEGER, depth)
    made |= st.builds(OneOf, numeric, mixed.map(tuple))
    words = st.lists(st.sampled_from(TEXTS), min_size=1).map(tuple)
    made |= st.builds(OneOf, expressions(Type.TEXT, depth), words)
    made |= st.builds(Like, expressions(Type.TEXT, depth), st.sampled_from(PATTERNS))
    parts = st.lists(expressions(Type.BOOLEAN, depth), min_size=1, max_size=3).map(tuple)
    made |= st.builds(And, parts) | st.builds(Or, parts)
    made |= st.builds(Not, expressions(Type.BOOLEAN, depth))
    return made | st.builds(IsNull, numeric | expressions(Type.TEXT, depth))


@cache
def cases(kind, depth):
    branch = st.tuples(expressions(Type.BOOLEAN, depth), expressions(kind, depth))
    otherwise = expressions(kind, depth) | st.just(Literal(None))
    return st.builds(Case, st.lists(branch, min_size=1, max_size=2).map(tuple), otherwise)


def values_in(rows, expression):
    """The value of an expression in each row, by DuckDB."""
    arrays = [pa.array([row[n] for row in rows], kind) for n, (_, _, kind) in COLUMNS.items()]
    DUCK.connection.register("nasty", pa.table(arrays, names=list(COLUMNS)))
    scope = RowScope(SCHEMA, None, (), (), (), None, Bounding())
    made = ScopeRows(scope, [expression], Tables(relation_of_view(DUCK, "nasty"), None, {}, DUCKDB))
    value = syntax.alias(made.value(expression).sql, "value")
    found = DUCK.run(syntax.select([value], made.select(with_unit=False)))
    return [value for (value,) in found]


def differing(rows, expression):
    """The values by DuckDB that are not those of the slow evaluation, each with that one."""
    expected = [evaluate(expression, row, SCHEMA) for row in rows]
    pairs = zip(values_in(rows, expression), expected, strict=True)
    return [(found, wanted) for found, wanted in pairs if not same(found, wanted)]


def same(found, wanted):
    if found is None or wanted is None:
        return found is wanted
    return found == (float(wanted) if isinstance(found, float) else wanted)


@given(
    rows(),
    st.sampled_from([Type.NUMBER, Type.INTEGER, Type.BOOLEAN]).flatmap(
        lambda kind: expressions(kind, 3)
    ),
)
@settings(max_examples=pick(60, 200))
def test_every_value_is_that_of_a_slow_evaluation_and_nothing_fails(rows, expression):
    assert differing(rows, expression) == []


@given(
    rows(),
    st.sampled_from([Type.TEXT, Type.DATE, Type.TIMESTAMP]).flatmap(lambda kind: cases(kind, 2)),
)
@settings(max_examples=pick(20, 60))
def test_cases_of_text_and_dates_are_those_of_a_slow_evaluation(rows, expression):
    assert differing(rows, expression) == []


@given(rows(), texts(2) | st.builds(Like, texts(1), st.sampled_from(PATTERNS)))
@settings(max_examples=pick(60, 200))
def test_functions_of_text_are_those_of_a_slow_evaluation(rows, expression):
    assert differing(rows, expression) == []


def text_rows():
    empty = dict.fromkeys(COLUMNS)
    return [empty | {'t"': text} for text in [*TEXTS, None]]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_text_matches_every_pattern_as_it_should(pattern):
    assert differing(text_rows(), Like(ColumnRef('t"'), pattern)) == []


def test_a_chain_of_guards_stays_as_long_as_its_expression():
    """Guards mention their number twice: without levels, 24 divisions would be 2^24 long."""
    chain = ColumnRef("x")
    for _ in range(24):
        chain = Arithmetic("/", Literal(1), Arithmetic("+", chain, Literal(1)))
    row = dict.fromkeys(COLUMNS) | {"x": 1.0}
    assert differing([row], chain) == []


def test_division_by_an_infinity_on_the_way_is_missing_and_not_zero():
    infinite = Arithmetic("*", Literal(Fraction(10) ** 308), Literal(Fraction(10) ** 308))
    quotient = Arithmetic("/", Literal(1), infinite)
    assert values_in([dict.fromkeys(COLUMNS)], quotient) == [None]


@pytest.mark.parametrize("period", PERIODS)
def test_the_start_of_a_period_is_that_of_the_calendar(period):
    """Of every third day of five years, leap years among them, and of the calendar's ends."""
    days = [date(2023, 1, 1) + timedelta(days=3 * n) for n in range(600)]
    empty = dict.fromkeys(COLUMNS)
    rows = [empty | {"d": day, "s": datetime(day.year, day.month, day.day, 23)} for day in days]
    rows += [empty | {"d": day, "s": at} for day, at in zip(DATES, TIMES, strict=True)]
    assert differing([*rows, empty], StartOf(period, ColumnRef("d"))) == []
    assert differing([*rows, empty], StartOf(period, ColumnRef("s"))) == []
