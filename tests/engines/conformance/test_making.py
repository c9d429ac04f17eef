"""A table of people has rows made from one person's rows each: views and row policies.

Each relation is read with one person and without; it is refused, or no other unit's rows move.
"""

from contextlib import closing

import pytest

import letalone as la
from engines import on_postgres
from letalone.curator.data_sets.external_sources import check_table
from letalone.engines.postgres.postgres_connection import Server
from letalone.engines.postgres.postgres_engine import open_postgres
from letalone.engines.postgres.postgres_views import POLICY, check_made
from letalone.engines.postgres.view_making import read_making
from letalone.errors import DataSetFrozen, ParameterError
from letalone.sources.postgres_address import read_address
from postgres import shared

VISITS = "(patient text, ward text, x float8, n int, label public.making_label)"
PEOPLE = [[f"p{i}", "ABCDEFG"[i % 7], float(i), i, "a"] for i in range(100)]
BOB = "('bob', 'A', 1e9, -5, 'b')"


@pytest.fixture(scope="module", autouse=True)
def visits():
    on_postgres.run("CREATE TYPE making_label AS ENUM ('a', 'b')")
    on_postgres.run(f"CREATE TABLE making {VISITS}")
    rows = ", ".join(f"('{p}', '{w}', {x}, {n}, '{lab}')" for p, w, x, n, lab in PEOPLE)
    on_postgres.run(f"INSERT INTO making VALUES {rows}")
    on_postgres.run("CREATE VIEW making_seen AS SELECT * FROM making")
    on_postgres.run(
        "CREATE FUNCTION making_all() RETURNS bigint IMMUTABLE LANGUAGE sql"
        " AS 'SELECT count(*) FROM public.making'"
    )
    on_postgres.run(  # a cast that a definition does not show
        "CREATE TYPE making_kind AS ENUM ('a'); CREATE FUNCTION making_cast(making_kind)"
        " RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT public.making_all()';"
        " CREATE CAST (making_kind AS bigint) WITH FUNCTION making_cast AS IMPLICIT;"
        " CREATE TABLE making_cast (patient text, kind making_kind)"
    )
    on_postgres.run('CREATE COLLATION either FROM "C"')
    on_postgres.run(  # such a collation is one of ICU, which this server may be built without
        "UPDATE pg_collation SET collisdeterministic = false WHERE collname = 'either'"
    )
    on_postgres.run('CREATE TABLE making_either (patient text COLLATE "either", x float8)')


@pytest.fixture(scope="module")
def server():
    with closing(Server(read_address(shared()))) as found:
        yield found


@pytest.fixture
def made():
    """Makes materialized views, and drops them at the end."""
    names = []

    def make(*definitions):
        new = [f"made {number}" for number in range(len(names), len(names) + len(definitions))]
        names.extend(new)
        pairs = zip(new, definitions, strict=True)
        on_postgres.run("; ".join(f'CREATE MATERIALIZED VIEW "{n}" AS {d}' for n, d in pairs))
        return new

    yield make
    on_postgres.run("; ".join(f'DROP MATERIALIZED VIEW "{one}"' for one in names))


def checked(server, name, unit="patient", *, vouched=False):
    with server.reading():
        return check_made(server, ("public", name), unit, vouched=vouched)


def others(names):
    """The rows of everybody but bob, of each."""
    rows = [on_postgres.run(f'SELECT m::text FROM "{name}" m') for name in names]
    return [sorted(row for (row,) in of if "bob" not in row.lower()) for of in rows]


