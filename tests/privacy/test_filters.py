"""Filters: ten times 0.1 is 1, adversaries who adapt gain nothing, refusals change nothing."""

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf, ncdf, quad

from letalone.errors import BudgetExceeded, FormatError, NeighboursDiffer, ParameterError
from letalone.mechanisms import Laplace
from letalone.privacy import (
    ADD_REMOVE,
    REPLACE,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Budget,
    DiscreteGaussianPrivacy,
    GaussianDP,
    LaplacePrivacy,
    NoPrivacy,
    PureDP,
    compose,
)
from letalone.privacy.bank import ORDERS, USUAL_SHARES, Notion, Shares, price_of
from letalone.privacy.curves.laplace_curve import laplace_divergence
from letalone.privacy.curves.pure_terms import pure_mu_squared, pure_rho
from letalone.privacy.curves.renyi import RenyiDP
from letalone.privacy.filter_record import state_from_json, state_to_json
from letalone.privacy.filters import (
    Filter,
    Odometer,
    charge_filter,
    how_many_more,
    left_in_words,
    open_filter,
)
from stages import pick

F = Fraction
BUDGET = Budget(1, 1e-6)


def account(state, notion, order=None):
    return next(a for a in state.accounts if (a.notion, a.order) == (notion, order))


# What fits.


def test_p3_ten_charges_of_a_tenth_fit_into_one_and_an_eleventh_does_not() -> None:
    spending = Filter(Budget(1, 0))
    assert [spending.charge(PureDP(0.1)).epsilon for _ in range(10)] == [
        F(n, 10) for n in range(1, 11)
    ]
    assert spending.remaining == Budget(0)
    with pytest.raises(BudgetExceeded):
        spending.charge(PureDP(F(1, 10**30)))


def test_thirds_add_up_to_one() -> None:
    spending = Filter(Budget(1))
    for _ in range(3):
        spending.charge(PureDP(F(1, 3)))
    assert spending.spent == Budget(1)


def test_the_refusal_says_what_is_spent_asked_and_left_and_what_to_change() -> None:
    spending = Filter(Budget(1))
    spending.charge(PureDP(0.75))
    with pytest.raises(
        BudgetExceeded,
        match=r"PureDP\(epsilon=0.5\).*\(ε = 1\).*\(ε = 0.75\) is spent.*\(ε = 0.25\) is left.*"
        r"Nothing was charged.*Ask for less",
    ):
        spending.charge(PureDP(0.5))


def test_a_refused_request_is_added_to_no_account() -> None:
    before = charge_filter(open_filter(BUDGET), GaussianDP(0.05))
    spending = Filter.resumed(before)
    with pytest.raises(BudgetExceeded):
        spending.charge(PureDP(5))
    assert spending.state is before
    spending.charge(PureDP(0.1))


def test_without_a_delta_only_sums_live() -> None:
    state = open_filter(Budget(1, 0))
    assert [one.notion for one in state.accounts] == [Notion.SUMS]
    with pytest.raises(BudgetExceeded):
        charge_filter(state, GaussianDP(0.001))
    with pytest.raises(BudgetExceeded):
        charge_filter(state, ApproxDP(0.1, 1e-30))


def test_a_budget_of_zero_takes_nothing() -> None:
    with pytest.raises(BudgetExceeded):
        Filter(Budget(0, 0)).charge(PureDP(1e-12))


def test_every_account_is_charged_dead_ones_too_and_the_dead_stay_dead() -> None:
    state = charge_filter(open_filter(BUDGET), GaussianDP(0.05))
    for _ in range(8):
        state = charge_filter(state, GaussianDP(0.05))
    dead = account(state, Notion.SUMS)
    assert not dead.live
    assert dead.amount is not None
    assert dead.amount > 1
    later = charge_filter(state, PureDP(F(1, 1000)))
    assert account(later, Notion.SUMS).amount == dead.amount + F(1, 1000)
    assert not account(later, Notion.SUMS).live


