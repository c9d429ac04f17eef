"""How values stand in JSON, there and back: exact digits, budgets, schemas, times in UTC.

Tested:   tests/wire/test_records.py: what is written is read as it was;
            tests/client/test_hostile_service.py
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Annotated, Any, cast

from pydantic import PlainValidator

from letalone.exact.typed import as_typed, read_rational
from letalone.plans.constants import format_constant
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Key, Type
from letalone.privacy.budget import Budget, brief
from letalone.privacy.neighbours import Neighbours, Relation

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


def read_amount(words: object) -> Fraction:
    """Digits such as 0.7 and 1e-6, or a fraction; ValueError for what is too long to be one."""
    text = str(words)
    return read_rational(text) if "/" in text else as_typed(Decimal(text))


def read_budget(said: Any) -> Budget:
    """A budget by its digits; its words are for people."""
    if isinstance(said, Budget):
        return said
    return Budget(read_amount(said["epsilon"]), read_amount(said["delta"]))


def read_schema(said: Any) -> Schema:
    """A schema as `schema_as_json` writes it; its version is told beside it."""
    if isinstance(said, Schema):
        return said
    return Schema(
        said["name"],
        tuple(_read_column(name, column) for name, column in said["columns"].items()),
        unit=said["unit"],
        neighbours=Neighbours(Relation(said["neighbours"])),
    )


def _read_column(name: str, said: Mapping[str, Any]) -> Column:
    kind, keys = Type(said["type"]), said.get("keys")
    bounds = {side: read_amount(said[side]) for side in ("lower", "upper") if side in said}
    read = None if keys is None else tuple(read_key(key, kind) for key in keys)
    return Column(name, kind, keys=read, **bounds)


def read_key(said: Any, kind: Type) -> Key:
    """A key of a column: JSON has no dates."""
    return date.fromisoformat(said) if kind is Type.DATE and isinstance(said, str) else said


BudgetField = Annotated[Budget, PlainValidator(read_budget)]
SchemaField = Annotated[Schema, PlainValidator(read_schema)]
