"""What SQLite stores becomes a value of the declared type or is missing; nothing can fail."""

import sqlite3
from contextlib import closing
from datetime import date, datetime
from fractions import Fraction
from threading import Event, Thread
from time import perf_counter

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

import letalone as la
from engines import test_expressions as shared_rows
from engines import test_texts
from engines.conformance.test_text_grammar import KINDS, difference
from engines.makers import from_sqlite, write_sqlite
from engines.spellings import SPELLINGS
from engines.test_engine_laws import SCHEMA, WHOLE, row
from engines.test_expressions import PATTERNS, cases, expressions, same, texts
from engines.test_hostile_names import NAMES
from evaluator import evaluate
from letalone.engines.core import syntax
from letalone.engines.core.failure import EngineFailed, FileChanged, SourceAway
from letalone.engines.core.measures import DistinctUnits, GridSum, Rows, RowScope, RowsWith
from letalone.engines.core.rows import ScopeRows, Tables
from letalone.engines.core.stored_types import READABLE
from letalone.engines.opening import open_engine
from letalone.engines.sqlite import sqlite_connection
from letalone.engines.sqlite.sqlite_dialect import SQLITE
from letalone.engines.sqlite.sqlite_engine import SqliteEngine, _value, open_sqlite
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.plans.aggregates.features import PerUnit, UnitMean, UnitTotal
from letalone.plans.expressions import Arithmetic, ColumnRef, Length, Like, Literal, col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.sources.files import WhichTable, is_sqlite
from stages import pick

INVALID = "CAST(X'C328FF' AS TEXT)"
CELLS = [  # as SQL, of every type that a cell can have, whatever its column's is
    *[
        "NULL",
        "0",
        "1",
        "7",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
        "9007199254740993",
    ],
    *["0.0", "-0.0", "2.5", "-2.5", "1e300", "9e999", "-9e999", "5e-324", "9.3e18", "-9.3e18"],
    *["9223372036854775808.0", "0.1", "''", "'x'", "'1'", "' 2 '", "'1.5'", "'1e400'", "'nan'"],
    *["'true'", "'F'", "'2024-02-29'", "'2023-02-29'", "'2024-01-01T12:00:00+02:00'", "'24:00'"],
    *[
        "X''",
        "X'00'",
        "X'31'",
        "X'C328'",
        INVALID,
        "CAST(X'610062' AS TEXT)",
        "'ä'",
        "'\U0001f600'",
    ],
    *[
        "CAST(X'3100' AS TEXT)",
        "CAST(X'EDA080' AS TEXT)",
        "printf('%.*c', 5000, '9')",
        "zeroblob(9)",
    ],
]
KINDS_DECLARED = ["INTEGER", "REAL", "NUMERIC", "TEXT", "BOOLEAN", "DATE", "DATETIME", "", "STRING"]
ALL_ROWS = Bounding()


def write(path, statements):
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


def scope_of(schema, bounding=ALL_ROWS, **more):
    return RowScope(schema, None, (), (), (), None, bounding, **more)


def values_of(path, column):
    """What SQLite makes of a column under a declared type, in the order of the rows."""
    schema = Schema("t", (column,))
    with closing(open_sqlite(path, schema=schema)) as engine:
        made = ScopeRows(scope_of(schema), [col("x")], Tables(engine._relation, None, {}, SQLITE))
        value = syntax.alias(made.value(col("x")).sql, "value")
        query = syntax.select([value], made.select(with_unit=False))
        rows = engine._file.run(SQLITE.printed(query))
    return [_value(cell, column.type) for (cell,) in rows]


def with_cells(folder, declared, cells=CELLS):
    path = folder / "cells.sqlite"
    path.unlink(missing_ok=True)
    rows = [f"INSERT INTO t SELECT {cell}" for cell in cells]
    return write(path, [f"CREATE TABLE t (x {declared})", *rows])


