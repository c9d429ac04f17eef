"""Budgets belong to names, charges are exact, refusals are written down and cost nothing."""

import copy
import os
import pickle
import stat
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from behind import PATIENTS, execute
from letalone.errors import (
    BudgetExceeded,
    DataSetFrozen,
    FormatError,
    LedgerUnavailable,
    LetaloneError,
    NeighboursDiffer,
    ParameterError,
    UnsupportedQuery,
)
from letalone.ledger import EntryKind, Ledger
from letalone.privacy import (
    ADD_REMOVE,
    REPLACE,
    ApproxDP,
    Budget,
    Filter,
    GaussianDP,
    NoPrivacy,
    Privacy,
    PureDP,
    Shares,
)


def ask(ledger: Ledger, privacy: Privacy, *, name: str = "visits", digest: str = "d") -> object:
    return ledger.charge(name, privacy, plan={"q": digest}, digest=digest)


def kinds(ledger: Ledger, name: str | None = None) -> list[str]:
    return [entry.kind.value for entry in ledger.entries(name)]


# Charges.


def test_ten_charges_of_a_tenth_fit_into_one_and_an_eleventh_does_not(path: Path) -> None:
    ledger = Ledger.open(path)
    ledger.register("visits", Budget(1), neighbours=PATIENTS)
    for _ in range(10):
        ask(Ledger.open(path), PureDP(0.1))  # opened anew each time: the file is what counts
    with pytest.raises(BudgetExceeded, match="Nothing was charged"):
        ask(ledger, PureDP(1e-9))
    found = ledger.data_set("visits")
    assert (found.spent, found.remaining, found.releases) == (Budget(1), Budget(0), 10)


def test_the_ledger_spends_as_the_filter_does(ledger: Ledger) -> None:
    spending = Filter(Budget(1, 1e-6))
    for privacy in (PureDP(0.1), GaussianDP(0.02), ApproxDP(0.05, 1e-8), GaussianDP(0.1)):
        ask(ledger, privacy)
        assert ledger.data_set("visits").spent == spending.charge(privacy)
    found = ledger.data_set("visits")
    assert found.state.accounts == spending.state.accounts
    assert found.how_many_more(PureDP(0.01)) == spending.how_many_more(PureDP(0.01))


def test_g8_every_release_and_every_refusal_is_an_entry(ledger: Ledger) -> None:
    paid = ledger.charge("visits", PureDP(0.5), plan={}, digest="a", analyst="Ann", purpose="p")
    ledger.settle(paid, {"values": [3]})
    refused: list[tuple[Privacy, type[LetaloneError]]] = [
        (PureDP(0.6), BudgetExceeded),
        (NoPrivacy(), BudgetExceeded),
        (PureDP(0.1).with_neighbours(REPLACE), NeighboursDiffer),
        (PureDP(0.1).with_neighbours(ADD_REMOVE.of("visit")), NeighboursDiffer),
    ]
    for privacy, error in refused:
        before = ledger.data_set("visits")
        with pytest.raises(error):
            ledger.charge("visits", privacy, plan={}, digest="b", analyst="Bob", purpose="q")
        assert ledger.data_set("visits") == before
        last = ledger.entries()[-1]
        assert last.kind is EntryKind.REFUSED
        assert last.body == {
            "reason": error.__name__, "digest": "b", "analyst": "Bob", "purpose": "q",
        }  # fmt: skip
    ledger.refuse("visits", UnsupportedQuery("x"), digest="c", analyst="Cy")
    assert ledger.entries()[-1].body["reason"] == "UnsupportedQuery"
    assert kinds(ledger) == ["created", "opened", "reserved", "settled"] + ["refused"] * 5
    ledger.verify()


def test_a_charge_is_in_the_file_before_it_returns(ledger: Ledger, path: Path) -> None:
    paid = ledger.charge("visits", PureDP(0.25), plan={"q": 1}, digest="a")
    other = Ledger.open(path)
    assert other.data_set("visits").spent == Budget(0.25)
    last = other.entries()[-1]
    assert (last.number, last.hash) == (paid.number, paid.ledger_hash)
    assert last.body["plan"] == {"q": 1}
    assert last.hash == other.head


def test_a_charge_that_is_not_settled_stays_spent_and_is_shown(ledger: Ledger, path: Path) -> None:
    paid = ledger.charge("visits", PureDP(0.25), plan={}, digest="a")
    again = Ledger.open(path)
    assert again.unsettled() == again.unsettled("visits") == [paid.number]
    assert again.data_set("visits").spent == Budget(0.25)
    again.settle(paid, {"values": []})
    assert again.unsettled() == []


