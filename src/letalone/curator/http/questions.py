"""Routes for analysts: preview, release, history, receipts. Nothing exact leaves here.

Answers leave at fixed time steps (`timing`), refusals too.
"""

from math import isfinite
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse, Response

from letalone.curator.http.numbers import exact
from letalone.curator.http.said import Json, said
from letalone.curator.http.shapes import SentQuestion
from letalone.curator.http.timing import QUESTIONS
from letalone.curator.http.who import Analyst, Served
from letalone.errors import LetaloneError
from letalone.session.preview import Preview
from letalone.session.release import Release

MOST = 1000
routes = APIRouter(prefix=QUESTIONS, tags=["questions"])


@routes.post("/preview")
def preview(body: SentQuestion, bearer: Analyst, service: Served) -> Json:
    """The price, its split and the errors to expect: no data touched, nothing spent."""
    by = bearer.person.name
    question, asking = body.question(), service.curator.asking
    found = asking.preview(question, body.price(), by=by)
    delta = exact(found.delta)
    left = asking.left(question, found.privacy, delta=delta, by=by) if body.left else None
    return preview_said(found, left=left)


@routes.post("/explanation")
def explain(body: SentQuestion, bearer: Analyst, service: Served) -> Json:
    """The question, its price and its split in words; with `show_sql` also what is run."""
    asking, by = service.curator.asking, bearer.person.name
    return {
        "words": asking.explain(body.question(), body.price(), by=by, sql=body.show_sql),
    }


@routes.post("/fitting")
def fitting(body: SentQuestion, bearer: Analyst, service: Served) -> Json:
    """About how many more such questions fit; "inf" where nothing is charged."""
    by = bearer.person.name
    found = service.curator.asking.how_many_more(body.question(), body.price(), by=by)
    return {"how_many_more": _cell(found)}


@routes.post("/epsilon")
def epsilon_for(body: SentQuestion, bearer: Analyst, service: Served) -> Json:
    """The smallest ε of three digits that keeps `error`: no data touched, nothing spent."""
    by = bearer.person.name
    found = service.curator.asking.epsilon_for(body.question(), body.price(), by=by)
    return {"epsilon": found}


@routes.post("/release", response_model=Json)
def release(body: SentQuestion, bearer: Analyst, service: Served) -> Response:
    """The answer; charged at data set, purpose and analyst before data are touched."""
    question, asking, by = body.question(), service.curator.asking, bearer.person.name
    try:
        found = asking.release(question, body.price(), by=by)
    except LetaloneError:
        service.metrics.answer("refused")
        raise
    service.metrics.answer("repeated" if found.repeated else "released")
    asked = found.asked
    left = asking.left(question, asked.privacy, delta=asked.delta, by=by) if body.left else None
    # Written here: the framework would go through all cells once more.
    return JSONResponse(release_said(found, left=left))


@routes.get("/history")
def history(
    bearer: Analyst,
    service: Served,
    data_set: str | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 100,
) -> Json:
    """Own answers, the newest first."""
    found = service.curator.asking.history(by=bearer.person.name, data_set=data_set)
    return {"releases": said(found[:limit]), "more": len(found) > limit}


@routes.get("/history/{release_id}")
def past(release_id: str, bearer: Analyst, service: Served) -> Json:
    """One of the own answers."""
    return said(service.curator.asking.past(release_id, by=bearer.person.name))


@routes.get("/history/{release_id}/receipt")
def receipt(release_id: str, bearer: Analyst, service: Served) -> Json:
    """The signed receipt of one of the own answers: `letalone verify` checks it offline."""
    return service.curator.asking.receipt(release_id, by=bearer.person.name)


def release_said(release: Release, *, left: str | None) -> Json:
    """Rows for reading, the answer as it is stored, its receipt; what is left if wanted.

    How much is left takes longer to find out than a repeated answer.
    """
    standing = release.standing
    return {
        "rows": [{name: _cell(cell) for name, cell in row.items()} for row in release.rows()],
        "release": release.to_json(),
        "receipt": standing.receipt,
        "repeated": release.repeated,
        "remark": standing.remark,
        "left": left,
    }


def preview_said(preview: Preview, *, left: str | None) -> Json:
    """Everything in a preview, what is left if wanted; an error without bound is "inf"."""
    return {
        "privacy": preview.privacy.to_json(),
        "epsilon": preview.epsilon,
        "delta": preview.delta,
        "confidence": preview.confidence,
        "columns": list(preview.columns),
        "split": said(preview.split),
        "errors": {name: _cell(error) for name, error in preview.errors.items()},
        "alone": {name: _cell(error) for name, error in preview.alone.items()},
        "in_rows": said(preview.in_rows),
        "formulas": said(preview.formulas),
        "fitted": said(preview.fitted),
        "question": preview.question,
        "notes": list(preview.notes),
        "warnings": list(preview.warnings),
        "left": left,
    }


def _cell(value: object) -> Any:
    """JSON has no infinity."""
    return str(value) if isinstance(value, float) and not isfinite(value) else said(value)
