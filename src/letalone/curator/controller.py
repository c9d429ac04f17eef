"""Keeps who the data controller is, for the public page and the record of processing.

Tested:   tests/curator/test_facts.py
"""

from dataclasses import dataclass

from sqlalchemy import delete, insert, select

from letalone.curator.database_tables import CONTROLLER_FACTS
from letalone.curator.decisions import read_words
from letalone.curator.dependencies import Dependencies
from letalone.curator.people import PeopleService
from letalone.curator.records import Role


@dataclass(frozen=True, slots=True)
class ControllerContact:
    """The data controller, and how people reach them."""

    controller: str
    contact: str


class ControllerService:
    """Reads and changes who the data controller is."""

    __slots__ = ("_people", "_shared")

    def __init__(self, shared: Dependencies, people: PeopleService) -> None:
        self._shared, self._people = shared, people

    @property
    def answerable(self) -> ControllerContact:
        """What was said last, else what the settings say."""
        settings = self._shared.settings
        rows = self._shared.database.rows(select(CONTROLLER_FACTS))
        kept = {row.name: row.words for row in rows}
        return ControllerContact(
            kept.get("controller", settings.controller), kept.get("contact", settings.contact)
        )

    def say(
        self, *, controller: str | None = None, contact: str | None = None, by: str | None
    ) -> ControllerContact:
        """Names who answers for the data: by an owner, or (by=None) by who has the machine."""
        if by is not None:
            self._people.require(by, Role.OWNER)
        given = {"controller": controller, "contact": contact}
        facts = {
            name: read_words(name, words) for name, words in given.items() if words is not None
        }
        with self._shared.database.writing() as connection:
            for name, words in facts.items():
                connection.execute(delete(CONTROLLER_FACTS).where(CONTROLLER_FACTS.c.name == name))
                connection.execute(insert(CONTROLLER_FACTS).values(name=name, words=words))
        if facts:
            people = [] if by is None else [by]
            self._shared.ledger.administer(None, "answerable", dict[str, object](facts), by=people)
        return self.answerable
