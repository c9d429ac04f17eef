"""Shows data sets, takes requests for access, and lets owners and stewards act on them.

They send newer rows, add and end purposes, thaw and retire. A file that stays where it is has no
newer rows here: its owner says that they have changed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Query, Request, Response

from letalone.curator.asking.drafted import DRAFT, keep_typed, take_draft
from letalone.curator.console.forms import (
    ActingOwner,
    ActingSteward,
    Form,
    act_or_show,
    read_body,
    try_act,
)
from letalone.curator.console.pages import console_routes, page, see_other, typed_in
from letalone.curator.data_sets import uploads
from letalone.curator.data_sets.declaring import purpose_of
from letalone.curator.data_sets.service import DataSets
from letalone.curator.people import visitors
from letalone.curator.record.public_api import protection_words
from letalone.curator.storage.refusals import NotThere
from letalone.curator.storage.service_records import Purpose
from letalone.ledger.freezes import freeze_of
from letalone.wire.bodies import NewRequest, SentPurpose, Why
from letalone.wire.records import DataSetRecord, Role, Scope

routes = console_routes()
UploadId = Annotated[str, Query(max_length=100)]


@dataclass(frozen=True, slots=True)
class Act:
    """An act with a reason: what it is called, what it means, and what is said after it."""

    title: str
    words: str
    button: str
    notice: str
    carry_out: Callable[..., object]  # of a data set's name, the reason, and who does it


THAW = Act(
    "Allow questions again",
    "Questions about it were stopped, and its page says why: an engine failed while it read the"
    " rows, their file was changed meanwhile, or an older copy of the ledger was put in place. Find"
    " out, before you allow questions again. An external file is opened again, under a new"
    " version.",
    "Allow questions again",
    "Questions are answered again.",
    DataSets.thaw,
)
CHANGED = Act(
    "The data have changed",
    "They are opened again where they lie, under a new version. Questions are charged again, to the"
    " same budget; earlier answers stay, and are no longer about the data as they are now.",
    "The data have changed",
    "The data were opened again. The budget goes on.",
    DataSets.raise_version,
)
RETIRE = Act(
    "Retire",
    "Its rows are removed permanently. What was spent and released stays on record, and the name is"
    " not used again.",
    "Remove the rows permanently",
    "The data set was retired, and its rows are gone.",
    DataSets.retire,
)
ACTS = {"thaw": THAW, "version": CHANGED, "retirement": RETIRE}  # by the end of the address


@routes.get("/data-sets")
def data_sets(request: Request, visitor: visitors.Visiting) -> Response:
    """All data sets, with what is public about them."""
    records = visitor.curator.data_sets.records()
    shown = [_summarise(visitor, record) for record in records]
    return page(request, "data_sets.html", found=shown, grants=_grants(visitor))


@routes.get("/data-sets/{name}")
def data_set(request: Request, name: str, visitor: visitors.Visiting) -> Response:
    """What may be asked of one."""
    return page(request, "data_set.html", **_context(visitor, name))


@routes.get("/data-sets/{name}/request")
def access(request: Request, name: str, visitor: visitors.Analyst, draft: str = "") -> Response:
    """The form for a request; with what was typed and refused, where the address has a draft."""
    if draft:
        take_draft(request, draft, visitor)
    return page(request, "request_access.html", **_context(visitor, name))


@routes.post("/data-sets/{name}/request")
def request_access(request: Request, name: str, visitor: visitors.Analyst, form: Form) -> Response:
    """An analyst's request for a grant."""

    def act() -> Response:
        sent = form.read(
            NewRequest, "purpose", "why", data_set=name, columns=form.all("columns"),
            budget=form.budget(), expires=form.start_of_day("expires"),
        )  # fmt: skip
        visitor.curator.requests.make(**sent.arguments(), by=visitor.name)
        return see_other(request, "/requests", said="Your request was sent. A steward decides.")

    def show() -> Response:
        typed = keep_typed(request, visitor)
        return see_other(request, f"/data-sets/{quote(name, safe='')}/request?{DRAFT}={typed}")

    visitor.curator.data_sets.record(name)  # where there is none, that is all there is to say
    return try_act(request, act, show)


def _context(visitor: visitors.Visitor, name: str) -> dict[str, Any]:
    record = visitor.curator.data_sets.record(name)
    mine = [grant for grant in _grants(visitor) if grant.data_set == record.name]
    is_owner = visitor.has(Role.OWNER)  # why it froze, or cannot be read, is for owners only
    freeze = freeze_of(visitor.curator.ledger, record.name) if is_owner else None
    troubles = visitor.curator.data_sets.troubles(by=visitor.name) if is_owner else {}
    trouble = troubles.get(record.name)
    return {**_summarise(visitor, record), "grants": mine, "freeze": freeze, "trouble": trouble}


def _summarise(visitor: visitors.Visitor, record: DataSetRecord) -> dict[str, Any]:
    stands = visitor.curator.ledger.data_set(record.name)
    unit = {"unit": stands.neighbours.unit or "row", "protects": str(stands.neighbours)}
    return {"record": record, "stands": stands, "protected": protection_words(unit)}


