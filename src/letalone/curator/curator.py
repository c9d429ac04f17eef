"""A curator: settings, database, ledger and sessions, and the parts that people meet.

    with Curator.open(Settings(folder=Path("curator"))) as curator:
        password = curator.people.first_owner()
        curator.data_sets.register(registration, file="visits.csv", by="owner")
        curator.asking.release(question, Price(epsilon=0.1), by="ada")

The caller has checked who asks (`tokens.bearer`); the parts check what they may do.
"""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from letalone.curator.asking import Asking
from letalone.curator.beforehand import Beforehand
from letalone.curator.book import Book
from letalone.curator.data_sets import DataSets
from letalone.curator.database import Database, DatabaseDamaged, damaged
from letalone.curator.drafts import Drafts
from letalone.curator.facts import Facts
from letalone.curator.house import House
from letalone.curator.identities import Identities
from letalone.curator.openness import Openness
from letalone.curator.people import People
from letalone.curator.processing import Processing
from letalone.curator.proposals import Proposals
from letalone.curator.readiness import Checks, checks_of
from letalone.curator.requests import Requests
from letalone.curator.settings import Settings
from letalone.curator.spilling import spilling, sweep_spills
from letalone.curator.steady import Steady, since_start
from letalone.curator.subjects import Subjects
from letalone.curator.sweeping import sweep
from letalone.curator.together import open_together, recall, without_rows
from letalone.curator.tokens import Tokens
from letalone.curator.visits import Visits
from letalone.curator.words import Clock, utc_now
from letalone.engines.lockdown import Room
from letalone.errors import ParameterError
from letalone.ledger import Ledger
from letalone.ledger.store import is_postgres


class Curator:
    """Many analysts ask, one budget holds, everything is written down; a context manager."""

    __slots__ = (
        "_house", "_spill", "asking", "beforehand", "data_sets", "drafts", "facts", "forgotten",
        "identities", "openness", "people", "processing", "proposals", "requests", "subjects",
        "tokens", "visits",
    )  # fmt: skip

    def __init__(self, house: House, spill: ExitStack) -> None:
        self._house, self._spill = house, spill
        self.forgotten: tuple[str, ...] = ()  # frozen now, since the ledger is older than was seen
        self.people = People(house)
        self.tokens = Tokens(house, self.people)
        self.visits = Visits(house, self.people)
        self.drafts = Drafts(house)
        self.identities = Identities(house, self.people)
        self.data_sets = DataSets(house, self.people)
        self.beforehand = Beforehand(house, self.people, self.data_sets)
        self.requests = Requests(house, self.people, self.data_sets)
        self.proposals = Proposals(house, self.people, self.data_sets)
        self.asking = Asking(house, self.people, self.data_sets, self.requests)
        self.subjects = Subjects(house, self.people, self.data_sets)
        self.facts = Facts(house, self.people)
        self.openness = Openness(house, self.data_sets, self.facts)
        self.processing = Processing(
            house, self.people, self.data_sets, self.requests, facts=self.facts
        )

    @classmethod
    def open(
        cls,
        settings: Settings,
        *,
        clock: Clock = utc_now,
        steady: Steady = since_start,
        start_anew: bool = False,
    ) -> Self:
        """The curator of a folder, which is made where there is none; tables are upgraded.

        `start_anew`: also beside a ledger that a curator has used whose database is lost.
        """
        _make_folders(settings)
        database = Database(settings.database_url)
        try:
            database.check_whole()
            database.migrate()
            database.check_tables()
            master, ledger = open_together(settings, database, start_anew=start_anew)
        except BaseException:
            database.close()
            raise
        spill = ExitStack()
        own = spill.enter_context(spilling(settings.spill_folder))
        room = Room(own, settings.memory_of_each, settings.spill_megabytes << 20)
        found = cls(House(settings, database, Book(ledger), master, clock, steady, room), spill)
        try:
            found.forgotten = tuple(recall(database, ledger))
            found.sweep()
            found.data_sets.retire_overdue()
        except BaseException as error:
            found.close()
            if isinstance(error, DatabaseDamaged):  # where a row cannot be read, which file it was
                raise damaged(database.place) from None
            raise
        return found

    @property
    def settings(self) -> Settings:
        """How the curator is set up."""
        return self._house.settings

    @property
    def ledger(self) -> Ledger:
        """The one ledger of all data sets."""
        return self._house.book.ledger

    @property
    def cheap_looks(self) -> bool:
        """Whether database and ledger are files, so that a look at them takes no time."""
        database = self._house.database
        return database.in_a_file and not is_postgres(self.settings.ledger_place)

    @property
    def checks(self) -> Checks:
        """Whether what an answer needs can be written, part by part; each raises where not."""
        return checks_of(self._house)

    def sweep(self) -> list[str]:
        """Removes files that nobody uses, left by processes that died or uploads; their names.

        Drafts of the console go, too, when they are over.
        """
        self.drafts.sweep()
        spilled = sweep_spills(self.settings.spill_folder)
        return [*sweep(self.settings, self._house.database), *spilled]

    def without_rows(self) -> list[str]:
        """Data sets whose rows are missing in the folder: restore it from the backup."""
        return without_rows(self.settings, self._house.database)

    def close(self) -> None:
        """Closes sessions, ledger and database; a second time does nothing."""
        self.data_sets.close()
        self._spill.close()
        self.ledger.close()
        self._house.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _make_folders(settings: Settings) -> None:
    folders = (
        settings.folder, settings.data_folder, settings.incoming_folder, settings.imports_folder,
        settings.spill_folder,
    )  # fmt: skip
    for folder in folders:
        _make_folder(folder, private=folder != settings.imports)


def _make_folder(folder: Path, *, private: bool) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if private:
            folder.chmod(0o700)
    except OSError as error:
        raise ParameterError(
            f"The folder {folder} cannot be made: {error.strerror}. Choose another."
        ) from None
