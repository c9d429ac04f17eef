"""Was this person's row in the training data? From nothing but a model and their row.

A model fits the rows better that it was trained on. An attacker who has a person's row asks the
model about it, and says "in" where it is surer than of strangers:

    loss threshold     the model's loss on the row is small
    likelihood ratio   it is likelier under models of the attacker's own that had the row than
                       under those that had not: normal laws of the log odds, a mean for each
                       person, one variance for all

The attacker's own models are trained on people drawn as for the attacked ones; half of them teach
the laws, half set the thresholds. Each attacked model is asked about one person, fixed before its
coins were tossed, so what is counted is independent. The curves in the picture are over all.

Theorem.  That of `games`: for a model whose `privacy_` is a curve, D6 bounds both tests. `exceeds`
shares 5 % among all that are made of the private model.
  Proven:   docs/explanation/proofs/tradeoff.md (D6)
  Tested:   tests/attacks/test_membership.py
  Assumed:  a row is a person; bounds and values of the table's columns are known

Yeom, Giacomelli, Fredrikson, Jha: Privacy risk in machine learning: analyzing the connection to
overfitting (2018). Carlini, Chien, Nasr, Song, Terzis, Tramèr: Membership inference attacks from
first principles (2022).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from letalone.answers.promise import as_percent, best_guess, most_caught
from letalone.attacks.confidence import Loss
from letalone.attacks.games import MODELS, ordinary_model, private_model
from letalone.attacks.rates import bound
from letalone.attacks.result import AttackReport, Line, beyond_line
from letalone.attacks.shadows import ShadowAttack, Test, beyond, confidence_of_each
from letalone.attacks.stage import TARGET, study
from letalone.attacks.training_people import TrainingPeople, people_of, people_of_arrays
from letalone.drawing.chart import Chart, ChartAxis, Series, SeriesStyle
from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, DELTA, EPSILON, PROBABILITY, Number
from letalone.privacy import Privacy
from letalone.randomness.bits import SYSTEM, BitSource

MIN_SHADOWS = 8


@dataclass(frozen=True, slots=True)
class ModelMembership(AttackReport):
    """How often people are found in the training data of a model."""

    people: int
    features: int
    target: str
    alarm: float
    low_alarm: float
    ordinary: tuple[Test, ...]
    private: tuple[Test, ...]
    privacy: Privacy
    epsilon: float
    models: tuple[str, str]
    fixed_size: bool
    _json: ClassVar[str] = (
        "people features target false_alarm=alarm low_false_alarm=low_alarm models"
        " ordinary=_ordinary_by_name private=_private_by_name most_allowed most_at_measured"
        " most_advantage neighbours=_neighbours exceeds ordinary_exceeds epsilon"
    )

    @property
    def most_allowed(self) -> float:
        """D6: the most that any test finds whose rate of false alarms is `alarm` exactly."""
        return most_caught(self.privacy, self.alarm)

    @property
    def most_at_measured(self) -> float:
        """D6 at the false alarms that the strongest test gave; 95 % sure, with all others."""
        rates, sure = _strongest(self.private).usual, confidence_of_each(self.private)
        return rates.allowed(self.privacy, sure)

    @property
    def most_advantage(self) -> float:
        """The most that detections of any test are above its false alarms."""
        return 2 * best_guess(self.privacy) - 1

    @property
    def exceeds(self) -> bool:
        """Whether the private model gives away more than it promises, beyond sampling error."""
        return beyond(self.private, self.privacy)

    @property
    def ordinary_exceeds(self) -> bool:
        """Whether the ordinary model could not have kept the private one's promise."""
        return beyond(self.ordinary, self.privacy)

    @property
    def words(self) -> str:
        strong, weak = _strongest(self.ordinary).usual, _strongest(self.private).usual
        drawn = "half of all, drawn" if self.fixed_size else "each by a coin"
        keeps = "more than it promises" if self.exceeds else "which is within its promise"
        return (
            f"A model learns to predict {self.target!r} from {self.features:,} features of people"
            f" (of {self.people:,}, {drawn}). Anyone who has the model and a person's row tells"
            f" whether that person was in its data: {as_percent(strong.detection)} are found, at"
            f" {as_percent(strong.false_alarm)} false alarms. A model trained with"
            f" ε = {self.epsilon:g} lets the same attacker find"
            f" {weak.told(confidence_of_each(self.private))} at {as_percent(weak.false_alarm)},"
            f" {keeps}: whatever the test, no more than {as_percent(self.most_at_measured)} can be"
            " found at this many (95 % confidence). An attack that fails proves nothing; the bound"
            " does."
        )

    def lines(self) -> list[Line]:
        pairs = list(zip(self.ordinary, self.private, strict=True))
        whatever = f"any test whatever ({as_percent(self.alarm)})"
        return [
            ("model", *self.models),
            *(line for pair in pairs for line in self._of_test(*pair)),
            (whatever, "no limit", f"at most {as_percent(self.most_allowed)}"),
            ("any advantage whatever", "no limit", f"at most {as_percent(self.most_advantage)}"),
            beyond_line(self.exceeds, self.ordinary_exceeds),
        ]

    def _of_test(self, today: Test, private: Test) -> list[Line]:
        """Meant: the false alarms that the threshold was set for."""
        title = f"{today.name}: found ({as_percent(self.alarm)} meant)"
        fewer = f"  found ({as_percent(self.low_alarm)} meant)"
        alarms, others = (as_percent(test.usual.false_alarm) for test in (today, private))
        gain, less = (as_percent(max(0, test.advantage)) for test in (today, private))
        return [
            (title, today.usual.told(), private.usual.told()),
            ("  false alarms then", alarms, others),
            (fewer, today.low.told(), private.low.told()),
            ("  advantage", gain, less),
        ]

    @property
    def _neighbours(self) -> str:
        return "replace" if self.fixed_size else "add/remove"

    @property
    def _ordinary_by_name(self) -> dict[str, Test]:
        return {test.name: test for test in self.ordinary}

    @property
    def _private_by_name(self) -> dict[str, Test]:
        return {test.name: test for test in self.private}

    def _picture(self) -> Chart:
        lines = [_line(f"ordinary, {test.name}", test) for test in self.ordinary]
        lines += [_line(f"ε = {self.epsilon:g}, {test.name}", test) for test in self.private]
        limit = bound(self.privacy, self._limit_label)
        title = "Was this person's row in the training data?"
        return Chart(
            title,
            ChartAxis("share of strangers accused"),
            ChartAxis("share of members found"),
            (*lines, limit),
        )


