"""What a table in a plan of Spark shows of how its rows come about: its files, or its catalogue.

Parquet and ORC files say which columns there are and where each row ends. Of CSV, JSON and other
files Spark takes the types from the cells, and a quote may take in the lines of others; the types
of columns that are names of folders come from these names. One person's cell could so change
everybody's: this is hidden, and needs the owner's word.

  Assumed:  what a catalogue says of a table with Parquet or ORC files, or of one with files of its
            own (Delta, Iceberg), does not follow from its cells
  Tested:   tests/on_spark/test_making.py
"""

from typing import Any

from letalone.engines.spark_expressions import SQL

SOURCES = SQL + "execution.datasources."
REMOTE = "v2.jdbc.JDBCTable"
COLUMNAR = ("parquet.ParquetFileFormat", "orc.OrcFileFormat")
COLUMNAR_TABLES = ("v2.parquet.ParquetTable", "v2.orc.OrcTable")
COLUMNAR_IN_HIVE = ("ParquetHiveSerDe", "OrcSerde")
OTHER_FILES = (
    "files that are not Parquet or ORC (in CSV or JSON a cell of one person can change the type of"
    " a column, or take in the lines of others: write them as Parquet, and open that)"
)
FOLDERS = (
    "columns that are names of folders (a cell of one person can change the type of such a column:"
    " open a table of a catalogue, which says the types)"
)
NO_FILES = "a source that is no table of files (it may be a query there)"


def hidden_in(node: Any, kind: str, java: Any) -> list[str]:
    """What a table does not show of how its rows come about, in words."""
    if kind == "HiveTableRelation":
        serde = str(node.tableMeta().storage().serde())
        return [] if any(one in serde for one in COLUMNAR_IN_HIVE) else [OTHER_FILES]
    if kind == "LogicalRelation":
        return _hidden_in_files(node, java)
    table = node.table()
    if _is(table, "v2.FileTable", java):
        return _hidden_in_format(table, COLUMNAR_TABLES, table.fileIndex(), java)
    of_catalog = node.identifier().isDefined() and not _is(table, REMOTE, java)
    return [] if of_catalog else [NO_FILES]


def _hidden_in_files(node: Any, java: Any) -> list[str]:
    """Formats with a list of their files, such as Delta, know the types of folders."""
    files = node.relation()
    if not _is(files, "HadoopFsRelation", java):
        return [NO_FILES]
    found = None if node.catalogTable().isDefined() else files.location()
    return _hidden_in_format(files.fileFormat(), COLUMNAR, found, java)


def _hidden_in_format(files: Any, columnar: tuple[str, ...], found: Any, java: Any) -> list[str]:
    """found: by which folders Spark has found the files, where no catalogue names them."""
    if not any(_is(files, one, java) for one in columnar):
        return [OTHER_FILES]
    by_folders = _is(found, "PartitioningAwareFileIndex", java)  # nothing is no instance
    return [FOLDERS] if by_folders and int(found.partitionSchema().size()) else []


def _is(thing: Any, kind: str, java: Any) -> bool:
    return bool(java.java.lang.Class.forName(SOURCES + kind).isInstance(thing))


def comment_on(node: Any, kind: str) -> str:
    """What a catalogue says of a table, where there is one."""
    if kind == "DataSourceV2Relation":
        return str(node.table().properties().get("comment"))
    if kind == "HiveTableRelation":
        about = node.tableMeta()
    elif node.catalogTable().isDefined():
        about = node.catalogTable().get()
    else:
        return ""
    return str(about.comment().get()) if about.comment().isDefined() else ""
