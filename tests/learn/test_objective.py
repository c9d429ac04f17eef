"""Objective perturbation: the claimed curve against the exact one, and the auditor."""

from dataclasses import replace
from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy.stats import norm

from letalone.audit import Verdict, audit
from letalone.errors import ParameterError
from letalone.learn.convex.losses import Margin, Softmax
from letalone.learn.convex.methods import ConvexSetting
from letalone.learn.convex.objective import ObjectiveMethod, least_strength, objective_method
from letalone.privacy import GaussianDP
from letalone.privacy.curves.perturbed import PerturbedObjective
from seeded import SeededBits

HINGE = Margin(width=Fraction(1, 2), offset=Fraction(1))
CODES = {"none": [], "like it": [1] * 3, "against": [0] * 4, "both": [0, 1, 0, 1, 0]}


def setting_of(epsilon="1", delta="1e-5", loss=None, **facts):
    facts = {"features": 1, "intercept": Fraction(0)} | facts
    return ConvexSetting(
        loss or Margin(), epsilon=Fraction(epsilon), delta=Fraction(delta), **facts
    )


def density(loss, codes, strength, sigma, grid):
    """The density of the minimum in one dimension, every row being x = 1."""
    scores = grid[:, None]
    slope, bend = strength * grid, np.full_like(grid, strength)
    for code in codes:
        each = np.full(len(grid), code)
        slope = slope + loss.slopes(scores, each)[:, 0]
        bend = bend + loss.curved(scores, each)[:, 0, 0]
    return norm.pdf(slope, scale=sigma) * bend


def exact_delta(one, other, epsilon, step):
    return float(np.maximum(0, one - exp(epsilon) * other).sum() * step)


def both_orders(loss, codes, strength, sigma, epsilon):
    reach = (12 * sigma + len(codes) + 1) / strength
    grid = np.linspace(-reach, reach, 40_001)
    with_row = density(loss, [*codes, 1], strength, sigma, grid)
    without = density(loss, codes, strength, sigma, grid)
    step = grid[1] - grid[0]
    assert abs(with_row.sum() * step - 1) < 1e-6
    return tuple(
        exact_delta(*pair, epsilon, step) for pair in ((with_row, without), (without, with_row))
    )


def claimed(loss, strength, sigma, start):
    floor = Fraction(str(float(loss.curvature) / strength))
    return PerturbedObjective(Fraction(str(sigma)) ** -2, floor=floor, start=max(start, floor))


@pytest.mark.parametrize("codes", CODES.values(), ids=CODES)
@pytest.mark.parametrize("loss", [Margin(), HINGE], ids=str)
@pytest.mark.parametrize(
    ("strength", "sigma"), [(0.5, 2.0), (2.0, 1.0), (8.0, 5.0), (1.0, 10.0), (0.1, 3.0)]
)
@pytest.mark.few("like it")
def test_the_exact_curve_is_never_above_the_claimed_one(codes, loss, strength, sigma):
    floor = float(loss.curvature) / strength
    for epsilon in (0.0, min(1.0, floor / 2), floor, floor + 0.3, floor + 1):
        curve = claimed(loss, strength, sigma, Fraction(str(floor)) + Fraction("0.3"))
        found = both_orders(loss, codes, strength, sigma, epsilon)
        assert max(found) <= curve.delta(epsilon) + 1e-9


def test_the_claimed_curve_is_near_the_exact_one():
    """The noise tilts the only row to one side or the other: nothing better can be claimed."""
    found = both_orders(Margin(), [], 1.0, 40.0, 0.02)
    gaussian = GaussianDP(Fraction(1, 40)).delta(0.02)
    assert max(found) > 0.9 * gaussian


def test_regularisation_is_needed():
    """Power: below the floor the Gaussian curve alone is exceeded."""
    found = both_orders(Margin(), [], 0.1, 3.0, 1.0)
    assert max(found) > 50 * GaussianDP(Fraction(1, 3)).delta(1.0)


def two_sided_delta(mu, shift, epsilon):
    """The bound that takes |b·v| and the determinants one by one: twice a curve, past a shift."""
    return 2 * GaussianDP(Fraction(str(mu))).delta(Fraction(str(epsilon - shift)))


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 4.0])
def test_less_noise_than_by_the_two_sided_bound(epsilon):
    """At the same strength that bound has a shift of ln(1 + 1/(4 strength)), and two sides."""
    method = objective_method(setting_of(str(epsilon)))
    mu = 1 / float(method.noise)
    shift = log(1 + 0.25 / float(method.strength))
    assert two_sided_delta(round(mu, 6), shift, epsilon) > 2e-5
    least = GaussianDP(Fraction(str(round(mu * 1.0005, 6)))).delta(epsilon)
    assert least > 1e-5, "noise is within a thousandth of the Gaussian mechanism's"


@pytest.mark.parametrize("loss", [Margin(), HINGE, Softmax(3), Softmax(10)], ids=str)
@pytest.mark.parametrize("epsilon", ["0.01", "0.7", "3", "20"])
def test_the_plan_keeps_epsilon_and_delta_and_hides_what_the_solver_misses(loss, epsilon):
    method = objective_method(setting_of(epsilon, loss=loss, features=5))
    assert method.privacy.delta(Fraction(epsilon)) <= 1e-5
    assert method.privacy.epsilon(1e-5) <= float(epsilon)
    curve = method.privacy
    assert isinstance(curve, PerturbedObjective)
    lipschitz = float(method.setting.lipschitz_squared)
    assert lipschitz / float(method.noise) ** 2 <= float(curve.mu_squared) * (1 + 1e-12)
    moved = 2 * method.tolerance / method.strength / method.rest
    assert moved**2 <= curve.rest_squared * (1 + Fraction(1, 10**12))
    assert method.rest < method.noise


