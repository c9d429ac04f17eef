"""Gradient perturbation: every step sees the sum of gradients with Gaussian noise.

Rows and slopes are whole numbers, rounded towards zero, so that a row's gradient is exact and its
norm at most L; sums are exact, and the noise is ideal. Where scores need not be log odds, gradients
are clipped at four fifths of what they may be: few are longer, and all noise is a fifth less. A
planned number of full-batch steps, of which the last half is averaged. Only the noisy sums are
used, so all of that is post-processing.

The schedule follows from public facts alone. All steps together are as long as lets noise by
itself move a weight by reach / bend, the distance over which a slope goes from one end to the
other: fewer would leave signal, more would add noise, so that stopping early takes the place of
regularisation. A step is at most as long as stays stable at the largest curvature that rows
can have; momentum makes up for the rest.

Theorem.  T steps with noise of deviation sigma reveal what N(0, 1) against N(mu, 1) does, for
mu^2 = T L^2 / sigma^2, plus that of a noisy count of rows where it was not declared.
  Proven:   docs/explanation/proofs/convex.md, section 8
  Tested:   tests/learn/test_gradient.py: one row's part of a sum by brute force; the auditor

Song, Chaudhuri, Sarwate: Stochastic gradient descent with differentially private updates (2013).
Bassily, Smith, Thakurta: Private empirical risk minimization: efficient algorithms and tight
error bounds (2014).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np

from letalone.errors import ParameterError
from letalone.exact.balls import ball, certain, fraction_above
from letalone.learn.convex.losses import Codes, Margin
from letalone.learn.convex.methods import ConvexSetting, ModelWeights, dyadic, strength_words
from letalone.learn.convex.minimum import Floats
from letalone.learn.noisy_sums.wholes import BITS, product, scores_of, without_zeros
from letalone.mechanisms.gaussian import Gaussian
from letalone.privacy import ADD_REMOVE, GaussianDP, Privacy
from letalone.privacy.bounds import six
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource

SLOPE_BITS = 14  # 2^31 steps a product, so that four million rows stay below 2^53
MARGIN = 1 - 2.0**-30  # more than the roundings of a row's slopes, and of its norm
CLIP = Fraction(4, 5)  # of the longest gradient, for losses with an offset
USUAL_STEPS, MORE_STEPS = 100, 300
CELLS = 2**22  # more steps are taken where no more cells than this are declared
PUSH = 1.5  # 2 is the largest pace that is stable at the largest curvature
HEAVIEST = 0.9  # momentum: the last ten steps or so
AVERAGED = Fraction(1, 2)  # of the steps, the last ones
COUNT_SHARE = Fraction(1, 20)  # of mu²: buys the number of rows


class Given(NamedTuple):
    """Rows in steps of 2^-17, their classes, and the largest slope that each may have."""

    cells: Floats
    codes: Codes
    longest: Floats


@dataclass(frozen=True, slots=True)
class GradientMethod:
    """The plan: how many steps, their noise, and the noise of the count of rows."""

    setting: ConvexSetting
    steps: int
    noise: Fraction
    count_noise: Fraction | None
    strength: Fraction
    privacy: Privacy

    @property
    def words(self) -> tuple[str, ...]:
        early = "regularised by stopping early"
        regularised = strength_words(self.strength) if self.strength else early
        how = (
            f"gradient perturbation: {self.steps} full-batch steps, Gaussian noise of"
            f" {six(self.noise)} on each sum of gradients{self._clipped()}, {regularised}"
        )
        if self.count_noise is None:
            return (how,)
        noise = six(self.count_noise)
        return how, f"the number of rows was found, with Gaussian noise of {noise}"

    def described(self) -> Json:
        numbers = {"strength": self.strength, "noise": self.noise, "count": self.count_noise}
        shown: Json = {name: str(number) for name, number in numbers.items()}
        schedule = {"steps": str(self.steps), "clip": str(_clip(self.setting))}
        return {"method": "gradient", **schedule, **self.setting.described(), **shown}

    def weights(self, rows: Floats, codes: Codes, bits: BitSource) -> ModelWeights:
        steps = np.trunc(rows * 2.0**BITS)
        given = Given(without_zeros(steps), codes, longest_slopes(steps, self.setting))
        pace, momentum = pace_of(self.setting, self.steps, self._count(len(codes), bits))
        strength, averaged = float(self.strength), round(self.steps * AVERAGED)
        at = move = total = np.zeros(self.setting.shape)
        for step in range(self.steps):
            slope = self._noisy_sum(at, given, bits) + strength * at
            move = momentum * move - pace / (1 + strength * pace) * slope
            at = at + move
            total = total + at if step >= self.steps - averaged else total
        return ModelWeights(total / averaged, None)

    def _clipped(self) -> str:
        share = _clip(self.setting)
        return "" if share == 1 else f" that are clipped at {six(share)} of the longest"

    def _count(self, rows: int, bits: BitSource) -> float:
        if self.count_noise is None:
            return float(self.setting.rows or 1)
        return max(1.0, Gaussian(sigma=self.count_noise, sensitivity=1).release(rows, bits=bits))

    def _noisy_sum(self, weights: Floats, given: Given, bits: BitSource) -> Floats:
        slopes = self.setting.loss.slopes(scores_of(given.cells, weights), given.codes)
        short = whole_slopes(slopes, given.longest)
        exact = product(short, given.cells, largest=2 ** (BITS + SLOPE_BITS + 1))
        steps = 2 ** (BITS + SLOPE_BITS)
        noise = Gaussian(sigma=self.noise * steps, sensitivity=1)
        return noise.release(exact, bits=bits) / steps


class Pace(NamedTuple):
    """How far a step goes along a sum of gradients, and the share of the last step it repeats."""

    length: float
    momentum: float


def pace_of(setting: ConvexSetting, steps: int, rows: float) -> Pace:
    """See the module: `bend` times R² times the rows is the largest curvature."""
    largest = rows * float(setting.loss.bend * setting.reach_squared)
    reach = float(_clip(setting)) * sqrt(setting.reach_squared)
    wanted = 1 / (float(setting.loss.bend * _unit(setting)) * reach * steps)
    stable = PUSH / (wanted * largest)
    momentum = min(HEAVIEST, max(0.0, (1 - stable) / (1 + stable)))
    return Pace(min(wanted * (1 - momentum), PUSH * (1 + momentum) / largest), momentum)


def loudness(setting: ConvexSetting) -> float:
    """The noise that one sum of gradients would need, as a share of the declared rows."""
    noise = float(_unit(setting)) * sqrt(setting.lipschitz_squared * setting.size)
    return noise / (setting.rows or 1)


def longest_slopes(whole: Floats, setting: ConvexSetting) -> Floats:
    """The largest slope that each row in steps of 2^-17 may have, where there is one output."""
    if _clip(setting) == 1:
        return np.full((1, 1), np.inf)
    # Sums of squares of whole numbers below 2^53 are exact in any order.
    norms = np.sqrt(np.einsum("ij,ij->i", whole, whole))[:, None] / 2.0**BITS
    return sqrt(clipped_squared(setting)) / np.maximum(norms, 2.0**-BITS)


def clipped_squared(setting: ConvexSetting) -> Fraction:
    """L², the square of the largest norm of a row's part of a sum."""
    return setting.lipschitz_squared * _clip(setting) ** 2


