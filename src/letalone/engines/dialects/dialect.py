"""A dialect writes what an engine's SQL says in its own way; all else is written once.

Statements are trees in DuckDB's words. Where engines differ in what they compute (a product that
overflows, a stored type), a dialect writes the piece while the tree is built. Where they differ in
words alone, it rewrites the tree when it is printed. `Dialect` itself is DuckDB's: doubles as the
processor has them. Those of other engines say what differs.

  Law.      Every dialect's pieces give the same value on every row, and none can fail.
  Tested:   tests/engines/test_engine_laws.py on every engine, against a slow one in Python;
            DuckDB's: test_amounts.py, test_expressions.py, test_positions.py
  Assumed:  DuckDB computes in IEEE doubles (`ieee_floating_point_ops`), as lockdown.py sets, so
            nothing here raises: what is too large is an infinity
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ldexp
from typing import ClassVar

from sqlglot import exp

from letalone.engines import reading, syntax
from letalone.engines.reading import Stored
from letalone.engines.syntax import BIGINT, DOUBLE, TEXT, Binary, Sql
from letalone.engines.terms import Levels, Term, big, deepest, plus
from letalone.plans.schema import Column
from letalone.plans.types import Type

EXACT = 2**53  # below it every whole number is a double


@dataclass(frozen=True, slots=True)
class Dialect:
    """One engine's way to write a plan: what each piece promises, and how DuckDB says it.

    has_first: whether FIRST(value ORDER BY …) takes the memory of one row, however many there are.
    """

    has_first: ClassVar[bool] = True

    def arithmetic(self, kind: Binary, left: Term, right: Term, levels: Levels) -> Term:  # noqa: ARG002
        """A sum, difference, product or quotient of two doubles; not finite or NULL beyond them."""
        sql = syntax.operation(kind, left.sql, right.sql)
        return Term(sql, Type.NUMBER, finite=False, depth=deepest((left, right)))

    def offset(self, x: Term, ends: tuple[int, int], shift: int, levels: Levels) -> Term:
        """clamp(floor(x · 2^shift), low, high) − (low + high) // 2; NULL where x is missing.

        A whole number, which may be a double: `whole` makes it an integer.

        Without a branch where x is near; see amounts.py for the proof. What is not finite is not
        near, so only the rest is looked at.
        """
        y = levels.name(Term(exp.Floor(this=scale(x.sql, shift)), Type.NUMBER, depth=x.depth))
        limit = EXACT - max(abs(end) for end in ends)
        near = syntax.operation(exp.LT, syntax.call("ABS", y.sql), syntax.double(limit))
        far = (syntax.is_there(x.sql, finite=x.finite), _far(y.sql, ends, limit))
        return Term(syntax.case((near, _near(y.sql, ends)), far), Type.INTEGER, depth=y.depth)

    def whole(self, offset: Sql) -> Sql:
        """An offset as an integer of 64 bits."""
        return syntax.cast_to(offset, BIGINT)

    def weighed(self, offset: Sql, weight: Sql) -> Sql:
        """An offset with its weight, whose product is below 2^53, as an integer of 64 bits: doubles
        hold it, and are faster."""
        product = syntax.operation(exp.Mul, offset, syntax.cast_to(weight, DOUBLE))
        return syntax.cast_to(product, BIGINT)

    def guess(self, x: Sql, edges: tuple[float, float, float], count: int) -> Sql:
        """About which of `count` ranges holds x, within 0 … count − 1; edges: first, every, below.

        Off by at most one where x is finite; any of them where it is not.
        """
        first, every, below = edges
        steps = syntax.operation(exp.Mul, x, syntax.double(below))
        beyond = syntax.operation(exp.Sub, steps, syntax.double(first))
        ratio = syntax.operation(exp.Div, beyond, syntax.double(every))
        above = syntax.call("GREATEST", ratio, syntax.double(0.0))
        inside = syntax.call("LEAST", above, syntax.double(float(count - 1)))
        return syntax.cast_to(exp.Floor(this=inside), BIGINT)

    def scaled(self, of: Sql, shift: int) -> Sql:
        """A double times 2^shift: zero, or between 2^-64 and 2^86 in size."""
        return scale(of, shift)

    def total(self, of: Sql, most: int) -> Sql:  # noqa: ARG002
        """The sum over rows of a 64-bit integer that is at most `most` in size."""
        return exp.Sum(this=of)

    def level(self, query: exp.Select, *, last: bool) -> exp.Select:  # noqa: ARG002
        """A level of named pieces, kept apart from those above it where the engine must be told:
        DuckDB computes each named piece once."""
        return query

    def read(self, stored: Stored, source: Sql, column: Column) -> Term:
        """The value of a stored column in its declared type, whatever the cell holds."""
        return reading.read(stored, source, column)

    def unit(self, stored: Stored, value: Sql) -> Sql:
        """The unit of a row: what is stored, in a form in which equal units are equal. Long
        integers and identifiers are text, which tells all their values apart."""
        if stored.stored in reading.FLOATS:
            return reading.with_one_zero(value)
        if stored.collated:
            return reading.plain_text(value)
        if stored.stored in reading.SHORT_INTEGERS or stored.stored == "VARCHAR":
            return value
        if stored.type in (Type.DATE, Type.TIMESTAMP) or stored.stored.startswith("DECIMAL("):
            return value  # a time beyond the calendar cannot be written as text
        return syntax.try_cast(value, syntax.TEXT)

    def read_rows(self, columns: Sequence[Sql], source: Sql) -> exp.Select:
        """SELECT columns FROM the table."""
        return syntax.select(columns, source)

    def quotient(self, number: Sql, by: Sql) -> Sql:
        """One whole number of 64 bits by another, neither negative, rounded down."""
        return exp.Paren(this=exp.IntDiv(this=number, expression=by))

    def text(self, stored: Stored, unit: Sql) -> Sql:
        """A unit as text that tells units apart; DuckDB cannot write times beyond the calendar."""
        is_time = stored.type is Type.TIMESTAMP
        return syntax.cast_to(syntax.call("EPOCH_US", unit) if is_time else unit, TEXT)

    def digest(self, parts: Sequence[Sql]) -> Sql:
        """Of the digests of the parts, which may be missing; in one order on all engines."""
        return self.hashed(join_texts([self.hashed(text_of(part)) for part in parts]))

    def hashed(self, text: Sql) -> Sql:
        """SHA-256 in small hexadecimal digits."""
        return syntax.call("SHA256", text)

    def printed(self, query: Sql, *, pretty: bool = False) -> str:
        """The statement as the engine reads it."""
        return syntax.print_sql(query, pretty=pretty)


DUCKDB = Dialect()


def scale(of: Sql, shift: int) -> Sql:
    """A double times 2^shift."""
    return syntax.operation(exp.Mul, of, syntax.double(ldexp(1, shift)))


def _near(y: Sql, ends: tuple[int, int]) -> Sql:
    """(|y − low| − |y − high| + low + high − 2·middle) / 2."""
    ways = (syntax.operation(exp.Sub, y, syntax.double(end)) if end else y for end in ends)
    low, high = (syntax.call("ABS", way) for way in ways)
    twice = syntax.operation(exp.Sub, low, high)
    if sum(ends) % 2:
        twice = syntax.operation(exp.Add, twice, syntax.double(1.0))
    return syntax.operation(exp.Mul, twice, syntax.double(0.5))


def _far(y: Sql, ends: tuple[int, int], limit: int) -> Sql:
    """The offset by comparisons; between the ends only where y can be, far from zero."""
    low, high, middle = *ends, sum(ends) // 2
    start = syntax.operation(exp.LT, y, syntax.double(low))
    branches = [(start, syntax.double(low - middle))]
    if limit < max(abs(low), abs(high)):
        # The middle may be no double; what is left of y has few bits.
        between_ends = syntax.cast_to(plus(syntax.cast_to(y, BIGINT), -middle), DOUBLE)
        branches.append((syntax.operation(exp.LT, y, syntax.double(high)), between_ends))
    return syntax.case(*branches, otherwise=syntax.double(high - middle))


def compare_with_ends(x: Term, ends: tuple[int, int], shift: int, *, floor: Sql) -> Term:
    """The offset by comparisons with the ends: only between them is the floor computed."""
    (low, high), middle = ends, sum(ends) // 2
    start, end = (_divide(place, shift) for place in ends)
    smallest, largest = big(low - middle), big(high - middle)
    if not x.finite:
        finite = syntax.operation(exp.GT, x.sql, syntax.infinity("-"))
        smallest = syntax.case((finite, smallest))
    below = exp.LTE if start == syntax.infinity("-") else exp.LT
    branches = [
        (syntax.operation(below, x.sql, start), smallest),
        (syntax.operation(exp.LT, x.sql, end), plus(floor, -middle)),
        (syntax.is_there(x.sql, finite=x.finite), largest),
    ]
    return Term(syntax.case(*branches), Type.INTEGER, depth=x.depth)


def _divide(end: int, shift: int) -> Sql:
    """end / 2^shift: a double, since an end has few bits, or beyond all of them."""
    try:
        return syntax.double(ldexp(end, -shift))
    except OverflowError:
        return syntax.infinity("" if end > 0 else "-")


def text_of(part: Sql) -> Sql:
    """A part as text; a missing one is empty."""
    return exp.Coalesce(this=syntax.cast_to(part.copy(), TEXT), expressions=[syntax.text("")])


def join_texts(texts: Sequence[Sql]) -> Sql:
    """Several texts as one."""
    joined = texts[0]
    for text in texts[1:]:
        joined = exp.DPipe(this=joined, expression=text)
    return joined
