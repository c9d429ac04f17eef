"""One question, one charge: what was charged and never settled is given again, to the same only."""

from typing import Any

import pytest

from behind import PATIENTS, execute
from letalone.errors import BudgetExceeded, DataSetFrozen, LedgerDamaged, NotAllowed
from letalone.ledger import Ledger, Reservation
from letalone.ledger.acts import AlreadySettled
from letalone.ledger.storage.transaction import LedgerTransaction
from letalone.privacy import Budget, PureDP

ASKED: dict[str, Any] = {"plan": {"count": "*"}, "digest": "d", "run": "one"}
ANN: dict[str, Any] = {"purpose": "p", "analyst": "Ann"}


def charged(ledger: Ledger, epsilon: float = 0.25, **more: Any) -> Reservation:
    return ledger.charge("visits", PureDP(epsilon), **{**ASKED, **more})


def test_a_charge_that_nobody_settled_is_given_again_and_nothing_is_charged(
    ledger: Ledger,
) -> None:
    first, entries = charged(ledger), len(ledger)
    assert charged(ledger) == first
    assert (ledger.data_set("visits").spent, len(ledger)) == (Budget(0.25), entries)
    ledger.settle(first, {"values": [1]})
    with pytest.raises(AlreadySettled):
        ledger.settle(first, {"values": [2]})
    assert ledger.settled(first) == {"values": [1]}
    assert charged(ledger) != first, "what was settled was told"
    ledger.verify()


def test_it_is_given_again_though_nothing_is_left(ledger: Ledger) -> None:
    first = charged(ledger, 1)
    with pytest.raises(BudgetExceeded):
        charged(ledger, 1, digest="another")
    assert charged(ledger, 1) == first


@pytest.mark.parametrize(
    "other",
    [
        {"digest": "e"},
        {"plan": {}},
        {"epsilon": 0.125},
        {"delta": 1e-7},
        {"analyst": "Ann"},
        {"purpose": "p"},
        {"run": "another"},
        {"run": None},
    ],
)
def test_whatever_says_something_else_is_charged_for_its_own(
    ledger: Ledger, other: dict[str, Any]
) -> None:
    first = charged(ledger)
    assert charged(ledger, **other).number == first.number + 1
    assert ledger.data_set("visits").releases == 2
    assert charged(ledger) == first


def test_who_did_not_say_that_nothing_is_told_before_is_never_gone_on_with(ledger: Ledger) -> None:
    told = charged(ledger, run=None)
    assert charged(ledger) != told
    assert charged(ledger, run=None).number > told.number + 1


def test_another_version_and_a_failure_are_charged_anew(ledger: Ledger) -> None:
    first = charged(ledger)
    ledger.raise_version("visits")
    second = charged(ledger)
    assert second != first
    ledger.abandon(second)
    third = charged(ledger)
    assert third != second
    assert ledger.unsettled() == [first.number, third.number]


def test_another_letalone_is_charged_anew(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may account for the same question in another way, and the receipt names versions."""
    first = charged(ledger)
    monkeypatch.setattr("letalone.ledger.acts.versions", lambda: {"letalone": "9.9"})
    assert charged(ledger) != first


def test_all_refusals_come_first(ledger: Ledger) -> None:
    ledger.allow("visits", Budget(1), purpose="p")
    ledger.allow("visits", Budget(0.25), purpose="p", analyst="Ann")
    first = charged(ledger, **ANN)
    ledger.freeze("visits", "a look")
    with pytest.raises(DataSetFrozen):
        charged(ledger, **ANN)
    assert ledger.unsettled() == [first.number]
    ledger.withdraw("visits", purpose="p", analyst="Ann", why="has left")
    with pytest.raises(NotAllowed):
        charged(ledger, **ANN)
    ledger.thaw("visits", "looked")
    assert ledger.begun("visits", PureDP(0.25), plan=ASKED["plan"], digest="d", **ANN) is None


def test_after_a_thaw_no_charge_of_before_is_gone_on_with(ledger: Ledger) -> None:
    """Not settled need not mean not told: an older copy may have been put in place."""
    first, other = charged(ledger), charged(ledger, digest="e", run=None)
    ledger.freeze("visits", "a look")
    ledger.thaw("visits", "looked")
    assert ledger.unsettled() == [other.number]
    with pytest.raises(AlreadySettled):
        ledger.settle(first, {"values": [1]})
    assert (ledger.settled(first), ledger.repeat_of("visits", "d")) == (None, None)
    assert charged(ledger).number > first.number
    assert ledger.data_set("visits").spent == Budget(0.75)
    ledger.verify()


def test_a_charge_from_before_levels_pays_for_no_level(ledger: Ledger) -> None:
    first = charged(ledger, **ANN)
    ledger.allow("visits", Budget(1), purpose="p")
    ledger.allow("visits", Budget(1), purpose="p", analyst="Ann")
    assert charged(ledger, **ANN) != first
    assert [level.spent for level in ledger.levels("visits")] == [Budget(0.25)] * 2


def test_the_run_of_a_charge_is_found_where_it_can_be_gone_on_with(ledger: Ledger) -> None:
    same = {"plan": ASKED["plan"], "digest": "d"}
    assert ledger.begun("visits", PureDP(0.25), **same) is None
    charged(ledger, run=None)
    assert ledger.begun("visits", PureDP(0.25), **same) is None, "it was charged for other uses"
    paid = charged(ledger, run="abc")
    assert ledger.begun("visits", PureDP(0.25), **same) == "abc"
    assert ledger.begun("visits", PureDP(0.5), **same) is None
    ledger.settle(paid, {"values": [1]})
    assert ledger.begun("visits", PureDP(0.25), **same) is None


def steps(ledger: Ledger, work: Any) -> int:
    """How many steps of its machine SQLite needs."""
    count = [0]

    def counted() -> int:
        count[0] += 1
        return 0

    engine: Any = ledger._store._engine
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        driver.set_progress_handler(counted, 1)
        work(connection)
        driver.set_progress_handler(None, 1)
    return count[0]


@pytest.mark.long  # how fast, not whether
def test_refusals_and_settled_charges_slow_nothing_down(tmp_path: Any) -> None:
    """Counted in steps of SQLite's machine: as many after 250 other entries as after two."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.register("visits", Budget(9**9), neighbours=PATIENTS)
        charged(ledger)

        def look(connection: Any) -> None:
            books = LedgerTransaction(connection)
            (found, _), begun = books.charging("visits", None, "d")
            assert (found is not None, len(begun)) == (True, 1)

        before = steps(ledger, look)
        for number in range(250):
            if number % 5 == 0:
                paid = charged(ledger, digest=str(number))
                ledger.settle(paid, {"values": [number]})
            ledger.refuse("visits", BudgetExceeded("no"), digest="x")
        assert steps(ledger, look) <= before + 20


def test_a_wrong_column_is_not_believed(tmp_path: Any) -> None:
    """What is found by an index is compared with what the entry says."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        ledger.register("visits", Budget(1), neighbours=PATIENTS)
        charged(ledger)
        execute(path, "UPDATE entries SET digest = 'e' WHERE digest = 'd'")
        with pytest.raises(LedgerDamaged, match="at entry 3"):
            ledger.charge("visits", PureDP(0.25), **{**ASKED, "digest": "e"})
        with pytest.raises(LedgerDamaged, match="at entry 3"):
            ledger.verify()
