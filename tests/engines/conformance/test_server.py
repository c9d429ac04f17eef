"""A server is told nothing and left as it was: addresses, metadata, snapshots, failures, names."""

import traceback
from contextlib import closing
from dataclasses import replace
from json import dumps

import pandas as pd
import psycopg
import pytest

import letalone as la
from engines import on_postgres
from engines.test_engine_laws import COST, SCHEMA, WARD, WHOLE, crowd, row, scope_of
from letalone.engines.core.failure import EngineFailed
from letalone.engines.core.measures import DistinctUnits, GridSum, Rows, RowScope, RowsWith
from letalone.engines.old_copies import MARK, RANK
from letalone.engines.postgres.postgres_engine import open_postgres
from letalone.errors import DataSetFrozen, ParameterError, ServiceUnavailable, UnsupportedQuery
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.sources.files import WhichTable
from letalone.sources.postgres_address import read_address, with_table
from postgres import shared

SECRET = "S3CR3T"


@pytest.fixture
def engine():
    with closing(on_postgres.opened(crowd(50), SCHEMA)) as found:
        yield found


@pytest.mark.parametrize(
    ("written", "table", "wanted"),
    [
        ("postgresql://h/d/t", None, ("postgresql://h/d", ("public", "t"))),
        ("postgres://u@h:5433/d/s.t?sslmode=require", None, ("?sslmode=require", ("s", "t"))),
        ("postgresql:///d/a%2Eb", None, ("postgresql:///d", ("public", "a.b"))),
        ("postgresql:///d/s%2Ft.a%20b", None, ("postgresql:///d", ("s/t", "a b"))),
        ("postgresql:///d", "s.t", ("postgresql:///d", ("s", "t"))),
        ("postgresql:///d", None, ("postgresql:///d", None)),
        (with_table("postgresql:///d/x?port=1", "s.t?/'.u"), None, ("/d?port=1", ("s", "t?/'.u"))),
        (with_table("postgresql://u@h/d", "t"), None, ("postgresql://u@h/d", ("public", "t"))),
    ],
)
def test_an_address_names_server_database_schema_and_table(written, table, wanted):
    found = read_address(written, table)
    assert wanted[0] in found.server
    assert found.table == wanted[1]


@pytest.mark.parametrize(
    ("written", "table", "words"),
    [
        (f"postgresql://u:{SECRET}@h/d/t", None, "PGPASSWORD"),
        (f"postgresql://h/d/t?password={SECRET}", None, "PGPASSWORD"),
        ("postgresql://h/d/s/t", None, "%2F"),
        ("postgresql://h", None, "name a database"),
        ("postgresql://h/d/t", "t", "Leave one out"),
    ],
)
def test_a_wrong_address_is_refused_without_its_password(written, table, words):
    with pytest.raises(ParameterError, match=words) as caught:
        read_address(written, table)
    assert SECRET not in str(caught.value)


def test_a_server_that_is_not_there_is_said_without_a_cause():
    with pytest.raises(ServiceUnavailable, match="cannot be reached") as caught:
        open_postgres("postgresql://nobody@/nothing/t?host=/nowhere")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_tables_and_views_are_listed_where_none_is_named():
    name = on_postgres.stored({"x": "int"}, [[1]])
    on_postgres.run(f'CREATE OR REPLACE VIEW seen AS SELECT * FROM "{name}"')
    with pytest.raises(WhichTable, match="no table was named") as caught:
        open_postgres(shared())
    assert {name, "seen"} <= set(caught.value.tables)
    with pytest.raises(WhichTable):
        open_postgres(on_postgres.address("no such table"))


def test_a_copy_with_ranks_of_an_earlier_version_is_no_data_set_of_its_own():
    """It would have a budget beside that of its rows."""
    on_postgres.run(f"CREATE TABLE ranked (p text, {RANK} int)")
    on_postgres.run(f"COMMENT ON TABLE ranked IS '{MARK}{dumps({'of': 'public.visits'})}'")
    with pytest.raises(ParameterError, match=r"copy of 'public\.visits' with ranks; open that one"):
        open_postgres(on_postgres.address("ranked"))
    with pytest.raises(WhichTable) as caught:
        open_postgres(shared())
    assert "ranked" not in caught.value.tables


