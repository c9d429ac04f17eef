"""Gaussian differential privacy: as hard to tell apart as N(0, 1) and N(mu, 1).

Theorem.  Gaussian noise of standard deviation sigma on a query of L2 sensitivity D, in any
dimension, is mu-GDP for mu = D / sigma, with equality where the sensitivity is reached, and
    delta(e) = Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu),
    missed(a) = Phi(Phi^-1(1 - a) - mu).
Curves compose to mu = sqrt(sum of mu_i^2), exactly; a group of k has k mu.
The loss has no bound, so no epsilon is enough for delta = 0.
  Proven:   docs/explanation/proofs/gaussian.md
  Tested:   against 400-digit mpmath down to delta = 1e-300
  Assumed:  Arb's erfc and its inverse are correct

Balle, Wang: Improving the Gaussian mechanism for differential privacy (2018).
Dong, Roth, Su: Gaussian differential privacy (2022).
"""

from fractions import Fraction
from math import isqrt

from letalone.errors import ParameterError
from letalone.exact.typed import Constraint, Number, write_rational
from letalone.privacy.bounds import Bounds, exactly, format_number
from letalone.privacy.curve import Json, Orders, Privacy, curve
from letalone.privacy.gaussian_pair import gaussian_delta, gaussian_missed
from letalone.privacy.neighbours import Neighbours

MU = Constraint(
    "a positive number",
    lambda x: x > 0,
    "It is sensitivity / sigma; smaller means more private.",
    (0, -1, float("nan"), float("inf")),
)


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
        """A group of k moves the mean k times as far."""
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
