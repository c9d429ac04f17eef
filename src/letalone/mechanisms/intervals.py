"""Intervals for a probability from a count: Clopper and Pearson's.

The interval holds every p for which neither "at most this count" nor "at least this
count" has probability below (1 − confidence)/2. So it misses with probability at most
1 − confidence, whatever p and n are. Its ends are quantiles of the beta law.

  Proven:   docs/explanation/proofs/randomized_response_estimate.md, section 3
  Tested:   coverage by exact sums over all counts
  Assumed:  scipy's inverse of the incomplete beta function is right to 1e-12; the ends
            are moved outwards by that much
"""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

OUTWARDS = 1e-12


def clopper_pearson(counts: Counts, total: int, confidence: float) -> tuple[Floats, Floats]:
    """The lower and upper ends for each count out of `total`."""
    tail = (1 - confidence) / 2
    # P[Bin(n, p) >= x] is the beta law's probability of at most p, with x and n − x + 1.
    low = _beta_quantile(np.maximum(counts, 1), total - counts + 1, tail)
    missed = _beta_quantile(np.maximum(total - counts, 1), counts + 1, tail)
    low = np.where(counts == 0, 0.0, low * (1 - OUTWARDS))
    high = 1 - np.where(counts == total, 0.0, missed * (1 - OUTWARDS))
    return low, high


def _beta_quantile(a: Counts, b: Counts, probability: float) -> Floats:
    from scipy import special

    inverse = cast("Any", special).betaincinv
    return np.asarray(inverse(a, b, probability), dtype=np.float64)
