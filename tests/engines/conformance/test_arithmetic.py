"""Guarded arithmetic: on PostgreSQL nothing raises, and finite results are the processor's.

Operands stand at the edges of each case of the proof: powers of two about 0, ±40, ±60, ±512, ±540,
±960, ±1000 and the ends of the doubles, each with its neighbours.
"""

from itertools import product
from math import inf, isfinite, ldexp, nan, nextafter

import psycopg
import pytest
from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.terms import SqlTerm
from letalone.engines.postgres.postgres_dialect import GUARDS, POSTGRES
from letalone.plans.types import Type
from postgres import shared

POWERS = [0, -1, -40, -60, -500, -512, -540, -1000, -1022, -1074]
POWERS += [1, 40, 511, 512, 960, 971, 1000, 1022, 1023]
EDGES = [ldexp(1, power) for power in POWERS]
NEAR = [nextafter(x, way) for x in EDGES for way in (0, inf)]
SIZES = [*EDGES, *NEAR, 0.0, 1.7976931348623157e308, 3.0, 0.1, 1e-320, 1e200]
OPERANDS = [*SIZES, *(-x for x in SIZES), nan, inf, -inf, None]
KINDS = {
    exp.Add: lambda x, y: x + y,
    exp.Sub: lambda x, y: x - y,
    exp.Mul: lambda x, y: x * y,
    exp.Div: lambda x, y: x / y if y else nan,
}


@pytest.fixture(scope="module")
def connection():
    with psycopg.connect(shared(), autocommit=True) as found:
        found.execute("CREATE TEMP TABLE pairs (x float8, y float8)")
        with found.cursor().copy("COPY pairs FROM STDIN") as copy:
            for pair in product(OPERANDS, OPERANDS):
                copy.write_row(pair)
        yield found


def computed(connection, kind):
    sql = GUARDS[kind](syntax.column("x"), syntax.column("y"))
    columns = [syntax.column("x"), syntax.column("y"), syntax.alias(sql, "value")]
    source = syntax.table("pairs", schema="pg_temp")
    return connection.execute(POSTGRES.printed(syntax.select(columns, source))).fetchall()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_pair_gives_the_processors_result_or_is_missing(connection, kind):
    """Where the operands are finite: a non-finite one stands for a missing value already."""
    found = computed(connection, kind)
    assert len(found) == len(OPERANDS) ** 2
    for x, y, value in found:
        if x is None or y is None:
            assert value is None or not isfinite(value)
        elif isfinite(x) and isfinite(y):
            wanted = KINDS[kind](x, y)
            assert value == wanted if isfinite(wanted) else value is None, (x, y)
        elif kind is not exp.Div or isfinite(y):
            assert value is None or not isfinite(value), (x, y)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_without_the_guard_the_server_raises(connection, kind):
    """Otherwise the test above would show nothing."""
    plain = syntax.operation(kind, syntax.column("x"), syntax.column("y"))
    source = syntax.table("pairs", schema="pg_temp")
    text = POSTGRES.printed(syntax.select([syntax.alias(plain, "value")], source))
    with pytest.raises(psycopg.DataError):
        connection.execute(text).fetchall()


GRIDS = [(0, 1000 << 10, 10), (-10, -1, -20), (-5, 7, -1040), (-(2**31), 2**31, 60)]
GRIDS += [(2**52 - 2, 2**52 + 9, 0), (-3, 3, 900), (0, 2**40, -1000)]


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_places_are_those_of_duckdb_for_every_operand(connection, grid):
    from engines.test_amounts import computed as on_duckdb
    from letalone.engines.core.amounts import place
    from letalone.engines.core.measures import GridSum
    from letalone.engines.core.terms import Levels
    from letalone.plans.expressions import col

    low, high, shift = grid
    asked = GridSum(col("x"), low, high, shift)
    wanted = on_duckdb(OPERANDS, lambda term, levels: place(term, asked, levels))
    levels = Levels("#", POSTGRES)
    term = place(SqlTerm(syntax.column("x"), Type.NUMBER, finite=False, simple=True), asked, levels)
    source = syntax.table("pairs", schema="pg_temp")
    rows = levels.over(syntax.select([syntax.column("x")], source))
    query = syntax.select([syntax.column("x"), term.sql], syntax.subquery(rows, "rows"))
    found = dict(connection.execute(POSTGRES.printed(query)).fetchall())
    by_x = dict(zip(OPERANDS, wanted, strict=True))
    assert {repr(x): v for x, v in found.items()} == {repr(x): v for x, v in by_x.items()}
