"""Ledgers to test with: one in a file, one with something of every kind in it."""

import shutil
from pathlib import Path

import pytest

from behind import PATIENTS
from letalone.errors import BudgetExceeded, UnsupportedQuery
from letalone.ledger import Ledger
from letalone.privacy import REPLACE, Budget, GaussianDP, PureDP


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    found = Ledger.open(path)
    found.register("visits", Budget(1, 1e-6), neighbours=PATIENTS)
    return found


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
    return path
