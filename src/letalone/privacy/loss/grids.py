"""The laws of a list of releases on one grid, and where on it an answer is looked for.

The step of the grid follows from the accuracy asked for: connecting the dots moves epsilon
by about n (t + 1) step^2 / 12 for n releases at the tilt t, lines at the middles by half of
that; an atom that is off the grid costs up to half a step from below. A search for the tilt
by a saddlepoint estimate is rough; the bounds hold at any tilt.

Many small laws are merged into few larger ones. A transform of the whole window for each of
hundreds of laws of a few dozen points is slow; a convolution of two such laws is not. All terms
of a convolution are positive, so each entry is right to a relative (n + 2) 2^-53, n terms being
added: they are rounded up, or down, by more.

  Proven:   docs/explanation/proofs/loss_distributions.md, section 5; the step decides nothing but
            speed and tightness
  Tested:   the same bounds with and without merging
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, expm1, gcd, inf, lcm, log, log1p, pi, sqrt

import numpy as np

from letalone.privacy.loss.lattice_law import NEARLY, LatticeLaw, ends_but_for, law_above, law_below
from letalone.privacy.loss.pairs import Atoms, Losses, ends_of
from letalone.privacy.loss.tilted import Laws, TiltedMoments, moments, points_of

ACCURACY_ABOVE = 5e-5  # of epsilon
ACCURACY_BELOW = 3e-4
IGNORED = 1e-6  # of delta: tails that go to infinity
LEAST_DELTA = 1e-250
MAX_POINTS = 1 << 19
ROUGH_POINTS = 4096
MOST_REFINEMENTS = 6
BISECTIONS = 9  # the tilt to a few parts in a thousand
STEEPEST_TILT = 1e5  # where losses are 1 apart
MANY_RELEASES = 64  # different releases, from which on each gets fewer points
OFTEN_RUNS = 30
COARSER_IF_MANY = 8.0  # times the finest step, where many different releases share the time
LOOK_AHEAD_FACTOR = 16.0  # times the step of an answer, for a look ahead
MAX_STEP_CANDIDATES = 1 << 14
MAX_LOOK_AHEAD_POINTS = 1 << 16
MIN_LAWS_TO_MERGE = 16  # laws, which are not worth merging
MAX_MERGED_POINTS = 2048  # points of a merged law
UNIT = 2.0**-53

Sources = tuple[tuple[Losses, int], ...]


@dataclass(frozen=True)
class AccountantEstimate:
    """A rough idea of where the answer lies; nothing depends on it but speed and tightness."""

    tilt: float
    epsilon: float
    spread: float
    delta: float


@dataclass(frozen=True)
class Aim:
    """What is asked: the curve near a delta, or near an epsilon."""

    delta: float | None = None
    epsilon: float | None = None

    @property
    def roughly(self) -> "Aim":
        """The same to a few digits: what is asked from above and from below."""
        ends = (self.delta, self.epsilon)
        return Aim(*(None if number is None else float(f"{number:.6g}") for number in ends))

    def miss(self, at: TiltedMoments, tilt: float) -> float:
        """Above 0 where the tilt is too small: by a saddlepoint estimate, or by the mean."""
        if self.epsilon is not None:
            return self.epsilon - at.mean
        return _log_delta(at, tilt) - log(max(self.delta or 0.0, 1e-300))


def _log_delta(at: TiltedMoments, tilt: float) -> float:
    """The saddlepoint estimate of ln delta where the mean is epsilon."""
    width = log(tilt * (1 + tilt) * sqrt(2 * pi * max(at.variance, 1e-300)))
    return at.log - tilt * at.mean - max(width, 0.0)


def prepare_laws(
    sources: Sources, aim: Aim, *, upper: bool, coarser: float = 1.0
) -> tuple[Laws, AccountantEstimate]:
    """The laws on a grid that is fine enough for the accuracy, and where to look."""
    some = _some_of(sources)
    guess = _first_look(some, aim.roughly)
    if aim.epsilon is not None:
        # Close to the end of the losses the spread is tiny, and so is the delta asked for.
        least = 8 * _widest(sources) / MAX_LOOK_AHEAD_POINTS
        guess = replace(guess, spread=max(guess.spread, least))
    step = _exact_step(sources, guess) or _step(sources, guess, upper=upper, coarser=coarser)
    if not upper:
        dear = COARSER_IF_MANY * len(sources) / len(some) if len(sources) > MANY_RELEASES else 1.0
        step = _finer(some, step, guess, dear)
    laws = _laws(sources, step, upper=upper, ignored=IGNORED * guess.delta)
    return merge_laws(laws, upper=upper), guess if some != sources else _estimate(laws, aim)


def _some_of(sources: Sources) -> Sources:
    """Of very many different releases about MANY, each for as many: enough for a first look."""
    every = len(sources) // MANY_RELEASES
    if every < 2:
        return sources
    by_width = sorted(sources, key=lambda source: _width(source[0]))
    return tuple(
        (part[len(part) // 2][0], sum(count for _, count in part))
        for part in (by_width[at : at + every] for at in range(0, len(by_width), every))
    )


@lru_cache(maxsize=64)
def _first_look(sources: Sources, aim: Aim) -> AccountantEstimate:
    """Twice: what is far less likely than delta must not attract the tilt."""
    rough_step = _round(sources, max(_widest(sources), 1e-12) / ROUGH_POINTS)
    guess = _estimate(_laws(sources, rough_step, upper=True, ignored=1e-60), aim)
    ignored = guess.delta / 100
    widest = max(_held(source, **_ends(sources, ignored)) for source, _ in sources)
    step = max(
        _step(sources, guess, upper=True, coarser=LOOK_AHEAD_FACTOR),
        Fraction(widest / MAX_LOOK_AHEAD_POINTS),
    )
    return _estimate(_laws(sources, step, upper=True, ignored=ignored), aim)


def _estimate(laws: Laws, aim: Aim) -> AccountantEstimate:
    miss = aim.miss
    rough = points_of(laws, ROUGH_POINTS)
    low, high = 1e-3, 1.0
    # A tilt so steep that one step of the grid is everything leaves no window around it.
    step = float(laws[0][0].step)
    widest = max(law.masses.size for law, _ in laws) * step
    steepest = min(STEEPEST_TILT / min(widest, 1.0), 50 / step)
    low, high = min(low, steepest / 4), min(high, steepest)
    while miss(moments(rough, high), high) > 0 and high < steepest:
        low, high = high, min(high * 4, steepest)
    if low == 1e-3 and miss(moments(rough, low), low) <= 0:
        high = low
    for _ in range(BISECTIONS):
        middle = sqrt(low * high)
        low, high = (middle, high) if miss(moments(rough, middle), middle) > 0 else (low, middle)
    tilt = sqrt(low * high)
    at = moments(rough, tilt)
    spread = sqrt(max(at.variance, 1e-300))
    delta = exp(min(_log_delta(at, tilt), 0.0))
    return AccountantEstimate(tilt, max(at.mean, spread), spread, max(delta, LEAST_DELTA))


def _finer(sources: Sources, step: Fraction, guess: AccountantEstimate, dear: float) -> Fraction:
    """Finer grids for laws below, until they lower epsilon by no more than was asked for."""
    best, accuracy, least = step, ACCURACY_BELOW * guess.epsilon, inf
    # Atoms off the grid cost a part of a step each: halving that again and again is dear.
    is_short = sum(count for _, count in sources) <= MANY_RELEASES
    coarsest = (32.0 if is_short else dear) * _coarsest(sources, guess)
    for _ in range(MOST_REFINEMENTS):
        laws = _laws(sources, step, upper=False, ignored=IGNORED * guess.delta)
        lost = sum(count * law.lost for law, count in laws)  # about how far epsilon is lowered
        best, least = (step, lost) if lost < least else (best, least)
        times = min(max(sqrt(lost / accuracy), 1.5), 8.0)
        finer = _round(sources, max(float(step) / times, coarsest))
        if lost <= accuracy or finer >= 0.99 * step:
            break
        step = finer
    return best


def _exact_step(sources: Sources, guess: AccountantEstimate) -> Fraction | None:
    """A step of which all atoms are whole multiples, if that is fine enough for memory."""
    atoms = [source for source, _ in sources if isinstance(source, Atoms)]
    units = [source.unit for source in atoms if source.unit is not None]
    if len(units) < len(sources):
        return None
    bottom = lcm(*(unit.denominator for unit in units))
    common = Fraction(gcd(*(int(unit * bottom) for unit in units)), bottom)
    widest = max(30 * guess.spread, _widest(sources))
    return common if widest / float(common) < MAX_POINTS else None


def _step(sources: Sources, guess: AccountantEstimate, *, upper: bool, coarser: float) -> Fraction:
    count = sum(n for _, n in sources)
    accuracy = 12 * ACCURACY_ABOVE if upper else 24 * ACCURACY_BELOW
    best = sqrt(accuracy * guess.epsilon / (count * (guess.tilt + 1)))
    fine = coarser * min(best, guess.spread / 8)
    return _round(sources, max(fine, _coarsest(sources, guess)))


def _coarsest(sources: Sources, guess: AccountantEstimate) -> float:
    """The least step that keeps arrays within memory, and many of them within seconds."""
    widest = max(_widest(sources), 6 * guess.spread)
    return widest * max(1.0, len(sources) / MANY_RELEASES) / MAX_POINTS


def _round(sources: Sources, step: float) -> Fraction:
    """A step near this one that the ends of the first law which has two are apart by.

    Of those near, one which fits the others, too.
    """
    ends = [(_apart(source), count) for source, count in sources[:MANY_RELEASES]]
    ends = [(apart, count) for apart, count in ends if step <= apart < inf]
    if not ends:
        return Fraction(step)
    width, fewest = ends[0][0], ceil(ends[0][0] / step)
    parts = np.arange(fewest, fewest + min(fewest // 4, MAX_STEP_CANDIDATES) + 1)
    lost = sum(count * (apart / width * parts + NEARLY) % 1 / parts for apart, count in ends[1:])
    best = parts[int(np.argmin(lost))] if len(ends) > 1 else fewest
    return Fraction(width) / int(best)


def _apart(source: Losses) -> float:
    """How far the ends of the losses are apart; for many atoms there is nothing to fit."""
    if isinstance(source, Atoms):
        return float(np.ptp(source.losses)) if source.losses.size == 2 else inf
    low, high = ends_of(source)
    return high - low


def _widest(sources: Sources) -> float:
    return max(_width(source) for source, _ in sources)


@lru_cache(maxsize=256)
def _width(source: Losses) -> float:
    if isinstance(source, Atoms):
        return float(np.ptp(source.losses)) or float(np.abs(source.losses).max())
    return _held(source, top=1e-20, bottom=1e-17)


def _held(source: Losses, *, top: float, bottom: float) -> float:
    """How far apart the losses are that a law will hold."""
    if isinstance(source, Atoms):
        return 0.0
    low, high = ends_but_for(source, top, bottom)
    return high - low


def _laws(sources: Sources, step: Fraction, *, upper: bool, ignored: float) -> Laws:
    ends = _ends(sources, ignored)
    if upper:
        return [(law_above(source, step, **ends), count) for source, count in sources]
    return [
        (law_below(source, step, **ends, often=count >= OFTEN_RUNS), count)
        for source, count in sources
    ]


def _ends(sources: Sources, ignored: float) -> dict[str, float]:
    count = sum(count for _, count in sources)
    return {"top": ignored / count, "bottom": 1e-17 / count}


def merge_laws(
    laws: Sequence[tuple[LatticeLaw, int]], *, upper: bool
) -> list[tuple[LatticeLaw, int]]:
    """The same sum from fewer laws: neighbours that are run once and are small become one."""
    if len(laws) <= MIN_LAWS_TO_MERGE:
        return list(laws)
    sign = 1 if upper else -1
    single = sorted((law for law, count in laws if count == 1), key=lambda law: law.masses.size)
    rest = [(law, count) for law, count in laws if count > 1]
    while len(single) > 1:
        pairs = [_pair(single[at : at + 2], sign) for at in range(0, len(single), 2)]
        done = [law for pair in pairs for law in pair]
        if len(done) == len(single):
            break
        single = done
    return rest + [(law, 1) for law in single]


def _pair(laws: Sequence[LatticeLaw], sign: int) -> Sequence[LatticeLaw]:
    if len(laws) < 2 or laws[0].masses.size + laws[1].masses.size > MAX_MERGED_POINTS:
        return laws
    return [_sum(laws[0], laws[1], sign)]


def _sum(first: LatticeLaw, second: LatticeLaw, sign: int) -> LatticeLaw:
    """The law of the sum of two losses."""
    terms = min(first.masses.size, second.masses.size)
    masses = np.convolve(first.masses, second.masses) * (1 + sign * (terms + 4) * UNIT)
    sure = max(first.infinite, second.infinite) >= 1
    leak = 1.0 if sure else -expm1(log1p(-first.infinite) + log1p(-second.infinite))
    return LatticeLaw(
        first.step,
        first.first + second.first,
        masses,
        max(0.0, leak * (1 + sign * 8 * UNIT)),
        first.shift + second.shift,
        first.origin + second.origin,
        first.lost + second.lost,
    )
