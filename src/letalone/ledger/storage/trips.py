"""Statements that go to a PostgreSQL server together: one wait for its answers, not one for each.

    together = Together(connection, begin=("BEGIN",))
    heads, keys = together.ask((THE_HEAD, {}), (THE_KEY, {}))  # with the beginning: one wait
    together.write(ADD_ENTRY, row)                             # none
    together.end()                                             # with all that was written: one

A server far away takes a network's delay for each answer, under the lock that all writers wait
for. What is written waits here until something is asked, or for the end, and all goes in order in
a pipeline (psycopg's). At the first error the server skips all that follows, the COMMIT too.

  Tested:   tests/ledger/test_trips.py; how many: tests/curator/http/test_round_trips.py
  Assumed:  psycopg, and its pipelines
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Dialect, Executable
from sqlalchemy.exc import DBAPIError

Asked = tuple[Executable, Mapping[str, object]]
Rows = Sequence[tuple[Any, ...]]
Known = tuple[Executable, tuple[tuple[str, object], ...]]
READ_ONE_STATE = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
END = "COMMIT"


class Pipeline:
    """One transaction on a connection that begins none by itself (AUTOCOMMIT).

    `ahead` is asked with the first question, for whoever asks for it next. Without `begin` there
    is no transaction, and what is asked at once sees one state.
    """

    __slots__ = ("_ahead", "_begin", "_begun", "_connection", "_found", "_waiting")

    def __init__(
        self, connection: Connection, *, begin: Sequence[str] = (), ahead: Sequence[Asked] = ()
    ) -> None:
        self._connection, self._begin, self._ahead = connection, begin, ahead
        self._begun = False
        self._waiting = list[Asked]()
        self._found = dict[Known, Rows]()

    def ask(self, *asked: Asked) -> list[Rows]:
        """The rows of each statement, after all that was written before."""
        if all(_cache_key(question) in self._found for question in asked):
            return [self._found.pop(_cache_key(question)) for question in asked]
        ahead, self._ahead = self._ahead, ()
        rows = self._sent([*asked, *ahead])
        self._found |= zip(map(_cache_key, ahead), rows[len(asked) :], strict=True)
        return rows[: len(asked)]

    def write(self, statement: Executable, values: Mapping[str, object]) -> None:
        """Sent with what is asked next, or at the end; its rows are nobody's."""
        self._found.clear()
        self._waiting.append((statement, values))

    def flush(self) -> None:
        """Sends what waits, and begins: what is run on the connection itself comes after it."""
        self._found.clear()
        if self._waiting or (self._begin and not self._begun):
            self._sent([])

    def end(self) -> None:
        """Sends what waits, and commits; returns when that is done."""
        if self._begun or self._waiting:
            self._sent([], last=(END,))

    def undo(self) -> None:
        self._waiting.clear()
        if not self._connection.invalidated:
            try:
                self._driver().rollback()
            except Exception:  # lost, or stopped midway by Ctrl+C: the server undoes what it ends
                self._connection.invalidate()

    def _sent(self, asked: Sequence[Asked], *, last: Sequence[str] = ()) -> list[Rows]:
        first: Sequence[str] = () if self._begun else self._begin
        if not self._begin and len(asked) > 1:
            first, last = (READ_ONE_STATE,), (END,)
        waiting, self._waiting, self._begun = self._waiting, [], bool(self._begin)
        sent: list[tuple[str, Mapping[str, object] | None]] = [
            *((item, None) for item in first),
            *(self._rendered(item) for item in (*waiting, *asked)),
            *((item, None) for item in last),
        ]
        done = self._done(sent)
        if last and done[-1].statusmessage != END:
            raise RuntimeError("The transaction was not committed.")
        rows = done[len(first) + len(waiting) : len(done) - len(last)]
        return [item.fetchall() for item in rows]

    def _done(self, sent: Sequence[tuple[str, Mapping[str, object] | None]]) -> list[Any]:
        driver = self._driver()
        try:
            with driver.pipeline():
                done = [driver.execute(text, values) for text, values in sent]
        except self._connection.dialect.loaded_dbapi.Error as error:
            if driver.closed:  # and so are the others, by all that is known
                self._connection.invalidate()
                self._connection.engine.dispose()
            dialect, kind = self._connection.dialect, self._connection.dialect.loaded_dbapi.Error
            raise DBAPIError.instance(None, None, error, kind, dialect=dialect) from None
        return done

    def _driver(self) -> Any:
        return self._connection.connection.driver_connection

    def _rendered(self, asked: Asked) -> tuple[str, Mapping[str, object]]:
        statement, values = asked
        names = self._connection.get_execution_options().get("schema_translate_map")
        schema = None if names is None else names[None]
        compiled = _compile(statement, tuple(values), self._connection.dialect, schema)
        return str(compiled), compiled.construct_params(dict(values))


def _cache_key(asked: Asked) -> Known:
    statement, values = asked
    return statement, tuple(sorted(values.items()))


@lru_cache(maxsize=256)
def _compile(statement: Any, names: tuple[str, ...], dialect: Dialect, schema: str | None) -> Any:
    """Statements are made once, so each is put into words once."""
    return statement.compile(
        dialect=dialect,
        column_keys=list(names),
        schema_translate_map=None if schema is None else {None: schema},
        render_schema_translate=schema is not None,
    )
