"""Models trained on some of the people, again and again, and what each tells about everybody.

Who is in a model's data is decided by coins, one for each person, or by drawing half of all.

Theorem.  Fix a person before the coins are tossed. Given all other coins, the two worlds of theirs
are neighbours, under "add or remove one" for coins; for a half, "in" and "out" can be coupled so
that one person stands in the place of another, under "replace one". D6 bounds a test in each such
pair; the curve is convex, so it bounds the rates averaged over persons and coins as well. Whole
models are drawn independently: one person of each gives independent trials.
  Proven:   docs/explanation/proofs/tradeoff.md (D6), and Jensen's inequality
  Tested:   tests/attacks/test_membership.py: no estimator of letalone is beyond it, and each is
            when its noise is left away
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray

from letalone import learn
from letalone.attacks.rates import Rates
from letalone.attacks.training_people import TrainingPeople
from letalone.errors import ParameterError
from letalone.exact.typed import whole_from
from letalone.privacy import REPLACE, Privacy
from letalone.privacy.neighbours import is_replace
from letalone.randomness.bits import BitSource

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
MODELS = whole_from(20, "One person is tried for each model, about half of them members.")
Score = Callable[[Any], Floats]  # of a model, for each person


@dataclass(frozen=True, slots=True, eq=False)
class GameResult:
    """One row a model, one column a person: whether they were in, and a score."""

    inside: Truths
    scores: Floats
    privacy: Privacy | None

    def rates(self, target: NDArray[np.intp], said: Truths) -> Rates:
        """How often it is said of each model's target: independent trials."""
        models = np.arange(len(target))
        member, yes = self.inside[models, target], said[models, target]
        counts = (yes & member, member, yes & ~member, ~member)
        return Rates(*(int(flags.sum()) for flags in counts))


def play(
    model: Any,
    people: TrainingPeople,
    score: Score,
    *,
    models: int,
    generator: np.random.Generator,
    fixed_size: bool = False,
    ordinary: bool = False,
) -> GameResult:
    """Trains copies of a model, each on people of its own; threads are left to others.

    ordinary: the model promises nothing, and another may stand in for it; see `fitted_on`.
    """
    inside = _inside(generator, models, len(people.rows), fixed_size=fixed_size)
    one_thread = cast("Any", import_module("threadpoolctl")).threadpool_limits(1)
    with catch_warnings(), one_thread:  # small models are slower on many
        simplefilter("ignore")  # that a model has not converged, or classes are few
        fitted = [fitted_on(model, people.taken(chosen), ordinary=ordinary) for chosen in inside]
        scores = np.array([score(trained) for trained in fitted], np.float64)
    promised = None if ordinary else _privacy_of_all(fitted)
    return GameResult(inside, scores, _for_game(promised, fixed_size=fixed_size))


def fitted_on(model: Any, people: TrainingPeople, *, ordinary: bool = False) -> Any:
    """A copy of the model, trained.

    Where all have one label, an ordinary model is replaced by the one that always says it. That is
    exact, so a private model never is: it must declare its classes, or is refused.
    """
    alike = not people.is_numeric and len(np.unique(people.labels)) < 2
    if alike and ordinary:
        model = import_module("sklearn.dummy").DummyClassifier()
    untrained = import_module("sklearn.base").clone(model)
    if not alike:
        return untrained.fit(people.rows, people.labels)
    return _fitted_on_one_label(untrained, people)


def _fitted_on_one_label(model: Any, people: TrainingPeople) -> Any:
    try:
        return model.fit(people.rows, people.labels)
    except ValueError:
        pass
    raise ParameterError(
        "The people of one model have the same label, all of them, and the private model cannot be"
        " trained on that: its refusal would tell. Let it declare its classes in advance, or name"
        " a target that is better balanced, or more people."
    )


def ordinary_model(people: TrainingPeople) -> Any:
    """What people train today, with little or no regularisation."""
    _need_scikit()
    linear = cast("Any", import_module("sklearn.linear_model"))
    if people.is_numeric:
        return linear.LinearRegression()
    model = linear.LogisticRegression(C=1e4, solver="liblinear", max_iter=1000)
    if len(np.unique(people.labels)) == 2:
        return model
    return cast("Any", import_module("sklearn.multiclass")).OneVsRestClassifier(model)


def private_model(people: TrainingPeople, *, epsilon: Any, delta: Any, bits: BitSource) -> Any:
    """The same kind of model from letalone.learn."""
    _need_scikit()
    spent: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "data_norm": people.norm}
    if people.is_numeric:
        model = learn.LinearRegression(**spent, target_bounds=(-1, 1))
    else:
        model = learn.LogisticRegression(**spent, classes=np.unique(people.labels).tolist())
    model._bits = bits  # pyright: ignore[reportPrivateUsage]
    return model


def _need_scikit() -> None:
    """The facade of letalone.learn says how to install it."""
    _ = learn.LogisticRegression


def _inside(
    generator: np.random.Generator, models: int, people: int, *, fixed_size: bool
) -> Truths:
    drawn = generator.random((models, people))
    if not fixed_size:
        return drawn < 0.5
    return drawn.argsort(axis=1) < people // 2


def _privacy_of_all(models: Sequence[Any]) -> Privacy | None:
    """What every fit promises; None where one of them promises nothing."""
    promises = [cast("Privacy | None", getattr(model, "privacy_", None)) for model in models]
    if any(promise != promises[0] for promise in promises):
        raise ParameterError(
            "Fits of the private model promise different things by privacy_, but must promise the"
            " same, no matter who is in the data: a promise that follows the data is none."
        )
    return promises[0]


def _for_game(privacy: Privacy | None, *, fixed_size: bool) -> Privacy | None:
    if privacy is None:
        return None
    if fixed_size:
        return privacy.under(REPLACE)
    if privacy.neighbours is not None and is_replace(privacy.neighbours):
        raise ParameterError(
            "The model's promise is about replaced rows, but people are added or left out by"
            " coins, and its epsilon says nothing about that. Pass fixed_size=True."
        )
    return privacy
