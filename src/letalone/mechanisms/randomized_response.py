"""Randomized response: every person answers for themselves, with a deniable lie.

One of k categories is the truth. It is reported with probability p, and each of the others
with probability q = (1 − p)/(k − 1). Nobody needs to be trusted with the answers.

Theorem.  A report is exactly ε-DP for p = e^ε/(e^ε + k − 1), and for a given p > 1/k
exactly ln(p(k − 1)/(1 − p))-DP: ln 3 for Warner's coins, p = 3/4. A person who gives d
answers gets ε/d for each. With y = 1 where a category is reported, the mean of
z = (y − q)/(p − q) is an unbiased estimate of the category's share.
  Proven:   docs/explanation/proofs/randomized_response.md (privacy) and
            randomized_response_estimate.md (estimate, interval)
  Tested:   the exact law; unbiasedness and coverage by simulation and by exact sums
  Assumed:  the bits are uniform; people answer independently of each other's lies

Categories are whole numbers from 0, or labels. Answers are read as indices and reports are written
in the kind that the answers had: a bool for a bool, a label for a label, an array for an array. An
answer that is none of the categories is refused without repeating it; the person who typed it sees
it anyway.

Neighbours are two answers of one person, REPLACE: the guarantee is local, and says nothing
about who took part, which the number of reports shows.

Warner: Randomized response: a survey technique for eliminating evasive answer bias (1965).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError
from letalone.exact.balls import Ball, ball, certain, upper
from letalone.exact.typed import CONFIDENCE, COUNT, EPSILON, Constraint, Number, as_typed, refusal
from letalone.mechanisms.parameters import exactly_one, fill
from letalone.mechanisms.values import Floats, Integers, list_values
from letalone.privacy import REPLACE, Privacy, RandomizedResponsePrivacy
from letalone.privacy.bounds import shown_above, six
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.chance import Chance, sample_bernoullis
from letalone.randomness.uniform import sample_belows

BETA_ERROR = 1e-12
Indices = NDArray[np.int64]

MOST_CATEGORIES = 1 << 31
CATEGORIES = Constraint(
    "a whole number from 2 to 2^31, or a list of labels",
    lambda x: 2 <= x <= MOST_CATEGORIES and x.denominator == 1,
    "One category has nothing to hide.",
    (1, 0, -1, 2.5, MOST_CATEGORIES + 1, 1 << 62, 1 << 63, float("nan"), float("inf")),
)


@dataclass(frozen=True, slots=True)
class Categories:
    """How many categories there are, and their labels if they have any."""

    count: int
    labels: tuple[Hashable, ...] | None = None

    @classmethod
    def of(cls, categories: int | Sequence[Hashable]) -> "Categories":
        if isinstance(categories, str) or not isinstance(categories, Sequence):
            return cls(int(CATEGORIES.typed("categories", categories)))
        labels = tuple(categories)
        CATEGORIES.typed("the number of labels", len(labels))
        if len(_distinct(labels)) < len(labels):
            raise ParameterError("A label occurs twice, but labels must differ. Drop one.")
        return cls(len(labels), labels)

    def read(self, answers: object) -> Indices:
        """The answers as indices, in their shape."""
        indices = self._read_numbers(answers) if self.labels is None else self._read_labels(answers)
        if indices.size and not (indices.min() >= 0 and indices.max() < self.count):
            raise self._unknown()
        return indices

    def write(self, indices: Indices, like: object) -> Any:
        """Indices in the kind of the answers that they belong to."""
        if self.labels is not None:
            return _replace(indices.tolist(), self.labels)
        kind = np.bool_ if np.asarray(like).dtype.kind == "b" else np.int64
        reports = indices.astype(kind)
        return reports if isinstance(like, np.ndarray) or reports.ndim else reports.item()

    def _read_numbers(self, answers: object) -> Indices:
        try:
            array = np.asarray(answers)
        except ValueError:
            raise self._unknown() from None
        if array.size == 0:
            return array.astype(np.int64)
        if array.dtype.kind not in "biu" or (array.dtype.kind == "b" and self.count != 2):
            raise self._unknown()
        if array.dtype.kind == "u" and array.dtype.itemsize == 8:
            array = np.minimum(array, np.uint64(self.count))  # 2^63 and above would wrap
        return array.astype(np.int64)

    def _read_labels(self, answers: object) -> Indices:
        places = {label: place for place, label in enumerate(self.labels or ())}
        try:
            return np.array(_locate(list_values(answers), places), dtype=np.int64)
        except (TypeError, ValueError):
            raise self._unknown() from None

    def _unknown(self) -> ParameterError:
        if self.labels is not None:
            allowed = f"one of the labels {', '.join(map(repr, self.labels))}"[:200]
        else:
            bools = " or bools" if self.count == 2 else ""
            allowed = f"whole numbers from 0 to {self.count - 1}{bools}"
        return ParameterError(
            f"An answer is not one of the {self.count} categories. Answers must be {allowed},"
            " in rows of equal length."
        )


def _distinct(labels: tuple[Hashable, ...]) -> set[Hashable]:
    try:
        return set(labels)
    except TypeError:
        raise ParameterError(
            "A label is a list or another thing that can change, but labels must be words, numbers"
            " or tuples of them."
        ) from None


def _locate(answers: object, places: dict[Hashable, int]) -> Any:
    if isinstance(answers, list | np.ndarray) or (
        isinstance(answers, tuple) and answers not in places
    ):
        entries = cast("Sequence[object]", answers)
        return [_locate(entry, places) for entry in entries]
    return places.get(cast("Hashable", answers), -1)


def _replace(indices: Any, labels: tuple[Hashable, ...]) -> Any:
    if isinstance(indices, list):
        return [_replace(index, labels) for index in cast("list[Any]", indices)]
    return labels[indices]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RandomizedResponse:
    """Randomises each answer on its own; calibrated by `epsilon` or by `truth`.

    Parameters: `epsilon` is what all reports of one person cost; or `truth` is the probability
    with which each report is the true answer. `categories` is how many answers there are to
    choose from, or their labels. `answers` is how many questions each person answers; they
    share `epsilon`.
    """

    epsilon: Fraction | None
    truth: Fraction | None
    kinds: Categories
    answers: int

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        truth: Number | None = None,
        categories: int | Sequence[Hashable] = 2,
        answers: int = 1,
    ) -> None:
        exactly_one({"epsilon": epsilon, "truth": truth})
        kinds = Categories.of(categories)
        price = None if epsilon is None else EPSILON.typed("epsilon", epsilon)
        honest = None if truth is None else _read_truth(truth, kinds.count)
        repeats = int(COUNT.typed("answers", answers))
        fill(self, epsilon=price, truth=honest, kinds=kinds, answers=repeats)

    @classmethod
    def warner(cls) -> "RandomizedResponse":
        """Warner's coins: heads, the truth; tails, a fair yes or no. Exactly ln 3."""
        return cls(truth=Fraction(3, 4))

    @property
    def categories(self) -> int:
        return self.kinds.count

    @property
    def privacy(self) -> Privacy:
        """What all reports of one person reveal, as against other answers of theirs.

        The neighbours are REPLACE: that a person took part shows in the number of reports.
        """
        return (self._one_answer() * self.answers).with_neighbours(REPLACE)

    def release(self, answers: object, *, bits: BitSource = SYSTEM) -> Any:
        """A report for each answer, of the same kind and shape.

        Without labels, answers are bools or whole numbers below the number of categories:
        one, or an array with an entry a person. Where a person gives several answers, the
        last axis runs over them. With labels, answers are labels: one, or lists of them.
        """
        indices = self._read(answers)
        reports = self._randomised(indices.reshape(-1), bits).reshape(indices.shape)
        return self.kinds.write(reports, answers)

    def estimate(self, reports: object, confidence: Number = 0.95) -> Estimate:
        """The share of each category among those asked, unbiased, with an interval.

        Two categories without labels give the share of 1 (True). Otherwise the last axis of
        the result runs over the categories, and each interval holds at `confidence` on its
        own. Several answers a person give a row each. The value is not cut to [0, 1], which
        would bias it; the interval is, to a single end where it lies wholly outside.

        Reports that hardly any truth explains, such as 1,000 times yes where a quarter of
        all reports are lies, are not refused: noise can bring them about. They show in a value far
        outside of [0, 1], and the interval is then a single end.
        """
        indices = self._read(reports)
        if indices.size == 0 or indices.ndim == 0:
            raise ParameterError(
                "There is no list of reports to estimate from. Give one with a report or more."
            )
        people = indices.reshape(-1, self.answers)
        kinds = range(self.categories)
        counts = np.stack([(people == kind).sum(axis=0) for kind in kinds], axis=-1)
        only_ones = self.kinds.labels is None and self.categories == 2
        kept = counts[:, 1] if only_ones else counts
        return self._from_counts(kept if self.answers > 1 else kept[0], len(people), confidence)

    def error(self, confidence: Number = 0.95, *, people: int) -> float:
        """An estimated share is within this of the truth, at least this often; rounded up.

        It is known before any report is seen and holds for every true share: the worst case
        (Hoeffding's inequality). The interval of `estimate` uses the reports and is mostly
        narrower.
        """
        miss = 1 - CONFIDENCE.typed("confidence", confidence)
        count = COUNT.typed("people", people)

        def width() -> Ball:
            return ((ball(2) / ball(miss)).log() / (2 * ball(count))).sqrt() / self._contrast()

        return upper(certain(width))

    def expected_error(self, *, people: int) -> float:
        """The root of the mean squared error of an estimated share, rounded up.

        Exact for two categories; for more it is the largest over all true shares.
        """
        count = COUNT.typed("people", people)

        def deviation() -> Ball:
            truth, lie = self._truth(), self._truth() - self._contrast()
            variance = (truth * (1 - truth)).max(lie * (1 - lie))
            return (variance / ball(count)).sqrt() / self._contrast()

        return upper(certain(deviation))

    def __repr__(self) -> str:
        several = f", {self.answers} answers a person" if self.answers > 1 else ""
        epsilon = six(Fraction(self.privacy.epsilon(0)))
        return (
            f"RandomizedResponse(ε = {epsilon}, {self.categories} categories{several},"
            f" truth with probability {float(certain(self._truth)):.4g},"
            f" error {shown_above(self.error(people=1000))} for 1000 people at 95 %)"
        )

    def _one_answer(self) -> Privacy:
        count = self.categories
        if self.epsilon is None:
            return RandomizedResponsePrivacy(truth=self.truth, categories=count)
        return RandomizedResponsePrivacy(self.epsilon / self.answers, categories=count)

    def _truth(self) -> Ball:
        if self.truth is not None:
            return ball(self.truth)
        return 1 / (1 + (self.categories - 1) * ball(-self._per_answer).exp())

    def _contrast(self) -> Ball:
        """p − q, written so that nothing cancels."""
        count = self.categories
        if self.truth is not None:
            return ball((self.truth * count - 1) / (count - 1))
        return ball(self._per_answer).expm1() / (ball(self._per_answer).exp() + (count - 1))

    @property
    def _per_answer(self) -> Fraction:
        return (self.epsilon or Fraction(0)) / self.answers

    def _lie(self) -> Chance:
        if self.truth is not None:
            return Chance(1 - self.truth)
        return _lie_chance(self._per_answer, self.categories)

    def _read(self, answers: object) -> Indices:
        indices = self.kinds.read(answers)
        if self.answers > 1 and (indices.ndim == 0 or indices.shape[-1] != self.answers):
            raise ParameterError(
                f"The answers have the shape {indices.shape}, but each person gives"
                f" {self.answers}: the last axis must run over them."
            )
        return indices

    def _randomised(self, indices: Indices, bits: BitSource) -> Indices:
        lies = sample_bernoullis(self._lie(), indices.size, bits)
        count = self.categories
        # A lie is uniform among the other categories: 1 to k − 1 steps on, round the circle.
        steps = 1 + sample_belows(count - 1, int(lies.sum()), bits)
        reports = indices.copy()
        # Backwards first: a place and a number of steps need not fit into 64 bits together.
        others = reports[lies] - (count - steps)
        reports[lies] = np.where(others < 0, others + count, others)
        return reports

    def _from_counts(self, counts: Any, people: int, confidence: Number) -> Estimate:
        level = float(CONFIDENCE.typed("confidence", confidence))
        contrast = float(certain(self._contrast))
        lie = float(certain(lambda: self._truth() - self._contrast()))
        share = (np.asarray(counts) / people - lie) / contrast
        low, high = (
            np.clip((end - lie) / contrast, 0.0, 1.0)
            for end in clopper_pearson(np.asarray(counts), people, level)
        )
        ends = (_plain(low), _plain(high))
        return Estimate(_plain(share), *ends, level, self.privacy, self.kinds.labels)


