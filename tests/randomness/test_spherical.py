"""Spherical noise: its length, its direction, and in one dimension the Laplace law."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare, gamma, kstest, laplace

from letalone.randomness.real_noise import grid_of
from letalone.randomness.spherical import add_spherical
from seeded import ScriptedBits, SeededBits

ALPHA = 1e-6


def draws(dimension: int, count: int, seed: int) -> np.ndarray:
    bits = SeededBits(seed)
    return np.array([add_spherical(np.zeros(dimension), Fraction(2), bits) for _ in range(count)])


@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_the_length_is_a_sum_of_exponentials(dimension: int):
    """Kolmogorov–Smirnov, α = 1e-6; rejects one dimension fewer."""
    lengths = np.linalg.norm(draws(dimension, 3000, dimension), axis=1)
    assert kstest(lengths, gamma(dimension, scale=2).cdf).pvalue > ALPHA
    assert kstest(lengths, gamma(dimension + 1, scale=2).cdf).pvalue < ALPHA


def test_all_directions_are_equally_likely():
    """Eight sectors of the plane, chi-square, α = 1e-6; a square's corners would fail."""
    points = draws(2, 4000, 5)
    angles = np.arctan2(points[:, 1], points[:, 0])
    sectors = ((angles + np.pi) / (2 * np.pi) * 8).astype(int) % 8
    assert chisquare(np.bincount(sectors, minlength=8)).pvalue > ALPHA
    square = np.random.default_rng(1).laplace(size=(40_000, 2))
    turned = (np.arctan2(square[:, 1], square[:, 0]) + np.pi / 8) % (np.pi / 2) < np.pi / 4
    assert chisquare(np.bincount(turned.astype(int), minlength=2)).pvalue < ALPHA


def test_one_dimension_is_laplace():
    noise = draws(1, 12_000, 9)[:, 0] / 2
    assert kstest(noise, laplace.cdf).pvalue > ALPHA
    assert kstest(noise / 1.2, laplace.cdf).pvalue < ALPHA


def test_each_coordinate_is_the_value_plus_noise_on_the_grid():
    values = np.array([[0.1, -3.7], [1e9, 0.0]])
    noisy = add_spherical(values, Fraction(1, 3), SeededBits(2))
    units = noisy / float(grid_of(Fraction(1, 3)))
    assert noisy.shape == values.shape
    assert np.array_equal(units, np.rint(units))
    assert np.all(np.abs(noisy - values) < 20)


def test_more_bits_are_fetched_until_every_coordinate_is_certain():
    """A Gaussian number of which the first word only says that it is next to zero."""
    first = [200 << 10 | 700, 0 << 10 | 800]
    for seed in range(3):
        bits = ScriptedBits(first, SeededBits(seed))
        result = add_spherical(np.array([float(grid_of(Fraction(1))) / 2]), Fraction(1), bits)
        assert bits.asked >= 4
        assert np.isfinite(result).all()


def test_an_empty_vector_stays_empty():
    assert add_spherical(np.zeros(0), Fraction(1), SeededBits(1)).shape == (0,)
