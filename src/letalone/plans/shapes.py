"""Whether a value is what the field of a record says: for plans that come from elsewhere.

A record does not check what its own code never gives it. What was read from JSON is held against
the types of the fields, all the way down, before a record is made of it.

  Tested:   tests/plans/test_mutated.py
"""

from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from letalone.errors import FormatError

WHOLES = (int, bool)  # True is no number here


def check_fields(record: type, given: dict[str, object]) -> None:
    """Refuses values that are not of the types of their fields."""
    hints = _hints(record)
    for name, value in given.items():
        if name in hints and not fits(value, hints[name]):
            raise FormatError(
                f"This plan is damaged: {name!r} of {record.__name__} is not what to_json writes"
                " there."
            )


def fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type as it is written down for a field."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if origin is tuple:
        return isinstance(value, tuple) and _each_fits(cast("tuple[object, ...]", value), parts)
    return type(value) is hint if hint in WHOLES else isinstance(value, hint or NoneType)


def _each_fits(values: tuple[object, ...], parts: tuple[Any, ...]) -> bool:
    hints = parts[:1] * len(values) if parts[-1] is Ellipsis else parts
    return len(values) == len(hints) and all(map(fits, values, hints))


@cache
def _hints(record: type) -> dict[str, Any]:
    return get_type_hints(record)
