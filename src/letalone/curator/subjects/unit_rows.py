"""Finds, shows, corrects and removes one person's rows in a table that the service holds.

Everything here is private: it is for the steward who handles a person's request. A file is never
changed; a new one is written beside it, and takes its place whole.

  Tested:   tests/curator/test_subjects.py
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, cast

from sqlglot import exp

from letalone.curator.data_sets.copies import KEPT, by_rule, opened_copy, save
from letalone.engines.core import syntax
from letalone.engines.core.failure import hide_engine_errors
from letalone.engines.core.rows import TableRef
from letalone.engines.core.stored_types import SQL_TYPES, Stored
from letalone.engines.core.syntax import Sql
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.engines.postgres import postgres_person as server_rows
from letalone.engines.spark import spark_person as spark_rows
from letalone.errors import ParameterError
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.sources.spark_names import is_spark_address

Changes = Mapping[str, object]  # new values, by column


class RuledValue(NamedTuple):
    """A new value as the rules keep it, and as it was before the bounds."""

    kept: object
    plain: object


def spelled_id(file: Path | str, schema: Schema, typed: str) -> str | None:
    """A typed id as the table spells it, read as its unit is: 007 is 7; None where it is none."""
    column = schema.column(_check_has_unit(schema))
    if isinstance(file, str):
        return _at(file).spelled_at(file, schema, typed)
    if column.type is Type.TEXT:
        return typed
    with closing(LockedDuck()) as duck:
        duck.lock([])
        loaded = _typed_cell(column, typed)
        cell = syntax.select(
            [syntax.alias(by_rule(loaded, column, clamped=False), column.name)], loaded.sql
        )
        text = syntax.select([_as_text(column)], syntax.subquery(cell, "read"))
        ((spelled,),) = hide_engine_errors(lambda: duck.run(text))
    return cast("str | None", spelled)


def unit_ids(file: Path | str, schema: Schema) -> Iterable[str]:
    """All ids in a table, as text. Private."""
    if isinstance(file, str):
        return _at(file).units_at(file, schema)
    with opened_copy(file, schema) as duck:
        ids = syntax.select([_id(schema)], _kept_rows())
        rows = hide_engine_errors(lambda: duck.run(ids.distinct()))
    return [cast("str", row[0]) for row in rows]


def rows_of_unit(file: Path | str, schema: Schema, unit_id: str) -> list[dict[str, object]]:
    """The rows of one person, in order. Private: for the one who handles the request."""
    if isinstance(file, str):
        _check_has_unit(schema)
        return [dict(row.values) for row in _at(file).rows_of_one(file, schema, unit_id)]
    names = [column.name for column in schema.columns]
    with opened_copy(file, schema) as duck:
        columns = [syntax.column(name) for name in names]
        query = syntax.select(columns, _kept_rows(), where=[_is_unit(schema, unit_id)])
        rows = hide_engine_errors(lambda: duck.run(query.order_by(exp.column("rowid"))))
    return [dict(zip(names, row, strict=True)) for row in rows]


def number_of_rows(file: Path | str, schema: Schema, unit_id: str) -> int:
    """How many rows a person has. Private."""
    if isinstance(file, str):
        _check_has_unit(schema)
        return _at(file).number_of_one(file, schema, unit_id)
    with opened_copy(file, schema) as duck:
        query = syntax.select(
            [exp.Count(this=exp.Star())], _kept_rows(), where=[_is_unit(schema, unit_id)]
        )
        return cast("int", hide_engine_errors(lambda: duck.run(query))[0][0])


def copy_without(file: Path, schema: Schema, unit_id: str, target: Path) -> None:
    """A new file without a person's rows."""
    with opened_copy(file, schema, target) as duck:
        gone = exp.Delete(this=syntax.table(KEPT), where=exp.Where(this=_is_unit(schema, unit_id)))
        hide_engine_errors(lambda: duck.run(gone))
        hide_engine_errors(lambda: save(duck, schema, target))


