"""Planning ahead: how much noise, how many steps, which sampling rate a promise allows.

    noise_for(epsilon=2, delta=1e-5, steps=10_000, rate=0.01)     # the sigma of each step

A step adds Gaussian noise of `sigma` times the sensitivity to a sum over a fresh Poisson
sample at `rate`. `solve` does the same for any curve that depends on one number.

  Proven:   the number returned was certified by its curve: that is checked last, whatever
            the search did. If the curve is monotone, no number better by one part in 10^6
            (for steps: by 1) keeps the promise.
  Tested:   against closed forms; the certificate, and its failure a millionth further on
"""

from collections.abc import Callable
from fractions import Fraction
from math import copysign, exp, log

from letalone.errors import ParameterError
from letalone.exact.balls import float_below
from letalone.exact.typed import COUNT, DELTA, EPSILON, PROBABILITY, SCALE, Number, as_typed
from letalone.privacy import GaussianDP, Privacy

ACCURACY = 1e-6
TINY = 1e-300
FARTHEST = 1e150
MOST_TRIES = 200
MOST_STEPS = 10**12


def noise_for(epsilon: Number, delta: Number, *, steps: Number = 1, rate: Number = 1) -> float:
    """The smallest sigma, for sensitivity 1, with which all steps keep (epsilon, delta)."""
    count, share = _steps(steps), _rate(rate)

    def curve(sigma: Fraction) -> Privacy:
        return _steps_of(sigma, rate=share, steps=count)

    return solve(curve, epsilon=epsilon, delta=delta, more_is_safer=True)


def steps_for(epsilon: Number, delta: Number, *, sigma: Number, rate: Number = 1) -> int:
    """The largest number of steps that keep (epsilon, delta); 0 where not even one does."""
    noise, share = SCALE.typed("sigma", sigma), _rate(rate)

    def curve(count: int) -> Privacy:
        return _steps_of(noise, rate=share, steps=count)

    return most_steps(curve, epsilon=epsilon, delta=delta)


def rate_for(epsilon: Number, delta: Number, *, sigma: Number, steps: Number = 1) -> float:
    """The largest sampling rate at which all steps keep (epsilon, delta); at most 1."""
    noise, count = SCALE.typed("sigma", sigma), _steps(steps)

    def curve(rate: Fraction) -> Privacy:
        return _steps_of(noise, rate=rate, steps=count)

    return solve(curve, epsilon=epsilon, delta=delta, more_is_safer=False, most=Fraction(1))


def solve(
    privacy_of: Callable[[Fraction], Privacy],
    *,
    epsilon: Number,
    delta: Number,
    more_is_safer: bool,
    most: Fraction | None = None,
) -> float:
    """The smallest (or largest) number whose curve is certainly within (epsilon, delta)."""
    excess = _Excess(privacy_of, epsilon, delta)
    good, bad = _bracket(excess, more_is_safer=more_is_safer, most=most)
    if bad is None:
        return good
    tried = [good, bad]
    while abs(log(good / bad)) > ACCURACY and len(tried) < MOST_TRIES:
        guess = _guess(excess, good, bad, tried)
        good, bad = (guess, bad) if excess(guess) <= 0 else (good, guess)
        tried.append(guess)
    return good


def most_steps(privacy_of: Callable[[int], Privacy], *, epsilon: Number, delta: Number) -> int:
    """The largest whole number whose curve is certainly within (epsilon, delta)."""
    excess = _Excess(lambda number: privacy_of(int(number)), epsilon, delta)
    low, high = 0, 1
    while excess(high) <= 0:
        low, high = high, 4 * high
        if high > MOST_STEPS:
            raise ParameterError(
                f"More than {MOST_STEPS} steps fit: the noise is so large that the number of "
                "steps needs no plan."
            )
    tries = 0
    while high - low > 1:
        middle = (low + high) // 2 if tries % 3 == 2 else _whole_guess(excess, low, high)
        low, high = (middle, high) if excess(middle) <= 0 else (low, middle)
        tries += 1
    return low


