"""A table on PostgreSQL is opened, asked and charged as a file is; its password is nowhere."""

import shlex
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

import letalone as la
from engines import on_postgres
from letalone.cli.app import app
from letalone.errors import FormatError, ParameterError
from postgres import shared

ROWS = [[f"p{number % 40}", "ABC"[number % 3], float(number % 90)] for number in range(400)]
KINDS = {"patient": "text", "ward": "text", "cost": "float8"}


@pytest.fixture(scope="module")
def address():
    return on_postgres.address(on_postgres.stored(KINDS, ROWS))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(session):
    mean = la.mean("cost", lower=0, upper=100)
    wards = session.group_by("ward", keys=["A", "B", "C"])
    return wards.agg(n=la.count(), cost=mean).bound(max_rows=10)


def test_an_answer_is_near_the_truth_and_names_its_price(here, address):
    """Every patient has ten rows, so nothing is cut off. At ε = 200 the noise is below 1 in 10^6
    runs: it is drawn anew each time."""
    with la.open(address, unit="patient", budget=la.Budget(epsilon=500)) as session:
        found = asked(session).release(epsilon=200).to_pandas()
        assert [round(n) for n in found["n"]] == pytest.approx([134, 133, 133], abs=3)
        assert session.spent.epsilon == 200
        shown = asked(session).release(epsilon=200).explain(sql=True)
        assert 'COUNT(*) OVER (PARTITION BY "#unit")' in shown


def test_prices_and_statements_are_the_same_for_an_empty_table(here, address):
    empty = on_postgres.address(on_postgres.stored(KINDS, []))
    texts = []
    for one in (address, empty):
        with la.open(one, unit="patient", budget=1, name="visits") as session:
            texts.append(str(asked(session).preview(epsilon=0.5)))
    assert texts[0] == texts[1]


def test_discovered_keys_joins_and_units_are_answered(here, address):
    import pandas as pd

    sizes = pd.DataFrame({"ward": ["A", "B", "C"], "beds": [1.0, 2.0, 3.0]})
    with la.open(address, unit="patient", budget=la.Budget(2000, 1e-3)) as session:
        keys = session.group_by("ward").bound(max_groups=3, max_rows=4).agg(n=la.count())
        assert len(keys.release(epsilon=300, delta=1e-4).to_pandas()) == 3
        beds = (
            session.join(sizes, on="ward")
            .bound(max_rows=10)
            .agg(b=la.mean("beds", lower=0, upper=3))
        )
        assert beds.release(epsilon=300).to_pandas()["b"][0] == pytest.approx(2, abs=0.1)
        units = session.per_unit(total=la.per_unit.sum("cost", lower=0, upper=100))
        total = units.agg(t=la.mean("total", lower=0, upper=1000))
        assert total.release(epsilon=300).to_pandas()["t"][0] == pytest.approx(430, abs=60)


def test_two_private_tables_of_one_database_are_joined_in_one_statement(here, address):
    ages = on_postgres.stored({"id": "text", "age": "int"}, [[f"p{n}", 40] for n in range(40)])
    with (
        la.open(address, unit="patient", budget=500) as visits,
        la.open(on_postgres.address(ages), unit="id", budget=500) as people,
    ):
        both = visits.join(people, on=("patient", "id")).bound(max_rows=10)
        found = both.agg(age=la.mean("age", lower=0, upper=100)).release(epsilon=300)
        assert found.to_pandas()["age"][0] == pytest.approx(40, abs=1)
        assert people.spent.epsilon == visits.spent.epsilon == 300


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_command_line_asks_by_address_and_keeps_schema_and_ledger_here(here, address):
    table = address.partition("?")[0].rpartition("/")[2].replace("%20", " ")
    found = run("init", address, "--unit", "patient")
    assert found.exit_code == 0, found.output
    sql = f'SELECT COUNT(*) AS n FROM "{table}"'
    found = run("query", address, sql, "--epsilon", "0.5", "--budget", "2")
    assert found.exit_code == 0, found.output
    there = sql.replace('"', 'public."', 1)
    found = run("query", address, there, "--epsilon", "0.5")
    assert "nothing spent" in " ".join(found.output.split()), "it is the same question"
    kept = sorted(path.name for path in here.iterdir())
    asking = "postgres.letalone.db-asking"  # who is at work on a question
    assert kept == ["postgres.letalone.db", asking, f"postgres.{table}.letalone.toml"]
    with la.open(address) as session:
        assert session.spent.epsilon == 0.5
        assert session.sql(there, epsilon=0.5).repeated


