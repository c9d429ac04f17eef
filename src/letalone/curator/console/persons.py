"""Persons in the data: held or not, in which answers, their rows, correction, erasure (G7).

The id of a person is never in an address: addresses end up in logs. A form that was sent is kept as
a draft, whose name is; each page that is made from one is a look of its own, with its entry.

  Tested:   tests/curator/console/test_steward_persons.py
"""

from collections.abc import Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.acting import ActingSteward
from letalone.curator.console.drafted import DRAFT, keep_typed, take_draft, take_up
from letalone.curator.console.forms import Form, SubmittedForm, form_of, read_body, try_act
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.visitors import Steward, Visitor
from letalone.curator.http.shapes import AboutSubject, Correction, InDataSet, Outcome
from letalone.curator.http.who import Served, Service
from letalone.curator.records import Done
from letalone.curator.subjects import STAYS
from letalone.curator.unit_rows import check_corrected
from letalone.errors import ParameterError
from letalone.plans.schema import Schema

NOT_CHANGED = "Nothing was changed: no value differs from the one that is there."
NOT_SURE = (
    "Nothing was erased: tick the box that says that you know whose request it is. Rows that are"
    " erased cannot be brought back."
)
routes = console_routes()


@routes.get("/persons")
def persons(request: Request, visitor: Steward, service: Served) -> Response:
    """The form, and what owners of external sources have not done yet."""
    take_up(request, visitor, service)
    return _page(request, visitor, service)


@routes.post("/persons")
def look(request: Request, visitor: Steward, form: Form, service: Served) -> Response:
    """Which data sets hold a person of this id."""

    def act() -> Response:
        read_body(AboutSubject, subject=form.text("subject"), why=form.text("why"))
        return _to(request, "found", visitor, service)

    return _try_act(request, act, visitor, service)


@routes.get("/persons/found/{draft}")
def found(request: Request, draft: str, visitor: ActingSteward, service: Served) -> Response:
    """Which data sets hold the person of a draft."""

    def show(form: SubmittedForm) -> Response:
        subject, why = form.text("subject"), form.text("why")
        holdings = service.curator.subjects.holdings(subject, by=visitor.name, why=why)
        return page(request, "persons_found.html", holdings=holdings, stays=STAYS)

    return _show_draft(request, draft, visitor, service, show)


@routes.post("/persons/answers")
@routes.post("/persons/rows")
def look_in(request: Request, visitor: Steward, form: Form, service: Served) -> Response:
    """The person's rows in a data set, or the answers that they were in."""

    def act() -> Response:
        _in_data_set(form)
        return _to(request, request.url.path.rpartition("/")[2], visitor, service)

    return _try_act(request, act, visitor, service)


@routes.get("/persons/answers/{draft}")
def answers(request: Request, draft: str, visitor: ActingSteward, service: Served) -> Response:
    """Which answers were given while the person's rows were in."""

    def show(form: SubmittedForm) -> Response:
        sent = _in_data_set(form)
        releases = service.curator.subjects.releases(
            sent.data_set, sent.subject, by=visitor.name, why=sent.why
        )
        return page(request, "persons_answers.html", found=releases, stays=STAYS)

    return _show_draft(request, draft, visitor, service, show)


@routes.get("/persons/rows/{draft}")
def rows(request: Request, draft: str, visitor: ActingSteward, service: Served) -> Response:
    """The person's rows, each with the form that corrects it."""

    def show(form: SubmittedForm) -> Response:
        return _rows(request, form, visitor, service)

    return _show_draft(request, draft, visitor, service, show)


@routes.post("/persons/correction")
def correct(request: Request, visitor: Steward, form: Form, service: Served) -> Response:
    """New values for one row: those that were typed over the old ones.

    Where the rules would keep another value than was typed, that is shown first, to be confirmed.
    """

    def act() -> Response:
        record = service.curator.data_sets.record(form.text("data_set"))
        sent = _correction(form, record.schema)
        if not form.ticked("sure") and check_corrected(record.schema, sent.changes):
            return _to(request, "confirm", visitor, service)
        done = service.curator.subjects.correct(
            sent.data_set, sent.subject, row=sent.row, changes=sent.changes, by=visitor.name,
            why=sent.why,
        )  # fmt: skip
        return _done(request, done, visitor, service, about=_about(form))

    return _try_act(request, act, visitor, service, again="rows")


@routes.get("/persons/confirm/{draft}")
def confirm(request: Request, draft: str, visitor: ActingSteward, service: Served) -> Response:
    """What answers would be made from, where that is not what was typed."""

    def show(form: SubmittedForm) -> Response:
        schema = service.curator.data_sets.record(form.text("data_set")).schema
        remarks = check_corrected(schema, _correction(form, schema).changes)
        return page(request, "persons_confirm.html", remarks=remarks)

    return _show_draft(request, draft, visitor, service, show)


@routes.post("/persons/erasure")
def erase(request: Request, visitor: Steward, form: Form, service: Served) -> Response:
    """Removes the person's rows and destroys their key; what was spent stays spent."""

    def act() -> Response:
        sent = _in_data_set(form)
        if not form.ticked("sure"):
            raise ParameterError(NOT_SURE)
        done = service.curator.subjects.erase(
            sent.data_set, sent.subject, by=visitor.name, why=sent.why
        )
        service.curator.drafts.forget(by=visitor.name)
        return _done(request, done, visitor, service)

    return _try_act(request, act, visitor, service)


