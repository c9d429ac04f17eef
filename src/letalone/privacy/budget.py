"""A budget: an epsilon and a delta, exact, that are spent and never refunded.

Amounts are rationals. A float means its shortest decimal, so ten charges of 0.1 fill a
budget of 1 with nothing left and no tolerance. Printed, long ones have six digits, rounded up,
and a sign of waves; `.epsilon` and `.delta` are exact.

  Proven:   rational arithmetic; what budgets may be spent on is the accountant's to prove
  Tested:   tests/privacy/test_budget.py, with claim D9
"""

from dataclasses import dataclass
from fractions import Fraction
from warnings import warn

from letalone.errors import BudgetExceeded, ParameterError, PrivacyWarning
from letalone.exact.typed import COUNT, DELTA, EPSILON_OR_ZERO, Number, positive, zero_or_more
from letalone.privacy.bounds import at_a_glance, format_number, six

FACTOR = zero_or_more("It says how many times the budget is meant.")
SHARES = positive("It says into how many equal parts the budget is cut.")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Budget:
    """An exact (epsilon, delta); `size`, a declared number of people, checks the delta (D9)."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number = 0, *, size: Number | None = None) -> None:
        object.__setattr__(self, "epsilon", EPSILON_OR_ZERO.typed("epsilon", epsilon))
        object.__setattr__(self, "delta", DELTA.typed("delta", delta))
        if size is not None:
            warn_if_delta_is_large(delta, size)

    def __add__(self, other: "Budget") -> "Budget":
        more = _read(other)
        return Budget(self.epsilon + more.epsilon, self.delta + more.delta)

    def __sub__(self, other: "Budget") -> "Budget":
        """What is left; refused where that would be less than nothing."""
        cost = _read(other)
        if not cost <= self:
            raise BudgetExceeded(
                f"This costs {cost}, but only {self} is left. Ask for less: a smaller epsilon, "
                "or fewer questions.",
                spent=Budget(0),
                asked=cost,
                left=self,
            )
        return Budget(self.epsilon - cost.epsilon, self.delta - cost.delta)

    def __mul__(self, times: Number) -> "Budget":
        """That many times both amounts, exactly."""
        factor = FACTOR.typed("times", times)
        return Budget(self.epsilon * factor, self.delta * factor)

    def __rmul__(self, times: Number) -> "Budget":
        return self * times

    def __truediv__(self, parts: Number) -> "Budget":
        """One of that many equal parts of both amounts, exactly."""
        return self * (1 / SHARES.typed("parts", parts))

    def __le__(self, other: "Budget") -> bool:
        """Whether this fits into the other: both epsilon and delta."""
        limit = _read(other)
        return self.epsilon <= limit.epsilon and self.delta <= limit.delta

    def __ge__(self, other: "Budget") -> bool:
        return _read(other) <= self

    def __lt__(self, other: "Budget") -> bool:
        return self <= other and self != other

    def __gt__(self, other: "Budget") -> bool:
        return _read(other) < self

    def __str__(self) -> str:
        delta = f", δ = {at_a_glance(self.delta)}" if self.delta else ""
        return f"ε = {at_a_glance(self.epsilon)}{delta}"

    def __repr__(self) -> str:
        delta = f", delta={at_a_glance(self.delta)}" if self.delta else ""
        return f"Budget(epsilon={at_a_glance(self.epsilon)}{delta})"


def _read(other: object) -> Budget:
    if not isinstance(other, Budget):
        raise ParameterError(
            f"A Budget meets a {type(other).__name__}, but budgets are added to, taken from and"
            " compared with budgets. Write la.Budget(epsilon=0.5), with its delta where there"
            " is one."
        )
    return other


def warn_if_delta_is_large(delta: Number, size: Number) -> None:
    """Warn at delta >= 1/n, for an n that is declared or public (D9)."""
    number, people = DELTA.typed("delta", delta), COUNT.typed("size", size)
    if number * people >= 1:
        warn(
            f"delta is {format_number(number)}, which is not below 1/n for n = {people} people: "
            "publishing one of their records at random would satisfy it. "
            f"Choose a delta far below {format_number(1 / people)}.",
            PrivacyWarning,
            stacklevel=3,
        )


def brief(budget: Budget, *, up: bool = True) -> str:
    """A budget in six digits, exact where it is shorter; what is left is rounded down."""
    delta = f", δ = {six(budget.delta, up=up)}" if budget.delta else ""
    return f"ε = {six(budget.epsilon, up=up)}{delta}"
