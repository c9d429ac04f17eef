"""Reads the form for a new survey: every field is checked by itself, and says what is wrong.

Tested:   tests/curator/console/test_surveys.py
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from letalone.curator.console.forms import SubmittedForm
from letalone.curator.http.problems import HttpProblemError, problem_error
from letalone.errors import LetaloneError
from letalone.errors.spelling import plural
from letalone.local.questionnaires.questions import (
    MAX_QUESTIONS,
    Asking,
    QuestionKind,
    Questionnaire,
    SurveyQuestion,
    check_name,
    check_text,
    read_day,
    read_questionnaire,
    read_whole_epsilon,
)
from letalone.wire.bodies import NewSurvey

PLACES = 5  # for questions at first, and with each press for more
NO_NUMBER = "Write a number such as 0.5."
NO_QUESTION = "Write at least one question."
Fault = tuple[str, str]  # a field, and what is wrong with it


def places_in(typed: Mapping[str, Any], *, more: bool = False) -> range:
    """How many questions the form has room for."""
    text = str(typed.get("places", PLACES))
    now = int(text) if text.isdecimal() and len(text) < 4 else PLACES
    return range(min(MAX_QUESTIONS, max(PLACES, now) + PLACES * more))


def read_survey(form: SubmittedForm, places: range) -> Questionnaire:
    """The survey that was typed; refused with the words of each field that is wrong."""
    used = [at for at in places if form.text(f"text-{at}")]
    faults = list(_faults(form, used))
    if faults:
        raise _refusal(faults)
    how, two = form.text("how") or Asking.SPLIT.value, form.ticked("two_counters")
    rest = {"how": how, "two_counters": two, "epsilon": form.number("epsilon")}
    questions = [_question(form, at) for at in used]
    sent = form.read(NewSurvey, "name", "title", "purpose", "ends", **rest, questions=questions)
    return read_questionnaire(sent.model_dump())


def _refusal(faults: list[Fault]) -> HttpProblemError:
    listed = [{"field": field, "why": why} for field, why in faults]
    words = f"{plural(len(faults), 'field')} to change: each says why. What you typed is kept."
    return problem_error("not-valid", words, errors=listed)


def _faults(form: SubmittedForm, used: list[int]) -> Iterator[Fault]:
    yield from _fault("name", lambda: check_name(form.text("name")))
    yield from _fault("title", lambda: check_text("The title", form.text("title")))
    yield from _fault("purpose", lambda: check_text("The purpose", form.text("purpose")))
    shares = 1 if form.text("how") == Asking.SAMPLE else max(1, len(used))
    yield from _fault("epsilon", lambda: read_whole_epsilon(form.number("epsilon"), shares))
    yield from _fault("ends", lambda: read_day(form.text("ends")))
    if not used:
        yield "text-0", NO_QUESTION
    for at in used:
        yield from _faults_of_question(form, at)


def _fault(field: str, check: Callable[[], object]) -> Iterator[Fault]:
    try:
        check()
    except LetaloneError as error:
        yield field, str(error)
    except HttpProblemError as error:
        yield field, error.problem.detail


def _faults_of_question(form: SubmittedForm, at: int) -> Iterator[Fault]:
    """Of its words, and of what belongs to its kind; ends that are no numbers, each by itself."""
    text, kind = form.text(f"text-{at}"), form.text(f"kind-{at}")
    yield from _fault(f"text-{at}", lambda: check_text("The text of a question", text))
    short = text[:80]
    if kind == QuestionKind.ONE_OF:
        options = tuple(_options(form, at))
        yield from _fault(
            f"options-{at}", partial(SurveyQuestion, short, QuestionKind.ONE_OF, options)
        )
    if kind == QuestionKind.NUMBER:
        yield from _faults_of_ends(form, at, short)


def _faults_of_ends(form: SubmittedForm, at: int, text: str) -> Iterator[Fault]:
    lower, upper = (_number(form, f"{end}-{at}") for end in ("lower", "upper"))
    wrong = [end for end, value in (("lower", lower), ("upper", upper)) if value is None]
    yield from ((f"{end}-{at}", NO_NUMBER) for end in wrong)
    if lower is not None and upper is not None:
        made = partial(SurveyQuestion, text, QuestionKind.NUMBER, (), lower, upper)
        yield from _fault(f"upper-{at}", made)
        if measure := form.text(f"measure-{at}"):
            yield from _fault(f"measure-{at}", lambda: check_text("A measure", measure))


def _question(form: SubmittedForm, at: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"text": form.text(f"text-{at}"), "kind": form.text(f"kind-{at}")}
    if fields["kind"] == QuestionKind.ONE_OF:
        fields["options"] = _options(form, at)
    if fields["kind"] == QuestionKind.NUMBER:
        fields |= {end: _number(form, f"{end}-{at}") for end in ("lower", "upper")}
        fields |= {"measure": measure} if (measure := form.text(f"measure-{at}")) else {}
    return fields


def _options(form: SubmittedForm, at: int) -> list[str]:
    options = (option.strip() for option in form.text(f"options-{at}").split(","))
    return [option for option in options if option]


def _number(form: SubmittedForm, name: str) -> float | None:
    try:
        return float(form.number(name))
    except (ValueError, HttpProblemError):
        return None
