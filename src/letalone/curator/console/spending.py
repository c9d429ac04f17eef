"""How the budget of a data set was spent over time, as the ledger's entries say.

Entries are never changed, so what was read is kept, and only later ones are read. Of many charges
some are read, and always the last: a picture shows no more.

  Tested:   tests/curator/console/test_steward_budgets.py
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import cast

from markupsafe import Markup
from starlette.requests import Request

from letalone.curator.console.charts import burn_down, figure
from letalone.curator.console.directions import isolate
from letalone.curator.console.shown import amount, format_time
from letalone.curator.words import time_of
from letalone.errors import FormatError
from letalone.ledger import Ledger
from letalone.ledger.data_sets import data_set_from_json
from letalone.ledger.entries import Entry, EntryKind
from letalone.ledger.levels import Level
from letalone.privacy.curve import Json
from letalone.privacy.filter_record import state_from_json

MOST = 200  # charges that are read at once
CHANGES = (EntryKind.OPENED, EntryKind.BUDGET_RAISED)
ROWS = 20
HEADS = ("time", "spent, ε", "cap, ε")
Steps = list[tuple[datetime, float]]


@dataclass(slots=True)
class History:
    """What was spent after each charge, the cap, and what each purpose spent; up to an entry."""

    last: int = 0
    spent: Steps = field(default_factory=list[tuple[datetime, float]])
    caps: Steps = field(default_factory=list[tuple[datetime, float]])
    purposes: dict[str, Steps] = field(default_factory=dict[str, Steps])

    def take(self, entry: Entry) -> None:
        """One more entry, the next."""
        self.last = entry.number
        stands, when = data_set_from_json(str(entry.name), entry.body["after"]), time_of(entry.time)
        cap = float(stands.budget.epsilon)
        if not self.caps or self.caps[-1][1] != cap:
            self.caps.append((when, cap))
        self.spent.append((when, float(stands.spent.epsilon)))
        if entry.kind is EntryKind.RESERVED:
            self._take_purposes(cast("Sequence[Json]", entry.body.get("levels", ())), when)

    def _take_purposes(self, levels: Sequence[Json], when: datetime) -> None:
        for level in levels:
            if level["analyst"] is None:
                spent = float(state_from_json(cast("Json", level["state"])).spent.epsilon)
                self.purposes.setdefault(str(level["purpose"]), []).append((when, spent))


class Spending:
    """The histories of all data sets."""

    __slots__ = ("_kept", "_ledger", "_turn")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._turn = ledger, Lock()
        self._kept: dict[str, History] = {}

    def history(self, name: str) -> History | None:
        """The history until now; None where an entry cannot be read, which verification names."""
        with self._turn:
            history = self._kept.setdefault(name, History())
            try:
                for entry in self._later(name, history.last):
                    history.take(entry)
            except FormatError:
                return None
            return history

    def _later(self, name: str, last: int) -> list[Entry]:
        """The entries after a number that change a budget, and those that spend it; in order."""
        ledger = self._ledger
        changes = ledger.sampled(name, kinds=CHANGES, after=last, most=MOST)
        charges = ledger.sampled(name, kinds=(EntryKind.RESERVED,), after=last, most=MOST)
        return sorted([*changes, *charges], key=lambda one: one.number)


def spending_of(request: Request) -> Spending:
    """The histories that this service keeps."""
    return request.app.state.spending


def chart_of(history: History | None, name: str, *, levels: Sequence[Level] = ()) -> Markup | None:
    """The burn-down as a figure; with levels also what each purpose spent, and a table."""
    if history is None or not history.spent:
        return None
    now, title = datetime.now(UTC), f"Budget of {isolate(name)} spent over time"
    parts = {
        level.purpose: [*history.purposes[level.purpose], (now, float(level.spent.epsilon))]
        for level in levels
        if level.analyst is None and level.purpose in history.purposes
    }
    drawn = burn_down(history.spent, history.caps, until=now, title=title, parts=parts)
    rows = _rows(history) if levels else []
    return figure(drawn, caption=CAPTION, heads=HEADS, rows=rows)


CAPTION = "Spent ε, all answers together, and the cap as a broken line."


def _rows(history: History) -> list[tuple[str, str, str]]:
    """The newest steps, the newest first."""
    return [
        (format_time(when), amount(spent), amount(_cap_at(history.caps, when)))
        for when, spent in reversed(history.spent[-ROWS:])
    ]


def _cap_at(caps: Steps, when: datetime) -> float:
    return [cap for since, cap in caps if since <= when][-1]
