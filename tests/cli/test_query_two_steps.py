"""With --private-bounds there are two charges: never the first without the answer."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from letalone.cli.app import run
from letalone.ledger import Ledger
from letalone.plans.bounds import friendly_step
from letalone.plans.expressions import col
from letalone.plans.types import Type
from letalone.privacy import Budget
from letalone.session.session import Session
from letalone.session.steps.bounds_purchase import TRIAL_BOUNDS, WIDEST_BOUNDS, wider_bounds
from letalone.session.steps.in_steps import PricedInSteps
from letalone.tables.parts.candidates import BoundsPart
from screens import check_refusal

Letalone = Callable[..., Any]
BUY = ("--private-bounds", "--unit", "person", "--epsilon", "1")
BUDGET = ("--budget", "100:1e-3")
ROWS = 3000


@pytest.fixture
def my(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Amounts of about 0.0005, ages of about 3,000 days, and 400 shops."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{i},{0.0005 + i * 1e-8:.8f},{3000 + i % 1000},s{i % 400}" for i in range(ROWS)]
    Path("my.csv").write_text("\n".join(["person,amount,days,shop", *lines]) + "\n")
    assert run(["init", "my.csv", "--yes"]) == 0
    capsys.readouterr()
    return tmp_path


def charges() -> list[str]:
    """What the ledger has charged: bounds, answers."""
    if not Path("my.letalone.db").exists():
        return []
    with Ledger.open("my.letalone.db") as ledger:
        kinds = [entry.kind.value for entry in ledger.entries("my")]
    return [kind for kind in kinds if kind in ("settled", "reserved", "refused", "failed")]


def pairs(*, whole: bool) -> list[tuple[Fraction, Fraction]]:
    """All bounds that can come back."""
    part = BoundsPart(("b",), None, col("x"), whole)  # type: ignore[arg-type]
    return list(combinations(part.candidates, 2))


@pytest.mark.long  # test_both_fit_or_none_is_charged
def test_the_guesses_have_as_many_steps_as_any_bounds_that_may_come_back() -> None:
    """One step fewer, and a question with 400 keys could pass before and not after."""
    for kind, guess in ((Type.INTEGER, TRIAL_BOUNDS[1]), (Type.NUMBER, TRIAL_BOUNDS[2])):
        whole = kind is Type.INTEGER
        found = [(high - low) // friendly_step(low, high, kind) for low, high in pairs(whole=whole)]
        lower, upper = guess
        most = (upper - lower) // friendly_step(lower, upper, kind)
        assert max(found) <= most
        assert max(found) > most * 0.98, "the guess refuses much more than it must"
    assert (
        min(pairs(whole=False))[0],
        max(high for _, high in pairs(whole=False)),
    ) == WIDEST_BOUNDS


@pytest.mark.long
@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        ("SELECT shop, MEDIAN(amount) FROM my GROUP BY shop", 401),
        ("SELECT shop, MEDIAN(days) FROM my GROUP BY shop", 11),
        ("SELECT SUM(amount / (days + 1)) FROM my", 0),
        ("SELECT SUM(days * days * days * days * days * days) FROM my", 0),
        ("SELECT AVG(amount), COUNT(DISTINCT person), SUM(shop) FROM my", 0),
    ],
)
def test_what_some_bounds_would_refuse_is_refused_before_bounds_are_bought(
    letalone: Letalone, my: Path, sql: str, keys: int
) -> None:
    shops = ("--keys", "shop=" + ",".join(f"s{i}" for i in range(keys))) if keys else ()
    refused = letalone("query", "my.csv", sql, *BUY, *BUDGET, *shops)
    assert refused.code in (2, 4)
    assert charges() == []
    if keys:
        less = ("--keys", shops[1].rpartition(",")[0])
        assert letalone("query", "my.csv", sql, *BUY, *BUDGET, *less).code == 0


@pytest.mark.long
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(amount + 5000000) FROM my",
        "SELECT MEDIAN(CASE WHEN days > 0 THEN days ELSE -99999 END) FROM my",
        "SELECT CORR(amount, days) FROM my",
    ],
)
def test_whatever_bounds_come_back_there_is_an_answer(
    letalone: Letalone, my: Path, sql: str
) -> None:
    """Of amounts below 1/1024 the bounds are so close that 5,000,000 + amount has none."""
    found = letalone("query", "my.csv", sql, *BUY, *BUDGET, "--json").json()
    assert charges().count("settled") == 2 + ("SUM" in sql), "a sum has its row limit found"
    if "5000000" in sql:
        again = letalone("query", "my.csv", sql, *BUY, "--json").json()
        assert again["repeated"]
        assert again["private_bounds"] == found["private_bounds"] != {"amount": ["0", "1/1024"]}


def test_bounds_that_are_too_close_are_widened_and_never_narrowed() -> None:
    close = {"x": (Fraction(0), Fraction(1, 1024)), "y": (Fraction(-8), Fraction(-4))}
    tried = list(wider_bounds(close))
    assert tried[0] == close
    assert tried[-1] == dict.fromkeys(close, WIDEST_BOUNDS)
    assert len(tried) < 100
    for before, after in pairwise(tried):
        for name in close:
            assert after[name][0] <= before[name][0] < before[name][1] <= after[name][1]


@pytest.mark.long  # session/test_bounds_purchase.py stays
def test_both_fit_or_none_is_charged(letalone: Letalone, my: Path) -> None:
    sql = ("query", "my.csv", "SELECT AVG(amount) FROM my", *BUY)
    assert letalone(*sql, "--budget", "1.5").code == 0
    other = ("query", "my.csv", "SELECT AVG(days) FROM my", *BUY)
    refused = letalone(*other)
    assert "Bounds and answer cost (ε = 1) together" in check_refusal(refused, 3)
    assert charges()[-1] == "refused"
    assert charges().count("settled") == 2
    assert letalone(*sql, "--json").json()["repeated"], "both parts of a repeat are free"


@pytest.mark.long  # others of this file stay
def test_who_spends_in_between_leaves_the_bounds_which_are_free_then(
    letalone: Letalone, my: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    buy = PricedInSteps._find_bounds

    def and_then_somebody_else(self: PricedInSteps) -> Any:
        bounds = buy(self)
        Session(self.answer.table).sql("SELECT COUNT(*) FROM my", epsilon=1, max_rows=10)
        return bounds

    monkeypatch.setattr(PricedInSteps, "_find_bounds", and_then_somebody_else)
    sql = ("query", "my.csv", "SELECT AVG(days) FROM my", *BUY)
    refused = letalone(*sql, "--budget", "1.5")
    assert "The bounds of days are found and kept: they are free" in check_refusal(refused, 3)
    monkeypatch.undo()
    monkeypatch.chdir(my)
    with Ledger.open("my.letalone.db") as ledger:
        before = ledger.data_set("my").spent.epsilon
        ledger.raise_budget("my", Budget(3))
    assert letalone(*sql, "--json").json()["private_bounds"]
    with Ledger.open("my.letalone.db") as ledger:
        assert ledger.data_set("my").spent.epsilon - before == Fraction(4, 5)


@pytest.mark.long  # session/test_bounds_purchase.py stays
def test_bounds_that_were_bought_before_are_free_and_the_price_says_so(
    letalone: Letalone, my: Path
) -> None:
    first = letalone("query", "my.csv", "SELECT AVG(days) AS m FROM my", *BUY, *BUDGET).out
    assert "Spent ε = 1 per person" in " ".join(first.split())
    again = letalone("query", "my.csv", "SELECT SUM(days) AS s FROM my", *BUY)
    words = " ".join(again.out.split())
    assert "Bounds that were found before, free now" in words
    assert "Spent ε = 0.8 per person" in words
