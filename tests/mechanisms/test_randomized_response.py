"""Randomized response: exact law and price, estimates, refusals."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from scipy.stats import binom

from letalone.errors import NeighboursDiffer, ParameterError
from letalone.mechanisms import Geometric, RandomizedResponse, sensitivity
from letalone.mechanisms.randomized_response import clopper_pearson
from letalone.privacy import REPLACE, RandomizedResponsePrivacy, compose
from mechanisms.frequencies import FALSE_ALARM, fit
from seeded import SeededBits


def response_law(truth, answer, categories):
    lie = (1 - truth) / (categories - 1)
    return {kind: truth if kind == answer else lie for kind in range(categories)}


def test_m1_warners_coins_are_exactly_ln_3():
    warner = RandomizedResponse.warner()
    low, high = warner.privacy.epsilon_bounds(0)
    assert low <= log(3) <= high
    assert high - low <= 2e-15
    assert warner.truth == Fraction(3, 4)
    one = RandomizedResponsePrivacy(truth=Fraction(3, 4), neighbours=REPLACE)
    assert warner.privacy == one


def test_m1_warners_coins_as_tossed():
    """Heads: the truth; tails: a fair yes or no. False-positive rate over seeds: 1e-6."""
    warner, bits = RandomizedResponse.warner(), SeededBits(60)
    for answer in (True, False):
        reports = warner.release(np.full(20_000, answer), bits=bits)
        assert reports.dtype == np.bool_
        assert fit(reports.tolist(), {answer: 0.75, not answer: 0.25}) > FALSE_ALARM
        assert fit(reports.tolist(), {answer: 0.725, not answer: 0.275}) < FALSE_ALARM


def test_m2_the_truth_has_probability_e_to_the_epsilon_over_one_plus_it():
    """False-positive rate over seeds: 1e-6."""
    reports = RandomizedResponse(epsilon=1).release(np.ones(50_000, dtype=int), bits=SeededBits(61))
    truth = exp(1) / (1 + exp(1))
    assert fit(reports.tolist(), response_law(truth, 1, 2)) > FALSE_ALARM
    assert fit(reports.tolist(), response_law(exp(1.1) / (1 + exp(1.1)), 1, 2)) < FALSE_ALARM


@pytest.mark.parametrize("categories", [3, 5])
def test_m2_k_ary_responses_follow_their_law(categories):
    """False-positive rate over seeds: 1e-6; power against an epsilon 10 % larger."""
    bits = SeededBits(62)
    for answer in range(categories):
        mechanism = RandomizedResponse(epsilon=2, categories=categories)
        reports = mechanism.release(np.full(40_000, answer), bits=bits).tolist()
        good = exp(2) / (exp(2) + categories - 1)
        wrong = exp(2.2) / (exp(2.2) + categories - 1)
        assert fit(reports, response_law(good, answer, categories)) > FALSE_ALARM
        assert fit(reports, response_law(wrong, answer, categories)) < FALSE_ALARM


@pytest.mark.parametrize("categories", [2, 3, 7])
@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_m2_the_law_is_exactly_epsilon_private(categories, epsilon):
    truth = 1 / (1 + (categories - 1) * exp(-epsilon))
    one, other = response_law(truth, 0, categories), response_law(truth, 1, categories)
    assert max(abs(log(one[k] / other[k])) for k in one) == pytest.approx(epsilon, abs=1e-12)
    mechanism = RandomizedResponse(epsilon=epsilon, categories=categories)
    assert mechanism.privacy.epsilon(0) == epsilon


def test_m2_a_person_with_several_answers_pays_a_part_for_each():
    mechanism = RandomizedResponse(epsilon=1, answers=4)
    assert mechanism.privacy.epsilon(0) == 1
    reports = mechanism.release(np.ones((20_000, 4), dtype=bool), bits=SeededBits(63))
    assert reports.shape == (20_000, 4)
    truth = 1 / (1 + exp(-0.25))
    for column in reports.T:
        assert fit(column.tolist(), {True: truth, False: 1 - truth}) > FALSE_ALARM
        assert fit(column.tolist(), {True: 1 / (1 + exp(-1)), False: 0.2689}) < FALSE_ALARM
    with pytest.raises(ParameterError, match="each person gives 4"):
        mechanism.release([True, False])
    with pytest.raises(ParameterError, match="each person gives 4"):
        mechanism.release(True)


def test_m2_the_estimate_is_the_formula_and_unbiased():
    """The mean over all reports, weighted by their exact law, is the truth."""
    mechanism, people, ones = RandomizedResponse(epsilon=0.7), 6, 2
    truth = exp(0.7) / (1 + exp(0.7))
    mean = 0.0
    for reported in range(people + 1):
        reports = [1] * reported + [0] * (people - reported)
        likely = sum(
            binom.pmf(honest, ones, truth) * binom.pmf(reported - honest, people - ones, 1 - truth)
            for honest in range(ones + 1)
        )
        value = mechanism.estimate(reports).value
        z = (np.array(reports) - 1 / (1 + exp(0.7))) * (exp(0.7) + 1) / (exp(0.7) - 1)
        assert value == pytest.approx(z.mean(), abs=1e-12)
        mean += likely * value
    assert mean == pytest.approx(ones / people, abs=1e-12)


def test_the_value_is_not_clipped_and_the_interval_is():
    estimate = RandomizedResponse(epsilon=0.5).estimate([0] * 7 + [1] * 3)
    assert estimate.value < 0
    assert estimate.low == 0
    assert 0 < estimate.high <= 1


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_m2_the_interval_covers_at_least_as_often_as_stated(share):
    """Exact: summed over all counts, for a population of which a fixed share says yes."""
    mechanism, people = RandomizedResponse(epsilon=1), 200
    truth = exp(1) / (1 + exp(1))
    reported = share * truth + (1 - share) * (1 - truth)
    covered = 0.0
    for count in range(people + 1):
        estimate = mechanism.estimate([1] * count + [0] * (people - count))
        if estimate.low <= share <= estimate.high:
            covered += binom.pmf(count, people, reported)
    assert 0.95 <= covered <= 0.985
    assert covered <= 0.97 or share in (0.0, 1.0)


@pytest.mark.parametrize("ones", [0, 60, 100, 200])
def test_m2_the_interval_covers_the_share_of_the_people_asked(ones):
    """By the exact law of a fixed set of answers, which is not binomial."""
    mechanism, people = RandomizedResponse(epsilon=1), 200
    truth = exp(1) / (1 + exp(1))
    honest = binom.pmf(np.arange(ones + 1), ones, truth)
    lies = binom.pmf(np.arange(people - ones + 1), people - ones, 1 - truth)
    law = np.convolve(honest, lies)
    covered = 0.0
    for count, likely in enumerate(law):
        estimate = mechanism.estimate([1] * count + [0] * (people - count))
        covered += likely * (estimate.low <= ones / people <= estimate.high)
    assert covered >= 0.95


def test_k_ary_and_labelled_estimates_have_a_value_for_each_category():
    """100,000 people: within six standard errors."""
    mechanism = RandomizedResponse(epsilon=1, categories=["no", "yes", "unsure"])
    answers = ["no"] * 5000 + ["yes"] * 3000 + ["unsure"] * 2000
    reports = mechanism.release(answers, bits=SeededBits(64))
    assert set(reports) == {"no", "yes", "unsure"}
    estimate = mechanism.estimate(reports)
    close = 6 * mechanism.expected_error(people=10_000)
    assert np.abs(estimate.value - [0.5, 0.3, 0.2]).max() < close
    assert np.sum(estimate.value) == pytest.approx(1)
    assert estimate.privacy == mechanism.privacy


def test_reports_have_the_kind_of_the_answers():
    bits = SeededBits(65)
    binary = RandomizedResponse(epsilon=1)
    assert type(binary.release(True, bits=bits)) is bool
    assert type(binary.release(1, bits=bits)) is int
    assert type(binary.release(np.int8(1), bits=bits)) is int
    assert binary.release([True, False], bits=bits).dtype == np.bool_
    assert binary.release([[1, 0], [0, 1]], bits=bits).shape == (2, 2)
    assert binary.release([], bits=bits).shape == (0,)
    labelled = RandomizedResponse(epsilon=1, categories=["a", ("b", 1)])
    assert labelled.release("a", bits=bits) in ("a", ("b", 1))
    assert labelled.release(("b", 1), bits=bits) in ("a", ("b", 1))
    assert len(labelled.release(["a", ("b", 1)], bits=bits)) == 2
    pairs = RandomizedResponse(epsilon=1, categories=["a", "b"], answers=2)
    assert np.shape(pairs.release([["a", "b"]] * 3, bits=bits)) == (3, 2)


@pytest.mark.parametrize(
    "answers", [2, -1, 0.5, "yes", [0, 2], [0.0], [[1, 0], [1]], None, np.array([2**63], np.uint64)]
)
def test_answers_outside_of_the_categories_are_refused_without_being_repeated(answers):
    with pytest.raises(ParameterError, match="not one of the 2 categories") as refusal:
        RandomizedResponse(epsilon=1).release(answers)
    assert "yes" not in str(refusal.value)
    assert "9223372036854775808" not in str(refusal.value)


def test_unknown_labels_are_refused_without_being_repeated():
    labelled = RandomizedResponse(epsilon=1, categories=["a", "b"])
    for wrong in ("secret", ["a", "secret"], [["a"], ["a", "b"]], {"a": 1}, 0):
        with pytest.raises(ParameterError, match="one of the labels 'a', 'b'") as refusal:
            labelled.release(wrong)
        assert "secret" not in str(refusal.value)
    with pytest.raises(ParameterError, match="3 categories"):
        RandomizedResponse(epsilon=1, categories=3).release(True)


def test_wrong_parameters_are_refused():
    with pytest.raises(ParameterError, match="both given"):
        RandomizedResponse(epsilon=1, truth=0.75)
    with pytest.raises(ParameterError, match="neither given"):
        RandomizedResponse()
    for truth in (0.5, 0.2, 1, 1.5, 0, float("nan"), "x"):
        with pytest.raises(ParameterError, match=r"truth is .* above 1/2 and below 1"):
            RandomizedResponse(truth=truth)
    assert RandomizedResponse(truth=0.4, categories=3).truth == Fraction(2, 5)
    with pytest.raises(ParameterError, match="A label occurs twice"):
        RandomizedResponse(epsilon=1, categories=["a", "a"])
    with pytest.raises(ParameterError, match="the number of labels is 1"):
        RandomizedResponse(epsilon=1, categories=["a"])
    with pytest.raises(ParameterError, match="no list of reports"):
        RandomizedResponse(epsilon=1).estimate([])


@pytest.mark.parametrize("probability", [0.001, 0.03, 0.4, 0.97])
@pytest.mark.parametrize("total", [1, 7, 60])
def test_clopper_pearson_misses_at_most_as_often_as_stated_on_each_side(probability, total):
    counts = np.arange(total + 1)
    low, high = clopper_pearson(counts, total, 0.9)
    law = binom.pmf(counts, total, probability)
    assert law[low > probability].sum() <= 0.05
    assert law[high < probability].sum() <= 0.05
    assert (low[0], high[-1]) == (0.0, 1.0)


def test_the_error_before_asking_is_hoeffdings_and_the_expected_one_exact():
    mechanism = RandomizedResponse(epsilon=1)
    contrast = (exp(1) - 1) / (exp(1) + 1)
    assert mechanism.error(0.95, people=100) == pytest.approx((log(40) / 200) ** 0.5 / contrast)
    spread = (exp(1) ** 0.5) / (exp(1) - 1) / 10
    assert mechanism.expected_error(people=100) == pytest.approx(spread)


def test_it_prints_epsilon_and_error():
    assert repr(RandomizedResponse.warner()) == (
        "RandomizedResponse(ε = 1.09862, 2 categories, truth with probability 0.75,"
        " error 0.0859 for 1000 people at 95 %)"
    )


def test_labels_that_can_change_are_refused():
    with pytest.raises(ParameterError, match="labels must be words, numbers"):
        RandomizedResponse(epsilon=1, categories=[["a"], ["b"]])


def test_reports_that_no_truth_explains_are_estimated_all_the_same():
    estimate = RandomizedResponse.warner().estimate([1] * 1000)
    assert (estimate.value, estimate.low, estimate.high) == (1.5, 1, 1)


@pytest.mark.parametrize("count", [2**31 + 1, 2**62, 2**62 + 1, 2**63, 2**64])
def test_more_categories_than_2_31_are_refused(count):
    """At 2^62 and more, an answer plus its steps wrapped in 64 bits."""
    with pytest.raises(ParameterError, match=r"categories is .*, but must be .* 2\^31"):
        RandomizedResponse(epsilon=1, categories=count)


def test_the_largest_number_of_categories_lies_within_the_categories_and_never_the_truth():
    """At ε = 1e-6 the truth comes once in 2^31; 3,000 reports hold one with probability 1.4e-6."""
    count = 2**31
    mechanism = RandomizedResponse(epsilon=1e-6, categories=count)
    for place, answer in enumerate((0, count // 2, count - 1)):
        reports = mechanism.release(np.full(1000, answer), bits=SeededBits(160 + place))
        assert reports.min() >= 0
        assert reports.max() < count
        assert (reports != answer).all()
        assert abs(reports.mean() / count - 0.5) < 5 * (1 / 12 / 1000) ** 0.5, "uniform"


def test_short_unsigned_answers_are_read_where_there_are_more_categories():
    mechanism = RandomizedResponse(epsilon=100, categories=300)
    for dtype in ("u1", "u2", "u4", "u8"):
        assert mechanism.release(np.array([7, 255], dtype=dtype)).tolist() == [7, 255]
    with pytest.raises(ParameterError, match="not one of the 300 categories"):
        mechanism.release(np.array([2**64 - 1], dtype="u8"))


def test_the_neighbours_are_replace_because_the_number_of_reports_shows_who_took_part():
    for mechanism in (RandomizedResponse.warner(), RandomizedResponse(epsilon=1, answers=3)):
        assert mechanism.privacy.neighbours == REPLACE
    count = Geometric(epsilon=1, sensitivity=sensitivity.count())
    with pytest.raises(NeighboursDiffer):
        compose(RandomizedResponse.warner().privacy, count.privacy)
