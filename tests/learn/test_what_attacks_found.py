"""Ways in which one row could move others, or speak through an error, that attacks once found."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import letalone as la
from letalone.learn.bounds import norms_of
from letalone.learn.linear import LogisticRegression
from letalone.learn.wholes import BITS, Grid, scores_of, within_norm
from seeded import SeededBits

DRAWN = np.random.default_rng(7).normal(size=(400, 40))


def _in_columns(rows: np.ndarray) -> np.ndarray:
    return np.asfortranarray(rows)


@pytest.mark.parametrize("order", [np.ascontiguousarray, _in_columns])
def test_a_norm_is_the_same_alone_and_beside_others(order: Any) -> None:
    together = norms_of(order(DRAWN))
    alone = np.vstack([norms_of(order(DRAWN[place : place + 1])) for place in range(len(DRAWN))])
    assert np.array_equal(together, alone)
    # numpy's own sum over columns takes another order where there is one row only.
    other = [np.sum(_in_columns(row[None]) ** 2, axis=1)[0] for row in DRAWN]
    assert not np.array_equal(np.sum(_in_columns(DRAWN) ** 2, axis=1), other)


@pytest.mark.parametrize("order", [np.ascontiguousarray, _in_columns])
def test_a_whole_row_is_the_same_alone_and_beside_others(order: Any) -> None:
    grid = Grid(la.learn.TableEncoder({"a": bool}).norm.as_integer_ratio()[0])  # 1
    together = within_norm(order(DRAWN), grid)
    alone = np.vstack([within_norm(order(row[None]), grid) for row in DRAWN])
    assert np.array_equal(together, alone)


def test_a_score_is_the_same_alone_and_beside_others_and_exact() -> None:
    whole = np.trunc(DRAWN * 2**BITS / 8)
    weights = np.random.default_rng(8).normal(size=(3, 40))
    together = scores_of(whole, weights)
    alone = np.vstack([scores_of(row[None], weights) for row in whole])
    assert np.array_equal(together, alone)
    assert np.allclose(together, whole @ weights.T / 2**BITS, atol=1e-6)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_text_in_other_frames_is_refused_by_its_type(make: Any) -> None:
    model = LogisticRegression(1, data_norm=1, classes=[0, 1])
    with pytest.raises(ValueError, match="type") as caught:
        model.fit(make({"a": [1.0, 2.0], "b": ["1", "Zyxwvut"]}), [0, 1])
    assert "Zyxwvut" not in str(caught.value)


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


@pytest.mark.parametrize("label", [pd.NA, np.array([1]), 10**400, "\ud800", None, 2**60])
def test_any_label_is_fitted(label: object) -> None:
    for classes in ([0, 1], "private"):
        model = LogisticRegression(1, 1e-6, data_norm=1, classes=classes)
        assert np.all(np.isfinite(model.fit([[1.0]] * 3, [0, 1, label]).coef_))


def test_another_method_is_another_question_where_classes_are_bought() -> None:
    plans = [
        LogisticRegression(1, 1e-6, data_norm=1, classes="private", method=method)._plan(3)
        for method in ("objective", "gradient")
    ]
    assert plans[0].described() != plans[1].described()


def test_a_fit_may_cost_the_whole_budget() -> None:
    model = LogisticRegression(1, 1e-6, data_norm=1, classes=[0, 1], budget=la.Budget(1, 1e-6))
    model._bits = SeededBits(1)
    assert model.fit([[1.0]], [1]).budget.remaining.epsilon == 0