BY_ROW = [
    "SELECT * FROM making",
    "SELECT patient, upper(ward) AS w, x * 2 + 1 AS y FROM making WHERE ward IN ('A', 'B')",
    "SELECT ward, patient, CASE WHEN x > 5 THEN 'a' ELSE 'b' END AS size FROM making ORDER BY x",
    "SELECT q.patient, y FROM (SELECT patient, x AS y FROM making WHERE n > 3) q WHERE y < 50",
    "WITH a AS (SELECT patient, x FROM making) SELECT patient, coalesce(x, 0) AS x FROM a",
    "SELECT patient, (ARRAY[ward, patient])[1] AS w, to_date('2024', 'YYYY') AS d,"
    " log(x + 1) AS y FROM making WHERE ward <> current_user",
]
BY_PERSON = [
    "SELECT patient, sum(x) AS s, count(*) FILTER (WHERE n > 1) AS c FROM making GROUP BY patient",
    "SELECT DISTINCT ON (patient) patient, x FROM making ORDER BY patient, n DESC",
    "SELECT DISTINCT patient, ward FROM making",
    "SELECT patient, row_number() OVER (PARTITION BY patient ORDER BY n) AS r FROM making",
    "SELECT patient, lag(x) OVER w AS r FROM making WINDOW w AS (PARTITION BY patient ORDER BY n)",
    "SELECT patient, lag(x) OVER v AS r, max(n) OVER (w ORDER BY n) AS top FROM making"
    " WINDOW w AS (PARTITION BY patient), v AS (w ORDER BY x)",
    "SELECT patient, x FROM making UNION ALL SELECT patient, n FROM making",
    "SELECT patient, s FROM (SELECT patient, sum(x) AS s FROM making GROUP BY patient) q",
    "WITH a(who, s) AS (SELECT patient, max(x) FROM making GROUP BY patient)"
    " SELECT who AS patient, s FROM a",
]
ACROSS = [
    ("a window", "SELECT patient, avg(x) OVER (PARTITION BY ward) AS y FROM making"),
    ("a window", "SELECT patient, row_number() OVER (ORDER BY x) AS y FROM making"),
    ("a window", "SELECT patient, lag(x) OVER v AS y FROM making"
                 " WINDOW w AS (PARTITION BY ward), v AS (w ORDER BY x)"),
    ("a limit", "SELECT patient, x FROM making ORDER BY x DESC LIMIT 50"),
    ("an offset", "SELECT patient, x FROM making ORDER BY x DESC OFFSET 50"),
    ("a GROUP BY", "SELECT max(patient) AS patient, ward, sum(x) AS s FROM making GROUP BY ward"),
    ("a GROUP BY", "SELECT patient, sum(x) AS s FROM making GROUP BY ROLLUP (patient)"),
    ("an aggregate", "SELECT max(patient) AS patient FROM making"),
    ("a DISTINCT", "SELECT DISTINCT ON (ward) ward, patient FROM making ORDER BY ward, x DESC"),
    ("a DISTINCT", "SELECT DISTINCT ON (ward) patient, ward FROM (SELECT patient, ward FROM making"
                   " ORDER BY x) q"),
    ("a DISTINCT", "SELECT lower(w) AS patient FROM (SELECT DISTINCT ward AS w FROM making) q"),
    ("a sample", "SELECT patient, x FROM making TABLESAMPLE SYSTEM (50)"),
    ("a join", "SELECT a.patient, b.x FROM making a JOIN making b ON a.ward = b.ward"),
    ("a join", "SELECT a.patient, b.x FROM making a, making b"),
    ("a sub-query", "SELECT patient, x FROM making WHERE x > (SELECT avg(x) FROM making)"),
    ("a sub-query", "SELECT patient FROM making WHERE ward IN (SELECT ward FROM making WHERE n<0)"),
    ("a sub-query", "SELECT patient, EXISTS (SELECT 1 FROM making WHERE n < 0) AS any FROM making"),
    ("a sub-query", "SELECT patient, lag(x) OVER w AS r FROM making WINDOW w AS (PARTITION BY"
                    " patient ORDER BY (SELECT max(n) FROM making))"),
    ("a set operation", "SELECT patient FROM making EXCEPT SELECT ward FROM making"),
    ("a recursive", "WITH RECURSIVE a AS (SELECT patient FROM making UNION SELECT patient FROM a)"
                    " SELECT patient FROM a"),
    ("a limit", "SELECT patient FROM (SELECT patient FROM making ORDER BY x LIMIT 5) q"),
    ("the places", "SELECT patient, x FROM making WHERE ctid::text LIKE '(0,_)'"),
    *(("the places", f"SELECT patient, {one}::text AS c FROM making")
      for one in ("ctid", "xmin", "xmax", "cmin", "cmax", "tableoid")),
    ("the places", "SELECT patient, c FROM (SELECT patient, m.xmin::text AS c FROM making m) q"),
    ("the places", "SELECT patient, max(x) AS x FROM making GROUP BY patient HAVING"
                   " min(ctid) < '(0,9)'"),
    ("a limit", "WITH a AS (SELECT patient FROM making ORDER BY x LIMIT 5) SELECT patient FROM a"),
]  # fmt: skip
HIDDEN = [
    ("making_all", "SELECT patient, making_all() AS n FROM making"),
    ("somebody's own", "SELECT patient FROM making_cast WHERE kind > 0"),
    ("making_seen", "SELECT patient FROM making_seen"),
    ("pg_class", "SELECT relname::text AS patient, reltuples FROM pg_class"),
    ("not known here", "SELECT patient, pg_relation_size('making') AS n FROM making"),
    ("not known here", "SELECT patient, random() AS n FROM making"),
    ("a collation", "SELECT patient, sum(x) AS s FROM making_either GROUP BY patient"),
    ("not a table", "SELECT 'p' || n AS patient FROM generate_series(1, 3) n"),
]


