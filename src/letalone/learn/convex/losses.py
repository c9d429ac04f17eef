"""Convex losses of linear models, with the constants that privacy rests on.

A row is (x, y) with a score u = w·x for each output. A loss gives its slopes, the derivatives in
the scores, and its curvature, the second derivatives.

Margin(width h, offset o): h ln(1 + e^((o - y u) / h)) for y = -1 or 1. Logistic regression is
h = 1, o = 0, or shifted with o = 2; with o = 1 and a small h it is the hinge loss
max(0, 1 - y u), smoothed: never further from it than h ln 2, and as smooth as one likes.
Softmax(K): ln(sum of e^u_k) - u_y.

Theorem.  Let ||x|| <= R.  (1) The gradients of a row over all w lie in the convex hull of 0 and
of `vertices` vectors that depend on the row alone, of norm at most sqrt(`reach_squared`) R.
(2) With `curvature` c, its privacy loss under objective perturbation with a strongly convex term
lambda is at most max(floor, shift + Z_1, ...) for floor = c `floor_share` and shift = c
`shift_share`, c = `curvature` R^2 / lambda.
  Proven:   docs/explanation/proofs/convex.md, sections 1 and 3
  Tested:   tests/learn/test_losses.py: by brute force over rows and weights
  Assumed:  numpy's exp errs by at most 8 units in the last place

A loss for regression whose gradients are bounded: squares for small residuals, linear for large.

    h (√(1 + (r/h)²) − 1)  for the residual r = u − y,   slope s = (r/h)/√(1 + (r/h)²)

Targets are codes: whole numbers of steps, 2^17 of them from the middle of the bounds to an end.

Theorem.  The gradient s·x of a row lies between −x and x: two vertices. The curvature
(1 − s²)^(3/2)/h is at most c (1 − |s|) with c = 3√3/(4h) < 1.3/h, so the privacy loss under
objective perturbation is at most max(c R²/λ, Z_1, Z_2).
  Proven:   docs/explanation/proofs/statistics_learners.md, section 7
  Tested:   tests/learn/test_robust_lines.py: over all slopes; the derivatives; the roundings
  Assumed:  numpy's hypot errs by at most 4 units in the last place
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from letalone.exact.balls import Ball, ball
from letalone.learn.noisy_sums.wholes import BITS, Floats

Codes = NDArray[np.int64]


class Loss(Protocol):
    """A convex, twice differentiable function of scores and the class of a row."""

    @property
    def outputs(self) -> int: ...  # how many scores a row has

    @property
    def vertices(self) -> int: ...  # how many vectors span a row's gradients, beside 0

    @property
    def reach_squared(self) -> Fraction: ...  # the largest square of the norm of the slopes

    @property
    def curvature(self) -> Fraction:
        """What R²/λ is multiplied by to bound the change of the log-determinant."""
        ...

    @property
    def floor_share(self) -> Fraction: ...  # the floor of the loss, in units of curvature · R²/λ

    @property
    def shift_share(self) -> Fraction: ...  # the shift of the loss, in the same units

    @property
    def bend(self) -> Fraction:
        """The largest eigenvalue of the second derivatives in the scores."""
        ...

    def slopes(self, scores: Floats, codes: Codes) -> Floats:
        """The derivative in each score, row by row."""
        ...

    def curved(self, scores: Floats, codes: Codes) -> Floats:
        """The matrix of second derivatives in the scores, row by row."""
        ...

    def roundings(self, size: float) -> float:
        """The norm of the error of a row's slopes, in units of 2^-53, where scores are off by
        `size` such units."""
        ...

    def careful_slopes(self, scores: list[Ball], code: int) -> list[Ball]:
        """The slopes of one row in balls."""
        ...


@dataclass(frozen=True, slots=True)
class Margin:
    """The loss of a margin y·u: a hinge whose corner is rounded over a width; both are doubles."""

    width: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    outputs = 1
    vertices = 1
    reach_squared = Fraction(1)
    floor_share = Fraction(1)
    shift_share = Fraction(0)

    @property
    def words(self) -> tuple[str, ...]:
        if self.width != 1 or self.offset == 0:
            return ()
        return (
            f"loss: logistic, shifted by {self.offset}: coefficients are scores, not log odds"
            " (loss='logistic' gives those)",
        )

    @property
    def curvature(self) -> Fraction:
        """p(1 − p)/h is below p/h and (1 − p)/h."""
        return 1 / self.width

    @property
    def bend(self) -> Fraction:
        """p(1 − p)/h is at most 1/(4h)."""
        return 1 / (4 * self.width)

    def slopes(self, scores: Floats, codes: Codes) -> Floats:
        """−y p for p = 1/(1 + e^−t)."""
        return (-_signs(codes) * self._probable(scores, codes))[:, None]

    def curved(self, scores: Floats, codes: Codes) -> Floats:
        """p(1 − p)/h."""
        p = self._probable(scores, codes)
        return (p * (1 - p) / float(self.width))[:, None, None]

    def log_slopes(self, scores: Floats) -> Floats:
        """ln p at a margin of −u. Where a loss is least on average, classes are as probable as
        these are large: P[y] p(y u) = P[−y] p(−y u)."""
        return -np.logaddexp(0.0, -(float(self.offset) + scores) / float(self.width))

    def roundings(self, size: float) -> float:
        """t is off by the score's error and roundings, over h; p by a quarter and 16 units."""
        return (size + 3 * float(self.offset)) * float(self.bend) + 16

    def careful_slopes(self, scores: list[Ball], code: int) -> list[Ball]:
        sign = 2 * code - 1
        place = (ball(self.offset) - sign * scores[0]) / ball(self.width)
        return [-sign / (1 + (-place).exp())]

    def _places(self, scores: Floats, codes: Codes) -> Floats:
        return (float(self.offset) - _signs(codes) * scores[:, 0]) / float(self.width)

    def _probable(self, scores: Floats, codes: Codes) -> Floats:
        with np.errstate(over="ignore"):
            return 1 / (1 + np.exp(-self._places(scores, codes)))


