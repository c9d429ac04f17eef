"""Shows a form that was sent at an address that can be reloaded and gone back to.

What was typed may name a person, so it is kept as a draft and not put into the address. Only a
question that has passed the checks, which name nobody, is also written as one, to be shared.

  Tested:   tests/curator/console/test_drafted.py
"""

from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.datastructures import FormData

from letalone.curator.console.forms import SubmittedForm, form_of
from letalone.curator.console.other_way import asked_fields
from letalone.curator.console.pages import see_other
from letalone.curator.console.visitors import Visitor
from letalone.curator.http.problems import KINDS, ProblemDocument

DRAFT, PRICED = "draft", "priced"
KIND, DETAIL, FIELD = "problem:kind", "problem:detail", "problem:field"
OF_ONE_SENDING = ("csrf", "agreed", "to", "password_again", "seal", "said", "refused")
UNSENT = (*OF_ONE_SENDING, DRAFT, PRICED, KIND, DETAIL)
MAX_ADDRESS_LENGTH = 1500  # letters of an address
COMMENTS = ("--", "/*")
GONE = "What was typed here is not kept any more, or it is somebody else's. Type it again."


def to_form(request: Request, visitor: Visitor, *, priced: bool = False) -> Response:
    """To the form of a question, with its price or with what was refused."""
    name = keep_typed(request, visitor)
    return see_other(request, f"/ask?{DRAFT}={name}" + (f"&{PRICED}=1#price" if priced else ""))


def take_up(request: Request, visitor: Visitor) -> bool:
    """Fills a form from the draft or the address; False where a draft is not there."""
    name = request.query_params.get(DRAFT)
    if name is not None:
        return take_draft(request, name, visitor)
    request.state.form = form_of(request.query_params.multi_items())
    request.state.form = form_of(typed_fields(request))
    return True


def keep_typed(request: Request, visitor: Visitor) -> str:
    """Keeps what was typed, and what was refused of it; the name of the draft."""
    fields = typed_fields(request)
    problem: ProblemDocument | None = getattr(request.state, "problem", None)
    if problem is not None:
        fields += [(KIND, problem.kind), (DETAIL, problem.detail)]
        fields += [(FIELD, str(error["field"])) for error in problem.more.get("errors", ())]
    return visitor.curator.drafts.keep(fields, by=visitor.name)


def take_draft(request: Request, name: str, visitor: Visitor) -> bool:
    """Fills a form from a draft of this person; False, and said so, where there is none."""
    draft = visitor.curator.drafts.kept(name, by=visitor.name)
    request.state.form = form_of(draft or [])
    kind = str(request.state.form.get(KIND))
    if draft is None:
        request.state.problem = ProblemDocument("not-found", GONE)
    elif kind in KINDS:
        request.state.problem = _problem(request.state.form, kind)
    return draft is not None


def _problem(form: FormData, kind: str) -> ProblemDocument:
    errors = [{"field": name} for name in form.getlist(FIELD)]
    return ProblemDocument(kind, str(form.get(DETAIL)), more={"errors": errors})


def address_of(request: Request) -> str:
    """The address that asks for the price of the same; "" where it would be too long.

    It has what was asked and nothing else: no check has seen the SQL that goes along unseen, a
    comment, or a second value of a field.
    """
    fields = asked_fields(SubmittedForm(request.state.form))
    if any(mark in value for name, value in fields for mark in COMMENTS if name == "sql"):
        return ""
    address = f"/ask?{urlencode([*fields, (PRICED, '1')])}"
    return address if len(address) <= MAX_ADDRESS_LENGTH else ""


def typed_fields(request: Request) -> list[tuple[str, str]]:
    """What was typed, without what belongs to one sending of it."""
    sent = request.state.form.multi_items()
    return [(name, str(value)) for name, value in sent if name not in UNSENT]