def test_views_by_row_and_by_person_are_taken_and_one_person_moves_no_other_row(server, made):
    names = made(*BY_ROW, *BY_PERSON)
    assert [checked(server, one) for one in names] == [()] * len(names)
    assert [checked(server, one, None) for one in names[: len(BY_ROW)]] == [()] * len(BY_ROW)
    before = others(names)
    on_postgres.run(f"INSERT INTO making VALUES {BOB}")
    on_postgres.run("; ".join(f'REFRESH MATERIALIZED VIEW "{one}"' for one in names))
    assert others(names) == before
    on_postgres.run("DELETE FROM making WHERE patient = 'bob'")


def test_views_by_person_are_refused_where_each_row_is_a_person(server, made):
    for one in made(*BY_PERSON):
        with pytest.raises(ParameterError, match="across people"):
            checked(server, one, None)


@pytest.mark.long
def test_views_across_people_are_refused_whoever_vouches(server, made):
    names = made(*(definition for _, definition in ACROSS))
    for name, (words, _) in zip(names, ACROSS, strict=True):
        for vouched in (False, True):
            with pytest.raises(ParameterError, match=f"across people: it holds {words}"):
                checked(server, name, vouched=vouched)


def test_what_cannot_be_seen_needs_the_owners_word(server, made):
    names = made(*(definition for _, definition in HIDDEN))
    for name, (words, _) in zip(names, HIDDEN, strict=True):
        with pytest.raises(ParameterError, match=f"{words}.*as they are"):
            checked(server, name)
        assert words in " ".join(checked(server, name, vouched=True))


def test_a_key_that_could_be_another_column_of_the_same_name_is_no_key():
    text = "SELECT DISTINCT ON ({}) ward AS patient, patient AS who FROM public.making"
    assert read_making(text.format("making.patient"), "m", unit="who", place=1).hidden == []
    with pytest.raises(ParameterError, match="a DISTINCT"):
        read_making(text.format("patient"), "m", unit="who", place=1)


def test_a_name_in_with_means_what_stands_before_it():
    """The first one reads a table of the server's own, and not the second one."""
    text = (
        "WITH a AS (SELECT patient FROM pg_class), pg_class AS (SELECT patient FROM public.making)"
        " SELECT patient FROM a"
    )
    assert read_making(text, "m", unit="patient", place=0).hidden == [
        "pg_class, which is not a table"
    ]


def test_a_view_across_people_is_refused_before_anything_is_written(made, tmp_path):
    """Also by a curator: with a window over wards, one person moved a thousand rows."""
    (name,) = made("SELECT patient, avg(x) OVER (PARTITION BY ward) AS cost FROM making")
    address = on_postgres.address(name)
    with pytest.raises(ParameterError, match="a window"):
        la.open(address, unit="patient", budget=1, ledger=tmp_path / "ledger.db")
    assert not (tmp_path / "ledger.db").exists()
    with closing(open_postgres(address)) as engine:
        schema = engine.schema().protecting("patient")
    with pytest.raises(ParameterError, match="a window"):
        check_table(address, schema)


def test_a_view_that_is_not_filled_is_refused_before_anything_is_written(made, tmp_path):
    (name,) = made("SELECT patient, ward FROM making WITH NO DATA")
    with pytest.raises(ParameterError, match=r"has not been filled yet.*REFRESH"):
        la.open(on_postgres.address(name), unit="patient", budget=1, ledger=tmp_path / "ledger.db")
    assert not (tmp_path / "ledger.db").exists()


def test_the_owners_word_is_on_the_answer(made):
    (name,) = made("SELECT patient, random() AS n FROM making")
    address = on_postgres.address(name)
    with la.open(address, unit="patient", budget=1, rows="as they are") as session:
        found = session.agg(n=la.count()).bound(max_rows=1).release(epsilon=0.5)
        assert "their owner states" in " ".join(str(found.explain()).split())


