"""Requests and proposals: who decides, on what, once; larger budgets take two people."""

from datetime import UTC, datetime, timedelta

import pytest

from curator.makers import (
    NAME,
    OTHER,
    PASSWORD,
    PURPOSE,
    ask,
    grant,
    open_curator,
    registered,
    whats,
)
from letalone.curator.storage.refusals import AlreadyDecided, NotPermitted, NotThere
from letalone.curator.storage.service_records import Purpose
from letalone.errors import BudgetExceeded, LedgerUnavailable, ParameterError
from letalone.ledger import Ledger
from letalone.privacy import Budget
from letalone.wire.records import Role, State


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
    assert ready.requests.grants(by="ben", own=True) == []
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
        ({"expires": datetime(2020, 1, 1, tzinfo=UTC)}, "Name a later time"),
    ],
)
def test_what_is_asked_for_is_read(ready, more, words):
    with pytest.raises(ParameterError, match=words):
        make(ready, **more)


def test_a_second_grant_changes_columns_and_never_raises_the_budget(ready):
    with pytest.raises(ParameterError, match="takes two people"):  # said at once
        make(ready, by="ann", columns=["ward", "age"], budget=Budget(3))
    less, more = make(ready, by="ben", budget=Budget(1)), make(ready, by="ben", budget=Budget(3))
    ready.requests.decide(less.id, grant=True, reason="x", by="stan")
    with pytest.raises(ParameterError, match="takes two people"):
        ready.requests.decide(more.id, grant=True, reason="x", by="stan")
    grant(ready, columns=["ward", "age"])
    (found,) = ready.requests.grants(by="ann", own=True)
    assert (found.columns, found.budget) == (("ward", "age"), Budget(2))


def test_what_a_withdrawn_grant_has_used_stays_used(ready):
    ask(ready, epsilon=1.5)
    ready.requests.withdraw_grant(NAME, purpose=PURPOSE, analyst="ann", why="x", by="stan")
    with pytest.raises(NotThere):
        ready.requests.withdraw_grant(NAME, purpose=PURPOSE, analyst="ann", why="x", by="stan")
    later = datetime(2040, 1, 1, tzinfo=UTC)
    grant(ready, expires=later)
    (found,) = ready.requests.grants(by="ann", own=True)
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


def test_the_first_owner_raises_a_budget_alone_on_the_first_day(tmp_path):
    with open_curator(tmp_path) as curator:
        word = curator.people.first_owner("olga")
        registered(curator)
        made = propose(curator)
        assert not curator.proposals.can_second(made, by="olga")
        with pytest.raises(NotPermitted, match="one-time password"):
            curator.proposals.second(made.id, by="olga")
        curator.people.change_password("olga", word, PASSWORD)
        curator.people.add("ann", [Role.ANALYST, Role.AUDITOR], by="olga")  # who could not second
        assert curator.proposals.can_second(made, by="olga")
        assert curator.proposals.second(made.id, by="olga").state is State.GRANTED
        (raised,) = [one for one in curator.ledger.entries() if one.kind.value == "budget_raised"]
        assert raised.body["by"] == ["olga"]
        assert whats(curator)[-1] == "decided alone"


@pytest.mark.parametrize("gone", ["disabled", "other roles", "there"])
def test_nobody_decides_alone_once_there_was_a_second_person(tmp_path, gone):
    with open_curator(tmp_path) as curator:
        word = curator.people.first_owner("olga")
        curator.people.change_password("olga", word, PASSWORD)
        registered(curator)
        curator.people.add("ann", [Role.ANALYST], by="olga")
        if gone == "other roles":
            curator.people.change_roles("ann", [Role.STEWARD], by="olga")
            curator.people.change_roles("ann", [Role.ANALYST], by="olga")
        else:
            curator.people.add("stan", [Role.STEWARD], by="olga")
        if gone == "disabled":
            curator.people.disable("stan", by="olga")
        made = propose(curator)
        with pytest.raises(NotPermitted, match="second person"):
            curator.proposals.second(made.id, by="olga")


