"""Finds files: paths, patterns and links; what a file is by its ending, and whether it has changed.

A path's folders (year=2024/) are data and never become columns.

  Tested:   tests/engines/test_sources.py
  Assumed:  files stay as they are while they are open; `is_unchanged` looks at their size, time
            and number
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import cast

from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Problem, Spelled, problem
from letalone.errors.remedies import ChooseTable
from letalone.exact.typed import expand_home
from letalone.sources.source import SourceKind

PARQUET, CSV, DUCKDB = (".parquet", ".pq"), (".csv", ".tsv", ".txt"), (".duckdb", ".ddb", ".db")
SQLITE = (".sqlite", ".sqlite3")
DATABASES = (*DUCKDB, *SQLITE)  # files that hold several tables
SQLITE_HEADER = b"SQLite format 3\0"  # of every file of SQLite's that has a table

KINDS = {
    **dict.fromkeys(PARQUET, SourceKind.PARQUET),
    **dict.fromkeys(CSV, SourceKind.CSV),
    **dict.fromkeys(DUCKDB, SourceKind.DUCKDB),
    **dict.fromkeys(SQLITE, SourceKind.SQLITE),
}
TablePlace = tuple[str, str]  # the schema and the name of a table


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

    def is_unchanged(self) -> bool:
        """Counts belong to rows by position, so a changed file must not be read with them."""
        try:
            return _fingerprints(self.paths) == self.seen
        except ParameterError:
            return False


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


def real_path(source: str | PathLike[str]) -> Path:
    """The path without links; of a pattern, the folders above it without."""
    path = expand_home(source).absolute()
    if not is_pattern(path):
        return path.resolve()
    fixed = next(parent for parent in path.parents if not has_magic(str(parent)))
    return fixed.resolve() / path.relative_to(fixed)


def is_pattern(path: Path) -> bool:
    """Whether a path stands for other names; a file that has such a name stands for itself."""
    return has_magic(str(path)) and not path.exists()


def name_of_pattern(written: str) -> str:
    """The last name of a pattern without its ending, else that of the folder above it.

    Which files match may change, and the budget must not begin anew then.
    """
    parts = [Path(written).stem, *(parent.name for parent in Path(written).parents)]
    fixed = [re.sub(r"[\W_]+", "_", re.sub(r"\[.*?\]", "*", part)).strip("_") for part in parts]
    return next((part for part in fixed if part), "data")


def table_name(schema: str, name: str) -> str:
    """What a table of a file is called, however it was named: a budget belongs to a name."""
    return name if schema == "main" else f"{schema}.{name}"


def tables_named(tables: Sequence[TablePlace], table: str | None) -> list[TablePlace]:
    """The tables that a name stands for: as it is shown, else in full; all where there is none."""
    shown = [place for place in tables if table in (None, table_name(*place))]
    return shown or [(s, n) for s, n in tables if table in (n, f"{s}.{n}")]


def find_table(tables: Sequence[TablePlace], table: str | None) -> TablePlace | None:
    """The table that is meant, if it is one, and no other is called the same."""
    wanted = tables_named(tables, table)
    if len(wanted) != 1:
        return None
    names = [table_name(*place) for place in tables]
    return wanted[0] if names.count(table_name(*wanted[0])) == 1 else None


def which_table(file: str, tables: Sequence[str], table: str | None) -> WhichTable:
    """The refusal of a name that none of a file's tables has, or of none where there are more."""
    names = tuple(tables)
    wrong = "no table was named" if table is None else f"{table!r} is not one of them"
    what = f"{file} holds these tables: {', '.join(names) or 'none'}; {wrong}. Name one with"
    more = "(A view has no rows of its own: copy it into a table.)"
    spelled = Spelled(f"{what} table=. {more}", f"{what} --table. {more}")
    refused = problem(Code.WHICH_TABLE, ChooseTable(names), words=spelled, known=names)
    return WhichTable(replace(refused, advised=True), names)


def is_sqlite(source: object) -> bool:
    """Whether this is the path of a file with the name of a database, and SQLite's first bytes."""
    if not isinstance(source, str | PathLike):
        return False
    path = expand_home(cast("str | PathLike[str]", source))
    if path.suffix.lower() not in DATABASES or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER
    except OSError:
        return False  # opening it says why it cannot be read


def fold_case(name: str) -> str:
    """A table's name as SQLite compares it: it knows no case of A to Z."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)


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


def _kind(paths: Sequence[Path]) -> str:
    kinds = {_kind_of(path) for path in paths}
    if len(kinds) > 1 or (kinds <= {"duckdb", "sqlite"} and len(paths) > 1):
        raise ParameterError("These are files of several kinds. Open files of one kind together.")
    return kinds.pop()


def _kind_of(path: Path) -> str:
    suffix = path.suffix.lower()
    if is_sqlite(path):
        return SourceKind.SQLITE.value
    if suffix in SQLITE:
        raise ParameterError(f"{path.name} ends in {suffix!r}, but is no SQLite file with tables.")
    if suffix in KINDS:
        return KINDS[suffix].value
    raise ParameterError(
        f"{path.name} ends in {suffix!r}, but must be one of .parquet, .csv, .tsv, .duckdb,"
        " .sqlite."
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


def unreadable(path: Path, error: OSError) -> ParameterError:
    """The error for a file that the system does not let us read: the system's reason."""
    return ParameterError(f"{path.name} cannot be read: {error.strerror or 'no reason given'}.")
