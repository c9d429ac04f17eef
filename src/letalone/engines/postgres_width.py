"""How wide a statement is: PostgreSQL computes at most 1664 values of a row at once.

A question that is too wide is refused before it is charged, by its statement alone.

  Tested:   tests/engines/conformance/test_width.py
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from sqlglot import exp

from letalone.engines.syntax import Sql
from letalone.errors import UnsupportedQuery

MOST = 1600
"""Of 1664; the rest is for what the server adds itself, to group and to sort by."""


def check_width(queries: Iterable[Sql], *, columns: int) -> None:
    """Refuses statements that the server cannot run; `columns`: how many the tables have."""
    widest = max((_widest(one, columns) for one in queries), default=0)
    if widest > MOST:
        raise UnsupportedQuery(
            f"The question needs {widest} sums and columns at once, and PostgreSQL computes at most"
            f" {MOST}. Ask for less at once: fewer candidates or aggregates in each question."
            " Nothing was charged."
        )


def _widest(query: Sql, columns: int) -> int:
    """The most values that any part of a statement has."""
    tables = {one.alias: one.this for one in query.find_all(exp.CTE)}
    return max(_width(one, columns, tables) for one in query.find_all(exp.Select))


def _width(query: Sql, columns: int, tables: Mapping[str, Sql]) -> int:
    """How many values the rows of a query have; a star has all those of what is read."""
    if isinstance(query, exp.SetOperation):
        return _width(query.this, columns, tables)
    if isinstance(query, exp.Subquery):
        return _width(query.this, columns, tables)
    if isinstance(query, exp.Table):
        known = tables.get(query.name)
        return columns if known is None else _width(known, columns, tables)
    stars = sum(one.is_star for one in query.expressions)
    inner = sum(_width(one, columns, tables) for one in _read_by(query)) if stars else 0
    return len(query.expressions) - stars + stars * inner


def _read_by(query: Sql) -> list[Sql]:
    found: list[Any] = [query.args.get("from_"), *query.args.get("joins", ())]
    return [cast("Sql", one.this) for one in found if one is not None]
