"""Linear classifiers: what is planned, published and refused."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import letalone as la
from letalone.errors import ParameterError
from letalone.learn.convex.classifier_plan import ClassPurchase, as_classes, read_label
from letalone.learn.convex.linear import LinearSVC, LogisticRegression
from letalone.privacy import ADD_REMOVE
from seeded import SeededBits


def clouds(count=600, classes=2, seed=1):
    """Points of norm below 1 around the corners of a polygon."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, classes, size=count)
    angles = 2 * np.pi * labels / classes
    centres = 0.7 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return centres + generator.normal(size=(count, 2)) * 0.1, labels


def fit(estimator, rows, labels, seed=4):
    estimator._bits = SeededBits(seed)
    return estimator.fit(rows, labels)


METHODS = [
    ("objective", 0),
    ("objective", 1e-6),
    ("output", 0),
    ("output", 1e-6),
    ("gradient", 1e-6),
]


@pytest.mark.parametrize(("method", "delta"), METHODS)
@pytest.mark.parametrize("classes", [2, 3])
def test_every_method_learns_what_is_plain(method, delta, classes):
    rows, labels = clouds(classes=classes)
    names = np.array(["ash", "birch", "cedar"])[:classes]
    model = LogisticRegression(8, delta, data_norm=1, classes=list(names), method=method, rows=600)
    fit(model, rows, names[labels])
    assert model.score(rows, names[labels]) > 0.9
    assert model.coef_.shape == ((1, 2) if classes == 2 else (3, 2))
    assert np.allclose(model.predict_proba(rows).sum(axis=1), 1)
    assert model.privacy_.delta(8) <= delta
    assert model.privacy_.neighbours == ADD_REMOVE
    assert hasattr(model, "coef_error_") == (method == "output")


def test_a_smoothed_hinge_learns_too():
    rows, labels = clouds()
    model = fit(LinearSVC(8, 1e-6, data_norm=1, classes=[0, 1]), rows, labels)
    assert model.score(rows, labels) > 0.95
    assert not hasattr(model, "predict_proba")
    with pytest.raises(ParameterError, match="LinearSVC was given 3 classes"):
        LinearSVC(8, data_norm=1, classes=[0, 1, 2]).fit(rows, labels)


def test_units_do_not_matter():
    """Rows and norm a thousand times larger: the same scores, from the same noise."""
    rows, labels = clouds()
    one = fit(LogisticRegression(1, 1e-6, data_norm=1, classes=[0, 1]), rows, labels)
    other = fit(LogisticRegression(1, 1e-6, data_norm=1024, classes=[0, 1]), rows * 1024, labels)
    assert np.allclose(one.decision_function(rows), other.decision_function(rows * 1024))


@pytest.mark.parametrize(("method", "delta"), METHODS)
def test_no_plan_depends_on_data(method, delta):
    """The same words, price and plan for rows of any kind and number, none included."""
    plans = set()
    for rows in (np.zeros((1, 2)), np.full((7, 2), np.nan), clouds()[0]):
        model = LogisticRegression(1, delta, data_norm=1, classes=[0, 1], method=method)
        fit(model, rows, np.zeros(len(rows)))
        plans.add((repr(model.release_), repr(model.privacy_), repr(model._plan(2).described())))
    assert len(plans) == 1


def test_rows_without_a_class_are_left_out_and_odd_cells_count_as_zero():
    rows, labels = clouds(100)
    odd = np.concatenate([rows, rows[:5]])
    marked = np.empty(105, dtype=object)
    marked[:100], marked[100:104], marked[104] = labels, ["x", None, np.nan, 7], ("a", "tuple")
    model = LogisticRegression(1, 1e-6, data_norm=1, classes=[0, 1])
    assert np.array_equal(fit(clone(model), odd, marked).coef_, fit(model, rows, labels).coef_)
    holes, zeros = rows.copy(), rows.copy()
    holes[3], zeros[3] = (np.nan, np.inf), 0
    assert np.array_equal(
        fit(clone(model), holes, labels).coef_, fit(clone(model), zeros, labels).coef_
    )


def test_rows_are_clipped_to_the_norm_one_by_one():
    rows, labels = clouds(50)
    far = rows.copy()
    far[0] *= 1e200
    model = LogisticRegression(1, 1e-6, data_norm=1, classes=[0, 1])
    apart = fit(clone(model), far, labels).coef_ - fit(model, rows, labels).coef_
    assert np.linalg.norm(apart) < 2


