"""SELECT … UNION ALL SELECT …, each of one row of the same table, as one query of one row.

    SELECT 'women' AS who, COUNT(*) AS n FROM visits WHERE sex = 'f'
    UNION ALL SELECT 'men', COUNT(*) FROM visits WHERE sex = 'm'

is SELECT 'women', COUNT(*) FILTER (WHERE sex = 'f'), 'men', COUNT(*) FILTER (WHERE sex = 'm'),
whose row is laid out as two. All numbers are one question, which shares ε.

  Tested:   tests/session/test_answer_formulas.py
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlglot import exp

from letalone.answers.row_formulas import Order
from letalone.sql.aggregates import is_aggregate
from letalone.sql.names import matching
from letalone.sql.rewriting.one_number import PLAIN, has_only
from letalone.sql.rewriting.totals import filter_number, is_same_table
from letalone.sql.sql_formulas import free_name
from letalone.sql.text import Unread

STACK = "stack"  # marks a query whose row is laid out as several
HOW = "Each SELECT of UNION ALL has numbers alone: SELECT 'women', COUNT(*) FROM visits."
MOST_ROWS = 100


class Stack(NamedTuple):
    """The columns of the rows, each with the names of its cells in the one row; how they are
    sorted, and how many are shown."""

    columns: tuple[tuple[str, tuple[str, ...]], ...]
    order: tuple[Order, ...] = ()
    limit: int | None = None


def one_select(query: exp.Select | exp.Union) -> exp.Select:
    """The query as one SELECT; UNION ALL of what has more rows than one is refused."""
    if isinstance(query, exp.Select):
        return query
    branches = list(_branches(query))
    _check(branches, query)
    rows = [
        [_label(column, f"row_{row}_{place}", branch) for place, column in enumerate(columns, 1)]
        for row, (branch, columns) in enumerate(((b, b.expressions) for b in branches), 1)
    ]
    names = list(_names(branches[0]))
    cells = zip(*([column.alias for column in row] for row in rows), strict=True)
    columns = tuple((name, tuple(cell)) for name, cell in zip(names, cells, strict=True))
    result = exp.select(*(column for row in rows for column in row))
    result.set("from_", branches[0].args["from_"].copy())
    result.meta[STACK] = Stack(columns, tuple(_orders(query, names)), _limit(query))
    return result


def _branches(query: exp.Expr) -> Iterator[exp.Select]:
    query = query.this if type(query) is exp.Subquery else query
    if type(query) is exp.Union and query.args.get("distinct") is False:
        yield from _branches(query.this)
        yield from _branches(query.expression)
    elif type(query) is exp.Select:
        yield query
    else:
        raise Unread("This is not UNION ALL of SELECTs", HOW, node=query)


def _check(branches: Sequence[exp.Select], query: exp.Expr) -> None:
    if len(branches) > MOST_ROWS:
        raise Unread(f"UNION ALL of more than {MOST_ROWS} SELECTs", HOW, node=query)
    first = branches[0].args.get("from_")
    for branch in branches:
        source = branch.args.get("from_")
        others = not has_only(branch, *PLAIN)
        if source is None or first is None or type(source.this) is not exp.Table or others:
            raise Unread("This SELECT of UNION ALL is not read", HOW, node=branch)
        if not is_same_table(source.this, first.this):
            raise Unread("UNION ALL of two tables is not read", HOW, node=branch)
        if len(branch.expressions) != len(branches[0].expressions):
            raise Unread("The SELECTs of UNION ALL have as many columns each", HOW, node=branch)
        if not any(is_aggregate(part) for c in branch.expressions for part in c.walk()):
            raise Unread("This SELECT of UNION ALL shows rows", HOW, node=branch)


def _label(column: exp.Expr, name: str, branch: exp.Select) -> exp.Expr:
    where = branch.args.get("where")
    return exp.alias_(filter_number(column.unalias(), None if where is None else where.this), name)


def _names(select: exp.Select) -> Iterator[str]:
    """What the columns are called: as in the first SELECT."""
    taken: list[str] = []
    for column in select.expressions:
        node = column.unalias()
        name = column.alias or (node.key if is_aggregate(node) else "column")
        taken.append(free_name(name, None, taken=taken))
        yield taken[-1]


def _orders(query: exp.Expr, names: Sequence[str]) -> Iterator[Order]:
    order = query.args.get("order")
    for ordered in () if order is None else order.expressions:
        by, name = ordered.this, None
        if type(by) is exp.Column and type(by.this) is exp.Identifier:
            name = matching(by.this, names)
        elif type(by) is exp.Literal and str(by.this).isdecimal():
            name = dict(enumerate(names, 1)).get(int(by.this))
        if name is None:
            raise Unread("ORDER BY of UNION ALL names a column", HOW, node=ordered)
        down, first = bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first"))
        yield Order(name, descending=down, missing_first=first)


def _limit(query: exp.Expr) -> int | None:
    limit = query.args.get("limit")
    if limit is None:
        return None
    digits = str(limit.expression.name) if type(limit) is exp.Limit else ""
    if not digits.isdecimal() or query.args.get("offset"):
        raise Unread("LIMIT takes a number of rows", "Write LIMIT 10.", node=limit)
    return int(digits)
