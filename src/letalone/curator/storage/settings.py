"""Settings of a curator: its folder, the numbers that its owner may change, the limits of imports.

A small file can be large when it is read: a megabyte of Parquet can be sixty million rows, and a
short CSV file can have a hundred thousand columns. All share a service, so what the footer or the
first line says is held against declared limits before anything else is read; the lines of a CSV
file are counted first. A footer does not say how often a word of a dictionary is used: the lengths
of cells are read before the cells (letalone.engines.duckdb.long_cells), as often as rows have them.
All else ends where memory and the room for spilling end, which are declared, too.

  Tested:   tests/curator/test_import_limits.py
"""

from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

from letalone.engines.duckdb.csv_files import DELIMITERS
from letalone.engines.duckdb.lockdown import half_of_memory
from letalone.engines.duckdb.long_cells import check_cells
from letalone.engines.frames.arrow import size_of_parquet
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem
from letalone.exact.typed import expand_home, refusal
from letalone.plans.schema import Schema
from letalone.sources.files import PARQUET
from letalone.sources.spark_names import parts_of

NO_CONTROLLER, NO_CONTACT = "not named", "not given"
MAX_OPEN_TABLES = 7  # tables of a process
SHARES = MAX_OPEN_TABLES + 1  # of its memory: for each of them, and one for imports and checks
LEAST_EACH = 64  # MiB
CHUNK_BYTES = 1 << 20
MAX_HEADER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ImportLimits:
    """The most rows, columns, and millions of bytes of a file when it is not compressed."""

    rows: int
    columns: int
    megabytes: int

    def check(self, path: Path, schema: Schema | None = None) -> None:
        """Refuses a file that is too large; one that cannot be read is refused by its reader.

        Given a schema, its columns are about to be read, and the lengths of cells count, too.
        """
        self._check_size(path)
        if schema is not None:
            names = [column.name for column in schema.columns]
            check_cells(path, names, megabytes=self.megabytes)

    def _check_size(self, path: Path) -> None:
        try:
            sizes = size_of_parquet(path) if path.suffix.lower() in PARQUET else _size_of_csv(path)
        except (OSError, ValueError):
            return
        for name, number in zip(("columns", "rows", "megabytes"), sizes, strict=True):
            if number > (limit := getattr(self, name)):
                what = "MB" if name == "megabytes" else name
                raise ParameterError(
                    f"The file has {number:,} {what}, and at most {limit:,} are imported here."
                    f" Leave out what is not needed, or let the operator raise the limit:"
                    f" import_{name} in the settings."
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where things lie, and how strict the curator is.

    Each connection of an engine has a fixed share of the memory, whatever the others do.
    """

    folder: Path  # data, keys and databases; only this user can enter it
    database: str | None = None  # a SQLAlchemy URL; SQLite in the folder if not given
    ledger: str | None = None  # a path or a postgresql:// URL; SQLite in the folder if not given
    imports: Path | None = None  # the one folder of files imported by name; else FOLDER/imports
    source_hosts: tuple[str, ...] = ()  # servers whose tables owners may register
    spark_schemas: tuple[str, ...] = ()  # the same for Spark, each as catalog.schema
    time_step_seconds: float = 0.25  # fresh answers come at multiples of it (time_steps.py)
    password_memory_kib: int = 47_104  # the cost of Argon2id: OWASP's
    password_passes: int = 1
    password_lanes: int = 1
    shortest_password: int = 12
    tries: int = 10  # wrong passwords for one name from one address in so many minutes:
    tries_minutes: int = 10
    slow_after: int = 100  # tries of one name, from wherever; then each waits so long:
    slow_seconds: float = 1.0
    waiting_days: int = 7  # so long no account that others have handled raises budgets
    token_days: int = 90
    most_token_days: int = 366
    elevated_minutes: int = 10
    visit_minutes: int = 60  # a browser is signed out when unused so long,
    visit_hours: int = 12  # and at the latest then
    one_time_days: int = 14  # so long a one-time password can be used
    open_requests: int = 20  # of one person may wait for a decision
    memory_megabytes: int | None = None  # of all engines of a process; half of the machine's
    spill_megabytes: int = 50_000  # so much each connection may put onto the disk: fixed, too
    import_rows: int = 50_000_000  # the largest file that owners import, as its footer, its
    import_columns: int = 1_000  # lines and the lengths of its cells say before it is read
    import_megabytes: int = 20_000
    most_cells: int = 20_000  # values, groups times columns, that one answer may have
    most_steps: int = 200  # so much may be computed to price a question, 3 ms each (plan_checks.py)
    stored_megabytes: int = 200  # million letters of one person's answers, stored in a day
    other_counter: str | None = None  # the address of the second counter of surveys
    aggregator: bool = False  # only the second counter of others' surveys
    controller: str = NO_CONTROLLER  # who answers for the data, for the public page and the record
    contact: str = NO_CONTACT

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", expand_home(self.folder).absolute())
        object.__setattr__(self, "source_hosts", tuple(self.source_hosts))
        object.__setattr__(self, "spark_schemas", tuple(self.spark_schemas))
        for schema in self.spark_schemas:
            if len(parts_of(schema) or ()) != 2:
                what = (
                    f"has {schema!r}, but must have names such as 'lake.clinic': a catalogue"
                    " (Spark's own is spark_catalog) and a schema."
                )
                spelled = Spelled(f"spark_schemas {what}", f"--spark-schema {what}")
                raise ParameterError(problem(Code.VALUE_NOT_ALLOWED, words=spelled))
        if self.imports is not None:
            object.__setattr__(self, "imports", expand_home(self.imports).absolute())
        for name in (field.name for field in fields(self) if field.type is int):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise refusal(name, value, "a positive whole number")
        least = SHARES * LEAST_EACH
        if self.memory_megabytes is not None and self.memory_megabytes < least:
            raise ParameterError(
                f"memory_megabytes is {self.memory_megabytes}, but must be at least {least}:"
                f" {LEAST_EACH} for each of the {SHARES} tables and imports that may be open."
            )
        if not 0 <= self.time_step_seconds <= 60:
            raise refusal("time_step_seconds", self.time_step_seconds, "from 0 to 60")

    @property
    def import_limits(self) -> ImportLimits:
        return ImportLimits(self.import_rows, self.import_columns, self.import_megabytes)

    @property
    def memory_of_each(self) -> int:
        """The most bytes of one connection of an engine: fixed, since running out is seen."""
        given = self.memory_megabytes
        return (half_of_memory() if given is None else given << 20) // SHARES

    @property
    def database_url(self) -> str:
        return self.database or f"sqlite:///{self.folder / 'curator.db'}"

    @property
    def ledger_place(self) -> str:
        return self.ledger or str(self.folder / "ledger.db")

    @property
    def data_folder(self) -> Path:
        return self.folder / "data"

    @property
    def incoming_folder(self) -> Path:
        return self.folder / "incoming"

    @property
    def spill_folder(self) -> Path:
        """Where the engine puts rows that do not fit into memory, while a process runs."""
        return self.folder / "spill"

    @property
    def imports_folder(self) -> Path:
        return self.imports or self.folder / "imports"

    @property
    def provider_file(self) -> Path:
        """How people sign in elsewhere; where there is no such file, they do not."""
        return self.folder / "sign-in.toml"

    @property
    def master_key_file(self) -> Path:
        return self.folder / "master.key"


def _size_of_csv(path: Path) -> tuple[int, int, int]:
    """Columns, rows and megabytes of a CSV file: names in the first line, and line ends."""
    with path.open("rb") as file:
        first = file.readline(MAX_HEADER_BYTES)
        file.seek(0)
        lines = sum(part.count(b"\n") for part in iter(partial(file.read, CHUNK_BYTES), b""))
    columns = 1 + max(first.count(delimiter.encode()) for delimiter in DELIMITERS)
    return columns, max(0, lines - 1), path.stat().st_size // 10**6
