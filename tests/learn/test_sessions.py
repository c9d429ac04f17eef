"""Training on a table: charged by the table's ledger, one row of each person, free again."""

import numpy as np
import pandas as pd
import pytest

import letalone as la
from learn.majority import Majority
from letalone.ledger import verify_receipt
from letalone.ledger.chain.entries import EntryKind
from letalone.session import time_steps
from seeded import SeededBits

SECRET = "planted-secret"


def people(rows: int = 400, seed: int = 3) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": random.integers(0, 100, rows),
            "age": random.integers(17, 90, rows).astype(float),
            "work": random.choice(["a", "b", SECRET], rows),
            "income": random.choice(["low", "low", "high"], rows),
        }
    )


def schema(unit: str | None = "person", **more: object) -> la.Schema:
    columns = (
        la.Column("person", "integer"),
        la.Column("age", "number", lower=17, upper=90),
        la.Column("work", "text", keys=("a", "b")),
        la.Column("income", "text", keys=("low", "high")),
    )
    return la.Schema("people", columns, unit, **more)


def opened(frame: pd.DataFrame | None = None, **options: object) -> la.Session:
    given = {"schema": schema(), "budget": la.Budget(2, 1e-6)} | options
    return la.open(people() if frame is None else frame, **given)


def test_a_fit_is_charged_to_the_table_and_the_same_again_is_free() -> None:
    table = opened()
    first = Majority(0.5).fit(table, features=["age", "work"], target="income")
    assert table.spent == la.Budget(0.5, 0)
    again = Majority(0.5).fit(table, features=["age", "work"], target="income")
    assert table.spent == la.Budget(0.5, 0)
    assert (again.counts_ == first.counts_).all()
    assert "free of charge" in repr(again.release_)
    Majority(0.5).fit(table, features=["age"], target="income")
    Majority(0.25).fit(table, features=["age", "work"], target="income")
    Majority(0.25).fit(table.where(la.col("age") > 30), features=["age"], target="income")
    assert table.spent == la.Budget(1.5, 0)


def test_each_person_counts_with_one_row() -> None:
    """With next to no noise the counts add up to the number of people, not of rows."""
    table = opened(budget=la.Budget(10**4))
    found = Majority(500).fit(table, target="income")
    assert found.counts_.sum() == people()["person"].nunique()
    rows = la.open(people(), schema=schema(None), budget=la.Budget(10**4))
    assert Majority(500).fit(rows, target="income").counts_.sum() == len(people())


def test_rows_are_encoded_by_the_schema_and_predict_takes_tables() -> None:
    found = Majority().fit(opened(), target="income")
    assert str(found.privacy_.neighbours) == "add or remove one person"
    assert list(found.encoder_.columns) == ["age", "work"]
    assert found.n_features_in_ == 3
    assert list(found.classes_) == ["low", "high"]
    frame = people(5)
    assert list(found.predict(frame)) == ["low"] * 5
    assert list(found.predict(frame[["age", "work"]].to_numpy())) == ["low"] * 5
    with pytest.raises(la.ParameterError, match="must have 2 columns"):
        found.predict(found.encoder_.transform(frame))
    with pytest.raises(la.ParameterError, match="protected table"):
        found.predict(opened())


def test_with_knots_a_linear_model_follows_a_curve_that_no_line_does() -> None:
    """Only the middle earns much. Without knots no more than the majority is found.

    False alarms: the noise moves 4,000 rows at ε = 4 by far less than the margins of 0.1.
    """
    ages = np.random.default_rng(5).integers(17, 90, 4000).astype(float)
    middle = np.where((ages > 35) & (ages < 65), "high", "low")
    frame = pd.DataFrame({"age": ages, "income": middle})
    options = {"schema": la.Schema("people", (schema().columns[1], schema().columns[3]), None)}
    table = la.open(frame, **options, budget=la.Budget(20, 1e-4))
    scores = {}
    for knots in (None, 8):
        model = la.learn.LogisticRegression(4, 1e-6, rows=4000)
        model._bits = SeededBits(3)
        model.fit(table, target="income", knots=knots)
        scores[knots] = float(np.mean(model.predict(frame[["age"]]) == middle))
    assert scores[None] < max(np.mean(middle == "low"), np.mean(middle == "high")) + 0.05
    assert scores[8] > 0.9
    spent = table.spent
    with pytest.raises(la.ParameterError, match="Majority does not use them"):
        Majority(0.5).fit(table, target="income", knots=8)
    assert table.spent == spent


def test_what_the_estimator_was_told_comes_before_what_the_schema_says() -> None:
    found = Majority(classes=["high"]).fit(opened(), target="income")
    assert list(found.classes_) == ["high"]


