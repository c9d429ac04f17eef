"""Asking: a question in SQL or by choosing, its price and errors first, then the answer.

Nothing is paid for that was not shown: the button that releases carries a digest of the question
and the price that were previewed, and another question or price is previewed first.

  Tested:   tests/curator/console/test_asking.py
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from hashlib import sha256
from json import dumps
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.asking import release_id
from letalone.curator.console.answers import answer_page
from letalone.curator.console.asked_again import fields_of, price_of
from letalone.curator.console.building import (
    COMPARED,
    CONDITIONS,
    built,
    choices,
    hints,
    quoted,
)
from letalone.curator.console.ended import ended
from letalone.curator.console.forms import Form, Typed, shaped, tried
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.shown import error_words
from letalone.curator.console.typed_keys import typed_keys
from letalone.curator.console.visitors import Analyst, Visitor
from letalone.curator.http.problems import Refused, refused
from letalone.curator.http.shapes import SentQuestion
from letalone.curator.http.who import Served, Service
from letalone.curator.looking import Look
from letalone.curator.records import Grant
from letalone.errors import LetaloneError
from letalone.plans.schema import Schema
from letalone.session.preview import Preview
from letalone.session.release import Release

SQL, BUILD = "sql", "build"
BY_EPSILON, BY_ERROR = "epsilon", "error"
USUAL_EPSILON = "0.1"
FROM, TO, STEP = -3, 1, 0.05  # of the slider: ε from 0.001 to 10
CHANGED = (
    "The question or the price is not the one that was shown. Nothing was spent. Look at the new"
    " price, then release."
)
NOT_FILLED = "The form cannot hold that question. Only its price is filled in."
routes = console_routes()


@dataclass(frozen=True, slots=True)
class Shown:
    """A preview as the page shows it."""

    look: Look
    errors: list[tuple[str, str]]
    sql: str
    agreed: str
    hints: list[str]
    in_rows: bool  # whether an error depends on how many rows there are

    @property
    def preview(self) -> Preview:
        """The price and the errors."""
        return self.look.preview


@routes.get("/ask")
def ask(request: Request, visitor: Analyst, service: Served) -> Response:
    """The form, for one of the own grants."""
    return _page(request, visitor, service, shown=None)


@routes.get("/ask/again/{name}")
def again(request: Request, name: str, visitor: Analyst, service: Served) -> Response:
    """The form, filled with the question and the price of one of the own answers."""
    past = service.curator.asking.past(name, by=visitor.name)
    found = Release.from_json(past.release)
    asked, grant = fields_of(found), [("data_set", past.data_set), ("purpose", past.purpose)]
    fields = [*grant, *(asked or []), *price_of(found)]
    return see_other(request, f"/ask?{urlencode(fields)}", said="" if asked else NOT_FILLED)


@routes.get("/ask/preview")
@routes.get("/ask/release")
@routes.get("/ask/way")
def looked(request: Request) -> Response:
    """What only forms are sent to, typed as an address: to the form."""
    return see_other(request, "/ask")


@routes.post("/ask/way")
def other_way(request: Request, visitor: Analyst, form: Form, service: Served) -> Response:
    """The same form for SQL or for choosing; what was chosen so far is then the SQL."""

    def act() -> Response:
        kept = {"way": form.text("to")}
        if kept["way"] == SQL and form.text("way") == BUILD:
            kept["sql"] = built(form, _schema(form, service))
        others = [one for one in form.fields.multi_items() if one[0] not in kept]
        request.state.form = FormData([*others, *kept.items()])
        return _page(request, visitor, service, shown=None)

    return tried(request, act, lambda: _page(request, visitor, service, shown=None))


@routes.post("/ask/preview")
async def preview(request: Request, visitor: Analyst, form: Form, service: Served) -> Response:
    """The price and the errors to expect: no data touched, nothing spent."""

    def look() -> Response:
        return _looked_up(request, visitor, form, service)

    return await _or_the_form(request, visitor, service, service.aside(look, by=visitor.name))


def _looked_up(request: Request, visitor: Visitor, form: Typed, service: Service) -> Response:
    def act() -> Response:
        sent = _sent(form, service)
        return _page(request, visitor, service, shown=_previewed(sent, form, visitor, service))

    return tried(request, act, lambda: _page(request, visitor, service, shown=None))


@routes.post("/ask/release")
async def release(request: Request, visitor: Analyst, form: Form, service: Served) -> Response:
    """The answer, if what was agreed to is what is asked."""

    def answer() -> Response:
        return _agreed_to(request, visitor, form, service)

    return await _or_the_form(request, visitor, service, service.in_turn(answer, by=visitor.name))


def _agreed_to(request: Request, visitor: Visitor, form: Typed, service: Service) -> Response:
    shown: Shown | None = None

    def act() -> Response:
        nonlocal shown
        sent = _sent(form, service)
        if form.text("agreed") != _agreed(sent):
            shown = _previewed(sent, form, visitor, service)
            raise refused("conflict", CHANGED)
        found = _released(sent, visitor, service)
        return _answered(request, visitor, service, sent, found)

    return tried(request, act, lambda: _page(request, visitor, service, shown=shown))


async def _or_the_form(
    request: Request, visitor: Visitor, service: Service, work: Awaitable[Response]
) -> Response:
    """The form as it was typed, where so much of theirs is under way that it is not begun."""
    try:
        return await work
    except Refused as error:
        request.state.problem = error.problem
    return await run_in_threadpool(_page, request, visitor, service, shown=None)


def _page(request: Request, visitor: Visitor, service: Service, *, shown: Shown | None) -> Response:
    had = service.curator.asking.standing(by=visitor.name)
    found = [one for one in had if not one.withdrawn]
    grant = _chosen(request, found)
    context: dict[str, Any] = {"grants": found, "grant": grant, "shown": shown}
    context["ended"] = [] if grant else ended(service, had)
    if grant is not None:
        schema = service.curator.data_sets.record(grant.data_set).schema
        context |= {"schema": schema, "choices": choices(schema, grant.columns)}
        context["start"] = f"SELECT COUNT(*) AS number\nFROM {quoted(schema.name)}"
    return page(
        request,
        "ask.html",
        **context,
        conditions=CONDITIONS,
        compared=COMPARED,
        slider={"from": FROM, "to": TO, "step": STEP},
        usual_epsilon=USUAL_EPSILON,
    )


def _chosen(request: Request, grants: list[Grant]) -> Grant | None:
    """The grant that the address or the form names; else the first."""
    typed = getattr(request.state, "form", None) or request.query_params
    wanted = (typed.get("data_set"), typed.get("purpose"))
    named = [one for one in grants if (one.data_set, one.purpose) == wanted]
    return next(iter(named or ([] if any(wanted) else grants)), None)


def _sent(form: Typed, service: Service) -> SentQuestion:
    """The form as a body of the API."""
    name, sql, keys = form.text("data_set"), form.text("sql"), form.text("keys")
    if form.text("way") == BUILD:
        sql = built(form, _schema(form, service))
    by_error = form.text("pay") == BY_ERROR
    optional = {key: form.number(key) for key in ("delta", "confidence", "rows", "max_rows")}
    return shaped(
        SentQuestion,
        data_set=name,
        purpose=form.text("purpose"),
        sql=sql,
        keys=typed_keys(keys, sql, _schema(form, service)) if keys else None,
        epsilon=None if by_error else form.number("epsilon"),
        error=form.number("error") if by_error else None,
        **{key: value for key, value in optional.items() if value},
    )


def _previewed(sent: SentQuestion, form: Typed, visitor: Visitor, service: Service) -> Shown:
    look = service.curator.asking.look(sent.question(), sent.price(), by=visitor.name)
    found = look.preview
    errors = [(name, error_words(found, name)) for name in found.errors]
    said = hints(form, _schema(form, service)) if form.text("way") == BUILD else []
    open_ = any(found.errors[name] is None and name not in found.formulas for name in found.errors)
    return Shown(look, errors, str(sent.sql), _agreed(sent), said, in_rows=open_)


def _schema(form: Typed, service: Service) -> Schema:
    return service.curator.data_sets.record(form.text("data_set")).schema


def _released(sent: SentQuestion, visitor: Visitor, service: Service) -> Release:
    try:
        found = service.curator.asking.release(sent.question(), sent.price(), by=visitor.name)
    except LetaloneError:
        service.metrics.answer("refused")
        raise
    service.metrics.answer("repeated" if found.repeated else "released")
    return found


def _answered(
    request: Request, visitor: Visitor, service: Service, sent: SentQuestion, found: Release
) -> Response:
    """To the answer in the history; one that SQL has sorted or cut is shown as it is, here."""
    whole = _whole(found)
    name = release_id(whole, analyst=visitor.name, purpose=sent.purpose)
    if whole.to_json() == found.to_json():
        words = "You have this answer already: it cost nothing." if found.repeated else ""
        return see_other(request, f"/history/{name}", said=words)
    past = service.curator.asking.past(name, by=visitor.name)
    return answer_page(request, visitor, service, past, release=found)


def _whole(found: Release) -> Release:
    """The answer as it is stored and signed, before it was sorted or cut."""
    receipt: Any = found.standing.receipt
    return found if receipt is None else Release.from_json(receipt["body"]["release"])


def _agreed(sent: SentQuestion) -> str:
    """What stands for a question at a price."""
    text = dumps(sent.model_dump(mode="json"), sort_keys=True)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
