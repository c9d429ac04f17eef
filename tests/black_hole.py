"""A way to a PostgreSQL server of tests that can fall silent, as a host without power does."""

import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from urllib.parse import parse_qs, urlsplit


class BlackHole:
    """A TCP proxy in front of a Unix socket: bytes go through, or wait here without a word."""

    def __init__(self, socket_path: str) -> None:
        self._to = socket_path
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listening.getsockname()[1]
        self._open, self._lock = Event(), Lock()
        self._open.set()
        self._ways: list[Event] = []
        self._sockets: list[socket.socket] = []
        self.connections, self._away = 0, False
        self._accepting = Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def swallow(self) -> None:
        """From now on nothing arrives, on old connections and on new ones."""
        self._open.clear()
        self.swallow_old()

    def swallow_old(self) -> None:
        """The connections that there are fall silent; new ones work."""
        with self._lock:
            for way in self._ways:
                way.clear()

    def cut(self) -> None:
        """Connections are closed, and new ones at once: the server is not there."""
        self._away = True
        self._end()

    def open(self) -> None:
        """All that waited goes on its way."""
        with self._lock:
            self._away = False
            self._open.set()
            for way in self._ways:
                way.set()

    def close(self) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # else who waits there waits on
        self._listening.close()
        self._accepting.join()
        self.open()
        self._away = True  # for connections that waited, and go on their way now
        self._end()

    def _end(self) -> None:
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                self.connections += 1
                if self._away:
                    near.close()
                    continue
                Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        with self._lock:
            way = Event()
            if self._open.is_set():
                way.set()
            self._ways.append(way)
        way.wait()
        far = socket.socket(socket.AF_UNIX)
        self._sockets += [near, far]
        try:
            far.connect(self._to)
        except OSError:
            near.close()
            return
        if self._away:
            self._end()
        for one, other in ((near, far), (far, near)):
            Thread(target=self._carry, args=(one, other, way), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket, way: Event) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                way.wait()
                other.sendall(data)
        way.wait()
        with suppress(OSError):
            other.shutdown(socket.SHUT_WR)


@contextmanager
def black_hole(address: str) -> Generator[tuple[BlackHole, str]]:
    """A proxy in front of the server of an address, and the address that leads through it."""
    found = urlsplit(address)
    folder = parse_qs(found.query)["host"][0]
    hole = BlackHole(f"{folder}/.s.PGSQL.5432")
    try:
        yield hole, f"postgresql://postgres@127.0.0.1:{hole.port}{found.path}"
    finally:
        hole.close()
