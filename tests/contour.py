"""An independent road to delta: the inversion integral of the moment generating function.

delta(e) = 1/(2 pi i) times the integral of M(z)^n e^(-z e) / (z (z + 1)) dz along Re z = t > 0, for
M(z) = E_P[e^(z L)]. Test code only, no proof: it shares neither grid, nor transform, nor tails with
the accountant. Where all laws have atoms, the sums that are made of atoms alone are enumerated, and
only the rest is integrated, which falls like y^-3 or faster.

Accuracy of `Contour`: ACCURACY, relative, in delta. Seen against closed forms and binomial sums:
1e-11, and 1e-9 for 10^7 releases, where rounding of the logarithms adds up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, expm1, inf, log, log1p, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

Complex = NDArray[np.complex128]
Floats = NDArray[np.float64]
LogMoment = Callable[[Complex], Complex]

ACCURACY = 1e-8
MOST_POINTS = 1 << 21
MOST_ATOMS = 1 << 22
STEEPEST = 25.0  # the tilt that a quadrature over outputs is made for
QUIET = 1e-9
NO_ATOMS = np.empty(0)


def delta_of(log_moment: LogMoment, epsilon: float, tilt: float, *, points: int = 200_000) -> float:
    """The trapezoidal rule, which converges exponentially here."""
    step = 0.002 * max(tilt, 0.2)
    y = (np.arange(points) + 0.5) * step
    z = tilt + 1j * y
    values = np.exp(log_moment(z) - z * epsilon) / (z * (z + 1))
    return float(values.real.sum() * step / np.pi)


def epsilon_of(log_moment: LogMoment, delta: float, tilt: float, low: float, high: float) -> float:
    return float(brentq(lambda e: delta_of(log_moment, e, tilt) - delta, low, high, xtol=1e-10))


# Laws of the loss.


@dataclass(frozen=True, eq=False)
class Law:
    """ln E[e^(zL); L finite], the atoms, Pr[L = infinity], and what the integral can count on."""

    log_moment: LogMoment
    losses: Floats = field(default_factory=lambda: NO_ATOMS)
    masses: Floats = field(default_factory=lambda: NO_ATOMS)
    infinite: float = 0.0
    discrete: bool = False  # atoms are all there is
    variance: float = 0.0  # of a Gaussian factor: |M(t + iy)| falls like e^(-variance y^2 / 2)
    finest: float = inf  # the frequency up to which a quadrature resolves the loss

    def __call__(self, z: Complex) -> Complex:
        return self.log_moment(z)


def gaussian(mu: float) -> Law:
    """The loss is N(mu^2/2, mu^2)."""
    return Law(lambda z: mu**2 * z * (z + 1) / 2, variance=mu**2)


def laplace(ratio: float) -> Law:
    """E e^(zL): half of it at the ratio, an exponential between, and the rest at the other end."""

    def log_moment(z: Complex) -> Complex:
        ends = 0.5 + 0.5 * np.exp(-ratio - 2 * z * ratio)
        between = -0.5 * np.expm1(-(1 + 2 * z) * ratio) / (1 + 2 * z)
        return z * ratio + np.log(ends + between)

    return Law(log_moment, np.array([ratio, -ratio]), np.array([0.5, 0.5 * exp(-ratio)]))


def bounded_range(epsilon: float) -> Law:
    """The density e^((e + l)/2) / (2 (e^e - 1)) between -e and e."""

    def log_moment(z: Complex) -> Complex:
        w = z + 0.5
        return w * epsilon + np.log(-np.expm1(-2 * w * epsilon) / w) - log(4 * np.sinh(epsilon / 2))

    return Law(log_moment)


def atoms(losses: Sequence[float], masses: Sequence[float]) -> Law:
    """Finitely many losses; what their masses lack from 1 is at infinity."""
    at, share = np.asarray(losses, float), np.asarray(masses, float)
    lacking = max(0.0, 1 - float(share.sum()))
    return Law(_of_points(at, np.log(share)), at, share, lacking, discrete=True)


def pure(epsilon: float, leak: float = 0.0) -> Law:
    told = (1 - leak) / (1 + exp(-epsilon))
    law = atoms([epsilon, -epsilon], [told, told * exp(-epsilon)])
    return Law(law.log_moment, law.losses, law.masses, leak, discrete=True)


def randomized_response(truth: float, categories: int = 2) -> Law:
    other = (1 - truth) / (categories - 1)
    loss = log(truth / other)
    if categories == 2:
        return _whole(atoms([loss, -loss], [truth, other]))
    return _whole(atoms([loss, 0.0, -loss], [truth, (categories - 2) * other, other]))


def geometric(sensitivity: int, scale: float) -> Law:
    """By enumeration of the outputs between 0 and the sensitivity, with all beyond at the ends."""
    a = exp(-1 / scale)
    inner = [(sensitivity - 2 * x) / scale for x in range(sensitivity + 1)]
    masses = [a**x * (1 - a) / (1 + a) for x in range(sensitivity + 1)]
    masses[0], masses[-1] = 1 / (1 + a), a**sensitivity / (1 + a)
    return _whole(atoms(inner, masses))


def sampled_gaussian(sigma: float, rate: float, *, removed: bool) -> Law:
    """By quadrature over the output, which is smooth and decays like a Gaussian.

    A tilt t moves the outputs that count from 0 and 1 to at most t + 1.
    """
    x = np.linspace(-10 * sigma, STEEPEST + 1 + 9 * sigma, 3201)
    base = -(x**2) / (2 * sigma**2) - log(sigma * sqrt(2 * pi)) + log(x[1] - x[0])
    loss = np.logaddexp(log1p(-rate), log(rate) + (2 * x - 1) / (2 * sigma**2))
    signed, weights = (loss, base + loss) if removed else (-loss, base)
    return Law(_of_points(signed, weights), finest=2 * sigma**2 / float(x[1] - x[0]))


def sampled_laplace(ratio: float, rate: float, *, removed: bool) -> Law:
    """Atoms at both ends, and Gauss and Legendre between."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    middle = ratio * nodes  # the loss of the base; its density is e^((l - r)/2)/4
    density = np.log(ratio * weights / 4) + (middle - ratio) / 2
    ends, masses = np.array([ratio, -ratio]), np.log([0.5, 0.5 * exp(-ratio)])
    losses, logs = _mixed(np.append(ends, middle), np.append(masses, density), rate, removed)
    law = Law(_of_points(losses, logs), losses[:2], np.exp(logs[:2]))
    return Law(law.log_moment, law.losses, law.masses, finest=600 / ratio)