def test_each_reservation_is_settled_once_and_in_its_own_ledger(ledger: Ledger) -> None:
    paid = ledger.charge("visits", PureDP(0.1), plan={}, digest="a")
    other = Ledger.in_memory()
    other.register("visits", Budget(1), neighbours=PATIENTS)
    ask(other, PureDP(0.1))
    with pytest.raises(ParameterError, match="is not of this ledger"):
        other.settle(paid, {})
    ledger.settle(paid, {"values": [1]})
    for end in (lambda: ledger.settle(paid, {"values": [2]}), lambda: ledger.fail(paid)):
        with pytest.raises(ParameterError, match="is settled already"):
            end()
    assert ledger.repeat_of("visits", "a") == {"values": [1]}
    assert not ledger.data_set("visits").frozen


def test_a_release_with_a_float_is_refused_and_nothing_is_written(ledger: Ledger) -> None:
    paid = ledger.charge("visits", PureDP(0.1), plan={}, digest="a")
    head = ledger.head
    with pytest.raises(ParameterError, match=r"release cannot be stored: .*float"):
        ledger.settle(paid, {"values": [0.5]})
    assert ledger.head == head


class Unknown(PureDP):
    """A curve that letalone cannot read back."""

    kind = "unknown"


@pytest.mark.parametrize("privacy", [Unknown(0.1), Unknown(0.1) * 2, Budget(1), 0.1, None])
def test_what_cannot_be_read_back_is_not_charged(ledger: Ledger, privacy: Privacy) -> None:
    head = ledger.head
    with pytest.raises(ParameterError):
        ask(ledger, privacy)
    assert ledger.head == head


@pytest.mark.parametrize(
    "wrong",
    [
        {"plan": {"x": 0.5}},
        {"digest": ""},
        {"digest": 5},
        {"analyst": ""},
        {"purpose": 3},
        {"name": "visit"},
    ],
)
def test_a_wrong_argument_is_refused_before_anything_is_written(
    ledger: Ledger, wrong: dict[str, object]
) -> None:
    head = ledger.head
    with pytest.raises(ParameterError):
        ledger.charge(**{"name": "visits", "privacy": PureDP(1), "plan": {}, "digest": "d"} | wrong)
    assert ledger.head == head


# Repeats and versions.


def test_a_repeat_is_the_first_answer_and_only_of_the_same_version(ledger: Ledger) -> None:
    assert ledger.repeat_of("visits", "a") is None
    for value in (1, 2):
        paid = ledger.charge("visits", PureDP(0.1), plan={}, digest="a")
        ledger.settle(paid, {"values": [value]})
    assert ledger.repeat_of("visits", "a") == {"values": [1]}
    assert ledger.repeat_of("visits", "b") is None
    assert ledger.raise_version("visits").version == 2
    assert ledger.repeat_of("visits", "a") is None
    assert ledger.data_set("visits").spent == Budget(0.2)


def test_an_answer_belongs_to_the_version_that_it_was_paid_for(ledger: Ledger) -> None:
    paid = ledger.charge("visits", PureDP(0.1), plan={}, digest="a")
    ledger.raise_version("visits")
    ledger.settle(paid, {"values": [1]})
    assert ledger.repeat_of("visits", "a") is None


def test_a_failure_is_no_answer(ledger: Ledger) -> None:
    ledger.fail(ledger.charge("visits", PureDP(0.1), plan={}, digest="a"))
    assert ledger.repeat_of("visits", "a") is None


def test_an_abandoned_charge_stays_spent_and_is_no_answer_and_freezes_nothing(
    ledger: Ledger,
) -> None:
    ledger.abandon(ledger.charge("visits", PureDP(0.1), plan={}, digest="a"))
    found = ledger.data_set("visits")
    assert (found.frozen, found.spent) == (False, Budget(0.1))
    assert ledger.repeat_of("visits", "a") is None
    assert ledger.unsettled() == []
    ledger.verify()


def test_what_fits_is_said_without_an_entry(ledger: Ledger) -> None:
    before = len(ledger)
    assert ledger.fits("visits", PureDP(1))
    assert not ledger.fits("visits", PureDP(1.001))
    assert not ledger.fits("nobody", PureDP(0.1))
    assert len(ledger) == before
    ledger.freeze("visits", "looked at")
    assert not ledger.fits("visits", PureDP(0.1))


