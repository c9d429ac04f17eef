"""The plan of a linear regression by a convex method: output, objective or gradient.

What is bought, a norm or bounds of targets, costs a fifth of epsilon by geometric noise; the rest
is the method's, so the whole is (epsilon, delta)-DP by basic composition (P3).

  Proven:   docs/explanation/proofs/convex.md, and statistics_learners.md, section 7
  Tested:   tests/learn/test_robust_lines.py
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

import numpy as np

from letalone.errors import ParameterError
from letalone.learn.convex.classifier_plan import METHODS
from letalone.learn.convex.losses import PseudoHuber
from letalone.learn.convex.methods import ConvexMethod, ConvexSetting
from letalone.learn.convex.objective import least_strength
from letalone.learn.features.classes import numbers_of
from letalone.learn.features.column_bounds import PART, ColumnBounds, Norm
from letalone.learn.noisy_sums.sums import NoisySums
from letalone.learn.noisy_sums.wholes import BITS, Floats, within_bounds, within_norm
from letalone.learn.plan import stated_promise
from letalone.learn.training import Labels, Released
from letalone.privacy import Privacy
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource

AUTO = "auto"
LOSS = PseudoHuber()
CONSTANT = Fraction(1, 4)  # the size of the constant feature, in units of the norm


@dataclass(frozen=True, slots=True)
class RobustLine:
    """The plan: what is bought, and the method with the rest."""

    norm: Norm
    target: ColumnBounds
    stated: tuple[Fraction, Fraction]
    bought: NoisySums | None
    setting: ConvexSetting
    method: ConvexMethod

    @property
    def privacy(self) -> Privacy:
        """The method's curve; where something is bought, no more than the pair is claimed."""
        if self.bought is None:
            return self.method.privacy
        return stated_promise(*self.stated)

    @property
    def words(self) -> tuple[str, ...]:
        return *self.method.words, "loss: pseudo-Huber", self.norm.words, self.target.words

    def described(self) -> Json:
        bought = {} if self.bought is None else self.bought.described()
        return {
            "model": "robust line",
            **self.norm.described(),
            **self.target.described(),
            "method": self.method.described(),
            "bought": bought,
        }

    def fitted(self, rows: Floats, labels: Labels | None, bits: BitSource) -> Released:
        targets = numbers_of(cast("Labels", labels))[:, np.newaxis]
        noise = cast("NoisySums", self.bought)
        norm = self.norm.known(rows, noise, bits)
        lower, upper = self.target.known(targets, noise, bits)
        codes = within_bounds(targets, lower, upper)[:, 0].astype(np.int64)
        units = within_norm(rows, norm) / 2.0**BITS
        weights = self.method.weights(self.setting.with_constant(units), codes, bits)
        return self._in_units(weights.values[0], weights.error, float(norm), lower[0], upper[0])

    def _in_units(
        self, weights: Floats, error: float | None, norm: float, lower: float, upper: float
    ) -> Released:
        middle, half, width = lower / 2 + upper / 2, upper / 2 - lower / 2, self.setting.features
        size = float(self.setting.intercept)
        constant = float(weights[width]) * size if size else 0.0
        released: dict[str, object] = {
            "coef_": weights[:width] * half / norm,
            "intercept_": float(middle + half * constant),
        }
        if error is not None:
            released["coef_error_"] = np.full(width, error * half / norm)
            released["intercept_error_"] = error * half * size
        return released


def robust_line(
    name: str, *, norm: Norm, target: ColumnBounds, setting: ConvexSetting, strength: Fraction
) -> RobustLine:
    """The plan for these facts; `strength` is what squares of coefficients cost, 0 for a rule.

    The name "auto" stands for objective perturbation whose regularisation is raised where needed.
    """
    stated, purchases = (setting.epsilon, setting.delta), (*norm.purchase, *target.purchase)
    bought = None
    if purchases:
        paid = setting.epsilon / PART
        bought = NoisySums(paid, Fraction(0), purchases, gaussian=False)
        setting = replace(setting, epsilon=setting.epsilon - paid)
    given = _strength(norm, strength)
    if given is not None and name == AUTO:
        given = max(given, least_strength(setting))
    setting = replace(setting, strength=given)
    method = METHODS["objective" if name == AUTO else name](setting)
    return RobustLine(norm, target, stated, bought, setting, method)


def _strength(norm: Norm, strength: Fraction) -> Fraction | None:
    """Small residuals cost r²/2h, so that coefficients weigh against them as in a ridge."""
    if strength == 0:
        return None
    if norm.declared is None:
        raise ParameterError(
            "alpha is given, but what it means for this method depends on the norm of rows, which"
            " is found privately. Declare data_norm, or choose method='statistics'."
        )
    return strength / (LOSS.width * norm.declared**2)
