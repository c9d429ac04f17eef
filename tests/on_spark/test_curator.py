"""A data set that stays on Spark: listed schemas and declared columns only, words for its owner."""

import time
from pathlib import Path

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
    with_people,
)
from letalone.curator.storage.refusals import NotPermitted
from letalone.curator.storage.service_records import DataSetQuestion, Purpose, QuestionPrice
from letalone.engines.core.failure import EngineFailed, SourceUnreadable
from letalone.engines.spark import spark_person as spark_rows
from letalone.engines.spark.spark_person import number_of_one, spelled_at, units_at
from letalone.errors import DataSetFrozen, ParameterError
from letalone.plans.schema import Column, Schema
from letalone.privacy import Budget

WHY = "case 17"
KINDS = "patient string, ward string, cost double, age int, diary string"
ADDRESS = "spark:spark_catalog.clinic.visits"
BIG = Budget(10**6)
TYPES = {"bigint": "integer", "date": "date", "timestamp_ntz": "timestamp"}
SLOW = "aggregate(sequence(1, 20000), 0D, (a, x) -> a + sqrt(a + x)) > 0"  # of 200 rows: a second


@pytest.fixture(scope="module", autouse=True)
def clinic(spark):
    spark.sql("CREATE SCHEMA clinic")
    yield
    spark.sql("DROP SCHEMA clinic CASCADE")


@pytest.fixture
def table(spark):
    """Its second row of p7 costs more than is declared."""
    rows = [line.split(",") for line in LINES[1:]]
    typed = [(p, w, float(c), int(a), d) for p, w, c, a, d in rows]
    spark.createDataFrame(typed, KINDS).write.mode("overwrite").saveAsTable("clinic.visits")


@pytest.fixture
def curator(tmp_path, table):
    clock = Clock(days=-30)
    with open_curator(tmp_path, clock=clock, spark_schemas=["spark_catalog.clinic"]) as found:
        with_people(found)
        clock.passed -= clock.passed
        yield found


def register(curator, by="olga"):
    given = registration(budget=BIG, purposes=(Purpose(PURPOSE, BIG),))
    return curator.data_sets.register(given, address=ADDRESS, by=by)


def test_it_is_asked_where_it_lies_and_a_persons_rows_are_found_for_the_steward(curator, spark):
    with pytest.raises(NotPermitted):
        register(curator, by="stan")
    assert register(curator).external
    grant(curator, budget=BIG, columns=["ward", "cost"])
    sql = f"SELECT ward, COUNT(*) AS n, AVG(cost) AS c FROM {NAME} GROUP BY ward"
    question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=sql, max_rows=3)
    found = curator.asking.release(question, QuestionPrice(epsilon=1000), by="ann").to_pandas()
    assert [round(n) for n in found["n"]] == [30, 30]
    subjects = curator.subjects
    assert [one.held for one in subjects.holdings("p7", by="stan", why=WHY)] == [True]
    assert [one.held for one in subjects.holdings("p'7\0", by="stan", why=WHY)] == [False]
    rows = subjects.rows(NAME, "p7", by="stan", why=WHY)
    assert [row["cost"] for row in rows] == [270.0, 470.0, 70.0]
    assert all("diary" not in row and SECRET not in str(row) for row in rows)
    done = subjects.correct(NAME, "p7", row=1, changes={"cost": 5}, by="stan", why=WHY)
    assert "'cost' is 470" in done.statement
    assert "the table 'spark_catalog.clinic.visits'" in done.statement
    done = subjects.erase(NAME, "p7", by="stan", why=WHY)
    assert "remove every row in which 'patient' is 'p7': 3 rows" in done.statement
    with pytest.raises(ParameterError, match="still has rows of this person"):
        subjects.record_outcome(done.act, done=True, words="gone", by="stan")
    rest = spark.table("clinic.visits").where("patient <> 'p7'").localCheckpoint()
    rest.write.mode("overwrite").saveAsTable("clinic.visits")
    assert subjects.record_outcome(done.act, done=True, words="gone", by="stan").version == 2


def test_a_view_across_people_is_not_registered(curator, spark):
    window = "max(cost) OVER (PARTITION BY ward) AS cost"
    spark.sql("ALTER TABLE clinic.visits RENAME TO clinic.base")
    spark.sql(f"CREATE VIEW clinic.visits AS SELECT patient, ward, {window}, age FROM clinic.base")
    try:
        with pytest.raises(ParameterError, match="made across people: it holds a window"):
            register(curator)
    finally:
        spark.sql("DROP VIEW clinic.visits")
        spark.sql("DROP TABLE clinic.base")


