"""Rows as whole numbers, and sums over rows that are exact.

A row that is clipped to a norm in floats may exceed it by a rounding, and a float sum depends on
the order of its rows: both would move an answer by more than its sensitivity. So each row is
rounded towards zero onto a grid, after which its norm is checked in whole numbers, and sums of
products are computed in blocks that doubles hold exactly.

Theorem.  (1) Every row of `within_norm` is a function of that row alone, and its norm in steps is
at most 2^17.  (2) `product` is the exact sum of the rows' products, whatever the order
in which the blocks are added up, clamped to ±2^62.
  Proven:   (1) the computed norm of up to 2^20 features is within a relative 2^-32 of the true
            one, the row is shrunk to it less a margin of 2^-30, and rounding towards zero shrinks
            each entry further.  (2) every partial sum of a block is a whole number below 2^53, so
            no operation on doubles rounds.
  Tested:   tests/learn/test_wholes.py, against Python's integers
"""

from fractions import Fraction
from math import frexp
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from letalone.errors import ParameterError

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]

BITS = 17  # a coordinate is at most 2^17 steps, so that 2^18 products of two fit into 2^53
MARGIN = 2.0**-30  # what a row is shrunk by before it is rounded: more than all roundings
EXACT = 2**53
DENSE_SHARE = 0.25  # the share of cells other than 0 above which rows are held as they are
FARTHEST = 2**62  # sums are clamped to it, which moves no two further apart


def within_norm(rows: Floats, bound: Fraction) -> Floats:
    """The rows in steps of bound / 2^17, each shrunk to an L2 norm of at most 2^17; whole doubles.

    What is not finite counts as 0.
    """
    norm = float(bound)
    finite = np.where(np.isfinite(rows), rows, 0.0)
    scaled = np.clip(finite, -1e100 * norm, 1e100 * norm) / norm
    largest = np.max(np.abs(scaled), axis=1, initial=0.0, keepdims=True)
    safe = np.where(largest > 0, largest, 1.0)
    norms = safe * np.sqrt(row_sums((scaled / safe) ** 2))
    shrunk = scaled * (np.minimum(1.0, 1 / np.maximum(norms, 1e-300)) * (1 - MARGIN))
    return np.trunc(shrunk * 2.0**BITS)


def within_bounds(rows: Floats, lower: Floats, upper: Floats) -> Floats:
    """The rows as places between bounds, each from −2^17 at lower to 2^17 at upper, whole.

    What is not finite counts as the middle.
    """
    if not np.all(lower < upper):
        raise ParameterError("bounds must have lower < upper for every feature.")
    middle, half = lower / 2 + upper / 2, upper / 2 - lower / 2
    inside = np.clip(np.where(np.isfinite(rows), rows, middle), lower, upper)
    return np.trunc(np.clip((inside - middle) / half, -1.0, 1.0) * 2.0**BITS)


def row_sums(numbers: Floats) -> Floats:
    """The sum of each row, as a column: entry by entry, so that no other row plays a part.

    numpy's own sums take another order of additions where there is one row only.
    """
    total = np.zeros((numbers.shape[0], 1))
    for column in range(numbers.shape[1]):
        total[:, 0] += numbers[:, column]
    return total


def scores_of(whole: Floats, weights: Floats) -> Floats:
    """The scores of rows in steps of 2^-17, exactly, for weights that are rounded to do so.

    Weights are published, so their rounding is public. A row's scores are sums of whole numbers
    below 2^53: they do not depend on the order in which BLAS adds, nor on other rows.
    """
    places = 53 - BITS - 1 - max(1, whole.shape[1]).bit_length()
    largest = float(np.max(np.abs(weights), initial=2.0**-500))
    unit = 2.0 ** (frexp(largest)[1] - places)
    return (whole @ np.rint(weights / unit).T) * (unit / 2.0**BITS)


def product(one: Floats, other: Floats, *, largest: int = 2 ** (2 * BITS)) -> Wholes:
    """oneᵀ · other, the exact sum over rows; `largest` bounds the product of two entries."""
    if largest >= EXACT:
        raise ParameterError("These products are too large to be added up exactly.")
    block, length = max(1, EXACT // largest - 1), one.shape[0]
    total = np.zeros((one.shape[1], other.shape[1]), object)  # Python's integers do not wrap
    for start in range(0, length, block):
        rows = slice(start, start + block)
        # A slice of all rows would copy what is held sparsely.
        first, second = (one[rows], other[rows]) if block < length else (one, other)
        total += (first.T @ second).astype(np.int64)
    return np.clip(total, -FARTHEST, FARTHEST).astype(np.int64)


def without_zeros(whole: Floats) -> Floats:
    """The same rows, held sparsely where most cells are 0, as those of categories are.

    Sums of whole numbers below 2^53 are exact in any order, so only the time differs.
    """
    if np.count_nonzero(whole) > DENSE_SHARE * whole.size:
        return whole
    return cast("Floats", csr_array(whole))