@routes.get("/persons/done/{draft}")
def done(request: Request, draft: str, visitor: ActingSteward, service: Served) -> Response:
    """What was done; for an external source what its owner is to do, which names the person."""

    def show(form: SubmittedForm) -> Response:
        del form
        return page(request, "persons_done.html")

    return _show_draft(request, draft, visitor, service, show)


@routes.get("/persons/outcome")
def outcomes(request: Request, visitor: Steward, service: Served) -> Response:
    """The form for what came of a statement."""
    return _outcomes(request, visitor, service)


@routes.post("/persons/outcome")
def outcome(request: Request, visitor: Steward, form: Form, service: Served) -> Response:
    """Records what came of a statement for the owner of an external source."""

    def act() -> Response:
        sent = read_body(
            Outcome, act=form.text("act"), done=form.text("done"), words=form.text("words")
        )
        done = service.curator.subjects.record_outcome(
            sent.act, done=sent.done, words=sent.words, by=visitor.name
        )
        return see_other(request, "/persons", said=done.words)

    return try_act(request, act, lambda: _outcomes(request, visitor, service), acting=True)


def _try_act(
    request: Request,
    act: Callable[[], Response],
    visitor: Visitor,
    service: Service,
    *,
    again: str = "",
) -> Response:
    """The act; where it is refused, a form again with all that was typed.

    Without the password it is the same form with that one field: rows are not shown before.
    """

    def show() -> Response:
        if not request.state.visitor.elevated:
            where = "persons.html" if request.url.path == "/persons" else "persons_again.html"
            waiting = service.curator.subjects.waiting(by=visitor.name)
            return page(request, where, waiting=waiting)
        return _to(request, again, visitor, service)

    return try_act(request, act, show, acting=True)


def _to(request: Request, what: str, visitor: Visitor, service: Service) -> Response:
    """To a page that is made from what was typed; to the form, where none is named."""
    name = keep_typed(request, visitor, service)
    return see_other(request, f"/persons/{what}/{name}" if what else f"/persons?{DRAFT}={name}")


def _show_draft(
    request: Request,
    draft: str,
    visitor: Visitor,
    service: Service,
    show: Callable[[SubmittedForm], Response],
) -> Response:
    """A page that is made from a draft; the form, where that is refused or there is none."""

    def otherwise() -> Response:
        return _page(request, visitor, service)

    if not take_draft(request, draft, visitor, service):
        return otherwise()
    return try_act(request, lambda: show(SubmittedForm(request.state.form)), otherwise)


def _page(request: Request, visitor: Visitor, service: Service) -> Response:
    waiting = service.curator.subjects.waiting(by=visitor.name)
    return page(request, "persons.html", waiting=waiting)


def _outcomes(request: Request, visitor: Visitor, service: Service) -> Response:
    waiting = service.curator.subjects.waiting(by=visitor.name)
    return page(request, "persons_outcome.html", waiting=waiting)


def _in_data_set(form: SubmittedForm) -> InDataSet:
    return read_body(InDataSet, **_about(form))


def _about(form: SubmittedForm) -> dict[str, str]:
    return {name: form.text(name) for name in ("subject", "why", "data_set")}


def _rows(request: Request, form: SubmittedForm, visitor: Visitor, service: Service) -> Response:
    sent = _in_data_set(form)
    person_rows = service.curator.subjects.rows(
        sent.data_set, sent.subject, by=visitor.name, why=sent.why
    )
    record = service.curator.data_sets.record(sent.data_set)
    rows = [{name: as_written(value) for name, value in row.items()} for row in person_rows]
    return page(request, "persons_rows.html", rows=rows, record=record)


def _done(
    request: Request,
    found: Done,
    visitor: Visitor,
    service: Service,
    *,
    about: Mapping[str, str] | None = None,
) -> Response:
    """Not by an address: a statement has the person's id in it."""
    fields = {"words": found.words, "statement": found.statement or "", "act": found.act or ""}
    request.state.form = form_of([*fields.items(), *(about or {}).items()])
    return _to(request, "done", visitor, service)


def _correction(form: SubmittedForm, schema: Schema) -> Correction:
    changes = _changes(form, schema)
    return read_body(Correction, **_about(form), row=form.text("row"), changes=changes)


def _changes(form: SubmittedForm, schema: Schema) -> dict[str, str | None]:
    """The values that were typed over those that the row had, as in a CSV file."""
    names = [column.name for column in schema.columns if f"value-{column.name}" in form.fields]
    typed = {name: form.text(f"value-{name}") for name in names}
    was = {name: form.text(f"was-{name}") for name in names}
    changes = {name: typed[name] or None for name in names if _differ(typed[name], was[name])}
    if not changes:
        raise ParameterError(NOT_CHANGED)
    return changes


def _differ(one: str, other: str) -> bool:
    """A field has no line breaks, which is not a change."""
    return one.split() != other.split()


def as_written(value: object) -> str:
    """A value as it stands in a CSV file; nothing where it is missing."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
