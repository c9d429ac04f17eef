"""Filters: questions chosen along the way, within a budget that is never exceeded.

    spending = Filter(Budget(epsilon=1, delta=0))
    spending.charge(PureDP(0.1))      # ten times; the eleventh is refused

A bank of filters, all aiming at the same epsilon. Each release is added to every account
before noise is drawn. The charge is accepted if at least one account stays within its limit.
An account that exceeds its limit is never used again. A refused charge changes no account.

Theorem.  However the releases and the time to stop are chosen from earlier answers, all
answers together are (epsilon, delta)-DP for the budget's epsilon and delta. That is what is
certified; `spent` and `remaining` are book-keeping.
  Proven:   docs/explanation/proofs/filters.md
  Tested:   adaptive adversaries enumerated exactly; ten times 0.1 is 1; what is refused
            changes nothing; stored and restored
  Assumed:  a charge depends on public parameters and earlier answers, never on the data

Whole curves of sampled steps are no filter: such a step is charged as one (epsilon, delta)
pair, and far fewer fit than if their number is fixed beforehand (`compose`, `calibrate`).

Rogers, Roth, Ullman, Vadhan: Privacy odometers and filters (2016). Feldman, Zrnic:
Individual privacy accounting via a Renyi filter (2021). Koskela, Tobaben, Honkela:
Individual privacy accounting with Gaussian differential privacy (2022). Smith, Thakurta:
Fully adaptive composition for Gaussian differential privacy (2022).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import inf, isinf
from threading import Lock
from typing import NoReturn, Self

from letalone.errors import BudgetExceeded, ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Problem, problem
from letalone.errors.remedies import GiveDelta
from letalone.exact.typed import DELTA, EPSILON, Number, as_typed, refusal
from letalone.privacy import bank
from letalone.privacy.bank import USUAL_SHARES, FilterAccount, FilterPrice, Notion, Shares
from letalone.privacy.bounds import ZERO, above, format_number, rational_above, six
from letalone.privacy.budget import Budget, brief
from letalone.privacy.conversions import read_curve
from letalone.privacy.curve import Privacy
from letalone.privacy.neighbours import Neighbours, unify

# Where a curve must be read at one delta and none was named: this part of the budget's.
USUAL_POINT = Fraction(1, 1000)
USUAL_MARKS = tuple(
    Fraction(2) ** power * more for power in range(-3, 6) for more in (1, Fraction(3, 2))
)


@dataclass(frozen=True, slots=True)
class FilterState:
    """All that a filter remembers: storable, comparable, and changed by nothing."""

    budget: Budget
    leak_limit: Fraction
    accounts: tuple[FilterAccount, ...]
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
        living = (account for account in self.accounts if account.live)
        epsilon, delta = min((account.reading(), _delta_of(account)) for account in living)
        return Budget(min(epsilon, self.budget.epsilon), self.leak + delta)

    @property
    def remaining(self) -> Budget:
        """The budget less what was spent: book-keeping."""
        return self.budget - self.spent

    @property
    def leak_left(self) -> Fraction:
        """The most δ that answers with a δ of their own can still have together."""
        return max(ZERO, self.leak_limit - self.leak)


def open_filter(budget: Budget, shares: Shares = USUAL_SHARES) -> FilterState:
    """A filter that nothing was charged to."""
    if not isinstance(budget, Budget):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise refusal("budget", budget, "a budget such as la.Budget(epsilon=1, delta=1e-6)")
    return FilterState(budget, shares.leak * budget.delta, bank.open_accounts(budget.delta, shares))


def charge_filter(
    state: FilterState, privacy: Privacy, *, delta: Number | None = None
) -> FilterState:
    """The state after a release; BudgetExceeded where no account would be within its limit."""
    return _charge_unlabelled(state, _read(privacy), point_of(state, delta))


@lru_cache(maxsize=64)
def _charge_unlabelled(state: FilterState, privacy: Privacy, delta: Fraction) -> FilterState:
    """Asked twice for each release: before a lock is taken, and under it."""
    label = unify(state.neighbours, privacy.neighbours)
    price = _price(state, privacy, delta)
    after = _after(state, price, 1)
    if not after.is_open:
        raise BudgetExceeded(
            _too_dear(state, privacy, price),
            spent=state.spent,
            asked=as_budget(privacy, delta),
            left=state.remaining,
        )
    return replace(after, neighbours=label)


def how_many_more(
    state: FilterState, privacy: Privacy, *, delta: Number | None = None
) -> int | float:
    """How many more like this one fit, if nothing else is asked; inf if it reveals nothing."""
    unify(state.neighbours, _read(privacy).neighbours)
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
        self._state = open_filter(budget, shares)
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
        """About what was spent: an estimate, the budget is the guarantee."""
        return self._state.spent

    @property
    def remaining(self) -> Budget:
        """About what is left: an estimate, the budget is the guarantee."""
        return self._state.remaining

    def charge(self, privacy: Privacy, *, delta: Number | None = None) -> Budget:
        """Pay for a release, before its noise is drawn; returns what is spent by then.

        `delta` says where a curve is read that no account knows by its parameter.
        """
        with self._lock:
            self._state = charge_filter(self._state, privacy, delta=delta)
            return self._state.spent

    def how_many_more(self, privacy: Privacy, *, delta: Number | None = None) -> int | float:
        """About how many more releases like this one fit; inf if it reveals nothing.

        Of sampled steps more fit if their number is fixed in advance: see `calibrate`.
        """
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


class Odometer:
    """Reads the smallest of fixed marks that all releases together are certainly within.

        meter = Odometer(delta=1e-6)
        meter.charge(PureDP(0.1))         # 0.125: the first mark that is not passed

    A row of filters, one for each mark e_1 < e_2 < …, each with an equal part of delta. All
    are charged for every release; the reading is the smallest mark whose filter never refused.

    Theorem.  With r(h) the reading after a transcript h,
        P(S) <= sum over h in S of e^r(h) Q(h) + delta
    for every event S, whenever the questions and the time to stop are chosen from earlier
    answers. So whoever stops when a reading is reached has that epsilon, after the fact.
    (Proof, section 5; tested: the reading never falls, and is the mark at which a filter would
    have refused.)
    """

    __slots__ = ("_lock", "_marks", "_states", "delta")

    def __init__(
        self,
        delta: Number,
        *,
        marks: tuple[Number, ...] = USUAL_MARKS,
        shares: Shares = USUAL_SHARES,
    ) -> None:
        self.delta = DELTA.typed("delta", delta)
        levels = sorted({EPSILON.typed("mark", mark) for mark in marks})
        self._states: list[FilterState | None] = [
            open_filter(Budget(mark, self.delta / len(levels)), shares) for mark in levels
        ]
        self._marks = tuple(levels)
        self._lock = Lock()

    def charge(self, privacy: Privacy, *, delta: Number | None = None) -> float:
        """Count a release, before its noise is drawn; returns the reading."""
        with self._lock:
            self._states = [
                state and _charge_or_pass(state, privacy, delta) for state in self._states
            ]
        return self.epsilon

    @property
    def epsilon(self) -> float:
        """The smallest mark that was never passed; inf where all were."""
        pairs = zip(self._marks, self._states, strict=True)
        within = [mark for mark, state in pairs if state is not None]
        return above(within[0]) if within else inf

    def __copy__(self) -> "Odometer":
        return self

    def __deepcopy__(self, memo: object) -> "Odometer":
        return self

    def __repr__(self) -> str:
        return f"Odometer(at most ε = {self.epsilon:g}, δ = {float(self.delta):g})"


def _charge_or_pass(
    state: FilterState, privacy: Privacy, delta: Number | None
) -> FilterState | None:
    try:
        return charge_filter(state, privacy, delta=delta)
    except BudgetExceeded:
        return None  # passed, and for ever: later releases are not tried


def _read(privacy: object) -> Privacy:
    if isinstance(privacy, Budget):
        raise ParameterError(
            "A filter was given a Budget, but is charged the privacy curve of a release: the "
            ".privacy of its mechanism, or la.PureDP(0.1) and la.ApproxDP(0.1, 1e-8)."
        )
    return read_curve(privacy, by="A filter")


def point_of(state: FilterState, delta: Number | None) -> Fraction:
    """The delta at which a curve without a family is read."""
    usual = USUAL_POINT * state.budget.delta
    return usual if delta is None else DELTA.typed("delta", delta)


def _price(state: FilterState, privacy: Privacy, delta: Number | None) -> FilterPrice:
    return bank.price_of(privacy.labelled(None), state.accounts, delta=point_of(state, delta))


def as_budget(privacy: Privacy, delta: Fraction) -> Budget | None:
    """The release as one pair, at its largest loss or else at a delta; None if there is none."""
    worst, leak = privacy.worst_loss(), rational_above(privacy.certain_leak())
    if leak >= 1:
        return None
    if worst is not None:
        return Budget(rational_above(worst), leak)
    epsilon = privacy.epsilon(delta)
    return None if isinf(epsilon) else Budget(as_typed(epsilon), delta)


def _after(state: FilterState, price: FilterPrice, count: int) -> FilterState:
    """Added to every account, dead ones too."""
    epsilon = state.budget.epsilon
    pairs = zip(state.accounts, price.amounts, strict=True)
    return replace(
        state,
        accounts=tuple(account.grown(more, count, epsilon) for account, more in pairs),
        leak=state.leak + count * price.leak,
        releases=state.releases + count,
    )


def _delta_of(account: FilterAccount) -> Fraction:
    if account.notion is Notion.SUMS:
        return account.leak
    return account.share if account.amount else ZERO


def left_in_words(state: FilterState) -> str:
    """What is left, rounded down; of δ, the part that is set aside for answers that need one."""
    epsilon = f"ε = {six(state.remaining.epsilon, up=False)}"
    if not state.budget.delta:
        return epsilon
    leak = f"δ = {six(state.leak_left, up=False)} for questions that need a δ"
    return f"{epsilon} ({leak})"


def _too_dear(state: FilterState, privacy: Privacy, price: FilterPrice) -> Problem:
    words = (
        f"{privacy} does not fit into the budget ({state.budget}): ({brief(state.spent)}) is "
        f"spent, so about ({brief(state.remaining, up=False)}) is left. Nothing was charged."
    )
    if state.budget.delta == 0 and (price.leak or privacy.worst_loss() is None):
        return problem(Code.BUDGET_EXCEEDED, GiveDelta(), words=words)
    return problem(Code.BUDGET_EXCEEDED, words=f"{words} {_hint(state, privacy, price)}")


def _hint(state: FilterState, privacy: Privacy, price: FilterPrice) -> str:
    if any(part.is_sampled for part, _ in privacy.as_parts()):
        return (
            "A filter charges a sampled step as one (ε, δ) pair, which spends a lot. If the number "
            "of steps and their noise are fixed in advance, la.compose and la.calibrate use the "
            "whole curve, and far more steps fit."
        )
    if state.leak + price.leak > state.leak_limit:
        return (
            f"Its own δ of {format_number(price.leak)} exceeds what is left of the δ set aside "
            f"for such releases, {format_number(state.leak_limit - state.leak)}: ask for a smaller "
            "δ, or open the filter with a larger share, Shares(leak=…)."
        )
    return "Ask for less: more noise (a smaller epsilon), or fewer questions."
