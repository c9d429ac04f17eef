"""One row of each unit of a private table, lent to the engine of another one.

The row is the one with the smallest stored rank. It is handed over as an Arrow table, so that each
engine stays locked to its own files, and is gone when the answer is there.

Theorem.  What is lent has at most one row for each unit, which depends on that unit's rows and
ranks alone. So joined on the unit it gives each row at most one partner, of the same unit.
  Proven:   the ranks of a unit's rows are different whole numbers from 1; rows without a unit have
            none. Units are compared as both tables store them, and `unit_kind` is the same, so
            the comparison is that of either table and no value is converted.
  Tested:   tests/engines/test_partners.py
"""

from collections.abc import Iterable

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.measures import Scope
from letalone.engines.reading import LONG_INTEGERS, SHORT_INTEGERS
from letalone.engines.rows import UNIT, Relation, ScopeRows, Tables
from letalone.plans.expressions import ColumnRef
from letalone.plans.query import Bounding, PrivateJoin
from letalone.plans.schema import Schema
from letalone.plans.types import Type


def lending_scope(schema: Schema) -> Scope:
    """The rows that are lent: one for each unit."""
    return Scope(schema, None, (), (), (), None, Bounding(max_rows=1))


def lent_rows(
    schema: Schema, join: PrivateJoin, names: Iterable[str], tables: Tables
) -> exp.Select:
    """The unit and the named columns of the one row, each column by its place in the join."""
    wanted = set(names)
    columns = {n: c.name for n, c in enumerate(join.columns) if c.name in wanted}
    of = {number: ColumnRef(name) for number, name in columns.items()}
    rows = ScopeRows(lending_scope(schema), of.values(), tables)
    made = [syntax.alias(rows.value(one).sql, f"column{number}") for number, one in of.items()]
    first = syntax.operation(exp.LTE, rows.rank, syntax.whole(1))
    unit = syntax.alias(rows.unit, UNIT)
    return syntax.select([unit, *made], rows.select(with_unit=True, bounded=[first]))


def unit_kind(relation: Relation, unit: str) -> str:
    """How units are told apart, from metadata: the same word means that they can be compared."""
    stored = relation.columns[unit]
    if stored.type is Type.TEXT:
        return "text"  # an enumeration's own word for itself has its categories, which are data
    if stored.stored in SHORT_INTEGERS:
        return "whole numbers"
    if stored.stored in LONG_INTEGERS:
        return "long whole numbers"
    return "numbers" if stored.stored in ("FLOAT", "DOUBLE") else stored.stored.lower()
