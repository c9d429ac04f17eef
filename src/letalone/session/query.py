"""A question about a table: frozen, put together step by step, released at a price.

Tested:   tests/session/test_query.py
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from letalone.answers import views
from letalone.answers.arranged import AS_IT_IS, Arrangement, arranged
from letalone.answers.release import explained
from letalone.errors import LetaloneError, ParameterError
from letalone.exact.typed import Number
from letalone.plans.expressions import And, Expression
from letalone.plans.features import PerUnit, rows_schema
from letalone.plans.query import Aggregate, Group, Join, Plan, make_plan
from letalone.plans.schema import Schema
from letalone.plans.trees import Computable
from letalone.session.asking import Asking
from letalone.session.in_sql import query_in_sql
from letalone.session.notes import notes_of, question_of
from letalone.session.partners import partners_of, read_from_text
from letalone.session.preview import Preview, preview_of
from letalone.session.release import Release
from letalone.session.releasing import priced, released
from letalone.session.table import Table
from letalone.tables.ahead import epsilon_for

Error = Number | Mapping[str, Number]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Query(Asking):
    """A question; `.preview` shows its price, `.release` answers it.

    Made by a session: `visits.group_by("ward", keys=["A", "B"]).agg(n=la.count())`.
    """

    table: Table
    conditions: tuple[Expression, ...] = ()
    derived: tuple[tuple[str, Expression], ...] = ()
    joins: tuple[Join, ...] = ()
    groups: tuple[Group, ...] = ()
    keys: object = None
    aggregates: tuple[tuple[str, Computable | Aggregate], ...] = ()
    max_rows: int | None = None
    max_groups: int | None = None
    clip: bool = False
    before: PerUnit | None = None
    arrangement: Arrangement = AS_IT_IS
    only_explained: bool = False

    def _so_far(self) -> "Query":
        return self

    @property
    def filter(self) -> Expression | None:
        """All conditions as one."""
        where = self.conditions
        return None if not where else where[0] if len(where) == 1 else And(where)

    @property
    def is_about_groups(self) -> bool:
        """Whether groups, aggregates or bounds were named."""
        bounded = self.clip or self.max_rows is not None or self.max_groups is not None
        return bool(self.groups or self.aggregates or bounded)

    @property
    def rows(self) -> Schema:
        """The columns of what the question is about: the table's rows, or units."""
        return rows_schema(self.table.schema, self.before)

    @property
    def plan(self) -> Plan:
        """The question with everything filled in, or the error that says what is missing."""
        return make_plan(
            self.table.schema,
            dict(self.aggregates),
            where=self.filter,
            derived=self.derived,
            joins=self.joins,
            groups=self.groups,
            keys=self.keys,
            max_rows=self.max_rows,
            max_groups=self.max_groups,
            clip=self.clip,
            per_unit=self.before,
        )

    def sql(
        self,
        sql: str,
        *,
        keys: object = None,
        bounds: object = None,
        tables: Mapping[str, object] | None = None,
        dialect: str | None = None,
    ) -> "Query":
        """The question that a SELECT asks about units and their features, after .per_unit(…).

        `.sql("SELECT AVG(total) FROM visits")`; the rest is as in `session.sql`.
        """
        later = self.conditions or self.derived or self.joins or self.is_about_groups
        if self.before is None or later:
            raise ParameterError(
                ".sql(…) comes right after .per_unit(…), or asks the session itself: write WHERE,"
                " GROUP BY and JOIN into the SQL, as in session.sql('SELECT … WHERE …')."
            )
        return query_in_sql(self, sql, keys=keys, bounds=bounds, tables=tables, dialect=dialect)

    def preview(
        self,
        epsilon: Number,
        delta: Number = 0,
        *,
        confidence: Number = 0.95,
        rows: int | None = None,
    ) -> Preview:
        """The price, its split and the errors to expect: no data touched, nothing spent.

        `rows` is how many rows a group has, for the errors of means: a public number.
        """
        question = priced(
            self.table, self.plan, epsilon=epsilon, delta=delta, confidence=confidence
        )
        return preview_of(self.table, question, rows=rows)

    def epsilon_for(
        self,
        *,
        error: Error,
        delta: Number = 0,
        confidence: Number = 0.95,
        rows: int | None = None,
    ) -> float:
        """The smallest ε of three digits with errors of at most `error`: no data touched.

        `error` is one number for all aggregates, or one for each name. Means need `rows`.
        """
        return epsilon_for(self.plan, error=error, delta=delta, confidence=confidence, rows=rows)

    def explain(
        self,
        epsilon: Number | None = None,
        *,
        delta: Number = 0,
        confidence: Number = 0.95,
        sql: bool = False,
    ) -> str:
        """The question in words; with an epsilon also its price and its split, and the SQL."""
        if epsilon is None:
            plan = self.plan
            from_text = read_from_text(self.table, plan)
            notes = [f"- {note}" for note in notes_of(plan, from_text=from_text)]
            what = f"Question about {self.table.name}: {question_of(plan)}."
            more = "explain(epsilon=0.1) shows the price and its split, too; sql=True also the SQL."
            return views.flowing([what, *notes, more])
        question = priced(
            self.table, self.plan, epsilon=epsilon, delta=delta, confidence=confidence
        )
        asked = question.asked
        beside = partners_of(self.table, [question.whole.plan])
        left = [str(self.table.remaining(asked.privacy, delta=asked.delta, beside=beside))]
        return explained(asked, left, sql=sql)

    def release(
        self,
        epsilon: Number | None = None,
        *,
        error: Error | None = None,
        delta: Number = 0,
        confidence: Number = 0.95,
        rows: int | None = None,
    ) -> Release:
        """The answer, charged before data is touched; give an epsilon, or an error to keep.

        The same question about the same declared version is free: the same answer again.
        """
        if (epsilon is None) == (error is None):
            raise ParameterError(
                "release needs either an epsilon or an error, and not both: release(epsilon=0.5)"
                " pays so much, release(error=5) solves for the ε that is enough."
            )
        self._check_asked()
        plan, remark = self.plan, None
        if epsilon is None:
            assert error is not None
            epsilon = epsilon_for(plan, error=error, delta=delta, confidence=confidence, rows=rows)
            remark = f"ε = {epsilon:g} is the least of three digits that keeps the error asked for."
        price = {"epsilon": epsilon, "delta": delta, "confidence": confidence}
        return arranged(self._answer(plan, price, remark=remark), self.arrangement)

    def _answer(self, plan: Plan, price: Mapping[str, Number], *, remark: str | None) -> Release:
        """The whole answer, charged before data is touched."""
        return released(self.table, priced(self.table, plan, **price), remark=remark)

    def _check_asked(self) -> None:
        if self.only_explained:
            raise ParameterError(
                "The SQL begins with EXPLAIN, so the question is explained and not asked. Leave"
                " the word out to ask it; .preview(epsilon=0.5) shows its price."
            )

    def __repr__(self) -> str:
        try:
            if self.only_explained:
                return self.explain()
            return f"Query({self.table.name}: {question_of(self.plan)})"
        except LetaloneError as error:
            return f"Query({self.table.name}, not complete: {error})"

    def _repr_html_(self) -> str:
        return views.lines_as_html(repr(self))

    def __copy__(self) -> Self:
        return self
