"""Spellings of sources, and what each is: on it depends which budget is spent."""

import json
import os
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

import letalone as la
from golden.inside import facts_of_source
from golden.keeping import check

ROWS = "id,x\n" + "".join(f"{n},{n % 3}\n" for n in range(6))
SCHEMA = 'format = 1\nname = "{name}"\nunit = "id"\n{more}\n[columns.id]\ntype = "integer"\n'
FILES = (
    "data/plain.csv", "./data/plain.csv", "data/./plain.csv", "data/../data/plain.csv",
    "FOLDER/data/plain.csv", "FOLDER/./data//plain.csv", "data/plain.parquet", "data/plain.pq",
    "data/PLAIN.csv", "data/upper.CSV", "data/plain", "data/plain.txt", "data/tabs.tsv",
    "data/declared.csv", "./data/declared.csv", "link.csv", "./link.csv", "linked/plain.csv",
    "linked/declared.csv", "linked/../data/plain.csv", "to_declared.csv", "~/home.csv",
    "~/./home.csv", "~/../data/plain.csv", "~no_such_user/home.csv", "$HOME/home.csv",
    "data/part-*.csv", "./data/part-*.csv", "data/part-?.csv", "data/part-[12].csv",
    "data/part-1.csv", "data/part_*.csv", "FOLDER/data/part-*.csv", "linked/part-*.csv",
    "data/*/x.csv", "data/**/x.csv", "data/year=*/x.csv", "data/year=2024/x.csv", "data/*.csv",
    "data/*", "*", "data", "data/", "", ".", "..", " data/plain.csv", "data/plain.csv ",
    "data/with blank.csv", "data/größe.csv", "data/a.b.csv", "data/a.csv", "data/.csv",
    "data/br[1].csv", "file:data/plain.csv", "file:///data/plain.csv", "file://FOLDER/data/plain.csv",
    "https://example.org/plain.csv", "s3://bucket/plain.csv", "data/absent.csv", "data/plain.xlsx",
    "data/empty.csv", "data\\plain.csv", "one.duckdb", "./one.duckdb", "two.duckdb", "one.db",
)  # fmt: skip
TABLES = (
    ("one.duckdb", "visits"), ("one.duckdb", "main.visits"), ("one.duckdb", "absent"),
    ("two.duckdb", "visits"), ("two.duckdb", "main.visits"), ("two.duckdb", "old.visits"),
    ("two.duckdb", "people"), ("two.duckdb", "VISITS"), ("data/plain.csv", "visits"),
)  # fmt: skip
SCHEMA_FILES = (
    "data/declared.letalone.toml", "./data/of_plain.letalone.toml", "data/of_plain.letalone.toml",
    "linked/of_plain.letalone.toml", "FOLDER/data/of_plain.letalone.toml",
    "data/of_above.letalone.toml", "data/of_home.letalone.toml", "data/of_absent.letalone.toml",
    "absent.letalone.toml", "data/of_nothing.letalone.toml",
)  # fmt: skip
ELSEWHERE = (
    "data/of_server.letalone.toml", "data/of_password.letalone.toml", "data/of_spark.letalone.toml",
)  # fmt: skip
ADDRESSES = (
    "postgresql://host/db/visits", "postgres://host/db/visits", "postgresql://HOST/db/visits",
    "postgresql://host:5432/db/visits", "postgresql://host:5433/db/visits",
    "postgresql://ann@host/db/visits", "postgresql://host/db/public.visits",
    "postgresql://host/db/old.visits", "postgresql://host/db/Visits",
    "postgresql://host/DB/visits", "postgresql://host/db/a%2Eb", "postgresql://host/db/a.b.c",
    "postgresql://host/db/a%2Fb", "postgresql://host/d%20b/visits",
    "postgresql://host/db/visits?sslmode=verify-full", "postgresql://host/db/visits?dbname=other",
    "postgresql://host/db/visits?dbname=db", "postgresql://host/db/visits?host=other",
    "postgresql:///db/visits?host=host", "postgresql:///db/visits?host=/var/run",
    "postgresql:///db/visits?service=mine", "postgresql://host/db/visits?hostaddr=127.0.0.1",
    "postgresql://a,b/db/visits", "postgresql://a:1,b:2/db/visits",
    "postgresql://ann:secret@host/db/visits", "postgresql://host/db/visits?password=secret",
    "postgresql://host/db/visits?nothing=1", "postgresql://host/db/visits?sslmode=",
    "postgresql://host/db", "postgresql://host/db/", "postgresql://host", "postgresql://host/db/a/b",
    "postgresql://host/db/a b", "Postgresql://host/db/visits",
)  # fmt: skip
TABLES_OF_ADDRESSES = (
    ("postgresql://host/db", "visits"), ("postgresql://host/db", "old.visits"),
    ("postgresql://host/db/visits", "people"), ("spark:visits", "people"),
)  # fmt: skip
SPARK = (
    "spark:visits", "spark:clinic.visits", "spark:lake.clinic.visits", "spark:CLINIC.`Visits`",
    "spark:`visits`", "spark:other.visits", "spark:spark_catalog.default.visits",
    "spark:lake.`my clinic`.visits", "spark:a.b.c.d", "spark:", "spark:a..b", "spark:parquet.`/x`",
    "spark://host:7077", "SPARK:visits", "spark: visits", "spark:nothing",
)  # fmt: skip


