"""PostgreSQL's dialect: nothing may raise.

Levels. PostgreSQL pulls nested SELECTs up and repeats what they name wherever it is mentioned.
OFFSET 0 keeps a level apart, and costs neither parallel scans nor order.

  Tested:   tests/engines/test_engine_laws.py, conformance/test_server.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ldexp

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.dialect import ComparingDialect, join_texts, scale
from letalone.engines.core.stored_types import Stored, read_by
from letalone.engines.core.syntax import BIGINT, TEXT, Binary, Sql
from letalone.engines.core.terms import Levels, Term, big, deepest
from letalone.engines.postgres import postgres_reading
from letalone.engines.postgres.guarded import GUARDS
from letalone.engines.postgres.postgres_words import rewrite_for_postgres
from letalone.errors import UnsupportedQuery
from letalone.plans.schema import Column
from letalone.plans.types import Type

FAR = 900  # a power of two with a smaller exponent cannot make a number overflow or vanish
LARGEST_EDGE = 2.0**1000


@dataclass(frozen=True, slots=True)
class PostgresDialect(ComparingDialect):
    """As DuckDB, where nothing can overflow."""

    def arithmetic(self, kind: Binary, left: Term, right: Term, levels: Levels) -> Term:
        """Guarded, with both operands named: a guard mentions them several times."""
        first, second = levels.name(left), levels.name(right)
        sql = GUARDS[kind](first.sql, second.sql)
        return Term(sql, Type.NUMBER, finite=False, depth=deepest((first, second)))

    def floor(self, x: Sql, shift: int) -> Sql:
        """Where the product would vanish, it is zero."""
        floor = ComparingDialect.floor(self, x, shift)
        if shift >= 0:
            return floor
        smallest = syntax.double(ldexp(1, -1075 - shift))
        vanishes = syntax.operation(exp.LTE, syntax.call("ABS", x), smallest)
        return syntax.case((vanishes, big(0)), otherwise=floor)

    def guess(self, x: Sql, edges: tuple[float, float, float], count: int) -> Sql:
        """A quotient where x lies between the edges, one step or more above the first."""
        first, every, below = edges
        last = first + count * every
        if max(abs(first), abs(last)) > LARGEST_EDGE:
            raise UnsupportedQuery(
                "These ranges reach beyond 2^1000, which PostgreSQL's arithmetic does not. Take"
                " smaller ones."
            )
        steps = syntax.operation(exp.Mul, x, syntax.double(below))
        above = syntax.operation(exp.Sub, steps, syntax.double(first))
        ratio = syntax.operation(exp.Div, above, syntax.double(every))
        floor = syntax.cast_to(exp.Floor(this=ratio), BIGINT)
        number = syntax.call("LEAST", floor, big(count - 1))
        return syntax.case(
            (syntax.operation(exp.LT, x, syntax.double(first / below)), big(0)),
            (syntax.operation(exp.GTE, x, syntax.double(last / below)), big(count - 1)),
            (syntax.operation(exp.GTE, above, syntax.double(every)), number),
            otherwise=big(0),
        )

    def scaled(self, of: Sql, shift: int) -> Sql:
        """A product, refused where it might leave the doubles."""
        if abs(shift) > FAR:
            raise UnsupportedQuery(
                "Totals and means of such small or large numbers cannot be computed on PostgreSQL."
                " Take bounds between 1e-250 and 1e250."
            )
        return scale(of, shift)

    def level(self, query: exp.Select, *, last: bool) -> exp.Select:
        """Kept apart, so that a statement stays as long as its tree, and no constant is computed
        with before its guard: but not the last level, nor one of pieces that mention one column.
        """
        pieces = [piece for piece in query.expressions if not isinstance(piece, exp.Star)]
        mentions = [len(list(piece.find_all(exp.Column))) for piece in pieces]
        return query if last or all(number == 1 for number in mentions) else _apart(query)

    def read(self, stored: Stored, source: Sql, column: Column) -> Term:
        """By casts that are asked first whether they fit."""
        return read_by(postgres_reading.READERS, stored, source, column)

    def unit(self, stored: Stored, value: Sql) -> Sql:
        return postgres_reading.unit(stored, value)

    def read_rows(self, columns: Sequence[Sql], source: Sql) -> exp.Select:
        """Kept apart where it is made of text: too slow to be made at each mention."""
        query = syntax.select(columns, source)
        calls = (call.name for column in columns for call in column.find_all(exp.Anonymous))
        return _apart(query) if "PG_INPUT_IS_VALID" in calls else query

    def quotient(self, number: Sql, by: Sql) -> Sql:
        """Of 64 bits each: a sum of whole numbers is a numeric, whose quotient has a fraction."""
        return syntax.operation(exp.Div, *(syntax.cast_to(of, BIGINT) for of in (number, by)))

    def digest(self, parts: Sequence[Term]) -> Sql:
        """As bytes, whose order is that of their digits whatever the collation."""
        return _digest(join_texts([self.hashed(self.spell(part)) for part in parts]))

    def text(self, stored: Stored, unit: Sql) -> Sql:
        """One spelling for each number: 1.0 is 1.00."""
        is_numeric = stored.stored == postgres_reading.NUMERIC
        return syntax.cast_to(syntax.call("TRIM_SCALE", unit) if is_numeric else unit, TEXT)

    def hashed(self, text: Sql) -> Sql:
        return syntax.call("ENCODE", _digest(text), syntax.text("hex"))

    def printed(self, query: Sql, *, pretty: bool = False) -> str:
        return rewrite_for_postgres(query).sql("postgres", pretty=pretty, identify=True, copy=False)


POSTGRES = PostgresDialect()


def _digest(text: Sql) -> Sql:
    return syntax.call("SHA256", syntax.call("CONVERT_TO", text, syntax.text("UTF8")))


def _apart(query: exp.Select) -> exp.Select:
    query.set("offset", exp.Offset(expression=exp.Literal.number(0)))
    return query
