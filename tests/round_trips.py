"""A proxy before a PostgreSQL server that counts round trips: how often a client waits for it.

    with counting(address) as trips:
        psycopg.connect(trips.address).execute("SELECT 1")
        assert trips.taken() == 2   # to connect, and to ask

A server ends each of its answers with one message, ReadyForQuery, whatever was sent at once, so
these are counted: statements that go together (a pipeline, several in one text) are one trip.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread
from time import sleep
from urllib.parse import parse_qs, quote, urlsplit

READY, CODE = ord("Z"), 5  # a letter and the length of what follows, which counts itself
Place = tuple[int, object]


class Trips:
    """How often any client had to wait since the last look."""

    def __init__(self, address: str, delay: float) -> None:
        self.address, self.delay, self._lock, self._number = address, delay, Lock(), 0

    def count(self, more: int) -> None:
        """So many answers have ended."""
        with self._lock:
            self._number += more

    def taken(self) -> int:
        """The round trips since the last call."""
        with self._lock:
            found, self._number = self._number, 0
            return found


@contextmanager
def counting(address: str, *, delay: float = 0) -> Iterator[Trips]:
    """Another address of the same server, at which round trips are counted, and take longer."""
    parts = urlsplit(address)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        who = f"{quote(parts.username or 'postgres')}:{quote(parts.password or '')}"
        port = listening.getsockname()[1]
        at = f"postgresql://{who}@127.0.0.1:{port}{parts.path}?sslmode=disable"
        trips = Trips(at, delay)
        accepting = Thread(target=_accept, args=(listening, _place(address), trips), daemon=True)
        accepting.start()
        try:
            yield trips
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)  # else who waits there waits on
            accepting.join()


def _place(address: str) -> Place:
    """A host and its port, or the file of a socket."""
    parts = urlsplit(address)
    host = parts.hostname or parse_qs(parts.query)["host"][0]
    port = parts.port or 5432
    if host.startswith("/"):
        return socket.AF_UNIX, f"{host}/.s.PGSQL.{port}"
    return socket.AF_INET, (host, port)


def _accept(listening: socket.socket, place: Place, trips: Trips) -> None:
    with suppress(OSError):  # the test is over
        while True:
            client, _ = listening.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.socket(place[0])
            server.connect(place[1])
            Thread(target=_sent, args=(client, server), daemon=True).start()
            Thread(target=_answered, args=(server, client, trips), daemon=True).start()


def _sent(client: socket.socket, server: socket.socket) -> None:
    with suppress(OSError):
        while some := client.recv(1 << 16):
            server.sendall(some)
    with suppress(OSError):
        server.shutdown(socket.SHUT_RDWR)


def _answered(server: socket.socket, client: socket.socket, trips: Trips) -> None:
    rest = b""
    with suppress(OSError), server, client:
        while some := server.recv(1 << 16):
            ready, rest = _ends(rest + some)
            trips.count(ready)
            sleep(ready * trips.delay)
            client.sendall(some)


def _ends(sent: bytes) -> tuple[int, bytes]:
    """How many answers end in whole messages, and the message that is not whole yet."""
    ready, at = 0, 0
    while len(sent) >= at + CODE:
        after = at + 1 + int.from_bytes(sent[at + 1 : at + CODE], "big")
        if len(sent) < after:
            break
        ready, at = ready + (sent[at] == READY), after
    return ready, sent[at:]
