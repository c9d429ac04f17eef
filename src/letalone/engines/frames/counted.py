"""Counts the rows of every combination of values of some columns: exact, for the owner.

Values are told apart as they are stored. NULL is a value, NaN is one (whatever its bits), and
-0.0 is 0.0. Text is compared byte by byte, whatever collation its table has. Types that no
question can look into are refused: what is read of them is not the value.

  Tested:   tests/anonymity/test_measure.py
"""

from collections.abc import Sequence

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.rows import TableRef
from letalone.engines.core.stored_types import Stored
from letalone.engines.core.syntax import TEXT, Sql
from letalone.engines.duckdb.duck_reading import plain_text
from letalone.errors import ParameterError
from letalone.plans.schema import unknown_column
from letalone.plans.types import Type

NUMBER_OF_ROWS = "#rows"  # beside columns that are called "0", "1", …
NOTHING = '"NULL"'  # DuckDB's word for the type of a column that is empty by its type
WITHOUT_ORDER = ("UUID", NOTHING)
WIDE = ("HUGEINT", "UHUGEINT")


def count_combinations(relation: TableRef, names: Sequence[str], *, called: str) -> exp.Select:
    """SELECT the columns, called by their number, and COUNT(*), grouped by all of them.

    `called` is what an error calls the table.
    """
    columns = [_value(_find_column(relation, name, called)) for name in names]
    shown = [syntax.alias(column, str(place)) for place, column in enumerate(columns)]
    rows = syntax.alias(exp.Count(this=exp.Star()), NUMBER_OF_ROWS)
    query = syntax.select([*shown, rows], syntax.rename(relation.sql, "source"))
    return syntax.group_by(query, [column.copy() for column in columns])


def _find_column(relation: TableRef, name: str, called: str) -> Stored:
    if name not in relation.columns:
        raise unknown_column(name, list(relation.columns), table=called)
    stored = relation.columns[name]
    if stored.type is Type.OTHER and stored.stored != NOTHING:
        raise ParameterError(
            f"Column {name!r} holds {stored.stored}, but must hold text, numbers, dates, times or"
            " truth values. Convert it to text first."
        )
    return stored


def _value(stored: Stored) -> Sql:
    """The column in a form in which equal values are equal to every later step."""
    column = syntax.column(stored.name, "source")
    if stored.collated:
        return plain_text(column)
    if stored.stored in ("FLOAT", "DOUBLE"):  # one zero, one NaN
        nan = syntax.cast_to(syntax.text("NaN"), syntax.DOUBLE)
        is_zero = syntax.operation(exp.EQ, column, syntax.double(0.0))
        branches = ((syntax.call("ISNAN", column), nan), (is_zero, syntax.double(0.0)))
        return syntax.case(*branches, otherwise=column.copy())
    if stored.stored in (*WITHOUT_ORDER, *WIDE) or stored.stored.startswith("ENUM("):
        return syntax.cast_to(column, TEXT)
    return column
