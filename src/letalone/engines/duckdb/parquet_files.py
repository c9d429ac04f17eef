"""Reads Parquet files: names and types from the footer, and rows that DuckDB reads to the end.

DuckDB stops at text that is no UTF-8, at times beyond what fits into microseconds and at decimals
longer than their type, so one person's row could stop a release. Hence each column that could
hold such a cell is read through once, when it is first asked for (after the charge). If that
fails, the files are copied into a table in which such cells are missing. Sums over text do without:
their statement stops at the first such cell, and then the column is read through and the statement
run again.

Theorem.  What is read of a row depends on that row alone.
  Proven:   files without such a cell are read directly, and the copy has the same values; files
            with one are read from the copy only, in which each cell is read for itself. What the
            file says of its rows (least and largest values, which leave out NaN and which DuckDB
            misreads where all texts are equal) is not asked: see lockdown.py.
  Tested:   tests/engines/test_hostile_data.py, tests/engines/test_only_rows_decide.py
  Assumed:  pages and dictionaries are what a Parquet writer makes, and where a footer says that
            all cells of a row group are missing, they are; a file that is damaged freezes the
            data set. DuckDB replaces and leaves out nothing in valid text.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.failure import Result
from letalone.engines.core.rows import TableRef
from letalone.engines.core.stored_types import SHORT_INTEGERS, Stored, check_columns
from letalone.engines.core.syntax import Sql
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.engines.frames import arrow
from letalone.errors import ParameterError
from letalone.errors.problem import without_context
from letalone.plans.types import Type

COPY, FIXED = "letalone_sound", "letalone_fixed"
# Every bit pattern of these is a value.
SAFE = (*SHORT_INTEGERS, "UBIGINT", "FLOAT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP_NS", "UUID")


def relation_of_parquet(duck: LockedDuck, paths: Sequence[Path]) -> TableRef:
    """The relation that reads the files, all of the same columns."""
    names, columns = first = _columns(duck, paths[0])
    for path in paths[1:]:
        if _columns(duck, path) != first:
            raise ParameterError(
                f"{paths[0].name} and {path.name} have different columns. Open files together"
                " only if their columns have the same names and types in the same order."
            )
    check_columns(names, paths[0].name)
    return TableRef(_scan(paths, "strict"), {column.name: column for column in columns})


def unsafe_columns(relation: TableRef, names: Iterable[str]) -> list[str]:
    """Which of these columns could hold a cell that stops the scan: from their types."""
    columns = relation.columns
    return sorted(n for n in names if n in columns and columns[n].stored not in SAFE)


def reads_to_the_end(
    duck: LockedDuck, paths: Sequence[Path], column: Stored, *, broken: str = "strict"
) -> bool:
    """Whether every cell of a column can be scanned. Private: it tells of the rows."""
    hashed = exp.Max(this=syntax.call("HASH", syntax.column(column.name)))
    try:
        duck.run(syntax.select([hashed], syntax.rename(_scan(paths, broken), "source")))
        if column.stored.startswith("DECIMAL("):  # too many digits stop only what comes later
            return arrow.has_valid_column(paths, column.name)
    except Exception:  # whatever the reason is; its words could hold a value
        return False
    return True


def copy_readable(duck: LockedDuck, paths: Sequence[Path], relation: TableRef) -> TableRef:
    """The rows copied into a table, in their order, with what cannot be read missing."""
    risky = [relation.columns[name] for name in unsafe_columns(relation, relation.columns)]
    late = [c.name for c in risky if not reads_to_the_end(duck, paths, c, broken="replace")]
    columns = [syntax.alias(_cell(column, late), name) for name, column in relation.columns.items()]
    query = syntax.select(columns, syntax.rename(_scan(paths, "replace"), "replaced"))
    _beside(query, syntax.rename(_scan(paths, "ignore"), "left_out"))
    if late:
        duck.connection.register(FIXED, arrow.parquet_columns(paths, late))
        _beside(query, syntax.rename(syntax.table(FIXED), "fixed"))
    try:
        duck.run(syntax.create_table(query, COPY))
    finally:
        if late:
            duck.connection.unregister(FIXED)
    return TableRef(syntax.table(COPY), relation.columns)


def _cell(column: Stored, late: Sequence[str]) -> Sql:
    """A column of the copy. Bytes that are no text are replaced on one side and left out on the
    other, so text is the same on both exactly if it has none. What no question can look into is
    there or not; all else that can be scanned is as it was."""
    if column.name in late:
        return syntax.column(column.name, "fixed")
    cell = syntax.column(column.name, "replaced")
    if column.type is Type.OTHER:
        return syntax.case((syntax.is_present(cell), syntax.call("ENCODE", syntax.text(""))))
    if column.type is Type.TEXT and column.stored not in SAFE:
        other = syntax.column(column.name, "left_out")
        return syntax.case((syntax.operation(exp.EQ, cell, other), cell))
    return cell


def _beside(query: exp.Select, source: Sql) -> None:
    query.append("joins", exp.Join(this=source, method="POSITIONAL"))


def _scan(paths: Sequence[Path], broken: str) -> Sql:
    """Reads the files; `broken` says what becomes of bytes that are no UTF-8."""
    no = exp.Boolean(this=False)
    options: Mapping[str, Sql] = {
        "hive_partitioning": no,
        "union_by_name": no.copy(),
        "utf8_validation": syntax.text(broken),
    }
    named = [syntax.option(name, value) for name, value in options.items()]
    return syntax.call("read_parquet", syntax.texts([str(path) for path in paths]), *named)


def _columns(duck: LockedDuck, path: Path) -> tuple[list[str], list[Stored]]:
    """The names as they are written, and the columns as they are read: writers store the same
    columns in many ways."""
    source = syntax.call("parquet_schema", syntax.text(str(path)))
    wanted = [syntax.column("name"), syntax.column("num_children")]
    query = syntax.select(wanted, syntax.rename(source, "file"))
    names = _top_names(open_or_refuse(lambda: duck.run(query), path.name))
    return names, open_or_refuse(lambda: describe_columns(duck, _scan([path], "strict")), path.name)


def _top_names(schema: Sequence[tuple[object, ...]]) -> list[str]:
    """The columns at the top: the rows of the schema that are nobody's children but the root's."""
    names: list[str] = []
    inside = 0
    for name, children in schema[1:]:
        if not inside:
            names.append(str(name))
        inside += cast("int", children or 0) - (1 if inside else 0)
    return names


def describe_columns(duck: LockedDuck, source: Sql) -> list[Stored]:
    """The columns of a relation, from its metadata."""
    everything = syntax.select([exp.Star()], syntax.rename(source, "source"))
    rows = duck.run(exp.Describe(this=everything))
    return [Stored(str(name), str(kind)) for name, kind, *_ in rows]


def open_or_refuse(run: Callable[[], Result], name: str, *, why: str = "it is damaged") -> Result:
    """What `run` returns; a file that cannot be opened is named without the engine's words."""
    failed = ParameterError(f"{name} cannot be read: {why}, or no file of its kind.")
    return without_context(run, Exception, error=failed)
