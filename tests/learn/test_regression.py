"""Linear regression from noisy sums: sensitivity, accuracy, errors, manners."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn import linear_model

from letalone.errors import ParameterError
from letalone.learn import Account
from letalone.learn.noisy_sums.linear_regression import LinearRegression, Ridge
from letalone.learn.noisy_sums.second_moments import exact_sums, second_moment_measures
from letalone.learn.noisy_sums.wholes import within_bounds, within_norm
from letalone.privacy import Budget
from neighbours_of_learners import NUMBERS, assert_within, rows_of, triangle_within
from seeded import SeededBits
from stages import pick

DECLARED = {"data_norm": 4, "target_bounds": (-10, 30), "method": "statistics"}


def data(rows=3000, *, width=3, seed=0):
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(rows, width)) + 0.5
    weights = np.arange(1.0, width + 1)
    return features, features @ weights + 5 + 0.1 * generator.normal(size=rows)


def fitted(estimator, *given, seed=0):
    estimator._bits = SeededBits(seed)
    return estimator.fit(*given)


@given(rows=rows_of(4))
def test_a_row_moves_every_sum_by_no_more_than_its_measure_says(rows):
    """The last column is the target. All add/remove neighbours by one row, hostile ones among."""
    places = within_norm(rows[:, :3], 1)
    targets = within_bounds(rows[:, 3:], np.array([-1.0]), np.array([2.0]))
    measures = {one.name: one for one in second_moment_measures(3, centred=True, targets=True)}
    for left in range(len(rows)):
        kept = np.arange(len(rows)) != left
        without = exact_sums(places[kept], targets[kept])
        for name, sums in exact_sums(places, targets).items():
            check = triangle_within if name == "products" else assert_within
            check(sums - without[name], measures[name])


def test_the_claimed_sensitivities_are_reached():
    """Rows along an axis, along a diagonal, and all targets at their end; so none is loose."""
    measures = {one.name: one for one in second_moment_measures(4, centred=True, targets=True)}
    full = np.full((1, 1), 2.0**17)
    axis = exact_sums(np.array([[2.0**17, 0, 0, 0]]), full)
    even = exact_sums(np.full((1, 4), 2.0**16), full)
    assert float(axis["products"][0, 0]) > 0.999999 * float(measures["products"].l2)
    assert np.sum(np.triu(even["products"])) == measures["products"].l1
    assert np.sum(even["products with targets"]) == measures["products with targets"].l1
    assert np.sum(even["sums"]) == measures["sums"].l1


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("intercept", [True, False])
def test_with_much_epsilon_it_is_least_squares(delta, intercept):
    features, targets = data()
    found = fitted(
        LinearRegression(1e5, delta, **DECLARED, fit_intercept=intercept), features, targets
    )
    clipped = features * np.minimum(1, 4 / np.linalg.norm(features, axis=1))[:, np.newaxis]
    exact = linear_model.LinearRegression(fit_intercept=intercept).fit(clipped, targets)
    assert found.coef_ == pytest.approx(exact.coef_, abs=0.01)
    assert found.intercept_ == pytest.approx(exact.intercept_, abs=0.01)


def test_with_epsilon_one_it_predicts():
    features, targets = data(5000)
    inside = {"data_norm": 6, "target_bounds": (-15, 35), "method": "statistics"}
    assert fitted(LinearRegression(1, 1e-6, **inside), features, targets).score(*data()) > 0.95
    bought = LinearRegression(2, 1e-6, data_norm="private", target_bounds="private", rows=10**9)
    assert fitted(bought, features, targets).score(*data()) > 0.9
    assert bought.privacy_.delta(2) <= 1e-6


@pytest.mark.few("1e-06")
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_standard_errors_are_the_spread_of_repeated_fits(delta):
    """100 fits: a deviation is known to 7 %, so a right one is off by 35 % once in 10^5."""
    features, targets = data(1000)
    line = LinearRegression(8, delta, **DECLARED)
    fits = [_numbers(fitted(line, features, targets, seed=seed)) for seed in range(100)]
    spread = np.std([values for values, _ in fits], axis=0)
    said = np.mean([errors for _, errors in fits], axis=0)
    assert spread == pytest.approx(said, rel=0.35)


def _numbers(line):
    return (
        np.append(line.coef_, line.intercept_),
        np.append(line.coef_error_, line.intercept_error_),
    )


def test_features_that_are_copies_of_each_other_do_not_blow_up():
    """The least eigenvalue of the noisy matrix is around 0: λ lifts it above the noise."""
    features, targets = data(2000, width=2)
    both = np.hstack([features, features])
    for seed in range(10):
        found = fitted(LinearRegression(1, 1e-6, **DECLARED), both, targets, seed=seed)
        assert found.regularization_ > 0
        assert np.max(np.abs(found.coef_)) < 10


def test_ridge_shrinks_and_says_how_much():
    features, targets = data()
    weak, strong = (
        fitted(Ridge(100, 1e-6, alpha=alpha, **DECLARED), features, targets)
        for alpha in (0, 10_000)
    )
    assert np.linalg.norm(strong.coef_) < 0.5 * np.linalg.norm(weak.coef_)
    assert strong.regularization_ == pytest.approx(10_000)
    clipped = features * np.minimum(1, 4 / np.linalg.norm(features, axis=1))[:, np.newaxis]
    exact = linear_model.Ridge(alpha=10_000).fit(clipped, targets)
    assert strong.coef_ == pytest.approx(exact.coef_, rel=0.02)


@settings(max_examples=pick(12, 40))
@given(rows=rows_of(2), target=NUMBERS)
def test_any_values_are_learned_from(rows, target):
    targets = np.full(len(rows), None, object)
    targets[0] = target
    found = fitted(LinearRegression(1, 1e-6, data_norm=1, target_bounds=(0, 1)), rows, targets)
    assert np.all(np.isfinite(found.coef_))
    assert np.all(np.isfinite(found.predict(rows)))


def test_what_is_planned_does_not_depend_on_the_data():
    many, few = (LinearRegression(1, 1e-6, **DECLARED).fit(*data(n)) for n in (500, 1))
    assert many.release_.plan == few.release_.plan
    assert many.privacy_ == few.privacy_


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"data_norm": None}, "data_norm is missing"),
        ({"target_bounds": None}, "target_bounds is missing"),
        ({"fit_intercept": "no"}, "fit_intercept is 'no'"),
        ({"alpha": -1}, "alpha is -1"),
        ({"epsilon": 0}, "epsilon is 0"),
        ({"delta": 1}, "delta is 1"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_charged(wrong, message):
    account = Account(Budget(epsilon=3))
    with pytest.raises(ParameterError, match=message):
        Ridge(**{**DECLARED, **wrong}, budget=account).fit(*data(5))
    assert account.fits == 0


def test_targets_of_text_are_refused_by_their_type_before_anything_is_charged():
    account = Account(Budget(epsilon=3))
    with pytest.raises(ParameterError, match="y must be numbers"):
        LinearRegression(**DECLARED, budget=account).fit(data(2)[0], np.array(["a", "b"]))
    assert account.fits == 0
    LinearRegression(**DECLARED, budget=account).fit(*data(2))
    assert account.fits == 1
