"""Routes for analysts: preview, release, history, receipts. Nothing exact leaves here.

Fresh answers leave at fixed time steps (`session.time_steps`); nothing else is held.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from json import dumps
from math import isfinite
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from starlette.concurrency import run_in_threadpool

from letalone.answers.preview import Preview
from letalone.curator.asking.answer_cache import CachedAnswer, KeyedRequest, Sending
from letalone.curator.people.access import QUESTIONS, Analyst, Context, ServiceContext
from letalone.curator.storage.service_records import (
    Bearer,
    DataSetQuestion,
    QuestionPrice,
    read_sent,
)
from letalone.errors import LetaloneError
from letalone.session.release import Release
from letalone.wire.bodies import SentQuestion, exact
from letalone.wire.json_values import Json, pick, to_json

MAX_HISTORY_PAGE = 1000
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="A name of your own for this request, such as a random UUID. Sent again under"
        " it within a day, the same body gets the very same answer and nothing is charged, also if"
        " the data set has a newer version by then.",
    ),
]
routes = APIRouter(prefix=QUESTIONS, tags=["questions"])


@routes.post("/preview")
async def preview(body: SentQuestion, bearer: Analyst, service: Context) -> Json:
    """The price, its split and the errors to expect: no data touched, nothing spent."""
    by = bearer.name
    return await service.aside(lambda: _preview_as_asked(body, service, by), by=by)


def _preview_as_asked(body: SentQuestion, service: ServiceContext, by: str) -> Json:
    asking, (question, price) = service.curator.asking, read_sent(body)
    preview = asking.preview(question, price, by=by)
    delta = exact(preview.delta)
    find_left = partial(asking.remaining, question, preview.privacy, delta=delta, by=by)
    return preview_as_json(preview, left=find_left().words if body.left else None)


@routes.post("/explanation")
async def explain(body: SentQuestion, bearer: Analyst, service: Context) -> Json:
    """The question, its price and its split in words; with `show_sql` also what is run."""
    explain = partial(service.curator.asking.explain, sql=body.show_sql)
    return {"words": await _look(explain, body, bearer, service)}


@routes.post("/fitting")
async def fitting(body: SentQuestion, bearer: Analyst, service: Context) -> Json:
    """About how many more such questions fit; "inf" where nothing is charged."""
    number = await _look(service.curator.asking.how_many_more, body, bearer, service)
    return {"how_many_more": _finite(number)}


@routes.post("/epsilon")
async def epsilon_for(body: SentQuestion, bearer: Analyst, service: Context) -> Json:
    """The smallest ε of three digits that keeps `error`: no data touched, nothing spent."""
    return {"epsilon": await _look(service.curator.asking.epsilon_for, body, bearer, service)}


async def _look(
    what: Callable[..., Any], body: SentQuestion, bearer: Bearer, service: ServiceContext
) -> Any:
    """What can be said of a question before it is paid for."""
    look = partial(what, *read_sent(body), by=bearer.name)
    return await service.aside(look, by=bearer.name)


@routes.post("/release", response_model=Json)
async def release(
    body: SentQuestion, bearer: Analyst, service: Context, key: IdempotencyKey = None
) -> Response:
    """The answer; charged at data set, purpose and analyst before data are touched.

    The same question again is a repeat, and costs nothing; what was charged and not answered,
    because something failed, is gone on with.
    """
    asking, by = service.curator.asking, bearer.name
    sending = None
    if key is not None:
        sending = KeyedRequest(key, body.model_dump_json(exclude={"left", "show_sql", "confirm"}))
    if not (body.left or body.tables or body.error):
        question, price = read_sent(body)
        cheap = service.curator.cheap_looks and sending is None
        answer = asking.cached_answer(question, price, by=by) if cheap else None
        if answer is None:  # not among those who wait for a time step
            with _counting_refusals(service):
                answer = await run_in_threadpool(
                    lambda: asking.before(question, price, by=by, sending=sending)
                )
        if answer is not None:
            service.metrics.answer("repeated")
            return _write_answer(answer, left=None)
    return await service.in_turn(lambda: _release_in_turn(body, service, sending, by), by=by)


@contextmanager
def _counting_refusals(service: ServiceContext) -> Generator[None]:
    try:
        yield
    except LetaloneError:
        service.metrics.answer("refused")
        raise


def answer_and_count(
    service: ServiceContext, question: DataSetQuestion, price: QuestionPrice, **more: Any
) -> CachedAnswer:
    """The answer; what came of the question is counted, for the owner."""
    with _counting_refusals(service):
        answer = service.curator.asking.answer(question, price, **more)
    service.metrics.answer("repeated" if answer.release.repeated else "released")
    return answer


def _release_in_turn(
    body: SentQuestion, service: ServiceContext, sending: Sending, by: str
) -> Response:
    question, asking = DataSetQuestion.of_body(body), service.curator.asking
    answer = answer_and_count(
        service, question, QuestionPrice.of_body(body), by=by, sending=sending
    )
    terms = answer.release.asked
    find_left = partial(asking.remaining, question, terms.privacy, delta=terms.delta, by=by)
    return _write_answer(answer, left=find_left().words if body.left else None)


@routes.get("/history")
def history(
    bearer: Analyst,
    service: Context,
    data_set: str | None = None,
    limit: Annotated[int, Query(ge=1, le=MAX_HISTORY_PAGE)] = 100,
    receipts: bool = False,
) -> Json:
    """Own answers, the newest first; with `receipts` each has its signed receipt."""
    asking, by = service.curator.asking, bearer.name
    releases = asking.history(by=by, data_set=data_set, most=limit + 1)
    shown = [
        {**to_json(past), **({"receipt": asking.receipt(past.id, by=by)} if receipts else {})}
        for past in releases[:limit]
    ]
    return {"releases": shown, "more": len(releases) > limit}


@routes.get("/history/{release_id}")
def past(release_id: str, bearer: Analyst, service: Context) -> Json:
    """One of the own answers."""
    return to_json(service.curator.asking.past(release_id, by=bearer.name))


@routes.get("/history/{release_id}/receipt")
def receipt(release_id: str, bearer: Analyst, service: Context) -> Json:
    """The signed receipt of one of the own answers: `letalone verify` checks it offline."""
    return service.curator.asking.receipt(release_id, by=bearer.name)


def _write_answer(answer: CachedAnswer, *, left: str | None) -> Response:
    """Written here, and once for all repeats: what is left is put last, if it is wanted.

    How much is left takes longer to find out than a repeated answer.
    """
    content = answer.written(_all_but_left)[:-1] + b',"left":' + _as_json(left) + b"}"
    return Response(content, media_type="application/json")


def _all_but_left(release: Release) -> bytes:
    return _as_json(release_as_json(release))


def _as_json(value: object) -> bytes:
    return dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def release_as_json(release: Release) -> Json:
    """Rows for reading, the answer as it is stored, and its receipt."""
    standing, limit = release.standing, release.standing.row_limit
    remarks = standing.remark, None if limit is None else limit.on("http")
    return {
        "rows": [{name: _finite(cell) for name, cell in row.items()} for row in release.rows()],
        "release": release.to_json(),
        "receipt": standing.receipt,
        "repeated": release.repeated,
        "remark": " ".join(filter(None, remarks)) or None,
    }


def preview_as_json(preview: Preview, *, left: str | None) -> Json:
    """Everything in a preview, what is left if wanted; an error without bound is "inf"."""
    return {
        "privacy": preview.privacy.to_json(),
        **pick(preview, ("epsilon", "delta", "confidence", "columns", "split")),
        "errors": {name: _finite(error) for name, error in preview.errors.items()},
        "alone": {name: _finite(error) for name, error in preview.alone.items()},
        **pick(preview, ("in_rows", "formulas", "fitted", "question", "notes")),
        "warnings": [*preview.warnings, *filter(None, [preview.found_first])],
        "left": left,
    }


def _finite(value: object) -> Any:
    """JSON has no infinity."""
    return str(value) if isinstance(value, float) and not isfinite(value) else to_json(value)