def test_labels_of_an_enumeration_and_columns_that_are_computed_are_not_looked_at():
    """A computed column could divide by zero when it is read."""
    on_postgres.run(f"CREATE TYPE label AS ENUM ('a', '{SECRET}')")
    on_postgres.run(
        "CREATE TABLE computed (x int, l label, y int GENERATED ALWAYS AS (1 / x) VIRTUAL)"
    )
    on_postgres.run("INSERT INTO computed (x, l) VALUES (0, 'a')")
    with closing(open_postgres(on_postgres.address("computed"))) as engine:
        assert SECRET not in repr(engine.schema()) + repr(engine._relation)
        kinds = {column.name: column.type for column in engine.schema().columns}
        assert kinds == {"x": Type.INTEGER, "l": Type.TEXT, "y": Type.OTHER}
        scope = RowScope(engine.schema(), None, (), (), (), None, Bounding())
        assert engine.measure(scope, [RowsWith(col("l"))]) == [[1]]


def test_a_role_that_may_only_read_suffices_and_one_that_may_read_columns_is_refused_at_once():
    """It is locked, as reading locks it, before it is looked at: a right to the whole table."""
    name = on_postgres.stored({"p": "text", "x": "float8"}, [["a", 1.0]])
    on_postgres.run("CREATE ROLE reader LOGIN")
    on_postgres.run(f'GRANT SELECT (p, x) ON "{name}" TO reader')
    address = on_postgres.address(name).replace("postgres:@", "reader@")
    with pytest.raises(WhichTable, match="as a whole: none"):
        open_postgres(address)
    on_postgres.run(f'GRANT SELECT ON "{name}" TO reader')
    with closing(open_postgres(address)) as engine:
        schema = engine.schema().protecting("p")
        assert [column.name for column in schema.columns] == ["p", "x"]
        scope = RowScope(schema, None, (), (), (), None, Bounding(max_rows=1))
        assert engine.measure(scope, [Rows(), DistinctUnits()]) == [[WHOLE], [WHOLE]]


def test_a_table_in_a_schema_that_the_role_may_not_use_is_not_opened():
    on_postgres.run(
        "CREATE ROLE outsider LOGIN; CREATE SCHEMA closed; CREATE TABLE closed.t (x int)"
    )
    on_postgres.run("GRANT SELECT ON closed.t TO outsider")
    address = shared().replace("postgres:@", "outsider@")
    with pytest.raises(WhichTable, match="is none"):
        open_postgres(address, table="closed.t")
    on_postgres.run("GRANT USAGE ON SCHEMA closed TO outsider")
    open_postgres(address, table="closed.t").close()


def test_a_database_whose_text_may_be_unreadable_is_refused():
    """A cell that is no UTF-8 would stop the answer, and only where it is there."""
    on_postgres.run(
        "CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0 STRATEGY wal_log"
    )
    address = shared().replace("/postgres?", "/bytes?")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (x text)")
    with pytest.raises(ParameterError, match="SQL_ASCII"):
        open_postgres(address, table="t")


def test_the_shorter_time_limit_holds_of_the_role_and_of_whoever_opens_the_table():
    on_postgres.run("CREATE ROLE hurried LOGIN; ALTER ROLE hurried SET statement_timeout = '90s'")
    name = on_postgres.stored({"x": "int"}, [[1]])
    on_postgres.run(f'GRANT SELECT ON "{name}" TO hurried')
    address = on_postgres.address(name)
    hurried = address.replace("postgres:@", "hurried@")
    given = [(address, None), (address, 16), (hurried, None), (hurried, 120), (hurried, 1.5)]
    found = []
    for where, seconds in given:
        with (
            closing(open_postgres(where, timeout_seconds=seconds)) as engine,
            engine._server.reading(),
        ):
            found += engine._server.run("SHOW statement_timeout")
    assert [one for (one,) in found] == ["1h", "16s", "90s", "90s", "1500ms"]


@pytest.mark.long  # others of this file stay
def test_a_statement_that_reaches_the_limit_freezes_the_data_set_and_files_have_none():
    name = on_postgres.stored({"x": "float8"}, [[1.0]])
    with la.open(on_postgres.address(name), unit=la.ROW, budget=1.0, timeout_seconds=1) as session:
        engine = session._table.engine if hasattr(session, "_table") else session.table.engine
        engine._statement = lambda *_: ("SELECT pg_sleep(5)", [])
        with pytest.raises(DataSetFrozen, match="could not finish"):
            session.agg(n=la.count()).release(epsilon=0.5)
    with pytest.raises(ParameterError, match="only a server"):
        la.open(pd.DataFrame({"x": [1]}), unit=la.ROW, budget=1, timeout_seconds=5)


