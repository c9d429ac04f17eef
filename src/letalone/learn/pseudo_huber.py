"""A loss for regression whose gradients are bounded: squares for small residuals, linear for large.

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

import numpy as np
from numpy.typing import NDArray

from letalone.exact.balls import Ball, ball
from letalone.learn.losses import Codes
from letalone.learn.wholes import BITS

Floats = NDArray[np.float64]


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

    def value(self, scores: Floats, codes: Codes) -> Floats:
        """The loss itself, row by row."""
        return float(self.width) * (np.hypot(1.0, self._places(scores, codes)) - 1)

    def slopes(self, scores: Floats, codes: Codes) -> Floats:
        """Between −1 and 1."""
        places = self._places(scores, codes)
        return (places / np.hypot(1.0, places))[:, None]

    def curved(self, scores: Floats, codes: Codes) -> Floats:
        """The second derivative."""
        places = self._places(scores, codes)
        return (np.hypot(1.0, places) ** -3 / float(self.width))[:, None, None]

    def roundings(self, size: float) -> float:
        """The place is off by the score's error over the width, and by two roundings, which move
        the slope by less than one; the root and the quotient add five."""
        return size * float(self.bend) + 16

    def careful_slopes(self, scores: list[Ball], code: int) -> list[Ball]:
        """The slope of one row in balls."""
        place = (scores[0] - ball(Fraction(code, 2**BITS))) / ball(self.width)
        return [place / (1 + place * place).sqrt()]

    def _places(self, scores: Floats, codes: Codes) -> Floats:
        away = (scores[:, 0] - codes / 2.0**BITS) / float(self.width)
        return np.clip(away, -1e90, 1e90)
