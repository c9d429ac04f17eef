"""A certified number: a rational known exactly, or a ball known to hold a real number.

`above` and `below` turn it into a float that can be said to a person. A float that
letalone prints may be read in two ways, as its shortest decimal and as its binary
number, so `above` steps up until *both* are at or above the number. The one exception:
where the decimal *is* the number (0.3 for 3/10), it is returned as typed.

  Proven:   by construction: every step is checked with exact rationals or balls
  Tested:   tests/privacy/test_bounds.py
"""

import decimal
from collections.abc import Callable
from fractions import Fraction
from math import inf, isinf, nextafter
from typing import NamedTuple

from letalone.exact.balls import Ball, ball, certain, float_above, float_below, lower, upper
from letalone.exact.typed import as_typed

Bound = Fraction | Ball

ZERO = Fraction(0)
ONE = Fraction(1)
ANY_ACCURACY = -(1 << 62)
SPARE_BITS = 96
MOST_SHOWN = 10**12  # a longer denominator is not for people
SHORT = 8  # digits that a person reads at a glance
LARGEST_EXPONENT = 300


class Bounds(NamedTuple):
    """Two certified numbers with the truth between them."""

    lower: Bound
    upper: Bound


def exactly(bound: Bound) -> Bounds:
    """The bounds of a number that is known."""
    return Bounds(bound, bound)


def once(compute: Callable[[], Ball]) -> Ball:
    """One evaluation with 128 bits, for formulas whose inputs are balls already."""
    return certain(compute, bits=ANY_ACCURACY)


def as_ball(bound: Bound) -> Ball:
    """The ball of a certified number; call it where the precision is set."""
    return ball(bound) if isinstance(bound, Fraction) else bound


def is_zero(bound: Bound) -> bool:
    """Whether a number is 0 for certain; a ball around 0 may be any small number."""
    return bool(bound == 0)


def at_most(bound: Bound, limit: Fraction) -> bool:
    """Whether a number is certainly at most a rational."""
    if isinstance(bound, Fraction):
        return bound <= limit
    return bound <= once(lambda: ball(limit))


def exceeds(bound: Bound, limit: Fraction) -> bool:
    """Whether a number is certainly more than a rational."""
    if isinstance(bound, Fraction):
        return bound > limit
    return bound > once(lambda: ball(limit))


def above(bound: Bound) -> float:
    """The smallest float that is an upper bound however it is read (see the module)."""
    if isinstance(bound, Fraction):
        if (typed := _typed_exactly(bound)) is not None:
            return typed
        value = float_above(bound)
    else:
        value = upper(bound)
    while not isinf(value) and not _reads_at_least(value, bound):
        value = nextafter(value, inf)
    return value


def below(bound: Bound) -> float:
    """The largest float that is a lower bound however it is read (see the module)."""
    if isinstance(bound, Fraction):
        if (typed := _typed_exactly(bound)) is not None:
            return typed
        value = float_below(bound)
    else:
        value = lower(bound)
    while not isinf(value) and not _reads_at_most(value, bound):
        value = nextafter(value, -inf)
    return value


def _typed_exactly(value: Fraction) -> float | None:
    try:
        nearest = float(value)
    except OverflowError:
        return None
    return nearest if as_typed(nearest) == value else None


def _reads_at_least(value: float, bound: Bound) -> bool:
    read = as_typed(value)
    return read >= bound if isinstance(bound, Fraction) else once(lambda: ball(read)) >= bound


def _reads_at_most(value: float, bound: Bound) -> bool:
    read = as_typed(value)
    return read <= bound if isinstance(bound, Fraction) else once(lambda: ball(read)) <= bound


def lowest_reading(value: float) -> Fraction:
    """The smaller of what a float says in decimal and in binary."""
    return min(as_typed(value), Fraction(value))


def highest_reading(value: float) -> Fraction:
    """The larger of what a float says in decimal and in binary."""
    return max(as_typed(value), Fraction(value))


def dyadic_above(value: Ball) -> Fraction:
    """A rational with a power of two below the line, above the number by less than 2^-90 of it."""
    mantissa, exponent = (int(part) for part in once(value.upper).man_exp())
    drop = max(mantissa.bit_length() - SPARE_BITS, 0)
    kept = -((-mantissa) >> drop)
    return Fraction(kept) * Fraction(2) ** (exponent + drop)


def rational_above(bound: Bound) -> Fraction:
    """A rational at or above a certified number."""
    return bound if isinstance(bound, Fraction) else dyadic_above(bound)


def larger(left: Bound, right: Bound) -> Bound:
    """The larger of two certified numbers, as exact as it was given."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return max(left, right)
    left_ball, right_ball = once(lambda: as_ball(left)), once(lambda: as_ball(right))
    if left_ball >= right_ball:
        return left
    return right if right_ball >= left_ball else once(lambda: left_ball.max(right_ball))


def smaller(left: Bound, right: Bound) -> Bound:
    """The smaller of two certified numbers, as exact as it was given."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return min(left, right)
    left_ball, right_ball = once(lambda: as_ball(left)), once(lambda: as_ball(right))
    if left_ball <= right_ball:
        return left
    return right if right_ball <= left_ball else once(lambda: left_ball.min(right_ball))


def format_number(value: Fraction) -> str:
    """A parameter as a person would write it: 0.1, 1/3, or six digits with a sign of waves."""
    nearest = _typed_exactly(value)
    if nearest is not None:
        short = f"{nearest:.17g}"
        return _plain(short if len(short) < len(repr(nearest)) else repr(nearest))
    exact = str(value) if value.denominator < MOST_SHOWN and abs(value) < MOST_SHOWN else ""
    return exact if 0 < len(exact) <= 12 else f"≈{_digits(value, 6, decimal.ROUND_HALF_EVEN)}"


def six(value: Fraction, *, up: bool = True) -> str:
    """A number in six digits, rounded up, or down; exact where it is shorter."""
    exact = format_number(value)
    if len(exact) <= SHORT and not set(exact) & {"/", "≈"}:
        return exact
    return _digits(value, 6, decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR)


def in_three_digits(value: Fraction) -> str:
    """A number in three digits, rounded down: for what is about this much."""
    return six(value, up=False) if value >= 1000 else _digits(value, 3, decimal.ROUND_FLOOR)


def at_a_glance(value: Fraction) -> str:
    """As typed where that is short; else six digits, rounded up, with a sign of waves."""
    exact = format_number(value)
    return exact if len(exact) <= SHORT else f"≈{_digits(value, 6, decimal.ROUND_CEILING)}"


def shown_above(value: float) -> str:
    """Four digits, rounded up."""
    return "∞" if isinf(value) else _digits(as_typed(value), 4, decimal.ROUND_CEILING)


def _digits(value: Fraction, digits: int, way: str) -> str:
    context = decimal.Context(
        prec=digits, rounding=way, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN
    )
    rounded = context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
    if rounded and not -LARGEST_EXPONENT < rounded.adjusted() < LARGEST_EXPONENT:
        return _plain(f"{rounded.normalize():.{digits}g}")  # no float is as large, or as small
    return _plain(f"{float(rounded):.{digits}g}")


def _plain(text: str) -> str:
    """1e-6 and not 1e-06; 2 and not 2.0."""
    return text.removesuffix(".0").replace("e-0", "e-").replace("e+0", "e+")
