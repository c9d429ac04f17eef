"""A random real number of which only as many bits exist as somebody has asked for.

`LazyReal` holds low, width and denominator: the number lies in the interval
(low, low + width) / denominator and is uniform there. `refine` cuts the interval into
2^word_size equal parts and keeps the one that the next word names, so what has been
decided before stays decided and the law is that of the uniform real number. A question
(which side of a point, which whole number below) refines until the interval answers it.
The ends themselves have probability zero, so intervals are open and ties do not exist.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 1
  Tested:   by enumerating every string of bits at a small word size
  Assumed:  the words are independent and uniform
"""

from collections.abc import Callable
from fractions import Fraction

from letalone.exact.balls import START_BITS, Ball, ball, with_bits
from letalone.randomness.bits import BitSource


class LazyReal:
    """A uniform real number in an open interval of rationals, refined on demand."""

    __slots__ = ("denominator", "low", "width")

    def __init__(self, low: int, width: int, denominator: int) -> None:
        self.low, self.width, self.denominator = low, width, denominator

    def refine(self, bits: BitSource) -> None:
        """Reads one more word."""
        size = bits.word_size
        self.low = (self.low << size) + self.width * bits.word()
        self.denominator <<= size

    def affine(self, factor: int, shift: int, divisor: int) -> "LazyReal":
        """(factor · self + shift) / divisor, which takes this one's place from here on."""
        low = self.low * factor + shift * self.denominator
        return LazyReal(low, self.width * factor, self.denominator * divisor)

    def times(self, factor: Fraction) -> "LazyReal":
        """factor · self, which takes this one's place from here on."""
        return self.affine(factor.numerator, 0, factor.denominator)

    def plus(self, shift: Fraction) -> "LazyReal":
        """self + shift, which takes this one's place from here on."""
        return self.affine(shift.denominator, shift.numerator, shift.denominator)

    def is_negative(self) -> bool:
        """Whether it lies below zero; its interval must not contain zero."""
        return self.low + (self.width if self.width > 0 else 0) <= 0

    def size(self) -> "LazyReal":
        """Its absolute value; its interval must not contain zero."""
        return self.affine(-1, 0, 1) if self.is_negative() else self

    def ends(self) -> tuple[int, int]:
        """The ends of the interval in order, as numerators over the denominator."""
        other = self.low + self.width
        return (self.low, other) if self.width > 0 else (other, self.low)

    def floor(self, bits: BitSource) -> int:
        while True:
            low, high = self.ends()
            below = low // self.denominator
            if high <= (below + 1) * self.denominator:
                return below
            self.refine(bits)

    def is_below(self, point: Fraction, bits: BitSource) -> bool:
        while True:
            low, high = self.ends()
            border = point.numerator * self.denominator
            if high * point.denominator <= border:
                return True
            if low * point.denominator >= border:
                return False
            self.refine(bits)

    def is_known_to(self, parts: int) -> bool:
        """Whether its interval is no wider than one part in so many of 1."""
        return abs(self.width) * parts <= self.denominator

    def near(self) -> float:
        """A float near it, off by no more than the interval is wide."""
        return self.low / self.denominator

    def enclosure(self) -> Ball:
        """The smallest ball around the interval."""
        low, high = self.ends()
        return (ball(low) / self.denominator).union(ball(high) / self.denominator)


def lazy_uniform() -> LazyReal:
    """A uniform real number between 0 and 1, no bit of it known yet."""
    return LazyReal(0, 1, 1)


def is_above(left: LazyReal, right: LazyReal, bits: BitSource) -> bool:
    """Whether left > right; both are refined until it is certain."""
    while True:
        low_left, high_left = left.ends()
        low_right, high_right = right.ends()
        if low_left * right.denominator >= high_right * left.denominator:
            return True
        if high_left * right.denominator <= low_right * left.denominator:
            return False
        left.refine(bits)
        right.refine(bits)


ROUGHLY = 2.0**-38  # more than the floats of a rough claim can be off


def decide(
    claim: Callable[[], Ball], reals: list[LazyReal], bits: BitSource, *, roughly: float = 0.0
) -> bool:
    """Whether `claim`, a ball computed from the enclosures of `reals`, is above zero.

    `roughly` is the same in floats, from reals known to 48 bits: it decides if it is far
    enough from zero.
    """
    if abs(roughly) > ROUGHLY:
        return roughly > 0
    precision = START_BITS
    while True:
        value = with_bits(claim, precision)
        if value > 0:
            return True
        if value < 0:
            return False
        for real in reals:
            real.refine(bits)
        precision += 2 * bits.word_size
