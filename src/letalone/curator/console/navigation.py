"""The links of the console: each for some roles; `None` are those that anybody has."""

from dataclasses import dataclass

from letalone.curator.console.visitors import Visitor
from letalone.curator.records import Role

EVERYBODY = tuple(Role)
OVERSEERS = (Role.OWNER, Role.STEWARD, Role.AUDITOR)


@dataclass(frozen=True, slots=True)
class NavigationLink:
    """A place in the console, and who sees the link."""

    at: str
    words: str
    roles: tuple[Role, ...] | None = EVERYBODY
    elsewhere: bool = False  # only where people sign in at a provider
    also: tuple[str, ...] = ()  # addresses of other pages that belong to it


LINKS = (
    NavigationLink("/", "Home"),
    NavigationLink("/data-sets", "Data sets", also=("/register",)),
    NavigationLink("/ask", "Ask", (Role.ANALYST,)),
    NavigationLink("/history", "Answers", (Role.ANALYST,)),
    NavigationLink("/requests", "Requests", also=("/grants", "/refusals")),
    NavigationLink("/budgets", "Budgets", OVERSEERS, also=("/proposals",)),
    NavigationLink("/persons", "People in the data", (Role.STEWARD, Role.OWNER)),
    NavigationLink("/people", "Accounts", OVERSEERS),
    NavigationLink("/ledger", "Ledger", (Role.OWNER, Role.AUDITOR)),
    NavigationLink("/identities", "Sign-in", (Role.OWNER,), elsewhere=True),
    NavigationLink("/processing", "Record", OVERSEERS),
    NavigationLink("/open", "Public", None),
)


def links_for(
    visitor: Visitor | None, path: str, *, elsewhere: bool = False
) -> list[dict[str, object]]:
    """The links that somebody sees, and which of them is the page itself."""
    if visitor is not None and visitor.person.must_change:
        return []
    return [
        {
            "at": link.at,
            "words": link.words,
            "here": any(_is_here(at, path) for at in (link.at, *link.also)),
        }
        for link in LINKS
        if (link.roles is None or (visitor is not None and visitor.has(*link.roles)))
        and (elsewhere or not link.elsewhere)
    ]


def _is_here(at: str, path: str) -> bool:
    return path == at or (at != "/" and path.startswith(f"{at}/"))
