"""The expressions of a plan, as Spark writes them: which columns they read, and whose they are.

All expressions of a node are read by one call into the JVM: a table can have thousands of columns.

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
    attributes = [
        node for node in nodes_in(column) if kind_of(node["class"]) == "AttributeReference"
    ]
    return [number_of([node]) for node in attributes]


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
