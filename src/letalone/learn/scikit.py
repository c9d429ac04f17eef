# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
"""What is taken from scikit-learn whose types are not told, in one place."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

Floats = NDArray[np.float64]


def rows_of(estimator: object, X: Any, *, fitting: bool = False) -> Floats:  # noqa: N803
    """Rows as doubles: only shapes, types and names of columns are looked at."""
    checked = validate_data(estimator, X, reset=fitting, dtype=np.float64, ensure_all_finite=False)
    return cast("Floats", checked)


def fitted_rows(estimator: object, X: Any) -> Floats:  # noqa: N803
    """Rows to predict for, of an estimator that was fitted; what is not finite counts as 0."""
    check_is_fitted(estimator)
    rows = rows_of(estimator, X)
    return np.where(np.isfinite(rows), rows, 0.0)


def copy_of(parameter: object) -> Any:
    """A parameter for a clone."""
    return clone(parameter, safe=False)
