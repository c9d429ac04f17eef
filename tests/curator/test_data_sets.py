"""Data sets over time: one name, one budget; newer rows, other processes, the end."""

import os
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from time import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curator.makers import (
    COUNT,
    LINES,
    NAME,
    OTHER,
    PURPOSE,
    SCHEMA,
    ask,
    grant,
    open_curator,
    put,
    registered,
    registration,
    whats,
)
from letalone.curator.data_sets import service as data_sets
from letalone.curator.data_sets.data_store import DataStore
from letalone.curator.data_sets.service import DataSets
from letalone.curator.storage.refusals import AlreadyDecided, NotThere
from letalone.curator.storage.service_records import Purpose
from letalone.engines.core.failure import SourceUnreadable
from letalone.errors import LedgerUnavailable, NotAllowed, ParameterError, ServiceUnavailable
from letalone.plans.schema import Column, Schema
from letalone.privacy import Budget


def rich(curator):
    """A grant under which answers are all but exact."""
    purposes = (Purpose(PURPOSE, Budget(10**6)),)
    registered(curator, budget=Budget(10**6), purposes=purposes)
    return grant(curator, budget=Budget(10**6))


def count(curator):
    """At so large an ε the noise is nothing, so that counts can be compared."""
    return ask(curator, COUNT, epsilon=1000).rows()[0]["n"]


def test_newer_data_go_on_with_the_budget_and_raise_the_version(peopled):
    curator = rich(peopled)
    assert count(curator) == 60
    spent = curator.ledger.data_set(NAME).spent
    (old,) = curator.settings.data_folder.glob("*.parquet")
    curator.data_sets.renew(NAME, file=put(curator, lines=LINES[:31]), by="olga")
    assert not old.exists()
    assert curator.ledger.data_set(NAME).version == 2
    assert curator.ledger.data_set(NAME).spent == spent
    assert count(curator) == 30
    assert curator.data_sets.affected(NAME, by="olga").rows_read == 30


def test_another_process_asks_about_the_new_rows_and_freezes_nothing(peopled, tmp_path):
    curator = rich(peopled)
    with open_curator(tmp_path) as other:
        assert count(other) == 60
        curator.subjects.erase(NAME, "p1", by="stan", why="case 1")
        assert count(other) == 57
        assert not other.ledger.data_set(NAME).frozen


def test_raising_the_version_charges_the_same_question_anew(ready):
    ask(ready)
    ask(ready)
    assert ready.ledger.data_set(NAME).releases == 1
    assert ready.data_sets.raise_version(NAME, by="olga") == 2
    assert ask(ready).asked.version == 2
    assert ready.ledger.data_set(NAME).releases == 2


def test_a_name_is_used_once_whatever_its_capitals(ready):
    for name in (NAME, "Visits"):
        other = Schema(name, SCHEMA.columns, unit="patient")
        with pytest.raises(AlreadyDecided, match="renew"):
            ready.data_sets.register(registration(schema=other), file=put(ready), by="olga")


def test_what_cannot_be_registered_leaves_nothing_behind(peopled):
    missing = Schema(NAME, (*SCHEMA.columns, Column("agee", "integer")), unit="patient")
    other = Schema(NAME, (Column("patient", "text"), Column("x", "other")), unit="patient")
    undeclared = Schema(NAME, SCHEMA.columns, unit_declared=False)
    rowid = Schema(NAME, (Column("rowid", "integer"),))
    for schema, words in (
        (missing, "Column 'agee' is not in table"),
        (other, "nothing can be asked"),
        (undeclared, "unit is missing"),
        (rowid, "engine's own word"),
    ):
        with pytest.raises(ParameterError, match=words):
            peopled.data_sets.register(registration(schema=schema), file=put(peopled), by="olga")
    with pytest.raises(ParameterError, match="Give either file"):
        peopled.data_sets.register(registration(), by="olga")
    assert not list(peopled.settings.data_folder.glob("*.parquet"))
    assert peopled.ledger.data_sets() == []
    with pytest.raises(NotThere):
        peopled.data_sets.record(NAME)


