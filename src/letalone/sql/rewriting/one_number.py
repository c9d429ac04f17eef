"""A plain query of one number: SELECT AVG(age) FROM visits WHERE icu.

Tested:   tests/session/test_sql_habits.py, test_first_numbers.py
"""

from typing import NamedTuple

from sqlglot import exp

CLAUSES = ("with_", "group", "having", "order", "limit", "offset", "joins", "qualify", "distinct")


class OneNumber(NamedTuple):
    """What a query of one number asks for, of which rows of which table."""

    of: exp.Expr
    where: exp.Expr | None
    table: exp.Expr


def one_number(select: exp.Expr) -> OneNumber | None:
    """A plain query of one aggregate, or a formula of some; None for another."""
    if type(select) is not exp.Select or any(select.args.get(name) for name in CLAUSES):
        return None
    source, columns = select.args.get("from_"), select.expressions
    if source is None or type(source.this) is not exp.Table or len(columns) != 1:
        return None
    of = columns[0].unalias()
    if not any(isinstance(part, exp.AggFunc | exp.Anonymous) for part in of.walk()):
        return None
    where = select.args.get("where")
    return OneNumber(of, None if where is None else where.this, source.this)
