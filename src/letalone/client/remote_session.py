"""A data set of a service, opened for a purpose: asked in the same words as a table of one's own.

The budget that is shown is the own grant: what one may still ask. The data set's cap, which
is the guarantee, may be used up by others before.

  Tested:   tests/client/test_sessions.py
"""

from typing import NoReturn

from letalone.answers import views
from letalone.client.records import Grant, read_all
from letalone.client.remote_table import RemoteTable
from letalone.errors import LetaloneError, NotAllowed, UnsupportedQuery
from letalone.ledger import Ledger
from letalone.privacy import Budget
from letalone.privacy.filters import brief
from letalone.session.session import Session


class RemoteSession(Session):
    """A data set elsewhere and what may be asked of it, made by `client.open`."""

    __slots__ = ("_table",)

    _table: RemoteTable

    def __init__(self, table: RemoteTable) -> None:
        self._table = table

    @property
    def purpose(self) -> str:
        """What the answers are for."""
        return self._table.purpose

    @property
    def grant(self) -> Grant:
        """The own grant as it stands now."""
        wanted = (self.name, self.purpose)
        for grant in read_all(Grant, self._table.link.get("/budgets").get("grants")):
            if (grant.data_set, grant.purpose) == wanted:
                return grant
        raise no_grant(*wanted)

    @property
    def budget(self) -> Budget:
        """What the own answers together may cost."""
        return self.grant.budget

    @property
    def spent(self) -> Budget:
        """About what was used of the own grant: book-keeping."""
        return self.grant.spent

    @property
    def remaining(self) -> Budget:
        """About what is left of the own grant: book-keeping."""
        return self.grant.remaining

    @property
    def ledger(self) -> Ledger:
        """Refused: the ledger is with the service."""
        raise NotAllowed(
            "The ledger is kept by the service; auditors read it there. client.history() has the"
            " own answers, and client.receipt(…) what it signed."
        )

    def on_behalf_of(self, analyst: str, *, purpose: str, time_step_seconds: float = 0) -> NoReturn:
        """Refused: who asks is known by the token, and the service has its own time step."""
        del time_step_seconds
        raise NotAllowed(
            f"Who asks is known by the token, so it cannot be {analyst!r} for {purpose!r}. Open the"
            " data set with a client of that person."
        )

    def batch(self, *_: object, **__: object) -> NoReturn:
        """Refused: a service charges each question by itself."""
        raise UnsupportedQuery(
            "A service charges each question by itself. Release them one by one, or ask several"
            " aggregates in one question: .agg(n=la.count(), cost=la.mean('cost'))."
        )

    def __repr__(self) -> str:
        table = self._table
        if not table.is_open:
            return f"RemoteSession({table.name!r}, closed)"
        return views.flowing(
            [
                f"Session of {table.name!r} at {table.source}, for the purpose {table.purpose!r}",
                f"  protects  {self.neighbours}",
                *self._standing(),
            ]
        )

    def _standing(self) -> list[str]:
        """How the grant stands; a picture of a session fails for no network."""
        try:
            grant = self.grant
        except LetaloneError as error:
            return [f"  grant     not known now: {error}"]
        return [
            f"  budget    {grant.budget}, your grant",
            f"  spent     {brief(grant.spent)}",
            f"  left      about {brief(grant.remaining, up=False)}",
            f"  columns   {', '.join(grant.columns)}",
        ]


def no_grant(data_set: str, purpose: str | None) -> NotAllowed:
    """Nobody has granted this, and how to change that."""
    aim = "" if purpose is None else f" for the purpose {purpose!r}"
    return NotAllowed(
        f"You have no grant to ask about {data_set!r}{aim}. Request one:"
        f" client.request_access({data_set!r}, purpose=…, columns=[…], budget=la.Budget(epsilon=1),"
        " why='…'); a steward decides."
    )
