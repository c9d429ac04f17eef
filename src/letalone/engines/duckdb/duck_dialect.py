"""DuckDB's dialect: doubles as the processor has them.

Tested:   tests/engines/test_amounts.py, test_expressions.py, test_positions.py
Assumed:  DuckDB computes in IEEE doubles (`ieee_floating_point_ops`), as lockdown.py sets
"""

from dataclasses import dataclass

from letalone.engines.core import syntax
from letalone.engines.core.dialect import Dialect
from letalone.engines.core.stored_types import FLOATS, SHORT_INTEGERS, Stored, with_one_zero
from letalone.engines.core.syntax import TEXT, Sql
from letalone.engines.core.terms import SqlTerm
from letalone.engines.duckdb.duck_reading import plain_text, read
from letalone.plans.schema import Column
from letalone.plans.types import Type


@dataclass(frozen=True, slots=True)
class DuckDialect(Dialect):
    """What trees are written in."""

    def read(self, stored: Stored, source: Sql, column: Column) -> SqlTerm:
        return read(stored, source, column)

    def unit(self, stored: Stored, value: Sql) -> Sql:
        """Long integers and identifiers are text, which tells all their values apart."""
        if stored.stored in FLOATS:
            return with_one_zero(value)
        if stored.collated:
            return plain_text(value)
        if stored.stored in SHORT_INTEGERS or stored.stored == "VARCHAR":
            return value
        if stored.type in (Type.DATE, Type.TIMESTAMP) or stored.stored.startswith("DECIMAL("):
            return value  # a time beyond the calendar cannot be written as text
        return syntax.try_cast(value, TEXT)

    def text(self, stored: Stored, unit: Sql) -> Sql:
        """DuckDB cannot write times beyond the calendar."""
        is_time = stored.type is Type.TIMESTAMP
        return syntax.cast_to(syntax.call("EPOCH_US", unit) if is_time else unit, TEXT)

    def hashed(self, text: Sql) -> Sql:
        return syntax.call("SHA256", text)

    def printed(self, query: Sql, *, pretty: bool = False) -> str:
        return syntax.print_sql(query, pretty=pretty)


DUCKDB = DuckDialect()
