"""In the plane, an L1 shift of (a, b) reveals no more than the whole shift on one axis."""

from fractions import Fraction

import numpy as np
import pytest

from letalone.privacy import GeometricPrivacy, LaplacePrivacy


def plane_delta(first, second, epsilon):
    """Sum of max(0, p - e^epsilon q) for the product of two pairs of laws."""
    p = np.multiply.outer(first[0], second[0])
    q = np.multiply.outer(first[1], second[1])
    return np.maximum(0, p - np.exp(epsilon) * q).sum()


def geometric(scale, shift, reach=300):
    x = np.arange(-reach, reach + 1)
    a = np.exp(-1 / scale)
    return tuple((1 - a) / (1 + a) * a ** np.abs(x - s) for s in (0, shift))


@pytest.mark.parametrize("scale", [0.7, 3.0])
@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 1), (3, 3), (5, 1)])
def test_geometric_vectors_reveal_no_more_than_the_scalar(scale, a, b):
    scalar = GeometricPrivacy(a + b, Fraction(scale))
    shorter = GeometricPrivacy(max(a, b), Fraction(scale))
    seen = 0.0
    for part in np.linspace(-0.9, 0.99, 12):
        epsilon = part * (a + b) / scale
        plane = plane_delta(geometric(scale, a), geometric(scale, b), epsilon)
        assert plane <= scalar.delta(Fraction(epsilon)) + 1e-13
        seen = max(seen, plane - shorter.delta(Fraction(epsilon)))
    assert seen > 1e-3, "the larger coordinate alone would pass: a wrong claim would not be seen"


@pytest.mark.parametrize(("a", "b"), [(1, 1), (3, 1), (4, 3)])
@pytest.mark.parametrize("part", [0.05, 0.3, 0.7, 0.95])
def test_the_plane_has_the_closed_form_of_the_proof(a, b, part):
    """geometric.md, section 3: both cases of the formula against the double sum."""
    scale = 2.0
    alpha, t = np.exp(-1 / scale), part * (a + b)
    k = np.ceil((a + b - t) / 2)
    d = (alpha**k + alpha ** (a + b + 1 - t - k)) / (1 + alpha)
    if k > b:
        closed = 1 - d * (2 + (b - 1) * (1 - alpha)) / (1 + alpha)
    else:
        closed = 1 - alpha**k / (1 + alpha) - d * (1 + (k - 1) * (1 - alpha)) / (1 + alpha)
    plane = plane_delta(geometric(scale, a), geometric(scale, b), t / scale)
    assert closed == pytest.approx(plane, abs=1e-12)


def laplace_cells(shift, width, reach=40.0):
    """Laplace pairs on cells of the line: merging outcomes can only lose a little."""
    edges = np.arange(-reach, reach + width, width)

    def cumulative(x):
        return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)

    return tuple(np.diff(cumulative(edges - s)) for s in (0, shift))


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, 0.5)])
@pytest.mark.parametrize("epsilon", [-1.0, 0.0, 0.5, 1.2, 1.9])
def test_laplace_vectors_reveal_no_more_than_the_scalar(a, b, epsilon):
    plane = plane_delta(laplace_cells(a, 0.05), laplace_cells(b, 0.05), epsilon)
    assert plane <= LaplacePrivacy(Fraction(a + b)).delta(Fraction(epsilon)) + 1e-13
    if epsilon >= 0:
        assert closed_laplace_plane(a, b, epsilon) == pytest.approx(plane, abs=2e-3)


def closed_laplace_plane(a, b, epsilon):
    """laplace.md, section 3, for a >= b."""
    if epsilon + b <= a:
        return 1 - np.exp((epsilon - a - b) / 2) * (1 + b / 2)
    c = (a + b - epsilon) / 2
    return 1 - np.exp(-c) - c / 2 * np.exp(-c)
