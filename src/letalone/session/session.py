"""A session: a table, whose privacy is protected, and a budget; where questions are asked.

Tested:   tests/session
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self, TypedDict, Unpack, overload

from letalone.answers import views
from letalone.errors import ParameterError
from letalone.exact.typed import Number
from letalone.plans.aggregates.facts import Bounds
from letalone.plans.aggregates.requests import private_bounds
from letalone.plans.expressions import Expression
from letalone.plans.schema import Schema
from letalone.privacy import Budget, Neighbours
from letalone.session.backend import Backend
from letalone.session.builder import QueryBuilder
from letalone.session.query import Query
from letalone.session.release import Release
from letalone.session.steps.row_limit import MaxRows

if TYPE_CHECKING:
    from letalone.ledger import Ledger
    from letalone.session.batch import Batch


class SqlOptions(TypedDict, total=False):
    """What `Session.sql` takes beside the SQL and its epsilon."""

    delta: Number
    keys: object
    bounds: Bounds | None
    tables: Mapping[str, object] | None
    dialect: str | None
    max_rows: MaxRows | None
    max_groups: int | None
    confirm: bool


class Session(QueryBuilder):
    """An open table with a budget, made by `la.open`; a context manager.

    `.where`, `.derive`, `.join`, `.per_unit`, `.group_by`, `.agg` and `.bound` begin a question.
    """

    __slots__ = ("_table",)

    def __init__(self, table: Backend) -> None:
        self._table = table

    def _so_far(self) -> Query:
        return Query(self._table)

    def on_behalf_of(
        self, analyst: str, *, purpose: str, time_step_seconds: float = 0
    ) -> "Session":
        """The same table for one who asks, and what for: both stand in the ledger.

        With time_step_seconds, an answer is stored and given a whole number of steps after the
        charge, so that its time does not tell how long the data took.
        """
        from letalone.ledger.data_sets import read_text  # of no use to a client
        from letalone.session.time_steps import Asker

        who, why = read_text("analyst", analyst), read_text("purpose", purpose)
        return Session(self._table.asked_by(Asker(who, why, time_step_seconds)))

    @property
    def name(self) -> str:
        """The data set's name: the budget belongs to it."""
        return self._table.name

    @property
    def schema(self) -> Schema:
        """What is public about the table."""
        return self._table.schema

    @property
    def columns(self) -> dict[str, str]:
        """The names of the columns and their types."""
        return {column.name: column.type.value for column in self.schema.columns}

    @property
    def unit(self) -> str:
        """Whose privacy is protected: the name of a column, or 'row'."""
        return self.schema.unit or "row"

    @property
    def neighbours(self) -> Neighbours:
        """Which tables must look alike."""
        return self.schema.protects

    @property
    def ledger(self) -> "Ledger":
        """The ledger that answers are charged to."""
        return self._table.ledger

    @property
    def budget(self) -> Budget:
        """What all answers together may reveal: the certified statement."""
        return self._table.standing().budget

    @property
    def spent(self) -> Budget:
        """About what was spent: an estimate, the budget is the guarantee."""
        return self._table.standing().spent

    @property
    def remaining(self) -> Budget:
        """About what is left: an estimate, the budget is the guarantee."""
        return self._table.standing().remaining

    def how_many_more(self, query: Query, *, epsilon: Number, delta: Number = 0) -> int | float:
        """About how many more such questions fit, if nothing else is asked."""
        self._check_own(query)
        return query.price(epsilon, delta=delta).how_many_more()

    @overload
    def sql(self, sql: str, *, epsilon: None = None, **given: Unpack[SqlOptions]) -> Query: ...

    @overload
    def sql(self, sql: str, *, epsilon: Number, **given: Unpack[SqlOptions]) -> Release: ...

    def sql(
        self,
        sql: str,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        keys: object = None,
        bounds: Bounds | None = None,
        tables: Mapping[str, object] | None = None,
        dialect: str | None = None,
        max_rows: MaxRows | None = None,
        max_groups: int | None = None,
        confirm: bool = False,
    ) -> Query | Release:
        """The question that a SELECT asks; with an epsilon its answer, at once.

        `bounds={"cost": (0, 1000)}` and `keys={"ward": ["A", "B"]}` are what the SQL leaves open;
        `tables={"cities": frame}` are public tables that it may join, and `{"labs": session}` a
        private one, on the unit; then both data sets are charged. The first dialect that
        fits is read: duckdb, postgres, spark, bigquery, tsql, mysql, sqlite.
        """
        from letalone.session.sql_question import query_in_sql  # loads a reader of SQL

        question = query_in_sql(
            self._so_far(), sql, keys=keys, bounds=bounds, tables=tables, dialect=dialect
        )
        question = question.bound(max_rows=max_rows, max_groups=max_groups)
        if epsilon is None:
            return question
        return question.release(epsilon=epsilon, delta=delta, confirm=confirm)

    def private_bounds(
        self,
        of: str | Expression,
        *,
        epsilon: Number,
        rows: int | None = None,
        confirm: bool = False,
    ) -> Release:
        """Bounds of a column, found privately, from one row of each unit.

        `rows` is how many units there are, in public. Refused, before anything is spent, where more
        than a tenth of them may lie beyond a bound; without it, where more than a thousand may.
        """
        from letalone.session.steps.bounds_purchase import MAX_ROWS_BEYOND

        query = self.agg(bounds=private_bounds(of))
        query = query if self.schema.unit is None else query.bound(max_rows=1)
        beyond = query.preview(epsilon=epsilon).errors["bounds"] or 0
        limit = MAX_ROWS_BEYOND if rows is None else rows / 10
        if beyond > limit:
            raise ParameterError(
                f"At this ε about {beyond:,.0f} rows at each end may be outside the bounds, more"
                f" than {limit:,.0f}. Give a larger epsilon, rows= if there are many in public, or"
                " bounds that are publicly known. Nothing was spent."
            )
        return query.release(epsilon=epsilon, confirm=confirm)

    def batch(
        self,
        queries: Sequence[Query],
        *,
        epsilon: Number | Sequence[Number],
        delta: Number = 0,
        confidence: Number = 0.95,
        confirm: bool = False,
    ) -> "Batch":
        """The answers to several questions, each at this (epsilon, delta), as one charge.

        `epsilon` is the price of each question, not of all: three at 0.5 cost 1.5, or less where
        composing exactly saves some. It may be a list, one for each. `confirm` as in
        `Query.release`.
        """
        from letalone.session.batch import release_batch  # loads engines

        prices = _epsilons(queries, epsilon)
        for query in queries:
            self._check_own(query)
        pairs = zip(queries, prices, strict=True)
        priced = (query.price(each, delta=delta, confidence=confidence) for query, each in pairs)
        return release_batch([replace(each.here(), confirmed=confirm) for each in priced])

    def close(self) -> None:
        """Lets go of the data; what was spent stays spent."""
        self._table.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("A session is not pickled: call la.open where it is needed.")

    def __repr__(self) -> str:
        table = self._table
        if not table.is_open:
            return f"{type(self).__name__}({table.name!r}, closed)"
        return views.flowing(table.describe())

    def _repr_html_(self) -> str:
        return views.lines_as_html(repr(self))

    def _check_own(self, query: object) -> None:
        if not isinstance(query, Query):
            kind = type(query).__name__
            raise ParameterError(f"This is {kind}, but must be a question, as .agg(…) makes it.")
        if query.table is not self._table:
            raise ParameterError("This question belongs to another session. Ask it there.")


def _epsilons(queries: Sequence[Query], epsilon: Number | Sequence[Number]) -> Sequence[Number]:
    if not queries:
        raise ParameterError("The batch is empty. Give at least one question.")
    if not isinstance(epsilon, Sequence):
        return [epsilon] * len(queries)
    if len(epsilon) != len(queries):
        raise ParameterError(
            f"There are {len(queries)} questions and {len(epsilon)} epsilons. Give one for each, or"
            " one number for all."
        )
    return epsilon
