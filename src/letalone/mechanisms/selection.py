"""What the mechanisms that choose have in common: candidates, utilities, their bound.

A utility is a number for each candidate, higher meaning better. Between neighbours it
moves by at most `sensitivity` for every candidate. It is *monotone* if adding a unit can
only raise utilities and removing one only lower them (counts are): then half the noise
does, and the promise is for add/remove neighbours only.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError
from letalone.exact.balls import ball, certain, upper
from letalone.exact.typed import CONFIDENCE, COUNT, Number
from letalone.mechanisms.values import Floats, read_float, read_floats

Utilities = Sequence[float] | NDArray[Any] | Callable[[Any], float]


def factor_of(epsilon: Fraction, sensitivity: Fraction, *, monotone: bool) -> Fraction:
    """What a utility is multiplied with: epsilon / (2·sensitivity), or twice that."""
    return epsilon / sensitivity if monotone else epsilon / (2 * sensitivity)


def read_utilities(utilities: object) -> Floats:
    """A row of finite utilities, at least one."""
    floats = read_floats(utilities)
    if floats.ndim != 1:
        raise ParameterError(
            f"The utilities have {floats.ndim} dimensions, but must have one: a number for"
            " each candidate."
        )
    if floats.size == 0:
        raise _nothing_to_choose()
    return floats


def utilities_of(candidates: Sequence[Any], utilities: Utilities) -> Floats:
    """The utilities of the candidates, in their order."""
    if len(candidates) == 0:
        raise _nothing_to_choose()
    if callable(utilities):
        return np.array([read_float(utilities(candidate)) for candidate in candidates])
    floats = read_utilities(utilities)
    if floats.size != len(candidates):
        raise ParameterError(
            f"There are {len(candidates)} candidates and {floats.size} utilities, but each"
            " candidate needs one utility."
        )
    return floats


def shortfall_of(factor: Fraction, options: int, confidence: Number) -> float:
    """(ln|O| + t) / factor with e^−t = 1 − confidence, rounded up."""
    miss = 1 - CONFIDENCE.typed("confidence", confidence)
    many = COUNT.typed("options", options)
    return upper(certain(lambda: (ball(many) / ball(miss)).log() / ball(factor)))


def _nothing_to_choose() -> ParameterError:
    return ParameterError("There is no candidate, but one must be chosen. Give at least one.")
