"""What all methods of convex learning share: the public facts, and what a method gives back.

Rows are in units of the declared norm: each has norm at most 1, and a constant feature of the
size `intercept` beside it, so at most R with R^2 = 1 + intercept^2. So nothing but the scale of
the published coefficients depends on the declared norm.

  Tested:   tests/learn/test_linear.py: no plan depends on data
"""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import NamedTuple, Protocol

import numpy as np

from letalone.learn.convex.losses import Codes, Loss
from letalone.learn.convex.minimum import Floats, rounding_error
from letalone.learn.plan import PrivatePlan
from letalone.privacy.bounds import six
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource
from letalone.randomness.real_noise import grid_of

USUAL_ROWS = 2**22  # roundings are allowed for so many rows, or for as many as are declared
USUAL_SIZE = 64.0  # and for weights of this norm; larger ones take longer
ALLOWANCE = 4  # times that


class ModelWeights(NamedTuple):
    """Published weights, outputs × features, and the standard error that noise gave each."""

    values: Floats
    error: float | None


class ConvexMethod(PrivatePlan, Protocol):
    """A way to weights that are private, planned from public facts alone."""

    def weights(self, rows: Floats, codes: Codes, bits: BitSource) -> ModelWeights:
        """The weights; rows have norm at most R."""
        ...


@dataclass(frozen=True, slots=True)
class ConvexSetting:
    """The public facts that a method is planned from."""

    loss: Loss
    features: int
    intercept: Fraction
    epsilon: Fraction
    delta: Fraction
    rows: int | None = None
    strength: Fraction | None = None

    @property
    def width(self) -> int:
        """How many features a row has, with the constant one."""
        return self.features + (self.intercept > 0)

    @property
    def shape(self) -> tuple[int, int]:
        return self.loss.outputs, self.width

    @property
    def size(self) -> int:
        return self.loss.outputs * self.width

    @property
    def reach_squared(self) -> Fraction:
        """R²."""
        return 1 + self.intercept**2

    @property
    def lipschitz_squared(self) -> Fraction:
        """The square of the largest norm of a row's gradient."""
        return self.reach_squared * self.loss.reach_squared

    def with_constant(self, rows: Floats) -> Floats:
        """The rows with the constant feature beside them, where there is one."""
        constant = np.full((len(rows), 1), float(self.intercept))
        return np.hstack([rows, constant]) if self.intercept else rows

    def described(self) -> Json:
        return {
            "loss": repr(self.loss),
            "features": str(self.features),
            "intercept": str(self.intercept),
            "rows": str(self.rows),
        }


def tolerance_of(setting: ConvexSetting, noise: Fraction | None) -> Fraction:
    """How short a gradient must be: what the roundings of so many rows, and of noise, allow."""
    rows = max(setting.rows or 0, USUAL_ROWS)
    reach = sqrt(setting.reach_squared)
    floats = rounding_error(setting.loss, rows, setting.width, reach, USUAL_SIZE)
    rounded = 0.0 if noise is None else tilt_error(setting, noise)
    return Fraction(ALLOWANCE * floats + 2 * rounded)


def tilt_error(setting: ConvexSetting, noise: Fraction) -> float:
    """How far noise on its grid may be from the ideal noise, as a norm."""
    return sqrt(setting.size) * float(grid_of(noise))


def strength_words(strength: Fraction) -> str:
    """The strongly convex term, for people."""
    return f"regularisation {six(strength)} in units of the norm"


def dyadic(value: Fraction | float) -> Fraction:
    """A double near the value, above it."""
    return Fraction(float(Fraction(float(value)) * (1 + Fraction(1, 2**50))))
