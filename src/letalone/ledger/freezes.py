"""Why a data set is frozen: the entry, the question it came from, and what to look at.

Tested:   tests/cli/test_ledger.py
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from letalone.ledger.acts import ENGINE_FAILED, FILE_CHANGED
from letalone.ledger.chain.entries import Entry, EntryKind
from letalone.ledger.chain.remembering import ANOTHER, OLDER

if TYPE_CHECKING:
    from letalone.ledger.ledger import Ledger

FAILED = (
    "Nothing says what failed, since that could depend on a row. Look at the memory and the disk of"
    " the machine, and whether the table can be read as it was declared."
)
CHANGED = (
    "Somebody wrote to the file, or put another in its place. Change it while nothing is asked. In"
    " a service, allow questions again in the console or by its API: that opens the file again,"
    " under a new version. In Python raise the version and open it again."
)
WENT_BACK = (
    "What the missing entries have spent is not known here, and would be spent again. Stop what"
    " uses the ledger, put the newest copy back, and compare it with a checkpoint. Thaw only where"
    " you answer for what is missing."
)
BY_HAND = "Somebody froze it on purpose. Ask who did."
LOOK_AT = {ENGINE_FAILED: FAILED, FILE_CHANGED: CHANGED}  # after a question that had no answer


@dataclass(frozen=True, slots=True)
class Freeze:
    """The entry that froze a data set; the reservation and the digest of the question, if any."""

    name: str
    entry: int
    time: str
    why: str
    reservation: int | None
    digest: str | None

    @property
    def look_at(self) -> str:
        """What an owner looks at before it is thawed."""
        if self.why in LOOK_AT:
            return LOOK_AT[self.why]
        return WENT_BACK if self.why.startswith((OLDER, ANOTHER)) else BY_HAND


def freeze_of(ledger: "Ledger", name: str) -> Freeze | None:
    """Why a data set is frozen; None where it is not."""
    if not ledger.data_set(name).frozen:
        return None
    (frozen,) = ledger.newest(name, limit=1, kind=EntryKind.FROZEN)
    reserved = _find_reservation(ledger, frozen)
    return Freeze(
        name,
        frozen.number,
        frozen.time,
        str(frozen.body["why"]),
        None if reserved is None else reserved.number,
        None if reserved is None else str(reserved.body["digest"]),
    )


def _find_reservation(ledger: "Ledger", frozen: Entry) -> Entry | None:
    """The reservation that had no answer: the entry before the freezing says which."""
    before = ledger.newest(frozen.name, before=frozen.number, limit=1)
    if frozen.body["why"] not in LOOK_AT or not before or before[0].kind is not EntryKind.SETTLED:
        return None
    number = cast("int", before[0].body["reserved"])
    return ledger.newest(frozen.name, before=number + 1, limit=1)[0]
