"""Risks: the best test of whoever attacks stays below what was promised, and reaches it nearly."""

from math import e, exp, log

import pytest
from scipy.stats import norm

import letalone as la
from letalone.errors import ParameterError
from letalone.privacy.promises import AttackRisk, EpsilonDelta

NEAR = 2e-6


@pytest.mark.parametrize("advantage", [0.001, 0.05, 0.5, 0.99])
def test_epsilon_for_an_advantage_is_the_closed_form_rounded_down(advantage):
    found, exact = la.calibrate(advantage=advantage), log((1 + advantage) / (1 - advantage))
    assert exact * (1 - NEAR) < found <= exact


@pytest.mark.parametrize(("right", "alarms"), [(0.02, 0.01), (0.5, 0.4), (0.99, 0.5)])
def test_epsilon_for_a_true_positive_rate_is_the_closed_form_rounded_down(right, alarms):
    found = la.calibrate(true_positive=right, at_false_positive=alarms)

    def most(epsilon):
        return min(exp(epsilon) * alarms, 1 - exp(-epsilon) * (1 - alarms))

    assert most(found) <= right * (1 + 1e-15)
    assert most(found * (1 + NEAR)) > right


def test_a_delta_takes_its_part_of_the_risk():
    found, delta = la.calibrate(advantage=0.05, delta=1e-3), 1e-3
    reached = delta + (1 - delta) * (exp(found) - 1) / (exp(found) + 1)
    assert 0.05 * (1 - NEAR) < reached <= 0.05
    with pytest.raises(ParameterError, match="alone breaks an advantage"):
        la.calibrate(advantage=0.05, delta=0.06)


def test_noise_for_a_risk_is_the_closed_form_of_the_gaussian_rounded_up():
    sigma = la.calibrate(lambda s: la.Gaussian(sigma=s, sensitivity=1).privacy, advantage=0.05)
    exact = 1 / (2 * norm.ppf((1 + 0.05) / 2))
    assert exact <= sigma < exact * (1 + NEAR)
    sigma = la.calibrate(lambda s: la.GaussianDP(1 / s), true_positive=0.02, at_false_positive=0.01)
    exact = 1 / (norm.ppf(0.02) - norm.ppf(0.01))
    assert exact <= sigma < exact * (1 + NEAR)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_best_test_of_randomized_response_reaches_the_bound_and_none_exceeds_it(epsilon):
    """All tests of one bit are mixtures of four: say yes to 0, to 1, to both, to none."""
    yes = e**epsilon / (1 + e**epsilon)
    tests = {(yes, 1 - yes), (1 - yes, yes), (1.0, 1.0), (0.0, 0.0)}
    advantage = max(right - alarms for right, alarms in tests)
    curve = la.RandomizedResponse(epsilon=epsilon).privacy
    assert AttackRisk(advantage=advantage * (1 + 1e-9)).is_kept(curve)
    assert not AttackRisk(advantage=advantage * (1 - 1e-9)).is_kept(curve)
    at = {"at_false_positive": 1 - yes}
    assert AttackRisk(true_positive=yes * (1 + 1e-9), **at).is_kept(curve)
    assert not AttackRisk(true_positive=yes * (1 - 1e-9), **at).is_kept(curve)


def test_a_pair_is_kept_as_before():
    assert EpsilonDelta(1, 0).is_kept(la.PureDP(1))
    assert not EpsilonDelta(1, 0).is_kept(la.PureDP(1.0000001))
    assert not EpsilonDelta(1, 0).is_kept(la.GaussianDP(0.01))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "needs a risk"),
        ({"advantage": 2}, "advantage is 2"),
        ({"advantage": 0}, "advantage is 0"),
        ({"advantage": 0.1, "epsilon": 1}, "epsilon is given with"),
        ({"true_positive": 0.1}, "both true_positive"),
        ({"at_false_positive": 0.1}, "both true_positive"),
        ({"advantage": 0.1, "true_positive": 0.2, "at_false_positive": 0.1}, "Give one of them"),
        ({"true_positive": 0.1, "at_false_positive": 0.2}, "above the false-positive rate"),
        ({"privacy_of": 3, "advantage": 0.1}, "a function of the noise"),
        ({"privacy_of": la.PureDP, "advantage": 0.1, "delta": 1e-6}, "Leave delta out"),
        ({"privacy_of": la.PureDP, "epsilon": 1}, "what the noise must keep"),
        ({"epsilon": 1, "delta": 0}, "needs a risk"),
    ],
)
def test_what_does_not_go_together_is_refused_with_what_does(given, words):
    with pytest.raises(ParameterError, match=words):
        la.calibrate(**given)
