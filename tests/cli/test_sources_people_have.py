"""What people have on their disks is asked with the commands that they type, and one budget."""

import gzip
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import letalone as la
from screens import check_refusal, check_screen, offered
from stages import pick

Letalone = Callable[..., Any]
ROWS = [f"p{n},Größe {n % 3},{n % 7}" for n in range(40)]
TEXT = "\n".join(["patient_id,Bill €,visits", *ROWS]) + "\n"
COUNT = "SELECT COUNT(*) AS n FROM visits"
GERMAN = "patient_id;Straße;bill\n" + "".join(f"p{n};Größe {n};{n},5\n" for n in range(40))
INIT = ("init", "visits.csv", "--unit", "patient_id", "--yes")
PAID = ("--epsilon", "0.5", "--budget", "2", "--max-rows", "1")

pytestmark = (
    pytest.mark.long
)  # commands, each in full; the readers' own tests are in the first stage


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(folder: str) -> Iterator[str]:
    """A server of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_file_that_windows_wrote_is_asked_after_following_the_message(letalone: Letalone) -> None:
    Path("visits.csv").write_bytes(TEXT.encode("cp1252"))
    refused = letalone("init", "visits.csv", "--unit", "patient_id", "--yes")
    assert "--encoding cp1252" in check_refusal(refused, 2)
    said = letalone("init", "visits.csv", "--unit", "patient_id", "--yes", "--encoding", "cp1252")
    assert said.code == 0
    assert 'encoding = "cp1252"' in Path("visits.letalone.toml").read_text("utf-8")
    assert "Bill €" in letalone("describe", "visits.csv").out
    sql = """SELECT COUNT(*) AS n FROM visits WHERE "Bill €" = 'Größe 1'"""
    said = letalone("query", "visits.csv", sql, *PAID, "--json").json()
    again = letalone("query", "visits.csv", sql, "--epsilon", "0.5", "--max-rows", "1", "--json")
    assert again.json()["rows"] == said["rows"]
    with la.open("visits.csv") as table:  # the same ledger, schema file and encoding
        assert (
            table.sql(sql).bound(max_rows=1).release(epsilon=0.5).rows()[0]["n"]
            == (said["rows"][0]["n"])
        )
        assert str(table.remaining.epsilon) == "3/2"


def test_lines_that_are_not_utf8_are_told_to_the_owner_with_a_command_that_works(
    letalone: Letalone,
) -> None:
    Path("visits.csv").write_bytes(TEXT.replace(" €", "").encode("cp1252"))
    words = check_screen(letalone("init", "visits.csv", "--unit", "patient_id", "--yes"))
    assert "not UTF-8" in words
    assert "--encoding cp1252 --yes --force" in words


def test_a_german_file_is_converted_and_asked_by_typing_what_is_printed(letalone: Letalone) -> None:
    """Encoding and decimal comma: the Parquet file shares the schema file, but has no encoding."""
    Path("visits.csv").write_bytes(GERMAN.encode("cp1252"))
    shown = letalone(*INIT, "--encoding", "cp1252")
    command = next(words for words in offered(shown.out) if words[0] == "convert")
    assert command[3:] == ["--decimal-comma", "bill", "--encoding", "cp1252"]
    shown = letalone(*command)
    assert "Wrote 40 rows" in check_screen(shown)
    (following,) = offered(shown.out)
    assert following == ["describe", "visits.parquet"]
    assert "Straße" in letalone(*following).out
    said = letalone("query", "visits.parquet", COUNT, *PAID, "--json").json()
    again = ("--epsilon", "0.5", "--max-rows", "1", "--json")
    assert letalone("query", "visits.csv", COUNT, *again).json()["rows"] == said["rows"]
    with la.open("visits.parquet") as table:
        assert str(table.remaining.epsilon) == "3/2"
    with pytest.raises(la.ParameterError, match="is not a file of text"):
        la.open("visits.parquet", encoding="cp1252")
    refused = letalone("query", "visits.parquet", COUNT, *again[:-1], "--encoding", "cp1252")
    assert "is not a file of text" in check_refusal(refused, 2)


def test_a_folder_of_other_files_has_the_schema_file_of_a_text_but_not_its_encoding(
    letalone: Letalone,
) -> None:
    Path("visits.csv").write_bytes(GERMAN.encode("cp1252"))
    letalone(*INIT, "--encoding", "cp1252")
    Path("visits").mkdir()
    check_screen(letalone("convert", "visits.csv", "visits/one.parquet"))
    assert "Straße" in letalone("describe", "visits").out
    Path("visits/one.parquet").unlink()
    Path("visits/one.csv").write_bytes(Path("visits.csv").read_bytes())
    assert "Straße" in letalone("describe", "visits").out  # its files are of text


def test_a_file_is_converted_in_the_encoding_that_its_schema_file_names(letalone: Letalone) -> None:
    Path("visits.csv").write_bytes(GERMAN.encode("cp1252"))
    letalone(*INIT, "--encoding", "cp1252")
    words = check_screen(letalone("convert", "visits.csv", "visits.parquet"))
    assert "Wrote 40 rows" in words
    assert "left out" not in words
    assert pq.read_table("visits.parquet").to_pylist()[3]["Straße"] == "Größe 3"


def test_writing_the_schema_file_anew_from_the_parquet_file_keeps_the_encoding_of_the_text(
    letalone: Letalone,
) -> None:
    Path("visits.csv").write_bytes(GERMAN.encode("cp1252"))
    letalone(*INIT, "--encoding", "cp1252")
    letalone("convert", "visits.csv", "visits.parquet")
    shown = letalone("init", "visits.parquet", *INIT[2:], "--force")
    command = next(words for words in offered(shown.out) if words[0] == "convert")
    assert "Wrote 40 rows" in check_screen(letalone(*command))
    Path("visits.letalone.toml").write_text("format = ", "utf-8")
    assert letalone("init", "visits.parquet", *INIT[2:], "--force").code == 0


def test_a_file_that_would_lose_most_of_its_rows_is_not_written_but_by_force(
    letalone: Letalone,
) -> None:
    Path("visits.csv").write_bytes(GERMAN.replace("Straße", "s").encode("cp1252") + b"p;plain;1\n")
    asked = ("convert", "visits.csv", "visits.parquet", "--decimal-comma", "bill")
    refused = letalone(*asked)
    words = check_refusal(refused, 2)
    assert "40 of 41 rows would be left out: not UTF-8. Nothing was written." in words
    assert "cp1252 (of Windows)" in words
    assert [path.name for path in Path().iterdir()] == ["visits.csv"]
    (command,) = offered(refused.err)
    assert "Wrote 41 rows" in check_screen(letalone(*command))
    assert "Wrote 1 row to" in check_screen(letalone(*asked, "--force"))


def test_a_workbook_does_not_replace_the_schema_file_of_a_text_beside_it(
    letalone: Letalone,
) -> None:
    Path("visits.csv").write_text(GERMAN, "utf-8")
    assert letalone(*INIT).code == 0
    book = openpyxl.Workbook()
    book.active.append(["patient_id", "cost"])
    book.save("visits.xlsx")
    for file, other in (("visits.xlsx", "visits.csv"), ("visits.csv", "visits.xlsx")):
        refused = letalone("init", file, "--unit", "patient_id", "--yes")
        words = check_refusal(refused, 2)
        assert f"It belongs to {other}, too: --force would replace it" in words
        assert offered(refused.err) == []
    Path("visits.xlsx").unlink()
    assert offered(letalone(*INIT).err) == [[*INIT, "--force"]]


@pytest.mark.long
def test_an_encoding_that_the_schema_file_contradicts_is_refused(letalone: Letalone) -> None:
    Path("visits.csv").write_bytes(TEXT.encode("cp1252"))
    letalone("init", "visits.csv", "--unit", "patient_id", "--yes", "--encoding", "cp1252")
    refused = letalone("query", "visits.csv", COUNT, *PAID, "--encoding", "latin-1")
    assert "the schema file says 'cp1252'" in check_refusal(refused, 2)
    letalone("query", "visits.csv", COUNT, *PAID, "--encoding", "Windows-1252", "--json").json()


@pytest.mark.long
def test_a_compressed_file_has_the_schema_file_and_the_budget_of_the_plain_one(
    letalone: Letalone,
) -> None:
    Path("visits.csv").write_text(TEXT, "utf-8")
    Path("visits.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    assert letalone("init", "visits.csv.gz", "--unit", "patient_id", "--yes").code == 0
    assert Path("visits.letalone.toml").is_file()
    packed = letalone("query", "visits.csv.gz", COUNT, *PAID, "--json").json()
    plain = letalone("query", "visits.csv", COUNT, "--epsilon", "0.5", "--max-rows", "1", "--json")
    assert plain.json()["rows"] == packed["rows"]
    assert sorted(path.name for path in Path().glob("*.db")) == ["visits.letalone.db"]


@pytest.mark.long
def test_json_lines_are_asked_once_their_columns_are_confirmed(letalone: Letalone) -> None:
    rows = [{"patient_id": f"p{n}", "ward": "AB"[n % 2], "cost": n % 50} for n in range(40)]
    Path("visits.ndjson").write_text("\n".join([*map(json.dumps, rows), "oops"]) + "\n")
    refused = letalone("query", "visits.ndjson", COUNT, *PAID)
    assert "letalone init visits.ndjson" in check_refusal(refused, 2)
    words = check_screen(letalone("init", "visits.ndjson", "--unit", "patient_id", "--yes"))
    assert "1 row cannot be read and will be left out: they are not objects of JSON" in words
    sql = "SELECT ward, SUM(cost) AS total FROM visits GROUP BY ward"
    asked = ("--keys", "ward=A,B", "--bounds", "cost=0:50", "--json")
    said = letalone("query", "visits.ndjson", sql, *PAID, *asked).json()
    assert [row["ward"] for row in said["rows"]] == ["A", "B"]
    with la.open("visits.ndjson") as table:
        assert str(table.remaining.epsilon) == "3/2"


@pytest.mark.long
def test_feather_is_asked_and_shares_the_budget_of_the_other_files_of_its_name(
    letalone: Letalone,
) -> None:
    table = pa.table({"patient_id": [f"p{n}" for n in range(40)], "cost": list(range(40))})
    feather.write_feather(table, "visits.feather")
    check_screen(letalone("init", "visits.feather", "--unit", "patient_id"))
    assert "cost integer" in check_screen(letalone("describe", "visits.feather"))
    said = letalone("query", "visits.feather", COUNT, *PAID, "--json").json()
    Path("visits.csv").write_text(TEXT.replace(" €", "").replace(",visits", ",cost"), "utf-8")
    again = letalone("query", "visits.csv", COUNT, "--epsilon", "0.5", "--max-rows", "1", "--json")
    assert again.json()["rows"] == said["rows"]


def test_a_folder_is_asked_under_the_name_that_its_schema_file_or_the_command_gives(
    letalone: Letalone,
) -> None:
    for year in (2023, 2024):
        Path(f"visits/year={year}").mkdir(parents=True)
        Path(f"visits/year={year}/rows.csv").write_text(TEXT.replace(" €", ""), "utf-8")
    unit = ("--unit", "patient_id")
    refused = letalone("query", "visits", COUNT, *PAID, *unit)
    assert "--name visits" in check_refusal(refused, 2)
    letalone("query", "visits", COUNT, *PAID, *unit, "--name", "visits", "--json").json()
    assert letalone("init", "visits", *unit, "--yes").code == 0
    schema = Path("visits.letalone.toml")
    more = '\n[columns.year]\ntype = "integer"\nkeys = [2023, 2024]\n'
    schema.write_text(schema.read_text("utf-8") + more, "utf-8")
    again = ("--epsilon", "0.5", "--max-rows", "1", "--json")
    sql = "SELECT year, COUNT(*) AS n FROM visits GROUP BY year"
    said = letalone("query", "visits/", sql, *again).json()
    assert [row["year"] for row in said["rows"]] == [2023, 2024]
    with la.open("visits") as table:
        assert str(table.remaining.epsilon) == "1"
    assert sorted(path.name for path in Path().rglob("*.db")) == ["visits.letalone.db"]


@pytest.mark.parametrize("kind", pick(["duckdb"], ["duckdb", "sqlite"]))
def test_the_table_of_a_database_file_is_taken_from_the_sql(letalone: Letalone, kind: str) -> None:
    """FROM visits, on a file with two tables, needs no --table: one budget for both spellings."""
    connect = duckdb.connect if kind == "duckdb" else sqlite3.connect
    with closing(connect(f"clinic.{kind}")) as db:
        for table in ("visits", "people"):
            db.execute(f"CREATE TABLE {table} (patient_id INTEGER, cost INTEGER)")
            db.execute(f"INSERT INTO {table} VALUES (1, 5), (2, 7), (3, 9)")
        db.commit()
    asked = (f"clinic.{kind}", COUNT, "--unit", "patient_id", *PAID, "--json")
    said = letalone("query", *asked).json()
    again = letalone("query", *asked, "--table", "visits").json()
    assert again["rows"] == said["rows"]
    other = letalone("query", f"clinic.{kind}", "SELECT COUNT(*) FROM nothing", *asked[2:])
    assert "holds these tables: people, visits" in other.error()["message"]
    with la.Ledger.open("clinic.letalone.db") as ledger:
        assert [known.name for known in ledger.data_sets()] == ["visits"]


@pytest.mark.long
def test_an_excel_file_is_asked_and_converted(letalone: Letalone) -> None:
    book = openpyxl.Workbook()
    book.active.title = "visits"
    book.active.append(["patient_id", "cost", "share"])
    for number in range(30):
        book.active.append([f"p{number}", number, "=B2/SUM(B:B)"])
    book.save("clinic.xlsx")
    words = check_screen(letalone("init", "clinic.xlsx", "--unit", "patient_id", "--yes"))
    assert "30 cells are formulas" in words
    said = letalone("query", "clinic.xlsx", COUNT, *PAID, "--json").json()
    again = ("--epsilon", "0.5", "--max-rows", "1", "--json", "--table", "visits")
    assert letalone("query", "clinic.xlsx", COUNT, *again).json()["rows"] == said["rows"]
    book.create_sheet("people").append(["patient_id"])
    book.save("clinic.xlsx")
    assert letalone("query", "clinic.xlsx", COUNT, *again).json()["rows"] == said["rows"]
    assert letalone("query", "clinic.xlsx", COUNT, *again[:-2]).json()["rows"] == said["rows"]
    refused = letalone("convert", "clinic.xlsx", "clinic.parquet")
    assert "visits, people" in check_refusal(refused, 2)
    done = letalone("convert", "clinic.xlsx", "clinic.parquet", "--table", "visits", "--json")
    assert done.json()["rows"] == 30


@pytest.mark.long
def test_a_file_of_a_server_is_asked_after_following_the_message(letalone: Letalone) -> None:
    Path("site").mkdir()
    Path("site/visits.csv").write_text(TEXT.replace(" €", ""), "utf-8")
    with serving("site") as site:
        unit = ("--unit", "patient_id")
        refused = letalone("init", f"{site}/visits.csv", *unit, "--yes")
        assert "add --copy" in check_refusal(refused, 2)
        done = letalone("init", f"{site}/visits.csv", *unit, "--yes", "--copy")
        assert done.code == 0, done.err
        assert "Then ask: letalone query" in " ".join(done.out.split())
        assert "--copy" in done.out
        said = letalone("query", f"{site}/visits.csv", COUNT, *PAID, "--copy", "--json").json()
        again = ("--epsilon", "0.5", "--max-rows", "1", "--copy", "--json")
        assert (
            letalone("query", f"{site}/v%69sits.csv", COUNT, *again).json()["rows"]
            == (said["rows"])
        )
        assert letalone("describe", f"{site}/visits.csv", "--copy").code == 0
    assert len(list(Path().glob("127.0.0.1*.letalone.db"))) == 1
    assert len(list(Path().glob("127.0.0.1*.visits.letalone.toml"))) == 1
