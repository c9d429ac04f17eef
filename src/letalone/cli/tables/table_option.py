"""Reads what the command line knows of a table before it asks anything: names, types, places.

Only metadata is read here. Beside NAME.csv lie NAME.letalone.toml, what its owner declares,
and NAME.letalone.db, the ledger. A table of a DuckDB file may have NAME.TABLE.letalone.toml.
"""

import re
from collections.abc import Callable
from glob import has_magic
from pathlib import Path
from typing import NamedTuple

from letalone.cli.screen import waiting
from letalone.errors import ParameterError
from letalone.errors.in_options import in_options
from letalone.errors.problem import Result
from letalone.ledger import DataSet, Ledger
from letalone.plans.schema import Schema
from letalone.session.steps.row_limit import RowLimit, kept_in
from letalone.sources import postgres_address
from letalone.sources.files import (
    WhichTable,
    find_files,
)
from letalone.sources.places import is_schema_file
from letalone.sources.resolve import check_address, data_of, is_address
from letalone.sources.spark_names import is_spark_address
from letalone.sql.names import quote_name

TO_FILL_IN = "COLUMN"
NOT_TYPED = " Columns of a CSV or Excel file are text until a schema file declares their types."
MAX_OFFERED = 3  # commands, where several would do
PART = r"""(?:"[^"]*"|'[^']*'|[\w./*-]*[\w/*-])"""
FROM = re.compile(rf"(?i)(?<=\bfrom)\s+({PART}(?:\s*\.\s*{PART})*)")
ID = re.compile(r"(^|_)[pu]?id$")
PEOPLE = re.compile(
    r"(^|_)(person|patient|people|user|customer|client|member|employee|student|subscriber"
    r"|household|family)(_|$)"
)


def kind_of(file: str) -> str:
    """What a file is, by its name; of an address, "postgresql" or "spark"."""
    if is_address(file):
        return "spark" if is_spark_address(file) else "postgresql"
    return find_files(file).kind


def wait_for_spark(file: str, table: str | None = None) -> None:
    """Starts Spark, where an address needs it: that takes a while, which is said."""
    data = data_of(file)
    if not is_spark_address(data):
        return
    check_address(data, table)  # or says what is wrong with it, first
    from letalone.engines.spark.spark_start import is_started, spark_session

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


def with_one_table(
    work: Callable[[], Result],
    file: str,
    command: Callable[[TableChoice], str],
    *,
    named: str | None = None,
    again: Callable[[TableChoice], Result] | None = None,
) -> Result:
    """What `work` returns; where a file has several tables, an error with commands that name one.

    `command` is what to type for a table; only that of the name is offered, if there is one. Where
    the question names the table itself, `again` is done with it instead.
    """

    def offer(error: WhichTable) -> ParameterError:
        tables = tuple(name for name in error.tables if name == named) or error.tables
        # An address in a schema file has to be mended there.
        is_kept = is_schema_file(file) and is_address(data_of(file))
        choices = [] if is_kept else [_choose(file, table) for table in tables[:MAX_OFFERED]]
        words = in_options(error.problem, str)
        return ParameterError(f"{words}{' Try:' * bool(choices)}{''.join(map(command, choices))}")

    try:
        return work()
    except WhichTable as error:
        refused = error
    if again is not None and named is not None and named in refused.tables:
        return again(_choose(file, named))
    raise offer(refused)


def _choose(file: str, table: str) -> TableChoice:
    if not postgres_address.is_address(file):
        return TableChoice(file, table, table)
    address = postgres_address.with_table(file, table)
    named = postgres_address.read_address(address).table
    return TableChoice(address, None, postgres_address.table_name(*named) if named else table)


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


def known_row_limit(path: Path, known: DataSet | None, declared: int) -> RowLimit | None:
    """The row limit that was found privately for the data as they are declared now, if any."""
    if known is None:
        return None
    with Ledger.open(path, create=False) as ledger:
        kept = kept_in(ledger, known.name, version=max(known.version, declared))
    return None if kept is None else kept.limit


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
