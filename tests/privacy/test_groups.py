"""P2 and D3: groups, and one neighbouring relation from the other."""

from fractions import Fraction
from itertools import pairwise
from math import exp, inf, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    Grouped,
    LaplacePrivacy,
    NoPrivacy,
    PureDP,
    RandomizedResponsePrivacy,
    between,
    compose,
    unify,
)
from letalone.privacy.curves.perturbed import PerturbedObjective
from stages import pick


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


LAWS = st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any)


@settings(max_examples=pick(25, 60), deadline=None)
@given(st.lists(LAWS, min_size=3, max_size=5), st.fractions(0, 3, max_denominator=6))
def test_p2_no_chain_of_laws_exceeds_the_rule_on_the_whole_curve(chain, epsilon):
    """Of the links only the worst curve is known: here it is one pair, walked to and fro."""
    first, second = ([Fraction(x, sum(law)) for x in law] for law in chain[:2])
    links = [between(first, second)]
    laws = [first, second]
    for law in chain[2:]:
        # A law between two known ones differs from each by no more than they do.
        share = Fraction(sum(law), 1 + 2 * sum(law))
        laws.append([share * a + (1 - share) * b for a, b in zip(*laws[-2:], strict=True)])
        links.append(between(*laws[-2:]))
    size = len(laws) - 1
    ends = between(laws[0], laws[-1])
    bound = max(float(Grouped(link, size).delta(epsilon)) for link in links[:1])
    assert ends.delta_bounds(epsilon)[0] <= bound


def test_p2_at_every_point_of_a_curve_and_at_zero():
    for curve in (GaussianDP(1), LaplacePrivacy(1), ZCDP(0.1), GaussianDP(1).sampled(0.1)):
        assert Grouped(curve, 4).delta(0) == pytest.approx(min(1, 4 * curve.delta(0)))
        for epsilon in (0.25, 0.5, 2):
            rule = curve.delta(epsilon) * sum(exp(j * epsilon) for j in range(4))
            bound = float(Grouped(curve, 4).by_rule(Fraction(epsilon) * 4))
            assert bound <= min(1, rule) * (1 + 1e-12)


def test_p2_is_never_below_an_exact_group_curve():
    for curve in (
        GaussianDP(0.4),
        LaplacePrivacy(0.7),
        GeometricPrivacy(1, 3),
        DiscreteGaussianPrivacy(1, 3),
        PureDP(0.5),
        RandomizedResponsePrivacy(truth=0.75),
    ):
        for size, epsilon in ((2, 0), (2, 0.3), (5, 1), (3, 2.5)):
            rule = Grouped(curve, size)
            assert curve.group(size).delta_bounds(epsilon)[0] <= rule.delta(epsilon)
            assert rule.delta_bounds(epsilon)[0] == curve.delta_bounds(epsilon)[0]


@pytest.mark.long
def test_p2_of_a_curve_with_a_leak_does_not_grow_with_epsilon():
    """A leak without a largest loss: past the best point P2 would rise again."""
    curve = compose(GaussianDP(0.3), ApproxDP(0.1, 1e-3))
    group = Grouped(curve, 3)
    deltas = [group.delta(Fraction(k)) for k in range(10)]
    assert all(a >= b for a, b in pairwise(deltas))
    assert 3e-3 <= deltas[-1] <= 0.05
    assert group.epsilon(1e-3) == inf


def test_p2_losses_add_along_the_chain():
    group = Grouped(compose(LaplacePrivacy(0.1), BoundedRange(0.2)), 5)
    assert group.worst_loss() == Fraction(3, 2)
    assert group.epsilon(0) == 1.5
    assert group.delta(1.5) == 0


def test_p2_of_a_whole_composition_where_its_parts_have_no_group_of_their_own():
    """Ten finite pairs: P2 of each, then P3, is worse than P2 of their composition."""
    pair = between([0.5, 0.3, 0.2], [0.45, 0.3, 0.25])
    group = (pair * 10).group(2)
    assert isinstance(group, Grouped)
    (parts,) = group.alternatives()
    assert group.epsilon(0.05) < parts.epsilon(0.05)
    assert group.delta(0.5) <= parts.delta(0.5)
    assert group == compose(*[pair] * 10).group(2)


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


def test_a_group_of_a_curve_that_has_the_rule_alone_has_an_epsilon() -> None:
    """There is no other proof to compare it with, and no largest loss."""
    curve = PerturbedObjective(Fraction(1, 16), start=Fraction(1, 10))
    assert curve.epsilon(1e-4) < curve.group(3).epsilon(1e-4) < 100
