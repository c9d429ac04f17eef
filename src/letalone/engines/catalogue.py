"""Looks up what names alone do not say: the tables of a database file, the catalogue of Spark.

Tested:   tests/sources/test_places.py, tests/sources/test_spark_names.py
"""

from collections.abc import Sequence
from os import PathLike

from letalone.engines.core.failure import EngineFailed
from letalone.engines.duckdb.duck_sources import list_tables
from letalone.engines.duckdb.excel_files import sheets_of
from letalone.engines.spark.spark_catalogue import SessionNames, look_up_address
from letalone.engines.sqlite.sqlite_connection import list_sqlite_tables
from letalone.errors import ParameterError
from letalone.sources.files import TablePlace, find_files
from letalone.sources.resolve import Catalogue
from letalone.sources.spark_names import SparkTable


class EngineCatalogue:
    """The engines, as far as `read_source` asks them: metadata alone."""

    def tables(self, file: str | PathLike[str]) -> Sequence[TablePlace]:
        try:
            files = find_files(file)
            if files.kind == "sqlite":
                return list_sqlite_tables(files.paths[0])
            if files.kind == "excel":
                return sheets_of(files.paths[0])
            return list_tables(files)
        except (ParameterError, EngineFailed):
            return ()

    def find_on_spark(self, address: str) -> SparkTable:
        return look_up_address(address)

    def names_of(self, session: object) -> SessionNames:
        return SessionNames(session)


ENGINES: Catalogue = EngineCatalogue()
