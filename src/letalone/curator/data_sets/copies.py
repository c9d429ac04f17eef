"""Copies the declared columns of a file, by the stated rules, and nothing else.

A cell that cannot be read as its declared type becomes missing, also one with a fraction in a
column of whole numbers (12.0 is 12, and 45.7 is none); a number beyond its declared bounds
becomes the bound; a row without a unit is left out. A value that is no declared key stays,
and its row is left out of answers that are grouped by that column. Columns that are not declared
are not read into any table or file of the curator (G1).

  Tested:   tests/curator/test_principles.py (G1): an undeclared column is nowhere in the folder
  Assumed:  DuckDB, as letalone.engines has it locked down
"""

from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import RLock
from typing import cast

from sqlglot import exp

from letalone.curator.data_sets.file_places import keep_private
from letalone.engines.core import syntax
from letalone.engines.core.failure import EngineFailed, FileChanged, hide_engine_errors
from letalone.engines.core.rows import TableRef
from letalone.engines.core.stored_types import Stored, check_readable
from letalone.engines.core.syntax import Sql
from letalone.engines.duckdb import parquet_files
from letalone.engines.duckdb.csv_files import load_csv, odd_lines_of
from letalone.engines.duckdb.duck_reading import read
from letalone.engines.duckdb.duck_sources import relation_of_csv
from letalone.engines.duckdb.loaded_files import LOADED
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.engines.duckdb.long_cells import check_cells
from letalone.engines.duckdb.text_files import is_compressed
from letalone.errors import ParameterError
from letalone.errors.problem import without_context
from letalone.plans.schema import Column, Schema, unknown_column
from letalone.plans.types import Type
from letalone.sources.files import Files, find_files
from letalone.wire.records import ColumnEffects, ImportEffects

KEPT = "letalone_kept"
ONE_AT_A_TIME = RLock()  # of a process: there is one share of its memory for copies
FRACTIONS = (Type.TEXT, Type.NUMBER)
EXACT = "DECIMAL(38, 18)"  # all of 64 bits before the point, and what people write after it


def copy_declared(source: Path, schema: Schema, target: Path) -> ImportEffects:
    """Copies the declared columns of a file into a new Parquet file; what the rules touched."""
    check_declared(schema)
    error = ParameterError(
        "The file cannot be imported: it is damaged, changed meanwhile, not what its name says, or"
        " too large for the memory and disk that an import has here (letalone serve --memory)."
    )
    try:
        copy = partial(_copy, source, schema, target)
        return without_context(lambda: hide_engine_errors(copy), EngineFailed, error=error)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def check_declared(schema: Schema) -> None:
    """Refuses columns of which nothing can be asked: they are not needed."""
    for column in schema.columns:
        if column.type is Type.OTHER:
            raise ParameterError(
                f"Column {column.name!r} is declared 'other', of which nothing can be asked. Leave"
                " it out: only what is needed is imported."
            )
        if column.name.casefold() == "rowid":
            raise ParameterError("A column is called 'rowid', the engine's own word. Rename it.")


def check_columns_there(source: Path, schema: Schema) -> None:
    """Refuses a schema that a file does not have, from its metadata alone."""
    files = find_files(source)
    with _duck(files, []) as duck:
        _relation(duck, files, schema)


def _copy(source: Path, schema: Schema, target: Path) -> ImportEffects:
    files = find_files(source)
    with _duck(files, [target]) as duck:
        loaded = _load(duck, files, _relation(duck, files, schema))
        if not files.is_unchanged():
            raise FileChanged
        effects = _count_effects(duck, loaded, schema)
        _keep_by_rules(duck, loaded, schema)
        save(duck, schema, target)
    return replace(effects, **_of_lines(files))


def _of_lines(files: Files) -> dict[str, int]:
    """Of a CSV file: rows with cells too few or too many, and lines that could not be read."""
    if files.kind != "csv":
        return {}
    odd = [odd_lines_of(path) for path in files.paths]
    return {
        "rows_uneven": sum(lines.uneven for lines in odd),
        "lines_not_utf8": sum(lines.not_text for lines in odd),
    }


@contextmanager
def _duck(files: Files, writable: Sequence[Path]) -> Generator[LockedDuck]:
    with ONE_AT_A_TIME, closing(LockedDuck()) as duck:
        duck.lock([*files.paths, *writable])
        yield duck


def _relation(duck: LockedDuck, files: Files, schema: Schema) -> TableRef:
    if files.kind == "parquet":
        relation = parquet_files.relation_of_parquet(duck, files.paths)
    elif files.kind == "csv" and not any(map(is_compressed, files.paths)):
        relation = relation_of_csv(files.paths)
    else:
        raise ParameterError("Only CSV and Parquet files are imported. Export the table to one.")
    for column in schema.columns:
        if column.name not in relation.columns:
            raise unknown_column(column.name, list(relation.columns), table=schema.name)
        check_readable(column, relation.columns[column.name])
    kept = {column.name: relation.columns[column.name] for column in schema.columns}
    return TableRef(relation.sql, kept)


