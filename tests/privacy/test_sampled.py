"""Amplification by sampling, against brute force over whole tables of coins."""

from fractions import Fraction
from itertools import product
from math import exp, expm1, log1p, prod

import pytest

from letalone.errors import NeighboursDiffer, ParameterError, UnsupportedQuery
from letalone.privacy import (
    ADD_REMOVE,
    REPLACE,
    ZCDP,
    ApproxDP,
    BoundedRange,
    GaussianDP,
    GeometricPrivacy,
    LaplacePrivacy,
    PureDP,
    compose,
    from_json,
)


def geometric(shift: int, scale: float, outputs: range) -> list[float]:
    a = exp(-1 / scale)
    return [(1 - a) / (1 + a) * a ** abs(x - shift) for x in outputs]


def excess(one: list[float], other: list[float], epsilon: float) -> float:
    return sum(max(0.0, p - exp(epsilon) * q) for p, q in zip(one, other, strict=True))


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 2)])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.3, 0.9])
def test_poisson_sampling_is_the_mixture_in_both_orders(rate: Fraction, epsilon: float):
    """A count with geometric noise, sampled: all tables of three people, with and without one."""
    outputs = range(-60, 70)

    def law(people: int) -> list[float]:
        total = [0.0] * len(outputs)
        for coins in product((0, 1), repeat=people):
            chance = 1.0
            for coin in coins:
                chance *= float(rate) if coin else 1 - float(rate)
            noise = geometric(sum(coins), 2.0, outputs)
            total = [t + chance * n for t, n in zip(total, noise, strict=True)]
        return total

    with_one, without = law(3), law(2)
    worst = max(
        sum(max(0.0, p - exp(epsilon) * q) for p, q in zip(one, other, strict=True))
        for one, other in (
            (with_one, without),
            (with_one[::-1], without[::-1]),
            (without, with_one),
        )
    )
    curve = GeometricPrivacy(1, 2).sampled(rate)
    assert worst <= curve.delta(epsilon) + 1e-12
    used, unused = geometric(1, 2.0, outputs), geometric(0, 2.0, outputs)
    mixed = [float(rate) * p + float(1 - rate) * q for p, q in zip(used, unused, strict=True)]
    alone = max(excess(mixed, unused, epsilon), excess(unused, mixed, epsilon))
    assert curve.delta(epsilon) == pytest.approx(alone, abs=1e-12), "reached by the pair itself"


def test_rate_one_is_the_base_and_rate_zero_is_nothing():
    base = GaussianDP(1)
    assert base.sampled(1).delta(0.5) == base.delta(0.5)
    assert (base.sampled(0) * 1000).epsilon(0) == 0
    assert base.sampled(0).delta(0) == 0


@pytest.mark.parametrize("curve", [PureDP(1), LaplacePrivacy(2), GaussianDP(1), BoundedRange(1)])
def test_a_smaller_rate_reveals_less_and_never_more_than_the_base(curve):
    rates = [0.5, 0.1, 0.01]
    deltas = [curve.sampled(rate).delta(0.1) for rate in rates]
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[0] <= curve.delta(0.1)


def test_pure_sampling_has_its_closed_form():
    """ln(1 + q (e^e − 1)) is the pure epsilon of a sampled pure release."""
    assert PureDP(1).sampled(0.1).epsilon(0) == pytest.approx(0.158565, abs=1e-5)


def test_under_replace_a_batch_of_fixed_size_is_meant():
    curve = GaussianDP(1, neighbours=REPLACE).sampled(0.1)
    assert curve.neighbours == REPLACE
    assert curve.delta(0.2) == pytest.approx(0.1 * GaussianDP(1).delta(log1p(expm1(0.2) / 0.1)))
    assert GaussianDP(1).sampled(0.1).neighbours == ADD_REMOVE
    with pytest.raises(NeighboursDiffer):
        compose(curve, GaussianDP(1).sampled(0.1))


def test_sampling_is_never_scaled_for_a_group():
    """q = .01, σ = 2, k = 10: scaling inside would give δ(0) = .0099 where .0196 is reached."""
    assert GaussianDP(5).sampled(0.01).delta(0) == pytest.approx(0.0099, abs=1e-4)
    low, high = GaussianDP(0.5).sampled(0.01).group(10).delta_bounds(0)
    assert 0.0196 <= low <= high <= 0.0197


@pytest.mark.parametrize(("leak", "rate", "times"), [(0.1, 0.5, 2), (0.05, 0.9, 3), (0.3, 0.2, 3)])
def test_what_only_the_other_table_can_give_is_counted(leak: float, rate: float, times: int):
    """(5, d)-DP steps, sampled: all outcomes of the worst mechanism, in both orders."""
    odds = 1 / (1 + exp(-5))
    used = [leak, (1 - leak) * odds, (1 - leak) * (1 - odds), 0.0]
    unused = used[::-1]
    mixed = [(1 - rate) * b + rate * a for a, b in zip(used, unused, strict=True)]
    rows = list(product(range(4), repeat=times))
    one, other = ([prod(law[i] for i in row) for row in rows] for law in (mixed, unused))
    whole = ApproxDP(5, leak).sampled(rate) * times
    for epsilon in (0.0, 0.5, 2.0, 3.0):
        truth = max(excess(one, other, epsilon), excess(other, one, epsilon))
        low, high = whole.delta_bounds(epsilon)
        assert low <= truth * (1 + 1e-9) + 1e-12
        assert truth * (1 - 1e-12) <= high <= truth * (1 + 1e-6) + 1e-9


def test_what_has_no_proof_is_refused():
    with pytest.raises(UnsupportedQuery, match="compose"):
        compose(LaplacePrivacy(1), GaussianDP(1)).sampled(0.1)
    with pytest.raises(UnsupportedQuery):
        GaussianDP(1).sampled(0.1).sampled(0.1)


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan"), float("inf"), "half"])
def test_rates_outside_are_refused(rate):
    with pytest.raises(ParameterError, match=r"rate is .*, but must be a number from 0 to 1"):
        GaussianDP(1).sampled(rate)


def test_a_sampled_curve_is_stored_and_read_back():
    curve = LaplacePrivacy(0.3).sampled(0.01)
    assert from_json(curve.to_json()) == curve
    whole = curve * 100
    assert from_json(whole.to_json()) == whole


def test_sampled_zcdp_is_composed_by_its_curve_alone():
    curve = ZCDP(0.1).sampled(0.1)
    assert curve.delta(0.5) <= ZCDP(0.1).delta(0.5)
