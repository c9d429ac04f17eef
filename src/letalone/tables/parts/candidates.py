"""The most frequent of declared candidates, and bounds bought privately.

top_k: half of ε for the order, by peeling with permute-and-flip on the candidates' counts, and
half for the winners' counts, with noise (they do not come free with the order).

private_bounds: bounds of the r-th smallest and the r-th largest value, r − ½ at least the shortfall
of the choice at 95 %, among 0, ±1, ±2, ±4, … (for numbers also ±1/2 … ±1/1024), half of ε each.
So about r rows at each end may be clamped.

  Proven:   docs/explanation/proofs/tables.md, section 4; proofs/top_k.md
  Tested:   the audit; winners and bounds of clear-cut data
  Assumed:  the bits are uniform; an observer does not see how long it took
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from letalone.engines.core.measures import Measure, RowsWith, ValueCounts
from letalone.mechanisms import Exponential, TopK
from letalone.plans.expressions import Case, Comparison, ComparisonOp, Expression, IsNull, Literal
from letalone.plans.types import Key
from letalone.privacy import BoundedRange, Privacy, PureDP, compose
from letalone.randomness.bits import BitSource
from letalone.tables.columns import Integers, NoisyColumn, Wholes, count_answer
from letalone.tables.noise import Noise, pure_noise
from letalone.tables.parts.choices import choose_rank, refuse_tiny
from letalone.tables.parts.part import ChoicePart
from letalone.tables.parts.quantiles import INSIDE, inside
from letalone.tables.sensitivity import count_utility_moves, rank_moves, shares_move

HALF = Fraction(1, 2)
LARGEST_POWER = 62
SMALLEST_POWER = -10


@dataclass(frozen=True, slots=True)
class TopPart(ChoicePart):
    """The k most frequent candidates, best first, with their counts."""

    of: Expression
    k: int
    candidates: tuple[Key, ...]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The rows of each candidate, then those without a value if that is one."""
        values = tuple(key for key in self.candidates if key is not None)
        missing = [_rows_where(IsNull(self.of))] if None in self.candidates else []
        return (*([ValueCounts(self.of, values)] if values else []), *missing)

    def _counts(self, exact: list[Wholes]) -> Integers:
        """The exact counts of each key, in the order of the candidates."""
        counts = np.column_stack(exact).astype(np.int64)
        order = sorted(range(len(self.candidates)), key=lambda n: self.candidates[n] is None)
        return counts[:, np.argsort(order)]

    @property
    def weight(self) -> float:
        """The scale of a round at half of ε = 1."""
        times = 2 if self.unit.replace else 1
        return float(2 * times * self.k * count_utility_moves(self.unit))

    @property
    def words(self) -> str:
        kind = "geometric" if self.unit.lattice == 1 else "Laplace"
        return f"permute-and-flip for the order, {kind} noise for the counts: half of it each"

    def privacy(self, epsilon: Fraction) -> Privacy:
        return compose(PureDP(epsilon * HALF), self._noise(epsilon).privacy)

    def _order(self, epsilon: Fraction) -> TopK:
        return TopK(
            k=self.k,
            epsilon=epsilon * HALF,
            sensitivity=count_utility_moves(self.unit) * self.unit.lattice,
            monotone=not self.unit.replace,
        )

    def _noise(self, epsilon: Fraction) -> Noise:
        lattice = self.unit.lattice
        return pure_noise(shares_move(1, self.unit).times(lattice), epsilon * HALF, lattice)

    def check(self, epsilon: Fraction, *, confidence: float) -> None:
        del confidence
        self._noise(epsilon)

    def answers(
        self, exact: list[Wholes], epsilon: Fraction, *, confidence: float, bits: BitSource
    ) -> dict[str, NoisyColumn]:
        """The winners as labels, their counts as values."""
        counts = self._counts(exact)
        order = self._order(epsilon)
        winners = np.array([order.choose_indices(row, bits=bits) for row in counts], dtype=np.int64)
        winners = winners.reshape(len(counts), self.k)
        noise = self._noise(epsilon)
        noisy = noise.release(np.take_along_axis(counts, winners, axis=1), bits)
        answer = count_answer(noisy, noise.width(confidence), whole=self.unit.lattice == 1)
        labels = np.empty(len(self.candidates), dtype=object)
        labels[:] = self.candidates
        answered = NoisyColumn(answer.values, answer.low, answer.high, labels[winners])
        return dict.fromkeys(self.names, answered)

    def error(self, epsilon: Fraction, *, confidence: float) -> float:
        """How much less frequent than the best one left a winner may be, in rows."""
        order, lattice = self._order(epsilon), self.unit.lattice
        return order.shortfall(len(self.candidates), confidence) / lattice


