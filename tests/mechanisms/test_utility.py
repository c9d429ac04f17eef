"""The utility theorems against simulation with seeded bits; each could fail."""

from math import exp, log, sqrt

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.mechanisms import Exponential, Gaussian, Laplace, RandomizedResponse, utility
from letalone.mechanisms.sensitivity import mean, mean_vector
from mechanisms.frequencies import exponential_law
from seeded import SeededBits


def off_by(seen, stated):
    return abs(seen / stated - 1)


def test_m3_the_expected_l1_error_is_k_delta_over_epsilon():
    """20,000 vectors of 5: a correct mean is off by 2 % once in 10^9 seeds; power at 10 %."""
    noise = Laplace(epsilon=0.5, sensitivity=2).release(np.zeros((20_000, 5)), bits=SeededBits(100))
    seen = np.abs(noise).sum(axis=1).mean()
    stated = utility.laplace_l1_error(5, sensitivity=2, epsilon=0.5)
    assert stated == 20
    assert off_by(seen, stated) < 0.02 < off_by(seen, 1.1 * stated)


@pytest.mark.parametrize("beta", [0.3, 0.05])
@pytest.mark.parametrize("dimension", [1, 20])
def test_m3_the_largest_error_exceeds_its_bound_as_rarely_as_stated(dimension, beta):
    """Five standard errors above beta; a bound smaller by 30 % is exceeded more often."""
    noise = Laplace(epsilon=1, sensitivity=1).release(
        np.zeros((20_000, dimension)), bits=SeededBits(101)
    )
    worst = np.abs(noise).max(axis=1)
    bound = utility.laplace_tail(dimension, sensitivity=1, epsilon=1, beta=beta)
    allowed = beta + 5 * sqrt(beta / 20_000)
    assert np.mean(worst > bound) <= allowed < np.mean(worst > 0.7 * bound)


@pytest.mark.parametrize("t", [0.5, 2])
def test_m6_the_shortfall_is_exceeded_as_rarely_as_stated(t):
    """By simulation, and the function is the mechanism's own bound."""
    utilities, bits = [0.0] * 30 + [6.0], SeededBits(102)
    mechanism = Exponential(epsilon=1.5, sensitivity=1)
    bound = utility.exponential_shortfall(31, sensitivity=1, epsilon=1.5, t=t)
    assert mechanism.shortfall(31, 1 - exp(-t)) == pytest.approx(bound)
    chosen = [mechanism.choose_index(utilities, bits=bits) for _ in range(2000)]
    short = np.mean([6 - utilities[place] > bound for place in chosen])
    assert short <= exp(-t)
    exact = sum(
        float(p)
        for p, u in zip(exponential_law(utilities, 0.75), utilities, strict=True)
        if 6 - u > bound / 2
    )
    assert exact > exp(-t) or t < 1


def test_m2_the_mean_by_randomized_response_is_off_by_the_stated_error():
    """3000 surveys of 400: a correct root-mean-square is off by 10 % once in 10^9 seeds."""
    mechanism, people = RandomizedResponse(epsilon=0.8), 400
    answers = np.arange(people) < 120
    reports = mechanism.release(np.tile(answers, (3000, 1)), bits=SeededBits(103))
    z = (reports.mean(axis=1) - 1 / (1 + exp(0.8))) * (exp(0.8) + 1) / (exp(0.8) - 1)
    seen = sqrt(np.mean((z - 0.3) ** 2))
    stated = utility.randomized_response_mean_error(people, epsilon=0.8)
    assert off_by(seen, stated) < 0.08 < off_by(seen, 1.15 * stated)
    assert mechanism.expected_error(people=people) == pytest.approx(stated)


