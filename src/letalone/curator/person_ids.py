"""A person's id: read once by the type of the unit, spelled as the table spells it.

007 and 7 are the same whole number, 2024-1-31 and 2024-01-31 the same day: rows, marks, keys and
statements all go by the one spelling. What an id was typed as is looked for, too, where something
of the person is to be forgotten: an older letalone took it as it was typed.

The ledger never forgets, so no reason and no outcome may have the id in it, whatever its case
and the blanks within it.

  Tested:   tests/curator/test_person_ids.py
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from letalone.curator.sessions import Source
from letalone.curator.unit_rows import spelled_id
from letalone.errors import ParameterError

LONGEST = 1000
MOST_WORDS = 8  # of an id that is looked for in an outcome
AROUND = "\"'`.,;:!?()[]{}<>„“”‚‘’«»"
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
    """A text that is not empty, and not a book."""
    if not isinstance(typed, str) or not 0 < len(typed) <= LONGEST:
        raise ParameterError(f"The id must be a text of 1 to {LONGEST} letters.")
    return typed


def read_id(source: Source, typed: str) -> PersonId:
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
    for one in filter(None, map(_plain, ids)):
        if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", plain):
            raise names_the_person()


def names_the_person() -> ParameterError:
    """What is told where a reason or an outcome has the id in it."""
    return ParameterError(
        "The reason has the person's id in it, and the ledger never forgets. Name the case by a"
        " number of its own instead."
    )


def candidates(words: str) -> Iterator[str]:
    """Whatever in some words could be an id: runs of words, in several ways of writing them.

    For where the id itself is not known here, only what a key makes of it.
    """
    parts = words.split()
    for start in range(len(parts)):
        for end in range(start + 1, min(start + MOST_WORDS, len(parts)) + 1):
            run = " ".join(parts[start:end])
            yield from dict.fromkeys(_ways(run) | _ways(run.strip(AROUND)))
    yield from re.findall(r"[\w@.+-]*\w", words)
    yield from (str(int(one)) for one in re.findall(r"(?<![\w.])[0-9]{1,30}(?![\w.])", words))


def _ways(run: str) -> dict[str, None]:
    return dict.fromkeys((run, run.lower(), run.upper(), run.title(), run.casefold()))


def _plain(words: str) -> str:
    return " ".join(words.casefold().split())
