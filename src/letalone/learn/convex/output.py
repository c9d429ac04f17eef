"""Output perturbation: the minimum is found exactly enough, and noise added to it.

Theorem.  If every row's gradient has norm at most L, the minimum of the sum of losses and
(strength / 2) ||W||^2 moves by at most L / strength when a row is added or removed; the solver's
answer by 2 tolerance / strength more. Gaussian noise on it has the Gaussian mechanism's curve;
noise of density proportional to e^(-||b|| / scale) is epsilon-DP for epsilon = movement / scale.
  Proven:   docs/explanation/proofs/convex.md, section 7
  Tested:   tests/learn/test_output.py: the movement over neighbours by brute force; the auditor
  Assumed:  what minimum.py assumes

Chaudhuri, Monteleoni, Sarwate: Differentially private empirical risk minimization (2011).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np

from letalone.exact.balls import ball, certain, fraction_above
from letalone.learn.convex.losses import Codes
from letalone.learn.convex.methods import (
    ConvexSetting,
    ModelWeights,
    dyadic,
    strength_words,
    tolerance_of,
)
from letalone.learn.convex.minimum import Floats, Objective, minimum
from letalone.mechanisms.gaussian import Gaussian
from letalone.privacy import ADD_REMOVE, Privacy, PureDP
from letalone.privacy.bounds import six
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource
from letalone.randomness.real_noise import add_gaussians
from letalone.randomness.spherical import add_spherical

USUAL_ROWS = 10_000  # where no number of rows is declared, the strength is chosen for so many
USUAL_NORM = 16  # of weights
LEAST_STRENGTH = 0.001  # what Newton's equations need


@dataclass(frozen=True, slots=True)
class OutputMethod:
    """The plan: the strength, and the noise of the weights."""

    setting: ConvexSetting
    strength: Fraction
    tolerance: Fraction
    noise: Fraction
    privacy: Privacy

    @property
    def words(self) -> tuple[str, ...]:
        law = "Gaussian" if self.setting.delta else "spherical"
        return (
            f"output perturbation: {law} noise of {six(self.noise)} on each weight,"
            f" {strength_words(self.strength)}",
        )

    def described(self) -> Json:
        numbers = {"strength": str(self.strength), "noise": str(self.noise)}
        return {"method": "output", **self.setting.described(), **numbers}

    def weights(self, rows: Floats, codes: Codes, bits: BitSource) -> ModelWeights:
        reach = sqrt(self.setting.reach_squared) * (1 + 1e-9)
        nothing = np.zeros(self.setting.shape)
        objective = Objective(self.setting.loss, rows, codes, float(self.strength), nothing, reach)
        best = minimum(objective, float(self.tolerance)).weights
        add = add_gaussians if self.setting.delta else add_spherical
        return ModelWeights(add(best, self.noise, bits), self.error)

    @property
    def error(self) -> float:
        """The standard deviation of each weight's noise: of a length of d + 1 scales squared."""
        spread = 1.0 if self.setting.delta else sqrt(self.setting.size + 1)
        return float(self.noise) * spread


def output_method(setting: ConvexSetting) -> OutputMethod:
    """The plan for these facts."""
    unit = _unit_noise(setting)
    strength = dyadic(setting.strength or _usual_strength(setting, float(unit)))
    tolerance = tolerance_of(setting, None)
    noise = dyadic(unit * _largest_movement(setting, strength, tolerance))
    return OutputMethod(setting, strength, tolerance, noise, _privacy(setting, unit))


def _largest_movement(setting: ConvexSetting, strength: Fraction, tolerance: Fraction) -> Fraction:
    """How far the solver's answer moves at most with a row."""
    lipschitz = fraction_above(certain(lambda: ball(setting.lipschitz_squared).sqrt()))
    return (lipschitz + 2 * tolerance) / strength


def _unit_noise(setting: ConvexSetting) -> Fraction:
    """The noise for a movement of 1."""
    if not setting.delta:
        return 1 / setting.epsilon
    return Gaussian(epsilon=setting.epsilon, delta=setting.delta, sensitivity=1).sigma


def _privacy(setting: ConvexSetting, unit: Fraction) -> Privacy:
    if not setting.delta:
        return PureDP(setting.epsilon, neighbours=ADD_REMOVE)
    return Gaussian(sigma=unit, sensitivity=1).privacy.with_neighbours(ADD_REMOVE)


def _usual_strength(setting: ConvexSetting, unit: float) -> float:
    """Where the noise's expected cost and that of shrinking usual weights are least together."""
    rows = setting.rows or USUAL_ROWS
    spread = unit**2 * (1 if setting.delta else setting.size + 1)
    curved = rows * float(setting.loss.bend * setting.reach_squared)
    best = (2 * curved * float(setting.lipschitz_squared) * spread / USUAL_NORM**2) ** (1 / 3)
    return max(LEAST_STRENGTH, best)
