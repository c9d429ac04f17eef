"""Every estimator of letalone.learn before a membership attack, and its twin without noise.

One person's row, as telling as a row may be, is in the data of half the models: added or left out,
so the promise is that of add/remove. The attack is the one that `infer_membership` makes: the
model's confidence in that row, with a threshold from the first half of the models.

Over seeds, an honest estimator is accused at most once in 10^4. Power: the same estimator with so
little noise that it hides nobody (an ε of 1000 or more) is accused of more than ε = 1, each time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from learn.manners import NO_ESTIMATORS
from letalone import learn
from letalone.attacks.confidence import confidence
from letalone.attacks.rates import Rates, judge_scores
from seeded import SeededBits

SURE = 1 - 1e-4
WORLDS = 80  # models with the person, and as many without
SLOW = 50  # where a fit takes a hundred steps
DELTA = 1e-6
NO_NOISE = 1000  # the most that linear models take
STATISTICS = ("GaussianNB", "PCA", "BoostedTreesClassifier")  # which take more

ROWS = np.array([[0.4, 0.1], [0.4, 0.0], [0.3, 0.0], [0.4, 0.0]])
CLASSES = np.array([0, 1, 0, 1])
TARGET = np.array([[1.0, 1.0]])
NORM = 2**0.5
UNIT: dict[str, Any] = {"bounds": (0, 1)}
LINE: dict[str, Any] = {"data_norm": NORM, "target_bounds": (0, 1)}
TWO: dict[str, Any] = {"data_norm": NORM, "classes": [0, 1], "regularization": 4}

LEARNERS: dict[str, Callable[[float], Any]] = {
    **{
        f"LogisticRegression {method}{' pure' if not delta else ''}": (
            lambda e, method=method, delta=delta: learn.LogisticRegression(
                e, delta, **TWO, method=method
            )
        )
        for method in ("objective", "output", "gradient")
        for delta in (0, DELTA)
        if delta or method != "gradient"
    },
    "LogisticRegression softmax": lambda e: learn.LogisticRegression(
        e, DELTA, data_norm=NORM, classes=[0, 1, 2], regularization=4, method="output"
    ),
    "LinearSVC": lambda e: learn.LinearSVC(e, **TWO),
    "LinearRegression": lambda e: learn.LinearRegression(e, **LINE),
    "Ridge": lambda e: learn.Ridge(e, DELTA, **LINE),
    "GaussianNB": lambda e: learn.GaussianNB(e, **UNIT, classes=[0, 1]),
    "PCA": lambda e: learn.PCA(1, e, data_norm=NORM, center=0),
    "KMeans": lambda e: learn.KMeans(1, e, **UNIT, n_iter=1),
    "StandardScaler": lambda e: learn.StandardScaler(e, **UNIT),
    "MinMaxScaler": lambda e: learn.MinMaxScaler(e, bounds="private"),
    "BoostedTreesClassifier": lambda e: learn.BoostedTreesClassifier(
        e, DELTA, **UNIT, classes=[0, 1]
    ),
    "BoostedTreesRegressor": lambda e: learn.BoostedTreesRegressor(
        e, DELTA, **UNIT, target_bounds=(0, 1)
    ),
    "PrivateSearchCV": lambda e: learn.PrivateSearchCV(
        learn.LogisticRegression(**TWO),
        {"method": ["output"]},
        epsilon=e,
        delta=DELTA,
        validation=0.02,
    ),
}


def test_a5_no_estimator_is_left_out() -> None:
    assert {name.split()[0] for name in LEARNERS} == set(learn.__all__) - set(NO_ESTIMATORS)


@pytest.mark.few("LogisticRegression output]", "GaussianNB", "KMeans")
@pytest.mark.parametrize("name", LEARNERS)
def test_a5_no_estimator_tells_members_beyond_d6_and_each_would_without_noise(name: str) -> None:
    honest, privacy = _attacked(name, 1)
    assert privacy.delta(1) <= DELTA
    assert not honest.exceeds(privacy, SURE)
    bare, _ = _attacked(name, NO_NOISE * (100 if name in STATISTICS else 1))
    assert bare.exceeds(privacy, SURE), (bare.detection, bare.false_alarm)


def _attacked(name: str, epsilon: float) -> tuple[Rates, Any]:
    model = LEARNERS[name](epsilon)
    model._bits = SeededBits(11)
    plan = model._plan(ROWS.shape[1])  # by shapes alone, so it is the same for every fit
    model._plan = lambda _: plan
    numeric = name in ("LinearRegression", "Ridge", "BoostedTreesRegressor")
    labels = np.zeros(len(ROWS)) if numeric else CLASSES
    mark, worlds = np.array([1]), SLOW if "gradient" in name else WORLDS
    with threadpool_limits(1):
        inside = [
            _asked(model, np.vstack([ROWS, TARGET]), np.append(labels, mark), mark)
            for _ in range(worlds)
        ]
        outside = [_asked(model, ROWS, labels, mark) for _ in range(worlds)]
    return judge_scores(np.array(inside), np.array(outside), 0.02), model.privacy_


def _asked(model: Any, rows: Any, labels: Any, mark: Any) -> float:
    loss = _beyond_the_bounds if hasattr(model, "feature_range") else None
    return float(confidence(model.fit(rows, labels), TARGET, mark, loss=loss)[0])


def _beyond_the_bounds(model: Any, rows: Any, _: Any) -> Any:
    """MinMaxScaler clips what it scales, so its bounds themselves are asked."""
    return np.maximum(rows - model.data_max_, 0).sum(axis=1)
