"""Acts for persons in the data: held or not, in which answers, rows, correction, erasure (G7).

The id of a person is never in an address: addresses end up in logs. A form that was sent is kept as
a draft, whose name is; each page that is made from one is a look of its own, with its entry.

  Tested:   tests/curator/console/test_steward_persons.py
"""

from functools import partial
from typing import Any

from fastapi import Request, Response

from letalone.curator.asking.drafted import DRAFT, keep_typed, take_draft, take_up
from letalone.curator.console.forms import ActingSteward, Form, SubmittedForm, act_or_show, form_of
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.http.problems import HttpProblemError
from letalone.curator.people.visitors import Steward, Visitor
from letalone.curator.subjects.service import STAYS
from letalone.curator.subjects.unit_rows import check_corrected
from letalone.errors import ParameterError
from letalone.plans.schema import Schema
from letalone.wire.bodies import AboutSubject, Correction, InDataSet, Outcome
from letalone.wire.records import SubjectActResult

ABOUT = ("subject", "why", "data_set")  # fields of each form about a person
NOT_CHANGED = "Nothing was changed: no value differs from the one that is there."
NOT_SURE = (
    "Nothing was erased: tick the box that says that you know whose request it is. Rows that are"
    " erased cannot be brought back."
)
routes = console_routes()


def _page(request: Request, visitor: Visitor, *, template: str = "persons.html") -> Response:
    return page(request, template, waiting=visitor.curator.subjects.waiting(by=visitor.name))


def _to(request: Request, what: str, visitor: Visitor) -> Response:
    """To a page that is made from what was typed; to the form, where none is named."""
    name = keep_typed(request, visitor)
    return see_other(request, f"/persons/{what}/{name}" if what else f"/persons?{DRAFT}={name}")


def _form_again(request: Request, visitor: Visitor, *, at: str = "") -> Response:
    """A form again with all that was typed.

    Without the password it is the same form with that one field: rows are not shown before.
    """
    if request.state.visitor.elevated:
        return _to(request, at, visitor)
    template = "persons.html" if request.url.path == "/persons" else "persons_again.html"
    return _page(request, visitor, template=template)


def _draft(request: Request, draft: str, visitor: Visitor) -> SubmittedForm:
    """What a page is made from; Refused where it is not kept any more."""
    if not take_draft(request, draft, visitor):
        raise HttpProblemError(request.state.problem)
    return SubmittedForm(request.state.form)


@routes.get("/persons")
def persons(request: Request, visitor: Steward) -> Response:
    """The form, and what owners of external sources have not done yet."""
    take_up(request, visitor)
    return _page(request, visitor)


@routes.post("/persons")
@act_or_show(_form_again, acting=True)
def look(request: Request, visitor: Steward, form: Form) -> Response:
    """Which data sets hold a person of this id."""
    form.read(AboutSubject, "subject", "why")
    return _to(request, "found", visitor)


@routes.get("/persons/found/{draft}")
@act_or_show(_page)
def show_holdings(request: Request, draft: str, visitor: ActingSteward) -> Response:
    """Which data sets hold the person of a draft."""
    form = _draft(request, draft, visitor)
    subject, why = form.text("subject"), form.text("why")
    holdings = visitor.curator.subjects.holdings(subject, by=visitor.name, why=why)
    return page(request, "persons_found.html", holdings=holdings, stays=STAYS)


@routes.post("/persons/answers")
@routes.post("/persons/rows")
@act_or_show(_form_again, acting=True)
def look_in(request: Request, visitor: Steward, form: Form) -> Response:
    """The person's rows in a data set, or the answers that they were in."""
    _in_data_set(form)
    return _to(request, request.url.path.rpartition("/")[2], visitor)


@routes.get("/persons/answers/{draft}")
@act_or_show(_page)
def answers(request: Request, draft: str, visitor: ActingSteward) -> Response:
    """Which answers were given while the person's rows were in."""
    form = _draft(request, draft, visitor)
    releases = visitor.curator.subjects.releases(**_in_data_set(form), by=visitor.name)
    return page(request, "persons_answers.html", found=releases, stays=STAYS)


