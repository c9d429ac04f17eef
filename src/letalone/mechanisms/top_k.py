"""The k best candidates, in order, without their scores.

  peeling    k rounds of permute-and-flip at ε/k each among the candidates left: pure
  one-shot   k rounds of the exponential mechanism at ε₀ each, drawn at once by adding
             Gumbel noise to all scores and taking the k largest. Each round has a bounded
             range, hence is ε₀²/8-zCDP, so for delta > 0 it may spend ε₀ ≈ √(1/k) instead
             of 1/k: the largest ε₀ certified for (ε, δ), by k·ε₀ ≤ ε or by zCDP

Theorem.  The order is (epsilon, delta)-DP. It does not include the utilities of the
winners: releasing those is a further, charged release.
  Proven:   docs/explanation/proofs/top_k.md
  Tested:   the exact law of small rankings against neighbours; sampled against the law;
            peeling that does not split ε breaks the same test
  Assumed:  the bits are uniform; an observer does not see how long it took

Durfee, Rogers: Practical differentially private top-k selection with pay-what-you-get
composition (2019). McKenna, Sheldon: Permute-and-flip (2020).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeVar

import numpy as np

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, DELTA, Number
from letalone.mechanisms import choosing
from letalone.mechanisms.calibration import as_printed, largest
from letalone.mechanisms.containers import count_of
from letalone.mechanisms.parameters import SensitivityLike, about, fill, fill_choice
from letalone.mechanisms.values import Floats
from letalone.privacy import ZCDP, BoundedRange, Neighbours, Privacy, PureDP
from letalone.privacy.bounds import shown_above, six
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.choice import Scores, choose_in_order, permute_and_flip

T = TypeVar("T")


class TopKMethod(Enum):
    """How the k best are drawn."""

    PEELING = "peeling"
    ONE_SHOT = "one-shot"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TopK:
    """Chooses k candidates, best first.

    Parameters: `k` is how many. `epsilon` and `delta` are what all k together cost.
    `sensitivity` is the most that one unit can move the utility of any one candidate.
    `method` is "peeling" (pure) or "one-shot" (can use a delta); where it is not given, a
    delta above 0 chooses one-shot. `monotone=True` says that adding a unit can only raise
    utilities (counts): half the noise, for add/remove neighbours only.
    """

    k: int
    epsilon: Fraction
    delta: Fraction
    sensitivity: Fraction
    method: TopKMethod
    monotone: bool
    neighbours: Neighbours | None

    def __init__(
        self,
        *,
        k: int,
        epsilon: Number,
        delta: Number = 0,
        sensitivity: SensitivityLike,
        method: TopKMethod | Literal["peeling", "one-shot"] | None = None,
        monotone: bool = False,
    ) -> None:
        fill_choice(self, epsilon=epsilon, sensitivity=sensitivity, monotone=monotone)
        leak = DELTA.typed("delta", delta)
        fill(self, k=int(COUNT.typed("k", k)), delta=leak, method=_read_method(method, leak))

    @property
    def per_round(self) -> Fraction:
        """The epsilon of each of the k rounds."""
        if self.delta == 0:
            return self.epsilon / self.k
        return max(self.epsilon / self.k, _by_zcdp(self.k, self.epsilon, self.delta))

    @property
    def factor(self) -> Fraction:
        """What a utility is multiplied with to give its score in a round."""
        return choosing.factor_of(self.per_round, self.sensitivity, monotone=self.monotone)

    @property
    def privacy(self) -> Privacy:
        """What the order reveals."""
        return about(self._curve(), self.neighbours)

    def _curve(self) -> Privacy:
        if self.method is TopKMethod.PEELING:
            return PureDP(self.epsilon)
        if self.per_round * self.k == self.epsilon:
            return BoundedRange(self.per_round) * self.k
        return ZCDP(self.k * self.per_round**2 / 8)

    def choose(
        self, candidates: Sequence[T], utilities: choosing.Utilities, *, bits: BitSource = SYSTEM
    ) -> list[T]:
        """k of the candidates, best first; `utilities` aligned with them, or a function."""
        listed, floats = choosing.read_choices(candidates, utilities)
        return [listed[place] for place in self._choose(floats, bits)]

    def choose_indices(self, utilities: object, *, bits: BitSource = SYSTEM) -> list[int]:
        """The places of the k chosen utilities, best first."""
        return self._choose(choosing.read_utilities(utilities), bits)

    def _choose(self, utilities: Floats, bits: BitSource) -> list[int]:
        if utilities.size < self.k:
            raise ParameterError(
                f"k is {self.k}, but there is a choice of"
                f" {count_of(utilities.size, 'candidate', 'candidates')} only. Lower k to"
                f" {utilities.size} or less."
            )
        if self.method is TopKMethod.ONE_SHOT:
            return choose_in_order(Scores(utilities, self.factor), self.k, bits)
        return _peel(utilities, self.factor, self.k, bits)

    def shortfall(self, options: int, confidence: Number = 0.95) -> float:
        """Each choice is at most this much worse than the best one left, at least this often.

        It holds for all k choices at once: each may fail with a k-th of the probability.
        """
        return choosing.shortfall_of(self.factor, options * self.k, confidence)

    def __repr__(self) -> str:
        price = f"ε = {six(self.epsilon)}" + (f", δ = {six(self.delta)}" if self.delta else "")
        bound = shown_above(self.shortfall(10 * self.k))
        return (
            f"TopK(k = {self.k}, {price}, {self.method.value}, sensitivity"
            f" {six(self.sensitivity)}, each at most {bound} below"
            f" the best left of {10 * self.k} at 95 %)"
        )


def _read_method(method: TopKMethod | str | None, delta: Fraction) -> TopKMethod:
    if method is None:
        return TopKMethod.ONE_SHOT if delta > 0 else TopKMethod.PEELING
    try:
        how = TopKMethod(method)
    except ValueError:
        raise ParameterError(
            f"method is {method!r}, but must be 'peeling' or 'one-shot'."
        ) from None
    if how is TopKMethod.PEELING and delta > 0:
        raise ParameterError(
            f"delta is {six(delta)}, but must be 0 for method='peeling', which cannot use it."
            " method='one-shot' can, and is chosen where no method is given."
        )
    return how


@lru_cache(maxsize=1024)
def _by_zcdp(k: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    at = as_printed(epsilon)

    def keeps(per_round: Fraction) -> bool:
        return Fraction(ZCDP(k * per_round**2 / 8).delta(at)) <= delta

    return largest(keeps)


def _peel(utilities: Floats, factor: Fraction, k: int, bits: BitSource) -> list[int]:
    remaining = np.arange(utilities.size)
    chosen: list[int] = []
    for _ in range(k):
        place = permute_and_flip(Scores(utilities[remaining], factor), bits)
        chosen.append(int(remaining[place]))
        remaining = np.delete(remaining, place)
    return chosen
