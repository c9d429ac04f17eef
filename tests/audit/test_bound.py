"""The bound covers the truth, for every count there is, and is close to the best there is."""

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy import stats

from letalone.audit import bound
from letalone.audit.bound import HitCounts, epsilon_below, epsilon_below_apart, product_level

NOTHING = Fraction(0)
ONE_IN_TWENTY = Fraction(1, 20)
TOTAL = 9
RATES = (0.02, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99)


def bounds_of_all_counts(delta: Fraction, miss: Fraction) -> dict[tuple[int, int], float]:
    every = product(range(TOTAL + 1), repeat=2)
    return {c: epsilon_below(HitCounts(*c, TOTAL), delta=delta, miss=miss) for c in every}


def share_above_truth(
    bounds: dict[tuple[int, int], float], p: float, q: float, delta: float
) -> float:
    """The exact probability that the bound exceeds the epsilon that the rates p and q need."""
    truth = max(0.0, np.log(max(p - delta, 1e-300) / q))
    often, seldom = (stats.binom.pmf(np.arange(TOTAL + 1), TOTAL, rate) for rate in (p, q))
    return sum(often[x] * seldom[y] for (x, y), low in bounds.items() if low > truth)


@pytest.mark.parametrize("delta", [0, 0.05])
@pytest.mark.parametrize("miss", [Fraction(1, 20), Fraction(3, 10)])
def test_the_bound_exceeds_the_truth_no_more_often_than_stated(
    delta: float, miss: Fraction
) -> None:
    """Exact sums over all counts; no chance involved."""
    bounds = bounds_of_all_counts(Fraction(str(delta)), miss)
    worst = max(share_above_truth(bounds, p, q, delta) for p, q in product(RATES, repeat=2))
    assert worst <= float(miss)


def test_the_same_sums_refute_a_bound_that_does_not_share_the_error() -> None:
    """Power: rates bounded at 1 − U·V ≤ miss without the logarithm, that is t = miss."""
    bounds = bounds_of_all_counts(NOTHING, ONE_IN_TWENTY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bound, "product_level", float)
        bounds = bounds_of_all_counts(NOTHING, ONE_IN_TWENTY)
    rates = product(np.linspace(0.02, 0.98, 25), repeat=2)
    assert max(share_above_truth(bounds, p, q, 0) for p, q in rates) > 0.05


@pytest.mark.parametrize("counts", [(50, 18, 100), (9, 0, 100), (100, 40, 100), (700, 300, 1000)])
@pytest.mark.parametrize("delta", [0, 0.03])
def test_the_bound_is_just_below_the_least_epsilon_of_all_pairs(
    counts: tuple[int, int, int], delta: float
) -> None:
    """Against a search over all pairs of rates, in plain floats."""
    often, seldom, total = counts
    level = product_level(ONE_IN_TWENTY)
    p = np.linspace(1e-6, 1, 200_000)
    shares = stats.binom.sf(often - 1, total, p)
    p, shares = p[shares > level], shares[shares > level]
    # The largest q whose V is still above level / U.
    q = stats.beta.isf(level / shares, seldom + 1, total - seldom)
    least = max(0.0, float(np.log(np.maximum(p - delta, 1e-300) / q).min()))
    found = epsilon_below(HitCounts(*counts), delta=Fraction(str(delta)), miss=ONE_IN_TWENTY)
    assert least - 0.03 <= found <= least + 1e-6


@pytest.mark.parametrize("miss", [Fraction(1, 20), Fraction(1, 10**9), Fraction(99, 100)])
def test_the_level_is_the_largest_whose_share_is_within_the_error(miss: Fraction) -> None:
    """Two uniform numbers have a product of at most t with probability t(1 − ln t)."""
    with mpmath.workdps(60):
        level, allowed = (
            mpmath.mpf(product_level(miss)),
            mpmath.mpf(miss.numerator) / miss.denominator,
        )
        assert level * (1 - mpmath.log(level)) <= allowed
        above = level * (1 + mpmath.mpf(10) ** -9)
        assert above * (1 - mpmath.log(above)) > allowed


def test_the_product_beats_two_intervals_of_half_the_error_each() -> None:
    often, seldom, total = 2500, 920, 5000
    low = stats.beta.ppf(0.025, often, total - often + 1)
    high = stats.beta.isf(0.025, seldom + 1, total - seldom)
    found = epsilon_below(HitCounts(often, seldom, total), delta=NOTHING, miss=ONE_IN_TWENTY)
    assert found > np.log(low / high) + 0.015


def test_nothing_seen_certifies_nothing() -> None:
    for counts in (
        HitCounts(0, 0, 50),
        HitCounts(0, 50, 50),
        HitCounts(50, 50, 50),
        HitCounts(10, 20, 50),
    ):
        assert epsilon_below(counts, delta=NOTHING, miss=ONE_IN_TWENTY) == 0
    seen = HitCounts(10, 0, 100)
    assert epsilon_below(seen, delta=NOTHING, miss=ONE_IN_TWENTY) > 0
    assert epsilon_below(seen, delta=Fraction(1, 5), miss=ONE_IN_TWENTY) == 0


