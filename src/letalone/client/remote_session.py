"""A data set of a service, opened for a purpose: asked in the same words as a table of one's own.

The budget that is shown is the own grant: what one may still ask. The data set's cap, which
is the guarantee, may be used up by others before.

  Tested:   tests/client/test_sessions.py
"""

from typing import NoReturn

from letalone.client.records import Grant
from letalone.client.remote_table import RemoteTable
from letalone.errors import UnsupportedQuery
from letalone.session.session import Session


class RemoteSession(Session):
    """A data set elsewhere and what may be asked of it, made by `client.open`.

    `budget`, `spent` and `remaining` are those of the own grant.
    """

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
        return self._table.standing()

    def batch(self, *_: object, **__: object) -> NoReturn:
        """Refused: a service charges each question by itself."""
        raise UnsupportedQuery(
            "A service charges each question by itself. Release them one by one, or ask several"
            " aggregates in one question: .agg(n=la.count(), cost=la.mean('cost'))."
        )
