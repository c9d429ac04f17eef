"""The pair of mixtures behind a group under Poisson sampling and Gaussian noise, exactly.

Two tables differ in k records: a of them are only in the first, b only in the second. Each
record is used with probability q; a sample that holds i and j of them is at distance i + j.

Theorem.  With weights A = Bin(a, q) and B = Bin(b, q), release on the one table and release on
the other are at most as far apart as
    P = sum_i A_i N(i mu, 1)   and   Q = sum_j B_j N(-j mu, 1),
and these are reached. P / Q rises with x, so delta(e) = P[x > t] - e^e Q[x > t] where
P / Q = e^e at t. More records on either side reveal more. The curve is the largest over all
a + b = k: a group of k is any k additions and removals, a replaced record one of each.
  Proven:   docs/explanation/proofs/group.md, section 6
  Tested:   against quadrature, and against all subsets of small finite tables
  Assumed:  Arb's erfc and its inverse are correct
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, comb, exp, inf, log, log1p
from typing import NamedTuple

from letalone.exact.balls import Ball, ball, certain, fraction_below, with_bits, working_bits
from letalone.privacy.bounds import ONE, ZERO, Bound, at_most, larger, once
from letalone.privacy.search import crossing

EXACT_SIZE = 16  # up to here each a is looked at, beyond in blocks
BLOCKS = 14
FARTHEST = 1000.0  # standard deviations; no float knows a tail of e^-500000
ROOT_BITS = 192
NEWTON_STEPS = 3


class Sides(NamedTuple):
    """How many of the group's records are only in the first table, and only in the second."""

    first: int
    second: int


def sides_of(size: int) -> tuple[Sides, ...]:
    """Sides whose worst curve is that of the group, or (beyond EXACT_SIZE) above it.

    The first two are all removed and all added. A block of a from l to h is covered by (h, k - l),
    since more records on either side reveal more.
    """
    starts = [*range(1, size, block_width(size)), size]
    return end_sides(size) + tuple(Sides(high - 1, size - low) for low, high in pairwise(starts))


def end_sides(size: int) -> tuple[Sides, Sides]:
    """The group all removed, and all added."""
    return Sides(size, 0), Sides(0, size)


def block_width(size: int) -> int:
    """How many a stand together in one block."""
    return 1 if size <= EXACT_SIZE else ceil((size - 1) / BLOCKS)


