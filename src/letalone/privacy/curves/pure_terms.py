"""Pure DP in other terms: the rho, mu and Renyi divergence of whatever is epsilon-DP.

Theorem.  What is epsilon-DP is
  mu-GDP     for mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon)),
  rho-zCDP   for rho = epsilon tanh(epsilon / 2) <= epsilon^2 / 2,
and has at order a the Renyi divergence
    (ln cosh((a - 1/2) epsilon) - ln cosh(epsilon / 2)) / (a - 1);
randomized response reaches each, so no smaller number will do.
  Proven:   docs/explanation/proofs/theorems.md, sections 3 to 5
  Tested:   tests/privacy/test_conversions.py, against randomized response
"""

from fractions import Fraction
from functools import lru_cache

from letalone.exact.balls import Ball, ball, certain
from letalone.privacy.bounds import dyadic_above

# Beyond this, 2 Phi^-1 is taken from its bound mu^2 <= 8 epsilon (proof, section 5).
LARGE_EPSILON = 10**4
HALF = Fraction(1, 2)


@lru_cache(maxsize=1024)
def pure_rho(epsilon: Fraction) -> Fraction:
    """epsilon tanh(epsilon / 2), rounded up to a dyadic rational; never above epsilon^2 / 2."""
    rho = certain(lambda: ball(epsilon) * -ball(-epsilon).expm1() / (1 + ball(-epsilon).exp()))
    return min(epsilon**2 / 2, dyadic_above(rho))


@lru_cache(maxsize=1024)
def pure_mu_squared(epsilon: Fraction) -> Fraction:
    """(2 Phi^-1(e^epsilon / (1 + e^epsilon)))^2, rounded up to a dyadic rational."""
    if epsilon > LARGE_EPSILON:
        return 8 * epsilon
    return dyadic_above(certain(lambda: _mu(epsilon) ** 2))


def _mu(epsilon: Fraction) -> Ball:
    # Phi^-1(1 - p) = sqrt 2 erfc^-1(2 p), for p = 1 / (1 + e^epsilon).
    return 2 * ball(2).sqrt() * (2 / (1 + ball(epsilon).exp())).erfcinv()


def pure_divergence(order: Fraction, epsilon: Fraction) -> Fraction:
    """The most that an epsilon-DP mechanism diverges at this order, rounded up."""

    def formula() -> Ball:
        return (_log_cosh((order - HALF) * epsilon) - _log_cosh(HALF * epsilon)) / ball(order - 1)

    return min(epsilon, dyadic_above(certain(formula)))


def _log_cosh(value: Fraction) -> Ball:
    """ln cosh, without overflow."""
    return ball(value) + (ball(-2 * value).exp() + 1).log() - ball(2).log()
