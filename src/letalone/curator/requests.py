"""Requests: an analyst asks for a grant, a steward decides, both see how it stands (G3, G4).

A grant is a level of the ledger (data set, purpose, analyst) and a list of columns. Nobody
decides on a request of their own. A grant is never raised here: that takes two people.

  Tested:   tests/curator/test_requests.py, test_principles.py (G3, G4)
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, select, update

from letalone.curator.data_sets import DataSets
from letalone.curator.house import House
from letalone.curator.people import People
from letalone.curator.records import Grant, Request, Role, State
from letalone.curator.refusals import AlreadyDecided, NotPermitted, NotThere
from letalone.curator.tables import GRANTS, REQUESTS
from letalone.curator.words import (
    amounts,
    budget_of,
    in_utc,
    is_name,
    listed,
    new_id,
    of_row,
    read_list,
    read_time,
    time_of,
    written,
)
from letalone.errors import NotAllowed, ParameterError
from letalone.errors.spelling import did_you_mean
from letalone.ledger.data_sets import budget_to_json, read_text
from letalone.ledger.levels import Key, Level
from letalone.privacy import Budget

DECIDE = (Role.STEWARD, Role.OWNER)
SEE_ALL = (Role.STEWARD, Role.OWNER, Role.AUDITOR)
LONGEST_WORDS = 2000
Found = Row[tuple[Any, ...]]


class Requests:
    """Requests for grants, and the grants."""

    __slots__ = ("_data_sets", "_house", "_people")

    def __init__(self, house: House, people: People, data_sets: DataSets) -> None:
        self._house, self._people, self._data_sets = house, people, data_sets

    def make(
        self,
        data_set: str,
        *,
        purpose: str,
        columns: Sequence[str],
        budget: Budget,
        why: str,
        by: str,
        expires: datetime | None = None,
    ) -> Request:
        """An analyst's request for a grant."""
        self._people.require(by, Role.ANALYST)
        self._check(data_set, purpose, columns, budget)
        self._check_later(in_utc("expires", expires))
        self._check_purpose_holds(data_set, purpose)
        self._check_not_raised(data_set, budget, purpose=purpose, analyst=by)
        name = new_id()
        row = {
            "id": name, "data_set": data_set, "purpose": purpose, "analyst": by,
            "columns": listed(columns), **amounts(budget), "why": read_words("why", why),
            "expires": written(in_utc("expires", expires)), "state": State.OPEN.value,
            "made": written(self._house.clock()),
        }  # fmt: skip
        with self._house.database.writing() as connection:
            self._check_few_open(connection, by)
            connection.execute(insert(REQUESTS).values(row))
            found = _found(connection, name)
        self._write("requested", found, by=by)
        return found

    def decide(self, request: str, *, grant: bool, reason: str, by: str) -> Request:
        """Grants or refuses a request (by a steward or an owner, never one's own)."""
        self._people.require(by, *DECIDE)
        words = read_words("reason", reason)
        with self._house.database.writing() as connection:
            found = _open(connection, request)
            if found.analyst == by:
                raise NotPermitted("This request is your own. Somebody else has to decide on it.")
            if grant:
                self._people.require(found.analyst, Role.ANALYST)
                self._grant(connection, found, by=by)
            state = State.GRANTED if grant else State.REFUSED
            after = self._decided(connection, request, state, by=by, reason=words)
        self._write("granted" if grant else "refused", after, by=by)
        return after

    def withdraw(self, request: str, *, by: str) -> Request:
        """Takes back one's own open request."""
        with self._house.database.writing() as connection:
            if _found(connection, request).analyst != by:
                raise _no_request()
            _open(connection, request)
            after = self._decided(connection, request, State.WITHDRAWN, by=by, reason=None)
        self._write("request withdrawn", after, by=by)
        return after

    def request(self, request: str, *, by: str, own: bool = False) -> Request:
        """One request: one's own, or any for stewards, owners and auditors; NotThere.

        `own`: whatever roles the person has, only one's own.
        """
        with self._house.database.reading() as connection:
            found = _found(connection, request)
        if found.analyst != by and (own or not self._people.has(by, *SEE_ALL)):
            raise _no_request()
        return found

    def requests(
        self,
        *,
        by: str,
        own: bool = False,
        is_open: bool | None = None,
        most: int | None = None,
        start: int = 0,
    ) -> list[Request]:
        """Own requests; all for stewards, owners and auditors unless `own`. The newest first.

        `is_open`: those that wait, or those that do not; `most` of them, from `start` on.
        """
        wanted = select(REQUESTS).order_by(REQUESTS.c.made.desc(), REQUESTS.c.id)
        if is_open is not None:
            wanted = wanted.where((REQUESTS.c.state == State.OPEN.value) == is_open)
        wanted = wanted.limit(most).offset(start)
        mine = REQUESTS.c.analyst == by
        return [_request(row) for row in self._seen(wanted, mine, by=by, own=own)]

    def grants(self, *, by: str, own: bool = False) -> list[Grant]:
        """Own grants; all for stewards, owners and auditors unless `own`."""
        wanted = select(GRANTS).order_by(GRANTS.c.data_set, GRANTS.c.purpose, GRANTS.c.analyst)
        rows = self._seen(wanted, GRANTS.c.analyst == by, by=by, own=own)
        return self._grants(rows)

    def own_grants(self, *, by: str) -> list[Grant]:
        """Own grants, whatever other roles a person has."""
        wanted = select(GRANTS).where(GRANTS.c.analyst == by)
        with self._house.database.reading() as connection:
            rows = connection.execute(wanted.order_by(GRANTS.c.data_set, GRANTS.c.purpose)).all()
        return self._grants(rows)

    def withdraw_grant(
        self, data_set: str, *, purpose: str, analyst: str, why: str, by: str
    ) -> None:
        """Ends a grant (by a steward or an owner)."""
        self._people.require(by, *DECIDE)
        words, key = read_words("why", why), _key(data_set, purpose, analyst)
        with self._house.database.writing() as connection:
            row = connection.execute(select(GRANTS).where(key)).one_or_none()
            if row is None or row.withdrawn is not None:
                raise NotThere("There is no such grant.")
            self._house.book.withdraw(
                data_set, purpose=purpose, analyst=analyst, why=words, by=[by]
            )
            now = written(self._house.clock())
            connection.execute(update(GRANTS).where(key).values(withdrawn=now))

    def check(self, data_set: str, *, purpose: str, analyst: str) -> tuple[str, ...]:
        """The columns that an analyst may ask about; NotAllowed with the reason (G4).

        What is left is not computed here: a reading costs more than a charge, which decides.
        """
        row = self._granted(data_set, purpose, analyst) if is_name(purpose) else None
        if row is None:
            raise _no_grant(data_set, purpose)
        _, whole, own = self._house.book.asked(data_set, purpose=purpose, analyst=analyst)
        if whole is None or own is None:
            raise _no_grant(data_set, purpose)
        for words, level in ((f"The purpose {purpose!r}", whole), ("Your grant", own)):
            self._check_holds(words, data_set, level)
        return tuple(read_list(row.columns))

    def _granted(self, data_set: str, purpose: str, analyst: str) -> Found | None:
        def read() -> Found | None:
            with self._house.database.reading() as connection:
                wanted = select(GRANTS).where(_key(data_set, purpose, analyst))
                return connection.execute(wanted).one_or_none()

        return self._house.database.unchanged.value(("grant", data_set, purpose, analyst), read)

    def _check_holds(self, words: str, data_set: str, level: Level) -> None:
        if level.withdrawn or level.has_expired(written(self._house.clock()) or ""):
            over = "was withdrawn" if level.withdrawn else f"has expired, at {level.expires}"
            raise NotAllowed(f"{words} for {data_set!r} {over}. Nothing was charged.")

    def _check(self, data_set: str, purpose: str, columns: Sequence[str], budget: Budget) -> None:
        record = self._data_sets.record(data_set)
        purposes = {one.name: one for one in record.purposes}
        if record.retired or purpose not in purposes:
            names = ", ".join(purposes) or "none"
            raise ParameterError(
                f"{data_set!r} has no purpose {purpose[:200]!r}. Its purposes are: {names}."
                + did_you_mean(purpose, purposes)
            )
        if not columns or len(set(columns)) < len(columns):
            raise ParameterError("columns must be a list of different columns, at least one.")
        for column in columns:
            record.schema.column(column)
        if not budget <= purposes[purpose].budget:
            raise ParameterError(
                f"budget is ({budget}), but the whole purpose {purpose!r} has"
                f" ({purposes[purpose].budget}). Ask for less."
            )

    def _check_purpose_holds(self, data_set: str, purpose: str) -> None:
        level = self._house.book.level(data_set, purpose=purpose)
        if level is not None and level.has_expired(written(self._house.clock()) or ""):
            raise ParameterError(
                f"The purpose {purpose!r} has expired, at {level.expires}: nobody can grant it."
                " Request another purpose, or ask an owner to add one."
            )

    def _check_not_raised(
        self, data_set: str, budget: Budget, *, purpose: str, analyst: str
    ) -> None:
        """Also a grant that was withdrawn, or is over, is not given anew with more by one."""
        before = self._house.book.level(data_set, purpose=purpose, analyst=analyst)
        if before is not None and not budget <= before.budget:
            raise ParameterError(
                f"{analyst!r} has, or had, a grant of ({before.budget}) for this purpose. A larger"
                " one takes two people: a steward or an owner proposes it, and another one agrees;"
                " ask them. A request for the same budget changes the columns, or gives the grant"
                " anew."
            )

    def _check_few_open(self, connection: Connection, analyst: str) -> None:
        waits = (REQUESTS.c.analyst == analyst) & (REQUESTS.c.state == State.OPEN.value)
        wanted = select(func.count()).select_from(REQUESTS).where(waits)
        most = self._house.settings.open_requests
        if connection.execute(wanted).scalar_one() >= most:
            raise ParameterError(
                f"{most} requests of yours wait for a decision, and no more may at once. Wait for a"
                " steward, or take one back."
            )

    def _check_later(self, expires: datetime | None) -> None:
        now = self._house.clock()
        if expires is not None and expires <= now:
            raise ParameterError(
                f"expires is {written(expires)}, but it is {written(now)} now. Name a later time."
            )

    def _grant(self, connection: Connection, found: Request, *, by: str) -> None:
        """The level in the ledger, and the columns here; a second grant only changes columns."""
        book, key = self._house.book, _key(found.data_set, found.purpose, found.analyst)
        self._check(found.data_set, found.purpose, found.columns, found.budget)
        self._check_later(found.expires)
        self._check_not_raised(
            found.data_set, found.budget, purpose=found.purpose, analyst=found.analyst
        )
        level = book.allow(
            found.data_set,
            found.budget,
            purpose=found.purpose,
            analyst=found.analyst,
            expires=found.expires,
            by=[by],
        )
        if found.budget != level.budget:
            raise ParameterError(
                f"{found.analyst!r} has a grant of ({level.budget}) for this purpose, and a smaller"
                " one would not take any of it away. Withdraw that grant first, then grant this"
                " one; or let the analyst request the same budget to change the columns only."
            )
        columns, now = listed(found.columns), written(self._house.clock())
        values = {"columns": columns, "made": now, "withdrawn": None}
        if connection.execute(update(GRANTS).where(key).values(values)).rowcount == 0:
            whose = {
                "data_set": found.data_set,
                "purpose": found.purpose,
                "analyst": found.analyst,
            }
            connection.execute(insert(GRANTS).values(whose | values))

    def _decided(
        self, connection: Connection, request: str, state: State, *, by: str, reason: str | None
    ) -> Request:
        values = {
            "state": state.value,
            "decided_by": by,
            "decided": written(self._house.clock()),
            "reason": reason,
        }
        connection.execute(update(REQUESTS).where(REQUESTS.c.id == request).values(values))
        return _found(connection, request)

    def _seen(self, wanted: Select[Any], mine: Any, *, by: str, own: bool) -> Sequence[Found]:
        person = self._people.require(by, *Role)
        wanted = wanted if person.roles & set(SEE_ALL) and not own else wanted.where(mine)
        with self._house.database.reading() as connection:
            return connection.execute(wanted).all()

    def _grants(self, rows: Sequence[Found]) -> list[Grant]:
        names = {row.data_set for row in rows}
        levels = {level.key: level for name in names for level in self._house.book.levels(name)}
        keys = [Key(row.data_set, row.purpose, row.analyst) for row in rows]
        pairs = zip(rows, keys, strict=True)
        return [_grant(row, levels[key]) for row, key in pairs if key in levels]

    def _write(self, what: str, found: Request, *, by: str) -> None:
        body = {
            "request": found.id,
            "purpose": found.purpose,
            "analyst": found.analyst,
            "columns": list(found.columns),
            "budget": budget_to_json(found.budget),
            "why": found.why,
            "reason": found.reason,
        }
        self._house.book.write(found.data_set, what, dict[str, object](body), by=[by])


