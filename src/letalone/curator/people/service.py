"""Manages user accounts: who may sign in, and what for.

An owner adds people and registers data; a steward decides requests and answers subjects; an
analyst asks; an auditor reads the ledger. A wrong name and a wrong password are told apart by
nothing: not by words, and not by the cost of the check.

What lets somebody in, or gives them a role, is in the ledger before it holds in the database: it
is written within the transaction. What only takes away holds even where the ledger is away.

  Tested:   tests/curator/test_people.py
  Assumed:  Argon2id; the system's random bits
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, cast

from sqlalchemy import Connection, Select, func, insert, select, update

from letalone.curator.people import passwords
from letalone.curator.storage import stored_values as stored
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.refusals import AlreadyDecided, NotPermitted, NotRecognised, NotThere
from letalone.curator.storage.service_records import Recognised
from letalone.curator.storage.tables import IDENTITIES, PEOPLE, SESSIONS, TOKENS
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Problem
from letalone.ledger.data_sets import read_name
from letalone.privacy.curve import Json
from letalone.wire.records import Person, Role

ADDED, ROLES_CHANGED = "person added", "roles changed"
LOG_IN, AGAIN = "log in", "password again"
UNLINKED = "Your account is not linked to anybody here any more. Ask an owner."
DISABLED = "You cannot sign in here any more. Ask an owner."


class PeopleService:
    """Adds, checks and blocks accounts; a person may have several roles."""

    __slots__ = ("_passwords", "_shared")

    def __init__(self, shared: Dependencies) -> None:
        self._shared, self._passwords = shared, passwords.Passwords(shared.settings)

    def first_owner(self, name: str = "owner") -> str | None:
        """Makes the first person, an owner; the one-time password. None where there are people."""
        password = passwords.one_time_password()
        kept = self._passwords.hashed(password)
        with self._shared.database.writing() as connection:
            if connection.execute(select(func.count()).select_from(PEOPLE)).scalar_one():
                return None
            self._insert(connection, read_name(name), [Role.OWNER.value], kept, by=None)
        return password

    def add(self, name: str, roles: Iterable[Role], *, by: str) -> str:
        """Adds a person (by an owner); returns the one-time password, which is shown once."""
        self.require(by, Role.OWNER)
        wanted, password = _role_words(_check_roles(roles)), passwords.one_time_password()
        kept = self._passwords.hashed(password)
        with self._shared.database.writing() as connection:
            names = connection.execute(select(PEOPLE.c.name)).scalars()
            if read_name(name).casefold() in {taken.casefold() for taken in names}:
                raise AlreadyDecided(
                    f"There is a person {name!r}, or one whose name looks the same. Choose another"
                    " name: names stay in the ledger and are not used twice."
                )
            self._insert(connection, name, wanted, kept, by=by)
        return password

    def change_roles(self, name: str, roles: Iterable[Role], *, by: str) -> Person:
        """Gives a person other roles (by an owner); the last owner stays one."""
        self.require(by, Role.OWNER)
        wanted = _role_words(_check_roles(roles))
        with self._shared.database.writing() as connection:
            person = _find_person(connection, name)
            if Role.OWNER.value not in wanted:
                _check_other_owner(connection, person)
            _change_row(connection, name, roles=stored.write_list(wanted), **self._handover(by))
            _end_browser_sessions(connection, name)
            self._write(ROLES_CHANGED, name, by=by, roles=wanted)
        return self.person(name)

    def reset_password(self, name: str, *, by: str) -> str:
        """A new one-time password (by an owner); all tokens of the person end."""
        self.require(by, Role.OWNER)
        return self._reset(name, by=by)

    def reset_owner(self, name: str) -> str:
        """A new one-time password for an owner, by whoever has the machine and its files."""
        if Role.OWNER not in self.person(name).roles:
            raise ParameterError(f"{name!r} is not an owner. An owner resets passwords of others.")
        return self._reset(name, by=None)

    def disable(self, name: str, *, by: str) -> Person:
        """The person can no longer log in (by an owner); all tokens end, the record stays."""
        self.require(by, Role.OWNER)
        with self._shared.database.writing() as connection:
            _check_other_owner(connection, _find_person(connection, name))
            _change_row(connection, name, active=False)
            _end_tokens(connection, name)
        self._write("person disabled", name, by=by)
        return self.person(name)

    def enable(self, name: str, *, by: str) -> Person:
        self.require(by, Role.OWNER)
        with self._shared.database.writing() as connection:
            _find_person(connection, name)
            _change_row(connection, name, active=True, **self._handover(by))
            self._write("person enabled", name, by=by)
        return self.person(name)

    def log_in(self, name: str, password: str, *, address: str = "") -> Person:
        """The person, if the password is right; NotRecognised, TooManyTries.

        Tries are counted by name and address, so that strangers elsewhere lock nobody out.
        """
        return self.recognised(name, password, address=address).person

    def recognised(self, name: str, password: str, *, address: str = "") -> Recognised:
        """As `log_in`, with what must not have changed when the caller acts on it."""
        passwords.delay_attempt(self._shared, LOG_IN, name)
        return self._check_password(LOG_IN, name, password, address=address)

    def password_again(self, name: str, password: str) -> Recognised:
        """The password of somebody whose token was checked: strangers' tries do not count here."""
        return self._check_password(AGAIN, name, password, address="")

    def known_elsewhere(self, name: str) -> Recognised:
        """The person, where a provider has checked who this is; NotRecognised."""
        row = self._shared.database.row(_select(name))
        if row is None or not row.active:
            raise NotRecognised(DISABLED)
        return Recognised(_person(row), row.password)

    def hand_over(self, connection: Connection, name: str, *, by: str) -> None:
        """From now on another way leads to this account: tokens end, and a one-time password.

        Whoever has a password of their own keeps it. By another person's hand, it waits before
        it raises budgets, as after a reset.
        """
        person = _find_person(connection, name)
        if person.must_change:
            kept = self._passwords.hashed(passwords.one_time_password())  # which nobody is told
            _change_row(connection, name, password=kept, must_change=False)
        if by != name:
            _change_row(connection, name, **self._handover(by))
        _end_tokens(connection, name)

    def change_password(
        self, name: str, password: str, new: str, *, address: str = "", known: bool = False
    ) -> Person:
        """Replaces a password, also a one-time one; all tokens of the person end.

        `known`: a token of this person was checked.
        """
        if known:
            before = self.password_again(name, password)
        else:
            before = self.recognised(name, password, address=address)
        self._passwords.check_new(new, name=name)
        if new == password:
            raise ParameterError("The new password is the old one. Choose another.")
        kept = self._passwords.hashed(new)
        with self._shared.database.writing() as connection:
            check_same(connection, before)
            _change_row(connection, name, password=kept, must_change=False)
            _end_tokens(connection, name)
        self._write("password changed", name, by=name)
        return self.person(name)

    def person(self, name: str) -> Person:
        return _check_there(self._cached_person(name), name)

    def everybody(self, *, by: str) -> list[Person]:
        self.require(by, Role.OWNER, Role.STEWARD, Role.AUDITOR)
        rows = self._shared.database.rows(select(PEOPLE).order_by(PEOPLE.c.name))
        return [_person(row) for row in rows]

    def require(self, name: str, *roles: Role) -> Person:
        """The person, if active and of one of these roles; else NotPermitted."""
        person = self._cached_person(name)
        if person is None or not person.active or not person.roles & set(roles):
            needed = " or ".join(_role_words(frozenset(roles)))
            raise NotPermitted(f"This is for the role {needed}. Ask an owner for it, or ask one.")
        return person

    def has(self, name: str, *roles: Role) -> bool:
        try:
            self.require(name, *roles)
        except NotPermitted:
            return False
        return True

    def cache_row(self, row: stored.DataRow) -> None:
        """Keeps the person of a row that was read with something of theirs."""
        self._shared.database.cache.put(("person", row.name), _person(row))

    def ever(self, *roles: Role) -> frozenset[str]:
        """Whoever has, or ever had, one of these roles: the ledger says it and never forgets.

        The database says it too, of those whom an earlier letalone did not bring to the ledger.
        """
        ledger, wanted = self._shared.ledger, {role.value for role in roles}
        people = [_person(row) for row in self._shared.database.rows(select(PEOPLE))]
        now = frozenset(person.name for person in people if person.roles & set(roles))

        def read() -> frozenset[str]:
            acts = [entry for what in (ADDED, ROLES_CHANGED) for entry in ledger.all_acts(what)]
            bodies = [cast("dict[str, Any]", entry.body["body"]) for entry in acts]
            return frozenset(
                str(body["person"]) for body in bodies if wanted & set(body.get("roles") or ())
            )

        return now | self._shared.ledger_view.cache.value(("ever", roles), read)

    def _cached_person(self, name: str) -> Person | None:
        """The person, where there is one; read anew whenever the database was written to."""

        def read() -> Person | None:
            row = self._shared.database.row(_select(name))
            return None if row is None else _person(row)

        return self._shared.database.cache.value(("person", name), read)

    def _check_password(self, what: str, name: str, password: str, *, address: str) -> Recognised:
        passwords.count_attempt(self._shared, what, name, address)
        row = self._shared.database.row(_select(name))
        kept = row.password if row is not None and row.active else None
        if not self._passwords.is_right(password, kept) or row is None:
            raise NotRecognised(Problem(Code.WRONG_PASSWORD))
        self._check_in_time(_person(row))
        passwords.forget_attempts(self._shared, what, name, address)
        return Recognised(_person(row), row.password)

    def _check_in_time(self, person: Person) -> None:
        """A one-time password that nobody has used may lie about somewhere."""
        length = timedelta(days=self._shared.settings.one_time_days)
        until = person.handed + length
        if person.must_change and not stored.still_lasts(until, self._shared.clock(), length):
            raise NotRecognised(
                f"This one-time password was for {length.days} days, which are over. Ask an owner"
                " for a new one; for the only owner, `letalone serve --reset-owner` makes one."
            )

    def _reset(self, name: str, *, by: str | None) -> str:
        password = passwords.one_time_password()
        kept = self._passwords.hashed(password)
        with self._shared.database.writing() as connection:
            _find_person(connection, name)
            _change_row(connection, name, password=kept, must_change=True, **self._handover(by))
            _end_tokens(connection, name)
            self._write("password reset", name, by=by)
        for what in (LOG_IN, AGAIN):
            passwords.forget_attempts(self._shared, what, name)
        return password

    def _insert(
        self, connection: Connection, name: str, roles: list[str], password: str, *, by: str | None
    ) -> None:
        """Adds a person, in the ledger, too; the first one by nobody else."""
        row = {
            "name": name, "roles": stored.write_list(roles), "password": password, "active": True,
            "made": stored.write_time(self._shared.clock()), "must_change": True,
            **self._handover(by),
        }  # fmt: skip
        connection.execute(insert(PEOPLE).values(row))
        self._write(ADDED, name, by=by or name, roles=roles)

    def _handover(self, by: str | None) -> dict[str, str | None]:
        """Somebody else had this account in their hands, now."""
        return {"handed": stored.write_time(self._shared.clock()), "handed_by": by}

    def _write(self, what: str, name: str, *, by: str | None, **more: object) -> None:
        body: Json = {"person": name, **more}
        self._shared.ledger.administer(None, what, body, by=[] if by is None else [by])


