"""A key for each person in each data set, under which the ledger names them; erasure destroys it.

The ledger never forgets, so it must not name people. It names HMAC-SHA256 of data set and id
under a key of 256 bits that is this person's alone. While the key is there, all acts about a
person can be found together. When it is destroyed nobody can tell whose they were, not even with
the master key and the id.

  Tested:   tests/curator/test_subjects.py
  Assumed:  HMAC-SHA256 is a pseudo-random function; copies of the database (backups) end, too
"""

from collections.abc import Sequence
from secrets import token_bytes

from sqlalchemy import delete, insert, select, update

from letalone.curator.house import House
from letalone.curator.keys import BYTES, pseudonym
from letalone.curator.tables import ERRANDS, SUBJECT_KEYS


def subject_of(house: House, data_set: str, unit_id: str) -> str:
    """What the ledger calls a person in a data set; a key is made at the first act."""
    finder = house.master.finder(data_set, unit_id)
    wanted = select(SUBJECT_KEYS.c.key).where(SUBJECT_KEYS.c.finder == finder)
    with house.database.writing() as connection:
        key = connection.execute(wanted).scalar_one_or_none()
        if key is None:
            key = token_bytes(BYTES)
            connection.execute(insert(SUBJECT_KEYS).values(finder=finder, key=key))
    return pseudonym(key, data_set, unit_id)


def destroy_keys(house: House, finders: Sequence[str]) -> bool:
    """From here on nobody can tell whose acts these were; whether also not from the log.

    Errands of the person stay, and say no longer whose they were.
    """
    with house.database.writing() as connection:
        connection.execute(delete(SUBJECT_KEYS).where(SUBJECT_KEYS.c.finder.in_(finders)))
        theirs = update(ERRANDS).where(ERRANDS.c.finder.in_(finders))
        connection.execute(theirs.values(finder="", subject=""))
    return house.database.overwrite()
