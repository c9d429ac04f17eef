"""Reads from its analysed plan how a Spark frame is made: by row, by person, or not at all.

Nodes and functions are let through by name, and all others are not. A limit, a sample, a join, a
set operation and a sub-query are refused. So is a window or an aggregate, unless the unit is
among its keys. A node or function that is not known here, rows of an RDD and code in Python hide
how rows are made: the owner's word is needed (provenance.py). So do files of text, whose columns
and lines may follow from a cell (below).

  Theorem (rule 13 of docs/explanation/soundness.md).  Of a frame that is let through without a
  word, the rows of a unit are made of that unit's rows in its tables: those of others are the same
  without them.
  Proven:   from the frame down. A node by row makes each of its rows of one row below, so what is
            true of the rows below is true of its own. A node by keys makes each row of those below
            that have its keys; the unit is a function of the keys alone, so all of them are one
            unit's. Which columns below decide the unit is followed by Spark's own numbers of
            columns (exprId): through a projection it is those that the unit's expression reads, so
            never fewer; through a union those of the same position. A unit that cannot be followed
            is among no keys. With la.ROW as the unit nothing has keys; whole rows that are equal
            may become one, since one row more or less is then one more or less, or none.
  Assumed:  functions of Spark's own (in catalyst.expressions) see one row, or the rows of their
            group. Files of Parquet and ORC, and what a catalogue calls a table, are what they are.
            What a catalogue says of a table with Parquet or ORC files, or of one with files of its
            own (Delta, Iceberg), does not follow from its cells
  Tested:   tests/on_spark/test_making.py

Nodes. All expressions of a node are read by one call into the JVM: a table can have thousands of
columns.

Parquet and ORC files say which columns there are and where each row ends. Of CSV, JSON and other
files Spark takes the types from the cells, and a quote may take in the lines of others; the types
of columns that are names of folders come from these names. One person's cell could so change
everybody's: this is hidden, and needs the owner's word.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from json import loads
from typing import Any, cast

from letalone.engines.core.provenance import hides_its_making, mixes_people, vouched_for
from letalone.engines.old_copies import MARK, RANK, check_is_no_copy, is_copy

SAME_COLUMNS = frozenset(
    [
        "Filter", "Generate", "Sort", "Repartition", "RepartitionByExpression",
        "RebalancePartitions", "ResolvedHint", "SubqueryAlias", "View", "Distinct",
        "OneRowRelation", "Range",
    ]
)  # fmt: skip
TABLES = frozenset(["LogicalRelation", "HiveTableRelation", "DataSourceV2Relation"])
KEYS = {"Window": "partitionSpec", "Deduplicate": "keys", "Aggregate": "groupingExpressions"}
COLUMNS = {"Project": "projectList", "Aggregate": "aggregateExpressions"}
BY_GROUP = frozenset(["FlatMapGroupsInPandas", "FlatMapGroupsInArrow"])
JOIN = "a join (open the tables by themselves, and join them with session.join)"
MIXING = {
    "GlobalLimit": "a limit",
    "LocalLimit": "a limit",
    "Tail": "a limit",
    "Offset": "an offset",
    "Sample": "a sample",
    "Intersect": "a set operation",
    "Except": "a set operation",
    "Join": JOIN,
    "LateralJoin": JOIN,
    "AsOfJoin": JOIN,
    "FlatMapCoGroupsInPandas": JOIN,
    "FlatMapCoGroupsInArrow": JOIN,
    "AttachDistributedSequence": "numbers of its rows",
}
PYTHON = "a function in Python"
HIDDEN = {
    "LogicalRDD": "rows of a Python list, of an RDD or of a checkpoint",
    "MapInPandas": PYTHON,
    "MapInArrow": PYTHON,
    "PythonMapInArrow": PYTHON,
    "PythonUDF": PYTHON,
    "PythonUDAF": PYTHON,
    "PythonUDTF": PYTHON,
}
Unit = frozenset[int] | None  # the columns that decide who a row is of; None: each row
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
NO_FILES = "a source that is not a table of files (it may be a query there)"
Node = dict[str, Any]
Columns = list[list[Node]]  # of each expression its nodes, root first


def check_plan(frame: Any, *, source: str, unit: str | None, vouched: bool) -> tuple[str, ...]:
    """Refuses a frame that is made across people; what is taken on trust of it, in words."""
    plan = frame._jdf.queryExecution().analyzed()
    making = _Making(frame.sparkSession._jvm, source, unit)
    pending = [(plan, None if unit is None else making.named(plan))]
    while pending:
        pending += making.below(*pending.pop())
    hidden = list(dict.fromkeys(making.hidden))
    if hidden and not vouched:
        raise hides_its_making(source, ", ".join(hidden))
    return tuple(vouched_for(what) for what in dict.fromkeys(hidden + making.in_memory))


@dataclass(slots=True)
class _Making:
    """A walk through a plan. hidden: what cannot be seen; defined: the queries of WITH."""

    java: Any
    source: str
    unit: str | None
    hidden: list[str] = field(default_factory=list[str])
    in_memory: list[str] = field(default_factory=list[str])
    defined: dict[int, Any] = field(default_factory=dict[int, Any])
    seen: set[tuple[int, Unit]] = field(default_factory=set[tuple[int, "Unit"]])

    def below(self, node: Any, unit: Unit) -> list[tuple[Any, Unit]]:
        """The nodes below one, each with what decides the unit there."""
        kind = kind_of(str(node.getClass().getName()))
        if kind in MIXING:
            raise mixes_people(self.source, MIXING[kind], self.unit)
        self._check_functions(node)
        if kind in COLUMNS:
            columns = self._columns(getattr(node, COLUMNS[kind])())
            unit = _through(unit, [number_of(column) for column in columns], columns)
        if kind in KEYS:
            self._check_keys(node, kind, unit)
        if kind in COLUMNS or kind in KEYS or kind in SAME_COLUMNS:
            return [(child, unit) for child in _each(node.children())]
        return self._others(node, kind, unit)

    def named(self, node: Any) -> frozenset[int]:
        columns = self._columns(node.output())
        return frozenset(number_of(c) for c in columns if c[0].get("name") == self.unit)

    def _others(self, node: Any, kind: str, unit: Unit) -> list[tuple[Any, Unit]]:
        below = _each(node.children())
        if kind in TABLES:
            self._check_table(node, kind)
            return []
        if kind == "LocalRelation":
            self.in_memory.append("a frame in memory")
            return []
        if kind in ("Union", "Expand", "CTERelationRef", "WithCTE"):
            return self._placed(node, kind, unit)
        if kind in BY_GROUP:
            return [(below[0], self._group(node))]
        self.hidden.append(HIDDEN.get(kind, f"{kind}, which letalone does not know"))
        return [(child, None if unit is None else self._again(child, unit)) for child in below]

    def _placed(self, node: Any, kind: str, unit: Unit) -> list[tuple[Any, Unit]]:
        """Below are columns in the same places, of other numbers."""
        if kind == "WithCTE":
            self.defined |= {int(query.id()): query for query in _each(node.cteDefs())}
            return [(node.plan(), unit)]
        numbers = [number_of(column) for column in self._columns(node.output())]
        if kind == "Expand":
            lists = [self._columns(row) for row in _each(node.projections())]
            units = {_through(unit, numbers, columns) for columns in lists}
            if len(units) > 1:
                raise mixes_people(self.source, "a rollup, a cube or grouping sets", self.unit)
            return [(node.child(), units.pop())]
        if kind == "Union":
            inputs = [(child, self._columns(child.output())) for child in _each(node.children())]
            return [(child, _through(unit, numbers, columns)) for child, columns in inputs]
        return self._defined(int(node.cteId()), unit, numbers)

    def _defined(self, number: int, unit: Unit, numbers: list[int]) -> list[tuple[Any, Unit]]:
        """A query of WITH, once for each unit there, however often it is named."""
        query = self.defined[number].child()
        unit = _through(unit, numbers, self._columns(query.output()))
        if (number, unit) in self.seen:
            return []
        self.seen.add((number, unit))
        return [(query, unit)]

    def _check_keys(self, node: Any, kind: str, unit: Unit) -> None:
        keys = [number_of(column) for column in self._columns(getattr(node, KEYS[kind])())]
        if unit is None and kind == "Deduplicate" and len(keys) == int(node.output().size()):
            return
        if not unit or not unit <= set(keys):
            words = {"Window": "a window", "Deduplicate": "dropped duplicates"}
            raise self._not_by_unit(words.get(kind, "an aggregate"))

    def _not_by_unit(self, what: str) -> Exception:
        keys = "" if self.unit is None else f" whose keys are without {self.unit!r}"
        return mixes_people(self.source, what + keys, self.unit)

    def _group(self, node: Any) -> Unit:
        """The unit among the keys of a function in Python, which sees one group at a time."""
        columns = self._columns(node.groupingAttributes())
        keys = [number_of(column) for column in columns if column[0]["name"] == self.unit]
        if not keys:
            raise self._not_by_unit("a function of groups")
        self.hidden.append(PYTHON)
        return frozenset(keys)

    def _again(self, node: Any, unit: frozenset[int]) -> frozenset[int]:
        """The unit below what is not known: the same columns, else the one of its name."""
        numbers = {number_of(column) for column in self._columns(node.output())}
        return unit if unit <= numbers else self.named(node)

    def _check_functions(self, node: Any) -> None:
        """Refuses sub-queries; notes functions that are not Spark's own."""
        if not node.subqueries().isEmpty():
            raise mixes_people(self.source, "a sub-query", self.unit)
        for function in nodes_in(self._columns(node.expressions())):
            if not is_known(function):
                kind = kind_of(str(function["class"]))
                self.hidden.append(HIDDEN.get(kind, f"the function {kind}, which is not Spark's"))

    def _check_table(self, node: Any, kind: str) -> None:
        """Refuses a copy with ranks; what is no file and in no catalogue may be a query."""
        comment = comment_on(node, kind)
        if is_copy(comment) or node.schema().getFieldIndex(RANK).isDefined():
            check_is_no_copy(comment if is_copy(comment) else MARK, self.source)
        stored = int(node.output().size())
        if kind == "LogicalRelation":
            stored = int(node.relation().schema().size())
        elif kind == "DataSourceV2Relation":
            stored = len(node.table().columns())
        if int(node.output().size()) > stored:  # _metadata
            raise mixes_people(self.source, "the places of rows in their files", self.unit)
        self.hidden += hidden_in(node, kind, self.java)

    def _columns(self, expressions: Any) -> Columns:
        columns = columns_of(expressions, self.java)
        if columns is None:
            self.hidden.append("a function that cannot be read")
        return columns or []


def _through(unit: Unit, numbers: list[int], columns: Columns) -> Unit:
    """The columns that decide the unit below, where `numbers` are made by these expressions."""
    if unit is None:
        return None
    made = dict(zip(numbers, columns, strict=False))
    below = (read_by(made[number]) if number in made else [number] for number in unit)
    return frozenset(chain.from_iterable(below))


def _each(items: Any) -> list[Any]:
    return [items.apply(number) for number in range(int(items.size()))]


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
