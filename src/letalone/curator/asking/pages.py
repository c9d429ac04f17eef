"""Asks a question in SQL or by choosing: its price and errors first, then the answer.

Nothing is paid for that was not shown: the button that releases carries a digest of the question
and the price that were previewed, and another question or price is previewed first.

  Tested:   tests/curator/console/test_asking.py
"""

from collections.abc import Awaitable, Callable
from functools import partial
from json import dumps
from math import inf
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from letalone.answers.arranged import Arrangement
from letalone.curator.asking import building
from letalone.curator.asking.answer_arranging import MAX_ADDRESS_LENGTH, as_address, from_address
from letalone.curator.asking.answer_pages import ARRANGED
from letalone.curator.asking.api import answer_and_count
from letalone.curator.asking.drafted import PRICED, address_of, take_up, to_form
from letalone.curator.asking.looking import Look
from letalone.curator.asking.other_way import BUILD, SQL, hidden_fields, other_fields
from letalone.curator.asking.refill import fields_of, price_of
from letalone.curator.asking.service import release_id
from letalone.curator.console.formatting import error_words, notes_in_words, question_in_words
from letalone.curator.console.forms import Form, SubmittedForm, act_or_show, form_of, try_act
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.problem_words import problem_for_people
from letalone.curator.grants.pages import find_ended
from letalone.curator.http.problems import HttpProblemError, problem_error
from letalone.curator.people.access import Context, ServiceContext
from letalone.curator.people.visitors import Analyst, Visitor
from letalone.curator.storage.service_records import DataSetQuestion, read_sent
from letalone.curator.storage.stored_values import digest_of_secret
from letalone.errors import LetaloneError
from letalone.errors.in_http import HTTP
from letalone.plans.plan import Plan
from letalone.plans.schema import Schema
from letalone.session.release import Release
from letalone.wire.bodies import SentQuestion
from letalone.wire.records import Grant

BY_ERROR = "error"
USUAL_EPSILON = "0.1"
FROM, TO, STEP = -3, 1, 0.05  # of the slider: ε from 0.001 to 10
CHANGED = (
    "The question or the price is not the one that was shown. Nothing was spent. Look at the new"
    " price, then release."
)
NOT_FILLED = "The form cannot hold that question. Only its price is filled in."
routes = console_routes()


@routes.get("/ask")
async def ask(request: Request, visitor: Analyst, service: Context) -> Response:
    """The form, for one of the own grants; with the price of what its address or draft says."""
    fill = partial(_fill_form, request, visitor)
    if PRICED in request.query_params:
        work = service.aside(partial(fill, priced=True), by=visitor.name)
        return await _or_refused(request, work, fill)
    return await run_in_threadpool(fill)


def _fill_form(request: Request, visitor: Visitor, *, priced: bool = False) -> Response:
    if take_up(request, visitor) and priced:
        return _look_up(request, visitor, SubmittedForm(request.state.form))
    return _page(request, visitor)


@routes.get("/ask/again/{name}")
def again(request: Request, name: str, visitor: Analyst) -> Response:
    """The form, filled with the question and the price of one of the own answers."""
    past = visitor.curator.asking.past(name, by=visitor.name)
    how = from_address(request.query_params.get(ARRANGED, ""))
    release = Release.from_json(past.release)
    grant = [("data_set", past.data_set), ("purpose", past.purpose)]
    question = fields_of(release, how)
    fields = [*grant, *(question or []), *price_of(release)]
    return see_other(request, f"/ask?{urlencode(fields)}", said="" if question else NOT_FILLED)


@routes.get("/ask/preview")
@routes.get("/ask/release")
@routes.get("/ask/way")
def redirect_to_form(request: Request) -> Response:
    """What only forms are sent to, typed as an address: to the form."""
    return see_other(request, "/ask")


