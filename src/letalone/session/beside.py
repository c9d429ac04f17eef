"""Where the schema file of a table lies, by one rule for `la.open` and for the command line.

Beside NAME.parquet lies NAME.letalone.toml. A DuckDB file has several tables, so each may have a
file of its own, NAME.TABLE.letalone.toml; NAME.letalone.toml then belongs to the table that it
names, or to the only one. A table of a database on a server has DATABASE.TABLE.letalone.toml in the
working folder, one on Spark CATALOG.SCHEMA.TABLE.letalone.toml. However a table is named, it has
one schema file and one name there, and so one budget in a ledger. A schema file that says where its
data are (`source =`) is opened itself, and has its ledger beside it: a second such file of a table,
or one beside the table's own address, is a second budget, which its owner makes on purpose.

  Tested:   tests/session/test_beside.py
"""

from os import PathLike, fspath
from pathlib import Path
from typing import cast

from letalone.engines.addresses import check_address, is_address, stand_in
from letalone.engines.duck import open_duck
from letalone.engines.failure import EngineFailed
from letalone.engines.sources import DUCKDB
from letalone.errors import ParameterError
from letalone.exact.typed import expand_home
from letalone.plans.schema import SUFFIX, Schema, read_source, schema_path


def schema_beside(source: str | PathLike[str], table: str | None = None) -> Path:
    """Where the schema of a file's table lies, or would lie; only metadata is read."""
    if is_schema_file(source):
        return expand_home(source)
    if is_address(source):
        check_address(fspath(source), table)
        elsewhere = stand_in(source, table)
        if elsewhere is not None:
            return schema_path(*elsewhere)
    path = expand_home(source)
    plain = schema_path(path)
    if path.suffix.lower() not in DUCKDB or (table is None and plain.exists()):
        return plain
    name = called_in(path, table)
    if name is None:
        return plain
    of_table = schema_path(path, name)
    if of_table.exists():
        return of_table
    if table is None or (plain.exists() and _is_of(plain, path, name)):
        return plain
    return of_table


def is_schema_file(source: object) -> bool:
    """Whether this is the path of a schema file, which says where its data are."""
    path = fspath(cast("str", source)) if isinstance(source, str | PathLike) else ""
    return path.endswith(SUFFIX)


def source_of(source: str | PathLike[str]) -> str:
    """Where the data of a schema file are: an address, or a file named as seen from its folder."""
    path = expand_home(source)
    written = read_source(path)
    if is_address(written):
        check_address(written)  # or says that a password does not belong there
        return written
    return str(path.parent / written)


def _is_of(plain: Path, path: Path, name: str) -> bool:
    return Schema.read(plain).name == name or called_in(path, None) == name


def called_in(path: Path, table: str | None) -> str | None:
    """What a table is called; None where it is not there, which opening it will say."""
    try:
        engine = open_duck(path, table=table)
    except (ParameterError, EngineFailed):
        return None
    try:
        return engine.schema().name
    finally:
        engine.close()
