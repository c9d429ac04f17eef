"""What can be opened: names and types from metadata, clear refusals, nothing from values."""

import datetime as dt
import decimal
import os

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engines.hostile import raw
from letalone.engines.core.measures import DistinctUnits, GridSum, Rows, RowScope, RowsWith
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.errors import ParameterError
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type


def opened_types(source, **options):
    engine = open_duck(source, **options)
    kinds = {column.name: column.type for column in engine.schema().columns}
    engine.close()
    return kinds


def measured(source, measures, *, where=None, unit=None, bounding=None, **options):
    engine = open_duck(source, **options)
    schema = engine.schema().protecting(unit)
    found = engine.measure(
        RowScope(schema, where, (), (), (), None, bounding or Bounding()), measures
    )
    engine.close()
    return [one[0] for one in found]


ARROW = pa.table(
    {
        "small": pa.array([1], pa.int8()),
        "unsigned": pa.array([2**64 - 1], pa.uint64()),
        "float": pa.array([1.0], pa.float32()),
        "decimal": pa.array([decimal.Decimal("1.50")], pa.decimal128(38, 2)),
        "category": pa.array(["SECRET"]).dictionary_encode(),
        "codes": pa.array([7]).dictionary_encode(),
        "long": pa.array(["x"], pa.large_string()),
        "view": pa.array(["x"], pa.string_view()),
        "day": pa.array([dt.date(2024, 1, 1)]),
        "time": pa.array([dt.datetime(2024, 1, 1)], pa.timestamp("ns")),
        "zoned": pa.array([0], pa.timestamp("ms", tz="Europe/Vienna")),
        "list": pa.array([[1]]),
        "bytes": pa.array([b"x"]),
        "nothing": pa.nulls(1),
        "flag": pa.array([True]),
        "clock": pa.array([dt.time(1)], pa.time64("us")),
    }
)
KINDS = {
    "small": Type.INTEGER,
    "unsigned": Type.INTEGER,
    "float": Type.NUMBER,
    "decimal": Type.NUMBER,
    "category": Type.TEXT,
    "codes": Type.INTEGER,
    "long": Type.TEXT,
    "view": Type.TEXT,
    "day": Type.DATE,
    "time": Type.TIMESTAMP,
    "zoned": Type.TIMESTAMP,
    "list": Type.OTHER,
    "bytes": Type.OTHER,
    "nothing": Type.OTHER,
    "flag": Type.BOOLEAN,
    "clock": Type.OTHER,
}


def test_arrow_types_are_metadata():
    assert opened_types(ARROW) == KINDS


def test_arrow_readers_and_batches_work():
    assert opened_types(ARROW.to_reader()) == KINDS
    assert opened_types(ARROW.to_batches()[0]) == KINDS
    table = pa.table({"x": [1, 2, 3]})
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(1))
    engine = open_duck(reader)
    scope = RowScope(engine.schema(), None, (), (), (), None, Bounding())
    assert engine.measure(scope, [Rows()]) == engine.measure(scope, [Rows()]) == [[3]]


def test_parquet_types_are_metadata(tmp_path):
    pq.write_table(ARROW.drop_columns(["view"]), tmp_path / "x.parquet")
    kinds = opened_types(tmp_path / "x.parquet")
    wanted = {name: kind for name, kind in KINDS.items() if name != "view"}
    assert {**kinds, "nothing": Type.OTHER} == wanted


def test_all_columns_of_every_type_can_be_asked_whether_they_are_missing():
    engine = open_duck(ARROW)
    for name in ARROW.column_names:
        scope = RowScope(engine.schema(), col(name).is_null(), (), (), (), None, Bounding())
        missing = name in ("nothing", "unsigned")  # one beyond 64 bits is missing
        assert engine.measure(scope, [Rows()]) == [[int(missing)]], name


