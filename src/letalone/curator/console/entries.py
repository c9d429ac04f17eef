"""Entries of the ledger, told to an auditor: what happened, who did it, about what."""

from dataclasses import dataclass
from json import dumps
from typing import cast

from letalone.answers.promise import price
from letalone.curator.http.who import Service
from letalone.errors import FormatError
from letalone.ledger.acts import charge_of
from letalone.ledger.entries import Entry, EntryKind
from letalone.privacy.curve import Json

WORDS = {
    EntryKind.CREATED: "ledger begun",
    EntryKind.OPENED: "data set opened",
    EntryKind.RESERVED: "charged",
    EntryKind.SETTLED: "settled",
    EntryKind.REFUSED: "refused",
    EntryKind.FROZEN: "frozen",
    EntryKind.THAWED: "thawed",
    EntryKind.BUDGET_RAISED: "budget raised",
    EntryKind.VERSION_RAISED: "data replaced",
    EntryKind.NOTE: "note",
    EntryKind.LEVEL_OPENED: "share given",
    EntryKind.LEVEL_RAISED: "share raised",
    EntryKind.LEVEL_WITHDRAWN: "share withdrawn",
    EntryKind.SHARED: "answer shared",
    EntryKind.ADMINISTERED: "decided",
    EntryKind.CHECKPOINT: "checkpoint",
}
ABOUT = ("analyst", "person", "purpose", "outcome", "reason", "why", "text", "reserved", "version")
LONGEST = 90
REASONS = {
    "BudgetExceeded": "budget exceeded",
    "NotAllowed": "no grant",
    "Retired": "retired",
    "DataSetFrozen": "frozen",
    "UnsupportedQuery": "no proven private answer",
    "ParameterError": "value not allowed",
    "NeighboursDiffer": "guarantees differ",
}
FIELDS = {"reserved": "entry", "text": ""}


@dataclass(frozen=True, slots=True)
class EntrySummary:
    """One line for reading."""

    number: int
    time: str
    what: str
    data_set: str | None
    by: str
    about: str
    hash: str


def summarise(entry: Entry) -> EntrySummary:
    """An entry in one line."""
    body = entry.body
    is_act = entry.kind is EntryKind.ADMINISTERED
    what = str(body.get("what")) if is_act else WORDS[entry.kind]
    inner = cast("Json", body.get("body") or {}) if is_act else body
    by = cast("list[str]", body.get("by") or [])
    return EntrySummary(
        entry.number, entry.time, what, entry.name, ", ".join(by), _about(inner), entry.hash
    )


def newest(
    service: Service,
    name: str | None = None,
    *,
    limit: int,
    before: int | None = None,
    kind: EntryKind | None = None,
) -> list[Entry] | None:
    """The last entries; None where one cannot be read, which verification names."""
    try:
        return service.curator.ledger.newest(name, before=before, limit=limit, kind=kind)
    except FormatError:
        return None


def whole(entry: Entry) -> str:
    """All that an entry holds, for reading; what is hashed is the same without blanks."""
    return dumps(entry.body, indent=2, ensure_ascii=False, sort_keys=True)


def price_of_charge(entry: Entry) -> str | None:
    """The price of a charge."""
    if entry.kind is not EntryKind.RESERVED:
        return None
    privacy, delta = charge_of(entry)
    return price(privacy, delta)


def _about(body: Json) -> str:
    parts = [
        f"{FIELDS.get(name, name)} {_refusal_in_words(body[name])}"
        for name in ABOUT
        if body.get(name)
    ]
    words = ", ".join(parts).strip()
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def _refusal_in_words(value: object) -> object:
    """The class of a refusal in words; all else as it is."""
    return REASONS.get(value, value) if isinstance(value, str) else value
