"""Reads what the command line knows of a table before it asks anything: names, types, places.

Only metadata is read here. Beside NAME.csv lie NAME.letalone.toml, what its owner declares,
and NAME.letalone.db, the ledger. A table of a DuckDB file may have NAME.TABLE.letalone.toml.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import NamedTuple

from letalone.cli.places import in_short_form
from letalone.cli.screen import waiting
from letalone.engines import postgres_address
from letalone.engines.addresses import check_address, is_address
from letalone.engines.opening import open_engine
from letalone.engines.sources import WhichTable, find_files
from letalone.engines.spark_address import is_spark_address
from letalone.errors import ParameterError
from letalone.errors.in_options import in_options
from letalone.ledger import DataSet, Ledger
from letalone.plans.schema import Schema
from letalone.session.beside import is_schema_file, schema_beside, source_of
from letalone.sql.names import quote_name

TO_FILL_IN = "COLUMN"
NOT_TYPED = " All columns of a CSV file are text until a schema file declares their types."
MAX_OFFERED = 3  # commands, where several would do
PART = r"""(?:"[^"]*"|'[^']*'|[\w./*-]*[\w/*-])"""
FROM = re.compile(rf"(?i)(?<=\bfrom)\s+({PART}(?:\s*\.\s*{PART})*)")
ID = re.compile(r"(^|_)[pu]?id$")
PEOPLE = re.compile(
    r"(^|_)(person|patient|people|user|customer|client|member|employee|student|subscriber"
    r"|household|family)(_|$)"
)


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file with its metadata; `schema_file` is None where its owner has written none."""

    file: str
    table: str | None
    schema: Schema
    schema_file: Path | None
    kind: str

    @property
    def has_types(self) -> bool:
        """Whether columns have types of their own: the cells of a CSV file are text."""
        return self.schema_file is not None or self.kind != "csv"

    @property
    def declares_unit(self) -> bool:
        """Whether the schema file says whose privacy is protected."""
        return self.schema_file is not None and self.schema.unit_declared


def read_source(file: str, *, table: str | None = None) -> TableFile:
    """The file's columns and types: as its schema file declares them, else from its metadata."""
    check_one_file(file)
    data = source_of(file) if is_schema_file(file) else file
    wait_for_spark(data, table)
    kind = kind_of(data)
    beside = in_short_form(schema_beside(file, table))
    declared = Schema.read(beside) if beside.exists() else None
    engine = open_engine(data, schema=declared, table=table)
    try:
        schema = engine.schema()
    finally:
        engine.close()
    return TableFile(file, table, schema, beside if declared is not None else None, kind)


def kind_of(file: str) -> str:
    """What a file is, by its name; of an address, "postgresql" or "spark"."""
    if is_address(file):
        return "spark" if is_spark_address(file) else "postgresql"
    return find_files(file).kind


def wait_for_spark(file: str, table: str | None = None) -> None:
    """Starts Spark, where an address needs it: that takes a while, which is said."""
    if not is_spark_address(file):
        return
    check_address(file, table)  # or says what is wrong with it, first
    from letalone.engines.spark_start import is_started, spark_session

    if not is_started():
        with waiting("Starting Spark"):
            spark_session()


class TableChoice(NamedTuple):
    """How a table is named on the command line: `name` is what FROM calls it."""

    file: str
    table: str | None
    name: str

    @property
    def option(self) -> list[str]:
        """The option that names the table of a file; an address has it in itself."""
        return [] if self.table is None else ["--table", self.table]


def offer_tables(
    error: WhichTable, file: str, command: Callable[[TableChoice], str]
) -> ParameterError:
    """The error with commands that name a table: `command` is what to type for one."""
    tables = () if _has_address(file) else error.tables[:MAX_OFFERED]
    lines = "".join(command(_choose(file, table)) for table in tables)
    words = in_options(error.problem, str)
    return ParameterError(f"{words}{' Try:' if lines else ''}{lines}")


def _choose(file: str, table: str) -> TableChoice:
    if not postgres_address.is_address(file):
        return TableChoice(file, table, table)
    address = postgres_address.with_table(file, table)
    named = postgres_address.read_address(address).table
    return TableChoice(address, None, postgres_address.table_name(*named) if named else table)


def _has_address(file: str) -> bool:
    """Whether this is a schema file with an address in it, which has to be mended there."""
    return is_schema_file(file) and is_address(source_of(file))


def table_in(sql: str) -> str | None:
    """The table that FROM names, where it does."""
    match = FROM.search(sql)
    return None if match is None else re.sub("[\"']", "", match[1])


def rename_table(sql: str, name: str) -> str:
    """The same question about the table of this name; left alone where FROM stands twice."""
    once = len(FROM.findall(sql)) == 1
    return FROM.sub(lambda _: f" {quote_name(name)}", sql) if once else sql


def check_one_file(file: str) -> None:
    """Refuses a pattern: schema file and ledger lie beside one file."""
    if has_magic(file) and not is_address(file) and not Path(file).exists():
        raise ParameterError(
            f"{file} stands for several files, but here one is asked at a time. In Python,"
            " la.open takes a pattern."
        )


def known_data_set(path: Path, name: str) -> DataSet | None:
    """How a data set stands in a ledger; None where there is no ledger, or it is not in it."""
    if not path.exists():
        return None
    with Ledger.open(path, create=False) as ledger:
        return next((known for known in ledger.data_sets() if known.name == name), None)


def fingerprint_of(path: Path) -> str | None:
    """The fingerprint of a ledger's key; None where there is no ledger."""
    if not path.exists():
        return None
    with Ledger.open(path, create=False) as ledger:
        return ledger.fingerprint


def likely_unit(schema: Schema, known: DataSet | None = None) -> str | None:
    """The ledger's unit, else the column whose name sounds like a person's: for examples only."""
    if known is not None and known.neighbours.unit is not None:
        return known.neighbours.unit
    names = [column.name for column in schema.columns]
    ids = [name for name in names if ID.search(name.lower())]
    people = [name for name in names if PEOPLE.search(name.lower())]
    both = [name for name in ids if name in people]
    return next(iter([*both, *people, *ids]), None)


def unit_example(schema: Schema, known: DataSet | None = None) -> str:
    """What to type after --unit: a word to fill in where no column sounds like a person's."""
    return likely_unit(schema, known) or TO_FILL_IN
