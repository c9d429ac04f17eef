"""Reads the address of a table on Spark, and finds the place of a table however it is written.

    spark:catalog.schema.table
    spark:schema.table
    spark:table

The Spark is the one that this machine is set up for, or the one that runs in this process already
(spark_start.py). What an address leaves out is the current catalogue and schema of its session. A
name with other signs than letters, digits and _ is written in backticks, as Spark writes it.

A table is read by its whole name of three parts, which Spark looks for in the catalogue alone: an
address never leads to a temporary view, nor to a file (parquet.`/some/path`).

  Theorem.  Two ways to write one table give one place, and so one schema file and one ledger in a
  working folder. What is no name as it is written above is refused.
  Proven:   a place is the whole name, in small letters: what the name leaves out is filled in as
            Spark does it, and where Spark could take a part for something else there is no place.
            Spark gets the parts that were read here, in backticks, and nothing as it was typed.
  Tested:   tests/sources/test_spark_names.py, tests/on_spark/test_addresses.py
  Assumed:  no two tables of a schema have names that differ in capital letters alone. (They would
            share a budget; `name=` parts them.) Not covered: a view of a catalogue, or a second
            catalogue that leads to the same tables, is another table here; and a budget is in its
            ledger: one that is given, or that of a schema file with `source =`, is a second one.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import re
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import quote

from letalone.errors import ParameterError

PREFIX, CLUSTER = "spark:", "spark://"
EXAMPLES = "spark:catalog.schema.table, spark:schema.table or spark:table"
PART = re.compile(r"`((?:[^`\x00-\x1f\x7f]|``)+)`(?!`)|(\w+)")
OF_A_FILE = re.compile(r"[/\\:]")
OWN_CATALOG = "spark_catalog"
Parts = tuple[str, ...]
Place = tuple[str, str, str]
SparkTable = tuple[Any, str]  # a session, and a name as Spark reads it


class SparkNames(Protocol):
    """What names stand for in a session of Spark: its current catalogue and schema, as Spark writes
    them; whether a name is that of a catalogue, or of a temporary view.
    """

    def current(self) -> tuple[str, str]: ...

    def is_catalogue(self, name: str) -> bool: ...

    def is_temporary(self, parts: Parts) -> bool: ...


def is_spark_address(source: object) -> bool:
    """Whether this is the address of a table on Spark."""
    return isinstance(source, str) and source.startswith(PREFIX)


def is_spark(source: object) -> bool:
    """Whether this is a DataFrame of Spark, or a session and the name of a table."""
    return _is(source, "DataFrame") or (
        isinstance(source, tuple)
        and len(cast("tuple[object, ...]", source)) == 2
        and _is(cast("tuple[object, ...]", source)[0], "SparkSession")
    )


def words_of(source: object) -> str:
    """What a source is called, for people."""
    return str(cast("Any", source)[1]) if isinstance(source, tuple) else "a Spark frame"


def name_of(source: object) -> str:
    """The name of the data set: the table's, in small letters: Spark tells no capitals apart."""
    return (parts_in(source) or ("data",))[-1]


def parts_in(source: object) -> Parts | None:
    """The name that Spark is given, in small letters but for paths; None for a frame."""
    if not is_spark(source) or not isinstance(source, tuple):
        return None
    parts = read_name(cast("Any", source)[1])
    return tuple(part if OF_A_FILE.search(part) else part.lower() for part in parts)


def is_path_on_spark(source: object) -> bool:
    """Whether Spark is given a path instead of the name of a table: parquet.`/some/path`."""
    return any(OF_A_FILE.search(part) for part in parts_in(source) or ())


def _is(source: object, name: str) -> bool:
    kind = type(source)
    return kind.__name__ == name and kind.__module__.startswith("pyspark.")


