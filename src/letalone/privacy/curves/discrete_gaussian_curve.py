"""What discrete Gaussian noise reveals of one integer.

Noise with Pr[Z = z] proportional to e^(-z^2 / (2 sigma^2)) on the integers, on one integer
query that moves by at most `sensitivity` = s.

Theorem.  With last = ceil(s/2 - e sigma^2 / s) - 1,
    delta(e) = Pr[Z <= last] - e^e Pr[Z <= last - s],
exactly. This is *not* the curve of the Gaussian with the same sigma, which is smaller at
some epsilon: the discrete Gaussian is s^2 / (2 sigma^2)-zCDP but not (s / sigma)-GDP.
A group of k has the sensitivity k s. Vectors: see `zcdp_rho`.

With g(x) = e^(-x^2 / (2 sigma^2)), Pr[Z >= first] = (sum of g from first) / (sum of
g over all integers), and each sum is a ball that contains it:
  - the sum over all integers directly, or by Poisson's formula, whichever converges fast;
  - a half-line by adding terms until the rest, less than a geometric series, is negligible;
  - a half-line of many terms by Euler and Maclaurin's formula with its remainder.
What is left out is always added as the interval from zero to its bound.
  Proven:   docs/explanation/proofs/discrete_gaussian.md (section 3: the tail sums)
  Tested:   against a 50-digit sum; tails on both sides of each
            switch; above the Gaussian curve by .118 at sigma = 1/2
  Assumed:  Arb's Bernoulli numbers and incomplete gamma function are correct

Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy (2020).
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil

from letalone.exact.balls import Ball, ball, certain, is_positive, working_bits
from letalone.exact.typed import COUNT, SCALE, Number
from letalone.privacy.bounds import ONE, ZERO, Bounds, exactly, once
from letalone.privacy.curve import Orders, Privacy, curve
from letalone.privacy.curves.renyi import MOMENTS_ONLY
from letalone.privacy.neighbours import Neighbours

# From FAR standard deviations on, delta is below 2 e^(-FAR^2 / 2) (proof, section 4).
FAR = Fraction(10**6)
EULER_TERMS = 16
FEW_SIGMA = 16
SPARE_BITS = 16
WHOLE_TERMS = 10
POISSON_FROM = Fraction(2, 5)  # there both forms have exponents of about -3.1


@curve("discrete_gaussian")
class DiscreteGaussianPrivacy(Privacy):
    """The curve of discrete Gaussian noise on one integer."""

    sensitivity: int
    sigma: Fraction

    def __init__(
        self, sensitivity: Number, sigma: Number, *, neighbours: Neighbours | None = None
    ) -> None:
        self.fill(
            neighbours,
            sensitivity=int(COUNT.typed("sensitivity", sensitivity)),
            sigma=SCALE.typed("sigma", sigma),
        )

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """The most telling event is {noise <= last}: there the loss exceeds epsilon."""
        shift = self.sensitivity
        last = ceil(Fraction(shift, 2) - epsilon * self.sigma**2 / shift) - 1
        if -last >= max(FAR * self.sigma, self.sigma**2):
            return Bounds(ZERO, once(lambda: 2 * ball(-(FAR**2) / 2).exp()))
        return exactly(certain(lambda: self._excess(last, epsilon)))

    def _excess(self, last: int, epsilon: Fraction) -> Ball:
        far = self._at_most(last - self.sensitivity)
        return self._at_most(last) - ball(epsilon).exp() * far

    def _at_most(self, last: int) -> Ball:
        """Pr[Z <= last], keeping all digits of a small probability."""
        if last < 0:
            return half_line(-last, self.sigma)
        return 1 - half_line(last + 1, self.sigma)

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Straight lines between the tests {output <= j}; the right one is found exactly."""
        if false_alarm == 0:
            return exactly(ONE)
        last = self._first_reaching(false_alarm)
        return exactly(certain(lambda: self._interpolated(last, false_alarm)))

    def _first_reaching(self, false_alarm: Fraction) -> int:
        """The first `last` for which {output <= last} raises more false alarms than that."""
        step = 1
        while not self._reaches(self.sensitivity + step, false_alarm):
            step *= 2
        low, high = self.sensitivity, self.sensitivity + step
        step = 1
        while self._reaches(low, false_alarm):
            low, high, step = low - step, low, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            if self._reaches(middle, false_alarm):
                high = middle
            else:
                low = middle
        return high

    def _reaches(self, last: int, false_alarm: Fraction) -> bool:
        return is_positive(lambda: self._at_most(last - self.sensitivity) - ball(false_alarm))

    def _interpolated(self, last: int, false_alarm: Fraction) -> Ball:
        # Beyond the test {output <= last - 1}, each false alarm buys e^loss(last) detections.
        loss = self.sensitivity * (self.sensitivity - 2 * last) / (2 * self.sigma**2)
        more = ball(false_alarm) - self._at_most(last - 1 - self.sensitivity)
        return self._at_most(-last) - ball(loss).exp() * more

    def for_group(self, size: int) -> Privacy:
        return DiscreteGaussianPrivacy(size * self.sensitivity, self.sigma)

    def zcdp_rho(self) -> Fraction:
        """s^2 / (2 sigma^2); this also holds for vectors of L2 sensitivity s."""
        return self.sensitivity**2 / (2 * self.sigma**2)

    def why_not(self) -> str:
        return MOMENTS_ONLY

    def reached(self) -> "Orders":
        """What was charged for tails must not be claimed."""
        from letalone.privacy.loss.atoms import discrete_gaussian_atoms

        atoms = discrete_gaussian_atoms(self.sensitivity, self.sigma)
        return () if atoms is None else (replace(atoms, infinite=0.0),)

    def make_losses(self) -> "Orders | None":
        from letalone.privacy.loss.atoms import discrete_gaussian_atoms

        atoms = discrete_gaussian_atoms(self.sensitivity, self.sigma)
        return None if atoms is None else (atoms,)


