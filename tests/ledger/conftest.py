"""Ledgers to test with: one in a file, one with something of every kind in it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from behind import PATIENTS
from letalone.errors import BudgetExceeded, UnsupportedQuery
from letalone.ledger import Ledger
from letalone.ledger.storage.tables import SCHEMA
from letalone.privacy import REPLACE, Budget, GaussianDP, PureDP
from postgres import running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Whatever does not look into the file is run on both stores."""
    if "store_kind" in metafunc.fixturenames:
        both = "path" not in metafunc.fixturenames
        metafunc.parametrize("store_kind", ["file", "postgres"] if both else ["file"])


@pytest.fixture
def ledger(store_kind: str, request: pytest.FixtureRequest) -> Iterator[Ledger]:
    place = "path" if store_kind == "file" else "database"
    with Ledger.open(request.getfixturevalue(place)) as found:
        found.register("visits", Budget(1, 1e-6), neighbours=PATIENTS)
        yield found


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    with running() as found:
        yield found


@pytest.fixture
def database(server: Any) -> str:
    """The address of a database without a ledger."""
    address = str(server.get_uri())
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    return address


@pytest.fixture
def full(path: Path, eventful: Path) -> Ledger:
    """A copy of the one with everything in it."""
    shutil.copy(eventful, path)
    return Ledger.open(path)


@pytest.fixture(scope="session")
def eventful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of entry, two data sets, a failure and a charge that nobody settled."""
    path = tmp_path_factory.mktemp("eventful") / "ledger.db"
    ledger = Ledger.open(path)
    ledger.register("visits", Budget(1, 1e-6), neighbours=PATIENTS)
    ledger.register("survey", Budget(2), neighbours=REPLACE)
    paid = ledger.charge("visits", PureDP(0.1), plan={"count": "*"}, digest="a", analyst="Ann")
    ledger.settle(paid, {"values": [17, "1/3"], "note": "ε"})
    with pytest.raises(BudgetExceeded):
        ledger.charge("visits", PureDP(5), plan={}, digest="b", purpose="planning")
    ledger.refuse("survey", UnsupportedQuery("no"), digest="c")
    ledger.raise_budget("visits", Budget(2, 1e-5))
    ledger.fail(ledger.charge("visits", GaussianDP(0.01), plan={}, digest="d", delta=1e-7))
    ledger.thaw("visits", "the disk was replaced")
    ledger.raise_version("visits")
    ledger.charge("survey", PureDP(0.5), plan={}, digest="e")
    ledger.note("seen by the board")
    ledger.register("rationed", Budget(1, 1e-6), neighbours=PATIENTS)
    ledger.allow("rationed", Budget(0.5, 1e-7), purpose="research", by=["Ann", "Bob"])
    for analyst in ("Cy", "Di"):
        ledger.allow("rationed", Budget(0.2), purpose="research", analyst=analyst)
    cy = {"analyst": "Cy", "purpose": "research"}
    ledger.settle(
        ledger.charge("rationed", PureDP(0.1), plan={}, digest="f", **cy), {"values": [1]}
    )
    assert ledger.share("rationed", "f", analyst="Di", purpose="research") == {"values": [1]}
    ledger.raise_level("rationed", Budget(0.3), purpose="research", analyst="Di", by=["Ann"])
    ledger.withdraw("rationed", purpose="research", analyst="Cy", why="has left")
    ledger.administer("rationed", "a request", {"columns": ["age"]}, by=["Di"])
    ledger.checkpoint()
    return path
