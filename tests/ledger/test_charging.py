"""The one road of everything that is paid for: claim, repeat, charge, work, settle or freeze."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread
from typing import Any

import pytest

import letalone as la
from letalone.errors import LetaloneError, ServiceUnavailable
from letalone.ledger import EntryKind, Ledger
from letalone.ledger.charging import (
    Charge,
    Payer,
    Settled,
    Work,
    charged_work,
    uncharged_work,
)
from letalone.ledger.claims import UnderWay

SECRET = "SECRETCELL"


class Drawing(Work):
    """Makes another number each time, and looks at the ledgers while it does."""

    def __init__(self, payers: Sequence[Payer] = (), then: Callable[[], None] | None = None):
        self.payers, self.then, self.seen = payers, then, list[Any]()

    def make(self) -> dict[str, Any]:
        self.seen.append([kinds(payer)[1:] for payer in self.payers])
        if self.then is not None:
            self.then()
        return {"format": 1, "draw": len(self.seen)}


class Harmless(Drawing):
    harmless = (KeyError,)


def payers(*names: str) -> list[Payer]:
    found = [Payer(Ledger.in_memory(), name, la.ADD_REMOVE) for name in names]
    for payer in found:
        payer.ledger.register(payer.name, la.Budget(3), neighbours=la.ADD_REMOVE)
    return found


def charge(epsilon: float = 1, digest: str = "a question") -> Charge:
    return Charge(f"This costs ({epsilon})", la.PureDP(epsilon), {}, digest, None)


def kinds(payer: Payer) -> list[EntryKind]:
    return [entry.kind for entry in payer.ledger.entries(payer.name)]


def failing() -> None:
    raise ValueError(SECRET)


def answered(*payers: Payer, **how: Any) -> Settled:
    return charged_work(list(payers), charge(), Drawing(payers), **how)


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_all_have_paid_when_the_work_begins_and_all_have_settled_when_it_is_told(
    names: list[str],
) -> None:
    paying = payers(*names)
    work = Drawing(paying)
    settled = charged_work(paying, charge(), work)
    assert work.seen == [[[EntryKind.RESERVED]] * len(names)]
    for payer in paying:
        assert kinds(payer)[1:] == [EntryKind.RESERVED, EntryKind.SETTLED]
        assert payer.ledger.repeat_of(payer.name, "a question") == settled.stored
    assert not settled.repeated
    assert settled.receipt == paying[0].ledger.receipt(settled.stored)
    left = [settled.remaining, *settled.remaining.beside]
    assert [one.data_set.spent for one in left] == [la.Budget(1)] * len(names)


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_the_same_again_is_free_until_the_version_of_one_is_raised(names: list[str]) -> None:
    paying = payers(*names)
    first, again = answered(*paying), answered(*paying)
    assert (again.stored, again.repeated) == (first.stored, True)
    paying[-1].ledger.raise_version(paying[-1].name)
    assert not answered(*paying).repeated
    assert [payer.ledger.data_set(payer.name).spent for payer in paying] == [la.Budget(2)] * len(
        names
    )


def test_without_repeats_each_call_is_charged_and_no_open_charge_is_gone_on_with() -> None:
    (payer,) = payers("a")

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        charged_work([payer], charge(), Drawing(then=stop), repeats=False)
    assert not hasattr(stopped.value, "__notes__"), "it does not say that it can be gone on with"
    for _ in range(2):
        assert not answered(payer, repeats=False).repeated
    assert payer.ledger.data_set("a").spent == la.Budget(3)


def test_an_open_charge_is_gone_on_with() -> None:
    (payer,) = payers("a")

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        charged_work([payer], charge(), Drawing(then=stop))
    assert "nothing more is charged" in stopped.value.__notes__[0]
    assert not answered(payer).repeated
    assert payer.ledger.data_set("a").spent == la.Budget(1)


def test_whatever_goes_wrong_freezes_all_and_is_told_as_one_fact() -> None:
    paying = payers("a", "b")
    with pytest.raises(la.DataSetFrozen, match="a and b are frozen: its engine") as told:
        charged_work(paying, charge(), Drawing(then=failing))
    assert told.value.__context__ is None
    assert SECRET not in str(told.value)
    assert all(payer.ledger.data_set(payer.name).frozen for payer in paying)


def test_the_second_is_frozen_even_if_the_ledger_of_the_first_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paying, fail = payers("a", "b"), Ledger.fail

    def away(ledger: Ledger, paid: Any, why: str) -> Any:
        if paid.name == "a":
            raise la.LedgerUnavailable("away")
        return fail(ledger, paid, why)

    monkeypatch.setattr(Ledger, "fail", away)
    with pytest.raises(la.LedgerUnavailable) as told:
        charged_work(paying, charge(), Drawing(then=failing))
    assert SECRET not in repr((told.value, told.value.__context__))
    assert [payer.ledger.data_set(payer.name).frozen for payer in paying] == [False, True]


def test_an_error_that_depends_on_no_data_closes_the_charge_and_freezes_nothing() -> None:
    paying = payers("a", "b")

    def revoked() -> None:
        raise KeyError("the right to read")

    with pytest.raises(KeyError):
        charged_work(paying, charge(), Harmless(then=revoked))
    for payer in paying:
        assert payer.ledger.unsettled() == []
        assert not payer.ledger.data_set(payer.name).frozen


def test_one_that_refuses_is_asked_first_so_nobody_else_is_charged() -> None:
    paying = payers("a", "b")
    paying[1].ledger.charge("b", la.PureDP(2.5), plan={}, digest="before")
    work = Drawing()
    with pytest.raises(la.BudgetExceeded, match=r"This costs \(1\) and does not fit .* of 'b'"):
        charged_work(paying, charge(), work)
    assert work.seen == []
    assert kinds(paying[0]) == [EntryKind.OPENED]


def test_of_two_who_ask_at_once_one_works_and_the_other_finds_its_answer() -> None:
    (payer,) = payers("a")
    late = list[Any]()

    def other() -> None:
        with suppress(UnderWay):
            late.append(charged_work([payer], charge(), Drawing(), wait_seconds=0))

    def ask_meanwhile() -> None:
        thread = Thread(target=other)
        thread.start()
        thread.join()

    charged_work([payer], charge(), Drawing(then=ask_meanwhile))
    assert late == [], "it was under way"
    assert answered(payer).repeated


def test_what_cannot_be_reached_is_told_before_the_charge_and_once_more_behind_it() -> None:
    (payer,) = payers("a")

    class Away(Drawing):
        away_when_paid = False

        def reach(self, *, paid: bool) -> None:
            if paid is self.away_when_paid:
                raise ServiceUnavailable("away")

    work = Away([payer])
    with pytest.raises(ServiceUnavailable):
        charged_work([payer], charge(), work)
    assert kinds(payer) == [EntryKind.OPENED]
    work.away_when_paid = True
    with pytest.raises(ServiceUnavailable):
        charged_work([payer], charge(), work)
    assert kinds(payer) == [EntryKind.OPENED, EntryKind.RESERVED]
    assert work.seen == []
    assert not answered(payer).repeated
    assert payer.ledger.data_set("a").spent == la.Budget(1)


def test_what_is_not_charged_tells_as_little() -> None:
    assert uncharged_work(Drawing()) == {"format": 1, "draw": 1}
    with pytest.raises(LetaloneError, match="Look at the data") as told:
        uncharged_work(Drawing(then=failing))
    assert told.value.__context__ is None
