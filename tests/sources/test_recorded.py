"""Two tables with one default name do not share a budget in one ledger by accident."""

import duckdb
import pandas as pd
import polars as pl
import psycopg
import pytest

import letalone as la
from letalone.errors import ParameterError
from letalone.ledger import Ledger
from letalone.privacy import ADD_REMOVE, Budget
from letalone.session.locating import OpeningCall
from letalone.session.opening import look_at
from letalone.sources import recorded
from letalone.sources.recorded import FRAME, NOWHERE, OLD_SPARK_ACT, TABLE_ACT
from letalone.sources.source import NO_IDENTITY, Source, SourceKind
from postgres import shared
from sources.spelled import identity_of

HERE, THERE, VIEW = "lake.clinic.visits", "lake.archive.visits", f"visits{NOWHERE}"


def source_of(told):
    identity = NO_IDENTITY if told == FRAME else ("table", told)
    return Source(SourceKind.FRAME, identity, "visits", told, told)


def check_same_table(ledger, name, told, *, declared=False):
    recorded.check_same_table(ledger, name, source_of(told), declared=declared)


def remember_table(ledger, name, told, *, given=True):
    recorded.remember_table(ledger, name, source_of(told), declared=False, given=given)


@pytest.fixture
def ledger():
    found = Ledger.in_memory()
    found.register("visits", Budget(2), neighbours=ADD_REMOVE.of("patient"))
    return found


def test_the_first_table_keeps_the_name_and_another_one_is_refused(ledger):
    check_same_table(ledger, "visits", HERE)
    remember_table(ledger, "visits", HERE)
    check_same_table(ledger, "visits", HERE)
    with pytest.raises(ParameterError, match=r"lake\.clinic\.visits.*lake\.archive\.visits.*name="):
        check_same_table(ledger, "visits", THERE)
    check_same_table(None, "visits", THERE)
    ledger.verify()


@pytest.mark.parametrize(("first", "second"), [(HERE, THERE), (FRAME, FRAME)])
def test_of_two_opened_at_once_under_one_default_name_the_second_is_refused(
    ledger, monkeypatch, first, second
):
    """Both looked before either had written anything down."""
    check_same_table(ledger, "visits", first)
    check_same_table(ledger, "visits", second)
    remember_table(ledger, "visits", first, given=False)
    looks = iter([None])
    real = recorded._read_remembered
    monkeypatch.setattr(recorded, "_read_remembered", lambda *of: next(looks, real(*of)))
    with pytest.raises(ParameterError, match="Give it another name"):
        remember_table(ledger, "visits", second, given=False)
    assert len([one for one in ledger.entries("visits") if one.body.get("what") == TABLE_ACT]) == 1


def test_it_is_written_down_once_and_anew_when_the_table_moves(ledger):
    before = len(ledger.entries("visits"))
    for _ in range(3):
        remember_table(ledger, "visits", HERE)
    assert len(ledger.entries("visits")) == before + 1
    ledger.administer("visits", "something else", {"table": "other"})
    remember_table(ledger, "visits", THERE)
    check_same_table(ledger, "visits", THERE)
    with pytest.raises(ParameterError, match=r"belongs to the table lake\.archive"):
        check_same_table(ledger, "visits", HERE)


def test_what_is_no_table_is_refused_under_a_tables_name_and_a_table_under_a_views(ledger):
    remember_table(ledger, "visits", VIEW)
    with pytest.raises(ParameterError, match="of no catalogue"):
        check_same_table(ledger, "visits", HERE)
    remember_table(ledger, "visits", HERE)
    for other in (VIEW, FRAME):
        remember_table(ledger, "visits", other)
        with pytest.raises(ParameterError, match=r"belongs to the table lake\.clinic"):
            check_same_table(ledger, "visits", other)
    check_same_table(ledger, "visits", HERE)


def test_a_place_is_known_however_many_other_acts_came_after_it(ledger):
    remember_table(ledger, "visits", HERE)
    for number in range(60):
        ledger.administer("visits", "a note", {"what": TABLE_ACT, "number": number})
    with pytest.raises(ParameterError, match=r"belongs to the table lake\.clinic"):
        check_same_table(ledger, "visits", THERE)