COMPARES = [
    "ward = 'A'", "ward IN ('A', 'B') AND n > 3", "n > 1.5 OR NOT (x > 1)", "ward IS NOT NULL",
    "patient = current_user OR n BETWEEN 1 AND 5", "label = 'a'", "true", "(n > 1) IS TRUE",
    "ward IS DISTINCT FROM 'A'", "patient = current_user::text OR n <> 4", "c = 'A' OR c > ward",
    "c IN ('A', 'B') AND posix <> 'A'", "c = current_user",
]  # fmt: skip
DOES_MORE = [
    "1 / n > 0", "n + 1 > 2", "ward LIKE 'A%'", "ward::int > 1", "making_all() > 3",
    "current_setting('app.ward') = ward", "pg_has_role(ward::name, 'MEMBER')", "virtual > 1",
    "x > 1e300::numeric", "exact > x", "making_policied IS NOT NULL", "ctid <> '(0,3)'",
    "tableoid > 3", "posix IS NULL OR c = posix", "posix IS NULL OR c IS DISTINCT FROM posix",
    "posix IS NULL OR c IN ('A', posix)", "posix = current_user", "c IS NOT NULL AND NOT c < posix",
]  # fmt: skip


@pytest.fixture
def policied():
    """A table with row security for the role `bound`; called with a policy."""
    on_postgres.run("DROP TABLE IF EXISTS making_policied; DROP ROLE IF EXISTS bound")
    on_postgres.run("CREATE ROLE bound LOGIN; CREATE TABLE making_policied AS SELECT * FROM making")
    on_postgres.run(
        "ALTER TABLE making_policied ADD exact numeric, ADD virtual int"
        " GENERATED ALWAYS AS (1 / n) VIRTUAL, ENABLE ROW LEVEL SECURITY,"
        ' ADD c text COLLATE "C", ADD posix text COLLATE "POSIX"'
    )
    on_postgres.run("GRANT SELECT ON making_policied, making TO bound")

    def change(policy):
        on_postgres.run(
            "DROP POLICY IF EXISTS one ON making_policied;"
            f" CREATE POLICY one ON making_policied USING ({policy})"
        )

    yield change
    on_postgres.run("DROP TABLE making_policied; DROP OWNED BY bound; DROP ROLE bound")


@pytest.fixture
def bound():
    with closing(Server(read_address(bound_address()))) as found:
        yield found


def bound_address():
    return on_postgres.address("making_policied").replace("postgres:@", "bound@")


def test_a_policy_that_compares_is_taken_and_said_on_the_answer(policied, bound, server):
    for one in COMPARES:
        policied(one)
        assert checked(bound, "making_policied") == (POLICY,)
    assert checked(server, "making_policied") == (), "the owner is not bound by it"
    with la.open(bound_address(), unit="patient", budget=1) as session:
        found = session.agg(n=la.count()).bound(max_rows=1).release(epsilon=0.5)
        assert POLICY in str(found.explain())


def test_a_policy_that_looks_at_other_rows_or_can_fail_is_refused(policied, bound):
    policied("x > (SELECT avg(x) FROM making)")
    with pytest.raises(ParameterError, match="across people: it holds a row policy"):
        checked(bound, "making_policied")
    for one in DOES_MORE:
        policied(one)
        with pytest.raises(ParameterError, match="does more than compare"):
            checked(bound, "making_policied")


def test_a_policy_for_other_roles_or_for_writing_is_not_looked_at(policied, bound):
    policied("true")
    on_postgres.run("CREATE POLICY two ON making_policied FOR UPDATE USING (1 / n > 0)")
    on_postgres.run("CREATE POLICY three ON making_policied TO postgres USING (1 / n > 0)")
    assert checked(bound, "making_policied") == (POLICY,)


def test_a_policy_that_comes_after_the_opening_freezes_the_data_set(policied):
    policied("true")
    with la.open(bound_address(), unit="patient", budget=1) as session:
        policied("x > (SELECT avg(x) FROM making)")
        with pytest.raises(DataSetFrozen):
            session.agg(n=la.count()).bound(max_rows=1).release(epsilon=0.5)


