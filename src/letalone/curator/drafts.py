"""What somebody has typed into a form of the console, so that a page can be reloaded and gone
back to, and nothing of it stands in an address.

A draft is found by 192 random bits in the address of its page, by its own person alone. It is
encrypted (AES-GCM) under a key made from these bits, of which the database has a digest: who
finds the database, a backup or a page of it that was freed cannot read who was looked up.

  Tested:   tests/curator/test_drafts.py
  Assumed:  SHA-256 is one-way; AES-GCM hides and seals what is encrypted once under a key
"""

from collections.abc import Iterable
from datetime import timedelta
from hashlib import sha256
from json import dumps, loads
from secrets import token_urlsafe
from time import time_ns

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import delete, insert, select

from letalone.curator.house import House
from letalone.curator.tables import DRAFTS
from letalone.curator.words import time_of, written

BYTES = 24
MOST = 20  # of one person: the newest; each is at most as large as a body
ONCE = bytes(12)  # each key encrypts one draft, so it needs no random nonce
Fields = list[tuple[str, str]]


class Drafts:
    """Forms that were typed, for as long as a visit can last."""

    __slots__ = ("_house",)

    def __init__(self, house: House) -> None:
        self._house = house

    def keep(self, fields: Iterable[tuple[str, str]], *, by: str) -> str:
        """Keeps what was typed; the name under which this person finds it."""
        name, now = token_urlsafe(BYTES), self._house.clock()
        text = dumps(list(fields)).encode()
        row = {
            "digest": _made_from(name, "place").hex(), "person": by, "number": time_ns(),
            "until": written(now + timedelta(hours=self._house.settings.visit_hours)),
            "body": AESGCM(_made_from(name, "key")).encrypt(ONCE, text, by.encode()),
        }  # fmt: skip
        with self._house.database.writing() as connection:
            connection.execute(insert(DRAFTS).values(row))
            newest = select(DRAFTS.c.digest).where(DRAFTS.c.person == by)
            newest = newest.order_by(DRAFTS.c.number.desc()).limit(MOST)
            old = (DRAFTS.c.person == by) & DRAFTS.c.digest.not_in(newest)
            connection.execute(delete(DRAFTS).where(old))
        return name

    def kept(self, name: str, *, by: str) -> Fields | None:
        """What this person typed; None where it is over, or nobody's, or somebody else's."""
        place = _made_from(name, "place").hex()
        wanted = select(DRAFTS).where((DRAFTS.c.digest == place) & (DRAFTS.c.person == by))
        with self._house.database.reading() as connection:
            row = connection.execute(wanted).one_or_none()
        if row is None or time_of(row.until) <= self._house.clock():
            return None
        try:
            text = AESGCM(_made_from(name, "key")).decrypt(ONCE, row.body, by.encode())
        except InvalidTag:
            return None
        return [(field, value) for field, value in loads(text)]

    def sweep(self) -> None:
        """Deletes what is over; nothing is written where nothing is."""
        over = DRAFTS.c.until <= written(self._house.clock())
        with self._house.database.reading() as connection:
            found = connection.execute(select(DRAFTS.c.digest).where(over).limit(1)).first()
        if found is not None:
            with self._house.database.writing() as connection:
                connection.execute(delete(DRAFTS).where(over))

    def forget(self, *, by: str) -> None:
        """Drops all that this person typed."""
        with self._house.database.writing() as connection:
            connection.execute(delete(DRAFTS).where(DRAFTS.c.person == by))


def _made_from(name: str, what: str) -> bytes:
    return sha256(f"{what} of a draft\0{name}".encode("utf-8", "surrogatepass")).digest()
