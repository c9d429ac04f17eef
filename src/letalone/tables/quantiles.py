"""One quantile, or a private extreme: the exponential mechanism over declared cells.

For the rank T = share · n + constant, the utility of a cell v is minus the number of rows by
which it misses: u(v) = −max(0, #{x < v} − T, T − #{x ≤ v}). Two more places, below and above
all cells, stand for ranks below 0 and above n, so that some place always has utility 0.

Theorem.  (1) A row moves u(v) by at most max(share, 1 − share) for every v; see
`sensitivity.rank_moves` for units, groups and neighbours.  (2) The choices of all groups
together have a loss whose range is at most ε.  (3) Choices aimed at T − r and T + r, where r
is the shortfall that one of them exceeds with probability at most (1 − confidence)/2, enclose
every value of rank T with at least the confidence.
  Proven:   docs/explanation/proofs/tables.md, section 4
  Tested:   sensitivity by brute force; coverage; exact medians of whole numbers
  Assumed:  the bits are uniform; an observer does not see how long it took

Half of ε pays for the value, a quarter for each end. The largest (smallest) value itself has
no private answer: one person makes it. `private_max` is the r-th largest value instead, of rank
n − r + ½, where r − ½ is at least the shortfall of the choice at 95 %: within the data with that
confidence.

Smith: Privacy-preserving statistical estimation with optimal convergence rates (2011).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from letalone.engines.measures import Cells, Measure
from letalone.mechanisms import Exponential
from letalone.privacy import BoundedRange, Privacy
from letalone.randomness.bits import BitSource
from letalone.tables.choices import ChoicePart, Integers, Wholes, by_key, choose_rank
from letalone.tables.columns import Answer
from letalone.tables.scales import Scale
from letalone.tables.sensitivity import Contribution, rank_moves

VALUE, END = Fraction(1, 2), Fraction(1, 4)
INSIDE = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class RankPart(ChoicePart):
    """The value of a rank: share · n, or for extremes so many rows from an end (share 0, 1)."""

    names: tuple[str, ...]
    unit: Contribution
    scale: Scale
    share: Fraction
    extreme: bool = False

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The cells."""
        return (self.scale.cells,)

    @property
    def cells(self) -> Cells:
        """The cells."""
        return self.scale.cells

    @property
    def weight(self) -> float:
        """The scale of the value's utility at ε = 1."""
        return float(2 * rank_moves(self.share, self.unit) / VALUE)

    @property
    def words(self) -> str:
        """What is chosen, and for which share."""
        return "exponential mechanism: half of it for the value, a quarter for each end"

    def privacy(self, epsilon: Fraction) -> Privacy:
        """The ranges of all choices add up to ε."""
        return BoundedRange(epsilon)

    def answers(
        self, exact: list[Wholes], epsilon: Fraction, *, confidence: float, bits: BitSource
    ) -> dict[str, Answer]:
        """The value and the two ends, for each key."""
        found = [self._chosen(cells, epsilon, confidence, bits) for cells in by_key(exact[0])]
        place, low, high = np.array(found, dtype=np.int64).reshape(-1, 3).T
        answer = self.scale.answer(place, np.minimum(low, place), np.maximum(high, place))
        return dict.fromkeys(self.names, answer)

    def _chosen(
        self, cells: Integers, epsilon: Fraction, confidence: float, bits: BitSource
    ) -> tuple[int, int, int]:
        many = self._many
        target = int(self.share * many) * int(cells.sum()) + self._constant(epsilon)
        value, end = self._mechanism(epsilon * VALUE), self._mechanism(epsilon * END)
        margin = ceil(end.shortfall(self.cells.count + 2, (1 + confidence) / 2))
        aims = ((value, target), (end, target - margin), (end, target + margin))
        place, low, high = (choose_rank(m, cells, t, scale=many, bits=bits) for m, t in aims)
        return place, low, high

    @property
    def _many(self) -> int:
        """What ranks are multiplied with to be whole: halves for extremes."""
        return 2 if self.extreme else self.share.denominator

    def _mechanism(self, epsilon: Fraction) -> Exponential:
        moves = rank_moves(self.share, self.unit) * self._many
        return Exponential(epsilon=epsilon, sensitivity=moves)

    def _constant(self, epsilon: Fraction) -> int:
        if not self.extreme:
            return 0
        inwards = inside(self.error(epsilon, confidence=float(INSIDE)))
        return inwards if self.share == 0 else -inwards

    def error(self, epsilon: Fraction, *, confidence: float) -> float:
        """How many rows the value's rank misses the target by, at most, this often."""
        shortfall = self._mechanism(epsilon * VALUE).shortfall(self.cells.count + 2, confidence)
        return shortfall / self._many


def inside(shortfall: float) -> int:
    """Twice the rank r − ½, r whole, from which a choice that misses by this is in the data."""
    return 2 * ceil(shortfall + 0.5) - 1
