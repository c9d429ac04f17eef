"""Finds files: paths, patterns and links; what a file is by its ending, and whether it has changed.

A path's folders (year=2024/) are data, and become columns only where their types are declared,
and of a folder or a list.

  Tested:   tests/engines/test_sources.py
  Assumed:  files stay as they are while they are open; `is_unchanged` looks at their size, time
            and number
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import has_magic
from os import PathLike, fspath
from os.path import commonpath
from pathlib import Path
from typing import TypeGuard, cast
from urllib.parse import unquote

from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Problem, Spelled, problem
from letalone.errors.remedies import ChooseTable
from letalone.sources.schemes import is_of_file, path_of, refuse_scheme
from letalone.sources.source import SourceKind

PARQUET, CSV, DUCKDB = (".parquet", ".pq"), (".csv", ".tsv", ".txt"), (".duckdb", ".ddb", ".db")
JSON_LINES, ARROW = (".ndjson", ".jsonl"), (".feather", ".arrow", ".ipc")
SQLITE = (".sqlite", ".sqlite3")
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")  # behind the ending of a file of text
UTF8 = "utf-8"
SINGLE = (*PARQUET, *CSV, *JSON_LINES, *ARROW)  # files of one table
DATABASES = (*DUCKDB, *SQLITE)
EXCEL = (".xlsx",)
HOLDERS = (*DATABASES, *EXCEL)  # files that hold several tables
SQLITE_HEADER = b"SQLite format 3\0"  # of every file of SQLite's that has a table

KINDS = {
    **dict.fromkeys(PARQUET, SourceKind.PARQUET),
    **dict.fromkeys(CSV, SourceKind.CSV),
    **dict.fromkeys(JSON_LINES, SourceKind.JSON_LINES),
    **dict.fromkeys(ARROW, SourceKind.ARROW),
    **dict.fromkeys(EXCEL, SourceKind.EXCEL),
    **dict.fromkeys(DUCKDB, SourceKind.DUCKDB),
    **dict.fromkeys(SQLITE, SourceKind.SQLITE),
}
TEXTS = (SourceKind.CSV, SourceKind.JSON_LINES)  # files of lines
TEXT_KINDS = tuple(kind.value for kind in TEXTS)
HOLDER_KINDS = (SourceKind.DUCKDB, SourceKind.SQLITE, SourceKind.EXCEL)
TablePlace = tuple[str, str]  # the schema and the name of a table


class WhichTable(ParameterError):  # noqa: N818  (as in letalone.errors)
    """A file holds several tables, or not the one that was named; `tables` are its names."""

    def __init__(self, words: str | Problem, tables: tuple[str, ...] = ()) -> None:
        super().__init__(words)
        self.tables = tables


PathList = Sequence[str | PathLike[str]]
Parts = tuple[tuple[str, str], ...]  # what the folders above a file say: year=2024


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one kind, and what they looked like when they were opened.

    parts: of a folder or a list, what each file's folders below the common one are called.
    """

    paths: tuple[Path, ...]
    kind: str
    seen: tuple[tuple[int, int, int, int], ...]
    encoding: str = UTF8
    parts: tuple[Parts, ...] = ()

    def is_unchanged(self) -> bool:
        """Counts belong to rows by position, so a changed file must not be read with them."""
        try:
            return _fingerprints(self.paths) == self.seen
        except ParameterError:
            return False


def find_files(source: str | PathLike[str] | PathList, *, encoding: str = UTF8) -> Files:
    """The files that a path, a folder or a pattern names, sorted by name; or those of a list.

    encoding: that of files of text.
    """
    if is_list(source):
        paths = list_of_paths(source)
        return _check_paths(paths, encoding, Path(commonpath([path.parent for path in paths])))
    written = fspath(cast("str | PathLike[str]", source))
    refuse_scheme(written)
    if "://" in written and not is_of_file(written):
        raise ParameterError(f"{written!r} is not a file of this machine. Copy it here first.")
    exact = path_of(written)
    if written and exact.is_dir():
        return _check_paths(_files_below(exact), encoding, exact.resolve())
    matches = [exact] if exact.exists() else _matching(exact)
    paths = tuple(path.resolve() for path in matches if path.is_file())
    if not paths:
        what = "No file matches" if has_magic(written) else "There is no file"
        hint = _hint(written)
        words = f"{what} {written!r}."
        spelled = Spelled(f"{words} {hint.on('python')}", f"{words} {hint.on('options')}")
        raise ParameterError(problem(Code.UNKNOWN_FILE, words=spelled))
    return _check_paths(paths, encoding)


def _check_paths(paths: tuple[Path, ...], encoding: str, above: Path | None = None) -> Files:
    _check_names(paths)
    kind = _kind(paths)
    if encoding != UTF8 and kind not in TEXT_KINDS:
        raise ParameterError(
            f"encoding is {encoding!r}, but {paths[0].name} is not a file of text. Leave it out."
        )
    parts = () if above is None else tuple(_parts_of(path, above) for path in paths)
    return Files(paths, kind, _fingerprints(paths), encoding, parts)


