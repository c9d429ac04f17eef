"""Connections to PostgreSQL that wait for nobody for ever: of ledger, database, watch and sources.

Whoever connects here gives up when the other side has been silent for too long (`patience`). It is
silence that counts, not how long an answer is: each byte begins anew. The server's own limits do
not help where the server is what does not answer, so the count is kept on this side.

A connection in vain is remembered for a moment, and others are told at once: a queue does not wait
one after another. One connection that fell silent makes all suspect that are as old, of whomever in
this process: those that nobody uses are given up without a wait. What an address says itself
(`?connect_timeout=20`) is left as it is.

  Tested:   tests/ledger/test_connecting.py: a proxy that swallows, a server that is stopped
  Assumed:  names are resolved in time: the system's resolver has limits of its own
"""

import os
from collections.abc import Generator, Mapping
from logging import NullHandler, getLogger
from selectors import EVENT_READ, DefaultSelector
from time import monotonic
from typing import Any, Self, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import ConnectionTimeout
from sqlalchemy import Engine, event
from sqlalchemy.exc import InvalidatePoolError

from letalone.ledger.storage import patience

# What it says where a connection is cut is raised here as an error, too: nothing for a terminal.
getLogger("psycopg").addHandler(NullHandler())

PLACE = ("host", "hostaddr", "port", "service")
Waited = TypeVar("Waited")
Place = tuple[str, ...]
_silent_until: dict[Place, float] = {}
_lost_at: dict[Place, float] = {}


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that closes itself when the server has been silent for too long."""

    patience_seconds: float | None = None  # None: that of all statements
    _place: Place = ()
    _made: float = 0.0

    @classmethod
    def connect(cls, conninfo: str = "", **given: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        """As psycopg's, with limits; an error at once where somebody has just waited in vain."""
        settings = {**conninfo_to_dict(conninfo), **given}
        place = tuple(str(settings.get(name)) for name in PLACE)
        if monotonic() < _silent_until.get(place, 0):
            raise ConnectionTimeout("the server was silent a moment ago")
        try:
            made = super().connect(conninfo, **_usual(settings), **given)
        except ConnectionTimeout:
            _silent_until[place] = monotonic() + patience.BELIEVED_SECONDS
            raise
        made._place, made._made = place, monotonic()
        return made

    def wait(self, gen: Generator[Any, Any, Waited], *more: Any, **named: Any) -> Waited:
        """What all of psycopg's statements go through."""
        return super().wait(self._unless_silent(gen), *more, **named)

    def is_there(self, *, since: float) -> bool:
        """Whether it can be used again; one that was in use a moment ago is not asked."""
        if self.closed or self.is_suspect or self._something_came():
            self.close()
            return False
        return monotonic() - since < patience.TRUSTED_SECONDS or self.answers()

    def answers(self) -> bool:
        usual, was = self.patience_seconds, self.autocommit
        self.patience_seconds = patience.LOOK_SECONDS
        try:
            self.autocommit = True  # else it would begin a transaction
            self.execute(";")
            self.autocommit = was
        except psycopg.Error:
            self.close()
            return False
        self.patience_seconds = usual
        return True

    @property
    def is_suspect(self) -> bool:
        """Whether another one to the same server fell silent since this one was made."""
        return self._made < _lost_at.get(self._place, 0.0)

    def _something_came(self) -> bool:
        """Nobody has asked anything, so what comes is the end."""
        with DefaultSelector() as look:
            look.register(self.fileno(), EVENT_READ)
            return bool(look.select(0))

    def _unless_silent(self, gen: Generator[Any, Any, Waited]) -> Generator[Any, Any, Waited]:
        """The same steps; psycopg takes one each tenth of a second also if nothing came."""
        heard = monotonic()
        try:
            wanted = next(gen)
            while True:
                came = yield wanted
                if came:
                    heard = monotonic()
                elif monotonic() - heard > (self.patience_seconds or patience.STATEMENT_SECONDS):
                    _lost_at[self._place] = monotonic()
                    self.pgconn.finish()  # its state is not known, and its locks must go
                    raise ConnectionTimeout("the server is silent")
                wanted = gen.send(came)
        except StopIteration as done:
            return done.value


class LookingConnection(BoundedConnection):
    """One that looks or claims: nothing is lost if it is given up and made again."""

    def wait(self, gen: Generator[Any, Any, Waited], *more: Any, **named: Any) -> Waited:
        """As of all; a look at a server that may be gone is not tried."""
        if self.is_suspect:
            raise ConnectionTimeout("the server was silent")
        return super().wait(gen, *more, **named)


def bound_silence(engine: Engine) -> Engine:
    """The same engine, whose connections are bounded and looked at before they are used again."""
    event.listen(engine, "do_connect", _connect)
    event.listen(engine, "checkout", _check_there)
    event.listen(engine, "checkin", _note_when)
    return engine


def _usual(said: Mapping[str, Any]) -> dict[str, int]:
    defaults = {name: value for name, value in patience.USUAL.items() if name not in said}
    if "PGCONNECT_TIMEOUT" in os.environ:
        defaults.pop("connect_timeout", None)
    return defaults


def _connect(_: Any, __: Any, arguments: Any, named: Any) -> BoundedConnection:
    return BoundedConnection.connect(*arguments, **named)


def _check_there(connection: Any, record: Any, _: Any) -> None:
    """One that is gone takes all of the pool with it that are as old; a new one is not asked."""
    connection.patience_seconds = None
    used = record.info.get("used")
    if used is not None and not connection.is_there(since=used):
        raise InvalidatePoolError


def _note_when(_: Any, record: Any) -> None:
    record.info["used"] = monotonic()
