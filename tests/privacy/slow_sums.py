"""The curves from their definition, slowly, with 60 digits: nothing here knows a closed form."""

from fractions import Fraction
from itertools import chain, combinations

from mpmath import exp, inf, mp, mpf, pi, quad, sqrt

mp.dps = 60


def number(value):
    value = Fraction(value)
    return mpf(value.numerator) / mpf(value.denominator)


def divergence(p, q, epsilon):
    """Sum of max(0, p - e^epsilon q)."""
    factor = exp(number(epsilon))
    return sum((max(mpf(0), a - factor * b) for a, b in zip(p, q, strict=True)), mpf(0))


def laplace_delta(ratio, epsilon):
    r, factor = number(ratio), exp(number(epsilon))

    def excess(x):
        return max(mpf(0), exp(-abs(x)) - factor * exp(-abs(x - r))) / 2

    middle = (r - number(epsilon)) / 2  # where the integrand reaches zero
    return quad(excess, sorted({-inf, mpf(-60), mpf(0), middle, r}))


def geometric_law(scale, shift, reach):
    a = exp(-1 / number(scale))
    return [(1 - a) / (1 + a) * a ** abs(x - shift) for x in range(-reach, reach + 1)]


def discrete_gaussian_law(sigma, shift, reach):
    s = number(sigma)
    terms = [exp(-(mpf(x) ** 2) / (2 * s**2)) for x in range(-2 * reach, 2 * reach + 1)]
    total = sum(terms)
    return [exp(-(mpf(x - shift) ** 2) / (2 * s**2)) / total for x in range(-reach, reach + 1)]


def gaussian_delta(mu, epsilon):
    """The integral of max(0, p - e^epsilon q) up to where it reaches zero."""
    m, e = number(mu), number(epsilon)
    edge = m / 2 - e / m
    scale = exp(edge**2 / 2)  # quad stops at an absolute error, and the tail is tiny

    def excess(x):
        return scale * (exp(-(x**2) / 2) - exp(e - (x - m) ** 2 / 2)) / sqrt(2 * pi)

    return quad(excess, [edge - mpf(step) for step in (20, 5, 1, 0.25, 0)]) / scale


def all_events(count):
    return chain.from_iterable(combinations(range(count), size) for size in range(count + 1))


def delta_by_events(p, q, epsilon):
    """The largest P(S) - e^epsilon Q(S) over all events, both ways round."""
    factor = exp(number(epsilon))
    best = mpf(0)
    for event in all_events(len(p)):
        a, b = (number(sum((Fraction(law[i]) for i in event), Fraction(0))) for law in (p, q))
        best = max(best, a - factor * b, b - factor * a)
    return best
