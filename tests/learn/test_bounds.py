"""Bounds and norms: declared ones are checked, bought ones found with bounded sensitivity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.errors import ParameterError
from letalone.learn.features.column_bounds import (
    EDGES,
    NORM_EDGES,
    histograms,
    norms_of,
    read_bounds,
    read_norm,
    with_purchases,
)
from letalone.learn.noisy_sums.sums import noisy_sums, of_rows
from neighbours_of_learners import assert_within, rows_of
from seeded import SeededBits


@given(rows=rows_of(3))
def test_a_row_moves_all_histograms_by_no_more_than_the_measure_says(rows):
    (measure,) = read_bounds("private", 3).purchase
    assert_within(histograms(rows, EDGES) - histograms(rows[1:], EDGES), measure)
    (measure,) = read_norm("private").purchase
    moved = histograms(norms_of(rows), NORM_EDGES) - histograms(norms_of(rows[1:]), NORM_EDGES)
    assert_within(moved, measure)


def test_every_finite_value_is_in_the_cell_that_holds_it_and_no_other_value_in_any():
    values = [3.0, -3.0, 0.0, 4.0, 1e300, -1e300, 1e-300, np.nan, np.inf, -np.inf]
    (counts,) = histograms(np.array(values)[:, np.newaxis], EDGES)
    assert counts.sum() == 7
    cells = {(EDGES[k], EDGES[k + 1]): counts[k] for k in np.flatnonzero(counts)}
    assert cells == {
        (2, 4): 2,
        (-4, -2): 1,
        (-(2.0**-30), 0): 1,
        (0, 2.0**-30): 1,
        (2.0**49, 2.0**50): 1,
        (-(2.0**50), -(2.0**49)): 1,
    }


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_bounds_are_found_within_a_cell_where_there_is_data_enough(delta):
    rows = np.random.default_rng(0).uniform([-3, 100], [5, 900], (5000, 2))
    bounds = read_bounds("private", 2)
    noise = noisy_sums(bounds.purchase, epsilon=1, delta=delta)
    lower, upper = bounds.known(rows, noise, SeededBits(3))
    assert lower.tolist() == [-4.0, 64.0]
    assert upper.tolist() == [8.0, 1024.0]


def test_the_norm_is_that_below_which_nearly_all_rows_lie():
    rows = np.random.default_rng(0).normal(size=(5000, 4))
    rows[:20] *= 1e6
    norm = read_norm("private")
    noise = noisy_sums(norm.purchase, epsilon=1, delta=0)
    assert 2.8 < float(norm.known(rows, noise, SeededBits(3))) < 4.1


@pytest.mark.parametrize("rows", [np.zeros((0, 2)), np.full((9, 2), np.nan), np.zeros((9, 2))])
def test_bounds_of_nothing_are_bounds_all_the_same(rows):
    bounds, norm = read_bounds("private", 2), read_norm("private")
    noise = noisy_sums(with_purchases([of_rows()], bounds, norm), epsilon=0.1, delta=0)
    lower, upper = bounds.known(rows, noise, SeededBits(3))
    assert np.all(lower < upper)
    assert np.all(np.isfinite([lower, upper]))
    assert norm.known(rows, noise, SeededBits(4)) > 0


@given(width=st.integers(1, 9), weight=st.integers(1, 9))
def test_a_purchase_gets_a_fifth_of_the_split(width, weight):
    bounds, norm = read_bounds("private", width), read_norm("private")
    for bought in ([bounds], [bounds, norm]):
        measures = with_purchases([of_rows(weight), of_rows(3)], *bought)
        total = sum(one.weight for one in measures)
        assert 5 * sum(one.weight for one in measures[2:]) == total


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (None, "never read off the data"),
        ("public", "but must be .lower, upper. or 'private'"),
        ((1, 0), "lower < upper"),
        ((0, 0), "lower < upper"),
        ((0, float("nan")), "finite"),
        ((0, float("inf")), "finite"),
        ((0, [1, 2, 3]), "one for each of the 2 features"),
        (("a", "b"), "must be numbers"),
        (5, "a pair"),
        ((1, 2, 3), "a pair"),
        ([(0, 9), (1, 8), (2, 7)], r"each column, here \(\[0, 1, 2\], \[9, 8, 7\]\)"),
    ],
)
def test_wrong_bounds_are_refused_with_what_is_allowed(bounds, message):
    with pytest.raises(ParameterError, match=message):
        read_bounds(bounds, 2)


@pytest.mark.parametrize("norm", [None, 0, -1, float("nan"), float("inf"), "big", 1e200, True])
def test_wrong_norms_are_refused(norm):
    with pytest.raises(ParameterError, match="data_norm is"):
        read_norm(norm)


DRAWN = np.random.default_rng(7).normal(size=(400, 40))


def _in_columns(rows: np.ndarray) -> np.ndarray:
    return np.asfortranarray(rows)


@pytest.mark.parametrize("order", [np.ascontiguousarray, _in_columns])
def test_a_norm_is_the_same_alone_and_beside_others(order) -> None:
    together = norms_of(order(DRAWN))
    alone = np.vstack([norms_of(order(DRAWN[place : place + 1])) for place in range(len(DRAWN))])
    assert np.array_equal(together, alone)
    # numpy's own sum over columns takes another order where there is one row only.
    other = [np.sum(_in_columns(row[None]) ** 2, axis=1)[0] for row in DRAWN]
    assert not np.array_equal(np.sum(_in_columns(DRAWN) ** 2, axis=1), other)
