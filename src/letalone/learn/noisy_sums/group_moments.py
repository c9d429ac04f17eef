"""Counts, means and variances of columns, in groups that each row is in at most one of.

A value between bounds is a place t from −1 to 1. A row adds 1 to its group's count, t to its sums
and 2t² − 1 to its squares: the last is from −1 to 1 as well, so that the noise of t² is halved.

Theorem.  One row moves the count by 1, all sums together and all squares together by √width in L2
and width in L1, whatever the number of groups.
  Proven:   docs/explanation/proofs/statistics_learners.md, section 4
  Tested:   tests/learn/test_naive_bayes.py: by brute force over rows
"""

from dataclasses import dataclass
from math import isqrt

import numpy as np

from letalone.exact.typed import Number
from letalone.learn.features.column_bounds import ColumnBounds, with_purchases
from letalone.learn.noisy_sums.sums import UNIT, NoisySums, in_a_box, noisy_sums, of_rows
from letalone.learn.noisy_sums.wholes import Floats, Wholes, product, within_bounds
from letalone.randomness.bits import BitSource

MIN_VARIANCE = 1e-9  # a variance in units of half the bounds' distance, squared


@dataclass(frozen=True, slots=True)
class GroupMoments:
    """Of each group the noisy count, and of each column the mean and variance of places."""

    counts: Floats
    means: Floats
    variances: Floats

    def in_units(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        half = upper / 2 - lower / 2
        return lower / 2 + upper / 2 + self.means * half, self.variances * half**2


def moment_noise(bounds: ColumnBounds, *, epsilon: Number, delta: Number) -> NoisySums:
    """The noise of a release of moments, and of bounds; means get the larger share."""
    width = bounds.width
    root = isqrt(max(width - 1, 0)) + 1
    measures = (
        of_rows(),
        in_a_box("sums", width, degree=1, weight=2 * root),
        in_a_box("squares", width, degree=2, weight=root),
    )
    return noisy_sums(with_purchases(measures, bounds), epsilon=epsilon, delta=delta)


def exact_moments(
    rows: Floats, groups: Floats, *, lower: Floats, upper: Floats
) -> tuple[Wholes, Wholes, Wholes]:
    """Counts, sums and squares of each group (a column of 0 and 1) in steps: not for release."""
    places = within_bounds(rows, lower, upper)
    ones = np.ones((len(rows), 1))
    counts = product(groups, ones, largest=1)[:, 0]
    squares = 2 * places**2 - float(UNIT**2)
    return counts, product(groups, places, largest=UNIT), product(groups, squares)


def released_moments(
    noise: NoisySums, exact: tuple[Wholes, Wholes, Wholes], bits: BitSource
) -> GroupMoments:
    """Moments from sums that get their noise here; all that follows is post-processing."""
    counts = noise.release("rows", exact[0], bits)
    sums = noise.release("sums", exact[1], bits) / UNIT
    squares = noise.release("squares", exact[2], bits) / UNIT**2
    size = np.maximum(counts, 1.0)[:, np.newaxis]
    means = np.clip(sums / size, -1.0, 1.0)
    raw = np.clip((squares / size + 1) / 2, 0.0, 1.0) - means**2
    unsure = noise.deviation("squares") / UNIT**2 / 2 / size  # a variance below is only noise
    floor = np.minimum(np.maximum(unsure, MIN_VARIANCE), 1 / 3)
    return GroupMoments(np.maximum(counts, 0.0), means, np.clip(raw, floor, 1.0))
