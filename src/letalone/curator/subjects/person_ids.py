"""Reads a person's id as the table spells it, and names the person in the ledger by a key instead.

007 and 7 are the same whole number, 2024-1-31 and 2024-01-31 the same day: rows, marks, keys and
statements all use the one spelling. Where something of a person is to be forgotten, the id as it
was typed is looked for, too: an older letalone took it as it was typed.

The ledger never forgets, so it must not name people: no reason and no outcome may have the id in
it, whatever its case and the blanks within it. The ledger has HMAC-SHA256 of data set and id under
a key of 256 bits that is this person's alone. While the key is there, all acts about a person can
be found together. When it is destroyed nobody can tell whose they were, not even with the master
key and the id.

  Tested:   tests/curator/test_person_ids.py, tests/curator/test_subjects.py
  Assumed:  HMAC-SHA256 is a pseudo-random function; copies of the database (backups) end, too
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from secrets import token_bytes

from sqlalchemy import delete, insert, select, update

from letalone.curator.data_sets.open_sessions import RowsLocation
from letalone.curator.storage.database import Database
from letalone.curator.storage.master_key import KEY_BYTES, MasterKey, pseudonym
from letalone.curator.storage.tables import OWNER_TASKS, SUBJECT_KEYS
from letalone.curator.subjects.unit_rows import spelled_id
from letalone.errors import ParameterError

MAX_ID_LENGTH = 1000
MAX_ID_WORDS = 8  # of an id that is looked for in an outcome
PUNCTUATION = "\"'`.,;:!?()[]{}<>„“”‚‘’«»"
NEGATIVE_ZERO = "-0.0"


class NotAnId(ParameterError):  # noqa: N818  (as in letalone.errors)
    """The id can be none in this data set, by the type of its unit."""


@dataclass(frozen=True, slots=True)
class PersonId:
    """An id as it was typed, and as the table spells it."""

    typed: str
    spelled: str

    @property
    def spellings(self) -> tuple[str, ...]:
        """All under which something may have been kept."""
        zero = (NEGATIVE_ZERO,) if self.spelled == "0.0" else ()
        return tuple(dict.fromkeys((self.spelled, self.typed, *zero)))


def check_typed(typed: object) -> str:
    """A text that is not empty, and not too long."""
    if not isinstance(typed, str) or not 0 < len(typed) <= MAX_ID_LENGTH:
        raise ParameterError(f"The id must be a text of 1 to {MAX_ID_LENGTH} letters.")
    return typed


def read_id(source: RowsLocation, typed: str) -> PersonId:
    """The id in a data set; NotAnId where it is not of the declared type of the unit."""
    spelled = spelled_id(source.place, source.schema, typed)
    if spelled is None:
        unit = source.schema.column(source.schema.unit or "")
        raise NotAnId(
            f"The id is no {unit.type.value}, which {unit.name!r} of {source.schema.name!r} is."
            " Write it as in a CSV file."
        )
    return PersonId(typed, spelled)


def check_unnamed(words: str, ids: Iterable[str]) -> None:
    """Refuses words that have one of the ids in them."""
    plain = _plain(words)
    for unit_id in filter(None, map(_plain, ids)):
        if re.search(rf"(?<!\w){re.escape(unit_id)}(?!\w)", plain):
            raise id_in_reason()


def id_in_reason() -> ParameterError:
    """What is told where a reason or an outcome has the id in it."""
    return ParameterError(
        "The reason has the person's id in it, and the ledger never forgets. Name the case by a"
        " separate number instead."
    )


def possible_ids(words: str) -> Iterator[str]:
    """Whatever in some words could be an id: runs of words, in several ways of writing them.

    For where the id itself is not known here, only what a key makes of it.
    """
    parts = words.split()
    for start in range(len(parts)):
        for end in range(start + 1, min(start + MAX_ID_WORDS, len(parts)) + 1):
            run = " ".join(parts[start:end])
            yield from dict.fromkeys(_ways(run) | _ways(run.strip(PUNCTUATION)))
    yield from re.findall(r"[\w@.+-]*\w", words)
    yield from (str(int(digits)) for digits in re.findall(r"(?<![\w.])[0-9]{1,30}(?![\w.])", words))


def _ways(run: str) -> dict[str, None]:
    return dict.fromkeys((run, run.lower(), run.upper(), run.title(), run.casefold()))


def _plain(words: str) -> str:
    return " ".join(words.casefold().split())


def pseudonym_of_subject(database: Database, master: MasterKey, data_set: str, unit_id: str) -> str:
    """What the ledger calls a person in a data set; a key is made at the first act."""
    finder = master.finder(data_set, unit_id)
    wanted = select(SUBJECT_KEYS.c.key).where(SUBJECT_KEYS.c.finder == finder)
    with database.writing() as connection:
        key = connection.execute(wanted).scalar_one_or_none()
        if key is None:
            key = token_bytes(KEY_BYTES)
            connection.execute(insert(SUBJECT_KEYS).values(finder=finder, key=key))
    return pseudonym(key, data_set, unit_id)


def destroy_keys(database: Database, finders: Sequence[str]) -> bool:
    """From here on nobody can tell whose acts these were; whether also not from the log.

    Errands of the person stay, and say no longer whose they were.
    """
    theirs = update(OWNER_TASKS).where(OWNER_TASKS.c.finder.in_(finders))
    database.execute(
        delete(SUBJECT_KEYS).where(SUBJECT_KEYS.c.finder.in_(finders)),
        theirs.values(finder="", subject=""),
    )
    return database.overwrite()
