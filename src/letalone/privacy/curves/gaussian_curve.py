"""Gaussian differential privacy: as hard to tell apart as N(0, 1) and N(mu, 1).

Theorem.  Gaussian noise of standard deviation sigma on a query of L2 sensitivity D, in any
dimension, is mu-GDP for mu = D / sigma, with equality where the sensitivity is reached, and
    delta(e) = Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu),
    missed(a) = Phi(Phi^-1(1 - a) - mu).
Curves compose to mu = sqrt(sum of mu_i^2), exactly; a group of k has k mu.
The loss has no bound, so no epsilon is enough for delta = 0. The square of mu is what is kept.
  Proven:   docs/explanation/proofs/gaussian.md
  Tested:   against 400-digit mpmath down to delta = 1e-300; tests/privacy/test_far_gaussians.py
  Assumed:  Arb's erfc and its inverse are correct

Balle, Wang: Improving the Gaussian mechanism for differential privacy (2018).
Dong, Roth, Su: Gaussian differential privacy (2022).
"""

from fractions import Fraction
from math import isqrt

from letalone.errors import ParameterError
from letalone.exact.balls import Ball, ball, certain
from letalone.exact.typed import Number, positive, write_rational
from letalone.privacy.bounds import ONE, Bounds, exactly, format_number, once
from letalone.privacy.curve import Json, Orders, Privacy, curve
from letalone.privacy.neighbours import Neighbours

MU = positive("It is sensitivity / sigma; smaller means more private.")
FAR = Fraction(10**6)
LARGE, TERMS = 10**4, 12  # (2n-1)!! / (2 x^2)^n is below 2^-290 then


@curve("gaussian")
class GaussianDP(Privacy):
    """mu-GDP; `mu` is None where only its square is rational, as after composing."""

    mu: Fraction | None
    mu_squared: Fraction

    def __init__(
        self,
        mu: Number | None = None,
        *,
        mu_squared: Number | None = None,
        neighbours: Neighbours | None = None,
    ) -> None:
        if (mu is None) == (mu_squared is None):
            raise ParameterError("Give exactly one of mu and mu_squared.")
        square = MU.typed("mu_squared", mu_squared) if mu is None else MU.typed("mu", mu) ** 2
        self.fill(neighbours, mu=_rational_root(square), mu_squared=square)

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        return exactly(gaussian_delta(self.mu_squared, epsilon))

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """The trade-off of two unit Gaussians at distance mu."""
        return exactly(gaussian_missed(self.mu_squared, false_alarm))

    def for_group(self, size: int) -> Privacy:
        return GaussianDP(mu_squared=size**2 * self.mu_squared)

    def gdp_mu_squared(self) -> Fraction:
        return self.mu_squared

    def zcdp_rho(self) -> Fraction:
        """mu-GDP is (mu^2 / 2)-zCDP; there is no way back."""
        return self.mu_squared / 2

    def make_losses(self) -> "Orders | None":
        from letalone.privacy.loss.pairs import GaussianPair

        return (GaussianPair(float(self.mu_squared) ** 0.5),)

    def parameters(self) -> Json:
        """The square of mu, which is always rational."""
        return {"mu_squared": write_rational(self.mu_squared)}

    def described(self) -> str:
        if self.mu is not None:
            return f"mu={format_number(self.mu)}"
        return f"mu=√{format_number(self.mu_squared)}"


def _rational_root(square: Fraction) -> Fraction | None:
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return root if root**2 == square else None


def gaussian_delta(mu_squared: Fraction, epsilon: Fraction) -> Ball:
    """The ball of delta for a Gaussian pair."""
    beyond = epsilon - mu_squared / 2
    if beyond > 0 and beyond**2 >= FAR**2 * mu_squared:
        # delta <= Phi(-z) <= e^(-z^2 / 2) for z = epsilon / mu - mu / 2 >= FAR.
        return once(lambda: Ball(0.5, 0.5) * ball(-(FAR**2) / 2).exp())
    return certain(lambda: _balle_wang(mu_squared, ball(epsilon)))


def _balle_wang(mu_squared: Fraction, epsilon: Ball) -> Ball:
    # Phi(x) = erfc(-x / sqrt 2) / 2, and far^2 - near^2 = epsilon: no huge number is multiplied by
    # a tiny one.
    half, mu = ball(2).sqrt(), ball(mu_squared).sqrt()
    near, far = (epsilon / mu - mu / 2) / half, (epsilon / mu + mu / 2) / half
    height = (-near * near).exp()
    first = height * _scaled_erfc(near) if near > LARGE else near.erfc()
    second = height * _scaled_erfc(far) if far > LARGE else epsilon.exp() * far.erfc()
    return (first - second) / 2


def _scaled_erfc(x: Ball) -> Ball:
    """e^(x^2) erfc(x) for large x: the series is off by less than the first term left out."""
    total, term = ball(0), ball(1)
    for number in range(TERMS):
        total += term
        term *= -(2 * number + 1) / (2 * x * x)
    return (total + term * Ball(0, 1)) / (x * Ball.pi().sqrt())


def gaussian_missed(mu_squared: Fraction, false_alarm: Fraction) -> Fraction | Ball:
    """The ball of P[missed detection] for a Gaussian pair."""
    if false_alarm == 0:
        return ONE
    return certain(lambda: _quantile_shift(mu_squared, false_alarm))


def _quantile_shift(mu_squared: Fraction, false_alarm: Fraction) -> Ball:
    # z with P[N > z] = a is sqrt 2 erfc^-1(2a); missed is P[N < z - mu].
    shift = ball(mu_squared).sqrt() / ball(2).sqrt()
    return (shift - ball(2 * false_alarm).erfcinv()).erfc() / 2
