"""Pages of surveys: the one that people answer on, and those for who makes and reads them.

The page for answering sets no cookie and asks nobody to sign in. An invitation stands behind the #
of its address, which browsers do not send, so it is in no log.

  Tested:   tests/curator/console/test_surveys.py; in a browser: tests/browser/test_surveys.py
"""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from json import dumps
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from markupsafe import Markup
from starlette.responses import HTMLResponse

from letalone.answers.estimate import Estimate
from letalone.answers.promise import as_sure
from letalone.curator.console.charts import MeasuredNumber, bars_with_errors, figure
from letalone.curator.console.forms import Form, act_or_show
from letalone.curator.console.pages import (
    HEADERS,
    POLICY,
    console_routes,
    download,
    make_environment,
    page,
    problem_of,
    see_other,
    typed_in,
)
from letalone.curator.people.access import SURVEYED, Context
from letalone.curator.people.visitors import Overseer, Steward, Visitor
from letalone.curator.surveys.counters import law_for_browser, split_questions
from letalone.curator.surveys.survey_form import places_in, read_survey
from letalone.errors import LetaloneError
from letalone.exact.balls import ball, upper
from letalone.local.questionnaires.questions import (
    MAX_QUESTIONS,
    Asking,
    QuestionKind,
    Questionnaire,
)
from letalone.local.questionnaires.results import (
    ChoiceResult,
    QuestionResult,
    is_narrow,
    results_csv,
)
from letalone.mechanisms.randomized_response import RandomizedResponse
from letalone.wire.bodies import NewInvitations

MARGIN = 0.02
MOST_ON_PAPER = 10**6
COINS = Fraction(3, 4)  # the chance of the truth with two fair coins
KINDS = (
    (QuestionKind.YES_NO.value, "yes or no"),
    (QuestionKind.ONE_OF.value, "one of several"),
    (QuestionKind.NUMBER.value, "a number in a range"),
)
WAYS = (
    (Asking.SPLIT.value, "each person answers all"),
    (Asking.SAMPLE.value, "each person answers one, drawn at random"),
)
# What is typed goes through the script or nowhere: no form leaves the page by itself.
ANSWERING = POLICY.replace("form-action 'self'", "form-action 'none'")
routes = console_routes()
open_routes = APIRouter(include_in_schema=False)


@open_routes.get("/survey/{name}", dependencies=[SURVEYED])
def answer(name: str, service: Context) -> Response:
    """The page on which one answers: a few kilobytes, without a cookie."""
    headers = HEADERS | {"Referrer-Policy": "no-referrer", "Content-Security-Policy": ANSWERING}
    try:
        survey = service.curator.surveys.published(name)
    except LetaloneError as error:
        problem = problem_of(error)
        body = _render("survey_over.html", problem=problem)
        return HTMLResponse(body, problem.code, headers)
    data = survey.for_browser()
    if survey.two_counters:
        other = service.curator.surveys.other_counter
        data |= {"other": other, "split": [law_for_browser(q) for q in split_questions(survey)]}
        policy = ANSWERING.replace("connect-src 'self'", f"connect-src 'self' {_origin(other)}")
        headers |= {"Content-Security-Policy": policy}
    words = surer_words(survey)
    sampled = survey.how is Asking.SAMPLE
    body = _render(
        "survey_answer.html", survey=survey, data=dumps(data), surer=words, sampled=sampled
    )
    return HTMLResponse(body, headers=headers)


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _render(template: str, **context: Any) -> str:
    return make_environment().get_template(template).render(context)


def surer_words(survey: Questionnaire) -> str:
    """How many times surer anybody can be at most, rounded up."""
    times = upper(ball(survey.epsilon).exp())
    return f"{times + 0.05:.1f}" if times < 100 else f"{times + 1:,.0f}"


@routes.get("/surveys")
def surveys(request: Request, visitor: Overseer) -> Response:
    """All surveys."""
    return page(request, "surveys.html", records=visitor.curator.surveys.records(by=visitor.name))


@routes.get("/surveys/new")
def new(request: Request, visitor: Steward, *, more: bool = False) -> Response:
    """The form for a new survey."""
    today = datetime.now(UTC).date()
    return page(
        request,
        "survey_new.html",
        kinds=KINDS,
        ways=WAYS,
        places=places_in(typed_in(request), more=more),
        most=MAX_QUESTIONS,
        days=(today.isoformat(), (today + timedelta(days=3650)).isoformat()),
        two=visitor.curator.settings.other_counter is not None,
    )


@routes.post("/surveys/new/more")
def more(request: Request, visitor: Steward, form: Form) -> Response:  # noqa: ARG001
    """The form with all that was typed, and room for more questions."""
    return new(request, visitor, more=True)


@routes.post("/surveys/new")
@act_or_show(new, acting=True)
def make(request: Request, visitor: Steward, form: Form) -> Response:
    """Makes a survey of what was typed."""
    survey = read_survey(form, places_in(form.fields))
    visitor.curator.surveys.make(survey, by=visitor.name)
    return see_other(request, f"/surveys/{survey.name}", said="The survey was made.")


