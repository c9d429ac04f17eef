"""Visits: what a browser is signed in as; 256 random bits in a cookie, of which SHA-256 is kept.

A visit ends when nobody used it for a while, at the latest after some hours, at sign-out, and
when its person is disabled, gets other roles or another password. Whoever gives the password
again gets a new secret, and the old one is over: a cookie from before cannot act as a steward.

  Tested:   tests/curator/console/test_visits.py
  Assumed:  nobody finds a text with a given SHA-256, or guesses 256 bits
"""

from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any

from sqlalchemy import Row, delete, insert, select, update

from letalone.curator.house import House
from letalone.curator.people import People, check_same
from letalone.curator.records import Bearer, Recognised, Scope
from letalone.curator.refusals import NotPermitted, NotRecognised
from letalone.curator.tables import SESSIONS
from letalone.curator.tokens import scopes_of
from letalone.curator.words import read_time, still_lasts, time_of, written
from letalone.errors.codes import Code
from letalone.errors.problem import Problem

BYTES = 32
STEP = timedelta(minutes=1)  # how exactly the last use is known: not every look is written


class Visits:
    """The browsers that are signed in."""

    __slots__ = ("_house", "_people")

    def __init__(self, house: House, people: People) -> None:
        self._house, self._people = house, people

    def begin(self, proof: Recognised) -> str:
        """A new secret for somebody whose password was right; those that are over are removed."""
        until = self._house.clock() + timedelta(hours=self._house.settings.visit_hours)
        return self._begun(proof, until=until, elevated_until=None)

    def visitor(self, secret: str) -> Bearer:
        """Who this is, and what they may do now; NotRecognised."""
        row, now, settings = self._row(secret), self._house.clock(), self._house.settings
        longest = timedelta(hours=settings.visit_hours)
        if (
            row is None
            or not still_lasts(time_of(row.expires), now, self._idle)
            or not still_lasts(time_of(row.until), now, longest)
        ):
            raise NotRecognised(Problem(Code.SIGNED_OUT))
        person = self._people.person(row.person)
        if not person.active:
            raise NotRecognised(Problem(Code.SIGNED_OUT))
        self._mark_used(row, now)
        until, longest = read_time(row.elevated_until), timedelta(minutes=settings.elevated_minutes)
        elevated = until is not None and still_lasts(until, now, longest)
        return Bearer(person, scopes_of(person), elevated=elevated, token=row.digest)

    def elevate(self, secret: str, password: str) -> str:
        """The password again: a new secret, for the acts of stewards and owners for a while."""
        bearer = self.visitor(secret)
        name = bearer.person.name
        proof = self._people.password_again(name, password)
        return self.elevated(secret, proof)

    def elevated(self, secret: str, proof: Recognised) -> str:
        """As `elevate`, where somebody else has checked who this is."""
        bearer, row = self.visitor(secret), self._row(secret)
        if row is None or proof.person.name != bearer.person.name:
            raise NotRecognised(Problem(Code.SIGNED_OUT))
        if not bearer.scopes - {Scope.ASK}:
            raise NotPermitted("This is for stewards, owners and auditors.")
        minutes = timedelta(minutes=self._house.settings.elevated_minutes)
        limit = self._house.clock() + minutes
        made = self._begun(proof, until=time_of(row.until), elevated_until=limit)
        self.end(secret)
        name = bearer.person.name
        self._house.book.write(None, "elevated", {"person": name}, by=[name])
        return made

    def end(self, secret: str) -> None:
        """Signs this browser out."""
        with self._house.database.writing() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.digest == _digest(secret)))

    def sealed(self, words: str, secret: str | None) -> str:
        """A seal of words that a browser keeps; of this visit alone where there is one."""
        return self._house.master.journey(words, _digest(secret) if secret else "")

    def _begun(self, proof: Recognised, *, until: datetime, elevated_until: datetime | None) -> str:
        secret, now = token_urlsafe(BYTES), self._house.clock()
        row = {
            "digest": _digest(secret), "person": proof.person.name,
            "expires": written(now + self._idle), "elevated_until": written(elevated_until),
            "until": written(until),
        }  # fmt: skip
        over = (SESSIONS.c.expires < written(now)) | (SESSIONS.c.until < written(now))
        with self._house.database.writing() as connection:
            check_same(connection, proof)
            connection.execute(delete(SESSIONS).where(over))
            connection.execute(insert(SESSIONS).values(row))
        return secret

    @property
    def _idle(self) -> timedelta:
        return timedelta(minutes=self._house.settings.visit_minutes)

    def _row(self, secret: str) -> Row[tuple[Any, ...]] | None:
        wanted = select(SESSIONS).where(SESSIONS.c.digest == _digest(secret))
        with self._house.database.reading() as connection:
            return connection.execute(wanted).one_or_none()

    def _mark_used(self, row: Row[tuple[Any, ...]], now: datetime) -> None:
        later = now + self._idle
        if later - time_of(row.expires) < STEP:
            return
        which = SESSIONS.c.digest == row.digest
        with self._house.database.writing() as connection:
            connection.execute(update(SESSIONS).where(which).values(expires=written(later)))


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
