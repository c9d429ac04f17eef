"""How much is stored of one person's answers in a day: nobody fills the disk for all others.

A charge may be as small as one likes, so budgets do not bound how much is asked. What counts is
the length of each answer that is kept, which is a function of answers that were released. Repeats
are not stored again, and do not count.

  Tested:   tests/curator/test_sizes.py
  Assumed:  questions at the same moment may go beyond by one answer each
"""

from datetime import UTC, datetime, time, timedelta

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from letalone.curator.house import House
from letalone.curator.refusals import TooManyTries
from letalone.curator.tables import STORED

MEGABYTE = 1_000_000


def check_room(house: House, person: str) -> None:
    """TooManyTries where a person's answers of this day are as long as they may be."""
    now, most = house.clock(), house.settings.stored_megabytes
    wanted = select(STORED.c.letters).where(*_of(person, now))
    with house.database.reading() as connection:
        letters = connection.execute(wanted).scalar() or 0
    if letters < most * MEGABYTE:
        return
    raise TooManyTries(
        f"Your answers of this day have {most:,} million letters, the most that is stored for one"
        " person in a day. Nothing was charged. Repeats are still answered; ask on tomorrow (UTC).",
        seconds=_until_tomorrow(now),
    )


def count_stored(connection: Connection, person: str, letters: int, *, now: datetime) -> None:
    """Counts an answer, in the transaction that keeps it."""
    more = update(STORED).where(*_of(person, now)).values(letters=STORED.c.letters + letters)
    if connection.execute(more).rowcount == 0:
        connection.execute(delete(STORED).where(STORED.c.person == person))  # other days
        row = {"person": person, "day": _day(now), "letters": letters}
        connection.execute(insert(STORED).values(row))


def _of(person: str, now: datetime) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return STORED.c.person == person, STORED.c.day == _day(now)


def _day(now: datetime) -> str:
    return now.astimezone(UTC).date().isoformat()


def _until_tomorrow(now: datetime) -> int:
    tomorrow = now.astimezone(UTC).date() + timedelta(days=1)
    return max(1, int((datetime.combine(tomorrow, time(), UTC) - now).total_seconds()))
