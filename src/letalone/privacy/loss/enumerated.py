"""Few losses, all listed: what a short list of releases with finitely many losses reveals.

With m atoms a release, n releases have as many losses as there are ways to share n among m.
Where these are not too many the curve is their sum, term by term; no grid, no transform.

  Proven:   docs/explanation/proofs/loss_distributions.md, section 8
  Tested:   against exact sums over all outcomes, in rationals
  Assumed:  what `pairs` assumes; lgamma of the platform is right to 2^-48
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb, expm1, inf, lgamma, log1p, nextafter, prod

import numpy as np

from letalone.privacy.loss.grids import Sources
from letalone.privacy.loss.pairs import ACCURACY, Atoms, Floats

MOST_LOSSES = 1 << 15
MOST_SHARES = 1 << 20  # numbers in the table of all ways to share
SURELY_MANY = 16  # releases with as many losses each: hundreds of millions of sums
LGAMMA = 2.0**-48
HALVINGS = 80
LOST = 2.0**-1060  # more than a probability loses that is below all floats


@dataclass(frozen=True)
class EnumeratedLosses:
    """All losses of a list; masses are right to a relative `error`, losses to `shift`."""

    losses: Floats
    masses: Floats
    infinite: float
    error: float
    shift: float

    def delta_above(self, epsilon: float) -> float:
        finite = self._sum(epsilon - self.shift) * (1 + self.error) + LOST * self.masses.size
        return min(1.0, finite + self._leak(1))

    def delta_below(self, epsilon: float) -> float:
        return max(0.0, self._sum(epsilon + self.shift) * (1 - self.error) + self._leak(-1))

    def _leak(self, side: int) -> float:
        return self.infinite * (1 + side * self.error)

    def _sum(self, epsilon: float) -> float:
        gains = -np.expm1(np.minimum(epsilon - self.losses, 0.0))
        return float(self.masses @ gains)

    def epsilon_above(self, delta: float) -> float:
        """An epsilon at which delta is certainly enough; inf if none is."""
        last = max(0.0, float(self.losses.max()) + 2 * self.shift)
        if self.delta_above(last) > delta:
            return inf
        _, epsilon = _edge(lambda x: self.delta_above(x) <= delta, last)
        # A hair more: then delta, asked for there, is less.
        return nextafter(epsilon * (1 + 2.0**-40), inf)

    def epsilon_below(self, delta: float) -> float:
        """An epsilon at which delta is certainly not enough, or 0."""
        last = max(0.0, float(self.losses.max()))
        epsilon, _ = _edge(lambda x: self.delta_below(x) <= delta, last)
        return epsilon


def _edge(holds: Callable[[float], bool], high: float) -> tuple[float, float]:
    """Where a condition that holds at `high` starts to hold: (fails, holds), or 0 for the first."""
    low = 0.0
    if holds(low):
        return 0.0, 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


@lru_cache(maxsize=64)
def enumerate_losses(sources: Sources) -> EnumeratedLosses | None:
    """All losses of a list, if every release has few."""
    atoms = [(source, count) for source, count in sources if isinstance(source, Atoms)]
    if len(atoms) < len(sources) or not _are_few(atoms):
        return None
    losses, masses = np.zeros(1), np.ones(1)
    for source, count in atoms:
        more, weights = _repeat_atoms(source, count)
        losses, masses = np.add.outer(losses, more).ravel(), np.outer(masses, weights).ravel()
    runs = sum(count for _, count in atoms)
    rounding = 8 * ACCURACY * (runs + 16) + LGAMMA * sum(_logs(a, count) for a, count in atoms)
    rounding += masses.size * 2.0**-52  # of the sum
    largest = sum(count * float(np.abs(a.losses).max()) for a, count in atoms)
    shift = sum(count * a.unit_error for a, count in atoms) + 4 * ACCURACY * largest
    # A float leak that is 1 less a rounding is taken as 1.
    leak = -expm1(sum(count * log1p(-min(a.infinite, 1 - 2.0**-53)) for a, count in atoms))
    return EnumeratedLosses(losses, masses, leak, rounding, shift)


def _are_few(atoms: list[tuple[Atoms, int]]) -> bool:
    """Whether all sums, and the tables that list them, are small, and no list is empty."""
    if not all(a.masses.any() for a, _ in atoms):  # too small for floats beside a leak of almost 1
        return False
    if any(min(a.losses.size, count) > SURELY_MANY for a, count in atoms):
        return False
    sizes = [comb(count + a.losses.size - 1, count) for a, count in atoms]
    shares = [size * a.losses.size for size, (a, n) in zip(sizes, atoms, strict=True) if n > 1]
    return 0 < prod(sizes) <= MOST_LOSSES and max(shares, default=0) <= MOST_SHARES


def _repeat_atoms(source: Atoms, count: int) -> tuple[Floats, Floats]:
    """The losses of that many releases, with their multinomial probabilities."""
    held = source.masses > 0
    if count == 1:
        return source.losses[held], source.masses[held]
    ways = _ways(int(held.sum()), count)
    factorials = np.array([lgamma(n + 1) for n in range(count + 1)])
    logs = ways @ np.log(source.masses[held]) - factorials[ways].sum(axis=1)
    return ways @ source.losses[held], np.exp(factorials[count] + logs)


def _ways(kinds: int, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """All ways to share a count among kinds: places of bars between stars."""
    bars = list(combinations(range(count + kinds - 1), kinds - 1))
    edges = np.array(bars, dtype=np.int64).reshape(len(bars), kinds - 1)
    first = np.full((len(bars), 1), -1)
    last = np.full((len(bars), 1), count + kinds - 1)
    return np.diff(np.hstack([first, edges, last]), axis=1) - 1


def _logs(source: Atoms, count: int) -> float:
    """How large the logarithms are that are added up for one probability."""
    held = source.masses[source.masses > 0]
    return 2 * lgamma(count + 1) + count * float(np.abs(np.log(held)).max(initial=0.0))
