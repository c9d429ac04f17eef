"""A frame is a table of people only if each row is made of one person's rows: its plan says so."""

import pandas as pd
import pytest
from pyspark.sql import Window
from pyspark.sql import functions as f

import letalone as la
from letalone.engines.spark.spark_engine import open_spark
from letalone.errors import ParameterError
from letalone.plans.schema import Schema
from on_spark.spark import spark as session

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully:FutureWarning")
BOB = "bob"
COLUMNS = "u string, ward string, x double"


@pytest.fixture(scope="module", autouse=True)
def tables(spark):
    """1,000 people of a row each; in the second table also bob, whose 70 rows are in all wards."""
    one = "string(id) AS u, concat('w', id % 7) AS ward, double(id) AS x"
    bobs = f"SELECT '{BOB}' AS u, concat('w', id % 7) AS ward, -1e12 AS x FROM range(70)"
    spark.sql(f"CREATE TABLE without_bob USING parquet AS SELECT {one} FROM range(1000)")
    spark.sql(f"CREATE TABLE with_bob USING parquet AS SELECT * FROM without_bob UNION ALL {bobs}")
    yield
    for name in ("without_bob", "with_bob"):
        spark.sql(f"DROP TABLE {name}")


def by(*keys):
    return Window.partitionBy(*keys)


def sql(text):
    """A frame of a statement, in which t stands for the table."""

    def made(name):
        return session().sql(text.replace("{t}", name))

    return made


def of(change):
    """A frame that is made of the table by functions."""
    return lambda name: change(session().table(name))


def a_view(name):
    session().table(name).withColumn("z", f.avg("x").over(by("ward"))).createOrReplaceTempView("v")
    return session().table("v")


def a_view_of_a_catalogue(name):
    text = "CREATE OR REPLACE TEMPORARY VIEW w AS SELECT u, x FROM {t} WHERE ward <> 'w3'"
    session().sql(text.replace("{t}", name))
    return session().table("w")


def python(rows):
    return rows


def batch(column: pd.Series) -> pd.Series:
    return column


def in_python(kind, function=python):
    return kind(function, "double")("x")


