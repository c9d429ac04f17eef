"""Amplification by shuffling, against exact sums over whole batches.

The oracles share nothing with the code: histograms are built report by report in rationals,
for all neighbours, in both orders. Only e^epsilon is a float of 60 digits.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, pairwise, permutations, product
from math import comb, exp, log
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from letalone.cli.noise.sums_of_releases import parse, privacy_of
from letalone.errors import NeighboursDiffer, ParameterError, UnsupportedQuery
from letalone.exact.balls import Ball, ball
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
    RandomizedResponsePrivacy,
    Shuffled,
    between,
    compose,
    from_json,
    shuffled,
)
from letalone.privacy.curves.clones import (
    NOTHING_KNOWN,
    Answers,
    Clones,
    CoveredAnswers,
    ShuffledCrowd,
    blanket_above,
    crowd_bounds,
)
from stages import pick

Report = Sequence[Fraction]
Histogram = dict[tuple[int, ...], Fraction]


def answers(truth: Fraction, categories: int) -> list[Report]:
    """The laws of randomized response, one for each true answer."""
    lie = (1 - truth) / (categories - 1)
    return [[truth if a == b else lie for b in range(categories)] for a in range(categories)]


def histogram(reports: Sequence[Report]) -> Histogram:
    """The law of how often each output is seen."""
    law: Histogram = {(0,) * len(reports[0]): Fraction(1)}
    for report in reports:
        grown: Histogram = defaultdict(Fraction)
        for seen, chance in law.items():
            for output, more in enumerate(report):
                at = (*seen[:output], seen[output] + 1, *seen[output + 1 :])
                grown[at] += chance * more
        law = grown
    return law


def excess(one: Histogram, other: Histogram, epsilon: Fraction) -> Fraction:
    """The sum of max(0, P - e^epsilon Q), to about 60 digits."""
    with mp.workdps(60):
        likely = mp.exp(mpf(epsilon.numerator) / epsilon.denominator)
        factor = Fraction(int(likely * mpf(2) ** 190), 2**190)
    return sum(
        (max(Fraction(0), p - factor * other.get(at, 0)) for at, p in one.items()), Fraction(0)
    )


def batches(mechanism: Sequence[Report], reports: int) -> Iterator[tuple[Histogram, Histogram]]:
    """All neighbouring batches, in both orders."""
    inputs = range(len(mechanism))
    for others in combinations_with_replacement(inputs, reports - 1):
        rest = [mechanism[value] for value in others]
        for one, other in permutations(inputs, 2):
            yield histogram([mechanism[one], *rest]), histogram([mechanism[other], *rest])


@cache
def revealed(truth: Fraction, categories: int, reports: int, epsilon: Fraction) -> Fraction:
    """What shuffled randomized response reveals, by enumeration."""
    pairs = batches(answers(truth, categories), reports)
    return max(excess(one, other, epsilon) for one, other in pairs)


CASES = [
    (truth, categories, reports)
    for categories, sizes in ((2, (2, 3, 7, 12)), (3, (2, 3, 5)), (4, (2, 3)))
    for reports in sizes
    for truth in (Fraction(3, 4), Fraction(3, 5))
]
SHARES = [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]


def epsilons(truth: Fraction, categories: int) -> list[Fraction]:
    local = Fraction(log(truth * (categories - 1) / (1 - truth)))
    return [share * local for share in SHARES]


@pytest.mark.parametrize(("truth", "categories", "reports"), CASES)
@pytest.mark.few("truth0-", "truth7-", "truth10-", "truth14-")
def test_every_batch_of_randomized_response_lies_below_the_curve(truth, categories, reports):
    curve = RandomizedResponsePrivacy(truth=truth, categories=categories).shuffled(reports)
    for epsilon in epsilons(truth, categories):
        truly = revealed(truth, categories, reports, epsilon)
        lower, upper = curve.certified_delta(epsilon)
        assert lower <= truly <= upper
        if categories > 2:
            assert upper <= truly * Fraction(11, 10), "the blanket is nearly all there is"


@pytest.mark.parametrize(("truth", "categories", "reports"), [c for c in CASES if c[1] > 2])
def test_one_report_too_many_and_twice_the_blanket_are_noticed(truth, categories, reports):
    """n for n - 1, or 2 k s for k s, would promise less than a batch reveals."""
    law = CoveredAnswers(RandomizedResponsePrivacy(truth=truth, categories=categories))
    for epsilon in epsilons(truth, categories):
        truly = revealed(truth, categories, reports, epsilon)
        assert blanket_above(reports + 1, law, epsilon) < truly
        assert blanket_above(reports, Doubled(law), epsilon) < truly


@pytest.mark.parametrize(("truth", "categories", "reports"), [c for c in CASES if c[1] > 2])
def test_a_third_answer_is_not_the_same_from_everybody(truth, categories, reports):
    """Who hides behind answers that the others give for reasons of their own, hides too well.

    If all reports that speak of neither answer were alike, p = 2s would do without a blanket.
    They are not where the others hold one of the two answers themselves.
    """
    law = Answers(RandomizedResponsePrivacy(truth=truth, categories=categories))
    epsilon = epsilons(truth, categories)[-1]
    truly = revealed(truth, categories, reports, epsilon)
    assert crowd_bounds(ShuffledCrowd(reports, law), epsilon)[1] < truly / 2


@dataclass(frozen=True)
class Doubled:
    """A wrong law: as if twice as many reports hid the one in question."""

    right: CoveredAnswers | Clones

    def told(self) -> Ball:
        return self.right.told()

    def other(self) -> Ball:
        return self.right.other()

    def silent(self) -> Ball:
        return self.right.silent()

    def clone(self) -> Ball:
        right = self.right.clone()
        return right if isinstance(self.right, CoveredAnswers) else at_most_all(2 * right)

    def covered(self) -> Ball:
        assert isinstance(self.right, CoveredAnswers)
        return at_most_all(2 * self.right.covered())


def at_most_all(share: Ball) -> Ball:
    return share.min(ball(Fraction(999, 1000)))


def local_loss(mechanism: Sequence[Report]) -> Fraction:
    """A rational at or above the largest loss of one report."""
    ratios = [
        p / q for one, other in permutations(mechanism, 2) for p, q in zip(one, other, strict=True)
    ]
    return Fraction(log(max(ratios)) * (1 + 1e-12) + 1e-15)


@st.composite
def mechanisms(draw: st.DrawFn) -> list[Report]:
    outputs = draw(st.integers(2, 3))
    rows = draw(
        st.lists(
            st.lists(st.integers(1, 9), min_size=outputs, max_size=outputs), min_size=2, max_size=3
        )
    )
    return [[Fraction(weight, sum(row)) for weight in row] for row in rows]


@settings(max_examples=pick(15, 40), deadline=None, derandomize=True)
@given(mechanisms(), st.integers(2, 5), st.sampled_from(SHARES))
def test_every_batch_of_any_pure_mechanism_lies_below_the_curve(mechanism, reports, share):
    local = local_loss(mechanism)
    if local < Fraction(1, 100):
        return
    curve = PureDP(local).shuffled(reports)
    upper = curve.certified_delta(share * local).upper
    for one, other in batches(mechanism, reports):
        assert excess(one, other, share * local) <= upper


def test_clones_of_twice_the_rate_are_refuted_by_a_pure_mechanism():
    """p = 2 e^-epsilon: randomized response between two answers is an epsilon-DP mechanism."""
    truth, reports = Fraction(3, 4), 2
    local = local_loss(answers(truth, 2))
    for share in SHARES:
        truly = revealed(truth, 2, reports, share * local)
        assert crowd_bounds(ShuffledCrowd(reports, Clones(local)), share * local)[1] > truly
        assert (
            crowd_bounds(ShuffledCrowd(reports, Doubled(Clones(local))), share * local)[1] < truly
        )


def clones(local: float, reports: int, epsilon: float) -> float:
    """The clones' pair in floats, term by term: every number of clones, every count."""
    t, p = 1 / (1 + exp(-local)), exp(-local)
    total, likely = 0.0, exp(epsilon)
    for c in range(reports):
        from_clones = [pascal(c, a) / 2**c for a in range(-1, c + 2)]
        for with_one, without in pairwise(from_clones):
            one, other = t * with_one + (1 - t) * without, (1 - t) * with_one + t * without
            chance = pascal(reports - 1, c) * p**c * (1 - p) ** (reports - 1 - c)
            total += chance * max(0.0, one - likely * other)
    return total


