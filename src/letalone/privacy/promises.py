"""What noise is sought for: a pair (epsilon, delta), or a risk that people can picture.

    AttackRisk(advantage=Fraction(1, 20))                   # of an attack on one person, TPR - FPR
    AttackRisk(true_positive=…, at_false_positive=…)        # the most often it may be right

A risk speaks of any test whether one person is in the data: its true-positive rate is the
probability that it says yes where that is so, its false-positive rate where it is not.

Theorem.  For a curve with f(a) the least P[missed detection] at a false-alarm rate of a:
  the largest advantage TPR - FPR of any test is delta(0);
  the largest TPR among tests with FPR <= a is 1 - f(a).
So a risk is kept where a certified upper bound on delta(0), or lower bound on f(a), says so.
  Proven:   docs/explanation/proofs/tradeoff.md, section 5
  Tested:   tests/privacy/test_promises.py: closed forms, and the best test of finite laws
"""

from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Protocol

from letalone.errors import ParameterError
from letalone.exact.typed import DELTA, EPSILON, Number, between_0_and_1, refusal
from letalone.privacy.bounds import above, at_most
from letalone.privacy.curve import Privacy

TINY = 1e-300
HOPELESS = 1e3
CHANCE = between_0_and_1("It is a probability: 0.05 is 5 %.")
TRUE_POSITIVE = "above the false-positive rate, which blind guessing reaches"


class CurvePromise(Protocol):
    """What a curve must keep."""

    def is_kept(self, privacy: Privacy) -> bool:
        """Whether it is certainly kept."""
        ...

    def excess(self, privacy: Privacy) -> float:
        """About by how much it is broken, in logarithms: it guides a search and decides nothing."""
        ...

    @property
    def needs_bounded_loss(self) -> bool:
        """Whether a loss without a bound can never keep it."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True, init=False)
class EpsilonDelta:
    """An epsilon and a delta."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", EPSILON.typed("epsilon", epsilon))
        object.__setattr__(self, "delta", DELTA.typed("delta", delta))

    @property
    def needs_bounded_loss(self) -> bool:
        return self.delta == 0

    def is_kept(self, privacy: Privacy) -> bool:
        """For a delta of 0 by the worst loss."""
        if self.delta > 0:
            return Fraction(privacy.delta(self.epsilon)) <= self.delta
        worst = privacy.worst_loss()
        return worst is not None and at_most(worst, self.epsilon) and privacy.certain_leak() == 0

    def excess(self, privacy: Privacy) -> float:
        if self.delta > 0:
            return _ratio(privacy.delta(self.epsilon), self.delta)
        worst = privacy.worst_loss()
        if worst is None or privacy.certain_leak() != 0:
            return HOPELESS
        return _ratio(above(worst), self.epsilon)

    def __str__(self) -> str:
        return f"epsilon = {float(self.epsilon):g}, delta = {float(self.delta):g}"


@dataclass(frozen=True, slots=True, init=False)
class AttackRisk:
    """The most that a test of whether one person is in the data may achieve."""

    true_positive: Fraction
    at_false_positive: Fraction | None  # None: the true-positive rate less the false-positive one

    def __init__(
        self,
        *,
        advantage: Number | None = None,
        true_positive: Number | None = None,
        at_false_positive: Number | None = None,
    ) -> None:
        rates = (true_positive, at_false_positive)
        if advantage is not None and rates == (None, None):
            limit, rate = CHANCE.typed("advantage", advantage), None
        elif advantage is None and true_positive is not None and at_false_positive is not None:
            limit = CHANCE.typed("true_positive", true_positive)
            rate = CHANCE.typed("at_false_positive", at_false_positive)
        else:
            raise ParameterError(
                "A risk is either advantage=0.05, or both true_positive=0.02 and"
                " at_false_positive=0.01. Give one of them."
            )
        if rate is not None and limit <= rate:
            raise refusal("true_positive", true_positive, TRUE_POSITIVE)
        object.__setattr__(self, "true_positive", limit)
        object.__setattr__(self, "at_false_positive", rate)

    @property
    def needs_bounded_loss(self) -> bool:
        return False

    def is_kept(self, privacy: Privacy) -> bool:
        return self._reached(privacy) <= self.true_positive

    def excess(self, privacy: Privacy) -> float:
        return _ratio(float(self._reached(privacy)), self.true_positive)

    def _reached(self, privacy: Privacy) -> Fraction:
        """A certain upper bound on the advantage, or on the true-positive rate."""
        if self.at_false_positive is None:
            return Fraction(privacy.delta(0))
        return 1 - Fraction(privacy.tradeoff(self.at_false_positive))

    def __str__(self) -> str:
        limit = f"{float(self.true_positive):g}"
        if self.at_false_positive is None:
            return f"an advantage of at most {limit}"
        rate = f"{float(self.at_false_positive):g}"
        return f"a true-positive rate of at most {limit} at a false-positive rate of {rate}"


def _ratio(reached: float, allowed: Fraction) -> float:
    return log(max(reached, TINY)) - log(max(float(allowed), TINY))
