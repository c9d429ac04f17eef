"""`letalone query --max-rows auto`: what it spends, says, keeps and refuses."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from letalone.ledger import Ledger
from letalone.session.steps.row_limit import LEVELS
from screens import check_refusal, check_screen

Letalone = Callable[..., Any]
# 900 people; those whose number ends in 9 have 25 rows, others 2.
CSV = "person,cost\n" + "".join(
    f"{n},{cost}\n" for n in range(900) for cost in range(25 if n % 10 == 9 else 2)
)
ROWS = 90 * 25 + 810 * 2
SCHEMA = """
format = 1
name = "my"
unit = "person"

[columns.person]
type = "integer"

[columns.cost]
type = "integer"
lower = 0
upper = 30
"""
COUNT = ("query", "my.csv", "SELECT COUNT(*) AS n FROM my")
AUTO = ("--max-rows", "auto", "--epsilon", "4")
FOUND = "found privately for ε = 0.4"
pytestmark = pytest.mark.usefixtures("my")


def spent() -> float:
    with Ledger.open("my.letalone.db") as ledger:
        return float(ledger.data_set("my").spent.epsilon)


def kept(letalone: Letalone) -> int:
    """The limit: 60 or 100, or more once in 20 times, where noise is taken for somebody."""
    limit = letalone("describe", "my.csv", "--json").json()["row_limit"]
    assert limit["found_for"] == 0.4
    assert limit["rows"] in {60, *LEVELS}
    assert limit["rows"] >= 60
    return limit["rows"]


def test_a_limit_is_found_said_kept_and_used(letalone: Letalone) -> None:
    words = check_screen(letalone(*COUNT, *AUTO, "--budget", "40"))
    limit = kept(letalone)
    beyond = f"Rows beyond {limit:,} per person count less: totals may be low"
    assert f"{beyond} (limit found for ε = 0.4)." in words
    assert "Spent ε = 4 " in words
    again = check_screen(letalone(*COUNT, *AUTO))
    assert "Same question, same answer, nothing spent" in again
    assert spent() == 4
    usual = letalone(*COUNT, "--epsilon", "2", "--json").json()
    assert usual["row_limit"] == {"rows": limit, "found_for": 0.4}
    assert (usual["repeated"], spent()) == (False, 6)
    assert letalone(*COUNT, "--epsilon", "4", "--json").json()["repeated"], "the first question"
    where = (*COUNT[:2], "SELECT COUNT(*) AS n FROM my WHERE cost > 3")
    assert letalone(*where, *AUTO, "--json").json()["row_limit"]["rows"] == limit
    assert spent() == pytest.approx(9.6)


def test_describe_shows_a_kept_limit(letalone: Letalone) -> None:
    assert letalone("describe", "my.csv", "--json").json()["row_limit"] is None
    letalone(*COUNT, *AUTO, "--budget", "40")
    words = check_screen(letalone("describe", "my.csv"))
    assert f"row limit {kept(letalone):,} rows count whole ({FOUND})" in " ".join(words.split())


def test_json_has_the_limit_and_the_answer_of_all_rows(letalone: Letalone) -> None:
    found = letalone(*COUNT, *AUTO, "--budget", "40", "--json").json()
    limit = kept(letalone)
    assert found["row_limit"] == {"rows": limit, "found_for": 0.4}
    assert found["epsilon"] == 4
    assert any("limit found for ε = 0.4" in note for note in found["notes"])
    (row,) = found["rows"]
    assert abs(row["n"] - ROWS) < 20 * limit / 3.6, "1 in 10^8"
    given = letalone(*COUNT, "--max-rows", "10", "--epsilon", "1", "--json").json()
    assert given["row_limit"] == {"rows": 10, "found_for": None}
    assert not any("count less" in note for note in given["notes"])


def test_a_count_that_names_no_limit_has_one_found(letalone: Letalone) -> None:
    dry = letalone(*COUNT, "--epsilon", "4", "--dry-run", "--json").json()
    assert [part["name"] for part in dry["parts"]] == ["row limit", "n"]
    words = check_screen(letalone(*COUNT, "--epsilon", "4", "--budget", "40"))
    limit = kept(letalone)
    assert f"Rows beyond {limit:,} per person count less: totals may be low" in words
    assert "Spent ε = 4 " in words
    assert letalone(*COUNT, "--epsilon", "4", "--json").json()["repeated"]
    assert spent() == 4


def test_where_no_limit_is_found_the_answer_warns_and_says_what_helps(letalone: Letalone) -> None:
    mean = ("query", "my.csv", "SELECT AVG(cost) AS m FROM my", "--epsilon", "1")
    words = check_screen(letalone(*mean, "--budget", "40"))
    assert "Rows beyond 10 per person count less (--max-rows auto helps)." in words
    assert ".bound" not in words
    assert "--max-rows auto" in " ".join(letalone(*mean, "--json").json()["notes"])
    given = check_screen(letalone(*COUNT, "--epsilon", "1", "--max-rows", "10"))
    assert "count less" not in given


def test_a_dry_run_spends_nothing_and_shows_both_parts(letalone: Letalone) -> None:
    words = check_screen(letalone(*COUNT, *AUTO, "--dry-run"))
    assert "row limit" in words
    assert "First ε = 0.4 finds how many rows per person count whole; with the answer" in words
    assert "that is ε = 4. The errors are for 10 rows, and grow with that number." in words
    found = letalone(*COUNT, *AUTO, "--dry-run", "--json").json()
    assert [(part["name"], part["share"]) for part in found["parts"]] == [
        ("row limit", "1/10"),
        ("n", "9/10"),
    ]
    assert found["epsilon"] == 4
    assert not Path("my.letalone.db").exists()


def test_both_fit_or_none_is_charged_and_the_offer_fits(letalone: Letalone) -> None:
    assert letalone(*COUNT, "--max-rows", "5", "--epsilon", "1", "--budget", "2").code == 0
    refused = check_refusal(letalone(*COUNT, *AUTO), 3)
    assert "Row limit and answer cost (ε = 4) together" in refused
    assert "--epsilon 1 --max-rows auto" in refused
    assert spent() == 1
    assert letalone(*COUNT, "--max-rows", "auto", "--epsilon", "1").code == 0
    assert spent() == 2


def test_a_budget_that_does_not_allow_both_is_not_written_down(letalone: Letalone) -> None:
    assert "ε = 4" in check_refusal(letalone(*COUNT, *AUTO, "--budget", "3.9"), 3)
    assert not Path("my.letalone.db").exists()


@pytest.mark.long
def test_bounds_and_the_limit_together(letalone: Letalone) -> None:
    Path("my.letalone.toml").write_text(SCHEMA.replace("lower = 0\nupper = 30\n", ""))
    total = ("query", "my.csv", "SELECT SUM(cost) AS s FROM my", *AUTO, "--private-bounds")
    preview = letalone(*total, "--dry-run", "--json").json()
    assert [part["name"] for part in preview["parts"]] == ["row limit", "bounds of cost", "s"]
    found = letalone(*total, "--budget", "4", "--json").json()
    assert found["row_limit"]["rows"] == kept(letalone)
    assert set(found["private_bounds"]) == {"cost"}
    assert spent() == 4
    assert letalone(*total, "--json").json()["repeated"]


@pytest.mark.parametrize("word", ["many", "0.5", "-"])
def test_a_word_that_is_no_number_is_refused(letalone: Letalone, word: str) -> None:
    refused = letalone(*COUNT, "--epsilon", "1", "--max-rows", word)
    assert refused.code == 2
    assert "auto" in refused.err


def test_a_new_version_of_the_data_has_no_limit_yet(letalone: Letalone) -> None:
    letalone(*COUNT, *AUTO, "--budget", "40")
    Path("my.letalone.toml").write_text(SCHEMA.replace('name = "my"', 'name = "my"\nversion = 2'))
    assert letalone("describe", "my.csv", "--json").json()["row_limit"] is None
    found = letalone(*COUNT, "--epsilon", "1", "--json").json()
    assert found["row_limit"]["found_for"] == 0.1