def test_only_released_values_are_attributes():
    rows, labels = clouds(50)
    model = fit(LogisticRegression(1, data_norm=1, classes=[0, 1]), rows, labels)
    public = {name for name in vars(model) if name.endswith("_")}
    named = {"coef_", "intercept_", "classes_", "data_norm_", "n_features_in_"}
    assert public == named | {"privacy_", "release_"}


def test_classes_and_norm_can_be_bought():
    rows, labels = clouds(3000, 3)
    model = LogisticRegression(2, 1e-5, data_norm="private", classes="private")
    fit(model, rows * 50, np.array([10, 20, 30])[labels])
    assert model.classes_.tolist() == [10, 20, 30]
    assert 25 <= model.data_norm_ <= 100
    assert model.score(rows * 50, np.array([10, 20, 30])[labels]) > 0.9
    assert model.privacy_ == la.ApproxDP(2, 1e-5, neighbours=ADD_REMOVE)
    assert "found" in repr(model.release_)


def test_where_no_class_is_found_a_fit_still_succeeds():
    model = LogisticRegression(1, 1e-6, data_norm=1, classes="private")
    fit(model, np.zeros((3, 2)), np.array(["a", "b", "c"]))
    assert len(model.classes_) == 0
    with pytest.raises(ParameterError, match="No label was frequent enough"):
        model.predict(np.zeros((1, 2)))
    fit(model, np.zeros((900, 2)), np.array(["a"] * 900))
    assert model.predict(np.zeros((2, 2))).tolist() == ["a", "a"]
    assert model.predict_proba(np.zeros((2, 2))).tolist() == [[1.0], [1.0]]


def test_a_label_of_one_row_is_published_with_probability_at_most_delta():
    """P[noise >= threshold - 1] by exact sums; a threshold smaller by one breaks the promise."""
    for epsilon, delta in ((0.1, 1e-6), (1.0, 1e-4), (3.0, 0.01)):
        threshold = ClassPurchase(Fraction(str(epsilon)), Fraction(str(delta))).threshold
        decay = np.exp(-epsilon)
        assert decay ** (threshold - 1) / (1 + decay) <= delta
        assert decay ** (threshold - 2) / (1 + decay) > delta or threshold == 2


def test_labels_of_any_kind_are_read_or_left_out():
    odd = [None, float("nan"), float("inf"), (1,), object(), 2.5, True, np.int64(4), "x", 10**400]
    read = [read_label(cell) for cell in odd]
    assert read == [None, None, None, None, None, 2.5, 1, 4, "x", 10**400] or read[-1] is None
    purchase = ClassPurchase(Fraction(1), Fraction(1, 100))
    labels = np.array([*odd, *["x"] * 50, *[2.5] * 50], dtype=object)
    assert as_classes(purchase.choose(labels, SeededBits(1))).tolist() == [2.5, "x"]


REFUSED = [
    ({"method": "magic"}, "method is 'magic'"),
    ({"data_norm": None}, "data_norm is missing"),
    ({"data_norm": -1}, "data_norm is -1"),
    ({"classes": None}, "classes is missing"),
    ({"classes": [1]}, "at least two different labels"),
    ({"classes": "private"}, "delta is 0, but classes='private'"),
    ({"classes": "auto"}, "classes is 'auto'"),
    ({"epsilon": 0}, "epsilon is 0"),
    ({"delta": 1}, "delta is 1"),
    ({"method": "gradient"}, "delta is 0, but method='gradient'"),
    ({"regularization": -1}, "regularization is -1"),
    ({"regularization": 0.001, "method": "objective"}, "must be at least"),
    ({"intercept_scale": 2}, "intercept_scale is 2"),
    ({"epsilon": 1e-9}, "epsilon is 1e-09"),
    ({"rows": 0}, "rows is 0"),
    ({"fit_intercept": "no"}, "fit_intercept is 'no'"),
    ({"classes": "private", "delta": 1e-6, "regularization": 9}, "cannot be given with classes"),
]


@pytest.mark.parametrize(("given", "words"), REFUSED)
def test_a_mistake_is_told_when_it_is_fitted_and_nothing_is_spent(given, words):
    account = la.learn.Account(la.Budget(10, 1e-3))
    usual = {"epsilon": 1, "data_norm": 1, "classes": [0, 1], "budget": account}
    model = LogisticRegression(**(usual | given))
    with pytest.raises(ParameterError, match=words):
        model.fit(*clouds(10))
    assert account.fits == 0


