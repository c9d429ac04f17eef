"""The ledger: every charge, every release and every refusal, in one chain.

    ledger = Ledger.open("budget.db")
    ledger.register("visits", Budget(2, 1e-6), neighbours=ADD_REMOVE.of("patient"))
    paid = ledger.charge("visits", privacy, plan=plan, digest=digest)   # on the disk by now
    ...                                                                 # noise is drawn here
    ledger.settle(paid, release)

A charge is on the disk before it returns, and is never given back. A process that is killed
leaves the budget spent or untouched, never overspent: a charge that nobody settled stays
spent, and is shown as not settled. Whoever asks the same again goes on with it, if each tells
nothing before it is settled (`claim`, and `charge(…, run=…)`).

  Proven:   docs/explanation/proofs/filters.md, raised_budgets.md, one_charge.md
  Tested:   tests/ledger: killed at every statement, many processes at once, a full disk,
            every column of every row changed
  Assumed:  whoever may write to the file is trusted; verification.py says what it cannot prove
"""

import os
from collections.abc import Generator, Hashable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self, cast

from letalone.errors import LedgerUnavailable, LetaloneError
from letalone.exact.typed import COUNT, Number
from letalone.ledger import acts, data_sets, rationing
from letalone.ledger.acts import ChargeRequest, Reservation
from letalone.ledger.chain.canonical import canonical, digest_of
from letalone.ledger.chain.checkpoints import add_checkpoint
from letalone.ledger.chain.entries import Entry, EntryKind
from letalone.ledger.chain.export import export, write_export
from letalone.ledger.chain.receipt_signing import receipt
from letalone.ledger.chain.remembering import Remembering, Seen
from letalone.ledger.chain.signing_key import fingerprint
from letalone.ledger.chain.verification import Verified, verify_ledger
from letalone.ledger.claims import WAIT_SECONDS, hold_claim
from letalone.ledger.data_sets import DataSet
from letalone.ledger.levels import Key, Level, read_expires, read_key, read_people
from letalone.ledger.storage.store import Store, file_store, is_postgres, memory_store
from letalone.ledger.storage.transaction import (
    LedgerTransaction,
    Standing,
    to_charge,
    to_settle,
    to_stand,
)
from letalone.ledger.storage.watch import touch
from letalone.privacy.bank import USUAL_SHARES, Shares
from letalone.privacy.budget import Budget
from letalone.privacy.curve import Json, Privacy
from letalone.privacy.neighbours import Neighbours, read_neighbours

if TYPE_CHECKING:
    from letalone.ledger.storage.postgres_store import PostgresStore

Path = str | os.PathLike[str]
MOST_SEEN = 1000


