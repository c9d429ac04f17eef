"""Decides requests for access: an analyst asks, a steward decides, both see the state (G3, G4).

A grant is a level of the ledger (data set, purpose, analyst) and a list of columns. Nobody
decides on a request of their own. A grant is never raised here: that takes two people.

  Tested:   tests/curator/test_requests.py, test_principles.py (G3, G4)
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, insert, select, update

from letalone.curator.data_sets.service import DataSets
from letalone.curator.grants.decisions import DECIDE, Decisions, read_words
from letalone.curator.people.service import PeopleService
from letalone.curator.storage import stored_values as stored
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.refusals import NotPermitted, NotThere
from letalone.curator.storage.tables import GRANTS, REQUESTS
from letalone.errors import NotAllowed, ParameterError
from letalone.errors.spelling import did_you_mean
from letalone.ledger.levels import Key, Level
from letalone.privacy import Budget
from letalone.wire.records import AccessRequest, Grant, Role, State

SEE_ALL = (*DECIDE, Role.AUDITOR)


class Requests:
    """Makes and decides requests for grants; reads, checks and withdraws grants."""

    __slots__ = ("_data_sets", "_decisions", "_people", "_shared")

    def __init__(self, shared: Dependencies, people: PeopleService, data_sets: DataSets) -> None:
        self._shared, self._people, self._data_sets = shared, people, data_sets
        missing = "There is no such request, or it is not yours."
        self._decisions = Decisions(shared, REQUESTS, AccessRequest, "request", missing)

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
    ) -> AccessRequest:
        self._people.require(by, Role.ANALYST)
        self._check(data_set, purpose, columns, budget)
        until = stored.to_utc("expires", expires)
        self._check_later(until)
        self._check_purpose_holds(data_set, purpose)
        self._check_not_raised(data_set, budget, purpose=purpose, analyst=by)
        row = {
            "id": stored.new_id(), "data_set": data_set, "purpose": purpose, "analyst": by,
            "columns": stored.write_list(columns), **stored.write_budget(budget),
            "why": read_words("why", why), "expires": stored.write_time(until),
            "state": State.OPEN.value, "made": stored.write_time(self._shared.clock()),
        }  # fmt: skip
        with self._shared.database.writing() as connection:
            self._check_few_open(connection, by)
            made = self._decisions.add(connection, row)
        self._write("requested", made, by=by)
        return made

    def decide(self, request: str, *, grant: bool, reason: str, by: str) -> AccessRequest:
        """Grants or refuses a request (by a steward or an owner, never one's own)."""
        self._people.require(by, *DECIDE)
        words = read_words("reason", reason)
        with self._shared.database.writing() as connection:
            before = self._decisions.find_open(connection, request)
            if before.analyst == by:
                raise NotPermitted("This request is your own. Somebody else has to decide on it.")
            if grant:
                self._people.require(before.analyst, Role.ANALYST)
                self._grant(connection, before, by=by)
            state = State.GRANTED if grant else State.REFUSED
            after = self._decisions.decide(connection, request, state, by=by, reason=words)
        self._write("granted" if grant else "refused", after, by=by)
        return after

    def withdraw(self, request: str, *, by: str) -> AccessRequest:
        with self._shared.database.writing() as connection:
            if self._decisions.find(connection, request).analyst != by:
                raise self._decisions.not_there()
            self._decisions.find_open(connection, request)
            after = self._decisions.decide(connection, request, State.WITHDRAWN, by=by, reason=None)
        self._write("request withdrawn", after, by=by)
        return after

    def request(self, request: str, *, by: str, own: bool = False) -> AccessRequest:
        """One request: one's own, or any for stewards, owners and auditors; NotThere.

        `own`: whatever roles the person has, only one's own.
        """
        with self._shared.database.reading() as connection:
            record = self._decisions.find(connection, request)
        if record.analyst != by and (own or not self._people.has(by, *SEE_ALL)):
            raise self._decisions.not_there()
        return record

    def requests(
        self,
        *,
        by: str,
        own: bool = False,
        is_open: bool | None = None,
        most: int | None = None,
        start: int = 0,
    ) -> list[AccessRequest]:
        """Own requests; all for stewards, owners and auditors unless `own`. The newest first.

        `is_open`: those that wait, or those that do not; `most` of them, from `start` on.
        """
        wanted = select(REQUESTS).order_by(REQUESTS.c.made.desc(), REQUESTS.c.id)
        if is_open is not None:
            wanted = wanted.where((REQUESTS.c.state == State.OPEN.value) == is_open)
        wanted = wanted.limit(most).offset(start)
        mine = REQUESTS.c.analyst == by
        rows = self._visible_rows(wanted, mine, by=by, own=own)
        return [stored.read_record(AccessRequest, row) for row in rows]

    def grants(self, *, by: str, own: bool = False) -> list[Grant]:
        """Own grants; all for stewards, owners and auditors unless `own`."""
        wanted = select(GRANTS).order_by(GRANTS.c.data_set, GRANTS.c.purpose, GRANTS.c.analyst)
        rows = self._visible_rows(wanted, GRANTS.c.analyst == by, by=by, own=own)
        names, view = {row.data_set for row in rows}, self._shared.ledger_view
        levels = {level.key: level for name in names for level in view.levels(name)}
        keys = [Key(row.data_set, row.purpose, row.analyst) for row in rows]
        pairs = zip(rows, keys, strict=True)
        return [_read_grant(row, levels[key]) for row, key in pairs if key in levels]

    def withdraw_grant(
        self, data_set: str, *, purpose: str, analyst: str, why: str, by: str
    ) -> None:
        self._people.require(by, *DECIDE)
        words, key = read_words("why", why), _key(data_set, purpose, analyst)
        with self._shared.database.writing() as connection:
            row = connection.execute(select(GRANTS).where(key)).one_or_none()
            if row is None or row.withdrawn is not None:
                raise NotThere("There is no such grant.")
            self._shared.ledger.withdraw(
                data_set, purpose=purpose, analyst=analyst, why=words, by=[by]
            )
            now = stored.write_time(self._shared.clock())
            connection.execute(update(GRANTS).where(key).values(withdrawn=now))

    def check(self, data_set: str, *, purpose: str, analyst: str) -> tuple[str, ...]:
        """The columns that an analyst may ask about; NotAllowed with the reason (G4).

        What is left is not computed here: a reading costs more than a charge, which decides.
        """
        row = self._find_grant(data_set, purpose, analyst) if stored.is_name(purpose) else None
        if row is None:
            raise _no_grant(data_set, purpose)
        _, of_purpose, of_analyst = self._shared.ledger_view.levels_for(
            data_set, purpose=purpose, analyst=analyst
        )
        if of_purpose is None or of_analyst is None:
            raise _no_grant(data_set, purpose)
        now = stored.write_time(self._shared.clock()) or ""
        for words, level in ((f"The purpose {purpose!r}", of_purpose), ("Your grant", of_analyst)):
            if level.withdrawn or level.has_expired(now):
                over = "was withdrawn" if level.withdrawn else f"has expired, at {level.expires}"
                raise NotAllowed(f"{words} for {data_set!r} {over}. Nothing was charged.")
        return tuple(stored.read_list(row.columns))

    def _find_grant(self, data_set: str, purpose: str, analyst: str) -> stored.DataRow | None:
        database = self._shared.database

        def read() -> stored.DataRow | None:
            return database.row(select(GRANTS).where(_key(data_set, purpose, analyst)))

        return database.cache.value(("grant", data_set, purpose, analyst), read)

    def _check(self, data_set: str, purpose: str, columns: Sequence[str], budget: Budget) -> None:
        record = self._data_sets.record(data_set)
        purposes = {declared.name: declared for declared in record.purposes}
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
        level = self._shared.ledger_view.level(data_set, purpose=purpose)
        if level is not None and level.has_expired(stored.write_time(self._shared.clock()) or ""):
            raise ParameterError(
                f"The purpose {purpose!r} has expired, at {level.expires}: nobody can grant it."
                " Request another purpose, or ask an owner to add one."
            )

    def _check_not_raised(
        self, data_set: str, budget: Budget, *, purpose: str, analyst: str
    ) -> None:
        """Also a grant that was withdrawn, or is over, is not given anew with more by one."""
        before = self._shared.ledger_view.level(data_set, purpose=purpose, analyst=analyst)
        if before is not None and not budget <= before.budget:
            raise ParameterError(
                f"{analyst!r} has, or had, a grant of ({before.budget}) for this purpose. A larger"
                " one takes two people: a steward or an owner proposes it, and another one agrees;"
                " ask them. A request for the same budget changes the columns, or renews the"
                " grant."
            )

    def _check_few_open(self, connection: Connection, analyst: str) -> None:
        waits = (REQUESTS.c.analyst == analyst) & (REQUESTS.c.state == State.OPEN.value)
        wanted = select(func.count()).select_from(REQUESTS).where(waits)
        limit = self._shared.settings.open_requests
        if connection.execute(wanted).scalar_one() >= limit:
            raise ParameterError(
                f"{limit} requests of yours wait for a decision, and no more may at once. Wait for"
                " a steward, or take one back."
            )

    def _check_later(self, expires: datetime | None) -> None:
        now = self._shared.clock()
        if expires is not None and expires <= now:
            raise ParameterError(
                f"expires is {stored.write_time(expires)}, but it is {stored.write_time(now)} now."
                " Name a later time."
            )

    def _grant(self, connection: Connection, request: AccessRequest, *, by: str) -> None:
        """The level in the ledger, and the columns here; a second grant only changes columns."""
        data_set, budget = request.data_set, request.budget
        whose = {"purpose": request.purpose, "analyst": request.analyst}
        self._check(data_set, request.purpose, request.columns, budget)
        self._check_later(request.expires)
        self._check_not_raised(data_set, budget, **whose)
        level = self._shared.ledger_view.allow(
            data_set, budget, **whose, expires=request.expires, by=[by]
        )
        if budget != level.budget:
            raise ParameterError(
                f"{request.analyst!r} has a grant of ({level.budget}) for this purpose, and a"
                " smaller one would not take any of it away. Withdraw that grant first, then grant"
                " this one; or let the analyst request the same budget to change the columns only."
            )
        columns, now = stored.write_list(request.columns), stored.write_time(self._shared.clock())
        values = {"columns": columns, "made": now, "withdrawn": None}
        changed = update(GRANTS).where(_key(data_set, **whose)).values(values)
        if connection.execute(changed).rowcount == 0:
            connection.execute(insert(GRANTS).values({"data_set": data_set, **whose, **values}))

    def _visible_rows(
        self, wanted: Select[Any], mine: Any, *, by: str, own: bool
    ) -> Sequence[stored.DataRow]:
        person = self._people.require(by, *Role)
        wanted = wanted if person.roles & set(SEE_ALL) and not own else wanted.where(mine)
        return self._shared.database.rows(wanted)

    def _write(self, what: str, request: AccessRequest, *, by: str) -> None:
        self._decisions.write(what, request, by=by, columns=list(request.columns))


def _key(data_set: str, purpose: str, analyst: str) -> Any:
    grant = GRANTS.c
    return (grant.data_set == data_set) & (grant.purpose == purpose) & (grant.analyst == analyst)


def _no_grant(data_set: str, purpose: str) -> NotAllowed:
    return NotAllowed(
        f"You have no grant to ask about {data_set!r} for the purpose {purpose[:200]!r}."
        " Nothing was charged. Request one; a steward decides."
    )


def _read_grant(row: stored.DataRow, level: Level) -> Grant:
    known = {name: getattr(level, name) for name in ("budget", "spent", "remaining", "withdrawn")}
    expires = stored.read_optional_time(level.expires)
    return stored.read_record(Grant, row, **known, expires=expires)
