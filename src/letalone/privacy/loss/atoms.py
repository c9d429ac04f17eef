"""Losses of finitely many outcomes, and of releases on a sample: the pairs behind the curves.

A symmetric curve has one pair, which serves in both orders. Poisson sampling has two, one for
a record that is removed and one for a record that is added. A finite pair is symmetric only in
what it promises: its curve is the larger of both orders, which is that of one pair
(`envelope_atoms`).

  Proven:   docs/explanation/proofs/loss_distributions.md, sections 2, 6 and 7
  Tested:   the discretised law of each curve encloses its certified delta
"""

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, expm1, log1p

import numpy as np

from letalone.exact.balls import ball, certain
from letalone.privacy.loss.pairs import Atoms, Floats, Losses, PoissonPair, SplicedPair

MAX_ATOMS = 1 << 20
LARGEST_EXPONENT = 690.0  # e^690 and e^-690 are floats
DISCRETE_REACH = 40  # beyond 40 standard deviations lies less than e^-800

Line = tuple[Fraction, Fraction]


def binary_atoms(epsilon: Fraction, leak: Fraction) -> Atoms:
    """Two answers, randomized, and a leak: the worst mechanism that is (epsilon, leak)-DP."""
    e, rest = float(epsilon), float(1 - leak)
    if e == 0:
        return Atoms(np.zeros(1), np.array([rest]), float(leak))
    losses = np.array([e, -e])
    masses = np.array([1 / (1 + exp(-e)), exp(-e) / (1 + exp(-e))]) * rest
    return Atoms(losses, masses, float(leak), epsilon)


def answer_atoms(
    loss: float, told: float, other: float, categories: int, epsilon: Fraction | None
) -> Atoms:
    """Randomized response among several categories; its loss is `epsilon` where that is stated."""
    losses = np.array([loss, 0.0, -loss])
    masses = np.array([told, (categories - 2) * other, other])
    losses, masses = losses[masses > 0], masses[masses > 0]
    if epsilon is not None:
        return Atoms(losses, masses, 0.0, epsilon)
    return Atoms(losses, masses, 0.0, Fraction(loss), loss * 2.0**-50)


def geometric_atoms(sensitivity: int, scale: Fraction) -> Atoms | None:
    """Two-sided geometric noise; None where the losses are too many."""
    if sensitivity > MAX_ATOMS:
        return None
    steps = np.arange(sensitivity + 1, dtype=np.float64)
    per = float(1 / scale)
    masses = np.exp(-per * steps) * -expm1(-per) / (1 + exp(-per))
    masses[0] = 1 / (1 + exp(-per))
    masses[-1] = exp(-per * sensitivity) / (1 + exp(-per))
    return Atoms((sensitivity - 2 * steps) * per, masses, 0.0, 1 / scale)


def discrete_gaussian_atoms(sensitivity: int, sigma: Fraction) -> Atoms | None:
    """Discrete Gaussian noise, with a charge for its tails; None where the losses are too many."""
    reach = ceil(DISCRETE_REACH * sigma) + sensitivity
    if 2 * reach >= MAX_ATOMS:
        return None
    outputs = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(outputs**2) / (2 * float(sigma) ** 2))
    unit = sensitivity / (2 * sigma**2)
    losses = (sensitivity - 2 * outputs) * float(unit)
    return Atoms(losses, weights / weights.sum(), 1e-300, unit)


def envelope_atoms(lines: Iterable[Line]) -> Atoms:
    """The pair whose delta is the largest of told - t alarms over (told, alarms), t = e^epsilon."""
    return _atoms(_envelope(lines))


def _envelope(lines: Iterable[Line]) -> list[Line]:
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


def sample_losses(base: Losses, rate: Fraction, *, fixed_size: bool) -> tuple[Losses, ...] | None:
    """The losses of a release on a sample: a record removed and one added, or for a batch both."""
    share = float(rate)
    if not (1e-200 < share < 1.0 and float(1 - rate) > 1e-12):
        return None  # floats cannot tell the rate from 0, or from 1
    if fixed_size:
        return None if isinstance(base, Atoms) else (SplicedPair(base, share),)
    if isinstance(base, Atoms):
        return _poisson_atoms(base, share)
    return PoissonPair(base, share, removed=True), PoissonPair(base, share, removed=False)


def sample_reached(base: Losses, rate: Fraction) -> tuple[Losses, ...]:
    """What Poisson sampling reveals of a record that is removed.

    A batch of fixed size reaches it, too (proof, section 6); its spliced pair is a bound from
    above only.
    """
    return (sample_losses(base, rate, fixed_size=False) or ())[:1]


def _poisson_atoms(base: Atoms, rate: float) -> tuple[Atoms, Atoms]:
    """The atoms of ((1-rate) Q + rate P, Q), and of its reverse.

    What Q gives and P never does, or too rarely for floats, is no atom of P, but one of the
    mixture, at ln(1 - rate).
    """
    held = base.losses > -LARGEST_EXPONENT
    base_losses, masses = base.losses[held], base.masses[held]
    other, losses = masses * np.exp(-base_losses), _mix_losses(base_losses, rate)
    mixed = (1 - rate) * other + rate * masses
    if base.infinite or not held.all():
        unseen = max(0.0, 1 - float(other.sum()))
        losses, other = np.append(losses, log1p(-rate)), np.append(other, unseen)
        mixed = np.append(mixed, (1 - rate) * unseen)
    return Atoms(losses, mixed, rate * base.infinite), Atoms(-losses, other)


def _mix_losses(losses: Floats, rate: float) -> Floats:
    """ln(1 - rate + rate e^l), each right to a few roundings of itself."""
    within = np.minimum(losses, LARGEST_EXPONENT)
    long = losses + np.log(rate + (1 - rate) * np.exp(-np.maximum(losses, 0.0)))
    far = np.log((1 - rate) + rate * np.exp(np.minimum(losses, 0.0)))
    near = np.log1p(rate * np.expm1(within))
    return np.select([losses > LARGEST_EXPONENT, (losses < -1) & (rate > 0.5)], [long, far], near)
