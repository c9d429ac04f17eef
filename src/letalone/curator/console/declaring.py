"""The form that declares a data set, read as the API's own body."""

from collections.abc import Sequence
from typing import Any

from letalone.curator.console.forms import CALLED, Called, Typed, shaped
from letalone.curator.console.typed_keys import TRUTHS
from letalone.curator.http.shapes import NewDataSet
from letalone.errors import ParameterError
from letalone.plans.schema import Column
from letalone.plans.types import Type

PURPOSES = (1, 2, 3)
UNSAID = "?"  # whose privacy it is must be said, also where each row is a person's
NO_UNIT = (
    "Say whose privacy is protected: by the column that tells people apart, or that each row is"
    " another person's."
)
NO_COLUMN = "Tick the columns that are needed, at least one. The others are not copied."
TYPES = [
    (Type.TEXT.value, "text"),
    (Type.INTEGER.value, "whole number"),
    (Type.NUMBER.value, "number"),
    (Type.BOOLEAN.value, "yes or no"),
    (Type.DATE.value, "date"),
    (Type.TIMESTAMP.value, "date and time"),
]


def declared(form: Typed, **source: Any) -> NewDataSet:
    """What was declared, checked as the API checks it."""
    unit = form.text("unit")
    if unit == UNSAID:
        raise ParameterError(NO_UNIT)
    columns = _columns(form)
    if not columns:
        raise ParameterError(NO_COLUMN)
    return shaped(
        NewDataSet,
        _called(form),
        name=form.text("name"),
        columns=columns,
        unit=unit or None,
        neighbours=form.text("neighbours"),
        budget=_budget(form, "epsilon", "delta"),
        purposes=[purpose_of(form, place) for place in _purposes(form)],
        description=form.text("description"),
        retention=form.maybe("retention"),
        **source,
    )


def _purposes(form: Typed) -> list[int]:
    return [place for place in PURPOSES if form.text(f"purpose-{place}")]


def _called(form: Typed) -> Called:
    """What the form calls the fields of purposes and columns, of which there are several."""
    found = dict(CALLED)
    for number, place in enumerate(_purposes(form)):
        amounts, which = f"purposes.{number}.budget.", f"Purpose {place}"
        found[f"{amounts}epsilon"] = (f"purpose-epsilon-{place}", f"{which}, may spend, ε")
        found[f"{amounts}delta"] = (f"purpose-delta-{place}", f"{which}, δ")
    for place in _places(form):
        name = form.secret(f"column-{place}")
        found[f"columns.{name}.lower"] = (f"lower-{place}", f"{name}, from")
        found[f"columns.{name}.upper"] = (f"upper-{place}", f"{name}, to")
    return found


def listed(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """The columns of a source for the form: a number, a name, a type to begin with."""
    known = {one for one, _ in TYPES}
    return [
        {"place": place, "name": one.name, "type": one.type.value}
        for place, one in enumerate(columns)
        if one.type.value in known
    ]


def _columns(form: Typed) -> dict[str, dict[str, Any]]:
    return {form.secret(f"column-{place}"): _column(form, place) for place in _places(form)}


def _places(form: Typed) -> list[str]:
    return [one for one in form.all("use") if one.isdecimal()]


def _column(form: Typed, place: str) -> dict[str, Any]:
    """Bounds where the type has them, and keys where it can be grouped by."""
    kind = form.text(f"type-{place}")
    found: dict[str, Any] = {"type": kind}
    if kind in (Type.INTEGER.value, Type.NUMBER.value):
        found |= {end: form.number(f"{end}-{place}") or None for end in ("lower", "upper")}
    lines = [one.strip() for one in form.text(f"keys-{place}").splitlines()]
    keys = [_key(one, kind) for one in lines if one]
    if keys and kind not in (Type.NUMBER.value, Type.TIMESTAMP.value):
        found["keys"] = keys
    return found


def _key(typed: str, kind: str) -> str | int | bool:
    """A key as the API is sent it; what is none of the type is refused there."""
    if kind == Type.BOOLEAN.value:
        return TRUTHS.get(typed.casefold(), typed)
    if kind != Type.INTEGER.value:
        return typed
    try:
        return int(typed)
    except ValueError:
        return typed


def purpose_of(form: Typed, place: int | None = None) -> dict[str, Any]:
    """A purpose as the API is sent it; the fields end in its place where there are several."""
    end = "" if place is None else f"-{place}"
    day = form.maybe(f"purpose-until{end}")
    return {
        "name": form.text(f"purpose{end}"),
        "description": form.text(f"purpose-for{end}"),
        "budget": _budget(form, f"purpose-epsilon{end}", f"purpose-delta{end}"),
        "expires": None if day is None else f"{day}T00:00:00Z",
    }


def _budget(form: Typed, epsilon: str, delta: str) -> dict[str, str]:
    return {"epsilon": form.number(epsilon), "delta": form.number(delta) or "0"}
