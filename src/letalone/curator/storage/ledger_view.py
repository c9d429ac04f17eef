"""Caches how the levels of the ledger stand, for all parts of the service.

Only the data set's cap is a guarantee; purposes and analysts ration it.
"""

from typing import Any, NamedTuple

from letalone.curator.storage.caches import StampedCache
from letalone.ledger import DataSet, Ledger
from letalone.ledger.chain.entries import now
from letalone.ledger.levels import Level
from letalone.privacy import Budget


class LevelsOfAsker(NamedTuple):
    """A data set, a purpose and an analyst for it, at one moment; None where there is no level."""

    data_set: DataSet
    purpose: Level | None
    analyst: Level | None


class LedgerView:
    """Reads levels once for each state of the ledger; allows them."""

    __slots__ = ("_ledger", "cache")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.cache = StampedCache(lambda: ledger.stamp)

    def allow(
        self, name: str, budget: Budget, *, purpose: str, analyst: str | None = None, **more: Any
    ) -> Level:
        """As `Ledger.allow`, for a purpose or an analyst under it; one that holds goes on."""
        level = self.level(name, purpose=purpose, analyst=analyst)
        if level is not None and not level.withdrawn and not level.has_expired(now()):
            return level
        return self._ledger.allow(name, budget, purpose=purpose, analyst=analyst, **more)

    def levels(self, name: str) -> list[Level]:
        return list(self.cache.value(name, lambda: self._ledger.levels(name)))

    def purposes(self, name: str) -> list[Level]:
        return [level for level in self.levels(name) if level.analyst is None]

    def level(self, name: str, *, purpose: str, analyst: str | None = None) -> Level | None:
        levels = self.levels_for(name, purpose=purpose, analyst=analyst)
        return levels.purpose if analyst is None else levels.analyst

    def levels_for(self, name: str, *, purpose: str, analyst: str | None) -> LevelsOfAsker:
        """How all stands that pays for whoever asks; nobody else's levels are read.

        Read anew whenever the ledger has grown: all that stands is what its entries say.
        """

        def read() -> LevelsOfAsker:
            data_set, levels = self._ledger.standing(name, purpose=purpose, analyst=analyst)
            by_analyst = {level.analyst: level for level in levels}
            return LevelsOfAsker(data_set, by_analyst.get(None), by_analyst.get(analyst))

        return self.cache.value((name, purpose, analyst), read)
