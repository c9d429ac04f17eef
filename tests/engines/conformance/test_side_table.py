"""A side table gives the integers of its ranks, is written once, and nothing is taken for it."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from itertools import product

import pytest

from engines import on_postgres
from engines.reference import Reference
from engines.test_engine_laws import BOUNDINGS, COST, DERIVED, FILTERS, GROUPINGS, SCHEMA, crowd
from letalone.engines.measures import Rows, Scope, Units
from letalone.engines.postgres import open_postgres
from letalone.errors import ParameterError
from letalone.plans.query import Bounding
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
    return Scope(SCHEMA, FILTERS[where], DERIVED, (), *GROUPINGS[grouping], bounding)


def test_questions_of_the_copy_are_those_of_its_ranks(table, rows):
    with opened(table, "copy one") as engine:
        engine.prepare(scope_of(Bounding(max_rows=1)))
        found = dict(on_postgres.run('SELECT age, letalone_rank FROM "copy one"'))
        slow = Reference(rows, [found.get(row["age"]) for row in rows])
        for bounding, grouping in product(BOUNDINGS, ("none", "ward", "day and urgent")):
            scope, measures = scope_of(bounding, grouping, "derived"), [Rows(), Units(), COST]
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
        assert engine.measure(scope, [Units()]) == plain.measure(scope, [Units()])


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
            scope = Scope(schema, None, (), (), (), None, Bounding(max_rows=1))
            assert engine.measure(scope, [Rows()]) == [[2]]
        found = on_postgres.run("SELECT count(*) FROM pg_indexes WHERE tablename = %s", side)
        assert found == [(int(kind == "bigint"),)]
