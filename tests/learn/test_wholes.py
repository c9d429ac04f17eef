"""Rows as whole numbers: norms hold in integers, sums are exact in any order."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.errors import ParameterError
from letalone.learn.noisy_sums.wholes import (
    BITS,
    product,
    scores_of,
    within_bounds,
    within_norm,
    without_zeros,
)

ANY = st.floats(allow_nan=True, allow_infinity=True, width=64)
BOUNDS = st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(10) ** 9])


def _norm_squared(row: np.ndarray) -> int:
    return sum(int(entry) ** 2 for entry in row)


@given(st.lists(st.lists(ANY, min_size=3, max_size=3), min_size=1, max_size=8), BOUNDS)
def test_no_row_exceeds_its_norm_in_whole_numbers(rows: list[list[float]], bound: Fraction) -> None:
    found = within_norm(np.array(rows), bound)
    assert np.all(found == np.trunc(found))
    assert all(_norm_squared(row) <= 4**BITS for row in found)


def test_a_row_on_the_sphere_does_not_leave_it_by_a_rounding() -> None:
    rows = np.random.default_rng(1).normal(size=(20_000, 40))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = within_norm(rows * 3, Fraction(3))
    assert all(_norm_squared(row) <= 4**BITS for row in found)
    # Rounding to nearest instead of towards zero would leave it.
    nearest = np.rint(rows * 2**BITS)
    assert any(_norm_squared(row) > 4**BITS for row in nearest)


def test_a_row_within_its_norm_is_kept_to_a_step() -> None:
    rows = np.random.default_rng(2).uniform(-1, 1, size=(500, 5))
    step = 3 / 2**BITS
    assert np.max(np.abs(within_norm(rows, Fraction(3)) * step - rows)) <= step


@given(st.lists(st.lists(ANY, min_size=2, max_size=2), min_size=2, max_size=6))
def test_each_row_depends_on_itself_alone(rows: list[list[float]]) -> None:
    norm = Fraction(2)
    whole = within_norm(np.array(rows), norm)
    alone = np.vstack([within_norm(np.array([row]), norm) for row in rows])
    assert np.array_equal(whole, alone)


@given(st.lists(st.lists(ANY, min_size=2, max_size=2), min_size=1, max_size=6))
def test_places_between_bounds_stay_there_and_what_is_not_finite_is_the_middle(
    rows: list[list[float]],
) -> None:
    given_rows = np.array(rows)
    found = within_bounds(given_rows, np.array([-5.0, 1e-3]), np.array([5.0, 1e300]))
    assert np.all(np.abs(found) <= 2**BITS)
    assert np.all(found[~np.isfinite(given_rows)] == 0)


def test_bounds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ParameterError, match="lower < upper"):
        within_bounds(np.zeros((1, 1)), np.array([1.0]), np.array([1.0]))


def test_products_are_exact_where_doubles_in_one_go_are_not() -> None:
    rows, largest = 600_000, 2**BITS - 1
    column = np.full((rows, 1), float(largest))
    exact = rows * largest**2
    assert product(column, column).tolist() == [[exact]]
    assert int(np.cumsum(column[:, 0] ** 2)[-1]) != exact


def test_products_do_not_depend_on_the_order_of_rows() -> None:
    drawn = np.random.default_rng(3)
    rows = np.trunc(drawn.uniform(-(2**BITS), 2**BITS, size=(5_000, 4)))
    turned = rows[drawn.permutation(len(rows))]
    assert np.array_equal(product(rows, rows), product(turned, turned))


def test_products_that_doubles_cannot_hold_are_refused() -> None:
    with pytest.raises(ParameterError, match="too large"):
        product(np.ones((1, 1)), np.ones((1, 1)), largest=2**53)


@pytest.mark.parametrize("largest", [2**34, 2**50])
def test_sparse_rows_have_the_same_sums_and_scores(largest: int) -> None:
    """In one block and in blocks of a few rows, to the last bit."""
    generator = np.random.default_rng(3)
    rows = np.rint(generator.uniform(-1, 1, size=(300, 12)) * 2**BITS)
    rows[generator.random(rows.shape) < 0.9] = 0
    sparse = without_zeros(rows)
    assert not isinstance(sparse, np.ndarray)
    others, weights = (
        np.rint(generator.normal(size=(300, 2)) * 2**14),
        generator.normal(size=(2, 12)),
    )
    assert np.array_equal(
        product(others, sparse, largest=largest), product(others, rows, largest=largest)
    )
    assert np.array_equal(scores_of(sparse, weights), scores_of(rows, weights))
    assert isinstance(without_zeros(np.ones((3, 2))), np.ndarray)


DRAWN = np.random.default_rng(7).normal(size=(400, 40))


def _in_columns(rows: np.ndarray) -> np.ndarray:
    return np.asfortranarray(rows)


@pytest.mark.parametrize("order", [np.ascontiguousarray, _in_columns])
def test_a_whole_row_is_the_same_alone_and_beside_others(
    order: Callable[[np.ndarray], np.ndarray],
) -> None:
    norm = Fraction(1)
    together = within_norm(order(DRAWN), norm)
    alone = np.vstack([within_norm(order(row[None]), norm) for row in DRAWN])
    assert np.array_equal(together, alone)


def test_a_score_is_the_same_alone_and_beside_others_and_exact() -> None:
    whole = np.trunc(DRAWN * 2**BITS / 8)
    weights = np.random.default_rng(8).normal(size=(3, 40))
    together = scores_of(whole, weights)
    alone = np.vstack([scores_of(row[None], weights) for row in whole])
    assert np.array_equal(together, alone)
    assert np.allclose(together, whole @ weights.T / 2**BITS, atol=1e-6)
