"""Rows as hostile as they come, and how far one of them moves sums."""

import numpy as np
from hypothesis import strategies as st

from letalone.learn.noisy_sums.sums import Measure

NUMBERS = st.one_of(
    st.floats(-3, 3),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 1e-300, 1e300, float("nan"), float("inf")]),
)


def rows_of(width: int, *, most: int = 5) -> st.SearchStrategy[np.ndarray]:
    row = st.lists(NUMBERS, min_size=width, max_size=width)
    return st.lists(row, min_size=1, max_size=most).map(lambda rows: np.array(rows, float))


def norms(moved: np.ndarray) -> tuple[int, int]:
    """The L1 norm and the square of the L2 norm, exactly."""
    whole = [int(one) for one in moved.reshape(-1)]
    return sum(map(abs, whole)), sum(one * one for one in whole)


def assert_within(moved: np.ndarray, measure: Measure) -> None:
    l1, square = norms(moved)
    assert l1 <= measure.l1
    assert square <= measure.l2**2


def triangle_within(moved: np.ndarray, measure: Measure) -> None:
    """A symmetric matrix: the triangle in L1, and in L2 with √2 above the diagonal."""
    upper = moved[np.triu_indices(len(moved))]
    assert norms(upper)[0] <= measure.l1
    above = moved[np.triu_indices(len(moved), 1)]
    assert norms(np.diagonal(moved))[1] + 2 * norms(above)[1] <= measure.l2**2
