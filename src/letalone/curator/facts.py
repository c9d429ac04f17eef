"""Who answers for the data: kept in the database, shown on the open page and in the record.

Tested:   tests/curator/test_facts.py
"""

from dataclasses import dataclass

from sqlalchemy import delete, insert, select

from letalone.curator.house import House
from letalone.curator.people import People
from letalone.curator.records import Role
from letalone.curator.requests import read_words
from letalone.curator.tables import FACTS

NAMES = ("controller", "contact")


@dataclass(frozen=True, slots=True)
class Answerable:
    """Who answers for the data, and how they are reached."""

    controller: str
    contact: str


class Facts:
    """What the service says of itself."""

    __slots__ = ("_house", "_people")

    def __init__(self, house: House, people: People) -> None:
        self._house, self._people = house, people

    @property
    def answerable(self) -> Answerable:
        """What was said last, else what the settings say."""
        settings = self._house.settings
        with self._house.database.reading() as connection:
            rows = connection.execute(select(FACTS)).all()
        kept = {row.name: row.words for row in rows}
        return Answerable(
            kept.get("controller", settings.controller), kept.get("contact", settings.contact)
        )

    def say(
        self, *, controller: str | None = None, contact: str | None = None, by: str | None
    ) -> Answerable:
        """Names who answers for the data: by an owner, or (by=None) by who has the machine."""
        if by is not None:
            self._people.require(by, Role.OWNER)
        given = {"controller": controller, "contact": contact}
        said = {name: read_words(name, words) for name, words in given.items() if words is not None}
        with self._house.database.writing() as connection:
            for name, words in said.items():
                connection.execute(delete(FACTS).where(FACTS.c.name == name))
                connection.execute(insert(FACTS).values(name=name, words=words))
        if said:
            people = [] if by is None else [by]
            self._house.book.write(None, "answerable", dict[str, object](said), by=people)
        return self.answerable
