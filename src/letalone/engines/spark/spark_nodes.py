"""Reads nodes of a Spark plan: which columns expressions read, and what tables show of their rows.

All expressions of a node are read by one call into the JVM: a table can have thousands of columns.

Parquet and ORC files say which columns there are and where each row ends. Of CSV, JSON and other
files Spark takes the types from the cells, and a quote may take in the lines of others; the types
of columns that are names of folders come from these names. One person's cell could so change
everybody's: this is hidden, and needs the owner's word.

  Assumed:  what a catalogue says of a table with Parquet or ORC files, or of one with files of its
            own (Delta, Iceberg), does not follow from its cells
  Tested:   tests/on_spark/test_making.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

from collections.abc import Iterator
from json import loads
from typing import Any, cast

OWN = "org.apache.spark."
SQL = OWN + "sql."
FUNCTIONS = SQL + "catalyst.expressions."
USERS_OWN = frozenset(
    [
        "PythonUDF", "PythonUDAF", "PythonUDTF", "ScalaUDF", "UserDefinedGenerator",
        "ApplyFunctionExpression", "TransformExpression", "CallMethodViaReflection",
    ]
)  # fmt: skip
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
Node = dict[str, Any]
Columns = list[list[Node]]  # of each expression its nodes, root first


def columns_of(expressions: Any, java: Any) -> Columns | None:
    """Expressions as Spark writes them; None where it cannot."""
    from py4j.protocol import Py4JJavaError

    try:  # one expression that has them all as its parts, which is never computed
        parent = java.org.apache.spark.sql.catalyst.expressions.Coalesce(expressions)
        written = str(parent.toJSON())
    except Py4JJavaError:
        return None
    return _split_trees(cast("list[Node]", loads(written))[1:])


def number_of(column: list[Node]) -> int:
    """Spark's number of a column; -1 for an expression without a name."""
    return int((column[0].get("exprId") or {"id": -1})["id"])


def read_by(column: list[Node]) -> list[int]:
    """The numbers of the columns that an expression reads."""
    attribute = "AttributeReference"
    return [number_of([n]) for n in nodes_in(column) if kind_of(n["class"]) == attribute]


def nodes_in(value: object) -> Iterator[Node]:
    """Each node of expressions, also those that are not children."""
    if isinstance(value, dict):
        node = cast("Node", value)
        if isinstance(node.get("class"), str):
            yield node
        value = list(node.values())
    if isinstance(value, list):
        for part in cast("list[object]", value):
            yield from nodes_in(part)


def is_known(node: Node) -> bool:
    """Whether an expression is one of Spark's own functions."""
    written = str(node["class"])
    kind = kind_of(written)
    if ".objects." in written:
        return kind == "StaticInvoke" and str(node.get("staticObject")).startswith(OWN)
    return written.startswith(FUNCTIONS) and kind not in USERS_OWN


def kind_of(written: str) -> str:
    """The name of a class of Spark's without its package; of others with it."""
    return written.rpartition(".")[2] if written.startswith(SQL) else written


def _split_trees(nodes: list[Node]) -> Columns:
    """Nodes in the order of a tree, root first, as one list for each tree."""
    trees: Columns = []
    missing = 0
    for node in nodes:
        if not missing:
            trees.append([])
            missing = 1
        trees[-1].append(node)
        missing += int(node["num-children"]) - 1
    return trees


def hidden_in(node: Any, kind: str, java: Any) -> list[str]:
    """What a table does not show of how its rows come about, in words."""
    if kind == "HiveTableRelation":
        serde = str(node.tableMeta().storage().serde())
        return [] if any(serializer in serde for serializer in COLUMNAR_IN_HIVE) else [OTHER_FILES]
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
    location = None if node.catalogTable().isDefined() else files.location()
    return _hidden_in_format(files.fileFormat(), COLUMNAR, location, java)


def _hidden_in_format(files: Any, columnar: tuple[str, ...], location: Any, java: Any) -> list[str]:
    """found: by which folders Spark has found the files, where no catalogue names them."""
    if not any(_is(files, kind, java) for kind in columnar):
        return [OTHER_FILES]
    by_folders = _is(location, "PartitioningAwareFileIndex", java)  # nothing is no instance
    return [FOLDERS] if by_folders and int(location.partitionSchema().size()) else []


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
