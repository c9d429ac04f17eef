"""Reads the columns of a DataFrame of Spark, and makes a session of our own to ask it in.

The session shares the cluster, the catalogue and what is cached with the frame's, and has its
settings, but for those below, which do not depend on anybody's: nothing raises (ANSI off), UTC,
names as they are written, nothing substituted in a statement. The frame's own session is left as it
is. The frame is known in ours as a global temporary view under a random name.

  Theorem (rule 2 of docs/explanation/soundness.md).  Names and types come from the frame's schema
  alone, which Spark derives from the catalogue, the files' footers or the code that made the frame:
  no action is run. What is refused is refused by the schema and by how the frame is made
  (spark_plan.py).
  Assumed:  a frame is made of the same rows each time, as those of files and tables are. One that
            draws at random when it is read is refused; a source that changes between two
            statements of an answer is not seen. One that keeps any one of a person's rows
            (dropDuplicates by some columns, row_number by an order with ties) may come out
            otherwise where a lost part is computed again: Spark sees that from 4.1 on.
  Tested:   tests/on_spark/test_frames.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Mapping
from secrets import token_hex
from typing import Any, cast

from letalone.engines.core import syntax
from letalone.engines.core.rows import TableRef
from letalone.engines.core.stored_types import Stored, check_columns
from letalone.engines.spark.spark_versions import settings_of
from letalone.errors import ParameterError
from letalone.sources.spark_names import in_backticks, is_remote, read_name

SETTINGS: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.caseSensitive": "true",
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    # Where a lost part is computed again and comes out otherwise, all that has read it is, too.
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "true",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "true",
}
STORED = {  # Spark's words for types in ours; every other type is OTHER
    "boolean": "BOOLEAN",
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
    "timestamp_ntz": "TIMESTAMP",
}
CHARACTERS = "__CHAR_VARCHAR_TYPE_STRING"
GLOBAL = "spark.sql.globalTempDatabase"


def frame_of(source: object) -> Any:
    """The frame; no action is run."""
    given = cast("Any", source)
    if is_remote(given[0] if isinstance(given, tuple) else given):
        raise ParameterError(
            "This is a frame of Spark Connect, and only those of Spark itself are asked. Open it"
            " where the driver runs."
        )
    if not isinstance(given, tuple):
        return given
    session, written = cast("tuple[Any, str]", given)
    return session.table(in_backticks(read_name(written)))


def own_session(frame: Any) -> Any:
    """A session beside the frame's, with its settings and ours."""
    theirs = frame.sparkSession
    mine = theirs.newSession()
    for name, value in settings_of(theirs).items():
        if value is not None and mine.conf.isModifiable(name):
            mine.conf.set(name, value)
    for name, value in SETTINGS.items():
        mine.conf.set(name, value)
    return mine


def relation_of(frame: Any, *, view: str) -> TableRef:
    """The frame under the name of a global view, and its columns as they are stored."""
    columns = [_stored_column(field) for field in frame.schema.fields]
    check_columns([column.name for column in columns], "The Spark frame")
    _check_repeatable(frame)
    database = frame.sparkSession.conf.get(GLOBAL, "global_temp")
    sql = syntax.table(view, schema=str(database))
    return TableRef(sql, {column.name: column for column in columns})


def view_name() -> str:
    """A name that nobody else has or can guess."""
    return f"letalone_{token_hex(16)}"


def _stored_column(field: Any) -> Stored:
    word, name = str(field.dataType.simpleString()), str(field.name)
    written = str((field.metadata or {}).get(CHARACTERS, word)).split(" collate ")[0]
    if written.startswith(("char(", "varchar(")):
        return Stored(name, "CHAR" if written.startswith("char(") else "VARCHAR", collated=True)
    if word.startswith("string collate "):
        return Stored(name, "VARCHAR", collated=True)
    if word.startswith("decimal("):
        return Stored(name, word.upper())
    return Stored(name, STORED.get(word, "OTHER"))


def _check_repeatable(frame: Any) -> None:
    """Refuses frames that draw at random each time they are read, by how they are made."""
    if frame.isStreaming:
        raise ParameterError(
            "The frame is a stream, which has no end to count up to. Write it to a table, and open"
            " that."
        )
    if not frame._jdf.queryExecution().analyzed().deterministic():
        raise ParameterError(
            "The frame draws at random each time it is read (rand, uuid, shuffle, or a function"
            " that is not deterministic), so two sums of one answer would be of different rows."
            " Write it to a table first."
        )