def away(*_, **__):
    raise LedgerUnavailable("no room")


def while_away(monkeypatch, act):
    with monkeypatch.context() as moment:
        moment.setattr(Ledger, "administer", away)
        with pytest.raises(LedgerUnavailable):
            act()


@pytest.mark.parametrize("act", ["added", "given the role", "the first owner"])
def test_nobody_decides_alone_after_the_ledger_failed_while_a_second_person_came(
    tmp_path, monkeypatch, act
):
    """A person whom the ledger does not know must not have been one, even for a moment."""
    with open_curator(tmp_path) as curator:
        people = curator.people

        def come(name):
            if act == "added":
                people.add(name, [Role.STEWARD], by="olga")
            elif act == "given the role":
                people.change_roles(name, [Role.STEWARD], by="olga")

        if act == "the first owner":
            while_away(monkeypatch, lambda: people.first_owner("olga"))
            with pytest.raises(NotThere):
                people.person("olga")
            assert people.first_owner("olga")
            return
        people.first_owner("olga")
        people.add("ann", [Role.ANALYST], by="olga")
        name = "stan" if act == "added" else "ann"
        while_away(monkeypatch, lambda: come(name))
        assert not people.has(name, Role.STEWARD)
        come(name)
        people.change_roles(name, [Role.ANALYST], by="olga")
        assert people.ever(Role.STEWARD, Role.OWNER) == {"olga", name}


def test_whoever_is_let_in_stands_in_the_ledger_first(peopled, monkeypatch):
    """Else a made-up person could come without anybody who reads it seeing them."""
    people, links = peopled.people, peopled.identities
    people.disable("ben", by="olga")
    before = [people.person(name).handed for name in ("stan", "ben")]
    for act in (
        lambda: people.reset_password("stan", by="olga"),
        lambda: people.enable("ben", by="olga"),
        lambda: links.link("stan", "s@example.org", issuer="https://id.example", by="olga"),
    ):
        while_away(monkeypatch, act)
    assert people.log_in("stan", PASSWORD)
    assert not people.person("ben").active
    assert links.links(by="olga") == []
    assert [people.person(name).handed for name in ("stan", "ben")] == before
    while_away(monkeypatch, lambda: people.disable("ann", by="olga"))
    assert not people.person("ann").active, "what takes away holds all the same"


def test_a_budget_is_raised_again_where_the_ledger_failed_to_say_whose_accounts_they_were(
    ready, monkeypatch
):
    made = propose(ready)
    while_away(monkeypatch, lambda: ready.proposals.second(made.id, by="stan"))
    assert ready.proposals.second(made.id, by="stan").state is State.GRANTED
    assert whats(ready)[-1] == "seconded"


def test_an_account_handled_while_the_clock_was_ahead_waits_for_days_and_not_a_year(ready, clock):
    """The wait begins when an owner handles it again, and not before: no clock lets one in."""
    clock.passed += timedelta(days=365)
    ready.people.change_roles("stan", [Role.STEWARD], by="olga")
    clock.passed -= timedelta(days=335)
    made = propose(ready)
    with pytest.raises(NotPermitted, match=r"when a clock was wrong.*the same roles again"):
        ready.proposals.second(made.id, by="stan")
    ready.people.change_roles("stan", [Role.STEWARD], by="olga")
    with pytest.raises(NotPermitted, match="lately"):
        ready.proposals.second(made.id, by="stan")
    clock.passed += timedelta(days=8)
    assert ready.proposals.second(made.id, by="stan").state is State.GRANTED


def seconded_by(curator, name):
    made = propose(curator)
    try:
        return curator.proposals.second(made.id, by=name).state
    finally:
        if curator.ledger.data_set(NAME).budget == Budget(5):
            curator.proposals.refuse(made.id, reason="x", by="olga")


def sock(curator):
    """A steward whom olga has made up."""
    word = curator.people.add("sock", [Role.STEWARD], by="olga")
    curator.people.change_password("sock", word, PASSWORD)


