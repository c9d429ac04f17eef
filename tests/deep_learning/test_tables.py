"""Networks on tables of `la.open`: declared columns, the table's own budget, its own unit."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import letalone as la
from letalone.learn.torch import PrivateTrainer
from letalone.learn.torch.tables import job_of
from networks import cross_entropy

pytestmark = pytest.mark.long

COLUMNS = (
    la.Column("person", "text"),
    la.Column("age", "number", lower=17, upper=90),
    la.Column("work", "text", keys=("a", "b")),
    la.Column("income", "text", keys=("low", "high")),
    la.Column("hours", "number", lower=0, upper=80),
)


def people(rows=600, persons=300, seed=3):
    luck = np.random.default_rng(seed)
    age = luck.uniform(17, 90, rows)
    income = np.where(age + luck.normal(0, 5, rows) > 50, "high", "low").astype(object)
    columns = {"age": age, "work": luck.choice(["a", "b", "other"], rows), "income": income}
    names = [f"p{number}" for number in luck.integers(0, persons, rows)]
    return pd.DataFrame({"person": names, **columns, "hours": luck.uniform(-5, 90, rows)})


def opened(frame=None, *, unit="person", budget=(9, 1e-4), **more):
    schema = la.Schema("people", COLUMNS, unit, **more)
    frame = people() if frame is None else frame
    return la.open(frame, schema=schema, budget=la.Budget(*budget))


def trainer_of(model=None, loss=cross_entropy, **others):
    torch.manual_seed(2)
    settings = {"epsilon": 3, "delta": 1e-5, "rows": 300, "batch_size": 60, "epochs": 8, **others}
    model = model or nn.Linear(4, 2)
    settings.setdefault("optimizer", torch.optim.SGD(model.parameters(), lr=1.0))
    return PrivateTrainer(model, loss, **settings)


def test_it_learns_from_declared_columns_and_the_tables_budget_is_charged():
    """Noise is new each time; a model that learned nothing has 55 % or less."""
    table, frame = opened(), people()
    trainer = trainer_of().fit(table, target="income")
    assert table.spent.epsilon == pytest.approx(3, rel=1e-3)
    assert list(trainer.encoder_.columns) == ["age", "work", "hours"]
    rows = torch.as_tensor(trainer.encoder_.transform(frame)).float()
    found = trainer.model(rows).argmax(1).numpy()
    assert (np.array(["low", "high"])[found] == frame["income"]).mean() > 0.8
    said = repr(trainer.release_)
    assert "add or remove one person" in said
    assert "Left: about" in said
    assert la.ledger.verify_receipt(trainer.release_.receipt).body["plan"]["target"] == "income"


def test_each_run_is_charged_and_one_over_budget_is_refused_before_rows_are_read(monkeypatch):
    table, read = opened(budget=(7, 1e-4)), []
    first, second = trainer_of(nn.Linear(1, 2)), trainer_of(nn.Linear(1, 2))
    first.fit(table, features=["age"], target="income")
    second.fit(table, features=["age"], target="income")
    spent = table.spent
    assert spent.epsilon > 3.5
    monkeypatch.setattr(
        type(table._table.engine), "training_rows", lambda *_, **__: read.append("rows")
    )
    third = trainer_of(nn.Linear(1, 2), epsilon=6)
    before = third.model.weight.detach().clone()
    with pytest.raises(la.BudgetExceeded, match="The model costs"):
        third.fit(table, features=["age"], target="income")
    assert read == []
    assert table.spent == spent
    assert torch.equal(third.model.weight, before)


def seen_by(monkeypatch, table, **others):
    """The examples and the units that the steps are given."""
    trainer, seen = trainer_of(**others), []
    prepared = trainer._prepared
    monkeypatch.setattr(
        trainer,
        "_prepared",
        lambda data, unit, *team: (seen.append((data, unit)), prepared(data, unit, *team))[1],
    )
    trainer.fit(table, target="income")
    return seen[-1]


def test_a_person_counts_with_one_row_unless_a_bound_is_named(monkeypatch):
    frame = people()
    (inputs, targets), unit = seen_by(monkeypatch, opened(), epochs=1)
    assert len(inputs) == len(targets) == frame["person"].nunique()
    assert unit is None
    (inputs, _), unit = seen_by(monkeypatch, opened(), epochs=1, per_unit=3)
    assert len(inputs) == len(frame)
    assert sorted(unit) == sorted(frame["person"])
    (inputs, _), _ = seen_by(monkeypatch, opened(unit=None), epochs=1)
    assert len(inputs) == len(frame)
    assert inputs.abs().max() <= 1
    assert torch.isfinite(inputs).all()


def test_rows_keep_their_own_unit_and_target(monkeypatch):
    frame = people()
    (inputs, targets), unit = seen_by(monkeypatch, opened(), epochs=1, per_unit=3)
    ages = (frame["age"] - 17) / 73 * 2 - 1
    wanted = {
        (name, round(age, 4), income == "high")
        for name, age, income in zip(frame["person"], ages, frame["income"], strict=True)
    }
    found = zip(unit, inputs[:, 0].tolist(), targets.tolist(), strict=True)
    assert {(name, round(age, 4), bool(place)) for name, age, place in found} == wanted


def test_units_that_differ_in_the_last_digit_are_two(monkeypatch):
    columns = (la.Column("person", "integer"), *COLUMNS[1:])
    frame = people(20)
    frame["person"] = 2**53 + np.arange(20)
    table = la.open(frame, schema=la.Schema("t", columns, "person"), budget=la.Budget(9, 1e-4))
    _, unit = seen_by(monkeypatch, table, epochs=1, per_unit=3)
    assert len(set(unit)) == 20


def test_rows_without_a_declared_target_or_a_unit_are_left_out(monkeypatch):
    frame = people()
    frame.loc[:99, "income"] = None
    frame.loc[100:199, "income"] = "something else"
    frame.loc[200:299, "person"] = None
    (inputs, _), _ = seen_by(monkeypatch, opened(frame), epochs=1, per_unit=3)
    assert len(inputs) == 300
    (inputs, _), _ = seen_by(monkeypatch, opened().where(la.col("age") > 200), epochs=1)
    assert len(inputs) == 0


def test_numbers_are_predicted_within_their_bounds():
    table = opened()
    squares = lambda found, wanted: (found[:, 0] / 80 - wanted / 80) ** 2  # noqa: E731
    trainer = trainer_of(nn.Linear(3, 1), squares, epochs=2)
    job = job_of(table, None, "hours", plan=trainer.plan, model="Linear")
    targets, known = job.label.read(np.array([-5.0, 40, 99, np.nan, np.inf]))
    assert targets.tolist() == [0, 40, 80, 0, 80]
    assert known.tolist() == [True, True, True, False, True]
    trainer_of(nn.Linear(5, 1), squares, epochs=2).fit(table, target="hours")


def test_a_run_that_was_cut_short_goes_on_and_is_charged_once(tmp_path):
    table, path = opened(), tmp_path / "run.pt"

    def stop(told):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer_of().fit(table, target="income", checkpoint=path, every=5, progress=stop)
    spent, told = table.spent, []
    trainer_of().fit(table, target="income", resume=path, every=5, progress=told.append)
    assert told[0].step == 10
    assert table.spent == spent
    with pytest.raises(la.ParameterError, match="finished before"):
        trainer_of().fit(table, target="income", resume=path)


def test_what_goes_wrong_freezes_and_says_nothing_of_the_data():
    def fails(outputs, targets):
        if len(targets) != 4:  # not the made-up examples
            raise ValueError("planted-secret")
        return cross_entropy(outputs, targets)

    table = opened()
    with pytest.raises(la.DataSetFrozen) as caught:
        trainer_of(loss=fails).fit(table, target="income")
    assert "planted-secret" not in repr(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "target is missing"),
        ({"target": "incme"}, "Did you mean 'income'"),
        ({"target": "income", "features": ["person"]}, "identifies people"),
        ({"target": "income", "features": ["age", "hours", "income"]}, "twice"),
        ({"target": "person"}, "is the unit"),
        ({"target": "income", "unit": [1]}, "of its own"),
        ({"target": "income", "features": ["age"]}, r"\(age\) are 1 features"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_charged(options, words):
    table = opened()
    with pytest.raises(la.ParameterError, match=words):
        trainer_of().fit(table, **options)
    assert table.spent == la.Budget(0, 0)


def test_a_budget_beside_the_tables_and_a_bound_without_a_unit_are_refused():
    table = opened()
    with pytest.raises(la.ParameterError, match="of its own"):
        trainer_of(budget=la.Budget(3, 1e-5)).fit(table, target="income")
    with pytest.raises(la.ParameterError, match="each row is a unit"):
        trainer_of(per_unit=3).fit(opened(unit=None), target="income")
    with pytest.raises(la.ParameterError, match=r"la\.open gave"):
        trainer_of().fit((torch.zeros(5, 4), torch.zeros(5).long()), target="income")
    with pytest.raises(la.ParameterError, match="loop of your own"), trainer_of().steps(table):
        raise AssertionError
