"""Claims L1 to L4: an exact minimum is not private, and how fast the excess error falls."""

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression as Plain

from letalone.learn import LogisticRegression
from seeded import SeededBits

FEATURES, FEW, MANY, FITS = 4, 500, 4_000, 6


def drawn(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in the unit ball, labels from a logistic model."""
    generator = np.random.default_rng(seed)
    points = generator.normal(size=(rows, FEATURES))
    points /= np.maximum(1, np.linalg.norm(points, axis=1, keepdims=True))
    chance = 1 / (1 + np.exp(-points @ np.array([3.0, -2.0, 1.0, 0.0])))
    return points, (generator.random(rows) < chance).astype(int)


def loss(weights: np.ndarray, points: np.ndarray, labels: np.ndarray) -> float:
    signs = 2 * labels - 1
    return float(np.mean(np.logaddexp(0, -signs * (points @ weights))))


def excess(method: str, rows: int) -> float:
    """The mean loss of private models over the rows they saw, less the least there is."""
    found = []
    for seed in range(FITS):
        points, labels = drawn(rows, seed)
        least = minimize(loss, np.zeros(FEATURES), args=(points, labels)).fun
        model = LogisticRegression(
            2, 1e-6, data_norm=1, classes=[0, 1], method=method, loss="logistic",
            fit_intercept=False, rows=rows,
        )  # fmt: skip
        model._bits = SeededBits(seed)
        found.append(loss(model.fit(points, labels).coef_[0], points, labels) - least)
    return float(np.mean(found))


def test_l1_the_exact_minimum_tells_who_is_in_the_data() -> None:
    points, labels = drawn(200, 1)
    with_all = Plain(C=1.0, tol=1e-10, max_iter=1000).fit(points, labels).coef_
    without = Plain(C=1.0, tol=1e-10, max_iter=1000).fit(points[1:], labels[1:]).coef_
    # Both are functions of the rows alone: one look at ten digits tells with certainty.
    assert np.max(np.abs(with_all - without)) > 1e-4
    again = Plain(C=1.0, tol=1e-10, max_iter=1000).fit(points, labels).coef_
    assert np.array_equal(with_all, again)


def falls(method: str, power: float) -> bool:
    """Whether eight times the rows make the excess error at most 8^-power of what it was.

    Seeded. The wrong alternative, an error that does not fall at all, has a ratio of 1.
    """
    return 0 < excess(method, MANY) / excess(method, FEW) <= 8**-power


def test_l2_the_excess_error_of_outputs_falls_with_rows_as_stated() -> None:
    assert falls("output", 1 / 2)


def test_l3_the_excess_error_of_objectives_falls_with_rows_as_stated() -> None:
    assert falls("objective", 1 / 2)


def test_l4_the_excess_error_of_gradients_falls_with_rows_as_stated() -> None:
    assert falls("gradient", 1)


def test_l3_objective_perturbation_is_the_best_of_the_three_here() -> None:
    found = {method: excess(method, MANY) for method in ("output", "objective", "gradient")}
    assert found["objective"] < found["output"]
    assert found["objective"] < 2 * found["gradient"]
