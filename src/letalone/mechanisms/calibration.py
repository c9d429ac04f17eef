"""The least noise that keeps a promise: bisection with certified comparisons.

`keeps(noise)` must be certain when it says yes. Whatever it says elsewhere, the number
returned is one for which it said yes; if it is monotone, no number smaller by more than
one part in 2^52 would do.

  Proven:   the invariant "the end returned was certified" holds at every step
  Tested:   against closed forms; the neighbour below is refused; a curve never says more
            than the epsilon typed
  Assumed:  nothing
"""

from collections.abc import Callable
from fractions import Fraction

from letalone.errors import ParameterError
from letalone.exact.typed import Number, refusal
from letalone.privacy import Privacy
from letalone.privacy.bounds import lowest_reading
from letalone.privacy.planning import solve

BISECTION_STEPS = 52
LARGEST_NOISE = 2**1000
SMALLEST_FLOAT, LARGEST_FLOAT = Fraction(2) ** -1022, Fraction(2) ** 1023


def calibrate(privacy_of: Callable[[float], Privacy], *, epsilon: Number, delta: Number) -> float:
    """The smallest noise, to one part in 10^6, whose curve is certainly within (epsilon, delta).

    `privacy_of` takes the noise and returns a curve; privacy must improve as the number
    grows. For a price or a rate, where it falls, search for 1/x.
    """
    if not callable(privacy_of):
        hint = "Such as lambda sigma: la.Gaussian(sigma=sigma, sensitivity=1).privacy * 10."
        raise refusal(
            "privacy_of", privacy_of, "a function of the noise that returns a curve", hint
        )
    return solve(
        lambda noise: privacy_of(float(noise)), epsilon=epsilon, delta=delta, more_is_safer=True
    )


def as_printed(epsilon: Fraction) -> Fraction:
    """The lowest reading of an epsilon and of the float that prints it.

    A curve says its epsilon as a float that holds in decimal and in binary. Where the binary
    reading of a typed 0.7 is below seven tenths, noise for seven tenths would be said to cost
    the next float, 0.7000000000000001. Noise for the lowest reading is said to cost 0.7.
    """
    if not SMALLEST_FLOAT <= epsilon <= LARGEST_FLOAT:
        return epsilon
    return min(epsilon, lowest_reading(float(epsilon)))


def smallest(keeps: Callable[[Fraction], bool]) -> Fraction:
    """The smallest number for which `keeps` is known to hold, rounded up."""
    high = Fraction(1)
    while not keeps(high):
        high = _within_reach(high * 2)
    while keeps(high / 2):
        high = _within_reach(high / 2)
    low = high / 2
    for _ in range(BISECTION_STEPS):
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
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


def _within_reach(number: Fraction) -> Fraction:
    if not Fraction(1, LARGEST_NOISE) < number < LARGEST_NOISE:
        raise ParameterError(
            "No noise between 2^-1000 and 2^1000 fits this epsilon and delta."
            " Choose values nearer to usual ones, such as 0.1 to 10 and 1e-6."
        )
    return number
