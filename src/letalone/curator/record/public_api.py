"""Routes for anybody: health, readiness, the public page, what a problem means. And metrics.

The public page (G6) speaks to people in the data: what is protected, how much may be revealed, what
ε means. Metrics are for the owner.
"""

from re import sub

from fastapi import APIRouter, Response

from letalone.curator.http.metrics import MEDIA_TYPE
from letalone.curator.http.probes import WELL
from letalone.curator.http.problems import KINDS, WHERE, problem_error
from letalone.curator.people.access import ANYBODY, OWNER, PROBE, Context, ServiceContext
from letalone.errors import LetaloneError
from letalone.wire.json_values import Json, to_json

routes = APIRouter(tags=["open to anybody"])
WHAT = (
    "People ask questions about the data below. They never see a row: an answer is about many at"
    " once, with random noise in it, so that it is nearly the same whether any one person is in the"
    " data or not, and whatever is written about them."
)
EPSILON = (
    "How much all answers together may reveal about one person is counted by ε (epsilon). Compared"
    " with answers from data without that person, any outcome is more or less likely by a factor of"
    " at most e to the power ε: 1.11 at ε = 0.1, 2.72 at ε = 1, 149 at ε = 5. δ (delta) is a tiny"
    " probability that this leaves out: δ = 1e-6 is one in a million. When a budget"
    " is spent, nothing more is answered."
)


@routes.get("/health", dependencies=[PROBE])
async def health() -> Json:
    """Whether this worker lives: it answers at once, whatever its stores and its threads do."""
    return {"status": "ok"}


@routes.get("/ready", dependencies=[PROBE])
async def ready(service: Context) -> Json:
    """Whether questions can be answered: ledger and database take writes, the disk has room."""
    parts = await service.probes.states()
    wrong = [f"The {part} {state}." for part, state in parts.items() if state != WELL]
    if wrong:
        raise problem_error("not-ready", " ".join(wrong), parts=parts)
    return {"status": "ok", "parts": parts}


@routes.get("/api/v1/open", dependencies=[ANYBODY])
def openness(service: Context) -> Json:
    """Which data sets, for what purposes, under what unit, how much of the budget is spent."""
    return open_page(service)


@routes.get("/favicon.ico", include_in_schema=False, dependencies=[ANYBODY])
def icon() -> Response:
    """Browsers ask for one; there is none."""
    return Response(status_code=204)


@routes.get("/metrics", dependencies=[OWNER])
def metrics(service: Context) -> Response:
    """Counters in Prometheus' text format, for an owner's token."""
    return Response(service.metrics.text(frozen=_count_frozen(service)), media_type=MEDIA_TYPE)


def _count_frozen(service: ServiceContext) -> int | None:
    """How many data sets are; None where a store is away: the counters are shown all the same."""
    curator = service.curator
    try:
        records = [record for record in curator.data_sets.records() if not record.retired]
        return sum(curator.ledger.data_set(record.name).frozen for record in records)
    except LetaloneError:
        return None


@routes.get(WHERE + "{kind}", dependencies=[ANYBODY])
def problem(kind: str) -> Json:
    """What a kind of problem means, and what to do."""
    meaning = KINDS.get(kind)
    if meaning is None:
        raise problem_error(
            "not-found", f"There is no such kind. The kinds are: {', '.join(KINDS)}."
        )
    return {"type": WHERE + kind, **to_json(meaning)}


def open_page(service: ServiceContext) -> Json:
    """The open page, made anew every few seconds: anybody may ask for it as often as they like."""
    return service.page.value(lambda: to_json(service.curator.openness.page()))


def protection_words(page: Json) -> str:
    """Who is protected, in words for them; and the definition in brackets."""
    who = sub(r"(?i)[_ -]?id$", "", page["unit"]).replace("_", " ").strip() or "person"
    rows = "" if who == "row" else ", with all of their rows"
    return f"Each {who} is protected{rows}: answers hide whether they are in ({page['protects']})."


def day_and_time(moment: str) -> str:
    """A time in UTC as people write it."""
    return moment.replace("T00:00:00Z", "").replace("T", " ").replace("Z", " UTC")
