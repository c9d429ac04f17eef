"""What a fixed list of releases reveals, from above and from below.

An epsilon is that of a curve aimed at its delta, whatever was asked before: filters are charged
with it. A delta is the best of all cached curves, one that is tight there among them, so it may be
a little smaller where more was asked before; `composed_losses` keeps what is told in line. Of each
composition, one order and one side, the newest curves are kept; of older compositions as many as
there is room for.

  Proven:   docs/explanation/proofs/loss_distributions.md; every cached curve is certified
  Tested:   against closed forms, binomial sums and an independent contour integral
"""

from collections import OrderedDict
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from math import inf, nextafter
from threading import RLock

from letalone.privacy.loss import tilted
from letalone.privacy.loss.grids import Aim, Sources, prepare_laws
from letalone.privacy.loss.lattice_law import TooWide
from letalone.privacy.loss.pairs import Atoms, ends_of
from letalone.privacy.loss.tilted import Laws, LossCurve

COARSER = (1.0, 4.0, 16.0, 64.0)  # steps to fall back to where a window is too wide
MOST_SMALLER = 12
SMALLEST = 5e-324
NUDGES = (1.0, 0.8, 1.25, 0.5, 2.0, 0.25, 4.0)
MOST_CURVES = 8  # of one composition
MOST_CACHED_POINTS = 3 << 20  # of all curves: 24 bytes each
FEWEST_KNOWN, MOST_KNOWN = 2, 16  # compositions

Key = tuple[object, bool]  # the releases, and whether from above


class CurveCache:
    """Caches curves by what they are the curves of."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, list[LossCurve]] = OrderedDict()
        self._lock = RLock()  # threads of a service share it

    def curves(self, key: Key) -> list[LossCurve]:
        """Those that are known, what was used last first."""
        with self._lock:
            known = self._known.setdefault(key, [])
            self._known.move_to_end(key)
            return list(known)

    def add(self, key: Key, curve: LossCurve) -> list[LossCurve]:
        """All that are known now."""
        with self._lock:
            known = [curve, *self.curves(key)][:MOST_CURVES]
            while len(known) > 2 and _points(known) > MOST_CACHED_POINTS // 4:
                known.pop()
            self._known[key] = known
            while len(self._known) > FEWEST_KNOWN and self._is_full():
                self._known.popitem(last=False)
            return list(known)

    def _is_full(self) -> bool:
        points = sum(_points(curves) for curves in self._known.values())
        return points > MOST_CACHED_POINTS or len(self._known) > MOST_KNOWN


def _points(curves: list[LossCurve]) -> int:
    return sum(curve.losses.size for curve in curves)


CURVES = CurveCache()


def epsilon_above(sources: Sources, delta: float, *, coarser: float = 1.0) -> float:
    """An epsilon with which the composition is certainly (epsilon, delta)-DP, or inf."""
    answer = _first_answer(sources, delta, upper=True, coarser=coarser)
    # A hair more: then the same curve, asked for delta there, answers less than delta.
    return inf if answer is None else nextafter(max(answer, 0.0) * (1 + 2.0**-40), inf)


def epsilon_below(sources: Sources, delta: float) -> float:
    """An epsilon with which it certainly is not, or 0."""
    answer = _first_answer(sources, delta, upper=False)
    return 0.0 if answer is None else max(0.0, answer * (1 - 2.0**-40))


def delta_above(sources: Sources, epsilon: float, *, coarser: float = 1.0) -> float:
    """A delta with which the composition is certainly (epsilon, delta)-DP."""
    if coarser > 1:
        with suppress(TooWide):
            laws, guess = prepare_laws(sources, Aim(epsilon=epsilon), upper=True, coarser=coarser)
            curve = _reaching(laws, guess.tilt, epsilon, upper=True)
            return curve.delta(epsilon - curve.shift) if curve.reaches(epsilon) else 1.0
        return 1.0
    curves = _around(sources, epsilon, upper=True)
    # What is too small for a float is not 0.
    return max(SMALLEST, min(1.0, *(curve.delta(epsilon - curve.shift) for curve in curves)))


def delta_below(sources: Sources, epsilon: float) -> float:
    """A delta with which it certainly is not, or 0."""
    curves = _around(sources, epsilon, upper=False)
    return max(0.0, *(curve.delta(epsilon + curve.shift) for curve in curves))


def _around(sources: Sources, epsilon: float, *, upper: bool) -> list[LossCurve]:
    """All known curves with this epsilon in their window, at least one of them tight there."""
    known = CURVES.curves((sources, upper))
    near = min(epsilon, _end(sources))  # beyond it all curves say the same
    if not any(curve.holds(near) for curve in known):
        for coarser in COARSER:
            with suppress(TooWide):
                laws, guess = prepare_laws(sources, Aim(epsilon=near), upper=upper, coarser=coarser)
                known = CURVES.add((sources, upper), _reaching(laws, guess.tilt, near, upper=upper))
                break
    return [curve for curve in known if curve.reaches(epsilon)] or [
        tilted.NOTHING_KNOWN if upper else tilted.NOTHING_SHOWN
    ]


@lru_cache(maxsize=64)
def _end(sources: Sources) -> float:
    """The largest sum of losses, or infinity; right to a few roundings."""
    ends = (
        count * (float(source.losses.max()) if isinstance(source, Atoms) else ends_of(source)[1])
        for source, count in sources
    )
    return sum(ends)


def _reaching(laws: Laws, tilt: float, epsilon: float, *, upper: bool) -> LossCurve:
    """A curve at about this tilt, or at a smaller one if its window ends above epsilon."""
    curve = _curve(laws, tilt, upper=upper)
    for _ in range(MOST_SMALLER):
        if curve.reaches(epsilon):
            break
        tilt /= 3
        curve = _curve(laws, tilt, upper=upper)
    return curve


def _first_answer(
    sources: Sources, delta: float, *, upper: bool, coarser: float = 1.0
) -> float | None:
    """The epsilon of a curve whose window holds it."""
    step: Fraction | None = None
    for more in COARSER:
        with suppress(TooWide):
            laws, guess = prepare_laws(
                sources, Aim(delta=delta), upper=upper, coarser=coarser * more
            )
            if laws[0][0].step == step:
                break  # it cannot be coarser
            step = laws[0][0].step
            curve = _holding(laws, guess.tilt, delta, upper=upper)
            if curve is not None:
                if coarser == 1:
                    CURVES.add((sources, upper), curve)
                epsilon = curve.epsilon(delta) or 0.0
                return epsilon + (curve.shift if upper else -curve.shift)
    return None


def _holding(laws: Laws, tilt: float, delta: float, *, upper: bool) -> LossCurve | None:
    """A curve at about this tilt that falls to delta inside its window."""
    for nudge in NUDGES:
        with suppress(TooWide):
            curve = _curve(laws, tilt * nudge, upper=upper)
            if curve.epsilon(delta) is not None:
                return curve
    return None


def _curve(laws: Laws, tilt: float, *, upper: bool) -> LossCurve:
    return tilted.curve_of(tilted.tilted_sum(laws, tilt), upper=upper)
