"""What one transaction sees and writes: entries, settlements, the head and the key.

`append` is the only thing that adds an entry. It first makes sure that the head is signed
and is the last entry, so that a damaged chain is never made longer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from sqlalchemy import Connection, Executable, Select, bindparam, insert, select

from letalone.errors import FormatError, LedgerDamaged
from letalone.ledger.chain.canonical import canonical, text_digest
from letalone.ledger.chain.entries import BEFORE_THE_FIRST, Entry, EntryKind, now, read_entry
from letalone.ledger.chain.signing_key import SigningKey, is_signed, key_of, new_key
from letalone.ledger.data_sets import DataSet, data_set_from_json
from letalone.ledger.levels import Key, Level, levels_in
from letalone.ledger.storage import ledger_statements as statements
from letalone.ledger.storage import tables
from letalone.ledger.storage.tables import (
    ENTRIES,
    SETTLEMENTS,
    EntryRow,
    Head,
    LevelRow,
    Settlement,
)
from letalone.ledger.storage.trips import Asked, Pipeline, Rows
from letalone.privacy.curve import Json

Standing = tuple[DataSet | None, dict[Key, Level]]
ONLY = 1  # the one row of a table that has one row
PAGE = 500
PROGRAMS = ("letalone", "duckdb", "numpy", "python-flint")


class AnswerRow(NamedTuple):
    """An answer: how its reservation ended, and the entries that say so."""

    ending: Settlement
    reserved: Entry
    settled: Entry


class LedgerTransaction:
    """What one transaction sees and writes."""

    __slots__ = ("_connection", "_known_head", "_together", "seen")

    def __init__(self, connection: Connection, together: Pipeline | None = None) -> None:
        self._connection, self._together = connection, together
        self._known_head: Head | None = None  # read once: only `append` changes it
        self.seen: Standing = (None, {})  # how all stood for who asked last

    @property
    def connection(self) -> Connection:
        """For statements of their own, after all that was written before."""
        if self._together is not None:
            self._together.flush()
        return self._connection

    def _asked(self, *asked: Asked) -> list[Rows]:
        """The rows of each statement; of a server far away all at once."""
        if self._together is not None:
            return self._together.ask(*asked)
        return [[tuple(row) for row in self._connection.execute(*statement)] for statement in asked]

    def _write(self, statement: Executable, values: Mapping[str, object]) -> None:
        if self._together is not None:
            self._together.write(statement, values)
        else:
            self._connection.execute(statement, values)

    def head(self) -> Head:
        """The last entry, as the head says and its signature confirms."""
        if self._known_head is None:
            self._known_head = _head(*self._asked((statements.THE_HEAD, {})))
        return self._known_head

    def key(self) -> SigningKey:
        return _key(*self._asked((statements.THE_KEY, {})))

    def append(
        self,
        kind: EntryKind,
        name: str | None,
        body: Json,
        *,
        time: str | None = None,
        after: DataSet | None = None,
        levels: Iterable[Level] = (),
    ) -> Entry:
        """Add an entry and sign the new head; `time` is when it was decided, if not now.

        `after` and `levels` are what the body says, so that it need not be read to know them.
        """
        key, last = self._confirmed_head()
        entry = Entry(last.number + 1, time or now(), kind, name, body, last.hash)
        text = entry.text()
        row = row_of(entry, text)
        self._write(statements.ADD_ENTRY, row._asdict())
        self._known_head = sign_head(key, row.number, row.hash)
        self._write(statements.MOVE_HEAD, self._known_head._asdict())
        if after is not None:
            _keep(row, after, levels)
        return entry

    def rows(self, name: str | None = None, kind: EntryKind | None = None) -> Iterator[EntryRow]:
        """The entries as stored, in order, a page at a time."""
        query = _about(name, kind).order_by(ENTRIES.c.number).limit(PAGE)
        page = [EntryRow(*row) for row in self.connection.execute(query)]
        while page:
            yield from page
            after = query.where(ENTRIES.c.number > page[-1].number)
            page = [EntryRow(*row) for row in self.connection.execute(after)]

    def entries(self, name: str | None = None, kind: EntryKind | None = None) -> list[Entry]:
        return [_read(row) for row in self.rows(name, kind)]

    def page(self, name: str | None, *, after: int, limit: int) -> list[Entry]:
        """The first entries after a number, in order; no other is read."""
        query = _about(name).where(ENTRIES.c.number > after).order_by(ENTRIES.c.number)
        return self._read(query.limit(limit))

    def newest(
        self, name: str | None, *, before: int | None, limit: int, kind: EntryKind | None = None
    ) -> list[Entry]:
        """The last entries, of one kind or of all, or the last before a number; newest first."""
        query = _about(name, kind).order_by(ENTRIES.c.number.desc()).limit(limit)
        return self._read(query if before is None else query.where(ENTRIES.c.number < before))

    def _read(self, query: Select[Any]) -> list[Entry]:
        return [_read(EntryRow(*row)) for row in self.connection.execute(query)]

    def last_act(self, name: str, what: str) -> Entry | None:
        """The newest act of this kind on a data set, however many others came after it."""
        same = ENTRIES.c.text.contains(canonical(what), autoescape=True)
        query = _about(name, EntryKind.ADMINISTERED).where(same).order_by(ENTRIES.c.number.desc())
        rows = self.connection.execute(query).all()
        entries = (_read(EntryRow(*row)) for row in rows)
        return next((entry for entry in entries if entry.body.get("what") == what), None)

    def all_acts(self, what: str) -> list[Entry]:
        """All acts of this kind that are about no data set, in order."""
        return self.hash_and_acts(0, what)[1]

    def hash_and_acts(self, number: int, what: str) -> tuple[str | None, list[Entry]]:
        """The hash of an entry, and all such acts after it: one question for both."""
        rows = [
            EntryRow(*row) for row in self.connection.execute(_acts_after(what), {"its": number})
        ]
        later = [_read(row) for row in rows if row.number > number]
        hashed = rows[0].hash if rows and rows[0].number == number else None
        return hashed, [entry for entry in later if entry.body.get("what") == what]

    def sampled(
        self, name: str, *, kinds: Sequence[EntryKind], after: int, most: int
    ) -> list[Entry]:
        """Entries of some kinds after a number, in order; of many, some and always the last."""
        condition = (ENTRIES.c.name == name) & (ENTRIES.c.number > after)
        condition &= ENTRIES.c.kind.in_([kind.value for kind in kinds])
        numbers = select(ENTRIES.c.number).where(condition).order_by(ENTRIES.c.number.desc())
        listed = list(self.connection.execute(numbers).scalars())
        every = max(1, -(-len(listed) // most))
        wanted = select(ENTRIES).where(ENTRIES.c.number.in_(listed[::every]))
        return self._read(wanted.order_by(ENTRIES.c.number))

    def entry(self, number: int) -> Entry | None:
        return _entry(*self._asked((statements.ONE_ENTRY, {"its": number})))

    def data_set(self, name: str) -> DataSet | None:
        """How a data set stands: what the last entry that changed it says."""
        return _last(*self._asked(*to_stand(name)))

    def standing(self, name: str, asker: Key | None) -> Standing:
        """How a data set stands, and the levels of who asks, if that is said."""
        changed, *levels = self._asked(*to_stand(name), *_of(asker))
        self.seen = _last(changed), _by_key(*levels)
        return self.seen

    def charging(self, name: str, asker: Key | None, digest: str) -> tuple[Standing, list[Entry]]:
        """The same, and the charges for a question that nobody has settled."""
        changed, begun, *levels = self._asked(*to_charge(name, asker, digest))
        self.seen = _last(changed), _by_key(*levels)
        return self.seen, [_read(EntryRow(*row)) for row in begun]

    def with_levels(self, name: str) -> Standing:
        changed, levels = self._asked(*to_stand(name), (statements.ALL_LEVELS, {"its": name}))
        return _last(changed), _by_key(levels)

    def answered(
        self, name: str, digest: str, asker: Key | None
    ) -> tuple[Standing, list[AnswerRow]]:
        """As `standing`, and the answers to a question about the version as it is by now, the
        first that was charged first."""
        newest = statements.NEWEST_ANSWERS, {"its": name, "asked": digest}
        changed, rows, *levels = self._asked(*to_stand(name), newest, *_of(asker))
        before, answers = _last(changed), [_read_answer(row) for row in rows]
        self.seen = before, _by_key(*levels)
        version = None if before is None else before.version
        return self.seen, [answer for answer in answers if answer.ending.version == version]

    def names(self) -> list[str]:
        """The names of all data sets, in the order in which they were opened."""
        return [str(row.name) for row in self.rows(kind=EntryKind.OPENED)]

    def settlements(self) -> Iterator[Settlement]:
        rows = self.connection.execute(select(SETTLEMENTS).order_by(SETTLEMENTS.c.reserved))
        return (Settlement(*row) for row in rows)

    def answer_of(self, reserved: int) -> AnswerRow | None:
        (answers,) = self._asked((statements.ONE_ANSWER, {"its": reserved}))
        return _read_answer(answers[0]) if answers else None

    def reservation(self, number: int) -> tuple[Entry | None, Settlement | None]:
        entries, ended = self._asked(*to_settle(number))
        return _entry(entries), Settlement(*ended[0]) if ended else None

    def released(
        self, release: str, name: str | None = None
    ) -> tuple[AnswerRow | None, SigningKey, DataSet | None]:
        """The answer with this release, the key to sign for it, and how a data set stands by now,
        where one is named."""
        wanted = {"digested": text_digest(release), "released": release}
        standing = () if name is None else to_stand(name)
        answers, keys, *changed = self._asked(
            (statements.RELEASED, wanted), (statements.THE_KEY, {}), *standing
        )
        answer = _read_answer(answers[0]) if answers else None
        return answer, _key(keys), _last(*changed) if changed else None

    def settled_by(self, digests: Sequence[str]) -> dict[str, int]:
        """Which entries settled releases with these digests; those that are not here are left out.

        Of several the newest: whatever is said of an answer was said by then.
        """
        numbers: dict[str, int] = {}
        wanted = select(SETTLEMENTS.c.release_digest, SETTLEMENTS.c.settled)
        for start in range(0, len(digests), PAGE):
            some = SETTLEMENTS.c.release_digest.in_(digests[start : start + PAGE])
            rows = self.connection.execute(wanted.where(some).order_by(SETTLEMENTS.c.settled))
            numbers |= {str(row.release_digest): row.settled for row in rows}
        return numbers

    def add_settlement(self, settlement: Settlement) -> None:
        self._write(statements.ADD_SETTLEMENT, settlement._asdict())

    def unsettled(self, name: str | None = None) -> list[int]:
        """The reservations that nobody settled: they stay spent."""
        query = (
            select(ENTRIES.c.number)
            .outerjoin(SETTLEMENTS, SETTLEMENTS.c.reserved == ENTRIES.c.number)
            .where(ENTRIES.c.digest.is_not(None), SETTLEMENTS.c.reserved.is_(None))
            .order_by(ENTRIES.c.number)
        )
        if name is not None:
            query = query.where(ENTRIES.c.name == name)
        return list(self.connection.execute(query).scalars())

    # Levels.

    def level(self, key: Key) -> Level | None:
        """How a level stands: what the last entry that changed it says."""
        return _by_key(*self._asked((statements.OWN_LEVELS, _key_fields(key)))).get(key)

    def levels(self, name: str) -> list[Level]:
        """How all levels of a data set stand, by purpose and analyst, a purpose's own first."""
        return list(_by_key(*self._asked((statements.ALL_LEVELS, {"its": name}))).values())

    def move_level(self, key: Key, entry: Entry) -> None:
        self._write(statements.MOVE_LEVEL, {**_key_fields(key), "entry": entry.number})

    def add_level(self, key: Key, entry: Entry) -> None:
        row = LevelRow(key.name, key.purpose, key.analyst or "", entry.number)
        self._write(statements.ADD_LEVEL, row._asdict())

    def payments(self, reserved: int | None = None) -> list[tables.Payment]:
        """Which levels paid for an answer that another had asked for; or all such payments."""
        query = select(tables.PAYMENTS)
        if reserved is not None:
            query = query.where(tables.PAYMENTS.c.reserved == reserved)
        return sorted(tables.Payment(*row) for row in self.connection.execute(query))

    def add_payment(self, payment: tables.Payment) -> None:
        self._write(statements.ADD_PAYMENT, payment._asdict())

    def level_rows(self) -> list[LevelRow]:
        """Which entry last changed each level; sorted here, since databases differ in how."""
        return sorted(LevelRow(*row) for row in self.connection.execute(select(tables.LEVELS)))

    def _confirmed_head(self) -> tuple[SigningKey, Head]:
        heads, keys, entries = self._asked(*statements.CONFIRMED_HEAD)
        key, head = _key(keys), _head(heads)
        last_entry = entries[0] if entries else BEFORE_ALL
        if last_entry != (head.number, head.hash) or not is_signed_head(head, key.public):
            raise LedgerDamaged(
                "The ledger is damaged: its last entry is not the one that it signed. Nothing was "
                "charged. `letalone ledger verify` says more."
            )
        return key, head


