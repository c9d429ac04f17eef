"""Every public estimator, and the checks of scikit-learn that privacy forbids it to pass.

The noise is seeded and the same in each fit, so what fails here fails for the stated reason. With
fresh noise two fits differ, so `check_fit_idempotent` and its like cannot pass at all:
tests/learn/test_manners.py shows that they do differ.
"""

from collections.abc import Callable, Mapping
from typing import Any

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

BY_VALUE = "an error that depends on values would tell about them; such rows are dropped"
DECLARED = "classes are declared, never read off the labels, and the check brings several sets"
NUMBER = "how many rows there are is private, also that there is none"
EXACT = "exact labels of the rows would tell about them; predict gives them to who has the rows"

SUPERVISED = {"check_supervised_y_no_nan": BY_VALUE}
CLASSES = SUPERVISED | {
    "check_classifiers_regression_target": BY_VALUE,
    "check_classifiers_classes": DECLARED,
    "check_classifiers_train": DECLARED,
}
TWO_CLASSES = {name: why for name, why in CLASSES.items() if name != "check_classifiers_train"} | {
    "check_classifier_not_supporting_multiclass": BY_VALUE
}
NOISE: dict[str, Any] = {"epsilon": 1000, "delta": 1e-6}  # there is little, so that all is found
TWO = [0, 1]

MAKERS: Mapping[str, Callable[..., Any]] = {
    "BoostedTreesClassifier": lambda **o: BoostedTreesClassifier(
        **NOISE, bounds=(-4, 4), classes=TWO, **o
    ),
    "BoostedTreesRegressor": lambda **o: BoostedTreesRegressor(
        **NOISE, bounds=(-4, 4), target_bounds=(-5, 5), **o
    ),
    "GaussianNB": lambda **o: GaussianNB(epsilon=10**6, bounds=(-10, 10), classes=TWO, **o),
    "KMeans": lambda **o: KMeans(3, epsilon=10**6, bounds=(-10, 10), **o),
    "LinearRegression": lambda **o: LinearRegression(
        **NOISE, data_norm=10, target_bounds=(-100, 100), **o
    ),
    "LinearSVC": lambda **o: LinearSVC(**NOISE, data_norm=10, classes=TWO, **o),
    "LogisticRegression": lambda **o: LogisticRegression(**NOISE, data_norm=10, classes=TWO, **o),
    "MinMaxScaler": lambda **o: MinMaxScaler(bounds=(-10, 10), **o),
    "PCA": lambda **o: PCA(**NOISE, data_norm=10, **o),
    "PrivateSearchCV": lambda **o: PrivateSearchCV(
        GaussianNB(bounds=(-10, 10), classes=TWO), {"bounds": [(-10, 10), (-9, 9)]}, **NOISE, **o
    ),
    "Ridge": lambda **o: Ridge(**NOISE, data_norm=10, target_bounds=(-100, 100), **o),
    "StandardScaler": lambda **o: StandardScaler(epsilon=10**6, bounds=(-10, 10), **o),
}
NO_ESTIMATORS = (
    "Account", "AccountedRun", "TableEncoder", "account_run", "load", "make_pipeline", "save",
)  # fmt: skip
OWN: Mapping[str, Mapping[str, str]] = {
    "BoostedTreesClassifier": CLASSES,
    "BoostedTreesRegressor": SUPERVISED,
    "GaussianNB": CLASSES,
    "KMeans": {"check_clustering": EXACT},
    "LinearRegression": SUPERVISED,
    "LinearSVC": TWO_CLASSES,
    "LogisticRegression": CLASSES,
    "PrivateSearchCV": CLASSES,
    "Ridge": SUPERVISED,
}
# One row with an odd cell must not stop the fit of all others.
ALL = {"check_dtype_object": BY_VALUE, "check_estimators_empty_data_messages": NUMBER}
FORBIDDEN = {name: {**ALL, **OWN.get(name, {})} for name in MAKERS}