PUBLIC = "(SELECT * FROM VALUES ('w1', 10) AS p(ward, beds))"
BY_PERSON = {
    "as it is": of(lambda t: t),
    "filter, withColumn": of(lambda t: t.where("x > 3").withColumn("y", f.col("x") * 2)),
    "orderBy": of(lambda t: t.orderBy("x")),
    "repartition": of(lambda t: t.repartition(3, "ward").coalesce(2).hint("broadcast")),
    "union": of(lambda t: t.union(t.where("x > 3").select(f.trim("u"), "ward", "x"))),
    "explode": of(lambda t: t.withColumn("e", f.explode(f.array(f.lit(1), "x")))),
    "distinct of whole rows": of(lambda t: t.distinct()),
    "distinct in SQL": sql("SELECT DISTINCT u, ward FROM {t}"),
    "unpivot": of(lambda t: t.unpivot(["u"], ["x"], "k", "v")),
    "with": sql("WITH c AS (SELECT u AS who, x FROM {t}) SELECT who AS u, x FROM c UNION ALL"
                " SELECT upper(who), x FROM c"),
    "a view by row": a_view_of_a_catalogue,
    "window by unit": of(lambda t: t.withColumn("z", f.avg("x").over(by("u")))),
    "window by unit, renamed": of(
        lambda t: t.select(f.col("u").alias("who"), "x")
        .withColumn("z", f.row_number().over(by("who").orderBy("x")))
        .select(f.upper("who").alias("u"), "z")
    ),
    "groupBy unit": of(lambda t: t.groupBy("u", "ward").agg(f.avg("x").alias("x"))),
    "having": sql("SELECT u, max(x) AS x FROM {t} GROUP BY u HAVING count(*) > 0"),
    "pivot by unit": of(lambda t: t.groupBy("u").pivot("ward", ["w1"]).agg(f.avg("x"))),
    "dropDuplicates(unit, ward)": of(lambda t: t.select("u", "ward").dropDuplicates(["u", "ward"])),
    "two windows over a union": of(
        lambda t: t.union(t).withColumn("z", f.avg("x").over(by("u"))).where("z < 9")
        .withColumn("n", f.count("x").over(by("u")))
    ),
    "current_timestamp": of(lambda t: t.where(f.current_timestamp() > "2000-01-01")),
}  # fmt: skip
ACROSS_PEOPLE = {
    "window by ward": of(lambda t: t.withColumn("z", f.avg("x").over(by("ward")))),
    "window over all": of(lambda t: t.withColumn("z", f.avg("x").over(by()))),
    "top ten of each ward": of(
        lambda t: t.withColumn("r", f.row_number().over(by("ward").orderBy("x"))).where("r <= 10")
    ),
    "window by what was the unit": of(
        lambda t: t.select(f.col("u").alias("ward"), f.col("ward").alias("u"), "x")
        .withColumn("z", f.avg("x").over(by("u")))
        .select("z", f.col("ward").alias("u"))
    ),
    "limit": of(lambda t: t.orderBy("x").limit(50)),
    "offset": of(lambda t: t.orderBy("x").offset(950)),
    "dropDuplicates(ward)": of(lambda t: t.orderBy("x").dropDuplicates(["ward"])),
    "groupBy ward": of(lambda t: t.groupBy("ward").agg(f.max("u").alias("u"))),
    "groupBy all": of(lambda t: t.groupBy().agg(f.min("x").alias("x")).withColumn("u", f.lit("a"))),
    "pivot by ward": of(
        lambda t: t.groupBy("ward").pivot("ward", ["w1"]).agg(f.max("x"), f.max("u").alias("u"))
        .withColumnRenamed("w1_u", "u")
    ),
    "rollup": of(
        lambda t: t.rollup("u").agg(f.sum("x").alias("x")).withColumn("u", f.ifnull("u", f.lit("")))
    ),
    "join with its aggregate": of(
        lambda t: t.join(t.groupBy("ward").agg(f.min("x").alias("m")), "ward").where("m > -9")
    ),
    "left_anti with itself": of(
        lambda t: t.join(t.where("x < -9").select("ward"), "ward", "left_anti")
    ),
    "lateral join": sql("SELECT * FROM {t} a, LATERAL (SELECT min(x) AS m FROM {t} b"
                        " WHERE a.ward = b.ward)"),
    "scalar sub-query": sql("SELECT * FROM {t} WHERE x > (SELECT min(x) + 9 FROM {t})"),
    "sub-query in a column": sql("SELECT u, (SELECT min(x) FROM {t}) AS x FROM {t}"),
    "in a sub-query": sql("SELECT * FROM {t} WHERE ward NOT IN (SELECT ward FROM {t} WHERE x < 0)"),
    "exists": sql("SELECT * FROM {t} a WHERE NOT EXISTS (SELECT u FROM {t} b WHERE a.ward = b.ward"
                  " AND b.x < 0)"),
    "exceptAll": of(lambda t: t.exceptAll(t.orderBy("x").limit(50))),
    "intersect": of(lambda t: t.intersect(t.orderBy("x").limit(50))),
    "sample with a seed": of(lambda t: t.repartition(1).orderBy("x").sample(fraction=0.5, seed=3)),
    "TABLESAMPLE": sql("SELECT u, x FROM (SELECT * FROM {t} ORDER BY x) TABLESAMPLE (9 ROWS)"),
    "cache of a window": of(lambda t: t.withColumn("z", f.avg("x").over(by("ward"))).cache()),
    "a view with a window": a_view,
    "a window in WITH": sql("WITH c AS (SELECT u, avg(x) OVER (PARTITION BY ward) AS z FROM {t})"
                            " SELECT * FROM c"),
    "a window in a union": of(
        lambda t: t.select("u", "x").union(t.select("u", f.avg("x").over(by("ward"))))
    ),
    "a window under one by unit": of(
        lambda t: t.withColumn("z", f.avg("x").over(by("ward"))).withColumn(
            "n", f.sum("z").over(by("u"))
        )
    ),
}  # fmt: skip
NOT_SEEN_TO_MOVE = {  # and refused: by where rows lie; and a join that may be with anything
    "places of rows": of(lambda t: t.where("_metadata.row_index < 9")),
    "join with a public table": sql(f"SELECT * FROM {{t}} JOIN {PUBLIC} USING (ward)"),
    "applyInPandas by ward": of(lambda t: t.groupBy("ward").applyInPandas(python, COLUMNS)),
}
HIDDEN = {
    "Python udf by row": of(lambda t: t.withColumn("z", in_python(f.udf))),
    "pandas_udf, which sees a batch": of(lambda t: t.select("u", in_python(f.pandas_udf, batch))),
    "a filter in Python": of(lambda t: t.where(in_python(f.udf) > 3)),
    "mapInPandas": of(lambda t: t.mapInPandas(python, COLUMNS)),
    "mapInArrow": of(lambda t: t.mapInArrow(python, COLUMNS)),
    "applyInPandas by unit": of(lambda t: t.groupBy("u").applyInPandas(python, COLUMNS)),
    "rdd to frame of a window": of(
        lambda t: session().createDataFrame(
            t.withColumn("z", f.avg("x").over(by("ward"))).rdd, f"{COLUMNS}, z double"
        )
    ),
    "localCheckpoint of a window": of(
        lambda t: t.withColumn("z", f.avg("x").over(by("ward"))).localCheckpoint(eager=False)
    ),
    "rows of Python": lambda _: session().createDataFrame([("a", "w1", 1.0)], COLUMNS),
    "observe": of(lambda t: t.observe("seen", f.avg("x").alias("a"))),
}


