"""Many small laws as few larger ones: sums of losses by plain convolution.

A transform of the whole window for each of hundreds of laws of a few dozen points is dear; a
convolution of two such laws is not. All terms of a convolution are positive, so each entry is
right to a relative (n + 2) 2^-53, n terms being added: they are rounded up, or down, by more.

  Proven:   docs/explanation/proofs/loss_distributions.md, section 5
  Tested:   the same bounds with and without merging
"""

from collections.abc import Sequence
from math import expm1, log1p

import numpy as np

from letalone.privacy.loss.lattice_law import LatticeLaw

FEW = 16  # laws, which are not worth it
SMALL = 2048  # points of a merged law
UNIT = 2.0**-53


def merged(laws: Sequence[tuple[LatticeLaw, int]], *, upper: bool) -> list[tuple[LatticeLaw, int]]:
    """The same sum from fewer laws: neighbours that are run once and are small become one."""
    if len(laws) <= FEW:
        return list(laws)
    sign = 1 if upper else -1
    single = sorted((law for law, count in laws if count == 1), key=lambda law: law.masses.size)
    rest = [(law, count) for law, count in laws if count > 1]
    while len(single) > 1:
        pairs = [_pair(single[at : at + 2], sign) for at in range(0, len(single), 2)]
        done = [law for pair in pairs for law in pair]
        if len(done) == len(single):
            break
        single = done
    return rest + [(law, 1) for law in single]


def _pair(laws: Sequence[LatticeLaw], sign: int) -> Sequence[LatticeLaw]:
    if len(laws) < 2 or laws[0].masses.size + laws[1].masses.size > SMALL:
        return laws
    return [_sum(laws[0], laws[1], sign)]


def _sum(one: LatticeLaw, other: LatticeLaw, sign: int) -> LatticeLaw:
    """The law of the sum of two losses."""
    terms = min(one.masses.size, other.masses.size)
    masses = np.convolve(one.masses, other.masses) * (1 + sign * (terms + 4) * UNIT)
    sure = max(one.infinite, other.infinite) >= 1
    leak = 1.0 if sure else -expm1(log1p(-one.infinite) + log1p(-other.infinite))
    return LatticeLaw(
        one.step,
        one.first + other.first,
        masses,
        max(0.0, leak * (1 + sign * 8 * UNIT)),
        one.shift + other.shift,
        one.origin + other.origin,
        one.lost + other.lost,
    )
