"""P2 and D3: groups, and one neighbouring relation from the other."""

from fractions import Fraction
from itertools import pairwise
from math import exp, inf, log

import pytest

from letalone.errors import NeighboursDiffer, ParameterError
from letalone.privacy import (
    ADD_REMOVE,
    REPLACE,
    ZCDP,
    ApproxDP,
    BoundedRange,
    DiscreteGaussianPrivacy,
    FiniteGroup,
    GaussianDP,
    GeometricPrivacy,
    LaplacePrivacy,
    NoPrivacy,
    PureDP,
    RandomizedResponsePrivacy,
    between,
    unify,
)


def test_p2_a_group_of_k_under_pure_dp_costs_k_epsilon():
    assert PureDP(0.1).group(10) == PureDP(1)


def test_p2_a_group_of_k_under_approximate_dp():
    group = ApproxDP(0.5, 1e-6).group(4)
    assert group.stated_epsilon == 2
    expected = 1e-6 * (exp(2) - 1) / (exp(0.5) - 1)
    assert expected <= float(group.stated_delta) <= expected * (1 + 1e-12)
    assert ApproxDP(0, 0.1).group(3) == ApproxDP(0, 0.3)
    assert ApproxDP(1, 0).group(3) == ApproxDP(3, 0)
    assert ApproxDP(1, 0.3).group(2) == NoPrivacy()


def test_p2_the_stored_group_delta_is_above_the_formula():
    """The dyadic is above e^(k epsilon)..., checked with exact series bounds."""
    stored = ApproxDP(1, Fraction(1, 10**6)).group(2).stated_delta
    e_below = sum((Fraction(1, f) for f in factorials(25)), Fraction(0))
    assert stored > Fraction(1, 10**6) * (1 + e_below)
    assert stored < Fraction(1, 10**6) * (1 + e_below) * (1 + Fraction(1, 2**80))


def factorials(count):
    value = 1
    for k in range(count):
        yield value
        value *= k + 1


def test_p2_exact_group_curves_are_tighter_than_the_rule():
    for curve, group in (
        (GaussianDP(0.5), GaussianDP(1.5)),
        (ZCDP(0.1), ZCDP(0.9)),
        (LaplacePrivacy(0.5), LaplacePrivacy(1.5)),
        (GeometricPrivacy(1, 4), GeometricPrivacy(3, 4)),
        (DiscreteGaussianPrivacy(1, 4), DiscreteGaussianPrivacy(3, 4)),
        (BoundedRange(0.5), BoundedRange(1.5)),
    ):
        assert curve.group(3) == group
        rule = curve.delta(0.3) * (1 + exp(0.3) + exp(0.6))
        assert group.delta(0.9) < rule or group.delta(0.9) == 0


def test_a_group_of_respondents_is_their_answers():
    answers = RandomizedResponsePrivacy(truth=0.75)
    assert answers.group(5) == answers * 5
    assert answers.group(5).epsilon(0) == pytest.approx(5 * 1.0986122886681098)


def test_p2_a_chain_of_finite_steps_is_within_the_group_curve():
    """x -> x+1 -> x+2 on a clipped walk: the law of the far end against that of the near."""
    laws = [
        [Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)],
        [Fraction(4, 10), Fraction(4, 10), Fraction(2, 10)],
        [Fraction(2, 10), Fraction(4, 10), Fraction(4, 10)],
    ]
    steps = [between(a, b) for a, b in pairwise(laws)]
    chain = between(laws[0], laws[2])
    for epsilon in (0, Fraction(1, 10), Fraction(1, 2), 1, Fraction(3, 2)):
        worst = max(step.group(2).delta(epsilon) for step in steps)
        assert chain.delta_bounds(epsilon)[0] <= worst


