"""Which loss distribution stands for which curve.

A symmetric curve has one pair, which serves in both orders. Poisson sampling has two, one for
a record that is removed and one for a record that is added; all releases on the same two
tables share the order, so compositions are taken order by order. Curves without a pair of
their own (zCDP, groups of finite pairs) have none here and are composed by P3.

  Proven:   docs/explanation/proofs/loss_distributions.md, section 2
  Tested:   the discretised law of each curve encloses its certified delta
"""

from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, expm1

import numpy as np

from letalone.exact.balls import certain
from letalone.privacy.approximate import ApproxDP
from letalone.privacy.bounded_range import BoundedRange
from letalone.privacy.curve import Privacy
from letalone.privacy.discrete_gaussian import DiscreteGaussianPrivacy
from letalone.privacy.gaussian import GaussianDP
from letalone.privacy.geometric import GeometricPrivacy
from letalone.privacy.laplace import LaplacePrivacy
from letalone.privacy.loss.accountant import Source
from letalone.privacy.loss.pairs import (
    Atoms,
    GaussianPair,
    LaplacePair,
    PoissonPair,
    SplicedPair,
    bounded_range_pair,
)
from letalone.privacy.pure import PureDP
from letalone.privacy.randomized_response import RandomizedResponsePrivacy
from letalone.privacy.sampled import Sampled

Orders = tuple[Source, Source]

MOST_ATOMS = 1 << 20
DISCRETE_REACH = 40  # beyond 40 standard deviations lies less than e^-800


def orders_of(curve: Privacy) -> Orders | None:
    """The losses when a record is removed and when it is added; None if the curve has none."""
    if isinstance(curve, Sampled):
        return _sampled(curve)
    source = _source(curve.labelled(None))
    return None if source is None else (source, source)


def _sampled(curve: Sampled) -> Orders | None:
    base = _source(curve.base.labelled(None))
    rate = float(curve.rate)
    if base is None:
        return None
    if curve.fixed_size:
        if isinstance(base, Atoms):
            return None
        return SplicedPair(base, rate), SplicedPair(base, rate)
    if isinstance(base, Atoms):
        return base.sampled(rate, removed=True), base.sampled(rate, removed=False)
    return PoissonPair(base, rate, removed=True), PoissonPair(base, rate, removed=False)


@lru_cache(maxsize=256)
def _source(curve: Privacy) -> Source | None:
    match curve:
        case LaplacePrivacy():
            return LaplacePair(float(curve.ratio))
        case GaussianDP():
            return GaussianPair(float(curve.mu_squared) ** 0.5)
        case BoundedRange():
            return bounded_range_pair(float(curve.stated_epsilon))
        case PureDP():
            return _two_answers(curve.stated_epsilon, 0.0)
        case ApproxDP():
            return _two_answers(curve.stated_epsilon, float(curve.stated_delta))
        case RandomizedResponsePrivacy():
            return _answers(curve)
        case GeometricPrivacy() if curve.sensitivity <= MOST_ATOMS:
            return _geometric(curve)
        case DiscreteGaussianPrivacy() if curve.sigma <= MOST_ATOMS // (2 * DISCRETE_REACH):
            return _discrete_gaussian(curve)
        case _:
            return None


def _two_answers(epsilon: Fraction, leak: float) -> Atoms:
    e = float(epsilon)
    if e == 0:
        return Atoms(np.zeros(1), np.array([1 - leak]), leak)
    losses = np.array([e, -e])
    masses = np.array([1 / (1 + exp(-e)), exp(-e) / (1 + exp(-e))]) * (1 - leak)
    return Atoms(losses, masses, leak, epsilon)


def _answers(curve: RandomizedResponsePrivacy) -> Atoms:
    told, other = (float(certain(get).mid()) for get in (curve.told, curve.other))
    loss = float(certain(lambda: curve.odds().log()).mid())
    losses = np.array([loss, 0.0, -loss])
    masses = np.array([told, (curve.categories - 2) * other, other])
    if curve.stated_epsilon is not None:
        return Atoms(losses, masses, 0.0, curve.stated_epsilon)
    return Atoms(losses, masses, 0.0, Fraction(loss), loss * 2.0**-50)


def _geometric(curve: GeometricPrivacy) -> Atoms:
    steps = np.arange(curve.sensitivity + 1, dtype=np.float64)
    per = float(1 / curve.scale)
    masses = np.exp(-per * steps) * -expm1(-per) / (1 + exp(-per))
    masses[0] = 1 / (1 + exp(-per))
    masses[-1] = exp(-per * curve.sensitivity) / (1 + exp(-per))
    return Atoms((curve.sensitivity - 2 * steps) * per, masses, 0.0, 1 / curve.scale)


def _discrete_gaussian(curve: DiscreteGaussianPrivacy) -> Atoms:
    reach = ceil(DISCRETE_REACH * curve.sigma) + curve.sensitivity
    outputs = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(outputs**2) / (2 * float(curve.sigma) ** 2))
    unit = curve.sensitivity / (2 * curve.sigma**2)
    losses = (curve.sensitivity - 2 * outputs) * float(unit)
    return Atoms(losses, weights / weights.sum(), 1e-300, unit)
