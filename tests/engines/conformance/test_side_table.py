"""A side table gives the integers of its ranks, is written once, and nothing is taken for it."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from itertools import product
from json import dumps

import pytest
from psycopg.errors import LockNotAvailable

import letalone as la
from engines import on_postgres
from engines.reference import Reference
from engines.test_engine_laws import BOUNDINGS, COST, DERIVED, FILTERS, GROUPINGS, SCHEMA, crowd
from letalone.engines.measures import DistinctUnits, Rows, RowScope
from letalone.engines.postgres import open_postgres
from letalone.engines.rank_copies import MARK
from letalone.engines.side_table import FORMAT
from letalone.engines.sources import WhichTable
from letalone.errors import ParameterError
from letalone.plans.plan import Bounding
from letalone.plans.schema import Column, Schema
from seeded import SeededBits


@pytest.fixture(scope="module")
def rows():
    """With a number for each row, by which its rank is found."""
    return [row | {"age": number} for number, row in enumerate(crowd(300))]


@pytest.fixture(scope="module")
def table(rows):
    columns = {column.name: on_postgres.TYPES[column.type] for column in SCHEMA.columns}
    return on_postgres.stored(columns, [[row[one] for one in columns] for row in rows])


def opened(table, side, seed=7):
    address = on_postgres.address(table)
    return closing(open_postgres(address, schema=SCHEMA, side_table=side, bits=SeededBits(seed)))


def scope_of(bounding, grouping="none", where="all"):
    return RowScope(SCHEMA, FILTERS[where], DERIVED, (), *GROUPINGS[grouping], bounding)


def test_questions_of_the_copy_are_those_of_its_ranks(table, rows):
    with opened(table, "copy one") as engine:
        engine.prepare(scope_of(Bounding(max_rows=1)))
        found = dict(on_postgres.run('SELECT age, letalone_rank FROM "copy one"'))
        slow = Reference(rows, [found.get(row["age"]) for row in rows])
        for bounding, grouping in product(BOUNDINGS, ("none", "ward", "day and urgent")):
            scope, measures = (
                scope_of(bounding, grouping, "derived"),
                [Rows(), DistinctUnits(), COST],
            )
            assert engine.measure(scope, measures) == slow.measure(scope, measures)
        ranks = [rank for age, rank in found.items() if rows[age]["patient"] == "p3"]
        assert sorted(ranks) == list(range(1, len(ranks) + 1))


def test_the_copy_is_written_once_and_used_by_the_next(table):
    scope = scope_of(Bounding(max_rows=2))
    with opened(table, "copy two") as engine:
        first = engine.measure(scope, [COST])
    made = on_postgres.run('SELECT xmin::text, letalone_rank FROM "copy two" ORDER BY 1, 2')
    with opened(table, "copy two", seed=8) as engine:
        assert engine.measure(scope, [COST]) == first
    again = on_postgres.run('SELECT xmin::text, letalone_rank FROM "copy two" ORDER BY 1, 2')
    assert made == again


def test_without_bounding_nothing_is_written(table):
    with opened(table, "copy three") as engine:
        engine.measure(scope_of(Bounding()), [Rows()])
    assert on_postgres.run("SELECT to_regclass('\"copy three\"')") == [(None,)]


def test_another_table_of_that_name_is_not_taken_for_a_copy(table):
    on_postgres.run("CREATE TABLE other (x int)")
    for side, words in (("other", "no copy"), ("nowhere.x", "may not make"), (".", "must be")):
        with pytest.raises(ParameterError, match=words):
            opened(table, side)


@pytest.fixture(scope="module")
def stranger():
    """A role without any right to the data, and a schema that it may write to."""
    on_postgres.run("CREATE ROLE stranger; CREATE SCHEMA shared_place")
    on_postgres.run("GRANT ALL ON SCHEMA shared_place TO stranger")
    return "stranger"


def told(table, kind="TABLE", name="copy", **other):
    """What the comment of a copy says, as anybody could write it."""
    text = {"format": FORMAT, "of": table, "unit": "patient", "version": 1} | other
    return f"COMMENT ON {kind} shared_place.\"{name}\" IS '{MARK}{dumps(text)}'"


def forged(table, kind="TABLE", rank="1::bigint"):
    made = f'CREATE {kind} shared_place."copy" AS SELECT *, {rank} AS letalone_rank FROM "{table}"'
    return [made, told(table, kind)]


OWN = 'ALTER TABLE shared_place."copy" '
SPOILT = {
    "a view": (True, []),
    "a table of a stranger": (False, [OWN + "OWNER TO stranger"]),
    "a policy": (False, [OWN + "ENABLE ROW LEVEL SECURITY"]),
    "a rule": (
        False,
        ['CREATE RULE r AS ON INSERT TO shared_place."copy" DO INSTEAD NOTHING'],
    ),
    "a trigger": (
        False,
        [
            'CREATE TRIGGER t BEFORE UPDATE ON shared_place."copy"'
            " EXECUTE FUNCTION suppress_redundant_updates_trigger()"
        ],
    ),
    "ranks of text": (False, [OWN + "ALTER COLUMN letalone_rank TYPE text"]),
    "a list": (False, [f"COMMENT ON TABLE shared_place.\"copy\" IS '{MARK}[]'"]),
    "deep": (False, [f"COMMENT ON TABLE shared_place.\"copy\" IS '{MARK}{'[' * 100_000}'"]),
}


@pytest.mark.parametrize("spoilt", SPOILT)
def test_what_somebody_else_made_or_can_change_is_no_copy(table, stranger, spoilt):
    """A table that was made by hand as this role's own is one, so each refusal has its reason."""
    view, changes = SPOILT[spoilt]
    kind = "VIEW" if view else "TABLE"
    try:
        for one in forged(table, kind):
            on_postgres.run(one)
        if not view:
            with opened(table, "shared_place.copy") as engine:
                engine.check(SCHEMA)
        for one in changes:
            on_postgres.run(one)
        words = "role 'stranger', which is neither yours" if "stranger" in spoilt else "no copy of"
        with pytest.raises(ParameterError, match=words):
            opened(table, "shared_place.copy")
    finally:
        on_postgres.run(f'DROP {kind} IF EXISTS shared_place."copy"')


