"""Certified lower bounds on epsilon: from two counts, or from right guesses of one run.

An event was seen `often` times in `total` draws on one input, and `seldom` times in as
many draws on a neighbouring input, where its true probabilities are p and q. A mechanism
that is (epsilon, delta)-DP has p ≤ e^epsilon·q + delta, so epsilon ≥ ln((p − delta)/q).

Theorem.  Let U(p) be the probability of at least `often` hits, V(q) that of at most
`seldom` hits, and t(1 − ln t) ≤ miss. The pairs with U(p)·V(q) > t contain the true pair
with probability at least 1 − miss; the least ln((p − delta)/q) over them, which is what
`epsilon_below` returns, rounded down, is above the true one with probability at most miss.
  Proven:   docs/explanation/proofs/audit.md, sections 1 and 2
  Tested:   coverage by exact sums over all counts; against a slow search over all pairs
  Assumed:  the draws are independent; Arb is correct

U and V are Clopper and Pearson's; to ask that both be above miss/2 is the usual way to
hold both rates at once. Their product (Fisher's) gives a bound closer by a quarter.

One-run audits: m coins decide, each for itself, which of m canaries are in the data. The mechanism
runs once; from its output some r memberships are guessed, and v of the guesses are right.

Theorem.  If the mechanism is (epsilon, delta)-DP when one canary is added or removed, then for
every whole number K from 1 on
    P[v or more are right]  ≤  (m·delta/2 + sum over j < K of P[Bin(r, q) ≥ v − j]) / K,
with q = e^epsilon / (1 + e^epsilon). For delta = 0 and K = 1 it is the tail of the binomial law.
  Proven:   docs/explanation/proofs/audit.md, section 8; r is fixed before the output is seen
  Tested:   tests/audit/test_guesses.py: against randomized response with and without a leak of
            probability delta, whose rate of wrong bounds is counted; certified against exact sums
  Assumed:  the coins are fair and independent; Arb is correct

Steinke, Nasr, Jagielski: Privacy auditing with one (1) training run (2023), whose delta term is
2·m·delta times the largest P[v > Bin ≥ v − i]/i; the one here is proven without their lemmas.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.exact.balls import Ball, ball, certain, lower, with_bits

Floats = NDArray[np.float64]

CURVE_STEPS = 64  # the curve U·V = t is followed in so many steps; more gain below 0.001
OUTWARDS = 1e-9  # far above the error of scipy's inverse, far below that of any count
GOOD_BITS = 64
HALVINGS = 60
SAFETY_MARGINS = (1e-9, 1e-6, 1e-3)  # how far a rate is taken back until balls certify it


@dataclass(frozen=True, slots=True)
class HitCounts:
    """How often an event was seen in `total` draws on each of two inputs."""

    often: int
    seldom: int
    total: int


def epsilon_below(counts: HitCounts, *, delta: Fraction, miss: Fraction) -> float:
    """A lower bound on epsilon that is wrong with probability at most `miss`; 0 or more."""
    level = product_level(miss)
    marks = _marks(level)
    least = _least_rates(counts, marks[:-1])
    highest = _most_rates(counts, np.maximum(level / marks[1:], level))
    bounds = [
        _log_ratio(
            _certified_least(counts, rate=float(least[first]), tail=float(marks[first])),
            _certified_most(counts, rate=float(highest[last]), level=level, mark=marks[last + 1]),
            delta,
        )
        for first, last in _merge_steps(least, highest, float(delta))
    ]
    return max(0.0, min(bounds))


def epsilon_below_apart(counts: HitCounts, *, delta: Fraction, miss: Fraction) -> float:
    """Such a bound for independent draws that need not be alike: their mean rates count.

    Each rate gets half of the error, and is judged by one hit less, or more, than was seen.
    """
    half = miss / 2
    moved = HitCounts(max(counts.often - 1, 0), min(counts.seldom + 1, counts.total), counts.total)
    tail = np.array([float(half) * (1 - OUTWARDS)])
    least = float(_least_rates(moved, tail)[0])
    highest = float(_most_rates(moved, tail)[0])
    certified = _certified_least(moved, rate=least, tail=float(tail[0]))
    ceiling = _certified_most(moved, rate=highest, level=float(tail[0]), mark=1.0)
    return max(0.0, _log_ratio(certified, ceiling, delta))


def region(counts: HitCounts, confidence: float) -> tuple[Floats, Floats]:
    """The edge of the pairs of rates that are not ruled out: for pictures, in floats.

    The true rates are at least `least` and at most `most`, at one place of these at least.
    """
    level = product_level(1 - Fraction(confidence))
    marks = _marks(level)
    least = _least_rates(counts, marks[:-1])
    return least, _most_rates(counts, np.maximum(level / marks[1:], level))


def _marks(level: float) -> Floats:
    between = level ** (1 - np.arange(1, CURVE_STEPS) / CURVE_STEPS)
    return np.concatenate([[level], between, [1.0]])


def product_level(miss: Fraction) -> float:
    """The largest t found with t(1 − ln t) ≤ miss: two uniform numbers' product is below it."""
    low, high = 0.0, float(miss)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle > 0 and _below(middle, miss) else (low, middle)
    return low