def pascal(size: int, chosen: int) -> int:
    return comb(size, chosen) if 0 <= chosen <= size else 0


@pytest.mark.parametrize(("local", "reports"), list(product([0.3, 1.0, 4.0], [2, 10, 40, 120])))
def test_the_curve_is_that_of_the_clones(local, reports):
    for share in (0, 0.01, 0.2, 0.6, 0.95):
        epsilon = share * local
        lower, upper = crowd_bounds(
            ShuffledCrowd(reports, Clones(Fraction(local))), Fraction(epsilon)
        )
        expected = clones(local, reports, epsilon)
        assert lower * (1 - Fraction(1, 10**9)) <= expected <= upper + Fraction(1, 10**12)
        assert upper - lower <= max(lower, Fraction(1, 10**30)) / 10**6


def test_the_numbers_published_with_the_paper():
    """n = 10^5, local epsilon 4, delta 10^-6: theirs is between 0.16753 and 0.17280."""
    found = PureDP(4).shuffled(10**5).epsilon(1e-6)
    assert 0.1675385583317841 < found < 0.172790550755978
    assert found == pytest.approx(0.16977, abs=1e-5)
    assert found < 0.5378040242374512, "their closed form"


@pytest.mark.parametrize("local", [0.1, 0.5, 1, 2, 4])
@pytest.mark.parametrize("reports", [10**3, 10**4, 10**6])
@pytest.mark.parametrize("delta", [1e-4, 1e-6, 1e-10])
def test_the_closed_form_of_the_paper_lies_above(local, reports, delta):
    """ln(1 + (e^l - 1)/(e^l + 1) (8 sqrt(e^l ln(4/d) / n) + 8 e^l / n)), in its range."""
    if local > log(reports / (16 * log(2 / delta))):
        return
    odds = exp(local)
    spread = 8 * (odds * log(4 / delta) / reports) ** 0.5 + 8 * odds / reports
    closed = log(1 + (odds - 1) / (odds + 1) * spread)
    assert PureDP(local).shuffled(reports).epsilon(delta) <= closed