def copy_corrected(
    file: Path, schema: Schema, unit_id: str, target: Path, *, row: int, changes: Changes
) -> list[str] | None:
    """A new file in which one row of a person has other values, by the same rules.

    What the rules made of the new values, in words; None where there is no such row, and the new
    file has the same rows.
    """
    with opened_copy(file, schema, target) as duck:
        ids = syntax.select([exp.column("rowid")], _kept_rows(), where=[_is_unit(schema, unit_id)])
        ruled = _apply_all_rules(duck, schema, changes)
        rows = hide_engine_errors(lambda: duck.run(ids.order_by(exp.column("rowid"))))
        if not 0 <= row < len(rows):
            hide_engine_errors(lambda: save(duck, schema, target))
            return None
        kept = {name: _constant(schema.column(name), new.kept) for name, new in ruled.items()}
        values = [exp.EQ(this=syntax.column(name), expression=new) for name, new in kept.items()]
        place = syntax.whole(cast("int", rows[row][0]))
        here = syntax.operation(exp.EQ, exp.column("rowid"), place)
        change = exp.Update(this=syntax.table(KEPT), expressions=values, where=exp.Where(this=here))
        hide_engine_errors(lambda: duck.run(change))
        hide_engine_errors(lambda: save(duck, schema, target))
    return _remarks(schema, ruled)


def check_corrected(schema: Schema, changes: Changes) -> list[str]:
    """Refuses values of another type; what the rules would make of the others, in words."""
    with closing(LockedDuck()) as duck:
        duck.lock([])
        ruled = _apply_all_rules(duck, schema, changes)
    return _remarks(schema, ruled)


def _remarks(schema: Schema, ruled: Mapping[str, RuledValue]) -> list[str]:
    return [words for name, value in ruled.items() for words in _remark(schema.column(name), value)]


def _remark(column: Column, ruled: RuledValue) -> Iterator[str]:
    if ruled.kept != ruled.plain:
        bounds = (column.lower, column.upper)
        ends = " and ".join("none" if end is None else f"{float(end):g}" for end in bounds)
        yield (
            f"{column.name!r} is kept as {ruled.kept}: the declared bounds are {ends},"
            " and a value outside becomes the bound."
        )
    if ruled.kept is not None and column.keys is not None and ruled.kept not in column.keys:
        yield (
            f"The new value of {column.name!r} is none of the declared keys: the row is left out of"
            " answers that are grouped by it."
        )


def _apply_all_rules(duck: LockedDuck, schema: Schema, changes: Changes) -> dict[str, RuledValue]:
    return {name: _apply_rules(duck, schema.column(name), new) for name, new in changes.items()}


def _apply_rules(duck: LockedDuck, column: Column, value: object) -> RuledValue:
    """The new value by the rules; refused where it is none of the declared type."""
    if value is None:
        return RuledValue(None, None)
    loaded = _typed_cell(column, str(value).lower() if isinstance(value, bool) else str(value))
    both = [by_rule(loaded, column), by_rule(loaded, column, clamped=False)]
    ((kept, plain),) = hide_engine_errors(lambda: duck.run(syntax.select(both, loaded.sql)))
    if kept is None:
        raise ParameterError(
            f"The new value of {column.name!r} is no {column.type.value}. Write it as in a CSV"
            " file."
        )
    return RuledValue(kept, plain)


def _typed_cell(column: Column, written: str) -> TableRef:
    """One cell of text, as a CSV file has it."""
    one_row = syntax.rename(syntax.call("range", syntax.whole(1)), "once")
    text = syntax.select([syntax.alias(syntax.text(written), column.name)], one_row)
    return TableRef(syntax.subquery(text, "loaded"), {column.name: Stored(column.name, "VARCHAR")})


def _constant(column: Column, value: object) -> Sql:
    if value is None:
        return syntax.NULL.copy()
    sql = syntax.double(value) if isinstance(value, float) else syntax.constant(cast("str", value))
    return syntax.cast_to(sql, SQL_TYPES[column.type])


def _kept_rows() -> Sql:
    return syntax.rename(syntax.table(KEPT), "kept")


def _id(schema: Schema) -> Sql:
    return _as_text(schema.column(_check_has_unit(schema)))


def _as_text(column: Column) -> Sql:
    """How an id is spelled; zero in one way."""
    value = syntax.column(column.name)
    if column.type is Type.NUMBER:
        zero = syntax.operation(exp.EQ, value, syntax.double(0.0))
        value = syntax.case((zero, syntax.double(0.0)), otherwise=value.copy())
    return syntax.cast_to(value, SQL_TYPES[Type.TEXT])


def _check_has_unit(schema: Schema) -> str:
    if schema.unit is None:
        raise ParameterError(
            f"In {schema.name!r} each row is a different person, and no column identifies people:"
            " rows cannot be found by an id."
        )
    return schema.unit


def _is_unit(schema: Schema, unit_id: str) -> Sql:
    return syntax.operation(exp.EQ, _id(schema), syntax.text(unit_id))


def _at(address: str):
    """What finds rows there; both modules have the same functions."""
    return spark_rows if is_spark_address(address) else server_rows
