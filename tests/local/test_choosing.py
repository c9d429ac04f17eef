"""Which oracle is best, surveys of several questions, and shares that are forced to be shares."""

import numpy as np
import pytest
from scipy.optimize import minimize

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError
from letalone.local import (
    CountMeanSketch,
    Hybrid,
    KaryResponse,
    LocalHashing,
    SubsetSelection,
    Survey,
    best,
    project,
)
from letalone.privacy import REPLACE
from mechanisms.frequencies import FALSE_ALARM, fit
from seeded import SeededBits


def test_best_takes_the_smallest_variance_and_then_the_shortest_report():
    assert isinstance(best(16, epsilon=1, n=1000).oracle, SubsetSelection)
    assert isinstance(best(["a", "b", "c"], epsilon=5, n=10).oracle, SubsetSelection | KaryResponse)
    many = best(1024, epsilon=1, n=1000)
    assert isinstance(many.oracle, LocalHashing)
    assert isinstance(many.considered[0], SubsetSelection)
    assert many.oracle.variance(1000) <= 1.01 * many.considered[0].variance(1000)
    assert many.oracle.report_bytes == 3
    assert "3 bytes a report" in many.why
    assert "SubsetSelection" in many.why
    assert isinstance(best(1 << 22, epsilon=1, n=1000).oracle, CountMeanSketch)


def test_best_keeps_to_the_bytes_that_a_report_may_have():
    assert best(1024, epsilon=1, n=1000, bytes=2).oracle.report_bytes == 2
    with pytest.raises(ParameterError, match="shortest report about 1024 values has 2"):
        best(1024, epsilon=1, n=1000, bytes=1)


QUESTIONS = {"smokes": ["yes", "no"], "drink": ["tea", "coffee", "water"], "age": (18, 99)}


@pytest.mark.parametrize("how", ["sample", "split"])
def test_what_a_person_sends_costs_at_most_epsilon(how):
    survey = Survey(QUESTIONS, epsilon=2, how=how)
    assert 2 - 1e-9 < survey.privacy.epsilon(0) <= 2
    assert survey.privacy.neighbours == REPLACE
    answers = {"smokes": "no", "drink": "tea", "age": 44}
    assert len(survey.privatize(answers, bits=SeededBits(1))) == (1 if how == "sample" else 3)


def test_each_question_is_drawn_equally_often():
    """False-positive rate over seeds: 1e-6; power against one a tenth more often."""
    survey, people = Survey(QUESTIONS, epsilon=2, how="sample"), 30_000
    answers = {"smokes": ["no"] * people, "drink": ["tea"] * people, "age": [44] * people}
    reports = survey.privatize(answers, bits=SeededBits(2))
    drawn = [name for name, given in reports.items() for _ in range(len(given))]
    assert len(drawn) == people
    assert fit(drawn, dict.fromkeys(QUESTIONS, 1 / 3)) > FALSE_ALARM
    assert fit(drawn, {"smokes": 0.37, "drink": 0.315, "age": 0.315}) < FALSE_ALARM


@pytest.mark.parametrize("how", ["sample", "split"])
def test_a_survey_estimates_each_question(how):
    survey, people = Survey(QUESTIONS, epsilon=4, how=how), 3000
    answers = {
        "smokes": ["yes"] * 1000 + ["no"] * 2000,
        "drink": ["tea"] * people,
        "age": np.full(people, 50.0),
    }
    found = survey.estimate(survey.privatize(answers, bits=SeededBits(3)))
    assert found["smokes"].value[0] == pytest.approx(1 / 3, abs=0.15)
    assert found["drink"].value[0] == pytest.approx(1, abs=0.15)
    assert found["age"].value == pytest.approx(50, abs=5)


def test_sampling_is_chosen_for_small_epsilon():
    assert Survey(QUESTIONS, epsilon=0.5).how == "sample"
    assert isinstance(Survey(QUESTIONS, epsilon=0.5).oracles["age"], Hybrid)
    assert Survey({"a": 2, "b": 2}, epsilon=20).how == "split"


def test_surveys_refuse_what_does_not_fit():
    for wrong in ({}, {"a": (1, 2, 3)}, ["a"], None, 0.5):
        with pytest.raises(ParameterError):
            Survey(wrong, epsilon=1)
    with pytest.raises(ParameterError, match="how"):
        Survey(QUESTIONS, epsilon=1, how="both")
    survey = Survey({"a": 2, "b": 2}, epsilon=1)
    with pytest.raises(ParameterError, match="exactly: a, b"):
        survey.privatize({"a": 1})
    with pytest.raises(ParameterError, match="differ in length"):
        survey.privatize({"a": [1], "b": [1, 0]})
    for wrong in ([1], None, 0.5):
        with pytest.raises(ParameterError, match="exactly: a, b"):
            survey.privatize(wrong)
    for wrong in ({"c": [1]}, [1], None):
        with pytest.raises(ParameterError, match="its questions, as privatize gives them: a, b"):
            survey.estimate(wrong)


def test_an_epsilon_that_is_too_small_to_split_is_not_too_small_for_one_question_a_person():
    for how in ("auto", "sample"):
        assert Survey(QUESTIONS, epsilon=0.001, how=how).how == "sample"
    with pytest.raises(ParameterError, match="epsilon"):
        Survey(QUESTIONS, epsilon=0.001, how="split")


def test_a_projection_is_the_nearest_point_of_the_simplex_and_says_that_it_is_biased():
    for shares in ([0.7, 0.5, -0.1], [0.2, 0.2, 0.2], [3.0, 0.0, 0.0], [0.3, 0.3, 0.4]):
        found = project(Estimate(np.array(shares), np.zeros(3), np.ones(3), 0.95))
        slow = minimize(
            lambda x, at=tuple(shares): ((x - np.array(at)) ** 2).sum(),
            np.full(3, 1 / 3),
            bounds=[(0, 1)] * 3,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
        )
        assert found.value == pytest.approx(slow.x, abs=1e-5)
        assert found.value.sum() == pytest.approx(1)
        assert found.biased
        assert "biased" in repr(found)
    with pytest.raises(ParameterError):
        project(Estimate(0.5, 0.0, 1.0, 0.95))
    with pytest.raises(ParameterError, match="what `estimate` of a frequency oracle returns"):
        project([0.5, 0.5])
