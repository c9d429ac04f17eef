"""Trees of one feature each, grown in turns: a score for each bin of each feature.

Noisy counts of the bins are bought first. Bins with few rows are merged with their neighbours,
and the counts choose the number of rounds. Then, round after round and feature by feature, a tree
with a few leaves gets the noisy sum of the residuals in each leaf, and moves its bins' scores.
Cuts of ordered features move on with each round, so that the sum of all trees is smooth.

Theorem.  Counts and trees together are (1 / noise)-GDP, whatever the rows are.
  Proven:   docs/explanation/proofs/boosting.md, section 3
  Tested:   tests/learn/test_boosting.py: all sums of neighbours by brute force; what is spent
  Assumed:  fewer than 2^36 rows, so that doubles hold the sums

The idea: Nori, Caruana, Bu, Shen, Kulkarni: Accuracy, interpretability, and differential privacy
via explainable boosting (2021). There cuts are drawn at random.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from letalone.learn.noisy_sums.sums import root_above
from letalone.learn.noisy_sums.wholes import Wholes
from letalone.learn.trees.bins import Codes, Feature, Floats, leaves, merge_bins
from letalone.learn.trees.residuals import UNIT, Residuals
from letalone.mechanisms import Gaussian
from letalone.randomness.bits import BitSource

COUNTS = Fraction(1, 10)  # the part of 1 / noise² that counts may spend
MIN_ROUNDS, MAX_ROUNDS = 3, 40  # rounds
FEWEST_LEAVES, MOST_LEAVES = 4, 8
RATE = 0.5
FARTHEST_STEP = 1.5
DECAY = 0.3  # of the noise: how strongly scores are drawn back to 0
EMPTY = 2  # bins of fewer rows than so many deviations of the counts' noise are merged


@dataclass(frozen=True, slots=True)
class Growth:
    """How trees are grown: `noise` is the deviation that a sensitivity of 1 asks for."""

    features: tuple[Feature, ...]
    residuals: Residuals
    noise: Fraction
    rounds: int | None

    @property
    def counting(self) -> Gaussian:
        """The noise of counts: a row is in one bin of each feature."""
        size = root_above(len(self.features))
        return Gaussian(sigma=self.noise * size * root_above(1 / COUNTS), sensitivity=size)

    def summing(self, rounds: int) -> Gaussian:
        """The noise of one tree's sums of residuals, if there are so many rounds."""
        times = root_above(rounds * len(self.features) / (1 - COUNTS))
        size = self.residuals.sensitivity
        return Gaussian(sigma=self.noise * size * times, sensitivity=size)

    def check(self) -> None:
        """Refuses noise that no mechanism carries, before anything is charged."""
        for rounds in (MIN_ROUNDS, MAX_ROUNDS) if self.rounds is None else (self.rounds,):
            self.summing(rounds)

    def rounds_for(self, rows: float) -> int:
        """More rounds for more rows and less noise: a rule found on the training part of Adult."""
        if self.rounds is not None:
            return self.rounds
        clear = max(rows, 0.0) / (float(self.noise) * len(self.features) ** 0.5)
        return round(min(max(0.75 * clear ** (1 / 3), MIN_ROUNDS), MAX_ROUNDS))


@dataclass(frozen=True, slots=True)
class FeatureScores:
    """What is published of one feature: the noisy count and the scores of each bin."""

    counts: Floats
    scores: Floats


def grow_trees(
    growth: Growth, codes: Sequence[Codes], goals: Wholes, bits: BitSource
) -> tuple[list[FeatureScores], int]:
    """The shapes of all features, and the number of rounds."""
    exact = exact_counts(growth.features, codes)
    noisy = growth.counting.release(np.concatenate(exact), bits=bits)
    fine = np.split(noisy, np.cumsum([counts.size for counts in exact])[:-1])
    least = EMPTY * float(growth.counting.sigma)
    wider = [
        merge_bins(counts, least) if feature.is_ordered else np.arange(feature.bins, dtype=np.int64)
        for feature, counts in zip(growth.features, fine, strict=True)
    ]
    rounds = growth.rounds_for(float(np.mean([counts.sum() for counts in fine])))
    trees = _Trees.start(growth, wider, codes, fine, rounds)
    for number in range(rounds):
        for place in range(len(wider)):
            trees.grow(place, number, goals, bits)
        trees.remember(number, rounds)
    kept_scores = [scores[w] for scores, w in zip(trees.kept, wider, strict=True)]
    return [
        FeatureScores(counts, scores) for counts, scores in zip(fine, kept_scores, strict=True)
    ], rounds