def test_repeats_of_another_data_set_are_not_given(ledger: Ledger) -> None:
    ledger.register("other", Budget(1), neighbours=PATIENTS)
    paid = ledger.charge("other", PureDP(0.1), plan={}, digest="a")
    ledger.settle(paid, {"values": [1]})
    assert ledger.repeat_of("visits", "a") is None


# Registration.


def test_the_same_name_goes_on_with_the_same_budget(ledger: Ledger) -> None:
    ask(ledger, PureDP(0.4))
    again = ledger.register("visits", Budget(1, 1e-6), neighbours=PATIENTS)
    assert again.spent == Budget(0.4)
    assert kinds(ledger).count("opened") == 1
    newer = ledger.register("visits", Budget(1, 1e-6), neighbours=PATIENTS, version=3)
    assert (newer.version, newer.spent) == (3, Budget(0.4))
    older = ledger.register("visits", Budget(1, 1e-6), neighbours=PATIENTS, version=2)
    assert older.version == 3
    ledger.verify()


def test_another_budget_is_refused_with_what_is_spent_and_the_remedy(ledger: Ledger) -> None:
    ask(ledger, PureDP(0.4))
    for budget in (Budget(2, 1e-6), Budget(0.5, 1e-6), Budget(1), Budget(1, 1e-5)):
        with pytest.raises(ParameterError, match=r"ε = 0\.4\) is spent.*raise_budget"):
            ledger.register("visits", budget, neighbours=PATIENTS)
    with pytest.raises(ParameterError, match="shares"):
        ledger.register("visits", Budget(1, 1e-6), neighbours=PATIENTS, shares=Shares(sums=1))


def test_another_unit_or_relation_has_no_fresh_budget(ledger: Ledger) -> None:
    for other in (REPLACE.of("patient"), ADD_REMOVE.of("visit"), ADD_REMOVE):
        with pytest.raises(NeighboursDiffer, match="add or remove one patient"):
            ledger.register("visits", Budget(1, 1e-6), neighbours=other)


def test_a_unit_that_a_charge_has_named_is_kept(path: Path) -> None:
    ledger = Ledger.open(path)
    ledger.register("t", Budget(1), neighbours=ADD_REMOVE)
    ask(ledger, PureDP(0.1).with_neighbours(PATIENTS), name="t")
    assert ledger.data_set("t").neighbours == PATIENTS
    with pytest.raises(NeighboursDiffer):
        ask(ledger, PureDP(0.1).with_neighbours(ADD_REMOVE.of("row")), name="t")
    ledger.register("t", Budget(1), neighbours=ADD_REMOVE)
    ledger.register("t", Budget(1), neighbours=PATIENTS)
    ledger.verify()


@pytest.mark.parametrize(
    "name", ["", " visits", "visits\n", "vi\x00sits", "e\u0301", "x" * 201, None, 5]
)
def test_a_name_that_looks_like_another_is_refused(ledger: Ledger, name: str) -> None:
    with pytest.raises(ParameterError, match="name is"):
        ledger.register(name, Budget(1), neighbours=PATIENTS)


def test_an_unknown_name_is_told_which_there_are(ledger: Ledger) -> None:
    for call in (ledger.data_set, ledger.raise_version, lambda name: ledger.freeze(name, "x")):
        with pytest.raises(ParameterError, match=r"no data set 'visit'\. It has: visits\."):
            call("visit")


