"""A survey: questions, an ε for all of them together, a purpose and an end.

Each question has an equal share of ε, or each person answers one question, which their browser
draws, at the whole ε. Answers are randomised by subset selection
(`letalone.local.frequencies.subset_selection`): yes or no is a choice of two, and a number is first
rounded to one of its two ends, at random, so that its mean is kept.

Theorem.  Split: with q questions of ε/q each, all answers of one person together are ε-DP
          (REPLACE). Sampled: the question is drawn without a look at the answers, so the one report
          with the name of its question is ε-DP for all answers.
          A number x in [a, b], put on a grid of 1,000 steps, is rounded to b with probability
          (x − a)/(b − a): the share of b is then the mean on that scale, and its interval holds.
  Proven:   docs/explanation/proofs/local_frequencies.md, its section 10; composition.md; the last
            line in docs/explanation/proofs/survey_numbers.md
  Tested:   all laws in rationals; the browser's draws against them

A stored survey is JSON with `format = 1`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from fractions import Fraction
from math import isfinite
from typing import Any, cast

from letalone.errors import FormatError, ParameterError
from letalone.errors.spelling import did_you_mean
from letalone.exact.typed import read_rational, refusal, write_rational
from letalone.local.frequencies.subset_selection import SubsetSelection
from letalone.local.ratios import read_epsilon
from letalone.privacy.bounds import six

FORMAT = 1
STEPS = 1000  # of a number's range
MAX_QUESTIONS, MAX_OPTIONS = 20, 64
MAX_TEXT, MAX_NAME = 500, 60
MOST_EPSILON_EACH = 16
YES_NO = ("yes", "no")
PAGES = ("new", "coins")  # these addresses are taken
SURVEY_NEEDS = ("name", "title", "purpose", "epsilon", "questions")
SURVEY_FIELDS = (*SURVEY_NEEDS, "ends", "how", "two_counters", "format")
QUESTION_NEEDS = ("text", "kind")
QUESTION_FIELDS = (*QUESTION_NEEDS, "options", "lower", "upper", "measure")
# With a short exponent: 1e20000000 is a short text of a number that fills the memory.
DECIMAL = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,3})?", re.ASCII | re.IGNORECASE)
NAME_SIGNS = "a lower-case letter, then letters, digits and hyphens"


class QuestionKind(StrEnum):
    """What can be asked."""

    YES_NO = "yes_no"
    ONE_OF = "one_of"
    NUMBER = "number"


KINDS = [kind.value for kind in QuestionKind]


class Asking(StrEnum):
    """How several questions share ε: each has a part of it, or each person answers one."""

    SPLIT = "split"
    SAMPLE = "sample"


WAYS = [way.value for way in Asking]


@dataclass(frozen=True, slots=True)
class SurveyQuestion:
    """One question; `options` for a choice, `lower`, `upper` and a `measure` for a number."""

    text: str
    kind: QuestionKind
    options: tuple[str, ...] = ()
    lower: float = 0.0
    upper: float = 1.0
    measure: str = ""

    def __post_init__(self) -> None:
        check_text("The text of a question", self.text)
        check = {QuestionKind.ONE_OF: self._check_options, QuestionKind.NUMBER: self._check_range}
        check.get(self.kind, lambda: None)()

    def _check_options(self) -> None:
        if not 2 <= len(self.options) <= MAX_OPTIONS:
            raise ParameterError(
                f"{self.text!r} has {len(self.options)} options, but must have from 2 to"
                f" {MAX_OPTIONS}."
            )
        for option in self.options:
            check_text("An option", option)
        if len(set(self.options)) < len(self.options):
            raise ParameterError(f"An option of {self.text!r} occurs twice. Drop one.")

    def _check_range(self) -> None:
        if not (self.lower < self.upper and isfinite(self.upper - self.lower)):
            raise ParameterError(
                f"{self.text!r} has the range {self.lower:g} to {self.upper:g}, but lower must be"
                " below upper, and both finite, as is the distance between them."
            )
        if self.measure:
            check_text("A measure", self.measure)

    @property
    def choices(self) -> tuple[str, ...]:
        """What a report chooses among: for a number the ends of its range."""
        if self.kind is QuestionKind.ONE_OF:
            return self.options
        return ("upper", "lower") if self.kind is QuestionKind.NUMBER else YES_NO

    def oracle(self, epsilon: Fraction) -> SubsetSelection:
        return SubsetSelection(list(self.choices), epsilon=epsilon)


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """Questions that people answer for themselves, with one ε for all answers of a person."""

    name: str
    title: str
    purpose: str
    epsilon: Fraction
    questions: tuple[SurveyQuestion, ...]
    ends: date
    two_counters: bool = False
    how: Asking = Asking.SPLIT

    def __post_init__(self) -> None:
        check_name(self.name)
        check_text("The title", self.title)
        check_text("The purpose", self.purpose)
        if not 1 <= len(self.questions) <= MAX_QUESTIONS:
            raise ParameterError(
                f"A survey has from 1 to {MAX_QUESTIONS} questions, not {len(self.questions)}."
            )
        _check_share(self.epsilon_each)
        if self.two_counters and self.how is Asking.SAMPLE:
            raise ParameterError(
                'how is "sample", but two counters lose hardly anything to noise, so they ask'
                " everybody all questions. Leave out how or two_counters."
            )

    @property
    def asked_of_each(self) -> int:
        """How many questions one person answers."""
        return 1 if self.how is Asking.SAMPLE else len(self.questions)

    @property
    def epsilon_each(self) -> Fraction:
        """What a report on one question costs."""
        return self.epsilon / self.asked_of_each

    @property
    def epsilon_above(self) -> str:
        """The ε of a person in words, rounded up."""
        return six(self.epsilon)

    @property
    def oracles(self) -> tuple[SubsetSelection, ...]:
        return tuple(question.oracle(self.epsilon_each) for question in self.questions)

    def for_browser(self) -> dict[str, Any]:
        """All that the page of the survey needs: words, and each law in whole numbers."""
        pairs = zip(self.questions, self.oracles, strict=True)
        return {
            "format": FORMAT,
            "name": self.name,
            "how": self.how.value,
            "steps": STEPS,
            "questions": [_write_question(question) | _law(oracle) for question, oracle in pairs],
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "name": self.name,
            "title": self.title,
            "purpose": self.purpose,
            "epsilon": write_rational(self.epsilon),
            "ends": self.ends.isoformat(),
            "how": self.how.value,
            "two_counters": self.two_counters,
            "questions": [_write_question(question) for question in self.questions],
        }


def read_questionnaire(document: object) -> Questionnaire:
    """A survey from JSON, or from the TOML file that its owner wrote."""
    fields = _mapping(document, "A survey", SURVEY_NEEDS)
    if fields.get("format", FORMAT) != FORMAT:
        raise FormatError(
            f"This survey has format {fields['format']}; this version reads {FORMAT}."
        )
    _check_known("A survey", fields, SURVEY_FIELDS)
    _check_complete("A survey", fields, SURVEY_NEEDS)
    questions = fields["questions"]
    if not isinstance(questions, Sequence) or isinstance(questions, str):
        raise ParameterError("questions must be a list, in TOML one [[questions]] for each.")
    two_counters = fields.get("two_counters", False)
    if not isinstance(two_counters, bool):
        raise ParameterError("two_counters must be true or false.")
    how = _way(fields.get("how", Asking.SPLIT.value))
    shares = len(cast("Sequence[object]", questions)) if how is Asking.SPLIT else 1
    return Questionnaire(
        str(fields["name"]),
        str(fields["title"]),
        str(fields["purpose"]),
        read_whole_epsilon(fields["epsilon"], max(1, shares)),
        tuple(_read_question(each) for each in cast("Sequence[object]", questions)),
        read_day(fields.get("ends")),
        two_counters,
        how,
    )


def _way(typed: object) -> Asking:
    try:
        return Asking(cast("str", typed))
    except ValueError:
        raise ParameterError(
            f"how is {typed!r}, but must be one of: {', '.join(WAYS)}."
            f"{did_you_mean(str(typed), WAYS)}"
        ) from None


def read_whole_epsilon(typed: Any, questions: int) -> Fraction:
    """The ε of all questions; each one's share must be one that a report can have."""
    from letalone.exact.typed import EPSILON

    try:
        total = _read_digits(typed) if isinstance(typed, str) else EPSILON.typed("epsilon", typed)
    except (ValueError, ZeroDivisionError):
        raise refusal("epsilon", typed, "a positive number, such as 2") from None
    _check_share(total / questions)
    return total


