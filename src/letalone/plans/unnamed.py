"""Nobody is named in a question: the column that identifies people meets no constant.

What was asked stays in ledgers, histories, receipts and exports, also of people whose rows were
erased since. So a question may count the unit column, tell whether it is missing, and join other
tables on it; nothing else. Where it cannot be calculated with, no constant stands for one of its
values, and no answer holds one. Of a public table that is joined, a plan has the digest alone.

Theorem.  No constant, key, candidate, bound or edge of a plan that passes is compared with a value
of a unit column, or of the column of another table that is joined to it.
  Proven:   all expressions of a plan are walked; a unit column, or another name of it, stands
            in them alone, where it is counted (perhaps as a result of CASE beside NULL), or
            directly under IS NULL
  Tested:   tests/plans/test_unnamed.py, each place; tests/curator/test_nobody_is_named.py
  Assumed:  the schema says which column identifies people. Constants that are compared with other
            columns (a second id, one in a public table), and names that people choose, are not
            looked at

New questions alone are checked (`make_plan`, and plans that are sent to a service): what was asked
before can still be read.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.plans.aggregates.features import made_of
from letalone.plans.aggregates.formulas import expressions_of, with_formula_parts
from letalone.plans.aggregates.of_columns import CountPresent, CountValues
from letalone.plans.clauses import Join
from letalone.plans.expressions import Case, ColumnRef, Expression, IsNull, Literal, child_nodes
from letalone.plans.schema import Column, Schema

if TYPE_CHECKING:
    from letalone.plans.plan import Plan

COUNTED = (CountPresent, CountValues)


def check_names_nobody(plan: "Plan") -> None:
    """Refuses a question in which a value of the unit column could stand."""
    rows = plan if plan.per_unit is None else plan.per_unit
    units = _units(plan.schema, rows.joins)
    if not units:
        return
    joined = [column for join in rows.joins for column in join.columns]
    for column in (*plan.schema.columns, *joined):
        if column.name in units:
            check_unlisted(column)
    for name, of in rows.derived:
        if isinstance(of, ColumnRef) and of.name in units:
            units.add(name)  # another name of it
        else:
            _check(of, units)
    for of in _others(plan):
        _check(of, units)


def _units(schema: Schema, joins: Iterable[Join]) -> set[str]:
    """The columns of the rows that identify people: the own, and those that are joined to it."""
    units = set[str]() if schema.unit is None else {schema.unit}
    for join in joins:
        equal = {right for left, right in join.on if left in units}
        units |= equal & {column.name for column in join.columns}
    return units


def _others(plan: "Plan") -> Iterator[Expression]:
    """The expressions over rows of the table but derived columns; of what is counted, its parts."""
    rows = plan if plan.per_unit is None else plan.per_unit
    if rows.where is not None:
        yield rows.where
    if plan.per_unit is not None:
        yield from (of for _, aggregate in plan.per_unit.features for of in made_of(aggregate))
        return
    yield from (group.of for group in plan.groups)
    for _, aggregate in with_formula_parts(plan.aggregates):
        yield from (
            _of_count(aggregate.of) if isinstance(aggregate, COUNTED) else expressions_of(aggregate)
        )


def _of_count(of: Expression) -> Iterator[Expression]:
    """What is looked at but the counted column: COUNT(DISTINCT CASE WHEN cost > 9 THEN id END)."""
    if isinstance(of, Case):
        conditions, results = zip(*of.branches, strict=True)
        if all(map(_is_plain, (*results, of.otherwise))):
            yield from conditions
            return
    if not isinstance(of, ColumnRef):
        yield of


def _is_plain(of: Expression) -> bool:
    """A column, or nothing: a constant beside the column would be compared with its values."""
    return isinstance(of, ColumnRef) or (isinstance(of, Literal) and of.value is None)


def _check(of: Expression, units: set[str]) -> None:
    waiting = [of]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ColumnRef):
            _check_name(node.name, units)
        elif not (isinstance(node, IsNull) and isinstance(node.of, ColumnRef)):
            waiting.extend(child_nodes(node))


def _check_name(name: str, units: set[str]) -> None:
    if name in units:
        raise UnsupportedQuery(
            f"Column {name!r} identifies people, and questions are kept for ever, so they must not"
            " hold its values. It can be counted, as in COUNT(DISTINCT …), tested with IS NULL,"
            " and joined with another table; it cannot be compared, calculated with or grouped by."
            " To ask about some people, put a column into the data that says which group each"
            " person is in, such as a cohort."
        )


def check_no_feature(schema: Schema, names: Collection[str]) -> None:
    """Refuses the unit among the columns that a model learns from."""
    if schema.unit in names:
        raise ParameterError(
            f"{schema.unit!r} identifies people, so a model cannot learn from it. Leave it out of"
            " the features."
        )


def check_unlisted(unit: Column) -> None:
    """Refuses a unit column whose values the schema lists."""
    if unit.keys is not None:
        raise UnsupportedQuery(
            f"Column {unit.name!r} identifies people, and its values are listed in the schema,"
            " which stands in every question, and questions are kept for ever. Take keys= of this"
            " column out of the schema."
        )