def test_a_regularisation_that_is_too_weak_is_refused_with_the_least():
    weak = setting_of(strength=Fraction(1, 2))
    with pytest.raises(ParameterError, match=r"must be at least 1\.11"):
        objective_method(weak)
    enough = replace(weak, strength=least_strength(weak))
    assert objective_method(enough).strength >= least_strength(weak)


def draw(method: ObjectiveMethod, bits):
    def many(rows, count):
        cells = np.ones((len(rows), 1))
        codes = np.array(rows, np.int64)
        return np.array([method.weights(cells, codes, bits).values[0, 0] for _ in range(count)])

    return many


@pytest.mark.parametrize("loss", [Margin(), HINGE, Softmax(3), Softmax(10)], ids=str)
def test_the_curve_is_planned_for_the_gradients_and_curvatures_that_rows_have(loss):
    """Gradients, their vertices and the trace of curvatures by brute force, at the longest row."""
    generator = np.random.default_rng(1)
    scores = np.concatenate([generator.normal(size=(300, loss.outputs)) * s for s in (1, 9, 300)])
    codes = np.zeros(len(scores), np.int64)
    longest = 1 + 1 / 16
    squares = (loss.slopes(scores, codes) ** 2).sum(axis=1) * longest
    method = objective_method(setting_of(loss=loss, features=3, intercept=Fraction(1, 4)))
    curve = method.privacy
    assert isinstance(curve, PerturbedObjective)
    needed = float(curve.mu_squared) * float(method.noise) ** 2
    assert squares.max() <= needed * (1 + 1e-9)
    assert squares.max() >= 0.99 * needed
    traces = np.trace(loss.curved(scores, codes), axis1=1, axis2=2) * longest
    assert traces.max() / float(method.strength) <= float(curve.floor)
    others = 1 if isinstance(loss, Margin) else loss.outputs - 1
    assert curve.vertices == others
    assert curve.shift == curve.floor * Fraction(others - 1, others + 1)


@pytest.mark.parametrize("delta", ["1e-3", "0"])
def test_the_auditor_passes_it_and_accuses_a_twentieth_of_the_noise(delta):
    """The seed is fixed; over seeds an honest mechanism is accused once in 10^3."""
    method = objective_method(setting_of("1", delta))
    quiet = replace(method, noise=method.noise / 20)
    found = [
        audit(
            draw(each, SeededBits(3)),
            [1],
            [],
            claimed_epsilon=1,
            claimed_delta=Fraction(delta),
            samples=300,
            confidence=0.999,
            many=True,
        )
        for each in (method, quiet)
    ]
    assert found[0].verdict is Verdict.CONSISTENT
    assert found[1].verdict is Verdict.ACCUSED


def test_pure_losses_stay_within_epsilon():
    """In one dimension, by the exact densities, both ways; and not with far less strength."""

    def worst(strength):
        scale, grid = 1.0, np.linspace(-60, 60, 40_001)
        found = 0.0
        for codes in CODES.values():
            laws = []
            for rows in (codes, [*codes, 1]):
                slope, bend = strength * grid, np.full_like(grid, strength)
                for code in rows:
                    each = np.full(len(grid), code)
                    slope = slope + Margin().slopes(grid[:, None], each)[:, 0]
                    bend = bend + Margin().curved(grid[:, None], each)[:, 0, 0]
                laws.append(-np.abs(slope) / scale + np.log(bend))
            found = max(found, np.abs(laws[0] - laws[1]).max())
        return found

    assert 0.999 <= worst(1.0) <= 1 + 1e-9
    assert worst(0.01) > 1.5


@pytest.mark.parametrize("loss", [Margin(), HINGE, Softmax(3), Softmax(6)], ids=str)
def test_pure_plans_stay_within_epsilon_at_the_least_strength(loss):
    """R² trace / strength + R ||slopes|| / noise over all scores, and what the solver costs."""
    facts = setting_of("1", "0", loss=loss, intercept=Fraction(1, 4))
    method = objective_method(replace(facts, strength=least_strength(facts)))
    generator = np.random.default_rng(5)
    shares = [generator.dirichlet(np.full(loss.outputs, a), 4000) for a in (0.05, 0.3, 1.0)]
    scores = np.log(np.concatenate([*shares, np.eye(loss.outputs)]) + 1e-200)
    if isinstance(loss, Margin):
        scores = np.linspace(-60, 60, 20_001)[:, None]
    codes = np.zeros(len(scores), np.int64)
    sizes = np.linalg.norm(loss.slopes(scores, codes), axis=1) * sqrt(17 / 16)
    traces = np.trace(loss.curved(scores, codes), axis1=1, axis2=2) * 17 / 16
    spent = np.max(traces / float(method.strength) + sizes / float(method.noise))
    rest = float(2 * method.tolerance / method.strength / method.rest)
    assert 0.99 < spent + rest <= 1 + 1e-9
