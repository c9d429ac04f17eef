"""Counts, sums, means and variances from one release: each row is shared among corners.

Put a value of the grid at t in [−1, 1]. A row gives the share (1 − t)/2 of itself to the
lower corner and (1 + t)/2 to the upper one; for variances the shares are
((1 − t)/2)², (1 − t²)/2 and ((1 + t)/2)². A row whose value is missing may go to a corner of
its own. Shares are not negative and add up to one row.

Theorem.  (1) A unit's k rows move all corners together by exactly k rows in L1 at most, and
by at most k rows in L2: as much as a count alone. So the count, the sum, the mean and the
variance cost what one of them costs.  (2) The sum over rows of a polynomial p(t) of at most
this degree is a sum over corners of (share of the corner) · (p at the corner): p(−1) and p(1),
or p(−1), p₀ − p₂, p(1) for p = p₀ + p₁t + p₂t².
  Proven:   docs/explanation/proofs/tables.md, section 3
  Tested:   sensitivity by every neighbour; moments against the plain formulas

With noise of scale k/ε in each corner, a count is off by 2k/ε (root mean square), a mean by
half the range times 2k/(nε); with ε split in halves it would be 2.8 and 2.8.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from letalone.engines.measures import GridSum, Measure, Rows, RowsWith
from letalone.plans.expressions import Expression
from letalone.tables.grid import Grid
from letalone.tables.sensitivity import Contribution, Moved, rounded_shares_move, shares_move

Wholes = NDArray[Any]
Polynomial = tuple[float, float, float]

ONE: Polynomial = (1.0, 0.0, 0.0)
FIRST: Polynomial = (0.0, 1.0, 0.0)
SECOND: Polynomial = (0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Corners:
    """Which values are shared among which corners, and in which unit shares are counted."""

    of: Expression
    grid: Grid
    degree: Literal[1, 2]
    missing: bool = False

    @property
    def unit(self) -> int:
        """What shares are counted in: squares are too fine for 64 bits, and are rounded down."""
        return 1 if self.degree == 1 else self.grid.width // 2

    @property
    def row(self) -> Fraction:
        """What one row is, in units."""
        return Fraction(self.grid.width**self.degree, self.unit)

    @property
    def count(self) -> int:
        """How many corners there are."""
        return self.degree + 1 + self.missing

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What an engine must measure."""
        of, grid = self.of, self.grid
        powers: tuple[Literal[1, 2], ...] = (1,) if self.degree == 1 else (1, 2)
        sums = (GridSum(of, grid.low, grid.high, grid.shift, power) for power in powers)
        return (RowsWith(of), *sums, *([Rows()] if self.missing else []))

    def moves(self, unit: Contribution) -> Moved:
        """How far one unit moves all corners of all groups."""
        if self.unit == 1:
            return shares_move(int(self.row), unit)
        return rounded_shares_move(self.row, unit, self.degree + 1)

    def shares(self, exact: list[Wholes]) -> Wholes:
        """The corners of each group, in units, from what was measured."""
        rows, above, *rest = exact
        width = self.grid.width
        if self.degree == 1:
            corners = [rows * width - above, above]
        else:
            about = above - rows * (width // 2)
            quarter, square = rows * (width // 2) ** 2, rest.pop(0)
            crossed = 2 * (quarter - square)
            corners = [quarter - width * about + square, crossed, quarter + width * about + square]
        if self.missing:
            corners.append((rest.pop(0) - rows) * width**self.degree)
        return np.stack(corners, axis=-1) // self.unit

    def form(self, polynomial: Polynomial) -> NDArray[np.float64]:
        """What each corner counts for in the sum of a polynomial over rows with a value."""
        constant, first, second = polynomial
        if self.degree == 1:
            ends = [constant - first, constant + first]
        else:
            ends = [constant - first + second, constant - second, constant + first + second]
        return np.array(ends + [0.0] * self.missing) / float(self.row)

    @property
    def all_rows(self) -> NDArray[np.float64]:
        """What each corner counts for in the number of rows, with a value or without."""
        return np.full(self.count, 1 / float(self.row))