@routes.post("/ask/way")
async def other_way(request: Request, visitor: Analyst, form: Form, service: Context) -> Response:
    """The same form for SQL or for choosing; what was typed in the one is kept in the other."""

    def act() -> Response:
        read = partial(_read_plan, form, visitor)
        request.state.form = form_of(other_fields(form, _schema(form, visitor), read))
        return to_form(request, visitor)

    show = partial(to_form, request, visitor)
    work = service.aside(lambda: try_act(request, act, show), by=visitor.name)
    return await _or_refused(request, work, show)


def _read_plan(form: SubmittedForm, visitor: Visitor) -> Plan | None:
    """What SQL says, where all of it can be read as a plan."""
    try:
        sent = form.read(SentQuestion, "data_set", "purpose", "sql", epsilon="1")
        return visitor.curator.asking.plan(DataSetQuestion.of_body(sent), by=visitor.name)
    except (LetaloneError, HttpProblemError):
        return None


@routes.post("/ask/preview")
async def preview(request: Request, visitor: Analyst, form: Form, service: Context) -> Response:
    """The price and the errors to expect: no data touched, nothing spent."""
    if "hx-request" in request.headers:
        work = service.aside(lambda: _look_up(request, visitor, form), by=visitor.name)
        return await _or_refused(request, work, partial(_page, request, visitor))
    return await run_in_threadpool(to_form, request, visitor, priced=True)


def _look_up(request: Request, visitor: Visitor, form: SubmittedForm) -> Response:
    def act() -> Response:
        sent = _read_question(form, visitor)
        return _page(request, visitor, shown=_preview(sent, form, visitor))

    return try_act(request, act, lambda: _page(request, visitor))


@routes.post("/ask/release")
async def release(request: Request, visitor: Analyst, form: Form, service: Context) -> Response:
    """The answer, if what was agreed to is what is asked."""
    known = {"visitor": visitor, "form": form, "service": service}
    work = service.in_turn(partial(_release_if_agreed, request, **known), by=visitor.name)
    return await _or_refused(request, work, partial(to_form, request, visitor))


@act_or_show(partial(to_form, priced=True))
def _release_if_agreed(
    request: Request, visitor: Visitor, form: SubmittedForm, service: ServiceContext
) -> Response:
    """To the answer in the history, sorted and cut as the SQL says; a reload asks nothing."""
    sent = _read_question(form, visitor)
    if form.text("agreed") != _digest_of_agreement(sent):
        raise problem_error("conflict", CHANGED)
    answer = answer_and_count(service, *read_sent(sent), by=visitor.name)
    receipt: Any = answer.release.standing.receipt  # what is signed was not yet sorted or cut
    complete = Release.from_json(receipt["body"]["release"]) if receipt else answer.release
    name = release_id(complete, analyst=visitor.name, purpose=sent.purpose)
    words = "You have this answer already: it cost nothing." if answer.release.repeated else ""
    return see_other(request, _answer_at(name, answer.arrangement), said=words)


async def _or_refused(
    request: Request, work: Awaitable[Response], show: Callable[[], Response]
) -> Response:
    """The form as it was typed, where so much of theirs is under way that it is not begun."""
    try:
        return await work
    except HttpProblemError as error:
        request.state.problem = error.problem
    return await run_in_threadpool(show)


def _page(request: Request, visitor: Visitor, *, shown: dict[str, Any] | None = None) -> Response:
    typed: FormData = request.state.form
    way = str(typed.get("way") or (SQL if typed.get("sql") else BUILD))
    had = visitor.curator.requests.grants(by=visitor.name, own=True)
    granted = [grant for grant in had if not grant.withdrawn]
    grant = _choose_grant(request, granted)
    context: dict[str, Any] = {"grants": granted, "grant": grant, "shown": shown}
    context["ended"] = [] if grant else find_ended(visitor, had)
    if grant is not None:
        schema = visitor.curator.data_sets.record(grant.data_set).schema
        context |= {"schema": schema, "choices": building.choices(schema, grant.columns)}
        context["start"] = f"SELECT COUNT(*) AS number\nFROM {building.quote_name(schema.name)}"
    return page(
        request,
        "ask.html",
        **context,
        conditions=building.CONDITIONS,
        compared=building.COMPARED,
        slider={"from": FROM, "to": TO, "step": STEP},
        submitted=request.method == "POST" or PRICED in request.query_params,
        at=address_of(request) if shown else "",
        way=way,
        unseen=hidden_fields(typed, way),
        usual_epsilon=USUAL_EPSILON,
    )


