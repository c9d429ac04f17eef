"""Takes one row of each unit: to lend to the engine of another private table, or to train on.

It is the first of the unit's rows by the digest of all that is read of it. Who bounds a unit's rows
by itself may have all of them, each with its unit. What is lent is handed
over as an Arrow table, so that each engine stays locked to its own files, or as part of a server's
statement, and is gone when the answer is there. A model is trained on the first of the rows that
meet the condition and have a label; where the unit is the row, on all that do.

Theorem.  There is at most one row for each unit, which depends on that unit's rows alone. So joined
on the unit it gives each row at most one partner, of the same unit; and neighbours that differ in
one unit train on rows that differ in at most one.
  Proven:   docs/explanation/proofs/weights.md: rows of one unit that nothing tells apart are equal
            in all that is read. Units are compared as both tables store them, and `unit_kind` is
            the same, so the comparison is that of either table and no value is converted.
  Tested:   tests/engines/test_partners.py, tests/engines/test_training_rows.py
"""

from collections.abc import Iterable, Sequence

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.bounding import keep_first
from letalone.engines.core.measures import RowScope
from letalone.engines.core.rows import UNIT, ScopeRows, TableRef, Tables
from letalone.engines.core.stored_types import FLOATS, LONG_INTEGERS, SHORT_INTEGERS
from letalone.engines.core.syntax import Sql
from letalone.engines.core.terms import SqlTerm
from letalone.plans.expressions import ColumnRef, Expression
from letalone.plans.plan import Bounding, PrivateJoin
from letalone.plans.schema import Schema
from letalone.plans.types import Type


def one_row_scope(schema: Schema, where: Expression | None = None) -> RowScope:
    """The rows that meet the condition, one for each unit."""
    return RowScope(schema, where, (), (), (), None, Bounding())


def lent_rows(
    schema: Schema, join: PrivateJoin, names: Iterable[str], tables: Tables
) -> exp.Select:
    """The unit and the named columns of the one row, each column by its place in the join."""
    wanted = set(names)
    columns = {n: ColumnRef(c.name) for n, c in enumerate(join.columns) if c.name in wanted}
    rows = ScopeRows(one_row_scope(schema), columns.values(), tables)
    values = [rows.value(column) for column in columns.values()]
    shown = [
        syntax.alias(value.sql, f"column{n}") for n, value in zip(columns, values, strict=True)
    ]
    source = syntax.subquery(_first_rows(rows, values, [], tables), f"{rows.mark}first")
    return syntax.select([syntax.alias(rows.unit, UNIT), *shown], source)


def training_rows(
    scope: RowScope,
    names: Sequence[str],
    target: str | None,
    tables: Tables,
    *,
    with_unit: bool = False,
) -> exp.Select:
    """The named columns, each by its place, of rows in which the target is not missing.

    with_unit: all rows of each unit, and behind the columns the unit as text, one for each.
    """
    columns = [ColumnRef(name) for name in names]
    rows = ScopeRows(scope, columns, tables)
    values = [rows.value(column) for column in columns]
    shown = [syntax.alias(value.sql, f"column{number}") for number, value in enumerate(values)]
    labelled = [] if target is None else [syntax.is_present(values[names.index(target)].sql.copy())]
    if scope.schema.unit is None:
        return syntax.select(shown, rows.select(with_unit=False), where=labelled)
    if with_unit:
        shown.append(syntax.alias(rows.unit_text, f"column{len(names)}"))
        return syntax.select(shown, rows.select(with_unit=True), where=labelled)
    source = syntax.subquery(_first_rows(rows, values, labelled, tables), f"{rows.mark}first")
    return syntax.select(shown, source)


def _first_rows(
    rows: ScopeRows, values: Sequence[SqlTerm], where: Sequence[Sql], tables: Tables
) -> exp.Select:
    """Of each unit's rows that meet the conditions the first by what is read."""
    met = syntax.select([exp.Star()], rows.select(with_unit=True), where=where)
    if tables.once:
        return met
    return keep_first(
        met,
        1,
        unit=rows.unit,
        unit_text=rows.unit_text,
        parts=values,
        mark=f"{rows.mark}0",
        dialect=tables.dialect,
        together=False,
    )


def unit_kind(relation: TableRef, unit: str) -> str:
    """How units are told apart, from metadata: the same word means that they can be compared."""
    stored = relation.columns[unit]
    if stored.type is Type.TEXT:
        return "text"  # an enumeration's own word for itself has its categories, which are data
    if stored.stored in SHORT_INTEGERS:
        return "whole numbers"
    if stored.stored in LONG_INTEGERS:
        return "long whole numbers"
    return "numbers" if stored.stored in FLOATS else stored.stored.lower()
