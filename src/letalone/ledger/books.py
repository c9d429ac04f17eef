"""What one transaction sees and writes: entries, settlements, the head and the key.

`append` is the only thing that adds an entry. It first makes sure that the head is signed
and is the last entry, so that a damaged chain is never made longer.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, insert, select, update

from letalone.errors import FormatError, LedgerDamaged
from letalone.ledger.canonical import canonical, text_digest
from letalone.ledger.data_sets import DataSet, data_set_from_json
from letalone.ledger.entries import BEFORE_THE_FIRST, Entry, Kind, now, read_entry
from letalone.ledger.keys import SigningKey, is_signed, key_of, new_key
from letalone.ledger.levels import Key, Level, levels_in
from letalone.ledger.tables import (
    ENTRIES,
    HEAD,
    KEYS,
    LEVELS,
    PAYMENTS,
    SETTLEMENTS,
    Head,
    LevelRow,
    Payment,
    Row,
    Settlement,
)
from letalone.privacy.curve import Json

ONLY = 1  # the one row of a table that has one row
PAGE = 500
PROGRAMS = ("letalone", "duckdb", "numpy", "python-flint")
# Statements that every charge runs, put together once.
THE_HEAD, THE_KEY = select(HEAD), select(KEYS)
ADD_ENTRY, MOVE_HEAD, ADD_SETTLEMENT = insert(ENTRIES), update(HEAD), insert(SETTLEMENTS)
ONE_ENTRY = select(ENTRIES).where(ENTRIES.c.number == bindparam("its"))
LAST_ENTRY = select(ENTRIES.c.number, ENTRIES.c.hash).order_by(ENTRIES.c.number.desc()).limit(1)
LAST_CHANGE = (
    select(ENTRIES)
    .where(ENTRIES.c.changed == bindparam("its"))
    .order_by(ENTRIES.c.number.desc())
    .limit(1)
)
NOT_SETTLED = (
    select(ENTRIES)
    .outerjoin(SETTLEMENTS, SETTLEMENTS.c.reserved == ENTRIES.c.number)
    .where(
        ENTRIES.c.digest == bindparam("digest"),
        ENTRIES.c.name == bindparam("its"),
        SETTLEMENTS.c.reserved.is_(None),
    )
    .order_by(ENTRIES.c.number)
)
ONE_LEVEL = select(LEVELS).where(
    LEVELS.c.name == bindparam("its"),
    LEVELS.c.purpose == bindparam("purpose"),
    LEVELS.c.analyst == bindparam("analyst"),
)


class Books:
    """What one transaction sees and writes."""

    __slots__ = ("_head", "connection")

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._head: Head | None = None  # read once: only `append` changes it in a transaction

    def head(self) -> Head:
        """The last entry, as the head says and its signature confirms."""
        if self._head is None:
            self._head = self._read_head()
        return self._head

    def _read_head(self) -> Head:
        rows = self.connection.execute(THE_HEAD).all()
        if len(rows) != 1 or rows[0].only != ONLY:
            raise LedgerDamaged("The ledger is damaged: it must have one head.")
        return Head(*rows[0][1:])

    def key(self) -> SigningKey:
        """The key of this ledger."""
        rows = self.connection.execute(THE_KEY).all()
        try:
            (only, private, public) = rows[0]
            key = key_of(private)
        except (IndexError, TypeError, ValueError):
            raise LedgerDamaged("The ledger is damaged: its key cannot be read.") from None
        if len(rows) != 1 or only != ONLY or key.public != public:
            raise LedgerDamaged("The ledger is damaged: its key is not the one it was made with.")
        return key

    def append(
        self,
        kind: Kind,
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
        key = self.key()
        last = self._confirmed_head(key)
        entry = Entry(last.number + 1, time or now(), kind, name, body, last.hash)
        text = entry.text()
        row = row_of(entry, text)
        self.connection.execute(ADD_ENTRY, row._asdict())
        head = sign_head(key, row.number, row.hash)
        self.connection.execute(MOVE_HEAD, head._asdict())
        self._head = head
        if after is not None:
            _keep(row, after, levels)
        return entry

    def rows(self, name: str | None = None, kind: Kind | None = None) -> Iterator[Row]:
        """The entries as stored, in order, a page at a time."""
        query = select(ENTRIES).order_by(ENTRIES.c.number).limit(PAGE)
        if name is not None:
            query = query.where(ENTRIES.c.name == name)
        if kind is not None:
            query = query.where(ENTRIES.c.kind == kind.value)
        page = [Row(*row) for row in self.connection.execute(query)]
        while page:
            yield from page
            after = query.where(ENTRIES.c.number > page[-1].number)
            page = [Row(*row) for row in self.connection.execute(after)]

    def entries(self, name: str | None = None, kind: Kind | None = None) -> list[Entry]:
        """The entries about a data set, or all."""
        return [_read(row) for row in self.rows(name, kind)]

    def newest(
        self, name: str | None, *, before: int | None, limit: int, kind: Kind | None = None
    ) -> list[Entry]:
        """The last entries, of one kind or of all, or the last before a number; newest first."""
        query = select(ENTRIES).order_by(ENTRIES.c.number.desc()).limit(limit)
        if name is not None:
            query = query.where(ENTRIES.c.name == name)
        if before is not None:
            query = query.where(ENTRIES.c.number < before)
        if kind is not None:
            query = query.where(ENTRIES.c.kind == kind.value)
        return [_read(Row(*row)) for row in self.connection.execute(query)]

    def last_act(self, name: str, what: str) -> Entry | None:
        """The newest act of this kind on a data set, however many others came after it."""
        query = select(ENTRIES).where(
            ENTRIES.c.name == name,
            ENTRIES.c.kind == Kind.ADMINISTERED.value,
            ENTRIES.c.text.contains(canonical(what), autoescape=True),
        )
        rows = self.connection.execute(query.order_by(ENTRIES.c.number.desc())).all()
        found = (_read(Row(*row)) for row in rows)
        return next((entry for entry in found if entry.body.get("what") == what), None)

    def all_acts(self, what: str) -> list[Entry]:
        """All acts of this kind that are about no data set, in order."""
        return self.hash_and_acts(0, what)[1]

    def hash_and_acts(self, number: int, what: str) -> tuple[str | None, list[Entry]]:
        """The hash of an entry, and all such acts after it: one question for both."""
        rows = [Row(*row) for row in self.connection.execute(_acts_after(what), {"its": number})]
        later = [_read(row) for row in rows if row.number > number]
        hashed = rows[0].hash if rows and rows[0].number == number else None
        return hashed, [one for one in later if one.body.get("what") == what]

    def sampled(self, name: str, *, kinds: Sequence[Kind], after: int, most: int) -> list[Entry]:
        """Entries of some kinds after a number, in order; of many, some and always the last."""
        found = (ENTRIES.c.name == name) & (ENTRIES.c.number > after)
        found &= ENTRIES.c.kind.in_([kind.value for kind in kinds])
        numbers = select(ENTRIES.c.number).where(found).order_by(ENTRIES.c.number.desc())
        listed = list(self.connection.execute(numbers).scalars())
        every = max(1, -(-len(listed) // most))
        wanted = select(ENTRIES).where(ENTRIES.c.number.in_(listed[::every]))
        rows = self.connection.execute(wanted.order_by(ENTRIES.c.number))
        return [_read(Row(*row)) for row in rows]

    def entry(self, number: int) -> Entry | None:
        """One entry."""
        row = self.connection.execute(ONE_ENTRY, {"its": number}).first()
        return None if row is None else _read(Row(*row))

    def data_set(self, name: str) -> DataSet | None:
        """How a data set stands: what the last entry that changed it says."""
        row = self.connection.execute(LAST_CHANGE, {"its": name}).first()
        return None if row is None else _data_set(Row(*row))

    def names(self) -> list[str]:
        """The names of all data sets, in the order in which they were opened."""
        return [str(row.name) for row in self.rows(kind=Kind.OPENED)]

    def settlements(self) -> Iterator[Settlement]:
        """All settlements, in the order of their reservations."""
        found = self.connection.execute(select(SETTLEMENTS).order_by(SETTLEMENTS.c.reserved))
        return (Settlement(*row) for row in found)

    def settlement(self, reserved: int) -> Settlement | None:
        """How a reservation ended, if it did."""
        return self._settlement(SETTLEMENTS.c.reserved == reserved)

    def answered(self, name: str, digest: str, version: int) -> list[Settlement]:
        """The answers to this question about this version, the first that was charged first."""
        return self._settlements(
            SETTLEMENTS.c.name == name,
            SETTLEMENTS.c.digest == digest,
            SETTLEMENTS.c.version == version,
            SETTLEMENTS.c.release.is_not(None),
        )

    def released(self, release: str) -> Settlement | None:
        """The settlement with this release."""
        return self._settlement(
            SETTLEMENTS.c.release_digest == text_digest(release), SETTLEMENTS.c.release == release
        )

    def settled_by(self, digests: Sequence[str]) -> dict[str, int]:
        """Which entries settled releases with these digests; those that are not here are left out.

        Of several the newest: whatever is said of an answer was said by then.
        """
        found: dict[str, int] = {}
        wanted = select(SETTLEMENTS.c.release_digest, SETTLEMENTS.c.settled)
        for start in range(0, len(digests), PAGE):
            some = SETTLEMENTS.c.release_digest.in_(digests[start : start + PAGE])
            rows = self.connection.execute(wanted.where(some).order_by(SETTLEMENTS.c.settled))
            found |= {str(row.release_digest): row.settled for row in rows}
        return found

    def add_settlement(self, settlement: Settlement) -> None:
        """Remember how a reservation ended."""
        self.connection.execute(ADD_SETTLEMENT, settlement._asdict())

    def not_settled(self, name: str, digest: str) -> list[Entry]:
        """The charges for this question that nobody has settled."""
        found = self.connection.execute(NOT_SETTLED, {"its": name, "digest": digest})
        return [_read(Row(*row)) for row in found.all()]

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
        wanted = {"its": key.name, "purpose": key.purpose, "analyst": key.analyst or ""}
        row = self.connection.execute(ONE_LEVEL, wanted).first()
        return None if row is None else self._level(LevelRow(*row))

    def levels(self, name: str) -> list[Level]:
        """How all levels of a data set stand, by purpose and analyst, a purpose's own first."""
        return [self._level(row) for row in self._level_rows(LEVELS.c.name == name)]

    def level_rows(self) -> list[LevelRow]:
        """Which entry last changed each level."""
        return self._level_rows()

    def put_level(self, key: Key, entry: Entry) -> None:
        """Remember which entry last changed a level."""
        row = LevelRow(key.name, key.purpose, key.analyst or "", entry.number)
        same = [LEVELS.c[part] == getattr(row, part) for part in ("name", "purpose", "analyst")]
        done = self.connection.execute(update(LEVELS).where(*same).values(entry=row.entry))
        if done.rowcount == 0:
            self.connection.execute(insert(LEVELS).values(row._asdict()))

    def payments(self, reserved: int | None = None) -> list[Payment]:
        """Which levels paid for an answer that another had asked for; or all such payments."""
        query = select(PAYMENTS)
        if reserved is not None:
            query = query.where(PAYMENTS.c.reserved == reserved)
        return sorted(Payment(*row) for row in self.connection.execute(query))

    def add_payment(self, payment: Payment) -> None:
        """Remember that a level has paid for an answer."""
        self.connection.execute(insert(PAYMENTS).values(payment._asdict()))

    def _level_rows(self, *conditions: ColumnElement[bool]) -> list[LevelRow]:
        query = select(LEVELS).where(*conditions)  # sorted here: databases differ in how
        return sorted(LevelRow(*row) for row in self.connection.execute(query))

    def _level(self, row: LevelRow) -> Level:
        key = Key(row.name, row.purpose, row.analyst or None)
        entry = self.connection.execute(ONE_ENTRY, {"its": row.entry}).first()
        found = None if entry is None else _levels(Row(*entry)).get(key)
        if found is None:
            raise LedgerDamaged(
                f"The ledger is damaged: entry {row.entry} does not say how {key} stands."
            )
        return found

    def _settlement(self, *conditions: ColumnElement[bool]) -> Settlement | None:
        return next(iter(self._settlements(*conditions, most=1)), None)

    def _settlements(
        self, *conditions: ColumnElement[bool], most: int | None = None
    ) -> list[Settlement]:
        query = select(SETTLEMENTS).where(*conditions).order_by(SETTLEMENTS.c.reserved).limit(most)
        return [Settlement(*row) for row in self.connection.execute(query)]

    def _confirmed_head(self, key: SigningKey) -> Head:
        head = self.head()
        last = self.connection.execute(LAST_ENTRY).first()
        found = BEFORE_ALL if last is None else tuple(last)
        if found != (head.number, head.hash) or not is_signed_head(head, key.public):
            raise LedgerDamaged(
                "The ledger is damaged: its last entry is not the one that it signed. Nothing was "
                "charged. `letalone ledger verify` says more."
            )
        return head


