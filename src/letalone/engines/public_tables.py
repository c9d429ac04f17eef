"""Copies and checks public tables of a join: unique on their key, so that no row is doubled.

They are public, so an error here may say what is wrong with them. DuckDB reads them in this
process, whichever engine they go to: what a key of theirs is does not depend on it.

  Tested:   tests/engines/test_public.py
"""

from collections.abc import Generator
from contextlib import closing, contextmanager

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.failure import hide_engine_errors
from letalone.engines.core.rows import TableRef, key_of
from letalone.engines.core.stored_types import Stored, check_columns
from letalone.engines.core.syntax import Sql
from letalone.engines.duckdb.duck_reading import read
from letalone.engines.duckdb.duck_sources import relation_of_view
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.engines.frames.arrow import ArrowTable
from letalone.engines.frames.to_arrow import as_arrow
from letalone.errors import ParameterError
from letalone.plans.plan import PublicJoin
from letalone.plans.schema import Column, unknown_column
from letalone.plans.types import Type

MAX_PUBLIC_ROWS = 1_000_000  # of a table that goes along with every statement that joins it
OTHER = Type.OTHER


def copy_of_public(duck: LockedDuck, join: PublicJoin, table: object, *, name: str) -> TableRef:
    """The public table of a join, copied: a frame may be changed by whoever holds it."""
    frame = as_arrow(table)
    check_columns(frame.column_names, f"The public table {join.name!r}")
    duck.connection.register(f"{name}_frame", frame)
    try:
        duck.run(syntax.copy_table(syntax.table(f"{name}_frame"), name))
    finally:
        duck.connection.unregister(f"{name}_frame")
    return relation_of_view(duck, name)


def checked_frame(join: PublicJoin, table: object) -> ArrowTable:
    """The public table of a join as it goes to another engine, which has its own copy."""
    frame = as_arrow(table)
    with _copy_table(join, frame):
        return frame


def public_columns(join: PublicJoin, table: object) -> list[tuple[Column, list[object]]]:
    """The columns that have a type, with their values as they are read here: to go to a server."""
    with _copy_table(join, table) as (duck, relation):
        known = [Column(s.name, s.type) for s in relation.columns.values() if s.type is not OTHER]
        sql = [read(relation.columns[c.name], syntax.column(c.name), c).sql for c in known]
        values = [syntax.alias(column, str(n)) for n, column in enumerate(sql)]
        rows = duck.run(syntax.select(values, relation.sql)) if known else []
    if len(rows) > MAX_PUBLIC_ROWS:
        raise ParameterError(
            f"The public table {join.name!r} has {len(rows)} rows, and at most {MAX_PUBLIC_ROWS}"
            " can go along to a server. Keep those that are needed."
        )
    return [(column, [row[n] for row in rows]) for n, column in enumerate(known)]


@contextmanager
def _copy_table(join: PublicJoin, table: object) -> Generator[tuple[LockedDuck, TableRef]]:
    """The table in a DuckDB of its own, checked."""
    with closing(LockedDuck()) as duck:
        duck.lock([])
        relation = hide_engine_errors(lambda: copy_of_public(duck, join, table, name="public"))
        check_public(duck, relation, join)
        yield duck, relation


def check_public(duck: LockedDuck, relation: TableRef, join: PublicJoin) -> None:
    """Refuses a table without the columns of a join, or not unique on its key."""
    wanted = [right for _, right in join.on] + [column.name for column in join.columns]
    for column in wanted:
        if column not in relation.columns:
            raise unknown_column(column, list(relation.columns), table=join.name)
    _check_unique(duck, relation, join)


def _key(stored: Stored) -> Sql:
    """What rows are compared by: 1.0 and 1 are one key, and so are 0.0 and -0.0."""
    value = syntax.column(stored.name)
    if stored.type is not Type.NUMBER:
        return value
    return key_of(read(stored, value, Column(stored.name, stored.type)))


def _check_unique(duck: LockedDuck, relation: TableRef, join: PublicJoin) -> None:
    """A row that met two partners would count twice (rule 21 of docs/explanation/soundness.md)."""
    keys = [_key(relation.columns[right]) for _, right in join.on]
    count = syntax.operation(exp.GT, exp.Count(this=exp.Star()), syntax.whole(1))
    query = syntax.group_by(syntax.select(keys, syntax.rename(relation.sql, "table")), keys)
    query.set("having", exp.Having(this=count))
    query.set("limit", exp.Limit(expression=syntax.whole(1)))
    if duck.run(query):
        names = ", ".join(right for _, right in join.on)
        raise ParameterError(
            f"The public table {join.name!r} has two rows with the same {names}. It must have at"
            " most one row for each, so that no row of the private table counts twice."
        )