def exact_counts(features: Sequence[Feature], codes: Sequence[Codes]) -> list[Wholes]:
    """How many rows are in each bin of each feature."""
    pairs = zip(features, codes, strict=True)
    return [np.bincount(code, minlength=feature.bins).astype(np.int64) for feature, code in pairs]


def exact_sums(places: Codes, number: int, residuals: Wholes) -> Floats:
    """The residuals of each leaf, added up: whole numbers below 2^53, so nothing is rounded."""
    doubles = residuals.T.astype(np.float64)
    columns: list[Floats] = [
        np.bincount(places, output, number).astype(np.float64) for output in doubles
    ]
    return np.stack(columns, axis=1)


@dataclass(slots=True)
class _Trees:
    """The scores so far: of rows, which stay here, and of bins, which are published."""

    growth: Growth
    mechanism: Gaussian
    most_leaves: int
    codes: list[Codes]
    counts: list[Floats]
    shapes: list[Wholes]
    kept: list[Floats]
    scores: Wholes

    @classmethod
    def start(
        cls,
        growth: Growth,
        wider: Sequence[Codes],
        codes: Sequence[Codes],
        fine: Sequence[Floats],
        rounds: int,
    ) -> "_Trees":
        outputs = growth.residuals.outputs
        counts = [np.bincount(w, weights=c) for w, c in zip(wider, fine, strict=True)]
        return cls(
            growth,
            growth.summing(rounds),
            min(max(rounds, FEWEST_LEAVES), MOST_LEAVES),
            [w[code] for w, code in zip(wider, codes, strict=True)],
            [np.maximum(c, 1.0) for c in counts],
            [np.zeros((c.size, outputs), np.int64) for c in counts],
            [np.zeros((c.size, outputs)) for c in counts],
            np.zeros((len(codes[0]), outputs), np.int64),
        )

    def grow(self, place: int, number: int, goals: Wholes, bits: BitSource) -> None:
        """One tree: sums of residuals leaf by leaf, with noise, move the scores."""
        bins = self.counts[place].size
        ordered = self.growth.features[place].is_ordered
        leaf = leaves(bins, self.most_leaves if ordered else bins, number)
        residuals = self.growth.residuals.of(self.scores, goals)
        exact = exact_sums(leaf[self.codes[place]], int(leaf.max()) + 1, residuals)
        noisy = self.mechanism.release(exact, bits=bits)
        steps = self._steps(place, leaf, noisy / UNIT)[leaf]
        self.shapes[place] += steps
        self.scores += steps[self.codes[place]]

    def remember(self, number: int, rounds: int) -> None:
        """The published scores are the mean over the later half of the rounds."""
        for kept, shape in zip(self.kept, self.shapes, strict=True):
            if number >= rounds // 2:
                kept += shape / (self.growth.residuals.steps * (rounds - rounds // 2))

    def _steps(self, place: int, leaf: Codes, sums: Floats) -> Wholes:
        """How far each leaf moves: from published numbers alone."""
        loss, noise = self.growth.residuals, float(self.mechanism.sigma) / UNIT
        sizes = np.bincount(leaf, weights=self.counts[place])[:, np.newaxis]
        widths = np.bincount(leaf)[:, np.newaxis]
        before = exact_sums(leaf, len(widths), self.shapes[place]) / widths / loss.steps
        drawn = DECAY * noise * before
        weight = loss.curvature * (sizes + 4 * noise) + DECAY * noise
        moved = np.clip(RATE * (sums - drawn) / weight, -FARTHEST_STEP, FARTHEST_STEP)
        return np.rint(moved * loss.steps).astype(np.int64)
