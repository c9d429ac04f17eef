"""No cell decides how another is read, or stands in an error."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import letalone as la
from letalone.learn.convex.linear import LogisticRegression
from letalone.learn.features.row_cells import numeric

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


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_text_in_other_frames_is_refused_by_its_type(make: Any) -> None:
    model = LogisticRegression(1, data_norm=1, classes=[0, 1])
    with pytest.raises(ValueError, match="type") as caught:
        model.fit(make({"a": [1.0, 2.0], "b": ["1", SECRET]}), [0, 1])
    assert SECRET not in str(caught.value)


def test_other_frames_of_numbers_are_read() -> None:
    model = LogisticRegression(1, data_norm=1, classes=[0, 1])
    assert model.fit(pl.DataFrame({"a": [1.0, None], "b": [1, 2]}), [0, 1]).coef_.shape == (1, 2)


def test_no_rows_and_nested_cells_are_fitted_like_others() -> None:
    model = LogisticRegression(1, data_norm=1, classes=[0, 1])
    for rows, labels in (
        (np.zeros((0, 2)), []),
        ([[[1], [2]]], [0]),
        ([[1.0, 2.0], [[1], [2]]], [[1], 0]),
    ):
        assert model.fit(rows, labels).coef_.shape == (1, 2)


@pytest.mark.parametrize("cell", [0.0, 1e-200, 1e308, np.longdouble("1e400"), np.nan])
def test_neither_a_warning_nor_numpys_settings_tell_of_a_cell(cell: Any) -> None:
    rows = np.array([[cell, 1], [0, 1]], dtype=np.longdouble)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for delta, options in (
            (0, {"data_norm": 1, "method": "output"}),
            (1e-6, {"data_norm": "private"}),
        ):
            model = LogisticRegression(1, delta, classes=[0, 1], **options).fit(rows, [0, 1])
            assert np.all(np.isfinite(model.coef_))
