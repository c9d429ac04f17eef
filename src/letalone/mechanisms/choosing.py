"""A private choice among candidates: the exponential mechanism, and permute-and-flip.

A utility is a number for each candidate, higher meaning better. Between neighbours it
moves by at most `sensitivity` for every candidate. It is *monotone* if adding a unit can
only raise utilities and removing one only lower them (counts are): then half the noise
does, and the promise is for add/remove neighbours only. With
    factor = epsilon / (2 · sensitivity),   or twice that for monotone utilities,
  exponential        chooses o with probability proportional to exp(factor · u(o))
  permute-and-flip   goes through the candidates in random order and takes the first whose
                     coin, with heads of probability exp(factor · (u(o) − best)), shows heads

Theorem.  Both choices are (epsilon, 0)-DP. The loss of the exponential mechanism has a range
of at most epsilon, so its curve is `BoundedRange(epsilon)`; that is not known for
permute-and-flip, which is never worse otherwise. The utility of either choice falls short
of the best by more than (ln|O| + t) / factor with probability at most e^(−t).
  Proven:   docs/explanation/proofs/exponential.md, permute_and_flip.md
  Tested:   exact laws of neighbouring utilities; the choices against the law
  Assumed:  the bits are uniform; an observer does not see how long it took

Utilities are taken as the binary numbers that they are and multiplied with a rational;
ties in the random comparison are decided by more bits, so the law is exact.

McSherry, Talwar: Mechanism design via differential privacy (2007). Dong, Durfee, Rogers:
Optimal differential privacy composition for exponential mechanisms (2020). McKenna, Sheldon:
Permute-and-flip: a new mechanism for differentially private selection (2020).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError
from letalone.exact.balls import ball, certain, upper
from letalone.exact.typed import CONFIDENCE, COUNT, Number
from letalone.mechanisms.containers import count_of, public_list
from letalone.mechanisms.parameters import SensitivityLike, about, fill_choice
from letalone.mechanisms.values import Floats, read_float, read_floats
from letalone.privacy import BoundedRange, Neighbours, Privacy, PureDP
from letalone.privacy.bounds import shown_above, six
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.choice import Scores, choose, permute_and_flip

T = TypeVar("T")
Utilities = Sequence[float] | NDArray[Any] | Callable[[Any], float]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Chooser:
    """A private choice whose scores are utilities times an exact factor."""

    _curve: ClassVar[type[BoundedRange | PureDP]]
    _draw: ClassVar["staticmethod[[Scores, BitSource], int]"]
    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    neighbours: Neighbours | None

    def __init__(
        self, *, epsilon: Number, sensitivity: SensitivityLike, monotone: bool = False
    ) -> None:
        fill_choice(self, epsilon=epsilon, sensitivity=sensitivity, monotone=monotone)

    @property
    def factor(self) -> Fraction:
        """What a utility is multiplied with to give its score."""
        return factor_of(self.epsilon, self.sensitivity, monotone=self.monotone)

    @property
    def privacy(self) -> Privacy:
        """What a choice reveals."""
        return about(self._curve(self.epsilon), self.neighbours)

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
            f"{name}(ε = {six(self.epsilon)}, sensitivity {six(self.sensitivity)},"
            f" at most {shown_above(self.shortfall(10))} below the best of 10 at 95 %)"
        )


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Exponential(Chooser):
    """Chooses a candidate with probability ∝ e^(factor · utility).

    Parameters: `epsilon` is what a choice costs. `sensitivity` is the most that one unit can
    move the utility of any one candidate. `monotone=True` says that adding a unit can only
    raise utilities (counts): half the noise, for add/remove neighbours only.
    """

    _curve = BoundedRange
    _draw = staticmethod(choose)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PermuteAndFlip(Chooser):
    """Chooses the first candidate, in random order, whose coin shows heads.

    Parameters: `epsilon` is what a choice costs. `sensitivity` is the most that one unit can
    move the utility of any one candidate. `monotone=True` says that adding a unit can only
    raise utilities (counts): half the noise, for add/remove neighbours only.
    """

    _curve = PureDP
    _draw = staticmethod(permute_and_flip)


def factor_of(epsilon: Fraction, sensitivity: Fraction, *, monotone: bool) -> Fraction:
    """What a utility is multiplied with: epsilon / (2·sensitivity), or twice that."""
    return epsilon / sensitivity if monotone else epsilon / (2 * sensitivity)


def read_utilities(utilities: object) -> Floats:
    """A row of finite utilities, at least one."""
    floats = read_floats(utilities)
    if floats.ndim != 1:
        raise ParameterError(
            f"The utilities have {count_of(floats.ndim, 'dimension', 'dimensions')}, but must have"
            " one: a list with a number for each candidate."
        )
    if floats.size == 0:
        raise _nothing_to_choose()
    return floats


def read_choices(candidates: Sequence[T], utilities: Utilities) -> tuple[list[T], Floats]:
    """The candidates and their utilities, in the order of the candidates."""
    listed = public_list("candidates", candidates)
    return listed, _utilities_of(listed, utilities)


def _utilities_of(candidates: list[Any], utilities: Utilities) -> Floats:
    if len(candidates) == 0:
        raise _nothing_to_choose()
    if callable(utilities):
        return np.array([read_float(utilities(candidate)) for candidate in candidates])
    floats = read_utilities(utilities)
    if floats.size != len(candidates):
        raise ParameterError(
            f"Given are {count_of(len(candidates), 'candidate', 'candidates')} and"
            f" {count_of(floats.size, 'utility', 'utilities')}, but each candidate needs one"
            " utility."
        )
    return floats


def shortfall_of(factor: Fraction, options: int, confidence: Number) -> float:
    """(ln|O| + t) / factor with e^−t = 1 − confidence, rounded up."""
    miss = 1 - CONFIDENCE.typed("confidence", confidence)
    many = COUNT.typed("options", options)
    return upper(certain(lambda: (ball(many) / ball(miss)).log() / ball(factor)))


def _nothing_to_choose() -> ParameterError:
    return ParameterError("There is no candidate, but one must be chosen. Give at least one.")
