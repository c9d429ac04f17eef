"""Shows how each budget was spent, the shares under it, and larger ones that are proposed.

What was spent is read from the ledger's entries. They are never changed, so what was read is kept,
and only later ones are read. Of many charges some are read, and always the last: a picture shows no
more.

  Tested:   tests/curator/console/test_steward_budgets.py
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Lock
from typing import Any, cast

from fastapi import Request, Response
from markupsafe import Markup

from letalone.curator.console.charts import burn_down, figure
from letalone.curator.console.directions import isolate
from letalone.curator.console.formatting import amount, format_time
from letalone.curator.console.forms import Form, act_or_show
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.people.visitors import Overseer, Steward, Visitor
from letalone.curator.storage.stored_values import read_time
from letalone.errors import FormatError
from letalone.ledger import Ledger
from letalone.ledger.chain.entries import Entry, EntryKind
from letalone.ledger.data_sets import data_set_from_json
from letalone.ledger.levels import Level
from letalone.privacy.curve import Json
from letalone.privacy.filter_record import state_from_json
from letalone.wire.bodies import NewProposal, Seconding
from letalone.wire.records import Proposal, Role, State

MAX_CHARTS = 6  # on one page; more would make it heavy
ALONE = "It is proposed. You decide on it alone: it does not hold before."
TWO = "It is proposed. Another steward or owner has to second it."
MAX_CHARGES_READ = 200  # charges that are read at once
CHANGES = (EntryKind.OPENED, EntryKind.BUDGET_RAISED)
MAX_ROWS_SHOWN = 20
SPENDING_HEADS = ("time", "spent, ε", "cap, ε")
Steps = list[tuple[datetime, float]]
SPENDING_CAPTION = "Spent ε, all answers together, and the cap as a broken line."
routes = console_routes()


def all_budgets(request: Request, visitor: Visitor) -> list[dict[str, Any]]:
    """How each data set stands that is not retired; the first with a picture."""
    records = [record for record in visitor.curator.data_sets.records() if not record.retired]
    return [
        {
            "record": record,
            "stands": visitor.curator.ledger.data_set(record.name),
            "chart": _chart(request, record.name) if place < MAX_CHARTS else None,
        }
        for place, record in enumerate(records)
    ]


def open_proposals(visitor: Visitor) -> list[Proposal]:
    """Those that wait for this person, who could second them now."""
    proposals, by = visitor.curator.proposals, visitor.name
    waiting = proposals.proposals(by=by)
    return [proposal for proposal in waiting if proposals.can_second(proposal, by=by)]


@routes.get("/budgets")
def budgets(request: Request, visitor: Overseer) -> Response:
    """Every budget over time, and the proposals."""
    proposals = visitor.curator.proposals.proposals(by=visitor.name)
    stand = all_budgets(request, visitor)
    return page(request, "budgets.html", budgets=stand, proposals=proposals)


@routes.get("/budgets/{name}")
def budget(request: Request, name: str, visitor: Overseer) -> Response:
    """One budget: its cap, which is a guarantee, and the shares under it."""
    record = visitor.curator.data_sets.record(name)
    stands = visitor.curator.ledger.data_set(record.name)
    levels = sorted(visitor.curator.ledger.levels(record.name), key=share_key)
    shares = [("", "the whole data set")]
    for level in levels:
        if not level.withdrawn:
            words = f": {level.analyst}" if level.analyst else " (purpose)"
            shares.append((share_key(level), level.purpose + words))
    return page(
        request, "budget.html", record=record, stands=stands, levels=levels, shares=shares,
        chart=_chart(request, record.name, levels), days=visitor.curator.settings.waiting_days,
    )  # fmt: skip


@routes.post("/budgets/{name}/proposals")
@act_or_show(budget, acting=True)
def propose(request: Request, name: str, visitor: Steward, form: Form) -> Response:
    """A larger budget, to be decided on."""
    purpose, _, analyst = form.text("share").replace("\r\n", "\n").partition("\n")
    share = {"purpose": purpose or None, "analyst": analyst or None}
    sent = form.read(NewProposal, "why", data_set=name, budget=form.budget(), **share)
    made = visitor.curator.proposals.make(**sent.arguments(), by=visitor.name)
    alone = visitor.curator.proposals.can_second(made, by=visitor.name)
    notice = ALONE if alone else TWO
    return see_other(request, f"/proposals/{made.id}", said=notice)


@routes.get("/proposals/{proposal_id}")
def proposal(request: Request, proposal_id: str, visitor: Overseer) -> Response:
    """One proposal: what for, by whom, and from when on it can be seconded."""
    proposal = visitor.curator.proposals.proposal(proposal_id, by=visitor.name)
    return page(
        request, "proposal.html", found=proposal, is_open=proposal.state is State.OPEN,
        own=proposal.proposed_by == visitor.name, waits=_waits(proposal, visitor),
        can=visitor.curator.proposals.can_second(proposal, by=visitor.name),
    )  # fmt: skip


@routes.post("/proposals/{proposal_id}/decision")
@act_or_show(proposal, acting=True)
def decide(request: Request, proposal_id: str, visitor: Steward, form: Form) -> Response:
    """Seconds a proposal, which carries it out; or declines it."""
    seconded = form.text("decision") == "second"
    sent = form.read(Seconding, seconded=seconded, reason=form.maybe("reason"))
    proposals, by = visitor.curator.proposals, visitor.name
    if sent.seconded:
        proposals.second(proposal_id, reason=sent.reason or "seconded", by=by)
        notice = "The larger budget holds from now on."
    else:
        proposals.refuse(proposal_id, reason=sent.reason or "not seconded", by=by)
        notice = "The proposal was declined."
    return see_other(request, f"/proposals/{proposal_id}", said=notice)


def share_key(level: Level) -> str:
    """A share as one word of a form: its purpose, and the analyst under it."""
    return f"{level.purpose}\n{level.analyst}" if level.analyst else level.purpose


def _waits(proposal: Proposal, visitor: Visitor) -> list[dict[str, Any]]:
    """From when on the account of who proposed, and of who looks, may raise budgets."""
    wait = timedelta(days=visitor.curator.settings.waiting_days)
    names = dict.fromkeys([proposal.proposed_by, visitor.name])
    people = [visitor.curator.people.person(name) for name in names]
    deciding = [person for person in people if person.roles & {Role.OWNER, Role.STEWARD}]
    return [{"person": person, "since": person.handed + wait} for person in deciding]


@dataclass(slots=True)
class History:
    """What was spent after each charge, the cap, and what each purpose spent; up to an entry."""

    last: int = 0
    spent: Steps = field(default_factory=list[tuple[datetime, float]])
    caps: Steps = field(default_factory=list[tuple[datetime, float]])
    purposes: dict[str, Steps] = field(default_factory=dict[str, Steps])

    def take(self, entry: Entry) -> None:
        self.last = entry.number
        stands = data_set_from_json(str(entry.name), entry.body["after"])
        when = read_time(entry.time)
        cap = float(stands.budget.epsilon)
        if not self.caps or self.caps[-1][1] != cap:
            self.caps.append((when, cap))
        self.spent.append((when, float(stands.spent.epsilon)))
        levels = entry.body.get("levels", ()) if entry.kind is EntryKind.RESERVED else ()
        for level in cast("Sequence[Json]", levels):
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
        read = partial(self._ledger.sampled, name, after=last, most=MAX_CHARGES_READ)
        entries = [*read(kinds=CHANGES), *read(kinds=(EntryKind.RESERVED,))]
        return sorted(entries, key=lambda entry: entry.number)


def _chart(request: Request, name: str, levels: Sequence[Level] = ()) -> Markup | None:
    """The burn-down as a figure; with levels also what each purpose spent, and a table."""
    history: History | None = request.app.state.spending.history(name)
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
    return figure(drawn, caption=SPENDING_CAPTION, heads=SPENDING_HEADS, rows=rows)


def _rows(history: History) -> list[tuple[str, str, str]]:
    steps = reversed(history.spent[-MAX_ROWS_SHOWN:])
    rows = [(at, spent, [cap for since, cap in history.caps if since <= at]) for at, spent in steps]
    return [(format_time(at), amount(spent), amount(caps[-1])) for at, spent, caps in rows]
