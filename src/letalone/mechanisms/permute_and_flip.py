"""Permute-and-flip: a private choice that is never worse than the exponential mechanism's.

If every candidate's utility u moves by at most `sensitivity` between neighbours, go through
the candidates in random order and take the first whose coin, with heads of probability
exp(epsilon · (u(o) − best) / (2 · sensitivity)), shows heads; for monotone utilities the 2
is not needed.

Theorem.  The choice is (epsilon, 0)-DP. Nothing sharper is claimed: the bounded range of
the exponential mechanism is not known for it. The utility of the choice falls short of the
best by more than (2·sensitivity/epsilon)(ln|O| + t) with probability at most e^(−t).
  Proven:   docs/explanation/proofs/permute_and_flip.md
  Tested:   exact laws of neighbouring utilities; the choices against the law
  Assumed:  the bits are uniform; an observer does not see how long it took

McKenna, Sheldon: Permute-and-flip: a new mechanism for differentially private
selection (2020).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from letalone.exact.typed import EPSILON, Number, read_flag
from letalone.mechanisms.parameters import (
    SensitivityLike,
    about,
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
from letalone.privacy import Neighbours, Privacy, PureDP
from letalone.privacy.bounds import shown_above
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.choice import Scores, permute_and_flip

T = TypeVar("T")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PermuteAndFlip:
    """Chooses the first candidate, in random order, whose coin shows heads.

    Parameters: `epsilon` is what a choice costs. `sensitivity` is the most that one unit can
    move the utility of any one candidate. `monotone=True` says that adding a unit can only
    raise utilities (counts): half the noise, for add/remove neighbours only.
    """

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
        """What a utility is multiplied with in the exponent of its coin."""
        return factor_of(self.epsilon, self.sensitivity, monotone=self.monotone)

    @property
    def privacy(self) -> Privacy:
        """What a choice reveals."""
        return about(PureDP(self.epsilon), self.neighbours)

    def choose(
        self, candidates: Sequence[T], utilities: Utilities, *, bits: BitSource = SYSTEM
    ) -> T:
        """One of the candidates; `utilities` are aligned with them, or a function of one."""
        listed, floats = read_choices(candidates, utilities)
        return listed[permute_and_flip(Scores(floats, self.factor), bits)]

    def choose_index(self, utilities: object, *, bits: BitSource = SYSTEM) -> int:
        """The place of the chosen utility."""
        return permute_and_flip(Scores(read_utilities(utilities), self.factor), bits)

    def shortfall(self, options: int, confidence: Number = 0.95) -> float:
        """The choice is at most this much worse than the best, at least this often."""
        return shortfall_of(self.factor, options, confidence)

    def __repr__(self) -> str:
        return (
            f"PermuteAndFlip(ε = {shown(self.epsilon)}, sensitivity {shown(self.sensitivity)},"
            f" at most {shown_above(self.shortfall(10))} below the best of 10 at 95 %)"
        )