def test_conditions_missing_labels_and_missing_people_leave_rows_out() -> None:
    frame = people()
    frame.loc[frame["person"] < 50, "income"] = None
    frame["person"] = frame["person"].where(frame["person"] < 90)
    wide = la.Budget(10**4)
    found = Majority(500).fit(opened(frame, budget=wide), target="income")
    assert found.counts_.sum() == frame[frame["income"].notna()]["person"].nunique()
    table = opened(frame, budget=wide)
    none = Majority(500).fit(table.where(la.col("age") > 1000), target="income")
    assert none.counts_.sum() == 0


def test_a_failing_fit_freezes_the_table_and_says_nothing_of_the_data() -> None:
    table = opened()
    with pytest.raises(la.DataSetFrozen) as caught:
        Majority(0.5, fails=True).fit(table, target="income")
    assert SECRET not in repr(caught.value)
    assert "odd" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert table.spent == la.Budget(0.5, 0)
    with pytest.raises(la.DataSetFrozen):
        Majority(0.5).fit(table, target="income")


def test_an_engine_that_fails_freezes_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    table = opened()

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(type(table._table.engine), "training_rows", broken)
    with pytest.raises(la.DataSetFrozen) as caught:
        Majority(0.5).fit(table, target="income")
    assert SECRET not in str(caught.value)


def test_a_fit_over_budget_is_refused_before_rows_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, read = opened(), []
    monkeypatch.setattr(
        type(table._table.engine), "training_rows", lambda *_, **__: read.append("rows")
    )
    with pytest.raises(la.BudgetExceeded, match="The model costs"):
        Majority(3).fit(table, target="income")
    assert read == []
    assert table.spent == la.Budget(0, 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": None}, "target is missing"),
        ({"target": "incme"}, "Did you mean 'income'"),
        ({"features": ["person"]}, "identifies people"),
        ({"features": ["agee"]}, "Did you mean 'age'"),
        ({"features": ["age", "age"]}, "twice"),
        ({"features": ["income"]}, "twice"),
        ({"features": []}, "can be learned from"),
        ({"features": "age"}, "a list of columns"),
        ({"y": [1]}, "one of its columns"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_charged(
    options: dict[str, object], words: str
) -> None:
    table = opened()
    given = {"target": "income"} | options
    with pytest.raises(la.ParameterError, match=words):
        Majority().fit(table, **given)
    assert table.spent == la.Budget(0, 0)


def test_replacing_neighbours_and_other_questions_are_refused() -> None:
    replaced = opened(schema=schema(neighbours=la.REPLACE))
    with pytest.raises(la.NeighboursDiffer, match="ADD_REMOVE"):
        Majority().fit(replaced, target="income")
    table = opened()
    for question in (table.derive(half=la.col("age") / 2), table.bound(max_rows=2)):
        with pytest.raises(la.UnsupportedQuery, match="Leave out"):
            Majority().fit(question, target="income")
    with pytest.raises(la.ParameterError, match="its own budget"):
        Majority(budget=la.Budget(1)).fit(table, target="income")
    with pytest.raises(la.ParameterError, match=r"la\.open gave"):
        Majority(classes=["low"]).fit(np.ones((3, 1)), ["low"] * 3, target="income")


def test_what_is_said_before_the_charge_does_not_depend_on_the_rows() -> None:
    """The plan and its digest of an empty table are those of a full one."""
    plans = []
    for frame in (people(), people(0), people(50, seed=9)):
        table = opened(frame.astype(people().dtypes))
        Majority(0.5).fit(table.where(la.col("work") == "a"), target="income")
        (charge,) = [one for one in table.ledger.entries() if one.kind.value == "reserved"]
        plans.append((charge.body["plan"], charge.body["digest"]))
    assert plans[0] == plans[1] == plans[2]


def test_a_model_has_a_receipt_that_the_ledger_signed() -> None:
    found = Majority().fit(opened(), target="income")
    assert found.release_.receipt is not None
    signed = verify_receipt(found.release_.receipt)
    assert signed.body["plan"]["target"] == "income"
    assert signed.body["epsilon"] == "1.0"


def test_a_model_is_charged_at_once_and_written_down_at_its_time_step(monkeypatch) -> None:
    table, seen = opened(), []
    monkeypatch.setattr(time_steps, "sleep", lambda _: seen.append(table.ledger.entries()[-1]))
    asker = table.on_behalf_of("ann", purpose="care", time_step_seconds=60)
    Majority(0.5).fit(asker, target="income")
    (last,) = seen
    assert last.kind is EntryKind.RESERVED
    Majority(0.5).fit(asker, target="income")
    assert len(seen) == 1
