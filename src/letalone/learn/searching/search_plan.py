"""What a search does, decided before data is seen: which candidates, at which price, how often.

Theorem.  `SearchPlan` keeps its (epsilon, delta) if every candidate keeps its own: for all of them
composed, or for each of a random number of tries.
  Proven:   docs/explanation/proofs/tuning.md
  Tested:   tests/learn/test_search.py, test_judging.py
  Assumed:  a model's predictions are those of its rows, one by one (`judging`), and it makes them
            for any rows of numbers

A score is computed alike for any rows, also for none, and says nothing on the way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, cast

import numpy as np

from letalone.exact.typed import write_rational
from letalone.learn.features.row_cells import quietly
from letalone.learn.plan import FitPlan, Floats, Labels, Released, stated_promise
from letalone.learn.scikit import copy_of
from letalone.learn.searching.judging import BLOCK_ROWS, Blocks, Score
from letalone.learn.searching.random_tries import RandomTries
from letalone.learn.training import PrivateEstimator
from letalone.mechanisms import Exponential, Geometric
from letalone.privacy import Privacy
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource
from letalone.randomness.chance import Chance, sample_bernoullis
from letalone.randomness.uniform import sample_below, sample_belows


@dataclass(frozen=True, slots=True)
class Candidate:
    """An estimator with parameters of the grid, and its plan."""

    estimator: PrivateEstimator
    parameters: Mapping[str, object]
    plan: FitPlan

    def described(self) -> Json:
        given = cast("dict[str, object]", self.estimator.get_params(deep=False))
        words = f"{type(self.estimator).__name__} {sorted(given.items())!r}"
        return {"estimator": words, "plan": self.plan.described()}

    def predictions(self, released: Released, rows: Blocks) -> Labels:
        """What the fitted model says of each row: None where it has no classes to choose from."""
        if np.size(cast("Any", released.get("classes_", 1))) == 0:
            return np.full(len(rows.places), None)
        model = cast("Any", self.fitted(released, rows.values.shape[2]))
        return rows.predicted(model.predict)

    def fitted(self, released: Released, width: int) -> PrivateEstimator:
        model = copy_of(self.estimator)
        model.n_features_in_ = width
        for name, value in released.items():
            setattr(model, name, value)
        return model


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """A search at a price; `tries` is None where every candidate is trained."""

    candidates: tuple[Candidate, ...]
    tries: RandomTries | None
    score: Score
    validation: Fraction
    epsilon: Fraction
    delta: Fraction
    each: Fraction

    @property
    def privacy(self) -> Privacy:
        return stated_promise(self.epsilon, self.delta)

    @property
    def words(self) -> tuple[str, ...]:
        many, each = len(self.candidates), f"ε = {float(self.each):.3g}"
        count = f"{'all ' * (many > 1)}{many} candidate{'s' * (many != 1)}"
        how = f"{count}, each at {each}, and the winner by the exponential mechanism"
        if self.tries is not None:
            seen = f"{100 * self.tries.reached(many):.0f} %"
            how = (
                f"a random number of tries (on average {float(self.tries.mean):.0f}, often few) of"
                f" {many} candidates, each at {each}; a candidate is tried with probability {seen}"
            )
        share = f"{float(100 * self.validation):g} %"
        return (
            f"search: {how}",
            f"judged by about {share} of the rows, which no model has seen: {self.score.words}",
            "only the winner and its noisy score leave",
        )

    def described(self) -> Json:
        return {
            "model": "search",
            "candidates": [candidate.described() for candidate in self.candidates],
            "tries": None if self.tries is None else self.tries.inverse,
            "steps": self.score.steps,
            "bounds": [float(bound).hex() for bound in self.score.bounds or ()],
            "validation": write_rational(self.validation),
            "epsilon": write_rational(self.epsilon),
            "delta": write_rational(self.delta),
        }

    def fitted(self, rows: Floats, labels: Labels | None, bits: BitSource) -> Released:
        assert labels is not None
        judging = sample_bernoullis(Chance(self.validation), len(rows), bits)
        places = sample_belows(BLOCK_ROWS, len(rows), bits)
        blocks = Blocks.of(rows[judging], places[judging])
        parts = _Parts(rows[~judging], labels[~judging], blocks, labels[judging])
        return self._best_of_all(parts, bits) if self.tries is None else self._tried(parts, bits)

    def _best_of_all(self, parts: "_Parts", bits: BitSource) -> Released:
        models = [parts.model(candidate, bits) for candidate in self.candidates]
        pairs = [
            parts.counted(candidate, model, self.score)
            for candidate, model in zip(self.candidates, models, strict=True)
        ]
        half, steps = self.epsilon / 2, self.score.steps
        chooser = Exponential(epsilon=half, sensitivity=steps, monotone=True)
        place = chooser.choose_index([float(right) for right, _ in pairs], bits=bits)
        noise = Geometric(epsilon=half, sensitivity=steps)
        noisy = noise.release(np.array(pairs[place], np.int64), bits=bits)
        return _publish_winner(place, models[place], noisy.tolist(), noise)

    def _tried(self, parts: "_Parts", bits: BitSource) -> Released:
        assert self.tries is not None
        noise = Geometric(epsilon=self.each, sensitivity=self.score.steps)
        best: tuple[int, Released, list[int]] | None = None
        for _ in range(self.tries.draw(bits)):
            place = sample_below(len(self.candidates), bits)
            model = parts.model(self.candidates[place], bits)
            pair = parts.counted(self.candidates[place], model, self.score)
            noisy = noise.release(np.array(pair, np.int64), bits=bits).tolist()
            if best is None or noisy[0] > best[2][0]:
                best = place, model, noisy
        assert best is not None  # there is at least one try
        return _publish_winner(*best, noise)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The rows to learn from and those to judge by: each row is in one of them."""

    rows: Floats
    labels: Labels
    judging_rows: Blocks
    judging_labels: Labels

    def model(self, candidate: Candidate, bits: BitSource) -> Released:
        return candidate.plan.fitted(self.rows, self.labels, bits)

    def counted(self, candidate: Candidate, model: Released, score: Score) -> tuple[int, int]:
        """The score, without a warning: one that depends on rows would tell about them."""
        with quietly():
            predicted = candidate.predictions(model, self.judging_rows)
            return score.counted(predicted, self.judging_labels)


def _publish_winner(
    place: int, model: Released, noisy: Sequence[int], noise: Geometric
) -> Released:
    """The winner; the score's error is that of its noise, to first order."""
    right, wrong = (max(float(count), 0.0) for count in noisy)
    total = max(right + wrong, float(noise.sensitivity))
    spread = sqrt(2) * float(noise.scale) * sqrt(right**2 + wrong**2) / total**2
    return {
        "best_index_": place,
        "best_model_": dict(model),
        "best_score_": right / total,
        "best_score_error_": min(spread, 1.0),
    }
