"""Keeps which browsers are signed in, and the drafts of forms that their people have typed.

A browser session is 256 random bits in a cookie, of which SHA-256 is kept. It ends when nobody
used it for a while, at the latest after some hours, at sign-out, and when its person is disabled,
gets other roles or another password. Whoever gives the password again gets a new secret, and the
old one is over: a cookie from before cannot act as a steward.

A draft lets a page be reloaded and gone back to without putting what was typed into an address. It
is found by 192 random bits in the address of its page, by its own person alone. It is encrypted
(AES-GCM) under a key made from these bits, of which the database has a digest: whoever finds the
database, a backup or a freed page of it cannot read who was looked up.

  Tested:   tests/curator/console/test_visits.py, tests/curator/test_drafts.py
  Assumed:  nobody finds a text with a given SHA-256, or guesses 256 bits; AES-GCM hides and seals
            what is encrypted once under a key
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from json import dumps, loads
from secrets import token_urlsafe
from time import time_ns
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import Row, delete, insert, select, update

from letalone.curator.people.service import PeopleService, check_same
from letalone.curator.people.tokens import scopes_of
from letalone.curator.storage import stored_values as stored
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.master_key import MasterKey
from letalone.curator.storage.refusals import NotPermitted, NotRecognised
from letalone.curator.storage.service_records import Bearer, Recognised
from letalone.curator.storage.tables import DRAFTS, SESSIONS
from letalone.errors.codes import Code
from letalone.errors.problem import Problem
from letalone.wire.records import Scope

SECRET_BYTES = 32
USE_STEP = timedelta(minutes=1)  # how exactly the last use is known: not every look is written
DRAFT_NAME_BYTES = 24
MAX_DRAFTS = 20  # of one person: the newest; each is at most as large as a body
NONCE = bytes(12)  # each key encrypts one draft, so it needs no random nonce
FormFields = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class BrowserSessions:
    """Signs browsers in and out."""

    _shared: Dependencies
    _people: PeopleService
    _master: MasterKey

    def begin(self, proof: Recognised) -> str:
        """A new secret for somebody whose password was right; those that are over are removed."""
        until = self._shared.clock() + timedelta(hours=self._shared.settings.visit_hours)
        return self._insert_session(proof, until=until, elevated_until=None)

    def visitor(self, secret: str) -> Bearer:
        """Who this is, and what they may do now; NotRecognised."""
        row, now, settings = self._row(secret), self._shared.clock(), self._shared.settings
        longest = timedelta(hours=settings.visit_hours)
        if (
            row is None
            or not stored.still_lasts(stored.read_time(row.expires), now, self._idle)
            or not stored.still_lasts(stored.read_time(row.until), now, longest)
        ):
            raise NotRecognised(Problem(Code.SIGNED_OUT))
        person = self._people.person(row.person)
        if not person.active:
            raise NotRecognised(Problem(Code.SIGNED_OUT))
        self._mark_used(row, now)
        until = stored.read_optional_time(row.elevated_until)
        minutes = timedelta(minutes=settings.elevated_minutes)
        elevated = until is not None and stored.still_lasts(until, now, minutes)
        return Bearer(person, scopes_of(person), elevated=elevated, token=row.digest)

    def elevate(self, secret: str, password: str) -> str:
        """The password again: a new secret, for the acts of stewards and owners for a while."""
        proof = self._people.password_again(self.visitor(secret).name, password)
        return self.elevated(secret, proof)

    def elevated(self, secret: str, proof: Recognised) -> str:
        """As `elevate`, where somebody else has checked who this is."""
        bearer, row = self.visitor(secret), self._row(secret)
        if row is None or proof.person.name != bearer.name:
            raise NotRecognised(Problem(Code.SIGNED_OUT))
        if not bearer.scopes - {Scope.ASK}:
            raise NotPermitted("This is for stewards, owners and auditors.")
        minutes = timedelta(minutes=self._shared.settings.elevated_minutes)
        limit = self._shared.clock() + minutes
        made = self._insert_session(proof, until=stored.read_time(row.until), elevated_until=limit)
        self.end(secret)
        name = bearer.name
        self._shared.ledger.administer(None, "elevated", {"person": name}, by=[name])
        return made

    def end(self, secret: str) -> None:
        which = SESSIONS.c.digest == stored.digest_of_secret(secret)
        self._shared.database.execute(delete(SESSIONS).where(which))

    def sealed(self, words: str, secret: str | None) -> str:
        """A seal of words that a browser keeps; of this visit alone where there is one."""
        return self._master.journey(words, stored.digest_of_secret(secret) if secret else "")

    def _insert_session(
        self, proof: Recognised, *, until: datetime, elevated_until: datetime | None
    ) -> str:
        secret, now = token_urlsafe(SECRET_BYTES), self._shared.clock()
        row = {
            "digest": stored.digest_of_secret(secret), "person": proof.person.name,
            "expires": stored.write_time(now + self._idle), "until": stored.write_time(until),
            "elevated_until": stored.write_time(elevated_until),
        }  # fmt: skip
        moment = stored.write_time(now)
        over = (SESSIONS.c.expires < moment) | (SESSIONS.c.until < moment)
        with self._shared.database.writing() as connection:
            check_same(connection, proof)
            connection.execute(delete(SESSIONS).where(over))
            connection.execute(insert(SESSIONS).values(row))
        return secret

    @property
    def _idle(self) -> timedelta:
        return timedelta(minutes=self._shared.settings.visit_minutes)

    def _row(self, secret: str) -> Row[tuple[Any, ...]] | None:
        wanted = select(SESSIONS).where(SESSIONS.c.digest == stored.digest_of_secret(secret))
        return self._shared.database.row(wanted)

    def _mark_used(self, row: Row[tuple[Any, ...]], now: datetime) -> None:
        later = now + self._idle
        if later - stored.read_time(row.expires) < USE_STEP:
            return
        which = SESSIONS.c.digest == row.digest
        longer = update(SESSIONS).where(which).values(expires=stored.write_time(later))
        self._shared.database.execute(longer)


@dataclass(frozen=True, slots=True)
class Drafts:
    """Keeps typed forms for as long as a browser session can last."""

    _shared: Dependencies

    def keep(self, fields: Iterable[tuple[str, str]], *, by: str) -> str:
        """Keeps what was typed; the name under which this person finds it."""
        name, now = token_urlsafe(DRAFT_NAME_BYTES), self._shared.clock()
        text = dumps(list(fields)).encode()
        row = {
            "digest": _derive(name, "place").hex(), "person": by, "number": time_ns(),
            "until": stored.write_time(now + timedelta(hours=self._shared.settings.visit_hours)),
            "body": AESGCM(_derive(name, "key")).encrypt(NONCE, text, by.encode()),
        }  # fmt: skip
        newest = select(DRAFTS.c.digest).where(DRAFTS.c.person == by)
        newest = newest.order_by(DRAFTS.c.number.desc()).limit(MAX_DRAFTS)
        old = (DRAFTS.c.person == by) & DRAFTS.c.digest.not_in(newest)
        self._shared.database.execute(insert(DRAFTS).values(row), delete(DRAFTS).where(old))
        return name

    def kept(self, name: str, *, by: str) -> FormFields | None:
        """What this person typed; None where it is over, or nobody's, or somebody else's."""
        place = _derive(name, "place").hex()
        wanted = select(DRAFTS).where((DRAFTS.c.digest == place) & (DRAFTS.c.person == by))
        row = self._shared.database.row(wanted)
        if row is None or stored.read_time(row.until) <= self._shared.clock():
            return None
        try:
            text = AESGCM(_derive(name, "key")).decrypt(NONCE, row.body, by.encode())
        except InvalidTag:
            return None
        return [(field, value) for field, value in loads(text)]

    def sweep(self) -> None:
        """Deletes what is over; nothing is written where nothing is."""
        over = DRAFTS.c.until <= stored.write_time(self._shared.clock())
        if self._shared.database.values(select(DRAFTS.c.digest).where(over).limit(1)):
            self._shared.database.execute(delete(DRAFTS).where(over))

    def forget(self, *, by: str) -> None:
        self._shared.database.execute(delete(DRAFTS).where(DRAFTS.c.person == by))


def _derive(name: str, what: str) -> bytes:
    return sha256(f"{what} of a draft\0{name}".encode("utf-8", "surrogatepass")).digest()