@dataclass(frozen=True, slots=True)
class Softmax:
    """Multinomial logistic regression, one score a class."""

    outputs: int

    reach_squared = Fraction(2)
    curvature = Fraction(1)
    bend = Fraction(1, 2)

    @property
    def vertices(self) -> int:
        """e_k − e_y for each other class k."""
        return self.outputs - 1

    @property
    def floor_share(self) -> Fraction:
        return Fraction(self.outputs, self.outputs - 1)

    @property
    def shift_share(self) -> Fraction:
        return Fraction(self.outputs - 2, self.outputs - 1)

    def slopes(self, scores: Floats, codes: Codes) -> Floats:
        """p − e_y."""
        slopes = self._probable(scores)
        slopes[np.arange(len(codes)), codes] -= 1
        return slopes

    def curved(self, scores: Floats, codes: Codes) -> Floats:
        """diag(p) − p pᵀ."""
        del codes
        p = self._probable(scores)
        return p[:, :, None] * (np.eye(self.outputs) - p[:, None, :])

    def roundings(self, size: float) -> float:
        """The scores' error, that of their differences, of exp, the sum and the quotient."""
        return size + self.outputs + 40

    def careful_slopes(self, scores: list[Ball], code: int) -> list[Ball]:
        weights = [score.exp() for score in scores]
        total = sum(weights, ball(0))
        return [weight / total - int(k == code) for k, weight in enumerate(weights)]

    def _probable(self, scores: Floats) -> Floats:
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float64)


def _signs(codes: Codes) -> Floats:
    return (2 * codes - 1).astype(np.float64)


@dataclass(frozen=True, slots=True)
class PseudoHuber:
    """The loss of a residual, whose corner is rounded over a width that is a power of two."""

    width: Fraction = Fraction(1, 4)

    outputs = 1
    vertices = 2
    reach_squared = Fraction(1)
    floor_share = Fraction(1)
    shift_share = Fraction(0)

    @property
    def curvature(self) -> Fraction:
        """A little more than 3√3/4 = 1.29904 over the width."""
        return Fraction(13, 10) / self.width

    @property
    def bend(self) -> Fraction:
        """The curvature at a residual of 0."""
        return 1 / self.width

    def slopes(self, scores: Floats, codes: Codes) -> Floats:
        """Between −1 and 1."""
        places = self._places(scores, codes)
        return (places / np.hypot(1.0, places))[:, None]

    def curved(self, scores: Floats, codes: Codes) -> Floats:
        places = self._places(scores, codes)
        return (np.hypot(1.0, places) ** -3 / float(self.width))[:, None, None]

    def roundings(self, size: float) -> float:
        """The place is off by the score's error over the width, and by two roundings, which move
        the slope by less than one; the root and the quotient add five."""
        return size * float(self.bend) + 16

    def careful_slopes(self, scores: list[Ball], code: int) -> list[Ball]:
        place = (scores[0] - ball(Fraction(code, 2**BITS))) / ball(self.width)
        return [place / (1 + place * place).sqrt()]

    def _places(self, scores: Floats, codes: Codes) -> Floats:
        away = (scores[:, 0] - codes / 2.0**BITS) / float(self.width)
        return np.clip(away, -1e90, 1e90)
