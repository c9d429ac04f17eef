"""Groups under sampling: against quadrature, whole tables of coins, and P2."""

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb, exp, log, log1p, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from letalone.errors import ParameterError
from letalone.privacy import (
    ADD_REMOVE,
    REPLACE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    GeometricPrivacy,
    Grouped,
    LaplacePrivacy,
    PureDP,
    Sampled,
    SampledGroup,
    compose,
    from_json,
)
from letalone.privacy.curves.mixtures import Sides, sides_of
from letalone.privacy.loss.accountant import delta_above, delta_below
from letalone.privacy.loss.mixture_pair import MixturePair
from stages import pick


def binomial(count: int, rate: float) -> list[float]:
    return [comb(count, i) * rate**i * (1 - rate) ** (count - i) for i in range(count + 1)]


def by_quadrature(mu: float, rate: float, sides: tuple[int, int], epsilon: float) -> float:
    """The integral of max(0, P - e^e Q), without knowing where the event lies."""
    first, second = (binomial(count, rate) for count in sides)

    def excess(x: float) -> float:
        p = sum(w * exp(-((x - i * mu) ** 2) / 2) for i, w in enumerate(first))
        q = sum(w * exp(-((x + j * mu) ** 2) / 2) for j, w in enumerate(second))
        return max(0.0, p - exp(epsilon) * q) / sqrt(2 * pi)

    edges = np.linspace(-9 - sides[1] * mu, 9 + sides[0] * mu, 40).tolist()
    return sum(quad(excess, a, b, epsabs=1e-13)[0] for a, b in pairwise(edges))


@pytest.mark.parametrize(
    ("mu", "rate", "size"), [(0.5, 0.01, 4), (1.0, 0.3, 3), (2.5, 0.1, 2), (1.25, 0.6, 2)]
)
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0])
def test_the_curve_is_the_worst_of_all_additions_and_removals(mu, rate, size, epsilon):
    group = GaussianDP(mu).sampled(rate).group(size)
    assert isinstance(group, SampledGroup)
    found = [by_quadrature(mu, rate, (a, size - a), epsilon) for a in range(size + 1)]
    low, high = group.delta_bounds(epsilon)
    assert high == pytest.approx(max(found), rel=1e-7, abs=1e-11)
    assert low == pytest.approx(max(found[0], found[-1]), rel=1e-7, abs=1e-11)
    for a, truth in enumerate(found):
        certified = group.mixture(Sides(a, size - a)).upper_delta(Fraction(str(epsilon)))
        assert float(certified) == pytest.approx(truth, rel=1e-7, abs=1e-11)


def test_a_group_of_one_is_the_sampled_curve():
    one, curve = SampledGroup(GaussianDP(1), 0.1, size=1), GaussianDP(1).sampled(0.1)
    for epsilon in (0, 0.05, 0.3, 2):
        assert one.delta(epsilon) == pytest.approx(curve.delta(epsilon), rel=1e-12, abs=1e-300)
    assert curve.group(1) == curve


def test_a_million_fold_smaller_rate_keeps_its_digits():
    """To first order in q, δ(0) is k q (2 Φ(μ/2) − 1)."""
    group = GaussianDP(1).sampled(Fraction(1, 10**9)).group(5)
    low, high = group.delta_bounds(0)
    assert low <= high <= low * (1 + 1e-12)
    assert high == pytest.approx(5e-9 * (2 * norm.cdf(0.5) - 1), rel=1e-7)


def mixture(table: list[float], rate: float, density) -> np.ndarray:
    """The law of a noisy sum over a sample of a table, by all its coins."""
    total = np.zeros_like(density(0.0))
    for coins in product((0, 1), repeat=len(table)):
        used = sum(coins)
        chance = rate**used * (1 - rate) ** (len(table) - used)
        total += chance * density(sum(v for v, c in zip(table, coins, strict=True) if c))
    return total


VALUES = st.lists(st.sampled_from([-1.0, -0.4, 0.5, 1.0]), max_size=3)
GRID = np.arange(-16, 16, 0.005)


