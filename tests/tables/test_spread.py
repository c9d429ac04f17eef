"""Widths of sums of many noises against exact tails."""

import numpy as np
import pytest

from letalone.tables.intervals import WIDER, Family, NoiseLaw, reach, width, widths
from letalone.tables.parts.consistent import power_sums, tree_of

LAPLACE, GAUSSIAN = NoiseLaw(Family.LAPLACE, 3.0), NoiseLaw(Family.GAUSSIAN, 3.0)
SIZES = (1, 2, 3, 6, 9, 18)


def weights(count: int, skew: int) -> np.ndarray:
    """Equal weights for skew 0; the larger it is, the fewer of them matter."""
    generator = np.random.Generator(np.random.PCG64(count + 100 * skew))
    return generator.choice([-2.0, 2.0], count) * generator.uniform(0, 1, count) ** skew


@pytest.mark.parametrize(
    ("confidence", "most"),
    [(0.5, 1.1), (0.8, 1.04), (0.95, 1.02), (0.999, 1.015), (1 - 1e-6, 1.015)],
)
def test_no_width_is_narrower_than_the_exact_one_nor_much_wider(
    confidence: float, most: float
) -> None:
    found = []
    for count in SIZES:
        for skew in (0, 1, 3) if count < 18 else (0,):
            forms = weights(count, skew)
            exact = width(LAPLACE, forms, confidence)
            found.append(float(widths(LAPLACE, forms, confidence)) / exact)
    assert min(found) >= 1
    assert max(found) < most
    assert min(found) / WIDER < 1, "it would not have to be widened"


def test_gaussian_widths_are_exact_and_groups_are_apart() -> None:
    forms = np.array([[1.0, 2.0, 2.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    assert widths(GAUSSIAN, forms, 0.95) == pytest.approx(5.879892 * np.array([3, 1, 0]))
    alone = [float(widths(LAPLACE, one, 0.95)) for one in forms]
    assert widths(LAPLACE, forms, 0.95).tolist() == pytest.approx(alone)
    assert alone[2] == 0


def test_widths_are_convex_in_the_weights() -> None:
    """Of which the intervals of ratios make use."""
    generator = np.random.Generator(np.random.PCG64(5))
    one, other = generator.normal(size=(2, 300, 9)) * generator.exponential(size=(2, 300, 9))
    ends = widths(LAPLACE, one, 0.95) + widths(LAPLACE, other, 0.95)
    assert np.all(widths(LAPLACE, one + other, 0.95) <= ends * (1 + 1e-3))


@pytest.mark.parametrize("shape", [(4, 1, 4), (30, 2, 6), (121, 2, 11)])
@pytest.mark.parametrize(("confidence", "least"), [(0.9, 0.998), (0.95, 0.998), (0.999, 0.98)])
def test_the_reach_of_ranks_is_that_of_their_weights(
    shape: tuple[int, int, int], confidence: float, least: float
) -> None:
    """Against `widths`, which looks at every weight and is itself within 0.6 % or so."""
    tree = tree_of(*shape)
    nodes = sum(len(ends) - 1 for ends in tree.ends)
    cells = tree.counts(np.eye(nodes))
    ratios = []
    for share in (0.0, 0.1, 0.5, 1.0):
        places = np.arange(1, tree.count)
        weights = (np.cumsum(cells, axis=1)[:, :-1] - share * cells.sum(axis=1)[:, None]).T
        squares, fourths = power_sums(tree, share, places)
        far = LAPLACE.deviation * np.sqrt(squares)
        found = far * reach(Family.LAPLACE, fourths / squares**2, confidence)
        ratios.append(found / widths(LAPLACE, weights, confidence) * WIDER)
    assert np.min(ratios) >= least
    assert np.max(ratios) <= 1.025


def test_the_reach_of_gaussian_noise_does_not_depend_on_weights() -> None:
    found = reach(Family.GAUSSIAN, np.array([1.0, 0.1, 0.0]), 0.95)
    assert found == pytest.approx([1.959964] * 3)
    assert np.all(reach(Family.LAPLACE, np.array([1.0, 0.1]), 0.0) == 0)
    assert reach(Family.LAPLACE, np.zeros(1), 0.95) == pytest.approx([1.959964])