def _read_digits(text: str) -> Fraction:
    """A decimal such as a form has, or a fraction such as a stored survey has."""
    return Fraction(text) if DECIMAL.fullmatch(text) else read_rational(text)


def _check_share(epsilon: Fraction) -> None:
    """What one question may have: whole numbers of a browser's draws stay below 2^64."""
    if read_epsilon(epsilon) > MOST_EPSILON_EACH:
        raise ParameterError(
            f"epsilon is {float(epsilon):g} for each question, but must be at most"
            f" {MOST_EPSILON_EACH}. 0.5 to 4 is usual."
        )


def read_day(value: object) -> date:
    """The last day of a survey."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise ParameterError(
            "ends must be a day without a time of day, such as 2027-01-31."
        ) from None


def _read_question(document: object) -> SurveyQuestion:
    fields = _mapping(document, "A question", QUESTION_NEEDS)
    name = _name_of(fields)
    _check_known(name, fields, QUESTION_FIELDS)
    _check_complete(name, fields, QUESTION_NEEDS)
    kind = _kind(name, fields["kind"])
    options = fields.get("options", ())
    if not isinstance(options, Sequence) or isinstance(options, str):
        raise ParameterError("options must be a list of texts.")
    texts = tuple(str(option) for option in cast("Sequence[object]", options))
    lower, upper = (_end(fields, name, kind) for name in ("lower", "upper"))
    measure = str(fields.get("measure", ""))
    return SurveyQuestion(str(fields["text"]), kind, texts, lower, upper, measure)


def _name_of(fields: Mapping[str, Any]) -> str:
    """By its text, so that its owner finds it among others."""
    return f"The question {str(fields['text'])[:80]!r}" if "text" in fields else "A question"


def _kind(question: str, typed: object) -> QuestionKind:
    try:
        return QuestionKind(cast("str", typed))
    except ValueError:
        raise ParameterError(
            f"{question} has the kind {typed!r}, but it must be one of:"
            f" {', '.join(KINDS)}.{did_you_mean(str(typed), KINDS)}"
        ) from None


def _end(fields: Mapping[str, Any], name: str, kind: QuestionKind) -> float:
    if kind is not QuestionKind.NUMBER:
        return 0.0 if name == "lower" else 1.0
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ParameterError(f"{name} is missing: a number question has a lower and an upper end.")
    try:
        return float(value)
    except OverflowError:
        raise ParameterError(f"{name} is too large. Choose another unit.") from None


def _write_question(question: SurveyQuestion) -> dict[str, Any]:
    written: dict[str, Any] = {"text": question.text, "kind": question.kind.value}
    if question.kind is QuestionKind.ONE_OF:
        written["options"] = list(question.options)
    if question.kind is QuestionKind.NUMBER:
        written |= {name: getattr(question, name) for name in ("lower", "upper", "measure")}
    return written


def _law(oracle: SubsetSelection) -> dict[str, Any]:
    """A set of `chosen` holds the answer if a whole number below `of` is below `held`."""
    chance = oracle.chances.held
    return {
        "choices": oracle.size,
        "chosen": oracle.chosen,
        "held": str(chance.numerator),
        "of": str(chance.denominator),
    }


def _mapping(value: object, what: str, needed: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ParameterError(f"{what} must have fields: {', '.join(needed)}.")
    return cast("Mapping[str, Any]", value)


def _check_complete(what: str, fields: Mapping[str, Any], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in fields]
    if missing:
        raise ParameterError(f"{what} lacks {', '.join(missing)}. It needs: {', '.join(needed)}.")


def _check_known(what: str, fields: Mapping[str, Any], known: Sequence[str]) -> None:
    """A field that nobody reads would be a setting that its owner believes in."""
    for name in fields:
        if name not in known:
            where = " It belongs above the first question." if name in SURVEY_FIELDS else ""
            meant = where or did_you_mean(name, known) or f" There are: {', '.join(known)}."
            raise ParameterError(f"{what} has no field {name!r}.{meant}")


def check_text(what: str, text: str) -> None:
    """Refuses words that do not stand on one line of a page."""
    if not text.strip() or len(text) > MAX_TEXT or not text.isprintable():
        raise ParameterError(
            f"{what} must be from 1 to {MAX_TEXT} characters, all of them printable, on one line."
        )


def check_name(name: str) -> None:
    """Refuses a name that cannot stand in an address."""
    plain = name.isascii() and name.replace("-", "a").isalnum() and name == name.lower()
    if name in PAGES:
        raise ParameterError(f"name is {name!r}, which is a page already. Give another name.")
    if not (plain and name[:1].isalpha() and len(name) <= MAX_NAME):
        raise ParameterError(
            f"name is {name!r}, but must be {NAME_SIGNS}, at most {MAX_NAME}: it stands in the"
            " address."
        )