@pytest.mark.parametrize("by_a_stranger", [True, False])
def test_a_copy_that_is_exchanged_after_the_first_question_is_not_read(
    table, stranger, by_a_stranger
):
    """All ranks of the other one are 1, so all rows would count: found in 300 rows of 25 people."""
    scope = scope_of(Bounding(max_rows=1))
    with opened(table, "shared_place.copy") as engine:
        first = engine.measure(scope, [Rows()])
        on_postgres.run('DROP TABLE shared_place."copy"')
        for one in forged(table):
            on_postgres.run(one)
        if by_a_stranger:
            on_postgres.run(OWN + "OWNER TO stranger")
        try:
            assert engine.measure(scope, [Rows()]) == first
        finally:
            on_postgres.run('DROP TABLE shared_place."copy"')
        assert engine.measure(scope, [Rows()]) == first


RIGHTS = {
    "schema": "USAGE ON SCHEMA shared_place",
    "copy": 'SELECT ON TABLE shared_place."for some"',
}


@pytest.fixture(scope="module")
def analyst(table, stranger):
    """The address for a role that may read the data, and a copy of which it may read nothing."""
    on_postgres.run(f'CREATE ROLE analyst LOGIN; GRANT SELECT ON "{table}" TO analyst')
    with opened(table, "shared_place.for some") as engine:
        engine.prepare(scope_of(Bounding(max_rows=1)))
    return on_postgres.address(table).replace("postgres:@", "analyst@")


@pytest.mark.parametrize("missing", [["schema"], ["copy"], ["schema", "copy"], []])
@pytest.mark.parametrize("later", [True, False])
def test_a_copy_that_the_role_may_not_read_is_left_alone(analyst, missing, later):
    """Rights that are missing at opening, or are taken before the next question is asked."""
    scope = scope_of(Bounding(max_rows=1))
    revokes = [f"REVOKE {RIGHTS[one]} FROM analyst" for one in missing]
    for right in RIGHTS.values():
        on_postgres.run(f"GRANT {right} TO analyst")
    for one in [] if later else revokes:
        on_postgres.run(one)
    made = open_postgres(analyst, schema=SCHEMA, side_table="shared_place.for some")
    with closing(made) as engine:
        engine.check(SCHEMA)
        assert (engine._side is None) == (bool(missing) and not later)
        if later:
            first = engine.measure(scope, [Rows(), DistinctUnits()])
            for one in revokes:
                on_postgres.run(one)
            assert engine.measure(scope, [Rows(), DistinctUnits()]) == first
        assert engine.measure(scope, [Rows()]) == [[25]]
        assert (engine._side is None) == bool(missing)


def test_a_copy_that_cannot_be_written_any_more_leaves_ranks_to_the_query(analyst, table):
    on_postgres.run("GRANT USAGE, CREATE ON SCHEMA shared_place TO analyst")
    made = open_postgres(analyst, schema=SCHEMA, side_table="shared_place.never")
    with closing(made) as engine:
        on_postgres.run("REVOKE CREATE ON SCHEMA shared_place FROM analyst")
        assert engine.measure(scope_of(Bounding(max_rows=1)), [Rows()]) == [[25]]
    with pytest.raises(ParameterError, match="may not make"):
        open_postgres(analyst, schema=SCHEMA, side_table="shared_place.never")


