"""Regression on several features: noise on each sum of products that least squares needs.

With t₁ … t_d and s in [−1, 1] these are the sums of 1, t_i, t_i t_j (i ≤ j), s and t_i s: M of
them, from 9 for two features to 54 for eight. A row adds from −1 to 1 to each (from 0 to 1 to the
number of rows and to squares).

Theorem.  A unit with k rows moves the vector by at most kM in L1 and k√M in L2, and by at most
twice that under replace; rounding down adds less than 1 for each number.
  Proven:   docs/explanation/proofs/tables.md, section 10
  Tested:   sensitivity by every neighbour; coverage on generated data

One feature has pairs of corners instead (`cross`), which cost what a count costs.

Least squares follow from noisy sums of products, with intervals. With columns z = (1, t₁, …, t_d)
and s, all but the first in [−1, 1], the coefficients β solve A β = b for A = Σ z zᵀ and b = Σ z s.
Where Â = A + E and b̂ = b + f have noise,
    β̂ − β = A⁻¹(f − E β̂)     exactly,
whose first order is the linear form Â⁻¹(f − E β̂) of the noises: its width is the interval's. What
is left out is a factor of norm at most 1/(1 − ρ), ρ = ‖E‖ / (least eigenvalue of Â), by which
the interval is widened.

The rule for a matrix that the noise may have spoiled: with e the root of the mean square of
‖E‖ (Frobenius), the least eigenvalue is lifted to e by adding a multiple of the unit matrix (a
ridge), so that there is a solution; where it was not above 2.5 e, that is no estimate of anything
with an interval, and the coefficients are missing. Those that are shown near this edge are a
selection: the noise made their matrix look better than it is, and steep coefficients too flat.
So ‖E‖ is taken to be 2e, and intervals grow fivefold towards the edge.
  Proven:   docs/explanation/proofs/tables.md, section 10
  Tested:   coverage on generated data; at 95 % also of those alone that are shown near the edge:
            above 95 % with Gaussian noise, and with Laplace noise 93 % or more where one in ten
            is shown
  Assumed:  ‖E‖ is at most 2e, and β̂ in the form's weights is as good as β. Laplace noise has longer
            tails: of steep coefficients that it lets be shown once in a hundred times only, 74 to
            80 % were covered, and fewer of those that are shown more seldom
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import cast

import numpy as np

from letalone.engines.core.measures import ProductSum
from letalone.plans.aggregates.of_pairs import Regression
from letalone.tables.columns import Floats, NoisyColumn, Wholes
from letalone.tables.intervals import NoiseLaw, widths
from letalone.tables.noise import Noise
from letalone.tables.parts.cross import ClampedColumn, GridAxis, IsWhole
from letalone.tables.parts.part import ROOT_TWO, VectorPart, needs_rows
from letalone.tables.sensitivity import Contribution, Moved, products_move, refuse_clip

EVEN = 1 / 3  # the mean square of values spread evenly over [−1, 1]
KNOWN = 2.5  # the least eigenvalue, in e, from which on coefficients are shown
STRAYS = 2  # what ‖E‖ is taken to be, in e
FEWER_BITS = 6  # there are less than 2^6 products, and noise is that much larger


@dataclass(frozen=True, slots=True, eq=False)
class LeastSquaresSolver:
    """What each number of a noisy vector counts for in A and b, and how answers follow from β.

    `left` has the shape (d + 1, d + 1, numbers), `right` (d + 1, numbers). The answer is
    `turn` β + `shift`: the intercept, then a coefficient for each feature, in their own units.
    `slacks` are how far the columns, and at last s, stray from the places that were multiplied.
    """

    left: Floats
    right: Floats
    turn: Floats
    shift: Floats
    slacks: Floats

    def answer(self, noisy: Floats, law: NoiseLaw, confidence: float) -> NoisyColumn:
        """The coefficients of each group, missing where there seem to be no rows."""
        matrix, target = np.einsum("gl,ikl->gik", noisy, self.left), noisy @ self.right.T
        spoiled, rows_width = self._noise(law), widths(law, self.left[0, 0], confidence)
        some = matrix[:, 0, 0] > 2 * rows_width
        rows = np.where(some, matrix[:, 0, 0] + rows_width, 1.0)
        moved = self._moved[:, :-1]
        shaken = rows * float(np.sqrt(np.sum(moved**2)))
        least = np.linalg.eigvalsh(matrix)[:, 0]
        ridge = np.maximum(spoiled - least, 0.0)
        matrix = matrix + ridge[:, None, None] * np.eye(len(self.right))
        inverse = cast("Floats", np.linalg.inv(matrix))
        solved = np.einsum("gik,gk->gi", inverse, target)
        forms = self._forms(inverse, solved)
        known = (some & (least > KNOWN * spoiled + shaken))[:, None]
        factor = 1 - (STRAYS * spoiled + shaken[:, None]) / np.where(known, least[:, None], np.inf)
        half = widths(law, forms, confidence) + rows[:, None] * self._placed(inverse, solved)
        half = np.where(known, half / factor, np.inf)
        values = solved @ self.turn.T + self.shift
        return NoisyColumn(np.where(known, values, np.nan), values - half, values + half)

    def error(self, law: NoiseLaw, confidence: float, rows: int) -> float:
        """The largest half-width of a coefficient, for features spread evenly that all matter.

        Where they are not, or go together, it is larger, and coefficients may be missing.
        """
        features, spoiled = len(self.right) - 1, self._noise(law)
        if EVEN * rows <= KNOWN * spoiled:
            return float("inf")  # nothing will be known
        factor = 1 - STRAYS * spoiled / (EVEN * rows)
        inverse = np.diag([1.0] + [1 / EVEN] * features) / rows
        solved = np.array([0.0] + [1 / features] * features)
        strays = widths(law, self._forms(inverse[None], solved[None]), confidence)
        strays = strays + rows * self._placed(inverse[None], solved[None])
        return float(np.max(strays)) / factor

    def _forms(self, inverse: Floats, solved: Floats) -> Floats:
        """The weights of the noises in each coefficient, for each group."""
        unexplained = self.right - np.einsum("gk,ikl->gil", solved, self.left)
        return np.einsum("goi,gil->gol", self.turn @ inverse, unexplained)

    @property
    def _moved(self) -> Floats:
        """The most that a row's products of columns, and at last those with s, stray."""
        columns = self.slacks[:-1, None]
        return columns + self.slacks + columns * self.slacks

    def _placed(self, inverse: Floats, solved: Floats) -> Floats:
        """What these move in each coefficient, for each row."""
        moved = self._moved[:, -1] + np.abs(solved) @ self._moved[:, :-1]
        return np.einsum("goi,gi->go", np.abs(self.turn @ inverse), moved)

    def _noise(self, law: NoiseLaw) -> float:
        return law.deviation * float(np.sqrt(np.sum(self.left**2)))