@pytest.mark.parametrize(
    ("kind", "stored", "typed", "wrong"),
    [
        ("bigint", "7", "007", "seven"), ("double", "0.0", "-0", "nan"),
        ("date", "2024-01-31", "2024-1-31", "2024-02-31"), ("decimal(9,2)", "7.50", "7.5", ""),
        ("decimal(9,2)", "7.00", "7", "7.001"), ("float", "16777216", "16777216", "16777217"),
        ("double", "0.1", "0.10", "0.1x"), ("date", "2024-01-31", "2024-01-31", "2024-01-31 9:00"),
        ("timestamp_ntz", "2024-01-31 09:00", "2024-01-31 09:00", "2024-01-31 09:00:00.0000009"),
    ],
)  # fmt: skip
def test_a_typed_id_finds_the_unit_that_spark_stores(spark, kind, stored, typed, wrong):
    made = f"CREATE OR REPLACE VIEW clinic.ids AS SELECT CAST('{stored}' AS {kind}) AS id"
    spark.sql(made)
    schema = Schema("ids", (Column("id", TYPES.get(kind, "number")),), unit="id")
    at = "spark:spark_catalog.clinic.ids"
    assert list(units_at(at, schema)) == [spelled_at(at, schema, typed)]
    assert number_of_one(at, schema, spelled_at(at, schema, typed)) == 1
    other = spelled_at(at, schema, wrong)
    assert other is None or number_of_one(at, schema, other) == 0


def test_a_typed_id_of_fixed_length_finds_its_unit_with_or_without_blanks(spark):
    spark.sql("CREATE TABLE clinic.fixed (id CHAR(5)) USING parquet")
    spark.sql("INSERT INTO clinic.fixed VALUES ('p1'), ('p1')")
    schema = Schema("fixed", (Column("id", "text"),), unit="id")
    at = "spark:spark_catalog.clinic.fixed"
    for typed, rows in (("p1", 2), ("p1   ", 2), (" p1", 0), ("P1", 0)):
        assert number_of_one(at, schema, spelled_at(at, schema, typed)) == rows


@pytest.mark.parametrize("how", [lambda *at: number_of_one(*at, "7"), lambda *at: [*units_at(*at)]])
def test_a_look_at_a_persons_rows_ends_at_the_time_limit(spark, monkeypatch, how):
    """All of them would take a minute and more."""
    made = f"SELECT string(id) AS id FROM range(0, 20000, 1, 2) WHERE {SLOW}"
    spark.sql(f"CREATE OR REPLACE VIEW clinic.slow AS {made}")
    monkeypatch.setattr(spark_rows, "MAX_SECONDS", 0.5)
    start = time.monotonic()
    with pytest.raises(EngineFailed):
        how("spark:spark_catalog.clinic.slow", Schema("slow", (Column("id", "text"),), unit="id"))
    assert time.monotonic() < start + 20
    assert not spark.sparkContext.getJobTags()


def test_a_failure_in_a_question_freezes_and_charges_and_tells_the_analyst_no_more(curator, spark):
    """The files of the table go while it is open."""
    register(curator)
    grant(curator)
    ask(curator)
    before = curator.ledger.data_set(NAME).spent.epsilon
    folder = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
    for file in (folder / "clinic.db" / "visits").glob("*.parquet"):
        file.unlink()
    with pytest.raises(DataSetFrozen) as caught:
        ask(curator, epsilon=0.02)
    assert "parquet" not in str(caught.value)
    after = curator.ledger.data_set(NAME)
    assert (after.frozen, after.spent.epsilon > before) == (True, True)


def test_what_is_gone_or_no_longer_allowed_is_not_read_and_says_nothing(curator, spark, tmp_path):
    register(curator)
    grant(curator)
    curator.close()
    with open_curator(tmp_path) as again, pytest.raises(SourceUnreadable) as caught:
        ask(again)
    assert "clinic" not in str(caught.value)
    spark.sql("DROP TABLE clinic.visits")
    with open_curator(tmp_path, spark_schemas=["spark_catalog.clinic"]) as again:
        with pytest.raises(SourceUnreadable, match="cannot be opened now") as caught:
            ask(again)
        assert "clinic" not in str(caught.value)
        assert again.ledger.data_set(NAME).releases == 0
