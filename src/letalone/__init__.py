"""letalone: answers about sensitive data that expose no one in it, with the proof.

    import letalone as la
    la.Laplace(epsilon=1.0, sensitivity=1.0).release(42.0)

This file is a façade. A name is fetched from its own module when it is first used, so
`import letalone` loads nothing but itself.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from letalone import audit as audit
    from letalone import privacy as privacy
    from letalone.answers import Estimate as Estimate
    from letalone.errors import BudgetExceeded as BudgetExceeded
    from letalone.errors import FormatError as FormatError
    from letalone.errors import LetaloneError as LetaloneError
    from letalone.errors import NeighboursDiffer as NeighboursDiffer
    from letalone.errors import ParameterError as ParameterError
    from letalone.errors import PrivacyWarning as PrivacyWarning
    from letalone.errors import UnsupportedQuery as UnsupportedQuery
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

    __version__: str

__all__ = [
    "ADD_REMOVE",
    "REPLACE",
    "ZCDP",
    "AboveThreshold",
    "ApproxDP",
    "Budget",
    "BudgetExceeded",
    "DiscreteGaussian",
    "Estimate",
    "Exponential",
    "Filter",
    "FormatError",
    "Gaussian",
    "GaussianDP",
    "Geometric",
    "Laplace",
    "LetaloneError",
    "Neighbours",
    "NeighboursDiffer",
    "ParameterError",
    "PermuteAndFlip",
    "Privacy",
    "PrivacyWarning",
    "PureDP",
    "RandomizedResponse",
    "TopK",
    "UnsupportedQuery",
    "__version__",
    "audit",
    "best_option",
    "calibrate",
    "compose",
    "frequent_itemsets",
    "privacy",
    "private_price",
    "sensitivity",
    "utility",
]

_MODULES = {
    "audit": "letalone.audit",
    "privacy": "letalone.privacy",
    "sensitivity": "letalone.mechanisms.sensitivity",
    "utility": "letalone.mechanisms.utility",
}
_MEMBERS = {
    "letalone.answers": ("Estimate",),
    "letalone.errors": (
        "BudgetExceeded",
        "FormatError",
        "LetaloneError",
        "NeighboursDiffer",
        "ParameterError",
        "PrivacyWarning",
        "UnsupportedQuery",
    ),
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
    return __all__
