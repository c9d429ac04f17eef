"""What training reveals is planned from what is declared, and is what an accountant says."""

from fractions import Fraction

import pytest
import torch
from torch import nn

import letalone as la
from letalone.learn.torch import Automatic, Flat, PerLayer, PrivateTrainer
from networks import cross_entropy

pytestmark = pytest.mark.long


def planned(**others):
    settings = {"epsilon": 2, "delta": 1e-5, "rows": 6000, "batch_size": 100, "epochs": 2, **others}
    return PrivateTrainer(nn.Linear(3, 2), cross_entropy, **settings).plan


def test_the_steps_are_those_of_the_epochs():
    assert planned().steps == 120
    assert planned(epochs=0.5).steps == 30
    assert planned(epochs=0.001).steps == 1
    assert planned().rate == Fraction(1, 60)


def test_the_noise_keeps_the_promise_and_a_little_less_does_not():
    plan = planned()
    assert plan.privacy.delta(2) <= 1e-5
    less = la.privacy.GaussianDP(1 / (plan.noise * Fraction(9999, 10000)))
    assert (less.sampled(plan.rate) * plan.steps).epsilon(1e-5) > 2


def test_it_is_the_curve_of_sampled_gaussians_for_added_or_removed_units():
    plan = planned()
    curve = la.privacy.GaussianDP(1 / plan.noise).sampled(Fraction(1, 60)) * 120
    assert plan.privacy.epsilon(1e-6) == curve.epsilon(1e-6)
    assert plan.privacy.neighbours == la.ADD_REMOVE
    assert plan.epsilon_after(0) == 0
    assert plan.epsilon_after(120) == 2 == pytest.approx(plan.privacy.epsilon(1e-5), rel=1e-5)
    assert plan.epsilon_after(60) == plan.privacy_after(60).epsilon(1e-5) < 2


@pytest.mark.parametrize("clip", [Automatic(), Flat(0.2), PerLayer(30)])
def test_the_privacy_does_not_depend_on_the_clip(clip):
    assert planned(clip=clip).noise == planned().noise


def test_training_stops_where_the_budget_ends():
    plan = planned(noise=0.8, epochs=100)
    assert 0 < plan.steps < 6000
    assert plan.privacy.delta(2) <= 1e-5 < plan.privacy_after(plan.steps + 1).delta(2)
    assert planned(noise=5, epochs=2).steps == 120


def test_no_step_at_all_is_refused():
    with pytest.raises(la.ParameterError, match="not even one step"):
        planned(noise=0.01)


def test_everybody_in_each_step_is_no_sample():
    plan = planned(batch_size=6000, epochs=5)
    assert plan.rate == 1
    assert plan.privacy.epsilon(1e-5) == (la.privacy.GaussianDP(1 / plan.noise) * 5).epsilon(1e-5)


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"batch_size": 6001}, "at most rows"),
        ({"rows": 0}, "rows"),
        ({"epochs": 0}, "epochs"),
        ({"clip": "flat"}, "clip is str"),
        ({"clip": 0}, "norm"),
        ({"physical_batch_size": 513}, "at most 512"),
        ({"per_unit": 0}, "per_unit"),
        ({"views": 0}, "views"),
        ({"average": 1}, "average"),
        ({"delta": 0}, "delta"),
    ],
)
def test_odd_parameters_are_refused(others, words):
    with pytest.raises(la.ParameterError, match=words):
        planned(**others)


def test_a_number_is_a_flat_clip():
    assert planned(clip=0.7).clip == Flat(0.7)


def test_nothing_of_a_plan_depends_on_the_data():
    """Neither its words, nor its noise, nor what is charged."""
    plans = []
    for rows in (0, 7, 400):
        trainer = PrivateTrainer(
            nn.Linear(3, 2), cross_entropy, epsilon=2, delta=1e-5, rows=200, batch_size=20, epochs=1
        )
        trainer.fit((torch.randn(rows, 3), torch.zeros(rows, dtype=torch.int64)))
        plans.append(repr(trainer.release_))
    assert len(set(plans)) == 1
