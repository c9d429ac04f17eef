"""Gradient perturbation: one row's part of a step, the price of all steps, and the auditor."""

from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from letalone.audit import Verdict, audit
from letalone.errors import ParameterError
from letalone.learn.convex.gradient import (
    CELLS,
    CLIP,
    HEAVIEST,
    SLOPE_BITS,
    clipped_squared,
    gradient_method,
    longest_slopes,
    loudness,
    pace_of,
    whole_slopes,
)
from letalone.learn.convex.losses import Margin, Softmax
from letalone.learn.convex.methods import ConvexSetting
from letalone.learn.noisy_sums import wholes
from letalone.learn.noisy_sums.wholes import BITS, within_norm
from letalone.privacy import GaussianDP
from seeded import SeededBits

SHIFTED = Margin(offset=Fraction(2))


def setting_of(delta="1e-5", **facts):
    facts = {"features": 1, "intercept": Fraction(0), "rows": 50} | facts
    return ConvexSetting(
        facts.pop("loss", Margin()), epsilon=Fraction(1), delta=Fraction(delta), **facts
    )


@pytest.mark.parametrize("loss", [Margin(), SHIFTED, Softmax(2), Softmax(4)], ids=str)
def test_no_row_adds_more_than_the_gradient_bound_to_a_sum(loss):
    """In whole numbers, for saturated scores and rows at the border and within it, with the
    constant feature."""
    generator = np.random.default_rng(2)
    sizes = np.where(np.arange(500) % 2, 100, 0.3)[:, None]
    cells = within_norm(generator.normal(size=(500, 3)) * sizes, Fraction(1))
    cells = np.hstack([cells, np.full((500, 1), 2.0 ** (BITS - 2))])
    scores = generator.normal(size=(500, loss.outputs)) * 50
    codes = generator.integers(0, max(2, loss.outputs), size=500)
    setting = setting_of(loss=loss, features=3, intercept=Fraction(1, 4))
    longest = longest_slopes(cells, setting)
    slopes = whole_slopes(loss.slopes(scores, codes), longest)
    share = CLIP if loss is SHIFTED else 1
    bound = Fraction(17, 16) * loss.reach_squared * share**2 * 4 ** (BITS + SLOPE_BITS)
    parts = [
        sum((int(a) * int(b)) ** 2 for a in row for b in slope)
        for row, slope in zip(cells, slopes, strict=True)
    ]
    assert 0.99 * float(bound) < max(parts) <= bound
    assert clipped_squared(setting) * 4 ** (BITS + SLOPE_BITS) == bound


@pytest.mark.parametrize(("loss", "share"), [(Margin(), 1), (SHIFTED, 0.8)], ids=str)
@pytest.mark.parametrize("rows", [50, None])
def test_the_price_is_that_of_all_steps_and_of_the_count(rows, loss, share):
    facts = {"rows": rows, "features": 4, "intercept": Fraction(1, 4)}
    method = gradient_method(setting_of(loss=loss, **facts))
    assert method.privacy.delta(1) <= 1e-5
    assert method.privacy.epsilon(1e-5) > 0.99
    curve = method.privacy
    assert isinstance(curve, GaussianDP)
    each = float(method.noise) / (share * sqrt(17 / 16))
    counted = 0 if method.count_noise is None else float(method.count_noise) ** -2
    assert float(curve.mu_squared) == pytest.approx(method.steps / each**2 + counted)
    assert (method.count_noise is None) == (rows is not None)


@pytest.mark.parametrize(
    "loss", [Margin(), SHIFTED, Margin(width=Fraction(1, 2)), Softmax(4)], ids=str
)
@pytest.mark.parametrize("rows", [1, 1000, 10**5, 10**8])
def test_steps_are_stable_at_the_largest_curvature_and_go_no_further_than_planned(loss, rows):
    """Momentum is stable up to a pace of 2 (1 + momentum) / curvature; Softmax's and the margin's
    curvature is `bend` at most in a score."""
    setting = setting_of(loss=loss, rows=rows, features=4, intercept=Fraction(1, 4))
    steps, reach = gradient_method(setting).steps, 17 / 16
    pace, momentum = pace_of(setting, steps, rows)
    assert 0 <= momentum <= HEAVIEST
    assert pace * rows * float(loss.bend) * reach < 2 * (1 + momentum)
    unit = float(gradient_method(setting).noise) / sqrt(steps * setting.lipschitz_squared)
    moved = pace / (1 - momentum) * steps * unit * sqrt(setting.lipschitz_squared)
    planned = sqrt(loss.reach_squared) / float(loss.bend)
    assert moved == pytest.approx(planned) or (moved < planned and momentum == HEAVIEST)


