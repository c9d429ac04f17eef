"""What owners and stewards do with a data set: newer rows, purposes, thawing, retirement.

A file that stays where it is has no newer rows here: its owner says that they have changed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console import uploads
from letalone.curator.console.acting import ActingOwner, ActingSteward
from letalone.curator.console.declaring import purpose_of
from letalone.curator.console.forms import Form, act_or_show, read_body, try_act
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.visitors import Owner, Steward, Visitor
from letalone.curator.curator import Curator
from letalone.curator.http.shapes import SentPurpose, Why
from letalone.curator.http.who import Served, Service
from letalone.curator.refusals import NotThere

routes = console_routes()
UploadId = Annotated[str, Query(max_length=100)]


@dataclass(frozen=True, slots=True)
class Act:
    """An act with a reason: what it is called, what it means, and what is said after it."""

    title: str
    words: str
    button: str
    said: str
    carry_out: Callable[[Curator, str, str, str], object]


THAW = Act(
    "Allow questions again",
    "Questions about it were stopped, and its page says why: an engine failed while it read the"
    " rows, their file was changed meanwhile, or an older copy of the ledger was put in place. Find"
    " out, before you allow questions again. An external file is opened anew, under a new version.",
    "Allow questions again",
    "Questions are answered again.",
    lambda curator, name, why, by: curator.data_sets.thaw(name, why=why, by=by),
)
CHANGED = Act(
    "The data have changed",
    "They are opened anew where they lie, under a new version. Questions are charged anew, to the"
    " same budget; earlier answers stay, and are no longer about the data as they are now.",
    "The data have changed",
    "The data were opened anew. The budget goes on.",
    lambda curator, name, why, by: curator.data_sets.raise_version(name, why=why, by=by),
)
RETIRE = Act(
    "Retire",
    "Its rows are removed for good. What was spent and released stays on record, and the name is"
    " not used again.",
    "Remove the rows for good",
    "The data set was retired, and its rows are gone.",
    lambda curator, name, why, by: curator.data_sets.retire(name, why=why, by=by),
)


@routes.get("/data-sets/{name}/affected")
def show_affected(request: Request, name: str, visitor: ActingSteward, service: Served) -> Response:
    """How many values the declared rules touched: exact, for owners and stewards."""
    record = service.curator.data_sets.record(name)
    try:
        counted = service.curator.data_sets.affected(name, by=visitor.name)
    except NotThere:  # it is read where it lies: there is nothing to count
        counted = None
    return page(request, "affected.html", record=record, counted=counted)


@routes.get("/data-sets/{name}/renewal")
def renewal(
    request: Request, name: str, visitor: ActingOwner, service: Served, upload: UploadId = ""
) -> Response:
    """The form for newer rows: the file, then the confirmation."""
    return _renewal(request, name, visitor, service, upload)


@routes.post("/data-sets/{name}/renewal")
def renew(request: Request, name: str, visitor: Owner, form: Form, service: Served) -> Response:
    """Newer rows under the same name, and so the same budget."""
    upload = form.text("upload")

    def act() -> Response:
        sent = uploads.find(service.curator, visitor, upload)
        service.curator.data_sets.renew(name, by=visitor.name, upload=sent.place)
        uploads.drop(sent)
        at = f"/data-sets/{quote(name)}/affected"
        return see_other(request, at, said="The newer rows are in. The budget goes on.")

    return try_act(
        request, act, lambda: _renewal(request, name, visitor, service, upload), acting=True
    )


@routes.get("/data-sets/{name}/purposes")
def purposes(request: Request, name: str, visitor: Owner, service: Served) -> Response:
    """The form for one more purpose."""
    del visitor
    return page(request, "purpose.html", record=service.curator.data_sets.record(name))


@routes.post("/data-sets/{name}/purposes")
@act_or_show(purposes, acting=True)
def add_purpose(
    request: Request, name: str, visitor: Owner, form: Form, service: Served
) -> Response:
    """One more purpose."""
    sent = read_body(SentPurpose, **purpose_of(form))
    service.curator.data_sets.add_purpose(name, sent.read(), by=visitor.name)
    return _back(request, name, f"It may be used for {sent.name} from now on.")


@routes.get("/data-sets/{name}/purposes/withdrawal")
def ending(request: Request, name: str, visitor: Steward, purpose: str = "") -> Response:
    """The form with which a purpose ends."""
    del visitor
    return _reason(request, name, _withdrawal(purpose))


@routes.post("/data-sets/{name}/purposes/withdrawal")
def end_purpose(
    request: Request, name: str, visitor: Steward, form: Form, service: Served
) -> Response:
    """Nothing more is answered for a purpose."""
    return _carried_out(request, name, visitor, form, service, _withdrawal(form.text("purpose")))


@routes.get("/data-sets/{name}/thaw")
def thawing(request: Request, name: str, visitor: Owner) -> Response:
    """The form with which questions are allowed again."""
    del visitor
    return _reason(request, name, THAW)


@routes.post("/data-sets/{name}/thaw")
def thaw(request: Request, name: str, visitor: Owner, form: Form, service: Served) -> Response:
    """Questions are allowed again."""
    return _carried_out(request, name, visitor, form, service, THAW)


@routes.get("/data-sets/{name}/version")
def changing(request: Request, name: str, visitor: Owner) -> Response:
    """The form with which an owner says that the data have changed where they lie."""
    del visitor
    return _reason(request, name, CHANGED)


@routes.post("/data-sets/{name}/version")
def change(request: Request, name: str, visitor: Owner, form: Form, service: Served) -> Response:
    """The data are opened anew, under a new version."""
    return _carried_out(request, name, visitor, form, service, CHANGED)


@routes.get("/data-sets/{name}/retirement")
def retiring(request: Request, name: str, visitor: Owner) -> Response:
    """The form with which a data set ends."""
    del visitor
    return _reason(request, name, RETIRE)


@routes.post("/data-sets/{name}/retirement")
def retire(request: Request, name: str, visitor: Owner, form: Form, service: Served) -> Response:
    """The rows are removed for good."""
    return _carried_out(request, name, visitor, form, service, RETIRE)


def _carried_out(
    request: Request, name: str, visitor: Visitor, form: Form, service: Service, act: Act
) -> Response:
    def carry_out() -> Response:
        sent = read_body(Why, why=form.text("why"))
        act.carry_out(service.curator, name, sent.why, visitor.name)
        return _back(request, name, act.said)

    return try_act(request, carry_out, lambda: _reason(request, name, act), acting=True)


def _withdrawal(purpose: str) -> Act:
    return Act(
        f"End the purpose {purpose}",
        "Nothing more is answered for it, and nobody can request it. What was spent stays spent,"
        " and its name is not used again.",
        "End the purpose",
        f"Nothing more is answered for {purpose}.",
        lambda curator, name, why, by: curator.data_sets.withdraw_purpose(
            name, purpose, why=why, by=by
        ),
    )


def _reason(request: Request, name: str, act: Act) -> Response:
    return page(request, "data_set_reason.html", name=name, act=act)


def _back(request: Request, name: str, said: str) -> Response:
    return see_other(request, f"/data-sets/{quote(name)}", said=said)


def _renewal(
    request: Request, name: str, visitor: Visitor, service: Service, upload: str
) -> Response:
    record = service.curator.data_sets.record(name)
    sent = uploads.find(service.curator, visitor, upload) if upload else None
    return page(request, "renewal.html", record=record, sent=sent)
