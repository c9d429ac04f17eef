# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
"""What is taken from scikit-learn whose types are not told, in one place."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from sklearn.base import clone
from sklearn.base import is_classifier as is_a_classifier
from sklearn.base import is_regressor as is_a_regressor
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from letalone.errors import ParameterError
from letalone.learn.features.row_cells import Floats, numeric


def rows_of(estimator: object, X: Any, *, fitting: bool = False) -> Floats:  # noqa: N803
    """Rows as doubles: only shapes, types and names of columns are looked at."""
    with np.errstate(all="ignore"):
        checked = validate_data(
            estimator,
            numeric(X),
            reset=fitting,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=0,  # how many there are is private
        )
    return cast("Floats", checked)


def fitted_rows(
    estimator: object,
    X: Any,  # noqa: N803
    *,
    missing: str | float = 0.0,
) -> Floats:
    """Rows to predict for, of an estimator that was fitted.

    What is not finite becomes `missing`: a number, or a fitted attribute with one for each column.

    Rows for an estimator that was fitted on a table are encoded as that table was.
    """
    check_is_fitted(estimator)
    if hasattr(X, "train") and hasattr(X, "schema"):
        raise ParameterError(
            "This is a protected table: what a model says of each of its rows is not private. Give"
            " rows that you may see, as a frame or an array; pipelines take those, too."
        )
    encoder = getattr(estimator, "encoder_", None)
    rows = rows_of(estimator, X if encoder is None else encoder.transform(X))
    known = getattr(estimator, missing) if isinstance(missing, str) else missing
    return np.where(np.isfinite(rows), rows, cast("Floats | float", known))


def copy_of(parameter: object) -> Any:
    """A parameter for a clone."""
    return clone(parameter, safe=False)


def with_parameters(estimator: Any, parameters: Mapping[str, object]) -> None:
    """Sets parameters of an estimator."""
    estimator.set_params(**parameters)


def is_classifier(estimator: object) -> bool:
    """Whether it predicts classes."""
    return bool(is_a_classifier(estimator))


def is_regressor(estimator: object) -> bool:
    """Whether it predicts numbers."""
    return bool(is_a_regressor(estimator))


def list_candidates(
    grid: Any, distributions: Any, *, count: int, seed: int
) -> list[dict[str, object]]:
    """The candidates of a grid, or so many drawn from distributions."""
    if grid is not None:
        return list(ParameterGrid(grid))
    return list(ParameterSampler(distributions, count, random_state=seed))


def where_it_has(name: str) -> Callable[[Callable[..., Any]], Any]:
    """A method of a search that is there if its estimator has it."""

    def has(search: Any) -> bool:
        return hasattr(search.estimator, name)

    return cast("Callable[[Callable[..., Any]], Any]", available_if(has))
