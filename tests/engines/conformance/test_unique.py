"""A unique index on the unit spares the weighing, and nothing that is less than that does."""

from contextlib import closing

import pytest

import letalone as la
from engines import on_postgres
from letalone.engines.core.measures import DistinctUnits, Rows, RowScope
from letalone.engines.postgres.postgres_engine import open_postgres
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.types import Type

WHOLE = 1 << 20
KINDS = {"p": 'text COLLATE "C"', "n": "bigint", "d": "text", "x": "float8"}
ROWS = [[f"p{n}", n, f"p{n}", float(n % 7)] for n in range(40)]


@pytest.fixture
def table():
    return on_postgres.stored(KINDS, ROWS)


def weighs(table, unit):
    """Whether the statements of a question count the rows of each unit."""
    with closing(open_postgres(on_postgres.address(table))) as engine:
        schema = engine.schema().protecting(unit)
        engine.check(schema)
        scope = RowScope(schema, None, (), (), (), None, Bounding(max_rows=1))
        shown, said = engine.sql(scope, [Rows()]), []
        statement = engine._statement
        engine._statement = lambda *given: said.append(statement(*given)[0]) or statement(*given)
        assert engine.measure(scope, [Rows(), DistinctUnits()]) == [[40 * WHOLE], [40 * WHOLE]]
        counts = ["OVER" in text for text in (shown, said[0])]
        assert counts[0] == counts[1]
        assert ("ONLY" in said[0]) is not counts[0]
        return counts[0]


@pytest.mark.parametrize("unit", ["p", "n"])
def test_a_unique_index_on_the_unit_spares_the_weighing(table, unit):
    assert weighs(table, unit)
    on_postgres.run(f'CREATE UNIQUE INDEX ON "{table}" ({unit}) INCLUDE (x)')
    assert not weighs(table, unit)
    other = "n" if unit == "p" else "p"
    assert weighs(table, other), "the index of another column"


LESS = {
    "not unique": "CREATE INDEX ON {0} (p)",
    "partial": "CREATE UNIQUE INDEX ON {0} (p) WHERE x > 3",
    "an expression": "CREATE UNIQUE INDEX ON {0} ((p || ''))",
    "two columns": "CREATE UNIQUE INDEX ON {0} (p, x)",
    "deferred": "ALTER TABLE {0} ADD UNIQUE (p) DEFERRABLE",
    "not valid": "CREATE UNIQUE INDEX one ON {0} (p);"
    " UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'one'::regclass",
    "another collation": 'CREATE UNIQUE INDEX ON {0} (p COLLATE "POSIX")',
    "an opclass of another order": "CREATE UNIQUE INDEX ON {0} (p text_pattern_ops)",
    "of a parent alone": "CREATE UNIQUE INDEX ON {0} (p); CREATE TABLE child () INHERITS ({0})",
    "dropped again": 'CREATE UNIQUE INDEX "gone" ON {0} (p); DROP INDEX gone',
}


@pytest.mark.parametrize("made", LESS)
def test_less_than_a_unique_index_on_the_unit_alone_spares_nothing(table, made):
    on_postgres.run(LESS[made].format(f'"{table}"'))
    try:
        assert weighs(table, "p")
    finally:
        on_postgres.run("DROP TABLE IF EXISTS child")


def test_text_whose_order_depends_on_the_system_is_weighed(table):
    """Such an index can lose its order, and with it what it promises, with an update."""
    on_postgres.run(f'ALTER TABLE "{table}" ADD PRIMARY KEY (d)')
    assert weighs(table, "d")


def test_an_index_that_is_dropped_after_the_opening_is_missed(table):
    """Rows of one person that come then weigh what they may."""
    on_postgres.run(f'ALTER TABLE "{table}" ADD CONSTRAINT "{table} once" UNIQUE (p)')
    with closing(open_postgres(on_postgres.address(table))) as engine:
        schema = engine.schema().protecting("p")
        engine.check(schema)
        scope = RowScope(schema, None, (), (), (), None, Bounding(max_rows=1))
        assert engine.measure(scope, [Rows()]) == [[40 * WHOLE]]
        on_postgres.run(f'ALTER TABLE "{table}" DROP CONSTRAINT "{table} once"')
        on_postgres.run(f"""INSERT INTO "{table}" SELECT 'p1' FROM generate_series(1, 7)""")
        assert engine.measure(scope, [Rows()]) == [[40 * WHOLE]], "eight rows weigh an eighth each"


def test_a_child_that_comes_after_the_look_is_not_read(table):
    """A table that is made a child of this one then brings rows that are seen in the state."""
    on_postgres.run(f'CREATE UNIQUE INDEX ON "{table}" (p)')
    on_postgres.run(f'CREATE TABLE "{table} more" AS TABLE "{table}"')
    with closing(open_postgres(on_postgres.address(table))) as engine:
        schema = engine.schema().protecting("p")
        scope = RowScope(schema, None, (), (), (), None, Bounding(max_rows=1))
        statement = engine._statement

        def late(*given):
            on_postgres.run(f'ALTER TABLE "{table} more" INHERIT "{table}"')
            return statement(*given)

        engine._statement = late
        assert engine.measure(scope, [Rows()]) == [[40 * WHOLE]]
        engine._statement = statement
        assert engine.measure(scope, [Rows()]) == [[80 * (WHOLE // 2)]]


@pytest.mark.long  # others of this file stay
def test_every_kind_of_question_has_the_integers_of_a_table_without_the_index(table):
    found = []
    for _ in range(2):
        with closing(open_postgres(on_postgres.address(table))) as engine:
            schema = engine.schema().protecting("n")
            group = GroupColumn("x", col("x"), Type.NUMBER)
            keys = tuple((n,) for n in range(5))
            for bounding in (
                Bounding(max_rows=1),
                Bounding(max_groups=1, max_rows=1),
                Bounding(max_groups=2, clip=True),
            ):
                scope = RowScope(schema, None, (), (), (group,), keys, bounding)
                found += engine.measure(scope, [Rows(), DistinctUnits()])
                found.append(engine.discover(scope))
            rows = engine.training_rows(schema, ["x"], target="x", where=None)
            found.append(sorted(rows["x"].tolist()))
        on_postgres.run(f'CREATE UNIQUE INDEX ON "{table}" (n)')
    half = len(found) // 2
    assert found[:half] == found[half:]


def test_units_that_the_index_takes_for_several_and_we_for_one_cannot_be():
    """Both zeros are one to the index as well, and CHAR has no blanks at its end."""
    for kind, values in (("float8", ["0.0", "-0.0"]), ("char(9)", ["a", "a  "])):
        name = on_postgres.stored({"u": kind}, [])
        on_postgres.run(f'CREATE UNIQUE INDEX ON "{name}" (u)')
        on_postgres.run(f"""INSERT INTO "{name}" VALUES ('{values[0]}')""")
        with pytest.raises(Exception, match="duplicate key"):
            on_postgres.run(f"""INSERT INTO "{name}" VALUES ('{values[1]}')""")


def test_an_answer_of_a_table_with_the_index_is_near_the_truth(table):
    on_postgres.run(f'CREATE UNIQUE INDEX ON "{table}" (n)')
    with la.open(on_postgres.address(table), unit="n", budget=500) as session:
        found = session.agg(n=la.count()).bound(max_rows=1).release(epsilon=300)
        assert found.to_pandas()["n"][0] == pytest.approx(40, abs=1)