def test_an_account_that_is_marked_dead_never_lives_again() -> None:
    fresh = open_filter(BUDGET)
    dead = replace(fresh, accounts=tuple(replace(one, live=False) for one in fresh.accounts[:1]))
    with pytest.raises(BudgetExceeded):
        charge_filter(replace(dead, accounts=(*dead.accounts, *fresh.accounts[1:2])), PureDP(0.9))
    assert charge_filter(fresh, PureDP(0.9)).spent == Budget(0.9)


def test_readings_of_endless_curves_count_against_the_share_of_sums() -> None:
    spending = Filter(Budget(10, 1e-6), shares=Shares(sums=1))
    spending.charge(GaussianDP(0.01), delta=4e-7)
    spending.charge(GaussianDP(0.01), delta=4e-7)
    assert spending.spent.delta == F(8, 10**7)
    with pytest.raises(BudgetExceeded):
        spending.charge(GaussianDP(0.01), delta=4e-7)
    spending.charge(GaussianDP(0.01), delta=2e-7)


def test_a_curve_of_no_family_enters_as_one_point_whose_delta_leaks() -> None:
    curve = GaussianDP(0.5).sampled(0.01)
    leak, amounts = charge_of(curve)
    assert leak == F(1, 10**9)
    assert amounts == charge_of(PureDP(curve.epsilon(1e-9)))[1]


def test_many_small_releases_outlive_basic_composition() -> None:
    assert how_many_more(open_filter(BUDGET), PureDP(0.01)) > 300
    assert how_many_more(open_filter(Budget(1, 0)), PureDP(0.01)) == 100


# How curves enter.


def charge_of(privacy):
    price = price_of(privacy, open_filter(BUDGET).accounts, delta=F(1, 10**9))
    named = zip(open_filter(BUDGET).accounts, price.amounts, strict=True)
    return price.leak, {(a.notion, a.order): more for a, more in named}


def test_each_curve_enters_each_account_by_its_own_theorem() -> None:
    sums, gaussian = (Notion.SUMS, None), (Notion.GAUSSIAN, None)
    concentrated, third = (Notion.CONCENTRATED, None), (Notion.RENYI, ORDERS[0])
    leak, pure = charge_of(PureDP(0.5))
    assert leak == 0
    assert pure[sums] == (F(1, 2), 0)
    assert pure[gaussian].amount == pure_mu_squared(F(1, 2))
    assert pure[concentrated].amount == pure_rho(F(1, 2)) <= F(1, 8)
    _, noise = charge_of(GaussianDP(0.5))
    assert noise[gaussian].amount == F(1, 4)
    assert noise[concentrated].amount == F(1, 8)
    assert noise[third].amount == F(3, 8)
    assert noise[sums].leak == F(1, 10**9)
    assert float(noise[sums].amount) >= GaussianDP(0.5).epsilon(1e-9) * (1 - 1e-15)
    _, choice = charge_of(BoundedRange(0.5))
    assert choice[concentrated].amount == F(1, 32)
    _, whole = charge_of(DiscreteGaussianPrivacy(1, 2))
    assert whole[gaussian].amount is None, "the discrete Gaussian is not Gaussian DP"
    assert whole[concentrated].amount == F(1, 8)
    _, rho = charge_of(ZCDP(0.125))
    assert rho[gaussian].amount is None, "zCDP does not give Gaussian DP"
    assert rho[third].amount == F(3, 8)
    _, laplace = charge_of(LaplacePrivacy(0.5))
    assert laplace[third].amount == laplace_divergence(ORDERS[0], F(1, 2)) < pure[third].amount
    _, order = charge_of(RenyiDP(3, 0.1))
    assert order[third].amount == F(1, 10)
    assert order[(Notion.RENYI, ORDERS[1])].amount is None


def test_an_approximate_release_leaks_once_and_is_pure_otherwise() -> None:
    leak, amounts = charge_of(ApproxDP(0.5, 1e-8))
    _, pure = charge_of(PureDP(0.5))
    assert leak == F(1, 10**8)
    assert amounts == pure


