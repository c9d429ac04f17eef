"""Hides what Spark 3.5 and Spark 4 say differently: each has one name here.

Of Spark 3.5: text has no collation, so all of it is compared byte by byte; Arrow tables come and go
by the functions that pandas frames come and go by there.

  Proven:   on Spark 3.5 text is UTF-8 if and only if it is itself when it is decoded and encoded
            again: Java's decoder puts a sign that is UTF-8 for what is not, and leaves the rest.
  Tested:   tests/engines/test_spark_versions.py; tests/on_spark, on whichever version is installed:
            on 4.3 with each change, by hand on 3.5.9
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from typing import Any, cast

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.rewriting import rewrite_tree
from letalone.engines.core.syntax import Sql
from letalone.engines.frames import arrow
from letalone.engines.spark.spark_dialect import SPARK


def print_for_session(query: Sql, session: Any) -> str:
    """The statement in the words of the session's version."""
    if not is_old(session):
        return SPARK.printed(query)
    return SPARK.printed(rewrite_tree(query, {exp.Anonymous: _in_old_words}))


def is_old(session: Any) -> bool:
    """Whether this is Spark 3."""
    return str(session.version).startswith("3.")


def settings_of(session: Any) -> dict[str, str | None]:
    """The settings of a session."""
    if not is_old(session):
        return dict(session.conf.getAll)
    pairs, settings = session._jsparkSession.conf().getAll().iterator(), dict[str, str | None]()
    while pairs.hasNext():
        pair = pairs.next()
        settings[str(pair._1())] = pair._2()
    return settings


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    """What a statement finds."""
    if is_old(frame.sparkSession):
        return [row for batch in frame._collect_as_arrow() for row in arrow.tuples_of(batch)]
    return arrow.tuples_of(frame.toArrow())


def frame_of_arrow(table: object, session: Any) -> Any:
    """An Arrow table of this process as a frame; times without a zone are in UTC."""
    return _old_frame(table, session) if is_old(session) else session.createDataFrame(table)


def _in_old_words(node: Sql) -> Sql:
    if node.name == "COLLATE":
        return node.expressions[0]
    return _if_decoded(node.expressions[0]) if node.name == "TRY_VALIDATE_UTF8" else node


def _if_decoded(text: Sql) -> Sql:
    as_bytes = syntax.cast_as(text, "BINARY", "spark")
    again = syntax.call("DECODE", as_bytes, syntax.text("UTF-8"))
    return syntax.case((syntax.operation(exp.EQ, again, text.copy()), text.copy()))


def _old_frame(table: object, session: Any) -> Any:
    """As Spark 3.5 makes frames of what pandas has."""
    from pyspark.sql import DataFrame
    from pyspark.sql.pandas.serializers import ArrowStreamSerializer
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    arrow_table, java = cast("Any", table), session._jvm
    schema = from_arrow_schema(arrow_table.schema)
    if not arrow_table.num_rows:
        return session.createDataFrame([], schema)
    step = int(session.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch"))
    batches = arrow_table.cast(to_arrow_schema(schema)).to_batches(max_chunksize=step)
    rows = session.sparkContext._serialize_to_jvm(
        batches,
        ArrowStreamSerializer(),
        java.PythonSQLUtils.readArrowStreamFromFile,
        java.ArrowIteratorServer,
    )
    made = java.PythonSQLUtils.toDataFrame(rows, schema.json(), session._jsparkSession)
    return cast("Any", DataFrame)(made, session)
