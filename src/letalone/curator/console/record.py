"""Pages of the record: the ledger, its verification, checkpoints and export, and processing.

An auditor, or an owner, reads entries and checks the chain; what is wrong is named by its entry.

  Tested:   tests/curator/console/test_auditor.py
"""

from json import dumps, loads
from typing import Annotated, Any, cast

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.entries import charged, newest, told, whole
from letalone.curator.console.forms import Form, Typed, shaped, tried
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
    return _shown(request, service, data_set=data_set, before=before)


@routes.post("/ledger/verification")
def verify(request: Request, visitor: Auditor, form: Form, service: Served) -> Response:
    """Checks the chain and does every charge again; the first entry that is wrong is named."""
    del visitor

    def act() -> Response:
        found = record.verify(_kept(form), service)
        return _shown(request, service, verified=found)

    return tried(request, act, lambda: _shown(request, service))


@routes.post("/ledger/checkpoint")
def checkpoint(request: Request, visitor: Auditor, service: Served) -> Response:
    """A signed statement of how the ledger stands, as a file to keep elsewhere."""
    del visitor

    def act() -> Response:
        found = record.checkpoint(service)
        name = f"checkpoint-{found['number']}.json"
        return _file(dumps(found, indent=2), name, "application/json")

    return tried(request, act, lambda: _shown(request, service))


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
    found = service.curator.ledger.newest(before=number + 1, limit=1)
    if not found or found[0].number != number:
        raise refused("not-found", f"There is no entry {number}.")
    one = found[0]
    last = len(service.curator.ledger)
    return page(
        request, "entry.html", entry=one, told=told(one), body=whole(one), price=charged(one),
        last=last,
    )  # fmt: skip


@routes.get("/processing")
def processing(request: Request, visitor: Overseer, service: Served) -> Response:
    """The record of processing activities (GDPR, article 30)."""
    found = service.curator.processing.record(by=visitor.name)
    return page(request, "processing.html", found=found)


@routes.get("/processing.md")
def processing_to_keep(visitor: Overseer, service: Served) -> Response:
    """The same as a file."""
    words = service.curator.processing.markdown(by=visitor.name)
    return _file(words, "processing.md", "text/markdown")


def _shown(
    request: Request,
    service: Served,
    *,
    data_set: str = "",
    before: int | None = None,
    verified: dict[str, Any] | None = None,
) -> Response:
    ledger, data_sets = service.curator.ledger, service.curator.data_sets
    name = data_sets.record(data_set).name if data_set else None
    found = newest(service, name, before=before, limit=ROWS + 1)
    return page(
        request,
        "ledger.html",
        entries=None if found is None else [told(one) for one in found[:ROWS]],
        older=found[ROWS - 1].number if found and len(found) > ROWS else None,
        is_newest=before is None,
        names=[one.name for one in data_sets.records()],
        data_set=data_set,
        head=ledger.head,
        many=len(ledger),
        fingerprint=ledger.fingerprint,
        verified=verified,
    )


def _kept(form: Typed) -> Verification:
    """What was kept elsewhere, as the API takes it."""
    typed = form.text("checkpoints")
    try:
        found: object = loads(typed) if typed else []
    except (ValueError, RecursionError):
        raise ParameterError(NO_CHECKPOINT) from None
    listed = cast("list[object]", found) if isinstance(found, list) else [found]
    head = form.maybe("head")
    return shaped(Verification, head=head and head.lower(), checkpoints=listed)


def _file(content: str, name: str, kind: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, headers=headers, media_type=kind)
