"""letalone: answers about sensitive data that expose no one in it, with the proof.

    import letalone as la
    la.Laplace(epsilon=1.0, sensitivity=1.0).release(42.0)

This file is a façade. A name is fetched from its own module when it is first used, so
`import letalone` loads nothing but itself.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from letalone import anonymity as anonymity
    from letalone import attacks as attacks
    from letalone import audit as audit
    from letalone import learn as learn
    from letalone import privacy as privacy
    from letalone.answers import Estimate as Estimate
    from letalone.client import Client as Client
    from letalone.errors import BudgetExceeded as BudgetExceeded
    from letalone.errors import DataSetFrozen as DataSetFrozen
    from letalone.errors import FormatError as FormatError
    from letalone.errors import LedgerDamaged as LedgerDamaged
    from letalone.errors import LedgerUnavailable as LedgerUnavailable
    from letalone.errors import LetaloneError as LetaloneError
    from letalone.errors import NeighboursDiffer as NeighboursDiffer
    from letalone.errors import NotAllowed as NotAllowed
    from letalone.errors import ParameterError as ParameterError
    from letalone.errors import PrivacyWarning as PrivacyWarning
    from letalone.errors import ServiceUnavailable as ServiceUnavailable
    from letalone.errors import UnsupportedQuery as UnsupportedQuery
    from letalone.ledger import Ledger as Ledger
    from letalone.mechanisms import AboveThreshold as AboveThreshold
    from letalone.mechanisms import DiscreteGaussian as DiscreteGaussian
    from letalone.mechanisms import Exponential as Exponential
    from letalone.mechanisms import Gaussian as Gaussian
    from letalone.mechanisms import Geometric as Geometric
    from letalone.mechanisms import Laplace as Laplace
    from letalone.mechanisms import PermuteAndFlip as PermuteAndFlip
    from letalone.mechanisms import RandomizedResponse as RandomizedResponse
    from letalone.mechanisms import TopK as TopK
    from letalone.mechanisms import sensitivity as sensitivity
    from letalone.mechanisms import utility as utility
    from letalone.mechanisms.applications import best_option as best_option
    from letalone.mechanisms.applications import frequent_itemsets as frequent_itemsets
    from letalone.mechanisms.applications import private_price as private_price
    from letalone.mechanisms.calibration import calibrate as calibrate
    from letalone.plans import per_unit as per_unit
    from letalone.plans.expressions import case as case
    from letalone.plans.expressions import col as col
    from letalone.plans.keys import product as product
    from letalone.plans.plan import bins as bins
    from letalone.plans.requests import correlation as correlation
    from letalone.plans.requests import count as count
    from letalone.plans.requests import count_distinct as count_distinct
    from letalone.plans.requests import covariance as covariance
    from letalone.plans.requests import histogram as histogram
    from letalone.plans.requests import linear_regression as linear_regression
    from letalone.plans.requests import max as max  # noqa: A004
    from letalone.plans.requests import mean as mean
    from letalone.plans.requests import median as median
    from letalone.plans.requests import min as min  # noqa: A004
    from letalone.plans.requests import private_bounds as private_bounds
    from letalone.plans.requests import quantile as quantile
    from letalone.plans.requests import regression_slope as regression_slope
    from letalone.plans.requests import std as std
    from letalone.plans.requests import sum as sum  # noqa: A004
    from letalone.plans.requests import top_k as top_k
    from letalone.plans.requests import variance as variance
    from letalone.plans.schema import Column as Column
    from letalone.plans.schema import Schema as Schema
    from letalone.privacy import ADD_REMOVE as ADD_REMOVE
    from letalone.privacy import REPLACE as REPLACE
    from letalone.privacy import ZCDP as ZCDP
    from letalone.privacy import ApproxDP as ApproxDP
    from letalone.privacy import Budget as Budget
    from letalone.privacy import Filter as Filter
    from letalone.privacy import GaussianDP as GaussianDP
    from letalone.privacy import Neighbours as Neighbours
    from letalone.privacy import Privacy as Privacy
    from letalone.privacy import PureDP as PureDP
    from letalone.privacy import compose as compose
    from letalone.session import ROW as ROW
    from letalone.session import Preview as Preview
    from letalone.session import Query as Query
    from letalone.session import Release as Release
    from letalone.session import Session as Session
    from letalone.session import open as open  # noqa: A004

    __version__: str

__all__ = [
    "ADD_REMOVE",
    "REPLACE",
    "ROW",
    "ZCDP",
    "AboveThreshold",
    "ApproxDP",
    "Budget",
    "BudgetExceeded",
    "Client",
    "Column",
    "DataSetFrozen",
    "DiscreteGaussian",
    "Estimate",
    "Exponential",
    "Filter",
    "FormatError",
    "Gaussian",
    "GaussianDP",
    "Geometric",
    "Laplace",
    "Ledger",
    "LedgerDamaged",
    "LedgerUnavailable",
    "LetaloneError",
    "Neighbours",
    "NeighboursDiffer",
    "NotAllowed",
    "ParameterError",
    "PermuteAndFlip",
    "Preview",
    "Privacy",
    "PrivacyWarning",
    "PureDP",
    "Query",
    "RandomizedResponse",
    "Release",
    "Schema",
    "ServiceUnavailable",
    "Session",
    "TopK",
    "UnsupportedQuery",
    "__version__",
    "anonymity",
    "attacks",
    "audit",
    "best_option",
    "bins",
    "calibrate",
    "case",
    "col",
    "compose",
    "correlation",
    "count",
    "count_distinct",
    "covariance",
    "frequent_itemsets",
    "histogram",
    "learn",
    "linear_regression",
    "mean",
    "median",
    "per_unit",
    "privacy",
    "private_bounds",
    "private_price",
    "product",
    "quantile",
    "regression_slope",
    "sensitivity",
    "std",
    "top_k",
    "utility",
    "variance",
]

# Public, too, but left out of `from letalone import *`, where they would hide Python's own.
_NOT_STARRED = ("max", "min", "open", "sum")

_MODULES = {
    "anonymity": "letalone.anonymity",
    "attacks": "letalone.attacks",
    "audit": "letalone.audit",
    "learn": "letalone.learn",
    "per_unit": "letalone.plans.per_unit",
    "privacy": "letalone.privacy",
    "sensitivity": "letalone.mechanisms.sensitivity",
    "utility": "letalone.mechanisms.utility",
}
_MEMBERS = {
    "letalone.answers": ("Estimate",),
    "letalone.client": ("Client",),
    "letalone.errors": (
        "BudgetExceeded",
        "DataSetFrozen",
        "FormatError",
        "LedgerDamaged",
        "LedgerUnavailable",
        "LetaloneError",
        "NeighboursDiffer",
        "NotAllowed",
        "ParameterError",
        "PrivacyWarning",
        "ServiceUnavailable",
        "UnsupportedQuery",
    ),
    "letalone.ledger": ("Ledger",),
    "letalone.mechanisms": (
        "AboveThreshold",
        "DiscreteGaussian",
        "Exponential",
        "Gaussian",
        "Geometric",
        "Laplace",
        "PermuteAndFlip",
        "RandomizedResponse",
        "TopK",
    ),
    "letalone.mechanisms.calibration": ("calibrate",),
    "letalone.mechanisms.applications": ("best_option", "frequent_itemsets", "private_price"),
    "letalone.plans.requests": (
        "correlation",
        "count",
        "count_distinct",
        "covariance",
        "histogram",
        "linear_regression",
        "max",
        "mean",
        "median",
        "min",
        "private_bounds",
        "quantile",
        "regression_slope",
        "std",
        "sum",
        "top_k",
        "variance",
    ),
    "letalone.plans.expressions": ("case", "col"),
    "letalone.plans.keys": ("product",),
    "letalone.plans.plan": ("bins",),
    "letalone.plans.schema": ("Column", "Schema"),
    "letalone.session": (
        "ROW",
        "Preview",
        "Query",
        "Release",
        "Session",
        "open",
    ),
    "letalone.privacy": (
        "ADD_REMOVE",
        "REPLACE",
        "ZCDP",
        "ApproxDP",
        "Budget",
        "Filter",
        "GaussianDP",
        "Neighbours",
        "Privacy",
        "PureDP",
        "compose",
    ),
}
_HOME = {name: module for module, names in _MEMBERS.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "__version__":
        value: object = import_module("importlib.metadata").version("letalone")
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"letalone has no {name!r}; dir(letalone) lists what it has")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_NOT_STARRED])
