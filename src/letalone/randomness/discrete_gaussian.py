"""The discrete Gaussian, Pr[n] ∝ e^(−n²/2σ²) on the integers, exactly.

Round an ideal Gaussian number to the nearest integer n; this has probability proportional
to e^(−n²/2σ²)·h(n) with h(n) = ∫ cosh(n·t/σ²)·e^(−t²/2σ²) dt over |t| ≤ 1/2, which is least at
n = 0. So keep n with probability h(0)/h(n): the rest is the discrete Gaussian. For every σ
at least 86 % are kept, and for large σ all but about 1/(24σ²).

The plural form knows that 1 − q²/24 ≤ h(0)/h(n) ≤ 1/(1 + q²(1/24 − 1/(320σ²))) for q = n/σ²,
and asks the reference between the two.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 7
  Tested:   by enumeration of bits, chi-square with power, the bounds against balls
  Assumed:  the words are independent and uniform

The idea of rejection from an easier law is that of Canonne, Kamath, Steinke: The discrete
Gaussian for differential privacy (2020); the proposal here is the rounded Gaussian.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from letalone.exact.balls import Ball, ball
from letalone.randomness.bits import BitSource, Words
from letalone.randomness.bulk import BLOCK, NOWHERE, Flags, Places, draw_all
from letalone.randomness.chance import Chance, sample_bernoulli, settle
from letalone.randomness.draws import sampler
from letalone.randomness.rounding import ToNearest, Wholes
from letalone.randomness.ziggurat import HALF_GAUSSIAN

NARROW = 8  # below this the bounds on h are not worth having: exact thresholds per n
REACH = 14  # |n| ≤ 14σ is handled by floats, the rest by the reference
SLACK = 2.0**-40  # more than the floats in the bounds can be off


def sample_discrete_gaussian(sigma: Fraction, bits: BitSource) -> int:
    """One draw with Pr[n] ∝ e^(−n²/2σ²)."""
    source = sampler(HALF_GAUSSIAN, bits.word_size)
    while True:
        nearest = source.draw(bits).times(sigma).affine(2, 1, 2).floor(bits)
        if sample_bernoulli(keep_chance(abs(nearest), sigma), bits):
            return nearest


def sample_discrete_gaussians(sigma: Fraction, count: int, bits: BitSource) -> Wholes:
    """Independent draws with Pr[n] ∝ e^(−n²/2σ²)."""
    out = np.empty(count, np.int64)
    draw_all(HALF_GAUSSIAN, sigma, count, ToNearest(out), bits)
    again = _refused(out, sigma, bits)
    while again.size:
        fresh = np.empty(again.size, np.int64)
        draw_all(HALF_GAUSSIAN, sigma, again.size, ToNearest(fresh), bits)
        out[again] = fresh
        again = again[_refused(fresh, sigma, bits)]
    return out


@lru_cache(maxsize=4096)
def keep_chance(size: int, sigma: Fraction) -> Chance:
    """h(0)/h(n) for |n| = size."""
    if size == 0:
        return Chance.of(Fraction(1))
    return Chance.computed(lambda: _bump(0, sigma) / _bump(size, sigma))


def _bump(size: int, sigma: Fraction) -> Ball:
    """h(n), but for a factor that does not depend on n."""
    root = ball(sigma) * ball(2).sqrt()
    low, high = ((ball(2 * size + side) / 2) / root for side in (-1, 1))
    return (low.erfc() - high.erfc()) * (ball(size) ** 2 / (2 * ball(sigma) ** 2)).exp()


def _refused(proposals: Wholes, sigma: Fraction, bits: BitSource) -> Places:
    """Which proposals the coin h(0)/h(n) turns down."""
    blocks = range(0, proposals.size, BLOCK)
    parts = [
        _refused_block(proposals[start : start + BLOCK], sigma, bits) + start for start in blocks
    ]
    return np.concatenate([NOWHERE, *parts])


def _refused_block(proposals: Wholes, sigma: Fraction, bits: BitSource) -> Places:
    short = np.empty((proposals.size + 3) // 4, np.uint64)
    bits.fill(short)
    first = short.view(np.uint16)[: proposals.size]  # 16 bits of the coin nearly always do
    asked = np.flatnonzero(first >= _surely_kept(proposals, sigma))
    rest = np.empty(asked.size, np.uint64)
    bits.fill(rest)
    words = (first[asked].astype(np.uint64) << np.uint64(48)) | (rest >> np.uint64(16))
    decide = _refuse_by_threshold if sigma < NARROW else _refuse_by_bounds
    return asked[decide(proposals[asked], words, sigma, bits)]


def _surely_kept(proposals: Wholes, sigma: Fraction) -> NDArray[np.int64]:
    """A number of 2^-16ths that the chance of being kept is certainly not below."""
    if sigma < NARROW:
        return np.take(_thresholds(sigma)[1], np.abs(proposals), mode="clip")
    least = 1 - REACH**2 / 24 / float(sigma) ** 2 - SLACK
    beyond = max(proposals.max(), -proposals.min()) > REACH * float(sigma)
    return np.array(0 if beyond else int(least * 65536))


@lru_cache(maxsize=64)
def _thresholds(sigma: Fraction) -> tuple[Words, NDArray[np.int64]]:
    """Per |n|, the first 64 and 16 binary digits of the chance; zeros end the table."""
    digits = [keep_chance(n, sigma).digits(64) for n in range(1, int(REACH * sigma) + 2)]
    full = np.array([(1 << 64) - 1, *digits, 0], np.uint64)
    return full, np.array([1 << 16, *(d >> 48 for d in digits), 0], np.int64)


def _refuse_by_threshold(
    proposals: Wholes, words: Words, sigma: Fraction, bits: BitSource
) -> Flags:
    threshold = _thresholds(sigma)[0].take(np.abs(proposals), mode="clip")
    refused = words > threshold
    for k in np.flatnonzero((words == threshold) | (threshold == 0)).tolist():
        refused[k] = not _keep(int(proposals[k]), int(words[k]), sigma, bits)
    return refused


def _refuse_by_bounds(proposals: Wholes, words: Words, sigma: Fraction, bits: BitSource) -> Flags:
    variance = float(sigma) ** 2
    bend = (proposals / variance) ** 2
    height = words * 2.0**-64
    least, most = 1 - bend / 24, 1 / (1 + bend * (1 / 24 - 1 / (320 * variance)))
    refused = height > most + SLACK
    unsure = (~refused & (height > least - SLACK)) | (np.abs(proposals) > REACH * float(sigma))
    for k in np.flatnonzero(unsure).tolist():
        refused[k] = not _keep(int(proposals[k]), int(words[k]), sigma, bits)
    return refused


def _keep(proposal: int, word: int, sigma: Fraction, bits: BitSource) -> bool:
    return settle(keep_chance(abs(proposal), sigma), word, bits)
