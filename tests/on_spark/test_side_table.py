"""A copy with ranks gives the integers of its ranks, is written once; nothing is taken for it."""

from dataclasses import replace
from pathlib import Path

import pytest

import letalone as la
from engines.reference import Reference
from engines.test_engine_laws import (
    BOUNDINGS,
    COST,
    DERIVED,
    FILTERS,
    GROUPINGS,
    HISTOGRAMS,
    SCHEMA,
    crowd,
    row,
)
from letalone.engines.measures import DistinctUnits, GridSum, Rows, RowScope
from letalone.engines.spark import open_spark
from letalone.errors import ParameterError
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn
from on_spark.spark import COLLATE, SameBits, frame_of

FEW = Bounding(max_rows=2)
OWNER = 7  # which part of what a catalogue holds about a table
TABLES = ("ranked", "other", "visits", "odd", "without", "with_p3")


@pytest.fixture(scope="module")
def rows():
    """With a number for each row, by which its rank is found."""
    return [row | {"age": number} for number, row in enumerate(crowd(300))]


@pytest.fixture(scope="module")
def frame(spark, rows):
    return frame_of(rows, SCHEMA)


@pytest.fixture
def opened(spark, frame):
    """Engines with a copy; all tables go at the end."""
    engines = []

    def maker(side, source=frame, schema=SCHEMA, seed=7):
        engines.append(open_spark(source, schema=schema, side_table=side, bits=SameBits(seed)))
        return engines[-1]

    yield maker
    for engine in engines:
        engine.close()
    for table in TABLES:
        spark.sql(f"DROP TABLE IF EXISTS default.{table}")


def scope_of(bounding, grouping="none", where="all"):
    return RowScope(SCHEMA, FILTERS[where], DERIVED, (), *GROUPINGS[grouping], bounding)


def copied(engine, *names):
    """Columns of the copy by the names of the originals, and the ranks."""
    there = {name: copy for copy, (name, _) in engine._side._copied().items()}
    wanted = ", ".join(there[name] for name in names)
    text = f"SELECT {wanted}, letalone_rank FROM {engine._side.words}"
    return [tuple(found) for found in engine._session.sql(text).collect()]


def test_questions_of_the_copy_are_those_of_its_ranks(opened, rows):
    engine = opened("default.ranked")
    engine.prepare(scope_of(FEW))
    found = dict(copied(engine, "age"))
    slow = Reference(rows, [found.get(row["age"]) for row in rows])
    measures = [Rows(), DistinctUnits(), COST]
    for bounding, grouping in zip(BOUNDINGS, ("ward", "day and urgent") * 3, strict=True):
        scope = scope_of(bounding, grouping, "derived")
        assert engine.measure(scope, measures) == slow.measure(scope, measures)
    for bounding in (FEW, Bounding(max_groups=1, max_rows=1)):
        scope = scope_of(bounding, "ward")
        assert engine.measure(scope, HISTOGRAMS[:1]) == slow.measure(scope, HISTOGRAMS[:1])
        assert dict(engine.discover(scope)) == slow.discover(scope)


def test_the_ranks_of_a_unit_are_one_to_its_number_of_rows_and_others_have_no_row(opened, rows):
    engine = opened("ranked")
    engine.prepare(scope_of(FEW))
    mine = {}
    for who, rank in copied(engine, "patient"):
        mine.setdefault(who, []).append(rank)
    assert set(mine) == {row["patient"] for row in rows} - {None}
    assert all(sorted(ranks) == list(range(1, len(ranks) + 1)) for ranks in mine.values())


def test_the_copy_is_written_once_and_used_by_the_next_and_made_anew_when_it_is_gone(opened):
    """Two orders of 300 rows agree with a chance below 10^-6."""
    engine = opened("spark_catalog.default.ranked")
    first = engine.measure(scope_of(FEW), [COST])
    ranks = sorted(copied(engine, "age"))
    second = opened("ranked", seed=8)
    assert second.measure(scope_of(FEW), [COST]) == first == engine.measure(scope_of(FEW), [COST])
    assert sorted(copied(second, "age")) == ranks
    second._session.sql("DROP TABLE default.ranked")
    second.measure(scope_of(FEW), [COST])
    assert engine.measure(scope_of(FEW), [COST]) == second.measure(scope_of(FEW), [COST])
    assert sorted(copied(engine, "age")) != ranks
    assert engine._side is not None


