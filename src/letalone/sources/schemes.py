"""Reads what stands before :// in a source: a file of SQLite or DuckDB, or what is not supported.

sqlite:///clinic.db is the file clinic.db, as seen from the working folder, and sqlite:////srv/x.db
is /srv/x.db: the same place, and so the same budget, as the path itself.

  Tested:   tests/sources/test_schemes.py, tests/sources/test_one_budget.py
"""

import re
from os import PathLike, fspath
from pathlib import Path

from letalone.errors import ParameterError
from letalone.exact.typed import expand_home

OF_FILES = re.compile(r"(sqlite|duckdb)(\+\w+)?:///(?=.)")
SCHEME = re.compile(r"(?i)(?:jdbc:)?([a-z][a-z0-9]*)(\+\w+)?://")
DATABASES = {
    "mysql": "MySQL",
    "mariadb": "MariaDB",
    "mssql": "SQL Server",
    "sqlserver": "SQL Server",
    "snowflake": "Snowflake",
    "bigquery": "BigQuery",
    "oracle": "Oracle",
    "redshift": "Redshift",
    "databricks": "Databricks",
    "clickhouse": "ClickHouse",
    "clickhousedb": "ClickHouse",
    "trino": "Trino",
    "presto": "Presto",
    "mongodb": "MongoDB",
    "cockroachdb": "CockroachDB",
    "db2": "Db2",
    "hana": "SAP HANA",
}
SUPPORTED = (
    "Servers that are: PostgreSQL (postgresql://host/database/table) and Spark"
    " (spark:catalog.schema.table)."
)


def path_of(written: str | PathLike[str]) -> Path:
    """The path that was written, also as the address of a file; ~ is the folder that it is."""
    return expand_home(OF_FILES.sub("", written) if isinstance(written, str) else written)


def is_of_file(written: str) -> bool:
    """Whether this is the address of a file of SQLite or DuckDB."""
    return OF_FILES.match(written) is not None


def refuse_scheme(written: str | PathLike[str]) -> None:
    """Refuses an address that nothing is read from; it is not shown, as it may hold a password."""
    match = SCHEME.match(fspath(written))
    if match is None or is_of_file(fspath(written)):
        return
    scheme = match[1].lower()
    if scheme in ("sqlite", "duckdb"):
        raise ParameterError(
            f"The address must name a file: {scheme}:///clinic.db, with three slashes, or the path"
            " itself."
        )
    if scheme in ("postgresql", "postgres"):
        raise ParameterError(
            "The address of a PostgreSQL server begins with postgresql:// in small letters, without"
            " the name of a driver: postgresql://user@host/database/table."
        )
    if scheme in DATABASES:
        raise ParameterError(
            f"{DATABASES[scheme]} is not supported. {SUPPORTED} Export the table to a Parquet file"
            " there, and open that: la.open('visits.parquet'), or letalone query visits.parquet."
        )