def test_what_an_older_ledger_says_of_spark_is_known(ledger):
    ledger.administer("visits", OLD_SPARK_ACT, {"table": HERE})
    check_same_table(ledger, "visits", HERE)
    with pytest.raises(ParameterError, match=r"belongs to the table lake\.clinic"):
        check_same_table(ledger, "visits", THERE)


def test_a_table_on_a_server_is_one_however_its_address_is_written():
    def told(place, table=None):
        return identity_of(f"postgresql://{place}", table)

    one = told("ann@db.clinic:5432/care/visits?sslmode=require")
    assert one == told("bob@DB.clinic/care/public.visits") == told("db.clinic/care", "visits")
    others = ["db.other/care/visits", "db.clinic:5433/care/visits", "db.clinic/care/old.visits"]
    assert len({one, *(told(other) for other in others)}) == 4


def files(folder, rows):
    """The same table as a Parquet file, a CSV file, one of several files and a DuckDB file."""
    frame = pl.DataFrame({"patient": [f"p{n}" for n in range(rows)]})
    folder.mkdir()
    frame.write_parquet(folder / "visits.parquet")
    frame.write_csv(folder / "visits.csv")
    frame.write_parquet(folder / "visits_1.parquet")
    with duckdb.connect(str(folder / f"{folder.name}.duckdb")) as duck:
        duck.execute("CREATE TABLE visits AS SELECT * FROM frame")
    kinds = ("visits.parquet", "visits.csv", "visits_*.parquet", f"{folder.name}.duckdb")
    return [folder / one for one in kinds]


def counted(source, ledger, **more):
    """At this epsilon the noise is beyond 5 less than once in 10^40."""
    with la.open(source, unit="patient", budget=1000, ledger=ledger, **more) as session:
        query = session.bound(max_rows=1).agg(n=la.count())
        return query.release(epsilon=20).to_arrow()["n"][0].as_py()


def test_a_second_table_of_one_name_never_gets_the_answers_of_the_first(tmp_path):
    pairs = zip(files(tmp_path / "one", 100), files(tmp_path / "two", 200), strict=True)
    for number, (first, second) in enumerate(pairs):
        ledger = tmp_path / f"{number}.db"
        la.open(first, unit="patient", budget=1000, ledger=ledger).close()
        with pytest.raises(ParameterError, match=r"belongs to the table one.*this is two.*name="):
            la.open(second, unit="patient", budget=1000, ledger=ledger)
    assert counted(first, ledger) == pytest.approx(100, abs=5)
    assert counted(second, ledger, name="other") == pytest.approx(200, abs=5)
    la.open(second, unit="patient", ledger=ledger, name="visits").close()  # it has moved
    with pytest.raises(ParameterError, match="belongs to the table two"):
        counted(first, ledger)


def test_a_second_frame_needs_a_name_that_says_whether_it_is_the_same(tmp_path):
    ledger, schema = tmp_path / "budget.db", la.Schema("s", (la.Column("patient", "text"),))
    one, two = (pl.DataFrame({"patient": [f"p{n}" for n in range(rows)]}) for rows in (100, 200))
    with la.open(one, unit="patient", budget=1000, ledger=ledger) as session:
        assert "(a polars frame, to be opened again with name='data')" in repr(session)
    for again in (one, two):
        with pytest.raises(ParameterError, match=r"belongs to a frame.*nothing tells.*name='data'"):
            counted(again, ledger)
    with la.open(one, unit="patient", ledger=ledger, name="data") as session:
        assert "opened again" not in repr(session)
    assert counted(one, ledger, name="data") == pytest.approx(100, abs=5)
    assert counted(two, ledger, name="two") == pytest.approx(200, abs=5)
    for _ in range(2):  # a schema's name is given
        assert counted(two, ledger, schema=schema) == pytest.approx(200, abs=5)


