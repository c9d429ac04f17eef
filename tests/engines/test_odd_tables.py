"""The same question gives the same integers on all engines, whatever is odd about the rows.

They are those of the slow engine, so they are each other's, too. Spark's are in tests/on_spark.
"""

from random import Random

import pytest

from engines.makers import KEEPS_EMPTY_TEXT, MAKERS
from engines.odd_tables import NAMES, OLD, PEOPLE, QUESTIONS, TABLES, asked, scope_of
from engines.reference import Reference
from engines.test_engine_laws import SCHEMA, crowd
from letalone.engines.core.measures import DistinctUnits, GridSum, Rows, RowScope
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn, PrivateJoin
from letalone.plans.schema import Schema
from letalone.plans.types import Type

ENGINES = ["parquet", "postgres", "csv", "arrow", "duckdb", "sqlite"]


@pytest.fixture
def made(request, tmp_path):
    opened = []

    def make(kind, rows, schema=SCHEMA):
        folder = tmp_path / str(len(opened))
        folder.mkdir()
        opened.append(MAKERS[kind](rows, schema, folder))
        return opened[-1]

    yield make
    for one in opened:
        one.engine.close()


def check(made, rows):
    """Whether all questions about a table have the slow engine's answers."""
    slow = Reference(rows, made.spelled)
    for scope, measures in asked():
        assert made.engine.measure(scope, measures) == slow.measure(scope, measures)
        if scope.groups:
            assert dict(made.engine.discover(scope)) == slow.discover(scope)


def test_there_are_139_shapes_or_more():
    assert len(TABLES) * len(QUESTIONS) >= 139
    assert len({repr(rows) for rows in TABLES.values()}) == len(TABLES)


@pytest.mark.few(
    "parquet-one giant in every group",
    "postgres-one group more",
    "postgres-bars in units and keys",
    "parquet-no rows",
    "parquet-few of many rows",
)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_gives_the_integers_of_the_slow_one(made, kind, table):
    rows = TABLES[table]
    if not KEEPS_EMPTY_TEXT[kind]:
        rows = [one | {"ward": one["ward"] or None} for one in rows]
    check(made(kind, rows), rows)


def test_a_missing_key_and_an_empty_one_are_cut_in_one_order(made):
    """Their digests are equal: the missing one comes last everywhere."""
    rows = [one | {"ward": ward} for one in TABLES["one row more"] for ward in ("", None)]
    for kind in ("arrow", "postgres", "sqlite"):
        engine = made(kind, rows).engine
        found = engine.discover(scope_of("totals"))
        assert found == [(("",), 5)]


@pytest.mark.few("parquet", "postgres")
@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_trains_on_the_same_rows(made, kind):
    """Whatever the order of the rows; without a label, or where the filter drops it, on no row."""
    rows = crowd(300)
    mixed = rows.copy()
    Random(2).shuffle(mixed)
    for where, target in ((None, None), (OLD, "ward"), (None, "year")):
        scope = RowScope(SCHEMA, where, (), (), (), None, Bounding())
        wanted = Reference(rows).one_row(scope, NAMES, target)
        for some in (rows, mixed):
            found = made(kind, some).engine.training_rows(SCHEMA, NAMES, target=target, where=where)
            assert sorted(_as_read(found), key=repr) == sorted(wanted, key=repr)
        assert 0 < len(wanted) <= 25


def _as_read(found: dict) -> list[tuple]:
    """Rows of columns; whole numbers come as floats, and NaN is a missing one."""

    def one(x):
        if isinstance(x, float):
            return None if x != x else int(x)
        return x

    return [tuple(map(one, row)) for row in zip(*(found[n].tolist() for n in NAMES), strict=True)]


JOIN = PrivateJoin("people", (("patient", "who"),), PEOPLE.columns[1:], 1)
SEX = GroupColumn("sex", col("sex"), Type.TEXT)
LARGE = {"nobody": 0, "each once": 1, "each five times": 5}


@pytest.mark.few("parquet-each five", "postgres-each five")
@pytest.mark.parametrize("many", LARGE)
@pytest.mark.parametrize("kind", ["parquet", "postgres"])
def test_private_tables_are_joined_alike_on_all_engines(made, kind, many):
    check_joined(lambda rows, schema: made(kind, rows, schema).engine, LARGE[many])


def check_joined(opened, many):
    """One row of each person, the first by what is read of it, and then weights."""
    visits, random, names = crowd(200), Random(3), ["sex", "born"]
    people = [
        {"who": f"p{n}", "sex": random.choice(["F", "M", None]), "born": random.randrange(60)}
        for n in range(2, 20)
        for _ in range(many)
    ]
    mine, theirs = opened(visits, SCHEMA), opened(people, PEOPLE)
    partners = {who: {"sex": sex, "born": born} for who, sex, born in _partners(people, names)}
    joined = [v | partners[v["patient"]] for v in visits if v["patient"] in partners]
    schema = Schema("visits", (*SCHEMA.columns, *PEOPLE.columns[1:]), unit="patient")
    measures = [Rows(), DistinctUnits(), GridSum(col("born"), 0, 100, 0)]
    for bounding in (Bounding(max_rows=3), Bounding(max_groups=1, max_rows=2)):
        parts = (col("born") > 20, (), (JOIN,), (SEX,), (("F",), ("M",), (None,)), bounding)
        with mine.borrowing({"people": theirs.lend(PEOPLE, JOIN, names)}):
            found = mine.measure(RowScope(SCHEMA, *parts), measures)
        plain = RowScope(schema, *parts[:2], (), *parts[3:])
        assert found == Reference(joined).measure(plain, measures)


def _partners(people, names):
    """The partners: the digest is of the unit and of the columns that are lent."""
    scope = RowScope(PEOPLE, None, (), (), (), None, Bounding())
    slow = Reference(people)
    for mine in slow.people(scope):
        alone = [one for rows in mine.groups.values() for one in rows]
        ((sex, born),) = Reference(alone).one_row(scope, names, None)
        yield mine.unit, sex, born
