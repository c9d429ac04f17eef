"""Copies and checks public tables of a join: unique on their key, so that no row is doubled.

They are public, so an error here may say what is wrong with them.

  Tested:   tests/engines/test_public.py
"""

from pathlib import Path

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.arrow import read_file
from letalone.engines.frames import as_arrow
from letalone.engines.lockdown import LockedDuck
from letalone.engines.reading import Stored, check_columns, read
from letalone.engines.rows import TableRef, key_of
from letalone.engines.sources import relation_of_view
from letalone.engines.syntax import Sql
from letalone.errors import ParameterError
from letalone.plans.plan import PublicJoin
from letalone.plans.schema import Column, unknown_column
from letalone.plans.types import Type


def read_public(path: object) -> object:
    """A public file as a frame; the types of a CSV file are as they look."""
    file = Path(str(path))
    if file.suffix.lower() not in (".csv", ".parquet"):
        raise ParameterError(f"The public table {file} must be a .csv or a .parquet file.")
    return read_file(file)


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
