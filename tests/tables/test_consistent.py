"""Trees of counts against dense least squares."""

from typing import Any

import numpy as np
import pytest

from letalone.tables.parts.consistent import CountTree, power_sums, tree_for, tree_of

SHAPES = [(1, 1, 2), (2, 1, 2), (7, 2, 3), (30, 5, 2), (103, 3, 5), (103, 4, 4), (10, 1, 10)]


def dense(tree: CountTree) -> Any:
    """The least squares solution as a matrix: a row of weights of all nodes for each cell."""
    return np.linalg.pinv(tree.vector(np.eye(tree.count, dtype=np.int64)).T.astype(float))


def normals(seed: int, *shape: int) -> Any:
    return np.random.Generator(np.random.PCG64(seed)).normal(size=shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_counts_are_the_least_squares_solution(shape: tuple[int, int, int]) -> None:
    tree = tree_of(*shape)
    weights = dense(tree)
    noisy = normals(1, 3, weights.shape[1])
    assert tree.counts(noisy) == pytest.approx(noisy @ weights.T, abs=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_power_sums_are_those_of_the_weights_of_each_rank(
    shape: tuple[int, int, int], share: float
) -> None:
    tree = tree_of(*shape)
    places = np.arange(tree.count + 1)
    weights = (np.tri(tree.count + 1, tree.count, -1) - share) @ dense(tree)
    squares, fourths = power_sums(tree, share, places)
    assert squares == pytest.approx(np.sum(weights**2, axis=1), abs=1e-9)
    assert fourths == pytest.approx(np.sum(weights**4, axis=1), abs=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_squares_are_those_of_the_weights_of_any_form(shape: tuple[int, int, int]) -> None:
    tree = tree_of(*shape)
    forms = normals(2, 4, tree.count)
    expected = np.sum((forms @ dense(tree)) ** 2, axis=1)
    assert tree.squares(forms) == pytest.approx(expected, abs=1e-9)


def test_every_row_is_counted_once_on_each_level() -> None:
    tree = tree_of(103, 4, 4)
    cells = np.arange(2 * 103).reshape(2, 103)
    assert np.all(tree.vector(cells).sum(axis=1) == tree.levels * cells.sum(axis=1))
    assert np.all(tree.vector(cells)[:, -103:] == cells)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 121, 1001])
def test_no_other_depth_has_less_variance(count: int) -> None:
    def spread(tree: CountTree) -> float:
        squares, _ = power_sums(tree, 0.5, np.arange(count + 1))
        return tree.levels * float(np.mean(squares)) ** 0.5

    best = spread(tree_for(count))
    for levels in range(1, 11):
        branches = next(b for b in range(2, count + 3) if b**levels >= count)
        assert best <= 1.01 * spread(tree_of(count, levels, branches))
