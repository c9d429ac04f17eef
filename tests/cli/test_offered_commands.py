"""Every command that an error offers works as it stands, from the demo to the end of the budget.

The commands are taken from the screen and typed; every screen fits.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from letalone.sample.hospital import visits
from screens import check_refusal, check_screen, offered

Letalone = Callable[..., Any]
MEAN = "SELECT AVG(cost) FROM my"
BAR = re.compile(r"avg_cost ([\d,.]+) \[([\d,.]+), ([\d,.]+)\]")


def test_from_the_demo_to_the_end_of_the_budget(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_screen(letalone("demo"))

    # A table of one's own: the types are confirmed by the command that the refusal offers.
    visits(2000).to_csv("my.csv")
    refused = letalone("init", "my.csv")
    check_refusal(refused, 2)
    (confirmed,) = offered(refused.err)
    assert "Written to my.letalone.toml" in check_screen(letalone(*confirmed))

    # Without a unit: the error names the columns and gives the whole command.
    refused = letalone("query", "my.csv", MEAN)
    words = check_refusal(refused, 2)
    assert "patient_id, ward, zip, birth_date, gender, diagnosis, cost" in words
    (corrected,) = offered(refused.err)
    assert corrected[corrected.index("--unit") + 1] == "patient_id"

    # Without bounds: give them, or buy them.
    given = ("--unit", "patient_id", "--epsilon", "0.5", "--budget", "2")
    refused = letalone("query", "my.csv", MEAN, *given)
    assert "a fifth of ε" in check_refusal(refused, 2)
    declared, bought = offered(refused.err)
    assert declared[declared.index("--bounds") + 1] == "cost=0:1000"
    assert "--private-bounds" in bought
    assert not Path("my.letalone.db").exists(), "a refusal must not open a ledger"

    # Bounds that stand there as an example spend nothing until somebody has filled them in.
    assert "Nothing was spent" in check_screen(letalone(*declared))
    assert not Path("my.letalone.db").exists()
    assert declared.pop() == "--dry-run"

    # An answer with an error bar, its price, and what is left.
    words = check_screen(letalone(*declared))
    found = BAR.search(words)
    assert found is not None
    value, low, high = (float(number.replace(",", "")) for number in found.groups())
    assert 0 <= low <= value <= high <= 1000
    assert high - low < 300
    assert "Spent ε = 0.5 per patient_id" in words
    assert "about 1.5 of 2 left, enough for 3 more like this" in words

    # The same again is free; another question is not, and needs neither unit nor budget.
    again = check_screen(letalone(*declared))
    assert found[0] in again
    assert "nothing spent" in again
    assert "about 1.5 of" in again
    groups = "SELECT ward, COUNT(*) FROM my GROUP BY ward"
    more = ("--keys", "ward=Oncology,Psychiatry", "--epsilon", "1")
    words = check_screen(letalone("query", "my.csv", groups, *more))
    assert "about 0.5 of 2 left, too little for another like this" in words

    # Over the budget: refused, with what would still fit. Then nothing is left.
    refused = letalone("query", "my.csv", "SELECT COUNT(*) FROM my", "--epsilon", "0.6")
    assert "does not fit into the budget" in check_refusal(refused, 3)
    (smaller,) = offered(refused.err)
    assert "about 0 of 2 left" in check_screen(letalone(*smaller))
    refused = letalone("query", "my.csv", "SELECT COUNT(*) FROM my", "--epsilon", "0.01")
    check_refusal(refused, 3)
    (look,) = offered(refused.err)
    assert "4 releases" in check_screen(letalone(*look))
    check_screen(letalone("describe", "my.csv"))
    assert found[0] in check_screen(letalone(*declared)), "what was answered stays free"


@pytest.mark.long  # test_from_the_demo_to_the_end_of_the_budget stays
def test_the_first_correction_and_the_private_bounds_are_answered_as_offered(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    visits(2000).to_csv("my.csv")
    assert letalone("init", "my.csv", "--yes").code == 0
    refused = letalone("query", "my.csv", MEAN)
    assert "Put what is publicly known in place of 0:1000." in check_refusal(refused, 2)
    (corrected,) = offered(refused.err)
    assert "clamped to [0, 1000]" in check_screen(letalone(*corrected))
    corrected.remove("--dry-run")
    place = corrected.index("--bounds")
    words = check_screen(letalone(*corrected[:place], *corrected[place + 2 :], "--private-bounds"))
    assert "Finding bounds spent a fifth of ε, 0.1: cost=" in words
    assert "about 1.5 of 2 left" in words, "the price is what was typed, bounds included"