@dataclass(frozen=True, slots=True)
class Mixtures:
    """The pair P, Q of the theorem; places are told as s = mu t, so that exponents are rational."""

    mu_squared: Fraction
    rate: Fraction
    sides: Sides

    def upper_delta(self, epsilon: Fraction) -> Bound:
        """The event {x > t}, at a t where P / Q is certainly at most e^e.

        At the threshold P / Q the event is the best there is, and the curve falls.
        """
        if self._is_beyond(epsilon):
            return ZERO
        at = self.place(epsilon)
        return certain(lambda: self.told(at) - self.ratio(at).exp() * self.alarms(at))

    def lower_delta(self, epsilon: Fraction) -> Bound:
        """The same event, at the threshold asked for."""
        if self._is_beyond(epsilon):
            return ZERO
        at = self.place(epsilon)
        excess = once(lambda: self.told(at) - ball(epsilon).exp() * self.alarms(at))
        return larger(ZERO, excess)

    def _is_beyond(self, epsilon: Fraction) -> bool:
        largest = self.largest_loss()
        return largest is not None and at_most(largest, epsilon)

    def largest_loss(self) -> Ball | None:
        """-b ln(1 - q) where the group is only in the second table; else the loss has no bound."""
        if self.sides.first:
            return None
        return once(lambda: -self.sides.second * ball(-self.rate).log1p())

    def place(self, epsilon: Fraction) -> Fraction:
        """A place at or before the one where ln(P / Q) is epsilon, close to it."""
        return _place(self, epsilon)

    def search(self, epsilon: Fraction) -> Fraction:
        """The place, found in floats, improved once and checked."""
        start = self._rough_place(epsilon)
        near = with_bits(lambda: self._newton(start, epsilon), ROOT_BITS)
        back = Fraction(1, 2**100) * (1 + abs(near))
        for _ in range(60):
            if once(lambda: self.ratio(near - back)) <= once(lambda: ball(epsilon)):  # noqa: B023
                return near - back
            back *= 4
        return -self.sides.second * self.mu_squared / 2  # from there down P <= N(0, 1) <= Q

    def _newton(self, start: Fraction, epsilon: Fraction) -> Fraction:
        """Newton's method with many digits; what leaves the neighbourhood is not followed."""
        place = start
        for _ in range(NEWTON_STEPS):
            step = (ball(epsilon) - self.ratio(place)) / self._slope(place)
            if not abs(step) < 1:
                return place
            place = fraction_below((ball(place) + step).mid())
        return place

    def _slope(self, place: Fraction) -> Ball:
        """The derivative of ln(P / Q): the mean numbers of records in both samples."""
        return sum((self._mean(count, sign * place) for count, sign in self._signed()), ball(0))

    def _mean(self, count: int, place: Fraction) -> Ball:
        at, half = ball(place), ball(self.mu_squared / 2)
        used = _weighted_mean(count, self.rate, lambda i: i * (i * at - i * i * half).exp())
        return used / self._density(count, place)

    def _rough_place(self, epsilon: Fraction) -> Fraction:
        target, spread = float(epsilon), float(self.mu_squared) ** 0.5
        low, high = -1.0, 1.0
        while self.rough_ratio(high) < target and high < FARTHEST * spread + target:
            high *= 2
        while self.rough_ratio(low) > target:
            low *= 2
        if self.rough_ratio(high) <= target:
            return Fraction(high)
        return Fraction(crossing(lambda s: target - self.rough_ratio(s), low, high))

    def rough_ratio(self, place: float) -> float:
        """ln(P / Q) in floats; nothing depends on it but tightness."""
        m = float(self.mu_squared)
        first, second = (_log_weights(count, self.rate) for count in self.sides)
        return _log_sum([w + i * place - i * i * m / 2 for i, w in enumerate(first)]) - _log_sum(
            [w - j * place - j * j * m / 2 for j, w in enumerate(second)]
        )

    def ratio(self, place: Fraction) -> Ball:
        """ln(P / Q) at a place; to be called where the precision is set."""
        first, second = (self._density(count, sign * place) for count, sign in self._signed())
        return (first / second).log()

    def _density(self, count: int, place: Fraction) -> Ball:
        """sum_i Bin(count, q)_i e^(i s - i^2 mu^2 / 2)."""
        at, half = ball(place), ball(self.mu_squared / 2)
        return _weighted_mean(count, self.rate, lambda i: (i * at - i * i * half).exp())

    def told(self, place: Fraction) -> Ball:
        """P[x > t]."""
        return self._tail(self.sides.first, place, 1)

    def alarms(self, place: Fraction) -> Ball:
        """Q[x > t]."""
        return self._tail(self.sides.second, place, -1)

    def _tail(self, count: int, place: Fraction, sign: int) -> Ball:
        root = ball(self.mu_squared / 2).sqrt()
        at, step = ball(place) / (2 * root), sign * root
        return _weighted_mean(count, self.rate, lambda i: (at - i * step).erfc() / 2)

    def _signed(self) -> tuple[tuple[int, int], tuple[int, int]]:
        return (self.sides.first, 1), (self.sides.second, -1)

    def missed_when_removed(self, false_alarm: Fraction) -> Bound:
        """P[x <= t] for the t with Q[x > t] = a; only where Q is N(0, 1)."""
        if false_alarm == 0:
            return ONE

        def missed() -> Ball:
            at, root = ball(2 * false_alarm).erfcinv(), ball(self.mu_squared / 2).sqrt()
            return _weighted_mean(self.sides.first, self.rate, lambda i: (i * root - at).erfc() / 2)

        return certain(missed)


@lru_cache(maxsize=256)
def _place(mixtures: Mixtures, epsilon: Fraction) -> Fraction:
    return mixtures.search(epsilon)


def _weighted_mean(count: int, rate: Fraction, term: Callable[[int], Ball]) -> Ball:
    """The mean of a term under Bin(count, rate)."""
    weights = _weights(count, rate, working_bits())
    return sum((weight * term(i) for i, weight in enumerate(weights)), ball(0))


@lru_cache(maxsize=512)
def _weights(count: int, rate: Fraction, precision: int) -> tuple[Ball, ...]:
    def weight(i: int) -> Ball:
        return comb(count, i) * ball(rate) ** i * ball(1 - rate) ** (count - i)

    return tuple(with_bits(lambda: weight(i), precision) for i in range(count + 1))  # noqa: B023


@lru_cache(maxsize=512)
def _log_weights(count: int, rate: Fraction) -> tuple[float, ...]:
    use, leave = log(rate), log1p(-float(rate))
    return tuple(log(comb(count, i)) + i * use + (count - i) * leave for i in range(count + 1))


def _log_sum(exponents: list[float]) -> float:
    top = max(exponents)
    return -inf if top == -inf else top + log(sum(exp(x - top) for x in exponents))
