"""The least noise that keeps a promise: bisection with certified comparisons.

`keeps(noise)` must be certain when it says yes. Whatever it says elsewhere, the number
returned is one for which it said yes; if it is monotone, no number smaller by more than
one part in 2^52 would do.

  Proven:   the invariant "the end returned was certified" holds at every step
  Tested:   against closed forms; the neighbour below is refused
  Assumed:  nothing
"""

from collections.abc import Callable
from fractions import Fraction

from letalone.errors import ParameterError
from letalone.exact.balls import float_above
from letalone.exact.typed import DELTA, EPSILON, Number
from letalone.privacy import Privacy

STEPS = 52
FARTHEST = 2**1000


def calibrate(privacy_of: Callable[[float], Privacy], *, epsilon: Number, delta: Number) -> float:
    """The smallest noise, as a float, whose curve is certainly within (epsilon, delta)."""
    at, most = EPSILON.typed("epsilon", epsilon), DELTA.typed("delta", delta)

    def keeps(noise: Fraction) -> bool:
        return Fraction(privacy_of(float_above(noise)).delta(at)) <= most

    return float_above(smallest(keeps))


def smallest(keeps: Callable[[Fraction], bool]) -> Fraction:
    """The smallest number for which `keeps` is known to hold, rounded up."""
    high = Fraction(1)
    while not keeps(high):
        high = _within_reach(high * 2)
    while keeps(high / 2):
        high = _within_reach(high / 2)
    low = high / 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


def largest(keeps: Callable[[Fraction], bool]) -> Fraction:
    """The largest number for which `keeps` is known to hold, rounded down."""
    low = Fraction(1)
    while not keeps(low):
        low = _within_reach(low / 2)
    while keeps(low * 2):
        low = _within_reach(low * 2)
    high = low * 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


def _within_reach(number: Fraction) -> Fraction:
    if not Fraction(1, FARTHEST) < number < FARTHEST:
        raise ParameterError(
            "No noise between 2^-1000 and 2^1000 fits this epsilon and delta."
            " Choose values nearer to usual ones, such as 0.1 to 10 and 1e-6."
        )
    return number
