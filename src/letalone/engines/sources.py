"""Finds what can be opened: files, patterns of files. Names and types come from metadata.

Theorem (rule 2 of docs/explanation/soundness.md).  Nothing here looks at a value to decide a name
or a type.
  Proven:   Parquet: the footer's schema. DuckDB: the catalogue. Frames: their dtypes. CSV: the
            first line is the header, everything is text unless a type is declared.
  Tested:   tests/engines/test_sources.py
  Assumed:  files stay as they are while they are open; `check_unchanged` looks at their size,
            time and number and stops at the first sign of a change

A path's folders (year=2024/) are data and never become columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import has_magic
from os import PathLike, fspath
from pathlib import Path

from sqlglot import exp

from letalone.engines import arrow, syntax
from letalone.engines.csv_files import csv_dialect
from letalone.engines.failure import FileChanged, unreadable
from letalone.engines.lockdown import LockedDuck
from letalone.engines.parquet_files import describe_columns, open_or_refuse, relation_of_parquet
from letalone.engines.reading import Stored
from letalone.engines.rows import TableRef
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Problem, Spelled, problem
from letalone.errors.remedies import ChooseTable
from letalone.exact.typed import expand_home

LOADED = "letalone_loaded"
PARQUET, CSV, DUCKDB = (".parquet", ".pq"), (".csv", ".tsv", ".txt"), (".duckdb", ".ddb", ".db")

IN_USE = "it may be open for writing, here or in another program (close it there); or it is damaged"


class WhichTable(ParameterError):  # noqa: N818  (as in letalone.errors)
    """A file holds several tables, or not the one that was named; `tables` are its names."""

    def __init__(self, words: str | Problem, tables: tuple[str, ...] = ()) -> None:
        super().__init__(words)
        self.tables = tables


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one kind, and what they looked like when they were opened."""

    paths: tuple[Path, ...]
    kind: str
    seen: tuple[tuple[int, int, int, int], ...]

    def check_unchanged(self) -> None:
        """Counts belong to rows by position, so a changed file must not be read with them."""
        try:
            same = _fingerprints(self.paths) == self.seen
        except ParameterError:
            same = False
        if not same:
            raise FileChanged


def find_files(source: str | PathLike[str]) -> Files:
    """The files that a path or a pattern names, sorted by name."""
    written = fspath(source)
    if "://" in written:
        raise ParameterError(f"{written!r} is not a file of this machine. Copy it here first.")
    exact = expand_home(written)
    matches = [exact] if exact.exists() else _matching(exact)
    paths = tuple(path.resolve() for path in matches if path.is_file())
    if not paths:
        what = "No file matches" if has_magic(written) else "There is no file"
        hint = _hint(written)
        words = f"{what} {written!r}."
        spelled = Spelled(f"{words} {hint.on('python')}", f"{words} {hint.on('options')}")
        raise ParameterError(problem(Code.UNKNOWN_FILE, words=spelled))
    _check_names(paths)
    return Files(paths, _kind(paths), _fingerprints(paths))


def _hint(written: str) -> Spelled:
    """What to look at; an address with capital letters is taken for a path."""
    if written.startswith("spark:"):
        return Spelled("An address on Spark is not taken here: write the rows to a Parquet file.")
    if written.lower().startswith("spark:"):
        return Spelled("An address on Spark begins with spark: in small letters.")
    return Spelled("Check the path, or give a frame.", "Check the path.")


def _matching(pattern: Path) -> list[Path]:
    parts = pattern.absolute().parts
    fixed = next((n for n, part in enumerate(parts) if has_magic(part)), len(parts))
    if fixed == len(parts):
        return []
    return sorted(Path(*parts[:fixed]).glob(str(Path(*parts[fixed:]))))


def relation_of_files(duck: LockedDuck, files: Files, *, table: str | None = None) -> TableRef:
    """The relation that reads the files; locks the connection to them."""
    if table is not None and files.kind != "duckdb":
        raise ParameterError(f"table is {table!r}, but only DuckDB files hold several tables.")
    match files.kind:
        case "parquet":
            duck.lock(files.paths)
            return relation_of_parquet(duck, files.paths)
        case "csv":
            duck.lock([])
            return relation_of_csv(files.paths)
        case _:
            open_or_refuse(lambda: duck.attach(files.paths[0]), files.paths[0].name, why=IN_USE)
            duck.lock([])
            return _duckdb(duck, table, files.paths[0].name)


def relation_of_view(duck: LockedDuck, name: str) -> TableRef:
    """The relation that reads a registered frame."""
    sql = syntax.table(name)
    return TableRef(sql, {column.name: column for column in describe_columns(duck, sql)})


