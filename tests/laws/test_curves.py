"""The laws of every curve, in one suite: a new curve is one more line in CURVES."""

import json
from fractions import Fraction
from itertools import pairwise
from math import inf, isinf, nextafter

import pytest

from letalone.exact.typed import as_typed
from letalone.privacy import (
    ADD_REMOVE,
    REPLACE,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Composed,
    DiscreteGaussianPrivacy,
    FiniteGroup,
    GaussianDP,
    GeometricPrivacy,
    LaplacePrivacy,
    NoPrivacy,
    OptimalComposition,
    PureDP,
    RandomizedResponsePrivacy,
    RenyiDP,
    between,
    compose,
    from_json,
    optimal,
)
from letalone.privacy.bounds import at_most
from letalone.privacy.curve import KINDS
from letalone.privacy.curves.perturbed import PerturbedObjective

PAIR = between([0.5, 0.3, 0.2], [0.3, 0.3, 0.4])
CURVES = [
    PureDP(0.3),
    PureDP(20),
    ApproxDP(1, 1e-6),
    ApproxDP(0, 0.3),
    NoPrivacy(),
    GaussianDP(1),
    GaussianDP(mu_squared=Fraction(1, 50)),
    ZCDP(0.5),
    ZCDP(1e-4),
    LaplacePrivacy(0.1),
    LaplacePrivacy(3),
    GeometricPrivacy(3, 2),
    GeometricPrivacy(1, 10),
    DiscreteGaussianPrivacy(1, 0.5),
    DiscreteGaussianPrivacy(3, 40),
    RandomizedResponsePrivacy(truth=0.75),
    RandomizedResponsePrivacy(0.5, categories=5),
    BoundedRange(2),
    PAIR,
    between([0.5, 0.4, 0.1], [0.5, 0.5, 0]),
    PAIR.group(3),
    Composed(()),
    LaplacePrivacy(0.1) * 10,
    GaussianDP(1).sampled(0.1),
    LaplacePrivacy(2).sampled(0.3),
    GaussianDP(0.5).sampled(0.01).group(4),
    LaplacePrivacy(2).sampled(0.3).group(2),
    GaussianDP(1, neighbours=REPLACE).sampled(0.1).group(3).labelled(None),
    (PAIR * 5).group(2),
    RenyiDP(2, 0.5),
    PerturbedObjective(0.04, rest_squared=1e-5, floor=0.9, start=1),
    PerturbedObjective(0.04, rest_squared=1e-5, vertices=3, shift=0.1, floor=0.2, start=0.5),
    PureDP(1).shuffled(30),
    optimal(0.1, 1e-6, times=10),
    compose(LaplacePrivacy(1), GaussianDP(1), RandomizedResponsePrivacy(truth=0.75)),
]
EPSILONS = [-5, -1, -0.1, 0, 1e-9, 0.05, 0.1, 0.3, 0.30000000000000004, 1, 2.5, 10, 700, 710, 5000]
DELTAS = [0, 1e-60, 1e-12, 1e-5, 0.01, 0.3, 0.9]

every_curve = pytest.mark.parametrize("curve", CURVES, ids=str)
one_of_a_kind = pytest.mark.few(
    "GaussianDP(mu=1)",
    "LaplacePrivacy(ratio=0.1)",
    "DiscreteGaussianPrivacy(sensitivity=1",
    "Composed",
    "Sampled(",
    "Finite(",
    "Shuffled",
    "ApproxDP(epsilon=1",
)
# Renyi divergences halve their order; steps known at one point each are rounded up each time.
GROUPABLE = [c for c in CURVES if not isinstance(c, RenyiDP | OptimalComposition)]
every_groupable_curve = pytest.mark.parametrize("curve", GROUPABLE, ids=str)


def patients(curve):
    """Neighbours that the curve can be labelled with: shuffling knows replace only."""
    return (curve.neighbours or ADD_REMOVE).of("patient")


def test_every_kind_of_curve_is_under_these_laws():
    assert {type(curve) for curve in CURVES} == set(KINDS.values())
    assert any(isinstance(curve, FiniteGroup) for curve in CURVES)


@every_curve
@one_of_a_kind
def test_delta_falls_with_epsilon_and_lies_between_its_bounds(curve):
    bounds = [curve.delta_bounds(epsilon) for epsilon in EPSILONS]
    assert all(0 <= lower <= upper <= 1 for lower, upper in bounds)
    assert all(left[1] >= right[1] for left, right in pairwise(bounds))
    assert [upper for _, upper in bounds] == [curve.delta(epsilon) for epsilon in EPSILONS]


@every_curve
@one_of_a_kind
def test_epsilon_falls_with_delta_and_lies_between_its_bounds(curve):
    bounds = [curve.epsilon_bounds(delta) for delta in DELTAS]
    assert all(0 <= lower <= upper for lower, upper in bounds)
    assert all(left[1] >= right[1] for left, right in pairwise(bounds))