def _head(rows: Rows) -> Head:
    if len(rows) != 1 or rows[0][0] != ONLY:
        raise LedgerDamaged("The ledger is damaged: it must have one head.")
    return Head(*rows[0][1:])


def _key(rows: Rows) -> SigningKey:
    try:
        (only, private, public) = rows[0]
        key = key_of(private)
    except (IndexError, TypeError, ValueError):
        raise LedgerDamaged("The ledger is damaged: its key cannot be read.") from None
    if len(rows) != 1 or only != ONLY or key.public != public:
        raise LedgerDamaged("The ledger is damaged: its key is not the one it was made with.")
    return key


def _entry(rows: Rows) -> Entry | None:
    return _read(EntryRow(*rows[0])) if rows else None


def _last(rows: Rows) -> DataSet | None:
    return _data_set(EntryRow(*rows[0])) if rows else None


def _about(name: str | None, kind: EntryKind | None = None) -> Select[Any]:
    query = select(ENTRIES) if name is None else select(ENTRIES).where(ENTRIES.c.name == name)
    return query if kind is None else query.where(ENTRIES.c.kind == kind.value)


def _key_fields(key: Key) -> dict[str, object]:
    return {"its": key.name, "for": key.purpose, "who": key.analyst or ""}


def to_stand(name: str) -> tuple[Asked]:
    """What is asked to know how a data set stands."""
    return ((statements.LAST_CHANGE, {"its": name}),)


