"""The order of things: refused before charged, charged before measured, kept before shown."""

import signal
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from sqlglot import parse_one

import letalone as la
from letalone.engines.duckdb import lockdown
from letalone.engines.duckdb.duck_engine import DuckEngine
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.ledger import EntryKind
from session.makers import EVERYTHING, by_ward, opened, visits, write_parquet

ONE = la.Budget(epsilon=1)


def kinds(session: la.Session) -> list[EntryKind]:
    return [entry.kind for entry in session.ledger.entries(session.name)]


def test_the_epsilon_typed_is_the_epsilon_charged() -> None:
    session = opened(budget=ONE)
    for age in range(10):
        session.where(la.col("age") >= age).agg(n=la.count()).release(0.1)
    assert session.spent == ONE
    assert session.remaining == la.Budget(0)


def test_a_repeat_is_free_and_identical() -> None:
    session = opened(budget=ONE)
    first = by_ward(session).release(0.5)
    entries = len(session.ledger)
    again = by_ward(session).release(0.5)
    assert again == first
    assert again.rows() == first.rows()
    assert (first.repeated, again.repeated) == (False, True)
    assert "nothing spent" in str(again)
    assert session.spent == la.Budget(0.5)
    assert len(session.ledger) == entries, "nothing is charged, nothing is written"


@pytest.mark.parametrize(
    "other",
    [
        lambda q: q.release(0.3),
        lambda q: q.release(0.2, confidence=0.9),
        lambda q: q.release(0.2, delta=1e-7),
        lambda q: q.where(la.col("age") > 1).release(0.2),
        lambda q: q.bound(max_rows=2).release(0.2),
    ],
)
def test_another_question_is_no_repeat(other: Any) -> None:
    session = opened(budget=la.Budget(1, 1e-3))
    session.bound(max_rows=10).agg(n=la.count()).release(0.2)
    assert not other(session.bound(max_rows=10).agg(n=la.count())).repeated
    assert kinds(session).count(EntryKind.RESERVED) == 2


def test_a_raised_version_makes_a_repeat_cost_again(tmp_path: Path) -> None:
    session = opened(budget=ONE)
    session.agg(n=la.count()).release(0.25)
    session.ledger.raise_version(session.name)
    assert not session.agg(n=la.count()).release(0.25).repeated
    assert session.spent == la.Budget(0.5)

    path, book = write_parquet(tmp_path / "visits.parquet"), tmp_path / "b.db"
    schema = la.open(path, unit=la.ROW, budget=ONE).schema
    for version, repeated in ((1, False), (1, True), (2, False), (2, True), (1, True)):
        named = la.Schema(schema.name, schema.columns, version=version)
        with la.open(path, schema=named, budget=ONE, ledger=book) as declared:
            assert declared.agg(n=la.count()).release(0.25).repeated is repeated, version


def test_g8_every_release_and_every_refusal_is_in_the_ledger() -> None:
    session = opened(budget=ONE)
    query = session.bound(max_rows=10).agg(n=la.count())
    first = query.release(0.75)
    for refused in (lambda: query.release(0.5), lambda: session.batch([query] * 2, epsilon=0.25)):
        with pytest.raises(la.BudgetExceeded):
            refused()
    told = [kind for kind in kinds(session) if kind is not EntryKind.ADMINISTERED]
    assert told == [
        EntryKind.OPENED,
        EntryKind.RESERVED,
        EntryKind.SETTLED,
        EntryKind.REFUSED,
        EntryKind.REFUSED,
    ]
    (reserved,) = [e for e in session.ledger.entries(session.name) if e.kind is EntryKind.RESERVED]
    assert reserved.body["digest"] == first.asked.digest
    assert reserved.body["plan"] == first.plan
    session.ledger.verify()


