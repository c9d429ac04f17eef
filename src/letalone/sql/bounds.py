"""Bounds that are given beside a query: every aggregate of a column is of it clamped to them.

Tested:   tests/sql/test_bounds.py
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from math import isinf
from typing import cast

from letalone.errors import ParameterError
from letalone.plans.bounds import check_numeric, clamp_columns
from letalone.plans.expressions import ColumnRef, Expression, column_names
from letalone.plans.facts import AggregateRequest, as_number, read_bounds
from letalone.plans.trees import AskedFormula, Computable
from letalone.plans.typing import Columns

Bounds = Mapping[str, tuple[Fraction, Fraction]]


def bounded(
    aggregates: Mapping[str, Computable], bounds: object, *, columns: Collection[str] = ()
) -> dict[str, Computable]:
    """The aggregates within the bounds that are given by column.

    Those of other columns of the tables change nothing; those of what is no column are refused.
    """
    given = dict(read_bounds(bounds))
    used = {name for one in aggregates.values() for name in columns_within(one)}
    for name in given:
        if name not in used and name not in columns:
            added = f" The columns that are: {', '.join(sorted(used))}." if used else ""
            raise ParameterError(
                f"Bounds are given for {name!r}, but no SUM, AVG or other number of it is"
                f" asked.{added}"
            )
    return {name: _bounded(one, given) for name, one in aggregates.items()}


def columns_within(asked: Computable) -> list[str]:
    """The columns whose values an aggregate adds up or searches."""
    if isinstance(asked, AskedFormula):
        return [name for part in asked.parts for name in columns_within(part)]
    one = cast("AggregateRequest", asked)
    if one.counts or one.of is None:
        return []
    return [name for of in (one.of, *one.by) for name in column_names(of)]


def unbounded(aggregates: Mapping[str, Computable], columns: Columns) -> list[str]:
    """The columns without declared bounds that some aggregate needs bounds of."""
    found: dict[str, None] = {}
    for one in aggregates.values():
        for part in one.parts if isinstance(one, AskedFormula) else (one,):
            found |= dict.fromkeys(_lacking(cast("AggregateRequest", part), columns))
    return list(found)


def is_open_ended(asked: Computable, columns: Columns) -> bool:
    """Whether values that are added up have no bounds, as those of a quotient."""
    parts = asked.parts if isinstance(asked, AskedFormula) else (asked,)
    return any(_open_values(cast("AggregateRequest", part), columns) for part in parts)


def _lacking(asked: AggregateRequest, columns: Columns) -> list[str]:
    given = {name for name, _ in asked.bounds}
    names = [name for of in _open_values(asked, columns) for name in column_names(of)]
    return [name for name in names if _is_open(name, columns) and name not in given]


def _open_values(asked: AggregateRequest, columns: Columns) -> list[Expression]:
    """What is added up or searched without bounds of its own."""
    if asked.counts or asked.of is None:
        return []
    if not asked.by and asked.lower is not None and asked.upper is not None:
        check_numeric(as_number(asked.of, columns), columns, done="adding up")
        return []
    given = {name for name, _ in asked.bounds}
    found: list[Expression] = []
    for of in (asked.of, *asked.by):
        typed = check_numeric(as_number(of, columns), columns, done="adding up")
        known = isinstance(of, ColumnRef) and of.name in given
        found += [of] if (isinf(typed.lower) or isinf(typed.upper)) and not known else []
    return found


def _is_open(name: str, columns: Columns) -> bool:
    typed = columns.type_of(ColumnRef(name))
    return typed.type.is_numeric and (isinf(typed.lower) or isinf(typed.upper))


def _bounded(asked: Computable, bounds: Bounds) -> Computable:
    if isinstance(asked, AskedFormula):
        return replace(asked, parts=tuple(_bounded(part, bounds) for part in asked.parts))
    one = cast("AggregateRequest", asked)
    if one.counts or one.of is None:
        return one
    plain = isinstance(one.of, ColumnRef) and not one.by and one.lower is one.upper is None
    if plain and one.of.name in bounds:
        lower, upper = bounds[one.of.name]
        return replace(one, lower=lower, upper=upper)
    if one.by and all(isinstance(of, ColumnRef) for of in (one.of, *one.by)):
        names = [*column_names(one.of), *(name for of in one.by for name in column_names(of))]
        more = {name: bounds[name] for name in names if name in bounds}
        return replace(one, bounds=tuple({**more, **dict(one.bounds)}.items()))
    by = tuple(clamp_columns(of, bounds) for of in one.by)
    return replace(one, of=clamp_columns(one.of, bounds), by=by)
