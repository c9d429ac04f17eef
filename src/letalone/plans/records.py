"""Records of a plan: equal by structure, and stored as JSON under names that never change.

Text, truth values, the missing value and whole numbers below 2^53 are themselves; other
constants are objects with their type as the one name: {"integer": "9007199254740993"},
{"number": "1/10"}, {"date": "2024-01-31"}, {"timestamp": "2024-01-31T12:00:00"}. A record is
an object with its stored name under "node". This module knows no record: each registers itself
with `@stored_as("Mean")`, so a class can be renamed and no digest changes.

A record does not check what its own code never gives it. What was read from JSON is held against
the types of the fields, all the way down, before a record is made of it.

  Proven:   rationals and whole numbers are stored as text, so nothing is rounded
  Tested:   tests/plans/test_stored.py, test_digests.py, test_mutated.py
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from letalone.errors import FormatError
from letalone.exact.canonical import MAX_SAFE_INTEGER
from letalone.exact.typed import read_rational
from letalone.plans.constants import Value, as_bound
from letalone.plans.types import Type
from letalone.privacy.neighbours import Neighbours, Relation

NUMBERS = ("lower", "upper", "by_lower", "by_upper", "step", "at", "edges")
# Said of a schema file that is not finished; a plan is about a finished one.
NOT_STORED = ("unit_declared",)
# Fields that came later: left out where they are as before, so that older plans keep their digest.
LATER: dict[str, object] = {"per_unit": None, "sample": False, "outer": False, "key_groups": None}
WHOLE_TYPES = (int, bool)  # True is no number here
Json = dict[str, object]
Record = TypeVar("Record")

RECORDS: dict[str, type] = {}
STORED_NAMES: dict[type, str] = {}


@dataclass_transform(frozen_default=True, eq_default=False)
class StructuralEquality:
    """Equal where all parts are: the `==` of expressions builds a comparison instead."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Numbers as typed, so that equal questions are spelled alike."""
        for part in fields(cast("Any", self)):
            if part.name in NUMBERS:
                read = _as_typed(part.name, getattr(self, part.name))
                object.__setattr__(self, part.name, read)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def _as_typed(name: str, value: object) -> Fraction | tuple[Fraction, ...] | None:
    if isinstance(value, tuple):
        return tuple(as_bound(name, number) for number in cast("tuple[object, ...]", value))
    return None if value is None else as_bound(name, value)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def stored_as(name: str) -> Callable[[type[Record]], type[Record]]:
    """Makes a frozen dataclass, equal by its fields or as its base says; every stored plan has
    this name for it."""

    def register(record: type[Record]) -> type[Record]:
        assert name not in RECORDS, f"two records are stored as {name}"
        by_fields = record.__eq__ is object.__eq__
        made = dataclass(frozen=True, slots=True, eq=by_fields)(record)
        RECORDS[name], STORED_NAMES[made] = made, name
        return made

    return register


def to_stored(value: object) -> object:
    """A part of a plan as JSON."""
    match value:
        case None | bool() | str():
            return value
        case int() if abs(value) <= MAX_SAFE_INTEGER:
            return value
        case Neighbours():
            return {"neighbours": value.relation.value}
        case Type():
            return {"type": value.value}
        case tuple():
            return [to_stored(item) for item in cast("tuple[object, ...]", value)]
        case int():
            return {"integer": str(value)}
        case Fraction():
            return {"number": str(value)}
        case datetime():  # before date: a datetime is a date to Python
            return {"timestamp": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case _:
            name = STORED_NAMES[type(value)]
            return {"node": name, **fields_to_stored(value)}


def fields_to_stored(record: object) -> Json:
    """The fields of a record as JSON, without those that are as they were before they came."""
    named = {part.name: getattr(record, part.name) for part in fields(cast("Any", record))}
    return {
        name: to_stored(value)
        for name, value in named.items()
        if name not in NOT_STORED and not (name in LATER and value is LATER[name])
    }


def read_stored(stored: object, *, depth: int) -> object:
    """The part of a plan that `to_stored` wrote; refuses what is nested deeper than `depth`."""
    if depth < 0:
        raise FormatError("This plan is damaged: it is nested deeper than any plan.")
    match stored:
        case None | bool() | str() | int():
            return stored
        case list():
            return tuple(
                read_stored(item, depth=depth - 1) for item in cast("list[object]", stored)
            )
        case dict() if "node" in stored:
            return _read_record(cast("Json", stored), depth - 1)
        case dict() if len(cast("Json", stored)) == 1:
            return _read_tagged(*next(iter(cast("dict[str, str]", stored).items())))
        case _:
            raise FormatError("This plan is damaged: a value is not what to_json writes.")


def read_fields(record: type, stored: Json, names: Iterable[str], *, depth: int) -> Json:
    """The fields of these names, held against their types."""
    given = {name: read_stored(stored[name], depth=depth) for name in names}
    hints = _hints(record)
    for name, value in given.items():
        if name in hints and not fits(value, hints[name]):
            raise FormatError(
                f"This plan is damaged: {name!r} of {STORED_NAMES.get(record, record.__name__)} is"
                " not what to_json writes there."
            )
    return given


def _read_record(stored: Json, depth: int) -> object:
    record = RECORDS[cast("str", stored["node"])]
    names = [name for name in stored if name != "node"]
    return record(**read_fields(record, stored, names, depth=depth))


def _read_tagged(tag: str, text: str) -> Value | Type | Neighbours:
    readers: dict[str, Callable[[str], Value | Enum | Neighbours]] = {
        "integer": int,
        "number": read_rational,
        "date": date.fromisoformat,
        "timestamp": datetime.fromisoformat,
        "type": Type,
        "neighbours": lambda word: Neighbours(Relation(word)),
    }
    return cast("Value | Type | Neighbours", readers[tag](text))


def fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type as it is written down for a field."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if origin is tuple:
        return isinstance(value, tuple) and _each_fits(cast("tuple[object, ...]", value), parts)
    return type(value) is hint if hint in WHOLE_TYPES else isinstance(value, hint or NoneType)


def _each_fits(values: tuple[object, ...], parts: tuple[Any, ...]) -> bool:
    hints = parts[:1] * len(values) if parts[-1] is Ellipsis else parts
    return len(values) == len(hints) and all(map(fits, values, hints))


@cache
def _hints(record: type) -> dict[str, Any]:
    return get_type_hints(record)