def sampled_atoms(base: Law, rate: float, *, removed: bool) -> Law:
    """A leak of the base is a leak if the record is used; for an added record it cannot show."""
    losses, logs = _mixed(base.losses, np.log(base.masses), rate, removed)
    # Q has mass where P has none only if P leaks: then Q's own leak is what the sum lacks.
    lacking = 1 - float(np.sum(base.masses * np.exp(-base.losses)))
    if removed:
        leak = rate * base.infinite
    else:
        # Where the record alone is shown differently, Q's law meets (1 - rate) Q: a finite loss.
        leak = 0.0
        if lacking > 1e-12:
            losses, logs = np.append(losses, -log1p(-rate)), np.append(logs, log(lacking))
    return Law(_of_points(losses, logs), losses, np.exp(logs), leak, discrete=True)


def _mixed(losses: Floats, logs: Floats, rate: float, removed: bool) -> tuple[Floats, Floats]:
    """((1-rate) Q + rate P, Q), or its reverse, from the points of (P, Q)."""
    mixed = np.log1p(rate * np.expm1(losses))
    other = logs - losses
    return (mixed, other + mixed) if removed else (-mixed, other)


def _whole(law: Law) -> Law:
    return Law(law.log_moment, law.losses, law.masses, discrete=True)


def _of_points(losses: Floats, logs: Floats) -> LogMoment:
    def log_moment(z: Complex) -> Complex:
        parts = np.array_split(z, max(1, z.size * losses.size // 400_000))
        return np.concatenate([_log_sum(part, losses, logs) for part in parts])

    return log_moment


def _log_sum(z: Complex, losses: Floats, logs: Floats) -> Complex:
    exponents = np.outer(z, losses) + logs
    peak = exponents.real.max(axis=1)
    return peak + np.log(np.exp(exponents - peak[:, None]).sum(axis=1))


# The integral.

Parts = Sequence[tuple[Law, int]]


def log_moment_at(parts: Parts, z: Complex) -> Complex:
    return sum((count * law(z) for law, count in parts), np.zeros(z.size, np.complex128))


def saddle(parts: Parts, epsilon: float) -> float:
    """Where the integrand is smallest on the real line: there the contour crosses it."""

    def size(log_tilt: float) -> float:
        t = exp(log_tilt)
        at = log_moment_at(parts, np.array([t + 0j])).real[0]
        return float(at - t * epsilon - log(t * (1 + t)))

    found = minimize_scalar(size, bounds=(log(1e-3), log(1e4)), method="bounded")
    return exp(found.x)


class Contour:
    """delta near an epsilon, for parts each run as often as it is counted."""

    def __init__(self, parts: Parts, near: float) -> None:
        self.parts = parts
        self.tilt = saddle(parts, near)
        self.log_scale = self._log(self.tilt)
        bend = 0.05 * self.tilt
        outer = self._log(self.tilt + bend) + self._log(self.tilt - bend)
        self.spread = sqrt(max(outer - 2 * self.log_scale, 1e-300)) / bend
        self.leak = -expm1(sum(count * log1p(-law.infinite) for law, count in parts))
        self.atoms = self._atoms()
        whole = all(law.discrete for law, _ in parts)
        self.z, self.values = self._line(near) if not whole else (NO_ATOMS, NO_ATOMS)

    def _log(self, tilt: float) -> float:
        return float(log_moment_at(self.parts, np.array([tilt + 0j])).real[0])

    def delta(self, epsilon: float) -> float:
        losses, masses = self.atoms
        held = losses > epsilon
        told = masses[held] @ (
            np.exp(self.tilt * (epsilon - losses[held])) * -np.expm1(epsilon - losses[held])
        )
        turned = np.exp(-1j * self.z.imag * epsilon)
        rest = float((self.values * turned).real.sum()) if self.z.size else 0.0
        return self.leak + exp(min(self.log_scale - self.tilt * epsilon, 700)) * (
            float(told) + rest
        )

    def epsilon(self, delta: float, low: float, high: float) -> float:
        """The root between two epsilons near the one that the contour was made for."""
        return float(brentq(lambda e: log(self.delta(e) / delta), low, high, xtol=1e-12))

    def _line(self, near: float) -> tuple[Complex, Complex]:
        """Points z and e^(K(z) - K(t)) / (z (z + 1)) times their share of the integral."""
        # The rule repeats delta at distances w, weighed by e^(-t w): w is far beyond the spread.
        decay = (40 - self.log_scale + self.tilt * near) / self.tilt
        step = 2 * pi / max(40 * self.spread, decay)
        quiet_for = 2 * self._period()
        found: list[tuple[Complex, Complex]] = []
        start, size, total, quiet_since = 0, 256, 0.0, inf
        while start < MOST_POINTS:
            z = self.tilt + 1j * (np.arange(start, start + size) + 0.5) * step
            values = self._spectrum(z) / (z * (z + 1)) * step / pi
            found.append((z, values))
            total = max(total, float(np.abs(np.sum(values))), float(np.abs(values).max()))
            start, size = start + size, min(2 * size, 1 << 16)
            end = float(z.imag[-1])
            if float(np.abs(values).max()) * end / step < QUIET * total:
                quiet_since = min(quiet_since, float(z.imag[0]))
            else:
                quiet_since = inf
            if end - quiet_since >= quiet_for or self._smooth() * end**2 > 80:
                break
        z, values = (np.concatenate(side) for side in zip(*found, strict=True))
        return z, values

    def _smooth(self) -> float:
        return sum(count * law.variance for law, count in self.parts)

    def _period(self) -> float:
        """How long a pause can be before atoms are in step again."""
        several = [np.sort(law.losses) for law, _ in self.parts if law.losses.size > 1]
        return max((2 * pi / float(np.diff(losses).min()) for losses in several), default=0.0)

    def _spectrum(self, z: Complex) -> Complex:
        """e^(K(z) - K(t)), less what sums of atoms alone give; quadratures only where needed."""
        quick = [(law, n) for law, n in self.parts if law.finest == inf]
        slow = [(law, n) for law, n in self.parts if law.finest < inf]
        powers = self._relative(quick, z)
        if slow:
            needed = powers.real > -45
            powers[~needed] = -1e3
            if needed.any():
                at = z[needed]
                powers[needed] += self._relative(slow, at)
                finest = min(law.finest for law, _ in slow)
                unresolved = (at.imag > finest) & (powers[needed].real > -22)
                assert not unresolved.any(), "the quadrature is too coarse for these releases"
                assert self.tilt <= STEEPEST, "the quadrature does not reach far enough"
        values = np.exp(powers)
        if self.atoms[0].size:
            values -= np.exp(sum(n * self._atoms_alone(law, z) for law, n in self.parts))
        return values

    def _relative(self, parts: Parts, z: Complex) -> Complex:
        start = np.array([self.tilt + 0j])
        return log_moment_at(parts, z) - log_moment_at(parts, start).real

    def _tilted_atoms(self, law: Law) -> Floats:
        return np.exp(self._log_tilted(law))

    def _log_tilted(self, law: Law) -> Floats:
        start = law(np.array([self.tilt + 0j])).real[0]
        return self.tilt * law.losses + np.log(law.masses) - start

    def _atoms_alone(self, law: Law, z: Complex) -> Complex:
        return _log_sum(1j * z.imag, law.losses, self._log_tilted(law))

    def _atoms(self) -> tuple[Floats, Floats]:
        """All sums of atoms with their tilted masses; none where they do not matter."""
        if any(not law.losses.size for law, _ in self.parts):
            return NO_ATOMS, NO_ATOMS
        shares = sum(n * log(float(self._tilted_atoms(law).sum())) for law, n in self.parts)
        if shares < -35:
            return NO_ATOMS, NO_ATOMS
        found = (np.zeros(1), np.ones(1))
        for law, count in self.parts:
            found = _plus(found, _times((law.losses, self._tilted_atoms(law)), count))
        return found


Points = tuple[Floats, Floats]


def _plus(one: Points, other: Points) -> Points:
    """The sums of two, equal ones merged, those that cannot matter left out."""
    assert one[0].size * other[0].size <= MOST_ATOMS, "too many sums of atoms"
    losses = np.add.outer(one[0], other[0]).ravel()
    masses = np.multiply.outer(one[1], other[1]).ravel()
    held = masses > 1e-22
    losses, masses = losses[held], masses[held]
    _, first, place = np.unique(np.rint(losses * 1e10), return_index=True, return_inverse=True)
    return losses[first], np.bincount(place, masses)


def _times(law: Points, count: int) -> Points:
    found, power = (np.zeros(1), np.ones(1)), law
    while count:
        if count & 1:
            found = _plus(found, power)
        count >>= 1
        if count:
            power = _plus(power, power)
    return found
