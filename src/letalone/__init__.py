"""letalone: answers about sensitive data that expose no one in it, with the proof.

    import letalone as la
    la.Laplace(epsilon=1.0, sensitivity=1.0).release(42.0)

This file is a façade. A name is fetched from its own module when it is first used, so
`import letalone` loads nothing but itself. For tools that read types, __init__.pyi lists the same
names.
"""

from importlib import import_module

# Public, too, but left out of `from letalone import *`, where they would hide Python's own.
_NOT_STARRED = ("max", "min", "open", "sum")
_MODULES = {
    "anonymity": "anonymity",
    "attacks": "attacks",
    "audit": "audit",
    "learn": "learn",
    "local": "local",
    "per_unit": "plans.aggregates.per_unit",
    "privacy": "privacy",
    "sensitivity": "mechanisms.sensitivity",
    "utility": "mechanisms.utility",
}
_MEMBERS = {  # of each module, its names
    "answers.estimate": "Estimate",
    "answers.preview": "Preview",
    "client": "Client",
    "errors": (
        "BudgetExceeded DataSetFrozen FormatError LedgerDamaged LedgerUnavailable LetaloneError "
        "NeighboursDiffer NotAllowed ParameterError PrivacyWarning ServiceUnavailable "
        "UnsupportedQuery"
    ),
    "ledger.ledger": "Ledger",
    "mechanisms": (
        "AboveThreshold DiscreteGaussian Exponential Gaussian Geometric Laplace PermuteAndFlip "
        "RandomizedResponse TopK"
    ),
    "mechanisms.applications": "best_option frequent_itemsets private_price",
    "mechanisms.calibration": "calibrate",
    "notebook": "EpsilonSlider",
    "plans.aggregates.requests": (
        "correlation count count_distinct covariance histogram linear_regression max mean "
        "median min private_bounds quantile regression_slope std sum top_k variance"
    ),
    "plans.expressions": "case col",
    "plans.keys": "product",
    "plans.plan": "bins",
    "plans.schema": "Column Schema",
    "privacy": (
        "ADD_REMOVE REPLACE ZCDP ApproxDP Budget Filter GaussianDP Neighbours Privacy PureDP "
        "compose"
    ),
    "session.locating": "ROW",
    "session.opening": "open",
    "session.query": "Query",
    "session.release": "Release",
    "session.report_plan": "plan",
    "session.session": "Session",
}
_HOME = {name: module for module, names in _MEMBERS.items() for name in names.split()}

__all__ = sorted({*_HOME, *_MODULES, "__version__"} - set(_NOT_STARRED))  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name == "__version__":
        value: object = import_module("importlib.metadata").version("letalone")
    elif name in _MODULES:
        value = _load(name, f"letalone.{_MODULES[name]}")
    elif name in _HOME:
        value = getattr(_load(name, f"letalone.{_HOME[name]}"), name)
    else:
        raise AttributeError(f"letalone has no {name!r}; dir(letalone) lists what it has")
    globals()[name] = value
    return value


def _load(name: str, module: str) -> object:
    """The module; where little is installed, for a client alone, an error says what is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing == "letalone":
            raise
    errors = import_module("letalone.errors")
    how = import_module("letalone.errors.installing").how_to_install()
    raise errors.ParameterError(
        f"la.{name} needs {missing}, which is not installed. To install letalone with all that it"
        f" requires: {how}."
    )


def __dir__() -> list[str]:
    return sorted([*__all__, *_NOT_STARRED])