@pytest.mark.parametrize(("neighbours", "parts"), [(la.ADD_REMOVE, 1), (la.REPLACE, 2)])
def test_p6_groups_that_a_unit_is_in_one_of_cost_the_largest_not_the_sum(
    neighbours: la.Neighbours, parts: int
) -> None:
    """Under replace, a row leaves one group and enters another: the two largest."""
    session = opened(unit=la.ROW, neighbours=neighbours, budget=ONE)
    one = session.agg(n=la.count())
    grouped = session.group_by(la.bins("age", 0, 100, 1)).agg(n=la.count())
    release = grouped.release(0.5)
    assert len(release.rows()) == 100
    assert session.spent == la.Budget(0.5)
    assert "one charge for all 100 groups together" in release.asked.split[0].groups
    assert release.asked.split[0].groups.endswith(f" {parts} of them")
    errors = [query.preview(0.5).errors["n"] or 0 for query in (one, grouped)]
    assert errors[1] <= parts * errors[0] + 1


def test_over_budget_is_refused_recorded_and_costs_nothing() -> None:
    session = opened(budget=ONE)
    session.agg(n=la.count()).release(0.75)
    query = by_ward(session)
    with pytest.raises(la.BudgetExceeded) as caught:
        query.release(0.5)
    words = str(caught.value)
    assert "costs (ε = 0.5)" in words
    assert "The most that fits now: ε = 0.25." in words
    assert caught.value.__context__ is None
    assert kinds(session)[-1] is EntryKind.REFUSED
    assert session.spent == la.Budget(0.75)
    assert query.release(0.25).epsilon == 0.25


def test_about_how_many_more_fit() -> None:
    session = opened(budget=ONE)
    query = session.agg(n=la.count())
    assert session.how_many_more(query, epsilon=0.1) == 10
    assert "enough for 7 more" in " ".join(str(query.release(0.125)).split())
    assert session.how_many_more(query, epsilon=0.125) == 7


def failing(secret: str) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise ValueError(f"Could not convert string '{secret}' to INT64")

    return fail


