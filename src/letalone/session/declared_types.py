"""The types that the columns of a frame are read with: declared once, and written down.

In pandas a column's dtype follows its cells, so it cannot be what a question is understood by.
The first opening of a frame under a name declares types: what `types=` says, else what the dtypes
suggest (numbers are one type; a unit is told apart by whole numbers or text). That is an act of the
owner, and is written down. Every later frame under the name is read as declared, whatever its
dtypes are; `types=` declares anew.

  Tested:   tests/session/test_declared_types.py
"""

from collections.abc import Mapping
from typing import cast

from letalone.engines.frames.to_arrow import loose_types, names_of
from letalone.ledger import Ledger
from letalone.plans.types import Type

TYPES_ACT = "declares the types"


def types_of(
    source: object, given: Mapping[str, Type], known: Mapping[str, Type], unit: str | None
) -> dict[str, Type]:
    """The types that a frame is read with, by column; the rest have types of their own."""
    first = loose_types(source)
    if unit in first:
        first[unit] = Type.INTEGER if first[unit] is Type.NUMBER else Type.TEXT
    names = set(names_of(source))
    kept = {name: kind for name, kind in known.items() if name in names}
    return first | kept | dict(given)


def known_types(ledger: Ledger | None, name: str) -> dict[str, Type]:
    """The types that were declared under a name; of none, nothing."""
    entry = None if ledger is None else ledger.last_act(name, TYPES_ACT)
    if entry is None:
        return {}
    body = cast("dict[str, dict[str, str]]", entry.body["body"])
    return {column: Type(kind) for column, kind in body["types"].items()}


def remember_types(ledger: Ledger, name: str, types: Mapping[str, Type]) -> None:
    """Writes down the types of columns, where they are new."""
    known = known_types(ledger, name)
    declared = known | dict(types)
    if declared != known:
        body = {column: kind.value for column, kind in declared.items()}
        ledger.administer(name, TYPES_ACT, {"types": body})