@every_curve
@pytest.mark.parametrize("delta", DELTAS)
@one_of_a_kind
def test_the_stated_pair_holds_however_the_float_is_read(curve, delta):
    epsilon = curve.epsilon(delta)
    if isinf(epsilon):
        leak = curve.certain_leak()
        assert not isinstance(leak, Fraction) or leak >= as_typed(delta)
        return
    assert at_most(curve.delta_at(as_typed(epsilon)).upper, as_typed(delta))
    if as_typed(epsilon) != curve.worst_loss():
        assert at_most(curve.delta_at(Fraction(epsilon)).upper, as_typed(delta))


@every_curve
@pytest.mark.parametrize("epsilon", [0, 0.05, 0.3, 2])
def test_epsilon_undoes_delta(curve, epsilon):
    delta = curve.delta(epsilon)
    if delta < 1:
        # 0.3 is read as binary, too; compositions are accurate to 1e-4 of epsilon, or of the
        # spread of the loss where that is larger, as it is near an epsilon of 0.
        exact = not isinstance(curve, Composed)
        limit = nextafter(epsilon, inf) if exact else epsilon + 1e-4 * max(epsilon, 1)
        assert curve.epsilon(delta) <= max(limit, 1e-9)


@every_curve
@one_of_a_kind
def test_no_pair_below_the_lower_epsilon_is_possible(curve):
    """The lower bound is refuted by the lower curve, so it could not be larger unnoticed."""
    for delta in DELTAS:
        lower, upper = curve.epsilon_bounds(delta)
        if 0 < lower < inf:
            assert curve.delta_bounds(Fraction(lower) * Fraction(999, 1000))[0] >= delta
        if curve.exact and 0 < upper < inf:
            assert lower >= upper * (1 - 1e-14)


@every_curve
def test_n_fold_equals_composing_n_times(curve):
    assert curve * 3 == 3 * curve == compose(curve, curve, curve) == compose(curve, curve * 2)
    assert (curve * 3) * 4 == curve * 12
    assert curve * 1 == compose(curve) == curve


@every_curve
def test_no_runs_cost_nothing(curve):
    nothing = curve * 0
    assert nothing == compose().labelled(curve.neighbours)
    assert nothing.delta(0) == nothing.epsilon(0) == 0
    assert nothing.tradeoff(0.25) == 0.75
    assert compose(curve, nothing) == curve


@every_curve
@one_of_a_kind
def test_order_does_not_matter(curve):
    others = (LaplacePrivacy(0.5), GaussianDP(2), PAIR)
    together = compose(curve, *others)
    assert (
        together
        == compose(*reversed(others), curve)
        == compose(compose(others[0], curve), *others[1:])
    )
    assert together.delta(1) == compose(*others, curve).delta(1)


@every_curve
@one_of_a_kind
def test_composition_is_never_below_its_parts_nor_above_basic_composition(curve):
    other = ApproxDP(0.5, 0.001)
    both = compose(curve, other)
    for epsilon in (0, 0.3, 2):
        lower, upper = both.delta_bounds(epsilon + 0.5)
        assert upper <= min(1, curve.delta(epsilon) + 0.001) * (1 + 1e-9)
        assert lower >= other.delta_bounds(epsilon + 0.5)[0]
        assert upper >= curve.delta_bounds(epsilon + 0.5)[0]


@every_groupable_curve
def test_a_group_of_one_is_the_curve_and_larger_groups_cost_more(curve):
    assert curve.group(1) == curve
    two, six = curve.group(2), curve.group(6)
    assert two.group(3) == six or isinstance(curve, ApproxDP)  # ApproxDP rounds up each time
    for epsilon in (0, 0.5, 3):
        assert (
            curve.delta_bounds(epsilon)[0] <= two.delta(epsilon) <= six.delta(epsilon) * (1 + 1e-15)
        )


@every_groupable_curve
def test_p2_no_group_costs_more_than_the_general_rule(curve):
    for size, epsilon in ((2, 0.1), (3, 0.5)):
        rule = curve.delta(epsilon) * sum(2.718281828459046 ** (j * epsilon) for j in range(size))
        assert curve.group(size).delta(size * Fraction(str(epsilon))) <= min(1, rule * (1 + 1e-12))


@every_curve
def test_the_stored_form_comes_back_equal(curve):
    for labelled in (curve, curve.with_neighbours(patients(curve))):
        text = json.dumps(labelled.to_json())
        assert json.loads(text)["format"] == 1
        again = from_json(json.loads(text))
        assert again == labelled
        assert hash(again) == hash(labelled)
        assert again.delta(0.2) == curve.delta(0.2)


@every_groupable_curve
def test_replace_costs_a_group_of_two(curve):
    if curve.neighbours == REPLACE:
        return  # shuffling knows no other neighbours
    added = curve.with_neighbours(ADD_REMOVE)
    replaced = added.under(REPLACE)
    assert replaced.neighbours == REPLACE
    assert replaced == curve.group(2).labelled(REPLACE)


@every_curve
def test_every_curve_prints_one_line_with_its_epsilon(curve):
    assert "ε = " in str(curve)
    assert "\n" not in str(curve)
    assert str(curve) == repr(curve)
    assert str(patients(curve)) in str(curve.with_neighbours(patients(curve)))


@every_curve
def test_curves_are_frozen(curve):
    with pytest.raises((AttributeError, TypeError)):
        curve.neighbours = REPLACE
