"""Lists of unlike releases: finite pairs, moments and leaks beside loss distributions."""

from fractions import Fraction
from itertools import product
from math import comb, exp, log, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letalone.privacy import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    GaussianDP,
    LaplacePrivacy,
    PureDP,
    RandomizedResponsePrivacy,
    RenyiDP,
    between,
    compose,
)
from letalone.privacy.composition import equivalent_lists
from letalone.privacy.loss.enumerated import enumerate_losses
from letalone.privacy.loss.pairs import Atoms
from stages import pick

LAWS = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def normalised(law: list[int]) -> list[Fraction]:
    return [Fraction(x, sum(law)) for x in law]


def curve_of(atoms: Atoms, epsilon: float) -> float:
    gains = np.maximum(0.0, -np.expm1(epsilon - atoms.losses))
    return float(atoms.masses @ gains) + atoms.infinite


@given(LAWS, LAWS)
def test_the_atoms_of_a_finite_pair_have_the_larger_of_both_curves(one, other):
    pair = between(normalised(one), normalised(other))
    orders = pair.losses()
    if orders is None:
        assert pair.certain_leak() == 1
        return
    (atoms,) = orders
    for epsilon in (-2.0, -0.3, 0.0, 0.1, 0.7, 2.0):
        assert curve_of(atoms, epsilon) == pytest.approx(pair.delta(epsilon), abs=1e-13)


@given(LAWS, LAWS)
def test_the_reached_atoms_are_those_of_each_order(one, other):
    p, q = normalised(one), normalised(other)
    pair = between(p, q)
    if pair.losses() is None:
        return
    for atoms, (a, b) in zip(pair.reached(), ((p, q), (q, p)), strict=True):
        for epsilon in (-1.0, 0.0, 0.4):
            truth = sum(
                max(0.0, float(x) - exp(epsilon) * float(y)) for x, y in zip(a, b, strict=True)
            )
            assert curve_of(atoms, epsilon) == pytest.approx(truth, abs=1e-13)


@settings(max_examples=pick(15, 40), deadline=None)
@given(LAWS, LAWS, st.integers(2, 4), st.sampled_from([0.0, 0.2, 1.0, 2.5]))
def test_n_finite_releases_against_all_their_outcomes(one, other, times, epsilon):
    p, q = normalised(one), normalised(other)
    rows = list(product(range(4), repeat=times))
    laws = [[prod(law[i] for i in row) for row in rows] for law in (p, q)]
    truth = between(*laws).delta(epsilon)
    low, high = (between(p, q) * times).delta_bounds(epsilon)
    assert low <= truth * (1 + 1e-9) + 1e-12
    assert truth <= high * (1 + 1e-12) + 1e-15
    assert low >= truth * (1 - 1e-9) - 1e-9, "some order is the truth"


def test_a_finite_pair_in_a_mixed_list_is_composed_by_its_losses():
    """P3 gives 20 ln 2 + 0.2 + what the Gaussian costs; the losses add up to less than 20 ln 2."""
    pair = between([0.5, 0.3, 0.2], [0.3, 0.3, 0.4])
    mixed = compose(pair * 20, GaussianDP(0.5), LaplacePrivacy(0.2))
    low, high = mixed.epsilon_bounds(1e-6)
    assert low <= high < 20 * log(2)
    bare = (pair * 20).epsilon_bounds(1e-6)
    assert bare[0] <= high


def test_orders_of_a_pair_are_not_mixed_up():
    """A pair that leaks one way only, twice: what both orders promise, and what is reached."""
    pair = between([0.9, 0.1, 0], [1, 0, 0])
    low, high = (pair * 2).delta_bounds(3)
    assert low == pytest.approx(1 - 0.81, abs=1e-10)
    assert high == pytest.approx(1 - 0.81, abs=1e-10)


