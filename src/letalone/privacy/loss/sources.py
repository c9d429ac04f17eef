"""Which loss distribution stands for which curve.

A symmetric curve has one pair, which serves in both orders. Poisson sampling has two, one for
a record that is removed and one for a record that is added; a group has one for each number
of its records that are removed. All releases on the same two tables share the order, so
compositions are taken order by order. A finite pair is symmetric only in what it promises: its
curve is the larger of both orders, which is that of one pair (`_finite`). Curves without a
pair of their own (zCDP, Renyi, P2) have none here and are composed by P3.

  Proven:   docs/explanation/proofs/loss_distributions.md, sections 2, 6 and 7
  Tested:   the discretised law of each curve encloses its certified delta
"""

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, exp, expm1, log1p

import numpy as np

from letalone.exact.balls import ball, certain
from letalone.privacy.approximate import ApproxDP
from letalone.privacy.bounded_range import BoundedRange
from letalone.privacy.bounds import ZERO
from letalone.privacy.curve import Privacy
from letalone.privacy.discrete_gaussian import DiscreteGaussianPrivacy
from letalone.privacy.finite import Finite, Steps
from letalone.privacy.gaussian import GaussianDP
from letalone.privacy.geometric import GeometricPrivacy
from letalone.privacy.grouped import Grouped
from letalone.privacy.laplace import LaplacePrivacy
from letalone.privacy.loss.accountant import Source
from letalone.privacy.loss.mixture_pair import MixturePair
from letalone.privacy.loss.pairs import (
    Atoms,
    Floats,
    GaussianPair,
    LaplacePair,
    PoissonPair,
    SplicedPair,
    bounded_range_pair,
)
from letalone.privacy.pure import PureDP
from letalone.privacy.randomized_response import RandomizedResponsePrivacy
from letalone.privacy.sampled import Sampled
from letalone.privacy.sampled_group import SampledGroup, sides_of

Orders = tuple[Source, ...]

MOST_ATOMS = 1 << 20
LONGEST = 690.0  # e^690 and e^-690 are floats
DISCRETE_REACH = 40  # beyond 40 standard deviations lies less than e^-800


def orders_of(curve: Privacy) -> Orders | None:
    """The losses for each way in which the tables may differ; None if the curve has none.

    One for a symmetric curve; else as many as there are `sides_of` the group, removed first.
    """
    match curve:
        case Sampled():
            return _sampled(curve)
        case SampledGroup():
            return _sampled_group(curve)
        case Grouped():
            known = (orders_of(other) for other in curve.alternatives())
            return next((orders for orders in known if orders is not None), None)
        case _:
            source = _source(curve.labelled(None))
            return None if source is None else (source,)


def group_of(curve: Privacy) -> int:
    """How many units the orders tell apart; 0 for a curve with one order."""
    match curve:
        case Sampled():
            return 0 if curve.fixed_size else 1
        case SampledGroup():
            return curve.size
        case Grouped():
            known = (other for other in curve.alternatives() if orders_of(other) is not None)
            return next((group_of(other) for other in known), 0)
        case _:
            return 0


def reached_by(curve: Privacy) -> Orders:
    """Losses that some release with this curve reaches, for bounds from below; none if unknown.

    A group may be one unit. A batch of fixed size reaches what Poisson sampling does when a
    record is removed (proof, section 6); its spliced pair is a bound from above only.
    """
    match curve:
        case Grouped():
            return reached_by(curve.single)
        case Finite():
            return tuple(_atoms(_envelope(_lines(steps))) for steps in curve.orders)
        case Sampled() if _is_float(curve.rate):
            return tuple(_removed(base, float(curve.rate)) for base in reached_by(curve.base))
        case Sampled():
            return ()
        case BoundedRange():  # its curve is an envelope: one mechanism has losses of half of it
            return (_two_answers(curve.stated_epsilon / 2),)
        case DiscreteGaussianPrivacy():
            return tuple(_without_leak(order) for order in orders_of(curve) or ())
        case _:
            return (orders_of(curve) or ())[:1]


def _without_leak(source: Source) -> Source:
    """What was charged for tails must not be claimed."""
    return replace(source, infinite=0.0) if isinstance(source, Atoms) else source


def _is_float(rate: Fraction) -> bool:
    """Whether floats can tell the rate from 0 and from 1."""
    return 1e-200 < float(rate) < 1.0 and float(1 - rate) > 1e-12


def _removed(base: Source, rate: float) -> Source:
    if isinstance(base, Atoms):
        return _poisson_atoms(base, rate)[0]
    return PoissonPair(base, rate, removed=True)


def _sampled(curve: Sampled) -> Orders | None:
    base = _source(curve.base.labelled(None))
    rate = float(curve.rate)
    if base is None or not _is_float(curve.rate):
        return None
    if curve.fixed_size:
        return None if isinstance(base, Atoms) else (SplicedPair(base, rate),)
    if isinstance(base, Atoms):
        return _poisson_atoms(base, rate)
    return PoissonPair(base, rate, removed=True), PoissonPair(base, rate, removed=False)


