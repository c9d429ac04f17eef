"""Gradient perturbation: one row's part of a step, the price of all steps, and the auditor."""

from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from letalone.audit import audit
from letalone.audit.auditor import Verdict
from letalone.errors import ParameterError
from letalone.learn.gradient import SLOPE_BITS, gradient_method, whole_slopes
from letalone.learn.losses import Margin, Softmax
from letalone.learn.methods import Setting
from letalone.learn.wholes import BITS, Grid, within_norm
from letalone.privacy import GaussianDP
from seeded import SeededBits


def setting_of(delta="1e-5", **facts):
    facts = {"features": 1, "intercept": Fraction(0), "rows": 50} | facts
    return Setting(facts.pop("loss", Margin()), epsilon=Fraction(1), delta=Fraction(delta), **facts)


@pytest.mark.parametrize("loss", [Margin(), Softmax(2), Softmax(4)], ids=str)
def test_no_row_adds_more_than_the_gradient_bound_to_a_sum(loss):
    """In whole numbers, for saturated scores and rows at the border, with the constant feature."""
    generator = np.random.default_rng(2)
    cells = within_norm(generator.normal(size=(500, 3)) * 100, Grid(Fraction(1)))
    cells = np.hstack([cells, np.full((500, 1), 2.0 ** (BITS - 2))])
    scores = generator.normal(size=(500, loss.outputs)) * 50
    codes = generator.integers(0, max(2, loss.outputs), size=500)
    slopes = whole_slopes(loss.slopes(scores, codes))
    bound = Fraction(17, 16) * loss.reach_squared * 4 ** (BITS + SLOPE_BITS)
    for row, slope in zip(cells, slopes, strict=True):
        part = [int(a) * int(b) for a in row for b in slope]
        assert sum(entry**2 for entry in part) <= bound
    most = max(sum(int(b) ** 2 for b in slope) for slope in slopes)
    assert most > 0.99 * float(loss.reach_squared) * 4**SLOPE_BITS


@pytest.mark.parametrize("rows", [50, None])
def test_the_price_is_that_of_all_steps_and_of_the_count(rows):
    method = gradient_method(setting_of(rows=rows, features=4, intercept=Fraction(1, 4)))
    assert method.privacy.delta(1) <= 1e-5
    assert method.privacy.epsilon(1e-5) > 0.99
    curve = method.privacy
    assert isinstance(curve, GaussianDP)
    each = float(method.noise) / sqrt(17 / 16)
    counted = 0 if method.count_noise is None else float(method.count_noise) ** -2
    assert float(curve.mu_squared) == pytest.approx(method.steps / each**2 + counted)
    assert (method.count_noise is None) == (rows is not None)


def test_without_a_delta_it_is_refused():
    with pytest.raises(ParameterError, match="delta is 0, but method='gradient'"):
        gradient_method(setting_of("0"))


def test_the_auditor_passes_it_and_accuses_a_fiftieth_of_the_noise():
    """The seed is fixed; over seeds an honest mechanism is accused once in 10^3."""
    method = gradient_method(setting_of("1e-3", rows=4))

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
