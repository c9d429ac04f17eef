"""What the mechanisms that choose have in common: candidates, utilities, their bound.

A utility is a number for each candidate, higher meaning better. Between neighbours it
moves by at most `sensitivity` for every candidate. It is *monotone* if adding a unit can
only raise utilities and removing one only lower them (counts are): then half the noise
does, and the promise is for add/remove neighbours only.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError
from letalone.exact.balls import ball, certain, upper
from letalone.exact.typed import CONFIDENCE, COUNT, Number
from letalone.mechanisms.containers import counted, public_list
from letalone.mechanisms.values import Floats, read_float, read_floats

T = TypeVar("T")
Utilities = Sequence[float] | NDArray[Any] | Callable[[Any], float]


def factor_of(epsilon: Fraction, sensitivity: Fraction, *, monotone: bool) -> Fraction:
    """What a utility is multiplied with: epsilon / (2·sensitivity), or twice that."""
    return epsilon / sensitivity if monotone else epsilon / (2 * sensitivity)


def read_utilities(utilities: object) -> Floats:
    """A row of finite utilities, at least one."""
    floats = read_floats(utilities)
    if floats.ndim != 1:
        raise ParameterError(
            f"The utilities have {counted(floats.ndim, 'dimension', 'dimensions')}, but must have"
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
            f"Given are {counted(len(candidates), 'candidate', 'candidates')} and"
            f" {counted(floats.size, 'utility', 'utilities')}, but each candidate needs one"
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