def reset(curator):
    word = curator.people.reset_password("stan", by="olga")
    curator.people.change_password("stan", word, PASSWORD)


HANDS = {
    "added": (sock, "sock"),
    "reset": (reset, "stan"),
    "given a role": (lambda c: c.people.change_roles("ann", [Role.STEWARD], by="olga"), "ann"),
    "let in again": (
        lambda c: (c.people.disable("stan", by="olga"), c.people.enable("stan", by="olga")),
        "stan",
    ),
}


@pytest.mark.parametrize("hand", HANDS)
def test_who_proposes_cannot_make_the_second_one_up(ready, clock, hand):
    handle, name = HANDS[hand]
    handle(ready)
    for passed in (timedelta(), timedelta(days=7, seconds=-5)):
        clock.passed = passed
        with pytest.raises(NotPermitted, match=r"was handled by 'olga'.* can from "):
            seconded_by(ready, name)
    clock.passed = timedelta(days=7)
    assert seconded_by(ready, name) is State.GRANTED
    (entry,) = [one for one in ready.ledger.entries() if one.body.get("what") == "seconded"]
    assert entry.body["body"]["accounts"][name]["from"] == "olga"


def test_a_chain_of_made_up_people_waits_as_long(ready, clock):
    for name, by in (("first", "olga"), ("other", "first")):
        word = ready.people.add(name, [Role.OWNER], by=by)
        ready.people.change_password(name, word, PASSWORD)
    made = propose(ready, by="first")
    for second in ("other", "stan"):
        with pytest.raises(NotPermitted, match="'first' was handled"):
            ready.proposals.second(made.id, by=second)
    clock.passed = timedelta(days=7)
    assert ready.proposals.second(made.id, by="stan").state is State.GRANTED


def test_the_time_that_is_said_is_the_later_of_the_two(ready, clock):
    clock.passed = timedelta(days=3)
    sock(ready)
    ready.people.change_password("olga", ready.people.reset_owner("olga"), PASSWORD)
    clock.passed = timedelta(days=4)
    word = ready.people.reset_password("sock", by="oskar")
    ready.people.change_password("sock", word, PASSWORD)
    until = f"{clock() + timedelta(days=7):%Y-%m-%d}"
    with pytest.raises(NotPermitted, match=f"'sock' was handled by 'oskar'.* can from {until}"):
        seconded_by(ready, "sock")
    clock.passed = timedelta(days=20)
    ready.people.change_password("olga", ready.people.reset_owner("olga"), PASSWORD)
    with pytest.raises(NotPermitted, match=r"'olga' was made.* on the service's machine"):
        seconded_by(ready, "sock")


def test_an_expired_purpose_is_refused_at_the_request(peopled, clock):
    until = clock() + timedelta(days=1)
    registered(peopled, purposes=(Purpose(PURPOSE, Budget(4), expires=until),))
    clock.passed = timedelta(days=2)
    with pytest.raises(ParameterError, match="has expired"):
        make(peopled)


def test_a_one_time_password_never_seconds_however_old(ready, clock):
    ready.people.reset_password("stan", by="oskar")
    clock.passed = timedelta(days=100)
    with pytest.raises(NotPermitted, match="'stan' still has a one-time password"):
        seconded_by(ready, "stan")


def test_no_share_is_raised_above_what_it_is_a_share_of(ready):
    with pytest.raises(ParameterError, match="more than the whole data set"):
        propose(ready, Budget(6), purpose=PURPOSE)
    with pytest.raises(ParameterError, match="more than the whole purpose 'planning'"):
        propose(ready, Budget(4.5), purpose=PURPOSE, analyst="ann")


def test_a_larger_epsilon_without_a_delta_keeps_the_delta(peopled):
    registered(peopled, budget=Budget(5, 1e-6))
    assert propose(peopled).budget == Budget(9, 1e-6)


