"""What a fixed list of releases reveals, from above and from below.

The step of the grid follows from the accuracy asked for: connecting the dots moves epsilon
by about n (t + 1) step^2 / 12 for n releases at the tilt t, merging outputs by their shift.
A search for the tilt by a saddlepoint estimate is rough; the bounds hold at any tilt.

  Proven:   docs/explanation/proofs/loss_distributions.md
  Tested:   against closed forms, binomial sums and an independent contour integral
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, gcd, inf, log, nextafter, pi, sqrt

import numpy as np

from letalone.privacy.loss.lattice_law import law_above, law_below, support
from letalone.privacy.loss.pairs import Atoms, LaplacePair, Pair
from letalone.privacy.loss.tilted import (
    NOTHING_KNOWN,
    NOTHING_SHOWN,
    Curve,
    Laws,
    Moments,
    TooWide,
    curve_of,
    moments,
    points_of,
    tilted_sum,
)

ACCURACY_ABOVE = 4e-5  # of epsilon
ACCURACY_BELOW = 5e-4
MOST_POINTS = 1 << 19
ROUGH_POINTS = 4096
STEEPEST_TILT = 1e5
COARSER = (1.0, 4.0, 16.0, 64.0)  # steps to fall back to where a window is too wide
MOST_CURVES = 24  # that are remembered for one composition
NUDGES = (1.0, 0.8, 1.25, 0.5, 2.0, 0.25, 4.0)

Source = Pair | Atoms
Sources = tuple[tuple[Source, int], ...]


@dataclass(frozen=True)
class Estimate:
    """A rough idea of where the answer lies; nothing depends on it but speed and tightness."""

    tilt: float
    epsilon: float
    spread: float
    ignored: float = 1e-60


def epsilon_above(sources: Sources, delta: float, *, coarser: float = 1.0) -> float:
    """An epsilon with which the composition is certainly (epsilon, delta)-DP, or inf."""
    found = _first_answer(sources, delta, upper=True, coarser=coarser)
    # A hair more: then the same curve, asked for delta there, answers less than delta.
    return inf if found is None else nextafter(max(found, 0.0) * (1 + 2.0**-40), inf)


def epsilon_below(sources: Sources, delta: float) -> float:
    """An epsilon with which it certainly is not, or 0."""
    found = _first_answer(sources, delta, upper=False)
    return 0.0 if found is None else max(0.0, found * (1 - 2.0**-40))


def delta_above(sources: Sources, epsilon: float, *, coarser: float = 1.0) -> float:
    """A delta with which the composition is certainly (epsilon, delta)-DP."""
    if coarser > 1:
        laws, guess = _prepared(sources, _by_epsilon(epsilon), upper=True, coarser=coarser)
        with suppress(TooWide):
            curve = _curve(laws, guess.tilt, upper=True)
            return curve.delta(epsilon - curve.shift) if curve.reaches(epsilon) else 1.0
        return 1.0
    curves = _around(sources, epsilon, upper=True)
    return min(1.0, *(curve.delta(epsilon - curve.shift) for curve in curves))


def delta_below(sources: Sources, epsilon: float) -> float:
    """A delta with which it certainly is not, or 0."""
    curves = _around(sources, epsilon, upper=False)
    return max(0.0, *(curve.delta(epsilon + curve.shift) for curve in curves))


def _around(sources: Sources, epsilon: float, *, upper: bool) -> list[Curve]:
    """All known curves with this epsilon in their window, at least one of them tight there."""
    known = _curves(sources, upper)
    if not any(curve.holds(epsilon) for curve in known):
        for coarser in COARSER:
            laws, guess = _prepared(sources, _by_epsilon(epsilon), upper=upper, coarser=coarser)
            with suppress(TooWide):
                known.append(_curve(laws, guess.tilt, upper=upper))
                del known[:-MOST_CURVES]
                break
    return [curve for curve in known if curve.reaches(epsilon)] or [
        NOTHING_KNOWN if upper else NOTHING_SHOWN
    ]


@lru_cache(maxsize=64)
def _curves(sources: Sources, upper: bool) -> list[Curve]:  # noqa: ARG001
    return []


Aim = Callable[[Laws], Estimate]


def _by_delta(delta: float) -> Aim:
    """The tilt at which a saddlepoint estimate of delta is the one asked for."""
    goal = log(max(delta, 1e-300))

    def miss(at: Moments, tilt: float) -> float:
        width = log(tilt * (1 + tilt) * sqrt(2 * pi * max(at.variance, 1e-300)))
        return at.log - tilt * at.mean - max(width, 0.0) - goal

    return lambda laws: _estimate(laws, miss)


def _by_epsilon(epsilon: float) -> Aim:
    """The tilt at which the mean is the epsilon asked for."""
    return lambda laws: _estimate(laws, lambda at, _: epsilon - at.mean)


def _estimate(laws: Laws, miss: Callable[[Moments, float], float]) -> Estimate:
    rough = points_of(laws, ROUGH_POINTS)
    low, high = 1e-3, 1.0
    # A tilt so steep that one step of the grid is everything leaves no window around it.
    steepest = min(STEEPEST_TILT, 50 / float(laws[0][0].step))
    low, high = min(low, steepest / 4), min(high, steepest)
    while miss(moments(rough, high), high) > 0 and high < steepest:
        low, high = high, min(high * 4, steepest)
    if low == 1e-3 and miss(moments(rough, low), low) <= 0:
        high = low
    for _ in range(24):
        middle = sqrt(low * high)
        low, high = (middle, high) if miss(moments(rough, middle), middle) > 0 else (low, middle)
    tilt = sqrt(low * high)
    at = moments(rough, tilt)
    return Estimate(tilt, max(at.mean, sqrt(max(at.variance, 0.0))), sqrt(max(at.variance, 1e-300)))


def _first_answer(
    sources: Sources, delta: float, *, upper: bool, coarser: float = 1.0
) -> float | None:
    """The epsilon of a curve whose window holds it."""
    for more in COARSER:
        ignored = min(1e-60, delta * 1e-12)
        laws, guess = _prepared(
            sources, _by_delta(delta), upper=upper, coarser=coarser * more, ignored=ignored
        )
        for nudge in NUDGES:
            with suppress(TooWide):
                curve = _curve(laws, guess.tilt * nudge, upper=upper)
                found = curve.epsilon(delta)
                if found is not None:
                    if coarser == 1:
                        _curves(sources, upper).insert(0, curve)
                    return found + (curve.shift if upper else -curve.shift)
    return None


def _prepared(
    sources: Sources, aim: Aim, *, upper: bool, coarser: float = 1.0, ignored: float = 1e-60
) -> tuple[Laws, Estimate]:
    """The laws on a grid that is fine enough for the accuracy, and where to look."""
    rough = _laws_below(sources, _first_step(sources), ignored)
    guess = replace(aim(rough), ignored=ignored)
    step = _exact_step(sources, guess) or _step(sources, guess, upper=upper, coarser=coarser)
    laws = _laws_above(sources, step, ignored) if upper else _finer(sources, step, guess)
    return laws, aim(laws)


def _curve(laws: Laws, tilt: float, *, upper: bool) -> Curve:
    return curve_of(tilted_sum(laws, tilt), upper=upper)


def _laws_above(sources: Sources, step: Fraction, ignored: float) -> Laws:
    ends = _ends(sources, ignored)
    return [(law_above(source, step, **ends), count) for source, count in sources]


def _laws_below(
    sources: Sources, step: Fraction, ignored: float, tilt: float | None = None
) -> Laws:
    ends = _ends(sources, ignored)
    return [(law_below(source, step, **ends, tilt=tilt), count) for source, count in sources]


def _ends(sources: Sources, ignored: float) -> dict[str, float]:
    count = sum(count for _, count in sources)
    return {"top": ignored / count, "bottom": 1e-17 / count}


def _first_step(sources: Sources) -> Fraction:
    """A step for a first look: a few thousand points for the widest law."""
    widest = max(_width(source) for source, _ in sources)
    return _round(sources, max(widest, 1e-12) / ROUGH_POINTS)


@lru_cache(maxsize=256)
def _width(source: Source) -> float:
    if isinstance(source, Atoms):
        return float(np.ptp(source.losses)) or float(np.abs(source.losses).max())
    first, last = support(source, Fraction(1, 1 << 20), top=1e-20, bottom=1e-17)
    return (last - first) / (1 << 20)


def _step(sources: Sources, guess: Estimate, *, upper: bool, coarser: float) -> Fraction:
    count = sum(n for _, n in sources)
    asked = ACCURACY_ABOVE if upper else ACCURACY_BELOW
    best = sqrt(12 * asked * guess.epsilon / (count * (guess.tilt + 1)))
    fine = coarser * min(best, guess.spread / 8)
    return _round(sources, max(fine, _coarsest(sources, guess)))


def _coarsest(sources: Sources, guess: Estimate) -> float:
    """The least step that keeps arrays within memory."""
    widest = max(_width(source) for source, _ in sources)
    return max(widest, 24 * guess.spread) / MOST_POINTS


def _finer(sources: Sources, step: Fraction, guess: Estimate) -> Laws:
    """Laws below at a step so fine that their shift is what was asked for, or memory says stop."""
    laws = _laws_below(sources, step, guess.ignored, guess.tilt)
    for _ in range(6):
        loss = sum(count * (law.shift + law.lost) for law, count in laws)
        if loss <= ACCURACY_BELOW * guess.epsilon:
            break
        finer = float(step) * min(0.9, sqrt(0.8 * ACCURACY_BELOW * guess.epsilon / loss))
        if finer < _coarsest(sources, guess):
            break
        step = _round(sources, finer)
        laws = _laws_below(sources, step, guess.ignored, guess.tilt)
    return laws


def _round(sources: Sources, step: float) -> Fraction:
    """A step near this one of which the first law's atoms are whole multiples."""
    for source, _ in sources:
        if isinstance(source, LaplacePair) and source.ratio >= step:
            return Fraction(source.ratio) / ceil(source.ratio / step)
    return Fraction(step)


def _exact_step(sources: Sources, guess: Estimate) -> Fraction | None:
    """A step of which all atoms are whole multiples, if that is fine enough for memory."""
    units: list[Fraction] = []
    for source, _ in sources:
        if not isinstance(source, Atoms) or source.unit is None:
            return None
        units.append(source.unit)
    bottom = 1
    for unit in units:
        bottom = bottom * unit.denominator // gcd(bottom, unit.denominator)
    common = Fraction(gcd(*(int(unit * bottom) for unit in units)), bottom)
    return common if 30 * guess.spread / float(common) < MOST_POINTS else None
