"""Every parameter of every curve refuses what its constraint refuses, in words."""

import pytest

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, DELTA, EPSILON, EPSILON_OR_ZERO, FINITE, PROBABILITY, SCALE
from letalone.privacy import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    DiscreteGaussianPrivacy,
    GaussianDP,
    GeometricPrivacy,
    LaplacePrivacy,
    PureDP,
    RandomizedResponsePrivacy,
)
from letalone.privacy.curve import REPEATS
from letalone.privacy.curves.gaussian_curve import MU
from letalone.privacy.curves.renyi import RHO
from letalone.privacy.curves.response_curve import CATEGORIES, TRUTH

CALLS = [
    ("epsilon", EPSILON, lambda x: PureDP(epsilon=x)),
    ("epsilon", EPSILON_OR_ZERO, lambda x: ApproxDP(epsilon=x, delta=0)),
    ("delta", DELTA, lambda x: ApproxDP(epsilon=1, delta=x)),
    ("mu", MU, lambda x: GaussianDP(mu=x)),
    ("mu_squared", MU, lambda x: GaussianDP(mu_squared=x)),
    ("rho", RHO, lambda x: ZCDP(rho=x)),
    ("ratio", EPSILON, lambda x: LaplacePrivacy(ratio=x)),
    ("sensitivity", COUNT, lambda x: GeometricPrivacy(sensitivity=x, scale=1)),
    ("scale", SCALE, lambda x: GeometricPrivacy(sensitivity=1, scale=x)),
    ("sensitivity", COUNT, lambda x: DiscreteGaussianPrivacy(sensitivity=x, sigma=1)),
    ("sigma", SCALE, lambda x: DiscreteGaussianPrivacy(sensitivity=1, sigma=x)),
    ("epsilon", EPSILON, lambda x: RandomizedResponsePrivacy(epsilon=x)),
    ("truth", TRUTH, lambda x: RandomizedResponsePrivacy(truth=x)),
    ("categories", CATEGORIES, lambda x: RandomizedResponsePrivacy(1, categories=x)),
    ("epsilon", EPSILON, lambda x: BoundedRange(epsilon=x)),
    ("delta", DELTA, lambda x: PureDP(1).epsilon(x)),
    ("delta", DELTA, lambda x: PureDP(1).epsilon_bounds(x)),
    ("epsilon", FINITE, lambda x: PureDP(1).delta(x)),
    ("false_alarm", PROBABILITY, lambda x: PureDP(1).tradeoff(x)),
    ("size", COUNT, lambda x: PureDP(1).group(x)),
    ("times", REPEATS, lambda x: PureDP(1) * x),
]


@pytest.mark.parametrize(
    ("name", "call", "value"),
    [(n, call, x) for n, constraint, call in CALLS for x in (*constraint.refused, True, "1")],
)
def test_what_is_not_allowed_is_refused_with_the_remedy(name, call, value):
    with pytest.raises(ParameterError, match=rf"{name} is .*, but must be "):
        call(value)


@pytest.mark.parametrize("truth", [0.5, 0.2])
def test_a_truth_no_likelier_than_chance_is_refused(truth):
    with pytest.raises(ParameterError, match=r"truth is .* must be above 1/2"):
        RandomizedResponsePrivacy(truth=truth)


def test_exactly_one_way_of_saying_it():
    for make in (RandomizedResponsePrivacy, GaussianDP):
        with pytest.raises(ParameterError, match="exactly one"):
            make()
    with pytest.raises(ParameterError, match="exactly one"):
        RandomizedResponsePrivacy(1, truth=0.75)
    with pytest.raises(ParameterError, match="exactly one"):
        GaussianDP(1, mu_squared=1)
