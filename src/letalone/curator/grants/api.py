"""Routes about requests, grants, proposals and budgets."""

from typing import Annotated

from fastapi import APIRouter, Query

from letalone.curator.people.access import (
    OVERSEER,
    ActingSteward,
    Analyst,
    Context,
    Overseer,
    SignedIn,
)
from letalone.wire.bodies import Decision, NewProposal, NewRequest, Seconding, Withdrawal
from letalone.wire.json_values import AMOUNTS, Json, pick, to_json

MAX_REQUESTS_PAGE = 1000
OF_A_LEVEL = ("purpose", "analyst", *AMOUNTS, "expires", "withdrawn")
routes = APIRouter(prefix="/api/v1", tags=["requests, grants and budgets"])


@routes.get("/requests")
def requests(
    bearer: SignedIn,
    service: Context,
    is_open: bool | None = None,
    limit: Annotated[int, Query(ge=1, le=MAX_REQUESTS_PAGE)] = MAX_REQUESTS_PAGE,
    start: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> Json:
    """Own requests; all of them for stewards, owners and auditors. The newest first, in pages."""
    only_own, count = not bearer.oversees, limit + 1
    page = service.curator.requests.requests(
        by=bearer.name, own=only_own, is_open=is_open, most=count, start=start
    )
    return {"requests": to_json(page[:limit]), "more": len(page) > limit}


@routes.post("/requests", status_code=201)
def make_request(body: NewRequest, bearer: Analyst, service: Context) -> Json:
    """Ask for a grant: for a purpose, of some columns, up to a budget, with a reason."""
    return to_json(service.curator.requests.make(**body.arguments(), by=bearer.name))


@routes.get("/requests/{request_id}")
def request(request_id: str, bearer: SignedIn, service: Context) -> Json:
    """How a request stands."""
    by, only_own = bearer.name, not bearer.oversees
    return to_json(service.curator.requests.request(request_id, by=by, own=only_own))


@routes.delete("/requests/{request_id}")
def withdraw_request(request_id: str, bearer: Analyst, service: Context) -> Json:
    """Take back an own request that is open."""
    return to_json(service.curator.requests.withdraw(request_id, by=bearer.name))


@routes.post("/requests/{request_id}/decision")
def decide(request_id: str, body: Decision, bearer: ActingSteward, service: Context) -> Json:
    """Grant or refuse a request, with the reason."""
    decide, by = service.curator.requests.decide, bearer.name
    return to_json(decide(request_id, grant=body.granted, reason=body.reason, by=by))


@routes.get("/grants")
def grants(bearer: SignedIn, service: Context) -> Json:
    """Own grants and what is left of them; all for stewards, owners and auditors."""
    only_own = not bearer.oversees
    return {"grants": to_json(service.curator.requests.grants(by=bearer.name, own=only_own))}


@routes.post("/grants/withdrawal")
def withdraw_grant(body: Withdrawal, bearer: ActingSteward, service: Context) -> Json:
    """End a grant; what was spent stays spent."""
    service.curator.requests.withdraw_grant(**body.arguments(), by=bearer.name)
    return {"withdrawn": True}


@routes.get("/proposals")
def proposals(bearer: Overseer, service: Context) -> Json:
    """Larger budgets that were proposed, the newest first."""
    return {"proposals": to_json(service.curator.proposals.proposals(by=bearer.name))}


@routes.post("/proposals", status_code=201)
def propose(body: NewProposal, bearer: ActingSteward, service: Context) -> Json:
    """Propose a larger budget; somebody else must second it."""
    return to_json(service.curator.proposals.make(**body.arguments(), by=bearer.name))


@routes.post("/proposals/{proposal_id}/decision")
def second(proposal_id: str, body: Seconding, bearer: ActingSteward, service: Context) -> Json:
    """Second a proposal, which carries it out; or decline it, with the reason."""
    proposals, by = service.curator.proposals, bearer.name
    if body.seconded:
        return to_json(proposals.second(proposal_id, reason=body.reason or "seconded", by=by))
    return to_json(proposals.refuse(proposal_id, reason=body.reason or "not seconded", by=by))


@routes.get("/budgets")
def budgets(bearer: SignedIn, service: Context) -> Json:
    """What is left under the own grants."""
    return {"grants": to_json(service.curator.requests.grants(by=bearer.name, own=True))}


@routes.get("/budgets/{data_set}", dependencies=[OVERSEER])
def budget_tree(data_set: str, service: Context) -> Json:
    """The whole tree of a data set: its cap, which is a guarantee, and the shares under it."""
    ledger, name = service.curator.ledger, service.curator.data_sets.record(data_set).name
    cap = pick(ledger.data_set(name), AMOUNTS)
    levels = [pick(level, OF_A_LEVEL) for level in ledger.levels(name)]
    return {"data_set": name, **cap, "levels": levels}
