"""Products of two columns from one release: each row is shared among products of corners.

Put one column's value at t and the other's at s in [−1, 1]. Each has corners of its own
(`corners`): two, or three where its square is needed. A row gives to a pair of corners the product
of its shares in them. Products of shares are not negative and add up to one row.

Theorem.  (1) A unit's k rows move all pairs of corners together by at most k rows, in L1 and in L2:
as much as a count alone. So a covariance (2 × 2), a slope (3 × 2) and a correlation (3 × 3) cost
what a count costs.  (2) The sum over rows of t^a s^b is a sum over pairs of (the pair's share) ·
(the coefficient of t^a at its first corner) · (that of s^b at its second).
  Proven:   docs/explanation/proofs/tables.md, section 9
  Tested:   sensitivity by every neighbour; moments against the plain formulas

A product of a row has to fit 86 bits (`measures`), so grids are coarser the higher its degree:
(2^29)² = 2^58, (2^25)³ = 2^75, (2^19)⁴ = 2^76, and (2^23)³ = 2^69, (2^17)⁴ = 2^68 where rows have
weights. A row is about 2^(bits + 1) units of what is
released, as that of `corners` is, and sums are rounded down to these units.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal

import numpy as np

from letalone.engines.core.measures import GridSum, Measure, ProductSum
from letalone.plans.expressions import Expression
from letalone.tables.columns import Floats, Wholes
from letalone.tables.grid import Grid, grid_for
from letalone.tables.sensitivity import Contribution, Moved, rounded_shares_move, shares_move

Degree = Literal[1, 2]
IsWhole = Callable[[Expression], bool]

MAX_PRODUCT_BITS = {2: 30, 3: 26, 4: 20}  # of a grid, by the degree of the largest product
MAX_WEIGHED_BITS = {2: 30, 3: 24, 4: 18}  # where rows have weights of up to 2^20
# What 1, t and t² are at the corners of an axis of this degree.
BASES = {
    1: np.array([[1.0, 1.0], [-1.0, 1.0], [np.nan, np.nan]]),
    2: np.array([[1.0, 1.0, 1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 1.0]]),
}


@dataclass(frozen=True, slots=True)
class GridAxis:
    """A column on its grid; of degree 2 where its square is needed, too."""

    of: Expression
    grid: Grid
    degree: Degree

    @property
    def place(self) -> GridSum:
        return GridSum(self.of, self.grid.low, self.grid.high, self.grid.shift)

    @property
    def slack(self) -> float:
        """How far values stray from their places, but for an offset, in [−1, 1]."""
        return self.grid.slack / self.grid.radius

    @property
    def shares(self) -> list[list[int]]:
        """A row's share in each corner, as a polynomial of the place u about the middle.

        With h half the width these are h − u and h + u, or (h − u)², 2(h² − u²) and (h + u)².
        """
        half = self.grid.width // 2
        if self.degree == 1:
            return [[half, -1], [half, 1]]
        return [[half**2, -2 * half, 1], [2 * half**2, 0, -2], [half**2, 2 * half, 1]]


@dataclass(frozen=True, slots=True)
class CrossCorners:
    """Two axes, and in which unit the shares of pairs of corners are counted."""

    first: GridAxis
    second: GridAxis
    bits: int
    lattice: int = 1

    @property
    def whole(self) -> int:
        """What one row is before rounding."""
        first, second = self.first, self.second
        return int(first.grid.width) ** first.degree * int(second.grid.width) ** second.degree

    @property
    def unit(self) -> int:
        """What shares are counted in: a row has at most 2^(bits + 1) of these."""
        return -(-self.whole // 2 ** (self.bits + 1))

    @property
    def row(self) -> Fraction:
        """What one row is, in units."""
        return Fraction(self.whole, self.unit)

    @property
    def count(self) -> int:
        return (self.first.degree + 1) * (self.second.degree + 1)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The sums of u^a v^b, the second power running faster."""
        places = self.first.place, self.second.place
        powers = product(range(self.first.degree + 1), range(self.second.degree + 1))
        return tuple(ProductSum(places, pair) for pair in powers)

    def moves(self, unit: Contribution) -> Moved:
        if self.unit * self.lattice == 1:
            return shares_move(int(self.row), unit)
        return rounded_shares_move(self.row, unit, self.count)

    def shares(self, exact: list[Wholes]) -> Wholes:
        """The pairs of corners of each group, in units, from what was measured."""
        pairs = product(self.first.shares, self.second.shares)
        sums = [_sum_products(left, right, exact) for left, right in pairs]
        return np.stack(sums, axis=-1) // (self.unit * self.lattice)

    def form(self, polynomial: Floats) -> Floats:
        """What each pair counts for in the sum of Σ c[a, b] t^a s^b over rows that have both."""
        first = BASES[self.first.degree][: self.first.degree + 1]
        second = BASES[self.second.degree][: self.second.degree + 1]
        used = polynomial[..., : self.first.degree + 1, : self.second.degree + 1]
        weights = np.einsum("...ab,ai,bj->...ij", used, first, second)
        pairs = weights.shape[-2] * weights.shape[-1]  # not -1: there may be no groups at all
        return weights.reshape(*weights.shape[:-2], pairs) / float(self.row)


@dataclass(frozen=True, slots=True)
class ClampedColumn:
    """A column within bounds."""

    of: Expression
    lower: Fraction
    upper: Fraction

    def axis(self, degree: Degree, bits: int, is_whole: IsWhole) -> GridAxis:
        grid = grid_for(self.lower, self.upper, bits, whole=is_whole(self.of))
        return GridAxis(self.of, grid, degree)


def _sum_products(left: list[int], right: list[int], exact: list[Wholes]) -> Wholes:
    factors = [a * b for a, b in product(left, right)]
    terms = [factor * moment for factor, moment in zip(factors, exact, strict=True)]
    return sum(terms[1:], terms[0])
