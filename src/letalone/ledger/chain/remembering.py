"""A ledger cannot go back unnoticed: whoever has it open remembers the last entry that was seen.

An older copy that is put in the place of a ledger, by a restored backup or a moved file, has
forgotten charges, and would let them be spent again. So each transaction that writes, and each
look at a budget, first looks for the entry that was seen last. Where it is missing, or is another
one, all data sets are frozen and the ledger says which entry it lacks: once, so that an owner who
has decided about it can allow questions again.

Theorem.  Let (number, hash) be an entry that was seen. At each later act the ledger has that entry,
or after it was seen all data sets were frozen, and the ledger says so.
  Proven:   what is remembered was committed before the transaction began, and entries are only
            added: the entry is there unless the ledger is another one. The hash stands for all
            entries before it, so others, however many were added since, do not hide the loss.
            An entry that says what is lacking counts for whoever had not seen it: what is
            remembered names all such entries up to it
  Tested:   tests/ledger/test_remembering.py
  Assumed:  what nobody saw cannot be missed. Checkpoints kept elsewhere show more
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, cast

from letalone.ledger.acts import administer, change, require_data_set
from letalone.ledger.chain.entries import Entry, EntryKind
from letalone.ledger.storage.transaction import LedgerTransaction
from letalone.ledger.storage.trips import Asked

LACKS = "entries missing"
OLDER = "an older copy of the ledger was put in place"
ANOTHER = "another copy of the ledger was put in place"


class Seen(NamedTuple):
    """An entry that was seen as the last; `decided` are the losses that were known by then."""

    number: int
    hash: str
    decided: frozenset[str]


class Remembering:
    """A store that remembers the last entry it has seen; all else is the store's own."""

    __slots__ = ("_store", "seen")

    def __init__(self, store: Any) -> None:
        self._store = store
        self.seen: Seen | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def writing(self, *ahead: Asked) -> AbstractContextManager[LedgerTransaction]:
        """One transaction that alone may write, on a ledger that has what was seen."""
        return self._checked(lambda: self._store.writing(*ahead))

    def looking(self, *ahead: Asked) -> AbstractContextManager[LedgerTransaction]:
        """For what is asked at once and sees one state, of a ledger that has what was seen.

        What was seen may be looked for a moment later: entries are only added.
        """
        return self._checked(lambda: self._store.glancing(*ahead))

    def recall(self, seen: Seen) -> list[str]:
        """Remembers what was seen elsewhere; the data sets that are frozen for it now."""
        with self._store.reading() as books:
            seen_now = _since(books, seen)
        if seen_now is None:
            return self._decide(seen)
        self.seen = seen_now
        return []

    @contextmanager
    def _checked(
        self, begin: Callable[[], AbstractContextManager[LedgerTransaction]]
    ) -> Generator[LedgerTransaction]:
        before = self.seen  # read before the transaction begins: it was committed by then
        with begin() as books:
            seen_now = _since(books, before)
            if seen_now is not None:
                yield books
                head = books.head()
                seen_now = Seen(head.number, head.hash, seen_now.decided)
        if seen_now is not None:
            self._remember(seen_now)
            return
        self._decide(cast("Seen", before))
        with self._checked(begin) as books:
            yield books

    def _remember(self, after: Seen) -> None:
        if self.seen is None or after.number > self.seen.number:
            self.seen = after

    def _decide(self, seen: Seen) -> list[str]:
        """Freezes all, in a transaction of its own, unless that was done; what holds from now."""
        with self._store.writing() as books:
            is_there = _since(books, seen) is not None or _is_known(books, seen)
            names = [] if is_there else _freeze_all(books, seen)
            seen_now = cast("Seen", _since(books, None))
        # A loss that was decided stays known, also where it was decided in what is lost by now.
        self.seen = seen_now._replace(decided=seen_now.decided | seen.decided)
        return names


def _since(books: LedgerTransaction, before: Seen | None) -> Seen | None:
    """What is seen now; None where an entry is missing that was seen before.

    It takes one question more where others have written in between.
    """
    head = books.head()
    if before is None:
        return Seen(head.number, head.hash, _hashes(books.all_acts(LACKS)))
    if head.number <= before.number:
        return before if (head.number, head.hash) == before[:2] else None
    entry_hash, losses = books.hash_and_acts(before.number, LACKS)
    if entry_hash != before.hash:
        return None
    return Seen(head.number, head.hash, before.decided | _hashes(losses))


def _hashes(entries: Iterable[Entry]) -> frozenset[str]:
    return frozenset(entry.hash for entry in entries)


def _is_known(books: LedgerTransaction, seen: Seen) -> bool:
    """Whether the ledger says, since then, that it lacks entries up to this one."""
    new = [entry for entry in books.all_acts(LACKS) if entry.hash not in seen.decided]
    lacking = [cast("dict[str, int]", entry.body["body"])["number"] for entry in new]
    return any(seen.number <= int(number) for number in lacking)


def _freeze_all(books: LedgerTransaction, seen: Seen) -> list[str]:
    names, why = books.names(), _in_words(books.head().number, seen)
    for name in names:
        after = replace(require_data_set(books, name), frozen=True)
        change(books, EntryKind.FROZEN, after, {"why": why})
    administer(books, None, LACKS, {"number": seen.number, "hash": seen.hash}, by=[])
    return names


def _in_words(last: int, seen: Seen) -> str:
    missing = seen.number - last
    if missing <= 0:
        return f"{ANOTHER}: entry {seen.number} is not the one that was there"
    many = "1 entry is" if missing == 1 else f"{missing} entries are"
    return f"{OLDER}: {many} missing, up to entry {seen.number}"
