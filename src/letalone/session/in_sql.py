"""A question in SQL, about an open table: read, joined to public tables, bounded.

Tested:   tests/session/test_sql.py
"""

from collections.abc import Mapping
from typing import cast

from letalone.engines.frames import FRAMES, is_frame
from letalone.engines.public import read_public
from letalone.errors import ParameterError
from letalone.exact.typed import refusal
from letalone.plans.schema import Schema
from letalone.session.joining import described
from letalone.session.query import Query
from letalone.session.table import Table
from letalone.sql.bounds import bounded
from letalone.sql.question import Question, read_question


def query_in_sql(
    table: Table,
    sql: str,
    *,
    keys: object = None,
    bounds: object = None,
    tables: Mapping[str, object] | None = None,
    dialect: str | None = None,
) -> Query:
    """The question that a SELECT asks; no data is touched."""
    frames = public_frames(tables)
    found = read_question(sql, table.schema, tables=public_schemas(frames), dialect=dialect)
    question = Query(table, arrangement=found.arrangement, only_explained=found.explain)
    for join in found.joins:
        on = dict(join.on)
        question = question.join(frames[join.name], on=on, name=join.name)
    if found.where is not None:
        question = question.where(found.where)
    question = _grouped(question, found, keys)
    here = [*table.schema.columns, *(column for one in found.joins for column in one.added)]
    names = [column.name for column in here]
    return question.agg(**bounded(found.aggregates, bounds, columns=names))


def public_frames(tables: object) -> dict[str, object]:
    """The public tables by name; files are read."""
    if tables is None:
        return {}
    if not isinstance(tables, Mapping):
        raise refusal("tables", tables, "public tables by name, such as {'cities': frame}")
    given = cast("Mapping[str, object]", tables)
    return {str(name): _frame(str(name), one) for name, one in given.items()}


def public_schemas(frames: Mapping[str, object]) -> dict[str, Schema]:
    """What is in the public tables, from metadata."""
    return {name: described(frame, name) for name, frame in frames.items()}


def _frame(name: str, given: object) -> object:
    if is_frame(given):
        return given
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        return read_public(given)
    kind = type(given).__name__
    raise ParameterError(
        f"The public table {name!r} is {kind}, but must be {FRAMES}, or the path of a CSV or"
        " Parquet file."
    )


def _grouped(question: Query, found: Question, keys: object) -> Query:
    if not found.groups:
        if keys is not None:
            raise ParameterError("keys are listed, but the SQL has no GROUP BY. Leave them out.")
        return question
    return question.group_by(*found.groups, keys=keys)
