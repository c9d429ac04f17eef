"""Reads forms as bodies of the API; an act that is refused shows its page again.

Tested:   tests/curator/console/test_forms.py
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import signature
from re import fullmatch
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

from fastapi import Depends, Request, Response
from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData

from letalone.curator.console.pages import here, problem_of
from letalone.curator.http.problems import (
    WHY,
    HttpProblemError,
    ProblemDocument,
    of_validation,
    problem_error,
)
from letalone.curator.people.access import is_release_request
from letalone.curator.people.form_secrets import Secrets
from letalone.curator.people.visitors import Owner, SignInNeeded, Steward, Visitor, go_on
from letalone.errors import LetaloneError

AGAIN = "password_again"
GIVE_AGAIN = "Confirm your password to do this. Nothing was done yet; all you typed is kept."
NUMBER = "Write a number such as 0.5, or a fraction such as 1/3."
# Fields of the API's bodies, as the forms have them: the name, and what the page calls it.
Called = Mapping[str, tuple[str, str]]
CALLED: Called = {
    "epsilon": ("epsilon", "ε"),
    "delta": ("delta", "δ"),
    "budget.epsilon": ("epsilon", "Budget, ε"),
    "budget.delta": ("delta", "δ"),
}
Shape = TypeVar("Shape", bound=BaseModel)
Show = Callable[[], Response]
Page = Callable[..., Response]


@dataclass(frozen=True, slots=True)
class SubmittedForm:
    """What was typed into a form; a NUL sign, which nobody types, is dropped."""

    fields: FormData

    def text(self, name: str) -> str:
        """A field, without blanks around it; "" where it is empty or missing."""
        return _plain(self.fields.get(name, "")).strip()

    def secret(self, name: str) -> str:
        """A password, as it was typed."""
        return str(self.fields.get(name, ""))

    def maybe(self, name: str) -> str | None:
        """A field; None where it is empty."""
        return self.text(name) or None

    def number(self, name: str) -> str:
        """A number; with a point, where a comma was typed for it."""
        return number_typed(self.text(name))

    def budget(self, epsilon: str = "epsilon", delta: str = "delta") -> dict[str, str]:
        """A budget as the API is sent it; without δ where none was typed."""
        return {"epsilon": self.number(epsilon), "delta": self.number(delta) or "0"}

    def start_of_day(self, name: str) -> str | None:
        """A day as the API is sent a time; None where none was typed."""
        day = self.maybe(name)
        return None if day is None else f"{day}T00:00:00Z"

    def all(self, name: str) -> list[str]:
        """All values of a field, such as boxes that were ticked."""
        return [_plain(field) for field in self.fields.getlist(name)]

    def read(self, shape: type[Shape], *names: str, **fields: Any) -> Shape:
        """A body of the API: of the fields that are called as there, and of others."""
        return read_body(shape, **{name: self.text(name) for name in names}, **fields)

    def ticked(self, name: str) -> bool:
        return name in self.fields


def form_of(fields: Iterable[tuple[str, str]]) -> FormData:
    """Fields as a browser would have sent them."""
    return FormData([(name, value) for name, value in fields])


def number_typed(text: str) -> str:
    """A number with a point: 0,1 is 0.1. One with a comma that may part thousands is refused."""
    if fullmatch(r"-?[1-9][0-9]{0,2}(,[0-9]{3})+", text):
        plain, point = text.replace(",", ""), text.replace(",", ".", 1)
        either = f"Write {plain} or {point}" if text.count(",") == 1 else f"Write {plain}"
        raise problem_error("not-valid", f"{text} can be read in two ways. {either}.")
    return text.replace(",", ".") if fullmatch(r"-?[0-9]{1,40},[0-9]{1,40}", text) else text


def _plain(field: object) -> str:
    return str(field).replace("\0", "")


async def _form(request: Request) -> SubmittedForm:
    return SubmittedForm(request.state.form)


Form = Annotated[SubmittedForm, Depends(_form)]


def read_body(shape: type[Shape], called: Called = CALLED, /, **fields: Any) -> Shape:
    """Fields as a body of the API, with its checks; what is wrong is called as the form does."""
    try:
        return shape.model_validate(fields)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        problem = of_validation([{**wrong, "loc": ("form", *wrong["loc"])} for wrong in errors])
        raise HttpProblemError(_for_people(problem, called)) from None


def _for_people(problem: ProblemDocument, called: Called) -> ProblemDocument:
    """With the fields of the form, and without the advice that is for bodies in JSON."""
    sentences, listed = list[str](), list[dict[str, str]]()
    for error in problem.more["errors"]:
        field, words = called.get(error["field"], (error["field"], error["field"]))
        sentences.append(f"{words}: {NUMBER if error['why'] == WHY['number'] else error['why']}")
        listed.append({"field": field})
    return replace(problem, detail=" ".join(sentences), more={"errors": listed})


def try_act(request: Request, act: Show, show: Show, *, acting: bool = False) -> Response:
    """The act; where it is refused, the page again with the problem and all that was typed.

    `acting`: an act of stewards and owners, for which the password was given lately.
    """
    try:
        if acting:
            _check_elevated(request)
        return act()
    except (LetaloneError, HttpProblemError) as error:
        request.state.problem = problem_of(error)
        if is_release_request(request) and isinstance(error, LetaloneError):
            request.app.state.service.throttle.refusal(request.state.person)
    return show()


def act_or_show(show: Page, *, acting: bool = False) -> Callable[[Page], Page]:
    """Makes a route of an act: where it is refused, it shows a page as `try_act` does.

    The page gets those arguments of the route that it has parameters for.
    """
    names = signature(show).parameters

    def decorate(act: Page) -> Page:
        @wraps(act)
        def route(request: Request, **values: Any) -> Response:
            known = {name: value for name, value in values.items() if name in names}
            again = partial(show, request=request, **known)
            return try_act(request, partial(act, request=request, **values), again, acting=acting)

        return route

    return decorate


def give_password_again(request: Request, password: str) -> None:
    """Lets the visit act as a steward or an owner for a while; its secret is a new one."""
    visitor: Visitor = request.state.visitor
    visits, before = visitor.curator.visits, visitor.secrets
    secrets = Secrets(visits.elevate(str(before.visit), password), before.forms)
    go_on(request, visitor.curator, secrets)


def check_given_again(request: Request, visitor: Visitor, *, at: str = "") -> Visitor:
    """The visitor, if the password was given lately; else to where it is given, and back."""
    if not visitor.elevated:
        raise SignInNeeded(f"/again?next={quote(at or here(request), safe='')}")
    return visitor


def _steward(request: Request, visitor: Steward) -> Visitor:
    return check_given_again(request, visitor)


def _owner(request: Request, visitor: Owner) -> Visitor:
    return check_given_again(request, visitor)


# For pages that show what takes the password again, also to look at it: they ask for it first.
ActingSteward = Annotated[Visitor, Depends(_steward)]
ActingOwner = Annotated[Visitor, Depends(_owner)]


def _check_elevated(request: Request) -> None:
    if request.state.visitor.elevated:
        return
    password = str(getattr(request.state, "form", FormData()).get(AGAIN, ""))
    if not password:
        raise problem_error("elevation-needed", GIVE_AGAIN)
    give_password_again(request, password)