def test_noise_by_itself_moves_weights_as_far_as_is_planned():
    """Without rows the steps are a random walk of 4 in the end; the average of its last half
    deviates by 4 √(1/2 + 1/6) = 3.27. Among 3,200 weights the deviation errs by 1.25 %, so two
    seeds in 10^6 would fail; twice the pace, or an average of the last quarter (3.65), or of the
    last two thirds (2.98), fails."""
    method = gradient_method(setting_of(rows=50, features=3200))
    found = method.weights(np.zeros((0, 3200)), np.zeros(0, np.int64), SeededBits(4)).values
    assert np.std(found) == pytest.approx(4 * sqrt(2 / 3), rel=0.06)


def test_a_hundred_features_are_learned_where_noise_is_loud():
    """Seeded. At ε = 1 of 1,000 rows; guessing is right in half of the rows."""
    generator = np.random.default_rng(5)
    kinds = generator.integers(0, 10, size=(1000, 10))
    cells = np.eye(10)[kinds].reshape(1000, 100) / sqrt(10)
    codes = (kinds[:, :3].sum(axis=1) >= 14).astype(np.int64)
    setting = setting_of(rows=1000, features=100, loss=SHIFTED)
    assert loudness(setting) > 0.01
    weights = gradient_method(setting).weights(cells, codes, SeededBits(6)).values
    assert np.mean((cells @ weights[0] > 0) == codes) > 0.8


def test_the_largest_slope_of_a_row_depends_on_that_row_alone():
    cells = np.trunc(np.random.default_rng(3).normal(size=(40, 7)) * 2.0 ** (BITS - 3))
    setting = setting_of(loss=SHIFTED, features=7)
    together = longest_slopes(cells, setting)
    assert all(longest_slopes(cells[[i]], setting)[0] == together[i] for i in range(40))
    assert np.isfinite(longest_slopes(np.zeros((1, 7)), setting)).all()


def test_rows_that_are_mostly_zero_give_the_very_same_weights(monkeypatch):
    cells = np.eye(8)[np.random.default_rng(1).integers(0, 8, size=60)]
    given = cells, np.arange(60) % 2
    method = gradient_method(setting_of(rows=60, features=8))
    sparse = method.weights(*given, SeededBits(3)).values
    monkeypatch.setattr(wholes, "DENSE_SHARE", 0)
    assert np.array_equal(sparse, method.weights(*given, SeededBits(3)).values)


def test_fewer_steps_are_taken_where_more_cells_are_declared_or_none():
    taken = [
        gradient_method(setting_of(rows=rows, features=4)).steps
        for rows in (CELLS // 4, CELLS // 4 + 1, None)
    ]
    assert taken == [300, 100, 100]


def test_without_a_delta_it_is_refused():
    with pytest.raises(ParameterError, match="delta is 0, but method='gradient'"):
        gradient_method(setting_of("0"))


@pytest.mark.long  # others of this file stay
def test_the_auditor_passes_it_and_accuses_a_fiftieth_of_the_noise():
    """The seed is fixed; over seeds an honest mechanism is accused once in 10^3. A 25th of the
    steps with a fifth of the noise, which is faster and reveals as much."""
    planned = gradient_method(setting_of("1e-3", rows=4))
    method = replace(planned, steps=planned.steps // 25, noise=planned.noise / 5)

    def draw(each):
        def many(codes, count):
            cells, bits = np.ones((len(codes), 1)), SeededBits(9 + len(codes))
            given = cells, np.array(codes, np.int64)
            return np.array([each.weights(*given, bits).values[0, 0] for _ in range(count)])

        return many

    quiet = replace(method, noise=method.noise / 50)
    found = [
        audit(
            draw(each),
            [1, 1],
            [1],
            claimed_epsilon=1,
            claimed_delta=Fraction(1, 1000),
            samples=200,
            confidence=0.999,
            many=True,
        )
        for each in (method, quiet)
    ]
    assert found[0].verdict is Verdict.CONSISTENT
    assert found[1].verdict is Verdict.ACCUSED
