"""A plain query of one number: SELECT AVG(age) FROM visits WHERE icu.

Tested:   tests/session/test_sql_habits.py, test_first_numbers.py
"""

from typing import NamedTuple, cast

from sqlglot import exp

PLAIN = ("expressions", "from_", "where")  # the clauses of a query that is read here
NAME = ("this", "db", "catalog", "alias")  # the parts of a table that is no more than its name


class OneNumber(NamedTuple):
    """What a query of one number asks for, of which rows of which table."""

    of: exp.Expr
    where: exp.Expr | None
    table: exp.Expr


def has_only(node: exp.Expr, *names: str) -> bool:
    """Whether a node has no other parts than these."""
    return {name for name, value in node.args.items() if value} <= {*names}


def is_plain_table(node: object) -> bool:
    """Whether it is a table by its name alone: no TABLESAMPLE, no joins, no renamed columns."""
    if type(node) is not exp.Table or type(node.this) is not exp.Identifier:
        return False
    alias = node.args.get("alias")
    return has_only(node, *NAME) and (alias is None or has_only(alias, "this"))


def is_of_table(node: exp.Expr, table: exp.Expr) -> bool:
    """Whether all columns are those of one table, by the name before them."""
    prefixes = {column.text("table").casefold() for column in node.find_all(exp.Column)}
    return prefixes <= {"", str(table.alias_or_name).casefold()}


def is_plain_query(node: object, *more: str) -> bool:
    """Whether a query chooses columns and rows of one table, and has at most these other parts."""
    if type(node) is not exp.Select or not has_only(node, *PLAIN, *more):
        return False
    source = node.args.get("from_")
    if source is None or not is_plain_table(source.this):
        return False
    clauses = (node.args.get(name) for name in ("where", *more))
    parts = [*node.expressions, *(part for part in clauses if isinstance(part, exp.Expr))]
    return all(is_of_table(part, source.this) for part in cast("list[exp.Expr]", parts))


def one_number(select: exp.Expr) -> OneNumber | None:
    """A plain query of one aggregate, or a formula of some; None for another."""
    if type(select) is not exp.Select or not is_plain_query(select):
        return None
    source, columns = select.args["from_"], select.expressions
    if len(columns) != 1:
        return None
    of = columns[0].unalias()
    if not any(isinstance(part, exp.AggFunc | exp.Anonymous) for part in of.walk()):
        return None
    where = select.args.get("where")
    return OneNumber(of, None if where is None else where.this, source.this)
