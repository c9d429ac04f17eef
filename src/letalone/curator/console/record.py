"""Pages of the record: the ledger and its verification, refusals, and processing.

An auditor, or an owner, reads entries and checks the chain; what is wrong is named by its entry.
Of a refusal the ledger keeps the class and not the words, and of the question a digest.

  Tested:   tests/curator/console/test_auditor.py
"""

from dataclasses import dataclass
from datetime import datetime
from json import dumps, loads
from typing import Annotated, Any, cast

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.entries import newest, price_of_charge, summarise, whole
from letalone.curator.console.forms import Form, SubmittedForm, act_or_show, read_body
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.visitors import Auditor, Overseer, Owner
from letalone.curator.http import record
from letalone.curator.http.problems import refused
from letalone.curator.http.shapes import Controller, Verification
from letalone.curator.http.who import Served, Service
from letalone.curator.settings import NO_CONTACT, NO_CONTROLLER
from letalone.curator.words import time_of
from letalone.errors import ParameterError
from letalone.ledger.entries import Entry, EntryKind

ROWS = 50  # entries on one page
MAX_NUMBER = 10**15
NO_CHECKPOINT = (
    "What was typed is no checkpoint. Paste the whole file as it was downloaded, from { to };"
    " several go into one list: [ …, … ]."
)
REFUSALS_IN_WORDS = {
    "BudgetExceeded": "It would cost more than is left.",
    "NotAllowed": "No grant covers it.",
    "Retired": "The data set was retired.",
    "DataSetFrozen": "The data set is frozen.",
    "UnsupportedQuery": "The question has no proven private answer.",
    "ParameterError": "A value is outside what is allowed.",
    "NeighboursDiffer": "Two guarantees speak of different neighbours.",
}
routes = console_routes()


@routes.get("/ledger")
def ledger(
    request: Request,
    visitor: Auditor,
    service: Served,
    data_set: str = "",
    before: Annotated[int | None, Query(ge=1, le=MAX_NUMBER)] = None,
) -> Response:
    """Entries, the newest first; all, or those of one data set."""
    del visitor
    return _show_entries(request, service, data_set=data_set, before=before)


@routes.post("/ledger/verification")
@act_or_show(ledger)
def verify(request: Request, visitor: Auditor, form: Form, service: Served) -> Response:
    """Checks the chain and does every charge again; the first entry that is wrong is named."""
    del visitor
    verified = record.verify(_read_kept(form), service)
    return _show_entries(request, service, verified=verified)


@routes.post("/ledger/checkpoint")
@act_or_show(ledger)
def checkpoint(request: Request, visitor: Auditor, service: Served) -> Response:
    """A signed statement of how the ledger stands, as a file to keep elsewhere."""
    del request, visitor
    checkpoint_made = record.checkpoint(service)
    name = f"checkpoint-{checkpoint_made['number']}.json"
    return _file(dumps(checkpoint_made, indent=2), name, "application/json")


@routes.get("/ledger/export")
def export(visitor: Auditor, service: Served) -> Response:
    """The whole ledger as one file that `letalone verify` checks."""
    del visitor
    return record.export(service)


@routes.get("/ledger/{number}")
def entry(
    request: Request,
    visitor: Auditor,
    service: Served,
    number: Annotated[int, Path(ge=1, le=MAX_NUMBER)],
) -> Response:
    """One entry, with all that it holds."""
    del visitor
    entries = service.curator.ledger.newest(before=number + 1, limit=1)
    if not entries or entries[0].number != number:
        raise refused("not-found", f"There is no entry {number}.")
    the_entry = entries[0]
    last = len(service.curator.ledger)
    return page(
        request, "entry.html", entry=the_entry, told=summarise(the_entry),
        body=whole(the_entry), price=price_of_charge(the_entry), last=last,
    )  # fmt: skip


@routes.get("/processing")
def processing(request: Request, visitor: Overseer, service: Served) -> Response:
    """The record of processing activities (GDPR, article 30)."""
    processing_record = service.curator.processing.record(by=visitor.name)
    return page(request, "processing.html", found=processing_record)


