"""How many numbers lie in a range, and quantiles, from local reports: a tree of bins.

The bounds are cut into bins, and bins are joined by `branching` into larger ones, level by level.
Each person draws a level evenly and reports their bin of it by subset selection.

Theorem.  A report has the ratio r ≤ e^ε. A range is a union of disjoint nodes S_l, level by level.
With L levels and K the number of nodes of S_l in a report of level l,
Z = L (K − |S_l| q_l)/(p_l − q_l) is unbiased for "this person is in the range". Its largest
variance over all values is known, and Bennett's interval holds with it. Quantiles follow from such
intervals for all edges at once.
  Proven:   docs/explanation/proofs/local_numbers.md, section 5
  Tested:   moments against sums over all reports; coverage of ranges and quantiles

A report is a byte for the level, from 0 for the coarsest, and a row of bits that is as long as that
of the finest level; bits that a level does not need are 0.

Cormode, Kulkarni, Srivastava: Answering range queries under local differential privacy (2019).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError
from letalone.exact.typed import (
    CONFIDENCE,
    PROBABILITY,
    Number,
    refusal,
    whole_from,
    write_rational,
)
from letalone.local.frequencies.bit_rows import Bytes, is_padded
from letalone.local.frequencies.oracle import Wholes
from letalone.local.frequencies.subset_selection import SubsetSelection
from letalone.local.numeric.mean_intervals import bennett_width
from letalone.local.numeric.numbers import read_bounds
from letalone.local.numeric.square_wave import bin_numbers
from letalone.local.ratios import ratio_below, read_epsilon
from letalone.local.reports import Reports, read_reports
from letalone.mechanisms.parameters import fill
from letalone.mechanisms.values import read_floats
from letalone.privacy import REPLACE, Privacy, PureDP
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.uniform import sample_belows

BINS = whole_from(2, "It is how many equal bins the bounds are cut into.")
MOST_BINS = 1 << 14
Nodes = tuple[tuple[int, ...], ...]  # of each level, those that a range is made of


@dataclass(frozen=True, slots=True, init=False)
class Ranges:
    """Reports the bin of a number at a random level; estimates ranges and quantiles.

    Parameters: `lower` and `upper` are the declared bounds, cut into `bins` of equal width;
    `epsilon` is what one report costs; `branching` is how many bins make one of the next level.
    """

    kind: ClassVar[str] = "ranges"

    lower: float
    upper: float
    bins: int
    branching: int
    epsilon: Fraction

    def __init__(
        self,
        lower: Number,
        upper: Number,
        *,
        epsilon: Number,
        bins: int = 256,
        branching: int = 4,
    ) -> None:
        low, high = read_bounds(lower, upper)
        count, width = (
            int(BINS.typed(n, v)) for n, v in (("bins", bins), ("branching", branching))
        )
        if count > MOST_BINS:
            raise ParameterError(f"bins must be at most {MOST_BINS}. Give fewer.")
        price = read_epsilon(epsilon)
        fill(self, lower=low, upper=high, bins=count, branching=width, epsilon=price)

    @property
    def levels(self) -> tuple[SubsetSelection, ...]:
        """The oracle of each level, the coarsest first."""
        return tuple(SubsetSelection(size, epsilon=self.epsilon) for size in self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many nodes each level has."""
        sizes = [self.bins]
        while sizes[0] > self.branching:
            sizes.insert(0, -(-sizes[0] // self.branching))
        return tuple(sizes)

    @property
    def privacy(self) -> Privacy:
        """What one report reveals about its owner's number; neighbours are REPLACE."""
        return PureDP(self.epsilon).with_neighbours(REPLACE)

    @property
    def report_bytes(self) -> int:
        """The level, and a bit for each bin."""
        return 1 + self.levels[-1].report_bytes

    def most_codes(self) -> None:
        """Reports are rows of bytes."""

    def is_report(self, rows: Reports) -> NDArray[np.bool_]:
        """Rows of a level, with as many bits as its oracle sets, and none behind them."""
        read, good = cast("Bytes", rows), np.zeros(len(rows), np.bool_)
        for level, oracle in enumerate(self.levels):
            mine, end = read[:, 0] == level, 1 + oracle.report_bytes
            rest = read[mine, end:]
            inside = oracle.is_report(read[mine, 1:end]) & is_padded(read[mine, 1:end], oracle.size)
            good[mine] = inside & ~rest.any(axis=1)
        return good

    def describe(self) -> dict[str, object]:
        """All that a client needs to make reports, as JSON values."""
        return {
            "kind": self.kind,
            "lower": self.lower,
            "upper": self.upper,
            "bins": self.bins,
            "branching": self.branching,
            "epsilon": write_rational(self.epsilon),
            "ratio": write_rational(ratio_below(self.epsilon)),
            "levels": [{"size": o.size, "chosen": o.chosen} for o in self.levels],
        }

    def privatize(self, values: object, *, bits: BitSource = SYSTEM) -> Any:
        """A report for each number; those beyond the bounds count as the bound."""
        floats = read_floats(cast("Any", values))
        places = bin_numbers(floats.reshape(-1), self.lower, self.upper, self.bins)
        levels, rows = self.levels, np.zeros((places.size, self.report_bytes), np.uint8)
        rows[:, 0] = sample_belows(len(levels), places.size, bits)
        for level, oracle in enumerate(levels):
            mine = np.flatnonzero(rows[:, 0] == level)
            nodes = places[mine] // self.bins_of_a_node(level)
            rows[mine, 1 : 1 + oracle.report_bytes] = oracle.randomise(nodes, bits)
        return rows if floats.ndim else rows[0].tobytes()

    def bins_of_a_node(self, level: int) -> int:
        """How many bins a node of this level joins."""
        return self.branching ** (len(self.sizes) - 1 - level)

    def estimate(self, reports: object, confidence: Number = 0.95) -> "RangeAnswers":
        """What ranges and quantiles can be asked of."""
        rows = cast("Bytes", read_reports(self, reports))
        level = float(CONFIDENCE.typed("confidence", confidence))
        if not len(rows):
            raise ParameterError("There are no reports to estimate from. Give one or more.")
        counts: list[Wholes] = []
        people: list[int] = []
        for place, oracle in enumerate(self.levels):
            mine = rows[rows[:, 0] == place, 1 : 1 + oracle.report_bytes]
            counts.append(oracle.count(mine))
            people.append(len(mine))
        return RangeAnswers(self, tuple(counts), tuple(people), level)


def read_end(name: str, end: Number) -> float:
    """An end of a range; it may be infinite."""
    try:
        return float(end)
    except (TypeError, ValueError, OverflowError):
        raise refusal(name, end, "a number, or an infinity") from None


class RangeMoments(NamedTuple):
    """Of Z, over all values that a person can hold: the largest variance and deviation."""

    variance: float
    largest: float


@dataclass(frozen=True)
class RangeAnswers:
    """Reports that were counted: ask it for shares of ranges and for quantiles.

    Each answer holds at `confidence` on its own.
    """

    oracle: Ranges
    counts: tuple[Wholes, ...]
    people: tuple[int, ...]
    confidence: float

    def share(self, low: Number, high: Number) -> Estimate:
        """The share of numbers in the bins from that of `low` up to, without, that of `high`.

        At the upper bound the last bin is meant as well.
        """
        ends = read_end("low", low), read_end("high", high)
        if not ends[0] <= ends[1]:
            raise ParameterError(
                f"The range is from {low} to {high}, but low must not be above high. Exchange them."
            )
        first, last = map(self._edge, ends)
        value, width = self._range(first, last, self.confidence)
        around = (min(max(end, 0.0), 1.0) for end in (value - width, value + width))
        return Estimate(value, *around, confidence=self.confidence, privacy=self.oracle.privacy)

    def quantile(self, rank: Number) -> Estimate:
        """The edge below which this share of the numbers lies, with an interval of edges.

        The value is the first edge whose estimated share reaches the rank; it is not unbiased.
        """
        wanted = float(PROBABILITY.typed("rank", rank))
        values, widths = self._all_edges
        width = (self.oracle.upper - self.oracle.lower) / self.oracle.bins
        above = np.flatnonzero(values - widths >= wanted)
        below = np.flatnonzero(values + widths < wanted)
        reached = np.flatnonzero(values >= wanted)
        high = int(above[0]) if above.size else self.oracle.bins
        low = int(below[-1]) if below.size else 0
        middle = min(max(int(reached[0]) if reached.size else self.oracle.bins, low), high)
        ends = (self.oracle.lower + width * edge for edge in (middle, min(low, high), high))
        return Estimate(*ends, confidence=self.confidence, privacy=self.oracle.privacy)

    @cached_property
    def _all_edges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Shares below every edge, with widths that hold for all edges at once."""
        bins = self.oracle.bins
        level = 1 - (1 - self.confidence) / (bins - 1)
        ranges = [self._range(0, edge, level) for edge in range(bins + 1)]
        return np.array([value for value, _ in ranges]), np.array([width for _, width in ranges])

    def _edge(self, number: float) -> int:
        oracle = self.oracle
        if number >= oracle.upper:
            return oracle.bins
        return int(bin_numbers(np.array([number]), oracle.lower, oracle.upper, oracle.bins)[0])

    def _range(self, first: int, last: int, level: float) -> tuple[float, float]:
        """The share of the bins first … last − 1, and how far it may be off."""
        if last <= first:
            return 0.0, 0.0
        if (first, last) == (0, self.oracle.bins):
            return 1.0, 0.0
        inside, outside = (
            nodes_of(self.oracle, pieces)
            for pieces in (((first, last),), ((0, first), (last, self.oracle.bins)))
        )
        direct, other = (range_moments(self.oracle, nodes) for nodes in (inside, outside))
        total = sum(self.people)
        if direct.variance <= other.variance:
            return self._sum(inside), bennett_width(total, *direct, level)
        return 1 - self._sum(outside), bennett_width(total, *other, level)

    def _sum(self, nodes: Nodes) -> float:
        """The mean of Z over all reports."""
        total, levels = 0.0, self.oracle.levels
        for oracle, counts, people, chosen in zip(
            levels, self.counts, self.people, nodes, strict=True
        ):
            if chosen:
                p, q = (float(chance) for chance in oracle.chances)
                total += (float(counts[list(chosen)].sum()) - people * len(chosen) * q) / (p - q)
        return total * len(levels) / sum(self.people)


def nodes_of(oracle: Ranges, pieces: tuple[tuple[int, int], ...]) -> Nodes:
    """The fewest nodes that make up the bins of the pieces."""
    chosen: list[list[int]] = [[] for _ in oracle.sizes]
    for first, last in pieces:
        at = first
        while at < last:
            level, width = _largest_node(oracle, at, last)
            chosen[level].append(at // width)
            at += width
    return tuple(tuple(level) for level in chosen)


def _largest_node(oracle: Ranges, first: int, last: int) -> tuple[int, int]:
    """The coarsest level that has a node from `first` on which ends by `last`, and its width."""
    for level in range(len(oracle.sizes)):
        width = oracle.bins_of_a_node(level)
        if first % width == 0 and (first + width <= last or last == oracle.bins <= first + width):
            return level, width
    raise AssertionError("a bin is a node")


def range_moments(oracle: Ranges, nodes: Nodes) -> RangeMoments:
    """The largest variance of Z over all values, and how far it can be off its mean."""
    return _moments(oracle.epsilon, oracle.sizes, tuple(len(level) for level in nodes))


@lru_cache(maxsize=65536)
def _moments(epsilon: Fraction, sizes: tuple[int, ...], chosen: tuple[int, ...]) -> RangeMoments:
    levels, outside, more, farthest = len(sizes), Fraction(0), Fraction(0), Fraction(0)
    for size, count in zip(sizes, chosen, strict=True):
        if count:
            without, within, far = node_moments(SubsetSelection(size, epsilon=epsilon), count)
            outside += without * levels
            more = max(more, (within - without) * levels - 1)
            farthest = max(farthest, far * levels)
    # Whoever is in the range is in a node of one level alone, and then Z has the mean 1.
    return RangeMoments(float(outside + max(more, Fraction(0))), float(farthest) + 1.0)


@lru_cache(maxsize=4096)
def node_moments(oracle: SubsetSelection, nodes: int) -> tuple[Fraction, Fraction, Fraction]:
    """E[z²] for a value outside and inside of so many nodes, and the largest |z|.

    z = (K − nodes q)/(p − q), K being how many of the nodes are in the reported set.
    """
    (p, q), k, d = oracle.chances, oracle.chosen, oracle.size

    def square(others: int, own: int) -> Fraction:
        total = Fraction(0)
        for held, chance in ((1, p), (0, 1 - p)):
            mean, variance = _hypergeometric(d - 1, others, k - held)
            off = mean + held * own - nodes * q
            total += chance * (variance + off**2)
        return total / (p - q) ** 2

    least, largest = max(0, k - (d - nodes)), min(k, nodes)
    farthest = max(abs(end - nodes * q) for end in (least, largest)) / (p - q)
    outside = square(nodes, 0) if nodes < d else Fraction(0)
    return outside, square(nodes - 1, 1), farthest


def _hypergeometric(size: int, marked: int, drawn: int) -> tuple[Fraction, Fraction]:
    """Mean and variance of how many marked ones are drawn."""
    share = Fraction(marked, size)
    spread = Fraction(size - drawn, size - 1) if size > 1 else Fraction(0)
    return drawn * share, drawn * share * (1 - share) * spread
