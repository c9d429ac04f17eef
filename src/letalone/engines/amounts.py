"""What is added up for each row: an offset on a grid, a cell of a histogram. Whole numbers.

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
  Tested:   tests/engines/test_amounts.py
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from math import ldexp

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.edges import EXACT, Edges, big, numbered, plus
from letalone.engines.measures import Cells, GridSum, ProductSum
from letalone.engines.syntax import BIGINT, Sql
from letalone.engines.terms import Levels, Term, as_double, deepest
from letalone.plans.types import Type

LARGEST_LONG = 2**63  # below it every whole number has 64 bits


def offset(of: Term, grid: GridSum, levels: Levels) -> Term:
    """clamp(floor(x · 2^shift), low, high) − middle as an integer; NULL where x is missing."""
    x = levels.name(as_double(of))
    scaled = syntax.operation(exp.Mul, x.sql, syntax.double(ldexp(1, grid.shift)))
    y = levels.name(Term(exp.Floor(this=scaled), Type.NUMBER, finite=False, depth=x.depth))
    limit = EXACT - max(abs(grid.low), abs(grid.high))
    near = syntax.operation(exp.LT, syntax.called("ABS", y.sql), syntax.double(limit))
    far = (_is_there(x), _far(y.sql, grid, limit))
    return Term(syntax.case((near, _near(y.sql, grid)), far), Type.INTEGER, depth=y.depth)


def place(of: Term, grid: GridSum, levels: Levels) -> Term:
    """clamp(floor(x · 2^shift), low, high) as an integer; NULL where x is missing."""
    term = offset(of, grid, levels)
    return replace(term, sql=plus(term.sql, middle(grid)))


def square(offset: Term, levels: Levels) -> Term:
    """The square of the distance to the middle of the grid: below 2^62."""
    once = levels.name(offset)
    return replace(once, sql=syntax.operation(exp.Mul, once.sql, once.sql), simple=False)


def where_all_are(offsets: Sequence[Term], levels: Levels) -> list[Term]:
    """The offsets, NULL in rows where one of them is."""
    conditions = [syntax.is_present(one.sql) for one in offsets]
    everything = syntax.joined(exp.And, conditions)
    depth = deepest(offsets)
    return [
        levels.name(replace(one, sql=syntax.case((everything, one.sql)), depth=depth, simple=False))
        for one in offsets
    ]


def product(offsets: Sequence[Term], asked: ProductSum) -> Sql:
    """The product of powers of offsets; in 128 bits where 64 might be too few."""
    factors = [
        one.sql for one, power in zip(offsets, asked.powers, strict=True) for _ in range(power)
    ]
    if asked.largest >= LARGEST_LONG:
        factors[0] = syntax.cast_to(factors[0], syntax.HUGEINT)
    return reduce(lambda left, right: syntax.operation(exp.Mul, left, right), factors)


def middle(grid: GridSum) -> int:
    """The place that offsets are counted from."""
    return (grid.low + grid.high) // 2


def cell(of: Term, cells: Cells, levels: Levels) -> Term:
    """The number of the cell of x, 0 … count - 1; NULL where x is missing."""
    x = levels.name(as_double(of))
    number, depth = numbered(x, Edges.of(cells.lower, cells.step, cells.count), levels)
    return Term(syntax.case((_is_there(x), number)), Type.INTEGER, depth=depth)


def whole_zero() -> Sql:
    """Zero as a 64-bit integer."""
    return big(0)


def _near(y: Sql, grid: GridSum) -> Sql:
    """(|y − low| − |y − high| + low + high − 2·middle) / 2."""
    low, high = (
        syntax.called("ABS", syntax.operation(exp.Sub, y, syntax.double(end)) if end else y)
        for end in (grid.low, grid.high)
    )
    twice = syntax.operation(exp.Sub, low, high)
    if (grid.low + grid.high) % 2:
        twice = syntax.operation(exp.Add, twice, syntax.double(1.0))
    return syntax.cast_to(syntax.operation(exp.Mul, twice, syntax.double(0.5)), BIGINT)


def _far(y: Sql, grid: GridSum, limit: int) -> Sql:
    """The offset by comparisons; between the ends only where y can be, far from zero."""
    start = syntax.operation(exp.LT, y, syntax.double(grid.low))
    branches = [(start, syntax.whole(grid.low - middle(grid)))]
    if limit < max(abs(grid.low), abs(grid.high)):
        between_ends = plus(syntax.cast_to(y, BIGINT), -middle(grid))
        branches.append((syntax.operation(exp.LT, y, syntax.double(grid.high)), between_ends))
    return syntax.case(*branches, otherwise=syntax.whole(grid.high - middle(grid)))


def _is_there(x: Term) -> Sql:
    return syntax.is_present(x.sql) if x.finite else syntax.is_finite(x.sql)