def test_a_right_that_is_taken_away_is_told_and_freezes_nothing():
    """Rights are looked at before any row is: this depends on no data."""
    name = on_postgres.stored({"p": "text", "x": "float8"}, [["a", 1.0]])
    on_postgres.run(f'CREATE ROLE leaving LOGIN; GRANT SELECT ON "{name}" TO leaving')
    address = on_postgres.address(name).replace("postgres:@", "leaving@")
    with la.open(address, unit="p", budget=1.0) as session:
        on_postgres.run(f'REVOKE SELECT ON "{name}" FROM leaving')
        with pytest.raises(ParameterError, match="any more") as caught:
            session.agg(n=la.count()).bound(max_rows=1).release(epsilon=0.25)
        assert caught.value.__context__ is None
        assert session.spent.epsilon == 0.25
        on_postgres.run(f'GRANT SELECT ON "{name}" TO leaving')
        session.agg(n=la.count()).bound(max_rows=1).release(epsilon=0.5)


def test_nothing_can_be_written(engine):
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), engine._server.reading():
        engine._server.do("CREATE TABLE written (x int)")
    assert engine.measure(scope_of(Bounding()), [Rows()])[0][0] > 0, "the next one has to work"


def test_the_table_is_locked_before_the_state_is_taken(engine):
    """A row that comes right after the lock is seen: a change of the table can come before the lock
    alone, and then it is seen as well."""
    name, server = engine._relation.name, engine._server
    modes = "SELECT mode FROM pg_locks WHERE granted AND relation = %s::regclass"
    count, held, do = f'SELECT count(*) FROM public."{name}"', [], server.do
    (before,) = on_postgres.run(count)[0]

    def late(text, *more):
        do(text, *more)
        if text.startswith("LOCK"):
            held.extend(on_postgres.run(modes, f'public."{name}"'))
            on_postgres.run(f'INSERT INTO "{name}" DEFAULT VALUES')

    server.do = late
    with server.reading(engine._locking):
        assert held == [("AccessShareLock",)]
        assert server.run(count) == [(before + 1,)]


def test_all_that_is_measured_for_an_answer_is_of_one_state(engine):
    name = engine._relation.name
    scope = replace(scope_of(Bounding()), schema=SCHEMA.protecting(None))
    with engine.borrowing({}):
        before = engine.measure(scope, [Rows()])
        on_postgres.run(f'DELETE FROM "{name}"')
        assert engine.measure(scope, [Rows()]) == before
    assert engine.measure(scope, [Rows()]) == [[0]]


def test_a_failure_tells_nothing_and_the_next_question_gets_a_new_connection(engine):
    scope = scope_of(Bounding(max_rows=1))
    statement = engine._statement
    engine._statement = lambda *_: (f"SELECT CAST('{SECRET}' AS integer)", [])
    with pytest.raises(EngineFailed) as caught:
        engine.measure(scope, [Rows()])
    said = "".join(traceback.TracebackException.from_exception(caught.value).format())
    assert "invalid input" not in said + repr(caught.value.__context__)
    assert caught.value.__context__ is None
    engine._statement = statement
    assert engine.measure(scope, [Rows()])[0][0] > 0


def terminate():
    on_postgres.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'letalone'"
    )


def test_a_connection_lost_between_questions_is_opened_anew_and_one_lost_in_a_question_is_not(
    engine,
):
    scope = scope_of(Bounding(max_rows=1))
    before = engine.measure(scope, [Rows()])
    terminate()
    assert engine.measure(scope, [Rows()]) == before
    with engine.borrowing({}):
        terminate()
        with pytest.raises(EngineFailed):
            engine.measure(scope, [Rows()])
    assert engine.measure(scope, [Rows()]) == before


def test_a_lost_connection_freezes_the_data_set_and_the_charge_stays():
    name = on_postgres.stored({"x": "float8"}, [[1.0]] * 5)
    with la.open(on_postgres.address(name), unit=la.ROW, budget=1.0) as session:
        engine = session._table.engine if hasattr(session, "_table") else session.table.engine
        ended = "SELECT CAST(pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid()) AS int)"
        engine._statement = lambda *_: (ended, [])
        with pytest.raises(DataSetFrozen, match="could not finish"):
            session.agg(n=la.count()).release(epsilon=0.5)
        assert session.spent.epsilon == 0.5


