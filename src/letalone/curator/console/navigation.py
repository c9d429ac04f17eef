"""The links of the console: each for some roles; `None` are those that anybody has."""

from dataclasses import dataclass

from letalone.curator.console.visitors import Visitor
from letalone.curator.records import Role

EVERYBODY = tuple(Role)
OVERSEERS = (Role.OWNER, Role.STEWARD, Role.AUDITOR)


@dataclass(frozen=True, slots=True)
class Link:
    """A place in the console, and who sees the link."""

    at: str
    words: str
    roles: tuple[Role, ...] | None = EVERYBODY
    elsewhere: bool = False  # only where people sign in at a provider
    also: tuple[str, ...] = ()  # addresses of other pages that belong to it


LINKS = (
    Link("/", "Home"),
    Link("/data-sets", "Data sets", also=("/register",)),
    Link("/ask", "Ask", (Role.ANALYST,)),
    Link("/history", "Answers", (Role.ANALYST,)),
    Link("/requests", "Requests", also=("/grants", "/refusals")),
    Link("/budgets", "Budgets", OVERSEERS, also=("/proposals",)),
    Link("/persons", "People in the data", (Role.STEWARD, Role.OWNER)),
    Link("/people", "Accounts", OVERSEERS),
    Link("/ledger", "Ledger", (Role.OWNER, Role.AUDITOR)),
    Link("/identities", "Sign-in", (Role.OWNER,), elsewhere=True),
    Link("/processing", "Record", OVERSEERS),
    Link("/open", "Public", None),
)


def links_for(
    visitor: Visitor | None, path: str, *, elsewhere: bool = False
) -> list[dict[str, object]]:
    """The links that somebody sees, and which of them is the page itself."""
    if visitor is not None and visitor.person.must_change:
        return []
    return [
        {
            "at": one.at,
            "words": one.words,
            "here": any(_is_here(at, path) for at in (one.at, *one.also)),
        }
        for one in LINKS
        if (one.roles is None or (visitor is not None and visitor.has(*one.roles)))
        and (elsewhere or not one.elsewhere)
    ]


def _is_here(at: str, path: str) -> bool:
    return path == at or (at != "/" and path.startswith(f"{at}/"))
