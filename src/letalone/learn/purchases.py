"""What a classifier can buy where it was not declared: the norm of rows, and the classes.

The norm is a power of √2, read off a histogram with geometric noise (bounds.py). Classes are the
labels that enough rows have: counts with geometric noise, and a threshold that a single row
passes with probability at most delta.

Theorem.  The norm is epsilon-DP; the list of classes is (epsilon, delta)-DP.
  Proven:   docs/explanation/proofs/convex.md, section 9
  Tested:   tests/learn/test_linear.py: a label of one row by exact sums; labels of any kind;
            the norm found
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isfinite
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.exact.balls import Ball, ball, certain, fraction_above
from letalone.learn.classes import EXACT, Floats, is_text
from letalone.learn.column_bounds import Norm
from letalone.learn.sums import noisy_sums
from letalone.mechanisms import Geometric
from letalone.randomness.bits import BitSource

Label = str | int | float


@dataclass(frozen=True, slots=True)
class NormPurchase:
    """A norm that nearly all rows keep to: from a noisy histogram of norms."""

    epsilon: Fraction

    def choose(self, rows: Floats, bits: BitSource) -> Fraction:
        norm = Norm(None)
        noise = noisy_sums(norm.purchase, epsilon=self.epsilon, delta=0)
        return norm.known(rows, noise, bits)

    @property
    def words(self) -> str:
        return f"data_norm: bought, by a noisy histogram of norms, at ε = {float(self.epsilon):g}"


@dataclass(frozen=True, slots=True)
class ClassPurchase:
    """The labels that enough rows have."""

    epsilon: Fraction
    delta: Fraction

    @property
    def threshold(self) -> int:
        """The least noisy count that lists a class: of one row with probability at most delta."""

        # One row is listed if its noise is at least threshold − 1, which has the probability
        # a^(threshold − 1) / (1 + a), a = e^−epsilon.
        def least() -> Ball:
            alpha = (-ball(self.epsilon)).exp()
            return -(ball(self.delta) * (1 + alpha)).log() / ball(self.epsilon)

        return 1 + max(1, ceil(fraction_above(certain(least))))

    def choose(self, labels: NDArray[Any], bits: BitSource) -> tuple[Label, ...]:
        """The classes, numbers first, each kind in order."""
        counts = Counter(label for label in map(read_label, labels.tolist()) if label is not None)
        ordered = sorted(counts, key=lambda label: (isinstance(label, str), label))
        if not ordered:
            return ()
        noise = Geometric(epsilon=self.epsilon, sensitivity=1)
        noisy = noise.release(np.array([counts[label] for label in ordered], np.int64), bits=bits)
        pairs = zip(ordered, noisy.tolist(), strict=True)
        return tuple(label for label, count in pairs if count >= self.threshold)

    @property
    def words(self) -> str:
        return (
            f"classes: bought at ε = {float(self.epsilon):g}, δ = {float(self.delta):g}: labels of"
            f" about {self.threshold} rows or more"
        )


def read_label(cell: object) -> Label | None:
    """A label as text or a number; None for everything else."""
    try:
        if isinstance(cell, str):
            return str(cell) if is_text(cell) else None
        if not isinstance(cell, Real) or not isfinite(cell):
            return None
        number = cast("float", cell)
        if abs(number) >= EXACT:
            return None
        integer = int(number)
        return integer if integer == number else float(number)
    except Exception:  # a cell that cannot be read is no label
        return None


def as_classes(labels: tuple[Label, ...]) -> NDArray[Any]:
    """The classes as an array; of objects where text and numbers are mixed."""
    mixed = len({isinstance(label, str) for label in labels}) > 1
    return np.array(labels, dtype=cast("Any", object) if mixed else None)
