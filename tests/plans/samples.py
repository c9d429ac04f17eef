"""A table's schema and random expressions over it, each of a stated type."""

from datetime import date, datetime
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from letalone.plans.expressions import (
    And,
    Arithmetic,
    Bin,
    Case,
    Clamp,
    Comparison,
    Concat,
    DatePart,
    DateText,
    Expression,
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
    col,
)
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

SCHEMA = Schema(
    "visits",
    (
        Column("patient_id", Type.INTEGER),
        Column("age", Type.INTEGER, Fraction(0), Fraction(120)),
        Column("stay", Type.INTEGER),
        Column("cost", Type.NUMBER, Fraction(0), Fraction(1000)),
        Column("score", Type.NUMBER),
        Column("loss", Type.NUMBER, upper=Fraction(-1, 2)),
        Column("ward", Type.TEXT, keys=("A", "B", "C")),
        Column("note", Type.TEXT),
        Column("smokes", Type.BOOLEAN),
        Column("day", Type.DATE),
        Column("seen", Type.TIMESTAMP),
        Column("scan", Type.OTHER),
    ),
    unit="patient_id",
)

WHOLE = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 130)
DOUBLES = st.floats() | st.sampled_from([0.0, -0.0, 0.5, -1.0, 1e308, -1e308, 5e-324, 999.5])
TEXTS = st.sampled_from(["A", "B", "é", "", "a'b"])
DAYS = st.dates(date(1900, 1, 1), date(2100, 1, 1))
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))


def maybe(values: SearchStrategy) -> SearchStrategy:
    return st.none() | values


ROWS = st.fixed_dictionaries(
    {
        "patient_id": maybe(WHOLE),
        "age": maybe(WHOLE),
        "stay": maybe(WHOLE),
        "cost": maybe(DOUBLES),
        "score": maybe(DOUBLES),
        "loss": maybe(DOUBLES),
        "ward": maybe(TEXTS),
        "note": maybe(TEXTS),
        "smokes": maybe(st.booleans()),
        "day": maybe(DAYS),
        "seen": maybe(MOMENTS),
        "scan": st.none() | st.binary(),
    }
)

FRACTIONS = st.fractions(-100, 100, max_denominator=10)
ORDER = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
EQUALITY = st.sampled_from(["=", "<>"])


def leaves(names: list[str], constants: SearchStrategy) -> SearchStrategy[Expression]:
    return st.sampled_from(names).map(col) | constants.map(Literal)


TEXT_LEAVES = leaves(["ward", "note"], TEXTS)
DAY_VALUES = leaves(["day"], DAYS)
PERIODS = st.sampled_from(["year", "quarter", "month", "week", "day"])
MOMENT_VALUES = leaves(["seen"], MOMENTS)
SPELLINGS = st.sampled_from(["upper", "lower", "trim", "trim_start", "trim_end"])
TEXT_VALUES = st.one_of(
    TEXT_LEAVES,
    st.builds(Respelled, SPELLINGS, TEXT_LEAVES),
    st.builds(Substring, TEXT_LEAVES, st.integers(1, 3), st.none() | st.integers(1, 3)),
    st.builds(Substring, TEXT_LEAVES, st.integers(-3, -1), st.none()),
    st.builds(
        Concat, st.lists(TEXT_LEAVES | st.just(col("age")), min_size=1, max_size=3).map(tuple)
    ),
    st.builds(DateText, st.sampled_from(["%Y-%m", "%A %H"]), MOMENT_VALUES),
)
PATTERNS = st.sampled_from(["", "%", "A%", "%é", "_", "%a%b%", "\\%%", "a\\\\"])
NUMBER_LEAVES = leaves(["age", "stay", "cost", "score", "loss"], st.integers(-9, 9) | FRACTIONS)
CONDITION_LEAVES = leaves(["smokes"], st.booleans())


def conditions(depth: int) -> SearchStrategy[Expression]:
    if not depth:
        return CONDITION_LEAVES
    inner, number = conditions(depth - 1), numbers(depth - 1)
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    anything = st.one_of(inner, number, TEXT_VALUES, DAY_VALUES, st.just(col("scan")))
    return st.one_of(
        CONDITION_LEAVES,
        st.builds(Comparison, ORDER, number, number),
        st.builds(Comparison, EQUALITY, TEXT_VALUES, TEXT_VALUES),
        st.builds(Comparison, ORDER, DAY_VALUES, DAY_VALUES),
        st.builds(Like, TEXT_VALUES, PATTERNS),
        st.builds(Comparison, ORDER, st.builds(StartOf, PERIODS, MOMENT_VALUES), DAY_VALUES),
        st.builds(Comparison, ORDER, MOMENT_VALUES, MOMENT_VALUES),
        st.builds(And, several),
        st.builds(Or, several),
        st.builds(Not, inner),
        st.builds(IsNull, anything),
        st.builds(OneOf, number, st.lists(FRACTIONS, min_size=1, max_size=3).map(tuple)),
        st.builds(OneOf, TEXT_VALUES, st.lists(TEXTS, min_size=1, max_size=3).map(tuple)),
    )


def numbers(depth: int) -> SearchStrategy[Expression]:
    if not depth:
        return NUMBER_LEAVES
    inner, condition = numbers(depth - 1), conditions(depth - 1)
    value = inner | st.just(Literal(None))
    branches = st.lists(st.tuples(condition, inner), min_size=1, max_size=2).map(tuple)
    return st.one_of(
        NUMBER_LEAVES,
        st.builds(Arithmetic, st.sampled_from(["+", "-", "*", "/"]), inner, inner),
        st.builds(Negated, inner),
        st.builds(Arithmetic, st.just("-"), DAY_VALUES, DAY_VALUES),
        st.builds(Length, TEXT_VALUES),
        st.builds(Case, branches, value),
        st.builds(DatePart, st.sampled_from(["year", "quarter", "yearday", "weekday"]), DAY_VALUES),
        st.builds(DatePart, st.sampled_from(["year", "hour", "minute", "second"]), MOMENT_VALUES),
        st.builds(Bin, inner, FRACTIONS, st.just(Fraction(5, 2)), st.integers(1, 9)),
        st.builds(Clamp, inner, st.just(Fraction(-1, 2)), st.sampled_from([None, Fraction(7, 3)])),
    )
