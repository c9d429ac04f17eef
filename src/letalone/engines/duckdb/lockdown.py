"""Locks a DuckDB down to the files that it was given.

In this order, which DuckDB needs: where to spill (a folder that only this user can enter,
removed on close), how much memory and how many threads, UTC, IEEE doubles, which rewritings,
which files; then no other file, no network, no extension, no variable of the program; then no
change to any of it.

Theorem (rule 10 of docs/explanation/soundness.md).  Only rows decide: no result depends on what a
file or a table says of its rows (least and largest values, dictionaries, numbers of NULL, indexes).
  Proven:   DuckDB looks at these in its optimizers, and in scans for filters that an optimizer
            put there. All optimizers are off but KEPT, whose rewritings follow from the words of
            the statement: constants, long IN lists, columns that nobody asks for, the same
            expression twice, columns that are dropped early. New ones are off until listed.
  Tested:   tests/engines/test_lockdown.py tries to get out and looks for filters in scans;
            tests/engines/test_only_rows_decide.py, with files of several writers
  Assumed:  DuckDB keeps its settings; the memory of this process is not read by others
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

import duckdb
from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.failure import Result
from letalone.engines.core.syntax import Sql

MIN_MEMORY_BYTES = 1 << 28
BATCH_ROWS = 1_000_000  # rows of a reader at a time
VECTOR_ROWS = 2048  # rows that DuckDB takes at a time
CONTAINER_LIMITS = (  # of control groups, version 2 and 1, as a container sees its own
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)

CLOSED_SETTINGS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,
}


# Off by this: filter_pushdown, join_filter_pushdown and top_n (filters in scans), row_group_pruner,
# statistics_propagation, compressed_materialization, partitioned_execution, late_materialization
# and deliminator (statistics), join_order and build_side_probe_side (numbers of rows: joins are
# written with their small table last), type_pushdown and scalar_fn_pushdown (casts in readers).
KEPT_OPTIMIZERS = (
    "expression_rewriter",
    "in_clause",
    "unused_columns",
    "common_subexpressions",
    "column_lifetime",
)


@dataclass(frozen=True, slots=True)
class Room:
    """Where connections spill (else where the system keeps passing files), and how many bytes each
    may take of memory (else half of the machine's) and of the disk (else what the engine takes)."""

    spill: Path | None = None
    memory: int | None = None
    disk: int | None = None


ANYWHERE = Room()
ROOM: ContextVar[Room] = ContextVar("room", default=ANYWHERE)


class LockedDuck:
    """A connection that reads only what it was given, and its folder for spilling."""

    def __init__(self, *, threads: int | None = None, memory: int | None = None) -> None:
        room = ROOM.get()
        self._folder = Path(tempfile.mkdtemp(prefix="letalone-", dir=room.spill))
        # Also where nobody closes it: when it is forgotten, and at the end of the program.
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self.memory = memory or memory_of_room()
        self.connection = duckdb.connect(":memory:", config=CLOSED_SETTINGS)  # pyright: ignore
        settings: list[tuple[str, Sql]] = [
            ("temp_directory", syntax.text(str(self._folder))),
            ("memory_limit", syntax.text(f"{self.memory}B")),
            ("threads", syntax.whole(threads or available_threads())),
            ("TimeZone", syntax.text("UTC")),
            ("ieee_floating_point_ops", exp.Boolean(this=True)),
            ("preserve_insertion_order", exp.Boolean(this=True)),
            ("default_collation", syntax.text("")),
            # Offsets of 64 bits: else 2 GiB of text in one batch would stop a statement.
            ("arrow_large_buffer_size", exp.Boolean(this=True)),
            # Files are local: to fetch whole columns ahead costs more than to read them.
            ("disable_parquet_prefetching", exp.Boolean(this=True)),
            ("disabled_optimizers", syntax.text(",".join(self._not_kept()))),
        ]
        if room.disk is not None:
            settings.append(("max_temp_directory_size", syntax.text(f"{room.disk}B")))
        if self._shows_progress():
            settings.append(("enable_progress_bar", exp.Boolean(this=False)))
        for name, value in settings:
            self._set(name, value)

    def _shows_progress(self) -> bool:
        """Whether DuckDB would draw a bar. In a notebook without ipywidgets it cannot, and may not
        even be told not to."""
        setting = syntax.call("current_setting", syntax.text("enable_progress_bar"))
        return self.run(exp.Select(expressions=[setting])) != [(False,)]

    def _not_kept(self) -> list[str]:
        """The optimizers of this DuckDB that may look at more than the statement."""
        source = syntax.rename(syntax.call("duckdb_optimizers"), "optimizers")
        names = self.run(syntax.select([syntax.column("name")], source))
        return [str(name) for (name,) in names if name not in KEPT_OPTIMIZERS]

    def attach(self, path: Path) -> None:
        """A DuckDB file under the name `file`, for reading only."""
        named = exp.Alias(this=syntax.text(str(path)), alias=exp.to_identifier("file", quoted=True))
        read_only = exp.AttachOption(this=exp.var("READ_ONLY"))
        self.run(exp.Attach(this=named, expressions=[read_only]))

    def lock(self, files: Sequence[Path]) -> None:
        """From here on only these files can be read, and nothing can be set."""
        if files:
            self._set("allowed_paths", syntax.texts([str(path) for path in files]))
        self._set("enable_external_access", exp.Boolean(this=False))
        self._set("lock_configuration", exp.Boolean(this=True))

    def run(self, statement: Sql) -> list[tuple[object, ...]]:
        """All rows of a statement's result, as Python objects: whole numbers stay exact."""
        return self.connection.execute(syntax.print_sql(statement)).fetchall()

    def read(
        self, statement: Sql, take: Callable[[object], Result], *, rows: int = BATCH_ROWS
    ) -> Result:
        """What `take` makes of a statement's result, which it gets as a reader of Arrow batches of
        so many rows; these are no part of what DuckDB counts as its memory."""
        reader = self.connection.sql(syntax.print_sql(statement)).to_arrow_reader(rows)
        try:
            return take(reader)
        finally:
            reader.close()  # an unfinished one would hold the connection and stop the next

    def close(self) -> None:
        self.connection.close()
        self._remove()

    def _set(self, name: str, value: Sql) -> None:
        item = exp.EQ(this=exp.var(name), expression=value)
        self.run(exp.Set(expressions=[exp.SetItem(this=item)]))


@contextmanager
def working_in(room: Room) -> Generator[None]:
    """What is opened here within the block spills into that folder and has that much memory."""
    token = ROOM.set(room)
    try:
        yield
    finally:
        ROOM.reset(token)


def memory_of_room() -> int:
    """How many bytes of memory a connection has that is opened here."""
    return ROOM.get().memory or half_of_memory()


def half_of_memory() -> int:
    """Half of the memory here in bytes; a guess of 4 GiB where the machine does not say.

    A container has what it was given, and is ended where it takes more.
    """
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        memory = 1 << 33
    return max(min(memory, *_container_limits()) // 2, MIN_MEMORY_BYTES)


def _container_limits() -> Iterator[int]:
    """What the control groups of Linux allow, in bytes; a huge number where nothing is limited."""
    yield 1 << 62
    for file in CONTAINER_LIMITS:
        with suppress(OSError, ValueError):  # no such file; "max"
            yield int(file.read_text("ascii"))


def available_threads() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