def _plain(values: NDArray[np.float64]) -> float | NDArray[np.float64]:
    return float(values) if np.ndim(values) == 0 else values


def _read_truth(truth: Number, categories: int) -> Fraction:
    allowed = f"a number above 1/{categories} and below 1"
    hint = "At 1 there is no privacy, and at one in as many as there are categories no answer."
    try:
        number = as_typed(truth)
    except (TypeError, ValueError, OverflowError):
        raise refusal("truth", truth, allowed, hint) from None
    if not Fraction(1, categories) < number < 1:
        raise refusal("truth", truth, allowed, hint)
    return number


@lru_cache(maxsize=256)
def _lie_chance(epsilon: Fraction, categories: int) -> Chance:
    # The lie and not the truth: next to 1, digits would cost as many bits as there are nines.
    return Chance(lambda: (categories - 1) / (ball(epsilon).exp() + (categories - 1)))


def clopper_pearson(counts: Integers, total: int, confidence: float) -> tuple[Floats, Floats]:
    """The lower and upper ends for each count out of `total`: Clopper and Pearson's interval.

    It holds every p for which neither "at most this count" nor "at least this count" has
    probability below (1 − confidence)/2, so it misses with probability at most 1 − confidence,
    whatever p and n are. Its ends are quantiles of the beta law, which scipy gives right to
    1e-12: they are moved outwards by that much.
    """
    tail = (1 - confidence) / 2
    # P[Bin(n, p) >= x] is the beta law's probability of at most p, with x and n − x + 1.
    low = _beta_quantile(np.maximum(counts, 1), total - counts + 1, tail)
    missed = _beta_quantile(np.maximum(total - counts, 1), counts + 1, tail)
    low = np.where(counts == 0, 0.0, low * (1 - BETA_ERROR))
    high = 1 - np.where(counts == total, 0.0, missed * (1 - BETA_ERROR))
    return low, high


def _beta_quantile(a: Integers, b: Integers, probability: float) -> Floats:
    from scipy import special

    inverse = cast("Any", special).betaincinv
    return np.asarray(inverse(a, b, probability), dtype=np.float64)
