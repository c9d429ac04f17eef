"""Planning: what is returned keeps the promise, and hardly anything better would."""

from fractions import Fraction

import pytest

from letalone.errors import ParameterError
from letalone.mechanisms import Gaussian
from letalone.privacy.planning import most_steps, noise_for, rate_for, solve, steps_for
from letalone.privacy import GaussianDP, LaplacePrivacy, PureDP

F = Fraction
TARGETS = [(1, 1e-6), (0.01, 1e-9), (8, 1e-5), (30, 1e-12)]


@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
def test_the_noise_of_one_step_is_the_exact_calibration_to_a_millionth(epsilon, delta) -> None:
    exact = Gaussian(epsilon=epsilon, delta=delta, sensitivity=1).sigma
    found = noise_for(epsilon, delta)
    assert 0 <= F(repr(found)) / exact - 1 <= F(1, 10**6) + F(1, 10**12)


def test_the_noise_of_many_steps_is_certified() -> None:
    sigma = F(repr(noise_for(2, 1e-5, steps=10_000)))
    assert (GaussianDP(1 / sigma) * 10_000).delta(2) <= 1e-5
    assert (GaussianDP(1 / sigma / (1 - F(2, 10**6))) * 10_000).delta(2) > 1e-5


def test_the_search_needs_few_curves() -> None:
    """A curve may take half a second: bisection to a millionth would ask for fifty."""
    asked = []

    def curve(sigma):
        asked.append(sigma)
        return GaussianDP(1 / sigma)

    solve(curve, epsilon=1, delta=1e-6, more_is_safer=True)
    assert len(asked) <= 16
    assert len(asked) == len(set(asked))


def test_the_search_closes_where_the_curve_jumps() -> None:
    """Pure noise at delta 0: kept or broken, with nothing between to steer by."""
    scale = solve(lambda b: LaplacePrivacy(1 / b), epsilon=0.1, delta=0, more_is_safer=True)
    assert 10 <= F(repr(scale)) <= 10 * (1 + F(1, 10**6))
    price = solve(lambda e: PureDP(e) * 10, epsilon=1, delta=0, more_is_safer=False)
    assert F(1, 10) * (1 - F(1, 10**6)) <= F(repr(price)) <= F(1, 10)


def test_the_number_of_steps_is_the_largest() -> None:
    count = steps_for(2, 1e-5, sigma=10)
    assert (GaussianDP(0.1) * count).delta(2) <= 1e-5
    assert (GaussianDP(0.1) * (count + 1)).delta(2) > 1e-5
    assert steps_for(1, 1e-6, sigma=1) == 0
    assert most_steps(lambda n: PureDP(0.1) * n, epsilon=1, delta=0) == 10


def test_a_rate_of_one_is_returned_where_sampling_is_not_needed() -> None:
    assert rate_for(5, 1e-6, sigma=10) == 1.0


@pytest.mark.parametrize("steps", [1, 50])
def test_the_largest_rate_keeps_the_promise_and_hardly_a_larger_one(steps) -> None:
    rate = F(repr(rate_for(1, 1e-5, sigma=2, steps=steps)))
    assert 0 < rate < 1
    curve = GaussianDP(F(1, 2))
    assert (curve.sampled(rate) * steps).delta(1) <= 1e-5
    assert (curve.sampled(rate * (1 + F(2, 10**6))) * steps).delta(1) > 1e-5


def test_sampling_needs_less_noise() -> None:
    sigma = F(repr(noise_for(1, 1e-5, rate=0.1)))
    assert sigma < F(repr(noise_for(1, 1e-5))) / 2
    assert GaussianDP(1 / sigma).sampled(0.1).delta(1) <= 1e-5


def test_the_search_for_steps_needs_few_curves() -> None:
    asked = []

    def curve(count):
        asked.append(count)
        return GaussianDP(mu_squared=F(count, 10**7))

    assert most_steps(curve, epsilon=1, delta=1e-6) > 10**5
    assert len(asked) <= 22
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize(
    "call",
    [
        lambda: noise_for(0, 1e-6),
        lambda: noise_for(1, 1),
        lambda: noise_for(1, 1e-6, steps=0),
        lambda: noise_for(1, 1e-6, steps=1.5),
        lambda: noise_for(1, 1e-6, rate=0),
        lambda: noise_for(1, 1e-6, rate=1.1),
        lambda: noise_for(1, 0),
        lambda: steps_for(1, 1e-6, sigma=0),
        lambda: steps_for(1, 1e-6, sigma=1e12),
        lambda: rate_for(1, 1e-6, sigma=-1),
    ],
)
def test_what_cannot_be_is_refused(call) -> None:
    with pytest.raises(ParameterError):
        call()
