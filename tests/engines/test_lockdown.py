"""A locked DuckDB reads what it was given, and nothing else."""

import json
import stat
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from letalone.engines.duckdb import lockdown
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.duckdb.lockdown import KEPT_OPTIMIZERS, LockedDuck


@pytest.fixture
def locked(tmp_path):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "given.parquet")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "other.parquet")
    (tmp_path / "other.csv").write_text("x\n1\n")
    duck = LockedDuck()
    duck.lock([tmp_path / "given.parquet"])
    yield duck
    duck.close()


def test_the_given_file_can_be_read(locked, tmp_path):
    assert locked.connection.execute(f"FROM '{tmp_path}/given.parquet'").fetchall() == [(1,)]


@pytest.mark.parametrize(
    "statement",
    [
        "FROM '{0}/other.parquet'",
        "FROM read_parquet('{0}/*.parquet')",
        "FROM read_csv('{0}/other.csv')",
        "FROM read_text('{0}/other.csv')",
        "FROM glob('{0}/*')",
        "COPY (SELECT 1) TO '{0}/new.csv'",
        "ATTACH '{0}/new.duckdb'",
        "EXPORT DATABASE '{0}/out'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "FROM 'https://localhost/x.parquet'",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET allowed_paths = ['{0}/other.parquet']",
        "SET temp_directory = '{0}'",
        "SET TimeZone = 'America/New_York'",
        "SET memory_limit = '100GB'",
        "SET ieee_floating_point_ops = false",
        "SET disabled_optimizers = ''",
        "FROM local_frame",
    ],
)
def test_there_is_no_way_out(locked, tmp_path, statement):
    local_frame = pa.table({"x": [1]})
    with pytest.raises(duckdb.Error):
        locked.connection.execute(statement.format(tmp_path)).fetchall()
    assert local_frame.num_rows == 1
    assert not (tmp_path / "new.csv").exists()


def test_all_optimizers_are_off_but_those_that_look_at_the_statement_alone(locked):
    """A DuckDB with new ones has them off; one that lacks a kept one is slow, and fails here."""
    known = {name for (name,) in locked.connection.sql("FROM duckdb_optimizers()").fetchall()}
    setting = "SELECT current_setting('disabled_optimizers')"
    off = locked.connection.execute(setting).fetchone()[0].split(",")
    assert known - {name.strip() for name in off} == set(KEPT_OPTIMIZERS)


def scans_of(connection, statement):
    """What a plan says of its scans of Parquet files."""
    found = connection.execute(f"EXPLAIN (FORMAT JSON) {statement}").fetchall()
    nodes = json.loads(found[0][1])
    for node in nodes:
        nodes += node["children"]
    said = [node.get("extra_info") or {} for node in nodes]
    return [one for one in said if one.get("Function") == "PARQUET_SCAN"]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM '{0}' WHERE x IS NULL",
        "SELECT count(*) FROM '{0}' WHERE x > 1",
        "SELECT x FROM '{0}' ORDER BY x LIMIT 1",
        "SELECT count(*), max(x) FROM '{0}'",
    ],
)
def test_a_scan_reads_all_rows_and_has_no_filter(locked, tmp_path, statement):
    """A filter in a scan looks at least and largest values, a maximum is that of the footer."""
    asked = statement.format(tmp_path / "given.parquet")
    assert ["Filters" in one for one in scans_of(locked.connection, asked)] == [False]
    with duckdb.connect() as usual:
        assert ["Filters" in one for one in scans_of(usual, asked)] != [False]


def test_only_the_owner_can_enter_the_folder_for_spilling_and_closing_removes_it():
    engine = open_duck(pa.table({"x": [1]}))
    setting = "SELECT value FROM duckdb_settings() WHERE name = 'temp_directory'"
    folder = Path(engine._duck.connection.execute(setting).fetchone()[0])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    engine.close()
    assert not folder.exists()
    engine.close()


def test_an_engine_that_is_forgotten_removes_its_folder():
    engine = open_duck(pa.table({"x": [1]}))
    folder = engine._duck._folder
    del engine
    assert not folder.exists()


@pytest.mark.parametrize(("said", "half"), [("max\n", None), ("2147483648\n", 1 << 30)])
def test_a_container_is_given_half_of_what_it_has(
    said: str, half: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(said)
    monkeypatch.setattr(lockdown, "CONTAINER_LIMITS", ())
    machine = lockdown.half_of_memory()
    monkeypatch.setattr(lockdown, "CONTAINER_LIMITS", (limit, tmp_path / "absent"))
    assert lockdown.half_of_memory() == (machine if half is None else min(machine, half))
