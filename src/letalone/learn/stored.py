"""What a fit published, as JSON of text and whole numbers: arrays bit by bit.

Tested:   tests/learn/test_stored.py
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.errors import FormatError
from letalone.privacy.curve import Json

KINDS = {"f": "<f8", "i": "<i8", "b": "|b1"}
# By tag: the types, how one is written, how it is read. True is an int to Python: it comes first.
SCALARS: dict[str, tuple[Any, Callable[[Any], object], Callable[[Any], object]]] = {
    "bool": (bool, int, bool),
    "int": (int, str, int),
    "float": (float, float.hex, float.fromhex),
    "text": (str | None, lambda text: text, lambda text: text),
    "fraction": (Fraction | Decimal, lambda number: str(Fraction(number)), Fraction),
    "date": (date, date.isoformat, date.fromisoformat),
}


def stored_model(released: Mapping[str, object]) -> Json:
    """What a ledger writes down for a fit: attributes, whose names end in _, beside two words."""
    return {"format": 1, "kind": "model", **to_json(released)}


def model_from(stored: Mapping[str, object]) -> dict[str, object]:
    """The attributes that `stored_model` wrote."""
    rest = {name: value for name, value in stored.items() if name not in ("format", "kind")}
    return from_json(rest)


def to_json(released: Mapping[str, object]) -> Json:
    """Attributes by name."""
    return {name: _value_to_json(value) for name, value in released.items()}


def from_json(stored: Mapping[str, object]) -> dict[str, object]:
    """Attributes by name, as they were."""
    return {name: _read(value) for name, value in stored.items()}


def _value_to_json(value: object) -> object:
    if isinstance(value, np.ndarray):
        return _array(cast("NDArray[Any]", value))
    if isinstance(value, np.generic):
        value = cast("object", value.item())
    if isinstance(value, list | tuple):
        return {"list": [_value_to_json(part) for part in cast("list[object]", value)]}
    if isinstance(value, Mapping):
        return {"map": to_json(cast("Mapping[str, object]", value))}
    for tag, (kind, write, _) in SCALARS.items():
        if isinstance(value, kind) and not isinstance(value, datetime):
            return {tag: write(value)}
    raise FormatError(f"A fitted model cannot be stored: it holds {type(value).__name__}.")


def _array(value: NDArray[Any]) -> object:
    kind = KINDS.get(value.dtype.kind)
    if kind is None:
        return {
            "array": [_value_to_json(part) for part in value.tolist()],
            "shape": list(value.shape),
        }
    data = np.ascontiguousarray(value, dtype=kind).tobytes()
    return {"data": b64encode(data).decode(), "kind": kind, "shape": list(value.shape)}


def _read(stored: object) -> object:
    written = cast("dict[str, Any]", stored)
    match written:
        case {"data": data, "kind": kind, "shape": shape} if kind in KINDS.values():
            return np.frombuffer(b64decode(data), dtype=kind).reshape(shape).copy()
        case {"array": values, "shape": shape}:
            return np.array([_read(part) for part in values]).reshape(shape)
        case {"list": values}:
            return tuple(_read(part) for part in values)
        case {"map": values}:
            return from_json(values)
        case {**tagged} if len(tagged) == 1 and tagged.keys() <= SCALARS.keys():
            ((tag, value),) = tagged.items()
            return SCALARS[tag][2](value)
        case _:
            raise FormatError("A stored model holds something that is neither text nor numbers.")
