"""The blocks of Python on the page about Spark run, in a Spark's own catalogue."""

import pytest

from documentation.test_code_blocks import ELSEWHERE, SYBIL, blocks

(PAGE,) = (page for page in ELSEWHERE if page.stem == "spark")


@pytest.fixture
def clinic(spark):
    """The table of the page."""
    for schema in ("clinic", "private"):
        spark.sql(f"CREATE SCHEMA {schema}")
    columns = (
        "string(id % 40) AS patient_id, 2020 + id % 6 AS year, ELT(1 + id % 2, 'A', 'B') AS ward"
    )
    spark.range(400).selectExpr(*columns.split(", ", 2)).write.saveAsTable("clinic.visits")
    yield
    for schema in ("clinic", "private"):
        spark.sql(f"DROP SCHEMA {schema} CASCADE")


def test_the_code_on_the_page_runs(spark, clinic, tmp_path, monkeypatch):
    """At an epsilon of a fortieth a row the noise is beyond 1000 less than once in 10^10 runs."""
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "spark.md"
    page.write_text(PAGE.read_text("utf-8").replace("lake.", "spark_catalog."), "utf-8")
    document = SYBIL.parse(page)
    document.namespace["spark"] = spark
    examples = list(document.examples())
    assert len(examples) == blocks(page) == 1
    for example in examples:
        example.evaluate()
    numbers = list(document.namespace["wards"].to_pandas()["n"])
    assert numbers == pytest.approx([200] * 2, abs=1000)