@settings(max_examples=pick(15, 40), deadline=None)
@given(VALUES, VALUES, VALUES, st.sampled_from([0.05, 0.4, 0.9]), st.sampled_from([0.5, 1.5]))
def test_no_table_of_a_gaussian_sum_exceeds_the_group_curve(shared, first, second, rate, mu):
    """Additions and removals mixed, records that are neither aligned nor extreme."""
    size = len(first) + len(second)
    if size == 0:
        return
    one = mixture(shared + first, rate, lambda shift: norm.pdf(GRID - mu * shift))
    other = mixture(shared + second, rate, lambda shift: norm.pdf(GRID - mu * shift))
    group = GaussianDP(mu).sampled(rate).group(size)
    for epsilon in (0.0, 0.3, 1.5):
        truth = np.maximum(one - exp(epsilon) * other, 0).sum() * 0.005
        assert truth <= group.delta(epsilon) + 1e-9


@settings(max_examples=pick(15, 40), deadline=None)
@given(VALUES, VALUES, VALUES, st.sampled_from([0.05, 0.4, 0.9]))
def test_no_table_of_a_geometric_count_exceeds_p2_or_whole_groups(shared, first, second, rate):
    size = len(first) + len(second)
    if size < 2:
        return
    outputs = np.arange(-80, 81)
    half = exp(-0.5)

    def density(shift: float) -> np.ndarray:
        return (1 - half) / (1 + half) * half ** np.abs(outputs - round(shift))

    rounded = [[round(v + 0.01) or 1 for v in values] for values in (shared, first, second)]
    one = mixture(rounded[0] + rounded[1], rate, density)
    other = mixture(rounded[0] + rounded[2], rate, density)
    group = GeometricPrivacy(1, 2).sampled(rate).group(size)
    assert isinstance(group, Grouped)
    for epsilon in (0.0, 0.3, 1.5):
        assert np.maximum(one - exp(epsilon) * other, 0).sum() <= group.delta(epsilon) + 1e-12


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.6])
def test_batches_of_fixed_size_under_replace(size: int, epsilon: float):
    """Three of eight records are drawn; `size` of them are replaced by their opposites."""
    records, batch = 8, 3
    outputs = np.arange(-80, 81)
    half = exp(-0.25)

    def density(shift: int) -> np.ndarray:
        return (1 - half) / (1 + half) * half ** np.abs(outputs - shift)

    def law(table: list[int]) -> np.ndarray:
        laws = [density(sum(chosen)) for chosen in combinations(table, batch)]
        return sum(laws) / len(laws)

    rest = [0] * (records - size)
    one, other = law([1] * size + rest), law([-1] * size + rest)
    # A replaced record moves the sum by 2.
    curve = GeometricPrivacy(2, 4, neighbours=REPLACE).sampled(Fraction(batch, records))
    group = curve.group(size)
    assert group.neighbours == REPLACE
    truth = np.maximum(one - exp(epsilon) * other, 0).sum()
    assert truth <= group.delta(epsilon) + 1e-12


@pytest.mark.parametrize(("records", "batch", "size"), [(2, 1, 2), (10, 3, 3), (8, 2, 3)])
def test_a_group_is_drawn_as_often_as_its_records_without_replacement(records, batch, size):
    """A release that hides nothing shows whether one of the group was drawn.

    Without replacement that is more likely than 1 - (1 - q)^k: of two records one is drawn, and
    it is certainly one of both.
    """
    drawn = 1 - Fraction(comb(records - size, batch), comb(records, batch))
    assert drawn > 1 - (1 - Fraction(batch, records)) ** size
    curve = PureDP(50, neighbours=REPLACE).sampled(Fraction(batch, records))
    assert curve.group(size).delta(0) >= drawn * (1 - Fraction(1, 10**9))


def test_more_records_reveal_more_and_blocks_cover_what_they_hold():
    group = SampledGroup(GaussianDP(0.7), 0.2, size=5)
    for epsilon in (Fraction(0), Fraction(1, 2)):
        curve = {
            (a, b): float(group.mixture(Sides(a, b)).upper_delta(epsilon))
            for a, b in product(range(4), repeat=2)
        }
        for a, b in product(range(3), repeat=2):
            assert curve[a, b] <= min(curve[a + 1, b], curve[a, b + 1]) + 1e-18
    for size in (1, 2, 5, 16, 17, 40, 64):
        sides = sides_of(size)
        assert sides[:2] == ((size, 0), (0, size))
        assert len(sides) <= 17
        for a in range(size + 1):
            assert any(one >= a and two >= size - a for one, two in sides)