@pytest.mark.parametrize(
    "wrong", [{"budget": 1}, {"neighbours": None}, {"version": 0}, {"version": 1.5}]
)
def test_a_wrong_registration_is_refused(ledger: Ledger, wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        ledger.register(**{"name": "new", "budget": Budget(1), "neighbours": PATIENTS} | wrong)


# Frozen data sets.


def test_a_failure_freezes_and_only_the_owner_thaws(ledger: Ledger) -> None:
    ledger.fail(ledger.charge("visits", PureDP(0.25), plan={}, digest="a"))
    found = ledger.data_set("visits")
    assert (found.frozen, found.spent) == (True, Budget(0.25)), "a failure costs what it costs"
    with pytest.raises(DataSetFrozen, match="thaw"):
        ask(ledger, PureDP(0.1))
    assert ledger.entries()[-1].body["reason"] == "DataSetFrozen"
    assert ledger.register("visits", Budget(1, 1e-6), neighbours=PATIENTS).frozen
    ledger.thaw("visits", "looked into it")
    ask(ledger, PureDP(0.1))
    assert ledger.data_set("visits").spent == Budget(0.35)
    ledger.verify()


def test_an_answer_under_way_can_be_settled_while_frozen(ledger: Ledger) -> None:
    paid = ledger.charge("visits", PureDP(0.1), plan={}, digest="a")
    ledger.freeze("visits", "an audit")
    ledger.settle(paid, {"values": [1]})
    assert ledger.data_set("visits").frozen


# Raising a budget.


def test_a_raised_budget_stands_as_if_it_had_been_so_from_the_start(ledger: Ledger) -> None:
    charges = [PureDP(0.3), GaussianDP(0.1), ApproxDP(0.1, 1e-8), GaussianDP(0.05).sampled(0.1)]
    for privacy in charges:
        ask(ledger, privacy)
    after = ledger.raise_budget("visits", Budget(3, 1e-5))
    spending = Filter(Budget(3, 1e-5))
    for privacy in charges:
        spending.charge(privacy, delta=1e-9)  # a thousandth of the first budget's delta
    assert after.state.accounts == spending.state.accounts
    assert after.state.leak == spending.state.leak
    ledger.verify()


def test_what_fits_after_a_raise_is_the_difference_and_no_more(path: Path) -> None:
    ledger = Ledger.open(path)
    ledger.register("t", Budget(1), neighbours=PATIENTS)
    ask(ledger, PureDP(1), name="t")
    ledger.raise_budget("t", Budget(1.5))
    with pytest.raises(BudgetExceeded):
        ask(ledger, PureDP(0.500001), name="t")
    ask(ledger, PureDP(0.5), name="t")
    with pytest.raises(BudgetExceeded):
        ask(ledger, PureDP(1e-9), name="t")


@pytest.mark.long  # raising: test_raised_budgets.py
def test_a_raise_from_a_delta_of_zero_keeps_what_was_charged() -> None:
    ledger = Ledger.in_memory()
    ledger.register("t", Budget(1), neighbours=PATIENTS)
    for _ in range(300):  # more than 250 leaks of a thousandth would fit into a quarter of delta
        ask(ledger, PureDP(0.001).sampled(0.5), name="t")
    after = ledger.raise_budget("t", Budget(1, 1e-6))
    assert (after.state.leak, after.releases) == (0, 300)


def test_a_budget_is_never_lowered(ledger: Ledger) -> None:
    head = ledger.head
    for budget in (Budget(0.9, 1e-5), Budget(2, 1e-7), Budget(0)):
        with pytest.raises(ParameterError, match="never lowered"):
            ledger.raise_budget("visits", budget)
    ledger.raise_budget("visits", Budget(1, 1e-6))
    assert ledger.head == head, "the same budget is no raise"


# The file.


def test_the_file_and_its_log_are_for_the_owner_only(ledger: Ledger, path: Path) -> None:
    with ledger._store.writing():
        files = list(path.parent.glob("ledger.db*"))
        assert len(files) == 3
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_the_file_is_written_safely(ledger: Ledger, path: Path) -> None:
    with ledger._store.reading() as books:
        asked = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        found = [books.connection.exec_driver_sql(f"PRAGMA {one}").scalar_one() for one in asked]
    assert found == ["wal", 2, 1, 30_000]


def test_a_folder_a_missing_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    for place, words in ((tmp_path, "is a folder"), (tmp_path / "no" / "x.db", "is not a folder")):
        with pytest.raises(ParameterError, match=words):
            Ledger.open(place)
    with pytest.raises(ParameterError, match="is not there"):
        Ledger.open(tmp_path / "x.db", create=False)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ParameterError, match="must name a file"):
        Ledger.open(5)


def test_a_place_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(LedgerUnavailable, match="cannot be made: Permission denied"):
        Ledger.open(tmp_path / "x.db")


@pytest.mark.parametrize(
    "content", [b"name,age\nAnn,40\n" * 100, b"SQLite format 3\x00" + b"\7" * 900]
)
def test_a_file_of_another_kind_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(FormatError):
        Ledger.open(path)
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    execute(path, "CREATE TABLE entries (number INTEGER)")
    before = path.read_bytes()
    with pytest.raises(FormatError, match="of another program"):
        Ledger.open(path)
    assert path.read_bytes() == before


