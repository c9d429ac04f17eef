"""Planning ahead: how much noise, how many steps, which sampling rate a promise allows.

    noise_for(epsilon=2, delta=1e-5, steps=10_000, rate=0.01)     # the sigma of each step

A step adds Gaussian noise of `sigma` times the sensitivity to a sum over a fresh Poisson
sample at `rate`. `solve` does the same for any curve that depends on one number.

  Proven:   the number returned was certified by its curve, 0 steps included: that is checked
            last, whatever the search did. If the curve is monotone, no number better by one
            part in 10^6 (for steps: by 1) keeps the promise.
  Tested:   against closed forms; the certificate, and its failure a millionth further on;
            what has no answer is refused, soon and with the reason
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import copysign, exp, log

from letalone.errors import LetaloneError, ParameterError
from letalone.exact.balls import float_below
from letalone.exact.typed import COUNT, PROBABILITY, SCALE, Number, as_typed
from letalone.privacy.conversions import read_curve
from letalone.privacy.curve import Privacy
from letalone.privacy.curves.gaussian_curve import GaussianDP
from letalone.privacy.promises import CurvePromise, EpsilonDelta

ACCURACY = 0.8e-6  # the rest of 10^-6 is for whoever shortens the number
TINY = 1e-300
# Powers of two, both ways from 1, at which a number is tried: 64 doublings in twelve tries.
REACH = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
PROBES = (4, 6)  # after so many tries the other way is looked at, too
MOST_TRIES = 200
MOST_STEPS = 10**12


def noise_for(epsilon: Number, delta: Number, *, steps: Number = 1, rate: Number = 1) -> float:
    """The smallest sigma, for sensitivity 1, with which all steps keep (epsilon, delta)."""
    count, share = int(COUNT.typed("steps", steps)), _rate(rate)
    steps_with = partial(steps_of, rate=share, steps=count)
    return solve(steps_with, epsilon=epsilon, delta=delta, more_is_safer=True)


def steps_for(epsilon: Number, delta: Number, *, sigma: Number, rate: Number = 1) -> int:
    """The largest number of steps that keep (epsilon, delta); 0 where not even one does."""
    noise, share = SCALE.typed("sigma", sigma), _rate(rate)
    return most_steps(lambda n: steps_of(noise, share, steps=n), epsilon=epsilon, delta=delta)


def rate_for(epsilon: Number, delta: Number, *, sigma: Number, steps: Number = 1) -> float:
    """The largest sampling rate at which all steps keep (epsilon, delta); at most 1."""
    noise, count = SCALE.typed("sigma", sigma), int(COUNT.typed("steps", steps))
    steps_at = partial(steps_of, noise, steps=count)
    return solve(steps_at, epsilon=epsilon, delta=delta, more_is_safer=False, most=Fraction(1))


def solve(
    privacy_of: Callable[[Fraction], Privacy],
    *,
    epsilon: Number,
    delta: Number,
    more_is_safer: bool,
    most: Fraction | None = None,
) -> float:
    """The smallest (or largest) number whose curve is certainly within (epsilon, delta)."""
    promise = EpsilonDelta(epsilon, delta)
    return solve_for(promise, privacy_of, more_is_safer=more_is_safer, most=most)


def solve_for(
    promise: CurvePromise,
    privacy_of: Callable[[Fraction], Privacy],
    *,
    more_is_safer: bool,
    most: Fraction | None = None,
) -> float:
    """The smallest (or largest) number whose curve certainly keeps the promise."""
    excess = _Excess(privacy_of, promise)
    good, bad = _bracket(excess, more_is_safer=more_is_safer, most=most)
    if bad is None:
        return good
    tried = [good, bad]
    while abs(log(good / bad)) > ACCURACY and len(tried) < MOST_TRIES:
        guess = _guess(excess, good, bad, tried)
        good, bad = (guess, bad) if excess(guess) <= 0 else (good, guess)
        tried.append(guess)
    return good


def most_steps(
    privacy_of: Callable[[int], Privacy],
    *,
    epsilon: Number,
    delta: Number,
    most: int = MOST_STEPS,
) -> int:
    """The largest whole number, 0 included, whose curve is certainly within (epsilon, delta)."""
    return most_steps_for(EpsilonDelta(epsilon, delta), privacy_of, most=most)


def most_steps_for(
    promise: CurvePromise, privacy_of: Callable[[int], Privacy], *, most: int = MOST_STEPS
) -> int:
    """The largest whole number, 0 included, whose curve certainly keeps the promise."""
    excess = _Excess(lambda number: privacy_of(int(number)), promise)
    if excess(1) > 0:
        return _no_step(excess)
    low, high = 1, 4
    while excess(high) <= 0:
        if high == most:
            raise ParameterError(
                f"More than {most:,} fit: each reveals so little that their number needs no plan."
            )
        low, high = high, min(4 * high, most)
    tries = 0
    while high - low > 1:
        middle = (low + high) // 2 if tries % 3 == 2 else _whole_guess(excess, low, high)
        low, high = (middle, high) if excess(middle) <= 0 else (low, middle)
        tries += 1
    return low


def _no_step(excess: "_Excess") -> int:
    """0, where that keeps the promise."""
    excess.needs_a_delta(1)
    if excess(0) > 0:
        raise ParameterError(REST.format(excess.promise))
    return 0


def keeps(privacy: Privacy, *, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether a curve is certainly within (epsilon, delta)."""
    return EpsilonDelta(epsilon, delta).is_kept(privacy)


