"""Reads from its analysed plan how a Spark frame is made: by row, by person, or not at all.

Nodes and functions are let through by name, and all others are not. A limit, a sample, a join, a
set operation and a sub-query are refused. So is a window or an aggregate, unless the unit is
among its keys. A node or function that is not known here, rows of an RDD and code in Python hide
how rows are made: the owner's word is needed (provenance.py). So do files of text, whose columns
and lines may follow from a cell (spark_nodes.py).

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
  Tested:   tests/on_spark/test_making.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from letalone.engines.core.provenance import hides_its_making, mixes_people, vouched_for
from letalone.engines.old_copies import MARK, RANK, check_is_no_copy, is_copy
from letalone.engines.spark import spark_nodes as nodes

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
        kind = nodes.kind_of(str(node.getClass().getName()))
        if kind in MIXING:
            raise mixes_people(self.source, MIXING[kind], self.unit)
        self._check_functions(node)
        if kind in COLUMNS:
            columns = self._columns(getattr(node, COLUMNS[kind])())
            unit = _through(unit, [nodes.number_of(column) for column in columns], columns)
        if kind in KEYS:
            self._check_keys(node, kind, unit)
        if kind in COLUMNS or kind in KEYS or kind in SAME_COLUMNS:
            return [(child, unit) for child in _each(node.children())]
        return self._others(node, kind, unit)

    def named(self, node: Any) -> frozenset[int]:
        columns = self._columns(node.output())
        return frozenset(nodes.number_of(c) for c in columns if c[0].get("name") == self.unit)

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
        numbers = [nodes.number_of(column) for column in self._columns(node.output())]
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
        keys = [nodes.number_of(column) for column in self._columns(getattr(node, KEYS[kind])())]
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
        keys = [nodes.number_of(column) for column in columns if column[0]["name"] == self.unit]
        if not keys:
            raise self._not_by_unit("a function of groups")
        self.hidden.append(PYTHON)
        return frozenset(keys)

    def _again(self, node: Any, unit: frozenset[int]) -> frozenset[int]:
        """The unit below what is not known: the same columns, else the one of its name."""
        numbers = {nodes.number_of(column) for column in self._columns(node.output())}
        return unit if unit <= numbers else self.named(node)

    def _check_functions(self, node: Any) -> None:
        """Refuses sub-queries; notes functions that are not Spark's own."""
        if not node.subqueries().isEmpty():
            raise mixes_people(self.source, "a sub-query", self.unit)
        for function in nodes.nodes_in(self._columns(node.expressions())):
            if not nodes.is_known(function):
                kind = nodes.kind_of(str(function["class"]))
                self.hidden.append(HIDDEN.get(kind, f"the function {kind}, which is not Spark's"))

    def _check_table(self, node: Any, kind: str) -> None:
        """Refuses a copy with ranks; what is no file and in no catalogue may be a query."""
        comment = nodes.comment_on(node, kind)
        if is_copy(comment) or node.schema().getFieldIndex(RANK).isDefined():
            check_is_no_copy(comment if is_copy(comment) else MARK, self.source)
        stored = int(node.output().size())
        if kind == "LogicalRelation":
            stored = int(node.relation().schema().size())
        elif kind == "DataSourceV2Relation":
            stored = len(node.table().columns())
        if int(node.output().size()) > stored:  # _metadata
            raise mixes_people(self.source, "the places of rows in their files", self.unit)
        self.hidden += nodes.hidden_in(node, kind, self.java)

    def _columns(self, expressions: Any) -> nodes.Columns:
        columns = nodes.columns_of(expressions, self.java)
        if columns is None:
            self.hidden.append("a function that cannot be read")
        return columns or []


def _through(unit: Unit, numbers: list[int], columns: nodes.Columns) -> Unit:
    """The columns that decide the unit below, where `numbers` are made by these expressions."""
    if unit is None:
        return None
    made = dict(zip(numbers, columns, strict=False))
    below = (nodes.read_by(made[number]) if number in made else [number] for number in unit)
    return frozenset(chain.from_iterable(below))


def _each(items: Any) -> list[Any]:
    return [items.apply(number) for number in range(int(items.size()))]
