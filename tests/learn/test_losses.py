"""The constants of the losses, by brute force over rows, weights and noise."""

from fractions import Fraction

import numpy as np
import pytest

from learn.loss_values import value
from letalone.learn.convex.losses import Margin, Softmax

HINGE = Margin(width=Fraction(1, 2), offset=Fraction(1))
LOSSES = [Margin(), HINGE, Softmax(3), Softmax(5)]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=str)


def scores_of(loss, count=200, spread=4.0, seed=1):
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(count, loss.outputs)) * spread
    return scores, generator.integers(0, max(2, loss.outputs), size=count)


@every_loss
def test_slopes_are_the_derivatives_of_the_loss_and_curved_those_of_slopes(loss):
    scores, codes = scores_of(loss)
    for output in range(loss.outputs):
        step = np.zeros(loss.outputs)
        step[output] = 1e-5
        rise = value(loss, scores + step, codes) - value(loss, scores - step, codes)
        assert np.allclose(rise / 2e-5, loss.slopes(scores, codes)[:, output], atol=1e-8)
        turn = loss.slopes(scores + step, codes) - loss.slopes(scores - step, codes)
        assert np.allclose(turn / 2e-5, loss.curved(scores, codes)[:, :, output], atol=1e-8)


@every_loss
def test_the_constants_bound_what_they_say_and_are_reached(loss):
    scores, codes = scores_of(loss, count=4000, spread=6.0)
    if isinstance(loss, Margin):
        scores = np.concatenate([scores, np.linspace(-40, 40, 4001)[:, None]])
    else:
        nearly = np.full((2, loss.outputs), -50.0)
        nearly[0, 0], nearly[1, :2] = 50.0, 0.0
        scores = np.concatenate([scores, nearly])
    codes = np.concatenate([codes, np.ones(len(scores) - len(codes), np.int64)])
    squares = (loss.slopes(scores, codes) ** 2).sum(axis=1)
    assert squares.max() <= float(loss.reach_squared) * (1 + 1e-12)
    assert squares.max() >= float(loss.reach_squared) * 0.999
    bends = np.linalg.eigvalsh(loss.curved(scores, codes))
    assert bends.max() <= float(loss.bend) * (1 + 1e-12)
    assert bends.max() >= float(loss.bend) * 0.99
    assert bends.min() >= -1e-12


@every_loss
def test_slopes_lie_in_the_hull_of_zero_and_the_vertices(loss):
    scores, codes = scores_of(loss, count=4000)
    slopes = loss.slopes(scores, codes)
    if isinstance(loss, Margin):
        shares = -(2 * codes - 1) * slopes[:, 0]
        assert shares.min() >= 0
        assert shares.max() <= 1
        return
    others = slopes.copy()
    others[np.arange(len(codes)), codes] = 0
    assert others.min() >= 0
    assert others.sum(axis=1).max() <= 1 + 1e-12
    assert loss.vertices == loss.outputs - 1


def all_scores(loss):
    """Scores whose probabilities cover the simplex, edges and corners included."""
    if isinstance(loss, Margin):
        return np.linspace(-60, 60, 20_001)[:, None]
    generator = np.random.default_rng(5)
    shares = [generator.dirichlet(np.full(loss.outputs, a), 4000) for a in (0.05, 0.3, 1.0)]
    return np.log(np.concatenate([*shares, np.eye(loss.outputs)]) + 1e-200)


def largest_loss(loss, noise, mu, rate):
    """The largest privacy loss over all weights: R²/λ = rate, b = noise · σ, the last class."""
    nu = mu / np.sqrt(float(loss.reach_squared))
    scores = all_scores(loss)
    codes = np.full(len(scores), max(1, loss.outputs - 1))
    slopes, curved = loss.slopes(scores, codes), loss.curved(scores, codes)
    change = np.linalg.slogdet(np.eye(loss.outputs) + rate * curved)[1]
    return np.max(change + nu * (slopes @ noise) + nu**2 * (slopes**2).sum(axis=1) / 2)


def largest_vertex(loss, noise, mu):
    """The largest Z_j."""
    nu = mu / np.sqrt(float(loss.reach_squared))
    if isinstance(loss, Margin):
        return -noise[0] * nu + nu**2 / 2
    return np.max(noise[:-1] - noise[-1]) * nu + nu**2


@pytest.mark.long
@every_loss
@pytest.mark.parametrize("rate", [0.05, 0.3, 2.0])
def test_no_loss_exceeds_the_floor_or_the_largest_shifted_vertex(loss, rate):
    generator = np.random.default_rng(7)
    curvature = rate * float(loss.curvature)
    floor, shift = (curvature * float(s) for s in (loss.floor_share, loss.shift_share))
    gaps = []
    for scale in (0.5, 2.0, 5.0) * 8:
        noise = generator.normal(size=loss.outputs) * scale
        bound = max(floor, shift + largest_vertex(loss, noise, 0.6))
        gaps.append(bound - largest_loss(loss, noise, 0.6, rate))
    assert min(gaps) >= -1e-9
    assert min(gaps) <= shift + 1e-6, "the bound is far from every loss"


def test_the_bound_without_the_curvature_would_be_exceeded():
    """Power: a floor of zero is refuted by the same search, and so is a softmax without shift."""
    noise = np.array([0.3])
    assert largest_loss(Margin(), noise, 0.6, 2.0) > 0.1 + max(
        0, largest_vertex(Margin(), noise, 0.6)
    )
    tied = np.array([9.0, 9.0, 0.0])
    vertex = largest_vertex(Softmax(3), tied, 0.6)
    assert largest_loss(Softmax(3), tied, 0.6, 2.0) > vertex + 0.1
    assert vertex > 3


@every_loss
def test_slopes_in_balls_are_those_in_doubles(loss):
    from letalone.exact.balls import ball

    scores, codes = scores_of(loss, count=5)
    for row, code, slopes in zip(scores, codes, loss.slopes(scores, codes), strict=True):
        balls = loss.careful_slopes([ball(Fraction(x)) for x in row], int(code))
        assert np.allclose([float(b.mid()) for b in balls], slopes, rtol=0, atol=1e-15)


def test_the_smooth_hinge_is_near_the_hinge():
    scores = np.linspace(-5, 5, 101)[:, None]
    gap = value(HINGE, scores, np.ones(101, np.int64)) - np.maximum(0, 1 - scores[:, 0])
    assert gap.min() > 0
    assert gap.max() <= 0.5 * np.log(2) + 1e-12
