"""Estimators behave as scikit-learn's do, but where that would tell about the data."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import letalone as la
from learn.majority import Majority
from learn.manners import FORBIDDEN, MAKERS, NO_ESTIMATORS
from letalone.learn.training import PrivateEstimator
from seeded import SeededBits

RANDOM = np.random.default_rng(5)
ROWS = RANDOM.normal(size=(80, 3))
LABELS = (ROWS[:, 0] + 0.2 * RANDOM.normal(size=80) > 0).astype(int)
NAMES = sorted(MAKERS)
CHARGED = sorted(set(NAMES) - {"MinMaxScaler"})  # declared bounds are free
TRANSFORMERS = ["MinMaxScaler", "PCA", "StandardScaler"]


@pytest.fixture
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same noise in every fit."""
    monkeypatch.setattr(PrivateEstimator, "_bits", property(lambda _: SeededBits(7)))


def test_every_public_estimator_is_looked_at() -> None:
    assert set(MAKERS) == set(la.learn.__all__) - set(NO_ESTIMATORS)


@pytest.mark.few("BoostedTreesClassifier", "GaussianNB", "LogisticRegression", "StandardScaler")
@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize("name", NAMES)
def test_checks_fail_only_where_privacy_forbids_them(name: str) -> None:
    forbidden = dict(FORBIDDEN.get(name, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            MAKERS[name](), expected_failed_checks=forbidden, on_fail=None, on_skip=None
        )
    failed = {one["check_name"]: one["exception"] for one in found if one["status"] == "failed"}
    assert failed == {}
    passed = {one["check_name"] for one in found if one["status"] == "passed"}
    assert passed & set(forbidden) == set(), "they need not be listed"
    assert {one["check_name"] for one in found if one["status"] == "xfail"} == set(forbidden)


@pytest.mark.parametrize("name", CHARGED)
def test_two_fits_differ_because_the_noise_is_fresh(name: str) -> None:
    one, other = (fitted(name, epsilon=2.0) for _ in range(2))
    assert public(one) != public(other)


@pytest.mark.parametrize("name", CHARGED)
def test_attributes_are_only_what_the_ledger_wrote_down(name: str) -> None:
    found = MAKERS[name](budget=la.Budget(10**7, 1e-3)).fit(ROWS, LABELS)
    written = set(found.release_.receipt["body"]["release"])
    ours = {"privacy_", "release_", "n_features_in_", "best_estimator_", "best_params_"}
    assert {one for one in vars(found) if one.endswith("_")} - ours <= written


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"PrivateSearchCV"}))
def test_a_model_file_gives_the_same_model_back(name: str, tmp_path: Path) -> None:
    found = MAKERS[name](budget=la.Budget(10**7, 1e-3)).fit(ROWS, LABELS)
    read = la.learn.load(la.learn.save(found, tmp_path / "model.json"))
    assert public(read) == public(found)
    assert read.privacy_ == found.privacy_
    method = "transform" if name in TRANSFORMERS else "predict"
    assert (getattr(read, method)(ROWS) == getattr(found, method)(ROWS)).all()
    assert repr(read.release_).splitlines()[:-1] == repr(found.release_).splitlines()[:-1]


@pytest.mark.parametrize("name", CHARGED)
def test_a_pickled_model_predicts_and_its_lost_budget_refuses_a_fit(name: str) -> None:
    found = MAKERS[name](budget=la.Budget(10**7, 1e-3)).fit(ROWS, LABELS)
    twin = pickle.loads(pickle.dumps(found))
    method = "transform" if name in TRANSFORMERS else "predict"
    assert (getattr(twin, method)(ROWS) == getattr(found, method)(ROWS)).all()
    assert "another process" in repr(twin.release_)
    with pytest.raises(la.ParameterError, match="lived in another process"):
        twin.fit(ROWS, LABELS)


