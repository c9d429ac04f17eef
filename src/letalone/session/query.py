"""A question about a table: frozen, put together step by step, released at a price.

Tested:   tests/session/test_query.py
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self, cast

from letalone.answers import views
from letalone.answers.arranged import AS_IT_IS, Arrangement
from letalone.errors import LetaloneError, ParameterError
from letalone.errors.codes import Code
from letalone.errors.codes import Group as CodeGroup
from letalone.errors.problem import Argument, Problem, problem
from letalone.errors.remedies import SetEpsilon
from letalone.exact.typed import Number, read_flag
from letalone.plans.aggregates.features import PerUnit, rows_schema
from letalone.plans.aggregates.formula_trees import Computable
from letalone.plans.expressions import And, Expression
from letalone.plans.plan import USUAL_MAX_ROWS, Aggregate, Group, Join, Plan, make_plan
from letalone.plans.schema import Schema
from letalone.session.backend import (
    Backend,
    Error,
    PricedQuestion,
    RelativeError,
    check_asked,
)
from letalone.session.builder import FirstNumbers, QueryBuilder
from letalone.session.release import Release
from letalone.session.steps.row_limit import (
    AUTO,
    UNKNOWN_LIMIT,
    MaxRows,
    RowLimit,
    note_on,
    takes_limit,
    with_limit,
)

if TYPE_CHECKING:
    from letalone.answers.preview import Preview
    from letalone.session.pricing import Priced
    from letalone.session.steps.in_steps import FoundAnswer, PricedInSteps

USUAL_EPSILON = 0.5
ZERO = Fraction(0)
IN_PERCENT = (
    "An error in percent is relative to the answer, whose size has to be found first, with answers"
    ' of their own. Ask with release(error="1 %", epsilon=1): 1 % of the answer, for ε = 1 at most.'
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Query(QueryBuilder):
    """A question; `.preview` shows its price, `.release` answers it.

    Made by a session: `visits.group_by("ward", keys=["A", "B"]).agg(n=la.count())`.
    """

    table: Backend
    conditions: tuple[Expression, ...] = ()
    derived: tuple[tuple[str, Expression], ...] = ()
    joins: tuple[Join, ...] = ()
    groups: tuple[Group, ...] = ()
    keys: object = None
    aggregates: tuple[tuple[str, Computable | Aggregate], ...] = ()
    max_rows: MaxRows | None = None
    max_groups: int | None = None
    clip: bool = False
    before: PerUnit | None = None
    arrangement: Arrangement = AS_IT_IS
    only_explained: bool = False
    given_plan: Plan | None = None
    limit: RowLimit | None = None  # of max_rows="auto", once it is found
    first: FirstNumbers | None = None  # what is asked before it

    @classmethod
    def from_plan(
        cls,
        table: Backend,
        plan: Plan,
        *,
        arrangement: Arrangement = AS_IT_IS,
        only_explained: bool = False,
        max_rows: MaxRows | None = USUAL_MAX_ROWS,
        limit: RowLimit | None = None,
    ) -> Self:
        """The question that a plan asks, which is complete: no step can be added."""
        return cls(
            table,
            arrangement=arrangement,
            only_explained=only_explained,
            given_plan=plan,
            max_rows=max_rows,
            limit=limit,
        )

    def planned(self) -> Self:
        """The same question, complete: its plan is made once, or refused.

        That of a question whose row limit has to be found is made when it is.
        """
        if self.max_rows == AUTO:
            self._make_plan(find_keys=True)
            return self
        plan, limit = self._plan_and_limit(find_keys=True)
        return self.from_plan(
            self.table,
            plan,
            arrangement=self.arrangement,
            only_explained=self.only_explained,
            max_rows=self.max_rows,
            limit=limit,
        )

    def _so_far(self) -> "Query":
        if self.first is not None:
            raise ParameterError(
                "A query stands within this SQL, and is asked first: no step can be added. Write"
                " conditions, joins and groups into the SQL."
            )
        return self._to_bound()

    def _to_bound(self) -> "Query":
        if self.given_plan is not None:
            raise ParameterError("This question is a whole plan. Begin another one for more steps.")
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
        return self._make_plan(find_keys=True)

    def _make_plan(self, *, find_keys: bool) -> Plan:
        return self._plan_and_limit(find_keys=find_keys)[0]

    def _plan_and_limit(self, *, find_keys: bool) -> tuple[Plan, RowLimit | None]:
        """The plan, and the row limit in it that was found privately."""
        if self.first is not None:
            raise self.first.refusal()
        if self.given_plan is not None:
            return self.given_plan, self.limit
        limit, plan = self._known_limit(), self._plan_without_limit(find_keys=find_keys)
        if limit is None or not (self.max_rows == AUTO or takes_limit(plan)):
            return plan, None
        return with_limit(plan, limit), limit

    def _known_limit(self) -> RowLimit | None:
        """The row limit that was found for the question, or that the ledger has."""
        if isinstance(self.max_rows, int) or self.before is not None or self.limit is not None:
            return self.limit
        kept = self.table.kept_limit()
        usable = kept is not None and (kept.is_paid or self.max_rows == AUTO)
        return kept.limit if kept is not None and usable else None

    def _plan_without_limit(self, *, find_keys: bool) -> Plan:
        """The plan with the rows that were named, or the usual ones."""
        return make_plan(
            self.table.schema,
            dict(self.aggregates),
            where=self.filter,
            derived=self.derived,
            joins=self.joins,
            groups=self.groups,
            keys=self.keys,
            max_rows=USUAL_MAX_ROWS if self.max_rows == AUTO else self.max_rows,
            max_groups=self.max_groups,
            clip=self.clip,
            per_unit=self.before,
            find_keys=find_keys,
        )

    def check(
        self, epsilon: Number | None = None, *, delta: Number = 0, buy_bounds: bool = False
    ) -> tuple[Problem, ...]:
        """All that is missing before the question can be priced, as data; nothing is refused.

        `buy_bounds`: bounds that are missing would be bought (`price_with_bounds`).
        """
        if self.first is not None:
            return self.first.check(epsilon, delta=delta, buy_bounds=buy_bounds)
        missing = [] if epsilon is not None else [_missing_epsilon()]
        try:
            query = self._with_trial_bounds() if buy_bounds else self
            query._make_plan(find_keys=delta != 0)
        except ParameterError as error:
            if error.code.group is not CodeGroup.MISSING:
                raise
            missing += [replace(error.problem, others=()), *error.problem.others]
        return tuple(missing)

    def _with_trial_bounds(self) -> "Query":
        from letalone.session.steps.bounds_purchase import with_trial_bounds

        return with_trial_bounds(self)

    def price_with_bounds(
        self, epsilon: Number, *, delta: Number = 0, confidence: Number = 0.95
    ) -> "Priced | PricedInSteps":
        """As `price`, where bounds that are missing are bought first, with a fifth of epsilon.

        So is the row limit of max_rows="auto", with a tenth.
        """
        from letalone.session.steps.in_steps import in_steps_here, price_in_steps

        return in_steps_here(
            price_in_steps(self, epsilon, delta=delta, confidence=confidence, find_bounds=True)
        )

    def price_in_steps(
        self, epsilon: Number, *, delta: Number = 0, confidence: Number = 0.95
    ) -> "PricedQuestion | PricedInSteps":
        """As `price`, where the row limit of max_rows="auto" is found first, with a tenth."""
        is_open = self.max_rows is None and self.table.finds_limits
        if self.max_rows != AUTO and not is_open:
            return self.price(epsilon, delta=delta, confidence=confidence)
        from letalone.session.steps.in_steps import price_in_steps

        return price_in_steps(self, epsilon, delta=delta, confidence=confidence)

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
        from letalone.session.sql_question import query_in_sql  # loads a reader of SQL

        return query_in_sql(self, sql, keys=keys, bounds=bounds, tables=tables, dialect=dialect)

    def price(
        self,
        epsilon: Number | None = None,
        *,
        error: Error | None = None,
        delta: Number = 0,
        confidence: Number = 0.95,
        rows: int | None = None,
    ) -> PricedQuestion:
        """The question at an epsilon, or at the least that keeps an error: no data touched.

        It is planned and compiled here, once, and everything but the budget that would refuse it
        does so now. `.preview()` and `.explain()` show what it would cost, `.release()` answers it.
        Of a table in this process it is a `Priced`, which also has `.remaining` and `.fits`. Of
        max_rows="auto" the row limit must be known by now.
        """
        _check_price(epsilon, error)
        if epsilon is None:
            assert error is not None
            epsilon = self._least_epsilon(error, delta=delta, confidence=confidence, rows=rows)
            priced = self.price_as_it_is(epsilon, delta=delta, confidence=confidence)
            return replace(priced, remark=least_epsilon_remark(epsilon))
        if self.max_rows != AUTO:
            return self.price_as_it_is(epsilon, delta=delta, confidence=confidence)
        priced = self.price_in_steps(epsilon, delta=delta, confidence=confidence)
        if not isinstance(priced, PricedQuestion):
            raise ParameterError(UNKNOWN_LIMIT)
        return priced

    def price_as_it_is(
        self, epsilon: Number, *, delta: Number = 0, confidence: Number = 0.95
    ) -> PricedQuestion:
        """The question at this epsilon, with the row limit that it has by now."""
        plan, limit = self._plan_and_limit(find_keys=delta != 0)
        return replace(
            self.table.price(plan, epsilon=epsilon, delta=delta, confidence=confidence),
            arrangement=self.arrangement,
            only_explained=self.only_explained,
            limit=limit,
            row_note=note_on(plan, self.max_rows, limit),
        )

    def _least_epsilon(
        self, error: Error, *, delta: Number, confidence: Number, rows: int | None
    ) -> float:
        if isinstance(error, str):
            raise ParameterError(IN_PERCENT)
        if self.max_rows == AUTO and self._known_limit() is None:
            raise ParameterError(UNKNOWN_LIMIT)
        plan = self._make_plan(find_keys=delta != 0)
        price = {"delta": delta, "confidence": confidence}
        return self.table.epsilon_for(plan, error=error, rows=rows, **price)

    def preview(
        self,
        epsilon: Number,
        delta: Number = 0,
        *,
        confidence: Number = 0.95,
        rows: int | None = None,
    ) -> "Preview":
        """The price, its split and the errors to expect: no data touched, nothing spent.

        `rows` is how many rows a group has, for the errors of means: a public number.
        """
        priced = self.price_in_steps(epsilon, delta=delta, confidence=confidence)
        return priced.preview(rows)

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
        return self._least_epsilon(error, delta=delta, confidence=confidence, rows=rows)

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
            return self._explain_unpriced()
        priced = self.price_in_steps(epsilon, delta=delta, confidence=confidence)
        return priced.explain(sql=sql)

    def _explain_unpriced(self) -> str:
        from letalone.session.joins.private_joins import read_from_text
        from letalone.session.notes import notes_of

        plan = self.plan
        from_text = read_from_text(self.table, plan)
        notes = [f"- {note}" for note in notes_of(plan, from_text=from_text)]
        what = f"Question about {self.table.name}: {plan.in_words()}."
        more = "explain(epsilon=0.1) shows the price and its split, too; sql=True also the SQL."
        return views.flowing([what, *notes, more])

    def release(
        self,
        epsilon: Number | None = None,
        *,
        error: Error | RelativeError | None = None,
        delta: Number = 0,
        confidence: Number = 0.95,
        rows: int | None = None,
        confirm: bool = False,
    ) -> Release:
        """The answer, charged before data is touched; give an epsilon, or an error to keep.

        The same question about the same declared version is free: the same answer again. Where no
        row limit is named or known yet, a tenth of epsilon finds one for counts and sums. Above
        ε = 10, or where the exact number would be shown, it is answered with confirm=True only.

        `error="1 %"` is relative to the answer, whose size is found first; then `epsilon` is the
        most that all may cost.
        """
        check_asked(only_explained=self.only_explained)
        read_flag("confirm", confirm)
        if isinstance(error, str):
            from letalone.session.steps.relative_error import release_relative

            return release_relative(
                self, error, epsilon=epsilon, delta=delta, confidence=confidence, confirm=confirm
            )
        if self.first is not None and epsilon is not None and error is None:
            from letalone.session.steps.two_questions import release_both

            return release_both(self, epsilon, delta=delta, confidence=confidence, confirm=confirm)
        if epsilon is None or error is not None:
            priced = self.price(epsilon, error=error, delta=delta, confidence=confidence, rows=rows)
            return replace(priced, confirmed=confirm).release()
        priced = self.price_in_steps(epsilon, delta=delta, confidence=confidence)
        answered = replace(priced, confirmed=confirm).release()
        if isinstance(answered, Release):
            return answered
        steps = cast("PricedInSteps", priced)
        if not steps.shown.is_here:
            return answered.release
        return _with_first(answered, total=steps.total.epsilon)

    def __repr__(self) -> str:
        try:
            if self.only_explained:
                return self.explain()
            return f"Query({self.table.name}: {self.plan.in_words()})"
        except LetaloneError as error:
            return f"Query({self.table.name}, not complete: {error})"

    def _repr_html_(self) -> str:
        return views.lines_as_html(repr(self))

    def __copy__(self) -> Self:
        return self


def least_epsilon_remark(epsilon: float) -> str:
    """What stands on an answer whose ε was solved for."""
    return f"ε = {epsilon:g} is the least of three digits that keeps the error asked for."


def _check_price(epsilon: object, error: object) -> None:
    """Refuses a price that is not given by either of the two."""
    if (epsilon is None) != (error is None):
        return
    words = (
        "release needs either an epsilon or an error, and not both: release(epsilon=0.5) spends"
        " ε = 0.5, release(error=5) spends the least ε that keeps the error at 5 or less."
    )
    if epsilon is None:
        raise ParameterError(replace(_missing_epsilon(), words=words, advised=True))
    raise ParameterError(words)


def _missing_epsilon() -> Problem:
    """What is missing where a question has no price."""
    return problem(Code.MISSING_EPSILON, SetEpsilon(USUAL_EPSILON), name=Argument("epsilon"))


def _with_first(answered: "FoundAnswer", *, total: Fraction) -> Release:
    """The answer, which says what was spent before it on what it needed."""
    release = answered.release
    if release.repeated:
        return release
    found_first = total - answered.known_before - release.asked.epsilon
    return replace(release, standing=replace(release.standing, found_first=max(ZERO, found_first)))
