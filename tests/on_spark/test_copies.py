"""A copy with ranks of an earlier version is no data set of its own, with a second budget."""

from json import dumps

import pytest

import letalone as la
from engines.test_engine_laws import SCHEMA, crowd
from letalone.engines.old_copies import MARK, RANK
from letalone.errors import ParameterError
from on_spark.spark import frame_of


@pytest.fixture
def copy(spark):
    """The name of a copy of a table of the catalogue, as earlier versions made it."""
    rows = frame_of(crowd(5), SCHEMA)
    rows.write.saveAsTable("default.original")
    try:
        told = MARK + dumps({"of": "spark_catalog.default.original"})
        ranked = rows.selectExpr("patient AS column0", f"1 AS {RANK}")
        ranked.write.saveAsTable("default.ranks")
        spark.sql(f"COMMENT ON TABLE default.ranks IS '{told}'")
        yield "ranks"
    finally:
        for name in ("original", "ranks"):
            spark.sql(f"DROP TABLE IF EXISTS default.{name}")


def test_a_copy_is_no_data_set_of_its_own(copy, spark, tmp_path):
    words = r"copy of 'spark_catalog\.default\.original' with ranks; open that one"
    ledger = tmp_path / "l.db"
    for source in ((spark, copy.upper()), (spark, f"default.`{copy}`"), f"spark:default.{copy}"):
        with pytest.raises(ParameterError, match=words):
            la.open(source, unit="column0", budget=1.0, ledger=ledger)
    assert not ledger.exists()
    with la.open((spark, "default.original"), unit="patient", budget=1.0, ledger=ledger):
        assert ledger.exists()


def test_a_frame_a_view_and_files_of_a_copy_are_no_data_set_either(copy, spark):
    """By the comment in the catalogue, and by the column of ranks where there is none."""
    frame = spark.table(copy).where("column0 IS NOT NULL").select("column0")
    frame.createOrReplaceTempView("of_a_copy")
    files = spark.conf.get("spark.sql.warehouse.dir") + f"/{copy}"
    for source in (frame, (spark, "of_a_copy"), spark.read.parquet(files).select("column0")):
        with pytest.raises(ParameterError, match=r"is letalone's copy .*with ranks"):
            la.open(source, unit="column0", budget=1.0, rows="as they are")