def _grants(visitor: visitors.Visitor) -> list[Any]:
    if Scope.ASK not in visitor.scopes:
        return []
    grants = visitor.curator.requests.grants(by=visitor.name, own=True)
    return [grant for grant in grants if not grant.withdrawn]


@routes.get("/data-sets/{name}/affected")
def show_affected(request: Request, name: str, visitor: ActingSteward) -> Response:
    """How many values the declared rules touched: exact, for owners and stewards."""
    record = visitor.curator.data_sets.record(name)
    try:
        counted = visitor.curator.data_sets.affected(name, by=visitor.name)
    except NotThere:  # it is read where it lies: there is nothing to count
        counted = None
    return page(request, "affected.html", record=record, counted=counted)


@routes.get("/data-sets/{name}/renewal")
def renewal(request: Request, name: str, visitor: ActingOwner, upload: UploadId = "") -> Response:
    """The form for newer rows: the file, then the confirmation."""
    upload = upload or str(typed_in(request).get("upload", ""))
    sent = uploads.find(visitor, upload) if upload else None
    record = visitor.curator.data_sets.record(name)
    return page(request, "renewal.html", record=record, sent=sent)


@routes.post("/data-sets/{name}/renewal")
@act_or_show(renewal, acting=True)
def renew(request: Request, name: str, visitor: visitors.Owner, form: Form) -> Response:
    """Newer rows under the same name, and so the same budget."""
    sent = uploads.find(visitor, form.text("upload"))
    visitor.curator.data_sets.renew(name, by=visitor.name, upload=sent.place)
    uploads.drop(sent)
    at = f"/data-sets/{quote(name)}/affected"
    return see_other(request, at, said="The newer rows are in. The budget goes on.")


@routes.get("/data-sets/{name}/purposes")
def purposes(request: Request, name: str, visitor: visitors.Owner) -> Response:
    """The form for one more purpose."""
    return page(request, "purpose.html", record=visitor.curator.data_sets.record(name))


@routes.post("/data-sets/{name}/purposes")
@act_or_show(purposes, acting=True)
def add_purpose(request: Request, name: str, visitor: visitors.Owner, form: Form) -> Response:
    """One more purpose."""
    sent = read_body(SentPurpose, **purpose_of(form))
    visitor.curator.data_sets.add_purpose(name, Purpose(**sent.arguments()), by=visitor.name)
    return _back(request, name, f"It may be used for {sent.name} from now on.")


@routes.get("/data-sets/{name}/purposes/withdrawal", dependencies=[visitors.STEWARD])
def ending(request: Request, name: str, purpose: str = "") -> Response:
    """The form with which a purpose ends."""
    return _reason(request, name, _withdrawal(purpose))


@routes.post("/data-sets/{name}/purposes/withdrawal")
def end_purpose(request: Request, name: str, visitor: visitors.Steward, form: Form) -> Response:
    """Nothing more is answered for a purpose."""
    return _carry_out(request, name, visitor, form, _withdrawal(form.text("purpose")))


@routes.get("/data-sets/{name}/thaw", dependencies=[visitors.OWNER])
@routes.get("/data-sets/{name}/version", dependencies=[visitors.OWNER])
@routes.get("/data-sets/{name}/retirement", dependencies=[visitors.OWNER])
def why(request: Request, name: str) -> Response:
    """The form for the reason of an owner's act."""
    return _reason(request, name, _act_of(request))


@routes.post("/data-sets/{name}/thaw")
@routes.post("/data-sets/{name}/version")
@routes.post("/data-sets/{name}/retirement")
def do(request: Request, name: str, visitor: visitors.Owner, form: Form) -> Response:
    """Allows questions again, opens the data anew, or removes the rows for good."""
    return _carry_out(request, name, visitor, form, _act_of(request))


def _act_of(request: Request) -> Act:
    return ACTS[request.url.path.rpartition("/")[2]]


def _carry_out(
    request: Request, name: str, visitor: visitors.Visitor, form: Form, act: Act
) -> Response:
    def carry_out() -> Response:
        sent = form.read(Why, "why")
        act.carry_out(visitor.curator.data_sets, name, why=sent.why, by=visitor.name)
        return _back(request, name, act.notice)

    return try_act(request, carry_out, lambda: _reason(request, name, act), acting=True)


def _withdrawal(purpose: str) -> Act:
    return Act(
        f"End the purpose {purpose}",
        "Nothing more is answered for it, and nobody can request it. What was spent stays spent,"
        " and its name is not used again.",
        "End the purpose",
        f"Nothing more is answered for {purpose}.",
        partial(DataSets.withdraw_purpose, purpose=purpose),
    )


def _reason(request: Request, name: str, act: Act) -> Response:
    return page(request, "data_set_reason.html", name=name, act=act)


def _back(request: Request, name: str, notice: str) -> Response:
    return see_other(request, f"/data-sets/{quote(name)}", said=notice)