def to_charge(name: str, asker: Key | None, digest: str) -> tuple[Asked, ...]:
    """What is asked to charge for a question."""
    return *to_stand(name), (statements.NOT_SETTLED, {"its": name, "asked": digest}), *_of(asker)


def to_settle(reserved: int) -> tuple[Asked, Asked]:
    """What is asked to settle a reservation."""
    return (statements.ONE_ENTRY, {"its": reserved}), (statements.ONE_SETTLEMENT, {"its": reserved})


def _of(asker: Key | None) -> list[Asked]:
    return [] if asker is None else [(statements.OWN_LEVELS, _key_fields(asker))]


def _read_answer(row: tuple[Any, ...]) -> AnswerRow:
    first, second = len(Settlement._fields), len(Settlement._fields) + len(EntryRow._fields)
    ending = Settlement(*row[:first])
    reserved, settled = EntryRow(*row[first:second]), EntryRow(*row[second:])
    for number, row_of in ((ending.reserved, reserved), (ending.settled, settled)):
        if row_of.number is None:  # pyright: ignore[reportUnnecessaryComparison]  (no such entry)
            raise LedgerDamaged(f"The ledger is damaged: entry {number} is missing.")
    return AnswerRow(ending, _read(reserved), _read(settled))


def _by_key(rows: Rows = ()) -> dict[Key, Level]:
    """The levels, by purpose and analyst; sorted here, since databases differ in how."""
    width = len(LevelRow._fields)
    pairs = sorted((LevelRow(*row[:width]), row[width:]) for row in rows)
    return {level.key: level for level in (_level(*pair) for pair in pairs)}