def test_a_look_that_fails_leaves_its_transaction_as_it_was(table):
    with opened(table, None) as engine, engine._server.reading():
        server = engine._server
        assert server.tried(lambda: server.run("SELECT 1 / 0")) is None
        assert server.tried(lambda: server.run("SELECT 1")) == [(1,)]
        assert server.run("SHOW transaction_isolation") == [("repeatable read",)]


def test_a_copy_cannot_be_exchanged_between_the_look_at_it_and_the_statement(table):
    scope = scope_of(Bounding(max_rows=1))
    with opened(table, "copy held") as engine:
        engine.prepare(scope)
        with engine.borrowing({}):
            engine._seen(scope, engine._server)
            with pytest.raises(LockNotAvailable):
                on_postgres.run("SET lock_timeout = '100ms'; DROP TABLE \"copy held\"")


def test_nobody_else_may_read_a_new_copy_whatever_the_defaults_are(table, stranger):
    defaults = (
        "ALTER DEFAULT PRIVILEGES IN SCHEMA shared_place {} SELECT ON TABLES {} stranger, PUBLIC"
    )
    on_postgres.run(defaults.format("GRANT", "TO"))
    try:
        with opened(table, "shared_place.guarded") as engine:
            engine.prepare(scope_of(Bounding(max_rows=1)))
        on_postgres.run("CREATE TABLE shared_place.open (x int)")
        found = {
            name: on_postgres.run(f"SELECT has_table_privilege('stranger', '{name}', 'SELECT')")
            for name in ("shared_place.guarded", "shared_place.open")
        }
        assert list(found.values()) == [[(False,)], [(True,)]]
    finally:
        on_postgres.run(defaults.format("REVOKE", "FROM"))


def test_a_copy_of_another_unit_version_or_columns_is_refused_before_it_is_asked(table):
    with opened(table, "copy four") as engine:
        engine.prepare(scope_of(Bounding(max_rows=1)))
        engine.check(SCHEMA)
        for words, other in (
            ("by the unit 'patient'.*'ward'.*DROP TABLE", replace(SCHEMA, unit="ward")),
            ("of version 1.*version 2", replace(SCHEMA, version=2)),
        ):
            with pytest.raises(ParameterError, match=words):
                engine.check(other)
        on_postgres.run('ALTER TABLE "copy four" DROP COLUMN age')
        with pytest.raises(ParameterError, match="other columns"):
            engine.check(SCHEMA)


def test_a_copy_that_is_made_for_another_unit_meanwhile_is_not_read(table):
    """The question was charged: it is answered with ranks of its own."""
    scope = scope_of(Bounding(max_rows=1))
    with opened(table, None) as plain, opened(table, "copy five") as engine:
        other = replace(SCHEMA, unit="ward")
        with opened(table, "copy five", seed=8) as theirs:
            theirs.prepare(replace(scope, schema=other))
        assert engine.measure(scope, [DistinctUnits()]) == plain.measure(scope, [DistinctUnits()])


def test_a_copy_is_no_data_set_of_its_own_and_is_not_offered_as_one(table, tmp_path):
    with opened(table, "copy seven") as engine:
        engine.prepare(scope_of(Bounding(max_rows=1)))
    place, ledger = on_postgres.address("copy seven"), tmp_path / "l.db"
    with pytest.raises(ParameterError, match=f"'copy seven' is letalone's copy of '{table}'"):
        la.open(place, unit="patient", budget=1.0, ledger=ledger)
    assert not ledger.exists()
    with pytest.raises(WhichTable) as caught:
        open_postgres(on_postgres.address("no such table"))
    assert table in caught.value.tables
    assert "copy seven" not in str(caught.value) + str(caught.value.tables)


def test_two_that_make_the_copy_at_once_have_one(table):
    scope = scope_of(Bounding(max_rows=2))
    with (
        opened(table, "copy six") as one,
        opened(table, "copy six", seed=8) as other,
        ThreadPoolExecutor(2) as pool,
    ):
        found = list(pool.map(lambda engine: engine.measure(scope, [COST]), (one, other)))
    assert found[0] == found[1]


def test_units_that_are_too_long_for_an_index_are_copied_and_short_ones_are_indexed():
    """A failure would tell that there is a long one; noise that does not compress."""
    long = "".join(sha256(str(n).encode()).hexdigest() for n in range(300))
    for kind, units in (("text", ["p", long]), ("bigint", [1, 2])):
        schema = Schema("t", (Column("u", "text" if kind == "text" else "integer"),), unit="u")
        name = on_postgres.stored({"u": kind}, [[one] for one in units])
        side = f"copy of {kind}"
        with closing(
            open_postgres(on_postgres.address(name), schema=schema, side_table=side)
        ) as engine:
            scope = RowScope(schema, None, (), (), (), None, Bounding(max_rows=1))
            assert engine.measure(scope, [Rows()]) == [[2]]
        found = on_postgres.run("SELECT count(*) FROM pg_indexes WHERE tablename = %s", side)
        assert found == [(int(kind == "bigint"),)]
