"""Exact integers as an engine would return them, for kinds of rows that occur very often."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor, prod
from typing import Any

from letalone.engines.core.measures import GridSum, Measure, ProductSum, Rows, RowsWith
from letalone.plans.expressions import ColumnRef

Kind = tuple[int, Mapping[str, float | Fraction]]


def exact(measures: Sequence[Measure], kinds: Sequence[Kind], *, keys: int) -> list[Any]:
    """The same for every key."""
    found = [sum(rows * _one(measure, row) for rows, row in kinds) for measure in measures]
    return [[one] * keys for one in found]


def _one(measure: Measure, row: Mapping[str, Any]) -> int:
    match measure:
        case Rows() | RowsWith():
            return 1
        case GridSum(low=low, power=1):
            return _place(measure, row) - low
        case GridSum():
            return _centred(measure, row) ** 2
        case ProductSum(grids, powers):
            return prod(_centred(grid, row) ** p for grid, p in zip(grids, powers, strict=True))
    raise TypeError(type(measure).__name__)


def _centred(grid: GridSum, row: Mapping[str, Any]) -> int:
    return _place(grid, row) - (grid.low + grid.high) // 2


def _place(grid: GridSum, row: Mapping[str, Any]) -> int:
    assert isinstance(grid.of, ColumnRef)
    steps = floor(Fraction(row[grid.of.name]) * Fraction(2) ** grid.shift)
    return min(max(steps, grid.low), grid.high)