def half_line(first: int, sigma: Fraction) -> Ball:
    """Pr[Z >= first] for first >= 0; to be called where the precision is set."""
    # Adding terms is fast if there are few, or if each is well below the one before.
    if sigma <= FEW_SIGMA or 4 * first >= sigma**2:
        return sum_terms(first, sigma) / sum_all(sigma)
    return euler_maclaurin(first, sigma) / sum_all(sigma)


def sum_terms(first: int, sigma: Fraction) -> Ball:
    """The sum of g from `first` >= 0 on, term by term."""
    shrink = ball(-1 / sigma**2).exp()
    term = ball(Fraction(-(first**2)) / (2 * sigma**2)).exp()
    ratio = ball(Fraction(-(2 * first + 1)) / (2 * sigma**2)).exp()
    enough, total = ball(Fraction(1, 1 << (working_bits() + SPARE_BITS))), term
    while True:
        # All that follows is below a geometric series, since the ratios fall.
        rest = term * ratio / (1 - ratio)
        if rest < total * enough or not rest.is_finite():
            return total + rest * _unit()
        term, ratio = term * ratio, ratio * shrink
        total += term


def euler_maclaurin(first: int, sigma: Fraction) -> Ball:
    """The sum of g from `first` >= 0 on, by Euler and Maclaurin."""
    point, width = ball(Fraction(first) / sigma), ball(sigma)
    root = ball(2).sqrt()
    peak = (-(point**2) / 2).exp()
    integral = width * (Ball.pi() / 2).sqrt() * (point / root).erfc()
    total, before, hermite = integral + peak / 2, ball(1), point
    for order in range(1, EULER_TERMS + 1):
        # The derivative of odd order n is -He_n(u) e^(-u^2/2) / sigma^n.
        weight = Ball.bernoulli(2 * order) / Ball.fac_ui(2 * order)
        total += weight * hermite * peak / width ** (2 * order - 1)
        for degree in (2 * order - 1, 2 * order):
            before, hermite = hermite, point * hermite - degree * before
    return total + _remainder(point, width) * (2 * _unit() - 1)


def _remainder(point: Ball, width: Ball) -> Ball:
    # |He_2p(u)| <= 2^(p-1) (u^2p + (2p-1)!!), integrated from the point on.
    p, half = EULER_TERMS, ball(Fraction(1, 2))
    moment = Ball.fac_ui(2 * p) / (2**p * Ball.fac_ui(p))
    powers = ball(2) ** (p - half) * (point**2 / 2).gamma_upper(ball(p) + half)
    even = moment * (Ball.pi() / 2).sqrt() * (point / ball(2).sqrt()).erfc()
    periodic = 4 / (2 * Ball.pi() * width) ** (2 * p)
    return periodic * width * 2 ** (p - 1) * (powers + even)


def sum_all(sigma: Fraction) -> Ball:
    """The sum of g over all integers."""
    if sigma >= POISSON_FROM:
        scale = ball(sigma) * (2 * Ball.pi()).sqrt()
        return scale * _two_sided(-2 * (Ball.pi() * ball(sigma)) ** 2)
    return _two_sided(ball(-1 / (2 * sigma**2)))


def _two_sided(exponent: Ball) -> Ball:
    """1 + twice the sum of e^(exponent k^2), for an exponent of at most -3."""
    total = ball(1)
    for k in range(1, WHOLE_TERMS):
        total += 2 * (exponent * k**2).exp()
    # The ratio of neighbours beyond is below 1/2, so the rest is below twice its first term.
    return total + 4 * (exponent * WHOLE_TERMS**2).exp() * _unit()


def _unit() -> Ball:
    """The interval from 0 to 1."""
    return Ball(0.5, 0.5)