def test_capitals_and_backticks_in_names_are_read_as_the_owners_session_reads_them(
    opened, spark, frame
):
    """The copy that one spelling makes is the copy for all, and the owner finds and drops it."""
    frame.write.saveAsTable("default.visits")
    opened("Default.Ranked", (spark, "default.visits")).prepare(scope_of(FEW))
    there = {one.tableName for one in spark.sql("SHOW TABLES IN default").collect()}
    assert {"ranked", "visits"} <= there
    for name in ("SPARK_CATALOG.DEFAULT.visits", "`default`.`VISITS`", "Visits"):
        engine = opened("SPARK_CATALOG.`default`.RANKED", (spark, name))
        engine.check(SCHEMA)
    with pytest.raises(ParameterError, match="DROP TABLE") as caught:
        engine.check(replace(SCHEMA, version=SCHEMA.version + 1))
    spark.sql(str(caught.value).partition("that copy, ")[2].partition(", and")[0])
    assert not spark.catalog.tableExists("default.ranked")
    with pytest.raises(ParameterError, match=r"no schema 'spark_catalog\.`a\.b`'"):
        opened("`a.b`.`c``d`")


def test_a_copy_of_a_table_is_not_that_of_a_view_with_its_name(opened, spark, frame):
    frame.write.saveAsTable("default.visits")
    opened("ranked", (spark, "default.visits")).prepare(scope_of(FEW))
    frame.where("true").createOrReplaceTempView("visits")
    try:
        with pytest.raises(ParameterError, match=r"from 'spark_catalog\.default\.visits'"):
            opened("ranked", (spark, "visits")).check(SCHEMA)
    finally:
        spark.catalog.dropTempView("visits")


def test_without_bounding_nothing_is_written(opened, spark):
    opened("ranked").measure(scope_of(Bounding()), [Rows()])
    assert not spark.catalog.tableExists("default.ranked")


def test_another_table_of_that_name_is_not_taken_for_a_copy(opened, spark):
    spark.sql("CREATE TABLE default.other USING parquet AS SELECT 1 AS x")
    wrong = {"other": "no copy", "nowhere.x": "no schema", "a..b": "must be", "a`b": "must be"}
    for side, words in wrong.items():
        with pytest.raises(ParameterError, match=words):
            opened(side)


def given_to(owner, name, spark):
    """As a catalogue with owners has it: the one of a Spark without Hive leaves them empty."""
    catalog = spark._jsparkSession.sessionState().catalog().externalCatalog()
    known = catalog.getTable("default", name)
    count = sum(name.startswith("copy$default$") for name in dir(known))
    parts = [getattr(known, f"copy$default${number}")() for number in range(1, count + 1)]
    assert parts[OWNER] == known.owner()
    parts[OWNER] = owner
    catalog.alterTable(known.copy(*parts))


def test_a_copy_of_somebody_else_is_refused_and_one_of_the_datas_owner_is_not(opened, spark, frame):
    frame.write.saveAsTable("default.visits")
    table = (spark, "default.visits")
    engine = opened("ranked", table)
    engine.prepare(scope_of(FEW))
    me = spark.sql("SELECT current_user()").first()[0]
    for owner, of_visits in ((me, "mallory"), ("clinic", "clinic")):
        given_to(owner, "ranked", spark)
        given_to(of_visits, "visits", spark)
        opened("ranked", table).check(SCHEMA)
    given_to("mallory", "ranked", spark)
    for source in (table, frame):
        with pytest.raises(ParameterError, match="plain table of this user or of the owner"):
            opened("ranked", source)
    plain = opened(None, table)
    assert engine.measure(scope_of(FEW), [COST]) == plain.measure(scope_of(FEW), [COST])
    assert engine._side is None


def test_a_view_is_not_taken_for_a_copy(opened, spark):
    engine = opened("ranked")
    engine.prepare(scope_of(FEW))
    told = spark.catalog.getTable("default.ranked").description
    spark.sql(f"CREATE VIEW default.other COMMENT '{told}' AS SELECT * FROM default.ranked")
    try:
        with pytest.raises(ParameterError, match="plain table"):
            opened("other")
    finally:
        spark.sql("DROP VIEW default.other")


def test_a_copy_of_another_source_unit_version_or_columns_is_refused_before_it_is_asked(
    opened, frame
):
    engine = opened("ranked")
    engine.prepare(scope_of(FEW))
    engine.check(SCHEMA)
    for words, other in (
        ("by the unit 'patient'.*'ward'.*DROP TABLE `spark_", replace(SCHEMA, unit="ward")),
        ("of version 1.*version 2", replace(SCHEMA, version=2)),
        ("the frame visits.*the frame others", replace(SCHEMA, name="others")),
    ):
        with pytest.raises(ParameterError, match=words):
            engine.check(other)
    fewer = replace(SCHEMA, columns=tuple(c for c in SCHEMA.columns if c.name != "age"))
    with pytest.raises(ParameterError, match="other columns"):
        opened("ranked", frame.drop("age"), fewer).check(fewer)