def test_registering_again_after_a_crash_goes_on_with_the_budget(peopled, monkeypatch):
    def crash(*_, **__):
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(data_sets, "_purpose_row", crash)  # after the budget was opened
        with pytest.raises(RuntimeError):
            registered(peopled)
    assert not list(peopled.settings.data_folder.glob("*.parquet"))
    registered(peopled)
    assert peopled.data_sets.record(NAME).schema.version == 2
    assert peopled.ledger.data_set(NAME).budget == Budget(5)


def test_parquet_is_imported_with_its_broken_cells_missing(peopled):
    table = pa.table(
        {
            "patient": pa.array([b"p1", b"\xff", b"p3"]).cast(pa.binary()).view(pa.string()),
            "ward": ["A", "B", "A"],
            "cost": [1.0, float("nan"), float("inf")],
            "age": [1, 2, 3],
            "diary": ["x", "y", "z"],
        }
    )
    pq.write_table(table, peopled.settings.imports_folder / "visits.parquet")
    peopled.data_sets.register(registration(), file="visits.parquet", by="olga")
    (kept,) = peopled.settings.data_folder.glob("*.parquet")
    assert pq.read_table(kept).to_pydict() == {
        "patient": ["p1", "p3"], "ward": ["A", "A"], "cost": [1.0, None], "age": [1, 3],
    }  # fmt: skip
    assert peopled.data_sets.affected(NAME, by="olga").rows_without_unit == 1


def test_rows_with_cells_too_few_or_too_many_are_counted_for_the_import_they_came_with(peopled):
    lines = ["patient,ward,cost,age,diary", "p1,A,1,1,x", "p2,B,2", "", "p3,A,3,3,x,y,z"]
    peopled.data_sets.register(registration(), file=put(peopled, lines=lines), by="olga")
    found = peopled.data_sets.affected(NAME, by="olga")
    assert (found.rows_read, found.rows_uneven, found.version) == (3, 2, 1)
    (peopled.settings.imports_folder / "newer.csv").write_bytes(
        b"patient,ward,cost,age,diary\np1,A,1,1,\xff\n"
    )
    peopled.data_sets.renew(NAME, file="newer.csv", by="olga")
    found = peopled.data_sets.affected(NAME, by="olga")
    assert (found.rows_uneven, found.lines_not_utf8, found.version) == (0, 1, 2)


@pytest.mark.parametrize("external", [False, True])
def test_the_open_page_says_of_retired_data_what_is_so(peopled, external):
    more = {"retention": date(2090, 1, 1)}
    peopled.data_sets.register(
        registration(**more), file=put(peopled), external=external, by="olga"
    )
    assert "until 2090-01-01" in peopled.openness.markdown()
    peopled.data_sets.retire(NAME, why="over", by="olga")
    words = peopled.openness.markdown()
    assert "2090" not in words
    assert ("rows are gone" in words, "keeps the" in words) == (not external, external)


def test_rows_that_are_missing_in_the_folder_are_told(ready):
    assert ready.without_rows() == []
    for file in ready.settings.data_folder.glob("*.parquet"):
        file.unlink()
    assert ready.without_rows() == [NAME]


def test_retired_rows_are_gone_and_the_record_stays(ready):
    ask(ready)
    ready.data_sets.retire(NAME, why="the study is over", by="olga")
    assert not list(ready.settings.data_folder.glob("*.parquet"))
    with pytest.raises(NotAllowed, match="was retired"):
        ask(ready)
    assert len(ready.asking.history(by="ann")) == 1
    assert ready.openness.page()["data_sets"][0]["retired"] is True
    assert whats(ready)[-2:] == ["retired", "refused"]


