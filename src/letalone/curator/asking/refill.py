"""Fills the form with a past question: by choices where that can be, else in SQL.

What cannot be written in either way is None: the form then begins with the price alone. Nothing
is paid by filling a form, and the price of what it says is shown before.

  Tested:   tests/curator/console/test_asked_again.py
"""

from datetime import date
from fractions import Fraction
from itertools import product
from json import dumps

from letalone.answers.arranged import AS_IT_IS, Arrangement
from letalone.curator.asking.answer_arranging import as_sql
from letalone.curator.asking.building import (
    CONDITIONS,
    COUNT,
    UNITS,
    quote_name,
    write_call,
    write_constant,
)
from letalone.plans import expressions
from letalone.plans.aggregates.formulas import Aggregate
from letalone.plans.aggregates.of_columns import (
    Count,
    CountUnits,
    Deviation,
    Extreme,
    Mean,
    Quantiles,
    Sum,
)
from letalone.plans.constants import Value, format_constant
from letalone.plans.plan import USUAL_MAX_ROWS, Plan
from letalone.plans.stored_plans import plan_from_json
from letalone.plans.types import Type
from letalone.session.release import Release

Fields = list[tuple[str, str]]


class _NotWritten(Exception):  # noqa: N818 - it is caught here and never leaves
    """The form has no words for a part of the question."""


def fields_of(release: Release, how: Arrangement = AS_IT_IS) -> Fields | None:
    """The fields that ask the question of an answer again; None where the form cannot.

    `how`: sorted, filtered and cut, which is said in SQL alone.
    """
    try:
        plan = plan_from_json(release.plan)
        _check_simple(plan)
        chosen = _choices(plan) if how == AS_IT_IS else None
        return [*(chosen or _in_sql(plan, how)), *_bound(plan)]
    except (_NotWritten, KeyError):  # an address may name columns that are not there
        return None


def choices_of(plan: Plan) -> Fields | None:
    """The fields of Choose that ask the same, whatever its column is called; None where none do."""
    try:
        _check_simple(plan)
        return _choices(plan, named=True)
    except _NotWritten:
        return None


def price_of(release: Release) -> Fields:
    """The fields that pay the same again."""
    terms = release.asked
    named = {"epsilon": terms.epsilon, "delta": terms.delta, "confidence": terms.confidence}
    return [(name, format_constant(value)) for name, value in named.items()]


def _check_simple(plan: Plan) -> None:
    bounding = plan.bounding
    odd = plan.derived or plan.joins or plan.per_unit or bounding.clip or bounding.max_groups
    if odd or any(_column(group.of) != group.name for group in plan.groups):
        raise _NotWritten


def _bound(plan: Plan) -> Fields:
    rows = plan.bounding.max_rows
    return [] if rows in (None, USUAL_MAX_ROWS) else [("max_rows", str(rows))]


def _choices(plan: Plan, *, named: bool = False) -> Fields | None:
    """The fields of Choose; None where it was more than can be chosen."""
    (name, aggregate), *others = plan.aggregates
    what, column = _what(plan, aggregate)
    conditions = _conditions(plan.where)
    usual = f"{what}_{column}" if column else "number"
    if others or (name != usual and not named) or conditions is None or not _are_declared(plan):
        return None
    fields = [("way", "build"), ("what", what), *(("by", group.name) for group in plan.groups)]
    fields += [("of", column)] if column else []
    for number, (where, how, value) in zip(CONDITIONS, conditions, strict=False):
        typed = {f"where_{number}": where, f"how_{number}": how, f"value_{number}": value}
        fields += typed.items()
    return fields


def _conditions(where: expressions.Expression | None) -> list[tuple[str, str, str]] | None:
    parts = () if where is None else where.parts if isinstance(where, expressions.And) else (where,)
    conditions: list[tuple[str, str, str]] = []
    for part in parts:
        match part:
            case expressions.Comparison(
                op, expressions.ColumnRef(name), expressions.Literal(value)
            ) if _as_typed(value):
                conditions.append((name, op, _as_typed(value)))
            case _:
                return None
    return conditions if len(conditions) <= len(CONDITIONS) else None


