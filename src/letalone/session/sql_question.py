"""A question in SQL, about an open table: read, joined to other tables, bounded.

Tables are given by name: public ones as frames or files, a private one as its session.

Tested:   tests/session/test_sql.py, test_partners.py
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from letalone.engines.frames import FRAMES, is_frame
from letalone.engines.public import read_public
from letalone.errors import ParameterError
from letalone.exact.typed import refusal
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from letalone.session.builder import QueryBuilder, rows_of
from letalone.session.public_joins import describe_public
from letalone.sql.given_bounds import give_bounds
from letalone.sql.names import Joined
from letalone.sql.question import ReadSql, read_question

if TYPE_CHECKING:
    from letalone.session.query import Query


def query_in_sql(
    start: "Query",
    sql: str,
    *,
    keys: object = None,
    bounds: object = None,
    tables: Mapping[str, object] | None = None,
    dialect: str | None = None,
) -> "Query":
    """The question that a SELECT asks about the rows of `start`, or units; no data is touched."""
    given, rows = _by_name(tables), start.rows
    others = {name: table for name, table in given.items() if isinstance(table, QueryBuilder)}
    frames = public_frames({name: table for name, table in given.items() if name not in others})
    schemas = public_schemas(frames) | {name: rows_of(table) for name, table in others.items()}
    whole_name = start.table.whole_name
    select = read_question(sql, rows, tables=schemas, dialect=dialect, whole_name=whole_name)
    question = replace(start, arrangement=select.arrangement, only_explained=select.explain)
    for join in select.joins:
        other = others.get(join.name)
        if other is None:
            question = question.join(frames[join.name], on=dict(join.on), name=join.name)
        else:
            question = _with_partner(question, other, join)
    if select.where is not None:
        question = question.where(select.where)
    question = _group_by(question, select, keys)
    here = [*rows.columns, *(column for table in select.joins for column in table.added)]
    names = [column.name for column in here]
    return question.agg(**give_bounds(select.aggregates, bounds, columns=names))


def _with_partner(question: "Query", other: QueryBuilder, join: Joined) -> "Query":
    """The join with another private table, which is charged, too."""
    units = question.rows.unit, join.schema.unit
    if None not in units and join.on != (units,):
        raise ParameterError(
            f"Two private tables are joined on their units and nothing else: JOIN {join.name} ON"
            f" {question.rows.name}.{units[0]} = {join.name}.{units[1]}."
        )
    columns = [column.name for column in join.added if column.type is not Type.OTHER]
    return question.join(other, on=dict(join.on), columns=columns)


def public_frames(tables: object) -> dict[str, object]:
    """The public tables by name; files are read."""
    return {name: _frame(name, table) for name, table in _by_name(tables).items()}


def _by_name(tables: object) -> dict[str, object]:
    if tables is None:
        return {}
    if not isinstance(tables, Mapping):
        raise refusal("tables", tables, "tables by name, such as {'cities': frame}")
    given = cast("Mapping[str, object]", tables)
    return {str(name): table for name, table in given.items()}


def public_schemas(frames: Mapping[str, object]) -> dict[str, Schema]:
    """What is in the public tables, from metadata."""
    return {name: describe_public(frame, name) for name, frame in frames.items()}


def _frame(name: str, given: object) -> object:
    if is_frame(given):
        return given
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        return read_public(given)
    kind = type(given).__name__
    raise ParameterError(
        f"The public table {name!r} is {kind}, but must be {FRAMES}, or the path of a CSV or"
        " Parquet file. A private one is given as its session."
    )


def _group_by(question: "Query", found: ReadSql, keys: object) -> "Query":
    if not found.groups:
        if keys is not None:
            raise ParameterError("keys are listed, but the SQL has no GROUP BY. Leave them out.")
        return question
    return question.group_by(*found.groups, keys=keys)
