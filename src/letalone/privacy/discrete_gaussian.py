"""What discrete Gaussian noise reveals of one integer.

Noise with Pr[Z = z] proportional to e^(-z^2 / (2 sigma^2)) on the integers, on one integer
query that moves by at most `sensitivity` = s.

Theorem.  With last = ceil(s/2 - e sigma^2 / s) - 1,
    delta(e) = Pr[Z <= last] - e^e Pr[Z <= last - s],
exactly. This is *not* the curve of the Gaussian with the same sigma, which is smaller at
some epsilon: the discrete Gaussian is s^2 / (2 sigma^2)-zCDP but not (s / sigma)-GDP.
A group of k has the sensitivity k s. Vectors: see `zcdp_rho`.
  Proven:   docs/explanation/proofs/discrete_gaussian.md (the tail sums are in `lattice`)
  Tested:   against a 50-digit sum; above the Gaussian curve by .118 at sigma = 1/2

Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy (2020).
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil

from letalone.exact.balls import Ball, ball, certain, is_positive
from letalone.exact.typed import COUNT, SCALE, Number
from letalone.privacy.bounds import ONE, ZERO, Bounds, at_a_glance, exactly, once, shown
from letalone.privacy.curve import Json, Orders, Privacy, curve
from letalone.privacy.lattice import half_line
from letalone.privacy.neighbours import Neighbours
from letalone.privacy.zcdp import MOMENTS_ONLY

# From FAR standard deviations on, delta is below 2 e^(-FAR^2 / 2) (proof, section 4).
FAR = Fraction(10**6)


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
        """A group of k moves the answer k times as far."""
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

    def parameters(self) -> Json:
        """Sensitivity and sigma."""
        return {"sensitivity": str(self.sensitivity), "sigma": str(self.sigma)}

    def described(self) -> str:
        """Sensitivity and sigma."""
        shift = at_a_glance(Fraction(self.sensitivity))
        return f"sensitivity={shift}, sigma={shown(self.sigma)}"
