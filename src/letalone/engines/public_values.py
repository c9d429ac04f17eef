"""Values of a public table: the rows that meet a condition, each once, read by DuckDB here.

Conditions and columns are expressions of plans, so they mean what they mean of a private table.
Anyone may see a public table, so nothing here is private, and nothing of it depends on people.

  Tested:   tests/session/test_sql_public.py
"""

from collections.abc import Sequence
from contextlib import closing

from letalone.engines.core import syntax
from letalone.engines.core.failure import hide_engine_errors
from letalone.engines.core.measures import RowScope
from letalone.engines.core.rows import ScopeRows, Tables
from letalone.engines.duckdb.duck_dialect import DUCKDB
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.engines.public_tables import copy_of_public
from letalone.errors import ParameterError
from letalone.plans.clauses import Bounding, PublicJoin
from letalone.plans.constants import Value, as_value
from letalone.plans.dates import read_dates
from letalone.plans.expressions import Expression
from letalone.plans.schema import Schema
from letalone.plans.typing import columns_of

MOST_PUBLIC_VALUES = 10_000


def select_public(
    frame: object,
    schema: Schema,
    columns: Sequence[Expression],
    where: Expression | None,
    *,
    once: bool = True,
) -> list[tuple[Value, ...]]:
    """The rows of these columns, in order, equal ones `once`; refused where there are too many."""
    known = columns_of(schema)
    expressions = [read_dates(column, known) for column in columns]
    condition = None if where is None else read_dates(where, known)
    for expression in expressions if condition is None else [*expressions, condition]:
        known.type_of(expression)
    rows = hide_engine_errors(lambda: _select(frame, schema, expressions, condition, once=once))
    if len(rows) > MOST_PUBLIC_VALUES:
        raise ParameterError(
            f"The query about the public table {schema.name!r} has more than"
            f" {MOST_PUBLIC_VALUES:,} rows. Join the table instead."
        )
    return [tuple(as_value(value) for value in row) for row in rows]


def _select(
    frame: object,
    schema: Schema,
    columns: Sequence[Expression],
    where: Expression | None,
    *,
    once: bool,
) -> list[tuple[object, ...]]:
    with closing(LockedDuck()) as duck:
        duck.lock([])
        stub = PublicJoin(schema.name, (), (), "")
        relation = copy_of_public(duck, stub, frame, name="public")
        scope = RowScope(schema, where, (), (), (), None, Bounding())
        rows = ScopeRows(scope, columns, Tables(relation, None, {}, DUCKDB))
        terms = [rows.levels.name(rows.value(column)) for column in columns]
        named = [syntax.alias(term.sql, f"value{number}") for number, term in enumerate(terms)]
        query = syntax.select(named, rows.select(with_unit=False)).distinct(distinct=once)
        return sorted(duck.run(query.limit(MOST_PUBLIC_VALUES + 1)), key=repr)