def trusted(made, *, vouched=False, unit="u", table="with_bob"):
    """What is taken on trust of a frame."""
    engine = open_spark(made(table), vouched=vouched)
    try:
        engine.check(Schema(**{**_fields(engine.schema()), "unit": unit}))
        return engine.taken_on_trust()
    finally:
        engine.close()


def _fields(schema):
    return {"name": schema.name, "columns": schema.columns}


def digests(kinds, table):
    """Of each kind how many rows others than bob have, and a sum over these: all in one job."""
    parts = [
        made(table).where(f"lower(u) <> '{BOB}'").select(
            f.lit(name).alias("kind"), f.xxhash64(f.struct("*")).cast("decimal(38,0)").alias("h")
        )
        for name, made in kinds.items()
    ]  # fmt: skip
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.unionAll(part)
    found = whole.groupBy("kind").agg(f.count("h"), f.sum("h")).collect()
    return {row[0]: tuple(row[1:]) for row in found}


def test_by_row_and_by_person_passes_without_a_word():
    for name, made in BY_PERSON.items():
        assert trusted(made) == (), name


def test_what_is_made_across_people_is_refused_whoever_vouches():
    for name, made in (ACROSS_PEOPLE | NOT_SEEN_TO_MOVE).items():
        for vouched in (False, True):
            with pytest.raises(ParameterError, match=r"is made across people: it holds") as caught:
                pytest.fail(f"{name}: {trusted(made, vouched=vouched)}")
            assert "rows may be made from one u's rows only" in str(caught.value)


@pytest.mark.long
def test_the_rows_of_others_are_the_same_with_and_without_a_person_if_and_only_if_it_passes():
    """Each of the refused kinds is seen to move the rows of others: the test has that power."""
    kinds = BY_PERSON | ACROSS_PEOPLE
    without, with_bob = digests(kinds, "without_bob"), digests(kinds, "with_bob")
    same = {name for name in kinds if without.get(name) == with_bob.get(name)}
    assert same == set(BY_PERSON)


