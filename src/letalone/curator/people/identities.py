"""Identities: accounts at a provider (OpenID Connect), each of somebody who is known here.

Signing in makes nobody: an owner links an account to a person. A link by e-mail holds for the
first account that the provider says has this address, verified; from then on the account's own
subject counts, so whoever gets the address later does not get in. As after a new one-time
password, tokens and visits end, and budgets are raised with the account only after some days.

  Tested:   tests/curator/console/test_oidc.py
  Assumed:  the provider says the truth about who signed in
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from sqlalchemy import Connection, delete, insert, select, update

from letalone.curator.people.service import PeopleService
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.refusals import NotRecognised, NotThere
from letalone.curator.storage.service_records import Recognised
from letalone.curator.storage.stored_values import read_record, write_time
from letalone.curator.storage.tables import IDENTITIES
from letalone.errors import ParameterError
from letalone.wire.records import Role

EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")
SUBJECT = re.compile(r"[!-~]{1,255}")
NOT_PLAIN = (
    "The e-mail has letters beyond ASCII, of which some are taken for one another. Link the account"
    " by its subject: who signs in and is not linked is told it."
)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who signed in, as the provider says."""

    issuer: str
    subject: str
    email: str | None = None
    verified: bool = False


@dataclass(frozen=True, slots=True)
class LinkedAccount:
    """A person, and the account with which they sign in."""

    person: str
    issuer: str
    email: str | None
    subject: str | None
    linked: datetime
    linked_by: str


@dataclass(frozen=True, slots=True)
class Identities:
    """Links accounts at a provider to people."""

    _shared: Dependencies
    _people: PeopleService

    def link(self, person: str, account: str, *, issuer: str, by: str) -> LinkedAccount:
        """Lets a person sign in with an account, named by its e-mail or subject (by an owner)."""
        self._people.require(by, Role.OWNER)
        columns = _account(account)
        row = {
            "person": person, "issuer": issuer, "linked": write_time(self._shared.clock()),
            "linked_by": by, **columns,
        }  # fmt: skip
        with self._shared.database.writing() as connection:
            self._people.hand_over(connection, person, by=by)
            connection.execute(delete(IDENTITIES).where(IDENTITIES.c.person == person))
            _check_free(connection, issuer, columns)
            connection.execute(insert(IDENTITIES).values(row))
            words = f"{issuer} {columns['email'] or columns['subject']}"
            self._write("sign-in linked", person, by=by, account=words)
            stored = connection.execute(select(IDENTITIES).filter_by(person=person)).one()
        return read_record(LinkedAccount, stored)

    def unlink(self, person: str, *, by: str) -> None:
        """Ends the link (by an owner), and all tokens and visits of the person."""
        self._people.require(by, Role.OWNER)
        with self._shared.database.writing() as connection:
            which = delete(IDENTITIES).where(IDENTITIES.c.person == person)
            if not connection.execute(which).rowcount:
                raise NotThere(f"{person[:80]!r} has no account at a provider.")
            self._people.hand_over(connection, person, by=by)
        self._write("sign-in unlinked", person, by=by)

    def links(self, *, by: str) -> list[LinkedAccount]:
        self._people.require(by, Role.OWNER)
        rows = self._shared.database.rows(select(IDENTITIES).order_by(IDENTITIES.c.person))
        return [read_record(LinkedAccount, row) for row in rows]

    def recognised(self, identity: Identity) -> Recognised:
        person = self._find_by_subject(identity) or self._bind_by_email(identity)
        if person is None:
            raise NotRecognised(_not_linked(identity))
        known = self._people.known_elsewhere(person)
        return replace(known, account=(identity.issuer, identity.subject))

    def _find_by_subject(self, identity: Identity) -> str | None:
        wanted = select(IDENTITIES.c.person).where(
            IDENTITIES.c.issuer == identity.issuer, IDENTITIES.c.subject == identity.subject
        )
        row = self._shared.database.row(wanted)
        return None if row is None else row.person

    def _bind_by_email(self, identity: Identity) -> str | None:
        """The first account with an e-mail that was linked: it is the one from now on."""
        email = _plain(identity.email or "") if identity.verified else None
        if not email:
            return None
        link = IDENTITIES.c
        which = (link.issuer == identity.issuer) & (link.email == email) & link.subject.is_(None)
        with self._shared.database.writing() as connection:
            person = connection.execute(select(IDENTITIES.c.person).where(which)).scalar()
            if person is None:
                return None
            connection.execute(update(IDENTITIES).where(which).values(subject=identity.subject))
        account = f"{identity.issuer} {identity.subject}"
        self._write("sign-in bound", person, by=person, account=account)
        return person

    def _write(self, what: str, person: str, *, by: str, account: str | None = None) -> None:
        """The ledger has a digest of the account, with which it can be compared."""
        digest = None if account is None else sha256(account.encode()).hexdigest()
        self._shared.ledger.administer(None, what, {"person": person, "account": digest}, by=[by])


def _account(typed: str) -> dict[str, str | None]:
    """An account by its e-mail, or by the subject that the provider knows it by."""
    if EMAIL.fullmatch(typed):
        if _plain(typed) is None:
            raise ParameterError(NOT_PLAIN)
        return {"email": _plain(typed), "subject": None}
    if SUBJECT.fullmatch(typed) and "@" not in typed:
        return {"email": None, "subject": typed}
    raise ParameterError(
        "The account is not an e-mail address, and not a subject as a provider gives it (letters"
        " and digits without blanks, at most 255)."
    )


def _plain(email: str) -> str | None:
    """An e-mail as it is compared: other letters can look alike, or fold to the same ones."""
    return email.lower() if email.isascii() else None


def _check_free(connection: Connection, issuer: str, account: dict[str, str | None]) -> None:
    for name, value in account.items():
        if value is None:
            continue
        same = (IDENTITIES.c.issuer == issuer) & (IDENTITIES.c[name] == value)
        if connection.execute(select(IDENTITIES.c.person).where(same)).first() is not None:
            raise ParameterError("This account is somebody else's already. Unlink it there first.")


def _not_linked(identity: Identity) -> str:
    mail = f" ({identity.email[:100]})" if identity.email else ""
    return (
        f"Your account{mail} is not linked to anybody here. Ask an owner to link it; its subject is"
        f" {identity.subject[:255]!r}."
    )
