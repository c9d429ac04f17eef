"""An estimate: a value, the interval around it, and how often such intervals are right.

The value is unbiased and therefore not forced into the range of the truth: an estimated
proportion may be −0.02. The interval may be cut to that range, because cutting it there
cannot lose the truth. So `value` can lie outside of `low` … `high`; both are right.
"""

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from letalone.answers.promise import as_sure
from letalone.errors import ParameterError
from letalone.exact.typed import CONFIDENCE
from letalone.privacy.bounds import shown_above

if TYPE_CHECKING:
    from letalone.privacy import Privacy

Values = float | NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A number, or an array of numbers, with an interval that holds at `confidence`."""

    value: Values
    low: Values
    high: Values
    confidence: float
    privacy: "Privacy | None" = None

    def __post_init__(self) -> None:
        CONFIDENCE.typed("confidence", self.confidence)
        if not np.shape(self.value) == np.shape(self.low) == np.shape(self.high):
            raise ParameterError(
                f"The shapes of value {np.shape(self.value)}, low {np.shape(self.low)} and high"
                f" {np.shape(self.high)} differ, but must be the same."
            )
        if np.any(np.asarray(self.low) > np.asarray(self.high)):
            raise ParameterError("low is above high. Swap them.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Estimate):
            return NotImplemented
        mine, theirs = (self.value, self.low, self.high), (other.value, other.low, other.high)
        same = all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))
        return same and self.confidence == other.confidence and self.privacy == other.privacy

    def __hash__(self) -> int:
        parts = (self.value, self.low, self.high)
        return hash((*(np.asarray(part).tobytes() for part in parts), self.confidence))

    def __repr__(self) -> str:
        rows = zip(np.ravel(self.value), np.ravel(self.low), np.ravel(self.high), strict=True)
        shown = "; ".join(
            f"{value:.4g} [{_round_down(low)}, {_round_up(high)}]" for value, low, high in rows
        )
        price = f"; {self.privacy}" if self.privacy is not None else ""
        return f"Estimate({shown} at {as_sure(self.confidence)} confidence{price})"


def _round_up(end: float) -> str:
    return shown_above(end) if isfinite(end) else f"{end}"


def _round_down(end: float) -> str:
    return f"{0.0 - float(shown_above(-end)):.4g}" if isfinite(end) else f"{end}"
