"""What Spark stores becomes a value of the declared type or is missing; nothing can fail."""

from datetime import date, datetime
from fractions import Fraction

import pytest

from engines.test_reading import text_file
from engines.test_reading import values_of as of_file
from letalone.engines.core import syntax
from letalone.engines.core.measures import DistinctUnits, Rows, RowScope, RowsWith
from letalone.engines.core.rows import ScopeRows, Tables
from letalone.engines.core.stored_types import READABLE
from letalone.engines.spark.spark_dialect import SPARK
from letalone.engines.spark.spark_engine import open_spark
from letalone.engines.spark.spark_versions import print_for_session, rows_of
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from on_spark.spark import COLLATE, OLD

TEXTS = [
    *["", "x", "1", " 2 ", "1.5", "1e400", "nan", "inf", "1d", "1.0D", "2.5", "-2.5", "-0.5"],
    *["9223372036854775808", "-9223372036854775808", "9" * 500, "1e-999999999", "true", "F"],
    *["yes", "0", "TRUE", "maybe", "on", "2024-02-29", "2023-02-29", "infinity", "10000-01-01"],
    *["2024-1-2", "now", "today", "epoch", "2024", "2024-01-01 12:00:00", "24:00", "0000-01-01"],
    *["2024-01-01T12:00:00+02:00", "9999-12-31 23:59:59.999999", "2024-01-01 BC", "T12:00"],
]
CELLS = {  # a stored type, and cells as expressions of Spark
    "tinyint": ["-128", "7"],
    "bigint": ["-9223372036854775807L - 1", "9223372036854775807"],
    "float": ["float('nan')", "float('inf')", "1e-45", "3e38", "-0.0", "2.5"],
    "double": [
        "double('nan')",
        "double('-inf')",
        "1e308",
        "5e-324",
        "2.5",
        "3.5",
        "9.3e18",
        "-0.0",
    ],
    "decimal(38,10)": ["'2.5'", "'-2.5'", "'9223372036854775807.4'", "'9223372036854775807.5'"],
    "decimal(38,0)": ["'99999999999999999999999999999999999999'", "1"],
    "string": [f"X'{text.encode().hex()}'" for text in TEXTS] + ["X'ff'", "X'6180'"],
    "boolean": ["true", "false"],
    "date": ["date_add(date '9999-12-31', 1)", "date_add(date '0001-01-01', -1)", "'2024-02-29'"],
    "timestamp": [
        "timestamp_micros(9223372036854775807)",
        "timestamp_micros(-9223372036854775807)",
        "timestamp '2024-03-01 01:30:00+02:00'",
    ],
    "timestamp_ntz": ["timestamp_ntz '2024-02-29 12:00:00'"],
    "binary": ["X'00'"],
    "array<int>": ["array(1)"],
    "map<string,int>": ["map('a', 1)"],
    "struct<a:int>": ["named_struct('a', 1)"],
    "void": [],
} | ({} if OLD else {"variant": ["parse_json('1')"]})


@pytest.fixture(scope="module")
def frames(spark):
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")

    def frame(kind, cells):
        rows = " UNION ALL ".join(
            f"SELECT CAST({cell} AS {kind}) AS x" for cell in [*cells, "NULL"]
        )
        return session.sql(rows).coalesce(1)

    return {kind: frame(kind, cells) for kind, cells in CELLS.items()}


def values_of(frame, column):
    """What Spark makes of a column under a declared type."""
    schema = Schema("t", (column,))
    engine = open_spark(frame, schema=schema)
    scope = RowScope(schema, None, (), (), (), None, Bounding())
    made = ScopeRows(scope, [col("x")], Tables(engine._relation, None, {}, SPARK))
    value = syntax.alias(made.value(col("x")).sql, "value")
    text = print_for_session(syntax.select([value], made.select(with_unit=False)), engine._session)
    found = [value for (value,) in rows_of(engine._session.sql(text))]
    engine.close()
    return [v.replace(tzinfo=None) if isinstance(v, datetime) else v for v in found]


