"""Means of bounded numbers from local reports: Duchi's coin, the piecewise window, and a mix.

A number in [lower, upper] is x = (number − lower)/(upper − lower), put on a grid of 2^-48.
  Duchi:      a coin with probability x, told truly with probability r/(1 + r).
  Piecewise:  x, rounded at random to one of 2^16 steps, reported near itself (`window_law`) with a
              window of the steps divided by √r.
  Hybrid:     piecewise with a stated chance, else Duchi; the smallest variance of the three.

Theorem.  The ratio is r ≤ e^ε. Each report has an unbiased value, up to 2^-47 of upper − lower; the
mean of these is the estimate. Its interval is Clopper and Pearson's for Duchi's coin, and Bennett's
with the largest variance otherwise.
  Proven:   docs/explanation/proofs/local_numbers.md
  Tested:   exact laws; draws, with power; variances by simulation; coverage
  Assumed:  the bits are uniform; each person reports once, on their own

A report is a whole number: Duchi's coin 0 or 1; a place of the window's law; for the mix such a
place, or as many as there are plus the coin.

Duchi, Jordan, Wainwright: Minimax optimal procedures for locally private estimation (2018). Wang,
Xiao, Yang, Zhao, Hui, Shin, Shin, Yu: Collecting and analyzing multidimensional data with local
differential privacy (2019).
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import Any, ClassVar, cast

import numpy as np

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError
from letalone.exact.balls import ball, floor_scaled
from letalone.exact.typed import CONFIDENCE, COUNT, FINITE, Number, refusal, write_rational
from letalone.local.frequencies.k_ary_response import answer_k_ary, k_ary_chances
from letalone.local.frequencies.oracle import Wholes
from letalone.local.numeric.mean_intervals import bennett_width
from letalone.local.numeric.window_law import WindowLaw
from letalone.local.ratios import RATIO_BITS, ratio_below, read_epsilon
from letalone.local.reports import CodedReports, read_reports
from letalone.local.shuffling.likelihoods import (
    LikelihoodAtoms,
    Patterns,
    atoms_under_blanket,
    atoms_under_first,
    atoms_under_second,
    atoms_under_third,
    lie_of_two,
)
from letalone.mechanisms.parameters import fill
from letalone.mechanisms.randomized_response import clopper_pearson
from letalone.mechanisms.values import Floats, read_floats
from letalone.privacy import REPLACE, Privacy
from letalone.privacy.bounds import six
from letalone.privacy.curves.finite import between
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.chance import Chance, sample_bernoullis
from letalone.randomness.uniform import sample_belows

STEP_BITS, MORE_BITS = 16, 32
STEPS, FINE = 1 << STEP_BITS, 1 << (STEP_BITS + MORE_BITS)
OFF_GRID = 2.0**-47  # of upper − lower: more than reading a number onto the grid can move it
HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class NumberOracle(CodedReports):
    """What all oracles for means share: bounds, an ε, and estimates from unbiased values."""

    kind: ClassVar[str]

    lower: float
    upper: float
    epsilon: Fraction

    def __init__(self, lower: Number, upper: Number, *, epsilon: Number) -> None:
        low, high = read_bounds(lower, upper)
        fill(self, lower=low, upper=high, epsilon=read_epsilon(epsilon))

    @property
    def ratio(self) -> Fraction:
        """The largest likelihood ratio of a report, a rational at most e^ε."""
        return ratio_below(self.epsilon)

    @property
    def privacy(self) -> Privacy:
        """What one report reveals about its owner's number, exactly; neighbours are REPLACE."""
        return self.pair_curve().with_neighbours(REPLACE)

    @abstractmethod
    def pair_curve(self) -> Privacy:
        """The curve of the two numbers that a report tells apart best."""

    @abstractmethod
    def blanket_atoms(self) -> LikelihoodAtoms:
        """The likelihoods of the two bounds, relative to what every report has at least."""

    @abstractmethod
    def crowds(self) -> tuple[LikelihoodAtoms, ...]:
        """The likelihoods of the two bounds, relative to those of some number that all hold."""

    def lie_of_two(self) -> Fraction | None:
        """The chance of a lie if a report is one of two answers whatever is held, else None."""
        return None

    @abstractmethod
    def randomise(self, places: Wholes, bits: BitSource) -> Wholes:
        """A report for each place of the fine grid 0 … 2^48."""

    @abstractmethod
    def unbias(self, reports: Wholes) -> Floats:
        """For each report a number whose mean is x, in units of upper − lower above lower."""

    @abstractmethod
    def second_moment(self, x: Fraction) -> Fraction:
        """Of (the unbiased number − 1/2), for one report about a number on a step."""

    @abstractmethod
    def farthest(self) -> Fraction:
        """The largest unbiased number."""

    def rounding_variance(self) -> Fraction:
        """The most that rounding to a step at random adds to the variance."""
        return Fraction(0)

    def privatize(self, values: object, *, bits: BitSource = SYSTEM) -> Any:
        """A report for each number; those beyond the bounds count as the bound."""
        floats = read_floats(cast("Any", values))
        reports = self.randomise(place_numbers(floats.reshape(-1), self.lower, self.upper), bits)
        return reports if floats.ndim else int(reports[0])

    def estimate(self, reports: object, confidence: Number = 0.95) -> Estimate:
        """The mean of all numbers, unbiased, with an interval inside of the bounds."""
        read = cast("Wholes", read_reports(self, reports))
        level = float(CONFIDENCE.typed("confidence", confidence))
        if not read.size:
            raise ParameterError("There are no reports to estimate from. Give one or more.")
        value = float(self.unbias(read).mean())
        low, high = self.interval(read, value, level)
        return self._scaled(value, low - OFF_GRID, high + OFF_GRID, level)

    def interval(self, reports: Wholes, value: float, level: float) -> tuple[float, float]:
        """Where the mean of all x lies; Bennett's, with the largest variance."""
        worst = float(self._worst_variance())
        width = bennett_width(reports.size, worst, float(self.farthest()), level)
        return value - width, value + width

    def variance(self, n: int, value: Number | None = None) -> float:
        """The variance of an estimated mean of n people who hold this value; None: the largest."""
        people, width = COUNT.typed("n", n), Fraction(self.upper) - Fraction(self.lower)
        if value is None:
            return float_or_infinite(self._worst_variance() * width**2 / people)
        held = FINITE.typed("value", value)
        x = min(max((held - Fraction(self.lower)) / width, Fraction(0)), Fraction(1))
        return float_or_infinite((self.second_moment(x) - (x - HALF) ** 2) * width**2 / people)

    def _worst_variance(self) -> Fraction:
        # An even quadratic function of x − 1/2, and what rounding to steps adds.
        ends = self.second_moment(Fraction(0)) - Fraction(1, 4)
        return max(ends, self.second_moment(HALF)) + self.rounding_variance()

    def _scaled(self, value: float, low: float, high: float, level: float) -> Estimate:
        width = self.upper - self.lower
        ends = (self.lower + width * min(max(end, 0.0), 1.0) for end in (low, high))
        low_end, high_end = (min(max(end, self.lower), self.upper) for end in ends)
        return Estimate(self.lower + width * value, low_end, high_end, level, self.privacy)

    def describe(self) -> dict[str, object]:
        """All that a client needs to make reports, as JSON values."""
        return {
            "kind": self.kind,
            "lower": self.lower,
            "upper": self.upper,
            "epsilon": write_rational(self.epsilon),
            "ratio": write_rational(self.ratio),
        }

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.lower:g} to {self.upper:g}, ε = {six(self.epsilon)},"
            f" {self.report_bytes} bytes a report, variance up to {self.variance(1):.4g}/n)"
        )


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Duchi(NumberOracle):
    """Reports one bit about a number. The smallest variance for ε below about 0.6.

    Parameters: `lower` and `upper` are the declared bounds; `epsilon` is what one report costs.
    """

    kind: ClassVar[str] = "duchi"

    def most_codes(self) -> int:
        """A bit."""
        return 2

    def pair_curve(self) -> Privacy:
        """Of the two bounds: one bit, told truly or not."""
        p, q = k_ary_chances(self.ratio, 2)
        return between((p, q), (q, p))

    def blanket_atoms(self) -> LikelihoodAtoms:
        """Of a bit that is told or denied."""
        return atoms_under_blanket(coin_patterns(self.ratio), self.ratio)

    def crowds(self) -> tuple[LikelihoodAtoms, ...]:
        """All others have the lower bound, or all the upper one."""
        coin = coin_patterns(self.ratio)
        return atoms_under_second(coin, self.ratio), atoms_under_first(coin, self.ratio)

    def lie_of_two(self) -> Fraction | None:
        """Of a bit."""
        return lie_of_two(coin_patterns(self.ratio), self.ratio)

    def randomise(self, places: Wholes, bits: BitSource) -> Wholes:
        """A coin with the probability x, and then an answer about the coin."""
        coins = (sample_belows(FINE, places.size, bits) < places).astype(np.int64)
        return answer_k_ary(coins, 2, k_ary_chances(self.ratio, 2), bits)

    def unbias(self, reports: Wholes) -> Floats:
        """The same for each 1, and for each 0."""
        p, q = (float(chance) for chance in k_ary_chances(self.ratio, 2))
        return (reports.astype(np.float64) - q) / (p - q)

    def second_moment(self, x: Fraction) -> Fraction:  # noqa: ARG002
        """The two numbers are as far from 1/2."""
        return (self.farthest() - HALF) ** 2

    def farthest(self) -> Fraction:
        """That of a 1."""
        return farthest_coin(self.ratio)

    def interval(self, reports: Wholes, value: float, level: float) -> tuple[float, float]:  # noqa: ARG002
        """Clopper and Pearson's for the number of ones."""
        chances = k_ary_chances(self.ratio, 2)
        ends = clopper_pearson(reports.sum(keepdims=True), reports.size, level)
        low, high = (
            (float(end[0]) - float(chances.other)) / float(chances.contrast) for end in ends
        )
        return low, high


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Piecewise(NumberOracle):
    """Reports a number that is likely to lie near the true one. For ε above about 2.

    Parameters: `lower` and `upper` are the declared bounds; `epsilon` is what one report costs.
    """

    kind: ClassVar[str] = "piecewise"

    @property
    def window(self) -> WindowLaw:
        """How reports spread."""
        return piecewise_law(self.epsilon)

    def most_codes(self) -> int:
        """A place."""
        return self.window.reports

    def pair_curve(self) -> Privacy:
        """Of the two bounds."""
        return self.window.curve()

    def blanket_atoms(self) -> LikelihoodAtoms:
        """Windows as far apart as can be."""
        return atoms_under_blanket(self.window.patterns((STEPS, 0)), self.ratio)

    def crowds(self) -> tuple[LikelihoodAtoms, ...]:
        """All others are in the middle."""
        middle = self.window.patterns((STEPS, 0, STEPS // 2))
        return (atoms_under_third(middle, self.ratio),)

    def randomise(self, places: Wholes, bits: BitSource) -> Wholes:
        """A step next to the number, at random, and a report near it."""
        return self.window.draw(round_at_random(places, bits), bits)

    def unbias(self, reports: Wholes) -> Floats:
        """(j − A)/(B m)."""
        return unbias_window(self.window, reports)

    def second_moment(self, x: Fraction) -> Fraction:
        """A quadratic function of x."""
        return window_moment(self.window, x)

    def rounding_variance(self) -> Fraction:
        """That of the window, in units of the bounds."""
        return self.window.rounding_variance() / (self.window.slope * STEPS) ** 2

    def farthest(self) -> Fraction:
        """That of the last place."""
        law = self.window
        return (law.reports - 1 - law.mean(Fraction(0))) / (law.slope * law.steps)

    def describe(self) -> dict[str, object]:
        """With the window."""
        law = self.window
        return {**NumberOracle.describe(self), "steps": law.steps, "window": law.width}


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Hybrid(NumberOracle):
    """Reports by `Piecewise` or `Duchi`, at random: at any ε no worse than the better of them.

    Parameters: `lower` and `upper` are the declared bounds; `epsilon` is what one report costs.
    """

    kind: ClassVar[str] = "hybrid"

    @property
    def window(self) -> WindowLaw:
        """How reports of the first kind spread."""
        return piecewise_law(self.epsilon)

    @property
    def share(self) -> Fraction:
        """The chance of a report of the first kind: 0, or 1 − 1/√r where that is better."""
        return best_share(self.epsilon)

    def most_codes(self) -> int:
        """A place or a coin."""
        return self.window.reports + 2

    def pair_curve(self) -> Privacy:
        """Of the two bounds; which kind it is does not depend on the number."""
        law, share = self.window, self.share
        inside = share * min(law.width, law.steps) * law.outside
        p, q = ((1 - share) * chance for chance in k_ary_chances(self.ratio, 2))
        truthful, lied = inside * self.ratio + p, inside + q
        return between((truthful, lied, 1 - truthful - lied), (lied, truthful, 1 - truthful - lied))

    def blanket_atoms(self) -> LikelihoodAtoms:
        """Of both kinds."""
        return self._mix(self._near().blanket_atoms(), self._coin().blanket_atoms())

    def crowds(self) -> tuple[LikelihoodAtoms, ...]:
        """All others are at the lower bound, at the upper one, or in the middle."""
        ends = self.window.patterns((STEPS, 0))
        near = (
            atoms_under_second(ends, self.ratio),
            atoms_under_first(ends, self.ratio),
            *self._near().crowds(),
        )
        coin = (*self._coin().crowds(), fair_coin_atoms(self.ratio))
        return tuple(self._mix(*parts) for parts in zip(near, coin, strict=True))

    def _mix(self, near: LikelihoodAtoms, coin: LikelihoodAtoms) -> LikelihoodAtoms:
        parts = ((self.share, near), (1 - self.share, coin))
        return tuple((share * m, p, q) for share, atoms in parts if share for m, p, q in atoms)

    def randomise(self, places: Wholes, bits: BitSource) -> Wholes:
        """The kind first, then the report."""
        first = sample_bernoullis(Chance(self.share), places.size, bits)
        reports = np.empty(places.size, np.int64)
        reports[first] = self.window.draw(round_at_random(places[first], bits), bits)
        reports[~first] = self.window.reports + self._coin().randomise(places[~first], bits)
        return reports

    def unbias(self, reports: Wholes) -> Floats:
        """As the kind says."""
        coins = reports - self.window.reports
        near = unbias_window(self.window, reports)
        return np.where(coins >= 0, self._coin().unbias(coins), near)

    def second_moment(self, x: Fraction) -> Fraction:
        """Of the mix."""
        return mixed_moment(self.epsilon, self.share, x)

    def rounding_variance(self) -> Fraction:
        """That of the window, as often as it is drawn from."""
        return self.share * self._near().rounding_variance()

    def interval(self, reports: Wholes, value: float, level: float) -> tuple[float, float]:
        """That of the coin where nothing else is drawn."""
        if self.share:
            return NumberOracle.interval(self, reports, value, level)
        return self._coin().interval(reports - self.window.reports, value, level)

    def farthest(self) -> Fraction:
        """The farther one, if it occurs."""
        coin = self._coin().farthest()
        near = self._near().farthest()
        return max(coin, near) if self.share else coin

    def describe(self) -> dict[str, object]:
        """With the window and the share of the first kind."""
        law, share = self.window, write_rational(self.share)
        sizes = {"steps": law.steps, "window": law.width, "share": share}
        return {**NumberOracle.describe(self), **sizes}

    def _coin(self) -> Duchi:
        return Duchi(self.lower, self.upper, epsilon=self.epsilon)

    def _near(self) -> Piecewise:
        return Piecewise(self.lower, self.upper, epsilon=self.epsilon)


def coin_patterns(ratio: Fraction) -> Patterns:
    """One of two answers: each has at least the chance of a lie."""
    lie = 1 / (1 + ratio)
    return {(1, 0): lie, (0, 1): lie}


def fair_coin_atoms(ratio: Fraction) -> LikelihoodAtoms:
    """The likelihoods of the two bounds, relative to those of the middle, whose coin is fair."""
    half, truthful, lied = Fraction(1, 2), 2 * ratio / (1 + ratio), 2 / (1 + ratio)
    return (half, truthful, lied), (half, lied, truthful)


@lru_cache(maxsize=256)
def best_share(epsilon: Fraction) -> Fraction:
    """The mix that has the smaller variance in the worst case."""
    law = piecewise_law(epsilon)

    def worst(share: Fraction) -> Fraction:
        ends = mixed_moment(epsilon, share, Fraction(0)) - Fraction(1, 4)
        return max(ends, mixed_moment(epsilon, share, HALF))

    return min((Fraction(0), 1 - Fraction(law.width, STEPS)), key=worst)


def mixed_moment(epsilon: Fraction, share: Fraction, x: Fraction) -> Fraction:
    """The mean square of (unbiased − 1/2) of a mix."""
    near = window_moment(piecewise_law(epsilon), x) if share else Fraction(0)
    return share * near + (1 - share) * (farthest_coin(ratio_below(epsilon)) - HALF) ** 2


def farthest_coin(ratio: Fraction) -> Fraction:
    """The unbiased number of Duchi's 1."""
    chances = k_ary_chances(ratio, 2)
    return (1 - chances.other) / chances.contrast


@lru_cache(maxsize=256)
def piecewise_law(epsilon: Fraction) -> WindowLaw:
    """The steps divided by √r are the width that is best in the worst case."""
    root = Fraction(floor_scaled(lambda: ball(epsilon / 2).exp(), RATIO_BITS), 1 << RATIO_BITS)
    return WindowLaw(STEPS, max(1, round(STEPS / root)), ratio_below(epsilon))


def read_bounds(lower: Number, upper: Number) -> tuple[float, float]:
    """Declared bounds as floats: finite, in order, and a finite distance apart."""
    try:
        low, high = float(lower), float(upper)
    except (TypeError, ValueError, OverflowError):
        raise refusal("lower and upper", (lower, upper), "two numbers") from None
    if not (low < high and np.isfinite(high - low)):
        hint = "They are declared, not read from the data."
        raise refusal("lower and upper", (lower, upper), "two finite numbers in order", hint)
    return low, high


def float_or_infinite(number: Fraction) -> float:
    """The float; of a number that none is as large as, infinity."""
    try:
        return float(number)
    except OverflowError:
        return inf


def place_numbers(numbers: Floats, lower: float, upper: float) -> Wholes:
    """Where numbers lie between the bounds, on the grid 0 … 2^48; beyond them, at the bound."""
    shares = (np.clip(numbers, lower, upper) - lower) / (upper - lower)
    return np.clip(np.rint(shares * FINE), 0, FINE).astype(np.int64)


def round_at_random(places: Wholes, bits: BitSource) -> Wholes:
    """One of the two steps next to each place; the mean is the place."""
    return (places + sample_belows(1 << MORE_BITS, places.size, bits)) >> MORE_BITS


def unbias_window(law: WindowLaw, reports: Wholes) -> Floats:
    """(j − A)/(B m)."""
    return (reports.astype(np.float64) - float(law.mean(Fraction(0)))) / float(
        law.slope * law.steps
    )


def window_moment(law: WindowLaw, x: Fraction) -> Fraction:
    """The mean square of (unbiased − 1/2), for a value on a step."""
    step, scale = x * law.steps, law.slope * law.steps
    centre = law.mean(Fraction(law.steps, 2))
    square = law.second_moment(step) - 2 * centre * law.mean(step) + centre**2
    return square / scale**2
