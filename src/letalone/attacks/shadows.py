"""Two tests of membership in a model's data, taught by models of the attacker's own.

Half of these shadow models teach what members and strangers look like, half set the thresholds;
what is counted comes from other models, one person of each.

  Tested:   tests/attacks/test_membership.py

Carlini, Chien, Nasr, Song, Terzis, Tramèr: Membership inference attacks from first principles
(2022).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from letalone.attacks.confidence import Loss, confidence
from letalone.attacks.games import GameResult, play
from letalone.attacks.rates import Rates
from letalone.attacks.result import Numbers
from letalone.attacks.training_people import TrainingPeople
from letalone.privacy import Privacy

Floats = NDArray[np.float64]
Law = Callable[[Floats], Floats]
LOSS, RATIO = "loss threshold", "likelihood ratio"
CONFIDENCE = 0.95
ALARM_RATES = np.concatenate([[0.001, 0.002, 0.005, 0.01, 0.02], np.linspace(0.05, 1, 20)])
MIN_DEVIATION = 1e-9  # a deviation, where a model says the same always


@dataclass(frozen=True, slots=True)
class Test(Numbers):
    """One test of membership, against one kind of model.

    `usual` and `low` are its rates at two thresholds; `best` at the one where detections are most
    above false alarms; `curve` is (false alarm, detection) over all people and models.
    """

    __test__ = False  # for pytest, which collects what is called so

    name: str
    low: Rates
    usual: Rates
    best: Rates
    curve: tuple[tuple[float, float], ...]
    _json: ClassVar[str] = "low usual best advantage curve"

    @property
    def advantage(self) -> float:
        """By how much detections are above false alarms."""
        return self.best.detection - self.best.false_alarm

    @property
    def all_rates(self) -> tuple[Rates, ...]:
        """All that was measured on independent trials."""
        return self.low, self.usual, self.best


def beyond(tests: Sequence[Test], privacy: Privacy) -> bool:
    """Whether any rate is beyond the curve; the error of 5 % is shared among them."""
    rates = [rate for test in tests for rate in test.all_rates]
    return any(rate.exceeds(privacy, confidence_of_each(tests)) for rate in rates)


def confidence_of_each(tests: Sequence[Test]) -> float:
    """How sure each rate must be, for 95 % of all of them together."""
    return 1 - (1 - CONFIDENCE) / sum(len(test.all_rates) for test in tests)


@dataclass(frozen=True, slots=True, eq=False)
class ShadowAttack:
    """Who is attacked, and with how many models."""

    people: TrainingPeople
    loss: Loss | None
    shadows: int
    models: int
    fixed_size: bool

    def on(
        self,
        model: Any,
        alarms: tuple[float, float],
        generator: np.random.Generator,
        *,
        ordinary: bool = False,
    ) -> tuple[tuple[Test, ...], Privacy | None]:
        def score(fitted: Any) -> Floats:
            return confidence(fitted, self.people.rows, self.people.labels, loss=self.loss)

        taught, tuned, played = (
            play(
                model,
                self.people,
                score,
                models=models,
                generator=generator,
                fixed_size=self.fixed_size,
                ordinary=ordinary,
            )
            for models in (self.shadows // 2, self.shadows // 2, self.models)
        )
        targets = generator.integers(0, len(self.people.rows), self.models)
        laws: dict[str, Law] = {LOSS: lambda scores: scores, RATIO: _ratio_of(taught)}
        tests = tuple(
            _test_models(name, _rescore(played, law), _rescore(tuned, law), targets, alarms)
            for name, law in laws.items()
        )
        return tests, played.privacy


def _test_models(
    name: str,
    played: GameResult,
    tuned: GameResult,
    targets: NDArray[np.intp],
    alarms: tuple[float, float],
) -> Test:
    strangers = tuned.scores[~tuned.inside]
    cuts = [np.quantile(strangers, 1 - rate, method="higher") for rate in alarms]
    low, usual, best = (
        played.rates(targets, played.scores > cut) for cut in (*cuts, _best_cut(tuned))
    )
    return Test(name, low, usual, best, _curve(played))


def _best_cut(tuned: GameResult) -> float:
    """The threshold where detections are most above false alarms."""
    members, strangers = (np.sort(tuned.scores[who]) for who in (tuned.inside, ~tuned.inside))
    cuts = np.unique(tuned.scores)
    missed, right = (
        np.searchsorted(scores, cuts, side="right") / max(1, len(scores))
        for scores in (members, strangers)
    )
    return float(cuts[np.argmax(right - missed)])


def _curve(played: GameResult) -> tuple[tuple[float, float], ...]:
    members, strangers = played.scores[played.inside], played.scores[~played.inside]
    cuts = np.quantile(strangers, 1 - ALARM_RATES, method="higher")
    points = [(float((strangers > c).mean()), float((members > c).mean())) for c in cuts]
    return ((0.0, 0.0), *points, (1.0, 1.0))


def _ratio_of(taught: GameResult) -> Law:
    """The log likelihood ratio of "in" against "out", person by person."""
    laws = [_law(taught.scores, inside) for inside in (taught.inside, ~taught.inside)]
    (near, narrow), (far, wide) = laws

    def ratio(scores: Floats) -> Floats:
        return ((scores - far) / wide) ** 2 - ((scores - near) / narrow) ** 2

    return ratio


def _law(scores: Floats, chosen: NDArray[np.bool_]) -> tuple[Floats, float]:
    """A mean for each person, and a deviation for all; few models cannot tell one for each."""
    number = chosen.sum(axis=0)
    total = np.where(chosen, scores, 0).sum(axis=0)
    overall = scores[chosen].mean() if chosen.any() else 0.0
    mean = np.where(number > 0, total / np.maximum(number, 1), overall)
    apart = (scores - mean)[chosen]
    return mean, MIN_DEVIATION + (float(np.sqrt((apart**2).mean())) if len(apart) else 1.0)


def _rescore(played: GameResult, law: Law) -> GameResult:
    return replace(played, scores=law(played.scores))
