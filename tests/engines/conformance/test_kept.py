"""Rows that a connection keeps are the table's, or they are not used."""

from contextlib import closing
from time import monotonic, sleep

import psycopg
import pytest

import letalone as la
from engines import on_postgres
from engines.test_engine_laws import COST, GROUPINGS, HISTOGRAMS, PRODUCTS, SCHEMA, VALUES, crowd
from letalone.engines.core.measures import DistinctUnits, Rows, RowScope, RowsWith
from letalone.engines.postgres.postgres_engine import open_postgres
from letalone.engines.postgres.postgres_kept import SeenState
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding
from postgres import shared

MEASURES = [Rows(), DistinctUnits(), RowsWith(col("cost")), COST]
SCOPE = RowScope(SCHEMA, None, (), (), *GROUPINGS["ward"], Bounding(max_rows=2))


@pytest.fixture(scope="module", autouse=True)
def quiet():
    """A server that writes nothing by itself meanwhile."""
    on_postgres.run("ALTER SYSTEM SET autovacuum = off")
    on_postgres.run("SELECT pg_reload_conf()")
    yield
    on_postgres.run("ALTER SYSTEM RESET autovacuum")
    on_postgres.run("SELECT pg_reload_conf()")


@pytest.fixture
def engine():
    with closing(on_postgres.opened(crowd(150), SCHEMA)) as found:
        yield found


def ask(engine, scope=SCOPE, measures=MEASURES):
    """As a session does; the integers, and whether they are of kept rows."""
    read, statement = [], engine._statement
    engine._statement = lambda *given: read.append(statement(*given)[0]) or statement(*given)
    engine.expect(scope, measures)
    found = engine.measure(scope, measures)
    engine._statement = statement
    kept = {"pg_temp" in text for text in read}
    assert len(kept) == 1, "one question reads one of both"
    return found, kept.pop()


def kept(engine):
    """Asks until rows are kept."""
    first, *later = (ask(engine) for _ in range(3))
    assert [one for _, one in later] == [True, True]
    assert first[0] == later[0][0]
    return first[0]


def test_the_second_question_about_all_rows_keeps_them_and_has_the_same_integers(engine):
    found = [ask(engine) for _ in range(4)]
    assert [one for _, one in found] == [False, True, True, True]
    assert all(integers == found[0][0] for integers, _ in found)


@pytest.mark.long  # others of this file stay
def test_every_question_about_all_rows_has_the_integers_of_the_table(engine):
    everything = [*MEASURES, HISTOGRAMS[1], PRODUCTS[2], VALUES[1]]
    scopes = [
        RowScope(SCHEMA, None, (), (), *GROUPINGS[grouping], Bounding(max_rows=most))
        for grouping in ("none", "ward", "year")
        for most in (1, 3)
    ]
    address = on_postgres.address(engine._relation.name)
    for scope in scopes:
        with closing(open_postgres(address, schema=SCHEMA)) as other:
            plain = other.measure(scope, everything)
        found = [ask(engine, scope, everything) for _ in range(3)]
        assert [integers for integers, _ in found] == [plain] * 3
        assert found[-1][1]


@pytest.mark.parametrize(
    "scope",
    [
        RowScope(SCHEMA, col("age") > 9, (), (), *GROUPINGS["ward"], Bounding(max_rows=2)),
        RowScope(SCHEMA, None, (), (), *GROUPINGS["ward"], Bounding(max_groups=1, max_rows=2)),
        RowScope(SCHEMA.protecting(None), None, (), (), *GROUPINGS["ward"], Bounding()),
    ],
    ids=["filtered", "groups", "row"],
)
def test_other_questions_read_the_table_and_keep_nothing(engine, scope):
    kept(engine)
    for _ in range(3):
        assert not ask(engine, scope, [Rows(), COST])[1]


def test_columns_that_are_not_kept_are_read_of_the_table_and_kept_when_they_are_asked_again(engine):
    kept(engine)
    other = [Rows(), RowsWith(col("urgent"))]
    assert [ask(engine, SCOPE, other)[1] for _ in range(2)] == [False, True]
    assert ask(engine)[1], "the first ones are kept as well"


CHANGES = {
    "a row more": "INSERT INTO {0} (patient, ward, cost) VALUES ('p1', 'A', 3)",
    "rows of a person": "DELETE FROM {0} WHERE patient = 'p1'",
    "a value": "UPDATE {0} SET cost = cost + 1",
    "all rows": "TRUNCATE {0}",
    "an index": "CREATE INDEX ON {0} (ward)",
    "another table": "CREATE TABLE IF NOT EXISTS elsewhere (x int)",
}


@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change_the_table_is_read(engine, change):
    kept(engine)
    on_postgres.run("DROP TABLE IF EXISTS elsewhere")
    ask(engine)
    found = kept(engine)
    on_postgres.run(CHANGES[change].format(f'"{engine._relation.name}"'))
    after, is_kept = ask(engine)
    assert not is_kept
    assert (after == found) is (change in ("an index", "another table"))
    assert kept(engine) == after


