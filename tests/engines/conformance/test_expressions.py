"""Expressions on PostgreSQL: no row makes a statement fail, and every value is the semantics' one.

The same rows and expressions as of DuckDB, without the NUL character, which no text there has.
"""

from datetime import date, datetime, timedelta
from fractions import Fraction

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import sql

from engines import test_expressions as shared_rows
from engines.on_postgres import TYPES
from engines.test_expressions import (
    COLUMNS,
    PATTERNS,
    SCHEMA,
    cases,
    expressions,
    same,
    text_rows,
    texts,
)
from evaluator import evaluate
from letalone.engines.core import syntax
from letalone.engines.core.measures import RowScope
from letalone.engines.core.rows import ScopeRows, TableRef, Tables
from letalone.engines.core.stored_types import Stored
from letalone.engines.postgres.postgres_connection import SETTINGS
from letalone.engines.postgres.postgres_dialect import POSTGRES
from letalone.plans.expressions import (
    PERIODS,
    Arithmetic,
    ColumnRef,
    DatePart,
    Like,
    Literal,
    StartOf,
)
from letalone.plans.plan import Bounding
from letalone.plans.types import Type
from postgres import shared
from stages import pick

WORDS = {
    Type.NUMBER: "DOUBLE",
    Type.INTEGER: "BIGINT",
    Type.TEXT: "VARCHAR",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}
NASTY = TableRef(
    syntax.table("nasty", schema="pg_temp"),
    {name: Stored(name, WORDS[kind]) for name, (kind, _, _) in COLUMNS.items()},
)


@pytest.fixture(scope="module")
def connection():
    with psycopg.connect(shared(), autocommit=True) as found:
        found.execute(SETTINGS.replace("true", "false"))  # not of a transaction alone
        found.execute("SET statement_timeout = '30s'")  # planning counts, too
        kinds = {name: TYPES[kind].removesuffix("tz") for name, (kind, _, _) in COLUMNS.items()}
        made = [sql.SQL("{} " + kind).format(sql.Identifier(n)) for n, kind in kinds.items()]
        found.execute(sql.SQL("CREATE TEMP TABLE nasty ({})").format(sql.SQL(", ").join(made)))
        yield found


def values_in(connection, rows, expression):
    """The value of an expression in each row, by PostgreSQL."""
    connection.execute("TRUNCATE pg_temp.nasty")
    with connection.cursor().copy("COPY pg_temp.nasty FROM STDIN") as copy:
        for row in rows:
            copy.write_row([row[name] for name in COLUMNS])
    scope = RowScope(SCHEMA, None, (), (), (), None, Bounding())
    made = ScopeRows(scope, [expression], Tables(NASTY, None, {}, POSTGRES))
    value = syntax.alias(made.value(expression).sql, "value")
    text = POSTGRES.printed(syntax.select([value], made.select(with_unit=False)))
    return [value for (value,) in connection.execute(text)]


def differing(connection, rows, expression):
    expected = [evaluate(expression, row, SCHEMA) for row in rows]
    pairs = zip(values_in(connection, rows, expression), expected, strict=True)
    return [(found, wanted) for found, wanted in pairs if not same(found, wanted)]


def without_nul(row):
    return {name: None if isinstance(v, str) and "\0" in v else v for name, v in row.items()}


def rows():
    return shared_rows.rows().map(lambda some: [without_nul(row) for row in some])


def speakable(expression):
    return "\\x00" not in repr(expression)


@given(
    rows=rows(),
    expression=st.sampled_from([Type.NUMBER, Type.INTEGER, Type.BOOLEAN])
    .flatmap(lambda kind: expressions(kind, 3))
    .filter(speakable),
)
@settings(max_examples=pick(40, 120))
def test_every_value_is_that_of_a_slow_evaluation_and_nothing_fails(connection, rows, expression):
    assert differing(connection, rows, expression) == []


