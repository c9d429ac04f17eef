"""Shows a form that was sent at an address that can be reloaded and gone back to.

What was typed may name a person, so it is kept as a draft and not put into the address. Only a
question that has passed the checks, which name nobody, is also written as one, to be shared.

  Tested:   tests/curator/console/test_drafted.py
"""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response

from letalone.curator.asking.other_way import asked_fields
from letalone.curator.console.forms import SubmittedForm, form_of
from letalone.curator.console.pages import see_other
from letalone.curator.http.problems import KINDS, ProblemDocument
from letalone.curator.people.visitors import Visitor

DRAFT, PRICED = "draft", "priced"
KIND, DETAIL, FIELD = "problem:kind", "problem:detail", "problem:field"
OF_ONE_SENDING = ("csrf", "agreed", "to", "password_again", "seal", "said", "refused", "confirm")
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
    request.state.form = form_of(_typed_fields(request.query_params.multi_items()))
    return True


def keep_typed(request: Request, visitor: Visitor) -> str:
    """Keeps what was typed, and what was refused of it; the name of the draft."""
    fields = _typed_fields(request.state.form.multi_items())
    problem: ProblemDocument | None = getattr(request.state, "problem", None)
    if problem is not None:
        fields += [(KIND, problem.kind), (DETAIL, problem.detail)]
        fields += [(FIELD, str(error["field"])) for error in problem.more.get("errors", ())]
    return visitor.curator.drafts.keep(fields, by=visitor.name)


def take_draft(request: Request, name: str, visitor: Visitor) -> bool:
    """Fills a form from a draft of this person; False, and said so, where there is none."""
    draft = visitor.curator.drafts.kept(name, by=visitor.name)
    request.state.form = form = form_of(draft or [])
    kind = str(form.get(KIND))
    if draft is None:
        request.state.problem = ProblemDocument("not-found", GONE)
    elif kind in KINDS:
        errors = [{"field": name} for name in form.getlist(FIELD)]
        detail = str(form.get(DETAIL))
        request.state.problem = ProblemDocument(kind, detail, more={"errors": errors})
    return draft is not None


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


def _typed_fields(sent: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    """What was typed, without what belongs to one sending of it."""
    return [(name, str(value)) for name, value in sent if name not in UNSENT]
