"""Bounds of columns and norms of rows: declared, or bought by a noisy histogram.

The histogram of a column has cells between 0 and ±2^k, that of norms between powers of √2: public
edges, geometric in magnitude. Cells whose noisy count stands out from the noise are kept. A
column's bounds are the outer edges of its kept cells; the norm is the edge below which 39 of 40
rows of kept cells lie.

Theorem.  A row is in one cell of each column, or in none: it moves all histograms together by
width in L1 and √width in L2. They are one measure of the release that they are bought for.
  Proven:   docs/explanation/proofs/statistics_learners.md, section 3
  Tested:   tests/learn/test_bounds.py: by brute force; the bounds found, and of nothing at all
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError
from letalone.exact.typed import SENSITIVITY, refusal
from letalone.learn.features.classes import need_declared
from letalone.learn.noisy_sums.sums import Measure, NoisySums, root_above
from letalone.learn.noisy_sums.wholes import Floats, Wholes, row_sums
from letalone.privacy import Privacy
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource

BoundsLike = tuple[object, object] | Sequence[object] | str | None
PRIVATE = "private"

PART = 5  # one part in five of a split is for what is bought
FARTHEST = 1e100
POWERS = np.exp2(np.arange(-30.0, 51.0))
EDGES: Floats = np.concatenate([-POWERS[::-1], np.zeros(1), POWERS])
NORM_EDGES: Floats = np.concatenate([np.zeros(1), np.exp2(np.arange(-60, 101) / 2)])
KEPT_PART = 39 / 40


@dataclass(frozen=True, slots=True)
class ColumnBounds:
    """Lower and upper bounds of columns, or that they are bought."""

    name: str
    width: int
    lower: tuple[float, ...] | None
    upper: tuple[float, ...] | None

    @property
    def purchase(self) -> tuple[Measure, ...]:
        histogram = Measure(self.name, self.width, root_above(self.width))
        return (histogram,) if self.lower is None else ()

    def known(self, rows: Floats, noise: NoisySums, bits: BitSource) -> tuple[Floats, Floats]:
        """The bounds; where they are bought, this asks their measure."""
        if self.lower is not None and self.upper is not None:
            return np.array(self.lower), np.array(self.upper)
        noisy = noise.release(self.name, histograms(rows, EDGES), bits)
        kept = standing_out(noisy, noise, self.name)
        last = kept.shape[1] - np.argmax(kept[:, ::-1], axis=1)
        return EDGES[np.argmax(kept, axis=1)], EDGES[last]

    def described(self) -> Json:
        if self.lower is None or self.upper is None:
            return {self.name: PRIVATE}
        return {self.name: [[number.hex() for number in side] for side in (self.lower, self.upper)]}

    @property
    def words(self) -> str:
        return f"{self.name}: {'declared' if self.lower is not None else 'bought'}"


@dataclass(frozen=True, slots=True)
class Norm:
    """The largest norm of a row, or that it is bought."""

    declared: Fraction | None
    name: str = "data_norm"

    @property
    def purchase(self) -> tuple[Measure, ...]:
        return () if self.declared is not None else (Measure(self.name, 1, Fraction(1)),)

    def known(self, rows: Floats, noise: NoisySums, bits: BitSource) -> Fraction:
        """The norm that rows are clipped to; asks its measure if it is bought."""
        if self.declared is not None:
            return self.declared
        noisy = noise.release(self.name, histograms(norms_of(rows), NORM_EDGES), bits)
        counts = np.where(standing_out(noisy, noise, self.name), noisy, 0.0)[0]
        enough = np.cumsum(counts) >= KEPT_PART * np.sum(counts)
        return Fraction(float(NORM_EDGES[np.argmax(enough) + 1]))

    def described(self) -> Json:
        return {self.name: PRIVATE if self.declared is None else str(self.declared)}

    @property
    def words(self) -> str:
        return f"{self.name}: {'declared' if self.declared is not None else 'bought'}"


class SumsPlan:
    """A plan whose release is noisy sums over rows, and what follows from them.

    `_model` names it, `_declared` the fields that hold bounds or norms. A subclass adds `_facts`,
    what else decides the law of the model, and `_how`, in words.
    """

    __slots__ = ()
    _model: ClassVar[str]
    _declared: ClassVar[tuple[str, ...]] = ("bounds",)
    noise: NoisySums

    @property
    def privacy(self) -> Privacy:
        return self.noise.privacy

    @property
    def words(self) -> tuple[str, ...]:
        return *self._how(), *(part.words for part in self._parts()), self.noise.words

    def described(self) -> Json:
        facts: Json = {"model": self._model, **self._facts()}
        for part in self._parts():
            facts |= part.described()
        return facts | self.noise.described()

    def _facts(self) -> Json:
        return {}

    def _how(self) -> tuple[str, ...]:
        return ()

    def _parts(self) -> list["ColumnBounds | Norm"]:
        return [getattr(self, name) for name in self._declared]


def read_bounds(bounds: BoundsLike, width: int, *, name: str = "bounds") -> ColumnBounds:
    """Bounds as declared, or to be bought; a mistake is told."""
    given = need_declared(name, bounds, example="(0, 1)")
    if isinstance(given, str):
        return ColumnBounds(name, width, *_read_purchase(name, given, "(lower, upper)"))
    lower, upper = (column_of_numbers(name, side, width) for side in _pair(name, given))
    if not np.all(np.array(upper) / 2 - np.array(lower) / 2 > 1 / FARTHEST):
        raise ParameterError(f"{name} must have lower < upper for every feature.")
    return ColumnBounds(name, width, lower, upper)


def read_norm(data_norm: object) -> Norm:
    """The norm as declared, or to be bought."""
    given = need_declared("data_norm", data_norm, example="10")
    if isinstance(given, str):
        return Norm(_read_purchase("data_norm", given, "a positive number")[0])
    norm = SENSITIVITY.cautious("data_norm", given)
    if not 1 / FARTHEST < norm < FARTHEST:
        raise refusal("data_norm", given, "from 1e-100 to 1e100", "Use another unit.")
    return Norm(norm)


def with_purchases(
    measures: Sequence[Measure], *bought: ColumnBounds | Norm
) -> tuple[Measure, ...]:
    """The measures and what has to be bought, for one part in five of the whole."""
    purchases = [measure for some in bought for measure in some.purchase]
    total = sum(measure.weight * measure.times for measure in measures)
    number = max(len(purchases), 1)
    finer = [replace(measure, weight=measure.weight * (PART - 1) * number) for measure in measures]
    return (*finer, *(replace(measure, weight=total) for measure in purchases))


def column_of_numbers(name: str, side: object, width: int) -> tuple[float, ...]:
    """Declared numbers, one for each feature; a single one is for all."""
    try:
        numbers = np.asarray(side, np.float64)
        column = np.broadcast_to(numbers, (width,))
    except (TypeError, ValueError):
        raise ParameterError(
            f"{name} must be numbers: one for all, or one for each of the {width} features."
        ) from None
    if not np.all(np.abs(column) <= FARTHEST):  # NaN is refused, too
        raise ParameterError(f"{name} must be finite numbers, of a size of at most 1e100.")
    return tuple(float(number) for number in column)


def histograms(rows: Floats, edges: Floats) -> Wholes:
    """How many finite values of each column lie in each cell, ends included."""
    cells, width = edges.size - 1, rows.shape[1]
    places = np.clip(np.searchsorted(edges, rows, side="left"), 1, cells) - 1
    counted: Wholes = np.zeros((width, cells), np.int64)
    for column in range(width):
        finite = np.isfinite(rows[:, column])
        counted[column] = np.bincount(places[finite, column], minlength=cells)
    return counted


def norms_of(rows: Floats) -> Floats:
    """The norms of rows as a column; what is not finite counts as 0."""
    finite = np.clip(np.where(np.isfinite(rows), rows, 0.0), -FARTHEST, FARTHEST)
    return np.sqrt(row_sums(finite**2))


PAIR = "a pair (lower, upper), of which each is a number or has one for each column"


def standing_out(noisy: Floats, noise: NoisySums, name: str) -> NDArray[np.bool_]:
    """The cells whose count is hardly noise; of each column at least its largest."""
    tail = log(noisy.size) + 4  # all noise of all cells is below with probability 0.98
    unit = noise.deviation(name)
    least = unit * (np.sqrt(2 * tail) if noise.gaussian else tail / np.sqrt(2))
    return (noisy > least) | (noisy == np.max(noisy, axis=1, keepdims=True))


def _read_purchase(name: str, given: str, allowed: str) -> tuple[None, None]:
    if given != PRIVATE:
        raise refusal(name, given, f"{allowed} or 'private'")
    return None, None


def _pair(name: str, given: object) -> tuple[object, object]:
    try:
        lower, upper = cast("tuple[object, object]", given)
    except (TypeError, ValueError):
        raise refusal(name, given, f"{PAIR}{_as_pair(given)}") from None
    return lower, upper


def _as_pair(given: object) -> str:
    """Bounds that were given as one pair for each column, as they are meant; "" of others."""
    try:
        pairs = [(lower, upper) for lower, upper in cast("Sequence[tuple[object, object]]", given)]
    except (TypeError, ValueError):
        return ""
    return f", here ({[low for low, _ in pairs]}, {[high for _, high in pairs]})"
