"""One scripted afternoon, and what the ledger holds of it."""

import os
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import letalone as la
from golden.keeping import check_random
from golden.kept_entries import charged_in, dumped
from golden.tables import write_tables
from golden.terminal import letalone

LEDGER = "budget.db"
HOURS = "SELECT AVG(hours) AS hours FROM my"


def afternoon() -> Any:
    with TemporaryDirectory() as name, chdir(name), patch.dict(os.environ, {"HOME": name}):
        write_tables(Path(name))
        with la.open("my.csv", budget=la.Budget(20, 1e-6), ledger=LEDGER) as session:
            ask_in_python(session)
        ask_in_the_terminal()
        fit_arrays()
        freeze_and_thaw()
        with la.Ledger.open(LEDGER) as ledger:
            ledger.verify()
            fits = [one["digest"] for one in charged_in(ledger, "arrays")]
            assert len(set(fits)) == len(fits) == 2, "a fit on arrays is never a repeat"
            return in_folder(dumped(ledger), str(Path(name).resolve()))


def ask_in_python(session: la.Session) -> None:
    """Questions, a repeat, a batch, two joins, a fit on the table, and refusals."""
    count = session.agg(n=la.count()).bound(max_rows=10)
    mean = session.group_by("work").agg(m=la.mean("age"))
    count.release(epsilon=0.5)
    assert count.release(epsilon=0.5).repeated
    mean.release(epsilon=1, delta=1e-8)
    session.batch([count, mean], epsilon=0.25)
    session.sql(
        "SELECT COUNT(*) AS n FROM my JOIN works USING (work) WHERE sector = 'A'",
        tables={"works": "works.csv"},
        max_rows=10,
        epsilon=0.5,
    )
    with la.open(
        "homes.csv",
        unit="person_id",
        types={"person_id": "integer"},
        budget=la.Budget(2, 1e-6),
        ledger=session.ledger,
    ) as other:
        joined = session.join(other, on="person_id", columns=["city"])
        joined.agg(n=la.count_distinct()).release(epsilon=0.5)
    for _ in range(2):
        la.learn.GaussianNB(1).fit(session, features=["age", "work"], target="income")
    for refused in (
        lambda: count.release(epsilon=99),
        lambda: session.agg(n=la.mean("hours")).plan,
    ):
        with pytest.raises(la.LetaloneError):
            refused()


def ask_in_the_terminal() -> None:
    """Bounds that are bought, twice, and a question that is too dear."""
    bought = ("query", "my.csv", HOURS, "--private-bounds", "--max-rows", "2", "--ledger", LEDGER)
    for _ in range(2):
        assert letalone(*bought, "--epsilon", "6").code == 0
    assert letalone(*bought, "--epsilon", "90").code == 3


def fit_arrays() -> None:
    random = np.random.default_rng(2)
    rows = random.normal(size=(60, 2))
    labels = np.where(rows[:, 0] > 0, "yes", "no")
    account = la.learn.Account(la.Budget(2, 1e-6), name="arrays", ledger=LEDGER)
    model = la.learn.GaussianNB(1, bounds=(-3, 3), classes=["no", "yes"], budget=account)
    model.fit(rows, labels)
    model.fit(rows, labels)
    with pytest.raises(la.BudgetExceeded):
        model.fit(rows, labels)
    account.ledger.close()


def freeze_and_thaw() -> None:
    with la.Ledger.open(LEDGER) as ledger:
        ledger.freeze("my", "somebody asks")
        with pytest.raises(la.DataSetFrozen):
            la.open("my.csv", ledger=ledger).agg(n=la.count()).bound(max_rows=10).release(
                epsilon=0.25
            )
        ledger.thaw("my", "looked at it")
        la.open("my.csv", ledger=ledger).agg(n=la.count()).bound(max_rows=10).release(epsilon=0.25)


def in_folder(value: Any, folder: str) -> Any:
    if isinstance(value, dict):
        return {name: in_folder(inner, folder) for name, inner in value.items()}
    if isinstance(value, list):
        return [in_folder(inner, folder) for inner in value]
    return value.replace(folder, "FOLDER") if isinstance(value, str) else value


@pytest.mark.long  # entries and receipts: test_stored.py; digests: test_questions.py
def test_the_ledger_of_an_afternoon() -> None:
    check_random("ledger/afternoon.json", afternoon)
