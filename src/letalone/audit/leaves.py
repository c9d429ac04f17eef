"""Outputs that are more than a number: what is in them, in a form that does not vary.

Equal dicts print differently in another order of insertion, sets in another process, and
objects without a print of their own show their address, which is another at every draw: an
audit that compared how they print would see a thousand different outputs and find nothing.
So dicts and sets are sorted, records become their fields, numbers are kept apart from the
text around them, and what is not understood is refused.

Each number has a path: the keys and places that lead to it. So the number under a key stays the
same number where another key comes or goes.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, cast

import numpy as np

from letalone.audit.failures import Failure
from letalone.errors import ParameterError

NUMBER = "#"
ERROR = "the error "
ADDRESS = " at 0x"


def place_numbers(output: object) -> tuple[str, dict[str, float]]:
    """All that is no number, as one text with # in their places, and the numbers by path."""
    numbers: dict[str, float] = {}
    return _whole(output, numbers), numbers


def print_output(output: object) -> str:
    """The output as one text, numbers included."""
    return _whole(output, None)


def _whole(output: object, numbers: dict[str, float] | None) -> str:
    try:
        return _text(output, numbers, "")
    except RecursionError:
        pass
    raise ParameterError(
        "The mechanism returned something that holds itself, or is nested too deeply to be read."
        " Let it return plain numbers, text, lists or dicts."
    )


def _text(output: object, numbers: dict[str, float] | None, path: str) -> str:
    match output:
        case str() | bytes() | None:
            return repr(output)
        case Real() | Decimal() | np.bool_():
            return _number(output, numbers, path)
        case Mapping():
            return _items(cast("Mapping[object, object]", output), numbers, path)
        case AbstractSet():
            members = cast("AbstractSet[object]", output)
            return "{" + ", ".join(sorted(_text(member, None, "") for member in members)) + "}"
        case list() | tuple():
            items = enumerate(cast("list[object]", output))
            return f"({', '.join(_text(item, numbers, f'{path}[{n}]') for n, item in items)})"
        case _:
            return _object(output, numbers, path)


def _items(output: Mapping[object, object], numbers: dict[str, float] | None, path: str) -> str:
    pairs = sorted((_text(key, None, ""), place) for place, key in enumerate(output))
    values = list(output.values())
    inner = (f"{key}: {_text(values[n], numbers, f'{path}[{key}]')}" for key, n in pairs)
    return "{" + ", ".join(inner) + "}"


def _object(output: object, numbers: dict[str, float] | None, path: str) -> str:
    if isinstance(output, Failure):
        return f"{ERROR}{output.words}"
    if is_dataclass(output) and not isinstance(output, type):
        attributes = {field.name: getattr(output, field.name) for field in fields(output)}
        return type(output).__name__ + _items(
            cast("dict[object, object]", attributes), numbers, path
        )
    if hasattr(output, "__array__"):
        return _text(np.asarray(cast("Any", output)).tolist(), numbers, path)
    text = repr(output)
    if ADDRESS in text:
        raise ParameterError(
            f"The mechanism returned an object of the type {type(output).__name__}, which an audit"
            " does not understand. It reads numbers, arrays, text, None, and lists, tuples, sets,"
            " dicts and dataclasses of these: let the mechanism return one of them."
        )
    return text


def _number(output: object, numbers: dict[str, float] | None, path: str) -> str:
    if numbers is None:
        return repr(cast("Any", output).item() if isinstance(output, np.generic) else output)
    while path in numbers:  # two keys that print alike
        path += "'"
    try:
        numbers[path] = float(cast("Any", output))
    except (OverflowError, ValueError):  # too large; a signalling NaN
        return repr(output)
    return NUMBER
