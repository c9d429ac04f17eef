"""What an engine promises, and what those on DuckDB, PostgreSQL and Spark share: statements.

Tested:   tests/engines/test_engine_laws.py, which every engine has to pass
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar, cast

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.failure import EngineFailed
from letalone.engines.core.measures import Exact, Measure, RowScope
from letalone.engines.core.one_row import lent_rows, one_row_scope, training_rows, unit_kind
from letalone.engines.core.rows import TableRef, Tables, lent_name, mark_of
from letalone.engines.core.statements import NUMBER, Statement, build_discovery, build_statements
from letalone.engines.core.stored_types import columns_in_a_zone, columns_read_from_text
from letalone.engines.core.syntax import Sql
from letalone.engines.frames import arrow
from letalone.plans.expressions import Expression
from letalone.plans.plan import PrivateJoin, PublicJoin
from letalone.plans.schema import Schema
from letalone.plans.types import Key, Type

Progress = Callable[[float], None]
Built = TypeVar("Built", exp.Select, list[Statement])


class Engine(ABC):
    """Runs measures over a table; what it returns is private."""

    def __init__(self, relation: TableRef, schema: Schema) -> None:
        self._relation, self._schema = relation, schema
        self._trusted: tuple[str, ...] = ()
        self._copies = 0
        self._lock = RLock()  # a connection runs one statement at a time

    def schema(self) -> Schema:
        """The columns and their types, from metadata alone."""
        return self._schema

    def read_from_text(self) -> frozenset[str]:
        """The columns that are stored as text and declared to be something else: metadata."""
        return columns_read_from_text(self._schema, self._relation.columns)

    def counted_in_utc(self) -> frozenset[str]:
        """The columns of times that may have a time zone: metadata."""
        return columns_in_a_zone(self._schema, self._relation.columns)

    @property
    def has_loose_times(self) -> bool:
        """Whether cells decide if times have a time zone, as in a pandas frame."""
        return False

    def taken_on_trust(self) -> tuple[str, ...]:
        """What is not seen of how the rows were made, in words for every answer: metadata."""
        return self._trusted

    def unit_kind(self, unit: str) -> str:
        """How the units of a column are told apart: metadata."""
        return unit_kind(self._relation, unit)

    def sql(self, scope: RowScope, measures: Sequence[Measure]) -> str:
        """The statements that `measure` would run, without their parameters, with the table's name
        for where it is."""
        shown, dialect = self._shown(scope, measures), self._tables(scope).dialect
        return ";\n\n".join(dialect.printed(query, pretty=True) for query in shown)

    def discovery_sql(self, scope: RowScope) -> str:
        """The statement that `discover` would run, likewise."""
        named = replace(self._relation, sql=syntax.table(scope.schema.name))
        tables = replace(self._tables(scope), private=named)
        return tables.dialect.printed(build_discovery(scope, tables), pretty=True)

    def measure(self, scope: RowScope, measures: Sequence[Measure]) -> list[Exact]:
        """One entry for each measure: an integer (Cells: a list) for each key, in order."""
        keys = len(scope.keys or ()) if scope.groups else 1
        exact: list[Exact] = [[]] * len(measures)
        with self._built(scope, lambda seen: build_statements(scope, measures, seen)) as made:
            for statement in made:
                cells = self._run(statement.sql, scope)
                rows = [[None if value is None else int(value) for value in row] for row in cells]
                read = statement.read(rows, keys)
                for figure, values in zip(statement.figures, read, strict=True):
                    exact[figure.number] = values
        return exact

    def discover(self, scope: RowScope) -> list[tuple[tuple[Key, ...], int]]:
        """All keys present, with their number of units after bounding."""
        with self._built(scope, lambda seen: build_discovery(scope, seen)) as query:
            rows = self._run(query, replace(scope, keys=None))
        groups = [(cast("tuple[Key, ...]", tuple(row[:-1])), int(row[-1])) for row in rows]
        return sorted(groups, key=lambda pair: [(key is None, str(key)) for key in pair[0]])

    def training_rows(
        self,
        schema: Schema,
        names: Sequence[str],
        *,
        target: str | None,
        where: Expression | None,
        unit_as: str | None = None,
    ) -> dict[str, arrow.Values]:
        """The named columns of the rows that a model is trained on: one of each unit. Private.

        unit_as: all rows of each unit, and the unit of each as text under this name.
        """
        scope, kinds = one_row_scope(schema, where), [schema.column(name).type for name in names]
        shown = list(names)
        if unit_as is not None:
            kinds, shown = [*kinds, Type.TEXT], [*shown, unit_as]

        def build(seen: Tables) -> exp.Select:
            return training_rows(scope, names, target, seen, with_unit=unit_as is not None)

        with self._built(scope, build) as query:
            rows = self._all_rows(query, scope, kinds)
        return dict(zip(shown, arrow.values_of(rows, kinds), strict=True))

    def lend(self, schema: Schema, join: PrivateJoin, names: Iterable[str]) -> object:
        """One row of each unit, with the named columns, for an engine of the same place. Private.

        Rows of a table that is joined to it by its unit get these as partners.
        """
        wanted, scope = list(names), one_row_scope(schema)
        return self._lend(scope, lambda seen: lent_rows(schema, join, wanted, seen))

    @abstractmethod
    def check(self, schema: Schema) -> None:
        """Refuses what could only fail after a charge, from metadata alone: when it is opened."""

    @abstractmethod
    def reach(self) -> None:
        """Before a question is run: SourceAway where a server has the rows and does not answer,
        FileChanged where a file has them and is not what was opened. No row is read.
        """

    def expect(self, scope: RowScope, measures: Sequence[Measure]) -> None:  # noqa: B027
        """What is asked next, before its transaction: what may make it or the next ones faster."""

    def prepare(self, scope: RowScope, *, progress: Progress | None = None) -> None:  # noqa: B027
        """Builds what bounding needs, if it is not there yet; `progress` gets fractions of the work
        done: for the owner, since they tell its size."""

    def keep_counts_beside(self, ledger: Path) -> None:  # noqa: B027
        """Where to keep what was counted for the next process: private, and beside its ledger."""

    @abstractmethod
    def add_public(self, join: PublicJoin, table: object) -> None:
        """Makes a public table known, so that scopes can join it by its digest."""

    @abstractmethod
    def forget_public(self, digest: str) -> None:
        """Lets go of a public table, which must be made known again to be joined."""

    @abstractmethod
    def place(self) -> str:
        """Where statements run: tables of one place can be joined."""

    @abstractmethod
    def borrowing(self, lent: Mapping[str, object]) -> AbstractContextManager[None]:
        """What other tables lend, by the names of their data sets, until the end of the block.

        All that is measured in the block is measured of one state of the table.
        """

    @abstractmethod
    def close(self) -> None:
        """Lets go of the table."""

    @abstractmethod
    def _tables(self, scope: RowScope) -> Tables:
        """What a statement reads."""

    @abstractmethod
    def _built(
        self, scope: RowScope, build: Callable[[Tables], Built]
    ) -> AbstractContextManager[Built]:
        """What `build` makes of what a statement reads; all is prepared, and stays until the end
        of the block."""

    @abstractmethod
    def _lend(self, scope: RowScope, build: Callable[[Tables], exp.Select]) -> object:
        """What `build` makes of what a statement reads, or its rows, for another engine."""

    @abstractmethod
    def _run(self, query: Sql, scope: RowScope) -> list[tuple[Any, ...]]:
        """All rows of a statement's result."""

    def _all_rows(
        self, query: exp.Select, scope: RowScope, kinds: Sequence[Type], /
    ) -> arrow.ArrowTable:
        """All rows of a statement's result as columns of these types: only where rows come here."""
        raise NotImplementedError

    def _shown(self, scope: RowScope, measures: Sequence[Measure]) -> list[Sql]:
        named = replace(self._relation, sql=syntax.table(scope.schema.name))
        made = build_statements(scope, measures, replace(self._tables(scope), private=named))
        return [statement.sql for statement in made]

    def _name_of_copy(self) -> str:
        """A name for a public table, which is never used twice."""
        self._copies += 1
        return f"letalone_public_{self._copies}"


@dataclass(frozen=True, slots=True)
class LentRows:
    """One row of each unit of a table, for a statement about another one of the same place.

    query: made with the connection that reads it, in whose transaction the table is looked at once
    more. locking: the statement that locks the table there, before that transaction's state is.
    """

    place: str
    query: Callable[[Any], exp.Select]
    locking: str = ""


def rows_by_name(lent: Mapping[str, object], place: str) -> dict[str, LentRows]:
    """What is lent, by its names in statements, of data sets by their names."""
    queries = [(name, rows) for name, rows in lent.items() if isinstance(rows, LentRows)]
    known = {lent_name(name): rows for name, rows in queries if rows.place == place}
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
