"""A copy of the input for every draw, and of every output: a mechanism may work in place.

`x += noise` changes the array that the next draw would be given, and an array that is filled
again at every call would make all outputs the last one. Then draws would not be independent, and
an honest mechanism could be accused. So arrays, frames, lists, dicts and sets are copied.

What cannot change is not copied, nor is an object of another class: a session or a model is
handed on as it is, and must not change what it returns (see the proof's section 5).
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import is_dataclass
from typing import Any, cast

import numpy as np

FIXED = (int, float, complex, str, bytes, type(None), np.generic)


def copier_of(value: object) -> Callable[[], Any]:
    """A function that gives a new copy at every call."""
    if _is_fixed(value):
        return lambda: value
    match value:
        case list() if all(map(_is_fixed, cast("list[object]", value))):
            return cast("list[object]", value).copy
        case dict() if all(map(_is_fixed, cast("dict[object, object]", value).values())):
            return cast("dict[object, object]", value).copy
        case np.ndarray() if not value.dtype.hasobject:
            return value.copy
        case list() | tuple() | dict() | set() | bytearray() | np.ndarray():
            return lambda: deepcopy(cast("object", value))
        case _:
            return _of_object(value)


def copy_input(value: object) -> Any:
    """One copy."""
    return copier_of(value)()


def _of_object(value: Any) -> Callable[[], Any]:
    if hasattr(value, "iloc"):  # pandas
        return lambda: value.copy(deep=True)
    if hasattr(value, "__array__") and hasattr(value, "clone"):  # Polars, torch
        return value.clone
    if is_dataclass(value) and not isinstance(value, type) and not _is_frozen(value):
        return lambda: _deeply(value)
    return lambda: value


def _is_frozen(record: Any) -> bool:
    return bool(cast("Any", type(record)).__dataclass_params__.frozen)


def _is_fixed(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_fixed, cast("tuple[object, ...]", value)))
    return isinstance(value, FIXED)


def _deeply(value: object) -> object:
    """A copy of a record, or the record where something in it cannot be copied."""
    try:
        return deepcopy(value)
    except Exception:
        return value