LOCAL = [
    PureDP(1),
    PureDP(4),
    RandomizedResponsePrivacy(1),
    RandomizedResponsePrivacy(truth=0.75),
    RandomizedResponsePrivacy(2, categories=20),
    LaplacePrivacy(1),
    GeometricPrivacy(1, 2),
    BoundedRange(1),
    between([0.5, 0.3, 0.2], [0.3, 0.3, 0.4]),
    RandomizedResponsePrivacy(0.5) * 2,
]
every_local = pytest.mark.parametrize("local", LOCAL, ids=str)


@every_local
@pytest.mark.few("PureDP(epsilon=1)", "LaplacePrivacy", "Finite")
def test_more_reports_hide_better_and_none_hurts(local):
    curves = [local.shuffled(reports) for reports in (1, 2, 3, 10, 100, 1000, 10**5, 10**12)]
    for epsilon in (Fraction(0), Fraction(1, 1000), Fraction(1, 20), Fraction(2, 5), Fraction(3)):
        deltas = [curve.delta(epsilon) for curve in curves]
        assert all(more <= fewer * (1 + 1e-9) for fewer, more in pairwise(deltas))
        assert deltas[1] <= local.delta(epsilon)
    for curve in curves:
        assert curve.epsilon(0) == local.epsilon(0)
        assert curve.delta(20) == 0


@pytest.mark.long
@every_local
@pytest.mark.few("PureDP(epsilon=1)", "LaplacePrivacy", "Finite", "truth=0.75")
def test_delta_falls_with_epsilon_and_bounds_are_in_order(local):
    for reports in (2, 30, 1000, 10**6):
        curve = local.shuffled(reports)
        most = Fraction(curve.epsilon(0))
        grid = [most * step / 30 for step in range(31)] + [
            most * Fraction(1, 10**k) for k in (3, 5)
        ]
        bounds = [curve.delta_bounds(epsilon) for epsilon in sorted(grid)]
        assert all(0 <= lower <= upper <= 1 for lower, upper in bounds)
        assert all(left[1] >= right[1] for left, right in pairwise(bounds))


