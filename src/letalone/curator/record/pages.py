"""Shows the record: the ledger and its verification, refusals, and processing.

An auditor, or an owner, reads entries and checks the chain; what is wrong is named by its entry.
Of a refusal the ledger keeps the class and not the words, and of the question a digest.

  Tested:   tests/curator/console/test_auditor.py
"""

from json import dumps, loads
from typing import Annotated, Any, cast

from fastapi import Path, Query, Request, Response

from letalone.answers.promise import price
from letalone.curator.console.forms import Form, SubmittedForm, act_or_show
from letalone.curator.console.pages import console_routes, download, page, see_other
from letalone.curator.curator import Curator
from letalone.curator.http.problems import problem_error
from letalone.curator.people.access import Context
from letalone.curator.people.visitors import AUDITOR, Auditor, Overseer, Owner, Visitor
from letalone.curator.record import api as record_routes
from letalone.curator.storage.settings import NO_CONTACT, NO_CONTROLLER
from letalone.curator.storage.stored_values import read_time
from letalone.errors import FormatError, ParameterError
from letalone.ledger.acts import charge_of
from letalone.ledger.chain.entries import Entry, EntryKind
from letalone.privacy.curve import Json
from letalone.wire.bodies import Controller, Verification

ROWS_PER_PAGE = 50  # entries on one page
MAX_NUMBER = 10**15
Before = Annotated[int | None, Query(ge=1, le=MAX_NUMBER)]
EntryNumber = Annotated[int, Path(ge=1, le=MAX_NUMBER)]
NO_CHECKPOINT = (
    "This is not a checkpoint. Paste the whole file as it was downloaded, from { to };"
    " several go into one list: [ …, … ]."
)
REFUSALS = {  # by the name that is stored: in a line of the ledger, and on their own page
    "BudgetExceeded": ("budget exceeded", "It would cost more than is left."),
    "NotAllowed": ("no grant", "No grant covers it."),
    "Retired": ("retired", "The data set was retired."),
    "DataSetFrozen": ("frozen", "The data set is frozen."),
    "UnsupportedQuery": ("no proven private answer", "The question has no proven private answer."),
    "ParameterError": ("value not allowed", "A value is not allowed."),
    "NeighboursDiffer": ("guarantees differ", "Two guarantees are for different neighbours."),
}
KINDS_IN_WORDS = {  # the others are called as they are stored
    EntryKind.CREATED: "ledger begun",
    EntryKind.OPENED: "data set opened",
    EntryKind.RESERVED: "charged",
    EntryKind.VERSION_RAISED: "data replaced",
    EntryKind.LEVEL_OPENED: "share given",
    EntryKind.LEVEL_RAISED: "share raised",
    EntryKind.LEVEL_WITHDRAWN: "share withdrawn",
    EntryKind.SHARED: "answer shared",
}
FIELDS_SHOWN = (
    "analyst", "person", "purpose", "outcome", "reason", "why", "text", "reserved", "version",
)  # fmt: skip
MAX_ABOUT_LENGTH = 90
FIELDS_IN_WORDS = {"reserved": "entry", "text": ""}
routes = console_routes()


@routes.get("/ledger")
def ledger(
    request: Request, visitor: Auditor, data_set: str = "", before: Before = None
) -> Response:
    """Entries, the newest first; all, or those of one data set."""
    return _show_entries(request, visitor, data_set=data_set, before=before)


@routes.post("/ledger/verification")
@act_or_show(ledger)
def verify(request: Request, visitor: Auditor, form: Form, service: Context) -> Response:
    """Checks the chain and does every charge again; the first entry that is wrong is named."""
    verified = record_routes.verify(_read_kept(form), service)
    return _show_entries(request, visitor, verified=verified)


@routes.post("/ledger/checkpoint")
@act_or_show(ledger)
def checkpoint(request: Request, visitor: Auditor, service: Context) -> Response:
    """A signed statement of how the ledger stands, as a file to keep elsewhere."""
    del request, visitor
    signed = record_routes.checkpoint(service)
    name = f"checkpoint-{signed['number']}.json"
    return download(dumps(signed, indent=2), name, "application/json")


@routes.get("/ledger/export", dependencies=[AUDITOR])
def export(service: Context) -> Response:
    """The whole ledger as one file that `letalone verify` checks."""
    return record_routes.export(service)


@routes.get("/ledger/{number}")
def entry(request: Request, visitor: Auditor, number: EntryNumber) -> Response:
    """One entry, with all that it holds."""
    entries = visitor.curator.ledger.newest(before=number + 1, limit=1)
    if not entries or entries[0].number != number:
        raise problem_error("not-found", f"There is no entry {number}.")
    (entry,) = entries
    # What is hashed is the same without blanks.
    body = dumps(entry.body, indent=2, ensure_ascii=False, sort_keys=True)
    cost = price(*charge_of(entry)) if entry.kind is EntryKind.RESERVED else None
    return page(
        request, "entry.html", entry=entry, told=summarise(entry), body=body, price=cost,
        last=len(visitor.curator.ledger),
    )  # fmt: skip


@routes.get("/processing")
def processing(request: Request, visitor: Overseer) -> Response:
    """The record of processing activities (GDPR, article 30)."""
    processing_record = visitor.curator.processing.record(by=visitor.name)
    return page(request, "processing.html", found=processing_record)


