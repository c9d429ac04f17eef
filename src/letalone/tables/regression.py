"""Regression on several features: noise on each sum of products that least squares needs.

With t₁ … t_d and s in [−1, 1] these are the sums of 1, t_i, t_i t_j (i ≤ j), s and t_i s: M of
them, from 9 for two features to 54 for eight. A row adds from −1 to 1 to each (from 0 to 1 to the
number of rows and to squares).

Theorem.  A unit with k rows moves the vector by at most kM in L1 and k√M in L2, and by at most
twice that under replace; rounding down adds less than 1 for each number.
  Proven:   docs/explanation/proofs/tables.md, section 10
  Tested:   sensitivity by every neighbour; coverage on generated data

One feature has pairs of corners instead (`cross`), which cost what a count costs.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from letalone.engines.measures import Measure, ProductSum
from letalone.tables.columns import Answer
from letalone.tables.cross import Axis
from letalone.tables.least_squares import LeastSquares, line
from letalone.tables.noise import Noise
from letalone.tables.sensitivity import Contribution, Moved, products_move, refuse_clip
from letalone.tables.vectors import ROOT_TWO, VectorPart, Wholes, needs_rows

Floats = NDArray[np.float64]
FEWER_BITS = 6  # there are less than 2^6 products, and noise is that much larger


@dataclass(frozen=True, slots=True)
class RegressionPart(VectorPart):
    """Least squares of `of` on `by`; products are counted in 2^-bits of a row."""

    names: tuple[str, ...]
    unit: Contribution
    of: Axis
    by: tuple[Axis, ...]
    bits: int

    def __post_init__(self) -> None:
        refuse_clip(self.unit)

    @property
    def products(self) -> tuple[ProductSum, ...]:
        """What is summed: z_i z_j for i ≤ j, then z_i s, where z = (1, t₁, …, t_d)."""
        places = (*(one.place for one in self.by), self.of.place)
        size = len(self.by) + 1
        pairs = [*combinations_with_replacement(range(size), 2), *((i, size) for i in range(size))]
        return tuple(ProductSum(places, self._powers(*pair)) for pair in pairs)

    def _powers(self, first: int, second: int) -> tuple[int, ...]:
        """Those of t₁ … t_d and s in a product of two columns; column 0 is the number 1."""
        return tuple((first == one) + (second == one) for one in range(1, len(self.by) + 2))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The products."""
        return self.products

    @property
    def row(self) -> int:
        """What the largest product of a row counts."""
        return 1 << self.bits

    @property
    def moved(self) -> Moved:
        """At most what each product moves, added up."""
        return products_move(self.products, self.row, self.unit)

    @property
    def weight(self) -> float:
        """One noise, in rows."""
        return ROOT_TWO * self.moved.l1 / self.row

    def vector(self, exact: list[Wholes]) -> Wholes:
        """The sums of products, each scaled so that its largest product counts a row."""
        scaled = [
            total * self.row // one.largest for one, total in zip(self.products, exact, strict=True)
        ]
        return np.stack(scaled, axis=-1)

    def answers(self, noisy: Floats, noise: Noise, confidence: float) -> dict[str, Answer]:
        """The intercept and the coefficients."""
        answer = self._line.answer(noisy, noise.law, confidence)
        return dict.fromkeys(self.names, answer)

    def error(self, name: str, noise: Noise, *, confidence: float, rows: int | None) -> float:
        """The largest half-width of a coefficient to expect for this many rows."""
        if rows is None:
            raise needs_rows(name)
        return self._line.error(noise.law, confidence, rows)

    @property
    def _line(self) -> LeastSquares:
        size, forms = len(self.by) + 1, np.eye(len(self.products)) / self.row
        left = np.zeros((size, size, len(forms)))
        for (i, k), form in zip(combinations_with_replacement(range(size), 2), forms, strict=False):
            left[i, k] = left[k, i] = form
        return line(self.of, self.by, left, forms[-size:])