@pytest.mark.parametrize("law", [Clones(Fraction(1, 50)), Clones(Fraction(1)), Clones(Fraction(9))])
@pytest.mark.parametrize("reports", [2, 50, 900, 2500, 10**5, 10**7])
def test_floats_never_run_out_of_digits(law, reports):
    """From nothing at all up to the local epsilon: the sums are always known."""
    for step in range(40):
        share = Fraction(step, 40) if step % 2 else 1 - Fraction(1, 2**step)
        assert crowd_bounds(ShuffledCrowd(reports, law), law.epsilon * share) != NOTHING_KNOWN


def test_a_single_report_is_the_local_mechanism():
    local = RandomizedResponsePrivacy(1)
    assert shuffled(local, reports=1) == local.with_neighbours(REPLACE)
    assert Shuffled(local, 1).delta(0.5) == local.delta(0.5)


def test_too_few_reports_fall_back_to_the_local_epsilon_and_say_so():
    few = PureDP(8).shuffled(1000)
    assert "(too few to hide among: the local ε = 8)" in str(few)
    assert few.epsilon(1e-6) <= 8
    none = PureDP(300).shuffled(10**6)  # e^-300 of a clone
    assert none.epsilon(1e-6) == PureDP(300).epsilon(1e-6)
    assert "too few" in str(none)
    assert "too few" not in str(PureDP(1).shuffled(10**6))


def test_the_printed_form_states_the_conditions():
    assert str(PureDP(1).shuffled(10**6)) == (
        "Shuffled(PureDP(epsilon=1), reports=1000000): ε = 0.004335 at δ = 1e-6 (one report "
        "alone: ε = 1) for one closed batch of honest reports, one a person, without times, "
        "addresses or tokens, replace one unit"
    )


def test_a_million_reports_take_less_than_two_seconds():
    start = process_time()
    found = PureDP(1).shuffled(10**6).epsilon(1e-8)
    assert process_time() - start < 2
    assert found == pytest.approx(0.0061254764, rel=1e-6)


def test_the_bounds_of_randomized_response_nearly_meet_from_three_answers_on():
    lower, upper = RandomizedResponsePrivacy(1, categories=3).shuffled(10**6).epsilon_bounds(1e-8)
    assert upper * (1 - 5e-4) <= lower <= upper
    lower, upper = RandomizedResponsePrivacy(1).shuffled(10**6).epsilon_bounds(1e-8)
    assert 0.98 * upper <= lower <= upper
    lower, upper = PureDP(1).shuffled(10**6).epsilon_bounds(1e-8)
    assert 0.7 * upper <= lower <= upper


def test_neighbours_are_replace():
    assert PureDP(1).shuffled(10).neighbours == REPLACE
    assert PureDP(1, neighbours=REPLACE.of("phone")).shuffled(10).neighbours == REPLACE.of("phone")
    with pytest.raises(NeighboursDiffer, match=r"proven for replace.*'add or remove one phone'"):
        PureDP(1, neighbours=ADD_REMOVE.of("phone")).shuffled(10)
    with pytest.raises(NeighboursDiffer):
        compose(PureDP(1).shuffled(10), PureDP(1, neighbours=ADD_REMOVE))
    with pytest.raises(NeighboursDiffer):
        Shuffled(PureDP(1), 10, neighbours=ADD_REMOVE)


@pytest.mark.parametrize(
    "curve", [GaussianDP(1), ApproxDP(1, 1e-6), ZCDP(1), between([0.5, 0.5], [1, 0])], ids=str
)
def test_what_is_not_pure_is_refused_with_the_conditions(curve):
    with pytest.raises(UnsupportedQuery, match=r"bounded loss and no delta.*one closed batch"):
        curve.shuffled(1000)