def whole_slopes(slopes: Floats, longest: Floats) -> Floats:
    """Slopes in steps of 2^-14, each row's norm no larger than it may be."""
    return np.trunc(np.clip(slopes, -longest, longest) * (MARGIN * 2.0**SLOPE_BITS))


def gradient_method(setting: ConvexSetting) -> GradientMethod:
    """The plan for these facts; Gaussian noise needs a delta."""
    if not setting.delta:
        raise ParameterError(
            "delta is 0, but method='gradient' adds Gaussian noise, which needs a delta, such as"
            " 1e-6. Give one, or choose method='objective' or 'output'."
        )
    unit, steps = _unit(setting), _steps(setting)
    share = Fraction(1) if setting.rows is not None else 1 - COUNT_SHARE
    lipschitz = fraction_above(certain(lambda: ball(clipped_squared(setting)).sqrt()))
    spread = fraction_above(certain(lambda: ball(steps / share).sqrt()))
    noise = dyadic(lipschitz * unit * spread)
    count = None if setting.rows is not None else dyadic(unit * 5)
    strength = Fraction(0) if setting.strength is None else dyadic(setting.strength)
    return GradientMethod(
        setting, steps, noise, count, strength, _privacy(setting, steps, noise, count)
    )


@lru_cache(maxsize=256)
def _unit(setting: ConvexSetting) -> Fraction:
    return Gaussian(epsilon=setting.epsilon, delta=setting.delta, sensitivity=1).sigma


def _privacy(
    setting: ConvexSetting, steps: int, noise: Fraction, count: Fraction | None
) -> Privacy:
    counted = 0 if count is None else 1 / count**2
    total = steps * clipped_squared(setting) / noise**2 + counted
    return GaussianDP(mu_squared=total, neighbours=ADD_REMOVE)


def _steps(setting: ConvexSetting) -> int:
    """More where rows are declared to be few enough."""
    is_small = setting.rows is not None and setting.rows * setting.size <= CELLS
    return MORE_STEPS if is_small else USUAL_STEPS


def _clip(setting: ConvexSetting) -> Fraction:
    """The share of the longest gradient: 1 where coefficients are log odds or a regression's."""
    is_score = isinstance(setting.loss, Margin) and setting.loss.offset > 0
    return CLIP if is_score else Fraction(1)
