"""Surveys: one ε for all answers of a person, laws in whole numbers, results that hold."""

from datetime import date, datetime
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from letalone.errors import FormatError, ParameterError
from letalone.exact.balls import ball
from letalone.local.questionnaires.questions import (
    STEPS,
    QuestionKind,
    Questionnaire,
    SurveyQuestion,
    read_questionnaire,
)
from letalone.local.questionnaires.results import (
    ChoiceResult,
    QuestionResult,
    check_report,
    empty_result,
    exactness,
    margin_for,
    people_for,
    question_results,
    read_person,
    results_csv,
    split_result,
)
from letalone.local.reports import to_bytes
from letalone.local.split.circuits import WholeNumber, YesNo
from letalone.local.split.counting import TwoCounters
from letalone.randomness.uniform import sample_belows
from seeded import SeededBits

THREE: dict[str, Any] = {
    "name": "mood",
    "title": "How are we?",
    "purpose": "To plan the year.",
    "epsilon": 3,
    "ends": "2031-01-31",
    "questions": [
        {"text": "Do you smoke?", "kind": "yes_no"},
        {"text": "Which floor?", "kind": "one_of", "options": ["1", "2", "3", "4", "5"]},
        {"text": "Hours of sleep?", "kind": "number", "lower": 0, "upper": 12, "measure": "h"},
    ],
}


def test_all_reports_of_one_person_together_are_at_most_the_typed_epsilon_apart() -> None:
    """The product of the largest likelihood ratios of all laws, exactly, against e^ε."""
    survey = read_questionnaire(THREE)
    product = Fraction(1)
    for question in survey.for_browser()["questions"]:
        product *= _largest_ratio(question)
    assert ball(product) < ball(3).exp(), "certain: the balls do not overlap"
    assert product > Fraction(20_085, 1000), "far below e^3 = 20.0855 would waste the budget"


def test_a_sampled_person_pays_the_whole_epsilon_once_and_nothing_for_which_question() -> None:
    """Over (question, report): the draw has the same chance whatever the answers, so the ratio is
    that of one question's law, for each of them just below e^3."""
    survey = read_questionnaire(THREE | {"how": "sample"})
    ratios = [_largest_ratio(question) for question in survey.for_browser()["questions"]]
    for ratio in ratios:
        assert ball(ratio) < ball(3).exp(), "certain: the balls do not overlap"
        assert ratio > Fraction(20_085, 1000), "far below e^3 = 20.0855 would waste the budget"
    assert survey.for_browser()["how"] == "sample"
    assert read_questionnaire(survey.to_json()) == survey


def test_of_a_sampled_person_one_report_is_read_and_of_others_one_for_each_question() -> None:
    sampled, split = (read_questionnaire(THREE | {"how": how}) for how in ("sample", "split"))
    assert read_person(sampled, ["", "80", ""]) == [(1, "80")]
    assert read_person(split, ["80", "80", "40"]) == [(0, "80"), (1, "80"), (2, "40")]
    for reports in (["80", "80", ""], ["80", "80", "40"], ["", "", ""], ["", "", "20"], [""]):
        with pytest.raises(ParameterError):
            read_person(sampled, reports)
    for reports in (["80", "80", ""], ["", "80", ""]):
        with pytest.raises(ParameterError):
            read_person(split, reports)


def test_intervals_of_a_sampled_survey_hold_for_all_who_answered() -> None:
    """600 people, 200 surveys: at most 12 % of the intervals miss the share among all 600, though
    some 200 of them were asked. With a right program (at most 5 % each; proven in
    local_frequencies.md, section 10) P[Bin(200, 0.05) > 24] < 1e-4; the seed is fixed. Read at
    the ε of a split survey nearly all miss."""
    survey = read_questionnaire(THREE | {"how": "sample"})
    truth, bits = np.repeat([0, 1], [90, 510]), SeededBits(23)
    missed = np.zeros(2)
    for _ in range(200):
        asked = np.flatnonzero(sample_belows(3, 600, bits) == 0)
        counts: list[Any] = [_counts(survey, 0, truth[asked], bits), {}, {}]
        for place, how in enumerate(("sample", "split")):
            read = read_questionnaire(THREE | {"how": how})
            yes = question_results(read, counts)[0].choices[0]
            missed[place] += not yes.low <= 0.15 <= yes.high
    assert missed[0] <= 24
    assert missed[1] > 24, "another law would be seen"