def test_auto_says_which_method_and_why():
    rows, labels = clouds(20)

    def said(**given):
        model = LogisticRegression(1, data_norm=1, classes=[0, 1], **given)
        return repr(fit(model, rows, labels).release_)

    assert "objective perturbation" in said()
    assert "default choice" in said()
    assert "gradient perturbation" in said(delta=1e-6, regularization=0.01)
    assert "output perturbation" in said(regularization=0.01)
    assert "too weak" in said(regularization=0.01)
    assert "gradient perturbation" in said(delta=1e-6, rows=20)
    assert "a ten-thousandth of the declared rows" in said(delta=1e-6, rows=20)


OBJECTIVE = [
    {"delta": 0, "rows": 20},
    {"delta": 1e-6},
    {"delta": 1e-6, "rows": 10**5},
    {"delta": 1e-6, "rows": 20, "regularization": 9},
    {"delta": 1e-6, "rows": 20, "classes": [0, 1, 2]},
]


@pytest.mark.parametrize("given", OBJECTIVE)
def test_auto_takes_gradients_only_where_they_were_seen_to_be_better(given):
    """Two classes, a delta, a free regularisation, and rows declared to be few beside the noise."""
    model = LogisticRegression(**({"epsilon": 1, "data_norm": 1, "classes": [0, 1]} | given))
    assert "objective perturbation" in model._plan(2).words[0]


def test_auto_for_declared_rows_is_the_same_whatever_the_data():
    plans = set()
    for rows in (np.zeros((1, 2)), np.full((7, 2), np.nan), clouds(900)[0]):
        model = LogisticRegression(0.5, 1e-6, data_norm=1, classes=[0, 1], rows=500)
        fit(model, rows, np.zeros(len(rows)))
        plans.add((repr(model.release_), repr(model.privacy_), repr(model._plan(2).described())))
    assert len(plans) == 1
    assert "gradient perturbation" in plans.pop()[0]


@pytest.mark.parametrize(
    ("epsilon", "method"), [(0.1, "gradient"), (8, "gradient"), (30, "objective")]
)
def test_auto_on_a_table_like_adult_is_what_cross_validation_chose(epsilon, method):
    model = LogisticRegression(epsilon, 1e-5, data_norm=4, classes=[0, 1], rows=32_561)
    assert model._plan(107).words[0].startswith(method)


def test_fits_debit_a_budget():
    account = la.learn.Account(la.Budget(1, 1e-5))
    rows, labels = clouds(20)
    model = LogisticRegression(0.4, 1e-6, data_norm=1, classes=[0, 1], budget=account)
    model.fit(rows, labels)
    clone(model).fit(rows, labels)
    assert account.fits == 2
    with pytest.raises(la.BudgetExceeded):
        clone(model).fit(rows, labels)


@pytest.mark.parametrize("loss", ["logistic", "shifted"])
def test_probabilities_are_those_of_the_data_whatever_the_loss(loss: str) -> None:
    # Two groups, a share of 80 and of 30 per cent in the second class; ε is so large that only
    # the regularisation is left.
    rows = np.repeat([[1.0, 0.0], [0.0, 1.0]], 5_000, axis=0)
    labels = np.concatenate([np.arange(5_000) % 10 < 8, np.arange(5_000) % 10 < 3]).astype(int)
    model = LogisticRegression(
        500, 1e-6, data_norm=1, classes=[0, 1], loss=loss, regularization=0.01
    )
    found = model.fit(rows, labels).predict_proba([[1.0, 0.0], [0.0, 1.0]])
    assert np.allclose(found[:, 1], [0.8, 0.3], atol=0.01)
    assert np.allclose(found.sum(axis=1), 1)


def test_an_unknown_loss_is_refused() -> None:
    with pytest.raises(ParameterError, match="'logistic' or 'shifted'"):
        LogisticRegression(1, data_norm=1, classes=[0, 1], loss="hinge").fit([[1.0]], [1])


@pytest.mark.parametrize("label", [pd.NA, np.array([1]), 10**400, "\ud800", None, 2**60])
def test_any_label_is_fitted(label: object) -> None:
    for classes in ([0, 1], "private"):
        model = LogisticRegression(1, 1e-6, data_norm=1, classes=classes)
        assert np.all(np.isfinite(model.fit([[1.0]] * 3, [0, 1, label]).coef_))


def test_another_method_is_another_question_where_classes_are_bought() -> None:
    plans = [
        LogisticRegression(1, 1e-6, data_norm=1, classes="private", method=method)._plan(3)
        for method in ("objective", "gradient")
    ]
    assert plans[0].described() != plans[1].described()
