"""An address of a file is the file; one of a server that is not supported says which are."""

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

import letalone as la
from letalone.engines.catalogue import EngineCatalogue
from letalone.errors import BudgetExceeded, ParameterError
from sources.spelled import read
from stages import pick

SPELLED = {
    "sqlite": ["x.db", "sqlite:///x.db", "sqlite:///./x.db", "sqlite+pysqlite:///x.db"],
    "duckdb": ["x.duckdb", "duckdb:///x.duckdb", "duckdb:///./x.duckdb"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for connect, file in ((sqlite3.connect, "x.db"), (duckdb.connect, "x.duckdb")):
        with closing(connect(file)) as db:
            db.execute("CREATE TABLE visits (id INTEGER)")
            db.execute("INSERT INTO visits VALUES (1), (2)")
            db.commit()


@pytest.mark.parametrize("kind", SPELLED)
def test_an_address_of_a_file_has_the_identity_and_the_places_of_its_path(kind: str) -> None:
    whole = f"{kind}:///{Path(SPELLED[kind][0]).absolute()}"
    plain, *others = [read(written) for written in [*SPELLED[kind], whole]]
    for other in others:
        assert other == plain
        assert other.words == plain.words


@pytest.mark.parametrize("kind", pick(["sqlite"], list(SPELLED)))
def test_a_file_has_one_budget_by_its_path_and_by_its_address(kind: str) -> None:
    place = read(SPELLED[kind][0]).ledger_file
    assert place is not None
    la.Ledger.open(place).close()
    for epsilon, written in zip((1, 1.1, 1.2), SPELLED[kind], strict=False):
        with la.open(written, unit="id", budget=2.5) as table:
            query = table.agg(n=la.count()).bound(max_rows=1)
            if epsilon == 1.2:
                with pytest.raises(BudgetExceeded):
                    query.release(epsilon)
            else:
                query.release(epsilon)


def test_a_file_that_was_in_use_when_it_was_looked_at_gets_no_budget_of_another_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(EngineCatalogue, "tables", lambda *_: ())
    with pytest.raises(ParameterError, match="Open it again"):
        la.open("x.duckdb", unit="id", budget=1)


def test_a_schema_file_may_name_the_address_of_a_file() -> None:
    Path("of_it.letalone.toml").write_text(
        'format = 1\nname = "v"\nunit = "id"\nsource = "sqlite:///x.db"\n'
        '[columns.id]\ntype = "integer"\n'
    )
    assert read("of_it.letalone.toml").identity == read("x.db").identity
    la.open("of_it.letalone.toml", budget=1).close()


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("mysql://ann:secret@host/db/visits", "MySQL is not supported.*postgresql://.*Parquet"),
        ("mysql+pymysql://host/db", "MySQL is not supported"),
        ("mssql+pyodbc://host/db", "SQL Server is not supported"),
        ("jdbc:sqlserver://host", "SQL Server is not supported"),
        ("snowflake://account/db", "Snowflake is not supported"),
        ("bigquery://project/data", "BigQuery is not supported"),
        ("oracle://host/db", "Oracle is not supported"),
        ("Postgresql://host/db/visits", "in small letters"),
        ("postgresql+psycopg://host/db/visits", "without the name of a driver"),
        ("sqlite://x.db", "three slashes"),
        ("sqlite:///", "three slashes"),
    ],
)
def test_an_address_that_is_not_supported_says_which_are(written: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words) as refused:
        la.open(written, unit="id", budget=1)
    assert "secret" not in str(refused.value)
