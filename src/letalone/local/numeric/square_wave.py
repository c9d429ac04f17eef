"""A whole distribution of numbers from local reports: the square wave, read by maximum likelihood.

A number falls into one of d bins and is reported near itself (`window_law`). The shares of all bins
are those that make the reports likeliest, found by expectation maximisation, with a little
smoothing after each step. The result is smooth, useful for pictures, and biased: it has no
intervals. `la.local.Ranges` has unbiased answers.

Theorem.  The ratio of a report is r ≤ e^ε (`window_law`).
  Proven:   docs/explanation/proofs/local_numbers.md, section 1
  Tested:   the likelihood never falls without smoothing; known distributions are found

Li, Wang, Lopuhaä-Zwakenberg, Škorić, Li: Estimating numerical distributions under local
differential privacy (2020).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any, ClassVar, cast

import numpy as np

from letalone.errors import ParameterError
from letalone.exact.typed import Number, whole_from, write_rational
from letalone.local.biased import BiasedShares
from letalone.local.frequencies.oracle import Wholes
from letalone.local.numeric.numbers import FINE, place_numbers, read_bounds
from letalone.local.numeric.window_law import WindowLaw
from letalone.local.ratios import ratio_below, read_epsilon
from letalone.local.reports import CodedReports, read_reports
from letalone.mechanisms.parameters import fill
from letalone.mechanisms.values import Floats, read_floats
from letalone.privacy import REPLACE, Privacy
from letalone.randomness.bits import SYSTEM, BitSource

BINS = whole_from(2, "It is how many equal bins the bounds are cut into.")
MOST_BINS = 1 << 16
MOST_ROUNDS = 10_000


@dataclass(frozen=True, slots=True, init=False)
class SquareWave(CodedReports):
    """Reports a number that is likely to lie near the true one; estimates a distribution, biased.

    Parameters: `lower` and `upper` are the declared bounds, cut into `bins` of equal width;
    `epsilon` is what one report costs.
    """

    kind: ClassVar[str] = "square_wave"

    lower: float
    upper: float
    bins: int
    epsilon: Fraction

    def __init__(self, lower: Number, upper: Number, *, epsilon: Number, bins: int = 256) -> None:
        low, high = read_bounds(lower, upper)
        count = int(BINS.typed("bins", bins))
        if count > MOST_BINS:
            raise ParameterError(f"bins must be at most {MOST_BINS}. Give fewer.")
        fill(self, lower=low, upper=high, bins=count, epsilon=read_epsilon(epsilon))

    @property
    def window(self) -> WindowLaw:
        """How reports spread: as wide as tells most about the number, by the paper's formula."""
        e, grown = float(self.epsilon), exp(self.epsilon)
        reach = (e * grown - grown + 1) / (2 * grown * (grown - 1 - e))
        width = max(1, round(2 * reach * self.bins))
        return WindowLaw(self.bins - 1, width, ratio_below(self.epsilon))

    @property
    def privacy(self) -> Privacy:
        """What one report reveals about its owner's number, exactly; neighbours are REPLACE."""
        return self.window.curve().with_neighbours(REPLACE)

    def most_codes(self) -> int:
        """A report is a place of the window's law."""
        return self.window.reports

    def describe(self) -> dict[str, object]:
        """All that a client needs to make reports, as JSON values."""
        return {
            "kind": self.kind,
            "lower": self.lower,
            "upper": self.upper,
            "bins": self.bins,
            "epsilon": write_rational(self.epsilon),
            "ratio": write_rational(self.window.ratio),
            "window": self.window.width,
        }

    def privatize(self, values: object, *, bits: BitSource = SYSTEM) -> Any:
        """A report for each number; those beyond the bounds count as the bound."""
        floats = read_floats(cast("Any", values))
        places = bin_numbers(floats.reshape(-1), self.lower, self.upper, self.bins)
        reports = self.window.draw(places, bits)
        return reports if floats.ndim else int(reports[0])

    def estimate(self, reports: object, *, smooth: bool = True) -> BiasedShares:
        """The share of each bin, biased, without intervals."""
        read = cast("Wholes", read_reports(self, reports))
        if not read.size:
            raise ParameterError("There are no reports to estimate from. Give one or more.")
        counts = np.bincount(read, minlength=self.window.reports)
        shares = likeliest_shares(self.window, counts / read.size, smooth=smooth)
        return BiasedShares(shares, "maximum likelihood", self.privacy)


def bin_numbers(numbers: Floats, lower: float, upper: float, bins: int) -> Wholes:
    """The bin that each number falls into."""
    # 46 bits of the place times 2^16 bins fit into 63 bits; the upper bound is in the last bin.
    places = place_numbers(numbers, lower, upper) >> 2
    return np.minimum(places * bins // (FINE >> 2), bins - 1)


def likeliest_shares(law: WindowLaw, seen: Floats, *, smooth: bool) -> Floats:
    """Expectation maximisation from even shares, until the likelihood hardly grows."""
    shares, before = np.full(law.steps + 1, 1 / (law.steps + 1)), -np.inf
    for _ in range(MOST_ROUNDS):
        expected = report_chances(law, shares)
        shares = shares * value_weights(law, seen / expected)
        if smooth:
            shares = smooth_shares(shares)
        likelihood = float((seen * np.log(expected)).sum())
        if likelihood - before < 1e-9:
            break
        before = likelihood
    return shares / shares.sum()


def report_chances(law: WindowLaw, shares: Floats) -> Floats:
    """The probability of each report, if these are the shares of the values."""
    sums = np.concatenate(([0.0], np.cumsum(shares)))
    last = np.arange(law.reports)
    inside = sums[np.minimum(last, law.steps) + 1] - sums[np.maximum(last - law.width + 1, 0)]
    return float(law.outside) * (sums[-1] + float(law.ratio - 1) * inside)


def value_weights(law: WindowLaw, reports: Floats) -> Floats:
    """For each value the mean of something about reports."""
    sums = np.concatenate(([0.0], np.cumsum(reports)))
    inside = sums[law.width :] - sums[: -law.width]
    return float(law.outside) * (sums[-1] + float(law.ratio - 1) * inside)


def smooth_shares(shares: Floats) -> Floats:
    """Each share mixed with its neighbours, 1 : 2 : 1; what leaves at an end comes back."""
    wide = np.concatenate((shares[:1], shares, shares[-1:]))
    return (wide[:-2] + 2 * shares + wide[2:]) / 4
