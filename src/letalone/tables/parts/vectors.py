"""Counts, sums and histograms, each with noise of its own, and counts read off other parts."""

from dataclasses import dataclass

import numpy as np

from letalone.engines.core import measures
from letalone.engines.core.measures import GridSum, Measure, Rows, RowsWith
from letalone.plans.expressions import Expression
from letalone.tables.columns import Floats, NoisyColumn, Wholes, count_answer, rounded_by
from letalone.tables.grid import Grid
from letalone.tables.intervals import width
from letalone.tables.noise import Noise
from letalone.tables.parts.part import ROOT_TWO, VectorPart
from letalone.tables.sensitivity import (
    Moved,
    number_moves,
    sensitivity_of,
    together,
)

Counts = Rows | RowsWith | measures.DistinctUnits | measures.DistinctValues | measures.CellCounts
ROW_SHARE = 2**15  # the share of a sum's noise that its number of rows costs


@dataclass(frozen=True, slots=True)
class CountPart(VectorPart):
    """How many rows, or units, or different values; or rows in each range of a histogram, whose
    `ends` are the ranges' last cells, plus one."""

    measure: Counts = Rows()  # noqa: RUF009  (it is frozen and has no fields)
    ends: tuple[int, ...] = ()

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (self.measure,)

    @property
    def lattice(self) -> int:
        """1 where nobody counts in part: different values, and people who are in few groups."""
        counts_people = isinstance(self.measure, measures.DistinctUnits)
        in_few = counts_people and self.unit.groups == self.unit.keys
        is_whole = in_few or isinstance(self.measure, measures.DistinctValues)
        return 1 if is_whole else self.unit.lattice

    @property
    def moved(self) -> Moved:
        return sensitivity_of(self.measure, self.unit, self.lattice)

    def vector(self, exact: list[Wholes]) -> Wholes:
        """A count; or those of ranges: sums of cells that no other range has."""
        starts = np.array((0, *self.ends[:-1]))
        rows = np.add.reduceat(exact[0], starts, axis=1) if self.ends else exact[0][:, None]
        return rows // (self.unit.lattice // self.lattice)

    def answers(self, noisy: Floats, noise: Noise, confidence: float) -> dict[str, NoisyColumn]:
        counts = noisy if self.ends else noisy[:, 0]
        half, is_whole = noise.width(confidence), self.lattice == 1
        return dict.fromkeys(self.names, count_answer(counts, half, whole=is_whole))

    def width(self, noise: Noise, confidence: float) -> float:
        return noise.width(confidence) + rounded_by(whole=self.lattice == 1)


@dataclass(frozen=True, slots=True)
class TotalPart(VectorPart):
    """A sum, where neither a mean nor a count is asked for beside it.

    Where places stray from values, their number is released too, for the interval: a row counts
    2^-15 of the largest value there, so that it takes hardly any of ε.
    """

    of: Expression
    grid: Grid

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The rows with a value, and the sum above `low`."""
        grid = self.grid
        return RowsWith(self.of), GridSum(self.of, grid.low, grid.high, grid.shift)

    @property
    def _largest(self) -> int:
        return max(abs(self.grid.low), abs(self.grid.high))

    @property
    def _row(self) -> int:
        """What a row counts in the second number; 0 where there is none."""
        return -(-self._largest // ROW_SHARE) if self.grid.slack else 0

    @property
    def moved(self) -> Moved:
        """A row adds a number from `low` to `high`, and to the second number what it counts."""
        total = number_moves(self.grid.low, self.grid.high, self.unit)
        return together(total, number_moves(0, self._row, self.unit)).times(self.lattice)

    @property
    def weight(self) -> float:
        """One noise, as a share of the largest value."""
        return ROOT_TWO * self.moved.l1 / self.lattice / self._largest

    def vector(self, exact: list[Wholes]) -> Wholes:
        """The sum in steps of the grid, and how many rows there are to it."""
        rows, above = exact
        total = above + rows * self.grid.low
        return np.stack([total, rows * self._row] if self._row else [total], axis=-1)

    def answers(self, noisy: Floats, noise: Noise, confidence: float) -> dict[str, NoisyColumn]:
        """The sum: each end for values that stray from their places as far as they can."""
        least, largest = self.grid.strays
        value = noisy @ self._form(self.grid.offset)
        low = noisy @ self._form(least) - self._half(noise, confidence, least)
        high = noisy @ self._form(largest) + self._half(noise, confidence, largest)
        answer = NoisyColumn(value, np.minimum(low, value), np.maximum(high, value))
        return dict.fromkeys(self.names, answer)

    def _form(self, strays: float) -> Floats:
        """What each number counts for in the sum of values that are so far above their places."""
        return np.array([float(self.grid.step)] + ([strays / self._row] if self._row else []))

    def _half(self, noise: Noise, confidence: float, strays: float) -> float:
        if not self._row:
            return float(self.grid.step) * noise.width(confidence)
        return width(noise.law, self._form(strays), confidence)

    def error(self, name: str, noise: Noise, *, confidence: float, rows: int | None) -> float:
        """The half-width to expect; that places stray enters only for a known number of rows."""
        del name
        return self.width(noise, confidence) + self.grid.slack * (rows or 0)

    def width(self, noise: Noise, confidence: float) -> float:
        """One noise's, in the unit of the values."""
        return self._half(noise, confidence, self.grid.offset)


@dataclass(frozen=True, slots=True)
class SharedCount:
    """A count of rows read off the corners of one part or of several, weighted by precision."""

    names: tuple[str, ...]
    forms: tuple[tuple[int, Floats], ...]
    whole: bool

    def reads(self, place: int) -> bool:
        return any(part == place for part, _ in self.forms)

    def answers(
        self, noisy: dict[int, Floats], noises: dict[int, Noise], confidence: float
    ) -> dict[str, NoisyColumn]:
        weighted = zip(self._shares(noises), self.forms, strict=True)
        counts = (share * (noisy[part] @ form) for share, (part, form) in weighted)
        values, half = np.asarray(sum(counts, np.zeros(()))), self._width(noises, confidence)
        return dict.fromkeys(self.names, count_answer(values, half, whole=self.whole))

    def error(self, noises: dict[int, Noise], confidence: float) -> float:
        return self._width(noises, confidence) + rounded_by(whole=self.whole)

    def _width(self, noises: dict[int, Noise], confidence: float) -> float:
        law = noises[self.forms[0][0]].law
        shares = zip(self._shares(noises), self.forms, strict=True)
        weights = [w * form * (noises[part].law.scale / law.scale) for w, (part, form) in shares]
        return width(law, np.concatenate(weights), confidence)

    def _shares(self, noises: dict[int, Noise]) -> list[float]:
        laws = [(noises[part].law, form) for part, form in self.forms]
        precise = [1 / (law.deviation**2 * float(form @ form)) for law, form in laws]
        return [share / sum(precise) for share in precise]
