"""The stated laws, against frequencies: from a thousandth to a billion, with power.

Every test fixes its seed. Over seeds a correct sampler would fail once in 10^6; each shows
that the same draws reject a scale that is 10 % wrong.
"""

from collections.abc import Callable
from fractions import Fraction
from math import erf, exp, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare, kstest

from letalone.randomness import discrete_gaussian
from letalone.randomness.discrete_gaussian import (
    DiscreteGaussianLaw,
    _refuse,
    keep_chance,
    sample_discrete_gaussian,
    sample_discrete_gaussians,
)
from letalone.randomness.draws import sampler
from letalone.randomness.geometric import (
    sample_geometric,
    sample_geometrics,
)
from letalone.randomness.real_noise import (
    add_gaussian,
    add_gaussians,
    add_laplace,
    add_laplaces,
    grid_of,
)
from letalone.randomness.ziggurat import HALF_GAUSSIAN
from seeded import SeededBits

ALPHA = 1e-6
SCALES = [
    Fraction(1, 1000),
    Fraction(1, 2),
    Fraction(3),
    Fraction(10),
    Fraction(1000),
    Fraction(10**9),
]
Cdf = Callable[[float], float]


def geometric_cdf(scale: float) -> Cdf:
    a = exp(-1 / scale)
    return lambda n: 1 - a ** (n + 1) / (1 + a) if n >= 0 else a**-n / (1 + a)


def gaussian_cdf(sigma: float) -> Cdf:
    """Of the discrete law by the continuous one where that is exact to 1e-9, else by sums."""
    if sigma > 5:
        return lambda n: (1 + erf((n + 0.5) / sigma / sqrt(2))) / 2
    support = np.arange(-80, 81)
    masses = np.exp(-(support**2) / (2 * sigma**2))
    sums = np.cumsum(masses) / masses.sum()
    return lambda n: float(sums[max(0, min(160, int(n) + 80))])


def p_value(draws: NDArray[np.int64], cdf: Cdf) -> float:
    """Chi-square over up to 20 classes of about equal probability."""
    borders = np.unique(np.quantile(draws, np.linspace(0, 1, 21)[1:-1]).astype(np.int64))
    chances = np.diff([0.0, *(cdf(float(b)) for b in borders), 1.0])
    seen = np.bincount(np.searchsorted(borders, draws, side="left"), minlength=chances.size)
    enough = chances * draws.size >= 5
    if not enough.all():
        lost = ~enough
        chances = np.append(chances[enough], chances[lost].sum())
        seen = np.append(seen[enough], seen[lost].sum())
    if chances.size < 2 or chances[-1] * draws.size < 1e-9:
        return float(np.all(seen[chances * draws.size < 1e-9] == 0))
    return float(chisquare(seen, chances * draws.size).pvalue)


MANY = {"geometric": sample_geometrics, "discrete gaussian": sample_discrete_gaussians}
ONE = {"geometric": sample_geometric, "discrete gaussian": sample_discrete_gaussian}
CDF = {"geometric": geometric_cdf, "discrete gaussian": gaussian_cdf}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("law", MANY)
def test_many_draws_follow_the_stated_law_and_not_one_ten_percent_wider(law: str, scale: Fraction):
    draws = MANY[law](scale, 60_000, SeededBits(20))
    assert p_value(draws, CDF[law](float(scale))) > ALPHA
    if scale >= Fraction(1, 2):
        assert p_value(draws, CDF[law](1.1 * float(scale))) < ALPHA, "too few draws"


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("law", ONE)
def test_single_draws_follow_the_stated_law_and_not_one_ten_percent_wider(
    law: str, scale: Fraction
):
    bits = SeededBits(21)
    draws = np.array([ONE[law](scale, bits) for _ in range(12_000)])
    assert p_value(draws, CDF[law](float(scale))) > ALPHA
    if scale >= 3:
        assert p_value(draws, CDF[law](1.1 * float(scale))) < ALPHA, "too few draws"


def laplace_law(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)


