"""Limits how much is stored of one person's answers in a day: nobody fills the disk for others.

A charge may be as small as one likes, so budgets do not bound how much is asked. What counts is
the length of each answer that is kept, which is a function of answers that were released. Repeats
are not stored again, and do not count.

  Tested:   tests/curator/test_sizes.py
  Assumed:  questions at the same moment may go beyond by one answer each
"""

from datetime import UTC, datetime, time, timedelta

from sqlalchemy import bindparam, delete, exists, select, update

from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.refusals import TooManyTries
from letalone.curator.storage.tables import RELEASES, STORED_BYTES, insert_once
from letalone.ledger.storage.trips import Asked

MEGABYTE = 1_000_000
TODAY = (STORED_BYTES.c.person == bindparam("who")) & (STORED_BYTES.c.day == bindparam("today"))
LETTERS = select(STORED_BYTES.c.letters).where(TODAY)
FORGET_OTHER_DAYS = delete(STORED_BYTES).where(
    STORED_BYTES.c.person == bindparam("who"), STORED_BYTES.c.day != bindparam("today")
)
BEGIN_DAY = insert_once(STORED_BYTES)
IS_KEPT = exists().where(RELEASES.c.id == bindparam("release"))
SUM = STORED_BYTES.c.letters + bindparam("more")
COUNT = update(STORED_BYTES).where(TODAY, ~IS_KEPT).values(letters=SUM)


def check_quota(shared: Dependencies, person: str) -> None:
    """TooManyTries where a person's answers of this day are as long as they may be."""
    now, megabytes = shared.clock(), shared.settings.stored_megabytes
    row = shared.database.row(LETTERS, who=person, today=_day(now))
    if row is None or row.letters < megabytes * MEGABYTE:
        return
    tomorrow = now.astimezone(UTC).date() + timedelta(days=1)
    until = datetime.combine(tomorrow, time(), UTC) - now
    raise TooManyTries(
        f"Your answers of this day have {megabytes:,} million letters, the most that is stored for"
        " one person in a day. Nothing was charged. Repeats are still answered; ask on tomorrow"
        " (UTC).",
        seconds=max(1, int(until.total_seconds())),
    )


def count_bytes(person: str, letters: int, *, now: datetime, unless: str) -> tuple[Asked, ...]:
    """What counts an answer, unless it is kept already, in the transaction that keeps it."""
    day = {"person": person, "day": _day(now)}
    return (
        (FORGET_OTHER_DAYS, {"who": person, "today": _day(now)}),
        (BEGIN_DAY, {**day, "letters": 0}),
        (COUNT, {"who": person, "today": _day(now), "more": letters, "release": unless}),
    )


def _day(now: datetime) -> str:
    return now.astimezone(UTC).date().isoformat()
