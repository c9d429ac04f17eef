"""The engine that runs on Spark: the same plans, the same integers, no row on the driver.

What comes back of a statement is one row for each listed key, for each cell, or for each group
that there is; never a row of the table. Keys and public tables go along as frames of this process.

  Tested:   tests/on_spark/test_laws.py: the laws that every engine has to pass
  Assumed:  the cluster keeps its promises; its logs, its user interface and its event log are as
            private as its tables. They hold the statements, with the listed keys: whoever can
            read them can read the data as well.

Everything that Spark raises stops in failure.py, and its loggers in this process are silent
meanwhile: they would print what goes to the JVM and back.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from letalone.engines.core import syntax
from letalone.engines.core.measures import RowScope
from letalone.engines.core.rows import TableRef
from letalone.engines.core.server_engine import ServerEngine
from letalone.engines.core.sql_engine import key_table
from letalone.engines.core.statements import KEYS
from letalone.engines.core.stored_types import declared_schema
from letalone.engines.core.syntax import Sql
from letalone.engines.frames import arrow
from letalone.engines.public_tables import checked_frame
from letalone.engines.spark.spark_dialect import SPARK
from letalone.engines.spark.spark_frame import frame_of, own_session, relation_of, view_name
from letalone.engines.spark.spark_jobs import jobs_of
from letalone.engines.spark.spark_plan import check_plan
from letalone.engines.spark.spark_silence import run_silently as _private
from letalone.engines.spark.spark_versions import frame_of_arrow, print_for_session, rows_of
from letalone.engines.time_limit import read_timeout
from letalone.errors import UnsupportedQuery
from letalone.plans.plan import PublicJoin
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from letalone.sources.spark_names import name_of, words_of


def open_spark(
    source: object,
    *,
    schema: Schema | None = None,
    types: Mapping[str, Type] | None = None,
    vouched: bool = False,
    timeout_seconds: float | None = None,
) -> "SparkEngine":
    """Opens a DataFrame of Spark, or (session, "catalog.schema.table"); no action is run.

    timeout_seconds: how long a statement may run (see time_limit.py).
    """
    seconds = read_timeout(timeout_seconds)
    view = view_name()
    frame = _private(lambda: frame_of(source))
    relation = _private(lambda: relation_of(frame, view=view))
    declared = declared_schema(relation.columns, schema, types or {}, name_of(source))
    session = _private(lambda: own_session(frame))
    _private(lambda: frame.createGlobalTempView(view))
    called = words_of(source)
    return SparkEngine(
        session,
        relation,
        declared,
        making=lambda unit: check_plan(frame, source=called, unit=unit, vouched=vouched),
        view=view,
        timeout_seconds=seconds,
    )


class SparkEngine(ServerEngine):
    """A table on Spark."""

    def __init__(
        self,
        session: Any,
        relation: TableRef,
        schema: Schema,
        *,
        making: Callable[[str | None], tuple[str, ...]],
        view: str,
        timeout_seconds: float,
    ) -> None:
        super().__init__(session, relation, schema, SPARK)
        self._session, self._timeout_seconds, self._making = session, timeout_seconds, making
        self._finalizer = weakref.finalize(self, _forget, session, view)

    def check(self, schema: Schema) -> None:
        """Refuses rows made across people."""
        with self._lock:
            self._trusted = _private(lambda: self._making(schema.unit))

    def reach(self) -> None:
        """The driver is in this process: what it cannot do is found out when it is asked."""

    def place(self) -> str:
        return f"spark {self._session.sparkContext.applicationId}"

    def _take_public(self, join: PublicJoin, table: object, *, name: str) -> TableRef:
        frame = checked_frame(join, table)
        made = _private(lambda: self._view(frame, name))
        return replace(relation_of(made, view=name), sql=syntax.table(name))

    def _drop_public(self, relation: TableRef) -> None:
        _private(lambda: self._session.catalog.dropTempView(relation.sql.name))

    def training_rows(self, *_: object, **__: object) -> dict[str, arrow.Values]:
        """Never: rows stay on the cluster. The session has refused this before it was charged."""
        raise UnsupportedQuery("Models are not trained on Spark: its rows stay there.")

    def close(self) -> None:
        """Forgets the frame; it and its session stay as they are."""
        with self._lock:
            self._finalizer()

    def _run(self, query: Sql, scope: RowScope) -> list[tuple[Any, ...]]:
        keys = key_table(scope)
        return _private(lambda: self._collected(query, keys))

    def _collected(self, query: Sql, keys: arrow.ArrowTable | None) -> list[tuple[Any, ...]]:
        """The result of a statement: sums, each beside its key or its number."""
        if keys is not None:
            self._view(keys, KEYS)
        for name, lent in self._lent.items():
            self._framed(lent).createOrReplaceTempView(name)
        # Until the time limit, which is the same for every question.
        with jobs_of(self._session, view_name(), seconds=self._timeout_seconds):
            return rows_of(self._framed(query))

    def _framed(self, query: Sql) -> Any:
        return self._session.sql(print_for_session(query, self._session))

    def _view(self, table: object, name: str) -> Any:
        made = frame_of_arrow(table, self._session)
        made.createOrReplaceTempView(name)
        return made


def _forget(session: Any, view: str) -> None:
    with suppress(Exception):  # the cluster may have gone before
        session.catalog.dropGlobalTempView(view)
