"""Private learning with scikit-learn's manners: the extra `[learn]`.

    from letalone.learn import LogisticRegression
    LogisticRegression(epsilon=1, delta=1e-6, data_norm=4, classes=["no", "yes"]).fit(X, y)

Every fit is charged before data is seen; `privacy_` says what it reveals.
"""

from importlib import import_module

from letalone.errors import ParameterError
from letalone.errors.installing import not_installed

_FILES = {  # and their public names
    "account": "Account",
    "other_runs": "AccountedRun account_run",
    "trees.boosting": "BoostedTreesClassifier BoostedTreesRegressor",
    "noisy_sums.clusters": "KMeans",
    "noisy_sums.components": "PCA",
    "features.encoding": "TableEncoder",
    "convex.linear": "LinearSVC LogisticRegression",
    "models": "load save",
    "pipelines.private_pipeline": "make_pipeline",
    "noisy_sums.naive_bayes": "GaussianNB",
    "noisy_sums.linear_regression": "LinearRegression Ridge",
    "noisy_sums.scaling": "MinMaxScaler StandardScaler",
    "searching.search": "PrivateSearchCV",
}
_HOMES = {name: file for file, names in _FILES.items() for name in names.split()}

__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name == "torch":  # a package of its own, which alone imports PyTorch
        return import_module("letalone.learn.torch")
    if name not in _HOMES:
        raise AttributeError(f"module 'letalone.learn' has no attribute {name!r}")
    try:
        module = import_module(f"letalone.learn.{_HOMES[name]}")
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] != "sklearn":
            raise
        raise ParameterError(not_installed("letalone.learn", "scikit-learn", "learn")) from None
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
