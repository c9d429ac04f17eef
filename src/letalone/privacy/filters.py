"""Filters: questions chosen along the way, within a budget that is never exceeded.

    spending = Filter(Budget(epsilon=1, delta=0))
    spending.charge(PureDP(0.1))      # ten times; the eleventh is refused

A bank of filters, all aiming at the same epsilon. Each release is added to every account
before noise is drawn; it runs if some account is still within its limit; an account once
over is dead for ever; a refused request is added to none.

Theorem.  However the releases and the time to stop are chosen from earlier answers, all
answers together are (epsilon, delta)-DP for the budget's epsilon and delta. That is what is
certified; `spent` and `remaining` are book-keeping.
  Proven:   docs/explanation/proofs/filters.md
  Tested:   adaptive adversaries enumerated exactly; ten times 0.1 is 1; what is refused
            changes nothing; stored and restored
  Assumed:  a charge depends on public parameters and earlier answers, never on the data

Rogers, Roth, Ullman, Vadhan: Privacy odometers and filters (2016). Feldman, Zrnic:
Individual privacy accounting via a Renyi filter (2021). Koskela, Tobaben, Honkela:
Individual privacy accounting with Gaussian differential privacy (2022). Smith, Thakurta:
Fully adaptive composition for Gaussian differential privacy (2022).
"""

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import inf
from threading import Lock
from typing import NoReturn, Self

from letalone.errors import BudgetExceeded
from letalone.exact.typed import DELTA, Number
from letalone.privacy.bank import (
    USUAL_SHARES,
    Account,
    Notion,
    Price,
    Shares,
    open_accounts,
    price_of,
)
from letalone.privacy.bounds import ZERO, shown
from letalone.privacy.budget import Budget
from letalone.privacy.curve import Privacy
from letalone.privacy.neighbours import Neighbours, unify

# Where a curve must be read at one delta and none was named: this part of the budget's.
USUAL_POINT = Fraction(1, 1000)
SHORT = 8  # digits that a person reads at a glance


@dataclass(frozen=True, slots=True)
class FilterState:
    """All that a filter remembers: storable, comparable, and changed by nothing."""

    budget: Budget
    leak_limit: Fraction
    accounts: tuple[Account, ...]
    leak: Fraction = ZERO
    releases: int = 0
    neighbours: Neighbours | None = None

    @property
    def is_open(self) -> bool:
        """Whether some account lives and the leaks are within their cap."""
        return self.leak <= self.leak_limit and any(account.live for account in self.accounts)

    @property
    def spent(self) -> Budget:
        """What the cheapest living account says was spent: book-keeping."""
        if self.releases == 0:
            return Budget(0)
        readings = [(one.reading(), _delta_of(one)) for one in self.accounts if one.live]
        epsilon, delta = min(readings)
        return Budget(min(epsilon, self.budget.epsilon), self.leak + delta)

    @property
    def remaining(self) -> Budget:
        """The budget less what was spent: book-keeping."""
        return self.budget - self.spent


def opened(budget: Budget, shares: Shares = USUAL_SHARES) -> FilterState:
    """A filter that nothing was charged to."""
    return FilterState(budget, shares.leak * budget.delta, open_accounts(budget.delta, shares))


def charged(state: FilterState, privacy: Privacy, *, delta: Number | None = None) -> FilterState:
    """The state after a release; BudgetExceeded where no account would be within its limit."""
    label = unify(state.neighbours, privacy.neighbours)
    price = _price(state, privacy, delta)
    after = _after(state, price, 1)
    if not after.is_open:
        raise BudgetExceeded(_words(state, privacy, price))
    return replace(after, neighbours=label)


def how_many_more(
    state: FilterState, privacy: Privacy, *, delta: Number | None = None
) -> int | float:
    """How many more like this one fit, if nothing else is asked; inf if it reveals nothing."""
    unify(state.neighbours, privacy.neighbours)
    price = _price(state, privacy, delta)
    if price.leak == 0 and all(more == (ZERO, ZERO) for more in price.amounts):
        return inf
    high = 1
    while _after(state, price, high).is_open:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _after(state, price, middle).is_open else (low, middle)
    return low


