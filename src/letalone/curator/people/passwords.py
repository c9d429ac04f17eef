"""Checks passwords (Argon2id) and limits how often one may be tried.

A check takes the same time for everybody, whether there is such a person or not.

`count_attempt` counts an attempt before the password is looked at, so attempts at the same moment
all count. A name that nobody has is counted in the same way. Each address has its own counter, so
strangers lock nobody out. If one name is tried very often, from anywhere, `delay_attempt` makes
each attempt wait a moment and refuses none.

Theorem.  Nobody waits longer than one window after the clock was last set, however far it was off.
  Proven:   a window that began in the future, as a clock says that was set back, begins now: so
            what is left of it is at most its own length. One that ended by a jump ahead is deleted
  Tested:   tests/curator/test_people.py: an unknown name is checked at the same cost
  Assumed:  Argon2id of `cryptography`; OWASP's least cost (46 MiB, one pass) is enough
"""

from secrets import choice, token_bytes
from threading import BoundedSemaphore
from time import sleep

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from sqlalchemy import Connection, delete, insert, select, update

from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.refusals import TooManyTries
from letalone.curator.storage.settings import Settings
from letalone.curator.storage.stored_values import digest_of_secret
from letalone.curator.storage.tables import ATTEMPTS
from letalone.errors import ParameterError

LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # none that looks like another
GROUPS, GROUP = 5, 5  # 25 letters of 31: 123 bits
MAX_PASSWORD_LENGTH = 1024
HASHES_AT_ONCE = BoundedSemaphore(4)  # each takes its whole memory
ANYWHERE = "anywhere"


class Passwords:
    """Hashes and checks passwords at the cost that the settings say.

    A hash is text with its salt and its cost.
    """

    __slots__ = ("_nobody", "_settings")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._nobody = self.hashed(token_bytes(32).hex())

    def hashed(self, password: str) -> str:
        cost = self._settings
        kind = Argon2id(
            salt=token_bytes(16),
            length=32,
            iterations=cost.password_passes,
            lanes=cost.password_lanes,
            memory_cost=cost.password_memory_kib,
        )
        with HASHES_AT_ONCE:
            return kind.derive_phc_encoded(_bytes(password))

    def is_right(self, password: str, kept: str | None) -> bool:
        """Whether this is the password; takes as long where there is none."""
        against = self._nobody if kept is None else kept
        try:
            with HASHES_AT_ONCE:
                Argon2id.verify_phc_encoded(_bytes(password), against)
        except InvalidKey:
            return False
        return kept is not None

    def check_new(self, password: str, *, name: str) -> None:
        shortest = self._settings.shortest_password
        if not shortest <= len(password) <= MAX_PASSWORD_LENGTH:
            raise ParameterError(
                f"The new password has {len(password)} letters, but must have from {shortest}"
                f" to {MAX_PASSWORD_LENGTH}. Four words that have nothing to do with each other are"
                " good."
            )
        if name.casefold() in password.casefold() or len(set(password)) < 5:
            raise ParameterError(
                "The new password has the name in it, or fewer than five different letters. Choose"
                " another."
            )


def one_time_password() -> str:
    """A password that nobody can guess, easy to type: it must be changed at the first log-in."""
    return "-".join("".join(choice(LETTERS) for _ in range(GROUP)) for _ in range(GROUPS))


def _bytes(password: str) -> bytes:
    """At most so many letters: the cost must not grow with what a stranger sends."""
    return password[: MAX_PASSWORD_LENGTH + 1].encode("utf-8", "surrogatepass")


def count_attempt(shared: Dependencies, what: str, name: str, address: str = "") -> None:
    """Counts one try; TooManyTries, with how long to wait, where there were enough."""
    limit = shared.settings.tries
    number, wait = _count(shared, _digest(what, name, address), limit=limit)
    if number <= limit:
        return
    raise TooManyTries(
        f"There were {limit} tries with this name from here within {shared.settings.tries_minutes}"
        f" minutes. Wait {wait} seconds, then try again.",
        seconds=wait,
    )


def delay_attempt(shared: Dependencies, what: str, name: str) -> None:
    """Lets a try wait for a moment where there were very many of a name; never refuses."""
    limit = shared.settings.slow_after
    number, _ = _count(shared, _digest(what, name, ANYWHERE), limit=limit)
    if number > limit:
        sleep(shared.settings.slow_seconds)


def forget_attempts(shared: Dependencies, what: str, name: str, address: str | None = None) -> None:
    """After a success from an address the count begins anew; without one, from everywhere."""
    digest = ATTEMPTS.c.digest
    which = digest.startswith(_digest(what, name), autoescape=True)
    if address is not None:
        which = digest == _digest(what, name, address)
    shared.database.execute(delete(ATTEMPTS).where(which))


def _count(shared: Dependencies, digest: str, *, limit: int) -> tuple[int, int]:
    """How many tries there were with this one, at most one too many; how long the window lasts."""
    window, now = 60 * shared.settings.tries_minutes, int(shared.clock().timestamp())
    with shared.database.writing() as connection:
        connection.execute(delete(ATTEMPTS).where(ATTEMPTS.c.since <= now - window))
        number, since = _next(connection, digest, now=now, limit=limit)
    return number, max(1, since + window - now)


def _next(connection: Connection, digest: str, *, now: int, limit: int) -> tuple[int, int]:
    row = connection.execute(select(ATTEMPTS).where(ATTEMPTS.c.digest == digest)).one_or_none()
    if row is None:
        connection.execute(insert(ATTEMPTS).values(digest=digest, since=now, number=1))
        return 1, now
    since, number = min(row.since, now), min(row.number + 1, limit)
    if (since, number) != (row.since, row.number):
        more = update(ATTEMPTS).where(ATTEMPTS.c.digest == digest)
        connection.execute(more.values(since=since, number=number))
    return row.number + 1, since


def _digest(what: str, name: str, address: str | None = None) -> str:
    """One for the name, which what is counted by address begins with."""
    of_name = digest_of_secret(f"{what}\0{name}")
    return of_name if address is None else f"{of_name}.{digest_of_secret(address)}"
