"""How often something may be tried: a window of minutes for a name and an address.

A try is counted before it is looked at, so tries at the same moment count each. A name that
nobody has is counted in the same way. Whoever tries from elsewhere has a count of their own, so
strangers lock nobody out; many tries of one name, from wherever, only make each wait a moment.

Theorem.  Nobody waits longer than one window after the clock was last set, however far it was off.
  Proven:   a window that began in the future, as a clock says that was set back, begins now: so
            what is left of it is at most its own length. One that ended by a jump ahead is deleted
  Tested:   tests/curator/test_people.py
"""

from hashlib import sha256
from time import sleep

from sqlalchemy import Connection, delete, insert, select, update

from letalone.curator.house import House
from letalone.curator.refusals import TooManyTries
from letalone.curator.tables import TRIES

ANYWHERE = "anywhere"


def count_try(house: House, what: str, name: str, address: str = "") -> None:
    """Counts one try; TooManyTries, with how long to wait, where there were enough."""
    most = house.settings.tries
    number, wait = _counted(house, _digest(what, name, address), most=most)
    if number <= most:
        return
    raise TooManyTries(
        f"There were {most} tries with this name from here within {house.settings.tries_minutes}"
        f" minutes. Wait {wait} seconds, then try again.",
        seconds=wait,
    )


def slow_down(house: House, what: str, name: str) -> None:
    """Lets a try wait for a moment where there were very many of a name; never refuses."""
    most = house.settings.slow_after
    number, _ = _counted(house, _digest(what, name, ANYWHERE), most=most)
    if number > most:
        sleep(house.settings.slow_seconds)


def forget_tries(house: House, what: str, name: str, address: str | None = None) -> None:
    """After a success from an address the count begins anew; without one, from everywhere."""
    digest = TRIES.c.digest
    which = digest.startswith(_digest(what, name), autoescape=True)
    if address is not None:
        which = digest == _digest(what, name, address)
    with house.database.writing() as connection:
        connection.execute(delete(TRIES).where(which))


def _counted(house: House, digest: str, *, most: int) -> tuple[int, int]:
    """How many tries there were with this one, at most one too many; how long the window lasts."""
    window, now = 60 * house.settings.tries_minutes, int(house.clock().timestamp())
    with house.database.writing() as connection:
        connection.execute(delete(TRIES).where(TRIES.c.since <= now - window))
        number, since = _next(connection, digest, now=now, most=most)
    return number, max(1, since + window - now)


def _next(connection: Connection, digest: str, *, now: int, most: int) -> tuple[int, int]:
    row = connection.execute(select(TRIES).where(TRIES.c.digest == digest)).one_or_none()
    if row is None:
        connection.execute(insert(TRIES).values(digest=digest, since=now, number=1))
        return 1, now
    since, number = min(row.since, now), min(row.number + 1, most)
    if (since, number) != (row.since, row.number):
        more = update(TRIES).where(TRIES.c.digest == digest)
        connection.execute(more.values(since=since, number=number))
    return row.number + 1, since


def _digest(what: str, name: str, address: str | None = None) -> str:
    """One for the name, which what is counted by address begins with."""
    of_name = _hashed(f"{what}\0{name}")
    return of_name if address is None else f"{of_name}.{_hashed(address)}"


def _hashed(words: str) -> str:
    return sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
