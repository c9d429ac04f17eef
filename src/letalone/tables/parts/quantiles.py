"""One quantile, or a private extreme: the exponential mechanism over declared cells.

For the rank T = share · n + constant, the utility of a cell v is minus the number of rows by
which it misses: u(v) = −max(0, #{x < v} − T, T − #{x ≤ v}). Two more places, below and above
all cells, stand for ranks below 0 and above n, so that some place always has utility 0.

Half of ε pays for the value, the other half for the interval. Its ends are read off a noisy tree
of counts (`ranks`), or, where that would be wider, are two choices more, a quarter of ε each,
aimed so many rows below and above that each misses its side seldom enough. Which it is follows
from the number of cells, the share and what a unit contributes, at a confidence of 95 %. The
interval always holds the value.

Theorem.  (1) A row moves u(v) by at most max(share, 1 − share) for every v; see
`sensitivity.rank_moves` for units, groups and neighbours.  (2) The choices of all groups
together have a loss whose range is at most their part of ε; the tree's noise costs its half of ε;
both are independent given the data and compose.  (3) If each end, without the value, passes a
value of rank T with probability at most 1 − confidence, the interval holds it with at least the
confidence: the value cannot lie on both sides of it.  (4) Ends that are chosen do so, and so do
ends off a tree where ranks jump.
  Proven:   docs/explanation/proofs/tables.md, section 4
  Tested:   sensitivity by brute force; coverage; exact medians of whole numbers
  Assumed:  the bits are uniform; an observer does not see how long it took; for ends off a tree
            where ranks do not jump, what `ranks` assumes. They have the band that a rank leaves on
            one side half as often as an end may, since blocks that the noise made miss more often
            than blocks fixed beforehand. Of 97 kinds of 1 to 60 equal rows, the worst held in 78,
            89, 92 and 98 % of 600 intervals at 80, 90, 95 and 99 %

Intervals off a tree hold more often than they say where rows are spread: 94, 98 and 99.8 % at 80,
95 and 99 %. Ends that are chosen hold nearly always: how far a choice strays depends on how many
cells lie in gaps between the data, which is private, so that they allow for all cells.

The largest (smallest) value itself has no private answer: one person makes it. `private_max` is
the r-th largest value instead, of rank n − r + ½, where r − ½ is at least the shortfall of the
choice at 95 %: within the data with that confidence, if there are r rows or more.

Smith: Privacy-preserving statistical estimation with optimal convergence rates (2011).

Several quantiles of one column are one release: a tree of counts with noise on every node
(`TreePart`). Each row is counted once on each level of a tree over the cells (`consistent`), and
all quantiles, however many, are read off the same noisy tree (`ranks`).

Theorem.  A unit moves the tree by `levels` times what it moves the cells by, in L1 and in L2
squared.
  Proven:   docs/explanation/proofs/tables.md, section 4
  Tested:   tests/tables/test_quantiles.py: intervals hold the true quantile as often as they say,
            where a cell has few rows; more often where a cell has more rows than the noise
  Assumed:  nothing beyond what `ranks` says
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from letalone.engines.core.measures import CellCounts, Measure
from letalone.mechanisms import Exponential
from letalone.plans.bounds import MOST_CELLS
from letalone.privacy import BoundedRange, Privacy, compose
from letalone.randomness.bits import BitSource
from letalone.tables.columns import Floats, Integers, NoisyColumn, Wholes
from letalone.tables.grid import CellScale
from letalone.tables.intervals import Family, NoiseLaw
from letalone.tables.noise import LARGEST_SCALE, Noise, pure_noise
from letalone.tables.parts.choices import choose_ranks, refuse_tiny
from letalone.tables.parts.consistent import CountTree, tree_for
from letalone.tables.parts.part import ROOT_TWO, ChoicePart, VectorPart
from letalone.tables.parts.ranks import mean_band, ranks_of, spread, widest
from letalone.tables.sensitivity import Contribution, Moved, rank_moves, sensitivity_of

VALUE, END = Fraction(1, 2), Fraction(1, 4)
INSIDE = Fraction(95, 100)
Ends = tuple[Integers, Integers]


@dataclass(frozen=True, slots=True)
class RankPart(ChoicePart):
    """The value of a rank: share · n, or for extremes so many rows from an end (share 0, 1)."""

    scale: CellScale
    share: Fraction
    extreme: bool = False

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (self.scale.cells,)

    @property
    def cells(self) -> CellCounts:
        return self.scale.cells

    @property
    def weight(self) -> float:
        """The scale of the value's utility at ε = 1."""
        return float(2 * rank_moves(self.share, self.unit) / VALUE)

    @property
    def words(self) -> str:
        if not self.by_tree:
            return "exponential mechanism: half of it for the value, a quarter for each end"
        kind = "geometric" if self.unit.lattice == 1 else "Laplace"
        by_tree = f"a tree of counts with {kind} noise for its interval"
        return f"exponential mechanism for the value, {by_tree}: half of it each"

    @property
    def by_tree(self) -> bool:
        """Whether ends read off a tree are narrower than ends that are chosen; at 95 %."""
        scale = float(self._tree_moved.l1 / (2 * END * self.unit.lattice))
        law, sure = NoiseLaw(Family.LAPLACE, scale), float(INSIDE)
        read = mean_band(self._tree, float(self.share), law, sure)
        return read < self._margin(Fraction(1), sure) / self._many / self.unit.lattice

    def privacy(self, epsilon: Fraction) -> Privacy:
        """The ranges of all choices add up to ε, or to half of it beside the tree's noise."""
        if not self._reads_tree(epsilon):
            return BoundedRange(epsilon)
        return compose(BoundedRange(epsilon * VALUE), self._noise(epsilon).privacy)

    def check(self, epsilon: Fraction, *, confidence: float) -> None:
        """Refuses an ε for which the ends, or an extreme, would be aimed too far off.

        For the most cells that there may be: bounds that are bought later change nothing.
        """
        margin = self._mechanism(epsilon * END).shortfall(MOST_CELLS + 2, confidence)
        inwards = self._mechanism(epsilon * VALUE).shortfall(MOST_CELLS + 2, INSIDE)
        refuse_tiny(epsilon, margin, inwards)

    def answers(
        self, exact: list[Wholes], epsilon: Fraction, *, confidence: float, bits: BitSource
    ) -> dict[str, NoisyColumn]:
        cells = np.asarray(exact[0], dtype=np.int64).reshape(-1, self.cells.count)
        rows = np.sum(cells, axis=1).astype(object)  # times a denominator they may pass 2^63
        constant = self._constant(epsilon) * self.unit.lattice
        targets = int(self.share * self._many) * rows + constant
        place = self._chosen(epsilon * VALUE, cells, targets, bits)
        if self._reads_tree(epsilon):
            low, high = self._read(epsilon, cells, confidence, bits)
        else:
            margin = ceil(self._margin(epsilon, confidence))
            aims = (targets - margin, targets + margin)
            low, high = (self._chosen(epsilon * END, cells, aim, bits) for aim in aims)
        answer = self.scale.answer(place, np.minimum(low, place), np.maximum(high, place))
        return dict.fromkeys(self.names, answer)

    def _read(self, epsilon: Fraction, cells: Integers, confidence: float, bits: BitSource) -> Ends:
        noise, tree = self._noise(epsilon), self._tree
        ranks = ranks_of(tree, noise.release(tree.vector(cells), bits))
        _, low, high = ranks.interval(
            float(self.share),
            noise.law,
            confidence=confidence,
            after_jumps=one_sided(confidence),
            constant=self._constant(epsilon) / self._many,
        )
        return low, high

    def _chosen(
        self, epsilon: Fraction, cells: Integers, targets: Wholes, bits: BitSource
    ) -> Integers:
        mechanism = self._mechanism(epsilon)
        return choose_ranks(mechanism, cells, targets, scale=self._many, bits=bits)

    def _margin(self, epsilon: Fraction, confidence: float) -> float:
        """How far beside the rank an end is aimed: it passes the rank seldom enough."""
        return self._mechanism(epsilon * END).shortfall(self.cells.count + 2, confidence)

    @property
    def _tree(self) -> CountTree:
        return tree_for(self.cells.count)

    @property
    def _tree_moved(self) -> Moved:
        return tree_moves(self._tree, self.scale, self.unit)

    def _noise(self, epsilon: Fraction) -> Noise:
        return pure_noise(self._tree_moved, epsilon * 2 * END, self.unit.lattice)

    def _reads_tree(self, epsilon: Fraction) -> bool:
        """Whether the tree is narrower, and its noise fits into 64 bits."""
        fits = self._tree_moved.l1 <= LARGEST_SCALE * epsilon * 2 * END
        return fits and self.by_tree

    @property
    def _many(self) -> int:
        """What ranks are multiplied with to be whole: halves for extremes."""
        return 2 if self.extreme else self.share.denominator

    def _mechanism(self, epsilon: Fraction) -> Exponential:
        moves = rank_moves(self.share, self.unit) * self._many * self.unit.lattice
        return Exponential(epsilon=epsilon, sensitivity=moves)

    def _constant(self, epsilon: Fraction) -> int:
        if not self.extreme:
            return 0
        inwards = inside(self.error(epsilon, confidence=float(INSIDE)))
        return inwards if self.share == 0 else -inwards

    def error(self, epsilon: Fraction, *, confidence: float) -> float:
        """How many rows the value's rank misses the target by, at most, this often."""
        shortfall = self._mechanism(epsilon * VALUE).shortfall(self.cells.count + 2, confidence)
        return shortfall / self._many / self.unit.lattice