def test_large_groups_are_covered_and_never_above_p2():
    single = GaussianDP(0.2).sampled(0.01)
    deltas = [single.group(size).delta(0.1) for size in (8, 16, 17, 30, 64, 65)]
    assert deltas == sorted(deltas)
    for size in (17, 64):
        rule = Grouped(single, size)
        assert single.group(size).delta(0.1) <= rule.delta(0.1)
    assert isinstance(single.group(65), Grouped)


def test_every_group_is_within_p2_and_the_exact_one_is_below_it():
    """At ε = 0 they nearly meet, for small rates; at ε = 1 P2 is twice as much."""
    single = GaussianDP(0.5).sampled(0.01)
    rule, exact = Grouped(single, 10), single.group(10)
    assert exact.delta(0) <= float(rule.by_rule(Fraction(0))) <= exact.delta(0) * 1.01
    assert exact.delta(1) < 0.5 * float(rule.by_rule(Fraction(1)))


def test_replacing_one_record_under_poisson_sampling_is_covered():
    """(1 − q) N(0) + q N(μ) against (1 − q) N(0) + q N(−μ): one out, one in."""
    replaced = GaussianDP(1).sampled(0.3).under(REPLACE)
    assert replaced.neighbours == REPLACE
    assert by_quadrature(1, 0.3, (1, 1), 0.4) <= replaced.delta(0.4)


@pytest.mark.parametrize("size", [2, 4])
def test_the_grid_encloses_the_certified_curve(size: int):
    group = GaussianDP(1).sampled(0.2).group(size)
    for sides in sides_of(size):
        source = ((MixturePair(1.0, 0.2, *sides), 1),)
        for epsilon in (0.1, 0.7):
            pair = group.mixture(sides)
            at = Fraction(str(epsilon))
            assert delta_below(source, epsilon) <= float(pair.upper_delta(at))
            high = delta_above(source, epsilon)
            assert float(pair.lower_delta(at)) <= high
            assert high <= float(pair.upper_delta(at)) * 1.01 + 1e-9


@pytest.mark.parametrize(
    ("mu", "rate", "sides"),
    [(0.5, 0.01, (10, 0)), (1.25, 0.3, (0, 3)), (6.0, 0.1, (4, 4)), (0.02, 0.5, (1, 2))],
)
def test_the_place_of_a_loss_is_never_above_it_and_close(mu, rate, sides):
    """Against the loss at 40 digits."""
    from mpmath import exp as e
    from mpmath import log as ln
    from mpmath import mpf, workdps

    pair = MixturePair(mu, rate, *sides)
    losses = np.linspace(-0.4, 3.0, 200) * min(1.0, 4 * mu)
    inside = (losses > pair.least_loss + 1e-9) & (losses < pair.largest_loss - 1e-9)
    losses = losses[inside]
    tails = pair.tails(losses)
    with workdps(40):

        def density(x, count, sign):
            q, m = mpf(rate), mpf(mu)
            terms = (i * m * (sign * x - i * m / 2) for i in range(count + 1))
            chances = (comb(count, i) * q**i * (1 - q) ** (count - i) for i in range(count + 1))
            return sum(w * e(t) for w, t in zip(chances, terms, strict=True))

        from letalone.privacy.loss.mixture_pair import _inverse

        for asked, x in zip(losses, _inverse(pair, losses), strict=True):
            found = ln(density(mpf(x), sides[0], 1)) - ln(density(mpf(x), sides[1], -1))
            assert 0 <= mpf(asked) - found <= pair.misplaced * (1 + abs(asked))
    assert (np.abs(tails.p + tails.p_below - 1) < 1e-14).all()


def test_a_group_in_many_sampled_releases():
    """A hundred steps: within P2 of the whole, above one unit, and above the removed group."""
    steps = GaussianDP(0.5).sampled(0.02) * 100
    group = steps.group(3)
    low, high = group.epsilon_bounds(1e-5)
    assert steps.epsilon_bounds(1e-5)[0] < low <= high
    assert high <= low * 1.05
    assert high <= Grouped(steps, 3).epsilon(1e-5) * (1 + 1e-9)
    alone = [
        epsilon_of(MixturePair(0.5, 0.02, *sides), 100, 1e-5) for sides in ((3, 0), (2, 1), (0, 3))
    ]
    assert high == pytest.approx(max(alone), rel=1e-3)


def epsilon_of(pair: MixturePair, times: int, delta: float) -> float:
    from letalone.privacy.loss.accountant import epsilon_above

    return epsilon_above(((pair, times),), delta)