@pytest.mark.parametrize(
    "curve",
    [
        PureDP(1).shuffled(10),
        PureDP(1, neighbours=REPLACE).sampled(0.1),
        PureDP(1).shuffled(10) * 3,
        PureDP(1).shuffled(10).group(3),
    ],
    ids=str,
)
def test_what_is_not_one_report_is_refused(curve):
    with pytest.raises(UnsupportedQuery, match="not one person's report"):
        curve.shuffled(1000)


@pytest.mark.parametrize("reports", [0, -1, 1.5, float("nan"), float("inf"), "many", True])
def test_reports_that_are_no_count_are_refused(reports):
    with pytest.raises(ParameterError, match=r"reports is .*, but must be a whole number"):
        PureDP(1).shuffled(reports)


def test_a_mechanism_in_place_of_its_curve_is_refused():
    with pytest.raises(ParameterError, match=r"base is .*Give its \.privacy"):
        shuffled("randomized response", reports=10)  # pyright: ignore[reportArgumentType]


@every_local
def test_a_shuffled_curve_is_stored_and_read_back(local):
    curve = local.shuffled(1000)
    again = from_json(json.dumps(curve.to_json()))
    assert again == curve
    assert hash(again) == hash(curve)
    assert again.delta(0.05) == curve.delta(0.05)
    assert from_json((curve * 5).to_json()) == curve * 5


def test_batches_compose_by_the_sum_of_their_epsilons():
    curve = PureDP(1).shuffled(10**6)
    together = curve * 10
    assert together.neighbours == REPLACE
    assert together.delta(0.1) <= 10 * curve.delta(0.01) * (1 + 1e-12)
    assert together.epsilon(1e-7) <= 10 * curve.epsilon(0.9e-8)
    assert together.epsilon(0) == 10
    assert compose(curve, LaplacePrivacy(1)).epsilon(1e-6) <= (1 + curve.epsilon(1e-6)) * (1 + 1e-9)


def test_a_group_is_never_worse_than_its_local_reports_nor_than_p2():
    local = RandomizedResponsePrivacy(truth=Fraction(3, 4), categories=3)
    for reports in (5, 10**4):
        curve = local.shuffled(reports)
        three = curve.group(3)
        assert three.neighbours == REPLACE
        for epsilon in (0, 0.3, 1, 2.5):
            assert three.delta(epsilon) <= (local * 3).delta(epsilon) * (1 + 1e-12)
            each = Fraction(str(epsilon)) / 3
            rule = curve.delta(each) * sum(exp(j * each) for j in range(3))
            assert three.delta(epsilon) <= min(1, rule * (1 + 1e-12))


@pytest.mark.long  # one report: test_every_batch_of_any_pure_mechanism_lies_below_the_curve
def test_every_group_of_two_in_a_small_batch_lies_below_its_curve():
    mechanism, curve = (
        answers(Fraction(3, 4), 3),
        RandomizedResponsePrivacy(truth=0.75, categories=3),
    )
    two = curve.shuffled(4).group(2)
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(3, 2)):
        upper = two.certified_delta(epsilon).upper
        for others in combinations_with_replacement(range(3), 2):
            rest = [mechanism[value] for value in others]
            for a, b, c, d in product(range(3), repeat=4):
                one = histogram([mechanism[a], mechanism[b], *rest])
                other = histogram([mechanism[c], mechanism[d], *rest])
                assert excess(one, other, epsilon) <= upper


def test_the_trade_off_is_below_that_of_no_information_and_above_the_local_one():
    local = PureDP(1)
    low, high = local.shuffled(10**4).tradeoff_bounds(0.05)
    assert local.tradeoff(0.05) < low <= high <= 0.95
    assert low > 0.93


def test_the_little_language_shuffles():
    curve = privacy_of(parse("2 * randomized_response(epsilon=1).shuffled(1_000)"))
    assert curve == RandomizedResponsePrivacy(1).shuffled(1000) * 2
    assert privacy_of(parse("pure(1).shuffled(reports=1e6)")) == PureDP(1).shuffled(10**6)
    with pytest.raises(ParameterError, match="Did you mean 'shuffled'"):
        parse("pure(1).shufled(10)")