def normal_law(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([(1 + erf(v / sqrt(2))) / 2 for v in x])


REAL = {
    "laplace": (add_laplaces, add_laplace, laplace_law),
    "gaussian": (add_gaussians, add_gaussian, normal_law),
}


@pytest.mark.parametrize(
    "scale", [Fraction(1, 1000), Fraction(1, 3), Fraction(10**9), Fraction(2) ** 800]
)
@pytest.mark.parametrize("law", REAL)
def test_real_noise_has_its_law_at_every_scale(law: str, scale: Fraction):
    """Kolmogorov–Smirnov, α = 1e-6, 40,000 draws; rejects a scale that is 10 % off."""
    many, one, cdf = REAL[law]
    values = np.full(40_000, 0.3 * float(scale))
    noise = (many(values, scale, SeededBits(24)) - values) / float(scale)
    assert kstest(noise, cdf).pvalue > ALPHA
    assert kstest(noise / 1.1, cdf).pvalue < ALPHA, "too few draws"
    bits = SeededBits(25)
    single = np.array([one(float(values[0]), scale, bits) for _ in range(5000)])
    assert kstest((single - values[0]) / float(scale), cdf).pvalue > ALPHA


@pytest.mark.parametrize("law", MANY)
def test_low_bits_and_parity_are_even_where_the_law_is_wide(law: str):
    """Chi-square over the last three bits, α = 1e-6; a bit that leans by 1 % would fail."""
    draws = MANY[law](Fraction(10**7), 400_000, SeededBits(27))
    seen = np.bincount(draws & 7, minlength=8)
    assert chisquare(seen).pvalue > ALPHA
    lean = np.where(np.arange(8) & 1, 1.01, 0.99) * draws.size / 8
    assert chisquare(seen, lean).pvalue < ALPHA, "too few draws"


@pytest.mark.parametrize("law", REAL)
def test_the_last_places_of_real_noise_tell_nothing_about_the_value(law: str):
    """Grid points of 0.1 and of 0.7 plus noise: same low bits, chi-square, α = 1e-6."""
    many, _, _ = REAL[law]
    for value in (0.1, 0.7):
        units = many(np.full(200_000, value), Fraction(1), SeededBits(28)) / float(
            grid_of(Fraction(1))
        )
        assert np.array_equal(units, np.rint(units))
        assert chisquare(np.bincount(units.astype(np.int64) & 7, minlength=8)).pvalue > ALPHA


@pytest.mark.parametrize(
    "scale", [Fraction(1), Fraction(3, 7), Fraction(2) ** 900, Fraction(1, 3) ** 500]
)
def test_the_grid_is_a_power_of_two_between_2_28_and_2_29_steps_a_scale(scale: Fraction):
    steps = scale / grid_of(scale)
    assert 2**28 <= steps < 2**29


@pytest.mark.parametrize("sigma", [Fraction(16), Fraction(50), Fraction(10**6)])
def test_the_bounds_on_the_chance_to_be_kept_hold(sigma: Fraction):
    """1 − q²/24 ≤ h(0)/h(n) ≤ 1/(1 + q²(1/24 − 1/(320σ²))), by 100 binary digits of h."""
    for n in [1, 2, int(sigma), int(3 * sigma), int(7 * sigma), int(30 * sigma)]:
        kept = Fraction(keep_chance(n, sigma).digits(100), 1 << 100)
        bend = (Fraction(n) / sigma**2) ** 2
        assert 1 - bend / 24 <= kept + Fraction(1, 1 << 100)
        assert kept <= 1 / (1 + bend * (Fraction(1, 24) - 1 / (320 * sigma**2)))


@pytest.mark.parametrize("sigma", [Fraction(16), Fraction(50)])
def test_coins_between_the_bounds_fall_as_the_exact_chance_says(sigma: Fraction):
    """For each n, words just around the exact chance, where the bounds cannot tell."""
    sizes = [int(sigma), -int(2 * sigma), int(4 * sigma), -int(7 * sigma), int(9 * sigma)]
    for n in sizes:
        digits = keep_chance(abs(n), sigma).digits(64)
        words = np.array([digits - 1000, digits - 1, digits + 1, digits + 1000], np.uint64)
        refused = _refuse(np.full(4, n), words, sigma, SeededBits(1))
        assert refused.tolist() == [False, False, True, True]


@pytest.mark.parametrize("sigma", [Fraction(16), Fraction(20), Fraction(100)])
def test_nothing_is_kept_without_a_look_more_often_than_its_chance(sigma: Fraction, monkeypatch):
    """Sixteen bits of the coin decide at once up to the least chance of all that is proposed."""
    looked = []
    monkeypatch.setattr(
        discrete_gaussian,
        "_refused_places",
        lambda *given: looked.append(given) or np.zeros(0, np.intp),
    )
    discrete_gaussian._propose(5000, sigma, SeededBits(3))
    [(proposals, surely, _, _)] = looked
    # Proposals that are not rounded exactly reach that far.
    farthest = int(sigma * sampler(HALF_GAUSSIAN).table.largest_width)
    least = keep_chance(max(farthest, int(np.abs(proposals).max())), sigma)
    assert surely / 65536 <= least.digits(64) / 2**64
    assert surely > 65536 * (0.99 if sigma < 50 else 0.9999), "most are"


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(3), Fraction(15)])
def test_the_reference_and_the_table_state_the_same_law(sigma: Fraction):
    """Two independent roads to Pr[n]: the kept share of a rounded Gaussian, and the sums."""
    law, s = DiscreteGaussianLaw(sigma), float(sigma)
    shares = []
    for n in range(int(4 * sigma) + 2):
        rounded = (erf((n + 0.5) / s / sqrt(2)) - erf((n - 0.5) / s / sqrt(2))) / 2
        shares.append(rounded * keep_chance(n, sigma).digits(64) / 2**64)
    for n in range(1, len(shares)):
        mass = float(law.above(n - 1)().mid()) - float(law.above(n)().mid())
        zero = 1 - 2 * float(law.above(0)().mid())
        assert shares[n] / shares[0] == pytest.approx(mass / zero, rel=1e-6, abs=1e-12)
