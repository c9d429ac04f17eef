"""A part of an answer: what to measure, and how answers with intervals follow from it.

A vector part releases whole numbers with noise on each; a choice part pays one ε for choices. The
split of ε evens out the errors to expect (`weight`), as shares of the number of rows.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from letalone.engines.core.measures import Measure
from letalone.errors import ParameterError
from letalone.privacy import Privacy
from letalone.randomness.bits import BitSource
from letalone.tables.columns import Floats, NoisyColumn, Wholes
from letalone.tables.noise import Noise
from letalone.tables.sensitivity import Contribution, Moved

ROOT_TWO = 2**0.5  # the standard deviation of Laplace noise of scale 1


@dataclass(frozen=True, slots=True)
class Part(ABC):
    """What answers one aggregate, or several that share noise, for each key."""

    names: tuple[str, ...]
    unit: Contribution

    @property
    @abstractmethod
    def measures(self) -> tuple[Measure, ...]:
        """What an engine must measure."""

    @property
    @abstractmethod
    def weight(self) -> float:
        """The error to expect at ε = 1, in rows; of noise its standard deviation."""


class VectorPart(Part):
    """A vector of whole numbers for each key, and what is read off it with noise."""

    @property
    def lattice(self) -> int:
        """What a row counts in these numbers, where they are numbers of rows; else 1."""
        return self.unit.lattice

    @property
    def weight(self) -> float:
        return ROOT_TWO * self.moved.l1 / self.lattice

    @property
    @abstractmethod
    def moved(self) -> Moved:
        """How far one unit moves the vector of all groups."""

    @abstractmethod
    def vector(self, exact: list[Wholes]) -> Wholes:
        """The numbers to release, a row for each key."""

    @abstractmethod
    def answers(self, noisy: Floats, noise: Noise, confidence: float) -> dict[str, NoisyColumn]:
        """The answers with their intervals."""

    def error(self, name: str, noise: Noise, *, confidence: float, rows: int | None) -> float:
        """The half-width to expect, in the unit of the answer."""
        del name, rows
        return self.width(noise, confidence)

    def width(self, noise: Noise, confidence: float) -> float:
        """The half-width where it does not depend on the number of rows: one noise's."""
        return noise.width(confidence)


class ChoicePart(Part):
    """A choice for each key, paid with one epsilon."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The mechanism and the shares within the part."""

    @abstractmethod
    def privacy(self, epsilon: Fraction) -> Privacy:
        """What the choices of all groups reveal together."""

    @abstractmethod
    def answers(
        self, exact: list[Wholes], epsilon: Fraction, *, confidence: float, bits: BitSource
    ) -> dict[str, NoisyColumn]:
        """The choices, with their intervals."""

    @abstractmethod
    def check(self, epsilon: Fraction, *, confidence: float) -> None:
        """Refuses an ε for which the numbers of the choice would be too large."""

    @abstractmethod
    def error(self, epsilon: Fraction, *, confidence: float) -> float:
        """The error to expect, in rows."""


AnyPart = VectorPart | ChoicePart


def needs_rows(name: str) -> ParameterError:
    """Refuses to say an error that depends on private numbers."""
    return ParameterError(
        f"The error of {name!r} depends on how many rows a group has, which is private."
        " Give rows=, a public number or one from an earlier release."
    )


def as_share(weight: float) -> Fraction:
    """A weight with three digits, so that shares of ε are short rationals."""
    return Fraction(f"{weight:.3g}")
