"""An interval for the mean of independent bounded reports, from what is known before they come.

Theorem (Bennett).  If n independent X_i have E[X_i] − X_i ≤ b and X_i − E[X_i] ≤ b, and the mean of
their variances is at most v, their mean is off by t or more, to one side, with probability at most
exp(−n (v/b²) h(bt/v)), h(u) = (1 + u) ln(1 + u) − u.
  Proven:   Boucheron, Lugosi, Massart: Concentration inequalities (2013), theorem 2.9;
            docs/explanation/proofs/local_numbers.md, section 4
  Tested:   the inequality at the returned width; coverage by simulation
"""

from math import log, log1p

MARGIN = 1e-9  # more than the floats below lose


def bennett_width(people: int, variance: float, largest: float, confidence: float) -> float:
    """Means are within this of what they estimate, both sides together, at the confidence."""
    needed = log(2 / (1 - confidence))

    def is_enough(width: float) -> bool:
        step = largest * width / variance
        height = (1 + step) * log1p(step) - step
        return people * variance / largest**2 * height >= needed * (1 + MARGIN)

    high = largest
    while not is_enough(high):
        high *= 2
    low = 0.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high * (1 + MARGIN)