def test_pandas_types_come_from_dtypes_and_objects_are_text():
    frame = pd.DataFrame(
        {
            "numbers": pd.Series([1.5, np.nan, 2.5]),
            "objects": pd.Series([1, None, {"a": 1}], dtype=object),
            "mixed": pd.Series(["SECRET", 3, float("nan")], dtype=object),
            "nullable": pd.Series([1, None, 3], dtype="Int64"),
            "category": pd.Categorical(["a", None, "b"]),
            "times": pd.to_datetime(["2024-01-01", None, "2024-01-02"]),
            "zoned": pd.to_datetime(["2024-01-01", None, "2024-01-02"]).tz_localize("US/Eastern"),
            "flags": [True, False, True],
            "complex": [1j, 2j, 3j],
            "period": pd.period_range("2024-01", periods=3, freq="M"),
            7: [1, 2, 3],
        }
    )
    frame.index = [9, 9, 9]
    kinds = opened_types(frame)
    assert kinds == {
        "numbers": Type.NUMBER,
        "objects": Type.TEXT,
        "mixed": Type.TEXT,
        "nullable": Type.INTEGER,
        "category": Type.TEXT,
        "times": Type.TIMESTAMP,
        "zoned": Type.TIMESTAMP,
        "flags": Type.BOOLEAN,
        "complex": Type.OTHER,
        "period": Type.TEXT,
        "7": Type.NUMBER,
    }
    present = measured(frame, [RowsWith(col(name)) for name in list(kinds)[:8]])
    assert present == [2, 2, 2, 2, 2, 2, 2, 3]


def test_a_missing_value_is_missing_in_pandas_and_polars_alike():
    values = [1.0, float("nan"), None, float("inf"), -0.0]
    zero = col("x") == 0
    for frame in (pd.DataFrame({"x": values}), pl.DataFrame({"x": values}, strict=False)):
        assert measured(frame, [RowsWith(col("x"))]) == [2]
        assert measured(frame, [Rows()], where=zero) == [1]


def test_polars_categories_and_lazy_frames_work():
    frame = pl.DataFrame({"c": pl.Series(["a", "b"], dtype=pl.Categorical), "x": [1, 2]})
    frame = frame.with_columns(e=pl.Series(["u", "v"], dtype=pl.Enum(["u", "v", "SECRET"])))
    for source in (frame, frame.lazy()):
        kinds = opened_types(source)
        assert kinds == {"c": Type.TEXT, "x": Type.INTEGER, "e": Type.TEXT}


def database(path, *statements):
    connection = duckdb.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return path


def test_duckdb_files_show_types_and_no_categories(tmp_path):
    path = database(
        tmp_path / "x.duckdb",
        "CREATE TYPE mood AS ENUM ('SECRET', 'b')",
        "CREATE TABLE t (m mood, h HUGEINT, u UUID, d DECIMAL(38, 10), z TIMESTAMPTZ, i INTERVAL)",
    )
    assert opened_types(path, table="t") == {
        "m": Type.TEXT,
        "h": Type.INTEGER,
        "u": Type.TEXT,
        "d": Type.NUMBER,
        "z": Type.TIMESTAMP,
        "i": Type.OTHER,
    }


def test_the_only_table_needs_no_name_and_others_are_listed(tmp_path):
    path = database(tmp_path / "x.duckdb", "CREATE TABLE one AS SELECT 1 AS x")
    assert opened_types(path) == {"x": Type.INTEGER}
    database(
        path, "CREATE SCHEMA s", "CREATE TABLE s.two AS SELECT 1 AS y", "CREATE VIEW v AS FROM one"
    )
    with pytest.raises(ParameterError, match=r"one, s\.two; no table was named"):
        open_duck(path)
    with pytest.raises(ParameterError, match=r"'v' is not one of them.*A view has no rows"):
        open_duck(path, table="v")
    assert opened_types(path, table="s.two") == opened_types(path, table="two")


def test_a_table_is_found_by_the_name_that_it_is_shown_by(tmp_path):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t (a INTEGER); CREATE SCHEMA s; CREATE TABLE s.t (b DATE)")
        connection.execute("CREATE SCHEMA r; CREATE TABLE s.u (b DATE); CREATE TABLE r.u (b DATE)")
    assert opened_types(path, table="t") == opened_types(path, table="main.t")
    assert list(opened_types(path, table="t")) == ["a"]
    assert list(opened_types(path, table="s.t")) == ["b"]
    with pytest.raises(ParameterError, match=r"r\.u, s\.t, s\.u; 'u' is not one of them"):
        open_duck(path, table="u")