@pytest.mark.parametrize("declared", [*KINDS_DECLARED, "BLOB", "TEXT COLLATE NOCASE"])
def test_no_cell_of_any_type_fails_under_any_type_that_it_can_be_read_as(declared, tmp_path):
    path = with_cells(tmp_path, declared)
    with closing(open_sqlite(path)) as engine:
        own = engine.schema().column("x").type
    for kind in [one for one in Type if one is own or own in READABLE[one]]:
        for bounds in ((), (Fraction(0), Fraction(10))) if kind.is_numeric else ((),):
            schema = Schema("t", (Column("x", kind, *bounds),))
            with closing(open_sqlite(path, schema=schema)) as engine:
                more = [] if kind is Type.OTHER else [RowsWith(col("x"))]
                found = engine.measure(scope_of(schema), [Rows(), *more])
                assert found[0] == [len(CELLS)]
                if kind is not Type.OTHER and not bounds:
                    unit = scope_of(schema.protecting("x"), Bounding(max_rows=1))
                    assert engine.measure(unit, [DistinctUnits()])[0][0] > 0


def test_each_cell_is_read_by_itself_whatever_the_others_hold(tmp_path):
    """One odd cell at a time: all others are read as before."""
    plain = ["1", "'2'", "2.5", "'x'"]
    for kind in (Type.INTEGER, Type.NUMBER, Type.TEXT, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP):
        alone = values_of(with_cells(tmp_path, "", plain), Column("x", kind))
        for cell in CELLS:
            found = values_of(with_cells(tmp_path, "", [*plain, cell]), Column("x", kind))
            assert found[:4] == alone


@pytest.mark.parametrize(
    ("cell", "kind", "wanted"),
    [
        ("'007'", Type.INTEGER, 7),
        ("2.5", Type.INTEGER, 2),
        ("3.5", Type.INTEGER, 4),
        ("'2.5'", Type.INTEGER, 3),
        ("9.3e18", Type.INTEGER, None),
        ("-9223372036854775808", Type.INTEGER, -(2**63)),
        ("9007199254740993", Type.NUMBER, 2.0**53),
        ("9e999", Type.NUMBER, None),
        ("'1e999'", Type.NUMBER, None),
        ("X'31'", Type.NUMBER, None),
        ("X'31'", Type.TEXT, None),
        (INVALID, Type.TEXT, None),
        ("CAST(X'610062' AS TEXT)", Type.TEXT, "a\0b"),
        ("0.1", Type.TEXT, "0.1"),
        ("9e999", Type.TEXT, None),
        ("2", Type.BOOLEAN, None),
        ("1", Type.BOOLEAN, True),
        ("'No'", Type.BOOLEAN, False),
        ("2024", Type.DATE, None),
        ("'2024-1-5 23:00-05:00'", Type.DATE, date(2024, 1, 5)),
        ("'2024-1-5 23:00-05:00'", Type.TIMESTAMP, datetime(2024, 1, 6, 4)),
        ("'0001-01-01 00:00+01:00'", Type.TIMESTAMP, None),
    ],
)
def test_a_cell_is_read_by_its_own_type(cell, kind, wanted, tmp_path):
    found = values_of(with_cells(tmp_path, "", [cell]), Column("x", kind))
    assert found == [wanted]
    assert type(found[0]) is type(wanted)


