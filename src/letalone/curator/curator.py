"""The service without HTTP: settings, database, ledger, sessions, and the parts that people meet.

    with Curator.open(Settings(folder=Path("curator"))) as curator:
        password = curator.people.first_owner()
        curator.data_sets.register(registration, file="visits.csv", by="owner")
        curator.asking.release(question, Price(epsilon=0.1), by="ada")

The caller has checked who asks (`tokens.bearer`); the parts check what they may do. `checks` tells
whether ledger, database and disk take what an answer needs, each by itself: each check raises where
it fails, and may take as long as its store does, so the caller sets a limit.

  Tested:   tests/curator, tests/curator/http/test_ready.py
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from shutil import disk_usage
from typing import Self

from letalone.curator.asking.service import AskingService
from letalone.curator.data_sets.data_store import DataStore
from letalone.curator.data_sets.registration_preview import RegistrationPreview
from letalone.curator.data_sets.service import DataSets
from letalone.curator.grants.proposals import Proposals
from letalone.curator.grants.service import Requests
from letalone.curator.people.browser_sessions import BrowserSessions, Drafts
from letalone.curator.people.identities import Identities
from letalone.curator.people.service import PeopleService
from letalone.curator.people.tokens import Tokens
from letalone.curator.record.service import ControllerService, Processing, PublicPage
from letalone.curator.storage.consistency import (
    data_sets_without_rows,
    open_matching_stores,
    recall_seen,
)
from letalone.curator.storage.database import Database, DatabaseDamaged, damage_error
from letalone.curator.storage.dependencies import Dependencies, SteadyClock, since_start
from letalone.curator.storage.ledger_view import LedgerView
from letalone.curator.storage.master_key import MasterKey
from letalone.curator.storage.settings import Settings
from letalone.curator.storage.stored_values import Clock, utc_now
from letalone.curator.storage.sweeping import spilling, sweep, sweep_spills
from letalone.curator.subjects.service import Subjects
from letalone.curator.surveys.service import SurveyService
from letalone.engines.duckdb.lockdown import Room
from letalone.errors import ParameterError, ServiceUnavailable
from letalone.ledger import Ledger
from letalone.ledger.storage.store import is_postgres
from letalone.ledger.storage.watch import touch

MIN_FREE_BYTES = 64 << 20  # bytes: some thousand answers
Checks = Mapping[str, Callable[[], None]]


class Curator:
    """Opens all parts of the service over one folder; a context manager."""

    __slots__ = (
        "_shared", "_spill", "asking", "beforehand", "data_sets", "drafts", "facts", "forgotten",
        "identities", "openness", "people", "processing", "proposals", "requests", "subjects",
        "surveys", "tokens", "visits",
    )  # fmt: skip

    def __init__(
        self,
        shared: Dependencies,
        master: MasterKey,
        steady: SteadyClock,
        room: Room,
        spill: ExitStack,
    ) -> None:
        self._shared, self._spill = shared, spill
        self.forgotten: tuple[str, ...] = ()  # frozen now, since the ledger is older than was seen
        self.people = PeopleService(shared)
        self.tokens = Tokens(shared, self.people)
        self.visits = BrowserSessions(shared, self.people, master)
        self.drafts = Drafts(shared)
        self.identities = Identities(shared, self.people)
        store = DataStore(shared, master, room)
        self.data_sets = DataSets(shared, self.people, store, steady)
        self.beforehand = RegistrationPreview(shared, self.people, self.data_sets, room)
        self.requests = Requests(shared, self.people, self.data_sets)
        self.proposals = Proposals(shared, self.people, self.data_sets)
        self.asking = AskingService(shared, self.people, store, self.requests, master)
        self.subjects = Subjects(shared, self.people, self.data_sets, master)
        self.surveys = SurveyService(shared, self.people)
        self.facts = ControllerService(shared, self.people)
        self.openness = PublicPage(shared, self.data_sets, self.facts)
        self.processing = Processing(shared, self.people, self.data_sets, self.requests, self.facts)

    @classmethod
    def open(
        cls,
        settings: Settings,
        *,
        clock: Clock = utc_now,
        steady: SteadyClock = since_start,
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
            master, ledger = open_matching_stores(settings, database, start_anew=start_anew)
        except BaseException:
            database.close()
            raise
        spill = ExitStack()
        spill_folder = spill.enter_context(spilling(settings.spill_folder))
        room = Room(spill_folder, settings.memory_of_each, settings.spill_megabytes << 20)
        shared = Dependencies(settings, database, ledger, LedgerView(ledger), clock)
        curator = cls(shared, master, steady, room, spill)
        try:
            curator.forgotten = tuple(recall_seen(database, ledger))
            curator.sweep()
            curator.data_sets.retire_overdue()
            curator.surveys.close_ended()
        except BaseException as error:
            curator.close()
            if isinstance(error, DatabaseDamaged):  # where a row cannot be read, which file it was
                raise damage_error(database.place) from None
            raise
        return curator

    @property
    def settings(self) -> Settings:
        return self._shared.settings

    @property
    def ledger(self) -> Ledger:
        return self._shared.ledger

    @property
    def cheap_looks(self) -> bool:
        """Whether database and ledger are files, so that a look at them takes no time."""
        database = self._shared.database
        return database.in_a_file and not is_postgres(self.settings.ledger_place)

    @property
    def checks(self) -> Checks:
        """Whether what an answer needs can be written, part by part; each raises where not."""
        return {
            "ledger": self.ledger.check_writable,
            "database": lambda: _check_database(self._shared),
            "disk": lambda: _check_disk(self.settings),
        }

    def sweep(self) -> list[str]:
        """Removes files that nobody uses, left by processes that died or uploads; their names.

        Drafts of the console go, too, when they are over.
        """
        self.drafts.sweep()
        spilled = sweep_spills(self.settings.spill_folder)
        return [*sweep(self.settings, self._shared.database), *spilled]

    def without_rows(self) -> list[str]:
        """Data sets whose rows are missing in the folder: restore it from the backup."""
        return data_sets_without_rows(self.settings, self._shared.database)

    def close(self) -> None:
        """Closes sessions, ledger and database; a second time does nothing."""
        self.data_sets.store.close()
        self._spill.close()
        self.ledger.close()
        self._shared.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _make_folders(settings: Settings) -> None:
    folders = (
        settings.folder, settings.data_folder, settings.incoming_folder, settings.imports_folder,
        settings.spill_folder,
    )  # fmt: skip
    for folder in folders:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder != settings.imports:
                folder.chmod(0o700)
        except OSError as error:
            raise ParameterError(
                f"The folder {folder} cannot be made: {error.strerror}. Choose another."
            ) from None


def _check_database(shared: Dependencies) -> None:
    with shared.database.writing() as connection:
        touch(connection)


def _check_disk(settings: Settings) -> None:
    place = settings.ledger_place
    folders = [settings.folder, *([] if is_postgres(place) else [Path(place).parent])]
    if min(disk_usage(folder).free for folder in folders) < MIN_FREE_BYTES:
        raise ServiceUnavailable(f"Less than {MIN_FREE_BYTES >> 20} MB are free.")