def test_p2_a_leak_grows_with_the_losses_on_the_way():
    """Leak 1/10 and worst ratio 5/4: a chain of two leaks up to (1 + 5/4) / 10."""
    group = between([0.5, 0.4, 0.1, 0], [0.4, 0.5, 0, 0.1]).group(2)
    assert group.delta(10) == 0.225
    assert group.epsilon(0.2) == inf
    assert group.epsilon(0.225) <= 2 * log(1.25) + 1e-12


def test_the_group_curve_of_a_finite_pair_falls():
    group = between([0.5, 0.3, 0.2, 0], [0.3, 0.3, 0.39, 0.01]).group(5)
    assert isinstance(group, FiniteGroup)
    deltas = [group.delta(Fraction(k, 20)) for k in range(80)]
    assert all(a >= b for a, b in pairwise(deltas))


@pytest.mark.parametrize(
    ("curve", "replaced"),
    [
        (PureDP(0.5), PureDP(1)),
        (GaussianDP(0.5), GaussianDP(1)),
        (ZCDP(0.5), ZCDP(2)),
        (LaplacePrivacy(0.5), LaplacePrivacy(1)),
        (GeometricPrivacy(1, 3), GeometricPrivacy(2, 3)),
    ],
    ids=str,
)
def test_d3_the_table_of_conversions(curve, replaced):
    assert curve.with_neighbours(ADD_REMOVE).under(REPLACE) == replaced.with_neighbours(REPLACE)
    assert curve.under(REPLACE) == replaced.with_neighbours(REPLACE)


def test_d3_approximate_costs_one_plus_e_to_the_epsilon():
    replaced = ApproxDP(0.5, 1e-6, neighbours=ADD_REMOVE).under(REPLACE)
    assert replaced.stated_epsilon == 1
    assert float(replaced.stated_delta) == pytest.approx((1 + exp(0.5)) * 1e-6, rel=1e-14)


def test_d3_there_is_no_way_back():
    with pytest.raises(NeighboursDiffer, match="says nothing about tables of different size"):
        PureDP(1, neighbours=REPLACE).under(ADD_REMOVE)
    with pytest.raises(NeighboursDiffer, match=r"with_neighbours\(ADD_REMOVE\)"):
        PureDP(1).under(ADD_REMOVE)


def test_d3_the_same_relation_costs_nothing():
    curve = PureDP(1, neighbours=REPLACE.of("row"))
    assert curve.under(REPLACE) == curve
    assert PureDP(1, neighbours=ADD_REMOVE).under(ADD_REMOVE.of("row")).neighbours.unit == "row"


def test_d4_the_unit_is_named_kept_and_compared():
    patient = PureDP(1, neighbours=ADD_REMOVE.of("patient"))
    assert patient.under(REPLACE).neighbours == REPLACE.of("patient")
    assert str(REPLACE.of("household")) == "replace one household"
    assert str(ADD_REMOVE) == "add or remove one unit"
    with pytest.raises(NeighboursDiffer, match=r"group\(k\)"):
        patient.with_neighbours(ADD_REMOVE.of("household"))
    with pytest.raises(NeighboursDiffer, match="patient"):
        patient.under(REPLACE.of("household"))


def test_unset_mixes_with_anything():
    assert unify(None, None) is None
    assert unify(None, REPLACE) == unify(REPLACE, None) == REPLACE
    assert unify(ADD_REMOVE, ADD_REMOVE.of("row")) == ADD_REMOVE.of("row")
    with pytest.raises(NeighboursDiffer, match="there is no way back"):
        unify(ADD_REMOVE, REPLACE)


@pytest.mark.parametrize("unit", ["", "  ", 3])
def test_a_unit_is_a_word(unit):
    with pytest.raises(ParameterError, match="unit is"):
        ADD_REMOVE.of(unit)


@pytest.mark.parametrize("size", [0, -1, 1.5, float("nan"), True])
def test_strange_group_sizes_are_refused(size):
    with pytest.raises(ParameterError, match="size is"):
        PureDP(1).group(size)
