"""Principal components of a noisy matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn import decomposition

from letalone.errors import ParameterError
from letalone.learn.noisy_sums.components import PCA
from letalone.learn.noisy_sums.second_moments import (
    exact_sums,
    release_sums,
    second_moment_measures,
)
from letalone.learn.noisy_sums.sums import noisy_sums
from letalone.learn.noisy_sums.wholes import within_norm
from neighbours_of_learners import assert_within, rows_of, triangle_within
from seeded import SeededBits
from stages import pick


def data(rows=4000, seed=0):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(rows, 4)) * [3, 1.5, 0.4, 0.2] + [1, 0, -1, 0]


def fitted(estimator, rows, seed=0):
    estimator._bits = SeededBits(seed)
    return estimator.fit(rows)


@given(rows=rows_of(3))
def test_a_row_moves_every_sum_by_no_more_than_its_measure_says(rows):
    places, nothing = within_norm(rows, 2), np.zeros((len(rows), 1))
    measures = {one.name: one for one in second_moment_measures(3, centred=True, targets=False)}
    whole, without = exact_sums(places, nothing), exact_sums(places[1:], nothing[1:])
    triangle_within(whole["products"] - without["products"], measures["products"])
    assert_within(whole["sums"] - without["sums"], measures["sums"])
    assert_within(whole["rows"] - without["rows"], measures["rows"])


def test_only_what_has_a_measure_is_released():
    """Σ x, Σ x·y and Σ y are not looked at where they were not paid for."""
    noise = noisy_sums(second_moment_measures(3, centred=False, targets=False), epsilon=1, delta=0)
    exact = exact_sums(np.ones((5, 3)), np.ones((5, 1)))
    found = release_sums(noise, exact, SeededBits(0))
    assert (found.sums.size, found.targets.size) == (0, 0)
    assert np.isnan(found.target)


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("center", ["private", [1, 0, -1, 0]])
def test_with_much_epsilon_components_are_the_true_ones(delta, center):
    found = fitted(PCA(2, 1e5, delta, data_norm=20, center=center), data())
    exact = decomposition.PCA(2).fit(data())
    assert np.abs(np.sum(found.components_ * exact.components_, axis=1)) == pytest.approx(
        1, abs=1e-3
    )
    assert found.explained_variance_ == pytest.approx(exact.explained_variance_, rel=0.01)
    ratio = exact.explained_variance_ratio_
    assert found.explained_variance_ratio_ == pytest.approx(ratio, rel=0.01)


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("norm", [8, "private"])
def test_with_epsilon_one_the_first_components_keep_the_variance(delta, norm):
    found = fitted(PCA(2, 1, delta, data_norm=norm), data())
    away = data(seed=1) - data(seed=1).mean(axis=0)
    kept = np.var(away @ found.components_.T, axis=0).sum() / np.var(away, axis=0).sum()
    assert kept > 0.97
    assert found.privacy_.delta(1) <= delta


def test_the_mean_and_the_diagonal_are_noisy():
    """A rival publishes the exact mean. Two fits of the same rows must differ in both."""
    one, other = (fitted(PCA(4, 1, 1e-6, data_norm=8), data(50), seed=seed) for seed in (0, 1))
    assert np.all(one.mean_ != other.mean_)
    noise = noisy_sums(
        second_moment_measures(4, centred=True, targets=False), epsilon=1, delta=1e-6
    )
    exact = exact_sums(within_norm(data(50), 8), np.zeros((50, 1)))
    first, second = (release_sums(noise, exact, SeededBits(seed)).products for seed in (0, 1))
    assert np.all(first != second)
    assert np.array_equal(first, first.T)


def test_nothing_else_becomes_an_attribute():
    found = fitted(PCA(2, 1, data_norm=8), data(50))
    learned = {name for name in vars(found) if name.endswith("_") and not name.startswith("_")}
    assert learned == {
        "components_", "mean_", "explained_variance_", "explained_variance_ratio_",
        "n_components_", "n_features_in_", "privacy_", "release_",
    }  # fmt: skip


def test_rows_come_back_from_all_components_and_names_go_out():
    found = fitted(PCA(None, 1, data_norm=8), data(50)).set_output(transform="pandas")
    there = found.transform(data(50))
    assert list(there.columns) == ["pca0", "pca1", "pca2", "pca3"]
    assert found.inverse_transform(there) == pytest.approx(data(50))
    with_nan = np.array([[np.nan] * 4])
    assert np.all(found.transform(with_nan) == 0)


@settings(max_examples=pick(12, 40))
@given(rows=rows_of(2))
def test_any_values_are_learned_from(rows):
    found = fitted(PCA(2, 1, data_norm="private"), rows)
    assert np.all(np.isfinite(found.components_))
    assert np.all(np.isfinite(found.mean_))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_components": 5}, "there are 4 features"),
        ({"n_components": 0}, "n_components is 0"),
        ({"center": "mean"}, "center is 'mean'"),
        ({"center": [1, 2]}, "one for each of the 4 features"),
        ({"data_norm": None}, "data_norm is missing"),
    ],
)
def test_wrong_parameters_are_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        PCA(**{"data_norm": 1, **wrong}).fit(data(5))