def _load(duck: LockedDuck, files: Files, relation: TableRef) -> TableRef:
    """The declared columns as they are stored, in a table; broken cells are missing."""
    if files.kind == "csv":
        load_csv(duck, files.paths, LOADED, only=list(relation.columns))
        return relation
    if files.kind == "parquet":
        risky = parquet_files.unsafe_columns(relation, relation.columns)
        if not all(
            parquet_files.reads_to_the_end(duck, files.paths, relation.columns[n]) for n in risky
        ):
            return parquet_files.copy_readable(duck, files.paths, relation)
    names = [syntax.column(name, "source") for name in relation.columns]
    rows = syntax.select(names, syntax.rename(relation.sql, "source"))
    duck.run(exp.Create(this=syntax.table(LOADED), kind="TABLE", expression=rows))
    return TableRef(syntax.table(LOADED), relation.columns)


def _keep_by_rules(duck: LockedDuck, loaded: TableRef, schema: Schema) -> None:
    rules = [syntax.alias(by_rule(loaded, column), column.name) for column in schema.columns]
    rows = syntax.select(rules, syntax.rename(loaded.sql, "loaded"))
    duck.run(exp.Create(this=syntax.table(KEPT), kind="TABLE", expression=rows))


def by_rule(loaded: TableRef, column: Column, *, clamped: bool = True) -> Sql:
    """The value that is kept: of its type, finite, within its bounds; else missing."""
    source = syntax.column(column.name, "loaded")
    term = read(loaded.columns[column.name], source, column, clamped=clamped)
    if column.type is Type.INTEGER and loaded.columns[column.name].type in FRACTIONS:
        return syntax.case((_is_whole(loaded.columns[column.name], source, column), term.sql))
    if column.type is Type.NUMBER and not term.finite:
        return syntax.case((syntax.is_finite(term.sql), term.sql))
    return term.sql


def _is_whole(stored: Stored, source: Sql, column: Column) -> Sql:
    """Whether a cell is a whole number as it stands: a cast alone would round it."""
    cast = read(stored, source, column, clamped=False).sql
    kind = exp.DataType.build(EXACT, dialect="duckdb")
    exact = source if stored.type is Type.NUMBER else exp.TryCast(this=source.copy(), to=kind)
    return syntax.operation(exp.EQ, exact, cast)


def _count_effects(duck: LockedDuck, loaded: TableRef, schema: Schema) -> ImportEffects:
    unit = None if schema.unit is None else by_rule(loaded, schema.column(schema.unit))
    nobody = exp.Boolean(this=False) if unit is None else syntax.is_null(unit)
    counts: list[Sql] = [exp.Count(this=exp.Star()), _number_of(nobody)]
    for column in schema.columns:
        counts += [_number_of(condition) for condition in _effects_of_column(loaded, column)]
    (row,) = duck.run(syntax.select(counts, syntax.rename(loaded.sql, "loaded")))
    rows, without, *rest = cast("tuple[int, ...]", row)
    touched = [
        ColumnEffects(column.name, *rest[4 * place : 4 * place + 4])
        for place, column in enumerate(schema.columns)
    ]
    return ImportEffects(rows, rows - without, without, tuple(touched))


def _effects_of_column(loaded: TableRef, column: Column) -> list[Sql]:
    """When a cell counts as unreadable, as clamped, as another key, as missing."""
    source = syntax.column(column.name, "loaded")
    plain, kept = by_rule(loaded, column, clamped=False), by_rule(loaded, column)
    unreadable = syntax.join_conditions(exp.And, [syntax.is_present(source), syntax.is_null(plain)])
    clamped = syntax.operation(exp.NEQ, plain, kept)
    listed = [syntax.constant(key) for key in column.keys or () if key is not None]
    unlisted = [syntax.negate(syntax.is_one_of(kept, listed))] if listed else []
    other = syntax.join_conditions(exp.And, [syntax.is_present(kept), *unlisted])
    keyed = exp.Boolean(this=False) if column.keys is None else other
    return [unreadable, clamped, keyed, syntax.is_null(source.copy())]


def _number_of(condition: Sql) -> Sql:
    return exp.Count(this=syntax.case((condition, syntax.whole(1))))


def save(duck: LockedDuck, schema: Schema, target: Path) -> None:
    """Writes the kept rows that have a unit."""
    names = [syntax.column(column.name) for column in schema.columns]
    where = [] if schema.unit is None else [syntax.is_present(syntax.column(schema.unit))]
    rows = syntax.select(names, syntax.rename(syntax.table(KEPT), "kept"), where=where)
    form = exp.CopyParameter(this=exp.var("FORMAT"), expression=exp.var("PARQUET"))
    files = [syntax.text(str(target))]
    duck.run(exp.Copy(this=exp.Subquery(this=rows), kind=False, files=files, params=[form]))
    keep_private(target)


@contextmanager
def opened_copy(file: Path, schema: Schema, target: Path | None = None) -> Generator[LockedDuck]:
    """A connection in which the kept rows are a table; for one who may see them."""
    files = hide_engine_errors(lambda: find_files(file))
    with _duck(files, [] if target is None else [target]) as duck:
        relation = hide_engine_errors(lambda: _relation(duck, files, schema))
        check_cells(file, relation.columns)
        loaded = hide_engine_errors(lambda: _load(duck, files, relation))
        hide_engine_errors(lambda: _keep_by_rules(duck, loaded, schema))
        try:
            yield duck
        except BaseException:
            if target is not None:
                target.unlink(missing_ok=True)
            raise
