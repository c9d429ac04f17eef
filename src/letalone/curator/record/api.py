"""Routes about the record: the ledger, its verification and checkpoints, and processing."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter, Query, Response

from letalone.curator.http.problems import HttpProblemError, of_error
from letalone.curator.people.access import AUDITOR, SIGNED_IN, ActingOwner, Context, Overseer
from letalone.errors import LedgerDamaged
from letalone.wire.bodies import Controller, Verification
from letalone.wire.json_values import Json, to_json

MAX_ENTRIES_PAGE = 1000
routes = APIRouter(prefix="/api/v1", tags=["ledger"])
Hash = Annotated[str | None, Query(pattern="^[0-9a-f]{64}$")]


@routes.get("/ledger", dependencies=[AUDITOR])
def entries(
    service: Context,
    data_set: str | None = None,
    after: Annotated[int, Query(ge=0, le=10**15)] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_ENTRIES_PAGE)] = 100,
) -> Json:
    """Entries after a number, in order; all, or those of one data set."""
    name = None if data_set is None else service.curator.data_sets.record(data_set).name
    entries = service.curator.ledger.entries(name, after=after, limit=limit + 1)
    shown = [{**to_json(entry), "hash": entry.hash} for entry in entries[:limit]]
    return {"entries": shown, "more": len(entries) > limit, "head": service.curator.ledger.head}


@routes.post("/ledger/verification", dependencies=[AUDITOR])
def verify(body: Verification, service: Context) -> Json:
    """Check the chain and do every charge again; a head or checkpoints kept elsewhere tell more."""
    try:
        verdict = service.curator.ledger.verify(**body.arguments())
    except LedgerDamaged as error:  # what was asked for is found: the service has not failed
        place = str(service.curator.settings.folder)
        words = str(error).replace(place, "the folder")  # an auditor is told which entry it is
        raise HttpProblemError(replace(of_error(error), status=409, detail=words)) from None
    return {"verified": True, "words": str(verdict), "head": service.curator.ledger.head}


@routes.post("/ledger/checkpoint", status_code=201, dependencies=[AUDITOR])
def checkpoint(service: Context) -> Json:
    """A signed statement of how the ledger stands: keep it elsewhere."""
    return service.curator.ledger.checkpoint()


@routes.get("/ledger/key", dependencies=[SIGNED_IN])
def key(service: Context) -> Json:
    """The public half of the key that signs receipts and checkpoints."""
    ledger = service.curator.ledger
    return {"public_key": ledger.public_key, "fingerprint": ledger.fingerprint}


@routes.get("/ledger/export", dependencies=[AUDITOR])
def export(service: Context) -> Response:
    """The whole ledger as one file that `letalone verify` checks; the private key is not in it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.json"
        service.curator.ledger.export(path)
        content = path.read_bytes()
    named = {"Content-Disposition": 'attachment; filename="ledger.json"'}
    return Response(content, headers=named, media_type="application/json")


@routes.put("/controller")
def answerable(body: Controller, bearer: ActingOwner, service: Context) -> Json:
    """Say who answers for the data and how they are reached: for the open page and the record."""
    return to_json(service.curator.facts.say(**body.arguments(), by=bearer.name))


@routes.get("/processing")
def processing(bearer: Overseer, service: Context) -> Json:
    """The record of processing activities (GDPR, article 30)."""
    return to_json(service.curator.processing.record(by=bearer.name))


@routes.get("/processing.md")
def processing_to_read(bearer: Overseer, service: Context) -> Response:
    """The same for reading, in Markdown."""
    words = service.curator.processing.markdown(by=bearer.name)
    return Response(words, media_type="text/markdown; charset=utf-8")
