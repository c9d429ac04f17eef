"""Cells become values of the declared type or are missing; nothing that they hold can fail."""

import decimal
from datetime import date, datetime
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest

from letalone.engines.core import syntax
from letalone.engines.core.measures import RowScope
from letalone.engines.core.rows import ScopeRows, Tables
from letalone.engines.duckdb.duck_dialect import DUCKDB
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.errors import ParameterError
from letalone.plans.expressions import DatePart, col
from letalone.plans.plan import Bounding
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

ODD = """
CREATE TABLE t AS SELECT * FROM (VALUES
 (170141183460469231731687303715884105727::HUGEINT, 18446744073709551615::UBIGINT,
  340282366920938463463374607431768211455::UHUGEINT, 'infinity'::DATE, '-infinity'::TIMESTAMP,
  'infinity'::TIMESTAMPTZ, '290000-01-01'::TIMESTAMP_S, 'nan'::FLOAT,
  99999999999999999999999999999999999999::DECIMAL(38, 0), '5877642-06-25 (BC)'::DATE),
 (5::HUGEINT, 5::UBIGINT, 5::UHUGEINT, '2024-02-29'::DATE, '2024-02-29 12:00:00'::TIMESTAMP,
  '2024-03-01 01:30:00+02'::TIMESTAMPTZ, '2024-02-29'::TIMESTAMP_S, 0.5::FLOAT,
  5::DECIMAL(38, 0), '2024-02-29'::DATE)
) AS rows(huge, ubig, uhuge, day, time, zoned, seconds, single, wide, old)
"""


def values_of(source, column, expression=None, **options):
    """What DuckDB makes of a column under a declared type."""
    engine = open_duck(source, **options)
    engine._load()
    schema = Schema("t", (column,))
    expression = expression if expression is not None else col(column.name)
    scope = RowScope(schema, None, (), (), (), None, Bounding())
    made = ScopeRows(scope, [expression], Tables(engine._relation, None, {}, DUCKDB))
    value = syntax.alias(made.value(expression).sql, "value")
    found = engine._duck.run(syntax.select([value], made.select(with_unit=False)))
    engine.close()
    return [value for (value,) in found]


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    path = tmp_path_factory.mktemp("odd") / "odd.duckdb"
    connection = duckdb.connect(path)
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(ODD)
    connection.close()
    return path


@pytest.mark.parametrize(
    ("name", "kind", "wanted"),
    [
        ("huge", Type.INTEGER, [None, 5]),
        ("ubig", Type.INTEGER, [None, 5]),
        ("uhuge", Type.INTEGER, [None, 5]),
        ("day", Type.DATE, [None, date(2024, 2, 29)]),
        ("time", Type.TIMESTAMP, [None, datetime(2024, 2, 29, 12)]),
        ("zoned", Type.TIMESTAMP, [None, datetime(2024, 2, 29, 23, 30)]),
        ("single", Type.NUMBER, [None, 0.5]),
        ("wide", Type.NUMBER, [1e38, 5.0]),
        ("day", Type.TIMESTAMP, [None, datetime(2024, 2, 29)]),
        ("zoned", Type.DATE, [None, date(2024, 2, 29)]),
        ("single", Type.INTEGER, [None, 0]),
        ("huge", Type.NUMBER, [float(2**127), 5.0]),
    ],
)
def test_values_that_do_not_fit_are_missing(odd, name, kind, wanted):
    assert values_of(odd, Column(name, kind)) == wanted


def test_years_beyond_the_calendar_are_missing(odd):
    assert values_of(odd, Column("old", Type.DATE), DatePart("year", col("old")))[1] == 2024
    seconds = DatePart("year", col("seconds"))
    assert values_of(odd, Column("seconds", Type.TIMESTAMP), seconds) == [None, 2024]


def test_the_last_day_of_the_calendar_is_read_to_its_end(tmp_path):
    times = [datetime(9999, 12, 31), datetime(9999, 12, 31, 23, 59, 59, 999999)]
    path = text_file(tmp_path, [f'"{time}"' for time in times] + ['"10000-01-01 00:00:00"'])
    for source in (pa.table({"x": pa.array(times, pa.timestamp("us"))}), path):
        assert values_of(source, Column("x", Type.TIMESTAMP))[:2] == times
        assert values_of(source, Column("x", Type.DATE))[:2] == [date(9999, 12, 31)] * 2
    assert values_of(path, Column("x", Type.TIMESTAMP))[2:] == [None]


def test_nanoseconds_in_a_time_zone_are_refused_with_what_to_do():
    table = pa.table({"x": pa.array([0], pa.timestamp("ns", tz="Europe/Berlin"))})
    with pytest.raises(ParameterError, match=r"nanoseconds in a time zone.*datetime64\[us, UTC\]"):
        values_of(table, Column("x", Type.TIMESTAMP))


def text_file(folder, cells):
    (folder / "t.csv").write_text("x\n" + "\n".join(cells) + "\n")
    return folder / "t.csv"


@pytest.mark.parametrize(
    ("kind", "cells", "wanted"),
    [
        (
            Type.INTEGER,
            ["1", "-9223372036854775808", "9223372036854775808", "x"],
            [1, -(2**63), None, None],
        ),
        (Type.NUMBER, ["0.1", "1e400", "nan", "-inf", "1,5", "0x"], [0.1] + [None] * 5),
        (
            Type.DATE,
            ["2024-02-29", "2023-02-29", "infinity", "soon"],
            [date(2024, 2, 29)] + [None] * 3,
        ),
        (
            Type.TIMESTAMP,
            ["2024-01-01 12:00:00", "2024-01-01T12:00:00+02:00", "never"],
            [datetime(2024, 1, 1, 12), datetime(2024, 1, 1, 10), None],
        ),
        (Type.BOOLEAN, ["true", "F", "maybe"], [True, False, None]),
    ],
)
def test_text_is_read_as_declared(kind, cells, wanted, tmp_path):
    cells = [f'"{cell}"' for cell in cells]
    assert values_of(text_file(tmp_path, cells), Column("x", kind)) == wanted


@pytest.mark.parametrize("kind", [Type.INTEGER, Type.NUMBER])
def test_bounds_clamp_where_a_column_is_read(kind, tmp_path):
    path = text_file(tmp_path, ["-5", "0", "7", "10", "99", "x", "nan"])
    for column, wanted in (
        (Column("x", kind, Fraction(0), Fraction(10)), [0, 0, 7, 10, 10, None, None]),
        (Column("x", kind, upper=Fraction(8)), [-5, 0, 7, 8, 8, None, None]),
        (Column("x", kind, lower=Fraction(8)), [8, 8, 8, 10, 99, None, None]),
    ):
        assert values_of(path, column) == wanted


def test_decimals_are_the_doubles_nearest_to_them(tmp_path):
    digits = ["0.10", "123456789.01", "-0.01", "99999999999999.99"]
    cells = [decimal.Decimal(one) for one in digits]
    table = pa.table({"x": pa.array(cells, pa.decimal128(16, 2))})
    assert values_of(table, Column("x", Type.NUMBER)) == [float(one) for one in digits]