def infer_membership(
    table: object = None,
    *,
    target: str = TARGET,
    features: Iterable[str] = (),
    model: Any = None,
    private: Any = None,
    loss: Loss | None = None,
    people: Number = 100,
    models: Number = 200,
    shadows: Number = 48,
    epsilon: Number = 1.0,
    delta: Number = 0,
    false_alarm: Number = 0.05,
    low_false_alarm: Number = 0.01,
    fixed_size: bool = False,
    seed: int = 2022,
    bits: BitSource = SYSTEM,
) -> ModelMembership:
    """Looks for people in the training data of an ordinary and of a private model.

    table: a file or frame, a row a person, or a pair of rows and labels as arrays; without one, a
    made-up study. target: the column that is predicted. model, private: estimators with fit and
    predict_proba (or another answer, or `loss`, a function of model, rows and labels); if not
    given, a linear model of scikit-learn and one of letalone.learn at epsilon and delta. A
    private one of one's own says what it promises by `privacy_`, a letalone curve.
    people: how many are drawn from the table, half of whom are in a model's data. models: how
    many are attacked, of each kind. shadows: how many the attacker trains. fixed_size: draw half
    of the people, instead of tossing coins; the bound is then that of "replace one".
    """
    for argument, given in (("model", model), ("private", private)):
        _check_estimator(argument, given)
    generator = np.random.default_rng(seed)
    crowd = _crowd(table, target, features, int(COUNT.typed("people", people)), generator)
    spent = float(EPSILON.typed("epsilon", epsilon))
    DELTA.typed("delta", delta)
    alarms = (
        float(PROBABILITY.typed("low_false_alarm", low_false_alarm)),
        float(PROBABILITY.typed("false_alarm", false_alarm)),
    )
    today = ordinary_model(crowd) if model is None else model
    kept = (
        private_model(crowd, epsilon=epsilon, delta=delta, bits=bits)
        if private is None
        else private
    )
    attack = ShadowAttack(
        crowd, loss, _shadows(shadows), int(MODELS.typed("models", models)), fixed_size
    )
    ordinary, _ = attack.on(today, alarms, generator, ordinary=True)
    noisy, privacy = attack.on(kept, alarms, generator)
    return ModelMembership(
        people=len(crowd.rows),
        features=crowd.rows.shape[1],
        target=crowd.target,
        alarm=alarms[1],
        low_alarm=alarms[0],
        ordinary=ordinary,
        private=noisy,
        privacy=_check_promise(privacy),
        epsilon=spent if private is None else float(getattr(kept, "epsilon", spent)),
        models=(type(today).__name__, type(kept).__name__),
        fixed_size=fixed_size,
    )


def _check_estimator(argument: str, given: object) -> None:
    """Refuses what cannot be trained, before anything is."""
    if given is not None and (isinstance(given, type) or not hasattr(given, "fit")):
        is_class = isinstance(given, type)
        kind = f"the class {given.__name__}" if is_class else type(given).__name__
        raise ParameterError(
            f"{argument} is {kind}, but must be an estimator"
            " with fit and predict_proba, such as LogisticRegression() of scikit-learn."
        )


def _crowd(
    table: object,
    target: str,
    features: Iterable[str],
    people: int,
    generator: np.random.Generator,
) -> TrainingPeople:
    if isinstance(table, tuple):
        rows, labels = cast("tuple[Any, Any]", table)
        return people_of_arrays(rows, labels, people=people, generator=generator)
    source = study(people) if table is None else table
    return people_of(source, target=target, features=features, people=people, generator=generator)


def _shadows(given: Number) -> int:
    number = int(COUNT.typed("shadows", given))
    if number < MIN_SHADOWS:
        raise ParameterError(
            f"shadows is {number}, but must be at least {MIN_SHADOWS}: half of them teach what"
            " members look like, half set the thresholds."
        )
    return number


def _check_promise(privacy: Privacy | None) -> Privacy:
    if privacy is None:
        raise ParameterError(
            "private must be an estimator whose fit says what it promises by privacy_, a curve"
            " such as la.privacy.PureDP(1). Those of letalone.learn do."
        )
    return privacy


def _strongest(tests: Sequence[Test]) -> Test:
    return max(tests, key=lambda one: one.usual.detection - one.usual.false_alarm)


def _line(label: str, test: Test) -> Series:
    across, up = zip(*test.curve, strict=True)
    return Series(label, across, up, SeriesStyle.LINE)