def one_sided(confidence: float) -> float:
    """The confidence of a band that is left on each side with probability 1 − confidence."""
    return 2 * confidence - 1


def inside(shortfall: float) -> int:
    """Twice the rank r − ½, r whole, from which a choice that misses by this is in the data."""
    return 2 * ceil(shortfall + 0.5) - 1


@dataclass(frozen=True, slots=True)
class TreePart(VectorPart):
    """Several quantiles of one column."""

    scale: CellScale
    shares: tuple[Fraction, ...]

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (self.scale.cells,)

    @property
    def tree(self) -> CountTree:
        return tree_for(self.scale.cells.count)

    @property
    def moved(self) -> Moved:
        return tree_moves(self.tree, self.scale, self.unit)

    @property
    def weight(self) -> float:
        """The noise of a rank, over all cells."""
        noise = ROOT_TWO * self.moved.l1 / self.lattice
        return noise * max(spread(self.tree, float(q)) for q in self.shares)

    def vector(self, exact: list[Wholes]) -> Wholes:
        return self.tree.vector(exact[0])

    def answers(self, noisy: Floats, noise: Noise, confidence: float) -> dict[str, NoisyColumn]:
        ranks = ranks_of(self.tree, noisy)
        shares, law = map(float, self.shares), noise.law
        intervals = [ranks.interval(share, law, confidence=confidence) for share in shares]
        place, low, high = (np.stack(ends, axis=1) for ends in zip(*intervals, strict=True))
        return dict.fromkeys(self.names, self.scale.answer(place, low, high))

    def width(self, noise: Noise, confidence: float) -> float:
        """The widest band, in rows."""
        law = noise.law
        bands = (widest(self.tree, float(q), law.family, confidence) for q in self.shares)
        return law.deviation * max(bands)


def tree_moves(tree: CountTree, scale: CellScale, unit: Contribution) -> Moved:
    """How far one unit moves a tree over cells: each level moves as the cells do."""
    level = sensitivity_of(scale.cells, unit)
    return Moved(tree.levels * level.l1, tree.levels * level.l2_squared)
