"""The values that cells stand for: whole numbers themselves, or the middles of small ranges."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from letalone.engines.measures import Cells
from letalone.plans.expressions import Expression
from letalone.tables.columns import Answer

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scale:
    """Cells from `lower` to `upper`; the last is for what is clamped to `upper`."""

    of: Expression
    lower: Fraction
    upper: Fraction
    step: Fraction
    whole: bool

    @property
    def cells(self) -> Cells:
        """What an engine counts."""
        count = floor((self.upper - self.lower) / self.step) + 1
        return Cells(self.of, self.lower, self.step, count)

    def answer(self, place: Integers, low: Integers, high: Integers) -> Answer:
        """The values of places; −1 and beyond the last are the bounds."""
        inside = 0.0 if self.whole else 0.5
        ends = self._at(low, 0.0), self._at(high, self._last)
        return Answer(self._at(place, inside), *ends)

    @property
    def _last(self) -> float:
        """Where a cell ends, in steps: at its last whole number, or at the next cell."""
        return float(1 - 1 / self.step) if self.whole else 1.0

    def _at(self, places: Integers, within: float) -> Floats:
        inside: Floats = np.clip(places, 0, self.cells.count - 1).astype(np.float64) + within
        values = float(self.lower) + inside * float(self.step)
        return np.clip(values, float(self.lower), float(self.upper))
