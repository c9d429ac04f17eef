"""Reads what was written into a `Source`: a path, a pattern, a folder, a list of paths, an address,
a name on Spark, a frame.

A file is the one that its path leads to, without links. A table of a database file, of a server or
of Spark is its whole name: what was left out is filled in as its engine does it. Nothing is
connected to here: what needs a look comes in through a `Catalogue`.

  Theorem (rule 14 of docs/explanation/soundness.md).  Two ways to write one table give one
  identity, and so one name, one schema file and one ledger; two tables never have one identity.
  Tested:   tests/sources/test_one_budget.py, which draws tables and spellings; the golden ones are
            in tests/golden/test_sources.py
  Assumed:  visits.csv, visits.parquet and a folder visits beside each other are one table: they
            have one schema file and one ledger. A folder and a list of files have the name that
            their owner gives: what is in them may come and go. Not covered: a file of a folder by
            itself, a hard link, a copy, a view, a second name of a host
            or of a catalogue; a schema file with `source =` has its ledger beside it
"""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Protocol, cast

from letalone.errors import ParameterError
from letalone.exact.typed import expand_home
from letalone.sources import files, places, postgres_address, remote_address, spark_names
from letalone.sources.files import HOLDERS, SINGLE, TablePlace
from letalone.sources.recorded import FRAME, NOWHERE, SEVERAL_FILES
from letalone.sources.schemes import is_of_file, path_of
from letalone.sources.source import NO_IDENTITY, Source, SourceKind
from letalone.sources.spark_names import SparkNames, SparkTable

FRAME_NAME = "data"  # of a frame that nobody names


class Catalogue(Protocol):
    """What is looked up, and it is metadata alone.

    tables: the schemas and names of a database file's tables; none where it cannot be opened.
    find_on_spark: a session, and the whole name of the table at an address; or it is refused.
    names_of: what names stand for in a session of Spark.
    """

    def tables(self, file: str | PathLike[str]) -> Sequence[TablePlace]: ...

    def find_on_spark(self, address: str) -> SparkTable: ...

    def names_of(self, session: object) -> SparkNames: ...


def read_source(given: object, table: str | None = None, *, look: Catalogue) -> Source:
    """The table that was meant; whether its rows are there is said when it is opened."""
    if not places.is_schema_file(given):
        return _read_data(given, table, look)
    file = cast("str | PathLike[str]", given)
    data = _read_data(data_of(fspath(file)), table, look)
    return replace(data, schema_file=expand_home(file), ledger_file=places.ledger_path(file))


def data_of(given: str) -> str:
    """Where the rows are: what a schema file names, as seen from its folder; else what is given."""
    if not places.is_schema_file(given):
        return given
    path = expand_home(given)
    written = places.read_source_field(path)
    if remote_address.is_remote(written):
        return written
    if is_address(written):
        check_address(written)  # or says that a password does not belong there
        return written
    return str(path.parent / (path_of(written) if is_of_file(written) else written))


def is_address(source: object) -> bool:
    """Whether this is the address of a table on a server or on Spark."""
    return postgres_address.is_address(source) or spark_names.is_spark_address(source)


def check_address(source: str, table: str | None = None) -> None:
    """Refuses an address that cannot be one; nothing is connected to."""
    if not spark_names.is_spark_address(source):
        postgres_address.read_address(source, table)
        return
    spark_names.read_spark_address(source)
    if table is not None:
        raise ParameterError(postgres_address.two_tables_named())


def read_whole_address(address: str) -> Source:
    """The table at an address that leaves nothing out, by its letters alone: as `read_source`
    would find it, and neither a server nor Spark is asked.
    """
    if not spark_names.is_spark_address(address):
        return _on_server(address, None)
    parts = spark_names.read_spark_address(address)
    if len(parts) != 3:
        raise ParameterError("The address must be written in full: spark:catalog.schema.table.")
    place = parts[0].lower(), parts[1].lower(), parts[2].lower()
    return _in_catalogue(place, place[2], spark_names.written_name(parts), address)


def in_words(source: str) -> str:
    """What the table at an address is called, for people; nothing is connected to."""
    if spark_names.is_spark_address(source):
        return spark_names.written_name(spark_names.read_spark_address(source))
    return postgres_address.read_address(source).words


def own_name(source: str) -> str:
    """The name of the table alone; empty where the address names none."""
    if spark_names.is_spark_address(source):
        return spark_names.read_spark_address(source)[-1]
    table = postgres_address.read_address(source).table
    return "" if table is None else table[1]