def test_a_schema_file_says_where_its_data_are(here, address):
    assert run("init", address, "--unit", "patient").exit_code == 0
    (made,) = here.glob("*.toml")
    text = made.read_text("utf-8").replace("\nversion", f'\nsource = "{address}"\nversion')
    Path("care.letalone.toml").write_text(text, encoding="utf-8")
    with la.open("care.letalone.toml", budget=1) as session:
        assert session.agg(n=la.count()).bound(max_rows=10).preview(epsilon=0.5)
    name = made.name.split(".")[1]
    sql = f'SELECT COUNT(*) AS n FROM "{name}"'
    found = run("query", "care.letalone.toml", sql, "--epsilon", "0.5", "--budget", "2")
    assert found.exit_code == 0, found.output
    assert Path("care.letalone.db").exists()


def test_a_schema_file_without_a_source_or_with_a_password_is_refused(here):
    head = 'format = 1\nname = "x"\nunit_is_row = true\n'
    Path("x.letalone.toml").write_text(head + '[columns.a]\ntype = "text"\n')
    with pytest.raises(FormatError, match="source ="):
        la.open("x.letalone.toml", budget=1)
    secret = 'source = "postgresql://u:S3CR3T@h/d/t"\n[columns.a]\ntype = "text"\n'
    Path("x.letalone.toml").write_text(head + secret)
    with pytest.raises(ParameterError, match="PGPASSWORD") as caught:
        la.open("x.letalone.toml", budget=1)
    assert "S3CR3T" not in str(caught.value)


def test_a_side_table_is_not_needed_any_more_and_nothing_is_written(here, address):
    """It may still be named, by whoever has a script or a schema file of an earlier version."""
    assert run("init", address, "--unit", "patient").exit_code == 0
    (made,) = here.glob("*.toml")
    sql = f'SELECT COUNT(*) AS n FROM "{made.name.split(".")[1]}"'
    words = ["query", address, sql, "--budget", "9", "--max-rows", "2", "--epsilon"]
    before = on_postgres.run("SELECT count(*) FROM pg_class WHERE relkind = 'r'")
    found = run(*words, 0.5, "--side-table", "typed copy")
    assert found.exit_code == 0, found.output
    text = made.read_text("utf-8")
    made.write_text(text.replace("\nversion", '\nside_table = "declared copy"\nversion'), "utf-8")
    assert run(*words, 0.6).exit_code == 0
    with la.open(address, side_table="given copy", ledger="other.db", budget=1) as session:
        session.agg(n=la.count()).bound(max_rows=2).release(epsilon=0.5)
    assert on_postgres.run("SELECT count(*) FROM pg_class WHERE relkind = 'r'") == before


def typed(found):
    """The commands after "Try:", as a shell would read them."""
    lines = str(found.exception).splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("  ")]


@pytest.mark.long  # cli/test_commands.py stays
def test_the_command_after_a_mistyped_table_is_answered(here):
    """With signs that mean something in an address, in a shell and in SQL."""
    on_postgres.run("CREATE DATABASE few STRATEGY wal_log")
    head, _, options = shared().replace("/postgres?", "/few?").partition("?")
    with psycopg.connect(f"{head}?{options}", autocommit=True) as few:
        few.execute("CREATE SCHEMA icu")
        for table in ('"it\'s"', 'icu."st ays"', '"a.b"'):
            few.execute(f"CREATE TABLE {table} (p text)")
    more = ("--unit", "p", "--epsilon", "0.5", "--budget", "2")
    for wrong in (f"{head}/visit?{options}", f"{head}?{options}"):
        for sql in ('SELECT COUNT(*) FROM "icu"."stay"', "SELECT COUNT(*) FROM visits"):
            commands = typed(run("query", wrong, sql, *more))
            assert len(commands) == 3
            for command in commands:
                found = run(*command, "--dry-run")
                assert found.exit_code == 0, (command, found.exception)
    for name in ("describe", "init", "train"):
        commands = typed(run(name, f"{head}/visit?{options}"))
        assert [len(command) for command in commands] == [2] * 3
        assert all(run("describe", command[1]).exit_code == 0 for command in commands)