def test_a_composition_enters_as_its_parts() -> None:
    leak, amounts = charge_of(compose(GaussianDP(0.5), PureDP(0.1) * 3, ApproxDP(0.2, 1e-9) * 2))
    assert leak == F(2, 10**9)
    expected = F(1, 4) + 3 * pure_mu_squared(F(1, 10)) + 2 * pure_mu_squared(F(1, 5))
    assert amounts[(Notion.GAUSSIAN, None)].amount == expected


def test_no_promise_is_refused_whatever_the_budget() -> None:
    with pytest.raises(BudgetExceeded):
        Filter(Budget(10**6, 0.999)).charge(NoPrivacy())


def test_leaks_beyond_their_cap_are_refused_with_the_remedy() -> None:
    spending = Filter(BUDGET)
    with pytest.raises(BudgetExceeded, match=r"Its own δ of 3e-7.*2.5e-7.*Shares\(leak=…\)"):
        spending.charge(ApproxDP(0.1, 3e-7))
    Filter(BUDGET, shares=Shares(leak=1)).charge(ApproxDP(1, 1e-6))


def test_neighbours_are_kept_and_not_mixed() -> None:
    spending = Filter(Budget(1))
    spending.charge(PureDP(0.1, neighbours=ADD_REMOVE))
    with pytest.raises(NeighboursDiffer):
        spending.charge(PureDP(0.1, neighbours=REPLACE))
    spending.charge(PureDP(0.1))
    assert spending.spent == Budget(0.2)


# The promise, against adversaries.


@settings(max_examples=pick(15, 30), deadline=None)
@given(
    st.lists(
        st.sampled_from([F(1, 10), F(1, 4), F(1, 3), F(1, 2), F(7, 10)]), min_size=7, max_size=7
    ),
    st.lists(st.sampled_from([F(0), F(1, 50), F(1, 20)]), min_size=7, max_size=7),
)
def test_p5_an_adaptive_adversary_keeps_the_budget(epsilons, leaks) -> None:
    """A tree of three steps, each the worst (e, d)-DP mechanism, e and d read off the answers.

    The divergence of all transcripts is enumerated; a filter that forgot a charge, or one that
    looked at the curve so far, would let some tree beyond the budget.
    """
    budget = Budget(1, 0.1)
    found = divergence(open_filter(budget, Shares(leak=1)), 0, epsilons, leaks, budget)
    assert found <= 0.1 + 1e-12


def divergence(state, node, epsilons, leaks, budget, p=1.0, q=1.0):
    """The sum of max(0, P - e^epsilon Q) over transcripts; refused steps end the transcript."""
    end = max(0.0, p - exp(budget.epsilon) * q)
    if node >= len(epsilons):
        return end
    epsilon, leak = epsilons[node], leaks[node]
    try:
        after = charge_filter(state, ApproxDP(epsilon, leak) if leak else PureDP(epsilon))
    except BudgetExceeded:
        return end
    truth, kept = 1 / (1 + exp(-epsilon)), 1 - float(leak)
    total = p * float(leak)  # shown outright: only the one law gives this answer
    for child, (a, b) in enumerate(((truth, 1 - truth), (1 - truth, truth))):
        chances = p * kept * a, q * kept * b
        total += divergence(after, 2 * node + 1 + child, epsilons, leaks, budget, *chances)
    return total


