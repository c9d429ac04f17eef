"""Writes records as JSON: budgets by exact digits, times in UTC, closed choices by their word."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from enum import Enum
from fractions import Fraction
from typing import Any, cast

from letalone.plans.constants import format_constant
from letalone.plans.schema import Column, Schema
from letalone.privacy import Budget
from letalone.privacy.filters import brief

Json = dict[str, Any]
AMOUNTS = ("budget", "spent", "remaining")


def to_json(value: object) -> Any:
    """Any record of the curator as JSON can hold it."""
    match value:
        case Enum():
            return value.value
        case Budget():
            return budget_as_json(value)
        case Fraction():
            return format_constant(value)
        case Schema():
            return schema_as_json(value)
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case Mapping():
            return {str(key): to_json(item) for key, item in cast("Json", value).items()}
        case set() | frozenset():
            return sorted(to_json(item) for item in cast("set[object]", value))
        case list() | tuple():
            return [to_json(item) for item in cast("list[object]", value)]
        case _ if is_dataclass(value):
            return pick(value, (field.name for field in fields(value)))
        case _:
            return value


def pick(record: object, names: Iterable[str]) -> Json:
    """Some of a record's fields and properties."""
    return {name: to_json(getattr(record, name)) for name in names}


def budget_as_json(budget: Budget) -> Json:
    """The exact numbers as digits, or as a fraction; and both in words."""
    return {**pick(budget, ("epsilon", "delta")), "words": brief(budget)}


def schema_as_json(schema: Schema) -> Json:
    """A schema as a schema file has it."""
    return {
        "name": schema.name,
        "unit": schema.unit,
        "neighbours": schema.neighbours.relation.value,
        "version": schema.version,
        "columns": {column.name: _column_as_json(column) for column in schema.columns},
    }


def _column_as_json(column: Column) -> Json:
    body: Json = {"type": column.type.value}
    for side in ("lower", "upper"):
        bound = getattr(column, side)
        body |= {} if bound is None else {side: format_constant(bound)}
    return body if column.keys is None else {**body, "keys": to_json(column.keys)}