def test_a_date_of_a_column_of_times_is_that_in_utc(tmp_path):
    late = ["'2024-01-05 23:00-05:00'"]
    assert values_of(with_cells(tmp_path, "DATETIME", late), Column("x", Type.DATE)) == [
        date(2024, 1, 6)
    ]
    assert values_of(with_cells(tmp_path, "DATE", late), Column("x", Type.TIMESTAMP)) == [
        datetime(2024, 1, 5)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_sqlite_reads_a_text_as_the_slow_reader_does(kind, tmp_path):
    path = tmp_path / "texts.sqlite"
    write_sqlite(path, {"x": "TEXT"}, [[text] for text in SPELLINGS[kind]])
    assert difference(kind, values_of(path, Column("x", kind))) == []


NASTY = shared_rows.SCHEMA


def differing(engine, rows, expression):
    wanted = [evaluate(expression, one, NASTY) for one in rows]
    pairs = zip(values_in(engine, expression), wanted, strict=True)
    return [both for both in pairs if not same(*both)]


def values_in(engine, expression):
    """The value of an expression in each row, by SQLite."""
    made = ScopeRows(scope_of(NASTY), [expression], engine._tables(scope_of(NASTY)))
    term = made.value(expression)
    query = syntax.select([syntax.alias(term.sql, "value")], made.select(with_unit=False))
    return [_value(cell, term.type) for (cell,) in engine._file.run(SQLITE.printed(query))]


def check_expression(tmp_path_factory, rows, expression):
    made = from_sqlite(rows, NASTY, tmp_path_factory.mktemp("nasty"))
    with closing(made.engine) as engine:
        assert differing(engine, rows, expression) == []


@given(
    rows=shared_rows.rows(),
    expression=st.sampled_from([Type.NUMBER, Type.INTEGER, Type.BOOLEAN]).flatmap(
        lambda kind: expressions(kind, 3)
    ),
)
@settings(max_examples=pick(40, 200))
def test_every_value_is_that_of_a_slow_evaluation(tmp_path_factory, rows, expression):
    check_expression(tmp_path_factory, rows, expression)


@given(
    rows=shared_rows.rows(),
    expression=st.sampled_from([Type.TEXT, Type.DATE, Type.TIMESTAMP]).flatmap(
        lambda kind: cases(kind, 2)
    ),
)
@settings(max_examples=pick(20, 60))
def test_cases_of_text_and_dates_are_those_of_a_slow_evaluation(tmp_path_factory, rows, expression):
    check_expression(tmp_path_factory, rows, expression)


@given(
    rows=shared_rows.rows(),
    expression=texts(2) | st.builds(Like, texts(1), st.sampled_from(PATTERNS)),
)
@settings(max_examples=pick(40, 200))
def test_functions_of_text_are_those_of_a_slow_evaluation(tmp_path_factory, rows, expression):
    check_expression(tmp_path_factory, rows, expression)


def test_every_text_matches_every_pattern_as_it_should(tmp_path):
    rows = shared_rows.text_rows()
    with closing(from_sqlite(rows, NASTY, tmp_path).engine) as engine:
        for pattern in PATTERNS:
            assert differing(engine, rows, Like(test_texts.TEXT, pattern)) == []


@pytest.mark.parametrize("condition", test_texts.SLOW, ids=range(len(test_texts.SLOW)))
def test_a_hostile_pattern_takes_no_longer_than_a_look_at_the_text(tmp_path, condition):
    rows = [test_texts.row(test_texts.LONG)]
    with closing(from_sqlite(rows, NASTY, tmp_path).engine) as engine:
        start = perf_counter()
        assert values_in(engine, condition) == [False]
        assert perf_counter() - start < test_texts.LIMIT_SECONDS


def test_a_text_that_is_put_together_is_missing_beyond_a_million_letters(tmp_path):
    rows = [test_texts.row("ä" * letters) for letters in (333_333, 333_334)]
    with closing(from_sqlite(rows, NASTY, tmp_path).engine) as engine:
        assert values_in(engine, Length(test_texts.CONCAT)) == [999_999, None]
        doubled = test_texts.TEXT
        for _ in range(6):
            doubled = doubled.concat(doubled)
        assert values_in(engine, Length(doubled)) == [None, None]


def test_a_chain_of_divisions_is_computed_once_and_not_once_for_each_mention(tmp_path):
    chain = ColumnRef("x")
    for _ in range(15):
        chain = Arithmetic("/", Literal(1), Arithmetic("+", chain, Literal(1)))
    rows = [dict.fromkeys(shared_rows.COLUMNS) | {"x": 1.0}]
    with closing(from_sqlite(rows, NASTY, tmp_path).engine) as engine:
        assert differing(engine, rows, chain) == []


@pytest.mark.long  # conformance/test_width.py stays
def test_what_cannot_be_compiled_is_refused_before_it_is_charged(tmp_path):
    """SQLite computes at most 2000 columns at once."""
    grids = [GridSum(col("age"), 0, 5 + number, 0) for number in range(1500)]
    with closing(from_sqlite([row(patient="p")], SCHEMA, tmp_path).engine) as engine:
        scope = scope_of(SCHEMA, Bounding(max_rows=1))
        with pytest.raises(UnsupportedQuery, match="Nothing was charged"):
            engine.sql(scope, grids)


def test_a_collation_that_is_not_here_is_told_before_anything_is_charged(tmp_path):
    path = tmp_path / "t.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.create_collation("own", lambda a, b: (a > b) - (a < b))
        connection.execute("CREATE TABLE t (x TEXT COLLATE own PRIMARY KEY)")
    with (
        closing(open_sqlite(path)) as engine,
        pytest.raises(UnsupportedQuery, match="its own collation"),
    ):
        engine.sql(scope_of(engine.schema().protecting("x"), Bounding(max_rows=1)), [Rows()])


@pytest.mark.parametrize("odd", [exp.Upper, exp.Reverse, lambda this: syntax.call("HEX", this)])
def test_a_function_that_nobody_has_looked_at_is_refused(odd):
    query = syntax.select([odd(this=syntax.column("x")) if isinstance(odd, type) else
                           odd(syntax.column("x"))], syntax.table("t"))  # fmt: skip
    with pytest.raises(UnsupportedQuery, match="a function that cannot be asked"):
        SQLITE.printed(query)


def test_sums_beyond_64_bits_are_exact(tmp_path):
    """Of rows, with their weights, and of each person."""
    schema = Schema("t", (Column("who", Type.TEXT), Column("x", Type.INTEGER)), unit="who")
    path = tmp_path / "sums.sqlite"
    write_sqlite(path, {"who": "TEXT", "x": "INTEGER"}, [["a", 2**50]] * 10_000 + [["b", -(2**50)]])
    grid = GridSum(col("x"), -(2**50), 2**50, 0)
    with closing(open_sqlite(path, schema=schema)) as engine:
        rows = scope_of(Schema("t", schema.columns))
        assert engine.measure(rows, [grid]) == [[10_000 * 2**51]]
        mine = PerUnit(
            (("total", UnitTotal(col("x"), Fraction(-(2**50)), Fraction(2**50))),
             ("mean", UnitMean(col("x"), Fraction(-(2**50)), Fraction(2**50)))),
            None, (), (),
        )  # fmt: skip
        units = scope_of(schema, per_unit=mine)
        found = engine.measure(units, [GridSum(col("total"), -(2**62), 2**62, 0)])
        assert found == [[2**62 + 2**62 - 2**50 + 2**62]]


@pytest.mark.parametrize("collation", ["NOCASE", "RTRIM"])
def test_text_of_every_collation_is_compared_by_its_bytes(collation, tmp_path):
    words = ["a", "A", "a ", "b"]
    path = tmp_path / "words.sqlite"
    write_sqlite(path, {"x": f"TEXT COLLATE {collation} PRIMARY KEY"}, [[word] for word in "ab"])
    write_sqlite(path, {"x": f"TEXT COLLATE {collation}"}, [[w] for w in words], table="words")
    schema = Schema("t", (Column("x", Type.TEXT),), unit="x")
    group = GroupColumn("x", col("x"), Type.TEXT)
    keys = tuple((word,) for word in words)
    scope = RowScope(schema, col("x") != "b", (), (), (group,), keys, Bounding(max_rows=1))
    with closing(open_sqlite(path, schema=schema, table="words")) as engine:
        assert engine.measure(scope, [Rows(), DistinctUnits()]) == [[WHOLE, WHOLE, WHOLE, 0]] * 2


def test_a_unit_is_a_cell_as_it_is_stored(tmp_path):
    """1 and 1.0 are one person, 1 and '1' are two; bytes and what is no text are nobody."""
    cells = ["1", "1.0", "'1'", "'1'", "X'31'", INVALID, "NULL", "9e999", "0.0", "-0.0", "2.5"]
    path = with_cells(tmp_path, "", cells)
    schema = Schema("t", (Column("x", Type.TEXT),), unit="x")
    with closing(open_sqlite(path, schema=schema)) as engine:
        found = engine.measure(scope_of(schema, Bounding(max_rows=5)), [DistinctUnits(), Rows()])
    assert found == [[4 * WHOLE], [7 * WHOLE]]


@pytest.mark.parametrize("name", [*NAMES, "a b.c", "main", "temp", "Ünits"])
def test_a_table_is_found_whatever_it_is_called(name, tmp_path):
    if not name.strip():
        return
    path = tmp_path / "names.sqlite"
    write_sqlite(path, {"x": "INTEGER"}, [[3]], table=name)
    write_sqlite(path, {"x": "INTEGER"}, [[4]], table=f"{name}_")
    with closing(open_sqlite(path, table=name)) as engine:
        scope = scope_of(engine.schema())
        assert engine.measure(scope, [GridSum(col("x"), 0, 10, 0)]) == [[3]]
        engine.sql(scope, [Rows()])


def test_the_right_column_is_read_whatever_it_is_called(tmp_path):
    path, names = tmp_path / "names.sqlite", [name for name in NAMES if name != "true"]
    write_sqlite(path, dict.fromkeys(names, "INTEGER"), [[*range(len(names))]])
    with closing(open_sqlite(path)) as engine:
        read = [GridSum(col(name), 0, len(names), 0) for name in names]
        found = engine.measure(scope_of(engine.schema()), read)
    assert found == [[number] for number in range(len(names))]


def test_tables_without_rowid_and_strict_ones_and_generated_columns(tmp_path):
    made = [
        "CREATE TABLE plain (x INTEGER PRIMARY KEY, y TEXT) WITHOUT ROWID",
        "INSERT INTO plain VALUES (1, 'a'), (2, 'b')",
        "CREATE TABLE made (x INTEGER, v INTEGER AS (abs(x)) VIRTUAL, s INTEGER AS (x + 1) STORED)",
        "INSERT INTO made (x) VALUES (1), (-9223372036854775807)",
    ]
    path = write(tmp_path / "t.sqlite", made)
    with closing(open_sqlite(path, table="plain")) as engine:
        assert engine.measure(scope_of(engine.schema()), [Rows()]) == [[2]]
    with closing(open_sqlite(path, table="made")) as engine:
        kinds = {column.name: column.type for column in engine.schema().columns}
        assert kinds == {"x": Type.INTEGER, "v": Type.OTHER, "s": Type.INTEGER}
        assert engine.measure(scope_of(engine.schema()), [RowsWith(col("s"))]) == [[2]]


def test_a_file_is_told_by_its_first_bytes(tmp_path):
    write_sqlite(tmp_path / "a.db", {"x": "INTEGER"}, [[1]])
    duckdb.connect(tmp_path / "b.db").execute("CREATE TABLE t AS SELECT 1 AS x").close()
    (tmp_path / "c.sqlite").write_bytes(b"SQLite format 2")
    (tmp_path / "d.csv").write_bytes((tmp_path / "a.db").read_bytes())
    names = ["a.db", "b.db", "c.sqlite", "d.csv", "e.db"]
    assert [name for name in names if is_sqlite(tmp_path / name)] == ["a.db"]
    with closing(open_engine(tmp_path / "a.db")) as engine:
        assert isinstance(engine, SqliteEngine)
    with closing(open_engine(tmp_path / "b.db")) as engine:
        assert not isinstance(engine, SqliteEngine)
    with pytest.raises(ParameterError, match="is not an SQLite file"):
        open_engine(tmp_path / "c.sqlite")


def test_a_path_means_itself_whatever_signs_it_has(tmp_path):
    folder = tmp_path / "a?b#c%20d&mode=rw é"
    folder.mkdir()
    write_sqlite(folder / "x?immutable=1.sqlite", {"x": "INTEGER"}, [[1]])
    with closing(open_sqlite(folder / "x?immutable=1.sqlite")) as engine:
        assert engine.measure(scope_of(engine.schema()), [Rows()]) == [[1]]


REFUSED = {
    "v": "CREATE VIEW v AS SELECT count(*) AS x FROM t",
    "w": "CREATE VIRTUAL TABLE w USING fts5(x)",
    "sqlite_stat1": "ANALYZE",
}


@pytest.mark.parametrize("table", REFUSED)
def test_only_ordinary_tables_are_opened(table, tmp_path):
    path = write(tmp_path / "t.sqlite", ["CREATE TABLE t (x)", REFUSED[table]])
    with pytest.raises(WhichTable) as refused:
        open_sqlite(path, table=table)
    assert table not in refused.value.tables


def test_a_ledger_is_no_data(tmp_path):
    write_sqlite(tmp_path / "clinic.sqlite", {"who": "TEXT", "x": "REAL"}, [["a", 1.0]])
    book = tmp_path / "clinic.letalone.db"
    given = {"unit": "who", "budget": la.Budget(1), "ledger": book}
    with la.open(tmp_path / "clinic.sqlite", **given) as session:
        session.agg(n=la.count()).release(0.5)
    with pytest.raises(ParameterError, match="is a ledger of letalone"):
        la.open(book, unit=la.ROW, budget=la.Budget(1))


def test_text_of_another_encoding_is_refused(tmp_path):
    path = write(tmp_path / "t.sqlite", ["PRAGMA encoding = 'UTF-16'", "CREATE TABLE t (x TEXT)"])
    with pytest.raises(ParameterError, match="UTF-16"):
        open_sqlite(path)


def test_nothing_can_be_written(tmp_path):
    path = tmp_path / "t.sqlite"
    write_sqlite(path, {"x": "INTEGER"}, [[1]])
    with closing(open_sqlite(path)) as engine, pytest.raises(sqlite3.OperationalError):
        engine._file.run("INSERT INTO kept VALUES (2)")


def test_an_answer_sees_one_state_and_the_next_one_the_rows_that_came(tmp_path):
    path = tmp_path / "t.sqlite"
    write_sqlite(path, {"x": "INTEGER"}, [[1]])
    write(path, ["PRAGMA journal_mode = WAL"])
    with closing(open_sqlite(path)) as engine:
        scope = scope_of(engine.schema())
        with engine.borrowing({}):
            assert engine.measure(scope, [Rows()]) == [[1]]
            write(path, ["INSERT INTO kept VALUES (2)"])
            assert engine.measure(scope, [Rows()]) == [[1]]
        assert engine.measure(scope, [Rows()]) == [[2]]


def test_a_table_that_was_changed_is_not_read(tmp_path):
    path = tmp_path / "t.sqlite"
    write_sqlite(path, {"x": "INTEGER"}, [[1]])
    with closing(open_sqlite(path)) as engine:
        write(path, ["DROP TABLE kept", "CREATE TABLE kept (x TEXT)"])
        with pytest.raises(SourceAway):
            engine.reach()
        with pytest.raises(EngineFailed):
            engine.measure(scope_of(engine.schema()), [Rows()])


def test_a_file_that_was_replaced_is_not_read(tmp_path):
    for name in ("t.sqlite", "other.sqlite"):
        write_sqlite(tmp_path / name, {"x": "INTEGER"}, [[1]])
    with closing(open_sqlite(tmp_path / "t.sqlite")) as engine:
        (tmp_path / "other.sqlite").replace(tmp_path / "t.sqlite")
        with pytest.raises(FileChanged):
            engine.reach()
        with pytest.raises(FileChanged):
            engine.measure(scope_of(engine.schema()), [Rows()])
        (tmp_path / "t.sqlite").unlink()
        with pytest.raises(FileChanged):
            engine.reach()


def test_a_file_that_another_program_keeps_is_away_and_nothing_freezes(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_connection, "WAIT_SECONDS", 0.1)
    path = tmp_path / "t.sqlite"
    write_sqlite(path, {"x": "INTEGER"}, [[1]])
    with closing(open_sqlite(path)) as engine, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SourceAway, match="cannot be read now"):
            engine.reach()
        with pytest.raises(ParameterError, match="cannot be read"):
            open_sqlite(path)