def test_ten_thousand_steps_without_a_mixture_fall_back_to_p2_of_the_whole():
    """Laplace noise: composing P2 step by step says nothing, P2 of the composition does."""
    steps = LaplacePrivacy(Fraction(1, 2)).sampled(Fraction(1, 1000)) * 10**4
    group = steps.group(2)
    assert isinstance(group, Grouped)
    one = steps.epsilon(1e-6)
    assert group.epsilon(1e-5) <= 2 * steps.epsilon(1e-6) * (1 + 1e-9) + 1e-9
    assert group.epsilon(1e-5) > one


def test_sources_of_different_groups_may_differ_in_any_way():
    """One release counts persons, the other households of two: all four orders are looked at."""
    person, household = GaussianDP(1).sampled(0.1), GaussianDP(1).sampled(0.1).group(2)
    both = compose(person, household)
    low, high = both.delta_bounds(0.5)
    assert low <= high <= household.delta(0.25) + person.delta(0.25) + 1e-9
    assert high >= household.delta_bounds(0.5)[0]


def test_groups_of_groups_are_one_group():
    curve = GaussianDP(0.5).sampled(0.1)
    assert curve.group(2).group(3) == curve.group(6)
    assert curve.group(10).group(10) == curve.group(100)
    assert LaplacePrivacy(1).sampled(0.1).group(2).group(3) == LaplacePrivacy(1).sampled(0.1).group(
        6
    )


@pytest.mark.parametrize(
    "curve",
    [
        GaussianDP(0.5).sampled(0.1).group(3),
        LaplacePrivacy(1).sampled(0.1).group(2),
        (LaplacePrivacy(1).sampled(0.1) * 5).group(2),
        (ZCDP(0.1).sampled(0.1)).group(2),
        GaussianDP(0.5, neighbours=REPLACE).sampled(0.1).group(3),
    ],
    ids=str,
)
def test_group_curves_are_stored_and_read_back(curve):
    again = from_json(curve.to_json())
    assert again == curve
    assert again.delta(0.3) == curve.delta(0.3)


def test_pure_sampling_for_a_group_is_the_sum_of_its_losses():
    """k ln(1 + q (e^e − 1))."""
    group = PureDP(1).sampled(0.1).group(3)
    assert group.epsilon(0) == pytest.approx(3 * log1p(0.1 * (exp(1) - 1)), abs=1e-9)


def test_a_leak_of_a_sampled_release_grows_with_the_losses_on_the_way():
    group = ApproxDP(1, 0.01).sampled(0.5).group(2)
    worst = log1p(0.5 * (exp(1) - 1))
    assert group.delta(50) <= 0.005 * (1 + exp(worst)) * (1 + 1e-9)
    assert group.epsilon(0.005) == float("inf") or group.delta(group.epsilon(0.005)) <= 0.005


def test_the_largest_loss_of_an_added_group_is_known():
    """Adding k records raises no probability by more than (1 − q)^−k."""
    pair = SampledGroup(GaussianDP(1), 0.5, size=3).mixture(Sides(0, 3))
    edge = -3 * log(0.5)
    assert pair.upper_delta(Fraction(edge + 1e-9)) == 0
    assert float(pair.upper_delta(Fraction(edge - 0.5))) > 0


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        (lambda: SampledGroup(LaplacePrivacy(1), 0.1, size=2), "the curve of Gaussian noise"),
        (lambda: SampledGroup(GaussianDP(1), 1, size=2), "strictly between 0 and 1"),
        (lambda: SampledGroup(GaussianDP(1), 0, size=2), "strictly between 0 and 1"),
        (lambda: SampledGroup(GaussianDP(1), 0.1, size=65), "at most 64"),
        (lambda: SampledGroup(GaussianDP(1), 0.1, size=0), "size is"),
        (lambda: Grouped("a curve", 2), "a privacy curve"),
        (lambda: Grouped(PureDP(1), 1.5), "size is"),
    ],
)
def test_strange_groups_are_refused(slip, words):
    with pytest.raises(ParameterError, match=words):
        slip()


def test_labels_are_kept():
    patient = GaussianDP(1, neighbours=ADD_REMOVE.of("patient")).sampled(0.1)
    assert patient.group(3).neighbours == ADD_REMOVE.of("patient")
    assert isinstance(patient, Sampled)
    assert patient.under(REPLACE).neighbours == REPLACE.of("patient")
