"""A data set that stays on a PostgreSQL server: allowed hosts only, declared columns only (G1),
statements for its owner to run (G7), and nothing of the server for analysts."""

import re
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from curator.makers import (
    LINES,
    NAME,
    PURPOSE,
    SECRET,
    Clock,
    ask,
    grant,
    open_curator,
    registration,
    whats,
    with_people,
)
from engines import on_postgres
from letalone.curator.data_sets.external_sources import check_allowed
from letalone.curator.storage.refusals import NotPermitted
from letalone.curator.storage.service_records import DataSetQuestion, Purpose, QuestionPrice
from letalone.curator.storage.settings import Settings
from letalone.engines.core.failure import SourceUnreadable
from letalone.engines.postgres.postgres_connection import Server
from letalone.engines.spark import spark_start
from letalone.errors import ParameterError
from letalone.plans.schema import Column, Schema
from letalone.privacy import Budget
from postgres import shared

WHY = "case 17"
KINDS = {"patient": "text", "ward": "text", "cost": "float8", "age": "int", "diary": "text"}
BIG = Budget(10**6)


@pytest.fixture
def host():
    return parse_qs(shared().partition("?")[2])["host"][0]


@pytest.fixture
def table():
    """Its second row of p7 costs more than is declared."""
    rows = [line.split(",") for line in LINES[1:]]
    return on_postgres.stored(KINDS, rows)


@pytest.fixture
def curator(tmp_path, host):
    clock = Clock(days=-30)
    with open_curator(tmp_path, clock=clock, source_hosts=(host,)) as found:
        with_people(found)
        clock.passed -= clock.passed
        yield found


def register(curator, table, **more):
    given = {"budget": BIG, "purposes": (Purpose(PURPOSE, BIG),)} | more
    return curator.data_sets.register(
        registration(**given), address=on_postgres.address(table), by="olga"
    )


def test_it_is_asked_where_it_lies_and_nothing_but_declared_columns_is_read(
    curator, table, monkeypatch
):
    said, run = [], Server.run
    monkeypatch.setattr(
        Server, "run", lambda self, text, given=(): said.append(text) or run(self, text, given)
    )
    assert register(curator, table).external
    grant(curator, budget=BIG, columns=["ward", "cost"])
    sql = f"SELECT ward, COUNT(*) AS n, AVG(cost) AS c FROM {NAME} GROUP BY ward"
    question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=sql, max_rows=3)
    found = curator.asking.release(question, QuestionPrice(epsilon=1000), by="ann").to_pandas()
    assert [round(n) for n in found["n"]] == [30, 30]
    assert len(curator.subjects.rows(NAME, "p7", by="stan", why=WHY)) == 3
    chosen = [read_of(table, one) for one in said if table in one]
    assert len(chosen) == 2
    assert not [one for one in chosen if "diary" in one or "*" in one]
    everything = b"".join(p.read_bytes() for p in Path(curator.settings.folder).rglob("*.*"))
    assert SECRET.encode() not in everything


def read_of(table, statement):
    """The columns that are read of the table itself; others are made of these."""
    (chosen,) = re.findall(rf'SELECT ((?:(?!SELECT).)*) FROM "public"\."{table}"', statement, re.S)
    return chosen


def test_a_person_is_found_corrected_and_erased_by_statements_that_the_owner_runs(curator, table):
    register(curator, table)
    subjects = curator.subjects
    assert [one.held for one in subjects.holdings("p7", by="stan", why=WHY)] == [True]
    assert [one.held for one in subjects.holdings("p'7\0", by="stan", why=WHY)] == [False]
    rows = subjects.rows(NAME, "p7", by="stan", why=WHY)
    assert [row["cost"] for row in rows] == [70.0, 270.0, 470.0]
    done = subjects.correct(
        NAME, "p7", row=1, changes={"cost": 5, "ward": "O'B\\"}, by="stan", why=WHY
    )
    assert "none of the declared keys" in done.statement
    assert on_postgres.run(statement_in(done)) == []
    rows = subjects.rows(NAME, "p7", by="stan", why=WHY)
    assert sorted((row["cost"], row["ward"]) for row in rows) == [
        (5.0, "O'B\\"), (70.0, "B"), (470.0, "B"),
    ]  # fmt: skip
    on_postgres.run(statement_in(done))
    assert subjects.rows(NAME, "p7", by="stan", why=WHY) == rows, "a statement that was run before"
    none = subjects.correct(NAME, "p7", row=3, changes={"cost": 5}, by="stan", why=WHY)
    assert (none.rows, "no such row" in none.statement) == (0, True)
    done = subjects.erase(NAME, "p7", by="stan", why=WHY)
    assert (done.rows, "DELETE 3" in done.statement) == (3, True)
    with pytest.raises(ParameterError, match="still has rows of this person"):
        subjects.record_outcome(done.act, done=True, words="gone", by="stan")
    on_postgres.run(statement_in(done))
    assert on_postgres.run(f'SELECT count(*) FROM "{table}"') == [(57,)]
    assert subjects.record_outcome(done.act, done=True, words="gone", by="stan").version == 2
    assert not [one for one in curator.ledger.entries(NAME) if "p7" in str(one.body)]
    assert "subject: erase at the source" in whats(curator)


