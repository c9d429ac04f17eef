"""Finds what a plan uses: the columns that a grant must cover (G4), and the work to price it.

Theorem.  Every value of a table that can move an answer is in a column that `used_columns` names,
or in the unit column, which only tells whose rows are whose.
  Proven:   a plan reads rows through its expressions and the keys of its public joins, and
            `expressions_in` lists all expressions of a plan. After .per_unit(…) a question sees
            features only, and what they are made of is listed.
  Tested:   tests/curator/test_used_columns.py: every kind of aggregate, filter, group and join

A price, its errors and its SQL are computed before anything is charged, for anybody, so free
requests need an end. The work follows from the plan alone: most parts take about 3 ms, others as
many times that as the constants say (measured by bench/curator_work.py). An error to keep is looked
for at about 14 prices.
  Tested:   tests/curator/test_work.py
"""

from collections.abc import Iterable

from letalone.errors import ParameterError
from letalone.plans.aggregates import of_columns as aggregates
from letalone.plans.aggregates.formulas import Aggregate, with_formula_parts
from letalone.plans.aggregates.of_pairs import Regression, TwoClamped
from letalone.plans.clauses import Join, PublicJoin
from letalone.plans.expressions import Expression, column_names
from letalone.plans.plan import Plan
from letalone.session.notes import expressions_in, expressions_of_rows

STEPS_OF_BOUNDS, STEPS_OF_TWO_COLUMNS = 60, 3
CELLS_A_STEP, EDGES_A_STEP, CANDIDATES_A_STEP = 2_000, 50, 10  # so many take as long as a part
# Whose errors take long to find.
SEARCHED = (aggregates.Mean, aggregates.Variance, aggregates.Deviation, TwoClamped, Regression)
STEPS_OF_SEARCH = 3


def used_columns(plan: Plan) -> dict[str, set[str]]:
    """The columns by data set; a name that could be a table's column counts as that column."""
    before = plan.per_unit
    names = _names(expressions_in(plan)) | _keys(plan.joins)
    read = names if before is None else _names(expressions_of_rows(before)) | _keys(before.joins)
    columns = {column.name for column in plan.schema.columns}
    theirs = {join.name: {column.name for column in join.columns} for join in plan.partners}
    return {plan.schema.name: read & columns} | {
        name: names & columns for name, columns in theirs.items()
    }


def _names(expressions: Iterable[Expression]) -> set[str]:
    return {name for expression in expressions for name in column_names(expression)}


def _keys(joins: Iterable[Join]) -> set[str]:
    """What public tables are joined on. Private ones are joined on the units, which stay hidden."""
    return {key for join in joins if isinstance(join, PublicJoin) for key, _ in join.on}


def check_work(plan: Plan, most: int, *, error: bool = False) -> None:
    """Refuses a plan that takes longer to be priced than a free request may."""
    parts = [part for _, part in with_formula_parts(plan.aggregates)]
    searched = SEARCHED if error else ()
    steps = sum(_steps(p) * (STEPS_OF_SEARCH if isinstance(p, searched) else 1) for p in parts)
    if steps > most:
        why = " for an error to keep" if error else ""
        raise ParameterError(
            f"To price this question{why} takes {steps:,} steps, and {most:,} is the most here."
            " Ask in parts: fewer aggregates, fewer quantiles, larger steps, or fewer candidates."
            " The operator can allow more (most_steps)."
        )


def _steps(aggregate: Aggregate) -> int:
    match aggregate:
        case aggregates.Quantiles(at=at):
            return 1 + len(at) * aggregate.cells // CELLS_A_STEP
        case aggregates.Extreme():
            return 1 + aggregate.cells // CELLS_A_STEP
        case aggregates.Histogram(edges=edges):
            return 1 + len(edges) // EDGES_A_STEP
        case aggregates.MostFrequent(candidates=candidates):
            return 1 + len(candidates) // CANDIDATES_A_STEP
        case aggregates.PrivateBounds():
            return STEPS_OF_BOUNDS
        case TwoClamped() | Regression():
            return STEPS_OF_TWO_COLUMNS
        case _:
            return 1