def is_list(source: object) -> TypeGuard[PathList]:
    """Whether this is a list of paths."""
    if not isinstance(source, list | tuple) or not source:
        return False
    return all(isinstance(path, str | PathLike) for path in cast("Sequence[object]", source))


def list_of_paths(listed: PathList) -> tuple[Path, ...]:
    """The files of a list, without links; each is one that is there, and is listed once."""
    paths: list[Path] = []
    for written in listed:
        path = path_of(written)
        if not path.is_file():
            raise ParameterError(
                f"There is no file {fspath(written)!r}. A list holds paths of files; a folder, a"
                " pattern or an address is opened by itself."
            )
        paths.append(path.resolve())
    if len({(path.stat().st_dev, path.stat().st_ino) for path in paths}) < len(paths):
        raise ParameterError("A file is listed twice, and its rows would count twice. Leave one.")
    return tuple(paths)


def _files_below(folder: Path) -> tuple[Path, ...]:
    """All files of a folder and of the folders in it, but for hidden ones and letalone's own."""
    _refuse_lake(folder)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    wanted = [path for path in files if not any(map(_is_aside, path.relative_to(folder).parts))]
    if not wanted:
        raise ParameterError(f"There is no file in the folder {folder.name!r}. Check the path.")
    return tuple(dict.fromkeys(path.resolve() for path in wanted))


def _refuse_lake(folder: Path) -> None:
    """Refuses a folder of Delta or Iceberg: it also holds files that the table has no longer."""
    what = "the folder of a Delta table" if any(folder.rglob("_delta_log")) else None
    opening = "la.open(deltalake.DeltaTable(path), name='visits')"
    if any(folder.rglob("metadata/*.metadata.json")):
        what = "the folder of an Iceberg table"
        opening = "la.open(catalog.load_table('clinic.visits'), name='visits')"
    if what is not None:
        raise ParameterError(
            f"This is {what}, which may hold rows that were deleted. Open the table itself in"
            f" Python: {opening}; or write its rows to a Parquet file."
        )


def _is_aside(name: str) -> bool:
    """Whether a name is one that writers of data give to what is none."""
    return name.startswith((".", "_")) or ".letalone." in name


def _parts_of(path: Path, above: Path) -> Parts:
    folders = path.relative_to(above).parts[:-1] if path.is_relative_to(above) else ()
    named = (folder.split("=", 1) for folder in folders if "=" in folder)
    return tuple((unquote(name), unquote(value)) for name, value in named)


def stem_of(path: Path) -> str:
    """The name of a file without its endings: visits of visits.csv, and of visits.csv.gz."""
    return Path(path.stem).stem if path.suffix.lower() != ending_of(path) else path.stem


def ending_of(path: Path) -> str:
    """The ending that says what a file is, in small letters: .csv of visits.csv.gz."""
    inner = Path(path.stem).suffix.lower()
    packed = path.suffix.lower() in COMPRESSED and KINDS.get(inner) in TEXTS
    return inner if packed else path.suffix.lower()


def real_path(source: str | PathLike[str]) -> Path:
    """The path without links; of a pattern, the folders above it without."""
    path = path_of(source).absolute()
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
    more = "(A view has no rows itself: copy it into a table.)"
    spelled = Spelled(f"{what} table=. {more}", f"{what} --table. {more}")
    refused = problem(Code.WHICH_TABLE, ChooseTable(names), words=spelled, known=names)
    return WhichTable(replace(refused, advised=True), names)


def is_sqlite(source: object) -> bool:
    """Whether this is the path of a file with the name of a database, and SQLite's first bytes."""
    if not isinstance(source, str | PathLike):
        return False
    path = path_of(cast("str | PathLike[str]", source))
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
    if len(kinds) > 1 or (kinds <= {"duckdb", "sqlite", "excel"} and len(paths) > 1):
        raise ParameterError("These are files of several kinds. Open files of one kind together.")
    return kinds.pop()


def _kind_of(path: Path) -> str:
    suffix = ending_of(path)
    if is_sqlite(path):
        return SourceKind.SQLITE.value
    if suffix in SQLITE:
        raise ParameterError(
            f"{path.name} ends in {suffix!r}, but is not an SQLite file with tables."
        )
    if suffix in KINDS:
        return KINDS[suffix].value
    raise ParameterError(
        f"{path.name} ends in {suffix!r}, but must be one of .parquet, .csv, .tsv, .csv.gz,"
        " .ndjson, .feather, .xlsx, .duckdb, .sqlite."
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


def unreadable(path: Path, error: Exception) -> ParameterError:
    """The error for a file that the system does not let us read: the system's reason."""
    reason = getattr(error, "strerror", None) or "it may be damaged"
    return ParameterError(f"{path.name} cannot be read: {reason}.")