def test_what_cannot_be_seen_needs_the_owners_word_which_is_then_said():
    for name, made in HIDDEN.items():
        with pytest.raises(ParameterError, match=r"cannot be seen: it holds .*rows='as they are'"):
            pytest.fail(f"{name}: {trusted(made)}")
        assert "their owner states" in " ".join(trusted(made, vouched=True)), name


def test_a_frame_in_memory_is_taken_as_it_is_and_said(spark):
    frame = spark.createDataFrame(pd.DataFrame({"u": ["a"], "x": [1.0]}))
    (said,) = trusted(lambda _: frame.where("x > 0"))
    assert "(a frame in memory)" in said


def test_each_row_a_unit_leaves_no_keys_but_whole_rows():
    for name in ("as it is", "explode", "distinct of whole rows", "distinct in SQL", "unpivot"):
        assert trusted(BY_PERSON[name], unit=None) == ()
    for name in ("window by unit", "groupBy unit", "pivot by unit"):
        with pytest.raises(ParameterError, match="from each row by itself only"):
            trusted(BY_PERSON[name], unit=None)
    with pytest.raises(ParameterError, match="holds dropped duplicates"):
        trusted(of(lambda t: t.dropDuplicates(["u"])), unit=None)


def test_columns_of_fixed_length_and_many_columns_are_read(spark):
    spark.sql("CREATE TABLE fixed (u CHAR(5), v VARCHAR(3)) USING parquet")
    try:
        assert trusted(lambda _: spark.table("fixed")) == ()
    finally:
        spark.sql("DROP TABLE fixed")
    wide = of(lambda t: t.select("u", *[(f.col("x") + n).alias(f"c{n}") for n in range(500)]))
    assert trusted(wide) == ()


def test_what_is_across_people_is_refused_before_anything_is_registered(spark, tmp_path):
    ledger = tmp_path / "ledger.db"
    for made in (ACROSS_PEOPLE["window by ward"], HIDDEN["rows of Python"]):
        with pytest.raises(ParameterError, match="a Spark frame"):
            la.open(made("with_bob"), unit="u", budget=1, ledger=ledger)
    ACROSS_PEOPLE["a view with a window"]("with_bob")
    with pytest.raises(ParameterError, match=r"^v is made across people: it holds a window"):
        la.open((spark, "v"), unit="u", budget=1, ledger=ledger)
    spark.sql("CREATE VIEW kept AS SELECT u, count(*) OVER (PARTITION BY ward) AS n FROM with_bob")
    try:
        for source in ((spark, "default.kept"), "spark:default.kept"):
            with pytest.raises(ParameterError, match="is made across people"):
                la.open(source, unit="u", budget=1, ledger=ledger)
    finally:
        spark.sql("DROP VIEW kept")
    assert not ledger.exists()


def test_the_owners_word_is_in_the_ledger_and_on_the_answer(spark, tmp_path):
    frame = spark.createDataFrame([(str(n), 1.0) for n in range(20)], "u string, x double")
    options = {"unit": "u", "budget": 1000, "ledger": tmp_path / "l.db", "name": "people"}
    with la.open(frame, rows="as they are", **options) as people:
        found = people.bound(max_rows=1).agg(n=la.count()).release(epsilon=100)
        assert any("their owner states" in note for note in found.notes)
    with la.Ledger.open(options["ledger"]) as ledger:
        act = ledger.last_act("people", "vouches for the rows as they are")
    assert act is not None
    assert "Python list" in str(act.body)


