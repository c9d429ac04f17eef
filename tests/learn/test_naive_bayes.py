"""Naive Bayes and moments: sensitivity, accuracy, labels that are no class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import naive_bayes

from letalone.errors import ParameterError
from letalone.learn.features.classes import indicator
from letalone.learn.features.column_bounds import read_bounds
from letalone.learn.noisy_sums.group_moments import exact_moments, moment_noise, released_moments
from letalone.learn.noisy_sums.naive_bayes import GaussianNB
from neighbours_of_learners import NUMBERS, assert_within, rows_of
from seeded import SeededBits
from stages import pick

DECLARED = {"bounds": (-5, 6), "classes": ["a", "b", "c"]}
MEANS = np.array([[0, 0, 0], [2, 1, 0], [-1, 2, 2]])


def data(rows=4000, seed=0):
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 3, rows)
    return MEANS[codes] + 0.7 * generator.normal(size=(rows, 3)), np.array(list("abc"))[codes]


def fitted(estimator, *given, seed=0):
    estimator._bits = SeededBits(seed)
    return estimator.fit(*given)


@given(rows=rows_of(3), codes=st.lists(st.integers(-1, 2), min_size=5, max_size=5))
def test_a_row_moves_all_moments_by_no_more_than_the_measures_say(rows, codes):
    """A code of −1 is no class. All neighbours by one row."""
    groups = (np.array(codes)[: len(rows), np.newaxis] == np.arange(3)) * 1.0
    bounds = {"lower": np.array([-1.0, 0, 0]), "upper": np.array([1.0, 1, 2])}
    measures = moment_noise(read_bounds((0, 1), 3), epsilon=1, delta=0).measures
    whole = exact_moments(rows, groups, **bounds)
    for left in range(len(rows)):
        kept = np.arange(len(rows)) != left
        without = exact_moments(rows[kept], groups[kept], **bounds)
        for with_it, without_it, measure in zip(whole, without, measures, strict=True):
            assert_within(with_it - without_it, measure)


def test_a_row_at_the_bounds_moves_moments_by_what_is_claimed():
    measures = moment_noise(read_bounds((0, 1), 4), epsilon=1, delta=0).measures
    ends = {"lower": np.zeros(4), "upper": np.ones(4)}
    moved = exact_moments(np.ones((1, 4)), np.ones((1, 1)), **ends)
    assert [int(np.sum(one)) for one in moved] == [one.l1 for one in measures]


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_with_much_epsilon_moments_are_the_true_ones(delta):
    features, labels = data()
    found = fitted(GaussianNB(1e5, delta, **DECLARED), features, labels)
    exact = naive_bayes.GaussianNB().fit(features, labels)
    assert found.theta_ == pytest.approx(exact.theta_, abs=0.01)
    assert found.var_ == pytest.approx(exact.var_, abs=0.01)
    assert found.class_prior_ == pytest.approx(exact.class_prior_, abs=0.01)
    test = data(1000, seed=1)
    assert found.predict_proba(test[0]) == pytest.approx(exact.predict_proba(test[0]), abs=0.05)


@pytest.mark.parametrize("epsilon", [0.3, 2])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_it_predicts_about_as_well_as_without_noise(epsilon, delta):
    exact = naive_bayes.GaussianNB().fit(*data()).score(*data(seed=1))
    declared = fitted(GaussianNB(epsilon, delta, **DECLARED), *data())
    assert declared.score(*data(seed=1)) > exact - 0.05
    bought = GaussianNB(3 * epsilon, delta, bounds="private", classes=["a", "b", "c"])
    assert fitted(bought, *data()).score(*data(seed=1)) > exact - 0.05
    assert bought.privacy_.delta(3 * epsilon) <= delta


def test_counts_are_noisy():
    """Exact counts of classes would tell whether a person is among them."""
    fits = [fitted(GaussianNB(1, **DECLARED), *data(30), seed=seed) for seed in range(3)]
    counts = {tuple(one.class_count_) for one in fits}
    assert len(counts) == 3


def test_rows_of_other_classes_are_dropped_and_change_nothing():
    features, labels = data(100)
    odd = np.array([*labels, None, "d", 3, float("nan"), ["a"]], object)
    more = np.vstack([features, np.full((5, 3), 6.0)])
    one = fitted(GaussianNB(1, **DECLARED), features, labels)
    other = fitted(GaussianNB(1, **DECLARED), more, odd)
    assert np.array_equal(one.theta_, other.theta_)
    assert np.array_equal(one.class_count_, other.class_count_)


def test_labels_are_looked_up_one_by_one():
    labels = np.array([1, 1.0, True, "1", None, (1,), [1], np.int64(2)], object)
    assert indicator(labels, np.array([1, 2])).tolist() == [
        [1, 0], [1, 0], [1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 1],
    ]  # fmt: skip


@settings(max_examples=pick(12, 40))
@given(rows=rows_of(2), label=st.one_of(NUMBERS, st.text(), st.none()))
def test_any_values_are_learned_from(rows, label):
    labels = np.full(len(rows), label, object)
    found = fitted(GaussianNB(1, bounds=(0, 1), classes=[0, 1]), rows, labels)
    assert np.all(found.var_ > 0)
    chances = found.predict_proba(rows)
    assert np.sum(chances, axis=1) == pytest.approx(1)


def test_a_feature_that_is_missing_speaks_for_no_class():
    found = fitted(GaussianNB(10, **DECLARED), *data())
    unknown = found.predict_proba([[np.nan, np.nan, np.nan]])
    assert unknown[0] == pytest.approx(found.class_prior_)


def test_an_empty_group_has_moments():
    noise = moment_noise(read_bounds((0, 1), 2), epsilon=0.1, delta=0)
    ends = {"lower": np.zeros(2), "upper": np.ones(2)}
    exact = exact_moments(np.zeros((0, 2)), np.zeros((0, 3)), **ends)
    moments = released_moments(noise, exact, SeededBits(0))
    assert np.all((moments.variances > 0) & (moments.variances <= 1))
    assert np.all(np.abs(moments.means) <= 1)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (None, "classes is missing"),
        ([1], "at least two different"),
        ([1, 1], "at least two different"),
        ([1, None], "must be text"),
        ([1, "a"], "of one kind"),
        ([2**53, 1], "2\\^53"),
        ("private", "a list of labels"),
        ({1, 2}, "must be a list"),
    ],
)
def test_wrong_classes_are_refused(classes, message):
    with pytest.raises(ParameterError, match=message):
        GaussianNB(bounds=(0, 1), classes=classes).fit(*data(5))
