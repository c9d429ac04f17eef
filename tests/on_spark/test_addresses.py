"""A table on Spark by its address: in Python, on the command line and in a schema file."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import letalone as la
from letalone.cli.app import app
from letalone.engines.spark import spark_start
from letalone.errors import ParameterError

ROWS = [(f"p{number % 40}", "ABC"[number % 3], float(number % 90)) for number in range(400)]
COUNT = "SELECT ward, COUNT(*) AS n FROM addressed GROUP BY ward"
KEYS = ["--keys", "ward=A,B,C", "--max-rows", "10"]


@pytest.fixture(scope="module", autouse=True)
def tables(spark):
    """The same name in two schemas, and as a temporary view."""
    spark.sql("CREATE SCHEMA archive")
    frame = spark.createDataFrame(ROWS, "patient string, ward string, cost double")
    for name in ("default.addressed", "archive.addressed"):
        frame.write.saveAsTable(name)
    spark.table("archive.addressed").where("false").createOrReplaceTempView("addressed")
    yield
    spark.catalog.dropTempView("addressed")
    spark.sql("DROP TABLE default.addressed")
    spark.sql("DROP SCHEMA archive CASCADE")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def counted(session, epsilon=500):
    """Every patient has ten rows. At this epsilon the noise is beyond 3 less than once in 10^6."""
    wards = session.group_by("ward", keys=["A", "B", "C"]).bound(max_rows=10)
    return [round(n) for n in wards.agg(n=la.count()).release(epsilon=epsilon).to_pandas()["n"]]


def test_an_address_is_read_from_the_catalogue_by_the_session_that_runs(here, spark):
    """Not from the temporary view of the same name, which is empty."""
    with la.open("spark:addressed", unit="patient", budget=1000) as session:
        assert counted(session) == pytest.approx([134, 133, 133], abs=3)
        assert session.name == "addressed"
        assert "spark_catalog.default.addressed" in repr(session)
    assert spark_start.spark_session() is spark
    assert spark.sql("SELECT 1").collect()


def test_one_table_has_one_schema_file_and_one_budget_however_it_is_written(here, spark):
    found = run("init", "spark:Addressed", "--unit", "patient")
    assert found.exit_code == 0, found.output
    there = COUNT.replace("addressed", "spark_catalog.Default.addressed")
    asked = ["query", "spark:default.addressed", there, *KEYS, "--epsilon"]
    found = run(*asked, 0.5, "--budget", "2", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["data_set"] == "addressed"
    files = ["spark_catalog.default.addressed.letalone.toml", "spark_catalog.default.letalone.db"]
    assert sorted(path.name for path in here.iterdir() if path.suffix in (".db", ".toml")) == files
    for one in ("spark:spark_catalog.default.`addressed`", (spark, "DEFAULT.Addressed")):
        with la.open(one) as session:
            assert session.sql("SELECT COUNT(*) FROM default.addressed", max_rows=10)
            with pytest.raises(ParameterError, match="There is no table 'archive"):
                session.sql("SELECT COUNT(*) FROM archive.addressed")
            assert session.spent.epsilon == 0.5
    found = run("describe", "spark:SPARK_CATALOG.Default.ADDRESSED")
    assert "ε = 0.5 on 1 release" in found.output
    assert run(*asked, 1.9).exit_code != 0


def test_two_tables_of_one_name_have_two_ledgers_and_do_not_share_one_unsaid(here, spark):
    def opened(address, **more):
        return la.open(address, unit="patient", budget=2, **more)

    for schema in ("default", "archive"):
        words = ["query", f"spark:{schema}.addressed", COUNT, *KEYS, "--unit", "patient"]
        assert run(*words, "--epsilon", "0.5", "--budget", "2").exit_code == 0
        assert Path(f"spark_catalog.{schema}.letalone.db").exists()
    opened("spark:default.addressed", ledger="team.db").close()
    for other in ("spark:archive.addressed", (spark, "archive.addressed")):
        with pytest.raises(ParameterError, match=r"belongs to the table spark_catalog\.default"):
            opened(other, ledger="team.db")
    opened("spark:archive.addressed", ledger="team.db", name="old visits").close()
    opened("spark:default.addressed", ledger="team.db").close()
    opened("spark:archive.addressed", ledger="team.db", name="addressed").close()
    with pytest.raises(ParameterError, match=r"belongs to the table spark_catalog\.archive"):
        opened("spark:default.addressed", ledger="team.db")


def test_a_schema_object_is_no_way_round_and_a_view_is_not_the_table_of_its_name(here, spark):
    def opened(source, ledger="team.db", **more):
        with la.open(source, ledger=ledger, **more) as session:
            return session.schema

    schema = opened("spark:default.addressed", unit="patient", budget=2, name="addressed")
    opened("spark:default.addressed", schema=schema)
    rows = pl.DataFrame(ROWS, schema=["patient", "ward", "cost"], orient="row")
    others = ["spark:archive.addressed", (spark, "addressed"), spark.table("addressed"), rows]
    for other in others:
        with pytest.raises(ParameterError, match=r"belongs to the table spark_catalog\.default"):
            opened(other, schema=schema)
    opened((spark, "addressed"), schema=schema, name="addressed")
    opened("spark:default.addressed")
    opened((spark, "addressed"), unit="patient", budget=2, ledger="views.db")
    with pytest.raises(ParameterError, match="addressed \\(of no catalogue\\)"):
        opened("spark:default.addressed", unit="patient", ledger="views.db")


def test_names_with_blanks_and_paths_without_a_name_begin_no_second_budget(here, spark):
    for written in (" default.addressed", "default . addressed", "/* */ default.addressed"):
        with pytest.raises(ParameterError, match="without blanks or comments"):
            la.open((spark, written), unit="patient", budget=2)
    spark.table("default.addressed").write.parquet(f"{here}/kept")
    for written in (f"parquet.`{here}/kept`", f"PARQUET.`file:{here}/./kept`"):
        with pytest.raises(ParameterError, match="Give this data set a name"):
            la.open((spark, written), unit="patient", budget=2)
        with la.open((spark, written), unit="patient", budget=2, name="kept", ledger="k.db") as one:
            assert one.name == "kept"


def test_a_schema_file_says_where_its_data_are_and_a_side_table_is_ignored(here, spark):
    assert run("init", "spark:addressed", "--unit", "patient").exit_code == 0
    (made,) = here.glob("*.toml")
    more = '\nsource = "spark:addressed"\nside_table = "archive.ranked"\nversion'
    Path("care.letalone.toml").write_text(
        made.read_text("utf-8").replace("\nversion", more), "utf-8"
    )
    made.unlink()
    words = ["query", "care.letalone.toml", COUNT, *KEYS, "--epsilon", "0.5", "--budget", "2"]
    found = run(*words)
    assert found.exit_code == 0, found.output
    assert not spark.catalog.tableExists("archive.ranked")
    with la.open("care.letalone.toml") as session:
        assert session.spent.epsilon == 0.5
    assert sorted(path.name for path in here.iterdir() if path.suffix in (".db", ".toml")) == [
        "care.letalone.db",
        "care.letalone.toml",
    ]
    words = ["query", "spark:addressed", COUNT, *KEYS, "--unit", "patient", "--epsilon", "0.5"]
    found = run(*words, "--budget", "2", "--side-table", "archive.typed")
    assert found.exit_code == 0, found.output
    assert not spark.catalog.tableExists("archive.typed")


def test_what_is_not_there_is_said_and_makes_no_ledger(here):
    for address in ("spark:archive.nothing", "spark:lake.clinic.visits", "spark:parquet.`/x`"):
        found = run("query", address, COUNT, "--epsilon", "0.5", "--budget", "2")
        assert isinstance(found.exception, ParameterError), found.output
    assert list(here.iterdir()) == []
