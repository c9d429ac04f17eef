"""Private learning with scikit-learn's manners: `pip install letalone[learn]`.

    from letalone.learn import LogisticRegression
    LogisticRegression(epsilon=1, delta=1e-6, data_norm=4, classes=["no", "yes"]).fit(X, y)

Every fit is charged before data is seen; `privacy_` says what it reveals.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from letalone.errors import ParameterError

if TYPE_CHECKING:
    from letalone.learn.account import Account as Account
    from letalone.learn.boosting import BoostedTreesClassifier as BoostedTreesClassifier
    from letalone.learn.boosting import BoostedTreesRegressor as BoostedTreesRegressor
    from letalone.learn.clusters import KMeans as KMeans
    from letalone.learn.components import PCA as PCA
    from letalone.learn.encoding import TableEncoder as TableEncoder
    from letalone.learn.linear import LinearSVC as LinearSVC
    from letalone.learn.linear import LogisticRegression as LogisticRegression
    from letalone.learn.models import load as load
    from letalone.learn.models import save as save
    from letalone.learn.naive_bayes import GaussianNB as GaussianNB
    from letalone.learn.regression import LinearRegression as LinearRegression
    from letalone.learn.regression import Ridge as Ridge
    from letalone.learn.scaling import MinMaxScaler as MinMaxScaler
    from letalone.learn.scaling import StandardScaler as StandardScaler
    from letalone.learn.search import PrivateSearchCV as PrivateSearchCV

_FILES = {  # and their public names
    "account": "Account",
    "boosting": "BoostedTreesClassifier BoostedTreesRegressor",
    "clusters": "KMeans",
    "components": "PCA",
    "encoding": "TableEncoder",
    "linear": "LinearSVC LogisticRegression",
    "models": "load save",
    "naive_bayes": "GaussianNB",
    "regression": "LinearRegression Ridge",
    "scaling": "MinMaxScaler StandardScaler",
    "search": "PrivateSearchCV",
}
_HOMES = {name: file for file, names in _FILES.items() for name in names.split()}

__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'letalone.learn' has no attribute {name!r}")
    try:
        module = import_module(f"letalone.learn.{_HOMES[name]}")
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] != "sklearn":
            raise
        raise ParameterError(
            "letalone.learn needs scikit-learn: pip install 'letalone[learn]'."
        ) from None
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