def batch_sizes(files: Files) -> list[int]:
    """How many rows the batches have in which files are scanned, where that is known."""
    if files.kind != "parquet":
        return []
    return [size for path in files.paths for size in arrow.row_groups(path)]


def relation_of_csv(paths: Sequence[Path]) -> TableRef:
    """The relation that CSV files have once they are copied into the table LOADED."""
    names, delimiter = csv_dialect(paths[0])
    for path in paths[1:]:
        if csv_dialect(path) != (names, delimiter):
            raise ParameterError(
                f"{paths[0].name} and {path.name} have different columns. Open files together"
                " only if their first lines are the same."
            )
    return TableRef(syntax.table(LOADED), {name: Stored(name, "VARCHAR") for name in names})


def _duckdb(duck: LockedDuck, table: str | None, file: str) -> TableRef:
    query = syntax.select(
        [syntax.column("schema_name"), syntax.column("table_name")],
        syntax.rename(syntax.call("duckdb_tables"), "tables"),
        where=[syntax.operation(exp.EQ, syntax.column("database_name"), syntax.text("file"))],
    )
    tables = sorted((str(schema), str(name)) for schema, name in duck.run(query))
    shown = [place for place in tables if table in (None, _table_name(*place))]
    wanted = shown or [(s, n) for s, n in tables if table in (n, f"{s}.{n}")]
    if table is not None and wanted:
        _check_one_name(wanted[0], tables, file)
    if len(wanted) != 1:
        names = tuple(_table_name(s, n) for s, n in tables)
        wrong = "no table was named" if table is None else f"{table!r} is not one of them"
        listed = ", ".join(names) or "none"
        what = f"{file} holds these tables: {listed}; {wrong}. Name one with"
        more = "(A view has no rows of its own: copy it into a table.)"
        spelled = Spelled(f"{what} table=. {more}", f"{what} --table. {more}")
        refused = problem(Code.WHICH_TABLE, ChooseTable(names), words=spelled, known=names)
        raise WhichTable(replace(refused, advised=True), names)
    schema, name = wanted[0]
    sql = syntax.table(name, schema=schema, catalog="file")
    stored = describe_columns(duck, sql)
    columns = {c.name: replace(c, collated=c.stored == "VARCHAR") for c in stored}
    return TableRef(sql, columns, _table_name(schema, name))


def _check_one_name(wanted: tuple[str, str], tables: Sequence[tuple[str, str]], file: str) -> None:
    """Refuses a name that two tables have, such as s.t: t of schema s, and "s.t" of main."""
    name = _table_name(*wanted)
    places = [repr(schema) for schema, table in tables if _table_name(schema, table) == name]
    if len(places) > 1:
        raise ParameterError(
            f"{file} holds several tables that are called {name!r}, in the schemas"
            f" {' and '.join(places)}, and a budget belongs to a name. Rename one of them, to a"
            " name without a dot."
        )


def _table_name(schema: str, name: str) -> str:
    """What a table is called, however it was named: a budget belongs to a name."""
    return name if schema == "main" else f"{schema}.{name}"


def _kind(paths: Sequence[Path]) -> str:
    kinds = {_kind_of(path) for path in paths}
    if len(kinds) > 1 or (kinds == {"duckdb"} and len(paths) > 1):
        raise ParameterError("These are files of several kinds. Open files of one kind together.")
    return kinds.pop()


def _kind_of(path: Path) -> str:
    suffix = path.suffix.lower()
    for kind, suffixes in (("parquet", PARQUET), ("csv", CSV), ("duckdb", DUCKDB)):
        if suffix in suffixes:
            return kind
    raise ParameterError(
        f"{path.name} ends in {suffix!r}, but must be one of .parquet, .csv, .tsv, .duckdb."
    )


def _check_names(paths: Sequence[Path]) -> None:
    for path in paths:
        if has_magic(str(path)):
            raise ParameterError(
                f"The name of {path.name} or of its folder has one of * ? [ in it, which stand for"
                " other names. Rename it."
            )


def _fingerprints(paths: Sequence[Path]) -> tuple[tuple[int, int, int, int], ...]:
    looks: list[tuple[int, int, int, int]] = []
    for path in paths:
        try:
            with path.open("rb"):
                status = path.stat()
        except OSError as error:
            raise unreadable(path, error) from None
        times = status.st_mtime_ns, status.st_ctime_ns  # the second cannot be set back
        looks.append((status.st_size, *times, status.st_ino))
    return tuple(looks)
