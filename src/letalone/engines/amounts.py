"""What is added up for each row: a place on a grid, a cell of a histogram. Whole numbers.

Theorem.  The place of x is in low … high, and NULL exactly where x is missing.
  Proven:   for x in [low / 2^shift, (high + 1) / 2^shift), whose ends are doubles, x · 2^shift
            is exact (a power of two changes the exponent only) and lies in [low, high + 1), so
            its floor lies in low … high. For a negative shift a tiny x can underflow to -0.0,
            whose floor 0 can be high + 1: then the smaller of it and high is taken. Outside,
            the place is low or high. NaN is not below any bound and not finite.
  Tested:   tests/engines/test_amounts.py
"""

from dataclasses import replace
from fractions import Fraction
from math import lcm, ldexp

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.measures import Cells, GridSum
from letalone.engines.sql import between, floored
from letalone.engines.syntax import BIGINT, Sql
from letalone.engines.terms import Levels, Term, as_double
from letalone.plans.types import Type

EXACT = 2**53  # below it every whole number is a double


def place(of: Term, grid: GridSum, levels: Levels) -> Term:
    """clamp(floor(x · 2^shift), low, high) as an integer; NULL where x is missing."""
    x = levels.name(as_double(of))
    start, end = ldexp(grid.low, -grid.shift), ldexp(grid.high + 1, -grid.shift)
    scaled = syntax.operation(exp.Mul, x.sql, syntax.double(ldexp(1, grid.shift)))
    within = (between(x.sql, start, end), _floor_below(scaled, grid))
    below = (syntax.operation(exp.LT, x.sql, syntax.double(start)), syntax.whole(grid.low))
    outside = syntax.case(below, otherwise=syntax.whole(grid.high))
    sql = syntax.case(within, (_is_there(x), outside))
    return Term(sql, Type.INTEGER, depth=x.depth)


def square(place: Term, grid: GridSum, levels: Levels) -> Term:
    """The square of the distance to the middle of the grid: below 2^62."""
    middle = syntax.whole((grid.low + grid.high) // 2)
    offset = syntax.operation(exp.Sub, syntax.cast_to(place.sql, BIGINT), middle)
    once = levels.name(replace(place, sql=offset, simple=False))
    return replace(once, sql=syntax.operation(exp.Mul, once.sql, once.sql), simple=False)


def cell(of: Term, cells: Cells, levels: Levels) -> Term:
    """The number of the cell of x, 0 … count - 1; NULL where x is missing.

    Edge j is the double nearest to lower + j · step, so a value 0.29 lies at the start of the
    cell [0.29, 0.30) although neither is a double and 0.29 / 0.01 is below 29.
    """
    x = levels.name(as_double(of))
    edges = _Edges.of(cells)
    guess = levels.name(Term(_within(edges.ratio(x.sql), cells), Type.INTEGER, depth=x.depth))
    last = cells.count - 1
    nudged = syntax.case(
        (syntax.operation(exp.LT, x.sql, edges.edge(guess.sql, 0)), _plus(guess.sql, -1)),
        (syntax.operation(exp.GTE, x.sql, edges.edge(guess.sql, 1)), _plus(guess.sql, 1)),
        otherwise=guess.sql,
    )
    kept = syntax.called("GREATEST", whole_zero(), syntax.called("LEAST", nudged, _big(last)))
    return Term(syntax.case((_is_there(x), kept)), Type.INTEGER, depth=guess.depth)


class _Edges:
    """lower + j · step as (first + j · every) / below, in whole numbers where they are doubles."""

    def __init__(self, first: float, every: float, below: float) -> None:
        self._first, self._every, self._below = first, every, below

    @classmethod
    def of(cls, cells: Cells) -> "_Edges":
        below = lcm(cells.lower.denominator, cells.step.denominator)
        first, every = cells.lower * below, cells.step * below
        if max(abs(first) + every * cells.count, Fraction(below)) < EXACT:
            return cls(float(first), float(every), float(below))
        return cls(float(cells.lower), float(cells.step), 1.0)

    def ratio(self, x: Sql) -> Sql:
        """How many steps above the lower end x lies, about."""
        scaled = syntax.operation(exp.Mul, x, syntax.double(self._below))
        offset = syntax.operation(exp.Sub, scaled, syntax.double(self._first))
        return syntax.operation(exp.Div, offset, syntax.double(self._every))

    def edge(self, number: Sql, further: int) -> Sql:
        """Where a cell starts (or the next one, if 1 further)."""
        steps = syntax.cast_to(_plus(number, further), syntax.DOUBLE)
        way = syntax.operation(exp.Mul, steps, syntax.double(self._every))
        whole = syntax.operation(exp.Add, syntax.double(self._first), way)
        return syntax.operation(exp.Div, whole, syntax.double(self._below))


def whole_zero() -> Sql:
    """Zero as a 64-bit integer."""
    return _big(0)


def _within(ratio: Sql, cells: Cells) -> Sql:
    """The floor of a ratio within 0 … count - 1, 0 for NaN and below."""
    inside = between(ratio, 0.0, float(cells.count))
    above = syntax.operation(exp.GTE, ratio, syntax.double(float(cells.count)))
    return syntax.case((inside, floored(ratio)), (above, _big(cells.count - 1)), otherwise=_big(0))


def _floor_below(scaled: Sql, grid: GridSum) -> Sql:
    if grid.shift >= 0:
        return floored(scaled)
    return syntax.called("LEAST", floored(scaled), _big(grid.high))


def _is_there(x: Term) -> Sql:
    return syntax.is_present(x.sql) if x.finite else syntax.is_finite(x.sql)


def _plus(of: Sql, number: int) -> Sql:
    if not number:
        return of
    kind = exp.Add if number > 0 else exp.Sub
    return syntax.operation(kind, of, syntax.whole(abs(number)))


def _big(number: int) -> Sql:
    return syntax.cast_to(syntax.whole(number), BIGINT)
