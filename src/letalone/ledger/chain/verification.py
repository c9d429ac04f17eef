"""Whether a ledger is whole: the chain, every charge done again, every row, the signed head.

What this finds: any change to any row, also to rows that only repeat what the entries say;
entries that are missing, at the end too; charges that do not add up.

What it cannot find: whoever may write to the file also holds its key, and can write another
history from some entry on and sign it; or put back an older copy. So keep the head
elsewhere (`ledger.head`, any receipt, an export), or signed checkpoints
(`ledger.checkpoint()`), and give it: `verify(head=…, checkpoints=[…])` then finds both, for
all entries up to that one, and names the first that can have been changed.

  Tested:   every column of every row changed, rows added and removed
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from letalone.errors import LedgerDamaged, LetaloneError
from letalone.errors.problem import Spelled
from letalone.exact.typed import refusal
from letalone.ledger.chain.canonical import text_digest
from letalone.ledger.chain.checkpoints import compare, read_checkpoint
from letalone.ledger.chain.entries import damage_at
from letalone.ledger.chain.replay import DAMAGE, Replay
from letalone.ledger.chain.signing_key import fingerprint
from letalone.ledger.storage.tables import Head, Settlement, check_declared
from letalone.ledger.storage.transaction import LedgerTransaction, is_signed_head, row_of
from letalone.privacy.curve import Json

HASH_DIGITS = 64
Stored = Json | str | bytes


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found to hold: how many entries, up to which head, signed by which key.

    set_back: entries that bear an earlier time than the one before: a clock was set back, or two
    machines disagree. Their order is that of their numbers all the same.
    """

    entries: int
    head: str
    fingerprint: str
    data_sets: tuple[str, ...]
    compared: bool
    repriced: tuple[int, ...] = ()
    set_back: tuple[int, ...] = ()

    def __str__(self) -> str:
        many = f"{self.entries} entr{'y' if self.entries == 1 else 'ies'}"
        if self.compared:
            return f"All {many} are valid, and include the hashes that you stored."
        return (
            f"All {many} are valid. This check cannot detect that someone rewrote the whole ledger:"
            " store the ledger hash somewhere else, and compare it."
        )


def verify_ledger(
    books: LedgerTransaction, *, head: str | None = None, checkpoints: Sequence[Stored] = ()
) -> Verified:
    """Check a ledger from its first entry to its last; LedgerDamaged names the first bad one."""
    try:
        return _verify(books, head=head, checkpoints=checkpoints)
    except LetaloneError:
        raise
    except DAMAGE:  # SQLite keeps bytes where text or a number was declared
        raise LedgerDamaged(
            "The ledger is damaged: a column holds bytes or another type than it is for."
        ) from None


def _verify(
    books: LedgerTransaction, *, head: str | None, checkpoints: Sequence[Stored]
) -> Verified:
    check_declared(books.connection)
    replay = Replay()
    for row in books.rows():
        entry = replay.read(row.text)
        if row != row_of(entry, row.text):
            raise damage_at(entry, "its hash or another column does not fit its text")
    conclusion = conclude(replay, books.head(), head=head, checkpoints=checkpoints)
    check_settlements(replay, books.settlements())
    levels, paid = replay.levels.rows(), replay.levels.paid()
    if books.level_rows() != levels or books.payments() != paid:
        raise LedgerDamaged(
            "The ledger is damaged: where its levels stand, or what they have paid for, is not "
            "what the entries say."
        )
    if books.key().public != replay.public_key:
        raise LedgerDamaged("The ledger is damaged: its key is not the one it was made with.")
    return conclusion


def conclude(
    replay: Replay, last: Head, *, head: str | None, checkpoints: Sequence[Stored]
) -> Verified:
    """What a replay has shown, if it ends at the signed head and passes the one that was kept."""
    if (last.number, last.hash) != (replay.number, replay.head):
        raise LedgerDamaged(
            f"The ledger is damaged: {replay.number} entries were found, but entry {last.number} "
            "was signed as the last one. Entries are missing or were added."
        )
    if not is_signed_head(last, replay.public_key):
        raise LedgerDamaged("The ledger is damaged: its head does not bear its own signature.")
    if head is not None and read_head(head) not in replay.hashes:
        raise LedgerDamaged(
            "The ledger is not the one whose head was kept, or an older copy of it: no entry has "
            "that hash. Answer nothing from it, and find the other one."
        )
    compare(
        replay.hashes,
        [read_checkpoint(checkpoint, replay.public_key) for checkpoint in checkpoints],
    )
    return Verified(
        entries=replay.number,
        head=replay.head,
        fingerprint=fingerprint(replay.public_key),
        data_sets=tuple(replay.data_sets),
        compared=head is not None or bool(checkpoints),
        repriced=tuple(sorted({*replay.repriced, *replay.levels.repriced})),
        set_back=tuple(replay.set_back),
    )


def check_settlements(replay: Replay, found: Iterable[Settlement]) -> None:
    """Whether the answers are those that the entries name, all of them and no others."""
    seen: set[int] = set()
    for row in found:
        expected, digest = replay.settled.get(row.reserved, (None, None))
        if expected is None or row._replace(release=None, release_digest=None) != expected:
            raise damage_at(row.reserved, "its settlement is not the one that was written down")
        found_digest = None if row.release is None else text_digest(row.release)
        if not digest == row.release_digest == found_digest:
            raise damage_at(row.settled, "its release is not the one that was settled")
        seen.add(row.reserved)
    for missing in sorted(replay.settled.keys() - seen):
        raise damage_at(missing, "its settlement is missing")


def read_head(head: object) -> str:
    """A hash as `ledger.head` gives it."""
    if not isinstance(head, str) or len(head.strip()) != HASH_DIGITS:
        allowed = f"a hash of {HASH_DIGITS} digits, as"
        python, http = f"{allowed} ledger.head gives it", f"{allowed} GET /api/v1/ledger gives it"
        raise refusal("head", head, Spelled(python, http=http))
    return head.strip().lower()