def test_two_tables_of_one_name_are_refused_with_words_that_tell_how_to_go_on(tmp_path):
    """They would share a budget."""
    two = 'CREATE TABLE "s.t" (a INTEGER); CREATE SCHEMA s; CREATE TABLE s.t (b DATE)'
    path = database(tmp_path / "t.duckdb", two)
    for name in ("s.t", "main.s.t", "t"):
        with pytest.raises(ParameterError, match=r"'s\.t', in the schemas 'main' and 's'.*Rename"):
            open_duck(path, table=name)
    database(path, 'ALTER TABLE "s.t" RENAME TO st')
    assert list(opened_types(path, table="s.t")) == ["b"]


def test_a_duckdb_file_that_is_open_for_writing_is_said_to_be(tmp_path):
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        with pytest.raises(ParameterError, match="may be open for writing, here or in another"):
            open_duck(tmp_path / "t.duckdb")
    open_duck(tmp_path / "t.duckdb").close()


def test_a_collation_does_not_make_two_keys_one(tmp_path):
    path = database(
        tmp_path / "x.duckdb",
        "CREATE TABLE t (w VARCHAR COLLATE NOCASE)",
        "INSERT INTO t VALUES ('a'), ('A'), ('A')",
    )
    engine = open_duck(path)
    group = GroupColumn("w", col("w"), Type.TEXT)
    scope = RowScope(engine.schema(), None, (), (), (group,), (("a",), ("A",)), Bounding())
    assert engine.measure(scope, [Rows()]) == [[1, 2]]
    only = RowScope(engine.schema(), col("w") == "A", (), (), (), None, Bounding())
    assert engine.measure(only, [Rows()]) == [[2]]
    units = RowScope(engine.schema().protecting("w"), None, (), (), (), None, Bounding(max_rows=1))
    assert engine.measure(units, [Rows(), DistinctUnits()]) == [[2 * units.lattice]] * 2
    engine.close()


def test_a_missing_file_an_empty_pattern_and_an_unknown_ending_are_named(tmp_path):
    with pytest.raises(ParameterError, match=r"There is no file '.*nowhere\.parquet'"):
        open_duck(tmp_path / "nowhere.parquet")
    with pytest.raises(ParameterError, match="No file matches"):
        open_duck(str(tmp_path / "*.parquet"))
    (tmp_path / "x.docx").write_text("x")
    with pytest.raises(ParameterError, match=r"must be one of \.parquet, \.csv"):
        open_duck(tmp_path / "x.docx")
    with pytest.raises(ParameterError, match="not a file of this machine"):
        open_duck("s3://bucket/x.parquet")
    with pytest.raises(ParameterError, match="The source is int, but must be the path"):
        open_duck(3)


def test_a_damaged_file_is_refused_without_its_content(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"SECRET" * 100)
    with pytest.raises(ParameterError, match=r"x\.parquet cannot be read") as caught:
        open_duck(tmp_path / "x.parquet")
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None
    (tmp_path / "x.duckdb").write_bytes(b"SECRET" * 1000)
    with pytest.raises(ParameterError, match=r"x\.duckdb cannot be read") as caught:
        open_duck(tmp_path / "x.duckdb")
    assert caught.value.__context__ is None


def test_a_file_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    path.chmod(0)
    if os.access(path, os.R_OK):  # the superuser may read everything: let the system refuse

        def refuse(*_, **__):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(ParameterError, match=r"x\.csv cannot be read: Permission denied"):
        open_duck(path)


def test_files_with_different_columns_are_not_opened_together(tmp_path):
    pq.write_table(pa.table({"x": [1], "y": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [1], "y": ["SECRET"]}), tmp_path / "b.parquet")
    with pytest.raises(ParameterError, match=r"a\.parquet and b\.parquet have different columns"):
        open_duck(str(tmp_path / "*.parquet"))
    (tmp_path / "a.csv").write_text("x,y\n")
    (tmp_path / "b.csv").write_text("x,z\n")
    with pytest.raises(ParameterError, match=r"a\.csv and b\.csv have different columns"):
        open_duck(str(tmp_path / "*.csv"))
    with pytest.raises(ParameterError, match="files of several kinds"):
        open_duck(str(tmp_path / "a.*"))