def line(of: GridAxis, by: Sequence[GridAxis], left: Floats, right: Floats) -> LeastSquaresSolver:
    """Least squares of one axis on others; the answers are in the units of their values."""
    rise = np.array([of.grid.radius / axis.grid.radius for axis in by])
    centres = np.array([axis.grid.centre + axis.grid.offset for axis in by])
    turn = np.diag([of.grid.radius, *rise])
    turn[0, 1:] = -rise * centres
    shift = np.array([of.grid.centre + of.grid.offset] + [0.0] * len(by))
    slacks = np.array([0.0, *(axis.slack for axis in by), of.slack])
    return LeastSquaresSolver(left, right, turn, shift, slacks)


@dataclass(frozen=True, slots=True)
class RegressionPart(VectorPart):
    """Least squares of `of` on `by`; products are counted in 2^-bits of a row."""

    of: GridAxis
    by: tuple[GridAxis, ...]
    bits: int

    def __post_init__(self) -> None:
        refuse_clip(self.unit)

    @property
    def measures(self) -> tuple[ProductSum, ...]:
        """What is summed: z_i z_j for i ≤ j, then z_i s, where z = (1, t₁, …, t_d)."""
        places = (*(axis.place for axis in self.by), self.of.place)
        size = len(self.by) + 1
        pairs = [*combinations_with_replacement(range(size), 2), *((i, size) for i in range(size))]
        return tuple(ProductSum(places, self._powers(*pair)) for pair in pairs)

    def _powers(self, first: int, second: int) -> tuple[int, ...]:
        """Those of t₁ … t_d and s in a product of two columns; column 0 is the number 1."""
        return tuple((first == n) + (second == n) for n in range(1, len(self.by) + 2))

    @property
    def lattice(self) -> int:
        """Products are counted in parts of the largest."""
        return 1

    @property
    def row(self) -> int:
        """What the largest product of a row counts."""
        return 1 << self.bits

    @property
    def moved(self) -> Moved:
        return products_move(self.measures, self.row, self.unit)

    @property
    def weight(self) -> float:
        """One noise, in rows."""
        return ROOT_TWO * self.moved.l1 / self.row

    def vector(self, exact: list[Wholes]) -> Wholes:
        """The sums of products, each scaled so that its largest product counts a row."""
        summed = zip(self.measures, exact, strict=True)
        scaled = ((total * self.row, product.largest) for product, total in summed)
        lattice = self.unit.lattice
        return np.stack([total // (largest * lattice) for total, largest in scaled], axis=-1)

    def answers(self, noisy: Floats, noise: Noise, confidence: float) -> dict[str, NoisyColumn]:
        answer = self._line.answer(noisy, noise.law, confidence)
        return dict.fromkeys(self.names, answer)

    def error(self, name: str, noise: Noise, *, confidence: float, rows: int | None) -> float:
        """The largest half-width of a coefficient to expect for this many rows."""
        if rows is None:
            raise needs_rows(name)
        return self._line.error(noise.law, confidence, rows)

    @property
    def _line(self) -> LeastSquaresSolver:
        size, forms = len(self.by) + 1, np.eye(len(self.measures)) / self.row
        left = np.zeros((size, size, len(forms)))
        for (i, k), form in zip(combinations_with_replacement(range(size), 2), forms, strict=False):
            left[i, k] = left[k, i] = form
        return line(self.of, self.by, left, forms[-size:])


def regression_part(
    names: tuple[str, ...], unit: Contribution, asked: Regression, bits: int, is_whole: IsWhole
) -> RegressionPart:
    """A regression on several features."""
    columns = map(ClampedColumn, asked.by, asked.by_lower, asked.by_upper)
    by = tuple(column.axis(1, bits, is_whole) for column in columns)
    outcome = ClampedColumn(asked.of, asked.lower, asked.upper).axis(1, bits, is_whole)
    return RegressionPart(names, unit, outcome, by, bits - FEWER_BITS)
