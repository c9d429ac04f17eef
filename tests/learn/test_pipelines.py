"""Steps in front of a private estimator are accounted for, or refused before anything is fitted."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import letalone as la
from letalone.learn.pipelines.steps import learners_in

ROWS, LABELS = np.random.default_rng(1).uniform(size=(60, 3)), np.array([0, 1] * 30)
DECLARED = {"epsilon": 1, "delta": 1e-6, "data_norm": 5, "classes": [0, 1]}
ONE_HOT = {"handle_unknown": "ignore", "sparse_output": False}


def private(**more):
    return la.learn.LogisticRegression(**DECLARED, **more)


LEARNING = {
    "scaler": StandardScaler(),
    "range": MinMaxScaler(),
    "components": PCA(2),
    "categories": OneHotEncoder(sparse_output=False),
    "unknown is an error": OneHotEncoder(categories=[[0, 1]]),
    "rare ones": OneHotEncoder(categories=[[0, 1]], min_frequency=2, **ONE_HOT),
    "mean": SimpleImputer(),
    "empty columns": SimpleImputer(strategy="constant"),
    "any function": FunctionTransformer(lambda rows: rows - rows.mean(axis=0)),
    "labels": SelectKBest(k=1),
    "in columns": make_column_transformer((StandardScaler(), [0, 1]), remainder="passthrough"),
    "chosen by type": make_column_transformer((Normalizer(), make_column_selector())),
    "in a union": make_union(Normalizer(), StandardScaler()),
    "within": make_pipeline(Normalizer(), StandardScaler()),
}
HARMLESS = {
    "norm": Normalizer(),
    "threshold": Binarizer(threshold=0.5),
    "products": PolynomialFeatures(2),
    "logarithm": FunctionTransformer(np.log1p),
    "categories": OneHotEncoder(categories=[[0, 1]] * 3, **ONE_HOT),
    "constant": SimpleImputer(strategy="constant", fill_value=0, keep_empty_features=True),
    "public": FrozenEstimator(StandardScaler().fit(np.zeros((2, 3)))),
    "columns": make_column_transformer((Normalizer(), [0, 1]), remainder="passthrough"),
    "union": make_union(Normalizer(), Binarizer()),
}


@pytest.mark.parametrize("name", LEARNING)
def test_a_step_that_learns_is_refused_when_the_pipeline_is_made(name):
    with pytest.raises(la.ParameterError, match=r"learns from the rows.*FrozenEstimator"):
        la.learn.make_pipeline(LEARNING[name], private())


@pytest.mark.parametrize("name", HARMLESS)
def test_a_step_that_is_let_through_does_the_same_to_a_row_whatever_the_others_are(name):
    assert list(learners_in(HARMLESS[name])) == []
    others = np.vstack([ROWS[:1], 7 * ROWS[1:]])
    first, second = (HARMLESS[name].fit(rows, LABELS).transform(rows)[0] for rows in (ROWS, others))
    np.testing.assert_array_equal(first, second)
    la.learn.make_pipeline(HARMLESS[name], private()).fit(ROWS, LABELS)


def test_the_first_thing_that_people_type_is_refused_with_the_way():
    """As somebody did, and `release_` said ε = 1."""
    account = la.learn.Account(la.Budget(10, 1e-3))
    columns = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["work"]))
    pipeline = make_pipeline(columns, private(budget=account))
    people = pd.DataFrame({"age": [20, 30, 40, 50], "work": ["a", "b", "a", "b"]})
    with pytest.raises(la.ParameterError, match=r"StandardScaler .*la.learn.StandardScaler"):
        pipeline.fit(people, [0, 1, 0, 1])
    assert account.fits == 0


def test_it_is_noticed_in_cross_validation_and_searches_too():
    pipeline = make_pipeline(StandardScaler(), private())
    with pytest.raises(la.ParameterError, match="learns from the rows"):
        cross_val_score(pipeline, ROWS, LABELS, cv=2, error_score="raise")
    grid = {"logisticregression__epsilon": [1, 2]}
    with pytest.raises(la.ParameterError, match="learns from the rows"):
        GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(ROWS, LABELS)


def test_own_steps_pay_and_the_pipeline_says_what_all_reveal():
    account = la.learn.Account(la.Budget(10, 1e-3))
    scaler = la.learn.StandardScaler(epsilon=0.5, bounds=(0, 1), budget=account)
    pipeline = la.learn.make_pipeline(scaler, private(budget=account)).fit(ROWS, LABELS)
    assert account.fits == 2
    assert account.spent.epsilon == 1.5
    assert 1 < pipeline.privacy_.epsilon(1e-6) <= 1.51


def test_a_step_that_is_put_in_later_is_found_when_it_is_fitted():
    pipeline = la.learn.make_pipeline(Normalizer(), private())
    pipeline.set_params(normalizer=StandardScaler())
    with pytest.raises(la.ParameterError, match="learns from the rows"):
        pipeline.fit(ROWS, LABELS)


def test_a_pipeline_that_nobody_pays_for_is_refused():
    with pytest.raises(la.ParameterError, match="not a private estimator"):
        la.learn.make_pipeline(Normalizer())


def test_a_pipeline_is_saved_whole_and_predicts_the_same(tmp_path: Path):
    people = pd.DataFrame({"age": ROWS[:, 0] * 80, "work": np.where(LABELS, "a", "b")})
    encoder = la.learn.TableEncoder({"age": (0, 80), "work": ["a", "b"]})
    account = la.learn.Account(la.Budget(10, 1e-3), ledger=tmp_path / "budget.db")
    for made in (make_pipeline, la.learn.make_pipeline):
        pipeline = made(encoder, private(budget=account)).fit(people, LABELS)
        path = tmp_path / "pipeline.json"
        la.learn.save(pipeline, path)
        read = la.learn.load(path)
        np.testing.assert_array_equal(read.predict(people), pipeline.predict(people))
        assert read[-1].privacy_ == pipeline[-1].privacy_
        key = account.ledger.public_key
        assert la.learn.load(path, public_key=key)[-1].release_.receipt is not None


def test_a_changed_pipeline_file_is_refused(tmp_path: Path):
    encoder = la.learn.TableEncoder({"a": (0, 1), "b": (0, 1), "c": (0, 1)})
    path = tmp_path / "pipeline.json"
    la.learn.save(make_pipeline(encoder, private()).fit(ROWS, LABELS), path)
    stored = json.loads(path.read_text())
    for change in (
        {"steps": stored["steps"][:1]},
        {"format": 2},
        {"kind": "other"},
        {"steps": [{**stored["steps"][0], "name": "x"}, stored["steps"][1]]},
    ):
        path.write_text(json.dumps(stored | change))
        with pytest.raises(la.FormatError):
            la.learn.load(path)


def test_steps_of_others_are_not_saved(tmp_path: Path):
    pipeline = make_pipeline(Normalizer(), private()).fit(ROWS, LABELS)
    with pytest.raises(la.ParameterError, match=r"only a la\.learn"):
        la.learn.save(pipeline, tmp_path / "pipeline.json")


@pytest.mark.parametrize("wrapped", [False, True])
def test_other_processes_that_could_not_pay_are_refused_before_anything_runs(wrapped):
    account = la.learn.Account(la.Budget(10, 1e-3))
    model = private(budget=account)
    model = make_pipeline(Normalizer(), model) if wrapped else model
    with pytest.raises(la.ParameterError, match=r"n_jobs=2 fits in other processes.*budget.db"):
        cross_val_score(model, ROWS, LABELS, cv=2, n_jobs=2)
    assert account.fits == 0
