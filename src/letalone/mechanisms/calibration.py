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
from typing import cast

from letalone.errors import ParameterError
from letalone.exact.typed import DELTA, Number, refusal
from letalone.privacy import ApproxDP, Privacy, PureDP
from letalone.privacy.bounds import lowest_reading
from letalone.privacy.planning import solve, solve_for
from letalone.privacy.promises import AttackRisk

BISECTION_STEPS = 52
NEXT_TO_NOTHING = Fraction(1, 10**12)  # an epsilon
LARGEST_NOISE = 2**1000
SMALLEST_FLOAT, LARGEST_FLOAT = Fraction(2) ** -1022, Fraction(2) ** 1023


def calibrate(
    privacy_of: Callable[[float], Privacy] | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    advantage: Number | None = None,
    true_positive: Number | None = None,
    at_false_positive: Number | None = None,
) -> float:
    """The smallest noise that certainly keeps a promise; without a function, the largest epsilon.

    `privacy_of` takes the noise and returns a curve; privacy must improve as the number
    grows. For a price or a rate, where it falls, search for 1/x. What it must keep is (epsilon,
    delta), or a risk: `advantage=0.05` is the most by which the true-positive rate of any test
    whether one person is in the data exceeds its false-positive rate; `true_positive=0.02,
    at_false_positive=0.01` the most often that such a test is right.

    Without a function it is the largest epsilon with which (epsilon, delta) keeps the risk, for a
    delta of 0 unless one is given. Numbers are found to one part in 10^6, on the safe side.
    """
    risk = (advantage, true_positive, at_false_positive)
    if all(rate is None for rate in risk):
        return _calibrate_pair(privacy_of, epsilon, delta)
    promise = AttackRisk(
        advantage=advantage, true_positive=true_positive, at_false_positive=at_false_positive
    )
    if epsilon is not None:
        raise ParameterError(
            f"epsilon is given with {promise}: only one of both is kept. Leave epsilon out."
        )
    if privacy_of is None:
        return _epsilon_for(promise, 0 if delta is None else delta)
    if delta is not None:
        raise ParameterError(f"delta is given, but {promise} has none. Leave delta out.")
    curve_of = _read_function(privacy_of)
    return solve_for(promise, lambda noise: curve_of(float(noise)), more_is_safer=True)


def _calibrate_pair(privacy_of: object, epsilon: Number | None, delta: Number | None) -> float:
    if privacy_of is None:
        raise ParameterError(
            "calibrate needs a risk, such as la.calibrate(advantage=0.05), or a function of the"
            " noise: la.calibrate(lambda sigma: la.Gaussian(sigma=sigma, sensitivity=1).privacy,"
            " epsilon=1, delta=1e-6)."
        )
    curve_of = _read_function(privacy_of)
    if epsilon is None or delta is None:
        raise ParameterError(
            "calibrate needs what the noise must keep: epsilon=1, delta=1e-6, or a risk, such as"
            " advantage=0.05."
        )
    return solve(
        lambda noise: curve_of(float(noise)), epsilon=epsilon, delta=delta, more_is_safer=True
    )


def _read_function(privacy_of: object) -> Callable[[float], Privacy]:
    if not callable(privacy_of):
        hint = "Such as lambda sigma: la.Gaussian(sigma=sigma, sensitivity=1).privacy * 10."
        raise refusal(
            "privacy_of", privacy_of, "a function of the noise that returns a curve", hint
        )
    return cast("Callable[[float], Privacy]", privacy_of)


def _epsilon_for(promise: AttackRisk, delta: Number) -> float:
    """The largest epsilon of (epsilon, delta) that keeps a risk."""
    slack = DELTA.typed("delta", delta)
    if slack and not promise.is_kept(ApproxDP(NEXT_TO_NOTHING, slack)):
        raise ParameterError(
            f"A delta of {float(slack):g} alone breaks {promise}, whatever the epsilon. Choose a"
            " smaller delta."
        )

    def curve_of(number: Fraction) -> Privacy:
        return ApproxDP(number, slack) if slack else PureDP(number)

    return solve_for(promise, curve_of, more_is_safer=False)


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
