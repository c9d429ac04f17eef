"""What PostgreSQL stores becomes a value of the declared type or is missing; nothing can fail."""

from contextlib import closing
from datetime import date, datetime
from fractions import Fraction

import pytest

from engines import on_postgres
from engines.test_engine_laws import WHOLE
from engines.test_reading import text_file
from engines.test_reading import values_of as of_file
from letalone.engines.core import syntax
from letalone.engines.core.measures import DistinctUnits, Rows, RowScope, RowsWith
from letalone.engines.core.rows import ScopeRows, Tables
from letalone.engines.core.stored_types import READABLE
from letalone.engines.postgres.postgres_dialect import POSTGRES
from letalone.engines.postgres.postgres_engine import open_postgres
from letalone.engines.postgres.postgres_words import write_statement
from letalone.plans.expressions import case, col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

CELLS = {
    "smallint": [None, "-32768", "7"],
    "integer": [None, "-2147483648", "7"],
    "bigint": [None, "-9223372036854775808", "9223372036854775807"],
    "real": [None, "nan", "inf", "-inf", "1e-45", "3e38", "-0", "2.5"],
    "double precision": [None, "nan", "inf", "1e308", "5e-324", "-0", "2.5", "9.3e18", "-9.3e18"],
    "numeric": [
        *[None, "NaN", "Infinity", "-Infinity", "1e400", "1e-400", "1e131071", "0", "2.5", "-2.5"],
        *["9223372036854775807.4", "9223372036854775807.5", "-9223372036854775808.5", "0.1"],
        *["1.7976931348623157e308", "1.7976931348623159e308", "4e-324", "2e-324", "3e-324"],
    ],
    "text": [
        *[None, "", "x", "1", " 2 ", "1.5", "1e400", "1e-400", "nan", "inf", "0x1F", "1_000"],
        *["9223372036854775808", "9" * 500, "true", "F", "yes", "0", "TRUE", "maybe", "on"],
        *["2024-02-29", "2023-02-29", "infinity", "10000-01-01", "2024-1-2", "now", "today"],
        *["2024-01-01 12:00:00", "2024-01-01T12:00:00+02:00", "0001-01-01 00:00:00+05"],
        *["9999-12-31 23:59:59.999999", "24:00", "2024-01-01 BC", "0000-01-01", "\u0661"],
    ],
    "varchar(9)": [None, "1", "A ", "t"],
    "char(5)": [None, "1", "A", "t"],
    "boolean": [None, "t", "f"],
    "date": [None, "infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "2024-02-29"],
    "timestamp": [
        None,
        "infinity",
        "-infinity",
        "4713-01-01 BC",
        "294276-12-31",
        "2024-02-29 12:00",
    ],
    "timestamptz": [None, "infinity", "-infinity", "294276-12-31", "2024-03-01 01:30:00+02"],
    "uuid": [None, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    "mood": [None, "happy", "sad"],
    "age": [None, "7", "-3"],
    "json": [None, "{}"],
    "money": [None, "1"],
    "int[]": [None, "{1,2}"],
}


@pytest.fixture(scope="module")
def tables():
    on_postgres.run("CREATE TYPE mood AS ENUM ('happy', 'sad', 'SECRET LABEL')")
    on_postgres.run("CREATE DOMAIN age AS integer")
    return {
        kind: on_postgres.stored({"x": kind}, [[cell] for cell in cells])
        for kind, cells in CELLS.items()
    }


def values_of(table, column):
    """What PostgreSQL makes of a column under a declared type."""
    schema = Schema("t", (column,))
    engine = open_postgres(on_postgres.address(table), schema=schema)
    scope = RowScope(schema, None, (), (), (), None, Bounding())
    made = ScopeRows(scope, [col("x")], Tables(engine._relation, None, {}, POSTGRES))
    value = syntax.alias(made.value(col("x")).sql, "value")
    text, _ = write_statement(syntax.select([value], made.select(with_unit=False)))
    with engine._server.reading():
        found = [value for (value,) in engine._server.run(text)]
    engine.close()
    return found


@pytest.mark.few("bigint", "double", "numeric", "text", "date", "timestamptz", "mood", "json")
@pytest.mark.parametrize("kind", CELLS)
def test_no_cell_of_any_type_fails_under_any_type_that_it_can_be_read_as(tables, kind):
    with open_engine(tables[kind]) as engine:
        own = engine.schema().column("x").type
    wanted = [one for one in Type if one is own or own in READABLE[one]]
    for declared in wanted:
        schema = Schema("t", (Column("x", declared),))
        with open_engine(tables[kind], schema) as engine:
            scope = RowScope(schema, None, (), (), (), None, Bounding())
            measures = [Rows()] + ([] if declared is Type.OTHER else [RowsWith(col("x"))])
            assert engine.measure(scope, measures)[0] == [len(CELLS[kind])]
        if declared is own and own is not Type.OTHER:
            unit = RowScope(schema.protecting("x"), None, (), (), (), None, Bounding(max_rows=1))
            with open_engine(tables[kind], schema) as engine:
                assert engine.measure(unit, [DistinctUnits()])[0][0] > 0


def open_engine(table, schema=None):
    return closing(open_postgres(on_postgres.address(table), schema=schema))


@pytest.mark.parametrize(
    ("stored", "kind", "wanted"),
    [
        ("numeric", Type.INTEGER, {0, 3, -3, 2**63 - 1, None}),
        ("numeric", Type.NUMBER, {0.0, 2.5, -2.5, 2.0**63, -(2.0**63), 0.1, None}),
        ("double precision", Type.INTEGER, {0, 2, None}),
        ("text", Type.BOOLEAN, {True, False, None}),
        ("text", Type.DATE, {date(2024, 2, 29), date(2024, 1, 2), date(2024, 1, 1), None}),
        ("date", Type.TIMESTAMP, {datetime(2024, 2, 29), None}),
        ("timestamptz", Type.DATE, {date(2024, 2, 29), None}),
        ("timestamptz", Type.TIMESTAMP, {datetime(2024, 2, 29, 23, 30), None}),
        ("uuid", Type.TEXT, {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", None}),
        ("mood", Type.TEXT, {"happy", "sad", None}),
        ("char(5)", Type.TEXT, {"1", "A", "t", None}),
        ("age", Type.INTEGER, {7, -3, None}),
        ("boolean", Type.TEXT, {"true", "false", None}),
    ],
)
def test_values_that_fit_are_read_and_others_are_missing(tables, stored, kind, wanted):
    found = set(values_of(tables[stored], Column("x", kind)))
    more = {date(1, 1, 1), date(9999, 12, 31)} if (stored, kind) == ("text", Type.DATE) else set()
    if (stored, kind) == ("numeric", Type.NUMBER):
        more = {1.7976931348623157e308, 5e-324}
    assert found == wanted | more


def test_numbers_in_text_are_those_of_a_csv_file(tables, tmp_path):
    cells = [cell for cell in CELLS["text"] if cell]
    name = on_postgres.stored({"x": "text"}, [[cell] for cell in cells])
    path = text_file(tmp_path, [f'"{cell}"' for cell in cells])
    for kind in (Type.INTEGER, Type.NUMBER, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP):
        column = Column("x", kind)
        both = zip(cells, values_of(name, column), of_file(path, column), strict=True)
        assert [(cell, mine, theirs) for cell, mine, theirs in both if mine != theirs] == []


@pytest.mark.parametrize("stored", ["integer", "numeric", "text"])
def test_bounds_clamp_where_a_column_is_read(stored):
    name = on_postgres.stored({"x": stored}, [["-5"], ["7"], ["99"], [None]])
    column = Column("x", Type.NUMBER, Fraction(0), Fraction(10))
    assert values_of(name, column) == [0, 7, 10, None]


@pytest.mark.parametrize("collation", ["POSIX", "pg_c_utf8", "default", "ucs_basic"])
def test_text_of_every_collation_is_compared_with_keys_and_texts_by_its_bytes(collation):
    """Two collations in one comparison are an error there, and some hold 'a' and 'A' for one."""
    words = ["a", "A", "\u00e9", "e\u0301"]
    name = on_postgres.stored({"x": f'text COLLATE "{collation}"'}, [[word] for word in words])
    schema = Schema("t", (Column("x", Type.TEXT),), unit="x")
    group = GroupColumn("x", col("x"), Type.TEXT)
    keys = tuple((word,) for word in reversed(words))
    for bounding in (Bounding(max_rows=1), Bounding(max_groups=1, max_rows=1)):
        scope = RowScope(schema, col("x") != "a", (), (), (group,), keys, bounding)
        with open_engine(name, schema) as engine:
            found = engine.measure(scope, [Rows(), DistinctUnits()])
            assert found == [[WHOLE, WHOLE, WHOLE, 0]] * 2
            assert 'COLLATE "C"' in engine.sql(scope, [Rows()])


def test_texts_of_two_collations_are_compared_and_mixed_and_no_row_fails():
    """PostgreSQL itself fails at the first row for which it has to compare them."""
    kinds = {"a": 'text COLLATE "C"', "b": 'varchar COLLATE "POSIX"', "c": "name", "d": "char(3)"}
    rows = [["x", None, None, None], ["x", "x", "y", "x"], ["y", "x", "x", "x"]]
    name = on_postgres.stored(kinds, rows)
    with pytest.raises(Exception, match="could not determine which collation"):
        on_postgres.run(f'SELECT count(*) FROM "{name}" WHERE a = b')
    schema = Schema("t", tuple(Column(one, Type.TEXT) for one in kinds), unit="c")
    columns = [col(one) for one in kinds]
    for left in columns:
        for right in columns:
            mixed = case((left < right, left), (left >= right, right), otherwise="none")
            group = GroupColumn("k", mixed, Type.TEXT)
            keys = (("x",), ("y",), ("none",))
            where = (left == right) | (left != right) | right.is_null()
            scope = RowScope(schema, where, (), (), (group,), keys, Bounding(max_rows=1))
            with open_engine(name, schema) as engine:
                ((x, y, none),) = engine.measure(scope, [Rows()])
            assert (x + y, none) == (2 * WHOLE, 0), "of the two rows that have a unit"
