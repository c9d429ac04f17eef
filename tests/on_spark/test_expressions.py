"""Expressions on Spark: no row makes a statement fail, and every value is the semantics' one.

The rows are drawn once, from the same nasty cells as DuckDB's; each statement has several values.
"""

from datetime import date, datetime, timedelta
from fractions import Fraction
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.test_expressions import (
    COLUMNS,
    DATES,
    DAY_PARTS,
    DAY_PATTERNS,
    PATTERNS,
    SCHEMA,
    TIMES,
    cases,
    expressions,
    same,
    text_rows,
    texts,
)
from evaluator import evaluate
from letalone.engines.core import syntax
from letalone.engines.core.measures import Rows, RowScope
from letalone.engines.core.rows import ScopeRows, Tables
from letalone.engines.spark.spark_dialect import SPARK
from letalone.engines.spark.spark_engine import open_spark
from letalone.engines.spark.spark_versions import frame_of_arrow, print_for_session, rows_of
from letalone.plans.expressions import (
    PERIODS,
    Arithmetic,
    ColumnRef,
    DatePart,
    DateText,
    Like,
    Literal,
    Negated,
    StartOf,
)
from letalone.plans.plan import Bounding
from letalone.plans.types import Type
from on_spark.spark import spark

EMPTY = dict.fromkeys(COLUMNS)


def nasty_rows():
    random = Random(5)
    cells = {name: [*values, None] for name, (_, values, _) in COLUMNS.items()}
    return [{name: random.choice(some) for name, some in cells.items()} for _ in range(60)]


def engine_of(rows):
    arrays = [pa.array([row[n] for row in rows], kind) for n, (_, _, kind) in COLUMNS.items()]
    frame = frame_of_arrow(pa.table(arrays, names=list(COLUMNS)), spark()).coalesce(1)
    return open_spark(frame, schema=SCHEMA)


@pytest.fixture(scope="module")
def nasty():
    rows = nasty_rows()
    engine = engine_of(rows)
    yield rows, engine
    engine.close()


def values_in(engine, asked):
    """The values of some expressions in each row, by Spark."""
    scope = RowScope(SCHEMA, None, (), (), (), None, Bounding())
    made = ScopeRows(scope, asked, Tables(engine._relation, None, {}, SPARK))
    values = [syntax.alias(made.value(one).sql, f"v{n}") for n, one in enumerate(asked)]
    text = print_for_session(syntax.select(values, made.select(with_unit=False)), engine._session)
    found = rows_of(engine._session.sql(text))
    return [[_without_zone(value) for value in column] for column in zip(*found, strict=True)]


def _without_zone(value):
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def differing(rows, engine, asked):
    for expression, found in zip(asked, values_in(engine, asked), strict=True):
        wanted = [evaluate(expression, row, SCHEMA) for row in rows]
        pairs = zip(found, wanted, strict=True)
        wrong = [pair for pair in pairs if not same(*pair)]
        if wrong:
            return expression, wrong
    return None


@given(
    st.lists(
        st.sampled_from([Type.NUMBER, Type.INTEGER, Type.BOOLEAN]).flatmap(
            lambda kind: expressions(kind, 3)
        ),
        min_size=8,
        max_size=8,
    )
)
@settings(max_examples=12)
def test_every_value_is_that_of_a_slow_evaluation_and_nothing_fails(nasty, asked):
    assert differing(*nasty, asked) is None


@given(
    st.lists(
        st.sampled_from([Type.TEXT, Type.DATE, Type.TIMESTAMP]).flatmap(lambda k: cases(k, 2)),
        min_size=8,
        max_size=8,
    )
)
@settings(max_examples=5)
def test_cases_of_text_and_dates_are_those_of_a_slow_evaluation(nasty, asked):
    assert differing(*nasty, asked) is None


@given(
    st.lists(
        texts(2) | st.builds(Like, texts(1), st.sampled_from(PATTERNS)), min_size=8, max_size=8
    )
)
@settings(max_examples=12)
def test_functions_of_text_are_those_of_a_slow_evaluation(nasty, asked):
    assert differing(*nasty, asked) is None


def test_every_text_matches_every_pattern_as_it_should():
    engine = engine_of(text_rows())
    asked = [Like(ColumnRef('t"'), pattern) for pattern in PATTERNS]
    assert differing(text_rows(), engine, asked) is None
    engine.close()


def test_a_chain_of_guards_is_planned_once_and_not_once_for_each_mention(nasty):
    """Also where it is a condition, which Spark would move below the levels that name its parts."""
    chain = ColumnRef("x")
    for _ in range(16):
        chain = Arithmetic("/", Literal(1), Arithmetic("+", chain, Literal(1)))
    rows, engine = nasty
    assert differing(rows, engine, [chain]) is None
    scope = RowScope(SCHEMA, chain > 0, (), (), (), None, Bounding())
    true = [evaluate(chain > 0, row, SCHEMA) is True for row in rows]
    assert engine.measure(scope, [Rows()]) == [[sum(true)]]


def test_constants_that_overflow_are_missing(nasty):
    infinite = Arithmetic("*", Literal(Fraction(10) ** 308), Literal(Fraction(10) ** 308))
    asked = [
        infinite,
        Arithmetic("/", Literal(1), infinite),
        Arithmetic("/", Literal(1), Literal(0)),
    ]
    for found in values_in(nasty[1], asked):
        assert set(found) == {None}


def test_minus_the_smallest_integer_is_a_double_and_not_itself(nasty):
    assert (
        differing(*nasty, [Negated(ColumnRef("i")), Arithmetic("-", Literal(0), ColumnRef("i"))])
        is None
    )


def test_the_starts_and_parts_of_dates_are_those_of_the_calendar():
    days = [date(2023, 1, 1) + timedelta(days=11 * n) for n in range(100)]
    rows = [EMPTY | {"d": day, "s": datetime(day.year, day.month, day.day, 23)} for day in days]
    rows += [EMPTY | {"d": day, "s": at} for day, at in zip(DATES, TIMES, strict=True)]
    engine, of = engine_of([*rows, EMPTY]), [ColumnRef("d"), ColumnRef("s")]
    asked = [StartOf(period, one) for period in PERIODS for one in of]
    asked += [DatePart(part, one) for part in DAY_PARTS for one in of]
    asked += [DateText(pattern, one) for pattern in DAY_PATTERNS for one in of]
    asked += [DateText("%H:%M", of[1]), DatePart("minute", of[1]), DatePart("second", of[1])]
    assert differing([*rows, EMPTY], engine, [*asked, DatePart("hour", of[1])]) is None
    engine.close()


@pytest.mark.parametrize(
    "text", ["${spark.app.name}", "\\' OR 1=1 --", "\x0012", "\\u0041", "`", ":x?"]
)
def test_text_in_a_question_is_never_read_as_anything_else(nasty, text):
    from letalone.plans.expressions import Case

    asked = [Case(((ColumnRef("i") == ColumnRef("i"), Literal(text)),), Literal(text))]
    assert set(values_in(nasty[1], asked)[0]) == {text}