@given(
    rows=rows(),
    expression=st.sampled_from([Type.TEXT, Type.DATE, Type.TIMESTAMP])
    .flatmap(lambda kind: cases(kind, 2))
    .filter(speakable),
)
@settings(max_examples=pick(20, 50))
def test_cases_of_text_and_dates_are_those_of_a_slow_evaluation(connection, rows, expression):
    assert differing(connection, rows, expression) == []


@given(
    rows=rows(),
    expression=(texts(2) | st.builds(Like, texts(1), st.sampled_from(PATTERNS))).filter(speakable),
)
@settings(max_examples=pick(40, 120))
def test_functions_of_text_are_those_of_a_slow_evaluation(connection, rows, expression):
    assert differing(connection, rows, expression) == []


@pytest.mark.parametrize("pattern", [one for one in PATTERNS if speakable(one)])
def test_every_text_matches_every_pattern_as_it_should(connection, pattern):
    some = [without_nul(row) for row in text_rows()]
    assert differing(connection, some, Like(ColumnRef('t"'), pattern)) == []


def test_a_chain_of_guards_is_planned_once_and_not_once_for_each_mention(connection):
    """PostgreSQL pulls nested SELECTs up: without fences 12 divisions would be 9^12 long."""
    chain = ColumnRef("x")
    for _ in range(12):
        chain = Arithmetic("/", Literal(1), Arithmetic("+", chain, Literal(1)))
    row = dict.fromkeys(COLUMNS) | {"x": 1.0}
    assert differing(connection, [row], chain) == []


def test_constants_that_overflow_are_missing_and_do_not_stop_the_planner(connection):
    infinite = Arithmetic("*", Literal(Fraction(10) ** 308), Literal(Fraction(10) ** 308))
    vanishing = Arithmetic("*", Literal(Fraction(1, 10**300)), Literal(Fraction(1, 10**300)))
    by_zero = Arithmetic("/", Literal(1), Literal(0))
    empty = [dict.fromkeys(COLUMNS)]
    assert values_in(connection, empty, infinite) == [None]
    assert values_in(connection, empty, Arithmetic("/", Literal(1), infinite)) == [None]
    assert values_in(connection, empty, vanishing) == [0.0]
    assert values_in(connection, empty, by_zero) == [None]


@pytest.mark.parametrize("period", PERIODS)
def test_the_start_of_a_period_is_that_of_the_calendar(connection, period):
    days = [date(2023, 1, 1) + timedelta(days=11 * n) for n in range(150)]
    empty = dict.fromkeys(COLUMNS)
    some = [empty | {"d": day, "s": datetime(day.year, day.month, day.day, 23)} for day in days]
    some += [
        empty | {"d": day, "s": at}
        for day, at in zip(shared_rows.DATES, shared_rows.TIMES, strict=True)
    ]
    assert differing(connection, [*some, empty], StartOf(period, ColumnRef("d"))) == []
    assert differing(connection, [*some, empty], StartOf(period, ColumnRef("s"))) == []


@pytest.mark.parametrize("part", ["hour", "minute", "second"])
def test_parts_of_a_time_are_cut_off_and_not_rounded_up(connection, part):
    empty = dict.fromkeys(COLUMNS)
    times = [datetime(2024, 2, 29, 23, 59, 59, 999_999), datetime(1969, 12, 31, 0, 0, 0, 500_000)]
    some = [empty | {"s": at} for at in times]
    assert differing(connection, [*some, empty], DatePart(part, ColumnRef("s"))) == []


def test_seconds_between_two_times_are_those_of_a_slow_evaluation(connection):
    empty = dict.fromkeys(COLUMNS)
    some = [empty | {"s": at} for at in shared_rows.TIMES]
    between = ColumnRef("s").seconds_since(Literal(datetime(2024, 3, 1, 12, 30, 7)))
    assert differing(connection, [*some, empty], between) == []
