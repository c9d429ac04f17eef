"""A curator behind its real app, reached in-process by la.Client."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import letalone as la
from curator.http.conftest import PASSWORD, TestClient, populate, register, settings
from letalone.curator.curator import Curator
from letalone.curator.http.app import make_app
from letalone.curator.http.limits import RateLimits
from letalone.curator.http.logs import make_log

URL = "http://localhost:8400"


@dataclass
class Service:
    """The curator, and how it is reached without a network."""

    curator: Curator
    transport: Any

    def client(self, name: str = "ann", **more: Any) -> la.Client:
        """A client of a person, with a fresh token."""
        return la.Client.log_in(URL, name, PASSWORD, transport=self.transport, **more)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serve(tmp_path_factory.mktemp("served")) as service:
        yield service


@contextmanager
def serve(folder: Path) -> Iterator[Service]:
    curator = Curator.open(settings(folder))
    populate(curator)
    register(curator)
    rates = RateLimits(log_ins_of_an_address=10**6)
    with TestClient(make_app(curator, rates=rates, log=make_log(StringIO()))) as web:
        yield Service(curator, web._transport)


@pytest.fixture(scope="session")
def client(service: Service) -> la.Client:
    return service.client("ann")


@pytest.fixture(scope="session")
def visits(client: la.Client) -> Any:
    return client.open("visits", purpose="care")
