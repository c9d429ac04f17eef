"""The rows that a model is trained on: one of each unit, with the columns that it looks at.

Where the unit is a column, the row with the smallest stored rank counts, if it meets the condition
and has a label. Where the unit is the row, all rows do that meet it.

Theorem.  Neighbours that differ in one unit have rows that differ in at most one.
  Proven:   the ranks of a unit's rows are different whole numbers from 1, and rows without a unit
            have none, so at most one row of a unit is taken; whether it is, and what it holds,
            depends on that unit's rows and ranks alone
  Tested:   tests/engines/test_training_rows.py
"""

from collections.abc import Sequence

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.measures import Scope
from letalone.engines.rows import ScopeRows, Tables
from letalone.plans.expressions import ColumnRef, Expression
from letalone.plans.query import Bounding
from letalone.plans.schema import Schema


def training_scope(schema: Schema, where: Expression | None) -> Scope:
    """The rows that meet the condition, one for each unit."""
    bounding = Bounding() if schema.unit is None else Bounding(max_rows=1)
    return Scope(schema, where, (), (), (), None, bounding)


def training_rows(
    scope: Scope, names: Sequence[str], target: str | None, tables: Tables
) -> exp.Select:
    """The named columns, each by its place, of rows in which the target is not missing."""
    of = [ColumnRef(name) for name in names]
    rows = ScopeRows(scope, of, tables)
    values = [rows.value(one).sql for one in of]
    made = [syntax.alias(value, f"column{number}") for number, value in enumerate(values)]
    one = [syntax.operation(exp.LTE, rows.rank, syntax.whole(1))] if tables.ranks else []
    there = [] if target is None else [syntax.is_present(values[names.index(target)].copy())]
    return syntax.select(made, rows.select(with_unit=False, bounded=one), where=there)