def test_a_newer_ledger_is_refused_with_both_formats(ledger: Ledger, path: Path) -> None:
    execute(path, "PRAGMA user_version = 7")
    with pytest.raises(FormatError, match="has format 7, and this letalone reads up to format 3"):
        Ledger.open(path)


def test_a_name_with_special_characters_is_a_file_of_that_name(tmp_path: Path) -> None:
    for name in (":memory:", "file:x?mode=memory", "a b#%41.db"):
        Ledger.open(tmp_path / name).register("t", Budget(1), neighbours=PATIENTS)
        assert (tmp_path / name).stat().st_size > 0
        assert len(Ledger.open(tmp_path / name)) == 2


def test_an_empty_file_becomes_a_ledger_only_where_one_may_be_made(path: Path) -> None:
    path.touch()
    with pytest.raises(FormatError, match="is empty"):
        Ledger.open(path, create=False)
    assert len(Ledger.open(path)) == 1


# In memory, closed, copied.


def test_a_ledger_in_memory_says_so_and_is_shared_by_threads() -> None:
    ledger = Ledger.in_memory()
    assert (ledger.durable, ledger.path) == (False, None)
    assert "this process only" in repr(ledger)
    ledger.register("t", Budget(1), neighbours=PATIENTS)
    _in_threads(lambda: _until_refused(ledger, PureDP(0.1)))
    assert ledger.data_set("t").spent == Budget(1)
    assert ledger.verify().entries == 2 + 10 + 4


def test_a_file_is_shared_by_threads(path: Path) -> None:
    ledger = Ledger.open(path)
    ledger.register("t", Budget(1), neighbours=PATIENTS)
    _in_threads(lambda: _until_refused(ledger, PureDP(0.1)))
    assert ledger.data_set("t").spent == Budget(1)
    assert ledger.verify().entries == 2 + 10 + 4


def test_a_ledger_in_memory_is_not_spent_twice_after_a_fork(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ledger = Ledger.in_memory()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(ParameterError, match="another process"):
        ledger.register("t", Budget(1), neighbours=PATIENTS)


def test_a_closed_ledger_says_so(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.register("t", Budget(1), neighbours=PATIENTS)
    for call in (ledger.data_sets, ledger.verify, lambda: ask(ledger, PureDP(1), name="t")):
        with pytest.raises(ParameterError, match="is closed"):
            call()
    assert Ledger.open(path).data_set("t").releases == 0


def test_a_ledger_is_neither_copied_nor_pickled(ledger: Ledger) -> None:
    assert copy.copy(ledger) is copy.deepcopy(ledger) is ledger
    with pytest.raises(TypeError, match="open its file"):
        pickle.dumps(ledger)


def _until_refused(ledger: Ledger, privacy: Privacy) -> None:
    while True:
        try:
            ask(ledger, privacy, name="t")
        except BudgetExceeded:
            return


def _in_threads(work: Callable[[], None]) -> None:
    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_the_newest_entries_are_those_of_all_entries_backwards(ledger: Ledger) -> None:
    ledger.register("other", Budget(1), neighbours=ADD_REMOVE)
    for number in range(5):
        ledger.note(f"note {number}", name="other" if number % 2 else None)
    whole = list(ledger.entries())[::-1]
    assert ledger.newest(limit=100) == whole
    assert ledger.newest(before=whole[1].number, limit=2) == whole[2:4]
    assert ledger.newest("other", limit=9) == list(ledger.entries("other"))[::-1]


def test_the_last_act_of_a_kind_is_found_under_any_number_of_others(ledger: Ledger) -> None:
    acts = [ledger.administer("visits", 'moved "100%_/"', {"to": number}) for number in range(2)]
    for number in range(60):
        ledger.administer("visits", "a note", {"what": 'moved "100%_/"', "number": number})
    assert ledger.last_act("visits", 'moved "100%_/"') == acts[1]
    assert ledger.last_act("visits", "A note") is None
    assert ledger.last_act("other", "a note") is None


def test_a_ledger_in_memory_outlives_a_connection_that_ctrl_c_has_closed():
    ledger = Ledger.in_memory()
    ledger.register("visits", Budget(1), neighbours=ADD_REMOVE)
    with ledger._store._engine.connect() as connection:
        connection.invalidate()  # as SQLAlchemy does when a statement is interrupted
    assert [one.name for one in ledger.data_sets()] == ["visits"]
    ledger.verify()
    ledger.close()
