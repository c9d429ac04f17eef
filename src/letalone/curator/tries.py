"""How often something may be tried: a window of minutes for each name, counted before the check.

A try is counted before it is looked at, so tries at the same moment count each. A name that
nobody has is counted in the same way. Nobody is locked out for longer than a window.

  Tested:   tests/curator/test_people.py
"""

from hashlib import sha256

from sqlalchemy import delete, insert, select, update

from letalone.curator.house import House
from letalone.curator.refusals import TooManyTries
from letalone.curator.tables import TRIES


def count_try(house: House, what: str, name: str) -> None:
    """Counts one try; TooManyTries, with how long to wait, where there were enough."""
    window, most = 60 * house.settings.tries_minutes, house.settings.tries
    digest, now = _digest(what, name), int(house.clock().timestamp())
    with house.database.writing() as connection:
        connection.execute(delete(TRIES).where(TRIES.c.since <= now - window))
        row = connection.execute(select(TRIES).where(TRIES.c.digest == digest)).one_or_none()
        if row is None:
            connection.execute(insert(TRIES).values(digest=digest, since=now, number=1))
            return
        if row.number < most:
            more = update(TRIES).where(TRIES.c.digest == digest).values(number=row.number + 1)
            connection.execute(more)
            return
    wait = max(1, row.since + window - now)
    raise TooManyTries(
        f"There were {most} tries with this name within {house.settings.tries_minutes} minutes."
        f" Wait {wait} seconds, then try again.",
        seconds=wait,
    )


def forget_tries(house: House, what: str, name: str) -> None:
    """After a success the count begins anew."""
    with house.database.writing() as connection:
        connection.execute(delete(TRIES).where(TRIES.c.digest == _digest(what, name)))


def _digest(what: str, name: str) -> str:
    return sha256(f"{what}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()
