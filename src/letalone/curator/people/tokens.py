"""Makes and checks tokens: 256 random bits that stand for a person; only their SHA-256 is kept.

What a token may be used for is decided when it is used: its scopes within the roles that its
person has by then. A token of somebody who was disabled, or whose password was changed, is over.

  Tested:   tests/curator/test_tokens.py: forged, expired, revoked, of a person with fewer roles
  Assumed:  nobody finds a text with a given SHA-256, or guesses 256 bits
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from secrets import token_urlsafe

from sqlalchemy import insert, select, update

from letalone.curator.people.service import PeopleService, check_same
from letalone.curator.storage import stored_values as stored
from letalone.curator.storage.caches import CacheMiss
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.refusals import NotPermitted, NotRecognised, NotThere
from letalone.curator.storage.service_records import Bearer, Recognised
from letalone.curator.storage.tables import PEOPLE, TOKENS
from letalone.errors import ParameterError
from letalone.wire.records import AccessToken, Person, Role, Scope

PREFIX = "la_"
SECRET_BYTES = 32
MAX_LABEL_LENGTH = 100
ROLES_OF_SCOPE = {
    Scope.ASK: frozenset({Role.ANALYST}),
    Scope.STEWARD: frozenset({Role.STEWARD, Role.OWNER}),
    Scope.AUDIT: frozenset({Role.AUDITOR, Role.OWNER}),
    Scope.ADMINISTER: frozenset({Role.OWNER}),
}
NO_SUCH_TOKEN = (
    "The token is not known, has ended or was revoked. Get another one: POST /api/v1/tokens with a"
    " name and a password."
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Makes, checks and revokes secrets `la_…` with scopes and an end."""

    _shared: Dependencies
    _people: PeopleService

    def make(
        self,
        person: str,
        scopes: Iterable[Scope],
        *,
        days: int | None = None,
        label: str = "",
        proof: Recognised | None = None,
    ) -> tuple[str, AccessToken]:
        """A new secret, shown once, and its record. The caller has checked who asks.

        Scopes must lie within the person's roles; a one-time password must be changed first.
        `proof`: what the caller checked, which must still be so when the token is written.
        """
        wanted = frozenset(scopes)
        last = self._shared.settings.most_token_days
        number = self._shared.settings.token_days if days is None else days
        if type(number) is not int or not 1 <= number <= last:
            raise ParameterError(f"days is {number!r}, but must be from 1 to {last}.")
        owner = self._check_owner(person)
        missing = wanted - scopes_of(owner)
        if missing or not wanted:
            may = ", ".join(sorted(scope.value for scope in scopes_of(owner))) or "none"
            raise NotPermitted(f"A token needs scopes that its person may use, which are: {may}.")
        return self._insert_token(owner, wanted, timedelta(days=number), label=label, proof=proof)

    def elevate(self, person: str, password: str) -> tuple[str, AccessToken]:
        """A secret for a steward's or an owner's acts, for a few minutes; the password again."""
        proof = self._people.password_again(person, password)
        owner = self._check_owner(person)
        wanted = scopes_of(owner) - {Scope.ASK}
        if not wanted:
            raise NotPermitted("This is for stewards, owners and auditors.")
        minutes = timedelta(minutes=self._shared.settings.elevated_minutes)
        made = self._insert_token(owner, wanted, minutes, elevated=True, proof=proof)
        self._shared.ledger.administer(None, "elevated", {"person": person}, by=[person])
        return made

    def bearer(self, secret: str) -> Bearer:
        """Whose secret this is, and what it may be used for now; NotRecognised."""
        with self._shared.database.cache.single_stamp():
            bearer, token = self._recognise(secret)
        if token.last_used != self._today():
            self._mark_used(token)
        return bearer

    def cached_bearer(self, secret: str) -> Bearer | None:
        """As `bearer`, where nothing has to be read or written for it; else None."""
        try:
            with self._shared.database.cache.only_cached():
                bearer, token = self._recognise(secret)
        except (CacheMiss, NotRecognised, NotThere):
            return None
        return bearer if token.last_used == self._today() else None

    def revoke(self, token: str, *, by: str, own: bool = False) -> AccessToken:
        """Ends a token (its id): one's own, or anybody's by an owner; `own`: the former only."""
        with self._shared.database.writing() as connection:
            row = connection.execute(select(TOKENS).where(TOKENS.c.id == token)).one_or_none()
            mine = row is not None and row.person == by
            if row is None or not (mine or (not own and self._people.has(by, Role.OWNER))):
                raise NotThere("There is no such token of yours.")
            connection.execute(update(TOKENS).where(TOKENS.c.id == token).values(revoked=True))
            row = connection.execute(select(TOKENS).where(TOKENS.c.id == token)).one()
        return stored.read_record(AccessToken, row)

    def of(self, person: str, *, by: str) -> list[AccessToken]:
        """The tokens of a person: one's own, or anybody's by an owner."""
        if person != by:
            self._people.require(by, Role.OWNER)
        wanted = select(TOKENS).where(TOKENS.c.person == person).order_by(TOKENS.c.created.desc())
        return [stored.read_record(AccessToken, row) for row in self._shared.database.rows(wanted)]

    def _check_owner(self, person: str) -> Person:
        owner = self._people.require(person, *Role)
        if owner.must_change:
            raise NotPermitted("The password is a one-time password. Choose one of your own first.")
        return owner

    def _insert_token(
        self,
        person: Person,
        scopes: frozenset[Scope],
        length: timedelta,
        *,
        label: str = "",
        elevated: bool = False,
        proof: Recognised | None = None,
    ) -> tuple[str, AccessToken]:
        secret, now = PREFIX + token_urlsafe(SECRET_BYTES), self._shared.clock()
        if len(label) > MAX_LABEL_LENGTH:
            raise ParameterError(
                f"label has {len(label)} letters, but may have {MAX_LABEL_LENGTH}."
            )
        row = {
            "id": stored.new_id(), "person": person.name, "digest": stored.digest_of_secret(secret),
            "scopes": stored.write_list(sorted(scope.value for scope in scopes)), "label": label,
            "created": stored.write_time(now), "expires": stored.write_time(now + length),
            "revoked": False, "elevated": elevated, "last_used": None,
        }  # fmt: skip
        with self._shared.database.writing() as connection:
            if proof is not None:
                check_same(connection, proof)
            connection.execute(insert(TOKENS).values(row))
            made = connection.execute(select(TOKENS).where(TOKENS.c.id == row["id"])).one()
        return secret, stored.read_record(AccessToken, made)

    def _recognise(self, secret: str) -> tuple[Bearer, AccessToken]:
        digest, cache = stored.digest_of_secret(secret), self._shared.database.cache
        kept, token = cache.value(("token", digest), lambda: self._read(digest))
        if token is None or not hmac.compare_digest(kept, digest) or not self._holds(token):
            raise NotRecognised(NO_SUCH_TOKEN)
        person = self._people.person(token.person)
        if not person.active:
            raise NotRecognised(NO_SUCH_TOKEN)
        scopes = token.scopes & scopes_of(person)
        return Bearer(person, scopes, elevated=token.elevated, token=token.id), token

    def _read(self, digest: str) -> tuple[str, AccessToken | None]:
        wanted = select(TOKENS, PEOPLE).join(PEOPLE, PEOPLE.c.name == TOKENS.c.person)
        row = self._shared.database.row(wanted.where(TOKENS.c.digest == digest))
        if row is None:
            return "", None
        self._people.cache_row(row)
        return row.digest, stored.read_record(AccessToken, row)

    def _holds(self, token: AccessToken) -> bool:
        length = token.expires - token.created
        return not token.revoked and stored.still_lasts(token.expires, self._shared.clock(), length)

    def _mark_used(self, token: AccessToken) -> None:
        """The day only, and written once a day: a token's hours are its person's affair."""
        today = self._today().isoformat()
        used = update(TOKENS).where(TOKENS.c.id == token.id).values(last_used=today)
        self._shared.database.execute(used)

    def _today(self) -> date:
        return self._shared.clock().date()


def scopes_of(person: Person) -> frozenset[Scope]:
    """What a person's tokens may be used for."""
    return frozenset(scope for scope, roles in ROLES_OF_SCOPE.items() if roles & person.roles)