def _level(row: LevelRow, changed: tuple[Any, ...]) -> Level:
    """How a level stands: what the last entry that changed it says."""
    key = Key(row.name, row.purpose, row.analyst or None)
    level = None if changed[0] is None else _levels(EntryRow(*changed)).get(key)
    if level is None:
        raise LedgerDamaged(
            f"The ledger is damaged: entry {row.entry} does not say how {key} stands."
        )
    return level


@lru_cache(maxsize=16)
def _acts_after(what: str) -> Select[Any]:
    """An entry, and acts about no data set after it whose text has these words somewhere."""
    later = (
        (ENTRIES.c.number > bindparam("its"))
        & ENTRIES.c.name.is_(None)
        & (ENTRIES.c.kind == EntryKind.ADMINISTERED.value)
        & ENTRIES.c.text.contains(canonical(what), autoescape=True)
    )
    wanted = (ENTRIES.c.number == bindparam("its")) | later
    return select(ENTRIES).where(wanted).order_by(ENTRIES.c.number)


def _read(row: EntryRow) -> Entry:
    try:
        entry = read_entry(row.text)
    except FormatError as error:
        raise LedgerDamaged(f"The ledger is damaged at entry {row.number}: {error}") from None
    if row != row_of(entry, row.text):
        raise LedgerDamaged(f"The ledger is damaged at entry {row.number}: its hash does not fit.")
    return entry