def test_a_smaller_grant_is_refused_while_the_larger_holds(ready):
    made = make(ready, by="ann", budget=Budget(0.1))
    with pytest.raises(ParameterError, match="Withdraw that grant first"):
        ready.requests.decide(made.id, grant=True, reason="x", by="stan")
    assert ready.requests.request(made.id, by="ann").state is State.OPEN
    ready.requests.withdraw_grant(NAME, purpose=PURPOSE, analyst="ann", why="x", by="stan")
    ready.requests.decide(made.id, grant=True, reason="x", by="stan")
    (found,) = ready.requests.grants(by="ann", own=True)
    assert found.budget == Budget(0.1)
    assert ready.ledger.verify()


def test_nobody_raises_a_grant_alone_by_withdrawing_it_first(ready):
    ready.requests.withdraw_grant(NAME, purpose=PURPOSE, analyst="ann", why="x", by="stan")
    with pytest.raises(ParameterError, match="takes two people"):
        make(ready, by="ann", budget=Budget(3))


def test_a_smaller_grant_has_room_for_what_was_used(ready):
    ask(ready, epsilon=1)
    ready.requests.withdraw_grant(NAME, purpose=PURPOSE, analyst="ann", why="x", by="stan")
    made = make(ready, by="ann", budget=Budget(0.5))
    with pytest.raises(ParameterError, match="that stays used"):
        ready.requests.decide(made.id, grant=True, reason="x", by="stan")


def test_reasons_stand_in_the_ledger(ready):
    made = make(ready, why="beds in winter")
    ready.requests.decide(made.id, grant=True, reason="as agreed", by="stan")
    raised = propose(ready)
    assert ready.proposals.second(raised.id, by="stan", reason="a vote").reason == "a vote"
    bodies = [one.body["body"] for one in ready.ledger.entries(NAME) if "what" in one.body][-4:]
    said = [(one["why"], one["reason"]) for one in bodies]
    assert said == [
        ("beds in winter", None),
        ("beds in winter", "as agreed"),
        ("more questions", None),
        ("more questions", "a vote"),
    ]


def test_purposes_and_analysts_are_raised_in_the_same_way(ready):
    ready.proposals.second(propose(ready, Budget(4.5), purpose=PURPOSE).id, by="stan")
    ready.proposals.second(propose(ready, Budget(3), purpose=PURPOSE, analyst="ann").id, by="stan")
    levels = {(one.purpose, one.analyst): one.budget for one in ready.ledger.levels(NAME)}
    assert levels[PURPOSE, None] == Budget(4.5)
    assert levels[PURPOSE, "ann"] == Budget(3)
    assert ask(ready, epsilon=2.5)


def test_nobody_agrees_to_a_larger_budget_of_their_own(ready, clock):
    ready.people.change_roles("ann", [Role.STEWARD, Role.ANALYST], by="olga")
    clock.passed = timedelta(days=8)
    made = propose(ready, Budget(3), purpose=PURPOSE, analyst="ann")
    with pytest.raises(NotPermitted, match="your own budget"):
        ready.proposals.second(made.id, by="ann")


def test_who_proposed_must_still_be_allowed_to(ready):
    made = propose(ready, by="stan")
    ready.people.disable("stan", by="olga")
    with pytest.raises(NotPermitted, match="Propose it again"):
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


def test_few_requests_of_one_person_wait_and_all_are_seen_in_pages(ready, tmp_path):
    with open_curator(tmp_path, open_requests=3) as few:
        made = [make(few) for _ in range(3)]
        with pytest.raises(ParameterError, match="3 requests of yours wait"):
            make(few)
        assert make(few, by="ann", budget=Budget(2))  # each has as many
        few.requests.withdraw(made[0].id, by="ben")
        assert make(few)
        found = few.requests.requests(by="stan")
        pages = [few.requests.requests(by="stan", most=2, start=start) for start in (0, 2, 4)]
        assert [one for page in pages for one in page] == found
        waits = [one for one in found if one.state is State.OPEN]
        assert few.requests.requests(by="stan", is_open=True) == waits
        assert len(few.requests.requests(by="stan", is_open=False)) == 2