@routes.get("/persons/rows/{draft}")
@act_or_show(_page)
def rows(request: Request, draft: str, visitor: ActingSteward) -> Response:
    """The person's rows, each with the form that corrects it."""
    form = _draft(request, draft, visitor)
    person_rows = visitor.curator.subjects.rows(**_in_data_set(form), by=visitor.name)
    record = visitor.curator.data_sets.record(form.text("data_set"))
    rows = [{name: as_written(value) for name, value in row.items()} for row in person_rows]
    return page(request, "persons_rows.html", rows=rows, record=record)


@routes.post("/persons/correction")
@act_or_show(partial(_form_again, at="rows"), acting=True)
def correct(request: Request, visitor: Steward, form: Form) -> Response:
    """New values for one row: those that were typed over the old ones.

    Where the rules would keep another value than was typed, that is shown first, to be confirmed.
    """
    record = visitor.curator.data_sets.record(form.text("data_set"))
    sent = _correction(form, record.schema)
    if not form.ticked("sure") and check_corrected(record.schema, sent.changes):
        return _to(request, "confirm", visitor)
    done = visitor.curator.subjects.correct(**sent.arguments(), by=visitor.name)
    return _done(request, done, visitor, form=form)


@routes.get("/persons/confirm/{draft}")
@act_or_show(_page)
def confirm(request: Request, draft: str, visitor: ActingSteward) -> Response:
    """What answers would be made from, where that is not what was typed."""
    form = _draft(request, draft, visitor)
    schema = visitor.curator.data_sets.record(form.text("data_set")).schema
    remarks = check_corrected(schema, _correction(form, schema).changes)
    return page(request, "persons_confirm.html", remarks=remarks)


@routes.post("/persons/erasure")
@act_or_show(_form_again, acting=True)
def erase(request: Request, visitor: Steward, form: Form) -> Response:
    """Removes the person's rows and destroys their key; what was spent stays spent."""
    whose = _in_data_set(form)
    if not form.ticked("sure"):
        raise ParameterError(NOT_SURE)
    done = visitor.curator.subjects.erase(**whose, by=visitor.name)
    visitor.curator.drafts.forget(by=visitor.name)
    return _done(request, done, visitor)


@routes.get("/persons/done/{draft}")
@act_or_show(_page)
def done(request: Request, draft: str, visitor: ActingSteward) -> Response:
    """What was done; for an external source what its owner is to do, which names the person."""
    _draft(request, draft, visitor)
    return page(request, "persons_done.html")


@routes.get("/persons/outcome")
def outcomes(request: Request, visitor: Steward) -> Response:
    """The form for what came of a statement."""
    return _page(request, visitor, template="persons_outcome.html")


@routes.post("/persons/outcome")
@act_or_show(outcomes, acting=True)
def outcome(request: Request, visitor: Steward, form: Form) -> Response:
    """Records what came of a statement for the owner of an external source."""
    sent = form.read(Outcome, "act", "done", "words")
    done = visitor.curator.subjects.record_outcome(**sent.arguments(), by=visitor.name)
    return see_other(request, "/persons", said=done.words)


def _in_data_set(form: SubmittedForm) -> dict[str, Any]:
    """Which person in which data set, and why: what each look and act takes."""
    return form.read(InDataSet, *ABOUT).arguments()


def _done(
    request: Request, done: SubjectActResult, visitor: Visitor, *, form: SubmittedForm | None = None
) -> Response:
    """Not by an address: a statement has the person's id in it."""
    fields = {"words": done.words, "statement": done.statement or "", "act": done.act or ""}
    person = [(name, form.text(name)) for name in ABOUT] if form else []
    request.state.form = form_of([*fields.items(), *person])
    return _to(request, "done", visitor)


def _correction(form: SubmittedForm, schema: Schema) -> Correction:
    """The values that were typed over those that the row had, as in a CSV file."""
    names = [column.name for column in schema.columns if f"value-{column.name}" in form.fields]
    typed = {name: form.text(f"value-{name}") for name in names}
    was = {name: form.text(f"was-{name}") for name in names}
    # A field has no line breaks, which is not a change.
    changed = [name for name in names if typed[name].split() != was[name].split()]
    changes = {name: typed[name] or None for name in changed}
    if not changes:
        raise ParameterError(NOT_CHANGED)
    return form.read(Correction, *ABOUT, "row", changes=changes)


def as_written(value: object) -> str:
    """A value as it stands in a CSV file; nothing where it is missing."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