def test_files_of_several_writers_are_opened_together(tmp_path):
    """They store the same columns in several ways; a decimal that is too long is missing alone."""
    cents = raw(pa.decimal32(5, 2), [100, 10**6, 200])
    other = cents.slice(0, 1).cast(pa.decimal128(5, 2))
    when = pa.array([1, 2, 3])
    arrow = pa.table({"x": [1, 2, 3], "d": cents, "t": when.cast(pa.timestamp("us"))})
    rest = pa.table({"x": [4], "d": other, "t": when[:1].cast(pa.timestamp("ms"))})
    pq.write_table(arrow, tmp_path / "a.parquet", store_decimal_as_integer=True)
    pl.from_arrow(rest).write_parquet(tmp_path / "b.parquet")
    with duckdb.connect() as connection:
        connection.register("rest", rest)
        connection.execute(f"COPY rest TO '{tmp_path / 'c.parquet'}' (FORMAT parquet)")
    measures = [Rows(), RowsWith(col("d")), RowsWith(col("t")), GridSum(col("d"), 0, 9, 0)]
    assert measured(str(tmp_path / "*.parquet"), measures) == [5, 4, 5, 5]


def test_a_folder_name_is_data_and_no_column(tmp_path):
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(pa.table({"x": [year]}), tmp_path / f"year={year}" / "rows.parquet")
    pattern = str(tmp_path / "**" / "*.parquet")
    assert opened_types(pattern) == {"x": Type.INTEGER}
    assert measured(pattern, [Rows()]) == [2]


def test_a_name_that_stands_for_other_names_is_refused(tmp_path):
    for name in ("a?b", "a*b", "a[1]"):
        pq.write_table(pa.table({"x": [1]}), tmp_path / f"{name}.parquet")
        with pytest.raises(ParameterError, match="Rename it"):
            open_duck(tmp_path / f"{name}.parquet")


def test_odd_file_names_work(tmp_path):
    for name in ("it's", "a b ä", 'q"q', "{x,y}", "semi;colon", "$HOME", "-- drop"):
        pq.write_table(pa.table({"x": [1, 2]}), tmp_path / f"{name}.parquet")
        assert measured(tmp_path / f"{name}.parquet", [Rows()]) == [2]


@pytest.mark.parametrize(
    "columns", [["a", "A"], ["a", "a"], []], ids=["differ in case", "twice", "none"]
)
def test_names_that_duckdb_cannot_tell_apart_are_refused(columns, tmp_path):
    table = pa.Table.from_arrays([pa.array([1])] * len(columns), names=columns)
    with pytest.raises(ParameterError, match=r"differ in nothing|no columns"):
        open_duck(table)
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(ParameterError, match=r"differ in nothing|no columns|cannot be read"):
        open_duck(tmp_path / "x.parquet")


def test_nested_names_do_not_count_as_columns(tmp_path):
    inner = pa.array([{"x": 1, "a": {"x": 2}}])
    pq.write_table(pa.table({"X": [1], "s": inner, "l": [[1]], "z": [2]}), tmp_path / "x.parquet")
    kinds = opened_types(tmp_path / "x.parquet")
    assert kinds == {"X": Type.INTEGER, "s": Type.OTHER, "l": Type.OTHER, "z": Type.INTEGER}


def test_a_declared_schema_must_fit_the_columns():
    table = pa.table({"x": [1], "day": [dt.date(2024, 1, 1)]})
    with pytest.raises(ParameterError, match=r"Column 'y' is not in table"):
        open_duck(table, types={"y": Type.TEXT})
    with pytest.raises(ParameterError, match=r"declared integer, but holds date"):
        open_duck(table, schema=Schema("t", (Column("day", Type.INTEGER),)))
    assert opened_types(table, types={"x": Type.TEXT})["x"] is Type.TEXT


def test_a_frame_without_rows_works():
    assert measured(pd.DataFrame({"x": pd.Series([], dtype=float)}), [Rows()]) == [0]
    bounding = Bounding(max_rows=1)
    assert measured(
        pa.table({"x": pa.array([], pa.int64())}), [Rows()], unit="x", bounding=bounding
    ) == [0]


def test_numbers_of_every_width_are_exact():
    """Sums beyond 2^63 and 2^53: nothing goes through a float."""
    table = pa.table({"x": pa.array([2**31 - 2] * 5000, pa.int64())})
    grid = GridSum(col("x"), 0, 2**31 - 1, 0, 2)
    middle = (2**31 - 1) // 2
    assert measured(table, [grid]) == [5000 * (2**31 - 2 - middle) ** 2]
    assert 5000 * (2**31 - 2 - middle) ** 2 > 2**70 or 5000 * middle**2 > 2**63
