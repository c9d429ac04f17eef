"""A question in SQL, about an open table: read, joined to other tables, bounded.

Tables are given by name: public ones as frames or files, a private one as its session.

Tested:   tests/session/test_sql.py, test_partners.py
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, cast

from letalone.errors import LetaloneError, ParameterError
from letalone.errors.remedies import AskFirst
from letalone.exact.typed import refusal
from letalone.plans.aggregates.facts import read_bounds
from letalone.plans.aggregates.features import Feature, UnitMean, UnitTotal
from letalone.plans.bounds import clamp_columns
from letalone.plans.constants import Value
from letalone.plans.domains import domain_of
from letalone.plans.expressions import ColumnRef
from letalone.plans.plan import Group, expression_of
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Key, Type
from letalone.plans.typing import columns_of
from letalone.session.builder import FirstNumbers, QueryBuilder, rows_of
from letalone.sql.given_bounds import Bounds, columns_within, give_bounds
from letalone.sql.names import Joined, LookUp, PublicSelect
from letalone.sql.question import ReadSql, read_question
from letalone.sql.unit_queries import UnitRows

if TYPE_CHECKING:
    from letalone.engines.frames.arrow import ArrowTable
    from letalone.session.query import Query

MOST_FIRST = 5  # numbers that are asked first
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
    """The question that a SELECT asks about the rows of `start`, or units; no data is touched.

    Where queries of one number about the same table stand in it, they are asked first.
    """
    ask = partial(_one_question, start, bounds=bounds, tables=tables)
    build = partial(ask, sql, keys=keys, dialect=dialect)

    numbers: dict[str, Fraction] = {}
    while True:
        try:
            question = build(numbers=numbers)
        except LetaloneError as error:
            inner = _asked_first(error)
            if inner is None or inner in numbers or len(numbers) >= MOST_FIRST:
                raise
            numbers[inner] = Fraction(0)
            continue
        if not numbers:
            return question
        asked = [(inner, ask(inner, numbers={})) for inner in numbers]
        made = partial(_with_numbers, build, tuple(numbers))
        return replace(question, first=FirstNumbers(tuple(asked), made))


def _with_numbers(
    build: "Callable[..., Query]", names: Sequence[str], values: Sequence[Fraction]
) -> "Query":
    return build(numbers=dict(zip(names, values, strict=True)))


def _asked_first(error: LetaloneError) -> str | None:
    return next((one.sql for one in error.problem.remedies if isinstance(one, AskFirst)), None)


def _one_question(
    start: "Query",
    sql: str,
    *,
    keys: object = None,
    bounds: object = None,
    tables: Mapping[str, object] | None = None,
    dialect: str | None = None,
    numbers: Mapping[str, Fraction],
) -> "Query":
    given, rows = _by_name(tables), start.rows
    others = {name: table for name, table in given.items() if isinstance(table, QueryBuilder)}
    frames = public_frames({name: table for name, table in given.items() if name not in others})
    schemas = public_schemas(frames) | {name: rows_of(table) for name, table in others.items()}
    whole_name = start.table.whole_name
    select = read_question(
        sql,
        rows,
        tables=schemas,
        dialect=dialect,
        whole_name=whole_name,
        look_up=look_up_in(frames),
        ends=dict(read_bounds(bounds)),
        numbers=numbers,
    )
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
    question = _group_by(question, select, _keys_of_public(select, keys, frames, rows))
    names = [column.name for column in here]
    ends = {**_public_ends(select, frames), **dict(read_bounds(bounds))}
    return question.agg(**give_bounds(select.aggregates, ends or None, columns=names))


def _public_ends(select: ReadSql, frames: Mapping[str, object]) -> dict[str, object]:
    """The least and the largest number of each column of a public table that is added up."""
    joins = (*select.joins, *(() if select.units is None else select.units.joins))
    used = {name for one in select.aggregates.values() for name in columns_within(one)}
    columns = [c for join in joins if join.name in frames for c in join.added if c.name in used]
    ends = {column.name: (column.lower, column.upper) for column in columns}
    return {name: pair for name, pair in ends.items() if None not in pair}


def _with_names(frame: object, renamed: Mapping[str, str]) -> object:
    if not renamed:
        return frame
    from letalone.engines.frames import arrow, to_arrow  # loads Arrow

    return arrow.rename_columns(to_arrow.as_arrow(frame), renamed)


def look_up_in(frames: Mapping[str, object]) -> LookUp:
    """What reads rows of public tables, for queries within a query."""

    def look_up(asked: PublicSelect) -> Sequence[tuple[Value, ...]]:
        from letalone.engines.public_values import select_public  # loads DuckDB
        from letalone.session.joins.public_joins import describe_public

        frame = frames[asked.table]
        schema = describe_public(frame, asked.table)
        return select_public(frame, schema, asked.columns, asked.where, once=asked.once)

    return look_up


def _join(
    question: "Query",
    joins: Iterable[Joined],
    frames: Mapping[str, object],
    others: Mapping[str, QueryBuilder],
) -> "Query":
    for join in joins:
        other = others.get(join.name)
        if other is None:
            frame = _with_names(frames[join.name], join.renamed)
            how = "left" if join.outer else "inner"
            question = question.join(frame, on=dict(join.on), name=join.name, how=how)
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
    """What is in the public tables: columns, and from where to where their numbers go."""
    if not frames:
        return {}
    from letalone.engines.frames.arrow import number_ends  # loads Arrow
    from letalone.engines.frames.to_arrow import as_arrow
    from letalone.session.joins.public_joins import describe_public

    def known(name: str, frame: object) -> Schema:
        schema, table = describe_public(frame, name), as_arrow(frame)
        return replace(schema, columns=tuple(_with_ends(c, table) for c in schema.columns))

    def _with_ends(column: Column, table: "ArrowTable") -> Column:
        ends = number_ends(table, column.name) if column.type.is_numeric else None
        if ends is None or ends[0] == ends[1]:
            return column
        return replace(column, lower=ends[0], upper=ends[1])

    return {name: known(name, frame) for name, frame in frames.items()}


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
    select: ReadSql, keys: object, frames: Mapping[str, object], rows: Schema
) -> object:
    """With the keys of group columns of public tables: anyone may see which values these have."""
    if keys is not None and not isinstance(keys, Mapping):
        return keys
    listed = dict(cast("Mapping[str, object]", keys or {}))
    columns = {name: of for name, of in map(_column_of, select.groups) if of is not None}
    together: dict[str, list[tuple[Key, ...]]] = {}
    for join in select.joins:
        # Values beside each unit may tell people apart, and a question must not hold those.
        if join.name not in frames or rows.unit in {left for left, _ in join.on}:
            continue
        wanted = [name for name, of in columns.items() if name not in listed and _has(join, of)]
        frame = _with_names(frames[join.name], join.renamed)
        found = _values_of_public(frame, join.added, {columns[name] for name in wanted})
        known = [name for name in wanted if columns[name] in found]
        for name in known:
            values = found[columns[name]]
            listed[name] = [*values, None] if join.outer else values
        if len(join.on) == 1 and not join.outer:
            listed |= _joined_keys(frame, join, columns, listed, rows)
        if len(known) > 1 and not join.outer:
            together[join.name] = _combinations(frame, [columns[name] for name in known])
            columns |= dict.fromkeys(known, join.name)
    combined = _combined(select, listed, columns, together, rows) or listed or None
    if combined is None or keys is not None or select.units is not None:
        return combined
    return combined if _are_known(select, listed, rows) else None


def _are_known(select: ReadSql, listed: Mapping[str, object], rows: Schema) -> bool:
    """Whether the keys of all groups are public; else all of them are found together."""
    added = {column.name: column for join in select.joins for column in join.added}
    own = [column for column in rows.columns if column.name not in added]
    columns = columns_of(Schema(rows.name, (*own, *added.values())), where=select.where)
    others = [group for group in select.groups if _name_of(group) not in listed]
    known = [domain_of(expression_of(group), columns, select.where) for group in others]
    return None not in known


def _name_of(group: Group) -> str:
    match group:
        case str():
            return group
        case (str() as name, _):
            return name
        case _:
            return group.name


def _joined_keys(
    frame: object,
    join: Joined,
    columns: Mapping[str, str],
    listed: Mapping[str, object],
    rows: Schema,
) -> dict[str, list[Key]]:
    """Of a group column that a public table is joined on: the keys that this table has, too."""
    ((left, right),) = join.on
    names = [name for name, of in columns.items() if of == left and name not in listed]
    if not names:
        return {}
    found = _values_of_public(frame, join.schema.columns, {right}).get(right, [])
    declared = {column.name: column.keys for column in rows.columns}.get(left)
    keys = found if declared is None else [key for key in declared if key in found]
    return dict.fromkeys(names, keys) if keys else {}


def _column_of(group: Group) -> tuple[str, str | None]:
    """The name of a group, and of the column that it is, if it is one."""
    match group:
        case str():
            return group, group
        case (str() as name, ColumnRef(column)):
            return name, column
        case _:
            return "", None


def _has(join: Joined, column: str) -> bool:
    return any(added.name == column for added in join.added)


def _combinations(frame: object, columns: Sequence[str]) -> list[tuple[Key, ...]]:
    from letalone.engines.frames.arrow import distinct_rows  # loads Arrow
    from letalone.engines.frames.to_arrow import as_arrow

    return distinct_rows(as_arrow(frame), columns, at_most=MOST_PUBLIC_KEYS)


def _combined(
    select: ReadSql,
    listed: Mapping[str, object],
    columns: Mapping[str, str],
    together: Mapping[str, list[tuple[Key, ...]]],
    rows: Schema,
) -> list[tuple[object, ...]] | None:
    """The keys of all groups as rows, where two are of one public table: those that it has."""
    names = [name for name, _ in map(_column_of, select.groups)]
    blocks: dict[str, list[tuple[object, ...]]] = {}
    for name in names:
        own = {column.name: column.keys for column in rows.columns}.get(columns.get(name, ""))
        given = cast("Sequence[object] | None", listed.get(name) or own)
        if columns.get(name) in together:
            blocks[columns[name]] = [*together[columns[name]]]
        elif given:
            blocks[name] = [(value,) for value in given]
        else:
            return None
    if (
        not together
        or prod(map(len, blocks.values())) > MOST_PUBLIC_KEYS
        or not all(blocks.values())
    ):
        return None
    order = [
        name
        for block in blocks
        for name in names
        if columns.get(name, name) == block or name == block
    ]
    keys = [sum(parts, ()) for parts in product(*blocks.values())]
    places = [order.index(name) for name in names]
    return [tuple(key[place] for place in places) for key in keys]


def _values_of_public(
    frame: object, columns: Iterable[Column], wanted: set[str]
) -> dict[str, list[Key]]:
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
