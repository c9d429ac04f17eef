"""Finds the place of a table on Spark, however it is written: its catalogue is asked.

The Spark is the one that this machine is set up for, or the one that runs in this process already
(spark_start.py).

  Tested:   tests/sources/test_spark_names.py, tests/on_spark/test_addresses.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import shlex
from typing import Any

from letalone.engines.core.failure import EngineFailed
from letalone.engines.spark.spark_silence import run_silently
from letalone.errors import ParameterError
from letalone.errors.problem import without_context
from letalone.sources.spark_names import (
    OWN_CATALOG,
    Parts,
    Place,
    SparkTable,
    fill_in,
    in_backticks,
    read_spark_address,
    written_name,
)

KEPT, FORGETFUL = "spark.sql.catalogImplementation", "in-memory"  # unless it is set
FORGETS = (
    f" This Spark forgets its own tables when it ends ({KEPT} is {FORGETFUL}): set that to hive,"
    " and spark.sql.warehouse.dir to the folder of the tables."
)


class SessionNames:
    """What names stand for in a session of Spark: its catalogue is asked, in silence."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def current(self) -> tuple[str, str]:
        now = self._session.catalog
        return run_silently(lambda: (str(now.currentCatalog()), str(now.currentDatabase())))

    def is_catalogue(self, name: str) -> bool:
        key, settings = f"spark.sql.catalog.{name}", self._session.conf
        is_own = name.lower() == OWN_CATALOG
        return is_own or run_silently(lambda: settings.get(key, None) is not None)

    def is_temporary(self, parts: Parts) -> bool:
        look = self._session.catalog.getTable
        return run_silently(lambda: bool(look(in_backticks(parts)).isTemporary))


def look_up_address(source: str, session: Any = None) -> SparkTable:
    """The session and the whole name of the table at an address; Spark is started if need be."""
    parts = read_spark_address(source)
    if session is None:
        from letalone.engines.spark.spark_start import spark_session

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
        place = fill_in(parts, SessionNames(session))
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
