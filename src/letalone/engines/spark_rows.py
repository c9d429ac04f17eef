"""One unit's rows of a table on Spark: found and counted, for whoever handles a person's request.

Everything here is private. Nothing is written, and of rows only those of one person come back. Rows
on Spark have no place that stays, so they are put in order by their values: of two that are equal
either may be meant.

  Tested:   tests/on_spark/test_addresses.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, cast

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.dialects.spark import SPARK
from letalone.engines.rows import Relation, unit_of
from letalone.engines.spark_address import located
from letalone.engines.spark_frame import frame_of, own_session, relation_of, view_name
from letalone.engines.spark_silence import privately
from letalone.engines.spark_versions import printed, rows_of
from letalone.engines.syntax import Sql
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

SOURCE, ID = "source", "id"
TEXTS = ("VARCHAR", "CHAR")


@dataclass(frozen=True, slots=True)
class SparkRow:
    """The declared columns of a row by the declared rules."""

    values: dict[str, object]


def rows_of_one(address: str, schema: Schema, unit_id: str) -> list[SparkRow]:
    """The rows of one unit, in the order of their values. Only declared columns are read."""
    with _opened(address) as table:
        values = [_value(table.relation, column) for column in schema.columns]
        query = syntax.select(values, _source(table.relation), where=[_is(table.relation, schema)])
        found = table.run(query, unit_id)
    names = [column.name for column in schema.columns]
    ordered = sorted(found, key=lambda row: [(one is None, str(one)) for one in row])
    return [SparkRow(dict(zip(names, row, strict=True))) for row in ordered]


def number_of_one(address: str, schema: Schema, unit_id: str) -> int:
    """How many rows a unit has."""
    with _opened(address) as table:
        number = exp.Count(this=exp.Star())
        where = [_is(table.relation, schema)]
        found = table.run(syntax.select([number], _source(table.relation), where=where), unit_id)
    return cast("int", found[0][0])


def units_at(address: str, schema: Schema) -> Iterator[str]:
    """The ids of all units, as text, one after the other: there may be many."""
    with _opened(address) as table:
        unit = syntax.alias(_unit(table.relation, schema), ID)
        query = syntax.select([unit], _source(table.relation)).distinct()
        rows = privately(lambda: iter(table.framed(query).toLocalIterator()))
        while (row := privately(lambda: next(rows, None))) is not None:
            if row[0] is not None:
                yield str(row[0])


def spelled_at(address: str, schema: Schema, typed: str) -> str | None:
    """A typed id as Spark spells the unit: 007 is 7; None where it can be no unit there."""
    with _opened(address) as table:
        stored = table.relation.columns[schema.unit or ""]
        if stored.stored in TEXTS:
            return typed  # byte by byte
        kind = table.kinds[stored.name]
        value = exp.TryCast(this=exp.Placeholder(this=ID), to=exp.DataType.build(kind, "spark"))
        spelled = syntax.alias(_as_text(SPARK.unit(stored, value)), ID)
        found = table.run(exp.select(spelled), typed)
    return cast("str | None", found[0][0])


@dataclass(frozen=True, slots=True)
class _Opened:
    session: Any
    relation: Relation
    kinds: dict[str, str]

    def framed(self, query: exp.Select, **given: str) -> Any:
        return self.session.sql(printed(query, self.session), args=given or None)

    def run(self, query: exp.Select, unit_id: str) -> list[tuple[Any, ...]]:
        return privately(lambda: rows_of(self.framed(query, **{ID: unit_id})))


@contextmanager
def _opened(address: str) -> Generator[_Opened]:
    """The table in a session of our own."""
    frame, view = privately(lambda: frame_of(located(address))), view_name()
    relation = privately(lambda: relation_of(frame, view=view))
    session = privately(lambda: own_session(frame))
    kinds = {str(one.name): str(one.dataType.simpleString()) for one in frame.schema.fields}
    privately(lambda: frame.createGlobalTempView(view))
    try:
        yield _Opened(session, relation, kinds)
    finally:
        with suppress(Exception):  # the cluster may have gone before
            session.catalog.dropGlobalTempView(view)


def _is(relation: Relation, schema: Schema) -> Sql:
    """Whether a row is the unit's, as questions tell units apart."""
    return syntax.operation(exp.EQ, _unit(relation, schema), exp.Placeholder(this=ID))


def _unit(relation: Relation, schema: Schema) -> Sql:
    """The unit of a row as text."""
    return _as_text(unit_of(relation, schema.column(schema.unit or ""), SOURCE, SPARK))


def _value(relation: Relation, column: Column) -> Sql:
    stored = relation.columns[column.name]
    term = SPARK.read(stored, syntax.named(stored.name, SOURCE), column)
    if column.type is Type.NUMBER and not term.finite:
        return syntax.case((syntax.is_finite(term.sql), term.sql))
    return term.sql


def _source(relation: Relation) -> Sql:
    return syntax.renamed(relation.sql, SOURCE)


def _as_text(of: Sql) -> Sql:
    return exp.Cast(this=of, to=exp.DataType.build("STRING", dialect="spark"))
