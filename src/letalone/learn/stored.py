"""What a fit published, as JSON of text and whole numbers: arrays bit by bit.

Tested:   tests/learn/test_stored.py
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.errors import FormatError
from letalone.privacy.curve import Json

KINDS = {"f": "<f8", "i": "<i8", "b": "|b1"}


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
    if isinstance(value, bool):
        return {"bool": int(value)}
    if isinstance(value, int):
        return {"int": str(value)}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, list | tuple):
        return {"list": [_value_to_json(part) for part in cast("list[object]", value)]}
    if isinstance(value, Mapping):
        return {"map": to_json(cast("Mapping[str, object]", value))}
    if value is None or isinstance(value, str):
        return {"text": value}
    if isinstance(value, Fraction | Decimal):
        return {"fraction": str(Fraction(value))}
    if isinstance(value, date) and not isinstance(value, datetime):
        return {"date": value.isoformat()}
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
        case {"bool": value}:
            return bool(value)
        case {"int": value}:
            return int(value)
        case {"float": value}:
            return float.fromhex(value)
        case {"list": values}:
            return tuple(_read(part) for part in values)
        case {"map": values}:
            return from_json(values)
        case {"text": value}:
            return value
        case {"fraction": value}:
            return Fraction(value)
        case {"date": value}:
            return date.fromisoformat(value)
        case _:
            raise FormatError("A stored model holds something that is neither text nor numbers.")