def test_one_unit_more_moves_each_sum_by_no_more_than_its_rows_may():
    """The neighbour test."""
    rows = crowd(200)
    scope = scope_of(Bounding(max_rows=3), groups=(WARD,), keys=(("A",), ("a",), (None,)))
    with closing(on_postgres.opened(rows, SCHEMA)) as engine:
        everybody = engine.measure(scope, [Rows(), DistinctUnits(), COST])
        name, moved = engine._relation.name, 0
        for patient in ("p1", "p2", "p3"):
            on_postgres.run(f"DELETE FROM \"{name}\" WHERE patient = '{patient}'")
            fewer = engine.measure(scope, [Rows(), DistinctUnits(), COST])
            change = [
                sum(a - b for a, b in zip(*pair, strict=True))
                for pair in zip(everybody, fewer, strict=True)
            ]
            assert 0 <= change[0] <= 3 * WHOLE
            assert 0 <= change[2] <= 3 * WHOLE * (COST.high - COST.low)
            assert all(a >= b for a, b in zip(everybody[0], fewer[0], strict=True))
            everybody, moved = fewer, moved + change[0]
        assert moved > 0, "no row of theirs was counted, so nothing was tested"


@pytest.mark.parametrize("kind", ["partitioned", "inherited", "materialized"])
def test_rows_of_a_unit_are_counted_across_all_parts(kind):
    name = f"{kind} rows"
    made = {
        "partitioned": [
            f'CREATE TABLE "{name}" (p text, n int) PARTITION BY LIST (n)',
            *(
                f'CREATE TABLE "{name}{n}" PARTITION OF "{name}" FOR VALUES IN ({n})'
                for n in (0, 1)
            ),
            f"INSERT INTO \"{name}\" SELECT 'u' || i % 3, i % 2 FROM generate_series(0, 29) i",
        ],
        "inherited": [
            f'CREATE TABLE "{name}" (p text, n int)',
            f'CREATE TABLE "{name}1" () INHERITS ("{name}")',
            *(
                f"INSERT INTO \"{one}\" SELECT 'u' || i % 3, {n} FROM generate_series(0, 14) i"
                for n, one in enumerate((name, f"{name}1"))
            ),
        ],
        "materialized": [
            f'CREATE TABLE "{name} beneath" AS SELECT i FROM generate_series(0, 29) i',
            f'CREATE MATERIALIZED VIEW "{name}" AS'
            f" SELECT 'u' || i % 3 AS p, i % 2 AS n FROM \"{name} beneath\"",
        ],
    }
    for one in made[kind]:
        on_postgres.run(one)
    with closing(open_postgres(on_postgres.address(name))) as engine:
        schema = engine.schema().protecting("p")
        for most in (1, 4, 10, 11):
            scope = RowScope(schema, None, (), (), (), None, Bounding(max_rows=most))
            weighed = 30 * min(WHOLE, most * WHOLE // 10)
            assert engine.measure(scope, [Rows(), DistinctUnits()]) == [[weighed], [3 * WHOLE]]


LONG = "ä" * 31  # 62 bytes


@pytest.mark.parametrize("name", ['q"uote', "it's", "%s $1 {}", "ctid ", "#1", "rows", LONG, "\\"])
def test_odd_names_are_names(name):
    table = on_postgres.stored({name: "text", "x": "float8"}, [["a", 1.0], ["b", 2.0]])
    schema = Schema("t", (Column(name, Type.TEXT), Column("x", Type.NUMBER)), unit=name)
    group = GroupColumn("g", col(name), Type.TEXT)
    derived = (("d" * 70 + "1", col("x") * 2), ("d" * 70 + "2", col("x") * 3))
    sums = [GridSum(col(one), 0, 100, 0) for one, _ in derived]
    scope = RowScope(schema, None, derived, (), (group,), (("a",), ("%",)), Bounding(max_rows=1))
    with closing(open_postgres(on_postgres.address(table), schema=schema)) as engine:
        found = engine.measure(scope, [Rows(), *sums])
        assert found == [[WHOLE, 0], [2 * WHOLE, 0], [3 * WHOLE, 0]]


def test_text_that_postgresql_cannot_hold_is_refused_before_a_charge_and_keys_of_it_are_empty(
    engine,
):
    scope = scope_of(Bounding(), groups=(WARD,), keys=(("a\0",), ("A",)))
    found = engine.measure(scope, [Rows()])[0]
    assert found[0] == 0 < found[1]
    with pytest.raises(UnsupportedQuery, match="NUL"):
        engine.sql(replace(scope, where=col("ward") == "a\0"), [Rows()])


def test_private_tables_of_two_places_are_not_joined_and_nothing_is_charged():
    import pandas as pd

    name = on_postgres.stored({"p": "text"}, [["a"]])
    frame = pd.DataFrame({"p": ["a"], "x": [1.0]})
    with (
        la.open(on_postgres.address(name), unit="p", budget=1.0) as server,
        la.open(frame, unit="p", budget=1.0, name="frame") as other,
    ):
        with pytest.raises(ParameterError, match="joined where they are"):
            server.join(other, on="p")
        assert server.spent.epsilon == other.spent.epsilon == 0


def test_training_rows_are_one_of_each_unit():
    rows = [row(patient=f"p{n % 7}", cost=float(n), age=n) for n in range(40)]
    with closing(on_postgres.opened(rows, SCHEMA)) as engine:
        found = engine.training_rows(SCHEMA, ["cost", "ward"], target=None, where=None)
        assert len(found["cost"]) == 7
        assert {int(cost) % 7 for cost in found["cost"]} == set(range(7))
        assert list(found["ward"]) == [None] * 7


def test_a_table_with_a_foreign_part_is_refused(engine):
    """Its rows may change within an answer; without that part it is opened."""
    for one in (
        "CREATE FOREIGN DATA WRAPPER nowhere; CREATE SERVER far FOREIGN DATA WRAPPER nowhere",
        "CREATE TABLE whole (u int, x float8) PARTITION BY RANGE (x)",
        "CREATE TABLE half PARTITION OF whole FOR VALUES FROM (0) TO (9) PARTITION BY RANGE (x)",
    ):
        on_postgres.run(one)
    open_postgres(on_postgres.address("whole")).close()
    on_postgres.run(
        "CREATE FOREIGN TABLE part PARTITION OF half FOR VALUES FROM (0) TO (9) SERVER far"
    )
    with pytest.raises(ParameterError, match="has a part that is a foreign table"):
        open_postgres(on_postgres.address("whole"))
    on_postgres.run("CREATE FOREIGN TABLE alone (u int) SERVER far")
    with pytest.raises(ParameterError, match="is a foreign table"):
        open_postgres(on_postgres.address("alone"))


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE \"{0}\" ALTER COLUMN u TYPE text USING 'a'",
        'ALTER TABLE "{0}" RENAME TO "old {0}"; CREATE VIEW "{0}" AS SELECT u, x/1 AS x'
        ' FROM "old {0}"',
    ],
)
def test_a_table_that_is_no_longer_what_was_opened_is_not_read(change):
    """One more column does no harm; units of another type or a view that computes do."""
    name = on_postgres.stored({"u": "int", "x": "float8"}, [[1, 1.0], [2, 1.0]])
    with closing(open_postgres(on_postgres.address(name))) as engine:
        scope = RowScope(replace(engine.schema(), unit="u"), None, (), (), (), None, Bounding())
        on_postgres.run(f'ALTER TABLE "{name}" ADD COLUMN more int')
        assert engine.measure(scope, [DistinctUnits()]) == [[2 * WHOLE]]
        on_postgres.run(change.format(name))
        with pytest.raises(EngineFailed):
            engine.measure(scope, [DistinctUnits()])


def test_an_enumeration_that_a_function_of_somebody_converts_is_not_asked():
    """It could fail on a row; an enumeration without one is text."""
    on_postgres.run("CREATE TYPE temper AS ENUM ('ok', 'bad')")
    name = on_postgres.stored({"m": "temper"}, [["ok"]])
    kinds = []
    for statement in (
        "CREATE FUNCTION told(temper) RETURNS text LANGUAGE sql IMMUTABLE RETURN 'x'",
        "CREATE CAST (temper AS text) WITH FUNCTION told(temper)",
    ):
        on_postgres.run(statement)
        with closing(open_postgres(on_postgres.address(name))) as engine:
            kinds.append(engine.schema().column("m").type)
    assert kinds == [Type.TEXT, Type.OTHER]
