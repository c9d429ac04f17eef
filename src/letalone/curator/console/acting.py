"""Pages that show what takes the password again, also to look at it: they ask for it first."""

from typing import Annotated
from urllib.parse import quote

from fastapi import Depends
from starlette.requests import Request

from letalone.curator.console.pages import here
from letalone.curator.console.visitors import Owner, SignInNeeded, Steward, Visitor


def check_given_again(request: Request, visitor: Visitor, *, at: str = "") -> Visitor:
    """The visitor, if the password was given lately; else to where it is given, and back."""
    if not visitor.elevated:
        raise SignInNeeded(f"/again?next={quote(at or here(request), safe='')}")
    return visitor


def _steward(request: Request, visitor: Steward) -> Visitor:
    return check_given_again(request, visitor)


def _owner(request: Request, visitor: Owner) -> Visitor:
    return check_given_again(request, visitor)


ActingSteward = Annotated[Visitor, Depends(_steward)]
ActingOwner = Annotated[Visitor, Depends(_owner)]