def test_a_query_on_another_server_is_not_seen_and_a_file_is(spark, tmp_path):
    """A frame of a connector may be a statement there; nothing is read of either."""
    path = str(tmp_path / "people")
    spark.table("with_bob").limit(1).write.parquet(path)
    for v1 in ("parquet", ""):
        spark.conf.set("spark.sql.sources.useV1SourceList", v1)
        try:
            assert trusted(lambda _: spark.read.parquet(path)) == ()
        finally:
            spark.conf.unset("spark.sql.sources.useV1SourceList")
    options = {"url": "jdbc:derby:memory:none;create=true", "query": "SELECT 'a' AS u FROM t"}
    spark.sparkContext._jvm.java.sql.DriverManager.getConnection(options["url"]).createStatement(
    ).execute("CREATE TABLE t (x INT)")  # fmt: skip
    with pytest.raises(ParameterError, match="not a table of files"):
        trusted(lambda _: spark.read.format("jdbc").options(**options).load(), unit="U")


def test_columns_that_follow_from_cells_and_lines_that_take_in_others_are_not_seen(spark, tmp_path):
    """By text files: one person more makes a text of all numbers, and a row of all lines."""
    spark.table("with_bob").limit(3).select("u").write.text(str(tmp_path / "text"))
    spark.table("with_bob").limit(3).write.orc(str(tmp_path / "orc"))
    for kind in ("csv", "json"):
        (tmp_path / kind).mkdir()
    (tmp_path / "csv" / "a.csv").write_text("u,x\na,1\nb,2\n")
    (tmp_path / "json" / "a.json").write_text('{"u": "a", "x": 1}\n')
    options = {"header": True, "inferSchema": True, "multiLine": True}
    frames = {kind: lambda _, k=kind: spark.read.format(k).options(**options).load(
        str(tmp_path / k)) for kind in ("csv", "json", "text", "orc")}  # fmt: skip
    units = {"text": "value"}
    with (tmp_path / "csv" / "b.csv").open("w") as file:
        file.write("u,x\nbob,none\n")
    assert dict(frames["csv"]("").dtypes)["x"] == "string", "else an int: it follows from bob"
    for v1 in ("csv,json,orc,text", ""):
        spark.conf.set("spark.sql.sources.useV1SourceList", v1)
        try:
            assert trusted(frames["orc"]) == ()
            for kind in ("csv", "json", "text"):
                with pytest.raises(ParameterError, match=r"not Parquet or ORC .*write them as"):
                    pytest.fail(f"{kind}: {trusted(frames[kind], unit=units.get(kind, 'u'))}")
        finally:
            spark.conf.unset("spark.sql.sources.useV1SourceList")
    assert "their owner states" in " ".join(trusted(frames["json"], vouched=True))


def test_a_table_of_a_catalogue_over_text_is_not_seen(spark):
    spark.sql("CREATE TABLE lines (u STRING, x INT) USING csv")
    try:
        with pytest.raises(ParameterError, match="not Parquet or ORC"):
            trusted(lambda _: spark.table("lines"))
    finally:
        spark.sql("DROP TABLE lines")


def test_folders_whose_names_are_cells_are_not_seen_unless_a_catalogue_has_their_types(
    spark, tmp_path
):
    path = str(tmp_path / "by_ward")
    made = "SELECT 'a' AS u, '1' AS ward UNION ALL SELECT 'b', '2'"
    spark.sql(made).write.partitionBy("ward").parquet(path)
    assert dict(spark.read.parquet(path).dtypes)["ward"] == "int"
    spark.sql("SELECT 'bob' AS u, 'x' AS ward").write.partitionBy("ward").mode("append").parquet(
        path
    )
    assert dict(spark.read.parquet(path).dtypes)["ward"] == "string"
    for v1 in ("parquet", ""):
        spark.conf.set("spark.sql.sources.useV1SourceList", v1)
        try:
            with pytest.raises(ParameterError, match="names of folders"):
                trusted(lambda _: spark.read.parquet(path))
        finally:
            spark.conf.unset("spark.sql.sources.useV1SourceList")
    spark.sql(f"CREATE TABLE by_ward USING parquet PARTITIONED BY (ward) AS {made}")
    try:
        assert trusted(lambda _: spark.table("by_ward")) == ()
    finally:
        spark.sql("DROP TABLE by_ward")