def test_rows_of_a_view_are_found_and_named_by_their_values(curator, table):
    """They have no places there; what is removed of a view is removed of its table."""
    view = f"{table} seen"
    on_postgres.run(
        f'CREATE VIEW "{view}" AS SELECT patient, ward, cost, age FROM "{table}" WHERE cost < 400'
    )
    register(curator, view)
    rows = curator.subjects.rows(NAME, "p7", by="stan", why=WHY)
    assert [row["cost"] for row in rows] == [270.0, 70.0], "in the order of their text"
    done = curator.subjects.correct(NAME, "p7", row=0, changes={"cost": 5}, by="stan", why=WHY)
    assert "'cost' is 270" in done.statement
    assert "one of the 2 rows of this person; if two are equal, either" in done.statement
    gone = curator.subjects.erase(NAME, "p7", by="stan", why=WHY)
    on_postgres.run(statement_in(gone))
    assert on_postgres.run(f"SELECT cost FROM \"{table}\" WHERE patient = 'p7'") == [(470.0,)]


def statement_in(done):
    return re.search(r"run: (.*?;) It must", done.statement, re.S)[1]


def test_errors_at_registration_are_the_owners_and_later_ones_say_nothing(curator, table):
    with pytest.raises(NotPermitted):
        curator.data_sets.register(registration(), address=on_postgres.address(table), by="stan")
    wrong = registration(schema=Schema(NAME, (Column("nobody", "text"),), unit="nobody"))
    with pytest.raises(ParameterError, match="nobody"):
        curator.data_sets.register(wrong, address=on_postgres.address(table), by="olga")
    with pytest.raises(ParameterError, match="is none"):
        register(curator, "not there")
    with pytest.raises(ParameterError, match="one of them"):
        curator.data_sets.register(registration(), address="x", file="y", by="olga")
    assert curator.data_sets.records() == []
    register(curator, table)
    grant(curator)
    on_postgres.run(f'DROP TABLE "{table}"')
    with pytest.raises(SourceUnreadable, match="cannot be opened now") as caught:
        ask(curator)
    assert table not in str(caught.value)
    assert curator.ledger.data_set(NAME).releases == 0


def test_a_host_that_is_no_longer_allowed_is_not_read(curator, table, host, tmp_path):
    register(curator, table)
    grant(curator)
    curator.close()
    with open_curator(tmp_path) as again, pytest.raises(SourceUnreadable) as caught:
        ask(again)
    assert host not in str(caught.value)