def _largest_ratio(question: dict[str, Any]) -> Fraction:
    """Over all sets and all pairs of choices; a number mixes two choices, so it is no larger."""
    size, chosen = question["choices"], question["chosen"]
    held = Fraction(int(question["held"]), int(question["of"]))
    sets = list(combinations(range(size), chosen))
    with_it = sum(0 in one for one in sets)
    law = [held / with_it if 0 in one else (1 - held) / (len(sets) - with_it) for one in sets]
    assert sum(law) == 1
    return max(law) / min(law)


def test_a_survey_is_stored_and_read_again_and_a_newer_format_is_refused() -> None:
    survey = read_questionnaire(THREE)
    assert read_questionnaire(survey.to_json()) == survey
    assert survey.to_json()["format"] == 1
    with pytest.raises(FormatError, match="format 2; this version reads 1"):
        read_questionnaire(survey.to_json() | {"format": 2})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "Mood!"}, "name is 'Mood!', but must be"),
        ({"name": ""}, "name is ''"),
        ({"title": " "}, "The title must be"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": 100}, "epsilon"),
        ({"ends": "tomorrow"}, "ends must be a day"),
        ({"questions": []}, "from 1 to 20 questions"),
        ({"questions": "none"}, "questions must be a list"),
        (
            {"questions": [{"text": "?", "kind": "essay"}]},
            "'.' has the kind 'essay', but it must be one of",
        ),
        (
            {"questions": [{"text": "Smoke?", "kind": "yesno"}]},
            "The question 'Smoke.' has the kind 'yesno', .* Did you mean 'yes_no'.",
        ),
        ({"questions": [{"text": "Smoke?"}]}, "The question 'Smoke.' lacks kind"),
        ({"epsilon": "viel"}, "epsilon is 'viel', but must be a positive number"),
        ({"epsilonn": 3}, "A survey has no field 'epsilonn'. Did you mean 'epsilon'."),
        ({"how": "sampl"}, "how is 'sampl', but must be one of: split, sample. Did you mean"),
        ({"how": "sample", "two_counters": True}, "they ask everybody all questions"),
        ({"how": "sample", "epsilon": 17}, "at most 16"),
        ({"colour": "red"}, "A survey has no field 'colour'. There are: name, title"),
        (
            {"questions": [{"text": "?", "kind": "yes_no", "option": []}]},
            "The question '.' has no field 'option'. Did you mean 'options'.",
        ),
        (
            {"questions": [{"text": "?", "kind": "yes_no", "two_counters": True}]},
            "has no field 'two_counters'. It belongs above the first question",
        ),
        ({"questions": [{"text": "?", "kind": "one_of", "options": ["a"]}]}, "from 2 to 64"),
        ({"questions": [{"text": "?", "kind": "one_of", "options": ["a", "a"]}]}, "twice"),
        ({"questions": [{"text": "?", "kind": "number"}]}, "lower is missing"),
        (
            {"questions": [{"text": "?", "kind": "number", "lower": 1, "upper": 1}]},
            "lower must be below upper",
        ),
        (
            {"questions": [{"text": "?", "kind": "number", "lower": 0, "upper": float("inf")}]},
            "both finite",
        ),
    ],
)
def test_a_survey_that_cannot_be_is_refused_with_the_remedy(
    change: dict[str, Any], words: str
) -> None:
    with pytest.raises(ParameterError, match=words):
        read_questionnaire(THREE | change)


