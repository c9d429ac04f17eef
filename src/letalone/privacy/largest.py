"""The largest price that still fits: what a refusal offers in place of what was asked for.

    largest_price(fits, asked, left=…)     # Budget(epsilon=1.5, delta=5e-7), or None

Numbers of three digits are tried, by halving, with `fits` as the judge. A larger price never fits
where a smaller one does not, nearly: curves of some questions are not monotone in ε to the last
digit. So what is offered has been found to fit, and "largest" is up to that.

  Proven:   what is returned was judged to fit, whatever `fits` is
  Tested:   tests/privacy/test_largest.py
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

from letalone.privacy.budget import Budget

DIGITS = 3
NUMBERS = 9 * 10 ** (DIGITS - 1)  # of three digits, in one decade
DECADES = 4  # that are looked through below what is left

Fits = Callable[[Budget], bool]


def largest_price(fits: Fits, asked: Budget, *, left: Budget) -> Budget | None:
    """The largest (ε, δ), at most what was asked for, that fits.

    Less δ is taken where more of ε fits with it: some curves have less of a δ at a tiny ε, which
    would fit and help nobody. `left` is about what is left: where the search begins.
    """
    prices = list[Budget]()
    for delta in _deltas(asked, left):
        at = _largest_epsilon(lambda epsilon, at=delta: fits(Budget(epsilon, at)), asked, left)
        prices += [] if at is None else [Budget(at, delta)]
        if at == asked.epsilon:
            break
    return max(prices, key=lambda price: (price.epsilon, price.delta), default=None)


def _deltas(asked: Budget, left: Budget) -> Iterator[Fraction]:
    yield asked.delta
    if 0 < left.delta < asked.delta:
        yield round_down(left.delta)


def _largest_epsilon(
    fits: Callable[[Fraction], bool], asked: Budget, left: Budget
) -> Fraction | None:
    if fits(asked.epsilon):
        return asked.epsilon
    largest = _place(round_down(asked.epsilon)) if asked.epsilon else None
    if largest is None:
        return None
    guess = min(largest, _place(round_down(left.epsilon))) if left.epsilon > 0 else largest
    low, high = guess - DECADES * NUMBERS, largest + 1  # `high` is never tried, and may not fit
    if not fits(_number(low)):
        return None
    for near in (guess, guess + 1):  # mostly the number that is left
        if low < near < high:
            low, high = (near, high) if fits(_number(near)) else (low, near)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(_number(middle)) else (low, middle)
    return _number(low)


def round_down(value: Fraction) -> Fraction:
    """The number, rounded down to three digits."""
    unit = Fraction(1)
    while value >= 10**DIGITS * unit:
        unit *= 10
    while value < 10 ** (DIGITS - 1) * unit:
        unit /= 10
    return value // unit * unit


def round_up(value: Fraction) -> Fraction:
    """The number, rounded up to three digits."""
    down = round_down(value)
    return down if down == value else _number(_place(down) + 1)


def _place(value: Fraction) -> int:
    """Where a number of three digits stands among all of them; 1 stands at 0."""
    decade, smallest = 0, Fraction(10 ** (DIGITS - 1))
    scaled = value * smallest
    while scaled >= 10 * smallest:
        scaled, decade = scaled / 10, decade + 1
    while scaled < smallest:
        scaled, decade = scaled * 10, decade - 1
    return decade * NUMBERS + int(scaled - smallest)


def _number(place: int) -> Fraction:
    decade, rest = divmod(place, NUMBERS)
    smallest = 10 ** (DIGITS - 1)
    return Fraction(smallest + rest, smallest) * Fraction(10) ** decade
