"""Real numbers with certified bounds: the one place that talks to Arb.

A ball is an interval that is guaranteed to contain the real number meant; each
operation widens it by at least its own rounding error. `certain` repeats a computation
with more digits until the ball is narrow, and `upper` and `lower` step outwards to a
float. Changing the working precision changes how narrow a ball is, never whether it
holds the number, so a second thread that does so cannot make a result wrong.

  Proven:   Johansson, Arb: efficient arbitrary-precision midpoint-radius interval
            arithmetic (2017)
  Tested:   against 60-digit mpmath, and at the edges of the floats
  Assumed:  Arb (in FLINT) is correct
"""

from collections.abc import Callable
from fractions import Fraction
from math import inf, ldexp
from typing import TypeVar

from flint import arb, ctx, fmpq, fmpz

Ball = arb
Result = TypeVar("Result")

START_BITS = 128
MOST_BITS = 1 << 20


def ball(value: Fraction | int) -> Ball:
    """The ball of a rational."""
    if isinstance(value, int):
        return arb(fmpz(value))
    return arb(fmpq(value.numerator, value.denominator))


def with_bits(compute: Callable[[], Result], precision: int) -> Result:
    """What `compute` gives when balls are computed with `precision` bits."""
    with ctx.workprec(precision):
        return compute()


def working_bits() -> int:
    """The precision that balls are being computed with."""
    return ctx.prec


def certain(compute: Callable[[], Ball], *, bits: int = 64) -> Ball:
    """The ball of `compute`, evaluated with enough digits for `bits` good bits."""
    precision = START_BITS
    while True:
        value = with_bits(compute, precision)
        good = value.is_finite() and (value.is_zero() or value.rel_accuracy_bits() >= bits)
        if good or precision >= MOST_BITS:
            return value
        precision *= 2


def is_positive(compute: Callable[[], Ball]) -> bool:
    """Whether the real number, which must not be zero, is above zero."""
    precision = START_BITS
    while precision <= MOST_BITS:
        value = with_bits(compute, precision)
        if value > 0:
            return True
        if value < 0:
            return False
        precision *= 2
    raise ArithmeticError("the sign could not be decided: the number may be exactly zero")


def floor_scaled(compute: Callable[[], Ball], count: int) -> int:
    """The whole number below 2^count times the real number, which must not be a multiple."""
    precision = START_BITS + count
    while precision <= MOST_BITS:
        floor = with_bits(lambda: whole_below(compute() * arb(2) ** count), precision)
        if floor is not None:
            return floor
        precision *= 2
    raise ArithmeticError("the digits could not be decided: the number may be a dyadic rational")


def whole_below(value: Ball) -> int | None:
    """The whole number below the real number, if ball and working precision can tell."""
    floor = value.floor().unique_fmpz()
    return None if floor is None else int(floor)


def upper(value: Ball) -> float:
    """The smallest float known to be at or above the number."""
    if not value.is_finite():
        return inf
    return _round_up(value.upper())


def lower(value: Ball) -> float:
    """The largest float known to be at or below the number."""
    if not value.is_finite():
        return -inf
    return -_round_up(-value.lower())


def fraction_above(value: Ball) -> Fraction:
    """A rational at or above the number, as close as the ball is narrow."""
    return _exactly(value.upper())


def fraction_below(value: Ball) -> Fraction:
    """A rational at or below the number, as close as the ball is narrow."""
    return _exactly(value.lower())


def float_above(value: Fraction) -> float:
    """The smallest float at or above a rational."""
    return upper(certain(lambda: ball(value)))


def float_below(value: Fraction) -> float:
    """The largest float at or below a rational."""
    return lower(certain(lambda: ball(value)))


def _exactly(point: Ball) -> Fraction:
    mantissa, exponent = (int(part) for part in point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def _round_up(point: Ball) -> float:
    mantissa, exponent = (int(part) for part in point.man_exp())
    # 53 bits, or fewer where the result is subnormal (2^-1074 is the last place there is).
    drop = max(mantissa.bit_length() - 53, -1074 - exponent)
    kept = -((-mantissa) >> drop) if drop > 0 else mantissa << -drop
    try:
        return ldexp(kept, exponent + drop)
    except OverflowError:
        return inf if mantissa > 0 else -1.7976931348623157e308
