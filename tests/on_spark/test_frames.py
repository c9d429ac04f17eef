"""Frames and tables of Spark: opened by their schema, asked without bringing a row here."""

import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from math import inf
from threading import Event

import pandas as pd
import pytest
from pyspark.sql.functions import udf

import letalone as la
from engines.test_engine_laws import COST, SCHEMA, WARD, crowd, row, scope_of
from engines.test_secrets import everything_said
from letalone.engines.core.failure import EngineFailed
from letalone.engines.core.measures import DistinctUnits, Rows
from letalone.engines.spark.spark_engine import open_spark
from letalone.engines.spark.spark_silence import with_loggers_off
from letalone.engines.spark.spark_versions import settings_of
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.plans.plan import Bounding
from on_spark.spark import frame_of

SECRET = "S3CR3T"
ABOUT_PANDAS = pytest.mark.filterwarnings("ignore:PySpark does not yet fully:FutureWarning")


@pytest.fixture(scope="module")
def visits(spark):
    return frame_of(crowd(), SCHEMA).drop("at")


def opened(frame, **options):
    return la.open(frame, unit="patient", budget=la.Budget(epsilon=1000), **options)


def one_number(release):
    return next(iter(release.to_pandas()["n"]))


def test_an_answer_is_near_the_truth_and_its_price_that_of_a_file(visits):
    """At an epsilon of 5 a row the noise is beyond 60 less than once in 10^6 runs."""
    rows = [one for one in crowd() if one["patient"] is not None]
    with opened(visits) as here, opened(pd.DataFrame(crowd()).drop(columns="at")) as there:
        asked = [s.group_by("ward", keys=["A", "a"]).bound(max_rows=30) for s in (here, there)]
        mine, theirs = (one.agg(n=la.count()).release(epsilon=150) for one in asked)
        wanted = [sum(one["ward"] == ward for one in rows) for ward in ("A", "a")]
        assert list(mine.to_pandas()["n"]) == pytest.approx(wanted, abs=60)
        assert mine.privacy == theirs.privacy
        assert here.spent == there.spent
        assert "a Spark frame" in repr(here)


def test_a_table_is_opened_by_session_and_name_and_gives_its_data_set_that_name(spark, visits):
    visits.write.saveAsTable("default.kept_visits")
    try:
        with opened((spark, "spark_catalog.default.kept_visits")) as session:
            assert session.name == "kept_visits"
            found = session.bound(max_rows=1).agg(n=la.count()).release(epsilon=100)
            assert one_number(found) == pytest.approx(25, abs=1)
    finally:
        spark.sql("DROP TABLE default.kept_visits")
    with pytest.raises(ParameterError, match=r"cannot be opened"):
        opened((spark, "default.nothing"))


def test_the_frames_own_session_keeps_its_settings_and_loses_the_view_again(spark, visits):
    def views():
        return [row["viewName"] for row in spark.sql("SHOW VIEWS IN global_temp").collect()]

    before, known = settings_of(spark), len(views())
    engine = open_spark(visits)
    engine.measure(scope_of(Bounding(), schema=engine.schema()), [Rows()])
    assert settings_of(spark) == before
    assert len(views()) == known + 1
    engine.close()
    assert len(views()) == known


def test_a_frame_that_draws_at_random_is_refused(visits):
    """So is one that numbers its rows: no frame comes past this to its plan."""
    drawn = ["rand()", "uuid()", "monotonically_increasing_id()", "spark_partition_id()"]
    for one in [*drawn, "input_file_name()"]:
        with pytest.raises(ParameterError, match="draws at random each time"):
            open_spark(visits.selectExpr("*", f"{one} AS drawn"))


def test_a_stream_is_refused(spark):
    with pytest.raises(ParameterError, match="is a stream"):
        open_spark(spark.readStream.format("rate").load())


def test_a_partner_is_joined_whatever_its_data_set_is_called(spark):
    left = spark.createDataFrame([(f"p{n}", 1.0) for n in range(20)], "u string, x double")
    right = spark.createDataFrame([(f"p{n}", "w") for n in range(20)], "u string, w string")
    options = {"unit": "u", "budget": la.Budget(epsilon=1000), "rows": "as they are"}
    with (
        la.open(left, name="main", **options) as one,
        la.open(right, name="my-visits of `2020`", **options) as other,
    ):
        asked = one.join(other, on="u").bound(max_rows=1).group_by("w", keys=["w"])
        assert one_number(asked.agg(n=la.count()).release(epsilon=100)) == pytest.approx(20, abs=1)


def test_loggers_are_silent_until_the_last_thread_is_done_and_then_as_before():
    """One thread leaves while another one is inside: what that one logs is not heard."""
    logger, heard = logging.getLogger("SQLQueryContextLogger"), []
    record = logging.makeLogRecord({})
    inside, left = Event(), Event()

    def long():
        inside.set()
        assert left.wait(5)
        heard.append(bool(logger.filter(record)))

    def short():
        assert inside.wait(5)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(with_loggers_off, short)
        second = pool.submit(with_loggers_off, long)
        first.result()
        left.set()
        second.result()
    assert heard == [False]
    assert logger.filter(record)