def test_a_pickled_model_goes_on_with_a_budget_in_a_file(tmp_path: Path) -> None:
    account = la.learn.Account(la.Budget(2, 0), ledger=tmp_path / "budget.db")
    found = Majority(0.5, classes=[0, 1], budget=account).fit(ROWS, LABELS)
    pickle.loads(pickle.dumps(found)).fit(ROWS, LABELS)
    assert account.spent == la.Budget(1, 0)


def test_a_grid_search_of_seven_fits_debits_seven_fits() -> None:
    account = la.learn.Account(la.Budget(10, 0))
    model = Majority(0.25, classes=[0, 1], budget=account)
    GridSearchCV(model, {"worst": [True, False]}, cv=3).fit(ROWS, LABELS)
    assert account.fits == 7
    assert account.spent == la.Budget(7 * 0.25, 0)
    cross_val_score(model, ROWS, LABELS, cv=3)
    assert account.fits == 10


@pytest.mark.long  # test_a_pickled_model_goes_on_with_a_budget_in_a_file stays
def test_other_processes_debit_a_budget_in_a_file(tmp_path: Path) -> None:
    account = la.learn.Account(la.Budget(10, 0), ledger=tmp_path / "budget.db")
    model = Majority(0.25, classes=[0, 1], budget=account)
    cross_val_score(model, ROWS, LABELS, cv=2, n_jobs=2, error_score="raise")
    assert account.fits == 2


def test_a_grid_search_stops_where_the_budget_does() -> None:
    account = la.learn.Account(la.Budget(1, 0))
    model = Majority(0.25, classes=[0, 1], budget=account)
    with pytest.raises(la.BudgetExceeded):
        GridSearchCV(model, {"worst": [True, False]}, cv=3, error_score="raise").fit(ROWS, LABELS)
    assert account.fits == 4


@pytest.mark.usefixtures("seeded")
def test_pipelines_charge_each_private_step() -> None:
    account = la.learn.Account(la.Budget(10**7, 1e-3))
    steps = [MAKERS[name](budget=account) for name in ("StandardScaler", "GaussianNB")]
    found = make_pipeline(*steps).fit(ROWS, LABELS)
    assert account.fits == 2
    assert found.score(ROWS, LABELS) > 0.8
    assert is_classifier(clone(found))


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_give_frames_where_they_are_asked_to(name: str) -> None:
    frame = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    made = MAKERS[name]().set_output(transform="pandas").fit(frame).transform(frame)
    assert isinstance(made, pd.DataFrame)
    assert len(made.columns) == 3


@pytest.mark.parametrize("name", CHARGED)
def test_a_budget_is_no_parameter_and_shared_by_clones(name: str) -> None:
    made = MAKERS[name](budget=la.Budget(10**7, 1e-3))
    assert "budget" not in made.get_params(deep=False)
    assert clone(made).budget is made.budget
    assert MAKERS[name]().set_params(budget=made.budget).budget is made.budget
    with pytest.raises(la.ParameterError, match="budget is int"):
        MAKERS[name](budget=3).fit(ROWS, LABELS)


@pytest.mark.parametrize("name", NAMES)
def test_values_raise_no_error(name: str) -> None:
    """Odd cells, odd labels, rows all alike, one row."""
    odd = ROWS.copy()
    odd[:4] = [[np.nan, np.inf, 0], [-np.inf, 1e308, -1e308], [5e-324, -0.0, 1], [0, 0, 0]]
    labels = LABELS.astype(float)
    labels[:4] = [np.nan, np.inf, 7, -1e308]
    for rows, given in ((odd, labels), (np.zeros((5, 3)), np.full(5, 9)), (odd[:1], labels[:1])):
        made = MAKERS[name]().fit(rows, given)
        assert made.privacy_ == MAKERS[name]().fit(ROWS, LABELS).privacy_, "whatever the values"


def fitted(name: str, **parameters: Any) -> Any:
    return MAKERS[name]().set_params(**parameters).fit(ROWS, LABELS)


def public(model: Any) -> str:
    names = [one for one in vars(model) if one.endswith("_")]
    kept = [one for one in sorted(names) if one not in ("privacy_", "release_")]
    return repr({one: getattr(model, one) for one in kept})