def check_same(connection: Connection, before: Recognised) -> None:
    """Within the transaction that acts on a password: it was not changed or disabled meanwhile."""
    row = connection.execute(_select(before.person.name)).one_or_none()
    if row is None or not row.active or row.password != before.kept:
        raise NotRecognised(Problem(Code.WRONG_PASSWORD))
    if before.account is not None and not _is_linked(connection, before):
        raise NotRecognised(UNLINKED)


def _is_linked(connection: Connection, before: Recognised) -> bool:
    issuer, subject = before.account or ("", "")
    wanted = select(IDENTITIES).filter_by(person=before.person.name, issuer=issuer, subject=subject)
    return connection.execute(wanted).first() is not None


def _select(name: str) -> Select[Any]:
    return select(PEOPLE).where(PEOPLE.c.name == name)


def _find_person(connection: Connection, name: str) -> Person:
    row = connection.execute(_select(name)).one_or_none()
    return _check_there(None if row is None else _person(row), name)


def _check_there(person: Person | None, name: str) -> Person:
    if person is None:
        raise NotThere(f"There is no person {name[:80]!r}.")
    return person


def _person(row: stored.DataRow) -> Person:
    return stored.read_record(Person, row, handed=stored.read_time(row.handed or row.made))


def _check_other_owner(connection: Connection, person: Person) -> None:
    people = [_person(row) for row in connection.execute(select(PEOPLE)).all()]
    owners = {other.name for other in people if other.active and Role.OWNER in other.roles}
    if owners == {person.name}:
        raise ParameterError(f"{person.name!r} is the last owner. Make somebody else one first.")


def _change_row(connection: Connection, name: str, **values: object) -> None:
    connection.execute(update(PEOPLE).where(PEOPLE.c.name == name).values(**values))


def _end_tokens(connection: Connection, name: str) -> None:
    connection.execute(update(TOKENS).where(TOKENS.c.person == name).values(revoked=True))
    _end_browser_sessions(connection, name)


def _end_browser_sessions(connection: Connection, name: str) -> None:
    connection.execute(SESSIONS.delete().where(SESSIONS.c.person == name))


def _check_roles(roles: Iterable[Role]) -> frozenset[Role]:
    wanted = frozenset(roles)
    if not wanted or not all(isinstance(role, Role) for role in wanted):  # pyright: ignore[reportUnnecessaryIsInstance]
        words = ", ".join(role.value for role in Role)
        raise ParameterError(f"A person needs at least one role. The roles are: {words}.")
    return wanted


def _role_words(roles: frozenset[Role]) -> list[str]:
    return [role.value for role in Role if role in roles]
