"""Noise that is added to an exact value: what Laplace, Gaussian and their whole-number twins share.

A mechanism has a sensitivity, noise of one size, and the neighbours that the sensitivity was
computed for. It says which curve that gives, how it draws and how far its noise strays. Noise with
a scale costs sensitivity / scale, whatever delta is; noise with a sigma needs a delta.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from letalone.errors import ParameterError
from letalone.exact.balls import Ball, upper
from letalone.exact.typed import EPSILON, POSITIVE_DELTA, SCALE, Constraint, Number
from letalone.mechanisms import parameters
from letalone.mechanisms.parameters import about, check_range, exactly_one, fill, read_sensitivity
from letalone.privacy import Neighbours, Privacy
from letalone.privacy.bounds import shown_above, six

Target = tuple[Fraction, Fraction]

NOISE_DELTA = Constraint(
    "a number from 1e-300 up to, but not including, 1",
    lambda x: Fraction("1e-300") <= x < 1,
    "Gaussian noise cannot reach delta = 0: use Laplace or Geometric noise for that.",
    POSITIVE_DELTA.refused,
)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Additive(ABC):
    """Adds independent noise to every number of an answer that a unit moves by `sensitivity`."""

    sensitivity: Fraction | int
    neighbours: Neighbours | None

    @abstractmethod
    def _curve(self) -> Privacy:
        """What a release reveals, whatever the neighbours are."""

    @abstractmethod
    def _mean_size(self) -> Ball:
        """The mean absolute noise of one number."""

    @abstractmethod
    def error(self, confidence: Number = 0.95, *, size: int = 1) -> float:
        """All of `size` numbers stay within this of the truth, at least this often."""

    @property
    def privacy(self) -> Privacy:
        """What a release reveals: the whole curve."""
        return about(self._curve(), self.neighbours)

    @property
    def expected_error(self) -> float:
        """The mean absolute noise of one number, rounded up."""
        return upper(self._mean_size())

    def _describe(self, promise: str, noise: str) -> str:
        moves, error = self.sensitivity, self.error()
        return (
            f"{type(self).__name__}({promise}, sensitivity"
            f" {moves if isinstance(moves, int) else six(moves)}, {noise},"
            f" error {error if isinstance(error, int) else shown_above(error)} at 95 %)"
        )


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ScaleNoise(Additive):
    """Noise that is calibrated by `epsilon` or by `scale`: a release is (epsilon, 0)-DP."""

    _sensitivity_rule: ClassVar[Constraint]
    _noise_rule: ClassVar[Constraint]
    scale: Fraction

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        scale: Number | None = None,
        sensitivity: parameters.SensitivityLike,
    ) -> None:
        size, neighbours = read_sensitivity(sensitivity, "l1", self._sensitivity_rule)
        noise = _read_scale(size, epsilon=epsilon, scale=scale, rule=self._noise_rule)
        moves = int(size) if self._sensitivity_rule is parameters.WHOLE_SENSITIVITY else size
        fill(self, sensitivity=moves, scale=noise, neighbours=neighbours)

    @property
    def epsilon(self) -> Fraction:
        """What a release costs, exactly."""
        return self.sensitivity / self.scale

    def __repr__(self) -> str:
        return self._describe(f"ε = {six(self.epsilon)}", f"scale {six(self.scale)}")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SigmaNoise(Additive):
    """Noise that is calibrated by `epsilon` and `delta`, or by `sigma`."""

    sensitivity: Fraction
    sigma: Fraction
    target: Target | None

    @property
    def epsilon(self) -> Fraction | None:
        """The epsilon that was asked for; None where sigma was given."""
        return None if self.target is None else self.target[0]

    @property
    def delta(self) -> Fraction | None:
        """The delta that was asked for; None where sigma was given."""
        return None if self.target is None else self.target[1]

    def __repr__(self) -> str:
        """With the (epsilon, delta) asked for, or else the epsilon at one in a million."""
        if self.target is not None:
            promise = f"ε = {six(self.target[0])}, δ = {six(self.target[1])}"
        else:
            promise = f"ε = {six(Fraction(self._curve().epsilon(1e-6)))} at δ = 1e-6"
        return self._describe(promise, f"sigma {six(self.sigma)}")


def _read_scale(
    sensitivity: Fraction, *, epsilon: Number | None, scale: Number | None, rule: Constraint
) -> Fraction:
    """The scale that was typed, or the one that epsilon needs, if it can be computed with."""
    exactly_one({"epsilon": epsilon, "scale": scale})
    if scale is not None:
        return check_range("scale", SCALE.typed("scale", scale), rule)
    needed = sensitivity / EPSILON.typed("epsilon", epsilon)
    return check_range("scale (sensitivity / epsilon)", needed, rule)


def read_target(
    *, epsilon: Number | None, delta: Number | None, sigma: Number | None
) -> Target | None:
    """The (epsilon, delta) to calibrate for, or None where sigma was given."""
    exactly_one({"epsilon with delta": delta if epsilon is None else epsilon, "sigma": sigma})
    if sigma is not None:
        return None
    if epsilon is None or delta is None:
        missing, given = ("delta", "epsilon") if delta is None else ("epsilon", "delta")
        raise ParameterError(
            f"{missing} is missing: {given} alone does not fix the noise. Give epsilon and delta,"
            " such as epsilon=1, delta=1e-6, or sigma. Laplace and Geometric noise need no delta."
        )
    return EPSILON.typed("epsilon", epsilon), NOISE_DELTA.typed("delta", delta)