def read_spark_address(source: str) -> Parts:
    """The one to three names of an address; Spark is not asked."""
    if source.startswith(CLUSTER):
        raise ParameterError(
            "This is the address of a cluster, which belongs into spark-defaults.conf (in"
            " SPARK_CONF_DIR or SPARK_HOME/conf): spark.master spark://host:7077. An address here"
            f" names a table: {EXAMPLES}."
        )
    parts = parts_of(source.removeprefix(PREFIX))
    if parts is None or len(parts) > 3:
        raise ParameterError(
            f"The address must name a table: {EXAMPLES}. A name with other signs than letters,"
            " digits and _ is written in backticks: spark:lake.`my clinic`.visits."
        )
    if any(OF_A_FILE.search(part) for part in parts):
        raise ParameterError(
            "An address names a table of a catalogue, and this looks like the path of a file. Open"
            " the file itself; or, in Python, a frame: la.open(spark.read.parquet(path), name=…)."
        )
    return parts


def parts_of(written: str) -> Parts | None:
    """The parts of a name as Spark reads it; None where it is none."""
    parts: list[str] = []
    at = 0
    while (part := PART.match(written, at)) is not None:
        parts.append(part[2] or part[1].replace("``", "`"))
        if part.end() == len(written):
            return tuple(parts)
        at = part.end() + 1
        if written[part.end()] != ".":
            return None
    return None


def read_name(written: object) -> Parts:
    """The parts of a name; Spark would also read one with blanks and comments around its parts."""
    parts = parts_of(str(written))
    if parts is None:
        raise ParameterError(
            "The name of a table on Spark must be written as catalog.schema.table, schema.table or"
            " table, without blanks or comments. A part with other signs than letters, digits and _"
            " is written in backticks: lake.`my clinic`.visits."
        )
    return parts


def in_backticks(parts: Parts) -> str:
    """A name as Spark reads it, whatever signs it has."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)


def written_name(parts: Parts) -> str:
    """The same for people: in backticks only what needs them."""
    return ".".join(part if re.fullmatch(r"\w+", part) else in_backticks((part,)) for part in parts)


def is_remote(source: object) -> bool:
    """Whether a frame or a session is one of Spark Connect, which is not asked."""
    return ".connect." in type(source).__module__


def stand_in_of(place: Place) -> Path:
    """A path in the working folder beside which the schema files and the ledger of a schema lie:
    CATALOG.SCHEMA.TABLE.letalone.toml and CATALOG.SCHEMA.letalone.db.
    """
    names = [quote(part, safe=" ").replace(".", "%2E") for part in place[:2]]
    return Path(".".join([*names, "spark"]))


def find_place(parts: Parts, names: SparkNames) -> Place | None:
    """Catalogue, schema and name of a table, in small letters.

    None for what is no table of a catalogue: a temporary view, a path.
    """
    if not _is_of_a_catalog(parts, names):
        return None
    first, second, third = fill_in(parts, names)
    return first.lower(), second.lower(), third.lower()


def fill_in(parts: Parts, names: SparkNames) -> Place:
    """The whole name, with the current catalogue and schema where it leaves them out."""
    *before, name = parts
    catalog, current = (before[0], "") if len(before) == 2 else names.current()
    if before:
        if not names.is_catalogue(catalog):  # Spark would take it for a part of a longer name
            raise ParameterError(
                f"Spark has no catalogue {catalog!r}: spark.sql.catalog.{catalog} is not set."
                f" Tables of its own are in {OWN_CATALOG}."
            )
        return catalog, before[-1], name
    schema = parts_of(current) or ()
    if len(schema) != 1:
        raise ParameterError(
            f"Say in which schema {name!r} is: {PREFIX}{written_name((catalog, 'SCHEMA', name))}."
        )
    return catalog, schema[0], name


def _is_of_a_catalog(parts: Parts, names: SparkNames) -> bool:
    """Whether a name can be nothing but that of a table in a schema of a catalogue."""
    if len(parts) > 3 or any(OF_A_FILE.search(part) for part in parts):
        return False
    if len(parts) == 3:
        return names.is_catalogue(parts[0])
    if len(parts) == 2 and names.is_catalogue(parts[0]):
        return False  # a table of a catalogue without schemas
    return not names.is_temporary(parts)