def test_a_region_in_place_of_fixed_caps_would_break_the_promise() -> None:
    """conversion + leak <= delta_j as one region: this adversary reaches 1.95 times delta_j.

    Gaussian noise first; where the loss so far is hopeless, spend what the region leaves on a
    leak, elsewhere on more Gaussian noise. With fixed caps the same adversary stays within.
    """
    mp.dps = 25
    epsilon, mu, first = mpf(1), mpf("0.25"), mpf("0.6")

    def conversion(square):
        root = mp.sqrt(square)
        near, far = root / 2 - epsilon / root, -root / 2 - epsilon / root
        return ncdf(near) - mp.e**epsilon * ncdf(far)

    share = conversion(mu**2)
    square = first * mu**2
    left = share - conversion(square)

    def rest(level):
        root = mp.sqrt(mu**2 - square)
        gap = epsilon - level
        return ncdf(root / 2 - gap / root) - mp.e**gap * ncdf(-root / 2 - gap / root)

    def density(z):
        return mp.e ** (-(z**2) / 2) / mp.sqrt(2 * mp.pi)

    def level(z):  # the loss of N(mu_1, 1) against N(0, 1) at z standard deviations
        return mp.sqrt(square) * z + square / 2

    cut = mpf(2)
    near = quad(lambda z: density(z) * rest(level(z)), [cut, 3, 4, 5, 6, 8, 12])
    reached = near + left * ncdf(cut)
    assert reached > 1.9 * share
    cap = share / 2  # on leaks, beside the share for conversions: what the two caps promise
    assert near + cap * ncdf(cut) < share + cap


@pytest.mark.parametrize("privacy", [GaussianDP(0.05), LaplacePrivacy(0.02), ZCDP(0.001)])
def test_what_is_let_through_is_within_the_budget_by_the_exact_curve(privacy) -> None:
    """The bank never accepts more equal releases than the exact curve of all allows."""
    count = how_many_more(open_filter(BUDGET), privacy)
    assert count > 0
    assert (privacy * count).delta_bounds(1)[0] <= 1e-6


def test_gaussian_noise_is_used_to_within_the_share_of_its_account() -> None:
    """One more Gaussian release than accepted would exceed each account's limit."""
    count = how_many_more(open_filter(BUDGET), GaussianDP(0.01))
    assert GaussianDP(mu_squared=F(count, 10**4)).delta(1) <= 2.5e-7
    assert GaussianDP(mu_squared=F(count + 1, 10**4)).delta(1) > 2.5e-7


# Records.


@pytest.mark.parametrize(
    "release",
    [compose(PureDP(0.03), GaussianDP(0.002)), ApproxDP(1e-6, 3e-8)],
    ids=["loss", "leak"],
)
def test_how_many_more_is_exactly_how_many_are_accepted(release) -> None:
    """By what their losses cost, and by their own δ where that is what runs out."""
    spending = Filter(Budget(0.3, 1e-6))
    promised = spending.how_many_more(release)
    assert 5 < promised < 30
    for _ in range(int(promised)):
        spending.charge(release)
    with pytest.raises(BudgetExceeded):
        spending.charge(release)
    assert spending.how_many_more(compose()) == inf


def test_spent_never_exceeds_the_budget_and_never_falls() -> None:
    spending, last = Filter(BUDGET), Budget(0)
    for privacy in (PureDP(0.1), GaussianDP(0.05), PureDP(0.2), ApproxDP(0.01, 1e-8)) * 2:
        try:
            now = spending.charge(privacy)
        except BudgetExceeded:
            continue
        assert now <= BUDGET
        assert now.epsilon >= last.epsilon
        assert now.epsilon + spending.remaining.epsilon == 1
        last = now


def test_a_filter_is_stored_and_continued_exactly() -> None:
    spending = Filter(BUDGET)
    for privacy in (PureDP(F(1, 3)), GaussianDP(0.05, neighbours=ADD_REMOVE.of("person"))):
        spending.charge(privacy)
    text = json.dumps(state_to_json(spending.state))
    again = Filter.resumed(state_from_json(json.loads(text)))
    assert again.state == spending.state
    assert again.charge(PureDP(0.01)) == spending.charge(PureDP(0.01))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("leak_limit", "1/2"),
        ("leak", "-1"),
        ("delta", "1e-7"),
        ("format", 2),
        ("format", None),
        ("kind", "curve"),
        ("accounts", [{}]),
        ("accounts", []),
        ("epsilon", "-1"),
        ("epsilon", "1/100"),
        ("neighbours", {"relation": "same", "unit": None}),
    ],
)
def test_a_damaged_or_generous_record_is_refused(field, value) -> None:
    stored = state_to_json(charge_filter(open_filter(BUDGET), PureDP(0.5)))
    with pytest.raises(FormatError):
        state_from_json({**stored, field: value})


