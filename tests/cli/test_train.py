"""`letalone train` and `letalone predict`: a model in a file, its price, and refusals that help."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from letalone.cli.tables.table_commands import TrainOptions
from letalone.cli.tables.train import in_decimals
from letalone.cli.tables.train_choice import model_place
from letalone.ledger import Ledger
from letalone.privacy import Budget
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
    """Its noise is fresh. At ε = 50 the share that is right is 0.950 with a deviation of 0.002,
    so 0.7 is missed never (110 deviations); a model that has learned nothing has 0.58."""
    plenty = ("--epsilon", "50", "--budget", "200")
    shown = check_screen(letalone("train", "my.csv", *BAYES, *plenty))
    assert "GaussianNB for income, learned from age, work" in shown
    assert "It spent (ε = 50). Left: about ε = 150" in shown
    assert "each person_id" in shown
    said = check_screen(letalone("predict", "my.income.json", "my.csv"))
    assert "600 predictions of income" in said
    assert "keep predictions as you keep the table" in said
    found = letalone("predict", "my.income.json", "my.csv", "--json").json()
    labels = [line.split(",")[-1] for line in CSV.splitlines()[1:]]
    right = np.mean(np.array(found["predictions"]) == np.array(labels))
    assert right > 0.7


def test_knots_are_kept_with_the_model_and_refused_where_they_are_not_used(
    letalone: Letalone, my: Path
) -> None:
    asked = ("--target", "income", "--epsilon", "1", "--delta", "1e-6", "--budget", "4:1e-4")
    found = letalone("train", "my.csv", *asked, "--knots", "4", "--json").json()
    assert (found["knots"], found["features"]) == (4, ["age", "work"])
    stored = json.loads(Path("my.income.json").read_text("utf-8"))
    assert stored["encoding"]["knots"] == 4
    predicted = letalone("predict", "my.income.json", "my.csv", "--json").json()
    assert len(predicted["predictions"]) == 600
    refused = letalone("train", "my.csv", *BAYES, "--epsilon", "1", "--knots", "4")
    assert "GaussianNB does not use them" in check_refusal(refused, 2)


@pytest.mark.long  # test_other_files_are_not_written_over
def test_another_model_is_not_written_over_before_anything_is_charged(
    letalone: Letalone, my: Path
) -> None:
    asked = ("--target", "income", "--epsilon", "1", "--delta", "1e-6")
    check_screen(letalone("train", "my.csv", *asked, "--budget", "8:1e-4"))
    before = _contents()
    changes: list[tuple[str, ...]] = [
        ("--knots", "8"),
        ("--epsilon", "2"),
        ("--features", "age"),
        ("--ledger", "other.db", "--budget", "8:1e-4"),
    ]
    for change in changes:
        refused = letalone("train", "my.csv", *asked, *change)
        assert "holds another model, a LogisticRegression" in check_refusal(refused, 2)
        assert _contents() == before, "nothing was written, and nothing charged"
        (command,) = offered(refused.err)
        place = "my.income.knots8.json" if "--knots" in change else "my.income.2.json"
        assert command[command.index("--out") + 1] == place
    shown = check_screen(letalone("train", "my.csv", *asked, "--knots", "8", "--out", "k.json"))
    assert "learned from age, work. Numbers have 8 knots each." in shown
    Path("my.letalone.toml").write_text(SCHEMA.replace("version = 1", "version = 2"))
    check_screen(letalone("train", "my.csv", *asked))
    again = Path("my.income.json").read_bytes()
    assert again != before["my.income.json"], "new data may take the place of old"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("eight", "'eight' is given, but it must be a whole number"),
        ("1", "--knots is 1, but must be a whole number from 2 to 64, such as 8."),
    ],
)
def test_knots_are_asked_for_in_words(letalone: Letalone, my: Path, typed: str, words: str) -> None:
    refused = letalone("train", "my.csv", *BAYES[:2], "--epsilon", "1", "--knots", typed)
    assert words in " ".join(refused.err.split())


@pytest.mark.parametrize(
    ("address", "table", "place"),
    [
        ("postgresql://me@host/pgdata/visits?connect_timeout=5", None, "pgdata.visits.y.json"),
        ("postgresql://host/pgdata", "icu.stays", "pgdata.icu.stays.y.json"),
        ("folder/care.letalone.toml", None, "care.y.json"),
        ("folder/care.2024.parquet", None, "care.2024.y.json"),
    ],
)
def test_a_model_is_called_as_the_schema_file_of_its_table(
    address: str, table: str | None, place: str
) -> None:
    assert model_place(TrainOptions(address, target="y", table=table)) == Path(place)


def test_a_table_of_spark_is_refused_before_a_spark_is_started(
    letalone: Letalone, my: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("letalone.engines.spark.spark_start.spark_session", None)
    monkeypatch.setattr("letalone.engines.spark.spark_start.spark_session", None)
    source = 'source = "spark:clinic.visits"'
    Path("care.letalone.toml").write_text(SCHEMA.replace("version = 1", f"version = 1\n{source}"))
    before = _contents()
    for table in ("spark:clinic.visits", "care.letalone.toml"):
        for options in ((), ASK):
            refused = letalone("train", table, *options)
            assert "cannot be trained on a table of Spark" in check_refusal(refused, 4)
    assert _contents() == before


def test_the_same_training_again_is_free(letalone: Letalone, my: Path) -> None:
    first = letalone("train", "my.csv", *ASK, "--json").json()
    assert (first["epsilon"], first["delta"], first["unit"]) == (1, 0, "person_id")
    assert (first["repeated"], first["features"]) == (False, ["age", "work"])
    model = Path("my.income.json").read_text("utf-8")
    again = letalone("train", "my.csv", *ASK, "--json").json()
    assert again["repeated"] is True
    assert again["remaining"] == first["remaining"]
    assert Path("my.income.json").read_text("utf-8") == model
    shown = check_screen(letalone("train", "my.csv", *ASK))
    assert "free of charge; if the data has changed, raise version in my.letalone.toml" in shown


def test_what_is_left_is_a_decimal_that_is_not_too_large(letalone: Letalone, my: Path) -> None:
    trees = ("--target", "income", "--model", "trees", "--epsilon", "0.7", "--delta", "1e-6")
    found = letalone("train", "my.csv", *trees, "--budget", "4:1e-4", "--json").json()
    assert found["budget"] == {"epsilon": "4", "delta": "0.0001"}
    left = Ledger.open("my.letalone.db").data_set("my").remaining
    for budget, said in (
        (left, found["remaining"]),
        (third := Budget(Fraction(2, 3), Fraction(2, 3 * 10**9)), in_decimals(third)),
    ):
        for name, exact in (("epsilon", budget.epsilon), ("delta", budget.delta)):
            assert set(said[name]) <= set("0123456789.")
            assert exact * (1 - Fraction(1, 10**18)) <= Fraction(said[name]) <= exact


def test_a_dry_run_says_the_price_and_touches_no_ledger(letalone: Letalone, my: Path) -> None:
    shown = check_screen(letalone("train", "my.csv", *BAYES, "--epsilon", "1", "--dry-run"))
    assert "That would spend (ε = 1). Nothing was spent." in shown
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
    assert b"\r" not in Path("p.csv").read_bytes()
    lines = Path("p.csv").read_text("utf-8").splitlines()
    assert (lines[0], len(lines)) == ("predicted_income", 601)
    assert set(lines[1:]) <= {"low", "high"}
    Path("two.csv").write_text("work,age\npublic,80\n?,x\n")
    assert letalone("predict", "m.json", "two.csv", "--json").json()["rows"] == 2
    Path("none.csv").write_text("work,age\n")
    assert letalone("predict", "m.json", "none.csv", "--json").json()["predictions"] == []
    Path("less.csv").write_text("work\npublic\n")
    assert "'age' is not in" in check_refusal(letalone("predict", "m.json", "less.csv"), 2)
    assert "no file" in check_refusal(letalone("predict", "m.json", "x.csv", "--out", "p.csv"), 2)
    refused = check_refusal(letalone("predict", "m.json", "spark:x"), 2)
    assert "is not taken here: write the rows to a Parquet file" in refused


@pytest.mark.long  # test_a_column_that_cannot_be_kept_is_named
def test_kept_columns_stand_beside_the_predictions_of_their_rows(
    letalone: Letalone, my: Path
) -> None:
    letalone("train", "my.csv", *ASK, "--out", "m.json")
    plain = letalone("predict", "m.json", "my.csv", "--json").json()["predictions"]
    keep = ("--keep", "person_id, age,person_id")
    found = letalone("predict", "m.json", "my.csv", *keep, "--json").json()
    ids, ages = zip(*(line.split(",")[:2] for line in CSV.splitlines()[1:]), strict=True)
    assert (found["kept"], found["predictions"]) == (
        {"person_id": list(ids), "age": list(ages)},
        plain,
    )
    check_screen(letalone("predict", "m.json", "my.csv", *keep, "--out", "p.csv"))
    rows = [line.split(",") for line in Path("p.csv").read_text("utf-8").splitlines()]
    assert rows[0] == ["person_id", "age", "predicted_income"]
    assert rows[1:] == [list(row) for row in zip(ids, ages, plain, strict=True)]
    assert "person_id age predicted_income" in check_screen(
        letalone("predict", "m.json", "my.csv", *keep)
    )


@pytest.mark.long  # test_predictions_are_written_to_a_file
def test_what_is_called_parquet_is_parquet_with_whole_numbers_kept_whole(
    letalone: Letalone, my: Path
) -> None:
    letalone("train", "my.csv", *ASK, "--out", "m.json")
    large = pa.table({"id": [2**60 + 1, None], "age": [20, 80], "work": ["public", None]})
    parquet.write_table(large, "new.parquet")
    words = ("predict", "m.json", "new.parquet", "--keep", "id", "--out")
    check_screen(letalone(*words, "p.parquet"))
    written = parquet.read_table("p.parquet")
    assert written.column_names == ["id", "predicted_income"]
    assert written["id"].to_pylist() == [2**60 + 1, None]
    assert set(written["predicted_income"].to_pylist()) <= {"low", "high"}
    check_screen(letalone(*words, "p.csv"))
    assert Path("p.csv").read_text("utf-8").startswith(f"id,predicted_income\n{2**60 + 1},")


def test_a_column_that_cannot_be_kept_is_named(letalone: Letalone, my: Path) -> None:
    letalone("train", "my.csv", *ASK, "--out", "m.json")
    Path("again.csv").write_text("age,work,predicted_income\n20,public,low\n")
    for file, keep, words in (
        ("my.csv", "persn_id", "Did you mean 'person_id'"),
        ("my.csv", ",", "names no column"),
        ("again.csv", "predicted_income", "as the predictions are called"),
    ):
        refused = letalone("predict", "m.json", file, "--keep", keep, "--out", "p.csv")
        assert words in check_refusal(refused, 2)
        assert not Path("p.csv").exists()


def test_predictions_are_written_over_nothing_but_predictions(letalone: Letalone, my: Path) -> None:
    letalone("train", "my.csv", *ASK, "--out", "model.csv")
    Path("link.csv").symlink_to("my.csv")
    for notes in ("notes.csv", "notes.parquet"):
        Path(notes).write_text("predicted_income,what,id\nlow,a,1\n")
    Path("empty.csv").write_text("")
    parquet.write_table(pa.table({"id": [1]}), "other.parquet")
    before = _contents()
    for out, words in {
        "my.csv": "which is the table itself",
        "link.csv": "which is the table itself",
        "model.csv": "which is the model",
        "notes.csv": "is not a file of such predictions",
        "empty.csv": "is not a file of such predictions",
        "notes.parquet": "is not a file of such predictions",
        "other.parquet": "is not a file of such predictions",
        "my.letalone.toml": "must end in .csv or .parquet",
        "my.letalone.db": "must end in .csv or .parquet",
        "x/p.csv": "no folder",
    }.items():
        refused = letalone("predict", "model.csv", "my.csv", "--keep", "age", "--out", out)
        assert words in check_refusal(refused, 2)
        assert "\nTry:\n" in refused.err
        assert _contents() == before
    (command,) = offered(refused.err)
    for _ in range(2):  # what is written may be written over
        assert letalone(*command).code == 0
    assert Path("predictions.csv").read_text("utf-8").startswith("age,predicted_income\n")


def _contents() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path().iterdir()}


@pytest.mark.long  # test_offered_commands.py: over the budget, with what would still fit
def test_over_budget_offers_what_still_fits(letalone: Letalone, my: Path) -> None:
    letalone("train", "my.csv", *ASK)
    refused = letalone("train", "my.csv", *BAYES, "--epsilon", "3.5", "--out", "more.json")
    assert "does not fit" in check_refusal(refused, 3)
    (words,) = offered(refused.err)
    assert letalone(*words).code == 0


@pytest.mark.few("--target is missing", "Did you mean 'age'", "delta", "but this is the unit")
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
        (("--target", "person_id"), "--target is person_id, but this is the unit"),
        ((*BAYES, "--features", "age,person_id"), "names person_id, but this is the unit"),
        ((*BAYES, "--features", "age,income"), "names income, but this is the target"),
        ((*BAYES, "--features", ""), "names no column. Leave it out"),
        ((*BAYES, "--features", "aeg"), "Did you mean 'age'"),
        (("--target", "income", "--model", "linear"), "'income' is text, but this model predicts"),
        (("--target", "age", "--model", "bayes"), "'age' is integer, but this model predicts"),
    ],
)
def test_what_is_missing_is_asked_for_with_a_command_that_works(
    letalone: Letalone, my: Path, options: tuple[str, ...], words: str
) -> None:
    refused = letalone("train", "my.csv", *options)
    assert words in " ".join(refused.err.split())
    assert not Path("my.letalone.db").exists(), "nothing was written down"
    assert "\nTry:\n" in refused.err
    (command,) = offered(refused.err)
    assert letalone(*command).code == 0


def test_a_feature_that_is_not_there_is_not_taken_for_the_target(
    letalone: Letalone, my: Path
) -> None:
    refused = letalone("train", "my.csv", *ASK, "--features", "incme,age")
    told = check_refusal(refused, 2)
    assert "To learn from there are: age, work, hours." in told
    assert "Did you mean" not in told
    (command,) = offered(refused.err)
    assert command[command.index("--features") + 1] == "age"


@pytest.mark.parametrize(
    ("target", "model", "estimator"),
    [
        ("pay", None, "LinearRegression"),
        ("pay", "linear", "LinearRegression"),
        ("pay", "trees", "BoostedTreesRegressor"),
        ("grade", None, "LogisticRegression"),
        ("grade", "linear", "LinearRegression"),
        ("grade", "trees", "BoostedTreesClassifier"),
        ("income", "trees", "BoostedTreesClassifier"),
    ],
)
def test_the_model_fits_what_is_predicted(
    letalone: Letalone, my: Path, target: str, model: str | None, estimator: str
) -> None:
    declare = """