def _read_data(given: object, table: str | None, look: Catalogue) -> Source:
    if isinstance(given, str) and postgres_address.is_address(given):
        return _on_server(given, table)
    if isinstance(given, str) and spark_names.is_spark_address(given):
        check_address(given, table)
        given = look.find_on_spark(given)
    if spark_names.is_spark(given):
        return _on_spark(given, look)
    if isinstance(given, str) and remote_address.is_remote(given):
        return _on_web(given, table)
    if files.is_list(given):
        return _of_list(given, table, look)
    if isinstance(given, str | PathLike):
        return _of_path(cast("str | PathLike[str]", given), table, look)
    words = f"a {type(given).__module__.split('.')[0]} frame"
    return Source(SourceKind.FRAME, NO_IDENTITY, FRAME_NAME, FRAME, words, handle=given)


def _on_server(given: str, table: str | None) -> Source:
    address = postgres_address.read_address(given, table)
    name = "" if address.table is None else postgres_address.table_name(*address.table)
    beside = postgres_address.stand_in(address.database)
    where, names = postgres_address.server_of(address), address.table or ()
    return Source(
        SourceKind.POSTGRES,
        ("postgresql", where, address.database, *names),
        name,
        recorded_as=postgres_address.identity(address),
        words=in_words(given),
        schema_file=places.schema_path(beside, name or None),
        ledger_file=places.ledger_path(beside),
        handle=given,
    )


def _on_web(given: str, table: str | None) -> Source:
    """A file elsewhere, which is copied when it is opened."""
    remote = remote_address.read_remote(given)
    if table is not None:
        raise ParameterError(f"table is {table!r}, but the file is one table. Leave it out.")
    return Source(
        files.KINDS[files.ending_of(Path(remote.file_name))],
        ("remote", remote.whole),
        remote.name,
        recorded_as=remote.whole,
        words=f"a copy of {remote.file_name} of {remote.host}",
        schema_file=places.schema_path(remote.stand_in, remote.name),
        ledger_file=places.ledger_path(remote.stand_in),
        handle=remote.address,
    )


def _on_spark(given: object, look: Catalogue) -> Source:
    """A table of a catalogue has a place; a view, a path or a frame none but its name."""
    parts, name = spark_names.parts_in(given), spark_names.name_of(given)
    words, place = spark_names.words_of(given), None
    if parts is not None:
        session, written = cast("SparkTable", given)
        if not spark_names.is_remote(session):
            names = look.names_of(session)
            place = spark_names.find_place(spark_names.read_name(written), names)
    if place is None:
        identity = NO_IDENTITY if parts is None else ("view on spark", *parts)
        recorded_as = FRAME if parts is None else spark_names.written_name(parts) + NOWHERE
        return Source(SourceKind.SPARK, identity, name, recorded_as, words, handle=given)
    return _in_catalogue(place, name, words, given)


def _in_catalogue(place: spark_names.Place, name: str, words: str, given: object) -> Source:
    beside = spark_names.stand_in_of(place)
    return Source(
        SourceKind.SPARK,
        ("spark", "", *place),
        name,
        recorded_as=spark_names.written_name(place),
        words=words,
        schema_file=places.schema_path(beside, place[2]),
        ledger_file=places.ledger_path(beside),
        handle=given,
    )


def _of_list(given: files.PathList, table: str | None, look: Catalogue) -> Source:
    """Several files. One alone is itself: it would have a second budget else."""
    paths = files.list_of_paths(given)
    if len(paths) == 1:
        return _of_path(paths[0], table, look)
    if table is not None:
        raise ParameterError(f"table is {table!r}, but several files are one table. Leave it out.")
    return Source(
        files.KINDS.get(files.ending_of(paths[0]), SourceKind.OTHER_FILE),
        ("files", *sorted(map(str, paths))),
        "",
        recorded_as=SEVERAL_FILES,
        words=f"{len(paths):,} files",
        handle=paths,
        needs_name=True,
    )


def _of_path(given: str | PathLike[str], table: str | None, look: Catalogue) -> Source:
    """A file, a table of a database file, or a pattern, whose files may come and go."""
    path = files.real_path(given)
    ending, is_pattern = files.ending_of(path), files.is_pattern(path)
    tables, is_sqlite = look.tables(given) if ending in HOLDERS else (), files.is_sqlite(path)
    table = files.fold_case(table) if is_sqlite and table is not None else table
    place = files.find_table(tables, table)
    name = files.stem_of(path) if place is None else files.table_name(*place)
    is_plain = ending in SINGLE and not is_pattern
    recorded = str(path.with_name(files.stem_of(path)) if is_plain else path)
    return Source(
        SourceKind.SQLITE if is_sqlite else files.KINDS.get(ending, SourceKind.OTHER_FILE),
        ("file", recorded, *(place or ())),
        files.name_of_pattern(fspath(given)) if is_pattern else name,
        recorded_as=recorded if place is None else f"{recorded}, table {name}",
        words=path.name if isinstance(given, str) and is_of_file(given) else Path(given).name,
        schema_file=places.schema_file_of(given, tables, table),
        ledger_file=places.ledger_path(given),
        handle=given,
        needs_name=bool(fspath(given)) and path.is_dir(),
    )
