"""Gives a day's notice before rows are removed, which a wrong clock cannot shorten.

A clock that is wrong by a year must not remove rows that were to be kept. So when a retention date
is over, the ledger first says that the rows will be removed. They are removed a day later, if the
date was over whenever it was looked at, and the clock was not set in between.

Theorem.  Rows are removed without an owner only if for 24 hours before, by a clock that nobody can
set (`since_start`), each look found their retention date over, and the time of day ran along with
that clock up to ten minutes.
  Proven:   a row of the table is made at the first look that finds a data set overdue, and holds
            both clocks of that look. A look that does not find it overdue deletes the row, and so
            does a look that cannot tell, since the ledger is ahead of it; one at which the clocks
            have moved differently begins it anew. There is no third kind of look, and each reads
            the clocks while it alone may write. So where the row is as old as 24 hours by the
            clock of its own start of the machine, all looks since found the data set overdue, and
            the clocks agreed. The row is kept only once the ledger has said so
  Tested:   tests/curator/test_notices.py: jumps ahead, back, in between, several processes; clocks
            that jump at random, against the theorem itself
  Assumed:  a clock that is wrong at each look of a day while the notice stands is what the owner
            wants. A machine that is started anew begins the day anew
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from math import ceil

from sqlalchemy import Connection, delete, insert, select

from letalone.curator.storage.dependencies import Dependencies, Moment, SteadyClock
from letalone.curator.storage.stored_values import CLOCK_TOLERANCE, DataRow, read_time, write_time
from letalone.curator.storage.tables import NOTICES

NOTICE = timedelta(days=1)
ANNOUNCED, CALLED_OFF = "removal announced", "removal called off"


def to_remove(shared: Dependencies, steady: SteadyClock, overdue: Collection[str]) -> list[str]:
    """Which of these data sets had a day's notice; notice is given to the others, or taken back."""
    with shared.database.writing() as connection:
        now, moment = shared.clock(), steady()
        if now + CLOCK_TOLERANCE < read_time(shared.ledger.newest(limit=1)[0].time):
            overdue = ()  # one of the two clocks was wrong: nobody can tell what is over
        rows = connection.execute(select(NOTICES)).all()
        off = {row.data_set for row in rows} - set(overdue)
        connection.execute(delete(NOTICES).where(NOTICES.c.data_set.in_(off)))
        mine = {row.data_set: row for row in rows if row.machine == moment.start}
        fresh = [name for name in overdue if not _runs(mine.get(name), now, moment)]
        began = {"machine": moment.start, "since": write_time(now), "steady": ceil(moment.seconds)}
        again = NOTICES.c.data_set.in_(fresh) & (NOTICES.c.machine == moment.start)
        connection.execute(delete(NOTICES).where(again))
        for name in fresh:
            connection.execute(insert(NOTICES).values(data_set=name, **began))
        known = {row.data_set for row in rows if row.machine != moment.start}
        _write_acts(shared, ANNOUNCED, set(fresh) - known, removal=write_time(now + NOTICE))
    _write_acts(shared, CALLED_OFF, off)
    seconds = NOTICE.total_seconds()
    return [name for name in overdue if name not in fresh and _age(mine[name], moment) >= seconds]


def removal(shared: Dependencies, data_set: str) -> datetime | None:
    """From when on the rows are removed, where that was announced."""
    wanted = select(NOTICES.c.since).where(NOTICES.c.data_set == data_set)
    times = shared.database.values(wanted.order_by(NOTICES.c.since))
    return read_time(times[-1]) + NOTICE if times else None


def forget_notice(connection: Connection, data_set: str) -> None:
    """The rows are gone."""
    connection.execute(delete(NOTICES).where(NOTICES.c.data_set == data_set))


def _runs(row: DataRow | None, now: datetime, moment: Moment) -> bool:
    """Whether a notice goes on: both clocks have moved alike since it was given."""
    if row is None:
        return False
    by_clock = (now - read_time(row.since)).total_seconds()
    return abs(by_clock - _age(row, moment)) <= CLOCK_TOLERANCE.total_seconds()


def _age(row: DataRow, moment: Moment) -> float:
    return moment.seconds - row.steady


def _write_acts(shared: Dependencies, what: str, names: Iterable[str], **body: str | None) -> None:
    for name in sorted(names):
        shared.ledger.administer(name, what, dict(body), by=[])