@pytest.mark.parametrize("typed", ["1.5", "3/2", "15e-1", 1.5])
def test_an_epsilon_means_what_was_typed_as_a_number_or_as_digits(typed: object) -> None:
    assert read_questionnaire(THREE | {"epsilon": typed}).epsilon == Fraction(3, 2)


@pytest.mark.parametrize("typed", ["1e20000000", "-1", "0", "0.0", "nan", "1/0", " 1", "1,5", ""])
def test_digits_that_are_no_epsilon_are_refused_at_once(typed: str) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        read_questionnaire(THREE | {"epsilon": typed})


def test_a_misspelt_field_is_told_before_the_one_that_is_missing() -> None:
    misspelt = {name: value for name, value in THREE.items() if name != "epsilon"}
    with pytest.raises(ParameterError, match="Did you mean 'epsilon'"):
        read_questionnaire(misspelt | {"epsilonn": 3})


def test_a_survey_without_a_field_says_which() -> None:
    with pytest.raises(ParameterError, match="A survey lacks title, purpose"):
        read_questionnaire({"name": "x", "epsilon": 1, "questions": []})


def test_results_hold_the_truth_as_often_as_they_say_and_means_have_their_own_scale() -> None:
    """600 people, 200 surveys: each of 7 intervals misses at most 12 % of the time. With a right
    program (at most 5 % each, Clopper and Pearson) P[Bin(200, 0.05) > 24] < 1e-4 each; the seed is
    fixed. Reading the share of the other end as the mean would miss always."""
    survey = read_questionnaire(THREE)
    truths = [np.repeat([0, 1], [180, 420]), np.arange(600) % 5]
    sleep = np.tile([4.0, 8.0, 9.0], 200)
    bits, missed = SeededBits(11), np.zeros(8)
    for _ in range(200):
        counts = [_counts(survey, at, truth, bits) for at, truth in enumerate(truths)]
        ends = (np.random.default_rng(bits.word()).random(600) >= sleep / 12).astype(int)
        found = question_results(survey, [*counts, _counts(survey, 2, ends, bits)])
        shares = [0.3, 0.7, *[0.2] * 5, 7.0]
        choices = [choice for result in found for choice in result.choices]
        missed += [not c.low <= truth <= c.high for c, truth in zip(choices, shares, strict=True)]
    assert max(missed) <= 24, missed


def _counts(survey: Questionnaire, at: int, truth: Any, bits: SeededBits) -> dict[str, int]:
    oracle = survey.oracles[at]
    content = to_bytes(oracle, oracle.randomise(np.asarray(truth, np.int64), bits))
    size = oracle.report_bytes
    texts = [content[i : i + size].hex() for i in range(0, len(content), size)]
    return {text: texts.count(text) for text in set(texts)}