@routes.get("/processing.md")
def processing_to_keep(visitor: Overseer, service: Served) -> Response:
    """The same as a file."""
    words = service.curator.processing.markdown(by=visitor.name)
    return _file(words, "processing.md", "text/markdown")


def _show_entries(
    request: Request,
    service: Served,
    *,
    data_set: str = "",
    before: int | None = None,
    verified: dict[str, Any] | None = None,
) -> Response:
    ledger = service.curator.ledger
    entries, context = _read_entries(service, data_set, before)
    return page(
        request, "ledger.html", **context,
        entries=entries and [summarise(entry) for entry in entries],
        head=ledger.head, many=len(ledger), fingerprint=ledger.fingerprint, verified=verified,
    )  # fmt: skip


def _read_entries(
    service: Service, data_set: str, before: int | None, kind: EntryKind | None = None
) -> tuple[list[Entry] | None, dict[str, Any]]:
    """The entries of one page, None where one cannot be read; and what leads to other pages."""
    data_sets = service.curator.data_sets
    name = data_sets.record(data_set).name if data_set else None
    entries = newest(service, name, before=before, limit=ROWS + 1, kind=kind)
    return entries and entries[:ROWS], {
        "older": entries[ROWS - 1].number if entries and len(entries) > ROWS else None,
        "names": [record.name for record in data_sets.records()],
        "data_set": data_set,
        "is_newest": before is None,
    }


def _read_kept(form: SubmittedForm) -> Verification:
    """What was kept elsewhere, as the API takes it."""
    typed = form.text("checkpoints")
    try:
        kept: object = loads(typed) if typed else []
    except (ValueError, RecursionError):
        raise ParameterError(NO_CHECKPOINT) from None
    listed = cast("list[object]", kept) if isinstance(kept, list) else [kept]
    head = form.maybe("head")
    return read_body(Verification, head=head and head.lower(), checkpoints=listed)


def _file(content: str, name: str, kind: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, headers=headers, media_type=kind)


def is_named(service: Service) -> bool:
    """Whether somebody said who answers for the data, and how they are reached."""
    who = service.curator.facts.answerable
    return who.controller != NO_CONTROLLER and who.contact != NO_CONTACT


@routes.get("/processing/controller")
def controller(request: Request, visitor: Owner, service: Served) -> Response:
    """The form."""
    del visitor
    who = service.curator.facts.answerable
    controller = "" if who.controller == NO_CONTROLLER else who.controller
    contact = "" if who.contact == NO_CONTACT else who.contact
    return page(request, "controller.html", controller=controller, contact=contact)


@routes.post("/processing/controller")
@act_or_show(controller, acting=True)
def name_controller(request: Request, visitor: Owner, form: Form, service: Served) -> Response:
    """Names who answers for the data."""
    sent = read_body(Controller, controller=form.text("controller"), contact=form.text("contact"))
    service.curator.facts.say(controller=sent.controller, contact=sent.contact, by=visitor.name)
    return see_other(request, "/processing", said="It is named, also on the public page.")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A question that was not answered."""

    number: int
    time: datetime
    data_set: str
    analyst: str
    purpose: str
    why: str


@routes.get("/refusals")
def refusals(
    request: Request,
    visitor: Overseer,
    service: Served,
    data_set: str = "",
    before: Annotated[int | None, Query(ge=1, le=MAX_NUMBER)] = None,
) -> Response:
    """The newest first; all, or those of one data set."""
    del visitor
    entries, context = _read_entries(service, data_set, before, EntryKind.REFUSED)
    refusals = entries and [_refusal(entry) for entry in entries]
    return page(request, "refusals.html", **context, found=refusals)


def _refusal(entry: Entry) -> Refusal:
    body = entry.body
    reason = cast("str", body["reason"])
    return Refusal(
        entry.number,
        time_of(entry.time),
        str(entry.name),
        str(body.get("analyst") or ""),
        str(body.get("purpose") or ""),
        REFUSALS_IN_WORDS.get(reason, reason),
    )