def row_of(entry: Entry, text: str) -> EntryRow:
    """The row of an entry, whose text this is."""
    hashed = text_digest(text)
    return EntryRow(
        entry.number, entry.name, entry.kind.value, text, hashed, entry.changed, entry.digest
    )


# What rows say, by all that is in them: asked several times in one release, and never changed.
_SAID: dict[EntryRow, tuple[DataSet, dict[Key, Level]]] = {}  # as they were written here
MOST_SAID = 64


def _keep(row: EntryRow, after: DataSet, levels: Iterable[Level]) -> None:
    if len(_SAID) >= MOST_SAID:
        _SAID.clear()
    _SAID[row] = after, {level.key: level for level in levels}


def _data_set(row: EntryRow) -> DataSet:
    cached = _SAID.get(row)
    return _data_set_in(row) if cached is None else cached[0]


def _levels(row: EntryRow) -> dict[Key, Level]:
    cached = _SAID.get(row)
    return _levels_in(row) if cached is None else cached[1]


@lru_cache(maxsize=16)
def _data_set_in(row: EntryRow) -> DataSet:
    return data_set_from_json(str(row.name), _read(row).body.get("after"))


@lru_cache(maxsize=64)
def _levels_in(row: EntryRow) -> dict[Key, Level]:
    return levels_in(_read(row))


BEFORE_ALL = (0, BEFORE_THE_FIRST)


def first_entry(books: LedgerTransaction) -> None:
    """The key, a head before the first entry, and the entry that names the key."""
    key = new_key()
    books.connection.execute(
        insert(tables.KEYS).values(only=ONLY, private=key.private, public=key.public)
    )
    head = sign_head(key, *BEFORE_ALL)
    books.connection.execute(insert(tables.HEAD).values(only=ONLY, **head._asdict()))
    books.append(EntryKind.CREATED, None, {"public_key": key.public, "versions": versions()})


def sign_head(key: SigningKey, number: int, hashed: str) -> Head:
    """The head with its signature."""
    return Head(number, hashed, key.sign(_head_statement(number, hashed)))


def is_signed_head(head: Head, public: str) -> bool:
    """Whether the key signed this head."""
    statement = _head_statement(head.number, head.hash)
    return is_signed(statement, signature=head.signature, public=public)


def versions() -> Json:
    """The versions of the programs that an answer depends on."""
    return {program: _version(program) for program in PROGRAMS}


@cache
def _version(program: str) -> str | None:
    try:
        return version(program)
    except PackageNotFoundError:
        return None


def _head_statement(number: int, hashed: str) -> Json:
    return {"format": 1, "kind": "head", "number": number, "hash": hashed}