def test_how_many_answers_are_needed_is_how_many_make_the_margin() -> None:
    oracle = SurveyQuestion("?", "yes_no").oracle(Fraction(1))  # type: ignore[arg-type]
    people = people_for(oracle, confidence=0.95, margin=0.02)
    half = np.array([people // 2, people - people // 2], np.int64)
    estimate = oracle.estimate_counts(half, people)
    width = float(np.asarray(estimate.high)[0] - np.asarray(estimate.low)[0]) / 2
    assert width == pytest.approx(0.02, rel=0.02)
    with pytest.raises(ParameterError, match="margin is 2, but must be between 0 and 1"):
        people_for(oracle, confidence=0.95, margin=2)


@pytest.mark.parametrize("choices", [2, 5])
@pytest.mark.parametrize("people", [1000, 20_000])
def test_the_margin_that_is_told_before_is_that_of_the_result(people: int, choices: int) -> None:
    """Of a share of one half; the exact interval is a little wider than the told one."""
    options = tuple(str(number) for number in range(choices))
    oracle = SurveyQuestion("?", QuestionKind.ONE_OF, options).oracle(Fraction(1))
    supported = float(oracle.chances.other + oracle.chances.contrast / 2)
    counts = np.full(choices, round(people * supported), np.int64)
    estimate = oracle.estimate_counts(counts, people)
    width = float(np.asarray(estimate.high)[0] - np.asarray(estimate.low)[0]) / 2
    assert margin_for(oracle, people) == pytest.approx(width, rel=0.05)


def test_how_exact_a_survey_is_is_told_of_its_widest_question_and_where_it_says_nothing() -> None:
    """ε = 2/3 for yes or no: (1.96 / 2) / tanh(1/3) = 3.048, and that over the root of 25."""
    survey = read_questionnaire(THREE | {"epsilon": "2/3", "questions": THREE["questions"][:1]})
    told = exactness(survey, 25)
    assert "With 25 people a share is known to about ± 61 points, if all answer" in told
    assert "that says nothing. For ± 10 points you need about 930 people" in told
    assert "says nothing" not in exactness(survey, 200)
    wider = exactness(read_questionnaire(THREE | {"epsilon": 2}), 25)
    assert int(wider.split()[10]) > 61, "five choices are wider than two"
    assert exactness(read_questionnaire(THREE | {"two_counters": True}), 25) == ""


def test_who_makes_a_survey_is_told_when_one_question_a_person_is_more_exact() -> None:
    split, sampled = (read_questionnaire(THREE | {"how": how}) for how in ("split", "sample"))
    told = exactness(split, 600)
    assert 'drawn at random (how = "sample"), it is about ± 9 points' in told
    assert exactness(sampled, 600).startswith("With 600 people a share is known to about ± 9 ")
    one = exactness(read_questionnaire(THREE | {"questions": THREE["questions"][:1]}), 600)
    assert "sample" not in one


def test_results_of_a_sampled_survey_say_how_many_people_more_answers_take() -> None:
    survey = read_questionnaire(THREE | {"how": "sample"})
    for result in question_results(survey, [{"40": 10}, {}, {"40": 2}]):
        assert result.more_people == 3 * result.more_needed > 0
        assert result.to_json()["more_people"] == result.more_people


def test_of_two_counters_nothing_says_that_no_answer_is_needed() -> None:
    """Their noise does not grow with the answers: a 0 would read as "enough"."""
    empty = empty_result(SurveyQuestion("?", QuestionKind.YES_NO), 0.95)
    assert empty.to_json()["more_needed"] is None


def test_a_result_whose_range_is_the_whole_scale_is_too_few_answers_and_keeps_its_numbers() -> None:
    """Two reports of the lower end: a mean far below the scale, in JSON alone."""
    survey = read_questionnaire(THREE)
    few = question_results(survey, [{"40": 2}, {}, {"40": 2}])
    for result in (few[0], few[2]):
        assert {result.in_words(choice) for choice in result.choices} == {"too few answers to say"}
    assert few[2].to_json()["choices"][0]["value"] < 0
    many = question_results(survey, [{"40": 900, "80": 700}, {}, {"40": 900, "80": 700}])
    words = [result.in_words(choice) for result in many for choice in result.choices]
    assert len(words) == 3
    assert not any("too few" in each for each in words)


@pytest.mark.parametrize(("value", "low", "high", "known"), [
    (-6.33, 0.0, 0.0, False), (7.0, 1.0, 1.0, False), (-0.02, 0.0, 0.0, True),
    (0.3, 0.2, 0.4, True), (-0.6, 0.0, 0.3, False), (1.3, 0.9, 1.0, True),
])  # fmt: skip
def test_a_value_far_beyond_its_scale_says_nothing_though_its_range_is_cut_to_a_point(
    value: float, low: float, high: float, known: bool
) -> None:
    """Three people and two counters: -633 % (0.0 to 0.0 %) looked like a certain result."""
    share = ChoiceResult("yes", value, low, high)
    result = QuestionResult(SurveyQuestion("?", QuestionKind.YES_NO), 3, 0.95, (share,), 0)
    assert result.is_known(share) is known
    assert ("too few" in result.in_words(share)) is not known


@pytest.mark.parametrize("report", ["", "zz", "c0", "00", "8000", "20"])
def test_what_no_page_can_have_made_is_refused(report: str) -> None:
    """Two choices: 80 and 40 are reports. Both, none, a third and more bytes are not."""
    oracle = read_questionnaire(THREE).oracles[0]
    assert check_report(oracle, "80") == "80"
    with pytest.raises(ParameterError):
        check_report(oracle, report)


def test_nobody_yet_is_no_estimate() -> None:
    results = question_results(read_questionnaire(THREE), [{}, {}, {}])
    assert [result.choices for result in results] == [(), (), ()]
    assert all(result.more_needed > 100 for result in results)
    assert STEPS == 1000
    assert read_questionnaire(THREE).ends == date(2031, 1, 31)


@pytest.mark.parametrize(
    "change",
    [
        {"ends": datetime(2031, 1, 31, 12)},
        {"epsilon": "1/0"},
        {"epsilon": "two"},
        {"epsilon": 49},  # a browser's whole numbers end at 2^64
        {"two_counters": "yes"},
        {"name": "new"},
        {"name": "coins"},
        {"questions": [{"text": "x", "kind": "number", "lower": 0, "upper": 10**400}]},
        {"questions": [{"text": "x", "kind": "number", "lower": -1.7e308, "upper": 1.7e308}]},
        {"questions": [{"text": "x", "kind": "number", "lower": float("nan"), "upper": 1}]},
        {"questions": [{"text": "x", "kind": "number", "lower": 0, "upper": 1, "measure": "\x1b"}]},
    ],
)
def test_what_would_harm_a_store_a_page_or_a_screen_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        read_questionnaire(THREE | change)


@pytest.mark.parametrize("options", [2, 3, 64])
def test_numbers_of_a_browsers_draws_stay_below_two_to_the_64(options: int) -> None:
    question = {"text": "x", "kind": "one_of", "options": [str(n) for n in range(options)]}
    for epsilon in (0.001, 1, 4, 16):
        survey = read_questionnaire(THREE | {"epsilon": epsilon, "questions": [question]})
        assert int(survey.for_browser()["questions"][0]["of"]) < 2**64


@pytest.mark.parametrize("total", [-300, 0, 5, 400])
def test_an_interval_of_two_counters_has_its_ends_in_order_and_within_all_shares(
    total: int,
) -> None:
    counters = TwoCounters(YesNo(), 1)
    question = read_questionnaire(THREE).questions[0]
    share = split_result(question, counters, [total % YesNo.field.modulus], [0], 10, 0.95)
    assert 0 <= share.choices[0].low <= share.choices[0].high <= 1


def test_words_in_a_table_are_no_formula() -> None:
    question = {"text": "=1+1", "kind": "one_of", "options": ["@x", "-5"]}
    survey = read_questionnaire(THREE | {"questions": [question]})
    found = results_csv(question_results(survey, [{"80": 3}]))
    assert [line.split(",")[:2] for line in found.splitlines()[1:]] == [
        ["'=1+1", "'@x"],
        ["'=1+1", "'-5"],
    ]


def test_the_mean_of_numbers_as_they_were_typed_is_in_the_interval_of_very_many_people() -> None:
    """All sleep 7.3 hours of 12, which lies between two steps; a million people leave no noise."""
    question = read_questionnaire(THREE).questions[2]
    total = 10**6 * round(7.3 / 12 * STEPS)
    found = split_result(question, TwoCounters(WholeNumber(STEPS), 4), [total], [0], 10**6, 0.95)
    assert found.choices[0].low <= 7.3 <= found.choices[0].high