def test_the_bound_falls_with_delta_with_confidence_and_with_hits_on_the_other_side() -> None:
    def low(seldom: int = 100, delta: str = "0", miss: str = "0.05") -> float:
        counts = HitCounts(400, seldom, 1000)
        return epsilon_below(counts, delta=Fraction(delta), miss=Fraction(miss))

    assert low() > low(seldom=101)
    assert low() > low(delta="0.001")
    assert low() > low(miss="0.049")


@pytest.mark.parametrize(
    "counts", [(250_000, 92_000), (3_000_000, 0), (7, 2), (5_000_000, 4_000_000)]
)
def test_large_counts_are_certified_too(counts: tuple[int, int]) -> None:
    often, seldom = counts
    total = 5_000_000
    found = epsilon_below(HitCounts(often, seldom, total), delta=NOTHING, miss=ONE_IN_TWENTY)
    assert found < np.log(often / max(seldom, 1))
    if often > 100:
        assert found > 0.9 * np.log(often / max(seldom, 4))


@pytest.mark.parametrize(("rates", "wrong"), [("_least_rates", 1.001), ("_most_rates", 0.999)])
def test_a_wrong_quantile_is_noticed_and_certifies_nothing(
    rates: str, wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every rate that is used has been checked in ball arithmetic: 0 and 1 take their place."""
    right = getattr(bound, rates)
    monkeypatch.setattr(bound, rates, lambda *given: right(*given) * wrong)
    assert epsilon_below(HitCounts(100, 0, 1000), delta=NOTHING, miss=ONE_IN_TWENTY) == 0


@pytest.mark.parametrize("counts", [(50, 18, 100), (9, 0, 100), (700, 300, 1000)])
def test_every_pair_of_the_set_lies_beyond_a_pair_that_was_compared(
    counts: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that no part of the set is passed over. Pairs just inside its border suffice."""
    often, seldom, total = counts
    compared: list[tuple[float, float]] = []
    monkeypatch.setattr(
        bound, "_log_ratio", lambda p, q, _: compared.append((float(p), float(q))) or 0.0
    )
    epsilon_below(HitCounts(*counts), delta=NOTHING, miss=ONE_IN_TWENTY)
    level = product_level(ONE_IN_TWENTY)
    for share in level ** np.linspace(0.999, 0.001, 1500):
        p = stats.beta.ppf(share, often, total - often + 1) * (1 + 1e-6)
        q = stats.beta.isf(level / share, seldom + 1, total - seldom) * (1 - 1e-6)
        assert any(p >= least and q <= most for least, most in compared)


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("rate", [0.003, 0.05, 0.3])
def test_draws_that_are_not_alike_are_bounded_by_their_mean_rates(
    rate: float, spread: float
) -> None:
    """The exact chance of a bound above the truth, over all counts of draws whose rates differ."""
    total, ratio = 60, 2.0
    rates = rate * (1 + spread * np.where(np.arange(total) % 2, 1, -1))
    often, seldom = (poisson_binomial(part) for part in (np.minimum(ratio * rates, 1), rates))
    truth = np.log(np.mean(np.minimum(ratio * rates, 1)) / np.mean(rates))
    likely = [
        (x, y)
        for x in np.flatnonzero(often > 1e-6)
        for y in np.flatnonzero(seldom > 1e-6)
        if x / max(y, 0.5) > 1.5
    ]
    wrong = sum(
        often[x] * seldom[y]
        for x, y in likely
        if epsilon_below_apart(
            HitCounts(int(x), int(y), total), delta=Fraction(0), miss=Fraction(1, 20)
        )
        > truth
    )
    assert wrong <= 0.05


def poisson_binomial(rates: np.ndarray) -> np.ndarray:
    law = np.ones(1)
    for rate in rates:
        law = np.convolve(law, [1 - rate, rate])
    return law


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("rate", [0.2, 0.35])
def test_one_mean_rate_alone_is_missed_by_at_most_half_of_the_error(
    rate: float, spread: float
) -> None:
    """The other count is nothing, so its rate is known to be at most `most`."""
    total = 60
    most = stats.beta.ppf(1 - 0.025, 2, total - 1)
    law = poisson_binomial(rate * (1 + spread * np.where(np.arange(total) % 2, 1, -1)))
    missed = [
        law[x]
        for x in range(total + 1)
        if epsilon_below_apart(HitCounts(x, 0, total), delta=NOTHING, miss=ONE_IN_TWENTY)
        > np.log(rate / most)
    ]
    assert sum(missed) <= 0.025
