"""Public names, their signatures, and what their classes can do."""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from types import ModuleType
from typing import Any

import letalone as la
from golden.keeping import check

LATER = ("max", "min", "open", "sum")  # public, and left out of `import *`
OPERATORS = {
    *("__abs__", "__add__", "__and__", "__call__", "__contains__", "__enter__", "__exit__"),
    *("__float__", "__ge__", "__getitem__", "__gt__", "__int__", "__invert__", "__iter__"),
    *("__le__", "__len__", "__lt__", "__mod__", "__mul__", "__neg__", "__or__", "__pow__"),
    *("__radd__", "__rand__", "__rmul__", "__ror__", "__rsub__", "__rtruediv__", "__sub__"),
    "__truediv__",
}
# Of a curve: all else is what curves ask of each other.
OF_A_CURVE = {
    *("__add__", "__mul__", "__rmul__", "delta", "delta_bounds", "described", "epsilon"),
    *("epsilon_bounds", "exact", "group", "neighbours", "parameters", "sampled", "shuffled"),
    *("to_json", "tradeoff", "tradeoff_bounds", "under", "with_neighbours"),
}
NUMBER = "int | float | Fraction | Decimal"


def names_of(module: ModuleType) -> list[str]:
    return sorted(module.__all__)


def namespaces() -> dict[str, ModuleType]:
    """`la`, and the modules among its names."""
    found = {"la": la}
    for name in sorted(la.__all__):
        value = getattr(la, name)
        if isinstance(value, ModuleType):
            found[f"la.{name}"] = value
    return found


def public_objects() -> dict[str, object]:
    found: dict[str, object] = {}
    for space, module in namespaces().items():
        for name in [*names_of(module), *(LATER if module is la else ())]:
            found[f"{space}.{name}"] = getattr(module, name)
    return found


OBJECTS = public_objects()
CLASSES = {value.__name__ for value in OBJECTS.values() if isinstance(value, type)}


def described(name: str, value: object) -> Iterator[str]:
    if isinstance(value, ModuleType):
        yield f"{name}: module"
    elif isinstance(value, type):
        bases = [base.__name__ for base in value.__mro__[1:] if base.__name__ in CLASSES]
        yield f"class {name}{signature_of_class(value)}{' < ' + ' < '.join(bases) if bases else ''}"
        yield from members(value)
    elif callable(value):
        yield f"def {name}{signature(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


def members(of: type) -> Iterator[str]:
    """What letalone adds to a class of Python or of a library, by name."""
    found: dict[str, object] = {}
    for base in reversed(of.__mro__):
        if base.__module__.startswith("letalone"):
            found |= vars(base)
    if dataclasses.is_dataclass(of):
        found |= {field.name: field for field in dataclasses.fields(of)}
    for name in sorted(found):
        value = found[name]
        if value is None or (issubclass(of, la.Privacy) and name not in OF_A_CURVE):
            continue
        if name in OPERATORS or not name.startswith("_"):
            yield f"  .{name}{kind(value)}"


def kind(value: Any) -> str:
    if isinstance(value, classmethod | staticmethod):
        return f"{signature(value.__func__)} {type(value).__name__}"
    return signature(value) if inspect.isfunction(value) else ""


def signature_of_class(value: type) -> str:
    """Its parameters; of an Enum its values; nothing where Python's own __init__ decides."""
    if issubclass(value, Enum):
        return f" = {', '.join(f'{one.name}: {one.value!r}' for one in value)}"
    plain = issubclass(value, BaseException) and "__init__" not in vars(value)
    return "" if plain else signature(value)


def signature(value: Any) -> str:
    """Parameters with their defaults and types; a class that nobody can reach by name is a `~`."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(…)"
    text = re.sub(r" at 0x[0-9a-f]+", "", str(found))
    text = re.sub(r"(: |-> )'([^']+)'", r"\1\2", text)
    text = re.sub(r"(\[)'([A-Z]\w*)'", r"\1\2", text)  # a name that is read later
    text = re.sub(r"(?<== )<?([A-Z]\w*[a-z]\w*)(?=[.(])", reachable, text)
    text = re.sub(r"\bletalone\.(?:\w+\.)*_*(\w+)", reachable, text)
    return re.sub(r"\b(?:[a-z_]\w*\.)+(\w+)", r"\1", text).replace(NUMBER, "Number")


def reachable(match: re.Match[str]) -> str:
    return match[1] if match[1] in CLASSES else "~"


def test_public_names() -> None:
    lines = [line for name, value in OBJECTS.items() for line in described(name, value)]
    check("public.txt", "\n".join(lines))