def test_after_the_retention_date_nothing_is_answered_and_the_rows_go(peopled, clock):
    grant(registered(peopled, retention=date.today() + timedelta(days=10)))
    assert ask(peopled)
    assert peopled.data_sets.retire_overdue() == []
    clock.passed = timedelta(days=12)
    with pytest.raises(NotAllowed, match="was to be kept until"):
        ask(peopled)
    assert peopled.data_sets.retire_overdue() == []  # it goes a day later (test_notices.py)
    assert peopled.data_sets.record(NAME).removal is not None


def test_an_external_table_stays_where_it_is_and_its_other_columns_are_not_asked(peopled):
    purposes = (Purpose(PURPOSE, Budget(10**6)),)
    peopled.data_sets.register(
        registration(budget=Budget(10**6), purposes=purposes),
        file=put(peopled),
        external=True,
        by="olga",
    )
    assert not list(peopled.settings.data_folder.glob("*.parquet"))
    grant(peopled, budget=Budget(10**6))
    assert count(peopled) == 60
    with pytest.raises(ParameterError, match="is external"):
        peopled.data_sets.renew(NAME, file=put(peopled), by="olga")
    with pytest.raises(NotThere):
        peopled.data_sets.affected(NAME, by="olga")


def test_a_table_that_cannot_be_opened_says_so_without_its_file(ready):
    (kept,) = ready.settings.data_folder.glob("*.parquet")
    kept.write_bytes(b"damaged")
    with pytest.raises(
        SourceUnreadable, match="cannot be opened now, and nothing was charged"
    ) as error:
        ask(ready)
    assert kept.name not in str(error.value)
    assert ready.ledger.data_set(NAME).releases == 0


def test_purposes_come_later_and_go(ready):
    with pytest.raises(ParameterError, match="more than the whole data set"):
        ready.data_sets.add_purpose(NAME, Purpose("x", Budget(6)), by="olga")
    with pytest.raises(AlreadyDecided):
        ready.data_sets.add_purpose(NAME, Purpose(OTHER, Budget(1)), by="olga")
    with pytest.raises(ParameterError, match="time zone"):
        Purpose("x", Budget(1), datetime(2040, 1, 1))
    later = datetime(2040, 1, 1, tzinfo=UTC)
    found = ready.data_sets.add_purpose(NAME, Purpose("x", Budget(1), later), by="olga")
    assert [one.name for one in found.purposes] == [PURPOSE, OTHER, "x"]
    found = ready.data_sets.withdraw_purpose(NAME, "x", why="no need", by="stan")
    assert [one.name for one in found.purposes] == [PURPOSE, OTHER]
    with pytest.raises(AlreadyDecided, match="has, or had, a purpose"):
        ready.data_sets.add_purpose(NAME, Purpose("x", Budget(1)), by="olga")


def test_what_is_over_already_cannot_be_declared(peopled):
    past = datetime(2020, 1, 1, tzinfo=UTC)
    for more in ({"purposes": (Purpose("x", Budget(1), past),)}, {"retention": past.date()}):
        with pytest.raises(ParameterError, match="over already"):
            registered(peopled, **more)
    assert peopled.ledger.data_sets() == []


def test_a_ledger_that_fails_after_the_rows_were_changed_loses_no_rows(peopled, monkeypatch):
    curator = rich(peopled)

    def fail(*_):
        raise LedgerUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(type(curator.ledger), "raise_version", fail)
        with pytest.raises(LedgerUnavailable):
            curator.subjects.erase(NAME, "p1", by="stan", why="case 1")
    assert len(list(curator.settings.data_folder.glob("*.parquet"))) == 1
    assert ask(curator, f"SELECT ward, COUNT(*) AS n FROM {NAME} GROUP BY ward")
    assert curator.ledger.data_set(NAME).version == 2
    assert count(curator) == 57


