"""A question in SQL, about an open table: read, joined to other tables, bounded.

Tables are given by name: public ones as frames or files, a private one as its session.

Tested:   tests/session/test_sql.py, test_partners.py
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from letalone.errors import ParameterError
from letalone.exact.typed import refusal
from letalone.plans.aggregates.facts import read_bounds
from letalone.plans.aggregates.features import Feature, UnitMean, UnitTotal
from letalone.plans.bounds import clamp_columns
from letalone.plans.expressions import ColumnRef
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.session.builder import QueryBuilder, rows_of
from letalone.sql.given_bounds import Bounds, give_bounds
from letalone.sql.names import Joined
from letalone.sql.question import ReadSql, read_question
from letalone.sql.unit_queries import UnitRows

if TYPE_CHECKING:
    from letalone.session.query import Query

MOST_PUBLIC_KEYS = 10_000  # of a column of a public table, to be groups without being listed


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
    how = {"arrangement": select.arrangement, "only_explained": select.explain}
    question = replace(start, **how)
    here = [*rows.columns, *(column for table in select.joins for column in table.added)]
    if select.units is not None:
        question = _join(question, select.units.joins, frames, others)
        question = _per_unit(question, select.units, dict(read_bounds(bounds)))
        question = replace(question, **how)
        here += question.rows.columns
    question = _join(question, select.joins, frames, others)
    if select.where is not None:
        question = question.where(select.where)
    question = _group_by(question, select, _keys_of_public(select, keys, frames, unit=rows.unit))
    names = [column.name for column in here]
    return question.agg(**give_bounds(select.aggregates, bounds, columns=names))


def _join(
    question: "Query",
    joins: Iterable[Joined],
    frames: Mapping[str, object],
    others: Mapping[str, QueryBuilder],
) -> "Query":
    for join in joins:
        other = others.get(join.name)
        if other is None:
            question = question.join(frames[join.name], on=dict(join.on), name=join.name)
        else:
            question = _with_partner(question, other, join)
    return question


def _per_unit(question: "Query", units: UnitRows, bounds: Bounds) -> "Query":
    """One row for each unit; what is added up of its rows is clamped to the bounds given."""
    if units.where is not None:
        question = question.where(units.where)
    given = {name: _clamp(feature, bounds) for name, feature in units.features.items()}
    return question.per_unit(**given)


def _clamp(feature: Feature, bounds: Bounds) -> Feature:
    if not isinstance(feature, UnitTotal | UnitMean) or feature.lower is not None:
        return feature
    if isinstance(feature.of, ColumnRef) and feature.of.name in bounds:
        lower, upper = bounds[feature.of.name]
        return replace(feature, lower=lower, upper=upper)
    return replace(feature, of=clamp_columns(feature.of, bounds))


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
    if not frames:
        return {}
    from letalone.session.joins.public_joins import describe_public  # loads Arrow

    return {name: describe_public(frame, name) for name, frame in frames.items()}


def _frame(name: str, given: object) -> object:
    from letalone.engines.frames.to_arrow import FRAMES, is_frame, read_public  # loads Arrow

    if is_frame(given):
        return given
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        return read_public(given)
    kind = type(given).__name__
    raise ParameterError(
        f"The public table {name!r} is {kind}, but must be {FRAMES}, or the path of a CSV or"
        " Parquet file. A private one is given as its session."
    )


def _keys_of_public(
    select: ReadSql, keys: object, frames: Mapping[str, object], *, unit: str | None
) -> object:
    """With the keys of group columns of public tables: anyone may see which values these have."""
    if keys is not None and not isinstance(keys, Mapping):
        return keys
    listed = dict(cast("Mapping[str, object]", keys or {}))
    for join in select.joins:
        # Values beside each unit may tell people apart, and a question must not hold those.
        if join.name in frames and unit not in {left for left, _ in join.on}:
            wanted = set(map(str, select.groups)) - listed.keys()
            listed |= _values_of_public(frames[join.name], join.added, wanted)
    return listed or None


def _values_of_public(
    frame: object, columns: Iterable[Column], wanted: set[str]
) -> dict[str, object]:
    from letalone.engines.frames.arrow import KEY_TYPES, distinct_values  # loads Arrow
    from letalone.engines.frames.to_arrow import as_arrow

    names = [c.name for c in columns if c.type in KEY_TYPES and c.name in wanted]
    table = as_arrow(frame)
    values = {name: distinct_values(table, name, at_most=MOST_PUBLIC_KEYS) for name in names}
    return {name: keys for name, keys in values.items() if keys}


def _group_by(question: "Query", found: ReadSql, keys: object) -> "Query":
    if not found.groups:
        if keys is not None:
            raise ParameterError("keys are listed, but the SQL has no GROUP BY. Leave them out.")
        return question
    return question.group_by(*found.groups, keys=keys)
