"""One line of the ledger, and how lines are chained.

The hash of an entry is SHA-256 of its canonical JSON, which names the hash of the entry
before it. So the last hash, the head, stands for all of them.

  Assumed:  no two texts with the same SHA-256 can be found
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import cast

from letalone.errors import FormatError, LedgerDamaged
from letalone.errors.spelling import too_new
from letalone.ledger.chain.canonical import as_object, canonical, read_object, text_digest
from letalone.privacy.curve import Json

FORMAT = 1
BEFORE_THE_FIRST = "0" * 64
FIELDS = {"format", "number", "time", "kind", "name", "body", "previous"}
TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class EntryKind(Enum):
    """What happened."""

    CREATED = "created"
    OPENED = "opened"
    RESERVED = "reserved"
    SETTLED = "settled"
    REFUSED = "refused"
    FROZEN = "frozen"
    THAWED = "thawed"
    BUDGET_RAISED = "budget_raised"
    VERSION_RAISED = "version_raised"
    NOTE = "note"
    LEVEL_OPENED = "level_opened"
    LEVEL_RAISED = "level_raised"
    LEVEL_WITHDRAWN = "level_withdrawn"
    SHARED = "shared"
    ADMINISTERED = "administered"
    CHECKPOINT = "checkpoint"


# After one of these a data set is no longer as it was; the body says how it is, as "after".
CHANGES = (
    EntryKind.OPENED,
    EntryKind.RESERVED,
    EntryKind.FROZEN,
    EntryKind.THAWED,
    EntryKind.BUDGET_RAISED,
    EntryKind.VERSION_RAISED,
    EntryKind.LEVEL_OPENED,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: its number, when, what, about which data set, and the hash before it."""

    number: int
    time: str
    kind: EntryKind
    name: str | None
    body: Json
    previous: str

    def text(self) -> str:
        """The canonical JSON that is hashed."""
        fields = {name: getattr(self, name) for name in FIELDS - {"format", "kind"}}
        return canonical({"format": FORMAT, "kind": self.kind.value, **fields}, name="entry")

    @property
    def hash(self) -> str:
        """SHA-256 of the text: it stands for this entry and all before it."""
        return text_digest(self.text())

    @property
    def changed(self) -> str | None:
        """The data set that stands otherwise from this entry on, if one does."""
        return self.name if self.kind in CHANGES else None

    @property
    def digest(self) -> str | None:
        """The question that was charged for, if one was."""
        digest = self.body.get("digest") if self.kind is EntryKind.RESERVED else None
        return digest if isinstance(digest, str) else None

    def __str__(self) -> str:
        about = f", data set {self.name!r}" if self.name is not None else ""
        return f"entry {self.number} ({self.kind.value}{about})"


def read_entry(text: str) -> Entry:
    """The entry that a text says; FormatError where it says none, or says it in another way."""
    fields = read_object(text, name="An entry")
    written = fields.get("format")
    if type(written) is int and written > FORMAT:
        raise FormatError(too_new("An entry", written, FORMAT))
    try:
        entry = _read_entry(fields)
        again = entry.text()
    except (ValueError, LookupError, TypeError):
        raise FormatError("An entry is damaged: a field is missing or unknown.") from None
    if again != text:
        raise FormatError("An entry is damaged: it is not written as canonical JSON.")
    return entry


def damage_at(where: Entry | int, why: str) -> LedgerDamaged:
    """The error that names the first bad entry."""
    number = where if isinstance(where, int) else where.number
    what = f"entry {where}" if isinstance(where, int) else str(where)
    before = f"Entries 1 to {number - 1} hold. " if number > 1 else ""
    return LedgerDamaged(
        f"The ledger is damaged at {what}: {why}. {before}Answer nothing from it, and compare it "
        "with a copy."
    )


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime(TIME_FORMAT)


def _read_entry(fields: Json) -> Entry:
    number, time, name = fields["number"], fields["time"], fields["name"]
    if type(number) is not int or not TIME.fullmatch(cast("str", time)):
        raise ValueError("a number or a time is not one")
    return Entry(
        number=number,
        time=cast("str", time),
        kind=EntryKind(fields["kind"]),
        name=None if name is None else str(name),
        body=as_object(fields["body"], name="The body of an entry"),
        previous=str(fields["previous"]),
    )
