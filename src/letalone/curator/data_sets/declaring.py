"""Reads the form that declares a data set as the API's own body."""

from collections.abc import Sequence
from typing import Any

from letalone.curator.asking.building import TRUTHS
from letalone.curator.console.forms import CALLED, Called, SubmittedForm, read_body
from letalone.errors import ParameterError
from letalone.plans.schema import Column
from letalone.plans.types import Type
from letalone.wire.bodies import NewDataSet

PURPOSES = (1, 2, 3)
UNSAID = "?"  # whose privacy it is must be said, also where each row is a person's
NO_UNIT = (
    "Say whose privacy is protected: by the column that identifies a person, or that each row is"
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


def read_declaration(form: SubmittedForm, **source: Any) -> NewDataSet:
    """What was declared, checked as the API checks it."""
    unit = form.text("unit")
    if unit == UNSAID:
        raise ParameterError(NO_UNIT)
    columns = {form.secret(f"column-{place}"): _column(form, place) for place in _places(form)}
    if not columns:
        raise ParameterError(NO_COLUMN)
    return read_body(
        NewDataSet,
        _field_names(form),
        name=form.text("name"),
        columns=columns,
        unit=unit or None,
        neighbours=form.text("neighbours"),
        budget=form.budget(),
        purposes=[purpose_of(form, place) for place in _purposes(form)],
        description=form.text("description"),
        retention=form.maybe("retention"),
        **source,
    )


def _purposes(form: SubmittedForm) -> list[int]:
    return [place for place in PURPOSES if form.text(f"purpose-{place}")]


def _field_names(form: SubmittedForm) -> Called:
    """What the form calls the fields of purposes and columns, of which there are several."""
    names = dict(CALLED)
    for number, place in enumerate(_purposes(form)):
        amounts, which = f"purposes.{number}.budget.", f"Purpose {place}"
        names[f"{amounts}epsilon"] = (f"purpose-epsilon-{place}", f"{which}, may spend, ε")
        names[f"{amounts}delta"] = (f"purpose-delta-{place}", f"{which}, δ")
    for place in _places(form):
        name = form.secret(f"column-{place}")
        names[f"columns.{name}.lower"] = (f"lower-{place}", f"{name}, from")
        names[f"columns.{name}.upper"] = (f"upper-{place}", f"{name}, to")
    return names


def list_columns(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """The columns of a source for the form: a number, a name, a type to begin with."""
    known = {name for name, _ in TYPES}
    return [
        {"place": place, "name": column.name, "type": column.type.value}
        for place, column in enumerate(columns)
        if column.type.value in known
    ]


def _places(form: SubmittedForm) -> list[str]:
    return [place for place in form.all("use") if place.isdecimal()]


def _column(form: SubmittedForm, place: str) -> dict[str, Any]:
    """Bounds where the type has them, and keys where it can be grouped by."""
    kind = form.text(f"type-{place}")
    fields: dict[str, Any] = {"type": kind}
    if kind in (Type.INTEGER.value, Type.NUMBER.value):
        fields |= {end: form.number(f"{end}-{place}") or None for end in ("lower", "upper")}
    lines = [line.strip() for line in form.text(f"keys-{place}").splitlines()]
    keys = [_key(line, kind) for line in lines if line]
    if keys and kind not in (Type.NUMBER.value, Type.TIMESTAMP.value):
        fields["keys"] = keys
    return fields


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


def purpose_of(form: SubmittedForm, place: int | None = None) -> dict[str, Any]:
    """A purpose as the API is sent it; the fields end in its place where there are several."""
    end = "" if place is None else f"-{place}"
    return {
        "name": form.text(f"purpose{end}"),
        "description": form.text(f"purpose-for{end}"),
        "budget": form.budget(f"purpose-epsilon{end}", f"purpose-delta{end}"),
        "expires": form.start_of_day(f"purpose-until{end}"),
    }
