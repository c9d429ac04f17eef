"""Laws that every mechanism keeps; the refusals are generated from the constraints."""

import pickle
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.exact.typed import (
    CONFIDENCE,
    COUNT,
    DELTA,
    EPSILON,
    POSITIVE_DELTA,
    SCALE,
    SENSITIVITY,
)
from letalone.mechanisms import (
    AboveThreshold,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    PermuteAndFlip,
    RandomizedResponse,
    TopK,
)
from letalone.mechanisms.above_threshold import THRESHOLD
from letalone.mechanisms.discrete_gaussian import ONE_OR_MORE
from letalone.mechanisms.parameters import WHOLE_SENSITIVITY
from letalone.mechanisms.randomized_response import CATEGORIES
from letalone.privacy import Privacy
from seeded import SeededBits

PURE = {
    "laplace": (Laplace, {"epsilon": 0.1, "sensitivity": 1}),
    "geometric": (Geometric, {"epsilon": 0.1, "sensitivity": 1}),
    "exponential": (Exponential, {"epsilon": 0.1, "sensitivity": 1}),
    "permute and flip": (PermuteAndFlip, {"epsilon": 0.1, "sensitivity": 1}),
    "randomized response": (RandomizedResponse, {"epsilon": 0.1, "categories": 3}),
    "several answers": (RandomizedResponse, {"epsilon": 0.1, "answers": 3}),
    "above threshold": (AboveThreshold, {"epsilon": 0.1, "sensitivity": 1, "threshold": 5}),
    "peeling": (TopK, {"epsilon": 0.1, "sensitivity": 1, "k": 3}),
    "one-shot": (TopK, {"epsilon": 0.1, "sensitivity": 1, "k": 3, "method": "one-shot"}),
}
APPROXIMATE = {
    "gaussian": (Gaussian, {"epsilon": 0.1, "delta": 1e-6, "sensitivity": 1}),
    "classic gaussian": (
        Gaussian,
        {"epsilon": 0.1, "delta": 1e-6, "sensitivity": 1, "calibration": "classic"},
    ),
    "discrete gaussian": (
        DiscreteGaussian,
        {"epsilon": 0.1, "delta": 1e-6, "sensitivity": 1},
    ),
    "discrete gaussian vector": (
        DiscreteGaussian,
        {"epsilon": 0.1, "delta": 1e-6, "sensitivity": 2, "dimension": 3},
    ),
    "one-shot with delta": (
        TopK,
        {"epsilon": 0.1, "delta": 1e-6, "sensitivity": 1, "k": 50, "method": "one-shot"},
    ),
}
BY_NOISE = {
    "laplace by scale": (Laplace, {"scale": 3, "sensitivity": 1}),
    "geometric by scale": (Geometric, {"scale": 3, "sensitivity": 1}),
    "gaussian by sigma": (Gaussian, {"sigma": 3, "sensitivity": 1}),
    "discrete gaussian by sigma": (DiscreteGaussian, {"sigma": 3, "sensitivity": 1}),
    "warner": (RandomizedResponse, {"truth": Fraction(3, 4)}),
}
EVERY = PURE | APPROXIMATE | BY_NOISE

RULES = {
    "epsilon": EPSILON,
    "delta": DELTA,
    "scale": SCALE,
    "sigma": SCALE,
    "sensitivity": SENSITIVITY,
    "dimension": COUNT,
    "k": COUNT,
    "answers": COUNT,
    "categories": CATEGORIES,
    "threshold": THRESHOLD,
}
STRICTER = {
    (Geometric, "sensitivity"): WHOLE_SENSITIVITY,
    (DiscreteGaussian, "sensitivity"): ONE_OR_MORE,
    (Gaussian, "delta"): POSITIVE_DELTA,
    (DiscreteGaussian, "delta"): POSITIVE_DELTA,
}
NOT_NUMBERS = ("1", True, 1j, [1])

REFUSALS = [
    pytest.param(kind, arguments, name, wrong, id=f"{label}: {name}={wrong!r}")
    for label, (kind, arguments) in EVERY.items()
    for name in arguments
    if name in RULES
    for wrong in (*STRICTER.get((kind, name), RULES[name]).refused, *NOT_NUMBERS)
    if not (name == "categories" and wrong == [1])
]

every = pytest.mark.parametrize(("kind", "arguments"), EVERY.values(), ids=EVERY)


@pytest.mark.parametrize(("kind", "arguments", "name", "wrong"), REFUSALS)
def test_a_parameter_outside_of_its_constraint_is_refused_by_name(kind, arguments, name, wrong):
    with pytest.raises(ParameterError, match=rf"{name} is .*, but must be"):
        kind(**(arguments | {name: wrong}))


