"""Where the schema file and the ledger of a source lie: beside the file that is meant.

Beside NAME.parquet lies NAME.letalone.toml. A file of DuckDB's or SQLite's has several tables, so
each may have a file of its own, NAME.TABLE.letalone.toml; NAME.letalone.toml then belongs to the
table that it names, or to the only one. A table of a database on a server has
DATABASE.TABLE.letalone.toml in the working folder, one on Spark CATALOG.SCHEMA.TABLE.letalone.toml.
However a table is named, it has one schema file and one name there, and so one budget in a ledger.
A schema file that says where its data are (`source =`) is opened itself, and has its ledger beside
it: a second such file of a table, or one beside the table's own address, is a second budget, which
its owner makes on purpose.

  Tested:   tests/sources/test_places.py, tests/plans/test_schema.py
"""

import re
from collections.abc import Sequence
from glob import has_magic
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import cast

from letalone.errors import FormatError
from letalone.plans.schema import SUFFIX, Schema
from letalone.plans.schema_file import encoding_in, read_field
from letalone.sources.files import (
    TEXT_KINDS,
    PathList,
    TablePlace,
    find_files,
    find_table,
    is_pattern,
    stem_of,
    table_name,
)
from letalone.sources.schemes import path_of
from letalone.sources.source import Source

LEDGER_SUFFIX = ".letalone.db"
UNFIT = re.compile(r'[\\/:*?"<>|%\x00-\x1f]')
LONGEST_IN_A_PATH = 100  # in bytes; names of files have 255


def is_schema_file(source: object) -> bool:
    """Whether this is the path of a schema file, which says where its data are."""
    path = fspath(cast("str", source)) if isinstance(source, str | PathLike) else ""
    return path.endswith(SUFFIX)


def read_source_field(path: Path) -> str:
    """Where the data of a schema file are, as it says."""
    Schema.read(path)  # or says what is wrong with it
    source = read_field(path, "source")
    if source is None:
        raise FormatError(
            f"{path} does not say where its data are. Open the data, or add a line such as"
            ' source = "postgresql://host/database/table".'
        )
    return source


def encoding_for(source: Source, schema_file: Path | None) -> str | None:
    """The encoding that a schema file names, where the source is of text.

    visits.parquet has the schema file of visits.csv, but not its encoding.
    """
    declared = encoding_in(schema_file)
    return declared if declared is not None and _is_text(source) else None


def _is_text(source: Source) -> bool:
    """Whether these are files of text; a folder or a pattern does not say so by its name."""
    if source.identity[0] not in ("file", "files"):
        return source.kind.value in TEXT_KINDS
    return find_files(cast("str | PathLike[str] | PathList", source.handle)).kind in TEXT_KINDS


def schema_file_of(
    path: str | PathLike[str], tables: Sequence[TablePlace], table: str | None
) -> Path:
    """Where the schema of a file's table lies, or would lie; `tables` are those of a database."""
    plain, place = schema_path(path), find_table(tables, table)
    if place is None or (table is None and plain.exists()):
        return plain
    of_table = schema_path(path, table_name(*place))
    if of_table.exists():
        return of_table
    return plain if table is None or _is_of(plain, place, tables) else of_table


def _is_of(plain: Path, place: TablePlace, tables: Sequence[TablePlace]) -> bool:
    """Whether the plain place belongs to a table: it names it, or there is no other one."""
    return plain.exists() and (Schema.read(plain).name == table_name(*place) or len(tables) == 1)


def schema_path(data_path: str | PathLike[str], table: str | None = None) -> Path:
    """Where the schema of a data file lies: NAME.letalone.toml beside NAME.parquet.

    That of one of several tables in it: NAME.TABLE.letalone.toml.
    """
    return _beside(data_path, SUFFIX if table is None else f".{_in_a_path(table)}{SUFFIX}")


def ledger_path(data_path: str | PathLike[str]) -> Path:
    """Where the ledger of a data file lies: NAME.letalone.db beside NAME.parquet."""
    return _beside(data_path, LEDGER_SUFFIX)


def other_ledger(source: Source) -> Path | None:
    """Of a folder, the ledger that a pattern of its files has; of such a pattern, the folder's."""
    if source.ledger_file is None or not isinstance(source.handle, str | PathLike):
        return None
    path = path_of(cast("str | PathLike[str]", source.handle)).absolute()
    if path.is_dir():
        other = path.resolve() / f"*{LEDGER_SUFFIX}"
    elif is_pattern(path):
        above = next(parent for parent in path.parents if not has_magic(str(parent)))
        other = ledger_path(above)
    else:
        return None
    return other if other.is_file() and other != source.ledger_file else None


def _in_a_path(table: str) -> str:
    """A table's name as a part of a file's name, which has fewer letters and an end."""
    written = UNFIT.sub(lambda found: f"%{ord(found[0]):02X}", table)
    if len(written.encode()) <= LONGEST_IN_A_PATH:
        return written
    return sha256(table.encode()).hexdigest()


def _beside(data_path: str | PathLike[str], suffix: str) -> Path:
    path = path_of(data_path).resolve()  # a link to a file has the file's schema and budget
    stem = path.name.removesuffix(SUFFIX) if path.name.endswith(SUFFIX) else stem_of(path)
    return path.with_name(stem + suffix)