def test_what_a_dead_process_left_is_swept_and_nothing_else(ready, tmp_path):
    data, incoming = ready.settings.data_folder, ready.settings.incoming_folder
    old, new = data / "0.parquet", data / "1.parquet"
    upload = incoming / "2.csv"
    for one in (old, new, upload):
        one.write_text("x")
    for one in (old, upload, *data.glob("*")):
        if one != new:
            os.utime(one, (0, 0))
    waiting = incoming / "3.csv"
    waiting.write_text("an upload of an hour ago, which may be registered yet")
    os.utime(waiting, (time() - 7200, time() - 7200))
    kept = {one.name for one in data.glob("*.parquet")} - {old.name}
    with open_curator(tmp_path) as again:
        assert {one.name for one in data.glob("*.parquet")} == kept
        assert list(incoming.iterdir()) == [waiting]
        os.utime(waiting, (time() - 90_000, time() - 90_000))
        assert again.sweep() == ["3.csv"]
        assert ask(again)


@pytest.mark.few("renewed")
@pytest.mark.parametrize("act", ["renewed", "erased", "registered"])
def test_a_clock_that_jumps_while_rows_are_written_removes_none(ready, tmp_path, monkeypatch, act):
    """Another process sweeps, with a clock two hours ahead, just before a table names the file."""
    other, swept = open_curator(tmp_path), []

    def sweep_before(place, real):
        def act(*given, **more):
            with monkeypatch.context() as jump:
                jump.setattr("letalone.curator.storage.sweeping.time", lambda: time() + 7200)
                swept.extend(other.sweep())
            return real(*given, **more)

        monkeypatch.setattr(place, real.__name__, act)

    sweep_before(DataStore, DataStore._put)
    sweep_before(DataSets, DataSets._insert)
    with other:
        if act == "renewed":
            ready.data_sets.renew(NAME, file=put(ready), by="olga")
        elif act == "erased":
            ready.subjects.erase(NAME, "p3", by="stan", why="asked")
        else:
            more = replace(SCHEMA, name="more")
            ready.data_sets.register(registration(schema=more), file=put(ready), by="olga")
        assert swept == []
        assert ready.without_rows() == []
        assert ask(other, epsilon=0.02)


def test_old_rows_stay_where_the_new_ones_are_not_there(ready):
    with pytest.raises(ServiceUnavailable, match="The old ones hold"):
        ready.data_sets.store.rewrite(NAME, lambda _old, _schema, _target: None)
    assert ask(ready)


def test_purposes_may_not_be_larger_than_the_data_set_or_alike():
    with pytest.raises(ParameterError, match="more than the whole data set"):
        registration(purposes=(Purpose("x", Budget(6)),))
    with pytest.raises(ParameterError, match="the same name"):
        registration(purposes=(Purpose("x", Budget(1)), Purpose("X", Budget(1))))


@pytest.mark.few("csv")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_fraction_in_a_column_of_whole_numbers_is_missing_and_counted(peopled, kind):
    cells = ["45.7", "12.0", "1e3", "9007199254740993", "-3", "0.5"]
    cells = cells if kind == "csv" else [float(one) for one in cells[:3]] + [-3.0, 0.5, 46.0]
    place = peopled.settings.imports_folder / f"whole.{kind}"
    if kind == "csv":
        place.write_text("\n".join(["id,age", *(f"{one},{one}" for one in cells)]) + "\n")
    else:
        pq.write_table(pa.table({"id": cells, "age": cells}), place)
    schema = Schema(NAME, (Column("id", "integer"), Column("age", "integer")), unit="id")
    peopled.data_sets.register(registration(schema=schema), file=place.name, by="olga")
    found = peopled.data_sets.affected(NAME, by="olga")
    assert (found.rows_kept, found.rows_without_unit) == (4, 2)
    assert [one.unreadable for one in found.columns] == [2, 2]
    held = [
        one
        for one in ("45", "46", "12", "1000", "9007199254740993", "-3", "0", "1")
        if peopled.subjects.rows(NAME, one, by="olga", why="case")
    ]
    last = ["1000", "9007199254740993", "-3"] if kind == "csv" else ["1000", "-3"]
    assert held == (["12", *last] if kind == "csv" else ["46", "12", *last])