ALLOWED = Settings(folder=Path("x"), source_hosts=("db.example", "DB.example:5433", "service=care"))


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u@db.example/d/t", "postgresql://u@DB.EXAMPLE:5432/d/t?sslmode=verify-full",
        "postgresql://u@db.example:5433/d/s.t", "postgresql://u@/d/t?service=care",
        "postgresql://u@db.example,db.example:5433/d/t",
    ],
)  # fmt: skip
def test_listed_hosts_are_allowed(address):
    assert check_allowed(ALLOWED, address) == address


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://u@169.254.169.254/d/t", "may not read"),
        ("postgresql://u@db.example:22/d/t", "may not read"),
        ("postgresql://u@db.example,evil/d/t", "may not read"),
        ("postgresql://u@db.example:5432,evil:5432/d/t", "may not read"),
        ("postgresql://u@db.example/d/t?host=evil", "two things"),
        ("postgresql://u@db.example/d/t?host=/run/postgresql", "two things"),
        ("postgresql://u@/d/t?host=evil", "may not read"),
        ("postgresql://u@/d/t?host=/run/postgresql", "may not read"),
        ("postgresql://u@/d/t?host=db.example&host=evil", "may not read"),
        ("postgresql://u@/d/t?%68ost=evil", "may not read"),
        ("postgresql://u@/d/t?host=&service=care", "libpq can read"),
        ("postgresql://u@/d/t?host=evil&service=care", "may not read"),
        ("postgresql://u@/d/t?port=22&service=care", "may not read"),
        ("postgresql://u@db.example/d/t?service=care", "may not read"),
        ("postgresql://u@db.example/d/t?dbname=other", "two things"),
        ("postgresql://u@db.example/d/t?servicefile=/tmp/x", "servicefile|libpq can read"),
        ("postgresql://u@db.example/d/t?port=22", "may not read"),
        ("postgresql://u@db.example/d/t?port=5432,22", "may not read"),
        ("postgresql://u@db.example/d/t?hostaddr=10.0.0.1", "hostaddr"),
        ("postgresql://u@db.example/d/t?service=other", "may not read"),
        ("postgresql://u@/d/t", "may not read"),
        ("postgresql:///d/t", "may not read"),
        ("postgresql://u@db.example/d/t?passfile=/etc/shadow", "passfile"),
        ("postgresql://u@db.example/d/t?sslkey=/etc/key", "sslkey"),
        ("postgresql://u@db.example/d/t?options=-c%20x", "options"),
        ("postgresql://u@db.example/host%3Devil/t", "= or ://"),
        ("postgresql://u@db.example/postgresql:%2F%2Fevil%2Fd/t", "= or ://"),
        ("postgresql://u@db.example/d/t?wrong=1", "libpq can read"),
        ("postgresql://u@db.example/d", "must name a table"),
        ("visits.csv", "must be one of a table"),
        ("postgresql://u:S3CR3T@db.example/d/t", "PGPASSWORD"),
        ("postgresql://u@db.example/d/t?password=S3CR3T", "PGPASSWORD"),
    ],
)
def test_no_address_leads_elsewhere_or_has_a_password(address, words):
    with pytest.raises(ParameterError, match=words) as caught:
        check_allowed(ALLOWED, address)
    assert "S3CR3T" not in str(caught.value)


def test_without_a_list_no_address_is_taken(tmp_path):
    with pytest.raises(ParameterError, match="--source-host"):
        check_allowed(Settings(folder=tmp_path), "postgresql://u@db.example/d/t")


ON_SPARK = Settings(folder=Path("x"), spark_schemas=("lake.clinic", "spark_catalog.`my care`"))


@pytest.mark.parametrize(
    "address",
    [
        "spark:lake.clinic.visits",
        "spark:`lake`.clinic.`my-visits`",
        "spark:spark_catalog.`my care`.`a$b`",
    ],
)
def test_listed_schemas_of_spark_are_allowed_and_spark_is_not_started(address, monkeypatch):
    monkeypatch.setattr(spark_start, "spark_session", None)
    assert check_allowed(ON_SPARK, address) == address


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("spark:lake.payroll.people", "may not read"),
        ("spark:other.clinic.visits", "may not read"),
        ("spark:LAKE.clinic.visits", "may not read"),
        ("spark:lake.`clinic.visits`.history", "signs"),
        ("spark:clinic.visits", "in full"),
        ("spark:visits", "in full"),
        ("spark:lake.clinic.visits.history", "must name a table"),
        ("spark:parquet.`/etc/passwd`", "path of a file"),
        ("spark:lake.clinic.`/etc/passwd`", "path of a file"),
        ("spark:lake.clinic.`s3:x`", "path of a file"),
        ('spark:lake.clinic.`a"; DROP`', "signs"),
        ("spark:lake.clinic.`a.b`", "signs"),
        ("spark:lake.clinic.`a``b`", "signs"),
    ],
)
def test_no_address_of_spark_leads_out_of_the_listed_schemas(address, words, monkeypatch):
    monkeypatch.setattr(spark_start, "spark_session", None)
    with pytest.raises(ParameterError, match=words):
        check_allowed(ON_SPARK, address)


def test_each_list_allows_its_own_kind_alone(tmp_path):
    with pytest.raises(ParameterError, match="--spark-schema"):
        check_allowed(ALLOWED, "spark:lake.clinic.visits")
    with pytest.raises(ParameterError, match="--source-host"):
        check_allowed(ON_SPARK, "postgresql://u@db.example/d/t")
    for wrong in ("clinic", "lake.clinic.visits", "lake.", "lake. clinic"):
        with pytest.raises(ParameterError, match=r"'lake\.clinic'"):
            Settings(folder=tmp_path, spark_schemas=(wrong,))
