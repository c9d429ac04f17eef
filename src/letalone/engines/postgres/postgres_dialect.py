"""PostgreSQL's dialect: nothing may raise.

Levels. PostgreSQL pulls nested SELECTs up and repeats what they name wherever it is mentioned.
OFFSET 0 keeps a level apart, and costs neither parallel scans nor order.

Guards. PostgreSQL raises where a sum, product or quotient of finite doubles is infinite, where a
product or quotient of others than zero is zero, and where something is divided by zero. An error
that depends on data is an exact answer, so every operation first decides whether it would raise.

Theorem.  No guarded operation raises, whatever its operands are: it is the IEEE result, but NULL
where that is infinite (or NaN of finite operands), and 0 where it underflows.
  Proven:   write |x| = a, |y| = b. All constants are powers of two, so scaling is exact where it
            neither overflows nor underflows.
            x + y: where a or b is below 2^960 the sum is at most the largest double, 2^1024 −
            2^971, plus less than half its last place, so it rounds to a finite one. Else halves
            are exact, and x + y rounds to 2^1024 or more iff x/2 + y/2 rounds to 2^1023 or more.
            x · y, a, b >= 1: overflows iff (a · 2^-512)(b · 2^-512) rounds to 1 or more; these
            factors are below 2^512. a, b < 1: below 2^-540 both, the product is below 2^-1080 and
            hence 0. Else one is at least 2^-540 and the other, if not 0, at least 2^-1074, so
            (a · 2^512)(b · 2^512) is 0 only if a factor is, and x · y underflows iff that is at
            most 2^-51 (half the smallest double). Else the product lies between a and b.
            x / y, b >= 1: for a >= 2^-40 the quotient is above 2^-1064; else it is 0 iff
            (a · 2^512) / (b · 2^-512) is at most 2^-51, and that quotient lies between 2^-1074
            and 2^984. 0 < b < 1: not below a; for a < 2^-60, or a < 1 and b >= 2^-1000, below
            2^1014; for a >= 1 and b <= 2^-1024 it overflows; else it does so iff
            (a · 2^-512) / (b · 2^512) rounds to 1 or more, a quotient from 2^-1024 up to, and
            by more than a rounding below, 2^1024.
            NaN is larger than all numbers there, and infinite operands raise nothing.
  But:      a product or quotient within one part in 2^53 above 2^-1075 is 0 here, and the
            smallest double on other engines.
  Tested:   tests/engines/test_engine_laws.py, conformance/test_server.py;
            conformance/test_arithmetic.py, on the server, at the edges of each case
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ldexp

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.dialect import ComparingDialect, join_texts, scale
from letalone.engines.core.stored_types import Stored, read_by
from letalone.engines.core.syntax import BIGINT, TEXT, Binary, Sql
from letalone.engines.core.terms import Levels, SqlTerm, big, deepest
from letalone.engines.postgres import postgres_reading
from letalone.engines.postgres.postgres_words import rewrite_for_postgres
from letalone.errors import UnsupportedQuery
from letalone.plans.schema import Column
from letalone.plans.types import Type

Guard = Callable[[Sql, Sql], Sql]
FAR = 900  # a power of two with a smaller exponent cannot make a number overflow or vanish
LARGEST_EDGE = 2.0**1000


def _add_by(kind: Binary) -> Guard:
    def guarded(x: Sql, y: Sql) -> Sql:
        halves = syntax.operation(kind, _times(x, -1), _times(y, -1))
        plain = syntax.operation(kind, x, y)
        easy = syntax.join_conditions(exp.Or, [_below(_size(x), 960), _below(_size(y), 960)])
        fits = _below(_size(halves), 1023)
        return syntax.case((easy, plain), (fits, plain.copy()))

    return guarded


def _multiply(x: Sql, y: Sql) -> Sql:
    a, b = _size(x), _size(y)
    plain, zero = syntax.operation(exp.Mul, x, y), syntax.double(0.0)
    down = syntax.operation(exp.Mul, _times(a, -512), _times(b, -512))
    up = syntax.operation(exp.Mul, _times(a, 512), _times(b, 512))
    large = syntax.case((_below(down, 0), plain))
    tiny = syntax.join_conditions(exp.And, [_below(a, -540), _below(b, -540)])
    small = syntax.case((tiny, zero), (_above(up, -51), plain.copy()), otherwise=zero.copy())
    return syntax.case(
        (syntax.join_conditions(exp.And, [_from(a, 0), _from(b, 0)]), large),
        (syntax.join_conditions(exp.And, [_below(a, 0), _below(b, 0)]), small),
        otherwise=plain.copy(),
    )


def _divide(x: Sql, y: Sql) -> Sql:
    a, b = _size(x), _size(y)
    plain, zero = syntax.operation(exp.Div, x, y), syntax.double(0.0)
    up = syntax.operation(exp.Div, _times(a, 512), _times(b, -512))
    down = syntax.operation(exp.Div, _times(a, -512), _times(b, 512))
    by_large = syntax.case((_from(a, -40), plain), (_above(up, -51), plain.copy()), otherwise=zero)
    moderate = syntax.join_conditions(exp.And, [_below(a, 0), _from(b, -1000)])
    easy = syntax.join_conditions(exp.Or, [_below(a, -60), moderate])
    huge = syntax.join_conditions(exp.And, [_from(a, 0), syntax.negate(_above(b, -1024))])
    nothing = syntax.cast_to(syntax.NULL.copy(), syntax.DOUBLE)
    by_small = syntax.case((easy, plain.copy()), (huge, nothing), (_below(down, 0), plain.copy()))
    missing = syntax.operation(exp.Or, syntax.is_null(x), syntax.is_null(y))
    positive = syntax.operation(exp.GT, b, syntax.double(0.0))
    return syntax.case((missing, nothing.copy()), (_from(b, 0), by_large), (positive, by_small))


# Each operation on two named doubles, NULL where it would be infinite.
GUARDS: Mapping[Binary, Guard] = {
    exp.Add: _add_by(exp.Add),
    exp.Sub: _add_by(exp.Sub),
    exp.Mul: _multiply,
    exp.Div: _divide,
}


def _size(of: Sql) -> Sql:
    return syntax.call("ABS", of)


def _with_power(kind: Binary, of: Sql, bits: int) -> Sql:
    return syntax.operation(kind, of, syntax.double(2.0**bits))


_times, _below = partial(_with_power, exp.Mul), partial(_with_power, exp.LT)


_from, _above = partial(_with_power, exp.GTE), partial(_with_power, exp.GT)


@dataclass(frozen=True, slots=True)
class PostgresDialect(ComparingDialect):
    """As DuckDB, where nothing can overflow."""

    def arithmetic(self, kind: Binary, left: SqlTerm, right: SqlTerm, levels: Levels) -> SqlTerm:
        """Guarded, with both operands named: a guard mentions them several times."""
        first, second = levels.name(left), levels.name(right)
        sql = GUARDS[kind](first.sql, second.sql)
        return SqlTerm(sql, Type.NUMBER, finite=False, depth=deepest((first, second)))

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

    def read(self, stored: Stored, source: Sql, column: Column) -> SqlTerm:
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
        return syntax.operation(exp.Div, *(syntax.cast_to(side, BIGINT) for side in (number, by)))

    def digest(self, parts: Sequence[SqlTerm]) -> Sql:
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
