"""Connects to a PostgreSQL server, or explains in words of our own why it does not let us in.

libpq has no code for a connection that failed, only the server's words, which are not passed on. So
the server is asked: whether it answers anybody, whether it wants a password, and whether it lets
the role into the database that every server has, whose catalogue names the others.

  Tested:   tests/engines/conformance/test_reached.py
"""

import socket
import struct
from contextlib import suppress
from typing import Any

from letalone.engines.core.failure import SourceAway
from letalone.engines.postgres.postgres_connection import Server
from letalone.errors import LetaloneError, ParameterError

MAX_GREETING_BYTES = 10_000  # bytes of what it says first
PING_SECONDS = 3
PROTOCOL = 3 << 16
ASKS, REFUSES, STARTING = b"R", b"E", b"C57P03"  # for a password, or not; the last while it starts
EVERYWHERE = "postgres"
KNOWN = "SELECT count(*) > 0 FROM pg_catalog.pg_database WHERE datname = $1"
SECRETS = "PGPASSWORD, ~/.pgpass or the service file"


def connect_or_explain(server: Server) -> int:
    """The server's version, once it has let us in."""
    failed: Exception | None = None
    try:
        return server.version()
    except ParameterError:
        raise
    except Exception as error:
        failed = error
    refusal = _why(server, failed)
    del failed  # libpq's own words name the user and the way in
    raise refusal


def _why(server: Server, error: Exception) -> LetaloneError:
    from psycopg.errors import ConnectionTimeout

    # Who has just waited in vain does not wait once more to hear the same.
    if isinstance(error, ConnectionTimeout) or not _answers(error):
        return SourceAway(
            f"The server of {server.address.words!r} cannot be reached. Look at the host and the"
            " port of the address, and whether the server runs and is open to this machine."
        )
    return ParameterError(_why_not_let_in(server, error))


def _why_not_let_in(server: Server, error: Exception) -> str:
    words, database = repr(server.address.words), repr(server.address.database)
    # The server asked for one, and there was none.
    if getattr(getattr(error, "pgconn", None), "needs_password", False):
        return f"The server of {words} wants a password for the role. Put it into {SECRETS}."
    match _has_database(server):
        case False:
            return f"The server has no database {database}. Look at the address."
        case True:
            return (
                f"The server knows the role, but does not let it into the database {database}. Its"
                " owner can (GRANT CONNECT ON DATABASE …, or pg_hba.conf)."
            )
        case None:
            return (
                f"The server of {words} is there, but does not accept the role or its password, or"
                f" has no room for one more connection. Look at the address and at {SECRETS}."
            )


def _answers(error: Exception) -> bool:
    """Whether there is a server that lets anybody in, whatever it thinks of the role.

    A socket of our own: libpq's look stops all threads of the process. Where names were not
    resolved there is nothing to look at.
    """
    tried = getattr(error, "pgconn", None)
    if tried is None:
        return False
    with suppress(OSError, struct.error), _open_socket(tried) as server:
        server.sendall(_hello(tried))
        kind, length = struct.unpack("!ci", server.recv(5, socket.MSG_WAITALL))
        words = server.recv(min(length - 4, MAX_GREETING_BYTES), socket.MSG_WAITALL)
        return kind == ASKS or (kind == REFUSES and STARTING not in words.split(b"\0"))
    return False


def _open_socket(tried: Any) -> socket.socket:
    host, port = (tried.hostaddr or tried.host).decode(), int(tried.port)
    if not host.startswith("/"):
        return socket.create_connection((host, port), timeout=PING_SECONDS)
    made = socket.socket(socket.AF_UNIX)
    try:
        made.settimeout(PING_SECONDS)
        made.connect(f"{host}/.s.PGSQL.{port}")
    except OSError:
        made.close()
        raise
    return made


def _hello(tried: Any) -> bytes:
    """The first message of a connection, which every server answers."""
    body = b"user\0%b\0database\0%b\0\0" % (tried.user, tried.db)
    return struct.pack("!ii", len(body) + 8, PROTOCOL) + body


def _has_database(server: Server) -> bool | None:
    """Whether there is such a database; None where the role is not let in at all."""
    import psycopg

    from letalone.ledger.storage.connecting import BoundedConnection

    try:
        with BoundedConnection.connect(server.address.server, dbname=EVERYWHERE) as connection:
            cursor = psycopg.RawCursor(connection).execute(KNOWN, [server.address.database])
            return bool(cursor.fetchall()[0][0])
    except Exception:
        return None