@pytest.mark.parametrize("times", [1, 3, 40])
def test_listed_losses_are_binomial_sums(times: int):
    """k-fold randomized response: the closed form of its optimal composition, in rationals."""
    curve = RandomizedResponsePrivacy(truth=Fraction(3, 4)) * times
    for epsilon in (0.0, 0.5, 2.0):
        truth = Fraction(0)
        rate = Fraction(exp(epsilon))
        for told in range(times + 1):
            ways = comb(times, told)
            p = Fraction(3, 4) ** told * Fraction(1, 4) ** (times - told)
            q = Fraction(1, 4) ** told * Fraction(3, 4) ** (times - told)
            truth += ways * max(Fraction(0), p - rate * q)
        low, high = curve.delta_bounds(epsilon)
        assert low <= float(truth) * (1 + 1e-12)
        assert float(truth) * (1 - 1e-12) <= high
        assert high - low <= 1e-9 * float(truth) + 1e-15


def test_long_lists_are_not_listed():
    (atoms,) = PureDP(0.1).losses()
    assert enumerate_losses(((atoms, 10),)) is not None
    assert enumerate_losses(((atoms, 10**6),)) is None
    (gaussian,) = GaussianDP(1).losses()
    assert enumerate_losses(((atoms, 10), (gaussian, 1))) is None


def test_a_zcdp_part_beside_others_is_at_most_all_of_them_as_zcdp():
    """ρ = 0.1 + μ²/2 + ε tanh(ε/2), converted once."""
    mixed = compose(ZCDP(0.1), GaussianDP(1), PureDP(0.5))
    rho = Fraction(1, 10) + Fraction(1, 2) + Fraction(0.5 * np.tanh(0.25)) + Fraction(1, 10**9)
    assert mixed.epsilon(1e-6) <= ZCDP(rho).epsilon(1e-6)
    assert mixed.epsilon(1e-6) < 0.95 * (
        ZCDP(0.1).epsilon(5e-7) + GaussianDP(1).epsilon(5e-7) + 0.5
    )
    assert mixed.epsilon_bounds(1e-6)[0] <= mixed.epsilon(1e-6)


def test_a_thousand_releases_beside_zcdp_keep_their_composition():
    """P3 part by part would charge 100 for the thousand alone."""
    thousand = LaplacePrivacy(0.1) * 1000
    mixed = compose(ZCDP(0.01), thousand)
    assert mixed.epsilon(1e-6) <= thousand.epsilon(5e-7) + ZCDP(0.01).epsilon(5e-7) + 0.5
    assert mixed.epsilon(1e-6) >= thousand.epsilon_bounds(1e-6)[0]


def test_leaks_stand_beside_moments():
    mixed = compose(ZCDP(0.1), ApproxDP(0.3, 1e-8) * 50)
    whole = ZCDP(Fraction(1, 10) + 50 * Fraction(0.3 * np.tanh(0.15)) + Fraction(1, 10**9))
    assert mixed.delta(6) <= whole.delta(6) + 50e-8 + 1e-12
    assert mixed.epsilon(4e-7) == float("inf")


def test_renyi_parts_of_unlike_orders_add_at_the_least():
    mixed = compose(RenyiDP(8, 0.1), RenyiDP(16, 0.3), GaussianDP(0.2))
    at_eight = RenyiDP(8, Fraction(4, 10) + 8 * Fraction(2, 100))
    assert mixed.delta(3) <= at_eight.delta(3) * (1 + 1e-12)
    with_laplace = compose(RenyiDP(8, 0.1), LaplacePrivacy(0.1) * 10)
    assert with_laplace.epsilon(1e-5) <= RenyiDP(8, 0.1).epsilon(1e-5) + 1


def test_every_rewritten_list_is_a_bound_of_its_own():
    """Each is looked at alone: none is below the certified lower bound."""
    parts = compose(ZCDP(0.1), LaplacePrivacy(0.3), ApproxDP(0.2, 1e-4), BoundedRange(0.5)).parts
    lists = equivalent_lists(parts)
    assert len(lists) > 1
    lower = compose(*(part for part, _ in parts)).delta_bounds(0.8)[0]
    for other in lists:
        bound = compose(*(part * count for part, count in other)).delta(0.8)
        assert bound >= lower