def test_a_file_and_its_ledger_move_together_and_a_link_is_what_it_leads_to(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    path = files(old / "data", 50)[0]
    assert counted(path, old / "budget.db") == pytest.approx(50, abs=5)
    old.rename(new)
    path = new / "data" / path.name
    assert counted(path, new / "budget.db") == pytest.approx(50, abs=5)
    link = tmp_path / path.name
    link.symlink_to(path)
    assert counted(link, new / "budget.db") == pytest.approx(50, abs=5)


def test_a_ledger_may_move_without_its_file_and_then_knows_no_other(tmp_path):
    path = files(tmp_path / "data", 50)[0]
    ledger = tmp_path / "data" / "shared.db"
    assert counted(path, ledger) == pytest.approx(50, abs=5)
    for folder in ("there", "elsewhere"):
        other = files(tmp_path / folder, 70)[0]
        ledger = ledger.rename(tmp_path / folder / ledger.name)
        assert counted(path, ledger) == pytest.approx(50, abs=5)
        with pytest.raises(ParameterError, match=r"in a folder above the data.*move together"):
            counted(other, ledger)


def test_a_csv_and_a_parquet_of_one_stem_are_one_table_and_other_stems_are_not(tmp_path):
    parquet, csv, pattern, duck = files(tmp_path / "one", 5)

    def told(path):
        return identity_of(path, None)

    assert told(parquet) == told(csv) == str(tmp_path / "one" / "visits")
    assert told(csv.rename(csv.with_name("visits.2024.csv"))).endswith("visits.2024")
    assert told(pattern).endswith("visits_*.parquet")
    assert told(duck).endswith("one.duckdb, table visits")


@pytest.fixture(params=["~/kept.db", "postgresql"])
def spelled(request, tmp_path, monkeypatch):
    """A ledger that is there, by a spelling that is no path of a file as it stands."""
    monkeypatch.setenv("HOME", str(tmp_path))
    if request.param != "postgresql":
        return request.param
    name = f"same_table_{tmp_path.name.lower()}"
    with psycopg.connect(shared(), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" STRATEGY wal_log')
    return shared().replace("/postgres?", f"/{name}?")


def test_a_ledger_is_looked_at_before_it_is_used_however_it_is_spelled(spelled, tmp_path):
    one, two = files(tmp_path / "one", 100)[0], files(tmp_path / "two", 200)[0]
    assert counted(one, spelled) == pytest.approx(100, abs=5)
    with pytest.raises(ParameterError, match="belongs to the table"):
        counted(two, spelled)
    with la.open(one, ledger=spelled) as session:  # unit and budget are known
        assert session.budget == Budget(1000)


def test_one_missing_cell_changes_no_type_however_the_ledger_is_spelled(spelled):
    whole = pd.DataFrame({"patient": range(40), "smokes": [True] * 40})
    gap = whole.assign(smokes=[None, *[True] * 39])
    seen = []
    for frame in (whole, gap):
        with la.open(frame, unit="patient", budget=1, ledger=spelled, name="people") as session:
            seen.append(session.columns)
    assert seen[0] == seen[1]


def test_what_another_process_wrote_meanwhile_holds(tmp_path, monkeypatch):
    """Both looked before there was a ledger; the second comes to one that the first has made.

    It is let go of again.
    """
    closed, close = [], Ledger.close
    monkeypatch.setattr(Ledger, "close", lambda ledger: (closed.append(ledger), close(ledger))[1])
    place = tmp_path / "kept.db"
    looks = []
    for folder, rows in (("one", 100), ("two", 200)):
        source = files(tmp_path / folder, rows)[0]
        call = OpeningCall(source, unit="patient", budget=Budget(1), ledger=place)
        looks.append(look_at(call))
        looks[-1].session()
    with looks[0], looks[1]:
        looks[0].register()
        with pytest.raises(ParameterError, match="belongs to the table"):
            looks[1].register()
        assert len(closed) == 1
        assert looks[1].ledger is None


def test_no_password_of_a_ledger_is_told():
    call = OpeningCall("visits.csv", ledger="postgresql://role:S3CR3T@host/database")
    assert call.corrected("patient") == (
        "la.open('visits.csv', unit='patient', budget=la.Budget(epsilon=1), ledger=…)"
    )


def test_a_tilde_of_nobody_is_told_as_a_file_that_is_not_there():
    for source, ledger in (("~nobody_here/x.csv", None), ("x.csv", "~nobody_here/kept.db")):
        with pytest.raises(ParameterError, match="nobody here is called"):
            la.open(source, unit="patient", budget=1, ledger=ledger)