def test_m3_the_mean_by_laplace_noise_is_off_by_the_stated_error():
    """20,000 releases: a correct root-mean-square is off by 4 % once in 10^6 seeds."""
    mechanism = Laplace(epsilon=0.8, sensitivity=mean(0, 1, size=400))
    noise = mechanism.release(np.full(20_000, 0.3), bits=SeededBits(104)) - 0.3
    stated = utility.laplace_mean_error(400, epsilon=0.8)
    assert (
        off_by(sqrt(np.mean(noise**2)), stated)
        < 0.04
        < off_by(sqrt(np.mean(noise**2)), 1.1 * stated)
    )


def test_m3_a_trusted_curator_gains_root_n_over_randomized_response():
    ratios = [
        utility.randomized_response_mean_error(n, epsilon=0.1)
        / utility.laplace_mean_error(n, epsilon=0.1)
        / sqrt(n)
        for n in (10**2, 10**4, 10**6)
    ]
    assert ratios == pytest.approx([ratios[0]] * 3)
    for n in (10**2, 10**6):
        assert utility.randomized_response_mean_error(n, epsilon=0.1) <= 1 / (0.1 * sqrt(n))


def test_m8_vector_means_are_off_by_the_stated_errors():
    """2000 vectors of 50: a correct root-mean-square is off by 4 % once in 10^6 seeds."""
    d, n = 50, 100
    gauss = Gaussian(epsilon=1, delta=1e-6, sensitivity=mean_vector(1, size=n))
    laplace = Laplace(epsilon=1, sensitivity=mean_vector(1, size=n, dimension=d))
    for mechanism, stated in (
        (gauss, utility.gaussian_mean_error(d, n=n, epsilon=1, delta=1e-6)),
        (laplace, utility.laplace_vector_mean_error(d, n=n, epsilon=1)),
    ):
        noise = mechanism.release(np.zeros((2000, d)), bits=SeededBits(105))
        seen = sqrt(np.mean((noise**2).sum(axis=1)))
        assert off_by(seen, stated) < 0.04 < off_by(seen, 1.1 * stated)


def test_m8_gaussian_noise_grows_with_root_d_and_laplace_with_d():
    def gauss(d, n=100, epsilon=0.5):
        return utility.gaussian_mean_error(d, n=n, epsilon=epsilon, delta=1e-6)

    def laplace(d):
        return utility.laplace_vector_mean_error(d, n=100, epsilon=0.5)

    assert gauss(400) / gauss(100) == pytest.approx(2)
    assert laplace(400) / laplace(100) == pytest.approx(4)
    assert gauss(100, n=200) == pytest.approx(gauss(100) / 2)
    assert laplace(2) < gauss(2)
    assert gauss(100) < laplace(100)
    for d in (1, 100):
        assert gauss(d) <= 2 * sqrt(2 * d * log(1.25e6)) / (100 * 0.5), (
            "the claim's formula bounds it"
        )


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: utility.laplace_l1_error(0, sensitivity=1, epsilon=1),
        lambda: utility.laplace_l1_error(1, sensitivity=0, epsilon=1),
        lambda: utility.laplace_tail(1, sensitivity=1, epsilon=0, beta=0.1),
        lambda: utility.laplace_tail(1, sensitivity=1, epsilon=1, beta=0),
        lambda: utility.exponential_shortfall(0, sensitivity=1, epsilon=1, t=1),
        lambda: utility.exponential_shortfall(1, sensitivity=1, epsilon=1, t=-1),
        lambda: utility.randomized_response_mean_error(0, epsilon=1),
        lambda: utility.laplace_mean_error(10, epsilon=-1),
        lambda: utility.laplace_vector_mean_error(0, n=1, epsilon=1),
        lambda: utility.gaussian_mean_error(1, n=10, epsilon=1, delta=0),
    ],
)
def test_wrong_parameters_are_refused(attempt):
    with pytest.raises(ParameterError, match=r"is (0|-1), but must be"):
        attempt()


def test_a_huge_epsilon_does_not_overflow():
    assert utility.randomized_response_mean_error(10, epsilon=5000) >= 0