def _below(level: float, miss: Fraction) -> bool:
    exact = Fraction(level)
    share = certain(lambda: ball(exact) * (1 - ball(exact).log()))
    return bool(share <= ball(miss))


def _merge_steps(least: Floats, most: Floats, delta: float) -> Sequence[tuple[int, int]]:
    # A stretch of steps may be bounded at once, by its least p and its largest q. That is
    # done as long as it does not lower the result, so that few rates need a certificate.
    ratios = np.maximum(least - delta, 0) / most
    floor = float(ratios.min())
    stretches: list[tuple[int, int]] = []
    first = 0
    while first < CURVE_STEPS:
        # `most` rises along the way, so the steps that may join form one stretch.
        joined = np.maximum(least[first] - delta, 0) / most[first:] >= floor
        last = first + max(1, int(np.argmin(np.append(joined, False)))) - 1
        stretches.append((first, last))
        first = last + 1
    return stretches


def _least_rates(counts: HitCounts, tails: Floats) -> Floats:
    if counts.often == 0:
        return np.zeros_like(tails)
    rates = _beta_quantiles(counts.often, counts.total - counts.often + 1, tails)
    return rates * (1 - OUTWARDS)


def _most_rates(counts: HitCounts, tails: Floats) -> Floats:
    if counts.seldom == counts.total:
        return np.ones_like(tails)
    rates = 1 - _beta_quantiles(counts.total - counts.seldom, counts.seldom + 1, tails)
    return np.minimum(1.0, rates * (1 + OUTWARDS))


def _certified_least(counts: HitCounts, *, rate: float, tail: float) -> Fraction:
    """The rate, if at it `often` hits or more have at most this probability; else 0."""
    if rate <= 0:
        return Fraction(0)
    missed = counts.total - counts.often + 1
    share = beta_share(Fraction(rate), counts.often, missed)
    return Fraction(rate) if share <= ball(Fraction(tail)) else Fraction(0)


def _certified_most(counts: HitCounts, *, rate: float, level: float, mark: float) -> Fraction:
    """The rate, if at it `seldom` hits or fewer have at most probability level/mark; else 1."""
    if rate >= 1:
        return Fraction(1)
    share = beta_share(1 - Fraction(rate), counts.total - counts.seldom, counts.seldom + 1)
    return Fraction(rate) if share * ball(Fraction(mark)) <= ball(Fraction(level)) else Fraction(1)


def beta_share(rate: Fraction, a: int, b: int) -> Ball:
    """The probability that a number of the beta law is at most the rate."""
    # P[Bin(n, p) ≥ x] is the beta law's probability of at most p, with x and n − x + 1.
    return with_bits(lambda: ball(rate).beta_lower(ball(a), ball(b), regularized=True), GOOD_BITS)


def _log_ratio(least: Fraction, most: Fraction, delta: Fraction) -> float:
    excess = least - delta
    if excess <= 0:
        return 0.0
    return lower(certain(lambda: (ball(excess) / ball(most)).log()))


def _beta_quantiles(a: int, b: int, probabilities: Floats) -> Floats:
    from scipy import special

    inverse = cast("Any", special).betaincinv
    return np.asarray(inverse(a, b, probabilities), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class RightGuesses:
    """So many canaries were tossed for, so many guessed, so many guesses right."""

    canaries: int
    made: int
    right: int


def epsilon_of_guesses(guesses: RightGuesses, *, delta: Fraction, miss: Fraction) -> float:
    """A lower bound on epsilon that is wrong with probability at most `miss`; 0 or more."""
    slack = guesses.canaries * delta / 2
    rate = _largest(lambda q: bool(_chance(guesses, q, slack).min(initial=1) <= float(miss)))
    for back in SAFETY_MARGINS if rate > 0.5 else ():
        kept = 0.5 + (rate - 0.5) * (1 - back)
        steps = int(np.argmin(_chance(guesses, kept, slack))) + 1
        if kept > 0.5 and _certify_rate(guesses, Fraction(kept), slack, steps, miss):
            odds = Fraction(kept) / (1 - Fraction(kept))
            return max(0.0, lower(certain(lambda odds=odds: ball(odds).log())))
    return 0.0


def _largest(holds: Callable[[float], bool]) -> float:
    """The largest rate from 1/2 on, about, for which it holds; it fails from some rate on."""
    low, high = 0.5, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if middle < 1 and holds(middle) else (low, middle)
    return low


def _chance(guesses: RightGuesses, rate: float, slack: Fraction) -> Floats:
    """The bound for K = 1, 2, … in floats; for K = 1 alone where there is no delta."""
    steps = guesses.right if slack else min(1, guesses.right)
    least = guesses.right - np.arange(steps)
    from scipy import special

    share = cast("Any", special).betainc(least, guesses.made - least + 1, rate)
    return (float(slack) + np.cumsum(share)) / np.arange(1, steps + 1)


def _certify_rate(
    guesses: RightGuesses, rate: Fraction, slack: Fraction, steps: int, miss: Fraction
) -> bool:
    total = ball(slack)
    for j in range(steps):
        total += beta_share(rate, guesses.right - j, guesses.made - guesses.right + j + 1)
    return bool(total <= ball(miss * steps))