def read_words(name: str, words: object) -> str:
    """A reason that people write: not empty, and not a book."""
    found = read_text(name, words)
    if len(found) > LONGEST_WORDS:
        raise ParameterError(f"{name} has {len(found)} letters, but may have {LONGEST_WORDS}.")
    return found


def _key(data_set: str, purpose: str, analyst: str) -> Any:
    grant = GRANTS.c
    return (grant.data_set == data_set) & (grant.purpose == purpose) & (grant.analyst == analyst)


def _found(connection: Connection, request: str) -> Request:
    row = connection.execute(select(REQUESTS).where(REQUESTS.c.id == request)).one_or_none()
    if row is None:
        raise _no_request()
    return _request(row)


def _open(connection: Connection, request: str) -> Request:
    found = _found(connection, request)
    if found.state is not State.OPEN:
        raise AlreadyDecided(f"This request was decided before: it is {found.state.value}.")
    return found


def _no_grant(data_set: str, purpose: str) -> NotAllowed:
    return NotAllowed(
        f"You have no grant to ask about {data_set!r} for the purpose {purpose[:200]!r}."
        " Nothing was charged. Request one; a steward decides."
    )


def _no_request() -> NotThere:
    return NotThere("There is no such request, or it is not yours.")


@of_row
def _request(row: Found) -> Request:
    return Request(
        row.id,
        row.data_set,
        row.purpose,
        row.analyst,
        tuple(read_list(row.columns)),
        budget_of(row),
        row.why,
        read_time(row.expires),
        State(row.state),
        time_of(row.made),
        row.decided_by,
        read_time(row.decided),
        row.reason,
    )


def _grant(row: Found, level: Level) -> Grant:
    return Grant(
        row.data_set,
        row.purpose,
        row.analyst,
        tuple(read_list(row.columns)),
        level.budget,
        level.spent,
        level.remaining,
        read_time(level.expires),
        withdrawn=level.withdrawn,
    )
