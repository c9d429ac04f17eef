# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Which steps of a pipeline learn from rows: what they learn leaves with the model, unaccounted.

A scaler that was fitted on the rows holds their exact means, a one-hot encoder the categories that
somebody has. A private estimator behind it pays for its own fit alone. A step is let through if it
is one of letalone's own (which pays, or declares), or one of a few of scikit-learn's that, with
these parameters, does the same to a row whatever the other rows are.

Theorem.  Behind steps that are let through, what the estimator sees of one row depends on that row
and on parameters alone, or on a private release that was paid for.
  Proven:   by each of RULES, read off scikit-learn's documentation; what has no rule is refused
  Tested:   tests/learn/test_pipelines.py: for each, other rows change nothing of the first
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from letalone.errors import ParameterError

PAIR = "([lower, …], [upper, …])"
FRAMES = 'on frames la.learn.TableEncoder({"age": (18, 90), "sex": ["f", "m"]})'
INSTEAD = {
    "StandardScaler": f"la.learn.StandardScaler(epsilon=…, bounds={PAIR}) on arrays; {FRAMES}",
    "MinMaxScaler": f"la.learn.MinMaxScaler(bounds={PAIR}) on arrays; {FRAMES}",
    "OneHotEncoder": (
        'OneHotEncoder(categories=[[…]], handle_unknown="ignore", sparse_output=False)'
    ),
    "OrdinalEncoder": "la.learn.TableEncoder({…})",
    "PCA": "la.learn.PCA(epsilon=…, data_norm=…)",
    "SimpleImputer": 'SimpleImputer(strategy="constant", keep_empty_features=True)',
    "make_column_selector": "the names of the columns, as a list",
    "FunctionTransformer": "a NumPy function such as np.log1p, or change the rows before",
}
USUAL = "la.learn.TableEncoder({…}), which takes bounds and categories that you declare"


def check_steps(steps: list[tuple[str, Any]], *, what: str) -> None:
    """Refuses steps that learn from rows in front of `what`."""
    for name, step in steps:
        for learner in learners_in(step):
            raise ParameterError(
                f"{learner} (step {name!r}) learns from the rows, and {what} behind it does not"
                " account for that: what it learns would leave with the model, exactly. Use"
                f" {INSTEAD.get(learner, USUAL)}. What was fitted on public rows goes into"
                " sklearn.frozen.FrozenEstimator."
            )


def learners_in(step: Any) -> Iterator[str]:
    """The names of the classes in a step that learn from rows, as far as that is known."""
    if step is None or isinstance(step, str):  # passthrough, drop
        return
    if any(kind.__module__.startswith("letalone.learn.") for kind in type(step).__mro__):
        return
    kind = type(step).__name__
    if not type(step).__module__.startswith("sklearn."):
        yield kind
    elif kind in COMPOUND:
        for part in COMPOUND[kind](step):
            yield from learners_in(part)
    elif kind not in RULES or not RULES[kind](step):
        yield kind


def _of_columns(step: Any) -> Iterator[Any]:
    for _, part, columns in step.transformers:
        yield part
        if callable(columns):  # it looks at a frame, whose types may depend on its cells
            yield columns
    yield step.remainder


COMPOUND: dict[str, Callable[[Any], Iterator[Any]]] = {
    "Pipeline": lambda step: (part for _, part in step.steps),
    "FeatureUnion": lambda step: (part for _, part in step.transformer_list),
    "ColumnTransformer": _of_columns,
}


def _declares_categories(step: Any) -> bool:
    return not isinstance(step.categories, str) and step.min_frequency is None


RULES: dict[str, Callable[[Any], bool]] = {
    "FrozenEstimator": lambda _: True,
    "Normalizer": lambda _: True,
    "Binarizer": lambda _: True,
    "PolynomialFeatures": lambda _: True,
    "FunctionTransformer": lambda step: step.func is None or isinstance(step.func, np.ufunc),
    "SimpleImputer": lambda step: (
        step.strategy == "constant" and step.keep_empty_features and not step.add_indicator
    ),
    "OneHotEncoder": lambda step: (
        _declares_categories(step)
        and step.handle_unknown == "ignore"
        and not step.sparse_output  # whether a whole frame is sparse then depends on its cells
        and step.max_categories is None
        and (step.drop is None or not isinstance(step.drop, str))
    ),
}
