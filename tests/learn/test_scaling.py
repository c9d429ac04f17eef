"""Scalers: private moments, and bounds that are free or bought."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.pipeline import make_pipeline

from letalone.errors import ParameterError
from letalone.learn import Account
from letalone.learn.noisy_sums.linear_regression import LinearRegression
from letalone.learn.noisy_sums.scaling import MinMaxScaler, StandardScaler
from letalone.privacy import Budget
from neighbours_of_learners import rows_of
from seeded import SeededBits
from stages import pick


def data(rows=4000, seed=0):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(rows, 3)) * [1, 2, 0.5] + [0, 3, -2]


def fitted(estimator, rows, seed=0):
    estimator._bits = SeededBits(seed)
    return estimator.fit(rows)


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("bounds", [(-12, 12), "private"])
@pytest.mark.parametrize(("epsilon", "off"), [(1e5, 0.02), (1, 0.2)])
def test_means_and_deviations_are_found(epsilon, off, bounds, delta):
    found = fitted(StandardScaler(epsilon, delta, bounds=bounds), data())
    assert found.mean_ == pytest.approx([0, 3, -2], abs=off + 0.05)
    assert found.scale_ == pytest.approx([1, 2, 0.5], abs=off + 0.05)
    assert found.privacy_.delta(epsilon) <= delta
    scaled = found.transform(data(seed=1))
    assert scaled.std(axis=0) == pytest.approx([1, 1, 1], abs=0.4)
    assert found.inverse_transform(scaled) == pytest.approx(data(seed=1))


def test_moments_are_noisy_and_rows_are_not_counted():
    one, other = (fitted(StandardScaler(1, bounds=(-9, 9)), data(50), seed) for seed in (0, 1))
    assert np.all(one.mean_ != other.mean_)
    assert np.all(one.var_ != other.var_)
    learned = {name for name in vars(one) if name.endswith("_") and not name.startswith("_")}
    assert learned == {"mean_", "var_", "scale_", "n_features_in_", "privacy_", "release_"}


def test_a_constant_column_does_not_divide_by_zero():
    found = fitted(StandardScaler(1, bounds=(0, 1)), np.full((100, 2), 0.5))
    assert np.all(found.scale_ > 0)
    assert np.all(np.isfinite(found.transform([[0.5, np.nan]])))


def test_declared_bounds_are_free_and_bought_ones_are_debited():
    account = Account(Budget(epsilon=2))
    free = MinMaxScaler(bounds=(0, [1, 2, 4]), budget=account).fit(data(5))
    assert account.fits == 0
    assert free.privacy_.epsilon(0) == 0
    assert free.transform([[0.5, 0.5, 3], [-1, 9, np.nan]]).tolist() == [
        [0.5, 0.25, 0.75],
        [0, 1, 0.5],
    ]
    assert "ε = 0" in repr(free.release_)
    bought = MinMaxScaler(2, bounds="private", budget=account).fit(data())
    assert account.fits == 1
    assert bought.privacy_.epsilon(0) == 2
    assert bought.data_max_[1] in (8, 16)


def test_ranges_and_values_beyond_the_bounds():
    wide = MinMaxScaler(bounds=(0, 10), feature_range=(-1, 1), clip=False).fit(data(5))
    scaled = wide.transform([[0, 5, 20]])
    assert scaled.tolist() == [[-1, 0, 3]]
    assert wide.inverse_transform(scaled).tolist() == [[0, 5, 20]]


def test_they_work_in_pipelines_and_keep_names():
    account = Account(Budget(epsilon=3))
    features = data()
    line = LinearRegression(1, data_norm=4, target_bounds=(-20, 20), budget=account)
    whole = make_pipeline(StandardScaler(1, bounds=(-12, 12), budget=account), line)
    whole.fit(features, features.sum(axis=1))
    assert account.fits == 2
    assert whole.score(features, features.sum(axis=1)) > 0.8
    named = fitted(StandardScaler(1, bounds=(-12, 12)), data(9)).set_output(transform="pandas")
    assert list(named.transform(data(2)).columns) == ["x0", "x1", "x2"]


@settings(max_examples=pick(12, 40))
@given(rows=rows_of(2))
def test_any_values_are_learned_from(rows):
    found = fitted(StandardScaler(1, bounds="private"), rows)
    assert np.all(np.isfinite(found.transform(rows)))
    ends = fitted(MinMaxScaler(1, bounds="private"), rows).transform(rows)
    assert np.all((ends >= 0) & (ends <= 1))


@pytest.mark.parametrize(
    ("scaler", "message"),
    [
        (StandardScaler(), "bounds is missing"),
        (StandardScaler(bounds=(0, 1), with_mean="yes"), "with_mean is 'yes'"),
        (MinMaxScaler(), "bounds is missing"),
        (MinMaxScaler(bounds="private"), "epsilon is 0"),
        (MinMaxScaler(bounds=(0, 1), feature_range=(1, 0)), "smaller number first"),
        (MinMaxScaler(bounds=(0, 1), clip=1), "clip is 1"),
    ],
)
def test_wrong_parameters_are_refused(scaler, message):
    with pytest.raises(ParameterError, match=message):
        scaler.fit(data(5))
