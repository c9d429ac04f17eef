"""Which columns of which data sets a question reads: what a grant must cover (G4).

Theorem.  Every value of a table that can move an answer is in a column that is named here, or
in the unit column, which only tells whose rows are whose.
  Proven:   a plan reads rows through its expressions and the keys of its public joins, and
            `expressions_in` lists all expressions of a plan. After .per_unit(…) a question sees
            features only, and what they are made of is listed.
  Tested:   tests/curator/test_used_columns.py: every kind of aggregate, filter, group and join
"""

from collections.abc import Iterable, Iterator

from letalone.plans.clauses import Join, PublicJoin
from letalone.plans.expressions import Expression, column_names
from letalone.plans.features import PerUnit, made_of
from letalone.plans.query import Plan
from letalone.session.notes import expressions_in


def used_columns(plan: Plan) -> dict[str, set[str]]:
    """The columns by data set; a name that could be a table's column counts as that column."""
    before = plan.per_unit
    names = _names(expressions_in(plan)) | _keys(plan.joins)
    own = names if before is None else _names(_of_rows(before))
    own |= set() if before is None else _keys(before.joins)
    columns = {column.name for column in plan.schema.columns}
    theirs = {join.name: {column.name for column in join.columns} for join in plan.partners}
    return {plan.schema.name: own & columns} | {name: names & of for name, of in theirs.items()}


def _of_rows(before: PerUnit) -> Iterator[Expression]:
    if before.where is not None:
        yield before.where
    yield from (of for _, of in before.derived)
    yield from (of for _, feature in before.features for of in made_of(feature))


def _names(expressions: Iterable[Expression]) -> set[str]:
    return {name for of in expressions for name in column_names(of)}


def _keys(joins: Iterable[Join]) -> set[str]:
    """What public tables are joined on. Private ones are joined on the units, which stay hidden."""
    return {left for join in joins if isinstance(join, PublicJoin) for left, _ in join.on}