[columns.pay]
type = "number"
lower = 0
upper = 9

[columns.grade]
type = "integer"
lower = 1
upper = 3
keys = [1, 2, 3]
"""
    Path("my.letalone.toml").write_text(SCHEMA + declare)
    first, *lines = CSV.splitlines()
    Path("my.csv").write_text("\n".join([f"{first},pay,grade", *(f"{one},7,2" for one in lines)]))
    price = ("--epsilon", "1", "--delta", "1e-6", "--dry-run", "--json")
    named = () if model is None else ("--model", model)
    found = letalone("train", "my.csv", "--target", target, *named, *price).json()
    assert found["model"] == estimator


@pytest.mark.parametrize(
    ("target", "model", "fitting"),
    [("income", "linear", "logistic, svc, trees, bayes"), ("age", "svc", "linear, trees")],
)
def test_a_model_that_does_not_fit_the_target_is_refused_with_those_that_do(
    letalone: Letalone, my: Path, target: str, model: str, fitting: str
) -> None:
    options = ("--target", target, "--model", model, "--unit", "person_id", *ASK[4:])
    refused = letalone("train", "my.csv", *options)
    assert f"Models that fit: {fitting}." in check_refusal(refused, 2)
    (command,) = offered(refused.err)
    assert command[command.index("--model") + 1] == fitting.split(",")[0]
    assert command[command.index("--unit") + 1] == "person_id"


def test_a_command_that_is_offered_keeps_model_and_unit(letalone: Letalone, my: Path) -> None:
    asked = ("--target", "age", "--model", "trees", "--unit", "person_id", "--epsilon", "1")
    (command,) = offered(letalone("train", "my.csv", *asked).err)
    assert command[command.index("--model") + 1] == "trees"
    assert command[command.index("--unit") + 1] == "person_id"
    assert letalone(*command, "--json").json()["model"] == "BoostedTreesRegressor"


def test_another_model_is_offered_by_its_name(letalone: Letalone, my: Path) -> None:
    """A support vector machine takes two classes, and here there are three."""
    three = SCHEMA.replace('["private", "public"]', '["private", "public", "none"]')
    Path("my.letalone.toml").write_text(three)
    refused = letalone("train", "my.csv", "--target", "work", "--model", "svc", *ASK[4:])
    check_refusal(refused, 2)
    (command,) = offered(refused.err)
    assert command[command.index("--model") + 1] == "logistic"
    assert letalone(*command, "--dry-run").code == 0


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
    for unit in ((), ("--unit", "person_id"), ("--unit", "work")):
        refused = letalone("train", "my.csv", *ASK, *unit)
        (command,) = offered(refused.err)
        assert command == ["init", "my.csv", "--unit", unit[-1] if unit else "person_id"]


def test_other_files_are_not_written_over(letalone: Letalone, my: Path) -> None:
    refused = letalone("train", "my.csv", *ASK, "--out", "my.csv")
    assert "is not a model file" in check_refusal(refused, 2)
    assert Path("my.csv").read_text() == CSV
    assert not Path("my.letalone.db").exists()
    (command,) = offered(refused.err)
    assert letalone(*command).code == 0
    assert "no folder" in check_refusal(letalone("train", "my.csv", *ASK, "--out", "x/y.json"), 2)
    assert "not a model file" in check_refusal(letalone("predict", "my.csv", "my.csv"), 2)


def test_explain_takes_each_file_that_verify_says_has_a_receipt(
    letalone: Letalone, my: Path
) -> None:
    assert letalone("train", "my.csv", *ASK, "--out", "model.json").code == 0
    checked = letalone("verify", "model.json", "--json").json()
    told = letalone("explain", "model.json", "--json").json()
    assert told["fingerprint"] == checked["fingerprint"]
    assert told["epsilon"] == checked["body"]["epsilon"]
    assert letalone("ledger", "export", "my.letalone.db", "all.json").code == 0
    refused = letalone("explain", "all.json")
    assert "is an exported ledger" in check_refusal(refused, 2)
    (check,) = offered(refused.err)
    assert letalone(*check).code == 0