@routes.get("/processing.md")
def processing_to_keep(visitor: Overseer) -> Response:
    """The same as a file."""
    words = visitor.curator.processing.markdown(by=visitor.name)
    return download(words, "processing.md", "text/markdown")


def _show_entries(
    request: Request,
    visitor: Visitor,
    *,
    data_set: str = "",
    before: int | None = None,
    verified: dict[str, Any] | None = None,
) -> Response:
    ledger = visitor.curator.ledger
    entries, context = _read_entries(visitor, data_set, before)
    return page(
        request, "ledger.html", **context,
        entries=entries and [summarise(entry) for entry in entries],
        head=ledger.head, many=len(ledger), fingerprint=ledger.fingerprint, verified=verified,
    )  # fmt: skip


def _read_entries(
    visitor: Visitor, data_set: str, before: int | None, kind: EntryKind | None = None
) -> tuple[list[Entry] | None, dict[str, Any]]:
    """The entries of one page, None where one cannot be read; and what leads to other pages."""
    data_sets = visitor.curator.data_sets
    name = data_sets.record(data_set).name if data_set else None
    entries = newest(visitor.curator, name, before=before, limit=ROWS_PER_PAGE + 1, kind=kind)
    return entries and entries[:ROWS_PER_PAGE], {
        "older": entries[ROWS_PER_PAGE - 1].number
        if entries and len(entries) > ROWS_PER_PAGE
        else None,
        "names": [record.name for record in data_sets.records()],
        "data_set": data_set,
        "is_newest": before is None,
    }


def _read_kept(form: SubmittedForm) -> Verification:
    typed = form.text("checkpoints")
    try:
        kept: object = loads(typed) if typed else []
    except (ValueError, RecursionError):
        raise ParameterError(NO_CHECKPOINT) from None
    listed = cast("list[object]", kept) if isinstance(kept, list) else [kept]
    head = form.maybe("head")
    return form.read(Verification, head=head and head.lower(), checkpoints=listed)


def is_named(curator: Curator) -> bool:
    """Whether somebody said who answers for the data, and how they are reached."""
    who = curator.facts.answerable
    return who.controller != NO_CONTROLLER and who.contact != NO_CONTACT


@routes.get("/processing/controller")
def controller(request: Request, visitor: Owner) -> Response:
    """The form."""
    who = visitor.curator.facts.answerable
    controller = "" if who.controller == NO_CONTROLLER else who.controller
    contact = "" if who.contact == NO_CONTACT else who.contact
    return page(request, "controller.html", controller=controller, contact=contact)


@routes.post("/processing/controller")
@act_or_show(controller, acting=True)
def name_controller(request: Request, visitor: Owner, form: Form) -> Response:
    """Names who answers for the data."""
    sent = form.read(Controller, "controller", "contact")
    visitor.curator.facts.say(**sent.arguments(), by=visitor.name)
    return see_other(request, "/processing", said="It is named, also on the public page.")


@routes.get("/refusals")
def refusals(
    request: Request, visitor: Overseer, data_set: str = "", before: Before = None
) -> Response:
    """The newest first; all, or those of one data set."""
    entries, context = _read_entries(visitor, data_set, before, EntryKind.REFUSED)
    refusals = entries and [_refusal(entry) for entry in entries]
    return page(request, "refusals.html", **context, found=refusals)


def _refusal(entry: Entry) -> dict[str, Any]:
    reason = cast("str", entry.body["reason"])
    return {
        "number": entry.number, "time": read_time(entry.time), "data_set": entry.name,
        "analyst": entry.body.get("analyst") or "", "purpose": entry.body.get("purpose") or "",
        "why": REFUSALS[reason][1] if reason in REFUSALS else reason,
    }  # fmt: skip


def summarise(entry: Entry) -> dict[str, Any]:
    """An entry in one line."""
    body = entry.body
    is_act = entry.kind is EntryKind.ADMINISTERED
    kind = KINDS_IN_WORDS.get(entry.kind, entry.kind.value.replace("_", " "))
    what = str(body.get("what")) if is_act else kind
    inner = cast("Json", body.get("body") or {}) if is_act else body
    by = cast("list[str]", body.get("by") or [])
    return {
        "number": entry.number, "time": entry.time, "what": what, "data_set": entry.name,
        "by": ", ".join(by), "about": _about(inner), "hash": entry.hash,
    }  # fmt: skip


def newest(curator: Curator, name: str | None = None, **which: Any) -> list[Entry] | None:
    """The ledger's newest entries; None where one cannot be read, which verification names."""
    try:
        return curator.ledger.newest(name, **which)
    except FormatError:
        return None


def _about(body: Json) -> str:
    facts = {name: body[name] for name in FIELDS_SHOWN if body.get(name)}
    if facts.get("reason") in REFUSALS:
        facts["reason"] = REFUSALS[str(facts["reason"])][0]
    parts = [f"{FIELDS_IN_WORDS.get(name, name)} {value}" for name, value in facts.items()]
    words = ", ".join(parts).strip()
    return words if len(words) <= MAX_ABOUT_LENGTH else f"{words[: MAX_ABOUT_LENGTH - 1]}…"
