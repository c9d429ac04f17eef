"""What is still to be explained of each row, in whole numbers, from whole scores.

Scores are whole numbers of steps and residuals are looked up in tables or divided as whole
numbers: nothing about a row is computed in floats.

Theorem.  A row's residual is a function of that row and of published numbers alone, and its L2
norm is at most `sensitivity`, in steps of 2^-17.
  Proven:   docs/explanation/proofs/boosting.md, section 2
  Tested:   tests/learn/test_boosting.py: over all scores, against the derivative of the loss
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from letalone.learn.features.classes import Classes, codes_of, numbers_of
from letalone.learn.noisy_sums.sums import root_above
from letalone.learn.noisy_sums.wholes import BITS, Wholes, within_bounds

UNIT = 2**BITS
LOGIT = 2**10  # steps of a score in one unit of log-odds
FARTHEST = 16 * LOGIT  # scores beyond count as this
WEIGHT = 2**30
SCORES = np.arange(-FARTHEST, FARTHEST + 1) / LOGIT
LIKELY = np.clip(np.floor(UNIT / (1 + np.exp(-SCORES))), 0, UNIT).astype(np.int64)
BEHIND = np.arange(2 * FARTHEST + 1) / LOGIT
WEIGHTS = np.clip(np.floor(WEIGHT * np.exp(-BEHIND)), 0, WEIGHT).astype(np.int64)


class Residuals(Protocol):
    """The loss that trees are grown for."""

    @property
    def outputs(self) -> int: ...  # how many scores a row has

    @property
    def sensitivity(self) -> Fraction: ...  # the largest norm of a row's residuals, in steps

    @property
    def curvature(self) -> float: ...  # at least the second derivative of the loss

    @property
    def steps(self) -> int: ...  # the steps in a score of 1

    def goals(self, labels: NDArray[Any]) -> Wholes:
        """The labels as whole numbers; negative for rows that are dropped."""
        ...

    def of(self, scores: Wholes, goals: Wholes) -> Wholes:
        """The residuals of rows with these scores."""
        ...


@dataclass(frozen=True, slots=True)
class TwoClasses:
    """Log-odds of the second of two classes."""

    classes: Classes
    outputs: int = 1
    sensitivity: Fraction = Fraction(UNIT)
    curvature: float = 0.25
    steps: int = LOGIT

    def goals(self, labels: NDArray[Any]) -> Wholes:
        return codes_of(labels, self.classes)

    def of(self, scores: Wholes, goals: Wholes) -> Wholes:
        places = np.clip(scores, -FARTHEST, FARTHEST) + FARTHEST
        return goals[:, np.newaxis] * UNIT - LIKELY[places]


@dataclass(frozen=True, slots=True)
class ManyClasses:
    """A score for each of several classes."""

    classes: Classes
    sensitivity: Fraction = UNIT * root_above(2)
    curvature: float = 0.5
    steps: int = LOGIT

    @property
    def outputs(self) -> int:
        return len(self.classes)

    def goals(self, labels: NDArray[Any]) -> Wholes:
        return codes_of(labels, self.classes)

    def of(self, scores: Wholes, goals: Wholes) -> Wholes:
        """For each class, whether it is the label, less its probability rounded down."""
        behind = np.minimum(scores.max(axis=1, keepdims=True) - scores, 2 * FARTHEST)
        weights = WEIGHTS[behind]
        likely = weights * UNIT // weights.sum(axis=1, keepdims=True)
        is_label = goals[:, np.newaxis] == np.arange(self.outputs)
        return is_label * UNIT - likely


@dataclass(frozen=True, slots=True)
class NumberResiduals:
    """A number between bounds, as its place between −1 and 1."""

    lower: float
    upper: float
    outputs: int = 1
    sensitivity: Fraction = Fraction(UNIT)
    curvature: float = 1.0
    steps: int = UNIT

    def goals(self, labels: NDArray[Any]) -> Wholes:
        """Steps above the lower bound; no row is dropped."""
        numbers = numbers_of(labels)[:, np.newaxis]
        ends = np.array([self.lower]), np.array([self.upper])
        return within_bounds(numbers, *ends)[:, 0].astype(np.int64) + UNIT

    def of(self, scores: Wholes, goals: Wholes) -> Wholes:
        return np.clip(goals[:, np.newaxis] - UNIT - scores, -UNIT, UNIT)