def test_an_account_over_its_limit_cannot_be_stored_as_living() -> None:
    state = open_filter(BUDGET)
    for _ in range(9):
        state = charge_filter(state, GaussianDP(0.05))
    stored = json.loads(json.dumps(state_to_json(state)))
    stored["accounts"][0]["live"] = True
    with pytest.raises(FormatError, match="do not fit"):
        state_from_json(stored)


def test_copies_share_one_budget_and_pickles_are_refused() -> None:
    spending = Filter(Budget(1))
    for twin in (copy.copy(spending), copy.deepcopy(spending)):
        twin.charge(PureDP(0.25))
    assert spending.spent == Budget(0.5)
    with pytest.raises(TypeError, match=r"filter\.state"):
        pickle.dumps(spending)


def test_threads_do_not_lose_charges() -> None:
    spending = Filter(Budget(100))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: spending.charge(PureDP(0.1)), range(400)))
    assert spending.spent == Budget(40)


def test_huge_denominators_are_rounded_up_and_stay_short() -> None:
    state, exact = open_filter(Budget(10**4)), F(0)
    for n in range(60):
        odd = F(1, 2**61 + 2 * n + 1)
        state, exact = charge_filter(state, PureDP(1 + odd)), exact + 1 + odd
    total = account(state, Notion.SUMS).amount
    assert exact <= total <= exact + F(60, 2**256)
    assert total.denominator.bit_length() <= 2048 + 64


@pytest.mark.parametrize("bad", [{"leak": 1.1}, {"sums": -0.1}, {"sums": 0.6, "leak": 0.6}])
def test_shares_beyond_the_whole_are_refused(bad) -> None:
    with pytest.raises(ParameterError):
        Shares(**bad)


def test_the_usual_shares_are_the_whole_delta() -> None:
    state = open_filter(BUDGET)
    total = sum((one.share for one in state.accounts), state.leak_limit)
    assert total == BUDGET.delta
    names = ("leak", "sums", "gaussian", "concentrated", "renyi")
    assert sum(getattr(USUAL_SHARES, name) for name in names) == 1


def test_the_filter_prints_budget_spending_and_unit() -> None:
    spending = Filter(Budget(1))
    spending.charge(PureDP(0.25, neighbours=ADD_REMOVE.of("patient")))
    assert repr(spending) == "Filter(ε = 1; ε = 0.25 spent on 1 release, add or remove one patient)"


# Odometers.


def test_an_odometer_reads_the_first_mark_whose_filter_never_refused() -> None:
    meter = Odometer(0, marks=(0.1, 0.25, 1))
    readings = [meter.charge(PureDP(0.1)) for _ in range(5)]
    assert readings == [0.1, 0.25, 1.0, 1.0, 1.0]
    assert copy.copy(meter) is copy.deepcopy(meter) is meter
    for _ in range(6):
        meter.charge(PureDP(0.1))
    assert meter.epsilon == inf


def test_an_odometer_never_falls_and_shares_its_delta_among_the_marks() -> None:
    meter, last = Odometer(1e-6), 0.0
    for privacy in (PureDP(0.1), GaussianDP(0.2), GaussianDP(0.01), PureDP(0.01)) * 3:
        now = meter.charge(privacy)
        assert now >= last
        last = now
    assert "ε = " in repr(meter)
    states = [state for state in meter._states if state is not None]
    assert all(state.budget.delta * 18 == F(1, 10**6) for state in states)


def test_p5_a_passed_mark_is_never_read_again() -> None:
    """A release too dear for a mark, then none: forgetting the pass would read it again."""
    meter = Odometer(0, marks=(0.1, 1))
    assert meter.charge(PureDP(0.5)) == 1.0
    assert meter.charge(PureDP(0.001)) == 1.0


