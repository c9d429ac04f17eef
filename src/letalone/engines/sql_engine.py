"""The base of the engines on DuckDB, PostgreSQL and Spark: a table, and integers from statements.

Tested:   tests/engines/test_engine_laws.py, which every engine has to pass
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from threading import RLock
from typing import Any, cast

import numpy as np
from sqlglot import exp

from letalone.engines import arrow, syntax
from letalone.engines.failure import EngineFailed
from letalone.engines.measures import Exact, Measure, RowScope
from letalone.engines.one_row import unit_kind
from letalone.engines.reading import columns_read_from_text
from letalone.engines.rows import TableRef, Tables, lent_name, mark_of
from letalone.engines.statements import NUMBER, Statement, build_statements
from letalone.engines.syntax import Sql
from letalone.plans.schema import Schema
from letalone.plans.types import Key
from letalone.randomness.bits import BitSource

KEY_NUMBERS = count()


class SqlEngine(ABC):
    """A table; see `letalone.engines.measures.Engine` for what each method promises."""

    def __init__(self, relation: TableRef, schema: Schema, bits: BitSource) -> None:
        self._relation, self._schema, self._bits = relation, schema, bits
        self._trusted: tuple[str, ...] = ()
        self._copies = 0
        self._lock = RLock()  # a connection runs one statement at a time

    def schema(self) -> Schema:
        return self._schema

    def read_from_text(self) -> frozenset[str]:
        return columns_read_from_text(self._schema, self._relation.columns)

    def taken_on_trust(self) -> tuple[str, ...]:
        return self._trusted

    def unit_kind(self, unit: str) -> str:
        return unit_kind(self._relation, unit)

    def sql(self, scope: RowScope, measures: Sequence[Measure]) -> str:
        """The statements without their parameters, with the table's name for where it is."""
        shown, dialect = self._shown(scope, measures), self._tables(scope).dialect
        return ";\n\n".join(dialect.printed(query, pretty=True) for query in shown)

    def _shown(self, scope: RowScope, measures: Sequence[Measure]) -> list[Sql]:
        named = replace(self._relation, sql=syntax.table(scope.schema.name))
        made = build_statements(scope, measures, replace(self._tables(scope), private=named))
        return [statement.sql for statement in made]

    @abstractmethod
    def _tables(self, scope: RowScope) -> Tables:
        """What a statement reads."""

    @abstractmethod
    def _run(self, query: Sql, scope: RowScope) -> list[tuple[Any, ...]]:
        """All rows of a statement's result."""

    def _measure(
        self, scope: RowScope, made: Sequence[Statement], measures: Sequence[Measure]
    ) -> list[Exact]:
        keys = len(scope.keys or ()) if scope.groups else 1
        exact: list[Exact] = [[]] * len(measures)
        for statement in made:
            rows = [tuple(map(_as_integer, row)) for row in self._run(statement.sql, scope)]
            for figure, values in zip(statement.figures, statement.read(rows, keys), strict=True):
                exact[figure.number] = values
        return exact

    def _discover(self, scope: RowScope, query: Sql) -> list[tuple[tuple[Key, ...], int]]:
        rows = self._run(query, replace(scope, keys=None))
        groups = [(cast("tuple[Key, ...]", tuple(row[:-1])), int(row[-1])) for row in rows]
        return sorted(groups, key=lambda pair: [(key is None, str(key)) for key in pair[0]])

    def _name_of_copy(self) -> str:
        """A name for a public table, which is never used twice."""
        self._copies += 1
        return f"letalone_public_{self._copies}"


@dataclass(frozen=True, slots=True)
class LentRows:
    """One row of each unit of a table, for a statement about another one of the same place.

    query: made with the connection that reads it, in whose transaction the table is looked at once
    more.
    """

    place: str
    query: Callable[[Any], exp.Select]
    parameters: Mapping[str, object]


def rows_by_name(lent: Mapping[str, object], place: str) -> dict[str, LentRows]:
    """What is lent, by its names in statements, of data sets by their names."""
    known = {
        lent_name(name): rows
        for name, rows in lent.items()
        if isinstance(rows, LentRows) and rows.place == place
    }
    if len(known) < len(lent):
        raise EngineFailed  # the session has refused this before anything was charged
    return known


def key_table(scope: RowScope) -> arrow.ArrowTable | None:
    """The listed keys, numbered; None where none are."""
    if not scope.groups or scope.keys is None:
        return None
    mark = mark_of(scope)
    names = [f"{mark}key{number}" for number in range(len(scope.groups))]
    kinds = [group.type.of_keys for group in scope.groups]
    return arrow.key_table(scope.keys, kinds, names=names, number=NUMBER)


def new_key_name() -> str:
    """The name of the parameter with an engine's key of ranks: two may meet in one statement."""
    return f"rank_key_{next(KEY_NUMBERS)}"


def draw_key(bits: BitSource) -> bytes:
    """A new key of ranks."""
    words = np.empty(4, np.uint64)
    bits.fill(words)
    return words.tobytes()


def _as_integer(value: Any) -> int | None:
    return None if value is None else int(value)