def _whole_guess(excess: "_Excess", low: int, high: int) -> int:
    """Where the line between both ends crosses zero, in logarithms."""
    if low == 0 or excess(low) == excess(high):
        return (low + high) // 2
    share = excess(low) / (excess(low) - excess(high))
    guess = round(exp(log(low) + share * (log(high) - log(low))))
    return min(max(guess, low + 1), high - 1)


REST = (
    "The rest of the releases alone, without the number sought, already breaks {}: no number "
    "helps. Promise less (a larger epsilon or delta), or release less."
)
WRONG_WAY = (
    "No number keeps {}. Privacy must improve as the number {}; here it does not: the function "
    "seems to go the other way. Try it with 1/x in place of x."
)
ALL_FIT = (
    "Every number that was tried, down to 2^-64 and up to 2^64, keeps {}: this promise sets it "
    "no limit. Promise more (a smaller epsilon or delta), or check that the curve uses the number."
)
NO_DELTA = (
    "The delta is 0, but the privacy loss of this noise has no bound: Gaussian noise, of whatever "
    "size, needs a delta above 0, such as 1e-6. Name one, or use noise that needs none (Laplace)."
)


class _Excess:
    """By how much a promise is broken, in logarithms; at or below 0 where it is kept."""

    __slots__ = ("found", "privacy_of", "promise")

    def __init__(self, privacy_of: Callable[[Fraction], Privacy], promise: CurvePromise) -> None:
        self.privacy_of, self.promise = privacy_of, promise
        self.found: dict[float, float] = {}

    def __call__(self, number: float) -> float:
        if number not in self.found:
            self.found[number] = self._computed(as_typed(number))
        return self.found[number]

    def _computed(self, number: Fraction) -> float:
        privacy = self.curve(number)
        size = self.promise.excess(privacy)
        # The sign is certain, the size only guides the search.
        return min(0.0, size) if self.promise.is_kept(privacy) else max(TINY, size)

    def curve(self, number: Fraction) -> Privacy:
        return read_curve(self.privacy_of(number), by="The search")

    def needs_a_delta(self, number: float) -> None:
        """Refuses what no number can keep: a delta of 0 for a loss without a bound."""
        if not self.promise.needs_bounded_loss:
            return
        if self.curve(as_typed(number)).worst_loss() is None:
            raise ParameterError(NO_DELTA)

    def roughly(self, number: float) -> float:
        """The excess, or no end of it where the curve is refused."""
        try:
            return self(number)
        except LetaloneError:
            return float("inf")


def _bracket(
    excess: _Excess, *, more_is_safer: bool, most: Fraction | None
) -> tuple[float, float | None]:
    """A number that keeps the promise and the next one tried, which breaks it."""
    start = 1.0 if most is None else float_below(most)
    safer = [start * 2.0 ** (power if more_is_safer else -power) for power in REACH]
    if excess(start) > 0:
        excess.needs_a_delta(start)
        good = _first_good(excess, start, safer, way="grows" if more_is_safer else "falls")
        return good, [start, *safer][safer.index(good)]
    if most is not None:
        return start, None
    worse = [start * start / number for number in safer]
    bad = next((number for number in worse if excess(number) > 0), None)
    if bad is None:
        raise ParameterError(ALL_FIT.format(excess.promise))
    return [start, *worse][worse.index(bad)], bad


def _first_good(excess: _Excess, start: float, safer: list[float], *, way: str) -> float:
    """The first number on the safer side that keeps the promise, or why there is none."""
    for tries, number in enumerate(safer, 1):
        if excess(number) <= 0:
            return number
        # Worse on this side than on the other: told early, before numbers grow extreme.
        if tries in PROBES and excess.roughly(start * start / number) < excess(number) - ACCURACY:
            raise ParameterError(WRONG_WAY.format(excess.promise, way))
    raise ParameterError(REST.format(excess.promise))


def _guess(excess: _Excess, good: float, bad: float, tried: list[float]) -> float:
    """Between the two, near where the line through the last two tries crosses zero.

    Half an accuracy towards the end that the last try left alone, so that the next try closes
    the bracket; every fourth time the middle, so that it closes whatever the curve.
    """
    near, far = log(good), log(bad)
    middle = (near + far) / 2
    (x, fx), (y, fy) = ((log(number), excess(number)) for number in tried[-2:])
    if len(tried) % 4 and fx != fy:
        towards = far - near if excess(tried[-1]) <= 0 else near - far
        middle = x - fx * (y - x) / (fy - fx) + copysign(ACCURACY / 2, towards)
    margin = min(ACCURACY / 2, abs(far - near) / 4)
    low, high = sorted((near, far))
    return exp(min(max(middle, low + margin), high - margin))


def steps_of(sigma: Fraction, rate: Fraction, *, steps: int) -> Privacy:
    """So many steps with this noise, each on a fresh Poisson sample at this rate."""
    step: Privacy = GaussianDP(1 / sigma)
    if rate < 1:
        step = step.sampled(rate)
    return step * steps


def _rate(rate: Number) -> Fraction:
    number = PROBABILITY.typed("rate", rate)
    if number == 0:
        raise ParameterError("rate is 0, but must be above 0: at 0 nobody is ever in a sample.")
    return number
