"""Reads the address of a table on Spark, and finds the place of a table however it is written.

    spark:catalog.schema.table
    spark:schema.table
    spark:table

The Spark is the one that this machine is set up for, or the one that runs in this process already
(spark_start.py). What an address leaves out is the current catalogue and schema of its session. A
name with other signs than letters, digits and _ stands in backticks, as Spark writes it.

A table is read by its whole name of three parts, which Spark looks for in the catalogue alone: an
address never leads to a temporary view, nor to a file (parquet.`/some/path`).

  Theorem.  Two ways to write one table give one place, and so one schema file and one ledger in a
  working folder. What is no name as it is written above is refused.
  Proven:   a place is the whole name, in small letters: what the name leaves out is filled in as
            Spark does it, and where Spark could take a part for something else there is no place.
            Spark gets the parts that were read here, in backticks, and nothing as it was typed.
  Tested:   tests/engines/test_spark_address.py, tests/on_spark/test_addresses.py
  Assumed:  no two tables of a schema have names that differ in capital letters alone. (They would
            share a budget; `name=` parts them.) Not covered: a view of a catalogue, or a second
            catalogue that leads to the same tables, is another table here; and a budget is in its
            ledger: one that is given, or that of a schema file with `source =`, is a second one.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import re
import shlex
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from letalone.engines.failure import EngineFailed
from letalone.engines.spark_silence import run_silently
from letalone.errors import ParameterError
from letalone.errors.problem import without_context

PREFIX, CLUSTER = "spark:", "spark://"
EXAMPLES = "spark:catalog.schema.table, spark:schema.table or spark:table"
PART = re.compile(r"`((?:[^`\x00-\x1f\x7f]|``)+)`(?!`)|(\w+)")
OF_A_FILE = re.compile(r"[/\\:]")
OWN_CATALOG = "spark_catalog"
KEPT, FORGETFUL = "spark.sql.catalogImplementation", "in-memory"  # unless it is set
FORGETS = (
    f" This Spark forgets tables of its own when it ends ({KEPT} is {FORGETFUL}): set that to hive,"
    " and spark.sql.warehouse.dir to the folder of the tables."
)
Parts = tuple[str, ...]
Place = tuple[str, str, str]
Table = tuple[Any, str]  # a session, and a name as Spark reads it


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
    return tuple(one if OF_A_FILE.search(one) else one.lower() for one in parts)


def is_path_on_spark(source: object) -> bool:
    """Whether Spark is given a path instead of the name of a table: parquet.`/some/path`."""
    return any(OF_A_FILE.search(one) for one in parts_in(source) or ())


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
            " digits and _ stands in backticks: spark:lake.`my clinic`.visits."
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
            " stands in backticks: lake.`my clinic`.visits."
        )
    return parts


def in_backticks(parts: Parts) -> str:
    """A name as Spark reads it, whatever signs it has."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)


def written_name(parts: Parts) -> str:
    """The same for people: in backticks only what needs them."""
    return ".".join(part if re.fullmatch(r"\w+", part) else in_backticks((part,)) for part in parts)


def look_up_address(source: str, session: Any = None) -> Table:
    """The session and the whole name of the table at an address; Spark is started if need be."""
    parts = read_spark_address(source)
    if session is None:
        from letalone.engines.spark_start import spark_session

        session = run_silently(spark_session)
    place, exists, forgets = _look_up(parts, session)
    if not exists:
        raise ParameterError(
            f"Spark has no table {written_name(place)!r}, or may not read it. It is the Spark that"
            " this machine is set up for (spark-defaults.conf in SPARK_CONF_DIR or SPARK_HOME/conf)"
            ", or the one that runs in this process; spark.sql.catalog.NAME there names a"
            f" catalogue.{FORGETS * forgets}"
        )
    return session, written_name(place)


def _look_up(parts: Parts, session: Any) -> tuple[Place, bool, bool]:
    """The whole name, whether such a table is there, and whether Spark keeps none of its own."""

    def look() -> tuple[Place, bool, bool]:
        place = _fill_in(parts, session)
        exists = bool(session.catalog.tableExists(in_backticks(place)))
        is_own = place[0].lower() == OWN_CATALOG
        return place, exists, is_own and session.conf.get(KEPT, FORGETFUL) == FORGETFUL

    error = ParameterError(
        "Spark runs, but its catalogue cannot be opened: its metastore may be in use by another"
        " process (one of Derby serves one at a time), out of reach, or not set up. Nothing was"
        f" charged. `spark-sql -e {shlex.quote(f'DESCRIBE TABLE {written_name(parts)}')}` says"
        " more."
    )
    return without_context(lambda: run_silently(look), EngineFailed, error=error)


def place_of(source: object) -> Place | None:
    """Catalogue, schema and name of a table, in small letters.

    None for what is no table of a catalogue: a frame, a temporary view, a path. What is no name is
    refused.
    """
    if isinstance(source, str):
        source = look_up_address(source)
    if not isinstance(source, tuple):
        return None
    session, written = cast("Table", source)
    parts = read_name(written)
    if is_remote(session) or not run_silently(lambda: _is_of_a_catalog(parts, session)):
        return None
    first, second, third = run_silently(lambda: _fill_in(parts, session))
    return first.lower(), second.lower(), third.lower()


def is_remote(source: object) -> bool:
    """Whether a frame or a session is one of Spark Connect, which is not asked."""
    return ".connect." in type(source).__module__


def stand_in_of(place: Place) -> Path:
    """A path in the working folder beside which the schema files and the ledger of a schema lie:
    CATALOG.SCHEMA.TABLE.letalone.toml and CATALOG.SCHEMA.letalone.db.
    """
    names = [quote(part, safe=" ").replace(".", "%2E") for part in place[:2]]
    return Path(".".join([*names, "spark"]))


def _fill_in(parts: Parts, session: Any) -> Place:
    *before, name = parts
    catalog = before[0] if len(before) == 2 else str(session.catalog.currentCatalog())
    if before:
        if not _is_catalog(catalog, session):  # Spark would take it for a part of a longer name
            raise ParameterError(
                f"Spark has no catalogue {catalog!r}: spark.sql.catalog.{catalog} is not set."
                f" Tables of its own are in {OWN_CATALOG}."
            )
        return catalog, before[-1], name
    schema = parts_of(str(session.catalog.currentDatabase())) or ()
    if len(schema) != 1:
        raise ParameterError(
            f"Say in which schema {name!r} is: {PREFIX}{written_name((catalog, 'SCHEMA', name))}."
        )
    return catalog, schema[0], name


def _is_catalog(name: str, session: Any) -> bool:
    if name.lower() == OWN_CATALOG:
        return True
    return session.conf.get(f"spark.sql.catalog.{name}", None) is not None


def _is_of_a_catalog(parts: Parts, session: Any) -> bool:
    """Whether a name can be nothing but that of a table in a schema of a catalogue."""
    if len(parts) > 3 or any(OF_A_FILE.search(part) for part in parts):
        return False
    if len(parts) == 3:
        return _is_catalog(parts[0], session)
    if len(parts) == 2 and _is_catalog(parts[0], session):
        return False  # a table of a catalogue without schemas
    return not session.catalog.getTable(in_backticks(parts)).isTemporary
