"""Bounds that are given beside a query: every aggregate of a column is of it clamped to them.

Tested:   tests/sql/test_bounds.py
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from math import isinf
from typing import cast

from letalone.errors import ParameterError
from letalone.plans.aggregates.facts import AggregateRequest, as_number, read_bounds
from letalone.plans.aggregates.formula_trees import Computable, FormulaRequest
from letalone.plans.bounds import check_numeric, clamp_columns
from letalone.plans.expressions import Clamp, ColumnRef, Expression, column_names
from letalone.plans.typing import ColumnTypes

Bounds = Mapping[str, tuple[Fraction, Fraction]]


def give_bounds(
    aggregates: Mapping[str, Computable], bounds: object, *, columns: Collection[str] = ()
) -> dict[str, Computable]:
    """The aggregates within the bounds that are given by column.

    Those of other columns of the tables change nothing; those of what is no column are refused,
    unless an aggregate of an expression is called so: AVG(left_at - came_at) AS days.
    """
    given = dict(read_bounds(bounds))
    used = {name for request in aggregates.values() for name in columns_within(request)}
    aggregates = dict(aggregates)
    for name in [name for name in given if name not in used and name not in columns]:
        if name in aggregates and is_of_expression(aggregates[name]):
            request = cast("AggregateRequest", aggregates[name])
            clamped = Clamp(cast("Expression", request.of), *given.pop(name))
            aggregates[name] = replace(request, of=clamped)
    for name in given:
        if name not in used and name not in columns:
            can_be = {*used, *(name for name, part in aggregates.items() if is_of_expression(part))}
            added = f" The columns that are: {', '.join(sorted(can_be))}." if can_be else ""
            raise ParameterError(
                f"Bounds are given for {name!r}, but no SUM, AVG or other number of it is"
                f" asked.{added}"
            )
    return {name: _give_bounds(request, given) for name, request in aggregates.items()}


def is_of_expression(asked: Computable) -> bool:
    """Whether it adds up or searches something computed, without bounds of its own."""
    if not isinstance(asked, AggregateRequest) or asked.by or asked.lower is not None:
        return False
    return asked.of is not None and not asked.counts and not isinstance(asked.of, ColumnRef | Clamp)


def columns_within(asked: Computable) -> list[str]:
    """The columns whose values an aggregate adds up or searches."""
    if isinstance(asked, FormulaRequest):
        return [name for part in asked.parts for name in columns_within(part)]
    request = cast("AggregateRequest", asked)
    if request.counts or request.of is None:
        return []
    return [name for part in (request.of, *request.by) for name in column_names(part)]


def find_unbounded(aggregates: Mapping[str, Computable], columns: ColumnTypes) -> list[str]:
    """The columns without declared bounds that some aggregate needs bounds of."""
    names: dict[str, None] = {}
    for request in aggregates.values():
        for part in request.parts if isinstance(request, FormulaRequest) else (request,):
            names |= dict.fromkeys(_lacking(cast("AggregateRequest", part), columns))
    return list(names)


def is_open_ended(asked: Computable, columns: ColumnTypes) -> bool:
    """Whether values that are added up have no bounds, as those of a quotient."""
    parts = asked.parts if isinstance(asked, FormulaRequest) else (asked,)
    return any(_open_values(cast("AggregateRequest", part), columns) for part in parts)


def _lacking(asked: AggregateRequest, columns: ColumnTypes) -> list[str]:
    given = {name for name, _ in asked.bounds}
    names = [name for part in _open_values(asked, columns) for name in column_names(part)]
    return [name for name in names if _is_open(name, columns) and name not in given]


def _open_values(asked: AggregateRequest, columns: ColumnTypes) -> list[Expression]:
    """What is added up or searched without bounds of its own."""
    if asked.counts or asked.of is None:
        return []
    if not asked.by and asked.lower is not None and asked.upper is not None:
        check_numeric(as_number(asked.of, columns), columns, done="adding up")
        return []
    given = {name for name, _ in asked.bounds}
    expressions: list[Expression] = []
    for part in (asked.of, *asked.by):
        typed = check_numeric(as_number(part, columns), columns, done="adding up")
        known = isinstance(part, ColumnRef) and part.name in given
        expressions += [part] if (isinf(typed.lower) or isinf(typed.upper)) and not known else []
    return expressions


def _is_open(name: str, columns: ColumnTypes) -> bool:
    typed = columns.type_of(ColumnRef(name))
    return typed.type.is_numeric and (isinf(typed.lower) or isinf(typed.upper))


def _give_bounds(asked: Computable, bounds: Bounds) -> Computable:
    if isinstance(asked, FormulaRequest):
        return replace(asked, parts=tuple(_give_bounds(part, bounds) for part in asked.parts))
    request = cast("AggregateRequest", asked)
    if request.counts or request.of is None:
        return request
    is_plain = not request.by and request.lower is request.upper is None
    if is_plain and isinstance(request.of, ColumnRef) and request.of.name in bounds:
        lower, upper = bounds[request.of.name]
        return replace(request, lower=lower, upper=upper)
    if request.by and all(isinstance(part, ColumnRef) for part in (request.of, *request.by)):
        more = {name: bounds[name] for name in columns_within(request) if name in bounds}
        return replace(request, bounds=tuple({**more, **dict(request.bounds)}.items()))
    by = tuple(clamp_columns(part, bounds) for part in request.by)
    return replace(request, of=clamp_columns(request.of, bounds), by=by)
