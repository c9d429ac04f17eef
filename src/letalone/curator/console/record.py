"""Pages of the record: the ledger, its verification, checkpoints and export, and processing.

An auditor, or an owner, reads entries and checks the chain; what is wrong is named by its entry.

  Tested:   tests/curator/console/test_auditor.py
"""

from json import dumps, loads
from typing import Annotated, Any, cast

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.entries import newest, price_of_charge, summarise, whole
from letalone.curator.console.forms import Form, SubmittedForm, read_body, try_act
from letalone.curator.console.pages import console_routes, page
from letalone.curator.console.visitors import Auditor, Overseer
from letalone.curator.http import record
from letalone.curator.http.problems import refused
from letalone.curator.http.shapes import Verification
from letalone.curator.http.who import Served
from letalone.errors import ParameterError

ROWS = 50
MOST = 10**15
NO_CHECKPOINT = (
    "What was typed is no checkpoint. Paste the whole file as it was downloaded, from { to };"
    " several go into one list: [ …, … ]."
)
routes = console_routes()


@routes.get("/ledger")
def ledger(
    request: Request,
    visitor: Auditor,
    service: Served,
    data_set: str = "",
    before: Annotated[int | None, Query(ge=1, le=MOST)] = None,
) -> Response:
    """Entries, the newest first; all, or those of one data set."""
    del visitor
    return _show_entries(request, service, data_set=data_set, before=before)


@routes.post("/ledger/verification")
def verify(request: Request, visitor: Auditor, form: Form, service: Served) -> Response:
    """Checks the chain and does every charge again; the first entry that is wrong is named."""
    del visitor

    def act() -> Response:
        verified = record.verify(_read_kept(form), service)
        return _show_entries(request, service, verified=verified)

    return try_act(request, act, lambda: _show_entries(request, service))


@routes.post("/ledger/checkpoint")
def checkpoint(request: Request, visitor: Auditor, service: Served) -> Response:
    """A signed statement of how the ledger stands, as a file to keep elsewhere."""
    del visitor

    def act() -> Response:
        checkpoint_made = record.checkpoint(service)
        name = f"checkpoint-{checkpoint_made['number']}.json"
        return _file(dumps(checkpoint_made, indent=2), name, "application/json")

    return try_act(request, act, lambda: _show_entries(request, service))


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
    number: Annotated[int, Path(ge=1, le=MOST)],
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
    ledger, data_sets = service.curator.ledger, service.curator.data_sets
    name = data_sets.record(data_set).name if data_set else None
    entries = newest(service, name, before=before, limit=ROWS + 1)
    return page(
        request,
        "ledger.html",
        entries=None if entries is None else [summarise(item) for item in entries[:ROWS]],
        older=entries[ROWS - 1].number if entries and len(entries) > ROWS else None,
        is_newest=before is None,
        names=[item.name for item in data_sets.records()],
        data_set=data_set,
        head=ledger.head,
        many=len(ledger),
        fingerprint=ledger.fingerprint,
        verified=verified,
    )


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
