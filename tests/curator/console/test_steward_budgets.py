"""Burn-downs say what the ledger says; a larger budget takes two people and their own accounts."""

from datetime import timedelta

import pytest

from curator.console.conftest import Console
from curator.makers import NAME, PASSWORD, PURPOSE, ask, open_curator, registered
from letalone.curator.grants import budget_pages as budgets
from letalone.curator.grants.budget_pages import Spending
from letalone.privacy import Budget
from letalone.wire.records import Role


def asked(curator, number):
    for place in range(number):
        ask(curator, f"SELECT COUNT(*) AS n FROM {NAME} WHERE cost > {place}", epsilon=0.1)


def test_the_history_is_what_the_ledger_says_and_goes_on(ready):
    found = Spending(ready.ledger)
    asked(ready, 3)
    history = found.history(NAME)
    assert [round(spent, 9) for _, spent in history.spent] == [0, 0.1, 0.2, 0.3]
    assert [cap for _, cap in history.caps] == [5]
    assert [round(spent, 9) for _, spent in history.purposes[PURPOSE]] == [0.1, 0.2, 0.3]
    ready.ledger.raise_budget(NAME, Budget(6))
    asked(ready, 5)  # three of them are repeats, which cost nothing
    history = found.history(NAME)
    again = Spending(ready.ledger).history(NAME)
    assert (history.spent, history.caps) == (again.spent, again.caps)
    assert [cap for _, cap in history.caps] == [5, 6]
    assert round(history.spent[-1][1], 9) == float(ready.ledger.data_set(NAME).spent.epsilon) == 0.5


@pytest.mark.long  # test_the_history_is_what_the_ledger_says_and_goes_on
def test_of_many_charges_some_are_read_and_always_the_last(ready, monkeypatch):
    asked(ready, 7)
    monkeypatch.setattr(budgets, "MAX_CHARGES_READ", 3)
    history = Spending(ready.ledger).history(NAME)
    assert [round(spent, 9) for _, spent in history.spent] == [0, 0.1, 0.4, 0.7]


def test_every_budget_is_drawn_for_those_who_oversee_and_no_one_else(console):
    for name, path in (("olga", "/"), ("stan", "/budgets"), ("aud", f"/budgets/{NAME}")):
        text = console.by(name).see(path).text
        assert f"Budget of {NAME} spent over time" in text, path
    assert "spent over time" not in console.by("ann").see("/").text


def test_a_larger_budget_holds_when_a_second_person_agrees_and_not_before(fresh):
    """A person who was added today is refused, and told from when on they count."""
    people = fresh.curator.people
    people.change_password("eva", people.add("eva", [Role.STEWARD], by="olga"), PASSWORD)
    stan, eva = fresh.by("stan", elevated=True), fresh.by("eva", elevated=True)
    stan.see(f"/budgets/{NAME}")
    answer = stan.send(f"/budgets/{NAME}/proposals", share="", epsilon="8", why="two studies")
    at = answer.headers["location"].partition("?")[0]
    assert [f'href="{at}"' in fresh.by(one).see("/").text for one in ("olga", "eva", "stan")] == [
        True, False, False,
    ]  # fmt: skip
    assert 'value="second"' in fresh.by("olga").see(at).text
    assert 'value="second"' not in eva.see(at).text
    since = people.person("eva").handed + timedelta(days=7)
    assert f'eva, from <time datetime="{since.isoformat()}">' in eva.see(at).text
    refused = eva.send(f"{at}/decision", decision="second", reason="I agree")
    assert refused.status_code == 403
    assert "I agree</textarea>" in refused.text
    assert stan.send(f"{at}/decision", decision="second").status_code == 403
    assert fresh.curator.ledger.data_set(NAME).budget == Budget(5)
    olga = fresh.by("olga", elevated=True)
    assert olga.send(f"{at}/decision", decision="second").status_code == 303
    assert fresh.curator.ledger.data_set(NAME).budget == Budget(8)


@pytest.mark.long  # test_a_larger_budget_holds_when_a_second_person_agrees
def test_who_decides_alone_is_not_told_to_wait_for_another(tmp_path, clock):
    with open_curator(tmp_path / "alone", clock=clock) as curator:
        curator.people.change_password("olga", curator.people.first_owner("olga"), PASSWORD)
        registered(curator)
        olga = Console(curator, clock).by("olga", elevated=True)
        olga.see(f"/budgets/{NAME}")
        fields = {"share": "", "epsilon": "8", "why": "two studies"}
        text = olga.follow(olga.send(f"/budgets/{NAME}/proposals", **fields)).text
    assert "You decide on it alone" in text
    assert "Raise the budget alone" in text
    assert "second it" not in text


def test_a_charge_that_gave_no_answer_is_not_called_one(fresh):
    ask(fresh.curator)
    for path in ("/budgets", f"/budgets/{NAME}"):
        assert "1 charge" in fresh.by("olga").see(path).text


def test_a_share_is_proposed_for_the_purpose_or_the_analyst_that_was_chosen(console):
    olga = console.by("olga", elevated=True)
    olga.see(f"/budgets/{NAME}")
    olga.send(f"/budgets/{NAME}/proposals", share=PURPOSE, epsilon="4.5", why="more")
    olga.send(f"/budgets/{NAME}/proposals", share=f"{PURPOSE}\r\nann", epsilon="3", why="more")
    found = console.curator.proposals.proposals(by="olga")
    assert {(one.purpose, one.analyst, one.budget.epsilon) for one in found} == {
        (PURPOSE, None, 4.5),
        (PURPOSE, "ann", 3),
    }


def test_a_refused_proposal_keeps_what_was_typed(console):
    olga = console.by("olga", elevated=True)
    olga.see(f"/budgets/{NAME}")
    answer = olga.send(f"/budgets/{NAME}/proposals", share=PURPOSE, epsilon="1", why="less of it")
    assert answer.status_code == 422
    assert "a budget is never lowered" in answer.text
    assert "less of it</textarea>" in answer.text
    assert f'<option value="{PURPOSE}" selected>' in answer.text


def test_who_proposed_takes_it_back_and_the_budget_stays(console):
    stan = console.by("stan", elevated=True)
    stan.see(f"/budgets/{NAME}")
    answer = stan.send(f"/budgets/{NAME}/proposals", share="", epsilon="7", why="x")
    at = answer.headers["location"].partition("?")[0]
    assert "Take it back" in stan.see(at).text
    stan.send(f"{at}/decision", decision="decline", reason="a slip")
    assert "withdrawn" in stan.see(at).text
    assert console.curator.ledger.data_set(NAME).budget == Budget(5)
