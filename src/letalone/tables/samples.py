"""Sample forms: a mean of squares over n rows, times n/(n − 1).

n is noisy. The factor falls as n rises, so each end of an interval takes the factor, of those that
n's own interval allows, that widens it; n counts as 2 at least.
"""

import numpy as np
from numpy.typing import NDArray

from letalone.tables.columns import Answer

Floats = NDArray[np.float64]
FEWEST = 2.0


def sampled(answer: Answer, rows: Floats, width: float) -> Answer:
    """The answer as an estimate from a sample of noisy size `rows`, known to within `width`."""
    fewest, most = _factor(rows + width), _factor(rows - width)
    low = np.minimum(answer.low * fewest, answer.low * most)
    high = np.maximum(answer.high * fewest, answer.high * most)
    return Answer(answer.values * _factor(rows), low, high)


def _factor(rows: Floats) -> Floats:
    counted = np.maximum(rows, FEWEST)
    return counted / (counted - 1)
