"""Half-lines of the discrete Gaussian, as balls, for any sigma and however far out.

Theorem.  With g(x) = e^(-x^2 / (2 sigma^2)), Pr[Z >= first] = (sum of g from first) / (sum of
g over all integers), and each sum below is a ball that contains it:
  - the sum over all integers directly, or by Poisson's formula, whichever converges fast;
  - a half-line by adding terms until the rest, less than a geometric series, is negligible;
  - a half-line of many terms by Euler and Maclaurin's formula with its remainder.
What is left out is always added as the interval from zero to its bound.
  Proven:   docs/explanation/proofs/discrete_gaussian.md, section 3
  Tested:   against 60-digit sums on both sides of each switch, and the methods against
            each other where both apply
  Assumed:  Arb's Bernoulli numbers and incomplete gamma function are correct
"""

from fractions import Fraction

from letalone.exact.balls import Ball, ball, working_bits

ORDER = 16
FEW_SIGMA = 16
SPARE_BITS = 16
WHOLE_TERMS = 10
POISSON_FROM = Fraction(2, 5)  # there both forms have exponents of about -3.1


def half_line(first: int, sigma: Fraction) -> Ball:
    """Pr[Z >= first] for first >= 0; to be called where the precision is set."""
    # Adding terms is fast if there are few, or if each is well below the one before.
    if sigma <= FEW_SIGMA or 4 * first >= sigma**2:
        return added(first, sigma) / whole(sigma)
    return smoothed(first, sigma) / whole(sigma)


def added(first: int, sigma: Fraction) -> Ball:
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


def smoothed(first: int, sigma: Fraction) -> Ball:
    """The sum of g from `first` >= 0 on, by Euler and Maclaurin."""
    point, width = ball(Fraction(first) / sigma), ball(sigma)
    root = ball(2).sqrt()
    peak = (-(point**2) / 2).exp()
    integral = width * (Ball.pi() / 2).sqrt() * (point / root).erfc()
    total, before, hermite = integral + peak / 2, ball(1), point
    for order in range(1, ORDER + 1):
        # The derivative of odd order n is -He_n(u) e^(-u^2/2) / sigma^n.
        weight = Ball.bernoulli(2 * order) / Ball.fac_ui(2 * order)
        total += weight * hermite * peak / width ** (2 * order - 1)
        for degree in (2 * order - 1, 2 * order):
            before, hermite = hermite, point * hermite - degree * before
    return total + _remainder(point, width) * (2 * _unit() - 1)


def _remainder(point: Ball, width: Ball) -> Ball:
    # |He_2p(u)| <= 2^(p-1) (u^2p + (2p-1)!!), integrated from the point on.
    half, moment = ball(Fraction(1, 2)), Ball.fac_ui(2 * ORDER) / (2**ORDER * Ball.fac_ui(ORDER))
    powers = ball(2) ** (ORDER - half) * (point**2 / 2).gamma_upper(ball(ORDER) + half)
    even = moment * (Ball.pi() / 2).sqrt() * (point / ball(2).sqrt()).erfc()
    periodic = 4 / (2 * Ball.pi() * width) ** (2 * ORDER)
    return periodic * width * 2 ** (ORDER - 1) * (powers + even)


def whole(sigma: Fraction) -> Ball:
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