def _as_typed(value: Value) -> str:
    """A constant as one types it into a field; "" where a field cannot hold it."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case Fraction():
            return "" if "/" in format_constant(value) else format_constant(value)
        case str():
            return value if value == value.strip() else ""
        case _:
            return str(value)


def _in_sql(plan: Plan, how: Arrangement) -> Fields:
    groups = [quote_name(group.name) for group in plan.groups]
    whats = {name: _what(plan, aggregate) for name, aggregate in plan.aggregates}
    calls = {name: write_call(*what, plan.schema) for name, what in whats.items()}
    columns = [f"{calls[name]} AS {quote_name(name)}" for name in calls if name not in how.hidden]
    lines = [f"SELECT {', '.join([*groups, *columns])}", f"FROM {quote_name(plan.schema.name)}"]
    lines += [] if plan.where is None else [f"WHERE {_condition(plan.where)}"]
    lines += [f"GROUP BY {', '.join(groups)}"] if groups else []
    lines += as_sql(how, calls)
    return [("way", "sql"), ("sql", "\n".join(lines)), *_keys(plan)]


def _what(plan: Plan, aggregate: Aggregate) -> tuple[str, str]:
    """What Choose calls it, and of which column."""
    match aggregate:
        case Count():
            return COUNT, ""
        case CountUnits():
            return UNITS, ""
        case Sum():
            what = "sum"
        case Mean():
            what = "mean"
        case Deviation(sample=False):
            what = "deviation"
        case Quantiles(at=(rank,)) if rank == Fraction(1, 2):
            what = "median"
        case Extreme():
            what = "largest" if aggregate.largest else "smallest"
        case _:
            raise _NotWritten
    column = plan.schema.column(_column(aggregate.of))
    if (column.lower, column.upper) != (aggregate.lower, aggregate.upper):
        raise _NotWritten
    return what, column.name


def _column(of: expressions.Expression) -> str:
    if isinstance(of, expressions.ColumnRef):
        return of.name
    raise _NotWritten


def _condition(where: expressions.Expression) -> str:
    match where:
        case expressions.ColumnRef(name):
            return quote_name(name)
        case expressions.Literal(value):
            return _constant(value)
        case expressions.Comparison(op, left, right):
            return f"{_condition(left)} {op} {_condition(right)}"
        case expressions.And(parts):
            return " AND ".join(f"({_condition(part)})" for part in parts)
        case expressions.Or(parts):
            return " OR ".join(f"({_condition(part)})" for part in parts)
        case expressions.Not(of):
            return f"NOT ({_condition(of)})"
        case expressions.IsNull(of):
            return f"({_condition(of)}) IS NULL"
        case expressions.OneOf(of, values):
            return f"{_condition(of)} IN ({', '.join(_constant(value) for value in values)})"
        case _:
            raise _NotWritten


def _constant(value: Value) -> str:
    if isinstance(value, Fraction) and "/" not in format_constant(value):
        return format_constant(value)
    if isinstance(value, bool | str | int) or type(value) is date:
        return write_constant(value)
    raise _NotWritten


def _are_declared(plan: Plan) -> bool:
    if not plan.groups:
        return True
    columns = [plan.schema.column(group.name) for group in plan.groups]
    declared = [(False, True) if column.type is Type.BOOLEAN else column.keys for column in columns]
    if plan.keys is None or None in declared:
        return False
    return set(plan.keys) == set(product(*(keys or () for keys in declared)))


def _keys(plan: Plan) -> Fields:
    """Groups that are not declared, for the field that takes them."""
    if plan.keys is None or _are_declared(plan):
        return []
    keys = [key[0] for key in plan.keys]
    if len(plan.groups) > 1 or not all(isinstance(key, str | int) for key in keys):
        raise _NotWritten
    return [("keys", dumps(keys, ensure_ascii=False))]
