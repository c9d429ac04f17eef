"""Minima are verified, by bounds that exact gradients keep to."""

from fractions import Fraction

import numpy as np
import pytest

from letalone.exact.balls import with_bits
from letalone.learn.convex import minimum as module
from letalone.learn.convex.losses import Margin, Softmax
from letalone.learn.convex.minimum import Minimum, Objective, minimum, sum_products, verify_minimum

HINGE = Margin(width=Fraction(1, 2), offset=Fraction(1))
LOSSES = [Margin(), HINGE, Softmax(3)]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=str)


def objective_of(loss, rows=300, width=4, strength=0.5, seed=2, tilt=3.0):
    generator = np.random.default_rng(seed)
    cells = generator.normal(size=(rows, width))
    cells /= np.maximum(1, np.linalg.norm(cells, axis=1, keepdims=True)) * (1 + 1e-9)
    codes = generator.integers(0, max(2, loss.outputs), size=rows)
    slope = generator.normal(size=(loss.outputs, width)) * tilt
    return Objective(loss, cells, codes, strength, slope, 1.0)


def true_gradient(objective, weights):
    def compute():
        balls = objective.careful_gradient(weights, np.zeros_like(weights))
        return np.array([[float(entry.mid()) for entry in line] for line in balls])

    return with_bits(compute, 160)


@every_loss
def test_the_gradient_is_within_its_error_bound_of_the_true_one(loss):
    """Weights of many sizes; the bound is not a thousand times the error of random roundings."""
    objective = objective_of(loss)
    generator = np.random.default_rng(4)
    for size in (0.0, 1.0, 30.0, 1000.0):
        weights = generator.normal(size=objective.tilt.shape) * size
        missed = np.linalg.norm(objective.gradient(weights) - true_gradient(objective, weights))
        assert missed <= objective.error(weights)
    assert objective.error(np.zeros_like(objective.tilt)) < 1e-10


@every_loss
def test_the_minimum_is_within_the_tolerance(loss):
    objective = objective_of(loss)
    found = minimum(objective, 1e-9)
    assert found.slope <= 1e-9
    assert np.linalg.norm(true_gradient(objective, found.weights)) <= 1e-9


@every_loss
def test_many_weights_are_solved_for_by_conjugate_gradients(loss, monkeypatch):
    objective = objective_of(loss)
    direct = minimum(objective, 1e-9).weights
    monkeypatch.setattr(module, "MOST_SOLVED", 0)
    assert np.linalg.norm(minimum(objective, 1e-9).weights - direct) <= 2e-9 / objective.strength


def test_a_solver_that_stops_early_is_not_believed(monkeypatch):
    objective = objective_of(Margin(), rows=40)
    monkeypatch.setattr(module, "_newton", lambda problem, _: np.full_like(problem.tilt, 0.2))
    found = minimum(objective, 1e-9)
    assert np.linalg.norm(true_gradient(objective, found.weights)) <= 1e-8
    far = verify_minimum(objective, np.full_like(objective.tilt, 0.2))
    assert far.slope >= np.linalg.norm(true_gradient(objective, far.weights))
    assert far.slope > 1e-9


@every_loss
def test_where_doubles_cannot_show_it_balls_do(loss):
    """A tolerance below the roundings of doubles, and still above that of the weights."""
    objective = objective_of(loss, rows=40)
    best = verify_minimum(objective, minimum(objective, 1e-9).weights)
    tolerance = 2e-15
    assert best.slope > tolerance
    found = minimum(objective, tolerance)
    assert isinstance(found, Minimum)
    assert found.slope <= tolerance


@pytest.mark.parametrize("rows", [0, 1, 255, 256, 257, 1000, 3 * 256, 5 * 256 + 7])
def test_sums_in_blocks_are_the_sums(rows):
    generator = np.random.default_rng(rows)
    slopes, cells = generator.normal(size=(rows, 2)), generator.normal(size=(rows, 3))
    assert np.allclose(sum_products(slopes, cells), slopes.T @ cells, atol=1e-10)


def test_no_rows_and_extreme_tilts_have_a_minimum():
    for tilt in (0.0, 1e6):
        objective = objective_of(Margin(), rows=0, tilt=tilt)
        found = minimum(objective, 1e-6)
        assert np.allclose(found.weights, -objective.tilt / objective.strength, atol=1e-5)
    for loss in LOSSES:
        assert minimum(objective_of(loss, tilt=1e5, strength=1e-3), 1e-5).slope <= 1e-5
