"""Counts, sums, means and variances of one column from one release: rows are shared among corners.

Put a value of the grid at t in [−1, 1]. A row gives the share (1 − t)/2 of itself to the
lower corner and (1 + t)/2 to the upper one; for variances the shares are
((1 − t)/2)², (1 − t²)/2 and ((1 + t)/2)². A row whose value is missing may go to a corner of
its own. Shares are not negative and add up to one row.

Theorem.  (1) A unit's k rows move all corners together by exactly k rows in L1 at most, and
by at most k rows in L2: as much as a count alone. So the count, the sum, the mean and the
variance cost what one of them costs.  (2) The sum over rows of a polynomial p(t) of at most
this degree is a sum over corners of (share of the corner) · (p at the corner): p(−1) and p(1),
or p(−1), p₀ − p₂, p(1) for p = p₀ + p₁t + p₂t².
  Proven:   docs/explanation/proofs/tables.md, section 3
  Tested:   sensitivity by every neighbour; moments against the plain formulas

With noise of scale k/ε in each corner, a count is off by 2k/ε (root mean square), a mean by
half the range times 2k/(nε); with ε split in halves it would be 2.8 and 2.8.

The sample form of a variance is n/(n − 1) times it. n is noisy: the factor falls as n rises, so
each end of an interval takes the factor, of those that n's own interval allows, that widens it; n
counts as 2 at least.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal

import numpy as np

from letalone.engines.core.measures import GridSum, Measure, Rows, RowsWith
from letalone.plans.aggregates.formulas import Aggregate
from letalone.plans.aggregates.of_columns import Deviation, Mean, Sum, Variance
from letalone.plans.expressions import Expression
from letalone.tables.columns import Flags, Floats, NoisyColumn, Wholes
from letalone.tables.grid import Grid
from letalone.tables.intervals import NoiseLaw, fitting, width, within
from letalone.tables.noise import Noise
from letalone.tables.parts.part import ROOT_TWO, VectorPart, needs_rows
from letalone.tables.sensitivity import Contribution, Moved, rounded_shares_move, shares_move

EVEN = 1 / 3  # the variance of values spread evenly over [−1, 1]
Moment = Sum | Mean | Variance | Deviation
Polynomial = tuple[float, float, float]

ONE: Polynomial = (1.0, 0.0, 0.0)
FIRST: Polynomial = (0.0, 1.0, 0.0)
SECOND: Polynomial = (0.0, 0.0, 1.0)
FEWEST = 2.0


@dataclass(frozen=True, slots=True)
class Corners:
    """Which values are shared among which corners, and in which unit shares are counted."""

    of: Expression
    grid: Grid
    degree: Literal[1, 2]
    missing: bool = False
    lattice: int = 1

    @property
    def unit(self) -> int:
        """What shares are counted in: squares are too fine for 64 bits, and are rounded down."""
        return 1 if self.degree == 1 else self.grid.width // 2

    @property
    def kept_lattice(self) -> int:
        """What is left of the lattice: all of it, or nothing where squares are rounded."""
        return self.lattice if self.degree == 1 else 1

    @property
    def row(self) -> Fraction:
        """What one row is, in units."""
        return Fraction(self.grid.width**self.degree, self.unit)

    @property
    def count(self) -> int:
        return self.degree + 1 + self.missing

    @property
    def measures(self) -> tuple[Measure, ...]:
        of, grid = self.of, self.grid
        powers: tuple[Literal[1, 2], ...] = (1,) if self.degree == 1 else (1, 2)
        sums = (GridSum(of, grid.low, grid.high, grid.shift, power) for power in powers)
        return (RowsWith(of), *sums, *([Rows()] if self.missing else []))

    def moves(self, unit: Contribution) -> Moved:
        if self.degree == 1:
            return shares_move(int(self.row), unit).times(self.lattice)
        return rounded_shares_move(self.row, unit, self.count)

    def shares(self, exact: list[Wholes]) -> Wholes:
        """The corners of each group, in units, from what was measured."""
        rows, above, *rest = exact
        width = self.grid.width
        if self.degree == 1:
            corners = [rows * width - above, above]
        else:
            about = above - rows * (width // 2)
            quarter, square = rows * (width // 2) ** 2, rest.pop(0)
            crossed = 2 * (quarter - square)
            corners = [quarter - width * about + square, crossed, quarter + width * about + square]
        if self.missing:
            corners.append((rest.pop(0) - rows) * width**self.degree)
        return np.stack(corners, axis=-1) // (self.unit * self.lattice // self.kept_lattice)

    def form(self, polynomial: Polynomial) -> Floats:
        """What each corner counts for in the sum of a polynomial over rows with a value."""
        constant, first, second = polynomial
        if self.degree == 1:
            ends = [constant - first, constant + first]
        else:
            ends = [constant - first + second, constant - second, constant + first + second]
        return np.array(ends + [0.0] * self.missing) / float(self.row)

    @property
    def all_rows(self) -> Floats:
        """What each corner counts for in the number of rows, with a value or without."""
        return np.full(self.count, 1 / float(self.row))


@dataclass(frozen=True, slots=True)
class MomentsPart(VectorPart):
    """What is asked about one column within one pair of bounds."""

    asked: tuple[tuple[str, Moment], ...]
    corners: Corners
    counts: bool
    lower: Fraction
    upper: Fraction

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.corners.measures

    @property
    def moved(self) -> Moved:
        return self.corners.moves(self.unit)

    @property
    def lattice(self) -> int:
        return self.corners.kept_lattice

    @property
    def weight(self) -> float:
        """The largest error of what is asked, as a share of its range."""
        scale = ROOT_TWO * self.moved.l1 / self.lattice
        errors = [self._relative(aggregate) for _, aggregate in self.asked]
        counted = _norm(self.corners.all_rows) if self.counts else 0.0
        return scale * max(counted, *errors)

    def _relative(self, aggregate: Aggregate) -> float:
        match aggregate:
            case Sum():
                largest = max(abs(float(self.lower)), abs(float(self.upper)))
                return _norm(self._value_form(0.0)) / largest
            case Mean():
                return _norm(self.corners.form(FIRST)) / 2
            case _:
                return _norm(self.corners.form(SECOND))

    def _value_form(self, strays: float) -> Floats:
        """The form of the sum of values that are so far above those of their places."""
        grid = self.corners.grid
        return self.corners.form((grid.centre + strays, grid.radius, 0.0))

    def vector(self, exact: list[Wholes]) -> Wholes:
        return self.corners.shares(exact)

    def answers(self, noisy: Floats, noise: Noise, confidence: float) -> dict[str, NoisyColumn]:
        law = noise.law
        return {name: self._answer(part, noisy, law, confidence) for name, part in self.asked}

    def _answer(
        self, asked: Moment, noisy: Floats, law: NoiseLaw, confidence: float
    ) -> NoisyColumn:
        match asked:
            case Sum():
                return self._sum(noisy, law, confidence)
            case Mean():
                return self._mean(noisy, law, confidence)
            case Variance(sample=sample) | Deviation(sample=sample):
                square = self._variance(noisy, law, confidence)
        if sample:
            form = self.corners.form(ONE)
            square = scale_to_sample(square, noisy @ form, width(law, form, confidence))
        if isinstance(asked, Deviation):
            return NoisyColumn(*map(np.sqrt, (square.values, square.low, square.high)))
        return square

    def _sum(self, noisy: Floats, law: NoiseLaw, confidence: float) -> NoisyColumn:
        """Each end for values that stray from their places as far as they can."""
        grid = self.corners.grid
        least, largest = (self._value_form(strays) for strays in grid.strays)
        value = noisy @ self._value_form(grid.offset)
        low = noisy @ least - width(law, least, confidence)
        high = noisy @ largest + width(law, largest, confidence)
        return NoisyColumn(value, np.minimum(low, value), np.maximum(high, value))

    def _mean(self, noisy: Floats, law: NoiseLaw, confidence: float) -> NoisyColumn:
        mean, some = self._means(noisy)
        first, constant = self.corners.form(FIRST), self.corners.form(ONE)

        def accepted(tried: Floats) -> Flags:
            weights = first - tried[..., None] * constant
            return within(law, weights, np.sum(weights * noisy, axis=-1), confidence)

        low, high = fitting(accepted, mean, least=-1.0, most=1.0)
        grid = self.corners.grid
        strays = zip((mean, low, high), (grid.offset, *grid.strays), strict=True)
        places = (grid.centre + grid.radius * end + far for end, far in strays)
        without = (grid.centre, float(self.lower), float(self.upper))
        ends = (np.where(some, at, none) for at, none in zip(places, without, strict=True))
        bounds = float(self.lower), float(self.upper)
        return NoisyColumn(*(np.clip(end, *bounds) for end in ends))

    def _variance(self, noisy: Floats, law: NoiseLaw, confidence: float) -> NoisyColumn:
        mean, some = self._means(noisy)
        rows = np.where(some, noisy @ self.corners.form(ONE), 1.0)
        variance = np.clip(noisy @ self.corners.form(SECOND) / rows - mean**2, 0.0, 1.0)
        forms = self.corners.form
        # (t − m)² − v = t² − 2mt + (m² − v)
        about = forms(SECOND) - 2 * mean[..., None] * forms(FIRST)

        def accepted(tried: Floats) -> Flags:
            weights = about + (mean**2 - tried)[..., None] * forms(ONE)
            return within(law, weights, np.sum(weights * noisy, axis=-1), confidence)

        low, high = fitting(accepted, variance, least=0.0, most=1.0)
        square = self.corners.grid.radius**2
        ends = ((variance, 0.5), (low, 0.0), (high, 1.0))
        return self._widened(*(square * np.where(some, end, otherwise) for end, otherwise in ends))

    def _widened(self, variance: Floats, low: Floats, high: Floats) -> NoisyColumn:
        """By what places stray from values: a deviation moves by no more than these do."""
        slack, radius = self.corners.grid.slack, self.corners.grid.radius
        least = np.maximum(np.sqrt(low) - slack, 0.0) ** 2
        return NoisyColumn(variance, least, np.minimum(np.sqrt(high) + slack, radius) ** 2)

    def _means(self, noisy: Floats) -> tuple[Floats, Flags]:
        """Where the mean is in [−1, 1], and whether there seem to be rows at all."""
        rows = noisy @ self.corners.form(ONE)
        some = rows > 0
        mean = noisy @ self.corners.form(FIRST) / np.where(some, rows, 1.0)
        return np.clip(mean, -1.0, 1.0), some

    def error(self, name: str, noise: Noise, *, confidence: float, rows: int | None) -> float:
        """The half-width to expect; a mean's and a variance's for this many rows a group."""
        aggregate, grid = dict(self.asked)[name], self.corners.grid
        if isinstance(aggregate, Sum):
            half = width(noise.law, self._value_form(grid.offset), confidence)
            return half + grid.slack * (rows or 0)
        if rows is None:
            raise needs_rows(name)
        if isinstance(aggregate, Mean):
            return grid.radius * self._widest_mean(noise.law, confidence) / rows + grid.slack
        square = self._widest_square(noise.law, confidence) / rows
        if isinstance(aggregate, Variance):
            return grid.radius**2 * square + 2 * grid.radius * grid.slack
        # That of √v where values are spread evenly over the range: v is 1/3 there.
        root = min(float(np.sqrt(square)), square / (2 * EVEN**0.5))
        return grid.radius * root + grid.slack

    def _widest_mean(self, law: NoiseLaw, confidence: float) -> float:
        forms = self.corners.form
        tried = np.linspace(0.0, 1.0, 5)
        return max(width(law, forms(FIRST) - m * forms(ONE), confidence) for m in tried)

    def _widest_square(self, law: NoiseLaw, confidence: float) -> float:
        forms = self.corners.form
        tried = product(np.linspace(0.0, 1.0, 5), repeat=2)
        polynomials = ((m * m - v * (1 - m * m), -2 * m, 1.0) for m, v in tried)
        return max(width(law, forms(polynomial), confidence) for polynomial in polynomials)


def _norm(weights: Floats) -> float:
    return float(np.sqrt(np.sum(weights**2)))


def scale_to_sample(answer: NoisyColumn, rows: Floats, width: float) -> NoisyColumn:
    """The answer as an estimate from a sample of noisy size `rows`, known to within `width`."""
    fewest, largest = _factor(rows + width), _factor(rows - width)
    low = np.minimum(answer.low * fewest, answer.low * largest)
    high = np.maximum(answer.high * fewest, answer.high * largest)
    return NoisyColumn(answer.values * _factor(rows), low, high)


def _factor(rows: Floats) -> Floats:
    counted = np.maximum(rows, FEWEST)
    return counted / (counted - 1)
