"""The theorems by name: basic, advanced, optimal, and all side by side."""

from fractions import Fraction
from itertools import product
from math import comb, exp, inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.privacy import (
    ADD_REMOVE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    LaplacePrivacy,
    NoPrivacy,
    PureDP,
)
from letalone.privacy.bank import ORDERS
from letalone.privacy.comparison import compare
from letalone.privacy.theorems import OptimalComposition, advanced, basic, optimal, optimal_of
from stages import pick

F = Fraction


def slow_delta(steps, epsilon):
    """Every outcome of every step's worst mechanism, one after the other, at 40 digits."""
    mp.dps = 40
    kept, excess = mpf(1), mpf(0)
    for _, delta in steps:
        kept *= 1 - mpf(delta.numerator) / delta.denominator
    for signs in product((1, -1), repeat=len(steps)):
        p = q = mpf(1)
        for sign, (step, _) in zip(signs, steps, strict=True):
            likely = 1 / (1 + mp.exp(-sign * mpf(step.numerator) / step.denominator))
            p, q = p * likely, q * (1 - likely)
        excess += max(mpf(0), p - mp.exp(mpf(epsilon.numerator) / epsilon.denominator) * q)
    return 1 - kept + kept * excess


def test_p3_basic_adds() -> None:
    assert basic(0.1, 1e-8, times=10) == ApproxDP(1, 1e-7)
    assert isinstance(basic(1, 0.1, times=10), NoPrivacy)


def test_p4_advanced_is_the_formula_rounded_up() -> None:
    mp.dps = 40
    found = advanced(0.1, 1e-9, times=100, slack=1e-6)
    exact = mpf("0.1") * mp.sqrt(200 * mp.log(10**6)) + 10 * (mp.exp(mpf("0.1")) - 1)
    assert mpf(found.stated_epsilon.numerator) / found.stated_epsilon.denominator - exact >= 0
    assert float(found.stated_epsilon) == pytest.approx(float(exact), rel=1e-15)
    assert found.stated_delta == F(1, 10**6) + F(1, 10**7)


steps_of = st.lists(
    st.tuples(
        st.sampled_from([F(1, 10), F(1, 3), F(1), F(5, 2)]), st.sampled_from([F(0), F(1, 10**5)])
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=pick(15, 40), deadline=None)
@given(steps_of, st.sampled_from([0, F(1, 10), F(1, 2), 1, F(5, 2), 7]))
def test_optimal_is_the_curve_of_the_worst_mechanisms(steps, epsilon) -> None:
    curve = OptimalComposition((e, d, 1) for e, d in steps)
    low, high = curve.delta_bounds(epsilon)
    slow = slow_delta(steps, F(epsilon))
    assert low <= slow + mpf(10) ** -30
    assert high >= slow - mpf(10) ** -30
    assert high - low <= 1e-15


def test_optimal_is_kairouz_oh_viswanath_for_equal_steps() -> None:
    k, e, d, x = 30, 0.1, 1e-8, 1.0
    terms = (comb(k, n) * max(0, exp(e * (k - n)) - exp(x + e * n)) for n in range(k + 1))
    closed = 1 - (1 - d) ** k * (1 - sum(terms) / (1 + exp(e)) ** k)
    assert optimal(e, d, times=k).delta(x) == pytest.approx(closed, rel=1e-10)


@pytest.mark.parametrize("times", [1, 7, 100, 1000])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1])
def test_p4_optimal_is_at_most_basic_and_advanced(times, epsilon) -> None:
    best = optimal(epsilon, times=times).epsilon(1e-6)
    assert best <= basic(epsilon, times=times).epsilon(1e-6)
    assert best <= advanced(epsilon, times=times, slack=1e-6).epsilon(1e-6)


def test_optimal_of_one_step_is_that_step() -> None:
    one, same = optimal(0.5, 1e-3, times=1), ApproxDP(0.5, 1e-3)
    for epsilon in (0, 0.2, 0.5, 2):
        assert one.delta(epsilon) == pytest.approx(same.delta(epsilon), rel=1e-15)
    assert one.epsilon(0) == inf
    assert one.worst_loss() == F(1, 2)
    assert one.group(2).worst_loss() == 1
    assert isinstance(optimal(5, 1e-2, times=1).group(9), NoPrivacy)
    assert one.tradeoff_bounds(0.1)[0] <= same.tradeoff(0.1) <= one.tradeoff_bounds(0.1)[1]


