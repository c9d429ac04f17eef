"""Reading back a curve that was stored as JSON.

Proven:   rationals are stored as text, so nothing is rounded
Tested:   the round trip for every curve; damaged and newer files are refused
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from importlib import import_module
from json import loads
from typing import cast

from letalone.errors import FormatError, LetaloneError
from letalone.exact.typed import read_rational
from letalone.privacy.curve import FORMAT, KINDS, Json, Privacy
from letalone.privacy.neighbours import Neighbours, Relation

# What registers a curve and is not loaded with the package.
LATER_CURVES = ("curves.bounded_range", "curves.perturbed", "theorems")
DAMAGE = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
ENVELOPE = ("format", "kind", "neighbours")


def from_json(stored: Json | str) -> Privacy:
    """The curve that `to_json` stored; refuses what is damaged or newer than this letalone.

    Takes what `to_json` returned, or the JSON text of it.
    """
    fields = _fields(stored)
    kind = _kind(fields)
    try:
        return _restore_curve(kind, fields)
    except FormatError:
        raise
    except LetaloneError as error:
        raise FormatError(f"This privacy curve of kind '{kind.kind}' is damaged: {error}") from None
    except (*DAMAGE, RecursionError):
        raise FormatError(
            f"This privacy curve of kind '{kind.kind}' is damaged: a field is missing, unknown or"
            " not what to_json writes there."
        ) from None


def _fields(stored: Json | str) -> Json:
    try:
        parsed: object = loads(stored) if isinstance(stored, str | bytes) else stored
    except (ValueError, RecursionError):
        raise FormatError(
            "This text is not JSON. Give what json.dumps(curve.to_json()) wrote, whole."
        ) from None
    if not isinstance(parsed, Mapping):
        raise FormatError(
            "This is not a stored privacy curve: it must be a JSON object, as to_json writes it."
        )
    return dict(cast("Mapping[str, object]", parsed))


def _kind(stored: Json) -> type[Privacy]:
    written = stored.get("format")
    if not isinstance(written, int) or isinstance(written, bool) or written < 1:
        raise FormatError("This is not a stored privacy curve: it has no 'format' number.")
    if written > FORMAT:
        raise FormatError(
            f"This privacy curve has format {written}, and this letalone reads up to format "
            f"{FORMAT}. Update letalone to read it."
        )
    name = str(stored.get("kind"))
    if name not in KINDS:
        for later in LATER_CURVES:
            import_module(f"letalone.privacy.{later}")
    kind = KINDS.get(name)
    if kind is None:
        raise FormatError(
            f"This privacy curve is of kind {stored.get('kind')!r}; known kinds are: "
            f"{', '.join(sorted(KINDS))}."
        )
    return kind


def _restore_curve(kind: type[Privacy], stored: Json) -> Privacy:
    rest = {name: value for name, value in stored.items() if name not in ENVELOPE}
    parameters = {name: _value(value) for name, value in rest.items()}
    make = cast("Callable[..., Privacy]", kind)
    return make(**parameters, neighbours=_neighbours(stored.get("neighbours")))


def _value(stored: object) -> object:
    """Text is a rational, a list is a list, an object is a curve."""
    if isinstance(stored, str):
        return _rational(stored)
    if isinstance(stored, list):
        return [_value(item) for item in cast("list[object]", stored)]
    if isinstance(stored, dict):
        return from_json(cast("Json", stored))
    raise FormatError(
        "This privacy curve is damaged: a field that must be text such as '1/10', a list or an"
        " object is something else."
    )


def _rational(text: str) -> Fraction:
    try:
        return read_rational(text)
    except (ValueError, ZeroDivisionError):
        raise FormatError(
            f"This privacy curve is damaged: {text[:40]!r} is not a number such as '1/10'."
        ) from None


def _neighbours(stored: object) -> Neighbours | None:
    if stored is None:
        return None
    label = cast("dict[str, str | None]", stored)
    return Neighbours(cast("Relation", label["relation"]), label["unit"])
