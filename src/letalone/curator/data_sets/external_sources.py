"""External data sets: which tables may be read where they lie, and that each is one data set.

An address makes the curator's machine connect to somewhere, with passwords that this machine has.
So none is taken unless `Settings.source_hosts` names the host, every option of an address is one
of a few that lead nowhere else and read no file, and owners alone register it, with their password.
An address on Spark is taken if it is written in full and `Settings.spark_schemas` names its
catalogue and schema; Spark is not started for anything else.

The same table under a second name would be a second budget for the same people, so it is refused:
as another external data set, and as rows that are imported. A data set that was retired has been
paid for, too, and still counts.

  Tested:   tests/curator/test_sources_on_servers.py, tests/on_spark/test_curator.py,
            tests/curator/test_known_sources.py
  Assumed:  a listed name leads where its operator means; libpq reads an address as it says it does.
            As in sources/resolve.py, where one table has one identity; a hard link is found here
            unless both its names are registered at the same moment. What was copied is compared
            with nothing: a file that is sent or imported twice is two tables, as its owner says
"""

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path

from letalone.curator.data_sets.file_places import LOCK
from letalone.curator.data_sets.locks import exclusive_lock
from letalone.curator.storage.refusals import AlreadyDecided
from letalone.curator.storage.settings import Settings
from letalone.curator.storage.stored_values import DataRow
from letalone.engines.catalogue import ENGINES
from letalone.engines.core.failure import EngineFailed, hide_engine_errors
from letalone.engines.opening import open_engine
from letalone.errors import ParameterError
from letalone.errors.problem import without_context
from letalone.plans.schema import Schema
from letalone.sources import resolve
from letalone.sources.postgres_address import fold_host, is_address, places_of, read_address
from letalone.sources.source import Source, same_table
from letalone.sources.spark_names import is_spark_address, parts_of, read_spark_address

OPTIONS = ("host", "port", "dbname", "user", "service", "sslmode", "channel_binding")
WHOLE_ADDRESS = "spark:catalog.schema.table"
AT_SERVER = "The table cannot be opened: its server or Spark failed while its names were read."
ODD_CHARACTERS = re.compile(r"[^\w $-]")


def check_allowed(settings: Settings, written: object) -> str:
    """The address, if it leads to a listed host or schema; nothing is connected to."""
    if isinstance(written, str) and is_spark_address(written):
        return _check_on_spark(settings, written)
    if not settings.source_hosts:
        raise ParameterError(
            "This curator reads no tables on PostgreSQL servers. Its operator can allow hosts:"
            " letalone serve --source-host HOST."
        )
    if not isinstance(written, str) or not is_address(written):
        raise ParameterError(
            f"address must be one of a table: postgresql://user@host/database/table, or"
            f" {WHOLE_ADDRESS}."
        )
    address = read_address(written)
    if address.table is None:
        raise ParameterError(
            "The address must name a table: postgresql://user@host/database/table."
        )
    _check_options(address.given)
    places = places_of(address.given)
    allowed = {fold_host(host) for host in settings.source_hosts}
    if not places or not set(places) <= allowed:
        raise ParameterError(
            "The address leads to a host that this curator may not read. Allowed are:"
            f" {', '.join(sorted(allowed))}."
        )
    return written


def check_table(address: str, schema: Schema) -> None:
    """Refuses a schema that a table elsewhere does not have, and rows made across people."""

    def check() -> None:
        with closing(open_engine(address, schema=schema)) as engine:
            engine.check(schema)

    error = ParameterError(AT_SERVER)
    without_context(lambda: hide_engine_errors(check), EngineFailed, error=error)


def _check_on_spark(settings: Settings, written: str) -> str:
    """By the letters of the address: what is not listed is never looked up."""
    allowed = {parts_of(schema) for schema in settings.spark_schemas}
    if not allowed:
        raise ParameterError(
            "This curator reads no tables on Spark. Its operator can allow schemas: letalone serve"
            " --spark-schema CATALOG.SCHEMA."
        )
    parts = read_spark_address(written)
    if len(parts) < 3 or any(ODD_CHARACTERS.search(part) for part in parts):
        raise ParameterError(
            f"The address must be written in full, {WHOLE_ADDRESS}; its names may have letters,"
            " digits, blanks and the signs _ - $."
        )
    if parts[:2] not in allowed:
        raise ParameterError(
            "The address leads to a schema that this curator may not read. Allowed are:"
            f" {', '.join(sorted(settings.spark_schemas))}."
        )
    return written


def _check_options(options: Mapping[str, str]) -> None:
    """libpq may take the name of a database for an address of its own: by = or by ://."""
    more = sorted(options.keys() - set(OPTIONS))
    if more or re.search("=|://", options.get("dbname", "")):
        raise ParameterError(
            f"The address has {', '.join(more) or '= or :// in the database'}, which could lead"
            f" elsewhere or read a file of this machine. It may have: {', '.join(OPTIONS)}."
        )


def identify(settings: Settings, file: str) -> Source:
    """Which table an external data set reads: a file of the import folder, or an address."""
    if resolve.is_address(file):
        return resolve.read_whole_address(file)
    return resolve.read_source(settings.imports_folder / file, look=ENGINES)


def check_unknown(settings: Settings, rows: Sequence[DataRow], source: Source) -> None:
    """Refuses a table that is one of the external data sets already; for owners alone."""
    for row in rows:
        if row.external and row.file is not None and _is_read(settings, str(row.file), source):
            past = " It was retired, and what was spent stays spent." if row.retired else ""
            raise AlreadyDecided(
                f"{source.words} is the data set {row.name!r} already, and a table has one budget."
                f"{past} If these are other people's data, give the file or the table another"
                " name; files that differ in their endings alone count as one."
            )


@contextmanager
def registering(settings: Settings, source: Source) -> Generator[None]:
    """Nobody else registers this table, or imports it, until the end of the block."""
    digest = sha256(repr(source.identity).encode()).hexdigest()[:32]
    with exclusive_lock(settings.data_folder / f"source-{digest}{LOCK}"):
        yield


def _is_read(settings: Settings, file: str, source: Source) -> bool:
    try:
        known = identify(settings, file)
    except ParameterError:
        return False  # it was taken by other rules, and is no table by today's
    return same_table(known, source) or _is_second_name(known.handle, source.handle)


def _is_second_name(one: object, other: object) -> bool:
    """Whether two paths are one file on the disk: a hard link."""
    try:
        return isinstance(one, Path) and isinstance(other, Path) and one.samefile(other)
    except OSError:
        return False  # one of them is gone