@dataclass(frozen=True, slots=True)
class BoundsPart(ChoicePart):
    """A lower and an upper bound of a column, among powers of two."""

    of: Expression
    whole: bool

    @property
    def candidates(self) -> tuple[Fraction, ...]:
        first = 0 if self.whole else SMALLEST_POWER
        powers = [Fraction(2) ** power for power in range(first, LARGEST_POWER + 1)]
        return (*(-power for power in reversed(powers)), Fraction(0), *powers)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """How many rows lie below each candidate, how many at or below, and how many in all."""
        return (
            *(self._rows("<", candidate) for candidate in self.candidates),
            *(self._rows("<=", candidate) for candidate in self.candidates),
            RowsWith(self.of),
        )

    def _rows(self, op: ComparisonOp, candidate: Fraction) -> RowsWith:
        constant = int(candidate) if candidate.denominator == 1 else candidate
        return _rows_where(Comparison(op, self.of, Literal(constant)))

    @property
    def weight(self) -> float:
        """The scale of each choice at ε = 1."""
        return float(4 * rank_moves(Fraction(1), self.unit))

    @property
    def words(self) -> str:
        return "exponential mechanism over powers of two: half of it for each bound"

    def privacy(self, epsilon: Fraction) -> Privacy:
        """The ranges of all choices add up to ε."""
        return BoundedRange(epsilon)

    def check(self, epsilon: Fraction, *, confidence: float) -> None:
        del confidence
        farthest = 2 * self.error(epsilon, confidence=float(INSIDE))
        refuse_tiny(epsilon, farthest * self.unit.lattice)

    def answers(
        self, exact: list[Wholes], epsilon: Fraction, *, confidence: float, bits: BitSource
    ) -> dict[str, NoisyColumn]:
        """The two bounds of each key; they are choices, and have no interval."""
        del confidence
        below, upto = np.split(np.stack(exact[:-1], axis=1).astype(np.int64), 2, axis=1)
        rows = np.asarray(exact[-1], dtype=np.int64)
        by_key = zip(below, upto, rows, strict=True)
        chosen = [self._bounds(*counts, epsilon, bits) for counts in by_key]
        bounds = np.array(chosen, dtype=np.float64).reshape(-1, 2)
        return dict.fromkeys(self.names, NoisyColumn(bounds, bounds, bounds))

    def _bounds(
        self, below: Integers, upto: Integers, rows: int, epsilon: Fraction, bits: BitSource
    ) -> tuple[float, float]:
        mechanism, last = self._mechanism(epsilon), len(self.candidates) - 1
        inwards = inside(self.error(epsilon, confidence=float(INSIDE))) * self.unit.lattice
        from_low = np.diff(below, prepend=0, append=rows)  # cell j: from candidate j − 1 on
        to_high = np.diff(upto, prepend=0, append=rows)  # cell j: up to candidate j
        low = choose_rank(mechanism, from_low, inwards, scale=2, bits=bits) - 1
        high = choose_rank(mechanism, to_high, 2 * int(rows) - inwards, scale=2, bits=bits)
        low = min(max(low, 0), last - 1)
        high = min(max(high, low + 1), last)
        return float(self.candidates[low]), float(self.candidates[high])

    def _mechanism(self, epsilon: Fraction) -> Exponential:
        # Ranks are counted in halves.
        moves = 2 * rank_moves(Fraction(1), self.unit) * self.unit.lattice
        return Exponential(epsilon=epsilon * HALF, sensitivity=moves)

    def error(self, epsilon: Fraction, *, confidence: float) -> float:
        """How many rows more or fewer than meant may lie beyond a bound."""
        shortfall = self._mechanism(epsilon).shortfall(len(self.candidates) + 3, confidence)
        return shortfall / 2 / self.unit.lattice


def _rows_where(condition: Expression) -> RowsWith:
    return RowsWith(Case(((condition, Literal(1)),), Literal(None)))
