"""The curator's ledger: the one place where it is wired to what the parts need.

Only the data set's cap is a guarantee; purposes and analysts ration it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from letalone.curator.caches import StampedCache
from letalone.errors import LetaloneError
from letalone.ledger import DataSet, Ledger
from letalone.ledger.entries import Entry, now
from letalone.ledger.levels import Level
from letalone.privacy import Budget, Neighbours
from letalone.privacy.curve import Json


class LevelsOfAsker(NamedTuple):
    """A data set, a purpose and an analyst for it, at one moment; None where there is no level."""

    data_set: DataSet
    purpose: Level | None
    analyst: Level | None


class LedgerView:
    """The ledger of a curator, with the acts that its parts write down."""

    __slots__ = ("ledger", "unchanged")

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.unchanged = StampedCache(lambda: ledger.stamp)

    def open_data_set(self, name: str, budget: Budget, *, neighbours: Neighbours) -> DataSet:
        """A data set with its budget, or the one that goes on under this name."""
        return self.ledger.register(name, budget, neighbours=neighbours)

    def allow(
        self,
        name: str,
        budget: Budget,
        *,
        purpose: str,
        analyst: str | None = None,
        expires: datetime | None = None,
        by: Sequence[str],
    ) -> Level:
        """A level for a purpose, or for an analyst under it; one that holds goes on as it is."""
        there = self.level(name, purpose=purpose, analyst=analyst)
        if there is not None and not there.withdrawn and not there.has_expired(now()):
            return there
        return self.ledger.allow(
            name, budget, purpose=purpose, analyst=analyst, expires=expires, by=tuple(by)
        )

    def raise_to(
        self,
        name: str,
        budget: Budget,
        *,
        purpose: str | None,
        analyst: str | None,
        by: Sequence[str],
    ) -> None:
        """A larger budget for a data set, a purpose or an analyst."""
        if purpose is None:
            self.ledger.raise_budget(name, budget, by=tuple(by))
        else:
            self.ledger.raise_level(name, budget, purpose=purpose, analyst=analyst, by=tuple(by))

    def withdraw(
        self, name: str, *, purpose: str, analyst: str | None, why: str, by: Sequence[str]
    ) -> None:
        """Nothing more is answered at this level."""
        self.ledger.withdraw(name, purpose=purpose, analyst=analyst, why=why, by=tuple(by))

    def levels(self, name: str) -> list[Level]:
        """All levels of a data set as they stand now."""
        return list(self.unchanged.value(name, lambda: self.ledger.levels(name)))

    def level(self, name: str, *, purpose: str, analyst: str | None = None) -> Level | None:
        """The level of a purpose, or of an analyst under it."""
        found = self.asked(name, purpose=purpose, analyst=analyst)
        return found.purpose if analyst is None else found.analyst

    def asked(self, name: str, *, purpose: str, analyst: str | None) -> LevelsOfAsker:
        """How all stands that pays for whoever asks; nobody else's levels are read.

        Read anew whenever the ledger has grown: all that stands is what its entries say.
        """
        return self.unchanged.value(
            (name, purpose, analyst), lambda: self._read_for(name, purpose, analyst)
        )

    def write(self, name: str | None, what: str, body: Json, *, by: Sequence[str]) -> Entry:
        """An act that changes no budget, in the chain; the body holds no private value."""
        return self.ledger.administer(name, what, body, by=tuple(by))

    def refuse(
        self, name: str, error: LetaloneError, *, digest: str, analyst: str, purpose: str | None
    ) -> Entry:
        """A refusal that was decided here, in the chain."""
        return self.ledger.refuse(name, error, digest=digest, analyst=analyst, purpose=purpose)

    def _read_for(self, name: str, purpose: str, analyst: str | None) -> LevelsOfAsker:
        found, levels = self.ledger.standing(name, purpose=purpose, analyst=analyst)
        by_analyst = {one.analyst: one for one in levels}
        return LevelsOfAsker(found, by_analyst.get(None), by_analyst.get(analyst))
