"""Objective perturbation: a random linear term is added to what is minimised.

With Gaussian noise b of deviation sigma, the minimum of
    sum of losses + (strength / 2) ||W||^2 + <b, W>
has the curve of N(0, 1) against N(mu, 1), mu = gradient bound / sigma, from an epsilon of
`floor` on (`PerturbedObjective`): the random term costs no more than noise on one sum of
gradients would. With noise of density proportional to e^(-||b|| / scale), it is epsilon-DP for
epsilon = gradient bound / scale, if the strength is large enough. What the solver misses is
hidden by a little noise on the weights themselves.

  Proven:   docs/explanation/proofs/convex.md, sections 2 to 6
  Tested:   tests/learn/test_objective.py: exact curves in one dimension; the auditor
  Assumed:  what losses.py and minimum.py assume

Chaudhuri, Monteleoni, Sarwate: Differentially private empirical risk minimization (2011).
Kifer, Smith, Thakurta: Private convex empirical risk minimization and high-dimensional
regression (2012). Iyengar et al.: Towards practical differentially private convex optimization
(2019). Redberg, Koskela, Wang: Improving the privacy and practicality of objective perturbation
for differentially private linear learners (2023).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt

import numpy as np

from letalone.errors import ParameterError
from letalone.exact.balls import ball, certain, fraction_above
from letalone.learn.convex.losses import Codes
from letalone.learn.convex.methods import (
    ConvexSetting,
    ModelWeights,
    dyadic,
    strength_words,
    tilt_error,
    tolerance_of,
)
from letalone.learn.convex.minimum import Floats, Objective, minimum
from letalone.mechanisms.calibration import as_printed, smallest
from letalone.privacy import ADD_REMOVE, Privacy, PureDP
from letalone.privacy.bounds import at_most, six
from letalone.privacy.curve import Json
from letalone.privacy.curves.perturbed import PerturbedObjective
from letalone.randomness.bits import BitSource
from letalone.randomness.real_noise import add_gaussians
from letalone.randomness.spherical import add_spherical

FLOOR_SHARE = Fraction(9, 10)  # of epsilon: the rest is for the solver's error
SHIFT_SHARE = Fraction(1, 10)  # of epsilon, for losses whose curvature costs something
REST_SHARE = Fraction(1, 50)  # of mu, or of epsilon: what the solver's error costs
USUAL_NORM = 32  # of weights: below the strength that this gives, noise outweighs shrinkage


@dataclass(frozen=True, slots=True)
class ObjectiveMethod:
    """The plan: the strength, the noise of the linear term, and that of the weights."""

    setting: ConvexSetting
    strength: Fraction
    noise: Fraction
    tolerance: Fraction
    rest: Fraction
    privacy: Privacy

    @property
    def words(self) -> tuple[str, ...]:
        law = "Gaussian" if self.setting.delta else "spherical"
        return (
            f"objective perturbation: {law} noise of {six(self.noise)} on the linear term,"
            f" {strength_words(self.strength)}",
            f"the final weights have {law} noise of {six(self.rest)}, which hides the error of the"
            " solver",
        )

    def described(self) -> Json:
        numbers = {"strength": self.strength, "noise": self.noise, "rest": self.rest}
        shown: Json = {name: str(number) for name, number in numbers.items()}
        return {"method": "objective", **self.setting.described(), **shown}

    def weights(self, rows: Floats, codes: Codes, bits: BitSource) -> ModelWeights:
        """The verified minimum, with noise for what is missing to the true one."""
        tilt = self._noisy(np.zeros(self.setting.shape), self.noise, bits)
        reach = sqrt(self.setting.reach_squared)
        objective = Objective(
            self.setting.loss, rows, codes, float(self.strength), tilt, reach * (1 + 1e-9)
        )
        # What is left after the noise was put on its grid, less the rounding of this line.
        allowed = (float(self.tolerance) - tilt_error(self.setting, self.noise)) * (1 - 1e-9)
        best = minimum(objective, allowed)
        return ModelWeights(self._noisy(best.weights, self.rest, bits), None)

    def _noisy(self, values: Floats, scale: Fraction, bits: BitSource) -> Floats:
        add = add_gaussians if self.setting.delta else add_spherical
        return add(values, scale, bits)


def objective_method(setting: ConvexSetting) -> ObjectiveMethod:
    """The plan for these facts; ParameterError where the regularisation given is too weak."""
    return _gaussian(setting) if setting.delta else _pure(setting)


def least_strength(setting: ConvexSetting) -> Fraction:
    """The weakest regularisation that privacy allows: the floor and the shift fit into epsilon."""
    loss, epsilon = setting.loss, setting.epsilon
    each = loss.curvature * setting.reach_squared / epsilon
    if not setting.delta:
        return dyadic(each * loss.reach_squared**2 / (1 - REST_SHARE))
    return dyadic(each * max(loss.floor_share / FLOOR_SHARE, loss.shift_share / SHIFT_SHARE))


def _strength(setting: ConvexSetting, noise: float) -> Fraction:
    """The one given; else the least, or where noise is what matters, one that damps it."""
    least = least_strength(setting)
    if setting.strength is None:
        return max(least, dyadic(noise * sqrt(setting.size) / USUAL_NORM))
    if setting.strength < least:
        raise ParameterError(
            f"regularization is {six(setting.strength, up=False)} in units of data_norm², but must"
            f" be at least {six(least)} for objective perturbation at this epsilon. Leave it out,"
            " or choose method='gradient', which needs none."
        )
    return dyadic(setting.strength)


def _gaussian(setting: ConvexSetting) -> ObjectiveMethod:
    unit = _unit_noise(setting, least_strength(setting))
    lipschitz = fraction_above(certain(lambda: ball(setting.lipschitz_squared).sqrt()))
    strength = _strength(setting, float(unit * lipschitz))
    noise = dyadic(lipschitz * unit)
    tolerance = tolerance_of(setting, noise)
    rest = dyadic(2 * tolerance / strength * unit / REST_SHARE)
    return ObjectiveMethod(
        setting, strength, noise, tolerance, rest, _curve(setting, strength, unit)
    )


def _curve(setting: ConvexSetting, strength: Fraction, unit: Fraction) -> PerturbedObjective:
    """The curve for noise of `unit` gradient bounds."""
    each = setting.loss.curvature * setting.reach_squared / strength
    return PerturbedObjective(
        1 / unit**2,
        rest_squared=(REST_SHARE / unit) ** 2,
        vertices=setting.loss.vertices,
        shift=each * setting.loss.shift_share,
        floor=each * setting.loss.floor_share,
        start=as_printed(setting.epsilon),
        neighbours=ADD_REMOVE,
    )


@lru_cache(maxsize=256)
def _unit_noise(setting: ConvexSetting, strength: Fraction) -> Fraction:
    """The least noise, in gradient bounds, with which the curve keeps (epsilon, delta)."""
    at, delta = as_printed(setting.epsilon), setting.delta
    return smallest(lambda unit: at_most(_curve(setting, strength, unit).upper_delta(at), delta))


def _pure(setting: ConvexSetting) -> ObjectiveMethod:
    rest_epsilon = setting.epsilon * REST_SHARE
    lipschitz = fraction_above(certain(lambda: ball(setting.lipschitz_squared).sqrt()))
    noise = dyadic(lipschitz / (setting.epsilon - rest_epsilon))
    strength = _strength(setting, float(noise) * sqrt(setting.size))
    tolerance = tolerance_of(setting, noise)
    rest = dyadic(2 * tolerance / strength / rest_epsilon)
    privacy = PureDP(setting.epsilon, neighbours=ADD_REMOVE)
    return ObjectiveMethod(setting, strength, noise, tolerance, rest, privacy)
