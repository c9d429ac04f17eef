"""Covariances, correlations, slopes and regressions on one feature, read off pairs of corners.

With n rows and the estimated means (m, m') of t and s, let Z, X and Y be the sums over rows of
(t − m)(s − m'), (t − m)² and (s − m')². The covariance is Z/n, the slope of s along t is Z/X, the
correlation Z/√(XY). Each is a ratio P/Q of noisy numbers. For the true ratio r the noise of P − rQ
is all that P − rQ is, up to the product of the means' errors, and its width z(r) is at most
z(r̂) + |r − r̂| z(Q). So |r − r̂| ≤ z(r̂) / (Q − z(Q)) at least as often as the confidence says.
A correlation's root is linearised, and both sums of squares are lowered by their widths.

What cannot be told is missing: where the noisy n is not above twice its width, or a sum of squares
that is divided by not above its own. The interval is the whole range there.
  Proven:   docs/explanation/proofs/tables.md, section 9
  Tested:   coverage over seeded runs
  Assumed:  the width is convex in the weights (tested); the product of the means' errors is
            ignored, as it is for variances

Aggregates of the same two columns within the same bounds share pairs of corners, whichever comes
first. A column has three corners where one of them needs its square: both for a correlation, the
one that a slope or a regression is along.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TypeGuard

import numpy as np

from letalone.engines.core.measures import Measure
from letalone.plans.aggregates.formulas import Aggregate
from letalone.plans.aggregates.of_pairs import Correlation, Covariance, Regression, Slope
from letalone.tables.columns import Flags, Floats, NoisyColumn, Wholes
from letalone.tables.intervals import NoiseLaw, widths
from letalone.tables.noise import Noise
from letalone.tables.parts import cross
from letalone.tables.parts.moments import scale_to_sample
from letalone.tables.parts.part import ROOT_TWO, VectorPart, needs_rows
from letalone.tables.parts.regression import EVEN, LeastSquaresSolver, line
from letalone.tables.sensitivity import Contribution, Moved, refuse_clip

PLAIN, SQUARED = 1, 2
Pair = Covariance | Correlation | Slope | Regression


@dataclass(frozen=True, slots=True)
class PairPart(VectorPart):
    """What is asked about two columns; turned: `of` is the second of them, and `by` the first."""

    asked: tuple[tuple[str, Pair, bool], ...]
    corners: cross.CrossCorners

    def __post_init__(self) -> None:
        refuse_clip(self.unit)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.corners.measures

    @property
    def moved(self) -> Moved:
        return self.corners.moves(self.unit)

    @property
    def lattice(self) -> int:
        """Shares are counted in parts of a product."""
        return 1

    @property
    def weight(self) -> float:
        """Every sum of products weighs each pair of corners with a row, or its opposite."""
        return ROOT_TWO * self.moved.l1 * self.corners.count**0.5 / float(self.corners.row)

    def vector(self, exact: list[Wholes]) -> Wholes:
        return self.corners.shares(exact)

    def answers(self, noisy: Floats, noise: Noise, confidence: float) -> dict[str, NoisyColumn]:
        seen = _Seen(self.corners, noisy, noise.law, confidence)
        return {name: self._answer(pair, seen, turned) for name, pair, turned in self.asked}

    def _answer(self, asked: Pair, seen: "_Seen", turned: bool) -> NoisyColumn:
        outcome, by = self._radii(turned)
        match asked:
            case Covariance(sample=sample):
                return _times(seen.covariance(sample=sample), outcome * by)
            case Correlation():
                return seen.correlation()
            case Slope():
                return _times(seen.slope(turned=turned), outcome / by)
            case Regression():
                return self._line(turned).answer(seen.noisy, seen.law, seen.confidence)

    def _radii(self, turned: bool) -> tuple[float, float]:
        outcome, by = self._axes(turned)
        return outcome.grid.radius, by.grid.radius

    def _axes(self, turned: bool) -> tuple[cross.GridAxis, cross.GridAxis]:
        first, second = self.corners.first, self.corners.second
        return (second, first) if turned else (first, second)

    def _line(self, turned: bool) -> LeastSquaresSolver:
        """One feature: the axis `by`, whose powers the matrix holds."""
        outcome, by = self._axes(turned)
        form = [[_form(self.corners, a, b, turned) for b in range(3)] for a in range(2)]
        left = np.array([[form[0][0], form[0][1]], [form[0][1], form[0][2]]])
        right = np.array([form[1][0], form[1][1]])
        return line(outcome, (by,), left, right)

    def error(self, name: str, noise: Noise, *, confidence: float, rows: int | None) -> float:
        """The half-width to expect for this many rows, where values are spread evenly."""
        if rows is None:
            raise needs_rows(name)
        asked, turned = {known: (asked, turned) for known, asked, turned in self.asked}[name]
        if isinstance(asked, Regression):
            return self._line(turned).error(noise.law, confidence, rows)
        outcome, by = self._radii(turned)
        factor = {Covariance: outcome * by, Correlation: 1 / EVEN, Slope: outcome / by / EVEN}[
            type(asked)
        ]
        strays = widths(noise.law, self._tried(asked, turned), confidence)
        first, second = (axis.slack for axis in self._axes(turned))
        places = first + second + (2 * second if isinstance(asked, Slope) else 0.0)
        return factor * (float(np.max(strays)) / rows + places)

    def _tried(self, asked: Pair, turned: bool) -> Floats:
        """Forms of the noise, over values that the answer may have."""

        def form(a: int, b: int) -> Floats:
            return _form(self.corners, a, b, turned)

        match asked:
            case Covariance():
                powers = ((1, 1), (1, 0), (0, 1), (0, 0))
                crossed, first, second, rows = (form(a, b) for a, b in powers)
                tried = product((0.0, 1.0), repeat=3)
                forms = (crossed - m * first - k * second + (m * k - c) * rows for m, k, c in tried)
                return np.array(list(forms))
            case Correlation():
                squares = (form(2, 0) + form(0, 2)) / 2
            case _:
                squares = form(0, 2)
        return np.array([form(1, 1) - share * squares for share in (0.0, 0.5, 1.0)])


@dataclass(frozen=True, eq=False)
class _Seen:
    """Noisy pairs of corners of all groups, and what follows from them; in t and s."""

    corners: cross.CrossCorners
    noisy: Floats
    law: NoiseLaw
    confidence: float

    @cached_property
    def rows(self) -> Floats:
        return self.noisy @ self._plain(0, 0)

    @cached_property
    def rows_width(self) -> float:
        return float(widths(self.law, self._plain(0, 0), self.confidence))

    @cached_property
    def some(self) -> Flags:
        """Whether there are enough rows to tell anything."""
        return self.rows > 2 * self.rows_width

    @cached_property
    def means(self) -> tuple[Floats, Floats]:
        """Where the means are in [−1, 1]."""
        rows = np.where(self.some, self.rows, np.inf)
        first, second = (self.noisy @ self._plain(*powers) / rows for powers in ((1, 0), (0, 1)))
        return np.clip(first, -1.0, 1.0), np.clip(second, -1.0, 1.0)

    def covariance(self, *, sample: bool) -> NoisyColumn:
        value, half, known, _ = self._ratio(self._about(1, 1), self._about(0, 0), most=1.0)
        answer = _make_answer(value, half + self._crossed, known, most=1.0)
        return scale_to_sample(answer, self.rows, self.rows_width) if sample else answer

    def slope(self, *, turned: bool) -> NoisyColumn:
        """That of the first along the second, or turned; it may be anything."""
        square = self._about(2, 0) if turned else self._about(0, 2)
        value, half, known, least = self._ratio(self._about(1, 1), square, most=np.inf)
        by = (self.corners.first if turned else self.corners.second).slack
        moved = self._crossed + (np.abs(value) + half) * (2 * by + by**2)
        root = np.sqrt(least / self._most_rows) - by  # a deviation, less what places stray
        known = known & (root > 0)
        half = half + moved / np.where(known, root, 1.0) ** 2
        return _make_answer(value, half, known, most=np.inf)

    def correlation(self) -> NoisyColumn:
        """From −1 to 1: the root of the product of both sums of squares is linearised."""
        top, first, second = self._about(1, 1), self._about(2, 0), self._about(0, 2)
        sums = [self._sum(form) for form in (first, second)]
        strays = [widths(self.law, form, self.confidence) for form in (first, second)]
        known = self.some & (sums[0] > strays[0]) & (sums[1] > strays[1])
        x, y = (np.where(known, total, 1.0) for total in sums)
        value = np.clip(self._sum(top) / np.sqrt(x * y), -1.0, 1.0)
        tilt = np.sqrt(y / x)[:, None]
        form = top - value[:, None] / 2 * (tilt * first + second / tilt)
        least = [np.where(known, total - z, 1.0) for total, z in zip(sums, strays, strict=True)]
        half = widths(self.law, form, self.confidence) / np.sqrt(least[0] * least[1])
        # Angles between columns move by less than twice what places stray, by their deviations.
        axes = zip((self.corners.first, self.corners.second), least, strict=True)
        turns = sum(2 * axis.slack * np.sqrt(self._most_rows / low) for axis, low in axes)
        return _make_answer(value, half + turns, known, most=1.0)

    @property
    def _most_rows(self) -> Floats:
        return np.where(self.some, self.rows + self.rows_width, 1.0)

    @property
    def _crossed(self) -> float:
        """The most that a covariance moves where places stray from values."""
        first, second = self.corners.first.slack, self.corners.second.slack
        return first + second + first * second

    def _ratio(
        self, top: Floats, bottom: Floats, *, most: float
    ) -> tuple[Floats, Floats, Flags, Floats]:
        """One sum by another that is positive, its half-width, where it is known, the least sum."""
        below = self._sum(bottom)
        strays = widths(self.law, bottom, self.confidence)
        known = self.some & (below > strays)
        safe, least = np.where(known, below, 1.0), np.where(known, below - strays, 1.0)
        value = np.clip(self._sum(top) / safe, -most, most)
        half = widths(self.law, top - value[:, None] * bottom, self.confidence)
        return value, half / least, known, least

    def _sum(self, form: Floats) -> Floats:
        return np.sum(self.noisy * form, axis=-1)

    def _plain(self, a: int, b: int) -> Floats:
        return _form(self.corners, a, b, turned=False)

    def _about(self, a: int, b: int) -> Floats:
        """The form of the sum of (t − m)^a (s − m')^b, for each group."""
        first, second = self.means
        polynomial = _shift_powers(first, a)[:, :, None] * _shift_powers(second, b)[:, None, :]
        return self.corners.form(polynomial)


def _form(corners: cross.CrossCorners, a: int, b: int, turned: bool) -> Floats:
    """The form of the sum of t^a s^b; turned: a is the power of the second axis."""
    polynomial = np.zeros((3, 3))
    polynomial[(b, a) if turned else (a, b)] = 1.0
    return corners.form(polynomial)


def _shift_powers(mean: Floats, power: int) -> Floats:
    """The coefficients of (t − mean)^power."""
    ones, none = np.ones_like(mean), np.zeros_like(mean)
    columns = ([ones, none, none], [-mean, ones, none], [mean**2, -2 * mean, ones])[power]
    return np.stack(columns, axis=-1)


def _make_answer(value: Floats, half: Floats, known: Flags, *, most: float) -> NoisyColumn:
    """Values with their intervals, cut at the ends of the range; missing where not known."""
    low, high = np.maximum(value - half, -most), np.minimum(value + half, most)
    ends = ((value, np.nan), (low, -most), (high, most))
    return NoisyColumn(*(np.where(known, end, otherwise) for end, otherwise in ends))


def _times(answer: NoisyColumn, factor: float) -> NoisyColumn:
    return NoisyColumn(answer.values * factor, answer.low * factor, answer.high * factor)


def pair_parts(
    asked: Sequence[tuple[str, Aggregate]], unit: Contribution, bits: int, is_whole: cross.IsWhole
) -> list[PairPart]:
    """A part for each two columns that something is asked about; `is_whole` is by their types."""
    groups: dict[str, list[tuple[str, Pair]]] = {}
    for name, aggregate in asked:
        if is_pair(aggregate):
            groups.setdefault(repr(_order_columns(aggregate)), []).append((name, aggregate))
    return [_part(group, unit, bits, is_whole) for group in groups.values()]


def is_pair(aggregate: Aggregate) -> TypeGuard[Pair]:
    """Whether an aggregate is about two columns, and no more."""
    if isinstance(aggregate, Regression):
        return len(aggregate.by) == 1
    return isinstance(aggregate, Covariance | Correlation | Slope)


def _part(
    group: list[tuple[str, Pair]], unit: Contribution, bits: int, is_whole: cross.IsWhole
) -> PairPart:
    columns = _order_columns(group[0][1])
    turned = [repr(_columns(aggregate)) != repr(columns) for _, aggregate in group]
    first, second = _degree(group, turned, 0), _degree(group, turned, 1)
    largest = cross.MAX_PRODUCT_BITS if unit.lattice == 1 else cross.MAX_WEIGHED_BITS
    fine = min(bits, largest[first + second])
    axes = columns[0].axis(first, fine, is_whole), columns[1].axis(second, fine, is_whole)
    aggregates = tuple((*pair, way) for pair, way in zip(group, turned, strict=True))
    names = tuple(name for name, _ in group)
    return PairPart(names, unit, aggregates, cross.CrossCorners(*axes, bits, unit.lattice))


def _degree(group: list[tuple[str, Pair]], turned: list[bool], place: int) -> cross.Degree:
    """Whether the column at this place (0 or 1) is needed squared."""
    for (_, aggregate), way in zip(group, turned, strict=True):
        is_along = isinstance(aggregate, Slope | Regression) and place == (0 if way else 1)
        if is_along or isinstance(aggregate, Correlation):
            return SQUARED
    return PLAIN


def _columns(asked: Pair) -> tuple[cross.ClampedColumn, cross.ClampedColumn]:
    outcome = cross.ClampedColumn(asked.of, asked.lower, asked.upper)
    if isinstance(asked, Regression):
        return outcome, cross.ClampedColumn(asked.by[0], asked.by_lower[0], asked.by_upper[0])
    return outcome, cross.ClampedColumn(asked.by, asked.by_lower, asked.by_upper)


def _order_columns(asked: Pair) -> tuple[cross.ClampedColumn, cross.ClampedColumn]:
    first, second = sorted(_columns(asked), key=repr)
    return first, second
