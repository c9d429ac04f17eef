"""Which aggregates of two columns share pairs of corners, and on which grids.

Those of the same two columns within the same bounds do, whichever comes first. A column has three
corners where one of them needs its square: both for a correlation, the one that a slope or a
regression is along.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeGuard

from letalone.plans.expressions import Expression
from letalone.plans.formulas import Aggregate
from letalone.plans.pairs import Correlation, Covariance, Regression, Slope
from letalone.tables.cross import MOST_BITS, Axis, CrossCorners
from letalone.tables.grid import grid_for
from letalone.tables.pairs import Pair, PairPart
from letalone.tables.regression import FEWER_BITS, RegressionPart
from letalone.tables.sensitivity import Contribution

Degree = Literal[1, 2]
IsWhole = Callable[[Expression], bool]
PLAIN, SQUARED = 1, 2


@dataclass(frozen=True, slots=True)
class _Column:
    """A column within bounds."""

    of: Expression
    lower: Fraction
    upper: Fraction

    def axis(self, degree: Degree, bits: int, is_whole: IsWhole) -> Axis:
        whole = is_whole(self.of)
        return Axis(self.of, grid_for(self.lower, self.upper, bits, whole=whole), degree)


def pair_parts(
    asked: Sequence[tuple[str, Aggregate]], unit: Contribution, bits: int, is_whole: IsWhole
) -> list[PairPart]:
    """A part for each two columns that something is asked about; `is_whole` is by their types."""
    found: dict[str, list[tuple[str, Pair]]] = {}
    for name, aggregate in asked:
        if _is_pair(aggregate):
            found.setdefault(repr(_ordered(aggregate)), []).append((name, aggregate))
    return [_part(group, unit, bits, is_whole) for group in found.values()]


def regression_part(
    names: tuple[str, ...], unit: Contribution, asked: Regression, bits: int, is_whole: IsWhole
) -> RegressionPart:
    """A regression on several features."""
    columns = map(_Column, asked.by, asked.by_lower, asked.by_upper)
    by = tuple(column.axis(PLAIN, bits, is_whole) for column in columns)
    of = _Column(asked.of, asked.lower, asked.upper).axis(PLAIN, bits, is_whole)
    return RegressionPart(names, unit, of, by, bits - FEWER_BITS)


def _is_pair(aggregate: Aggregate) -> TypeGuard[Pair]:
    if isinstance(aggregate, Regression):
        return len(aggregate.by) == 1
    return isinstance(aggregate, Covariance | Correlation | Slope)


def _part(
    group: list[tuple[str, Pair]], unit: Contribution, bits: int, is_whole: IsWhole
) -> PairPart:
    columns = _ordered(group[0][1])
    turned = [repr(_columns(one)) != repr(columns) for _, one in group]
    first, second = _degree(group, turned, 0), _degree(group, turned, 1)
    fine = min(bits, MOST_BITS[first + second])
    axes = columns[0].axis(first, fine, is_whole), columns[1].axis(second, fine, is_whole)
    asked = tuple((name, one, way) for (name, one), way in zip(group, turned, strict=True))
    return PairPart(asked, unit, CrossCorners(*axes, bits))


def _degree(group: list[tuple[str, Pair]], turned: list[bool], place: int) -> Degree:
    """Whether the column at this place (0 or 1) is needed squared."""
    for (_, one), way in zip(group, turned, strict=True):
        along = 0 if way else 1
        if isinstance(one, Correlation) or (isinstance(one, Slope | Regression) and along == place):
            return SQUARED
    return PLAIN


def _columns(asked: Pair) -> tuple[_Column, _Column]:
    of = _Column(asked.of, asked.lower, asked.upper)
    if isinstance(asked, Regression):
        return of, _Column(asked.by[0], asked.by_lower[0], asked.by_upper[0])
    return of, _Column(asked.by, asked.by_lower, asked.by_upper)


def _ordered(asked: Pair) -> tuple[_Column, _Column]:
    first, second = sorted(_columns(asked), key=repr)
    return first, second