@pytest.mark.parametrize("method", ["prepare", "measure", "discover"])
def test_a_failure_after_the_charge_freezes_and_tells_nothing(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened(budget=la.Budget(1, 1e-3))
    monkeypatch.setattr(DuckEngine, method, failing("SECRETCELL"))
    query = session.group_by("ward").bound(max_rows=10).agg(n=la.count())
    with pytest.raises(la.DataSetFrozen) as caught:
        query.release(0.5, delta=1e-5)
    error = caught.value
    assert (error.__cause__, error.__context__) == (None, None)
    assert "SECRET" not in str(error)
    assert session.spent.epsilon == la.Budget(0.5).epsilon, "what was charged stays spent"
    assert kinds(session)[-2:] == [EntryKind.SETTLED, EntryKind.FROZEN]
    monkeypatch.undo()
    with pytest.raises(la.DataSetFrozen):
        query.release(0.1, delta=1e-5, confirm=True)
    assert "frozen until its owner acts" in repr(session)
    session.ledger.thaw(session.name, "looked at it")
    assert query.release(0.1, delta=1e-5, confirm=True).rows() is not None


def test_a_failure_of_the_noise_is_no_different(monkeypatch: pytest.MonkeyPatch) -> None:
    from letalone.tables.compiled import Compiled

    session = opened()
    monkeypatch.setattr(Compiled, "finish", failing("SECRETCELL"))
    with pytest.raises(la.DataSetFrozen) as caught:
        session.agg(n=la.count()).release(1)
    assert caught.value.__context__ is None


def test_a_listener_that_fails_does_not_freeze() -> None:
    heard: list[float] = []

    def listen(done: float) -> None:
        heard.append(done)
        raise ValueError("the bar is broken")

    session = opened(progress=listen)
    assert len(session.agg(n=la.count()).release(1).rows()) == 1
    assert heard == sorted(heard)
    assert heard[-1] == 1


def test_an_interrupted_release_freezes_nothing_and_the_same_again_goes_on_with_what_was_paid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = opened(budget=ONE)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(DuckEngine, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt) as stopped:
        session.bound(max_rows=10).agg(n=la.count()).release(0.5)
    assert "Ask the same again" in stopped.value.__notes__[0]
    monkeypatch.undo()
    assert session.spent == la.Budget(0.5)
    assert len(session.ledger.unsettled(session.name)) == 1
    assert not session.bound(max_rows=10).agg(n=la.count()).release(0.5).repeated
    assert (session.spent, session.ledger.unsettled()) == (la.Budget(0.5), [])


@pytest.mark.parametrize("way", ["run", "read"])
def test_ctrl_c_within_a_statement_stays_spent_and_freezes_nothing(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real signal, once a statement runs that would take minutes; the next question works."""
    monkeypatch.setattr(lockdown, "available_threads", lambda: 1)  # which looks for signals
    session = opened(budget=ONE)
    query = session.agg(n=la.count()).bound(max_rows=1)
    slow = parse_one("SELECT MAX(HASH(x)) FROM RANGE(100000000000) AS r(x)", dialect="duckdb")
    real = getattr(LockedDuck, way)

    def running(duck: LockedDuck, _: object, *take: object, **more: object) -> object:
        Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
        return real(duck, slow, *take, **more)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(LockedDuck, way, running)
    try:
        with pytest.raises(KeyboardInterrupt):
            query.release(0.5)
    finally:
        signal.signal(signal.SIGINT, before)
    monkeypatch.undo()
    assert session.spent == la.Budget(0.5)
    assert not query.release(0.25).repeated


def test_an_answer_that_cannot_be_written_down_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = opened(budget=ONE)

    def full(*_: object, **__: object) -> None:
        raise la.LedgerUnavailable("The disk is full.")

    monkeypatch.setattr(la.Ledger, "settle", full)
    with pytest.raises(la.LedgerUnavailable):
        session.bound(max_rows=10).agg(n=la.count()).release(0.5)
    assert session.spent == la.Budget(0.5)


def test_data_is_touched_only_after_the_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    session = opened(budget=ONE)
    charged: list[int] = []
    measure = DuckEngine.measure

    def watched(self: DuckEngine, *given: Any) -> Any:
        charged.append(kinds(session).count(EntryKind.RESERVED))
        return measure(self, *given)

    monkeypatch.setattr(DuckEngine, "measure", watched)
    query = session.bound(max_rows=10).agg(n=la.count())
    query.preview(0.5)
    query.explain(0.5)
    query.epsilon_for(error=10)
    session.how_many_more(query, epsilon=0.5)
    assert charged == []
    query.release(0.5)
    query.release(0.5)
    assert charged == [1]


def test_every_aggregate_is_answered_with_its_columns() -> None:
    session = opened(seed=6, types={"age": "integer"})
    query = session.bound(max_rows=10).agg(**EVERYTHING)
    release = query.release(5000)
    assert query.preview(5000).columns == release.columns
    (row,) = release.rows()
    frame = visits()
    people = frame["patient_id"].nunique()
    assert row["people"] == people
    assert row["q_0.5_low"] <= frame["age"].median() <= row["q_0.5_high"]
    wards = frame["ward"].value_counts()
    assert wards[row["top_1"]] == wards.max()
    assert row["bounds_lower"] < row["bounds_upper"]
    assert "bounds_lower_low" not in row
    whole = ["n", "people", "q_0.25", "middle", "least", "ages_[0, 18)", "top_1_count"]
    assert all(type(row[name]) is int for name in whole)
    assert type(row["cost"]) is float
    assert release.privacy.epsilon(0) == 5000


@pytest.mark.long  # others of this file stay
def test_every_aggregate_is_answered_about_an_empty_table() -> None:
    session = opened(visits().head(0))
    release = session.agg(**EVERYTHING).release(1)
    assert len(release.rows()) == 1
    grouped = session.group_by("ward", keys=["A", "B"]).agg(**EVERYTHING).release(1)
    assert [row["ward"] for row in grouped.rows()] == ["A", "B"]


def test_keys_are_found_privately_sorted_and_none_is_an_answer_too() -> None:
    session = opened(budget=la.Budget(10, 0.1), seed=7)
    query = session.group_by("ward").agg(n=la.count_distinct()).bound(max_groups=3)
    assert [row["ward"] for row in query.release(5, delta=0.01).rows()] == ["A", "B", "C"]
    nobody = opened(visits().head(0), budget=la.Budget(10, 0.1), seed=7)
    release = nobody.group_by("ward").agg(n=la.count_distinct(), m=EVERYTHING["q"])
    empty = release.bound(max_groups=1, max_rows=1).release(1, delta=1e-9)
    assert empty.rows() == []
    assert empty.to_pandas().shape == (0, len(empty.columns))
    assert "groups that too few people have are not listed" in empty.explain()


def test_a_group_of_ten_and_the_curve_of_the_answer() -> None:
    """P7: what is promised to a family."""
    release = by_ward(opened()).release(0.5)
    assert release.privacy.epsilon(0) == 0.5
    assert release.privacy.group(10).epsilon(0) == 5
    assert "ε = 5" in release.for_a_group(10)
    assert release.for_a_group(10) in " ".join(release.explain().split())


CHILD = """
import sys, os, signal
import letalone as la
from letalone.engines.duckdb.duck_engine import DuckEngine
path, book, what = sys.argv[1:]
session = la.open(path, unit="patient_id", budget=la.Budget(1), ledger=book)
if what == "kill":
    DuckEngine.measure = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
print(session.bound(max_rows=10).agg(n=la.count()).release(0.625).rows()[0]["n"])
"""


def child(path: Path, book: Path, what: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", CHILD, str(path), str(book), what]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.long  # two processes: test_a_killed_process_leaves_the_budget_spent stays
def test_a_budget_outlives_its_process(tmp_path: Path) -> None:
    path, book = write_parquet(tmp_path / "visits.parquet"), tmp_path / "budget.db"
    first = child(path, book, "answer")
    assert first.returncode == 0, first.stderr
    second = child(path, book, "answer")
    assert second.stdout == first.stdout, "a repeat, also in another process"
    with la.open(path, unit="patient_id", ledger=book) as session:
        assert session.spent == la.Budget(0.625)
        assert (
            str(session.bound(max_rows=10).agg(n=la.count()).release(0.625).rows()[0]["n"])
            == first.stdout.strip()
        )
        with pytest.raises(la.BudgetExceeded):
            session.bound(max_rows=10).agg(n=la.count()).release(0.5)
        session.ledger.verify()


@pytest.mark.long
def test_a_killed_process_leaves_the_budget_spent_and_the_same_again_goes_on_with_it(
    tmp_path: Path,
) -> None:
    path, book = write_parquet(tmp_path / "visits.parquet"), tmp_path / "budget.db"
    assert child(path, book, "kill").returncode == -signal.SIGKILL
    with la.open(path, unit="patient_id", ledger=book) as session:
        assert session.spent == la.Budget(0.625)
        assert len(session.ledger.unsettled()) == 1
        with pytest.raises(la.BudgetExceeded):
            session.bound(max_rows=10).agg(n=la.count()).release(0.5)
        assert not session.bound(max_rows=10).agg(n=la.count()).release(0.625).repeated
        assert (session.spent, session.ledger.unsettled()) == (la.Budget(0.625), [])
        assert session.bound(max_rows=10).agg(n=la.count()).release(0.625).repeated
        session.ledger.verify()


def test_the_price_that_was_typed_is_told_with_what_found_the_row_limit() -> None:
    session = opened(seed=4)
    first = session.agg(n=la.count()).release(epsilon=0.5)
    words = " ".join(str(first).split())
    assert "(limit found; one row each: max_rows=1)" in words
    assert "Spent ε = 0.5 per patient_id." in words
    again = " ".join(str(session.agg(n=la.count()).release(epsilon=0.5)).split())
    assert "nothing spent" in again