def test_optimal_of_twenty_different_steps_is_quick_and_labelled() -> None:
    steps = [PureDP(F(1, 10) + F(i, 97), neighbours=ADD_REMOVE) for i in range(20)]
    found = optimal_of(*steps)
    assert found.neighbours == ADD_REMOVE
    assert found.epsilon(1e-6) <= sum(step.stated_epsilon for step in steps)
    assert found.delta_bounds(1)[0] > max(step.delta(1) for step in steps)


def test_what_takes_too_long_or_has_no_pair_is_refused_and_compose_is_named() -> None:
    with pytest.raises(UnsupportedQuery, match="compose"):
        optimal_of(*(PureDP(F(1, n + 2)) for n in range(40)))
    with pytest.raises(UnsupportedQuery, match="compose"):
        optimal_of(GaussianDP(1))


def test_optimal_down_to_small_deltas_keeps_its_digits() -> None:
    """At 10^-50 a sum of rounded floats would have none left."""
    curve = optimal(1, times=400)
    low, high = curve.delta_bounds(395)
    assert 0 < low <= high < 1e-50
    assert high / low < 1 + 1e-12


# Side by side.


@pytest.mark.parametrize("privacy", [PureDP(0.1), GaussianDP(0.1), ZCDP(0.01), ApproxDP(0.1, 1e-9)])
def test_no_theorem_is_below_the_certified_lower_bound(privacy) -> None:
    found = compare(privacy, 50, 1e-6)
    names = [row.theorem for row in found.rows]
    assert "compose" in names
    assert {"basic", "advanced", "optimal"} <= set(names)
    assert all(row.epsilon >= found.lower for row in found.rows)
    assert [row.epsilon for row in found.rows] == sorted(row.epsilon for row in found.rows)


def test_the_table_prints_every_row_and_the_lower_bound() -> None:
    words = str(compare(PureDP(0.1), 100, 1e-6))
    assert words.startswith("100 × PureDP(epsilon=0.1), at δ = 1e-6")
    for name in ("compose", "optimal", "zCDP", "Gaussian DP", "Renyi DP", "advanced", "basic"):
        assert f"  {name} " in words
    assert "No proof can give less" in words
    assert max(map(len, words.splitlines())) <= 80


def test_too_many_runs_leave_the_slow_theorem_out() -> None:
    names = [row.theorem for row in compare(GaussianDP(0.001), 10**6, 1e-6).rows]
    assert "optimal" not in names
    assert "basic" in names


def test_a_comparison_is_drawn(tmp_path) -> None:
    path = compare(GaussianDP(0.1), 64, 1e-6).plot(tmp_path / "theorems.svg")
    text = path.read_text("utf-8")
    assert text.count("<polyline") == 7
    assert "advanced" in text
    with pytest.raises(ParameterError, match=r"\.svg"):
        compare(GaussianDP(0.1), 4, 1e-6).plot(tmp_path / "theorems.png")


def test_laplace_is_never_dearer_than_what_is_merely_pure() -> None:
    def renyi(privacy):
        return next(r.epsilon for r in compare(privacy, 20, 1e-6).rows if r.theorem == "Renyi DP")

    assert renyi(LaplacePrivacy(0.5)) < renyi(PureDP(0.5))
    assert len(ORDERS) == 6


def test_a_theorem_that_says_nothing_is_listed_with_the_reason() -> None:
    found = compare(ApproxDP(0.1, 1e-8), 100, 1e-6)
    assert [row.theorem for row in found.left_out] == ["advanced"]
    assert "advanced  says nothing: the runs' own δ use up all of δ" in str(found)
    many = compare(GaussianDP(0.001), 10**6, 1e-6)
    assert [(row.theorem, row.says) for row in many.left_out] == [
        ("optimal", "too many runs to compute")
    ]


def test_the_pair_that_a_theorem_rests_on_is_named_and_gives_its_row() -> None:
    rows = {row.theorem: row for row in compare(ApproxDP(0.1, 1e-8), 100, 1e-6).rows}
    assert rows["optimal"].says == "from ε = 0.1, δ = 1e-8 a run"
    assert rows["optimal"].epsilon == optimal(0.1, 1e-8, times=100).epsilon(1e-6)
    assert rows["basic"].epsilon == 10
    half = {row.theorem: row for row in compare(GaussianDP(0.1), 100, 1e-6).rows}["optimal"]
    assert half.says.endswith("δ = 5e-9 a run")
