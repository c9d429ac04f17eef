"""What decides the law of each model, which a ledger stores and digests, and the words for it."""

import json
from typing import Any

from golden.keeping import check
from learn.manners import MAKERS
from letalone.learn import (
    PCA,
    KMeans,
    LinearRegression,
    LogisticRegression,
    MinMaxScaler,
    PrivateSearchCV,
    StandardScaler,
)

PRICE: dict[str, Any] = {"epsilon": 1, "delta": 1e-6}
BOUGHT = {
    "KMeans, bought": KMeans(3, **PRICE, bounds="private"),
    "KMeans, init": KMeans(2, **PRICE, bounds=(0, 1), init=[[0, 0, 0], [1, 1, 1]]),
    "LinearRegression, bought": LinearRegression(
        **PRICE, data_norm="private", target_bounds="private", method="statistics"
    ),
    "LinearRegression, robust, bought": LinearRegression(
        **PRICE, data_norm="private", target_bounds=(0, 1), method="output"
    ),
    "LogisticRegression, bought": LogisticRegression(
        **PRICE, data_norm="private", classes="private"
    ),
    "LogisticRegression, gradient": LogisticRegression(
        **PRICE, data_norm=1, classes=[0, 1, 2], method="gradient", rows=1000
    ),
    "MinMaxScaler, bought": MinMaxScaler(**PRICE, bounds="private"),
    "PCA, centre": PCA(2, **PRICE, data_norm="private", center=0),
    "PrivateSearchCV, random": PrivateSearchCV(
        LogisticRegression(data_norm=1, classes=[0, 1]),
        {"regularization": [1, 10]},
        **PRICE,
        method="random",
    ),
    "StandardScaler, pure": StandardScaler(epsilon=1, bounds="private"),
}


def test_plans_of_fits() -> None:
    estimators = {name: make() for name, make in MAKERS.items()} | BOUGHT
    plans = {name: estimator._plan(3) for name, estimator in estimators.items()}
    texts = {
        name: {"plan": plan.described(), "words": plan.words, "privacy": plan.privacy.to_json()}
        for name, plan in plans.items()
    }
    check("learn/plans.json", json.dumps(texts, indent=1, sort_keys=True, ensure_ascii=False))