def _choose_grant(request: Request, grants: list[Grant]) -> Grant | None:
    """The grant that the address or the form names; else the first."""
    typed = request.state.form
    wanted = (typed.get("data_set"), typed.get("purpose"))
    named = [grant for grant in grants if (grant.data_set, grant.purpose) == wanted]
    return next(iter(named or ([] if any(wanted) else grants)), None)


def _read_question(form: SubmittedForm, visitor: Visitor) -> SentQuestion:
    sql, keys = form.text("sql"), form.text("keys")
    if form.text("way") == BUILD:  # what was typed as SQL is kept beside, and not asked
        sql, keys = building.build_sql(form, _schema(form, visitor)), ""
    by_error = form.text("pay") == BY_ERROR
    optional = {key: form.number(key) for key in ("delta", "confidence", "rows", "max_rows")}
    return form.read(
        SentQuestion,
        "data_set",
        "purpose",
        sql=sql,
        keys=building.typed_keys(keys, sql, _schema(form, visitor)) if keys else None,
        epsilon=None if by_error else form.number("epsilon"),
        error=form.number("error") if by_error else None,
        confirm=form.ticked("confirm"),
        **{key: value for key, value in optional.items() if value},
    )


def _preview(sent: SentQuestion, form: SubmittedForm, visitor: Visitor) -> dict[str, Any]:
    question, price = read_sent(sent)
    look = visitor.curator.asking.look(question, price, by=visitor.name)
    preview = look.preview
    widths = {name: look.widths.get(name, inf) for name in preview.errors}
    errors = [(name, error_words(preview, name, width=widths[name])) for name in widths]
    advice = building.hints(form, _schema(form, visitor)) if form.text("way") == BUILD else []
    unknown = {name for name, error in preview.errors.items() if error is None}
    typed = price.epsilon if preview.found_first else None
    return {
        "look": look,
        "spend": preview.epsilon if typed is None else typed,  # with what is found first
        "errors": errors,
        "sql": str(sent.sql),
        "agreed": _digest_of_agreement(sent),
        "hints": advice,
        "in_rows": bool(unknown - preview.formulas),  # whether an error depends on how many
        "question": question_in_words(look.plan),
        "notes": notes_in_words(preview.notes, look.plan),
        "why_not": _why_not(look),
        "risk": "" if look.risk is None else HTTP.state(look.risk),
        "mine": _answer_at(look.mine, look.arrangement) if look.mine else "",
    }


def _why_not(look: Look) -> str:
    """Why a fresh answer would be refused; "" where it is given."""
    if look.over is not None:
        return look.over.too_little
    return "" if look.why_not is None else problem_for_people(look.why_not).detail


def _schema(form: SubmittedForm, visitor: Visitor) -> Schema:
    return visitor.curator.data_sets.record(form.text("data_set")).schema


def _answer_at(name: str, how: Arrangement) -> str:
    """Where an answer is shown; all of it, where it takes too long to say how it is arranged."""
    arranged = as_address(how)
    short = 0 < len(arranged) <= MAX_ADDRESS_LENGTH
    return f"/history/{name}" + (f"?{urlencode({ARRANGED: arranged})}" if short else "")


def _digest_of_agreement(sent: SentQuestion) -> str:
    content = sent.model_dump(mode="json", exclude={"confirm"})  # it is ticked beside the price
    return digest_of_secret(dumps(content, sort_keys=True))