class Ledger:
    """The append-only record of what was spent; `charge` is the only thing that spends.

    Safe to share among threads; a file may be open in several processes at once.
    """

    __slots__ = ("_memory", "_standings", "_stood", "_store")

    def __init__(self, store: "Store | PostgresStore") -> None:
        self._memory = Remembering(store)
        self._store = cast("Store | PostgresStore", self._memory)  # it is one that remembers
        self._stood: dict[str, tuple[Hashable, DataSet]] = {}
        self._standings: dict[tuple[str, Key | None], Standing] = {}

    @classmethod
    def open(cls, path: Path, *, create: bool = True, keep: bool = False) -> Self:
        """The ledger in a file on a local disk, or in PostgreSQL; made where there is none.

        A file serves any number of processes of one machine. For several machines give the
        address of a database, "postgresql://role:password@host/database". `keep=True` keeps
        connections to a file open between transactions, which is faster: until `close`, the
        newest entries are in the log next to the file, so copy it by `backup` only.
        """
        if is_postgres(path):
            from letalone.ledger.storage.postgres_store import postgres_store

            return cls(postgres_store(str(path), create=create))
        return cls(file_store(path, create=create, keep=keep))

    @classmethod
    def in_memory(cls) -> Self:
        """A ledger that ends with this process: the next one has a new budget."""
        return cls(memory_store())

    @property
    def durable(self) -> bool:
        """Whether budgets outlive this process."""
        return self._store.place is not None

    @property
    def path(self) -> str | None:
        """The file, or the address of the database without its password; None in memory."""
        return self._store.place

    # Data sets.

    def register(
        self,
        name: str,
        budget: Budget,
        *,
        neighbours: Neighbours,
        version: int = 1,
        shares: Shares | None = None,
    ) -> DataSet:
        """Open a data set with its budget, or go on with it: the name is what counts.

        A larger version than the ledger knows raises it; a smaller one changes nothing.
        """
        wanted = data_sets.new_data_set(
            data_sets.read_name(name),
            data_sets.read_budget(budget),
            neighbours=read_neighbours(neighbours),
            version=int(COUNT.typed("version", version)),
            shares=shares or USUAL_SHARES,
        )
        with self._store.writing() as books:
            before = books.data_set(wanted.name)
            if before is None:
                return acts.change(books, EntryKind.OPENED, wanted, data_sets.opening(wanted))
            data_sets.check_same(before, wanted, shares)
            if wanted.version <= before.version:
                return before
            after = replace(before, version=wanted.version)
            return acts.change(books, EntryKind.VERSION_RAISED, after, {"version": after.version})

    def data_set(self, name: str) -> DataSet:
        """How a data set stands; read anew unless a look tells that nobody has written since."""
        stamp = self._store.stamp() if self._store.cheap_looks else None
        known = self._stood.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        with self._memory.looking(*to_stand(name)) as books:
            data_set = acts.require_data_set(books, name)
        if stamp is not None:
            self._stood[name] = stamp, data_set
        return data_set

    def data_sets(self) -> list[DataSet]:
        """How all data sets stand, in the order in which they were opened."""
        with self._memory.looking() as books:
            return [acts.require_data_set(books, name) for name in books.names()]

    def raise_version(self, name: str) -> DataSet:
        """Say that the data has changed: questions answered before are charged again."""
        with self._store.writing() as books:
            before = acts.require_data_set(books, name)
            after = replace(before, version=before.version + 1)
            return acts.change(books, EntryKind.VERSION_RAISED, after, {"version": after.version})

    def raise_budget(self, name: str, budget: Budget, *, by: Sequence[str] = ()) -> DataSet:
        """Allow more, by a decision of the owner; a budget is never lowered.

        `by` names the people who decided, here and below: their names stand in the entry.

        All answers together, earlier ones too, then keep the larger budget and no longer the
        smaller: every charge is put anew through filters that were opened with the larger one.
        That holds for the largest budget that would ever be allowed, so decide on it before
        looking at answers (docs/explanation/proofs/raised_budgets.md).
        """
        people = read_people(by)
        with self._store.writing() as books:
            return acts.raise_budget(books, name, data_sets.read_budget(budget), by=people)

    def freeze(self, name: str, why: str) -> DataSet:
        """Answer nothing about a data set until it is thawed."""
        return self._frozen(name, why, EntryKind.FROZEN)

    def thaw(self, name: str, why: str) -> DataSet:
        """Allow questions about a frozen data set again: for its owner, who knows why it froze.

        No charge of before is gone on with: an older copy of the ledger may have been put in
        place, in which what was settled and told since stands as not settled.
        """
        return self._frozen(name, why, EntryKind.THAWED)

    # Levels: purposes, and analysts for a purpose, that share the budget of a data set.

    def allow(
        self,
        name: str,
        budget: Budget,
        *,
        purpose: str,
        analyst: str | None = None,
        expires: datetime | None = None,
        by: Sequence[str] = (),
    ) -> Level:
        """Let a purpose, or an analyst for a purpose that is allowed, use this much of a budget.

        From the first such level on the data set is rationed: each question names an analyst and
        a purpose, and must fit the data set, the purpose and the analyst. Levels ration; only the
        data set's budget is a guarantee. One that was withdrawn or has expired can be allowed
        anew, and what it has used stays used.
        """
        key, people = read_key(name, purpose=purpose, analyst=analyst), read_people(by)
        until = read_expires(expires)
        with self._store.writing() as books:
            return rationing.allow(
                books, key, data_sets.read_budget(budget), expires=until, by=people
            )

    def raise_level(
        self,
        name: str,
        budget: Budget,
        *,
        purpose: str,
        analyst: str | None = None,
        by: Sequence[str] = (),
    ) -> Level:
        """Let a level use more; it is never lowered."""
        key, people = read_key(name, purpose=purpose, analyst=analyst), read_people(by)
        with self._store.writing() as books:
            return rationing.raise_level(books, key, data_sets.read_budget(budget), by=people)

    def withdraw(
        self,
        name: str,
        *,
        purpose: str,
        analyst: str | None = None,
        why: str,
        by: Sequence[str] = (),
    ) -> Level:
        """Let a level use nothing any more; with a purpose, all its analysts stop."""
        key, people = read_key(name, purpose=purpose, analyst=analyst), read_people(by)
        words = data_sets.read_text("why", why)
        with self._store.writing() as books:
            return rationing.withdraw(books, key, words, by=people)

    def levels(self, name: str) -> list[Level]:
        """How the levels of a data set stand, by purpose and analyst, each purpose's own first."""
        return self.standing(name)[1]

    def standing(
        self, name: str, *, purpose: str | None = None, analyst: str | None = None
    ) -> tuple[DataSet, list[Level]]:
        """How a data set stands, and at the same moment its levels: all, or those who pay for an
        analyst who asks for a purpose."""
        with self._store.glancing() as books:
            if purpose is None:
                data_set, levels = books.with_levels(name)
            else:
                data_set, levels = books.standing(name, Key(name, purpose, analyst))
            return acts.there(books, name, data_set), list(levels.values())

    # Questions.

    def charge(
        self,
        name: str,
        privacy: Privacy,
        *,
        plan: Json,
        digest: str,
        delta: Number | None = None,
        analyst: str | None = None,
        purpose: str | None = None,
        run: str | None = None,
    ) -> Reservation:
        """Pay for one answer, before its data is touched and its noise is drawn.

        The charge is on the disk when this returns. BudgetExceeded, DataSetFrozen and other
        refusals charge nothing and are written down. `digest` stands for all that decides the
        law of the answer (plan, epsilon, delta): equal digests are the same question.

        `run` is for those who tell nothing of an answer before it is settled, and have claimed the
        question (`claim`): a charge of this run that says the same, and that nobody has settled
        since a process was killed, is given again, and nothing is charged. It is the same name in
        all ledgers that one answer is charged to (`begun`).
        """
        question = ChargeRequest(plan, digest, delta, analyst, purpose, run).check_storable()
        curve = data_sets.storable(privacy)
        self._price_beforehand(name, curve, question)
        ahead = to_charge(name, question.asker(name), question.digest)
        with self._store.writing(*ahead) as books:
            reservation = acts.reserve(books, name, curve, question)
            self._see(books, name, question)
        if isinstance(reservation, LetaloneError):
            raise reservation
        return reservation

    def begun(
        self,
        name: str,
        privacy: Privacy,
        *,
        plan: Json,
        digest: str,
        delta: Number | None = None,
        analyst: str | None = None,
        purpose: str | None = None,
    ) -> str | None:
        """The run of a charge for this question that nobody has settled, if there is one."""
        question = ChargeRequest(plan, digest, delta, analyst, purpose).check_storable()
        with suppress(LetaloneError), self._store.glancing() as books:
            return acts.begun(books, name, data_sets.storable(privacy), question)
        return None

    def fits(
        self,
        name: str,
        privacy: Privacy,
        *,
        delta: Number | None = None,
        analyst: str | None = None,
        purpose: str | None = None,
        after: Sequence[Privacy] = (),
    ) -> bool:
        """Whether a charge would be accepted as all stands, and after others, each with no δ of its
        own; nothing is written down."""
        try:
            self.check_fits(
                name, privacy, delta=delta, analyst=analyst, purpose=purpose, after=after
            )
        except LetaloneError:
            return False
        return True

    def check_fits(
        self,
        name: str,
        privacy: Privacy,
        *,
        delta: Number | None = None,
        analyst: str | None = None,
        purpose: str | None = None,
        after: Sequence[Privacy] = (),
    ) -> None:
        """Raises what a charge would be refused with as all stands; nothing is written down."""
        question = ChargeRequest({}, "", delta, analyst, purpose)
        with self._store.glancing() as books:
            curves = [data_sets.storable(curve) for curve in after]
            acts.check_fits(books, name, data_sets.storable(privacy), question, after=curves)

    @contextmanager
    def claim(
        self, name: str, digest: str, *, wait_seconds: float = WAIT_SECONDS
    ) -> Generator[None]:
        """Be the only one at work on a question until the end of the block, or of the process.

        Another waits, in any process; LedgerUnavailable where that takes longer than it may.
        """
        with hold_claim(self._store.claims, name, digest, wait_seconds=wait_seconds):
            yield

    def settle(self, reservation: Reservation, release: Json) -> Entry:
        """Write down the answer that a reservation paid for; it has text and whole numbers only.

        NotBegun where the store could not be used, and was given nothing of the answer.
        """
        text, begun = canonical(release, name="release"), False
        try:
            with self._store.writing(*to_settle(reservation.number)) as books:
                reserved = acts.not_ended(books, reservation)
                begun = True
                return acts.end(books, reserved, text)
        except LedgerUnavailable as error:
            if begun:
                raise
            raise acts.NotBegun(error.problem) from None

    def settled(self, reservation: Reservation) -> Json | None:
        """The answer that a reservation was settled with, if it was."""
        with self._store.glancing() as books:
            answer = books.answer_of(reservation.number)
        return None if answer is None else acts.release_of(answer)

    def fail(self, reservation: Reservation, why: str = acts.ENGINE_FAILED) -> Entry:
        """Write down that no answer came: the data set is frozen until its owner acts."""
        with self._store.writing() as books:
            entry = acts.settle(books, reservation, None)
            after = replace(acts.require_data_set(books, reservation.name), frozen=True)
            acts.change(books, EntryKind.FROZEN, after, {"why": why})
            return entry

    def abandon(self, reservation: Reservation) -> Entry:
        """Write down that the data was not touched after all; what was charged stays spent."""
        with self._store.writing() as books:
            return acts.settle(books, reservation, None)

    def refuse(
        self,
        name: str,
        error: LetaloneError,
        *,
        digest: str,
        analyst: str | None = None,
        purpose: str | None = None,
    ) -> Entry:
        """Write down a refusal that was decided elsewhere; only the error's class is kept."""
        question = ChargeRequest({}, digest, None, analyst, purpose).check_storable()
        with self._store.writing(*to_stand(name)) as books:
            acts.require_data_set(books, name)
            return acts.refuse(books, name, type(error).__name__, question)

    def repeat_of(self, name: str, digest: str) -> Json | None:
        """The answer that was given to the same question about the same declared version.

        To show it to somebody, where budgets are rationed, use `share`.
        """
        return next(iter(self.repeats_of(name, digest)), None)

    def repeats_of(
        self, name: str, digest: str, *, analyst: str | None = None, purpose: str | None = None
    ) -> list[Json]:
        """All such answers, the first that was charged first; before them those that the asker has
        paid for, where that is said and the budget is rationed.

        There are several where people asked at the same moment who do not claim questions
        (`claim`): each was charged for its own.
        """
        question = ChargeRequest({}, digest, None, analyst, purpose)
        with self._store.reading() as books:
            return rationing.repeats(books, question, name)

    def paid_answer(
        self, name: str, digest: str, *, analyst: str | None = None, purpose: str | None = None
    ) -> Json | None:
        """The same for an asker who owes nothing for it; nothing is charged or written down."""
        question = ChargeRequest({}, digest, None, analyst, purpose)
        with suppress(LetaloneError), self._store.glancing() as books:
            answer = rationing.find_paid_answer(books, question, name)
            return None if answer is None or answer.owing else answer.release
        return None

    def share(
        self,
        name: str,
        digest: str,
        *,
        analyst: str | None = None,
        purpose: str | None = None,
        answer: Json | None = None,
    ) -> Json | None:
        """The answer that was given to the same question about the same version, for this asker.

        The data set pays nothing again. Where it is rationed, the asker's purpose and the asker
        each pay once for each answer that they see; NotAllowed and BudgetExceeded refuse, are
        written down and charge nothing. Of several answers the one that the asker has paid for
        comes first; `answer` asks for one of them.
        """
        question = ChargeRequest({}, digest, None, analyst, purpose).check_storable()
        with suppress(LetaloneError), self._store.glancing() as books:
            release = rationing.find_paid_answer(books, question, name, answer=answer)
            self._see(books, name, question)
            if release is None or not release.owing:
                return None if release is None else release.release
        with self._store.writing() as books:
            shared = rationing.share(books, question, name, answer=answer)
        if isinstance(shared, LetaloneError):
            raise shared
        return shared

    def unsettled(self, name: str | None = None) -> list[int]:
        """The numbers of the charges that nobody settled, which stay spent."""
        with self._store.reading() as books:
            return books.unsettled(name)

    def check_writable(self) -> None:
        """Writes to the store, and changes nothing; LedgerUnavailable where it takes no writes."""
        with self._store.writing() as books:
            touch(books.connection)

    # The record.

    def note(self, text: str, *, name: str | None = None) -> Entry:
        """Write a remark into the chain."""
        words = data_sets.read_text("text", text)
        with self._store.writing() as books:
            if name is not None:
                acts.require_data_set(books, name)
            return books.append(EntryKind.NOTE, name, {"text": words})

    def administer(
        self, name: str | None, what: str, body: Json, *, by: Sequence[str] = ()
    ) -> Entry:
        """Write down an act that spends nothing, such as a request, a decision, an erasure.

        What is written stays for ever: name people who decide, never the people in the data.
        """
        words, people = data_sets.read_text("what", what), read_people(by)
        canonical(body, name="body")
        with self._store.writing() as books:
            return acts.administer(books, name, words, body, by=people)

    def administer_first(self, name: str, what: str, body: Json) -> Entry | None:
        """The same, unless there is such an act already: then None. Of several at once, one is."""
        words = data_sets.read_text("what", what)
        canonical(body, name="body")
        with self._store.writing() as books:
            if books.last_act(name, words) is not None:
                return None
            return acts.administer(books, name, words, body, by=[])

    def checkpoint(self) -> Json:
        """A signed statement of the last entry and the time, itself an entry: keep it elsewhere."""
        with self._store.writing() as books:
            return add_checkpoint(books)

    def entries(
        self, name: str | None = None, *, after: int = 0, limit: int | None = None
    ) -> Sequence[Entry]:
        """Everything that happened, or all that happened to one data set, in order.

        With a `limit`, so many entries after the number `after`, and only they are read.
        """
        with self._store.reading() as books:
            if limit is not None:
                return books.page(name, after=after, limit=limit)
            return [entry for entry in books.entries(name) if entry.number > after]

    def newest(
        self,
        name: str | None = None,
        *,
        before: int | None = None,
        limit: int = 50,
        kind: EntryKind | None = None,
    ) -> list[Entry]:
        """The last entries, or the last before a number, the newest first: for reading."""
        with self._store.reading() as books:
            return books.newest(name, before=before, limit=limit, kind=kind)

    def last_act(self, name: str, what: str) -> Entry | None:
        """The newest entry of `administer` that says `what` of a data set: for reading."""
        with self._store.reading() as books:
            return books.last_act(name, what)

    def all_acts(self, what: str) -> list[Entry]:
        """All entries of `administer` that say `what` of no data set, in order: for reading."""
        with self._store.reading() as books:
            return books.all_acts(what)

    def sampled(
        self, name: str, *, kinds: Sequence[EntryKind], after: int = 0, most: int = 200
    ) -> list[Entry]:
        """Entries of some kinds after a number, in order: for reading.

        Of more than `most`, evenly chosen ones, and always the last.
        """
        with self._store.reading() as books:
            return books.sampled(name, kinds=kinds, after=after, most=most)

    @property
    def head(self) -> str:
        """The hash of the last entry, which stands for all: keep it elsewhere for `verify`."""
        with self._store.glancing() as books:
            return books.head().hash

    @property
    def seen(self) -> Seen | None:
        """The last entry that was seen here: keep it elsewhere for `recall`."""
        return self._memory.seen

    def recall(self, seen: Seen) -> list[str]:
        """Remember an entry that was seen elsewhere; names what is frozen where it is missing.

        An open ledger remembers the last entry by itself: where it is not there any more, an older
        copy was put in place, and all data sets are frozen until their owner has looked.
        """
        return self._memory.recall(seen)

    @property
    def stamp(self) -> Hashable | None:
        """Equal to an earlier one only if nobody has written since; None where it is not known."""
        return self._store.stamp()

    @property
    def public_key(self) -> str:
        """The public half of the key that signs receipts, in hexadecimal."""
        with self._store.glancing() as books:
            return books.key().public

    @property
    def fingerprint(self) -> str:
        """The digits of the key that people compare."""
        return fingerprint(self.public_key)

    def verify(
        self, *, head: str | None = None, checkpoints: Sequence[Json | str | bytes] = ()
    ) -> Verified:
        """Check the chain and do every charge again; LedgerDamaged names the first bad entry.

        With a `head` or `checkpoints` that were stored somewhere else it also finds a history
        that was rewritten, and an older copy of the file; without, it cannot.
        """
        with self._store.reading() as books:
            return verify_ledger(books, head=head, checkpoints=checkpoints)

    def export(self, path: Path) -> str:
        """Write everything but the private key to a JSON file; returns where."""
        with self._store.reading() as books:
            content = export(books)
        return str(write_export(content, path, ledger=self._store.path))

    def backup(self, path: Path) -> str:
        """Copy the file, also while others write; returns where. It holds the key: guard it.

        Restored, it is an older copy: what was charged since would be forgotten, and its budget
        spent again. `verify(checkpoints=…)` finds that. What is under way now is closed in the
        copy, without an answer: it may have been told by then. A ledger in PostgreSQL is backed up
        with pg_dump; after such a copy was restored, `thaw` closes it.
        """
        return str(self._store.backup(path))

    def settled_by(self, releases: Sequence[Json]) -> list[int | None]:
        """The number of the entry that settled each release; None where it is not of here."""
        digests = [digest_of(digest, name="release") for digest in releases]
        with self._store.reading() as books:
            numbers = books.settled_by(digests)
        return [numbers.get(digest) for digest in digests]

    def receipt(self, release: Json) -> Json:
        """The signed receipt of a settled release; `verify_receipt` checks it offline."""
        with self._store.glancing() as books:
            return receipt(books, release)[0]

    def told(self, name: str, release: Json) -> tuple[Json, DataSet]:
        """The receipt of a settled release, and how a data set stands when it is told."""
        with self._store.glancing() as books:
            signed, data_set = receipt(books, release, name=name)
            return signed, acts.there(books, name, data_set)

    def close(self) -> None:
        """Let go of the file; a ledger in memory is gone."""
        self._store.close()

    def __len__(self) -> int:
        """How many entries there are."""
        with self._store.glancing() as books:
            return books.head().number

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("A ledger is not pickled: open its file where it is needed.")

    def __repr__(self) -> str:
        return f"Ledger({self.path!r})" if self.durable else "Ledger(in this process only)"

    def _frozen(self, name: str, why: str, kind: EntryKind) -> DataSet:
        words = data_sets.read_text("why", why)
        with self._store.writing() as books:
            after = replace(acts.require_data_set(books, name), frozen=kind is EntryKind.FROZEN)
            if kind is EntryKind.THAWED:
                acts.close_begun(books, name)
            return acts.change(books, kind, after, {"why": words})

    def _price_beforehand(self, name: str, privacy: Privacy, question: ChargeRequest) -> None:
        """Some curves take seconds to price: it is remembered, and the lock is held briefly.

        Where a curve is read follows from the budgets, whatever is spent of them by now: so how
        all stood when this asker's levels were last seen will do.
        """
        before, levels = self._standings.get((name, question.asker(name)), (None, {}))
        with suppress(LetaloneError):  # it is refused under the lock, if it is
            if before is not None:
                acts.check_as_seen(before, levels.get, privacy, question)
                return
            with self._store.glancing() as books:
                acts.check_fits(books, name, privacy, question)

    def _see(self, books: LedgerTransaction, name: str, question: ChargeRequest) -> None:
        if len(self._standings) >= MOST_SEEN:
            self._standings.clear()
        self._standings[name, question.asker(name)] = books.seen
