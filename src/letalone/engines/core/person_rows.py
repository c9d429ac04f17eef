"""Writes statements about one unit's rows, for whoever handles a person's request.

Everything here is private. A unit is found as questions tell units apart, by its spelling as text,
and only declared columns are read. Rows that have no place of their own are put in order by their
values: of two that are equal either may be meant.

  Tested:   tests/curator/test_sources_on_servers.py, tests/on_spark/test_curator.py
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.dialect import Dialect
from letalone.engines.core.rows import TableRef, unit_of, value_of
from letalone.engines.core.syntax import Sql
from letalone.plans.schema import Schema

SOURCE, ID = "source", "id"


@dataclass(frozen=True, slots=True)
class PersonRow:
    """A row by where it lies, if it does here, and its declared columns by the declared rules."""

    place: tuple[str, ...]
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class PersonQueries:
    """The statements about one unit of a table, whose id is the parameter ID."""

    relation: TableRef
    schema: Schema
    dialect: Dialect

    def rows(self, place: Sequence[str] = ()) -> exp.Select:
        """The unit's rows: where each lies, as text, and its declared columns."""
        where = [self.as_text(syntax.column(name, SOURCE)) for name in place]
        columns = self.schema.columns
        values = [value_of(self.relation, column, SOURCE, self.dialect) for column in columns]
        return syntax.select([*where, *values], self.source, where=[self.is_theirs()])

    def number(self) -> exp.Select:
        """How many rows the unit has."""
        number = exp.Count(this=exp.Star())
        return syntax.select([number], self.source, where=[self.is_theirs()])

    def ids(self) -> exp.Select:
        """The ids of all units, as text."""
        known = syntax.is_present(self.unit)
        return syntax.select([syntax.alias(self.unit, ID)], self.source, where=[known]).distinct()

    def is_theirs(self, unit_id: Sql | None = None) -> Sql:
        """Whether a row is the unit's."""
        return syntax.operation(exp.EQ, self.unit, unit_id or self.as_text(self.parameter))

    @property
    def unit(self) -> Sql:
        """The id of a row's unit: one spelling for each."""
        column = self.schema.column(self.schema.unit or "")
        unit = unit_of(self.relation, column, SOURCE, self.dialect)
        return self.dialect.text(self.relation.columns[column.name], unit)

    @property
    def source(self) -> Sql:
        return syntax.rename(self.relation.sql, SOURCE)

    @property
    def parameter(self) -> Sql:
        return exp.Placeholder(this=ID)

    def as_text(self, of: Sql) -> Sql:
        return syntax.cast_to(of, syntax.TEXT)

    def person_rows(self, rows: Iterable[tuple[object, ...]], known: int = 0) -> list[PersonRow]:
        """What `rows` gave; the first columns say where each lies, and then they are in order."""
        if not known:
            rows = sorted(rows, key=lambda row: [(value is None, str(value)) for value in row])
        names = [column.name for column in self.schema.columns]
        pairs = [(row[:known], dict(zip(names, row[known:], strict=True))) for row in rows]
        return [PersonRow(cast("tuple[str, ...]", place), values) for place, values in pairs]
