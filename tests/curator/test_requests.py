"""Requests and proposals: who decides, on what, once; larger budgets take two people."""

from datetime import UTC, datetime

import pytest

from curator.makers import NAME, OTHER, PURPOSE, ask, grant, whats
from letalone.curator.records import Role, State
from letalone.curator.refusals import AlreadyDecided, NotPermitted, NotThere
from letalone.errors import BudgetExceeded, ParameterError
from letalone.privacy import Budget


def make(curator, by="ben", **more):
    given = {"purpose": PURPOSE, "columns": ["ward"], "budget": Budget(1), "why": "a plan"} | more
    return curator.requests.make(NAME, by=by, **given)


def test_both_sides_see_how_a_request_stands(ready):
    made = make(ready)
    assert ready.requests.request(made.id, by="ben").state is State.OPEN
    ready.requests.decide(made.id, grant=False, reason="too broad", by="stan")
    for who in ("ben", "stan", "olga", "aud"):
        found = ready.requests.request(made.id, by=who)
        assert (found.state, found.reason, found.decided_by) == (State.REFUSED, "too broad", "stan")
    assert whats(ready)[-2:] == ["requested", "refused"]


def test_another_analyst_sees_neither_request_nor_grant(ready):
    made = make(ready, by="ann", purpose=OTHER)
    with pytest.raises(NotThere):
        ready.requests.request(made.id, by="ben")
    with pytest.raises(NotThere):
        ready.requests.withdraw(made.id, by="ben")
    assert ready.requests.requests(by="ben") == []
    assert ready.requests.grants(by="ben") == []
    assert ready.asking.standing(by="ben") == []
    assert len(ready.requests.requests(by="stan")) == 2
    assert ready.requests.withdraw(made.id, by="ann").state is State.WITHDRAWN


def test_a_request_is_decided_once_and_never_by_who_made_it(ready):
    ready.people.change_roles("stan", [Role.STEWARD, Role.ANALYST], by="olga")
    made = make(ready, by="stan")
    with pytest.raises(NotPermitted, match="your own"):
        ready.requests.decide(made.id, grant=True, reason="x", by="stan")
    ready.requests.decide(made.id, grant=True, reason="x", by="olga")
    for again in (True, False):
        with pytest.raises(AlreadyDecided, match="it is granted"):
            ready.requests.decide(made.id, grant=again, reason="x", by="oskar")


def test_nothing_is_granted_to_who_is_no_analyst_any_more(ready):
    made = make(ready)
    ready.people.disable("ben", by="olga")
    with pytest.raises(NotPermitted):
        ready.requests.decide(made.id, grant=True, reason="x", by="stan")
    assert ready.requests.request(made.id, by="stan").state is State.OPEN


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"columns": []}, "at least one"),
        ({"columns": ["ward", "ward"]}, "different columns"),
        ({"columns": ["diary"]}, "Column 'diary' is not in table 'visits'"),
        ({"budget": Budget(5)}, "the whole purpose 'planning' has"),
        ({"why": " "}, "not empty"),
        ({"why": "x" * 3000}, "may have 2000"),
        ({"expires": datetime(2040, 1, 1)}, "time zone"),
    ],
)
def test_what_is_asked_for_is_read(ready, more, words):
    with pytest.raises(ParameterError, match=words):
        make(ready, **more)


def test_a_second_grant_changes_columns_and_never_raises_the_budget(ready):
    made = make(ready, by="ann", columns=["ward", "age"], budget=Budget(3))
    with pytest.raises(ParameterError, match="takes two people"):
        ready.requests.decide(made.id, grant=True, reason="x", by="stan")
    grant(ready, columns=["ward", "age"])
    (found,) = ready.asking.standing(by="ann")
    assert (found.columns, found.budget) == (("ward", "age"), Budget(2))


def test_what_a_withdrawn_grant_has_used_stays_used(ready):
    ask(ready, epsilon=1.5)
    ready.requests.withdraw_grant(NAME, purpose=PURPOSE, analyst="ann", why="x", by="stan")
    with pytest.raises(NotThere):
        ready.requests.withdraw_grant(NAME, purpose=PURPOSE, analyst="ann", why="x", by="stan")
    later = datetime(2040, 1, 1, tzinfo=UTC)
    grant(ready, expires=later)
    (found,) = ready.asking.standing(by="ann")
    assert (found.withdrawn, found.expires) == (False, later)
    with pytest.raises(BudgetExceeded):
        ask(ready, epsilon=0.6)


LARGER = Budget(9)


def propose(curator, budget=LARGER, by="olga", **more):
    return curator.proposals.make(NAME, budget, why="more questions", by=by, **more)


def test_a_larger_budget_takes_two_people_who_both_stand_in_the_ledger(ready):
    made = propose(ready)
    with pytest.raises(NotPermitted, match="second person"):
        ready.proposals.second(made.id, by="olga")
    assert ready.ledger.data_set(NAME).budget == Budget(5)
    assert ready.proposals.second(made.id, by="stan").state is State.GRANTED
    assert ready.ledger.data_set(NAME).budget == Budget(9)
    raised = [one for one in ready.ledger.entries(NAME) if one.kind.value == "budget_raised"]
    assert raised[0].body["by"] == ["olga", "stan"]
    with pytest.raises(AlreadyDecided):
        ready.proposals.second(made.id, by="oskar")
    assert ready.ledger.verify()


def test_purposes_and_analysts_are_raised_in_the_same_way(ready):
    ready.proposals.second(propose(ready, Budget(4.5), purpose=PURPOSE).id, by="stan")
    ready.proposals.second(propose(ready, Budget(3), purpose=PURPOSE, analyst="ann").id, by="stan")
    levels = {(one.purpose, one.analyst): one.budget for one in ready.ledger.levels(NAME)}
    assert levels[PURPOSE, None] == Budget(4.5)
    assert levels[PURPOSE, "ann"] == Budget(3)
    assert ask(ready, epsilon=2.5)


def test_nobody_agrees_to_a_larger_budget_of_their_own(ready):
    ready.people.change_roles("ann", [Role.STEWARD, Role.ANALYST], by="olga")
    made = propose(ready, Budget(3), purpose=PURPOSE, analyst="ann")
    with pytest.raises(NotPermitted, match="your own budget"):
        ready.proposals.second(made.id, by="ann")


def test_who_proposed_must_still_be_allowed_to(ready):
    made = propose(ready, by="stan")
    ready.people.disable("stan", by="olga")
    with pytest.raises(NotPermitted, match="Propose it anew"):
        ready.proposals.second(made.id, by="olga")


def test_a_declined_proposal_is_over(ready):
    made = propose(ready)
    assert ready.proposals.refuse(made.id, reason="no", by="stan").state is State.REFUSED
    own = propose(ready)
    assert ready.proposals.refuse(own.id, reason="no", by="olga").state is State.WITHDRAWN
    with pytest.raises(AlreadyDecided):
        ready.proposals.second(made.id, by="stan")
    assert len(ready.proposals.proposals(by="aud")) == 2


def test_budgets_are_never_lowered_and_must_be_there(ready):
    for budget in (Budget(5), Budget(4)):
        with pytest.raises(ParameterError, match="must be larger"):
            propose(ready, budget)
    with pytest.raises(NotThere):
        propose(ready, purpose=OTHER, analyst="ben")
    with pytest.raises(ParameterError, match="for a purpose"):
        propose(ready, analyst="ann")
    with pytest.raises(NotThere):
        ready.proposals.make("nothing", Budget(9), why="x", by="olga")