def _poisson_atoms(base: Atoms, rate: float) -> tuple[Atoms, Atoms]:
    """The atoms of ((1-rate) Q + rate P, Q), and of its reverse.

    What Q gives and P never does, or too rarely for floats, is no atom of P, but one of the
    mixture, at ln(1 - rate).
    """
    held = base.losses > -LONGEST
    base_losses, masses = base.losses[held], base.masses[held]
    other, losses = masses * np.exp(-base_losses), _mixed_losses(base_losses, rate)
    mixed = (1 - rate) * other + rate * masses
    if base.infinite or not held.all():
        unseen = max(0.0, 1 - float(other.sum()))
        losses, other = np.append(losses, log1p(-rate)), np.append(other, unseen)
        mixed = np.append(mixed, (1 - rate) * unseen)
    return Atoms(losses, mixed, rate * base.infinite), Atoms(-losses, other)


def _mixed_losses(losses: Floats, rate: float) -> Floats:
    """ln(1 - rate + rate e^l), each right to a few roundings of itself."""
    within = np.minimum(losses, LONGEST)
    long = losses + np.log(rate + (1 - rate) * np.exp(-np.maximum(losses, 0.0)))
    far = np.log((1 - rate) + rate * np.exp(np.minimum(losses, 0.0)))
    near = np.log1p(rate * np.expm1(within))
    return np.select([losses > LONGEST, (losses < -1) & (rate > 0.5)], [long, far], near)


@lru_cache(maxsize=256)
def _sampled_group(curve: SampledGroup) -> Orders:
    mu, rate = float(curve.release.mu_squared) ** 0.5, float(curve.rate)
    return tuple(MixturePair(mu, rate, *sides) for sides in sides_of(curve.size))


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
            return _two_answers(curve.stated_epsilon)
        case ApproxDP():
            return _two_answers(curve.stated_epsilon, curve.stated_delta)
        case RandomizedResponsePrivacy():
            return _answers(curve)
        case GeometricPrivacy() if curve.sensitivity <= MOST_ATOMS:
            return _geometric(curve)
        case DiscreteGaussianPrivacy() if 2 * _reach(curve) < MOST_ATOMS:
            return _discrete_gaussian(curve)
        case Finite():
            return _finite(curve)
        case _:
            return None


def _two_answers(epsilon: Fraction, leak: Fraction = ZERO) -> Atoms:
    e, rest = float(epsilon), float(1 - leak)
    if e == 0:
        return Atoms(np.zeros(1), np.array([rest]), float(leak))
    losses = np.array([e, -e])
    masses = np.array([1 / (1 + exp(-e)), exp(-e) / (1 + exp(-e))]) * rest
    return Atoms(losses, masses, float(leak), epsilon)


def _answers(curve: RandomizedResponsePrivacy) -> Atoms:
    told, other = (float(certain(get).mid()) for get in (curve.told, curve.other))
    loss = float(certain(lambda: curve.odds().log()).mid())
    losses = np.array([loss, 0.0, -loss])
    masses = np.array([told, (curve.categories - 2) * other, other])
    losses, masses = losses[masses > 0], masses[masses > 0]
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


def _reach(curve: DiscreteGaussianPrivacy) -> int:
    return ceil(DISCRETE_REACH * curve.sigma) + curve.sensitivity


def _discrete_gaussian(curve: DiscreteGaussianPrivacy) -> Atoms:
    reach = _reach(curve)
    outputs = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(outputs**2) / (2 * float(curve.sigma) ** 2))
    unit = curve.sensitivity / (2 * curve.sigma**2)
    losses = (curve.sensitivity - 2 * outputs) * float(unit)
    return Atoms(losses, weights / weights.sum(), 1e-300, unit)


Line = tuple[Fraction, Fraction]


def _finite(curve: Finite) -> Atoms | None:
    """The atoms of the pair whose curve is the larger of both orders."""
    found = _atoms(_envelope([line for steps in curve.orders for line in _lines(steps)]))
    return found if found.masses.any() else None


def _lines(steps: Steps) -> list[Line]:
    """delta is the largest of told - t alarms over these lines, t = e^epsilon."""
    return list(zip(steps.told, steps.alarms, strict=True))


def _envelope(lines: list[Line]) -> list[Line]:
    """Where the largest of the lines bends, as (t, Q's mass there)."""
    hull: list[Line] = []
    for line in sorted(set(lines), key=lambda line: (-line[1], line[0])):
        if hull and hull[-1][1] == line[1]:
            hull.pop()
        while len(hull) > 1 and _meet(hull[-1], line) <= _meet(hull[-2], hull[-1]):
            hull.pop()
        hull.append(line)
    return [(_meet(a, b), a[1] - b[1]) for a, b in pairwise(hull) if _meet(a, b) > 0]


def _meet(steep: Line, flat: Line) -> Fraction:
    return (steep[0] - flat[0]) / (steep[1] - flat[1])


def _atoms(corners: list[Line]) -> Atoms:
    """Mass t w under P at the loss ln t for each corner; the rest is infinite."""
    losses = [float(certain(lambda: ball(t).log()).mid()) for t, _ in corners]  # noqa: B023
    masses = [float(t * w) for t, w in corners]
    leak = 1 - sum((t * w for t, w in corners), Fraction(0))
    return Atoms(np.array(losses), np.array(masses), float(leak))
