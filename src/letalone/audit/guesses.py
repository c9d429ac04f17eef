"""From right guesses to a certified lower bound on epsilon: the theorem of one-run audits.

m coins decide, each for itself, which of m canaries are in the data. The mechanism runs once;
from its output some r memberships are guessed, and v of the guesses are right.

Theorem.  If the mechanism is (epsilon, delta)-DP when one canary is added or removed, then for
every whole number K from 1 on
    P[v or more are right]  ≤  (m·delta/2 + sum over j < K of P[Bin(r, q) ≥ v − j]) / K,
with q = e^epsilon / (1 + e^epsilon). For delta = 0 and K = 1 it is the tail of the binomial law.
  Proven:   docs/explanation/proofs/audit.md, section 8; r is fixed before the output is seen
  Tested:   tests/audit/test_guesses.py: against randomized response with and without a leak of
            probability delta, whose rate of wrong bounds is counted; certified against exact sums
  Assumed:  the coins are fair and independent; Arb is correct

Steinke, Nasr, Jagielski: Privacy auditing with one (1) training run (2023), whose delta term is
2·m·delta times the largest P[v > Bin ≥ v − i]/i; the one here is proven without their lemmas.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.audit.bound import beta_share
from letalone.exact.balls import ball, certain, lower

Floats = NDArray[np.float64]
HALVINGS = 60
BACK = (1e-9, 1e-6, 1e-3)  # how far a rate is taken back until balls certify it


@dataclass(frozen=True, slots=True)
class Guesses:
    """So many canaries were tossed for, so many guessed, so many guesses right."""

    canaries: int
    made: int
    right: int


def epsilon_of_guesses(guesses: Guesses, *, delta: Fraction, miss: Fraction) -> float:
    """A lower bound on epsilon that is wrong with probability at most `miss`; 0 or more."""
    slack = guesses.canaries * delta / 2
    rate = _largest(lambda q: bool(_chance(guesses, q, slack).min(initial=1) <= float(miss)))
    for back in BACK if rate > 0.5 else ():
        kept = 0.5 + (rate - 0.5) * (1 - back)
        steps = int(np.argmin(_chance(guesses, kept, slack))) + 1
        if kept > 0.5 and _certified(guesses, Fraction(kept), slack, steps, miss):
            odds = Fraction(kept) / (1 - Fraction(kept))
            return max(0.0, lower(certain(lambda odds=odds: ball(odds).log())))
    return 0.0


def _largest(holds: Callable[[float], bool]) -> float:
    """The largest rate from 1/2 on, about, for which it holds; it fails from some rate on."""
    low, high = 0.5, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if middle < 1 and holds(middle) else (low, middle)
    return low


def _chance(guesses: Guesses, rate: float, slack: Fraction) -> Floats:
    """The bound for K = 1, 2, … in floats; for K = 1 alone where there is no delta."""
    most = guesses.right if slack else min(1, guesses.right)
    least = guesses.right - np.arange(most)
    share = _betainc()(least, guesses.made - least + 1, rate)
    return (float(slack) + np.cumsum(share)) / np.arange(1, most + 1)


def _certified(
    guesses: Guesses, rate: Fraction, slack: Fraction, steps: int, miss: Fraction
) -> bool:
    tails = [
        beta_share(rate, guesses.right - j, guesses.made - guesses.right + j + 1)
        for j in range(steps)
    ]
    total = ball(slack)
    for tail in tails:
        total = total + tail
    return bool(total <= ball(miss * steps))


def _betainc() -> Any:
    from scipy import special

    return cast("Any", special).betainc