def test_a_refused_copy_costs_nothing(opened, spark, frame):
    frame.drop("at").write.saveAsTable("default.visits")
    source, budget = (spark, "default.visits"), la.Budget(epsilon=1000)
    with la.open(source, unit="patient", budget=budget, side_table="ranked") as session:
        found = session.bound(max_rows=1).agg(n=la.count()).release(epsilon=100)
        assert found.to_pandas()["n"][0] == pytest.approx(25, abs=1)
    assert spark.catalog.tableExists("default.ranked")
    with pytest.raises(ParameterError, match=r"from 'spark_catalog\.default\.visits'"):
        la.open(frame, unit="patient", budget=budget, name="v", side_table="ranked")


def test_a_copy_that_cannot_be_written_or_was_exchanged_leaves_the_ranks_to_each_statement(
    opened, spark
):
    """Something lies where its files would."""
    place = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")) / "ranked"
    place.mkdir()
    (place / "x.parquet").write_text("x")
    engine, plain = opened("ranked"), opened(None)
    assert engine.measure(scope_of(FEW), [COST]) == plain.measure(scope_of(FEW), [COST])
    (place / "x.parquet").unlink()
    engine = opened("ranked")
    spark.sql("CREATE TABLE default.ranked USING parquet AS SELECT 1 AS x")
    assert engine.measure(scope_of(FEW), [COST]) == plain.measure(scope_of(FEW), [COST])


def test_every_value_and_type_survives_the_copy(opened, spark):
    spark.sql(f"CREATE TABLE default.odd (who INT, c CHAR(5), l STRING {COLLATE}) USING parquet")
    spark.sql("INSERT INTO default.odd VALUES (1, 'a', 'A'), (2, 'a ', 'a'), (3, NULL, NULL)")
    odd = spark.sql(
        "SELECT *, CAST(ELT(who, '-0.0', 'NaN', '1e-310') AS DOUBLE) AS `x,y;`,"
        " CAST(ELT(who, '-0.0', 'Infinity', '2') AS FLOAT) AS `f f`,"
        " CAST(ELT(who, '0001-01-02 03:04:05.000006', '1500-02-28 00:00', '9999-12-31') AS"
        " TIMESTAMP_NTZ) AS n, CAST(ELT(who, '0001-01-01', '1582-10-10', '2024-02-29') AS DATE) AS"
        " d, timestamp_micros(-62135596799999999 + who * 1000000000000001) AS t,"
        " CAST(ELT(who, '0.1', '-9', '5') AS DECIMAL(38, 10)) AS p, array(1) AS o, NULL AS v"
        " FROM default.odd"
    )
    whole, copy = open_spark(odd), opened("ranked", odd, None)
    schema = whole.schema().protecting("who")
    numbers, others = ["x,y;", "f f", "p"], ["who", "c", "l", "n", "d", "t"]
    groups = tuple(GroupColumn(name, col(name), schema.column(name).type) for name in others)
    grids = [GridSum(col(name), -(2**30), 2**30, 10) for name in numbers]
    scope = RowScope(schema, None, (), (), (), None, Bounding(max_rows=5))
    found = [
        (engine.measure(scope, grids), engine.discover(replace(scope, groups=groups)))
        for engine in (whole, copy)
    ]
    whole.close()
    assert copy._side is not None
    assert len(found[0][1]) == 3
    assert found[0] == found[1]


def test_one_unit_more_moves_counts_by_no_more_than_its_bound(opened):
    """The unit's rows come last and all lie in one partition, so that the others' numbers stay."""
    rows = [one for one in crowd(150) if one["patient"] != "p3"]
    mine = [row(patient="p3", ward=ward, cost=900.0) for ward in "AaB"] * 6
    sides = {"without": rows, "with_p3": rows + mine}
    engines = [opened(side, frame_of(r, SCHEMA).coalesce(1)) for side, r in sides.items()]
    for bounding in BOUNDINGS[1:]:
        found = [engine.measure(scope_of(bounding, "ward"), [Rows(), COST]) for engine in engines]
        most = (bounding.max_groups or 3) * (1 if bounding.clip else bounding.max_rows or 18)
        pairs = zip(*found, strict=True)
        moved = [sum(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in pairs]
        assert 0 < moved[0] <= most
        assert moved[1] <= most * (1000 << 10)
