"""Gradient perturbation: every step sees the sum of gradients with Gaussian noise.

Rows and slopes are whole numbers, rounded towards zero, so that a row's gradient is exact and its
norm at most L; sums are exact, and the noise is ideal. A planned number of full-batch steps, with
momentum; the last quarter is averaged. Only the noisy sums are used, so all of that is
post-processing.

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
from math import ceil, sqrt

import numpy as np

from letalone.errors import ParameterError
from letalone.exact.balls import ball, certain, fraction_above
from letalone.learn.losses import Codes
from letalone.learn.methods import Setting, Weights, dyadic, strength_words
from letalone.learn.minimum import Floats
from letalone.learn.wholes import BITS, product, scores_of
from letalone.mechanisms.gaussian import Gaussian
from letalone.privacy import ADD_REMOVE, GaussianDP, Privacy
from letalone.privacy.bounds import six
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource

SLOPE_BITS = 14  # 2^31 steps a product, so that four million rows stay below 2^53
MARGIN = 1 - 2.0**-30  # more than the roundings of a row's slopes
FEWEST, MOST = 10, 100  # steps
USUAL_ROWS = 10_000  # where none is declared, the number of steps is chosen for so many
USUAL_NORM = 16  # of weights
SEEN = 0.02  # a step's noise should be below this share of the rows
COUNT_SHARE = Fraction(1, 20)  # of mu²: buys the number of rows


@dataclass(frozen=True, slots=True)
class GradientMethod:
    """The plan: how many steps, their noise, and the noise of the count of rows."""

    setting: Setting
    steps: int
    noise: Fraction
    count_noise: Fraction | None
    strength: Fraction
    privacy: Privacy

    @property
    def words(self) -> tuple[str, ...]:
        """How it is done."""
        bought = () if self.count_noise is None else (_bought(self.count_noise),)
        return (
            f"gradient perturbation: {self.steps} full-batch steps, Gaussian noise of"
            f" {six(self.noise)} on each sum of gradients, {strength_words(self.strength)}",
            *bought,
        )

    def described(self) -> Json:
        """All that decides the law of the weights."""
        numbers = {"strength": self.strength, "noise": self.noise, "count": self.count_noise}
        shown: Json = {name: str(number) for name, number in numbers.items()}
        return {"method": "gradient", "steps": str(self.steps), **self.setting.described(), **shown}

    def weights(self, rows: Floats, codes: Codes, bits: BitSource) -> Weights:
        """The average of the last quarter of the steps."""
        whole = np.trunc(rows * 2.0**BITS)
        count = self._count(len(codes), bits)
        pace = 1 / (count * float(self.setting.loss.bend * self.setting.reach_squared) / 2)
        at = before = np.zeros(self.setting.shape)
        kept: list[Floats] = []
        for step in range(self.steps):
            ahead = at + step / (step + 3) * (at - before)
            slope = self._noisy_sum(ahead, whole, codes, bits)
            lean = (slope + float(self.strength) * ahead) / (1 + float(self.strength) * pace)
            before, at = at, ahead - pace * lean
            kept.append(at)
        return Weights(np.mean(kept[-max(1, self.steps // 4) :], axis=0), None)

    def _count(self, rows: int, bits: BitSource) -> float:
        if self.count_noise is None:
            return float(self.setting.rows or 1)
        return max(1.0, Gaussian(sigma=self.count_noise, sensitivity=1).release(rows, bits=bits))

    def _noisy_sum(self, weights: Floats, whole: Floats, codes: Codes, bits: BitSource) -> Floats:
        slopes = whole_slopes(self.setting.loss.slopes(scores_of(whole, weights), codes))
        exact = product(slopes, whole, largest=2 ** (BITS + SLOPE_BITS + 1))
        steps = 2 ** (BITS + SLOPE_BITS)
        noise = Gaussian(sigma=self.noise * steps, sensitivity=1)
        return noise.release(exact, bits=bits) / steps


def whole_slopes(slopes: Floats) -> Floats:
    """Slopes in steps of 2^-14, each row's norm no larger than it may be."""
    return np.trunc(slopes * (MARGIN * 2.0**SLOPE_BITS))


def gradient_method(setting: Setting) -> GradientMethod:
    """The plan for these facts; Gaussian noise needs a delta."""
    if not setting.delta:
        raise ParameterError(
            "delta is 0, but method='gradient' adds Gaussian noise, which needs a delta, such as"
            " 1e-6. Give one, or choose method='objective' or 'output'."
        )
    unit = Gaussian(epsilon=setting.epsilon, delta=setting.delta, sensitivity=1).sigma
    share = Fraction(1) if setting.rows is not None else 1 - COUNT_SHARE
    steps = _steps(setting, float(unit))
    lipschitz = fraction_above(certain(lambda: ball(setting.lipschitz_squared).sqrt()))
    spread = fraction_above(certain(lambda: ball(steps / share).sqrt()))
    noise = dyadic(lipschitz * unit * spread)
    count = None if setting.rows is not None else dyadic(unit * 5)
    usual = float(unit * lipschitz) * sqrt(setting.size) / USUAL_NORM
    strength = dyadic(usual) if setting.strength is None else dyadic(setting.strength)
    return GradientMethod(
        setting, steps, noise, count, strength, _privacy(setting, steps, noise, count)
    )


def _privacy(setting: Setting, steps: int, noise: Fraction, count: Fraction | None) -> Privacy:
    counted = 0 if count is None else 1 / count**2
    total = steps * setting.lipschitz_squared / noise**2 + counted
    return GaussianDP(mu_squared=total, neighbours=ADD_REMOVE)


def _steps(setting: Setting, unit: float) -> int:
    """As many as keep the noise of a step below a share of the rows."""
    rows = setting.rows or USUAL_ROWS
    loud = unit * sqrt(setting.lipschitz_squared * setting.size)
    return min(MOST, max(FEWEST, ceil((SEEN * rows / loud) ** 2)))


def _bought(noise: Fraction) -> str:
    return f"the number of rows was bought, with Gaussian noise of {six(noise)}"
