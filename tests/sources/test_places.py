"""A table has one schema file and one name, so one budget, however it is opened."""

from pathlib import Path

import duckdb
import pytest

import letalone as la
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from letalone.sources.places import schema_path
from sources.spelled import schema_beside


def database(path: Path, *tables: str) -> Path:
    with duckdb.connect(path) as db:
        db.execute("CREATE SCHEMA old")
        for table in tables:
            db.execute(f"CREATE TABLE {table} AS SELECT range AS id FROM range(20)")
    return path


def declare(path: Path, name: str) -> None:
    path.write_text(Schema(name, (la.Column("id", Type.INTEGER),), unit="id").to_toml(), "utf-8")


def test_each_of_several_tables_has_a_file_of_its_own(tmp_path: Path) -> None:
    path = database(tmp_path / "h.duckdb", "visits", "people", "old.visits")
    places = {
        table: schema_beside(path, table).name
        for table in ("main.visits", "people", "main.people", "old.visits")
    }
    assert places == {
        "main.visits": "h.visits.letalone.toml",
        "people": "h.people.letalone.toml",
        "main.people": "h.people.letalone.toml",
        "old.visits": "h.old.visits.letalone.toml",
    }
    assert schema_beside(tmp_path / "h.csv").name == "h.letalone.toml"


def test_the_plain_place_belongs_to_the_table_that_it_names_or_to_the_only_one(
    tmp_path: Path,
) -> None:
    path = database(tmp_path / "h.duckdb", "visits", "people")
    declare(tmp_path / "h.letalone.toml", "visits")
    assert schema_beside(path, "visits").name == "h.letalone.toml"
    assert schema_beside(path, "people").name == "h.people.letalone.toml"
    only = database(tmp_path / "one.duckdb", "visits")
    declare(tmp_path / "one.letalone.toml", "clinic")
    for table in (None, "visits", "main.visits"):
        assert schema_beside(only, table).name == "one.letalone.toml"


def test_the_only_table_finds_the_file_that_was_written_under_its_name(tmp_path: Path) -> None:
    only = database(tmp_path / "one.duckdb", "visits")
    assert schema_beside(only).name == "one.letalone.toml"
    declare(tmp_path / "one.visits.letalone.toml", "clinic")
    with la.open(only, budget=1) as session:
        assert (session.name, session.unit) == ("clinic", "id")


@pytest.mark.few("None", "main.visits")
@pytest.mark.parametrize("named", [None, "visits", "main.visits"])
def test_one_table_goes_on_under_one_budget(tmp_path: Path, named: str | None) -> None:
    path, ledger = database(tmp_path / "one.duckdb", "visits"), tmp_path / "budget.db"
    with la.open(path, unit="id", budget=1, ledger=ledger, table="visits") as session:
        session.agg(n=la.count_distinct()).release(epsilon=1)
    with la.open(path, unit="id", ledger=ledger, table=named) as session:
        assert session.remaining.epsilon == 0


def test_a_table_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    path = database(tmp_path / "h.duckdb", "visits", "people")
    for table in (None, "wards", "../people"):
        with pytest.raises(la.ParameterError, match="holds these tables: people, visits"):
            la.open(path, unit="id", budget=1, table=table)


def test_any_table_name_gives_a_file_beside_the_data(tmp_path: Path) -> None:
    path = tmp_path / "h.duckdb"
    names = ["../etc/x", "a/b", "a\\b", "a:b", "a%2Fb", 'q"*?<>|', "x" * 300, "é" * 80, "\n"]
    found = [schema_path(path, name) for name in names]
    assert len(set(found)) == len(names)
    for place in found:
        assert place.parent == tmp_path
        place.write_text("x")