class Filter:
    """A budget that is charged release by release, safe to share among threads.

    `charge` is the only thing that changes it. A copy is the same filter: two filters over
    one budget would spend it twice. To keep it, store `state`; `Filter.resumed` continues.
    """

    __slots__ = ("_lock", "_state")

    def __init__(self, budget: Budget, *, shares: Shares = USUAL_SHARES) -> None:
        self._state = opened(budget, shares)
        self._lock = Lock()

    @classmethod
    def resumed(cls, state: FilterState) -> Self:
        """The filter that was stored as this state."""
        made = cls(state.budget)
        made._state = state
        return made

    @property
    def state(self) -> FilterState:
        """All that the filter remembers."""
        return self._state

    @property
    def budget(self) -> Budget:
        """What all answers together may reveal: the certified statement."""
        return self._state.budget

    @property
    def spent(self) -> Budget:
        """About what was spent: book-keeping."""
        return self._state.spent

    @property
    def remaining(self) -> Budget:
        """About what is left: book-keeping."""
        return self._state.remaining

    def charge(self, privacy: Privacy, *, delta: Number | None = None) -> Budget:
        """Pay for a release, before its noise is drawn; returns what is spent by then.

        `delta` says where a curve is read that no account knows by its parameter.
        """
        with self._lock:
            self._state = charged(self._state, privacy, delta=delta)
            return self._state.spent

    def how_many_more(self, privacy: Privacy, *, delta: Number | None = None) -> int | float:
        """About how many more releases like this one fit."""
        return how_many_more(self._state, privacy, delta=delta)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("A filter is not pickled, which would copy its budget: store filter.state.")

    def __repr__(self) -> str:
        state = self._state
        unit = f", {state.neighbours}" if state.neighbours is not None else ""
        return (
            f"Filter({state.budget}; {brief(state.spent)} spent on {state.releases} "
            f"release{'s' * (state.releases != 1)}{unit})"
        )


def _price(state: FilterState, privacy: Privacy, delta: Number | None) -> Price:
    usual = USUAL_POINT * state.budget.delta
    at = usual if delta is None else DELTA.typed("delta", delta)
    return price_of(privacy.labelled(None), state.accounts, delta=at)


def _after(state: FilterState, price: Price, count: int) -> FilterState:
    """Added to every account, dead ones too."""
    epsilon = state.budget.epsilon
    pairs = zip(state.accounts, price.amounts, strict=True)
    return replace(
        state,
        accounts=tuple(account.grown(more, count, epsilon) for account, more in pairs),
        leak=state.leak + count * price.leak,
        releases=state.releases + count,
    )


def _delta_of(account: Account) -> Fraction:
    if account.notion is Notion.SUMS:
        return account.leak
    return account.share if account.amount else ZERO


def brief(budget: Budget) -> str:
    """A budget in six digits, rounded up; exact where it is shorter."""
    delta = f", δ = {_six(budget.delta)}" if budget.delta else ""
    return f"ε = {_six(budget.epsilon)}{delta}"


def _six(value: Fraction) -> str:
    exact = shown(value)
    if len(exact) <= SHORT and "/" not in exact and "≈" not in exact:
        return exact
    up = Context(prec=6, rounding=ROUND_CEILING).divide(
        Decimal(value.numerator), Decimal(value.denominator)
    )
    return f"{float(up):.6g}"


def _words(state: FilterState, privacy: Privacy, price: Price) -> str:
    left = state.remaining
    asked = (
        f"{privacy} does not fit into the budget ({state.budget}): ({brief(state.spent)}) is "
        f"spent, so about ({brief(left)}) is left. Nothing was charged."
    )
    if state.leak + price.leak > state.leak_limit:
        return (
            f"{asked} Its own δ of {shown(price.leak)} exceeds what is left of the δ set aside "
            f"for such releases, {shown(state.leak_limit - state.leak)}: ask for a smaller δ, or "
            "open the filter with a larger share, Shares(leak=…)."
        )
    return f"{asked} Ask for less: more noise (a smaller epsilon), or fewer questions."
