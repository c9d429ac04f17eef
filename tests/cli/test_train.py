"""`letalone train` and `letalone predict`: a model in a file, its price, and refusals that help."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from letalone.ledger import Ledger
from screens import check_refusal, check_screen, offered

Letalone = Callable[..., Any]
RANDOM = np.random.default_rng(4)
SECRET = "planted-secret"


def _csv() -> str:
    lines = ["person_id,age,work,hours,income"]
    for number in range(600):
        age, work = RANDOM.integers(17, 90), RANDOM.choice(["private", "public", SECRET])
        income = "high" if age + RANDOM.normal(0, 5) > 50 else "low"
        lines.append(f"{number // 2},{age},{work},{RANDOM.integers(1, 80)},{income}")
    return "\n".join(lines) + "\n"


CSV = _csv()
SCHEMA = """
format = 1
name = "my"
version = 1
neighbours = "add/remove"
unit = "person_id"

[columns.person_id]
type = "integer"

[columns.age]
type = "integer"
lower = 17
upper = 90

[columns.work]
type = "text"
keys = ["private", "public"]

[columns.hours]
type = "integer"

[columns.income]
type = "text"
keys = ["low", "high"]
"""
BAYES = ("--target", "income", "--model", "bayes")
ASK = (*BAYES, "--epsilon", "1", "--budget", "4:1e-4")


def test_a_model_is_trained_charged_written_and_used(letalone: Letalone, my: Path) -> None:
    shown = check_screen(letalone("train", "my.csv", *ASK))
    assert "GaussianNB for income, learned from age, work" in shown
    assert "It cost (ε = 1). Left: about ε = 3" in shown
    assert "each person_id" in shown
    said = check_screen(letalone("predict", "my.income.json", "my.csv"))
    assert "600 predictions of income" in said
    assert "keep predictions as you keep the table" in said
    found = letalone("predict", "my.income.json", "my.csv", "--json").json()
    labels = [line.split(",")[-1] for line in CSV.splitlines()[1:]]
    right = np.mean(np.array(found["predictions"]) == np.array(labels))
    assert right > 0.7, "seeded by nobody: below 0.7 less than once in 10^6 fits at ε = 1"


def test_the_same_training_again_is_free(letalone: Letalone, my: Path) -> None:
    first = letalone("train", "my.csv", *ASK, "--json").json()
    assert (first["epsilon"], first["delta"], first["unit"]) == (1, 0, "person_id")
    assert (first["repeated"], first["features"]) == (False, ["age", "work"])
    model = Path("my.income.json").read_text("utf-8")
    again = letalone("train", "my.csv", *ASK, "--json").json()
    assert again["repeated"] is True
    assert again["remaining"] == first["remaining"]
    assert Path("my.income.json").read_text("utf-8") == model
    assert "free of charge" in check_screen(letalone("train", "my.csv", *ASK))


def test_a_dry_run_says_the_price_and_touches_no_ledger(letalone: Letalone, my: Path) -> None:
    shown = check_screen(letalone("train", "my.csv", *BAYES, "--epsilon", "1", "--dry-run"))
    assert "That would cost (ε = 1). Nothing was spent." in shown
    found = letalone("train", "my.csv", *BAYES, "--epsilon", "1", "--dry-run", "--json").json()
    assert (found["dry_run"], found["fits"]) == (True, None)
    assert not Path("my.letalone.db").exists()
    assert not Path("my.income.json").exists()


def test_a_model_is_verified_and_a_changed_one_is_not(letalone: Letalone, my: Path) -> None:
    letalone("train", "my.csv", *ASK)
    key = Ledger.open("my.letalone.db").fingerprint
    shown = check_screen(letalone("verify", "my.income.json", "--key", key))
    assert "unchanged since it was signed" in shown
    stored = json.loads(Path("my.income.json").read_text("utf-8"))
    stored["attributes"]["theta_"] = stored["attributes"]["var_"]
    Path("other.json").write_text(json.dumps(stored))
    assert "damaged" in check_refusal(letalone("verify", "other.json"), 2)
    assert "damaged" in check_refusal(letalone("predict", "other.json", "my.csv"), 2)


def test_predictions_are_written_to_a_file(letalone: Letalone, my: Path) -> None:
    letalone("train", "my.csv", *ASK, "--out", "m.json")
    shown = check_screen(letalone("predict", "m.json", "my.csv", "--out", "p.csv"))
    assert "600 predictions of income, written to p.csv" in shown
    lines = Path("p.csv").read_text("utf-8").splitlines()
    assert (lines[0], len(lines)) == ("income", 601)
    assert set(lines[1:]) <= {"low", "high"}
    Path("two.csv").write_text("work,age\npublic,80\n?,x\n")
    assert letalone("predict", "m.json", "two.csv", "--json").json()["rows"] == 2
    Path("none.csv").write_text("work,age\n")
    assert letalone("predict", "m.json", "none.csv", "--json").json()["predictions"] == []
    Path("less.csv").write_text("work\npublic\n")
    assert "'age' is not in" in check_refusal(letalone("predict", "m.json", "less.csv"), 2)


def test_over_budget_offers_what_still_fits(letalone: Letalone, my: Path) -> None:
    letalone("train", "my.csv", *ASK)
    refused = letalone("train", "my.csv", *BAYES, "--epsilon", "3.5")
    assert "does not fit" in check_refusal(refused, 3)
    (words,) = offered(refused.err)
    assert letalone(*words).code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--target is missing"),
        (("--target", "incme", "--model", "bayes"), "Did you mean 'income'"),
        (BAYES, "--epsilon is missing"),
        ((*BAYES, "--epsilon", "1"), "--budget"),
        (("--target", "income", "--model", "forest", "--epsilon", "1"), "one of: logistic, svc"),
        (("--target", "income", "--model", "trees", "--epsilon", "1"), "delta"),
        ((*BAYES, "--epsilon", "9", "--budget", "2"), "does not allow"),
    ],
)
def test_what_is_missing_is_asked_for_with_a_command_that_works(
    letalone: Letalone, my: Path, options: tuple[str, ...], words: str
) -> None:
    refused = letalone("train", "my.csv", *options)
    assert words in " ".join(refused.err.split())
    assert not Path("my.letalone.db").exists(), "nothing was written down"
    (command,) = offered(refused.err)
    assert letalone(*command).code == 0


def test_columns_of_which_nothing_is_declared_are_named_with_what_to_write(
    letalone: Letalone, my: Path
) -> None:
    refused = letalone("train", "my.csv", *ASK, "--features", "age,hours")
    told = check_refusal(refused, 2)
    assert "my.letalone.toml" in told
    assert "[columns.hours] lower = 0 upper = 100" in told
    hours = letalone("train", "my.csv", "--target", "hours", "--model", "linear", *ASK[4:])
    assert "[columns.hours]" in check_refusal(hours, 2)
    assert SECRET not in refused.err + hours.err


def test_a_file_without_a_schema_is_begun_with_init(letalone: Letalone, my: Path) -> None:
    Path("my.letalone.toml").unlink()
    for unit in ((), ("--unit", "person_id")):
        refused = letalone("train", "my.csv", *ASK, *unit)
        (command,) = offered(refused.err)
        assert command[:2] == ["init", "my.csv"]


def test_other_files_are_not_written_over(letalone: Letalone, my: Path) -> None:
    refused = letalone("train", "my.csv", *ASK, "--out", "my.csv")
    assert "is no model file" in check_refusal(refused, 2)
    assert Path("my.csv").read_text() == CSV
    assert not Path("my.letalone.db").exists()
    (command,) = offered(refused.err)
    assert letalone(*command).code == 0
    assert "no folder" in check_refusal(letalone("train", "my.csv", *ASK, "--out", "x/y.json"), 2)
    assert "no model file" in check_refusal(letalone("predict", "my.csv", "my.csv"), 2)