@routes.get("/surveys/coins")
def coins(request: Request, visitor: Overseer) -> Response:  # noqa: ARG001
    """Warner's way with real coins: what to print, and the share from what was reported."""
    typed = [request.query_params.get(name, "") for name in ("yes", "no")]
    numbers = [int(text) for text in typed if text.isdecimal() and len(text) <= 9]
    estimate = None
    if len(numbers) == 2 and 0 < sum(numbers) <= MOST_ON_PAPER:
        reports = [True] * numbers[0] + [False] * numbers[1]
        estimate = _share_of_yes(RandomizedResponse(truth=COINS).estimate(reports))
    known = estimate is not None and is_narrow(estimate, 1.0)
    return page(
        request, "survey_coins.html", estimate=estimate, known=known, wrong_numbers=any(typed)
    )


def _share_of_yes(estimate: Estimate) -> ChoiceResult:
    value, low, high = (float(part) for part in (estimate.value, estimate.low, estimate.high))  # type: ignore[arg-type]
    return ChoiceResult("yes", value, low, high)


@routes.get("/surveys/{name}")
def survey(request: Request, name: str, visitor: Overseer) -> Response:
    """One survey: how it stands, its results, and the form for invitations."""
    return page(request, "survey.html", **_standing(name, visitor))


@routes.get("/surveys/{name}/live")
def live(request: Request, name: str, visitor: Overseer) -> Response:
    """What changes on that page while answers come in, for its script."""
    return page(request, "survey_results.html", **_standing(name, visitor))


def _standing(name: str, visitor: Visitor) -> dict[str, Any]:
    surveys, by = visitor.curator.surveys, visitor.name
    results, record = surveys.results(name, by=by), surveys.record(name, by=by)
    return {
        "record": record,
        "results": [(result, _chart(result)) for result in results],
        "surer": surer_words(record.survey),
    }


@routes.post("/surveys/{name}/invitations")
@act_or_show(survey, acting=True)
def invite(request: Request, name: str, visitor: Steward, form: Form) -> Response:
    """Makes invitations and shows their links, once."""
    sent = form.read(NewInvitations, number=_whole(form.text("number")))
    secrets = visitor.curator.surveys.invite(name, sent.number, by=visitor.name)
    start = f"{request.url.scheme}://{request.url.netloc}/survey/{name}#"
    return page(
        request, "survey_invited.html", name=name, invitations=[start + key for key in secrets]
    )


def _whole(text: str) -> int | str:
    return int(text) if text.isdecimal() and len(text) < 10 else text


@routes.post("/surveys/{name}/close")
@act_or_show(survey, acting=True)
def close(request: Request, name: str, visitor: Steward) -> Response:
    """Takes no answers any more."""
    visitor.curator.surveys.close(name, by=visitor.name)
    return see_other(request, f"/surveys/{name}", said="The survey is closed.")


@routes.get("/surveys/{name}/csv")
def table(name: str, visitor: Overseer) -> Response:
    """The results as a file."""
    results = visitor.curator.surveys.results(name, by=visitor.name)
    return download(results_csv(results), f"{name}.csv", "text/csv")


@routes.get("/surveys/{name}/json")
def download_document(name: str, visitor: Overseer) -> Response:
    """The results as a document, as the API gives them."""
    results = visitor.curator.surveys.results(name, by=visitor.name)
    content = dumps({"questions": [each.to_json() for each in results], "margin": MARGIN}, indent=1)
    return download(content, f"{name}.json", "application/json")


def _chart(result: QuestionResult) -> Markup:
    if not result.choices:
        return Markup("")
    labels = [choice.label for choice in result.choices]
    numbers = [_measure(result, choice) for choice in result.choices]
    title, sure = result.question.text, as_sure(result.confidence)
    chart = bars_with_errors(labels, numbers, title=title, confidence=sure)
    rows = [(label, number.words) for label, number in zip(labels, numbers, strict=True)]
    caption = f"{_unit(result)}Lines are {sure} ranges."
    return figure(chart, caption=caption, heads=("answer", f"estimate ({sure} range)"), rows=rows)


def _unit(result: QuestionResult) -> str:
    """Says what the numbers of a chart are: percent, or the question's measure if it has one."""
    is_number = result.question.kind is QuestionKind.NUMBER
    measure = result.question.measure if is_number else "percent"
    return f"In {measure}. " if measure else ""


def _measure(result: QuestionResult, choice: ChoiceResult) -> MeasuredNumber:
    """In percent, or on the question's own scale; without a value where nothing is known."""
    scale = 1 if result.question.kind is QuestionKind.NUMBER else 100
    value = scale * choice.value if result.is_known(choice) else None
    words = result.in_words(choice)
    return MeasuredNumber(value, scale * choice.low, scale * choice.high, words)
