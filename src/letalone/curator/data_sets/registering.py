"""Registers in two steps, without script: where the rows are, then what is declared of them.

Nothing is suggested but names and types from metadata; types that the values look like where the
owner asks for them. What the rules would do to the values is counted before anything is kept.

  Tested:   tests/curator/console/test_steward_registration.py
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from letalone.curator.asking.drafted import DRAFT, keep_typed, take_draft
from letalone.curator.console import forms
from letalone.curator.console.pages import REFUSED, console_routes, page, problem_of, see_other
from letalone.curator.data_sets import declaring, uploads
from letalone.curator.http.problems import HttpProblemError, problem_error
from letalone.curator.people.visitors import Owner, Visitor
from letalone.curator.storage.service_records import Registration
from letalone.errors import LetaloneError
from letalone.sources.resolve import own_name
from letalone.wire.records import ImportEffects

AS_READ = "text"  # the type of a column of a CSV file until somebody says another one
NO_FILE = "No file was chosen. Choose a CSV or a Parquet file."
NO_SOURCE = "Say where the rows are: send a file, or name one."
routes = console_routes()


@dataclass(frozen=True, slots=True)
class RegistrationDraft:
    """Where the rows are: a file that was sent, one of the import folder, a table on a server."""

    upload: uploads.Upload | None
    file: str | None
    address: str | None
    external: bool

    @property
    def place(self) -> Path | None:
        return self.upload.place if self.upload else None

    @property
    def called(self) -> str:
        return self.upload.called if self.upload else self.file or self.address or ""

    @property
    def counted(self) -> bool:
        """Whether it is copied, so that what the rules do can be counted."""
        return self.address is None and not self.external


@routes.get("/register")
def first_step(request: Request, visitor: forms.ActingOwner) -> Response:
    """Where the rows are."""
    settings = visitor.curator.settings
    hosts, schemas = settings.source_hosts, settings.spark_schemas
    return page(request, "register.html", hosts=hosts, schemas=schemas)


@routes.post("/register")
@forms.act_or_show(first_step, acting=True)
def name_source(request: Request, visitor: Owner, form: forms.Form) -> Response:
    """A file of the import folder, or a table on a server."""
    file, address = form.maybe("file"), form.maybe("address")
    source = RegistrationDraft(None, file, address, external=form.ticked("external"))
    visitor.curator.beforehand.columns(by=visitor.name, file=file, address=address)
    return see_other(request, f"/register/declare?{_query(source)}")


@routes.post("/uploads")
async def send(request: Request, visitor: Owner, renew: str = "") -> Response:
    """A file from the browser; nothing of it is read before the password was given again."""
    back = f"/data-sets/{quote(renew, safe='')}/renewal" if renew else "/register"
    forms.check_given_again(request, visitor, at=back)
    async with request.form(max_files=1, max_fields=10) as sent:
        try:
            kept = await run_in_threadpool(_keep_upload, visitor, sent.get("rows"))
        except (LetaloneError, HttpProblemError) as error:
            # Not shown here: the address has the form's secret.
            return see_other(request, back, said=problem_of(error).detail, what=REFUSED)
    return see_other(request, f"{back if renew else '/register/declare'}?upload={kept.id}")


@routes.get("/register/declare")
def second_step(
    request: Request, visitor: forms.ActingOwner, look: str = "", draft: str = "", checked: str = ""
) -> Response:
    """The form for what is declared; of a draft also what its rules would touch."""
    has_draft = bool(draft) and take_draft(request, draft, visitor)

    def check() -> Response:
        source, form = _source(request, visitor), forms.SubmittedForm(request.state.form)
        counted = visitor.curator.beforehand.affected(
            Registration.of_body(declaring.read_declaration(form, file="checked")), by=visitor.name,
            file=source.file, upload=source.place,
        )  # fmt: skip
        return _second(request, visitor, counted=counted)

    def show() -> Response:
        return _second(request, visitor, look=bool(look))

    return forms.try_act(request, check, show) if has_draft and checked else show()


def _second_again(request: Request, visitor: Visitor) -> Response:
    show = _to_second if request.state.visitor.elevated else _second
    return show(request, visitor)


@routes.post("/register/declare")
@forms.act_or_show(_second_again, acting=True)
def declare(request: Request, visitor: Owner, form: forms.Form) -> Response:
    """To what the rules would touch, or to suggested types; or registers."""
    source = _source(request, visitor)
    if form.text("act") == "register":
        return _register(request, source, form, visitor)
    if form.text("act") == "look":
        return _to_second(request, visitor, look="yes")
    return _to_second(request, visitor, checked="yes")


def _to_second(request: Request, visitor: Visitor, **flags: str) -> Response:
    """To the form with all that was typed; types that nobody chose can be suggested."""
    source = _source(request, visitor)
    if "look" in flags:
        sent = request.state.form.multi_items()
        chosen = [(n, v) for n, v in sent if not (n.startswith("type-") and v == AS_READ)]
        request.state.form = FormData(chosen)
    query = {DRAFT: keep_typed(request, visitor), **flags}
    return see_other(request, f"/register/declare?{_query(source)}&{urlencode(query)}")


def _keep_upload(visitor: Visitor, file: object) -> uploads.Upload:
    """A file that has columns; one that cannot be read is not kept."""
    if not isinstance(file, UploadFile) or not file.filename:
        raise problem_error("not-valid", NO_FILE)
    kept = uploads.keep(visitor, file.file, file.filename)
    try:
        visitor.curator.beforehand.columns(by=visitor.name, upload=kept.place)
    except BaseException:
        uploads.drop(kept)
        raise
    return kept


def _register(
    request: Request, source: RegistrationDraft, form: forms.SubmittedForm, visitor: Visitor
) -> Response:
    body = declaring.read_declaration(
        form, file=source.file, address=source.address, external=source.external
    )
    register, place = visitor.curator.data_sets.register, source.place
    record = register(Registration.of_body(body), by=visitor.name, upload=place, **body.source())
    if source.upload:
        uploads.drop(source.upload)
    notice = f"{record.name} is registered. Analysts can request access to it now."
    at = f"/data-sets/{quote(record.name)}" + ("/affected" if source.counted else "")
    return see_other(request, at, said=notice)


def _second(
    request: Request, visitor: Visitor, *, look: bool = False, counted: ImportEffects | None = None
) -> Response:
    source = _source(request, visitor)
    columns = visitor.curator.beforehand.columns(
        by=visitor.name, file=source.file, upload=source.place, address=source.address, look=look
    )
    context: dict[str, Any] = {
        "source": source, "query": _query(source), "columns": declaring.list_columns(columns),
        "types": declaring.TYPES, "unsaid": declaring.UNSAID, "places": declaring.PURPOSES,
        "name": _name(source), "counted": counted,
        "submitted": hasattr(request.state, "form"), "looked": look,
        "can_look": source.called.lower().endswith((".csv", ".tsv", ".txt")),
    }  # fmt: skip
    return page(request, "declare.html", **context)


def _source(request: Request, visitor: Visitor) -> RegistrationDraft:
    """What the address of the page says; an upload must be this person's."""
    query = request.query_params
    upload, file, address = (query.get(name) for name in ("upload", "file", "address"))
    if not (upload or file or address):
        raise problem_error("not-valid", NO_SOURCE)
    uploaded = uploads.find(visitor, upload) if upload else None
    return RegistrationDraft(uploaded, file, address, external="external" in query)


def _query(source: RegistrationDraft) -> str:
    upload = source.upload.id if source.upload else None
    fields = {"upload": upload, "file": source.file, "address": source.address}
    external = {"external": "yes"} if source.external else {}
    return urlencode({name: value for name, value in fields.items() if value} | external)


def _name(source: RegistrationDraft) -> str:
    """A name to begin with: that of the file or the table."""
    if source.address is None:
        return Path(source.called).stem
    return own_name(source.address)
