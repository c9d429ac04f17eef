"""Computes what is added up for each row: an offset on a grid, a cell. Whole numbers.

Let y = floor(x · 2^shift), and i = clamp(y, low, high) the place of x. For whole numbers
2·i = |y − low| − |y − high| + low + high: y < low gives 2·low, y > high gives 2·high. Doubles do
this without a branch, several times as fast as a CASE whose rows take different branches.

Theorem.  The offset of x is i − middle, middle = (low + high) // 2, and NULL exactly where x is
missing.
  Proven:   x · 2^shift is exact (a power of two changes the exponent only) unless it overflows,
            to an infinity of the right sign, or underflows, to a number between -1 and 1 whose
            floor is -1 or 0 and is clamped like any other. With m the larger of |low| and |high|
            and |y| < 2^53 − m, all sums are whole numbers of at most 2^53, so doubles hold
            them, and low + high − 2·middle, 0 or 1, makes the last one even. For other y the
            comparisons with low and high decide. NaN is below no bound, and not finite.
  Tested:   tests/engines/test_amounts.py, tests/engines/test_expressions.py

Edge j of equal ranges is the double nearest to lower + j · step, so a value 0.29 lies at the start
of the range [0.29, 0.30) although neither is a double and 0.29 / 0.01 is below 29.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import lcm
from typing import TYPE_CHECKING

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.measures import CellCounts, GridSum, ProductSum
from letalone.engines.core.syntax import Sql
from letalone.engines.core.terms import Levels, SqlTerm, as_double, big, deepest, plus
from letalone.plans.types import Type

if TYPE_CHECKING:
    from letalone.engines.core.dialect import Dialect

EXACT = 2**53  # below it every whole number is a double
LARGEST_LONG = 2**63  # below it every whole number has 64 bits


def offset(of: SqlTerm, grid: GridSum, levels: Levels) -> SqlTerm:
    """clamp(floor(x · 2^shift), low, high) − middle; NULL where x is missing."""
    x = levels.name(as_double(of))
    return levels.dialect.offset(x, (grid.low, grid.high), grid.shift, levels)


def place(of: SqlTerm, grid: GridSum, levels: Levels) -> SqlTerm:
    """clamp(floor(x · 2^shift), low, high) as an integer; NULL where x is missing."""
    term = offset(of, grid, levels)
    return replace(term, sql=plus(levels.dialect.whole(term.sql), middle(grid)), simple=False)


def square(offset: SqlTerm, levels: Levels) -> SqlTerm:
    """The square of the distance to the middle of the grid: below 2^62."""
    integer = replace(offset, sql=levels.dialect.whole(offset.sql), simple=False)
    once = levels.name(integer)
    return replace(once, sql=syntax.operation(exp.Mul, once.sql, once.sql), simple=False)


def where_all_are(offsets: Sequence[SqlTerm], levels: Levels) -> list[SqlTerm]:
    """The offsets as integers, NULL in rows where one of them is."""
    as_integer = levels.dialect.whole
    conditions = [syntax.is_present(offset.sql) for offset in offsets]
    known, depth = syntax.join_conditions(exp.And, conditions), deepest(offsets)
    guarded = [(offset, syntax.case((known, as_integer(offset.sql)))) for offset in offsets]
    return [
        levels.name(replace(offset, sql=sql, depth=depth, simple=False)) for offset, sql in guarded
    ]


def product(offsets: Sequence[SqlTerm], wanted: ProductSum) -> Sql:
    """The product of powers of offsets; in 128 bits where 64 might be too few."""
    each = zip(offsets, wanted.powers, strict=True)
    factors = [offset.sql for offset, power in each for _ in range(power)]
    if wanted.largest >= LARGEST_LONG:
        factors[0] = syntax.cast_to(factors[0], syntax.HUGEINT)
    return reduce(lambda left, right: syntax.operation(exp.Mul, left, right), factors)


def middle(grid: GridSum) -> int:
    """The place that offsets are counted from."""
    return (grid.low + grid.high) // 2


def widest(grid: GridSum) -> int:
    """The largest offset, without its sign."""
    return (grid.high - grid.low + 1) // 2


def cell(of: SqlTerm, cells: CellCounts, levels: Levels) -> SqlTerm:
    """The number of the cell of x, 0 … count - 1; NULL where x is missing."""
    x = levels.name(as_double(of))
    number, depth = number_range(x, Edges.of(cells.lower, cells.step, cells.count), levels)
    known = syntax.is_there(x.sql, finite=x.finite)
    return SqlTerm(syntax.case((known, number)), Type.INTEGER, depth=depth)


class Edges:
    """lower + j · step as (first + j · every) / below, in whole numbers where they are doubles."""

    def __init__(self, first: float, every: float, below: float, count: int) -> None:
        self._first, self._every, self._below, self.count = first, every, below, count

    @classmethod
    def of(cls, lower: Fraction, step: Fraction, count: int) -> "Edges":
        below = lcm(lower.denominator, step.denominator)
        first, every = lower * below, step * below
        if max(abs(first) + every * count, Fraction(below)) < EXACT:
            return cls(float(first), float(every), float(below), count)
        return cls(float(lower), float(step), 1.0, count)

    def guess(self, x: Sql, dialect: "Dialect") -> Sql:
        """About the number of the range of x, within 0 … count - 1."""
        return dialect.guess(x, (self._first, self._every, self._below), self.count)

    def edge(self, number: Sql, further: int) -> Sql:
        """Where a range starts (or the next one, if 1 further)."""
        steps = syntax.cast_to(plus(number, further), syntax.DOUBLE)
        way = syntax.operation(exp.Mul, steps, syntax.double(self._every))
        start = syntax.operation(exp.Add, syntax.double(self._first), way)
        return syntax.operation(exp.Div, start, syntax.double(self._below))

    def hold(self, x: Sql) -> Sql:
        """Whether x lies between the first edge and the last; NaN does not."""
        first = syntax.double(self._first / self._below)
        last = syntax.double((self._first + self.count * self._every) / self._below)
        above = syntax.operation(exp.GTE, x, first)
        return syntax.join_conditions(exp.And, [above, syntax.operation(exp.LTE, x, last)])


def number_range(x: SqlTerm, edges: Edges, levels: Levels) -> tuple[Sql, int]:
    """The number of the range of x, what lies outside in the first or the last; and its depth."""
    guess = levels.name(SqlTerm(edges.guess(x.sql, levels.dialect), Type.INTEGER, depth=x.depth))
    nudged = syntax.case(
        (syntax.operation(exp.LT, x.sql, edges.edge(guess.sql, 0)), plus(guess.sql, -1)),
        (syntax.operation(exp.GTE, x.sql, edges.edge(guess.sql, 1)), plus(guess.sql, 1)),
        otherwise=guess.sql,
    )
    least = syntax.call("LEAST", nudged, big(edges.count - 1))
    return syntax.call("GREATEST", big(0), least), guess.depth
