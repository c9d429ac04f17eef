"""Shares that are forced to look like shares: convenient, and biased.

The nearest point of the simplex (all shares 0 or more, their sum 1) to unbiased estimates has a
smaller error for many values at once, but each share is pulled: rare values up, all others down.
So such shares carry no interval, and say that they are biased.
"""

from dataclasses import dataclass

import numpy as np

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError
from letalone.mechanisms.values import Floats
from letalone.privacy import Privacy


@dataclass(frozen=True, slots=True, eq=False)
class BiasedShares:
    """Shares that are 0 or more and add up to 1, with the name of the method; no intervals."""

    value: Floats
    method: str
    privacy: Privacy | None = None
    biased: bool = True

    def __repr__(self) -> str:
        shown = ", ".join(f"{share:.4g}" for share in self.value[:16])
        more = ", …" if self.value.size > 16 else ""
        return f"BiasedShares({shown}{more}; biased, by {self.method}; no intervals)"


def project(estimate: Estimate) -> BiasedShares:
    """The nearest shares that are 0 or more and add up to 1; biased."""
    shares = _estimated_shares(estimate)
    return BiasedShares(project_to_simplex(shares), "projection", estimate.privacy)


def _estimated_shares(estimate: object) -> Floats:
    if isinstance(estimate, Estimate) and np.ndim(estimate.value) == 1:
        return np.asarray(estimate.value, np.float64)
    raise ParameterError(
        "Only a list of estimated shares can be projected: what `estimate` of a frequency oracle"
        " returns."
    )


def project_to_simplex(shares: Floats) -> Floats:
    """max(shares − t, 0) with the t for which they add up to 1: the nearest in the 2-norm."""
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, shares.size + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    return np.maximum(shares - excess[last], 0.0)
