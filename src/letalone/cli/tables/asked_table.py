"""A table as `letalone query` asks it: opened once, not yet registered, with what is known of it.

`read` makes a question of the options that were typed; everything that is missing comes in one
error. It reads and plans, and compiles nothing.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import cast

from letalone.cli.places import ledger_path, schema_beside
from letalone.cli.screen import progress_bar
from letalone.cli.tables import option_values
from letalone.cli.tables.option_values import ROW
from letalone.cli.tables.table_commands import QueryOptions
from letalone.cli.tables.table_option import check_one_file, likely_unit, wait_for_spark
from letalone.errors import BudgetExceeded, LetaloneError, NeighboursDiffer, ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Argument, Problem, problem
from letalone.errors.remedies import ClampExpression, LeaveOut, NameBudget, NameUnit
from letalone.exact.typed import CONFIDENCE, DELTA, EPSILON
from letalone.ledger import DataSet
from letalone.plans.aggregates.facts import AggregateRequest
from letalone.plans.aggregates.formula_trees import Computable, FormulaRequest
from letalone.plans.bounds import UNIT_RANGE, clamp_columns, columns_without_bounds, is_unbounded
from letalone.plans.plan import Group, GroupColumn, expression_of
from letalone.plans.typing import ColumnTypes, columns_of
from letalone.plans.wording import in_words
from letalone.privacy import Budget
from letalone.session.locating import ROW as EACH_ROW
from letalone.session.opening import OpeningCall, TableLook, look_at
from letalone.session.query import Query
from letalone.session.sql_question import look_up_in, public_frames, public_schemas
from letalone.session.steps.row_limit import AUTO
from letalone.sources.files import TEXTS
from letalone.sources.source import SourceKind
from letalone.sql.edits import clamp_expressions
from letalone.sql.given_bounds import columns_within, give_bounds, is_of_expression
from letalone.sql.names import quote_name
from letalone.sql.question import ReadSql, read_question

LEAVE_UNIT = LeaveOut(Argument("unit"))


@contextmanager
def open_to_ask(options: QueryOptions) -> Generator["AskedTable"]:
    """The table of a command; closed at the end."""
    check_one_file(options.file)
    wait_for_spark(options.file, options.table)
    path = ledger_path(options.file, options.ledger)
    with progress_bar() as progress:
        look = look_at(
            OpeningCall(
                options.file,
                ledger=path,
                name=options.name,
                table=options.table,
                encoding=options.encoding,
                copy=options.copy,
                side_table=options.side_table,
                progress=progress,
            )
        )
        try:
            yield AskedTable(look, look.data_set, path)
        finally:
            look.close()


@dataclass(frozen=True, slots=True)
class AskedTable:
    """The table, how it stands in its ledger, and where that is."""

    look: TableLook
    known: DataSet | None
    ledger: Path

    @property
    def count(self) -> str:
        """SQL that is always answered."""
        return f"SELECT COUNT(*) FROM {quote_name(self.look.schema.name)}"

    @property
    def likely_unit(self) -> str | None:
        """The column whose name suggests a person, or what the ledger protects."""
        return likely_unit(self.look.schema, self.known)

    @property
    def has_types(self) -> bool:
        """Whether columns have types of their own: the cells of a file of text are text."""
        return self.look.is_declared or self.look.source.kind not in (*TEXTS, SourceKind.EXCEL)

    def find_problem(self, options: QueryOptions) -> Problem | None:
        """All that is wrong with a question as it is typed, but for its price; None if nothing."""
        try:
            self.read(options)
        except LetaloneError as error:
            return error.problem
        return None

    def read(self, options: QueryOptions) -> Query:
        """The question, planned; or one error with all that is missing."""
        unit, missing = self.unit(options)
        query = self._question(options, unit)
        _check_price(options)
        lacking = query.check(
            options.epsilon, delta=options.delta or 0, buy_bounds=options.private_bounds
        )
        is_one = query.first is None
        missing += [self._with_edits(each, options) if is_one else each for each in lacking]
        missing += self.missing_budget(options)
        if missing:
            first, *others = missing
            raise ParameterError(replace(first, others=tuple(others)))
        return query

    def _question(self, options: QueryOptions, unit: str | None) -> Query:
        """The question that the SQL asks, with the keys and bounds that were typed."""
        session = self.look.session(unit or EACH_ROW)
        tables = option_values.read_public(options.public)
        bounds = self._own_bounds(options)
        query = session.sql(options.sql, tables=tables, dialect=options.dialect, bounds=bounds)
        completed = self._completed(query, options)
        if query.first is None:
            return completed
        inner, outer = (
            partial(_with_rows, options=options),
            partial(self._completed, options=options),
        )
        return replace(completed, first=query.first.change(inner, outer))

    def _completed(self, query: Query, options: QueryOptions) -> Query:
        query = _with_rows(query, options)
        if options.max_groups is not None:
            query = query.bound(max_groups=options.max_groups)
        return self._with_keys(self._with_bounds(query, options), options)

    def _own_bounds(self, options: QueryOptions) -> dict[str, tuple[Fraction, Fraction]] | None:
        """Bounds of the table's own columns: of sums and means, also of each person's, and of
        ranges. Others, of joined columns and of features, are known when the SQL is read."""
        names = {column.name for column in self.look.schema.columns}
        words = [word for word in options.bounds if word.rpartition("=")[0] in names]
        return option_values.read_bounds(words, self.look.schema) or None

    def _with_bounds(self, query: Query, options: QueryOptions) -> Query:
        columns = {column.name for column in self.look.schema.columns}
        words = [word for word in options.bounds if word.rpartition("=")[0] not in columns]
        options = replace(options, bounds=tuple(words))
        parts = cast("dict[str, Computable]", dict(query.aggregates))
        added = list(
            dict.fromkeys(name for part in parts.values() for name in columns_within(part))
        )
        selected = [name for name, part in parts.items() if is_of_expression(part)]
        given = option_values.read_bounds(
            options.bounds, query.rows, [*added, *selected], selected=selected
        )
        known = [name for name in given if name not in selected]
        return replace(query, aggregates=tuple(give_bounds(parts, given, columns=known).items()))

    def _with_keys(self, query: Query, options: QueryOptions) -> Query:
        columns = columns_of(query.rows, joins=query.joins)
        types = {name: typed.type for name, typed in columns.typed.items()}
        groups = {
            _group_name(group): columns.type_of(expression_of(group)).type for group in query.groups
        }
        keys = option_values.read_keys(options.keys, groups, types)
        listed = cast("Mapping[str, object]", query.keys or {})  # those of public tables
        return replace(query, keys={**listed, **keys}) if keys else query

    def _with_edits(self, lacking: Problem, options: QueryOptions) -> Problem:
        """With edits of the SQL that clamp what has no bounds, where it stands in it."""
        if lacking.code is not Code.MISSING_EXPRESSION_BOUNDS:
            return lacking
        schema, question = self.look.schema, self._read_sql(options)
        if question.units is not None:
            return lacking  # it stands in an inner query
        joined = [column for join in question.joins for column in join.added]
        columns = columns_of(replace(schema, columns=(*schema.columns, *joined)))
        words = next(_open_expressions(question, columns), None)
        if words is not None:  # as it is written, without the bounds that were typed
            lacking = problem(lacking.code, ClampExpression(words), expression=words)
        return clamp_expressions(lacking, question.places(), options.sql)

    def _read_sql(self, options: QueryOptions) -> ReadSql:
        frames = public_frames(option_values.read_public(options.public))
        return read_question(
            options.sql,
            self.look.schema,
            tables=public_schemas(frames),
            dialect=options.dialect,
            whole_name=self.look.source.whole_name,
            look_up=look_up_in(frames),
            ends=self._own_bounds(options),
        )

    def unit(self, options: QueryOptions) -> tuple[str | None, list[Problem]]:
        """Whose privacy is protected: as typed, declared, or known to the ledger."""
        schema = self.look.schema
        declares = self.look.is_declared and schema.unit_declared
        if options.unit is not None:
            unit = option_values.read_unit(options.unit, schema)
            if declares and schema.unit is not None and unit != schema.unit:
                file = schema_beside(options.file, options.table)
                words = (
                    f"--unit is {unit or ROW}, but {file} says that the unit is {schema.unit}."
                    " Leave --unit out, or change the file."
                )
                raise ParameterError(option_values.advise(words, LEAVE_UNIT))
            return self._same_unit(unit), []
        if declares:
            return self._same_unit(schema.unit), []
        if self.known is not None and self.known.neighbours.unit is not None:
            return option_values.read_unit(self.known.neighbours.unit, schema), []
        columns = tuple(column.name for column in schema.columns)
        remedy = NameUnit(self.likely_unit, columns)
        return self.likely_unit, [problem(Code.MISSING_UNIT, remedy, columns=columns)]

    def _same_unit(self, unit: str | None) -> str | None:
        known = self.known
        before = None if known is None else known.neighbours.unit
        if known is None or before is None or before == (unit or ROW):
            return unit
        words = (
            f"The budget of {known.name!r} protects each {before}, and this question would protect"
            f" each {unit or ROW}. A table has one unit: ask with --unit {before}."
        )
        raise NeighboursDiffer(option_values.advise(words, LEAVE_UNIT, code=Code.NEIGHBOURS_DIFFER))

    def budget(self, options: QueryOptions) -> Budget | None:
        """The budget that was typed; None where none was, and the ledger may know it."""
        if options.budget is None:
            return None
        given, known = option_values.read_budget(options.budget), self.known
        if known is None or given == known.budget:
            return given
        words = (
            f"--budget is ({given}), but {known.name!r} has the budget ({known.budget}), which was"
            " named once and stays. Leave --budget out. Its owner can allow more:"
            f" letalone ledger raise {self.ledger} {known.name} EPSILON:DELTA."
        )
        remedy = LeaveOut(Argument("budget"))
        raise ParameterError(option_values.advise(words, remedy, code=Code.BUDGET_IS_FIXED))

    def missing_budget(self, options: QueryOptions) -> list[Problem]:
        """That nobody has named a budget, where one is needed."""
        if self.budget(options) is not None or self.known is not None or options.dry_run:
            return []
        return [problem(Code.MISSING_BUDGET, NameBudget(2))]

    def check_new_budget(
        self, budget: Budget | None, fits: Callable[[Budget], bool], cost: str
    ) -> None:
        """A budget is named once, so one that allows nothing is not written down."""
        if budget is None or self.known is not None or fits(budget):
            return
        words = (
            f"{cost}, which a budget of ({budget}) does not allow. Nothing was charged, and the"
            " budget was not written down: name a larger one, or ask for less."
        )
        raise BudgetExceeded(option_values.advise(words, NameBudget(2), code=Code.BUDGET_EXCEEDED))


def _open_expressions(question: ReadSql, columns: ColumnTypes) -> Iterator[str]:
    """What is added up and has no bounds whatever those of its columns are, as a quotient."""
    for aggregate in question.aggregates.values():
        parts = aggregate.parts if isinstance(aggregate, FormulaRequest) else (aggregate,)
        for part in cast("tuple[AggregateRequest, ...]", parts):
            for value in (value for value in (part.of, *part.by) if value is not None):
                lacking = dict.fromkeys(columns_without_bounds(value, columns), UNIT_RANGE)
                if is_unbounded(clamp_columns(value, lacking), columns):
                    yield in_words(value)


def _with_rows(query: Query, options: QueryOptions) -> Query:
    if options.max_rows is None:
        return query
    return query.bound(max_rows=AUTO if options.max_rows == AUTO else int(options.max_rows))


def _group_name(group: Group) -> str:
    match group:
        case GroupColumn(name=name) | (str() as name, _):
            return name
        case _:
            return str(group)


def _check_price(options: QueryOptions) -> None:
    if options.delta is not None:
        DELTA.typed("delta", options.delta)
    CONFIDENCE.typed("confidence", options.confidence)
    if options.epsilon is not None:
        EPSILON.typed("epsilon", options.epsilon)
