"""The results of a survey, from how often each report came.

Reports are kept as counts by their value, so that nothing tells in which order they came or whose
they were. A report is read once more when it is counted: what is not one of the law's is refused.

  Tested:   intervals hold as often as they say; adding people is adding counts
"""

from collections.abc import Mapping, Sequence
from csv import writer
from dataclasses import dataclass, replace
from io import StringIO
from math import ceil, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from letalone.errors import ParameterError
from letalone.errors.spelling import plural_people
from letalone.local.frequencies.subset_selection import SubsetSelection
from letalone.local.questionnaires.questions import (
    MOST_EPSILON_EACH,
    STEPS,
    Asking,
    QuestionKind,
    Questionnaire,
    SurveyQuestion,
)
from letalone.local.reports import from_bytes
from letalone.local.split.counting import TwoCounters
from letalone.local.split.fields import Vector

HALF_STEP = 0.5 / STEPS
NEARLY_ALL = 0.999  # of a scale: what is shown of such a range is the whole
CSV_COLUMNS = (
    "question", "choice", "estimate", "low", "high", "people", "confidence", "more_needed"
)  # fmt: skip
ReportCounts = Mapping[str, int]  # by report, as hexadecimal text


@dataclass(frozen=True, slots=True)
class ChoiceResult:
    """The estimated share of one choice, or the mean of a number, with its interval."""

    label: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What the reports say about one question."""

    question: SurveyQuestion
    people: int
    confidence: float
    choices: tuple[ChoiceResult, ...]
    people_for_margin: int
    one_in: int = 1  # of so many people one is asked this question

    @property
    def has_margin(self) -> bool:
        """Whether more answers make it more exact: the noise of two counters does not grow."""
        return self.people_for_margin > 0

    @property
    def more_needed(self) -> int:
        """How many more answers bring the margin down to that which was asked for."""
        return max(0, self.people_for_margin - self.people)

    @property
    def more_people(self) -> int:
        """How many more people that takes, on average, where each is asked one question."""
        return self.one_in * self.more_needed

    def is_known(self, choice: ChoiceResult) -> bool:
        """Whether the range is narrower than the whole scale: else the value says nothing."""
        is_number = self.question.kind is QuestionKind.NUMBER
        scale = self.question.upper - self.question.lower if is_number else 1.0
        return is_narrow(choice, scale)

    def in_words(self, choice: ChoiceResult) -> str:
        """A share in percent, or a number with its measure, and its range."""
        if not self.is_known(choice):
            return "too few answers to say"
        if self.question.kind is QuestionKind.NUMBER:
            measure = f" {self.question.measure}".rstrip()
            return f"{choice.value:.4g}{measure} ({choice.low:.4g} to {choice.high:.4g})"
        shown = (f"{100 * part:.1f}" for part in (choice.value, choice.low, choice.high))
        return "{} % ({} to {} %)".format(*shown)

    def to_json(self) -> dict[str, Any]:
        choices = [
            {"label": each.label, "value": each.value, "low": each.low, "high": each.high}
            for each in self.choices
        ]
        return {
            "question": self.question.text,
            "kind": self.question.kind.value,
            "people": self.people,
            "confidence": self.confidence,
            "more_needed": self.more_needed if self.has_margin else None,
            "more_people": self.more_people if self.has_margin else None,
            "choices": choices,
        }


def is_narrow(choice: ChoiceResult, scale: float) -> bool:
    """Whether a range is narrower than the whole scale.

    A range that lies beyond the scale is cut to one end of it. Its value tells how wide it was: one
    that is half a scale away belongs to a range of a whole scale, or to noise that hardly occurs.
    """
    away = max(choice.low - choice.value, choice.value - choice.high)
    return choice.high - choice.low < NEARLY_ALL * scale and away < scale / 2


def results_csv(results: list[QuestionResult]) -> str:
    """A line for each choice of each question."""
    text = StringIO()
    lines = writer(text)
    lines.writerow(CSV_COLUMNS)
    for result in results:
        more = result.more_needed if result.has_margin else ""
        for choice in result.choices:
            ends = (choice.value, choice.low, choice.high)
            words = map(_as_text, (result.question.text, choice.label))
            lines.writerow([*words, *ends, result.people, result.confidence, more])
    return text.getvalue()


def _as_text(words: str) -> str:
    """With a sign in front of words that a spreadsheet would take for a formula."""
    return f"'{words}" if words.lstrip()[:1] in ("=", "+", "-", "@") else words


def empty_result(question: SurveyQuestion, confidence: float) -> QuestionResult:
    """Nothing is known yet."""
    return QuestionResult(question, 0, confidence, (), 0)


def split_result(
    question: SurveyQuestion,
    counters: TwoCounters,
    first: Vector,
    second: Vector,
    people: int,
    confidence: float,
) -> QuestionResult:
    """The result from what two counters have told about so many people."""
    estimate = counters.estimate(first, second, confidence=confidence)
    ends = [np.asarray(part) / people for part in (estimate.value, estimate.low, estimate.high)]
    if question.kind is QuestionKind.NUMBER:
        value, low, high = (float(part[0]) / STEPS for part in ends)
        choices = (_mean(question, _share("upper", value, low, high)),)
    else:
        labels = question.choices[: len(ends[0])]
        rows = zip(labels, *(part.tolist() for part in ends), strict=True)
        choices = tuple(_share(*row) for row in rows)
    return QuestionResult(question, people, confidence, choices, 0)


def _share(label: str, value: float, low: float, high: float) -> ChoiceResult:
    """A share lies from 0 to 1, and so do both ends of its interval."""
    return ChoiceResult(label, value, *(min(max(end, 0.0), 1.0) for end in (low, high)))


def check_report(oracle: SubsetSelection, report: str) -> str:
    """The report as it is counted; refused if it is not one that a page can have made."""
    try:
        content = bytes.fromhex(report)
    except ValueError:
        content = b""
    if len(content) != oracle.report_bytes:
        raise ParameterError(f"A report must be {2 * oracle.report_bytes} hexadecimal digits.")
    from_bytes(oracle, content)
    return content.hex()


def read_person(survey: Questionnaire, reports: Sequence[str]) -> list[tuple[int, str]]:
    """What one person sent, as it is counted: the number of each question, and its report.

    Where each person answers one question, the reports of all others are empty texts.
    """
    if len(reports) != len(survey.questions):
        raise ParameterError(
            f"There are {len(reports)} reports, but the survey has {len(survey.questions)}"
            " questions. Answer each."
        )
    sampled = survey.how is Asking.SAMPLE
    given = [place for place, report in enumerate(reports) if report or not sampled]
    if len(given) != survey.asked_of_each:
        raise ParameterError(
            f"There are reports on {len(given)} questions, but each person answers one, which"
            " their browser draws."
        )
    oracles = survey.oracles
    return [(place, check_report(oracles[place], reports[place])) for place in given]


def question_results(
    survey: Questionnaire,
    counts: list[ReportCounts],
    *,
    confidence: float = 0.95,
    margin: float = 0.02,
) -> list[QuestionResult]:
    """One result for each question; `margin` is a share of people, or of a number's range."""
    each = zip(survey.questions, survey.oracles, counts, strict=True)
    one_in = len(survey.questions) // survey.asked_of_each
    return [replace(_result(*parts, confidence, margin), one_in=one_in) for parts in each]


