"""P3, and what merges exactly."""

from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.errors import NeighboursDiffer, ParameterError
from letalone.privacy import (
    ADD_REMOVE,
    REPLACE,
    ZCDP,
    ApproxDP,
    Composed,
    GaussianDP,
    LaplacePrivacy,
    NoPrivacy,
    PureDP,
    RandomizedResponsePrivacy,
    between,
    compose,
)


def test_gaussians_merge_exactly_and_mu_is_never_rounded():
    assert compose(GaussianDP(3), GaussianDP(4)) == GaussianDP(5)
    many = GaussianDP(0.1) * 3
    assert many.mu is None
    assert many.mu_squared == Fraction(3, 100)
    assert GaussianDP(0.1) * 10**6 == GaussianDP(100)


def test_zcdp_adds():
    assert compose(ZCDP(0.1), ZCDP(0.2)) == ZCDP(0.3)
    assert ZCDP(0.1) * 10 == ZCDP(1)


def test_p3_epsilons_and_deltas_add():
    both = compose(ApproxDP(1, 0.01), ApproxDP(0.5, 0.02))
    assert both.delta(1.5) <= 0.03
    assert both.epsilon(0.03) <= 1.5
    assert both.delta(1.5) == pytest.approx(1 - 0.99 * 0.98)


def test_p3_ten_tenths_are_one():
    assert (PureDP(0.1) * 10).epsilon(0) == 1.0
    assert compose(*[PureDP(0.1)] * 10) == PureDP(0.1) * 10
    assert (LaplacePrivacy(0.3) * 3).epsilon(0) == 0.9


def test_a_repeat_is_a_count_and_not_a_list():
    million = LaplacePrivacy(0.001) * 10**6
    assert million.parts == ((LaplacePrivacy(0.001), 10**6),)
    assert million.epsilon(0) == 1000


def test_the_fixed_count_slip_of_others_is_not_ours():
    """STYLE.md, slip 1: an n-fold randomized response must cost n times one."""
    assert (RandomizedResponsePrivacy(1) * 10).epsilon(0) == 10


@given(
    st.lists(
        st.lists(st.integers(0, 4), min_size=2, max_size=3).filter(any), min_size=4, max_size=4
    ),
    st.fractions(0, 2, max_denominator=8),
)
def test_p3_the_bounds_hold_the_exact_product_of_finite_pairs(laws, epsilon):
    sizes = [max(len(laws[0]), len(laws[1])), max(len(laws[2]), len(laws[3]))]
    filled = [law + [0] * (sizes[i // 2] - len(law)) for i, law in enumerate(laws)]
    p1, q1, p2, q2 = ([Fraction(x, sum(law)) for x in law] for law in filled)
    exact = between([a * b for a, b in product(p1, p2)], [a * b for a, b in product(q1, q2)])
    one, other = between(p1, q1), between(p2, q2)
    # The worst order of one may meet that of the other, so the product need not be the worst.
    lower, upper = compose(one, other).delta_bounds(epsilon)
    assert exact.delta_bounds(epsilon)[0] <= upper
    assert lower >= max(one.delta_bounds(epsilon)[0], other.delta_bounds(epsilon)[0]) - 1e-15
    crossed = between([a * b for a, b in product(p1, q2)], [a * b for a, b in product(q1, p2)])
    assert crossed.delta_bounds(epsilon)[0] <= upper
    assert lower <= max(exact.delta(epsilon), crossed.delta(epsilon))


def test_gaussian_parts_merge_inside_a_mixed_list():
    mixed = compose(GaussianDP(3), LaplacePrivacy(1), GaussianDP(4), ZCDP(1), ZCDP(2))
    assert isinstance(mixed, Composed)
    assert dict(mixed.parts) == {GaussianDP(5): 1, LaplacePrivacy(1): 1, ZCDP(3): 1}
    assert mixed.delta_bounds(2)[0] == GaussianDP(5).delta_bounds(2)[0]


def test_a_mixed_list_gives_the_bounded_part_its_epsilon_and_the_rest_to_the_gaussian():
    mixed = compose(GaussianDP(1), LaplacePrivacy(1))
    assert mixed.delta(5) <= GaussianDP(1).delta(4) * (1 + 1e-12)
    assert mixed.epsilon(1e-6) <= 1 + GaussianDP(1).epsilon(1e-6) + 1e-12


def test_many_different_parts_stay_fast_and_sound():
    parts = [LaplacePrivacy(Fraction(k, 100)) for k in range(1, 41)]
    total = compose(*parts)
    assert total.epsilon(0) == 8.2
    assert total.delta(Fraction(82, 10)) == 0


def test_no_promise_absorbs_everything():
    assert compose(NoPrivacy(), GaussianDP(1)) == NoPrivacy()


def test_neighbours_are_kept_and_must_agree():
    mine = LaplacePrivacy(1).with_neighbours(ADD_REMOVE.of("patient"))
    both = compose(mine, GaussianDP(1))
    assert both.neighbours == ADD_REMOVE.of("patient")
    assert (mine * 3).neighbours == ADD_REMOVE.of("patient")
    assert (mine * 0).neighbours == ADD_REMOVE.of("patient")
    assert both.group(2).neighbours == ADD_REMOVE.of("patient")
    with pytest.raises(NeighboursDiffer, match=r"under\(REPLACE\)"):
        compose(mine, GaussianDP(1).with_neighbours(REPLACE))


@pytest.mark.parametrize("times", [-1, 1.5, float("nan"), "x"])
def test_strange_counts_are_refused(times):
    with pytest.raises(
        ParameterError, match=r"times is .* must be a whole number that is 0 or more"
    ):
        LaplacePrivacy(1) * times


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        (lambda: compose(SimpleNamespace(privacy=PureDP(1))), r"Give its \.privacy"),
        (lambda: compose([PureDP(1), PureDP(2)]), r"Unpack it: compose\(\*list\)"),
        (lambda: compose(1, 2), r"the type int, but takes privacy curves. Give the \.privacy"),
        (lambda: compose(PureDP(1), None), "the type NoneType, but takes privacy curves"),
    ],
)
def test_what_is_not_a_curve_is_refused_with_the_remedy(slip, words):
    with pytest.raises(ParameterError, match=words):
        slip()