CHOOSES = [
    "SELECT * FROM making",
    "SELECT patient, ward AS w, x FROM making WHERE ward IN ('A', 'B') AND n > 3",
    "SELECT patient, CASE WHEN x > 5 THEN 'big' ELSE ward END AS size FROM ONLY making",
    "SELECT patient, coalesce(n, 0) AS n, nullif(ward, 'A') AS w, n::bigint AS b FROM making",
    "SELECT patient, x IS NULL AS none, n > 2 AS some FROM making WHERE NOT ward = 'B'",
    "SELECT patient, ward = current_user AS mine FROM making WHERE ward <> current_user",
]
COMPUTES = [
    "SELECT patient, 1 / n AS y FROM making",
    "SELECT patient, x FROM making WHERE 1 / n > 0",
    "SELECT patient, upper(ward) AS w FROM making",
    "SELECT patient, n::text AS t FROM making",
    "SELECT patient, x FROM making ORDER BY x",
    "SELECT q.patient, y FROM (SELECT patient, x AS y FROM making WHERE n > 3) q WHERE y < 50",
    "WITH a AS (SELECT patient, x FROM making) SELECT patient, x FROM a",
    "SELECT patient, x FROM making UNION ALL SELECT patient, n FROM making",
    "SELECT patient, virtual FROM making_virtual",
    "SELECT patient FROM making_virtual WHERE virtual > 1",
    "SELECT patient FROM making_virtual WHERE c = posix",
    "SELECT patient, CASE c WHEN posix THEN 1 END AS y FROM making_virtual",
    "SELECT patient, making_virtual AS whole FROM making_virtual",
    *(definition for _, definition in HIDDEN),
    *(one for one in BY_PERSON if "UNION" not in one),
]


@pytest.fixture
def computed():
    """Makes a view that is not stored; called with its definition."""
    on_postgres.run(
        "DROP VIEW IF EXISTS making_view; DROP TABLE IF EXISTS making_virtual;"
        " CREATE TABLE making_virtual (patient text, n int, virtual int GENERATED ALWAYS AS (1 / n)"
        ' VIRTUAL, c text COLLATE "C", posix text COLLATE "POSIX")'
    )

    def make(definition):
        on_postgres.run(f"DROP VIEW IF EXISTS making_view; CREATE VIEW making_view AS {definition}")

    yield make
    on_postgres.run("DROP VIEW making_view; DROP TABLE making_virtual")


def test_a_view_that_chooses_columns_and_rows_of_a_table_is_taken(server, computed):
    for one in CHOOSES:
        computed(one)
        assert checked(server, "making_view") == checked(server, "making_view", None) == ()


@pytest.mark.long  # others of this file stay
def test_a_view_that_could_fail_on_a_row_is_refused_whoever_vouches(server, computed):
    for one in COMPUTES:
        computed(one)
        for vouched in (False, True):
            with pytest.raises(ParameterError, match="a view that does more than choose"):
                checked(server, "making_view", vouched=vouched)


def test_a_view_across_people_is_refused_as_a_stored_one_is(server, computed):
    for words, one in ACROSS:
        computed(one)
        with pytest.raises(ParameterError, match=f"across people: it holds {words}"):
            checked(server, "making_view", vouched=True)


def test_a_view_has_the_integers_of_its_rows_and_one_person_moves_no_more_than_it_may(computed):
    computed("SELECT patient, x AS cost FROM making WHERE n > 9")
    asked = la.open(on_postgres.address("making_view"), unit="patient", budget=1000)
    with asked as session:
        before = session.agg(n=la.count()).bound(max_rows=2).release(epsilon=400).to_pandas()
        assert before["n"][0] == pytest.approx(90, abs=1)
        on_postgres.run("INSERT INTO making SELECT 'bob', 'A', 1, 99 FROM generate_series(1, 50)")
        after = session.agg(n=la.count()).bound(max_rows=2).release(epsilon=401).to_pandas()
        assert after["n"][0] == pytest.approx(92, abs=1)
        on_postgres.run("DELETE FROM making WHERE patient = 'bob'")


def test_a_view_that_is_made_anew_meanwhile_is_not_read(computed):
    computed("SELECT patient, x FROM making")
    with la.open(on_postgres.address("making_view"), unit="patient", budget=1) as session:
        on_postgres.run(
            "CREATE OR REPLACE VIEW making_view AS SELECT patient, x FROM making ORDER BY x LIMIT 5"
        )
        with pytest.raises(DataSetFrozen):
            session.agg(n=la.count()).bound(max_rows=1).release(epsilon=0.5)


def test_a_view_and_its_table_are_locked_before_they_are_looked_at(computed):
    computed("SELECT patient, x FROM making")
    held = "SELECT relation::regclass::text FROM pg_locks WHERE mode = 'AccessShareLock'"
    with (
        closing(open_postgres(on_postgres.address("making_view"))) as engine,
        engine._server.reading(engine._locking),
    ):
        assert {("making",), ("making_view",)} <= set(on_postgres.run(held))