class SparkSession:
    """A session as far as names are looked up in it; its current place is lake.clinic."""

    __module__ = "pyspark.sql.session"  # by which one is known

    def __init__(self) -> None:
        self.catalog = self.conf = self
        self.isTemporary = False

    def currentCatalog(self) -> str:  # noqa: N802
        return "lake"

    def currentDatabase(self) -> str:  # noqa: N802
        return "clinic"

    def get(self, name: str, default: Any) -> Any:
        return name if name.endswith(".lake") else default

    def tableExists(self, name: str) -> bool:  # noqa: N802
        return "nothing" not in name

    def getTable(self, _: str) -> Any:  # noqa: N802
        return SparkSession()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Files, links and databases to be spelled; its own name is the same every time."""
    place = (tmp_path_factory.mktemp("sources") / "here").resolve()
    (place / "data" / "year=2024").mkdir(parents=True)
    (place / "home").mkdir()
    names = ("plain", "part-1", "part-2", "declared", "with blank", "größe", "a.b", "a", "br[1]")
    for name in names:
        (place / "data" / f"{name}.csv").write_text(ROWS, "utf-8")
    for name in ("data/upper.CSV", "data/year=2024/x.csv", "home/home.csv"):
        (place / name).write_text(ROWS, "utf-8")
    (place / "data" / "tabs.tsv").write_text(ROWS.replace(",", "\t"), "utf-8")
    (place / "data" / "empty.csv").write_text("", "utf-8")
    (place / "link.csv").symlink_to("data/plain.csv")
    (place / "to_declared.csv").symlink_to("data/declared.csv")
    (place / "linked").symlink_to("data")
    sources = {
        "declared": "", "of_plain": "plain.csv", "of_above": "../link.csv", "of_home": "~/home.csv",
        "of_absent": "absent.csv", "of_nothing": "", "of_server": "postgresql://host/db/visits",
        "of_password": "postgresql://ann:secret@host/db/visits", "of_spark": "spark:visits",
    }  # fmt: skip
    for name, source in sources.items():
        more = f'source = "{source}"\n' if source else ""
        text = SCHEMA.format(name=f"its_{name}", more=more) + '\n[columns.x]\ntype = "integer"\n'
        (place / "data" / f"{name}.letalone.toml").write_text(text, "utf-8")
    for name, tables in {"one": ["visits"], "two": ["visits", "people", "old.visits"]}.items():
        with duckdb.connect(place / f"{name}.duckdb") as db:
            db.execute("CREATE SCHEMA old")
            for table in tables:
                db.execute(f"CREATE TABLE {table} AS SELECT range AS id FROM range(6)")
    at = {"HOME": str(place / "home"), "PGHOST": "", "PGPORT": "", "PGDATABASE": ""}
    with chdir(place), patch.dict(os.environ, at):
        for name in ("PGHOST", "PGPORT", "PGDATABASE"):
            del os.environ[name]
        yield place


def opened(source: str, table: str | None) -> dict[str, Any]:
    """What opening it says: the name that has the budget, its words, what the ledger remembers."""
    ledger = la.Ledger.in_memory()
    unit = None if source.endswith(".toml") or "declared" in source else "id"
    try:
        with la.open(source, unit=unit, budget=1, ledger=ledger, table=table) as session:
            words = repr(session).splitlines()[0].removeprefix("Session of ")
            read = ledger.last_act(session.name, "reads the table")
            return {"opened": words, "remembered": None if read is None else read.body["body"]}
    except la.LetaloneError as error:
        return {"refused": f"{type(error).__name__}: {error}"}
    except (OSError, RuntimeError) as error:
        return {"failed": type(error).__name__}


def facts(source: Any, table: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, make in facts_of_source(source, table, SparkSession()).items():
        try:
            found[name] = make()
        except la.LetaloneError as error:
            found[name] = f"{type(error).__name__}: {error}"
        except (OSError, RuntimeError, ValueError) as error:
            found[name] = type(error).__name__
    values = list(found.values())
    same = "Error: " in str(values[0]) and values.count(values[0]) == len(values)
    return {"refused": values[0]} if same else found


def lines(place: Path, source: str, table: str | None, found: dict[str, Any]) -> str:
    """A spelling, and what it is, without the folder of the test."""
    shown = source if table is None else f"{source}, table {table}"
    told = [f"  {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in found.items()]
    text = "\n".join([json.dumps(shown, ensure_ascii=False), *told])
    return text.replace(str(place), "FOLDER").replace(str(place.parent), "ABOVE")


OF_FILES = (*((name, None) for name in (*FILES, *SCHEMA_FILES)), *TABLES)


def test_spellings_of_files(folder: Path) -> None:
    texts = []
    for source, table in OF_FILES:
        found = facts(source.replace("FOLDER", str(folder)), table)
        texts.append(lines(folder, source, table, found))
    check("sources/files.txt", "\n".join(texts))


@pytest.mark.long
def test_spellings_of_files_that_are_opened(folder: Path) -> None:
    texts = []
    for source, table in OF_FILES:
        found = opened(source.replace("FOLDER", str(folder)), table)
        texts.append(lines(folder, source, table, found))
    check("sources/opened.txt", "\n".join(texts))


def test_spellings_of_addresses(folder: Path) -> None:
    spellings = [(name, None) for name in (*ADDRESSES, *SPARK, *ELSEWHERE)]
    texts = [
        lines(folder, source, table, facts(source, table))
        for source, table in (*spellings, *TABLES_OF_ADDRESSES)
    ]
    check("sources/addresses.txt", "\n".join(texts))


def test_spellings_of_tables_in_a_session_of_spark(folder: Path) -> None:
    names = [name.removeprefix("spark:") for name in SPARK if name.startswith("spark:")]
    texts = [lines(folder, name, None, facts((SparkSession(), name), None)) for name in names]
    check("sources/spark.txt", "\n".join(texts))