def _result(
    question: SurveyQuestion,
    oracle: SubsetSelection,
    counts: ReportCounts,
    confidence: float,
    margin: float,
) -> QuestionResult:
    people = sum(counts.values())
    needed = people_for(oracle, confidence=confidence, margin=margin)
    choices = _choices(question, oracle, counts, confidence) if people else ()
    return QuestionResult(question, people, confidence, choices, needed)


def _choices(
    question: SurveyQuestion, oracle: SubsetSelection, counts: ReportCounts, confidence: float
) -> tuple[ChoiceResult, ...]:
    supports = np.zeros(oracle.size, np.int64)
    for report, number in counts.items():
        supports += number * oracle.count(from_bytes(oracle, bytes.fromhex(report)))
    estimate = oracle.estimate_counts(supports, sum(counts.values()), confidence)
    ends = (np.atleast_1d(part) for part in (estimate.value, estimate.low, estimate.high))
    rows = zip(question.choices, *ends, strict=True)
    choices = tuple(ChoiceResult(label, *map(float, three)) for label, *three in rows)
    return (_mean(question, choices[0]),) if question.kind is QuestionKind.NUMBER else choices


def _mean(question: SurveyQuestion, share: ChoiceResult) -> ChoiceResult:
    """The share of the upper end, on the question's own scale.

    Each number was moved by half a step at most, and so was their mean.
    """
    lower, width = question.lower, question.upper - question.lower
    moved = _share(share.label, share.value, share.low - HALF_STEP, share.high + HALF_STEP)
    value, low, high = (lower + width * part for part in (moved.value, moved.low, moved.high))
    return ChoiceResult("mean", value, low, high)


def people_for(oracle: SubsetSelection, *, confidence: float, margin: float) -> int:
    """About how many answers make the interval of a share of one half at most ± `margin`."""
    if not 0 < margin < 1:
        raise ParameterError(f"margin is {margin:g}, but must be between 0 and 1, such as 0.02.")
    return ceil((_margin_of_one(oracle, confidence) / margin) ** 2)


def margin_for(oracle: SubsetSelection, people: int, *, confidence: float = 0.95) -> float:
    """About half the width of the interval of a share of one half, with so many answers."""
    return _margin_of_one(oracle, confidence) / sqrt(people)


def _margin_of_one(oracle: SubsetSelection, confidence: float) -> float:
    """That margin for one answer; it falls with the root of their number."""
    chances, deviations = oracle.chances, NormalDist().inv_cdf((1 + confidence) / 2)
    supported = float(chances.other + chances.contrast / 2)
    return deviations * sqrt(supported * (1 - supported)) / float(chances.contrast)


def exactness(survey: Questionnaire, people: int) -> str:
    """What so many people can tell, before anybody is asked; nothing of two counters."""
    if survey.two_counters:
        return ""
    points, needed = _points(survey, people)
    nothing = ": that says nothing" if points >= 50 else ""
    return (
        f"With {plural_people(people)} a share is known to about ± {points:,} points, if all"
        f" answer{nothing}. For ± 10 points you need about {plural_people(needed)}."
        f"{_better_sampled(survey, people, points)}"
    )


def _points(survey: Questionnaire, people: int) -> tuple[int, int]:
    """The margin of the least exact question, in points, and how many people make it 10."""
    one_in = len(survey.questions) // survey.asked_of_each
    each = max(1, people // one_in)
    widest = max(survey.oracles, key=lambda oracle: margin_for(oracle, each))
    needed = one_in * people_for(widest, confidence=0.95, margin=0.1)
    return ceil(100 * margin_for(widest, each)), needed


def _better_sampled(survey: Questionnaire, people: int, points: int) -> str:
    """Says that one question a person would be more exact, where it would be."""
    if survey.how is Asking.SAMPLE or survey.epsilon > MOST_EPSILON_EACH:
        return ""
    fewer, _ = _points(replace(survey, how=Asking.SAMPLE), people)
    if fewer >= points:
        return ""
    return (
        f' If each person answers one question, drawn at random (how = "sample"), it is about'
        f" ± {fewer:,} points."
    )
