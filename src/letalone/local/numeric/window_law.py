"""A report near the truth: r times as likely inside a window that moves with the value.

The value is one of the steps 0 … m. Reports are the whole numbers 0 … m + w − 1, and those from
i to i + w − 1 are r times as likely as the others if the value is i.

Theorem.  Each report has probability c or rc, with c = 1/(wr + m), whatever the value: the ratio is
r. The mean of a report is A + B i with B = c (r − 1) w, and its variance is a convex quadratic
function of i.
  Proven:   docs/explanation/proofs/local_numbers.md, section 1
  Tested:   against sums over all reports, in rationals

It is the piecewise mechanism and the square wave, on whole numbers.
"""

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from letalone.local.frequencies.oracle import Wholes
from letalone.local.shuffling.likelihoods import Patterns
from letalone.privacy import Privacy
from letalone.privacy.curves.finite import between
from letalone.randomness.bits import BitSource
from letalone.randomness.chance import Chance, sample_bernoullis
from letalone.randomness.uniform import sample_belows


class WindowLaw(NamedTuple):
    """Values 0 … steps, a window of `width` reports, and the ratio."""

    steps: int
    width: int
    ratio: Fraction

    @property
    def reports(self) -> int:
        """How many different reports there are."""
        return self.steps + self.width

    @property
    def outside(self) -> Fraction:
        """c: the probability of each report outside of the window."""
        return 1 / (self.width * self.ratio + self.steps)

    @property
    def slope(self) -> Fraction:
        """B: how much the mean grows with a step, and the chance of a draw in the window."""
        return self.outside * (self.ratio - 1) * self.width

    def mean(self, step: Fraction) -> Fraction:
        """A + B i."""
        half_way = Fraction(self.reports - 1, 2)
        return (1 - self.slope) * half_way + self.slope * (step + Fraction(self.width - 1, 2))

    def second_moment(self, step: Fraction) -> Fraction:
        """The mean of the square of a report."""
        n, w = self.reports, self.width
        everywhere = Fraction((n - 1) * (2 * n - 1), 6)
        inside = step**2 + step * (w - 1) + Fraction((w - 1) * (2 * w - 1), 6)
        return (1 - self.slope) * everywhere + self.slope * inside

    def rounding_variance(self) -> Fraction:
        """Rounding a value to a step at random adds at most B/4, the parabola's sag over a step."""
        return self.slope / 4

    def curve(self) -> Privacy:
        """Of two values whose windows are as far apart as can be."""
        apart = min(self.width, self.steps)
        first, other = apart * self.ratio * self.outside, apart * self.outside
        rest = 1 - first - other
        return between((first, other, rest), (other, first, rest))

    def patterns(self, steps: tuple[int, ...]) -> Patterns:
        """In which of these values' windows a report lies, with its mass under the blanket."""
        cuts = sorted({0, self.reports, *(end for s in steps for end in (s, s + self.width))})
        masses: dict[tuple[int, ...], Fraction] = {}
        for low, high in pairwise(cuts):
            held = tuple(int(s <= low < s + self.width) for s in steps)
            masses[held] = masses.get(held, Fraction(0)) + (high - low) * self.outside
        return masses

    def draw(self, values: Wholes, bits: BitSource) -> Wholes:
        """A report for each value: with chance B even in the window, else even everywhere."""
        reports = sample_belows(self.reports, values.size, bits)
        near = np.flatnonzero(sample_bernoullis(Chance(self.slope), values.size, bits))
        reports[near] = values[near] + sample_belows(self.width, near.size, bits)
        return reports