@lru_cache(maxsize=16)
def _acts_after(what: str) -> Select[Any]:
    """An entry, and acts about no data set after it whose text has these words somewhere."""
    later = (
        (ENTRIES.c.number > bindparam("its"))
        & ENTRIES.c.name.is_(None)
        & (ENTRIES.c.kind == Kind.ADMINISTERED.value)
        & ENTRIES.c.text.contains(canonical(what), autoescape=True)
    )
    found = (ENTRIES.c.number == bindparam("its")) | later
    return select(ENTRIES).where(found).order_by(ENTRIES.c.number)


def _read(row: Row) -> Entry:
    try:
        entry = read_entry(row.text)
    except FormatError as error:
        raise LedgerDamaged(f"The ledger is damaged at entry {row.number}: {error}") from None
    if row != row_of(entry, row.text):
        raise LedgerDamaged(f"The ledger is damaged at entry {row.number}: its hash does not fit.")
    return entry


def row_of(entry: Entry, text: str) -> Row:
    """The row of an entry, whose text this is."""
    hashed = text_digest(text)
    return Row(
        entry.number, entry.name, entry.kind.value, text, hashed, entry.changed, entry.digest
    )


# What rows say, by all that is in them: asked several times in one release, and never changed.
_SAID: dict[Row, tuple[DataSet, dict[Key, Level]]] = {}  # as they were written here
MOST_SAID = 64