@pytest.mark.parametrize("kind", CELLS)
def test_no_cell_of_any_type_fails_under_any_type_that_it_can_be_read_as(frames, kind):
    engine = open_spark(frames[kind])
    own = engine.schema().column("x").type
    engine.close()
    for declared in [one for one in Type if one is own or own in READABLE[one]]:
        schema = Schema("t", (Column("x", declared),))
        engine = open_spark(frames[kind], schema=schema)
        scope = RowScope(schema, None, (), (), (), None, Bounding())
        measures = [Rows()] + ([] if declared is Type.OTHER else [RowsWith(col("x"))])
        assert engine.measure(scope, measures)[0] == [len(CELLS[kind]) + 1]
        if declared is own and own is not Type.OTHER:
            unit = RowScope(schema.protecting("x"), None, (), (), (), None, Bounding(max_rows=1))
            assert engine.measure(unit, [DistinctUnits()])[0][0] > 0
        engine.close()


@pytest.mark.parametrize(
    ("stored", "kind", "wanted"),
    [
        ("decimal(38,10)", Type.INTEGER, {3, -3, 2**63 - 1, None}),
        ("decimal(38,10)", Type.NUMBER, {2.5, -2.5, 2.0**63, None}),
        ("double", Type.INTEGER, {0, 2, 4, None}),
        ("double", Type.NUMBER, {1e308, 5e-324, 2.5, 3.5, 9.3e18, 0.0, None}),
        ("string", Type.BOOLEAN, {True, False, None}),
        ("string", Type.DATE, {date(2024, 2, 29), date(2024, 1, 2), date(2024, 1, 1), None,
                               date(9999, 12, 31)}),
        ("date", Type.TIMESTAMP, {datetime(2024, 2, 29), None}),
        ("timestamp", Type.DATE, {date(2024, 2, 29), None}),
        ("timestamp", Type.TIMESTAMP, {datetime(2024, 2, 29, 23, 30), None}),
        ("timestamp_ntz", Type.TIMESTAMP, {datetime(2024, 2, 29, 12), None}),
        ("boolean", Type.TEXT, {"true", "false", None}),
        ("string", Type.TEXT, {*TEXTS, None}),
    ],
)  # fmt: skip
def test_values_that_fit_are_read_and_others_are_missing(frames, stored, kind, wanted):
    assert set(values_of(frames[stored], Column("x", kind))) == wanted


def test_numbers_in_text_are_those_of_a_csv_file(frames, tmp_path):
    cells = [cell for cell in TEXTS if cell]
    path = text_file(tmp_path, [f'"{cell}"' for cell in cells])
    for kind in (Type.INTEGER, Type.NUMBER, Type.BOOLEAN, Type.TIMESTAMP):
        column = Column("x", kind)
        mine = dict(zip([*TEXTS, 1, 2, 3], values_of(frames["string"], column), strict=True))
        both = zip(cells, [mine[cell] for cell in cells], of_file(path, column), strict=True)
        assert [(cell, ours, theirs) for cell, ours, theirs in both if ours != theirs] == [], kind


def test_bounds_clamp_where_a_column_is_read(frames):
    column = Column("x", Type.NUMBER, Fraction(0), Fraction(3))
    assert set(values_of(frames["double"], column)) == {0, 2.5, 3, 5e-324, None}


def test_text_of_every_collation_is_compared_with_keys_and_texts_by_its_bytes(spark):
    """UTF8_LCASE holds 'a' and 'A' for one; CHAR(n) has blanks at its end."""
    words = ["a", "A", "é", "e\u0301"]
    spark.sql(f"CREATE TABLE words (c STRING {COLLATE}, d CHAR(5)) USING parquet")
    spark.createDataFrame([(w, w) for w in words], "c string, d string").write.insertInto("words")
    for name in ("c", "d"):
        schema = Schema("t", (Column(name, Type.TEXT),), unit=name)
        group = GroupColumn(name, col(name), Type.TEXT)
        keys = tuple((word,) for word in reversed(words))
        scope = RowScope(schema, col(name) != "a", (), (), (group,), keys, Bounding(max_rows=1))
        engine = open_spark((spark, "words"), schema=schema)
        one = scope.lattice
        assert engine.measure(scope, [Rows(), DistinctUnits()]) == [[one, one, one, 0]] * 2
        engine.close()
    spark.sql("DROP TABLE words")
