"""Routes about data sets: uploads, registration, purposes, what is public, what was affected."""

from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from re import fullmatch

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from letalone.curator.curator import Curator
from letalone.curator.http.middleware import media_type
from letalone.curator.http.problems import problem_error
from letalone.curator.people.access import (
    ACTING_OWNER,
    SIGNED_IN,
    ActingOwner,
    ActingSteward,
    Context,
    SignedIn,
)
from letalone.curator.storage.service_records import Purpose, Registration
from letalone.session.steps.row_limit import kept_in
from letalone.session.time_steps import Asker
from letalone.wire.bodies import NewDataSet, NewRows, SentPurpose, Why
from letalone.wire.json_values import AMOUNTS, Json, pick, to_json
from letalone.wire.records import DataSetStanding

UPLOAD_KINDS = {
    "text/csv": "csv",
    "application/vnd.apache.parquet": "parquet",
    "application/x-parquet": "parquet",
}
routes = APIRouter(prefix="/api/v1", tags=["data sets"])


@routes.post("/uploads", status_code=201, dependencies=[ACTING_OWNER])
async def upload(request: Request, service: Context) -> Json:
    """Send a file as the body, text/csv or application/vnd.apache.parquet; its id is used once."""
    kind = UPLOAD_KINDS.get(media_type(request.headers.get("content-type", "")))
    if kind is None:
        raise problem_error(
            "not-valid",
            f"The header Content-Type must be one of {', '.join(UPLOAD_KINDS)}: it says what is"
            " sent.",
        )
    place = await run_in_threadpool(service.curator.data_sets.incoming, kind)
    try:
        with place.open("wb") as file:
            async for chunk in request.stream():
                await run_in_threadpool(file.write, chunk)
    except BaseException:
        with suppress(OSError):
            place.unlink(missing_ok=True)
        raise
    return {"upload": place.name}


@routes.get("/data-sets", dependencies=[SIGNED_IN])
def data_sets(service: Context) -> Json:
    """What is public about all data sets."""
    records = service.curator.data_sets.records()
    return {"data_sets": [_with_budget(service.curator, record.name) for record in records]}


@routes.post("/data-sets", status_code=201)
def register(body: NewDataSet, bearer: ActingOwner, service: Context) -> Json:
    """Register a table with only the columns that it needs; the others are not copied."""
    place = _upload_place(service.curator, body.upload, body.file, body.address)
    register = service.curator.data_sets.register
    record = register(Registration.of_body(body), by=bearer.name, upload=place, **body.source())
    if record.external:
        return _with_budget(service.curator, record.name)
    counted = service.curator.data_sets.affected(record.name, by=bearer.name)
    return {**_with_budget(service.curator, record.name), "affected": to_json(counted)}


@routes.get("/data-sets/{name}")
def data_set(name: str, bearer: SignedIn, service: Context, purpose: str | None = None) -> Json:
    """What is public about a data set, and how its budget stands.

    With a purpose also the row limit that was found privately, if you have paid for it.
    """
    facts, asker = _with_budget(service.curator, name), Asker(bearer.name, purpose)
    kept = kept_in(service.curator.ledger, facts["name"], version=facts["version"], asker=asker)
    is_paid = purpose is not None and kept is not None and kept.is_paid
    names = ("rows", "in_groups", "epsilon")
    return {**facts, "row_limit": pick(kept.limit, names) if kept and is_paid else None}


@routes.get("/data-sets/{name}/affected")
def affected(name: str, bearer: ActingSteward, service: Context) -> Json:
    """How many values the rules touched when `version` was imported: exact, for owners, stewards.

    Corrections and erasures since then are not in it.
    """
    return to_json(service.curator.data_sets.affected(name, by=bearer.name))


@routes.post("/data-sets/{name}/rows")
def renew(name: str, body: NewRows, bearer: ActingOwner, service: Context) -> Json:
    """Import newer data under the same name, and so the same budget."""
    place = _upload_place(service.curator, body.upload, body.file)
    service.curator.data_sets.renew(name, by=bearer.name, file=body.file, upload=place)
    return _with_budget(service.curator, name)


@routes.post("/data-sets/{name}/version")
def raise_version(name: str, bearer: ActingOwner, service: Context) -> Json:
    """Say in public that the data have changed: questions are charged anew."""
    return {"version": service.curator.data_sets.raise_version(name, by=bearer.name)}


@routes.post("/data-sets/{name}/purposes", status_code=201)
def add_purpose(name: str, body: SentPurpose, bearer: ActingOwner, service: Context) -> Json:
    """One more purpose."""
    service.curator.data_sets.add_purpose(name, Purpose(**body.arguments()), by=bearer.name)
    return _with_budget(service.curator, name)


@routes.post("/data-sets/{name}/purposes/{purpose}/withdrawal")
def withdraw_purpose(
    name: str, purpose: str, body: Why, bearer: ActingSteward, service: Context
) -> Json:
    """Answer nothing more for a purpose."""
    service.curator.data_sets.withdraw_purpose(name, purpose, why=body.why, by=bearer.name)
    return _with_budget(service.curator, name)


@routes.post("/data-sets/{name}/thaw")
def thaw(name: str, body: Why, bearer: ActingOwner, service: Context) -> Json:
    """Allow questions again after an engine failed."""
    service.curator.data_sets.thaw(name, why=body.why, by=bearer.name)
    return _with_budget(service.curator, name)


@routes.post("/data-sets/{name}/retirement")
def retire(name: str, body: Why, bearer: ActingOwner, service: Context) -> Json:
    """Remove the rows for good; what was spent and released stays on record."""
    service.curator.data_sets.retire(name, why=body.why, by=bearer.name)
    return _with_budget(service.curator, name)


def _with_budget(curator: Curator, name: str) -> Json:
    record = curator.data_sets.record(name)
    stands = curator.ledger.data_set(record.name)
    declared = {part.name: getattr(record, part.name) for part in fields(record)}
    standing = {name: getattr(stands, name) for name in ("version", "frozen", *AMOUNTS)}
    return to_json(DataSetStanding(**declared, **standing))


def _upload_place(
    curator: Curator, upload: str | None, file: str | None, address: str | None = None
) -> Path | None:
    """Where an upload lies; its id is a name of ours, so nothing else can be meant by it."""
    if [upload, file, address].count(None) != 2:
        raise problem_error(
            "not-valid", "Give one of upload, file and address: where the rows are."
        )
    if upload is None:
        return None
    place = curator.settings.incoming_folder / upload
    if not fullmatch(r"[0-9a-zA-Z_-]{1,80}\.(csv|parquet)", upload) or not place.is_file():
        raise problem_error(
            "not-found", "There is no such upload: POST /api/v1/uploads gives its id."
        )
    return place
