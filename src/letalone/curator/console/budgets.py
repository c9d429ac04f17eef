"""Budgets: how each was spent, the shares under it, and larger ones that are proposed."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.forms import Form, SubmittedForm, act_or_show, read_body
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.spending import chart_of, spending_of
from letalone.curator.console.visitors import Overseer, Steward, Visitor
from letalone.curator.http.shapes import NewProposal, Seconding
from letalone.curator.http.who import Served, Service
from letalone.curator.records import Proposal, Role, State
from letalone.ledger.levels import Level

CHARTS = 6  # on one page; more would make it heavy
ALONE = "It is proposed. You decide on it alone: it does not hold before."
TWO = "It is proposed. Another steward or owner has to second it."
routes = console_routes()


def all_budgets(request: Request, service: Service) -> list[dict[str, Any]]:
    """How each data set stands that is not retired; the first with a picture."""
    records = [record for record in service.curator.data_sets.records() if not record.retired]
    return [
        {
            "record": record,
            "stands": service.curator.ledger.data_set(record.name),
            "chart": _chart(request, record.name) if place < CHARTS else None,
        }
        for place, record in enumerate(records)
    ]


def open_proposals(service: Service, visitor: Visitor) -> list[Proposal]:
    """Those that wait for this person, who could second them now."""
    proposals, by = service.curator.proposals, visitor.name
    return [
        proposal for proposal in proposals.proposals(by=by) if proposals.can_second(proposal, by=by)
    ]


@routes.get("/budgets")
def budgets(request: Request, visitor: Overseer, service: Served) -> Response:
    """Every budget over time, and the proposals."""
    proposals = service.curator.proposals.proposals(by=visitor.name)
    stand = all_budgets(request, service)
    return page(request, "budgets.html", budgets=stand, proposals=proposals)


@routes.get("/budgets/{name}")
def budget(request: Request, name: str, visitor: Overseer, service: Served) -> Response:
    """One budget: its cap, which is a guarantee, and the shares under it."""
    del visitor
    record = service.curator.data_sets.record(name)
    stands = service.curator.ledger.data_set(record.name)
    levels = sorted(service.curator.ledger.levels(record.name), key=share_key)
    shares = [("", "the whole data set")]
    shares += [
        (share_key(level), _level_in_words(level)) for level in levels if not level.withdrawn
    ]
    return page(
        request, "budget.html", record=record, stands=stands, levels=levels, shares=shares,
        chart=_chart(request, record.name, levels), days=service.curator.settings.waiting_days,
    )  # fmt: skip


@routes.post("/budgets/{name}/proposals")
@act_or_show(budget, acting=True)
def propose(request: Request, name: str, visitor: Steward, form: Form, service: Served) -> Response:
    """A larger budget, to be decided on."""
    sent = _read_proposal(name, form)
    made = service.curator.proposals.make(
        sent.data_set, sent.budget.read(), why=sent.why, by=visitor.name,
        purpose=sent.purpose, analyst=sent.analyst,
    )  # fmt: skip
    alone = service.curator.proposals.can_second(made, by=visitor.name)
    notice = ALONE if alone else TWO
    return see_other(request, f"/proposals/{made.id}", said=notice)


@routes.get("/proposals/{proposal_id}")
def proposal(request: Request, proposal_id: str, visitor: Overseer, service: Served) -> Response:
    """One proposal: what for, by whom, and from when on it can be seconded."""
    proposal = service.curator.proposals.proposal(proposal_id, by=visitor.name)
    return page(
        request, "proposal.html", found=proposal, is_open=proposal.state is State.OPEN,
        own=proposal.proposed_by == visitor.name, waits=_waits(service, proposal, visitor),
        can=service.curator.proposals.can_second(proposal, by=visitor.name),
    )  # fmt: skip


@routes.post("/proposals/{proposal_id}/decision")
@act_or_show(proposal, acting=True)
def decide(
    request: Request, proposal_id: str, visitor: Steward, form: Form, service: Served
) -> Response:
    """Seconds a proposal, which carries it out; or declines it."""
    sent = read_body(
        Seconding, seconded=form.text("decision") == "second", reason=form.maybe("reason")
    )
    proposals, by = service.curator.proposals, visitor.name
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


def _read_proposal(name: str, form: SubmittedForm) -> NewProposal:
    purpose, _, analyst = form.text("share").replace("\r\n", "\n").partition("\n")
    amounts = {"epsilon": form.number("epsilon"), "delta": form.number("delta") or "0"}
    return read_body(
        NewProposal, data_set=name, purpose=purpose or None, analyst=analyst or None,
        budget=amounts, why=form.text("why"),
    )  # fmt: skip


def _level_in_words(level: Level) -> str:
    return f"{level.purpose}: {level.analyst}" if level.analyst else f"{level.purpose} (purpose)"


def _chart(request: Request, name: str, levels: Sequence[Level] = ()) -> Any:
    return chart_of(spending_of(request).history(name), name, levels=levels)


def _waits(service: Service, found: Proposal, visitor: Visitor) -> list[dict[str, Any]]:
    """From when on the account of who proposed, and of who looks, may raise budgets."""
    wait = timedelta(days=service.curator.settings.waiting_days)
    names = dict.fromkeys([found.proposed_by, visitor.name])
    people = [service.curator.people.person(name) for name in names]
    deciding = [person for person in people if person.roles & {Role.OWNER, Role.STEWARD}]
    return [{"person": person, "since": person.handed + wait} for person in deciding]
