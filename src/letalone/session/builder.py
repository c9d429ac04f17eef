"""How a question is put together: each step gives a new one, in any order.

    visits.where(la.col("age") >= 65).group_by("ward", keys=["A", "B"]).agg(n=la.count())

Whatever the order of the steps: public tables are joined, columns derived, rows filtered,
units bounded, groups formed. `.per_unit(…)` alone stands between: steps before it are about
rows, steps after it about units.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, cast

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.errors.codes import Code
from letalone.errors.habits import NoFrame
from letalone.errors.problem import Problem
from letalone.errors.remedies import AskInstead
from letalone.exact.typed import Number, refusal
from letalone.plans.aggregates.features import Feature, PerUnit
from letalone.plans.aggregates.formula_trees import Computable
from letalone.plans.expressions import ColumnRef, Expression, as_expression, checked_size
from letalone.plans.plan import Aggregate, Group, units_of
from letalone.plans.schema import Schema
from letalone.plans.wording import in_words, short_name
from letalone.session.steps.row_limit import MaxRows, read_max_rows

if TYPE_CHECKING:
    from letalone.ledger.charging import Settled
    from letalone.plans.fit_job import FitJob
    from letalone.session.query import Query


@dataclass(frozen=True, slots=True)
class FirstNumbers:
    """The inner questions, each with its SQL, and the outer one once their answers are known."""

    asked: "tuple[tuple[str, Query], ...]"
    build: "Callable[[Sequence[Fraction]], Query]"

    def change(
        self, inner: "Callable[[Query], Query]", outer: "Callable[[Query], Query]"
    ) -> "FirstNumbers":
        """The same with more steps for each of the questions."""
        questions = tuple((sql, inner(question)) for sql, question in self.asked)
        return FirstNumbers(questions, lambda numbers: outer(self.build(numbers)))

    def trial(self) -> "Query":
        """The outer question with 0 in the place of each number."""
        return self.build([Fraction(0)] * len(self.asked))

    def check(
        self, epsilon: Number | None, *, delta: Number, buy_bounds: bool
    ) -> tuple[Problem, ...]:
        """All that is missing before the questions can be priced, each once."""
        if buy_bounds:
            raise self.refusal()
        missing = list[Problem]()
        for question in (*(inner for _, inner in self.asked), self.trial()):
            lacking = question.check(epsilon, delta=delta)
            missing += [problem for problem in lacking if problem not in missing]
        return tuple(missing)

    def refusal(self) -> UnsupportedQuery:
        """Where one price is wanted, and these are two questions."""
        sql = self.asked[0][0]
        words = (
            "This is two questions: the query within the query is asked first, and its answer"
            " stands in the other as a number. In Python .release(epsilon=…) asks both, and so does"
            f" letalone query. Else ask {sql} first, and write its answer in its place."
        )
        facts = {"construct": "a query within a query"}
        code = Code.SQL_NOT_SUPPORTED
        return UnsupportedQuery(Problem(code, facts, (AskInstead(sql),), words=words, advised=True))


class QueryBuilder(NoFrame, ABC):
    """A table, or a question about it, that further steps can be added to."""

    __slots__ = ()

    @abstractmethod
    def _so_far(self) -> "Query":
        """The question as it is, for one step more."""

    def _to_bound(self) -> "Query":
        """The same, for bounds on what each person adds."""
        return self._so_far()

    def where(self, *conditions: Expression | bool) -> "Query":
        """Only rows for which all conditions are true: `la.col("age") >= 65`."""
        if not conditions:
            raise ParameterError('where got no condition. Give one, such as la.col("age") >= 65.')
        if any(isinstance(condition, bool) for condition in conditions):
            raise ParameterError(
                "A condition is True or False for all rows alike. Is a pair of brackets missing? A"
                ' month is la.col("day").month() == 1.'
            )
        so_far = self._so_far()
        more = tuple(as_expression(condition) for condition in conditions)
        return replace(so_far, conditions=so_far.conditions + more)

    def derive(self, **columns: object) -> "Query":
        """New columns, computed from those of the same row: `half=la.col("cost") / 2`."""
        so_far = self._so_far()
        more = tuple((name, as_expression(expression)) for name, expression in columns.items())
        return replace(so_far, derived=so_far.derived + more)

    def join(
        self,
        other: object,
        *,
        on: str | Sequence[str] | Mapping[str, str],
        name: str = "public",
        columns: Sequence[str] | None = None,
        how: Literal["inner", "left"] = "inner",
    ) -> "Query":
        """The columns of another table beside each row: of a public one, or a private one.

        A public table is a frame with one row for each key; `on` names the columns, or maps those
        of this table, or of one joined before, to those of the public one. Rows without a partner
        are dropped; how="left" keeps them. Nobody in the public table is protected.

        A private one is another open session with the same units; `on` is the unit's column, or a
        pair of names, this table's first. Of each unit one row counts, chosen by a hash; both data
        sets are charged the whole price. `columns` are those to take, if not all.
        """
        so_far = self._so_far()
        if how not in ("inner", "left") or (how == "left" and isinstance(other, QueryBuilder)):
            raise refusal("how", how, "'inner', or 'left' for a public table")
        if isinstance(other, QueryBuilder):
            theirs = other._so_far()
            if theirs is not other and so_far.before is None:
                from letalone.session.joins.private_joins import private_join

                added = private_join(so_far.table, theirs.table, on=on, columns=columns)
                return replace(so_far, joins=(*so_far.joins, added))
            raise ParameterError(
                "A private table is joined as it is, before .per_unit(…): visits.join(patients,"
                " on='patient_id'). Filter afterwards."
            )
        if columns is not None:
            raise ParameterError("columns are for private tables: leave out those of the frame.")
        other = so_far.table.as_joined(other, name=name)
        from letalone.session.joins.public_joins import public_join  # loads Arrow

        joined = [column for join in so_far.joins for column in join.columns]
        rows = replace(so_far.rows, columns=(*so_far.rows.columns, *joined))
        outer = how == "left"
        added = public_join(so_far.table, other, rows=rows, on=on, name=name, outer=outer)
        return replace(so_far, joins=(*so_far.joins, added))

    def per_unit(self, *unnamed: object, **features: Feature) -> "Query":
        """One row for each unit, with features of all its rows: `total=la.per_unit.sum("cost")`.

        Steps before it say which rows; steps after it are about units and their features alone.
        However many rows a unit has, it is one row, so nothing has to be bounded or left out.
        """
        if unnamed:
            raise ParameterError(
                "A feature has no name. Give it one: .per_unit(visits=la.per_unit.count())."
            )
        so_far = self._so_far()
        if so_far.before is not None:
            raise ParameterError(
                "per_unit was called twice, but after it rows are units already. Name all features"
                " in one call."
            )
        if so_far.is_about_groups:
            raise ParameterError(
                "per_unit comes before group_by, agg and bound: those are about units then."
            )
        before = PerUnit(tuple(features.items()), so_far.filter, so_far.derived, so_far.joins)
        return type(so_far)(so_far.table, before=units_of(before, so_far.table.schema))

    def group_by(
        self,
        *columns: Group | Expression | list[Group | Expression],
        keys: object = None,
        **named: Expression,
    ) -> "Query":
        """An answer for each key of these columns, or expressions, in the order of `keys`.

        `month=la.col("day").month()` names an expression; without a name it is called month_day.

        Keys that are not listed are those that the schema declares, or that are public anyway
        (months, ranges); `keys={"sex": ["F", "M"]}` lists those of some columns. If there are
        none, they are found privately, which needs a delta.
        """
        so_far = self._so_far()
        if so_far.groups:
            raise ParameterError("group_by was called twice. Name all columns in one call.")
        if len(columns) == 1 and isinstance(columns[0], list):
            columns = tuple(columns[0])
        groups = (*map(_with_name, cast("tuple[Group | Expression, ...]", columns)), *named.items())
        if not groups:
            raise ParameterError("group_by got no column. Name at least one.")
        return replace(so_far, groups=groups, keys=_freeze_keys(keys))

    def agg(self, *unnamed: object, **aggregates: Computable | Aggregate) -> "Query":
        """What is asked of each group, by name: `n=la.count(), cost=la.mean("cost")`."""
        if unnamed:
            raise ParameterError("An aggregate has no name. Give it one: .agg(n=la.count()).")
        so_far = self._so_far()
        for name, aggregate in aggregates.items():
            if not isinstance(aggregate, Computable | Aggregate):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise refusal(
                    name, aggregate, 'an aggregate, such as la.count() or la.mean("cost")'
                )
            if name in dict(so_far.aggregates):
                raise ParameterError(f"The aggregate {name!r} is asked for twice. Rename one.")
        return replace(so_far, aggregates=(*so_far.aggregates, *aggregates.items()))

    def bound(
        self,
        *,
        max_rows: MaxRows | None = None,
        max_groups: int | None = None,
        clip: bool | None = None,
    ) -> "Query":
        """The row limit: the most rows per person, and the most groups.

        A unit with n > max_rows rows counts as max_rows: each of its rows weighs max_rows / n.
        `max_rows="auto"` finds a limit privately first, with a tenth of ε; once it is found, it is
        free. `clip=True` with `max_groups` clips each unit's own total in a group to one row's
        range instead.
        """
        read_max_rows(max_rows)
        given = {"max_rows": max_rows, "max_groups": max_groups, "clip": clip}
        named = {name: value for name, value in given.items() if value is not None}
        return replace(self._to_bound(), **named)  # pyright: ignore[reportArgumentType]

    def trainable_schema(self) -> Schema:
        """For estimators: what is public about the rows, which a job is made from."""
        from letalone.session.training import trainable_schema  # loads engines

        return trainable_schema(self._so_far())

    def train(self, job: "FitJob", *, confirm: bool = False) -> "Settled":
        """For estimators: trains a model on the rows, charged like an answer.

        People call `estimator.fit(table, features=[…], target=…)`. The same job about the same
        rows is free. Above ε = 10 a model is trained with confirm=True only.
        """
        from letalone.session.training import train  # loads engines

        return train(self._so_far(), job, confirm=confirm)


def rows_of(asking: QueryBuilder) -> Schema:
    """The columns of a table, or of what a question is about."""
    return asking._so_far().rows  # pyright: ignore[reportPrivateUsage]


def _with_name(group: Group | Expression) -> Group:
    """The group column with a name: its own, or the usual one of an expression."""
    if not isinstance(group, Expression):
        return group
    name = short_name(checked_size(group))
    if name is None:
        raise ParameterError(
            f"The group '{in_words(group)}' has no name. Give it one: .group_by(name=…)."
        )
    return name if isinstance(group, ColumnRef) else (name, group)


def _freeze_keys(keys: object) -> object:
    """What can be gone through once only is kept, since a question may be asked twice."""
    if isinstance(keys, Mapping):
        return {
            name: _freeze_keys(listed)
            for name, listed in cast("Mapping[str, object]", keys).items()
        }
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        return keys
    return tuple(cast("Iterable[object]", keys))
