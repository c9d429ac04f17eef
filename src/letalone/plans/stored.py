"""Plans as JSON, format 1: what the ledger hashes and receipts carry.

Text, truth values, the missing value and whole numbers below 2^53 are themselves; other
constants are objects with their type as the one name: {"integer": "9007199254740993"},
{"number": "1/10"}, {"date": "2024-01-31"}, {"timestamp": "2024-01-31T12:00:00"}. A node is
an object with its name under "node".

  Proven:   rationals and whole numbers are stored as text, so nothing is rounded
  Tested:   tests/plans/test_stored.py: the round trip, damaged and newer files, a sample of
            every past format
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from json import loads
from typing import cast

from letalone.errors import FormatError, LetaloneError
from letalone.exact.canonical import LARGEST
from letalone.exact.typed import read_written
from letalone.plans.constants import Value
from letalone.plans.expressions import DEEPEST, NODES
from letalone.plans.features import Feature, PerUnit
from letalone.plans.parts import Aggregate, Bounding, GroupColumn, PrivateJoin, PublicJoin
from letalone.plans.query import Plan
from letalone.plans.schema import Column, Schema
from letalone.plans.shapes import check_fields
from letalone.plans.trees import TREES
from letalone.plans.types import Type
from letalone.privacy.neighbours import Neighbours, Relation

FORMAT = 1
KIND = "plan"
DAMAGE = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
AGGREGATES: tuple[type, ...] = Aggregate.__args__
FEATURES: tuple[type, ...] = Feature.__args__
RECORDS: tuple[type, ...] = (
    *NODES,
    *AGGREGATES,
    *TREES,
    *FEATURES,
    PerUnit,
    GroupColumn,
    PublicJoin,
    PrivateJoin,
    Bounding,
    Column,
    Schema,
)
BY_NAME = {record.__name__: record for record in RECORDS}
# Deeper than any admitted plan: lists and records alternate around nested expressions.
DEEPEST_VALUE = 4 * DEEPEST
# Said of a schema file that is not finished; a plan is about a finished one.
NOT_STORED = ("unit_declared",)
# Fields that came later: left out where they are as before, so that older plans keep their digest.
LATER: dict[str, object] = {"per_unit": None, "sample": False}
Json = dict[str, object]


def plan_to_json(plan: Plan) -> Json:
    """The plan as JSON, without loss."""
    return {"format": FORMAT, "kind": KIND, **_said(plan, [part.name for part in fields(Plan)])}


def plan_from_json(stored: Mapping[str, object] | str) -> Plan:
    """The plan that `to_json` stored; refuses what is damaged or newer than this letalone."""
    found = _fields(stored)
    _check_format(found)
    try:
        return _restored(found)
    except FormatError:
        raise
    except LetaloneError as error:
        raise FormatError(f"This plan is damaged: {error}") from None
    except DAMAGE:
        raise FormatError(
            "This plan is damaged: a field is not what to_json writes there."
        ) from None


def to_stored(value: object) -> object:
    """A part of a plan as JSON."""
    match value:
        case None | bool() | str():
            return value
        case int() if abs(value) <= LARGEST:
            return value
        case Neighbours():
            return {"neighbours": value.relation.value}
        case Type():
            return {"type": value.value}
        case tuple():
            return [to_stored(item) for item in cast("tuple[object, ...]", value)]
        case int() | Fraction() | date():
            return _tagged(value)
        case _:
            return _record(value)


def _tagged(value: int | Fraction | date) -> Json:
    match value:
        case int():
            return {"integer": str(value)}
        case Fraction():
            return {"number": str(value)}
        case datetime():
            return {"timestamp": value.isoformat()}
        case date():
            return {"date": value.isoformat()}


def _record(value: object) -> Json:
    known = BY_NAME[type(value).__name__]
    names = [part.name for part in fields(known) if part.name not in NOT_STORED]
    return {"node": known.__name__, **_said(value, names)}


def _said(value: object, names: Sequence[str]) -> Json:
    found = {name: getattr(value, name) for name in names}
    usual = [name for name in found if name in LATER and found[name] is LATER[name]]
    return {name: to_stored(part) for name, part in found.items() if name not in usual}


def _fields(stored: Mapping[str, object] | str) -> Json:
    try:
        text = isinstance(stored, str | bytes)
        found: object = loads(stored, object_pairs_hook=_once_each) if text else stored
    except (ValueError, RecursionError):
        raise FormatError("This text is not JSON. Give the whole of what was stored.") from None
    if not isinstance(found, Mapping):
        raise FormatError("This is not a stored plan: it must be a JSON object.")
    return dict(cast("Mapping[str, object]", found))


def _once_each(pairs: list[tuple[str, object]]) -> Json:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name comes twice")
    return dict(pairs)


def _check_format(found: Json) -> None:
    written = found.get("format")
    if not isinstance(written, int) or isinstance(written, bool) or written < 1:
        raise FormatError("This is not a stored plan: it has no 'format' number.")
    if written > FORMAT:
        raise FormatError(
            f"This plan has format {written}, and this letalone reads up to format {FORMAT}."
            " Update letalone to read it."
        )
    if found.get("kind") != KIND:
        raise FormatError("This is not a stored plan: its kind is another.")


def _restored(found: Json) -> Plan:
    make = cast("Callable[..., Plan]", Plan)
    names = [p.name for p in fields(Plan) if p.name in found or p.name not in LATER]
    given = {name: _read(found[name], 0) for name in names}
    check_fields(Plan, given)
    plan = make(**given)
    if plan_to_json(plan) != found:  # an unknown field, or a second spelling of the same plan
        raise FormatError("This plan is damaged: it is not spelled as to_json spells it.")
    return plan


def _read(stored: object, depth: int) -> object:
    if depth > DEEPEST_VALUE:
        raise FormatError("This plan is damaged: it is nested deeper than any plan.")
    match stored:
        case None | bool() | str() | int():
            return stored
        case list():
            return tuple(_read(item, depth + 1) for item in cast("list[object]", stored))
        case dict() if "node" in stored:
            return _read_record(cast("Json", stored), depth + 1)
        case dict() if len(cast("Json", stored)) == 1:
            return _read_tagged(*next(iter(cast("dict[str, str]", stored).items())))
        case _:
            raise FormatError("This plan is damaged: a value is not what to_json writes.")


def _read_tagged(tag: str, text: str) -> Value | Type | Neighbours:
    readers: dict[str, Callable[[str], Value | Enum | Neighbours]] = {
        "integer": int,
        "number": read_written,
        "date": date.fromisoformat,
        "timestamp": datetime.fromisoformat,
        "type": Type,
        "neighbours": lambda word: Neighbours(Relation(word)),
    }
    return cast("Value | Type | Neighbours", readers[tag](text))


def _read_record(stored: Json, depth: int) -> object:
    known = BY_NAME[cast("str", stored["node"])]
    given = {name: _read(stored[name], depth) for name in stored if name != "node"}
    check_fields(known, given)
    return known(**given)
