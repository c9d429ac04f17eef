"""Outputs that are more than a number: what is in them, in a form that does not vary.

Equal dicts print differently in another order of insertion, sets in another process, and
objects without a print of their own show their address, which is another at every draw: an
audit that compared how they print would see a thousand different outputs and find nothing.
So dicts and sets are sorted, records become their fields, numbers are kept apart from the
text around them, and what is not understood is refused.
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


def taken_apart(output: object) -> tuple[str, tuple[float, ...]]:
    """All that is no number, as one text with # in their places, and the numbers in order."""
    numbers: list[float] = []
    return _text(output, numbers), tuple(numbers)


def printed(output: object) -> str:
    """The output as one text, numbers included."""
    return _text(output, None)


def _text(output: object, numbers: list[float] | None) -> str:
    match output:
        case str() | bytes() | None:
            return repr(output)
        case Real() | Decimal() | np.bool_():
            return _number(output, numbers)
        case Mapping():
            return _items(cast("Mapping[object, object]", output), numbers)
        case AbstractSet():
            members = cast("AbstractSet[object]", output)
            return "{" + ", ".join(sorted(printed(member) for member in members)) + "}"
        case list() | tuple():
            inner = (_text(item, numbers) for item in cast("list[object]", output))
            return f"({', '.join(inner)})"
        case _:
            return _object(output, numbers)


def _items(output: Mapping[object, object], numbers: list[float] | None) -> str:
    pairs = sorted((printed(key), place) for place, key in enumerate(output))
    values = list(output.values())
    return "{" + ", ".join(f"{key}: {_text(values[n], numbers)}" for key, n in pairs) + "}"


def _object(output: object, numbers: list[float] | None) -> str:
    if isinstance(output, Failure):
        return f"{ERROR}{output.words}"
    if is_dataclass(output) and not isinstance(output, type):
        found = {field.name: getattr(output, field.name) for field in fields(output)}
        return type(output).__name__ + _items(cast("dict[object, object]", found), numbers)
    if hasattr(output, "__array__"):
        return _text(np.asarray(cast("Any", output)).tolist(), numbers)
    text = repr(output)
    if ADDRESS in text:
        raise ParameterError(
            f"The mechanism returned an object of the type {type(output).__name__}, which an audit"
            " does not understand. It reads numbers, arrays, text, None, and lists, tuples, sets,"
            " dicts and dataclasses of these: let the mechanism return one of them."
        )
    return text


def _number(output: object, numbers: list[float] | None) -> str:
    if numbers is None:
        return repr(cast("Any", output).item() if isinstance(output, np.generic) else output)
    try:
        numbers.append(float(cast("Any", output)))
    except OverflowError:
        return repr(output)
    return NUMBER