def _whole_guess(excess: "_Excess", low: int, high: int) -> int:
    """Where the line between both ends crosses zero, in logarithms."""
    if low == 0 or excess(low) == excess(high):
        return (low + high) // 2
    share = excess(low) / (excess(low) - excess(high))
    guess = round(exp(log(low) + share * (log(high) - log(low))))
    return min(max(guess, low + 1), high - 1)


class _Excess:
    """ln(delta of the curve / delta allowed), remembered: at or below 0 the promise is kept."""

    __slots__ = ("at", "found", "most", "privacy_of")

    def __init__(
        self, privacy_of: Callable[[Fraction], Privacy], epsilon: Number, delta: Number
    ) -> None:
        self.privacy_of = privacy_of
        self.at, self.most = _target(epsilon, delta)
        self.found: dict[float, float] = {}

    def __call__(self, number: float) -> float:
        if number not in self.found:
            self.found[number] = self._computed(as_typed(number))
        return self.found[number]

    def _computed(self, number: Fraction) -> float:
        delta = self.privacy_of(number).delta(self.at)
        if Fraction(delta) <= self.most:
            # Kept: the sign is certain, the size only guides the search.
            return min(0.0, log(max(delta, TINY)) - log(max(float(self.most), TINY)))
        return max(TINY, log(delta) - log(max(float(self.most), TINY)))


def _bracket(
    excess: _Excess, *, more_is_safer: bool, most: Fraction | None
) -> tuple[float, float | None]:
    """A number that keeps the promise and one, a factor of two away, that breaks it."""
    better = 0.5 if more_is_safer else 2.0
    good = 1.0 if most is None else float_below(most)
    while excess(good) > 0:
        good = _within_reach(good / better)
    if most is not None and good == float_below(most):
        return good, None
    while excess(good * better) <= 0:
        good = _within_reach(good * better)
    return good, good * better


def _guess(excess: _Excess, good: float, bad: float, tried: list[float]) -> float:
    """Between the two, near where the line through the last two tries crosses zero.

    Half an accuracy towards the end that the last try left alone, so that the next try closes
    the bracket; every fourth time the middle, so that it closes whatever the curve.
    """
    left, right = log(good), log(bad)
    middle = (left + right) / 2
    (x, fx), (y, fy) = ((log(number), excess(number)) for number in tried[-2:])
    if len(tried) % 4 and fx != fy:
        towards = right - left if excess(tried[-1]) <= 0 else left - right
        middle = x - fx * (y - x) / (fy - fx) + copysign(ACCURACY / 2, towards)
    margin = min(ACCURACY / 2, abs(right - left) / 4)
    low, high = sorted((left, right))
    return exp(min(max(middle, low + margin), high - margin))


def _within_reach(number: float) -> float:
    if not 1 / FARTHEST < number < FARTHEST:
        raise ParameterError(
            "No number between 1e-150 and 1e150 fits this epsilon and delta."
            " Choose values nearer to usual ones, such as 0.1 to 10 and 1e-6."
        )
    return number


def _steps_of(sigma: Fraction, *, rate: Fraction, steps: int) -> Privacy:
    one: Privacy = GaussianDP(1 / sigma)
    if rate < 1:
        one = one.sampled(rate)
    return one * steps


def _target(epsilon: Number, delta: Number) -> tuple[Fraction, Fraction]:
    return EPSILON.typed("epsilon", epsilon), DELTA.typed("delta", delta)


def _steps(steps: Number) -> int:
    return int(COUNT.typed("steps", steps))


def _rate(rate: Number) -> Fraction:
    number = PROBABILITY.typed("rate", rate)
    if number == 0:
        raise ParameterError("rate is 0, but must be above 0: at 0 nobody is ever in a sample.")
    return number
