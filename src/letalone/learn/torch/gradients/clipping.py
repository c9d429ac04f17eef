"""How much of a unit's gradient counts: at most `longest` of it, whatever the unit is.

    Automatic()      divided by its norm + 0.01: there is nothing to tune (the default)
    Flat(1.0)        as it is up to this norm, then cut to it
    PerLayer(1.0)    each parameter cut by itself, all together to this norm

What is added up is shorter by MARGIN: that is more than what rounding adds.

  Proven:   docs/explanation/proofs/deep_learning.md, sections 2 and 3
  Tested:   tests/deep_learning/test_steps.py: one step's sensitivity by brute force

Bu, Wang, Zha, Karypis: Automatic clipping: differentially private deep learning made easier and
stronger (2023).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import torch
from torch import Tensor

from letalone.errors import ParameterError
from letalone.exact.typed import Constraint, Number

MARGIN = 0.975
STABLE = 0.01  # the share of short gradients that automatic clipping keeps short
LONGEST = Constraint(
    "a number from 0.001 to 1000",
    lambda x: Fraction(1, 1000) <= x <= 1000,
    "It is the norm to which a unit's gradient is cut; 1 is usual.",
    (0, -1, 1e-4, 1e4),
)


@dataclass(frozen=True, slots=True)
class Automatic:
    """Each unit's gradient divided by its norm + 0.01: none is longer than 1."""

    @property
    def longest(self) -> Fraction:
        return Fraction(1)

    @property
    def words(self) -> str:
        return "automatic clipping (each gradient divided by its norm + 0.01)"

    def weights(self, squared: Tensor) -> Tensor:
        """Parameters by units, from the squared norms of the same shape."""
        return _all(1 / (_norms(squared) + STABLE), squared)


@dataclass(frozen=True, slots=True)
class _ToNorm:
    """What cuts to a norm that is given."""

    norm: Number = 1

    @property
    def longest(self) -> Fraction:
        return LONGEST.typed("norm", self.norm)


@dataclass(frozen=True, slots=True)
class Flat(_ToNorm):
    """Each unit's whole gradient cut to a norm."""

    @property
    def words(self) -> str:
        return f"gradients clipped to {float(self.longest):g}"

    def weights(self, squared: Tensor) -> Tensor:
        """Parameters by units, from the squared norms of the same shape."""
        return _all((float(self.longest) / _norms(squared)).clamp(max=1), squared)


@dataclass(frozen=True, slots=True)
class PerLayer(_ToNorm):
    """Each parameter's gradient cut by itself, so that all together have at most this norm."""

    @property
    def words(self) -> str:
        return f"each parameter clipped by itself, {float(self.longest):g} together"

    def weights(self, squared: Tensor) -> Tensor:
        """Parameters by units, from the squared norms of the same shape."""
        share = float(self.longest) / sqrt(len(squared))
        return _sound((share / squared.sqrt()).clamp(max=1), squared)


Clip = Automatic | Flat | PerLayer


def read_clip(clip: object) -> Clip:
    """The rule that was given; a number is the norm of `Flat`."""
    if isinstance(clip, int | float | Fraction) and not isinstance(clip, bool):
        clip = Flat(clip)
    if not isinstance(clip, Automatic | Flat | PerLayer):
        raise ParameterError(
            f"clip is {type(clip).__name__}, but must be Automatic(), Flat(norm) or"
            " PerLayer(norm), all from letalone.learn.torch, or a number."
        )
    _ = clip.longest
    return clip


def _norms(squared: Tensor) -> Tensor:
    return squared.sum(0).sqrt()


def _all(each: Tensor, squared: Tensor) -> Tensor:
    return _sound(each.expand_as(squared), squared)


def _sound(weights: Tensor, squared: Tensor) -> Tensor:
    """Nothing of a unit with any odd number: its gradient has no norm."""
    is_sound = torch.isfinite(squared).all(0)
    return torch.where(is_sound, weights, 0) * MARGIN
