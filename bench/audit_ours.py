"""Letalone before its own auditor: mechanisms, aggregates through DuckDB, every estimator.

Fits are audited twice. Many small fits on two tables, one of them with a row more, tell most: all
public numbers of the model are looked at. One fit with canaries tells less, and is how a large
fit would be audited. The error is shared within each list.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from letalone.audit import audit, audit_self, audit_training, confidence_of_each
from letalone.audit.suite import (
    SLOW_DRAWS,
    AuditCase,
    aggregate_cases,
    draw_releases,
    mechanism_cases,
)
from letalone.learn import (
    PCA,
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    GaussianNB,
    KMeans,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    MinMaxScaler,
    PrivateSearchCV,
    Ridge,
    StandardScaler,
)
from letalone.plans.aggregates import requests

PAIR, VALUE = "a row more", "the value moves by 1"
DELTA = 0.01
LONG = 5  # times as long as others takes a fit by gradients
ROWS = np.array([[0.0, 0.0]] * 4 + [[1.0, 0.0]])
LABELS = np.array([0, 1, 0, 1, 1])
NO_NUMBERS = ("privacy_", "release_", "n_features_in_", "best_params_", "best_estimator_")


def mechanisms(draws: float) -> list[dict[str, Any]]:
    """Every public mechanism."""
    return _suite(mechanism_cases(), draws, pair=VALUE)


def through_duckdb(draws: float) -> list[dict[str, Any]]:
    """Every aggregate, asked of a table as people ask it."""
    ends: dict[str, Any] = {"lower": 0, "upper": 1}
    more = {
        "std": requests.std("x", **ends),
        "quantile, 0.9": requests.quantile("a", 0.9, lower=0, upper=9),
        "min": requests.min("a", lower=0, upper=9),
        "max": requests.max("a", lower=0, upper=9),
        "private_bounds": requests.private_bounds("a"),
    }
    few = {name: SLOW_DRAWS if name == "std" else SLOW_DRAWS // 5 for name in more}
    added = [
        AuditCase(name, draw_releases(what), False, True, samples=few[name], many=True)
        for name, what in more.items()
    ]
    return _suite([*aggregate_cases(), *added], draws, pair=PAIR)


def _suite(cases: list[AuditCase], draws: float, *, pair: str) -> list[dict[str, Any]]:
    more = [replace(case, samples=int(draws * case.samples)) for case in cases]
    deltas = {case.name: float(case.delta) for case in cases}
    return [
        {
            "job": name,
            "epsilon": 1.0,
            "delta": deltas[name],
            "pair": pair,
            "lower": found.lower,
            "verdict": found.verdict.value,
            "event": found.event,
            "samples": found.samples,
        }
        for name, found in audit_self(cases=more).found
    ]


def learners() -> dict[str, tuple[Callable[[], Any], float]]:
    """Every estimator and method, and the delta that it is asked for."""
    linear: dict[str, Any] = {"data_norm": 1, "classes": [0, 1]}
    line: dict[str, Any] = {"data_norm": 1, "target_bounds": (0, 1)}
    box: dict[str, Any] = {"bounds": (0, 1)}
    bayes = {"estimator": GaussianNB(**box, classes=[0, 1]), "epsilon": 1}
    grid = {"bounds": [(0, 1), (0, 0.5)]}
    found: dict[str, tuple[Callable[[], Any], float]] = {}
    for method in ("objective", "output", "gradient"):
        for kind in (LogisticRegression, LinearSVC):
            name = f"{kind.__name__}, {method}"
            found[name] = (lambda k=kind, m=method: k(1, DELTA, **linear, method=m)), DELTA
        name = f"LinearRegression, {method}"
        found[name] = (lambda m=method: LinearRegression(1, DELTA, **line, method=m)), DELTA
    return found | {
        "LinearRegression, statistics": (lambda: LinearRegression(1, **line), 0),
        "Ridge, statistics": (lambda: Ridge(1, **line, method="statistics"), 0),
        "GaussianNB": (lambda: GaussianNB(1, **box, classes=[0, 1]), 0),
        "KMeans": (lambda: KMeans(2, 1, **box), 0),
        "PCA": (lambda: PCA(1, 1, data_norm=1), 0),
        "StandardScaler": (lambda: StandardScaler(1, **box), 0),
        "MinMaxScaler, private bounds": (lambda: MinMaxScaler(1, bounds="private"), 0),
        "BoostedTreesClassifier": (
            lambda: BoostedTreesClassifier(1, DELTA, **box, classes=[0, 1], rounds=4),
            DELTA,
        ),
        "BoostedTreesRegressor": (
            lambda: BoostedTreesRegressor(1, DELTA, **box, target_bounds=(0, 1), rounds=4),
            DELTA,
        ),
        "PrivateSearchCV, every": (
            lambda: PrivateSearchCV(**bayes, param_grid=grid, method="every"),
            0,
        ),
        "PrivateSearchCV, random": (
            lambda: PrivateSearchCV(**bayes, param_grid=grid, method="random", tries=2),
            0,
        ),
    }


def fits(samples: int) -> list[dict[str, Any]]:
    """Every estimator by many small fits: four rows, or five; fewer where a fit takes long."""
    asked = learners()
    sure = confidence_of_each(len(asked))
    return [
        _fitted(name, *how, max(100, samples // LONG) if "gradient" in name else samples, sure)
        for name, how in asked.items()
    ]


def _fitted(
    name: str, make: Callable[[], Any], delta: float, samples: int, sure: Any
) -> dict[str, Any]:
    def mechanism(size: int) -> list[float]:
        return numbers_of(make().fit(ROWS[:size], LABELS[:size]))

    start = time.process_time()
    found = audit(
        mechanism, 4, 5, claimed_epsilon=1, claimed_delta=delta, samples=samples, confidence=sure
    )
    return {
        "job": name,
        "epsilon": 1.0,
        "delta": delta,
        "pair": PAIR,
        "lower": found.lower,
        "verdict": found.verdict.value,
        "event": found.event,
        "samples": samples,
        "seconds": time.process_time() - start,
    }


def numbers_of(model: Any) -> list[float]:
    """All numbers that a fitted model shows, and what it answers about the rows."""
    shown = {k: v for k, v in vars(model).items() if k.endswith("_") and k not in NO_NUMBERS}
    best = getattr(model, "best_estimator_", None)
    more = [] if best is None else numbers_of(best)
    parts = [np.ravel(np.asarray(one, np.float64)) for one in shown.values() if _is_numbers(one)]
    if hasattr(model, "decision_function"):
        parts.append(np.ravel(model.decision_function(ROWS)))
    elif hasattr(model, "predict"):
        parts.append(np.ravel(np.asarray(model.predict(ROWS), np.float64)))
    return [*np.concatenate([*parts, np.zeros(1)]).tolist(), *more]


def _is_numbers(one: object) -> bool:
    try:
        return np.asarray(one).dtype.kind in "biuf"
    except ValueError:
        return False


def one_fit_each(canaries: int) -> list[dict[str, Any]]:
    """The linear estimators, one fit with canaries each."""
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(500, 3))
    labels, targets = (rows[:, 0] > 0).astype(int), np.clip(rows[:, 0] / 3, -1, 1)
    jobs: list[tuple[str, Any, Any]] = [
        (f"{kind.__name__}, {method}", made, labels)
        for kind in (LogisticRegression, LinearSVC)
        for method in ("objective", "output", "gradient")
        for made in [kind(8, 1e-6, data_norm=1, classes=[0, 1], method=method)]
    ]
    for kind in (Ridge, LinearRegression):
        made = kind(8, 1e-6, data_norm=1, target_bounds=(-1, 1))
        jobs.append((kind.__name__, made, targets))
    sure = confidence_of_each(len(jobs))
    return [_one_fit(job, rows, canaries, sure) for job in jobs]


def _one_fit(job: tuple[str, Any, Any], rows: Any, canaries: int, sure: Any) -> dict[str, Any]:
    name, model, y = job
    start = time.process_time()
    found = audit_training(model, rows, y, canaries=canaries, confidence=sure)
    return {
        "job": name,
        "epsilon": 8.0,
        "delta": 1e-6,
        "pair": PAIR,
        "lower": found.lower,
        "verdict": found.verdict.value,
        "event": f"{found.guesses.right} of {found.guesses.made} guesses are right",
        "samples": canaries,
        "seconds": time.process_time() - start,
    }
