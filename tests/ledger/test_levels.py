"""Levels ration: a charge fits everywhere or is charged nowhere; answers are shared and paid."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from behind import forge
from letalone.errors import BudgetExceeded, LedgerDamaged, NotAllowed, ParameterError
from letalone.ledger import EntryKind, Ledger, Reservation
from letalone.ledger.chain import entries
from letalone.privacy import ApproxDP, Budget, Filter, GaussianDP, Privacy, PureDP

ANN, BOB = ("Ann", "research"), ("Bob", "research")
CY = ("Cy", "planning")


@pytest.fixture
def rationed(ledger: Ledger) -> Ledger:
    """Of 1: research 0.6 (Ann 0.4, Bob 0.4), planning 0.8 (Cy 0.8)."""
    ledger.allow("visits", Budget(0.6), purpose="research")
    ledger.allow("visits", Budget(0.8), purpose="planning")
    for (analyst, purpose), most in ((ANN, 0.4), (BOB, 0.4), (CY, 0.8)):
        ledger.allow("visits", Budget(most), purpose=purpose, analyst=analyst)
    return ledger


def ask(
    ledger: Ledger, who: tuple[str | None, str | None], cost: Privacy, *, digest: str = "d"
) -> Reservation:
    analyst, purpose = who
    return ledger.charge("visits", cost, plan={}, digest=digest, analyst=analyst, purpose=purpose)


def answer(ledger: Ledger, who: tuple[str, str], cost: float, digest: str, value: int) -> None:
    ledger.settle(ask(ledger, who, PureDP(cost), digest=digest), {"values": [value]})


def share(ledger: Ledger, who: tuple[str | None, str | None], digest: str = "d") -> object:
    return ledger.share("visits", digest, analyst=who[0], purpose=who[1])


def spent(ledger: Ledger) -> dict[object, object]:
    """Epsilon spent by the data set (None), the purposes and the analysts."""
    found: dict[object, object] = {None: ledger.data_set("visits").spent.epsilon}
    return found | {
        one.analyst or one.purpose: one.spent.epsilon for one in ledger.levels("visits")
    }


def at(monkeypatch: pytest.MonkeyPatch, time: str) -> None:
    """It is this time for all who look."""
    for module in (
        "chain.entries",
        "storage.transaction",
        "acts",
        "rationing",
        "chain.checkpoints",
    ):
        monkeypatch.setattr(f"letalone.ledger.{module}.now", lambda: time)


# Charges.


def test_a_charge_is_debited_at_all_three_levels_by_one_entry(rationed: Ledger) -> None:
    before = len(rationed)
    ask(rationed, ANN, PureDP(0.25))
    assert len(rationed) == before + 1
    quarter = Budget(0.25).epsilon
    expected = {
        None: quarter,
        "research": quarter,
        "Ann": quarter,
        "Bob": 0,
        "planning": 0,
        "Cy": 0,
    }
    assert spent(rationed) == expected
    rationed.verify()


@pytest.mark.parametrize(
    ("who", "words"),
    [
        ((None, None), "has limits: name the analyst"),
        (("Ann", None), "has limits: name the analyst"),
        ((None, "research"), "has limits: name the analyst"),
        (("Ann", "marketing"), "The purpose 'marketing' of 'visits' is not allowed"),
        (("Ann", "planning"), "'Ann' for the purpose 'planning' of 'visits' is not allowed"),
        (("Eve", "research"), "'Eve' for the purpose 'research' of 'visits' is not allowed"),
        (("ann", "research"), "'ann' for"),
    ],
)
@pytest.mark.few("file-", "postgres-who4")
def test_whoever_has_no_level_is_refused_everywhere_and_it_is_written_down(
    rationed: Ledger, who: tuple[str | None, str | None], words: str
) -> None:
    before = spent(rationed)
    with pytest.raises(NotAllowed, match=words):
        ask(rationed, who, PureDP(0.1))
    assert spent(rationed) == before
    last = rationed.entries()[-1]
    assert (last.kind, last.body["reason"]) == (EntryKind.REFUSED, "NotAllowed")
    assert not rationed.fits("visits", PureDP(0.1), analyst=who[0], purpose=who[1])
    rationed.verify()


def test_the_level_that_has_too_little_is_named_and_nothing_is_charged_anywhere(
    rationed: Ledger,
) -> None:
    ask(rationed, ANN, PureDP(0.4))
    before = spent(rationed)
    for who, cost, words in (
        (ANN, 0.1, "^'Ann' for the purpose 'research' of 'visits' has too little left"),
        (BOB, 0.3, "^The purpose 'research' of 'visits' has too little left"),
        (ANN, 5, "^'Ann' for the purpose 'research' of 'visits' has too little left"),  # of three
        (CY, 0.7, r"^PureDP.*does not fit into the budget \(ε = 1, δ"),
    ):
        with pytest.raises(BudgetExceeded, match=words) as refused:
            ask(rationed, who, PureDP(cost))
        assert (refused.value.level is None) == (who is CY)
        assert spent(rationed) == before
        assert rationed.entries()[-1].kind is EntryKind.REFUSED
    ask(rationed, BOB, PureDP(0.2))
    ask(rationed, CY, PureDP(0.4))
    rationed.verify()


def test_analysts_who_collude_get_no_more_than_the_data_set_has(rationed: Ledger) -> None:
    """Their levels promise 1.6 together; the data set has 1."""
    paid = 0
    for number in range(6):
        for who in (ANN, BOB, CY):
            try:
                ask(rationed, who, PureDP(0.125), digest=str(number))
                paid += 1
            except BudgetExceeded:
                continue
    assert paid == 8
    assert spent(rationed)[None] == 1
    assert spent(rationed)["research"] <= Budget(0.6).epsilon
    rationed.verify()


def test_a_level_counts_as_a_filter_of_its_own_would(ledger: Ledger) -> None:
    """The same budget as the data set: the same accounts after the same charges."""
    ledger.allow("visits", Budget(1, 1e-6), purpose="research")
    ledger.allow("visits", Budget(1, 1e-6), purpose="research", analyst="Ann")
    for privacy in (
        PureDP(0.1),
        GaussianDP(0.05),
        ApproxDP(0.05, 1e-9),
        GaussianDP(0.1).sampled(0.01),
    ):
        ask(ledger, ANN, privacy)
    whole = ledger.data_set("visits").state
    for level in ledger.levels("visits"):
        assert (level.state.accounts, level.state.leak) == (whole.accounts, whole.leak)
        assert level.how_many_more(PureDP(0.01)) == ledger.data_set("visits").how_many_more(
            PureDP(0.01)
        )
    ledger.verify()


def test_a_level_with_a_smaller_delta_reads_curves_at_its_part(ledger: Ledger) -> None:
    """A sampled curve has no parameter: a fixed point would never fit into a small delta."""
    ledger.allow("visits", Budget(1, 1e-7), purpose="research")
    ledger.allow("visits", Budget(1, 1e-8), purpose="research", analyst="Ann")
    ask(ledger, ANN, GaussianDP(0.1).sampled(0.01))
    points = [one["delta"] for one in ledger.entries()[-1].body["levels"]]  # type: ignore[index]
    assert points == ["1/10000000000", "1/100000000000"]
    ledger.verify()


# Opening, raising, withdrawing, expiring.


def test_an_analyst_needs_the_purpose_first_and_a_level_is_opened_once(ledger: Ledger) -> None:
    with pytest.raises(ParameterError, match="Allow it first"):
        ledger.allow("visits", Budget(0.1), purpose="research", analyst="Ann")
    ledger.charge("visits", PureDP(0.1), plan={}, digest="d")  # not rationed yet
    ledger.allow("visits", Budget(0.1), purpose="research", by=["Di", "Ed"])
    assert ledger.entries()[-1].body["by"] == ["Di", "Ed"]
    with pytest.raises(ParameterError, match="There is a level for the purpose 'research'"):
        ledger.allow("visits", Budget(0.2), purpose="research")
    assert ledger.data_set("visits").rationed
    assert [one.key for one in ledger.levels("visits")] == [("visits", "research", None)]


def test_a_withdrawn_level_is_refused_and_goes_on_with_what_it_has_used(rationed: Ledger) -> None:
    ask(rationed, ANN, PureDP(0.3))
    rationed.withdraw("visits", purpose="research", analyst="Ann", why="has left", by=["Di"])
    with pytest.raises(NotAllowed, match="was withdrawn"):
        ask(rationed, ANN, PureDP(0.01))
    ask(rationed, BOB, PureDP(0.01))
    with pytest.raises(ParameterError, match="that stays used"):
        rationed.allow("visits", Budget(0.2), purpose="research", analyst="Ann")
    again = rationed.allow("visits", Budget(0.4), purpose="research", analyst="Ann")
    assert (again.spent, again.withdrawn) == (Budget(0.3), False)
    with pytest.raises(BudgetExceeded):
        ask(rationed, ANN, PureDP(0.11))
    ask(rationed, ANN, PureDP(0.1))
    rationed.verify()


def test_without_any_level_that_holds_the_budget_stays_rationed(ledger: Ledger) -> None:
    ledger.allow("visits", Budget(0.1), purpose="research")
    ledger.withdraw("visits", purpose="research", why="done")
    with pytest.raises(NotAllowed):
        ask(ledger, (None, None), PureDP(0.1))
    ledger.raise_budget("visits", Budget(2, 1e-6))
    ledger.raise_version("visits")
    with pytest.raises(NotAllowed):
        ask(ledger, (None, None), PureDP(0.1))
    with pytest.raises(ParameterError, match="not allowed at present"):
        ledger.allow("visits", Budget(0.1), purpose="research", analyst="Ann")
    ledger.verify()


def test_a_purpose_that_is_withdrawn_stops_all_its_analysts(rationed: Ledger) -> None:
    rationed.withdraw("visits", purpose="research", why="done")
    for who in (ANN, BOB):
        with pytest.raises(NotAllowed, match=r"^The purpose 'research' of 'visits' was withdrawn"):
            ask(rationed, who, PureDP(0.01))
    ask(rationed, CY, PureDP(0.01))


def test_a_level_holds_until_the_second_it_expires_and_not_in_it(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = datetime(2031, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    ledger.allow("visits", Budget(1), purpose="research", expires=end)
    ledger.allow("visits", Budget(1), purpose="research", analyst="Ann")
    at(monkeypatch, "2030-12-31T23:59:59Z")
    ask(ledger, ANN, PureDP(0.1))
    at(monkeypatch, "2031-01-01T00:00:00Z")
    with pytest.raises(NotAllowed, match="has expired, at 2031-01-01T00:00:00Z"):
        ask(ledger, ANN, PureDP(0.1))
    with pytest.raises(ParameterError, match="Name a later time"):
        ledger.allow("visits", Budget(1), purpose="research", expires=end)
    ledger.allow("visits", Budget(1), purpose="research")
    ask(ledger, ANN, PureDP(0.1))
    assert spent(ledger)["research"] == Budget(0.2).epsilon
    ledger.verify()


def test_a_raised_level_stands_as_if_it_had_been_so_from_the_start(rationed: Ledger) -> None:
    spending = Filter(Budget(0.6, 1e-8))
    for privacy in (PureDP(0.1), PureDP(0.05), PureDP(0.02).sampled(0.5)):
        ask(rationed, BOB, privacy)
        spending.charge(privacy, delta=0)
    after = rationed.raise_level(
        "visits", Budget(0.6, 1e-8), purpose="research", analyst="Bob", by=["Di"]
    )
    assert after.state.accounts == spending.state.accounts
    assert rationed.entries()[-1].body["by"] == ["Di"]
    with pytest.raises(ParameterError, match="never lowered"):
        rationed.raise_level("visits", Budget(0.5), purpose="research", analyst="Bob")
    with pytest.raises(ParameterError, match=r"There is no level for 'Eve'.*There are: "):
        rationed.raise_level("visits", Budget(0.5), purpose="research", analyst="Eve")
    rationed.verify()


def test_what_was_shared_counts_after_a_raise_too(rationed: Ledger) -> None:
    answer(rationed, CY, 0.3, "d", 7)
    share(rationed, ANN)
    rationed.raise_level("visits", Budget(0.5), purpose="research", analyst="Ann")
    assert spent(rationed)["Ann"] == Budget(0.3).epsilon
    with pytest.raises(BudgetExceeded, match="'Ann'"):
        ask(rationed, ANN, PureDP(0.21))
    rationed.verify()


@pytest.mark.parametrize(
    "wrong",
    [
        {"purpose": ""},
        {"purpose": "research "},
        {"purpose": None},
        {"analyst": ""},
        {"analyst": 5},
        {"budget": 1},
        {"expires": datetime(2031, 1, 1)},
        {"expires": datetime(2020, 1, 1, tzinfo=UTC)},
        {"expires": "2031-01-01"},
        {"by": "Ann"},
        {"by": [""]},
        {"name": "visit"},
    ],
)
def test_a_wrong_level_is_refused_before_anything_is_written(
    ledger: Ledger, wrong: dict[str, Any]
) -> None:
    head = ledger.head
    with pytest.raises(ParameterError):
        ledger.allow(**{"name": "visits", "budget": Budget(1), "purpose": "p"} | wrong)
    assert ledger.head == head


# Answers that are shared.


def test_each_level_pays_once_for_an_answer_and_the_data_set_never_again(rationed: Ledger) -> None:
    assert share(rationed, ANN) is None
    answer(rationed, ANN, 0.25, "d", 7)
    tenth = Budget(0.25).epsilon
    entries_before = len(rationed)
    assert share(rationed, ANN) == {"values": [7]}
    assert len(rationed) == entries_before, "whoever has paid pays nothing, and nothing is written"
    for _ in range(3):
        assert share(rationed, BOB) == {"values": [7]}
    assert (spent(rationed)["Bob"], spent(rationed)["research"]) == (tenth, tenth)
    for _ in range(3):
        assert share(rationed, CY) == {"values": [7]}
    assert (spent(rationed)["Cy"], spent(rationed)["planning"]) == (tenth, tenth)
    assert spent(rationed)[None] == tenth
    assert len(rationed) == entries_before + 2
    shared = [entry for entry in rationed.entries() if entry.kind is EntryKind.SHARED]
    assert [len(entry.body["levels"]) for entry in shared] == [1, 2]  # type: ignore[arg-type]
    rationed.verify()


def test_an_answer_is_not_shared_with_a_level_that_cannot_pay(rationed: Ledger) -> None:
    answer(rationed, CY, 0.5, "d", 7)
    before = spent(rationed)
    with pytest.raises(BudgetExceeded, match=r"^'Ann' for the purpose 'research'"):
        share(rationed, ANN)
    assert rationed.entries()[-1].body["reason"] == "BudgetExceeded"
    with pytest.raises(NotAllowed):
        share(rationed, ("Eve", "research"))
    with pytest.raises(NotAllowed):
        share(rationed, (None, None))
    assert rationed.entries()[-1].body["reason"] == "NotAllowed"
    assert spent(rationed) == before
    rationed.verify()


def test_a_withdrawn_analyst_is_not_shown_even_what_was_paid_for(rationed: Ledger) -> None:
    answer(rationed, ANN, 0.1, "d", 7)
    rationed.withdraw("visits", purpose="research", analyst="Ann", why="has left")
    with pytest.raises(NotAllowed, match="withdrawn"):
        share(rationed, ANN)


def test_of_two_answers_an_analyst_sees_only_the_one_that_was_paid_for(rationed: Ledger) -> None:
    """Both asked at the same moment: seeing both for the price of one would pass the cap."""
    first, second = ask(rationed, ANN, PureDP(0.1)), ask(rationed, BOB, PureDP(0.1))
    rationed.settle(first, {"values": [1]})
    rationed.settle(second, {"values": [2]})
    assert [share(rationed, who) for who in (ANN, BOB, ANN)] == [{"values": [n]} for n in (1, 2, 1)]
    assert spent(rationed)["Bob"] == Budget(0.1).epsilon
    assert share(rationed, CY) == {"values": [1]}
    bob = {"analyst": "Bob", "purpose": "research"}
    assert rationed.repeats_of("visits", "d", **bob) == [{"values": [2]}, {"values": [1]}]
    assert rationed.share("visits", "d", **bob, answer={"values": [1]}) == {"values": [1]}
    assert spent(rationed)["Bob"] == Budget(0.2).epsilon
    assert rationed.share("visits", "d", **bob, answer={"values": [3]}) is None
    rationed.verify()


def test_a_charge_that_failed_is_no_answer_that_was_paid_for(rationed: Ledger) -> None:
    rationed.abandon(ask(rationed, ANN, PureDP(0.1)))
    answer(rationed, BOB, 0.1, "d", 7)
    assert share(rationed, ANN) == {"values": [7]}
    assert spent(rationed)["Ann"] == Budget(0.2).epsilon
    rationed.verify()


def test_an_answer_from_before_the_rationing_is_paid_for_by_both_levels(ledger: Ledger) -> None:
    ledger.settle(ask(ledger, (None, None), PureDP(0.1)), {"values": [7]})
    assert share(ledger, (None, None)) == {"values": [7]}, "not rationed: as repeat_of"
    assert share(ledger, ANN) == ledger.repeat_of("visits", "d")
    ledger.allow("visits", Budget(1), purpose="research")
    ledger.allow("visits", Budget(1), purpose="research", analyst="Ann")
    assert share(ledger, ANN) == {"values": [7]}
    tenth = Budget(0.1).epsilon
    assert spent(ledger) == {None: tenth, "research": tenth, "Ann": tenth}
    ledger.verify()


def test_an_answer_about_an_earlier_version_is_not_shared(rationed: Ledger) -> None:
    answer(rationed, ANN, 0.1, "d", 7)
    rationed.raise_version("visits")
    assert share(rationed, BOB) is None


def test_an_act_is_written_down_with_those_who_decided(ledger: Ledger) -> None:
    entry = ledger.administer("visits", "erased", {"subject": "ab12"}, by=["Di"])
    assert entry.body == {"what": "erased", "by": ["Di"], "body": {"subject": "ab12"}}
    assert ledger.administer(None, "a person", {}).name is None
    with pytest.raises(ParameterError, match="no data set"):
        ledger.administer("visit", "erased", {})
    with pytest.raises(ParameterError, match="body cannot be stored"):
        ledger.administer(None, "erased", {"x": 0.5})
    ledger.raise_budget("visits", Budget(2, 1e-6), by=["Di", "Ed"])
    assert ledger.entries()[-1].body["by"] == ["Di", "Ed"]
    ledger.verify()


# Histories that whoever holds the file has signed anew.


def level(entry: dict[str, Any]) -> dict[str, Any]:
    return entry["body"]["levels"][-1]


def unpaid(entry: dict[str, Any]) -> None:
    level(entry)["state"]["accounts"][0]["amount"] = "0"


def no_levels(entry: dict[str, Any]) -> None:
    del entry["body"]["levels"]


def other_analyst(entry: dict[str, Any]) -> None:
    level(entry)["analyst"] = "Ann" if level(entry)["analyst"] == "Bob" else "Bob"


def no_analyst(entry: dict[str, Any]) -> None:
    entry["body"]["analyst"] = None


def not_withdrawn(entry: dict[str, Any]) -> None:
    level(entry)["withdrawn"] = False


def larger(entry: dict[str, Any]) -> None:
    level(entry)["state"]["epsilon"] = "9"


def smaller_point(entry: dict[str, Any]) -> None:
    level(entry)["delta"] = "1/3"


def other_question(entry: dict[str, Any]) -> None:
    entry["body"]["digest"] = "other"


def not_rationed(entry: dict[str, Any]) -> None:
    del entry["body"]["after"]["rationed"]


def long_ago(entry: dict[str, Any]) -> None:
    entry["time"] = "2040-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        *[(EntryKind.RESERVED, one) for one in (unpaid, no_levels, other_analyst, no_analyst)],
        *[(EntryKind.RESERVED, one) for one in (smaller_point, not_rationed, long_ago)],
        *[(EntryKind.SHARED, one) for one in (unpaid, no_levels, other_analyst, other_question)],
        (EntryKind.SHARED, long_ago),
        *[(EntryKind.LEVEL_OPENED, one) for one in (larger, not_rationed, other_analyst)],
        *[(EntryKind.LEVEL_RAISED, one) for one in (larger, unpaid)],
        *[(EntryKind.LEVEL_WITHDRAWN, one) for one in (not_withdrawn, unpaid)],
    ],
)
@pytest.mark.few(
    "RESERVED-unpaid",
    "SHARED-other_question",
    "LEVEL_OPENED-larger",
    "LEVEL_RAISED-larger",
    "not_withdrawn",
)
def test_levels_that_do_not_add_up_are_found_though_they_are_signed(
    ledger: Ledger, path: Path, kind: EntryKind, change: Callable[[dict[str, Any]], None]
) -> None:
    end = datetime(2039, 1, 1, tzinfo=UTC)
    ledger.allow("visits", Budget(0.6), purpose="research", expires=end)
    for who in ("Bob", "Ann"):
        ledger.allow("visits", Budget(0.4), purpose="research", analyst=who)
    answer(ledger, ANN, 0.1, "d", 7)
    share(ledger, BOB)
    ledger.raise_level("visits", Budget(0.5), purpose="research", analyst="Ann")
    ledger.withdraw("visits", purpose="research", analyst="Ann", why="has left")
    found = [entry.number for entry in ledger.entries() if entry.kind is kind]
    number = (
        found[0] if kind is EntryKind.LEVEL_OPENED and change is not other_analyst else found[-1]
    )
    forge(path, number, lambda _: None)
    ledger.verify()
    forge(path, number, change)
    with pytest.raises(LedgerDamaged, match=f"entry {number}"):
        ledger.verify()


def test_the_time_of_a_decision_is_the_time_of_its_entry(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decided in the last second of a level, written in the next: the entry must still hold."""
    end = datetime(2031, 1, 1, tzinfo=UTC)
    ledger.allow("visits", Budget(1), purpose="research", expires=end)
    ledger.allow("visits", Budget(1), purpose="research", analyst="Ann")
    at(monkeypatch, "2030-12-31T23:59:59Z")
    monkeypatch.setattr("letalone.ledger.storage.transaction.now", lambda: "2031-01-01T00:00:00Z")
    ask(ledger, ANN, PureDP(0.1))
    assert ledger.entries()[-1].time == "2030-12-31T23:59:59Z"
    monkeypatch.undo()
    assert entries.now() < "2030"
    ledger.verify()
