"""What the mechanisms that choose one candidate share: all but the law of the choice."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from letalone.exact.typed import EPSILON, Number, read_flag
from letalone.mechanisms.parameters import (
    SensitivityLike,
    check_factor,
    monotone_neighbours,
    read_sensitivity,
    shown,
)
from letalone.mechanisms.selection import (
    Utilities,
    factor_of,
    read_choices,
    read_utilities,
    shortfall_of,
)
from letalone.privacy import Neighbours, Privacy
from letalone.privacy.bounds import shown_above
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.choice import Scores

T = TypeVar("T")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Chooser(ABC):
    """A private choice whose scores are utilities times an exact factor."""

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    neighbours: Neighbours | None

    def __init__(
        self, *, epsilon: Number, sensitivity: SensitivityLike, monotone: bool = False
    ) -> None:
        size, neighbours = read_sensitivity(sensitivity, "l1")
        object.__setattr__(self, "epsilon", EPSILON.typed("epsilon", epsilon))
        object.__setattr__(self, "sensitivity", size)
        check_factor(self.epsilon, size)
        object.__setattr__(self, "monotone", read_flag("monotone", monotone))
        object.__setattr__(self, "neighbours", monotone_neighbours(neighbours, monotone=monotone))

    @property
    def factor(self) -> Fraction:
        """What a utility is multiplied with to give its score."""
        return factor_of(self.epsilon, self.sensitivity, monotone=self.monotone)

    @property
    @abstractmethod
    def privacy(self) -> Privacy:
        """What a choice reveals."""

    @abstractmethod
    def _draw(self, scores: Scores, bits: BitSource) -> int:
        """The law of the choice."""

    def choose(
        self, candidates: Sequence[T], utilities: Utilities, *, bits: BitSource = SYSTEM
    ) -> T:
        """One of the candidates; `utilities` are aligned with them, or a function of one."""
        listed, floats = read_choices(candidates, utilities)
        return listed[self._draw(Scores(floats, self.factor), bits)]

    def choose_index(self, utilities: object, *, bits: BitSource = SYSTEM) -> int:
        """The place of the chosen utility."""
        return self._draw(Scores(read_utilities(utilities), self.factor), bits)

    def shortfall(self, options: int, confidence: Number = 0.95) -> float:
        """The choice is at most this much worse than the best, at least this often."""
        return shortfall_of(self.factor, options, confidence)

    def __repr__(self) -> str:
        name = type(self).__name__
        return (
            f"{name}(ε = {shown(self.epsilon)}, sensitivity {shown(self.sensitivity)},"
            f" at most {shown_above(self.shortfall(10))} below the best of 10 at 95 %)"
        )
