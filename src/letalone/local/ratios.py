"""The likelihood ratio of a local report: a rational at most e^ε.

A local randomiser is ε-DP when no report is more than e^ε times as likely from one answer as from
another. e^ε is irrational. All oracles here use r = ⌊2^40 e^ε⌋ / 2^40 in its place: every
probability is then a rational, the ratio is r exactly, and the true ε is ln r, below the typed one
by less than 2^-40. A browser draws the same reports with whole numbers alone.

  Proven:   docs/explanation/proofs/local_frequencies.md, section 1
  Tested:   over all inputs and outputs of small domains, in rationals
"""

from fractions import Fraction
from functools import lru_cache

from letalone.exact.balls import ball, floor_scaled
from letalone.exact.typed import Constraint, Number

RATIO_BITS = 40
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 1000), Fraction(20)
LOCAL_EPSILON = Constraint(
    "a number from 0.001 to 20",
    lambda x: LEAST_EPSILON <= x <= MOST_EPSILON,
    "It is what one report of one person costs; 0.5 to 4 is usual.",
    (0, -1, 0.0005, 21, float("nan"), float("inf")),
)


def read_epsilon(epsilon: Number) -> Fraction:
    """The typed ε of one report."""
    return LOCAL_EPSILON.typed("epsilon", epsilon)


@lru_cache(maxsize=1024)
def ratio_below(epsilon: Fraction) -> Fraction:
    """⌊2^40 e^ε⌋ / 2^40: the likelihood ratio of a report."""
    return Fraction(floor_scaled(lambda: ball(epsilon).exp(), RATIO_BITS), 1 << RATIO_BITS)


def root_below(epsilon: Fraction) -> Fraction:
    """A rational whose square is at most e^ε."""
    return ratio_below(epsilon / 2)
