"""A dialect writes what an engine's SQL says in its own way; all else is written once.

Statements are trees in DuckDB's words. Where engines differ in what they compute (a product that
overflows, a stored type), a dialect writes the piece while the tree is built. Where they differ in
words alone, it rewrites the tree when it is printed. `Dialect` itself has what most engines say
alike, on doubles as the processor has them; each engine's own says what differs.

  Law.      Every dialect's pieces give the same value on every row, and none can fail.
  Tested:   tests/engines/test_engine_laws.py on every engine, against a slow one in Python;
            DuckDB's: test_amounts.py, test_expressions.py, test_positions.py
  Assumed:  where a dialect does not say otherwise, the engine computes in IEEE doubles and raises
            nothing: what is too large is an infinity
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import ldexp
from typing import ClassVar

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.stored_types import Stored
from letalone.engines.core.syntax import BIGINT, DOUBLE, TEXT, Binary, Sql
from letalone.engines.core.terms import Levels, SqlTerm, big, deepest, plus
from letalone.engines.texts.matching import match_pattern
from letalone.plans.schema import Column
from letalone.plans.types import Type

EXACT_BITS = 53  # whole numbers of up to so many bits are doubles
EXACT = 2**EXACT_BITS
DROPPED_BITS = (0, 11, 32)  # how many of the last bits a total may lose to be one


@dataclass(frozen=True, slots=True)
class Dialect(ABC):
    """One engine's way to write a plan: what each piece promises, and how most engines say it.

    has_first: whether FIRST(value ORDER BY …) takes the memory of one row, however many there are.
    """

    has_first: ClassVar[bool] = True

    def arithmetic(self, kind: Binary, left: SqlTerm, right: SqlTerm, levels: Levels) -> SqlTerm:  # noqa: ARG002
        """A sum, difference, product or quotient of two doubles; not finite or NULL beyond them."""
        sql = syntax.operation(kind, left.sql, right.sql)
        return SqlTerm(sql, Type.NUMBER, finite=False, depth=deepest((left, right)))

    def offset(self, x: SqlTerm, ends: tuple[int, int], shift: int, levels: Levels) -> SqlTerm:
        """clamp(floor(x · 2^shift), low, high) − (low + high) // 2; NULL where x is missing.

        A whole number, which may be a double: `whole` makes it an integer.

        Without a branch where x is near; see amounts.py for the proof. What is not finite is not
        near, so only the rest is looked at.
        """
        y = levels.name(SqlTerm(exp.Floor(this=scale(x.sql, shift)), Type.NUMBER, depth=x.depth))
        limit = EXACT - max(abs(end) for end in ends)
        near = syntax.operation(exp.LT, syntax.call("ABS", y.sql), syntax.double(limit))
        far = (syntax.is_there(x.sql, finite=x.finite), _far(y.sql, ends, limit))
        return SqlTerm(syntax.case((near, _near(y.sql, ends)), far), Type.INTEGER, depth=y.depth)

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

    def match(self, of: SqlTerm, pattern: str, levels: Levels) -> SqlTerm:
        """Whether a text matches a pattern of LIKE, in about as many steps as both have letters,
        multiplied."""
        return match_pattern(of, pattern, levels)

    def total(self, of: Sql, most: int) -> Sql:  # noqa: ARG002
        """The sum over rows of a 64-bit integer that is at most `most` in size."""
        return exp.Sum(this=of)

    def level(self, query: exp.Select, *, last: bool) -> exp.Select:  # noqa: ARG002
        """A level of named pieces, kept apart from those above it where the engine must be told:
        DuckDB computes each named piece once."""
        return query

    @abstractmethod
    def read(self, stored: Stored, source: Sql, column: Column) -> SqlTerm:
        """The value of a stored column in its declared type, whatever the cell holds."""

    @abstractmethod
    def unit(self, stored: Stored, value: Sql) -> Sql:
        """The unit of a row: what is stored, in a form in which equal units are equal."""

    def read_rows(self, columns: Sequence[Sql], source: Sql) -> exp.Select:
        """SELECT columns FROM the table."""
        return syntax.select(columns, source)

    def quotient(self, number: Sql, by: Sql) -> Sql:
        """One whole number of 64 bits by another, neither negative, rounded down."""
        return exp.Paren(this=exp.IntDiv(this=number, expression=by))

    @abstractmethod
    def text(self, stored: Stored, unit: Sql) -> Sql:
        """A unit as text that tells units apart."""

    def digest(self, parts: Sequence[SqlTerm]) -> Sql:
        """Of the digests of the parts, which may be missing; in one order on all engines."""
        return self.hashed(join_texts([self.hashed(self.spell(part)) for part in parts]))

    def spell(self, part: SqlTerm) -> Sql:
        """A value as text, one for each but for numbers and times; empty where it is missing."""
        text = syntax.cast_to(part.sql.copy(), TEXT)
        return exp.Coalesce(this=text, expressions=[syntax.text("")])

    def double_of(self, total: Sql) -> Sql:
        """A total of 128 bits as a double: from 2^53 on without its last bits, so that it is one.

        DuckDB's own cast rounds twice. Up to 2^85, which no table's totals reach, the casts fit.
        """
        *fine, coarse = [(bits, _double(total, bits)) for bits in DROPPED_BITS]
        branches = [(_is_below(total, EXACT_BITS + bits), value) for bits, value in fine]
        return syntax.case(*branches, otherwise=coarse[1])

    def narrow(self, total: Sql) -> Sql:
        """A total, which may be larger than 64 bits hold, to be compared with what they hold."""
        return total

    @abstractmethod
    def hashed(self, text: Sql) -> Sql:
        """SHA-256 in small hexadecimal digits."""

    @abstractmethod
    def printed(self, query: Sql, *, pretty: bool = False) -> str:
        """The statement as the engine reads it."""


@dataclass(frozen=True, slots=True)
class ComparingDialect(Dialect):
    """Of engines that take offsets by comparisons with the ends: whole numbers, between which
    nothing overflows. FIRST there would make an array of all rows, or has no order of its own."""

    has_first: ClassVar[bool] = False

    def offset(self, x: SqlTerm, ends: tuple[int, int], shift: int, levels: Levels) -> SqlTerm:  # noqa: ARG002
        return compare_with_ends(x, ends, shift, floor=self.floor(x.sql, shift))

    def floor(self, x: Sql, shift: int) -> Sql:
        """floor(x · 2^shift) as an integer of 64 bits, which it fits into."""
        return syntax.cast_to(exp.Floor(this=scale(x, shift)), BIGINT)

    def whole(self, offset: Sql) -> Sql:
        return offset

    def weighed(self, offset: Sql, weight: Sql) -> Sql:
        return syntax.operation(exp.Mul, offset, weight)


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


def compare_with_ends(x: SqlTerm, ends: tuple[int, int], shift: int, *, floor: Sql) -> SqlTerm:
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
    return SqlTerm(syntax.case(*branches), Type.INTEGER, depth=x.depth)


def _divide(end: int, shift: int) -> Sql:
    """end / 2^shift: a double, since an end has few bits, or beyond all of them."""
    try:
        return syntax.double(ldexp(end, -shift))
    except OverflowError:
        return syntax.infinity("" if end > 0 else "-")


def join_texts(texts: Sequence[Sql]) -> Sql:
    """Several texts as one."""
    joined = texts[0]
    for text in texts[1:]:
        joined = exp.DPipe(this=joined, expression=text)
    return joined


def _is_below(total: Sql, bits: int) -> Sql:
    end = syntax.cast_as(syntax.text(str(2**bits)), "HUGEINT", "duckdb")
    return syntax.operation(exp.LT, syntax.call("ABS", total), end)


def _double(total: Sql, dropped: int) -> Sql:
    """A total without its last bits, towards zero, as a double."""
    step = 2**dropped
    rest = syntax.operation(exp.IntDiv, total, syntax.whole(step)) if dropped else total
    double = syntax.cast_to(syntax.try_cast(rest, BIGINT), DOUBLE)
    return syntax.operation(exp.Mul, double, syntax.double(step)) if dropped else double
