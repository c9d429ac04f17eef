"""The statements that every question and every charge runs, put together once.

Their parameters have names that no column has: `its` data set or entry, `who` asks `for` what.
"""

from sqlalchemy import bindparam, func, insert, or_, select, update

from letalone.ledger.storage.tables import ENTRIES, HEAD, KEYS, LEVELS, PAYMENTS, SETTLEMENTS
from letalone.ledger.storage.trips import Asked

THE_HEAD, THE_KEY = select(HEAD), select(KEYS)
ADD_ENTRY, MOVE_HEAD = insert(ENTRIES), update(HEAD)
ADD_SETTLEMENT, ADD_PAYMENT, ADD_LEVEL = insert(SETTLEMENTS), insert(PAYMENTS), insert(LEVELS)
ONE_ENTRY = select(ENTRIES).where(ENTRIES.c.number == bindparam("its"))
LAST_ENTRY = select(ENTRIES.c.number, ENTRIES.c.hash).order_by(ENTRIES.c.number.desc()).limit(1)
LAST_CHANGE = (
    select(ENTRIES)
    .where(ENTRIES.c.changed == bindparam("its"))
    .order_by(ENTRIES.c.number.desc())
    .limit(1)
)
NOT_SETTLED = (
    select(ENTRIES)
    .outerjoin(SETTLEMENTS, SETTLEMENTS.c.reserved == ENTRIES.c.number)
    .where(
        ENTRIES.c.digest == bindparam("asked"),
        ENTRIES.c.name == bindparam("its"),
        SETTLEMENTS.c.reserved.is_(None),
    )
    .order_by(ENTRIES.c.number)
)
ALL_LEVELS = (
    select(LEVELS, ENTRIES)
    .outerjoin(ENTRIES, ENTRIES.c.number == LEVELS.c.entry)
    .where(LEVELS.c.name == bindparam("its"))
)
# Of a purpose as a whole, and of an analyst for it.
OWN_LEVELS = ALL_LEVELS.where(
    LEVELS.c.purpose == bindparam("for"),
    or_(LEVELS.c.analyst == bindparam("who"), LEVELS.c.analyst == ""),
)
MOVE_LEVEL = update(LEVELS).where(
    LEVELS.c.name == bindparam("its"),
    LEVELS.c.purpose == bindparam("for"),
    LEVELS.c.analyst == bindparam("who"),
)
ONE_SETTLEMENT = select(SETTLEMENTS).where(SETTLEMENTS.c.reserved == bindparam("its"))
# Answers, each with the entries that reserved and settled it; of a question, about the newest
# version that has any.
RESERVED, SETTLED, EARLIER = ENTRIES.alias(), ENTRIES.alias(), SETTLEMENTS.alias()
ANSWERS = (
    select(SETTLEMENTS, RESERVED, SETTLED)
    .outerjoin(RESERVED, RESERVED.c.number == SETTLEMENTS.c.reserved)
    .outerjoin(SETTLED, SETTLED.c.number == SETTLEMENTS.c.settled)
    .where(SETTLEMENTS.c.release.is_not(None))
    .order_by(SETTLEMENTS.c.reserved)
)
ONE_ANSWER = ANSWERS.where(SETTLEMENTS.c.reserved == bindparam("its"))
NEWEST_ANSWERS = ANSWERS.where(
    SETTLEMENTS.c.name == bindparam("its"),
    SETTLEMENTS.c.digest == bindparam("asked"),
    SETTLEMENTS.c.version
    == select(func.max(EARLIER.c.version))
    .where(
        EARLIER.c.name == bindparam("its"),
        EARLIER.c.digest == bindparam("asked"),
        EARLIER.c.release.is_not(None),
    )
    .scalar_subquery(),
)
RELEASED = ANSWERS.where(
    SETTLEMENTS.c.release_digest == bindparam("digested"),
    SETTLEMENTS.c.release == bindparam("released"),
).limit(1)
# What must be so before an entry is added.
CONFIRMED_HEAD: tuple[Asked, ...] = ((THE_HEAD, {}), (THE_KEY, {}), (LAST_ENTRY, {}))