def test_a_file_whose_writer_was_stopped_is_refused(tmp_path):
    """Its journal has to be rolled back first, which needs to write."""
    path, copy = tmp_path / "t.sqlite", tmp_path / "copy.sqlite"
    write_sqlite(path, {"x": "TEXT"}, [["SECRET" * 999]] * 99)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA cache_size = 1")
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE kept SET x = x || '.'")
        copy.write_bytes(path.read_bytes())
        journal = (tmp_path / "t.sqlite-journal").read_bytes()
        (tmp_path / "copy.sqlite-journal").write_bytes(journal)
        other.execute("ROLLBACK")
    with pytest.raises(ParameterError, match="cannot be read") as refused:
        open_sqlite(copy)
    assert "SECRET" not in str(refused.value)
    assert refused.value.__context__ is None


def test_a_damaged_file_fails_without_a_word(tmp_path):
    path = tmp_path / "t.sqlite"
    write_sqlite(path, {"x": "TEXT"}, [["SECRET" * 50]] * 500)
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"\x7f" * (len(whole) - 8192))
    with closing(open_sqlite(path)) as engine, pytest.raises(EngineFailed) as failed:
        engine.measure(scope_of(engine.schema()), [Rows()])
    assert failed.value.__context__ is None


def test_a_statement_ends_at_the_time_limit(tmp_path):
    path = tmp_path / "t.sqlite"
    write_sqlite(path, {"x": "INTEGER"}, [[n] for n in range(20_000)])
    with closing(open_sqlite(path, timeout_seconds=1)) as engine:
        engine._file._timeout_seconds = 0.0
        with pytest.raises(EngineFailed):
            engine.measure(scope_of(engine.schema()), [GridSum(col("x"), 0, 9, 0, 2)])