def _keep(row: Row, after: DataSet, levels: Iterable[Level]) -> None:
    if len(_SAID) >= MOST_SAID:
        _SAID.clear()
    _SAID[row] = after, {one.key: one for one in levels}


def _data_set(row: Row) -> DataSet:
    """What a row says of a data set."""
    said = _SAID.get(row)
    return _data_set_in(row) if said is None else said[0]


def _levels(row: Row) -> dict[Key, Level]:
    """What a row says of levels."""
    said = _SAID.get(row)
    return _levels_in(row) if said is None else said[1]


@lru_cache(maxsize=16)
def _data_set_in(row: Row) -> DataSet:
    return data_set_from_json(str(row.name), _read(row).body.get("after"))


@lru_cache(maxsize=64)
def _levels_in(row: Row) -> dict[Key, Level]:
    return levels_in(_read(row))


BEFORE_ALL = (0, BEFORE_THE_FIRST)


def first_entry(books: Books) -> None:
    """The key, a head before the first entry, and the entry that names the key."""
    key = new_key()
    books.connection.execute(insert(KEYS).values(only=ONLY, private=key.private, public=key.public))
    head = sign_head(key, *BEFORE_ALL)
    books.connection.execute(insert(HEAD).values(only=ONLY, **head._asdict()))
    books.append(Kind.CREATED, None, {"public_key": key.public, "versions": versions()})


def sign_head(key: SigningKey, number: int, hashed: str) -> Head:
    """The head with its signature."""
    return Head(number, hashed, key.sign(_statement(number, hashed)))


def is_signed_head(head: Head, public: str) -> bool:
    """Whether the key signed this head."""
    statement = _statement(head.number, head.hash)
    return is_signed(statement, signature=head.signature, public=public)


@lru_cache(maxsize=1)
def _versions() -> tuple[tuple[str, str | None], ...]:
    return tuple((program, _version(program)) for program in PROGRAMS)


def versions() -> Json:
    """The versions of the programs that an answer depends on."""
    return dict(_versions())


def _version(program: str) -> str | None:
    try:
        return version(program)
    except PackageNotFoundError:
        return None


def _statement(number: int, hashed: str) -> Json:
    return {"format": 1, "kind": "head", "number": number, "hash": hashed}
