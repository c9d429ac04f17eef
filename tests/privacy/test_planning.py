"""Planning: what is returned keeps the promise, and hardly anything better would."""

from fractions import Fraction

import pytest

from letalone.errors import ParameterError
from letalone.mechanisms import Gaussian
from letalone.privacy import ZCDP, GaussianDP, LaplacePrivacy, PureDP, compose
from letalone.privacy.planning import most_steps, noise_for, rate_for, solve, steps_for

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


# What has no answer: the reason, and soon.


def counted(curve):
    asked = []

    def counting(number):
        asked.append(number)
        return curve(number)

    return counting, asked


REST = LaplacePrivacy(2)
NO_ANSWER = [
    (lambda x: compose(GaussianDP(1 / x), REST), True, 1e-6, "rest of the releases alone"),
    (lambda x: compose(PureDP(x), REST), False, 1e-6, "rest of the releases alone"),
    (lambda x: PureDP(x) * 10, True, 1e-6, "the other way. Try it with 1/x"),
    (lambda x: GaussianDP(1 / x), False, 1e-6, "improve as the number falls"),
    (lambda _: PureDP(0.5), True, 1e-6, "sets it no limit"),
    (lambda x: GaussianDP(1 / x), True, 0, "needs a delta above 0"),
]


@pytest.mark.parametrize(("curve", "more_is_safer", "delta", "words"), NO_ANSWER)
def test_where_no_number_fits_the_reason_is_told_after_few_curves(
    curve, more_is_safer, delta, words
) -> None:
    curve, asked = counted(curve)
    with pytest.raises(ParameterError, match=words):
        solve(curve, epsilon=1, delta=delta, more_is_safer=more_is_safer)
    assert len(asked) <= 30


def test_a_number_far_from_one_is_found() -> None:
    rho = F(repr(solve(lambda x: ZCDP(x) * 10**9, epsilon=1, delta=1e-6, more_is_safer=False)))
    assert (ZCDP(rho) * 10**9).delta(1) <= 1e-6
    assert (ZCDP(rho * (1 + F(2, 10**6))) * 10**9).delta(1) > 1e-6


def test_no_step_at_all_is_certified_or_refused() -> None:
    """0 was once returned without a look at what the rest reveals."""
    assert most_steps(lambda n: PureDP(2) * n, epsilon=1, delta=0) == 0
    with pytest.raises(ParameterError, match="already breaks epsilon = 1"):
        most_steps(lambda n: compose(PureDP(2), PureDP(0.1) * n), epsilon=1, delta=1e-6)
    with pytest.raises(ParameterError, match="needs a delta above 0"):
        steps_for(1, 0, sigma=5)


def test_more_steps_than_anyone_plans_are_told_as_such() -> None:
    def curve(count):
        return PureDP(F(1, 10**9)) * count

    assert most_steps(curve, epsilon=1, delta=0, most=10**9 + 1) == 10**9
    for most in (10**9, 1000):
        with pytest.raises(ParameterError, match=f"More than {most:,} fit"):
            most_steps(curve, epsilon=1, delta=0, most=most)


def test_a_delta_of_zero_is_zero_and_not_what_a_float_rounds_to_it() -> None:
    """100,001 runs of 1e-5 are not 1-DP, though their delta at 1 is below every float."""
    assert most_steps(lambda n: PureDP(F(1, 10**5)) * n, epsilon=1, delta=0) == 10**5
    price = solve(lambda x: PureDP(x) * 10**5, epsilon=1, delta=0, more_is_safer=False)
    assert 0 <= 1 - F(repr(price)) * 10**5 <= F(1, 10**6)


def test_what_is_no_curve_is_told() -> None:
    with pytest.raises(ParameterError, match=r"type Gaussian.*Give its \.privacy"):
        solve(lambda x: Gaussian(sigma=x, sensitivity=1), epsilon=1, delta=1e-6, more_is_safer=True)