def test_questions_of_two_threads_do_not_meet(tmp_path):
    path, done = tmp_path / "t.sqlite", Event()
    write_sqlite(path, {"x": "INTEGER"}, [[n % 7] for n in range(2_000)])
    found = []
    with closing(open_sqlite(path)) as engine:
        schema = engine.schema()
        group = GroupColumn("x", col("x"), Type.INTEGER)

        def ask(key):
            scope = RowScope(schema, None, (), (), (group,), ((key,),), ALL_ROWS)
            found.extend(engine.measure(scope, [Rows()])[0])

        threads = [Thread(target=ask, args=(key,)) for key in range(7)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        done.set()
    assert sorted(found) == [285] * 2 + [286] * 5


def test_a_table_has_one_budget_however_its_name_is_written(tmp_path):
    path = tmp_path / "clinic.sqlite"
    write_sqlite(path, {"who": "TEXT", "x": "REAL"}, [["a", 1.0]] * 20, table="Visits")
    write_sqlite(path, {"who": "TEXT"}, [["a"]], table="other")
    for number, table in enumerate(("Visits", "visits", "VISITS")):
        given = {"budget": la.Budget(1), "ledger": tmp_path / "clinic.letalone.db"}
        with la.open(path, unit="who", table=table, **given) as session:
            assert session.name == "visits"
            assert session.spent == la.Budget(number / 4)
            asked = session.where(la.col("x") > -number)
            asked.agg(n=la.count(), m=la.count()).release(0.25)
