"""A price that hardly protects anybody is paid with --yes only: ε = 30 was typed for 0.3."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from screens import check_refusal, check_screen, offered, option

pytestmark = pytest.mark.guarded
Letalone = Callable[..., Any]
CSV = "pid,ward,cost\n" + "".join(f"{n},{'AB'[n % 2]},{n % 9}\n" for n in range(300))
SCHEMA = """format = 1
name = "my"
unit = "pid"
[columns.pid]
type = "integer"
[columns.ward]
type = "text"
keys = ["A", "B"]
[columns.cost]
type = "number"
lower = 0
upper = 9
"""
COUNT = ("query", "my.csv", "SELECT COUNT(*) FROM my", "--max-rows", "1")
HIGH = ("--epsilon", "30", "--budget", "100")


@pytest.mark.parametrize(
    "asked",
    [
        COUNT,
        ("query", "my.csv", "SELECT COUNT(*) FROM my"),
        ("query", "my.csv", "SELECT AVG(cost) FROM my"),
    ],
)
def test_an_epsilon_above_10_is_refused_with_a_smaller_one_and_with_yes(
    letalone: Letalone, my: Path, asked: tuple[str, ...]
) -> None:
    refused = letalone(*asked, *HIGH)
    assert "This costs ε = 30." in check_refusal(refused, 2)
    assert not Path("my.letalone.db").exists(), "nothing was spent"
    less, meant = offered(refused.err)
    assert option(less, "--epsilon") == "1"
    assert "--yes" not in less
    assert "--yes" in meant
    assert letalone(*meant).code == 0
    assert letalone(*less, "--ledger", "other.db").code == 0


def test_a_range_without_a_width_is_refused_too(letalone: Letalone, my: Path) -> None:
    people = ("query", "my.csv", "SELECT COUNT(DISTINCT pid) AS n FROM my", "--budget", "100")
    refused = letalone(*people, "--epsilon", "9")
    assert "the range of n has no width" in check_refusal(refused, 2)
    assert letalone(*people, "--epsilon", "1").code == 0


def test_a_dry_run_warns(letalone: Letalone, my: Path) -> None:
    words = check_screen(letalone(*COUNT, "--epsilon", "30", "--dry-run"))
    assert "it would need --yes" in words


def test_what_does_not_fit_is_refused_for_its_epsilon_first_and_none_above_10_is_offered(
    letalone: Letalone, my: Path
) -> None:
    new = letalone(*COUNT, "--epsilon", "30", "--budget", "25")
    assert letalone(*COUNT, "--epsilon", "1", "--budget", "25").code == 0
    for refused in (new, letalone(*COUNT, "--epsilon", "30")):
        assert "Above 10 an answer can show" in check_refusal(refused, 2)
        assert all(float(option(one, "--epsilon")) <= 10 for one in offered(refused.err))
    meant = letalone(*COUNT, "--epsilon", "30", "--yes")
    assert meant.code == 3
    (command,) = offered(meant.err)
    assert float(option(command, "--epsilon")) == 10


def test_the_error_tells_programs_its_code(letalone: Letalone, my: Path) -> None:
    error = letalone(*COUNT, *HIGH, "--json").error()
    assert error["code"] == "NOT_CONFIRMED"
    assert error["facts"]["epsilon"] == 30
    assert [one["remedy"] for one in error["remedies"]] == ["SetEpsilon", "Confirm"]


def test_a_model_needs_the_second_word_too(letalone: Letalone, my: Path) -> None:
    train = ("train", "my.csv", "--target", "ward", "--features", "cost", "--model", "bayes")
    refused = letalone(*train, *HIGH)
    assert "This costs ε = 30." in check_refusal(refused, 2)
    assert not Path("my.letalone.db").exists()
    assert letalone(*train, *HIGH, "--yes").code == 0
