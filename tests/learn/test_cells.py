"""No cell decides how another is read, or stands in an error."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import letalone as la
from letalone.learn.cells import numeric

SECRET = "Zyxwvut"


def test_one_odd_cell_of_a_list_changes_no_other_cell() -> None:
    found = numeric([[1, 2.5], [SECRET, None], [10**400, True]])
    assert np.array_equal(found, [[1, 2.5], [np.nan, np.nan], [np.nan, 1]], equal_nan=True)


def test_object_columns_of_a_frame_are_read_cell_by_cell() -> None:
    frame = pd.DataFrame({"a": pd.Series([1, SECRET], dtype=object), "b": [3, 4]})
    found = numeric(frame)
    assert list(found.columns) == ["a", "b"]
    assert np.array_equal(found.to_numpy(float), [[1, 3], [np.nan, 4]], equal_nan=True)
    assert frame["a"].tolist() == [1, SECRET]


@pytest.mark.parametrize(
    "rows",
    [
        np.array([[SECRET, "1"]]),
        np.array([[31415.926 + 1j, 2]]),
        np.array([31415.926, 2.0]),
        pd.DataFrame({"a": [SECRET, "1"]}),
        [[31415.926], [1, 2]],
        np.array([["1871-03-17"]], "datetime64[D]"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused_by_type_and_shape_without_a_value(
    rows: Any,
) -> None:
    model = la.learn.LogisticRegression(1, data_norm=1, classes=[0, 1])
    with pytest.raises((ValueError, TypeError)) as caught:
        model.fit(rows, [0, 1])
    told: BaseException | None = caught.value
    while told is not None:
        assert not any(secret in str(told) for secret in (SECRET, "31415", "1871"))
        told = told.__cause__ or told.__context__