def test_every_pair_of_curves_is_charged_as_their_composition_would_be() -> None:
    curves = [PureDP(0.01), GaussianDP(0.02), ZCDP(0.0001), LaplacePrivacy(0.01)]
    for one, other in product(curves, curves):
        apart = charge_filter(charge_filter(open_filter(BUDGET), one), other)
        together = charge_filter(open_filter(BUDGET), compose(one, other))
        for a, b in zip(apart.accounts[1:], together.accounts[1:], strict=True):
            assert a.amount == b.amount


# What a refusal carries, and what cannot be charged.


def test_a_refusal_carries_what_was_spent_asked_and_left() -> None:
    spending = Filter(Budget(1))
    spending.charge(PureDP(0.75))
    with pytest.raises(BudgetExceeded) as caught:
        spending.charge(PureDP(0.5))
    assert caught.value.spent == Budget(0.75)
    assert caught.value.asked == Budget(0.5)
    assert caught.value.left == Budget(0.25)
    assert pickle.loads(pickle.dumps(caught.value)).left == Budget(0.25)


def test_what_was_asked_is_a_pair_where_there_is_one() -> None:
    def asked(privacy, budget=BUDGET):
        with pytest.raises(BudgetExceeded) as caught:
            Filter(budget).charge(privacy)
        return caught.value.asked

    assert asked(ApproxDP(0.1, 1e-3)) == Budget(0.1, 1e-3)
    found = asked(GaussianDP(5))
    assert found is not None
    assert GaussianDP(5).delta(float(found.epsilon)) <= found.delta == F(1, 10**9)
    assert asked(GaussianDP(5), Budget(1)) is None
    assert asked(NoPrivacy()) is None


@pytest.mark.parametrize("release", [GaussianDP(1), ApproxDP(0.1, 1e-9), ZCDP(1e-9)])
def test_without_a_delta_the_remedy_is_a_delta_and_not_more_noise(release) -> None:
    with pytest.raises(BudgetExceeded, match="give the budget a δ") as caught:
        Filter(Budget(1)).charge(release)
    assert "more noise" not in str(caught.value)


def test_a_sampled_step_is_refused_with_the_way_to_plan_it() -> None:
    with pytest.raises(BudgetExceeded, match=r"\(ε, δ\) pair.*la\.compose and la\.calibrate"):
        Filter(BUDGET).charge(GaussianDP(5).sampled(0.5))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (0.1, "type float, but takes a privacy curve"),
        (Budget(0.1), "given a Budget, but is charged the privacy curve"),
        (Laplace(epsilon=1, sensitivity=1), r"type Laplace.*Give its \.privacy"),
    ],
)
def test_what_is_no_curve_is_refused_with_the_remedy(wrong, words) -> None:
    spending = Filter(BUDGET)
    for ask in (spending.charge, spending.how_many_more):
        with pytest.raises(ParameterError, match=words):
            ask(wrong)
    with pytest.raises(ParameterError, match="budget is 1, but must be a budget"):
        Filter(1)


def test_small_numbers_are_written_as_people_write_them() -> None:
    with pytest.raises(BudgetExceeded, match=r"\(ε = 1, δ = 1e-6\) is left"):
        Filter(BUDGET).charge(PureDP(5))


def test_the_delta_that_is_said_to_be_left_is_all_that_an_answer_can_have() -> None:
    state = charge_filter(open_filter(Budget(2, 1e-4)), ApproxDP(0.5, 1e-6))
    assert state.leak_left == Fraction("2.4e-5")
    assert left_in_words(state) == "ε = 1.5 (δ = 2.4e-5 for questions that need a δ)"
    assert charge_filter(state, ApproxDP(0.1, state.leak_left)).leak_left == 0
    with pytest.raises(BudgetExceeded):
        charge_filter(state, ApproxDP(0.1, state.leak_left + Fraction(1, 10**9)))
    assert left_in_words(open_filter(Budget(2))) == "ε = 2"