def test_every_constraint_that_refuses_is_tried():
    assert all(rule.refused for rule in (*RULES.values(), *STRICTER.values()))
    assert len(REFUSALS) > 200


@pytest.mark.parametrize(("kind", "arguments"), PURE.values(), ids=PURE)
def test_the_epsilon_typed_is_the_epsilon_of_the_curve(kind, arguments):
    privacy = kind(**arguments).privacy
    assert privacy.epsilon(0) == 0.1
    assert privacy.delta(0.1) == 0
    assert privacy.delta(0.05) > 0


@pytest.mark.parametrize(("kind", "arguments"), APPROXIMATE.values(), ids=APPROXIMATE)
def test_the_curve_passes_below_the_point_typed_and_not_far_below(kind, arguments):
    privacy = kind(**arguments).privacy
    assert Fraction(privacy.delta(0.1)) <= Fraction(1, 10**6)
    slack = 0.5 if arguments.get("calibration") == "classic" else 0.99
    assert privacy.epsilon(1e-6) > slack * 0.1


@every
def test_half_the_epsilon_is_not_enough_for_the_noise_drawn(kind, arguments):
    """The curve is that of this noise: at half its epsilon, something is left to reveal."""
    privacy = kind(**arguments).privacy
    assert isinstance(privacy, Privacy)
    assert privacy.delta_bounds(privacy.epsilon(1e-6) / 2)[1] > 1e-6


@every
def test_a_mechanism_is_frozen_data(kind, arguments):
    mechanism = kind(**arguments)
    assert mechanism == kind(**arguments)
    assert hash(mechanism) == hash(kind(**arguments))
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    for field in fields(mechanism):
        with pytest.raises(FrozenInstanceError):
            setattr(mechanism, field.name, 1)
    with pytest.raises((AttributeError, TypeError)):
        mechanism.eps = 1


@every
def test_it_prints_in_one_line_with_epsilon_and_how_good_it_is(kind, arguments):
    text = repr(kind(**arguments))
    assert text.startswith(f"{kind.__name__}(")
    assert "ε = " in text
    assert "error" in text or "below the best" in text
    assert "\n" not in text


@every
def test_parameters_are_keywords_only(kind, arguments):
    with pytest.raises(TypeError):
        kind(1)
    with pytest.raises(TypeError):
        kind(**arguments, eps=1)


ADDITIVE = {
    label: EVERY[label]
    for label in ("laplace", "gaussian by sigma", "geometric", "discrete gaussian by sigma")
}
additive = pytest.mark.parametrize(("kind", "arguments"), ADDITIVE.values(), ids=ADDITIVE)


@additive
def test_the_noise_does_not_depend_on_the_value(kind, arguments):
    """The same bits give the same noise on a value of any size, up to the grid."""
    mechanism = kind(**arguments)
    at_zero = mechanism.release(np.zeros(50, dtype=int), bits=SeededBits(110))
    at_large = mechanism.release(np.full(50, 2**20), bits=SeededBits(110))
    assert (at_large - at_zero == 2**20).all()


@additive
def test_every_number_gets_its_own_noise(kind, arguments):
    mechanism = kind(**arguments)
    draws = mechanism.release(np.zeros((40, 25), dtype=int), bits=SeededBits(111))
    assert draws.shape == (40, 25)
    correlation = np.corrcoef(draws[:, :-1].ravel(), draws[:, 1:].ravel())[0, 1]
    assert abs(correlation) < 5 / np.sqrt(960), "neighbours share noise"
    assert len({mechanism.release(0, bits=SeededBits(seed)) for seed in range(60)}) > 5


@additive
@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), [1.0, float("nan")], None, "1", [[1], [1, 2]]]
)
def test_what_is_not_a_finite_number_is_refused(kind, arguments, value):
    with pytest.raises(ParameterError, match=r"value|values"):
        kind(**arguments).release(value)


@additive
@pytest.mark.parametrize("confidence", [*CONFIDENCE.refused, "0.95", None])
def test_a_bad_confidence_is_refused(kind, arguments, confidence):
    with pytest.raises(ParameterError, match="confidence is"):
        kind(**arguments).error(confidence)


@additive
def test_the_error_grows_with_confidence_and_with_size(kind, arguments):
    mechanism = kind(**arguments)
    assert mechanism.error(0.5) < mechanism.error(0.95) < mechanism.error(0.999)
    assert mechanism.error(0.95) < mechanism.error(0.95, size=100)
    assert 0 < mechanism.expected_error < mechanism.error(0.95)
    for size in COUNT.refused:
        with pytest.raises(ParameterError, match="size is"):
            mechanism.error(0.95, size=size)