def test_what_was_begun_before_rows_were_kept_and_ends_after_it_is_a_change(engine):
    name = engine._relation.name
    ask(engine)
    with psycopg.connect(shared()) as other:
        other.execute(f"""INSERT INTO "{name}" (patient, ward) VALUES ('new', 'A')""")
        other.execute("SAVEPOINT one")
        other.execute(f"""INSERT INTO "{name}" (patient, ward) VALUES ('newer', 'A')""")
        assert not ask(engine)[1], "its number came since the first question"
        before, is_kept = ask(engine)
        assert is_kept, "it runs as it ran"
        other.execute(f"""INSERT INTO "{name}" (patient, ward) VALUES ('newest', 'B ')""")
        assert ask(engine) == (before, True)
        other.commit()
    after, is_kept = ask(engine)
    assert not is_kept
    assert after[0] != before[0]


def test_what_comes_between_the_keeping_and_the_question_is_seen(engine):
    ask(engine)
    keep = engine._kept.keep

    def late(*given):
        keep(*given)
        on_postgres.run(f'DELETE FROM "{engine._relation.name}"')

    engine._kept.keep = late
    found, is_kept = ask(engine)
    assert not is_kept
    assert found[0] == [0] * 7


def test_rows_are_not_kept_where_others_write_between_the_questions(engine):
    for _ in range(4):
        assert not ask(engine)[1]
        on_postgres.run("CREATE TABLE IF NOT EXISTS busy (x int); INSERT INTO busy VALUES (1)")


def test_a_connection_that_was_lost_has_lost_what_it_kept(engine):
    found = kept(engine)
    engine._server._cursor.connection.close()
    assert ask(engine) == (found, False)
    assert kept(engine) == found


def test_a_table_that_is_gone_from_the_connection_is_not_read(engine):
    """A pooler may give the connection to somebody else in between, or empty it."""
    found = kept(engine)
    engine._server.do("DISCARD TEMP")
    assert ask(engine) == (found, False)


@pytest.mark.parametrize(
    "set_up",
    [
        "REVOKE TEMP ON DATABASE postgres FROM PUBLIC",
        "ALTER ROLE keeper SET default_transaction_read_only = on",
        "ALTER TABLE {0} ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON {0} USING (true)",
    ],
    ids=["no temporary tables", "read only", "a policy"],
)
def test_a_role_that_may_not_keeps_nothing_and_is_answered(engine, set_up):
    name = engine._relation.name
    on_postgres.run(f'CREATE ROLE keeper LOGIN; GRANT SELECT ON "{name}" TO keeper')
    on_postgres.run(set_up.format(f'"{name}"'))
    address = on_postgres.address(name).replace("postgres:@", "keeper@")
    try:
        with closing(open_postgres(address, schema=SCHEMA)) as other:
            assert [ask(other)[1] for _ in range(4)] == [False] * 4
    finally:
        on_postgres.run("GRANT TEMP ON DATABASE postgres TO PUBLIC")
        on_postgres.run("DROP OWNED BY keeper; DROP ROLE keeper")


def test_a_table_that_is_large_is_not_kept(engine, monkeypatch):
    monkeypatch.setattr("letalone.engines.postgres.postgres_kept.MAX_BYTES", 1000)
    assert [ask(engine)[1] for _ in range(4)] == [False] * 4


def test_a_keeping_that_fails_is_not_tried_again_and_freezes_nothing(engine):
    ask(engine)
    made, tried = engine._kept._make, []

    def failing(server, *given):
        tried.append(1)
        server.do("SELECT 1 / 0")
        return made(server, *given)

    engine._kept._make = failing
    assert [ask(engine)[1] for _ in range(3)] == [False] * 3
    assert tried == [1]


def test_states_are_compared_by_what_they_show():
    then = SeenState.read("10:20:10,14")
    assert then == SeenState(20, frozenset({10, 14}))
    same = ("10:20:10,14", "10:21:10,14,20", "10:22:10,14,20,21")
    more = ("14:20:14", "20:20:", "10:21:10,14", "10:22:10,14,20", "10:5000:10,14")
    assert all(then.shows_no_more(SeenState.read(one)) for one in same)
    assert not any(then.shows_no_more(SeenState.read(one)) for one in more)
    assert then.shows_no_more(SeenState.read("10:21:10,14"), 20), "what we wrote ourselves"
    assert not then.shows_no_more(SeenState.read("10:22:10,14"), 20)


def test_the_answers_of_a_session_are_near_the_truth_and_leave_nothing_behind(tmp_path):
    rows = [[f"p{n % 40}", "ABC"[n % 3], float(n % 90)] for n in range(400)]
    kinds = {"patient": "text", "ward": "text", "cost": "float8"}
    address = on_postgres.address(on_postgres.stored(kinds, rows))
    tables = "SELECT count(*) FROM pg_class WHERE relname LIKE 'letalone_kept%'"
    before = on_postgres.run(tables)
    with la.open(address, unit="patient", budget=1000) as session:
        asked = session.agg(n=la.count()).bound(max_rows=10)
        for number in range(4):
            found = asked.release(epsilon=100 + number).to_pandas()
            assert found["n"][0] == pytest.approx(400, abs=3)
        assert on_postgres.run(tables) != before
    until = monotonic() + 10  # the server notices that nobody is there any more
    while on_postgres.run(tables) != before and monotonic() < until:
        sleep(0.05)
    assert on_postgres.run(tables) == before
