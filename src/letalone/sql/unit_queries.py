"""A query in FROM that is grouped by the unit: one row for each person, as `.per_unit` makes them.

    SELECT AVG(visits), COUNT(*)
    FROM (SELECT patient_id, COUNT(*) AS visits FROM visits GROUP BY patient_id)

The outer query is about people then. Which person a row is cannot be asked.

  Tested:   tests/session/test_sql_habits.py
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import cast

from sqlglot import exp

from letalone.plans.aggregates import per_unit
from letalone.plans.aggregates.features import (
    Feature,
    UnitCondition,
    UnitCount,
    UnitExtreme,
    UnitValue,
)
from letalone.plans.expressions import Case, ColumnRef, Expression, Literal
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.sql.aggregates import is_aggregate
from letalone.sql.from_clause import KnownTables, names_of
from letalone.sql.names import Joined, only
from letalone.sql.refusals import sql_name
from letalone.sql.text import Unread
from letalone.sql.values import Translator

CHECKED = "checked"  # marks a query with columns of inner ones, also those that nobody uses
FEATURES = (
    "Of each person it may take COUNT(*), SUM, AVG, MIN, MAX, COUNT_IF, BOOL_OR, ARG_MIN,"
    " ARG_MAX, and COUNT(DISTINCT ward) of a column whose keys are declared, named."
)


@dataclass(frozen=True, slots=True)
class UnitRows:
    """One row for each unit: its features by name, made of which rows."""

    features: Mapping[str, Feature]
    where: Expression | None
    joins: tuple[Joined, ...]


def read_units(query: exp.Select, known: KnownTables) -> tuple[UnitRows, Schema]:
    """The rows of units, and their columns as the outer query sees them."""
    only(query, "expressions", "from_", "joins", "where", "group", "order")
    names = names_of(query, known)
    translate = Translator(names)
    features: dict[str, Feature] = {}
    columns: list[Column] = []
    for node in query.expressions:
        if type(node) is exp.Column and translate(node) == ColumnRef(
            cast("str", known.schema.unit)
        ):
            continue
        if type(node) is not exp.Alias:
            raise Unread("A column of the inner query has no name", FEATURES, node=node)
        feature = _feature(node.this.unnest(), translate)
        features[node.alias] = feature
        columns.append(Column(node.alias, _type(feature, names.type_of)))
    for node in query.meta.get(CHECKED, ()):
        translate(node)
    if not features:
        features["rows"] = per_unit.count()
        columns.append(Column("rows", Type.INTEGER))
    where = query.args.get("where")
    condition = None if where is None else translate(where.this)
    schema = replace(known.schema, columns=tuple(columns), unit=None)
    return UnitRows(features, condition, tuple(names.joined.values())), schema


def _feature(node: exp.Expr, translate: Translator) -> Feature:
    if _counts_rows(node):
        return per_unit.count()
    if type(node) is exp.Filter and _counts_rows(node.this):
        return _total_of(translate(node.expression.this))
    if type(node) in (exp.ArgMin, exp.ArgMax):
        only(node, "this", "expression")
        choose = per_unit.first if type(node) is exp.ArgMin else per_unit.last
        return choose(translate(node.this), by=translate(node.args["expression"]))
    read = READ.get(type(node))
    if read is None or not (is_aggregate(node) or type(node) in (exp.LogicalOr, exp.LogicalAnd)):
        raise Unread(f"Not answered for each person: {sql_name(node)}", FEATURES, node=node)
    only(node, "this")
    return read(translate(node.this))


def _counts_rows(node: exp.Expr) -> bool:
    return type(node) is exp.Count and type(node.this) is exp.Star


def _total_of(condition: Expression) -> Feature:
    one_or_none = Case(((condition, Literal(1)),), Literal(0))
    return per_unit.sum(one_or_none, lower=0, upper=1)


def _type(feature: Feature, type_of: Callable[[Expression], Type]) -> Type:
    match feature:
        case UnitCount():
            return Type.INTEGER
        case UnitCondition():
            return Type.BOOLEAN
        case UnitExtreme(of) | UnitValue(of):
            return type_of(of)
        case _:
            return Type.NUMBER


READ: dict[type[exp.Expr], Callable[[Expression], Feature]] = {
    exp.Sum: per_unit.sum,
    exp.Avg: per_unit.mean,
    exp.Min: per_unit.min,
    exp.Max: per_unit.max,
    exp.CountIf: _total_of,
    exp.LogicalOr: per_unit.any,
    exp.LogicalAnd: per_unit.all,
}
