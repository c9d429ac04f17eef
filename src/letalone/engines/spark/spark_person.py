"""Finds and counts one unit's rows on Spark, for whoever handles a person's request.

Everything here is private. Nothing is written, and of rows only those of one person come back. Rows
on Spark have no place that stays, so they are put in order by their values: of two that are equal
either may be meant. Each statement ends at the time limit of questions.

  Tested:   tests/on_spark/test_curator.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, cast

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.person_rows import ID, PersonQueries, PersonRow
from letalone.engines.core.rows import TableRef
from letalone.engines.core.stored_types import Stored
from letalone.engines.core.syntax import Sql
from letalone.engines.spark.spark_catalogue import look_up_address
from letalone.engines.spark.spark_dialect import SPARK
from letalone.engines.spark.spark_frame import frame_of, own_session, relation_of, view_name
from letalone.engines.spark.spark_jobs import Jobs, jobs_of
from letalone.engines.spark.spark_silence import run_silently
from letalone.engines.spark.spark_versions import print_for_session, rows_of
from letalone.engines.time_limit import MAX_SECONDS
from letalone.plans.schema import Schema
from letalone.plans.types import Type


def rows_of_one(address: str, schema: Schema, unit_id: str) -> list[PersonRow]:
    """The rows of one unit, in the order of their values. Only declared columns are read."""
    with _open_table(address) as table:
        queries = PersonQueries(table.relation, schema, SPARK)
        return queries.person_rows(table.run(queries.rows(), unit_id))


def number_of_one(address: str, schema: Schema, unit_id: str) -> int:
    """How many rows a unit has."""
    with _open_table(address) as table:
        rows = table.run(PersonQueries(table.relation, schema, SPARK).number(), unit_id)
    return cast("int", rows[0][0])


def units_at(address: str, schema: Schema) -> Iterator[str]:
    """The ids of all units, as text, one after the other: there may be many."""
    with _open_table(address) as table:
        query = PersonQueries(table.relation, schema, SPARK).ids()
        jobs = Jobs(table.session.sparkContext, view_name())
        with jobs.ending(MAX_SECONDS):
            rows = run_silently(lambda: table.iterated(query, jobs))
            while (row := run_silently(lambda: next(rows, None))) is not None:
                yield str(row[0])


def spelled_at(address: str, schema: Schema, typed: str) -> str | None:
    """A typed id as Spark spells the unit: 007 is 7; None where it can be no unit there."""
    with _open_table(address) as table:
        stored = table.relation.columns[schema.unit or ""]
        if stored.stored == "VARCHAR":
            return typed  # byte by byte
        value: Sql = exp.Placeholder(this=ID)
        if stored.stored != "CHAR":
            kind = exp.DataType.build(table.kinds[stored.name], "spark")
            value = exp.TryCast(this=value, to=kind)
        spelled = syntax.alias(SPARK.text(stored, SPARK.unit(stored, value)), ID)
        unit = cast("str | None", table.run(exp.select(spelled), typed)[0][0])
    return None if unit is None or _is_rounded(typed, unit, stored) else unit


@dataclass(frozen=True, slots=True)
class _OpenTable:
    session: Any
    relation: TableRef
    kinds: dict[str, str]

    def framed(self, query: exp.Select, **given: str) -> Any:
        return self.session.sql(print_for_session(query, self.session), args=given or None)

    def run(self, query: exp.Select, unit_id: str) -> list[tuple[Any, ...]]:
        return run_silently(lambda: self._collected(query, unit_id))

    def iterated(self, query: exp.Select, jobs: Jobs) -> Iterator[Any]:
        with jobs.tagged():
            return iter(self.framed(query).toLocalIterator())

    def _collected(self, query: exp.Select, unit_id: str) -> list[tuple[Any, ...]]:
        with jobs_of(self.session, view_name(), seconds=MAX_SECONDS):
            return rows_of(self.framed(query, **{ID: unit_id}))


@contextmanager
def _open_table(address: str) -> Generator[_OpenTable]:
    frame, view = run_silently(lambda: frame_of(look_up_address(address))), view_name()
    relation = run_silently(lambda: relation_of(frame, view=view))
    session = run_silently(lambda: own_session(frame))
    kinds = {str(field.name): str(field.dataType.simpleString()) for field in frame.schema.fields}
    run_silently(lambda: frame.createGlobalTempView(view))
    try:
        yield _OpenTable(session, relation, kinds)
    finally:
        with suppress(Exception):  # the cluster may have gone before
            session.catalog.dropGlobalTempView(view)


def _is_rounded(typed: str, found: str, stored: Stored) -> bool:
    """Whether Spark read another value than was typed, which may be another person's id."""
    if stored.type is Type.DATE:
        return re.fullmatch(r"\s*[+-]?\d+-\d+-\d+\s*", typed) is None  # Spark drops the rest
    if stored.type is Type.TIMESTAMP:
        return re.search(r"\.\d{6}\d*[1-9]", typed) is not None
    return stored.type in (Type.INTEGER, Type.NUMBER) and not _is_same_number(typed, found)


def _is_same_number(typed: str, found: str) -> bool:
    """A double is the number that it is written as, in Java's way or in Python's: 0.1 is that."""
    with suppress(InvalidOperation):
        return Decimal(typed) in (Decimal(found), Decimal(repr(float(found))))
    return False