def test_what_comes_back_are_sums_and_never_rows(visits, monkeypatch):
    """Each result is counted: one row for all, one for each key, one for each group."""
    sizes, kind = [], type(visits)
    taken = kind._collect_as_arrow

    def counted(self, *options, **more):
        found = taken(self, *options, **more)
        sizes.append(sum(batch.num_rows for batch in found))
        return found

    monkeypatch.setattr(kind, "_collect_as_arrow", counted)
    for name in ("collect", "toPandas", "toLocalIterator", "take", "head", "first", "tail"):
        monkeypatch.setattr(kind, name, lambda *_, **__: pytest.fail("rows were taken"))
    engine = open_spark(visits)
    schema = engine.schema().protecting("patient")
    scope = scope_of(Bounding(max_rows=3), schema=schema)
    engine.measure(scope, [Rows(), DistinctUnits(), COST])
    grouped = scope_of(Bounding(max_rows=3), groups=(WARD,), keys=(("A",), ("no",)), schema=schema)
    engine.measure(grouped, [Rows()])
    groups = engine.discover(grouped)
    engine.close()
    assert sizes == [1, 2, len(groups)]
    assert len(groups) == 8


def failing(spark, frame):
    """The frame, but one person's row makes it fail, with the row in the message."""
    fail = udf(lambda who: 1 // 0 if who is None else who + str(int(who == "p3") and int(SECRET)))
    return frame.withColumn("ward", fail("patient"))


@ABOUT_PANDAS
def test_a_row_that_fails_says_nothing_of_the_data(spark, visits, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    engine = open_spark(failing(spark, visits))
    scope = scope_of(Bounding(), groups=(WARD,), keys=(("A",),), schema=engine.schema())
    with pytest.raises(EngineFailed) as caught:
        engine.measure(scope, [Rows()])
    engine.close()
    assert caught.value.__context__ is None
    said = everything_said(caught.value) + caplog.text + "".join(capfd.readouterr())
    assert SECRET not in said


@ABOUT_PANDAS
def test_a_row_that_fails_freezes_the_data_set_and_the_charge_stays(spark, visits):
    with opened(failing(spark, visits), rows="as they are") as session:
        asked = session.group_by("ward", keys=["A"]).bound(max_rows=1).agg(n=la.count())
        with pytest.raises(la.DataSetFrozen) as caught:
            asked.release(epsilon=1)
        assert SECRET not in everything_said(caught.value)
        assert session.spent.epsilon >= 1


def test_public_and_private_tables_are_joined(spark, visits):
    people = [row(patient=f"p{n}", age=n) for n in range(25)] * 2
    sizes = pd.DataFrame({"ward": ["A", "a"], "beds": [10, 20]})
    with (
        opened(visits, name="visits") as here,
        opened(
            frame_of(people, SCHEMA).select("patient", "age").withColumnRenamed("age", "years"),
            name="people",
        ) as there,
    ):
        asked = here.join(sizes, on="ward").bound(max_rows=40).agg(n=la.count())
        rows = [one for one in crowd() if one["patient"] is not None and one["ward"] in ("A", "a")]
        assert one_number(asked.release(epsilon=200)) == pytest.approx(len(rows), abs=60)
        both = here.join(there, on=("patient", "patient")).where(la.col("years") < 10)
        old = [o for o in crowd() if o["patient"] and int(o["patient"][1:]) < 10]
        found = both.bound(max_rows=40).agg(n=la.count()).release(epsilon=200)
        assert one_number(found) == pytest.approx(len(old), abs=60)


def test_two_statements_have_the_same_integers(spark):
    """Fifty rows of a person of which five may count: each weighs a tenth."""
    engine = open_spark(frame_of([row(patient="p", cost=float(2**n)) for n in range(50)], SCHEMA))
    from letalone.engines.core.measures import GridSum
    from letalone.plans.expressions import col

    scope = scope_of(Bounding(max_rows=5), schema=engine.schema().protecting("patient"))
    sums = [engine.measure(scope, [GridSum(col("cost"), 0, 2**50, 0)])[0][0] for _ in range(2)]
    engine.close()
    assert sums == [scope.lattice * 5 // 50 * (2**50 - 1)] * 2


def test_a_model_is_refused_before_anything_is_charged(visits):
    with opened(visits) as session:
        with pytest.raises(UnsupportedQuery, match="cannot be trained on a table of Spark"):
            la.learn.LogisticRegression(epsilon=1).fit(session, features=["age"], target="urgent")
        assert session.spent.epsilon == 0


def test_types_of_a_frame_that_nothing_can_be_asked_of_are_other(spark):
    frame = spark.sql("SELECT 1 AS id, array(1) AS a, map('x', 1) AS m, X'00' AS b, NULL AS v")
    kinds = [column.type.value for column in open_spark(frame).schema().columns]
    assert kinds == ["integer", "other", "other", "other", "other"]


def test_spark_is_not_imported_before_it_is_needed():
    code = "import sys, letalone as la, letalone.engines.opening; print('pyspark' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_a_frame_of_spark_connect_is_refused_in_words():
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()
    with pytest.raises(ParameterError, match="Spark Connect"):
        la.open(frame, unit=la.ROW, budget=la.Budget(epsilon=1))


def test_infinities_and_nan_are_missing_and_do_not_stop_a_sum(spark):
    rows = [row(patient=f"p{n}", cost=x) for n, x in enumerate([inf, -inf, float("nan"), 3.0])]
    engine = open_spark(frame_of(rows, SCHEMA))
    assert engine.measure(scope_of(Bounding(), schema=engine.schema()), [COST]) == [[3 << 10]]
    engine.close()
