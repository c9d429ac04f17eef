"""Training a model on a table: charged like a question, and free when it is asked again.

The layer of models and this one do not know each other. A `FitJob` is what a table needs to know of
a model: its price, the columns that it looks at, and what to do with them.

Theorem.  What is said before the charge is a function of the job, the schema and the condition. The
rows of neighbours differ in at most one (`engines.core.one_row`), so a model that is private for
one row more or less is private for one unit more or less. A job that bounds rows of units itself
(`per_unit`) gets all of them, each with its unit, and says what it reveals about one unit.
  Proven:   nothing before `Fitting.make` has the engine's rows, and nothing after it but the job's
            own answer is read
  Tested:   tests/learn/test_sessions.py
"""

from typing import TYPE_CHECKING

from letalone.errors import NeighboursDiffer, ParameterError, UnsupportedQuery
from letalone.exact.typed import as_typed
from letalone.ledger import digest_of
from letalone.ledger.charging import Charge, Settled, charged_work, find_repeat
from letalone.plans.aggregates.requests import count
from letalone.plans.expressions import Expression
from letalone.plans.fit_job import UNIT_OF_ROWS, FitJob
from letalone.plans.plan import make_plan
from letalone.plans.schema import Schema
from letalone.plans.unnamed import check_no_feature
from letalone.privacy import Budget
from letalone.privacy.curve import Json
from letalone.privacy.guard_rails import check_confirmed, find_risk
from letalone.privacy.neighbours import is_replace
from letalone.session.open_table import OpenTable
from letalone.session.table_work import TableWork

if TYPE_CHECKING:
    from letalone.session.query import Query

ASK_LESS = "Ask with a smaller epsilon, or ask less."
ASK_LESS_DELTA = (
    "Ask with a smaller epsilon, or a smaller delta: a share of the budget's is set aside for what"
    " has one. Or ask less."
)


def trainable_schema(question: "Query") -> Schema:
    """What is public about the rows; refused where no model can be trained on them."""
    return _trainable(question).schema


def train(question: "Query", job: FitJob, *, confirm: bool = False) -> Settled:
    """The model that the job gives, charged before rows are read; an earlier one where it is the
    same job about the same rows. `confirm` as in `Query.release`."""
    table = _trainable(question)
    table.check_registered()
    _check_columns(table, job)
    plan, where = _plan(question, job)
    price = Budget(job.epsilon, job.delta)
    exactly = {"epsilon": str(as_typed(job.epsilon)), "delta": str(as_typed(job.delta))}
    digest = digest_of({"plan": plan, **exactly}, name="The training")
    what = f"The model costs ({price})"
    advice = ASK_LESS_DELTA if price.delta else ASK_LESS
    charge = Charge(what, job.privacy, plan, digest, price.delta or None, advice)
    risk = find_risk(job.epsilon)
    if risk is not None and not confirm:
        earlier = find_repeat([table.payer], charge)
        if earlier is not None:
            return earlier
        check_confirmed(risk if table.payer.fits(charge) else None, confirm=confirm)
    work = Fitting(table, job, where)
    if job.goes_on:
        return charged_work([table.payer], charge, work)
    with work.hold():
        return charged_work([table.payer], charge, work, repeats=False)


def _trainable(question: "Query") -> OpenTable:
    question.table.check_open()
    table = question.table.trainable()
    _check_rows_alone(question)
    _check_relation(table)
    return table


def _plan(question: "Query", job: FitJob) -> tuple[Json, Expression | None]:
    """The plan as it is stored, and the condition, both checked as those of a question are."""
    schema = question.table.schema
    max_rows = None if schema.unit is None else job.per_unit or 1
    rows = make_plan(schema, {"rows": count()}, where=question.filter, max_rows=max_rows)
    stored: Json = {"format": 1, "kind": "training", "rows": rows.to_json()}
    columns = {"features": list(job.features), "target": job.target}
    return {**stored, **columns, "model": job.described()}, rows.where


class Fitting(TableWork):
    """Fetches rows and fits."""

    def __init__(self, table: OpenTable, job: FitJob, where: Expression | None) -> None:
        super().__init__([table])
        self.job, self.where = job, where

    def make(self) -> Json:
        (table,), target = self.tables, self.job.target
        names = [*self.job.features, *([] if target is None else [target])]
        engine, where = table.engine, self.where
        unit = None if self.job.per_unit is None else UNIT_OF_ROWS
        columns = engine.training_rows(
            table.schema, names, target=target, where=where, unit_as=unit
        )
        return self.job.fit(columns)


def _check_rows_alone(question: "Query") -> None:
    extras = (question.derived, question.joins, question.groups, question.aggregates)
    bounds = question.max_rows, question.max_groups, question.before
    if any(extras) or question.clip or any(bound is not None for bound in bounds):
        raise UnsupportedQuery(
            "A model is trained on a table, or on some of its rows: fit(table, …) or"
            " fit(table.where(…), …). Leave out derive, join, per_unit, group_by, agg and bound."
        )


def _check_relation(table: OpenTable) -> None:
    if is_replace(table.schema.neighbours):
        raise NeighboursDiffer(
            f"{table.name!r} protects '{table.schema.protects}', but models are trained so that one"
            " unit more or less is hidden. Open it with neighbours=la.ADD_REMOVE, which promises"
            " more."
        )


def _check_columns(table: OpenTable, job: FitJob) -> None:
    names = [*job.features, *([] if job.target is None else [job.target])]
    for name in names:
        table.schema.column(name)
    if len(set(names)) < len(names):
        raise ParameterError(
            "A column is named twice. Name each once; the target is not a feature."
        )
    check_no_feature(table.schema, names)
    if job.per_unit is not None and table.schema.unit is None:
        raise ParameterError(
            f"per_unit is {job.per_unit}, but in {table.name!r} each row is a unit of its own."
            " Leave per_unit out, or name the unit in the schema."
        )
