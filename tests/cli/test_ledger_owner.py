"""What an owner does with a ledger in the terminal: raise a budget, look at the questions asked."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from behind import PATIENTS
from letalone.errors import BudgetExceeded
from letalone.ledger import Ledger
from letalone.privacy import Budget, GaussianDP, PureDP
from screens import check_refusal, check_screen, offered

Letalone = Callable[..., Any]
CSV = "pid,ward\n" + "".join(f"{n},{'AB'[n % 2]}\n" for n in range(2000))
SCHEMA = """format = 1
name = "my"
unit = "pid"
[columns.pid]
type = "integer"
[columns.ward]
type = "text"
"""
BY_WARD = ("query", "my.csv", "SELECT ward, COUNT(*) FROM my GROUP BY ward", "--max-rows", "1")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "ledger.db"
    with Ledger.open(place) as ledger:
        ledger.register("visits", Budget(1), neighbours=PATIENTS)
        ledger.charge("visits", PureDP(0.25), plan={"count": "*"}, digest="d" * 64)
    return place


def test_a_budget_is_raised_only_if_that_is_confirmed(letalone: Letalone, path: Path) -> None:
    refused = letalone("ledger", "raise", str(path), "visits", "3:1e-6")
    words = check_refusal(refused, 2)
    assert "from (ε = 1) to (ε = 3, δ = 1e-6), permanently and on record" in words
    assert Ledger.open(path).data_set("visits").budget == Budget(1)
    (confirmed,) = offered(refused.err)
    assert "is now ε = 3, δ = 1e-6, by entry" in check_screen(letalone(*confirmed))
    after = Ledger.open(path).data_set("visits")
    assert (after.budget, after.spent.epsilon) == (Budget(3, 1e-6), Fraction(1, 4))
    Ledger.open(path).verify()


def test_an_owner_at_a_terminal_is_asked(
    letalone: Letalone, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("letalone.cli.trust.ledger_commands.is_terminal", lambda: True)
    asked: list[str] = []

    def answer(words: str, **given: object) -> None:
        asked.append(words)

    monkeypatch.setattr("typer.confirm", answer)
    assert letalone("ledger", "raise", str(path), "visits", "3").code == 0
    assert asked == ["Raise it?"]
    assert Ledger.open(path).data_set("visits").budget == Budget(3)


@pytest.mark.parametrize("budget", ["1", "0.5", "0.5:1e-6", "many"])
def test_a_budget_is_never_lowered(letalone: Letalone, path: Path, budget: str) -> None:
    check_refusal(letalone("ledger", "raise", str(path), "visits", budget, "--yes"), 2)
    assert Ledger.open(path).data_set("visits").budget == Budget(1)


@pytest.mark.long
def test_a_budget_without_a_delta_is_no_dead_end(letalone: Letalone, my: Path) -> None:
    """What a newcomer did: `--budget 2`, then a question by ward."""
    count = ("query", "my.csv", "SELECT COUNT(*) FROM my", "--epsilon", "0.1", "--budget", "2")
    assert letalone(*count).code == 0
    refused = letalone(*BY_WARD, "--epsilon", "0.5")
    assert "the budget needs a δ, which its owner can add" in check_refusal(refused, 2)
    listed, raised = offered(refused.err)
    assert listed[-1] == "--dry-run"
    (confirmed,) = offered(letalone(*raised).err)
    assert letalone(*confirmed).code == 0
    _, found = offered(letalone(*BY_WARD, "--epsilon", "0.5").err)
    assert "--delta" in found
    words = check_screen(letalone(*found))
    assert "A " in words
    assert "B " in words


def test_the_history_has_each_question_its_price_and_what_became_of_it(
    letalone: Letalone, my: Path
) -> None:
    price = ("--epsilon", "0.5", "--budget", "1:1e-6")
    assert letalone(*BY_WARD, *price, "--keys", "ward=A,B").code == 0
    assert letalone(*BY_WARD, *price, "--keys", "ward=A,B").code == 0, "free, and not listed"
    assert letalone(*BY_WARD, "--epsilon", "0.7", "--keys", "ward=A").code == 3
    found = letalone("ledger", "history", "my.letalone.db", "--json").json()["questions"]
    shown = [(one["question"], one["epsilon"], one["delta"], one["status"]) for one in found]
    assert shown == [
        ("count by ward", 0.5, 0, "answered"),
        ("", None, None, "refused (budget)"),
    ]
    assert (found[0]["epsilon_exact"], found[1]["epsilon_exact"]) == ("1/2", None)
    words = check_screen(letalone("ledger", "history", "my.letalone.db", "my"))
    assert "0.5 0 answered" in words


def test_the_history_tells_questions_apart_by_their_filter(letalone: Letalone, my: Path) -> None:
    for ward in ("A", "B"):
        sql = f"SELECT COUNT(*) FROM my WHERE ward = '{ward}'"
        price = ("--unit", "pid", "--epsilon", "0.1", "--budget", "1:1e-6")
        assert letalone("query", "my.csv", sql, *price).code == 0
    found = letalone("ledger", "history", "my.letalone.db", "--json").json()["questions"]
    said = [one["in_words"] for one in found if one["question"] == "count"]
    assert [f"ward = '{ward}'" in words for ward, words in zip("AB", said, strict=True)]
    words = check_screen(letalone("ledger", "history", "my.letalone.db"))
    assert "ward = 'A'" in words
    assert "ward = 'B'" in words


def test_the_history_says_what_was_never_finished_and_knows_no_other_name(
    letalone: Letalone, path: Path
) -> None:
    with Ledger.open(path) as ledger:
        ledger.raise_budget("visits", Budget(2, 1e-6))
        ledger.charge("visits", GaussianDP(0.1), plan={"kind": "model"}, digest="e" * 64)
        failed = ledger.charge("visits", PureDP(0.1), plan={}, digest="f" * 64)
        ledger.abandon(failed)
        with pytest.raises(BudgetExceeded):
            ledger.charge("visits", PureDP(9), plan={}, digest="a" * 64)
    found = letalone("ledger", "history", str(path), "--json").json()["questions"]
    statuses = [one["status"] for one in found]
    assert statuses[:3] == ["not finished, spent", "not finished, spent", "failed, spent"]
    assert found[1]["question"] == "model"
    assert "visits" in check_refusal(letalone("ledger", "history", str(path), "vists"), 2)


def test_an_empty_history_says_so(letalone: Letalone, tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "l.db") as ledger:
        ledger.register("visits", Budget(1), neighbours=PATIENTS)
    shown = letalone("ledger", "history", str(tmp_path / "l.db"))
    assert "No question was asked yet." in shown.out
