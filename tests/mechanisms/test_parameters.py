"""What is printed is rounded to the safe side; what floats cannot carry is refused."""

from decimal import Decimal
from fractions import Fraction

import pytest

from letalone.errors import ParameterError
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
from letalone.mechanisms.parameters import FACTOR, FLOAT_NOISE, WHOLE_NOISE

PRINTED = [
    (Laplace(epsilon=Fraction(1, 7), sensitivity=1), "error ", lambda m: m.error()),
    (Gaussian(sigma=3, sensitivity=1), "error ", lambda m: m.error()),
    (
        AboveThreshold(epsilon=1, sensitivity=1, threshold=3),
        "error ",
        lambda m: m.error(),
    ),
    (RandomizedResponse.warner(), "error ", lambda m: m.error(people=1000)),
    (Exponential(epsilon=1, sensitivity=3), "at most ", lambda m: m.shortfall(10)),
    (PermuteAndFlip(epsilon=1, sensitivity=3), "at most ", lambda m: m.shortfall(10)),
    (TopK(k=3, epsilon=1, sensitivity=7), "at most ", lambda m: m.shortfall(30)),
]


@pytest.mark.parametrize(("mechanism", "word", "bound"), PRINTED)
def test_a_printed_bound_is_at_least_the_bound_and_right_to_four_digits(mechanism, word, bound):
    printed = Fraction(Decimal(repr(mechanism).split(word)[1].split()[0]))
    exact = Fraction(bound(mechanism))
    assert exact <= printed <= exact * Fraction(1001, 1000)


BY_NOISE = [
    (Laplace, "scale", FLOAT_NOISE),
    (Gaussian, "sigma", FLOAT_NOISE),
    (Geometric, "scale", WHOLE_NOISE),
    (DiscreteGaussian, "sigma", WHOLE_NOISE),
]
ENDS = {FLOAT_NOISE: 900, WHOLE_NOISE: 400}
BEYOND = (10**5000, Fraction(1, 10**5000))


@pytest.mark.parametrize(("kind", "name", "rule"), BY_NOISE)
def test_noise_that_floats_cannot_carry_is_refused_at_construction(kind, name, rule):
    for wrong in (*rule.refused, *BEYOND):
        with pytest.raises(ParameterError, match=rf"{name} is too .*, but must be from 2\^-"):
            kind(sensitivity=1, **{name: wrong})
    for right in (Fraction(2) ** ENDS[rule], Fraction(2) ** -ENDS[rule]):
        assert getattr(kind(sensitivity=1, **{name: right}), name) == right


@pytest.mark.parametrize(("kind", "rule"), [(Laplace, FLOAT_NOISE), (Geometric, WHOLE_NOISE)])
def test_the_noise_that_an_epsilon_needs_is_held_to_the_same(kind, rule):
    for wrong in (*(Fraction(1) / Fraction(number) for number in rule.refused), *BEYOND):
        with pytest.raises(ParameterError, match=r"scale \(sensitivity / epsilon\) is too"):
            kind(epsilon=wrong, sensitivity=1)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_a_sigma_that_follows_from_epsilon_and_delta_is_held_to_the_same(size):
    with pytest.raises(ParameterError, match="sigma is too"):
        Gaussian(epsilon=1, delta=1e-6, sensitivity=size)


CHOOSING = [
    (Exponential, {}),
    (PermuteAndFlip, {}),
    (TopK, {"k": 2}),
    (TopK, {"k": 2, "delta": 1e-6}),
    (AboveThreshold, {"threshold": 0}),
]


@pytest.mark.parametrize(("kind", "others"), CHOOSING)
def test_a_factor_that_floats_cannot_carry_is_refused_at_construction(kind, others):
    for wrong in (*map(Fraction, FACTOR.refused), *BEYOND):
        with pytest.raises(ParameterError, match=r"epsilon / \(2 · sensitivity\) is too"):
            kind(epsilon=1, sensitivity=1 / (2 * Fraction(wrong)), **others)
    for right in (Fraction(2) ** 900, Fraction(2) ** -900):
        assert kind(epsilon=1, sensitivity=1 / (2 * right), **others).sensitivity == 1 / (2 * right)
