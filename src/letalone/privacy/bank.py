"""The accounts of a filter bank: what each counts, and when it is within its limit.

An account adds up one number a release: epsilon (sums), mu^2 (Gaussian), rho
(concentrated), or the Renyi divergence at one order. It is within its limit while what the
total implies at the bank's epsilon stays at or below the account's own share of delta. What
a release may show outright, its leak, is common to all accounts and capped by itself.

Theorem.  Each rule is a filter: parameters and the time to stop may be chosen after seeing
answers (docs/explanation/proofs/filters.md, section 2). The caps are fixed beforehand, one
for each account and one for leaks: a rule that let one grow as another shrinks would break
the promise by up to a factor of two (section 4).
  Proven:   docs/explanation/proofs/filters.md
  Tested:   tests/privacy/test_filters.py
"""

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from math import isinf
from typing import NamedTuple, Self

from letalone.errors import ParameterError
from letalone.exact.balls import certain
from letalone.exact.typed import PROBABILITY, Number, as_typed
from letalone.privacy.bounds import ANY_ACCURACY, ZERO, at_most, is_zero, rational_above
from letalone.privacy.composition import Composed, compose
from letalone.privacy.curve import Part, Privacy
from letalone.privacy.curves.approximate import ApproxDP, PureDP
from letalone.privacy.curves.gaussian_curve import GaussianDP, gaussian_delta
from letalone.privacy.curves.renyi import ZCDP, RenyiDP, best_order, order_delta, renyi_delta, rough

ORDERS = tuple(Fraction(order) for order in (3, 6, 12, 24, 48, 96))
MAX_DENOMINATOR_BITS = 2048  # bits below the line, beyond which a total is rounded up
GRID = 1 << 256


class Notion(Enum):
    """What an account adds up."""

    SUMS = "sums"
    GAUSSIAN = "gaussian"
    CONCENTRATED = "concentrated"
    RENYI = "renyi"


@dataclass(frozen=True, slots=True, init=False)
class Shares:
    """How the delta of a budget is divided, fixed before the first answer."""

    leak: Fraction
    sums: Fraction
    gaussian: Fraction
    concentrated: Fraction
    renyi: Fraction

    def __init__(
        self,
        *,
        leak: Number = 0,
        sums: Number = 0,
        gaussian: Number = 0,
        concentrated: Number = 0,
        renyi: Number = 0,
    ) -> None:
        given = {"leak": leak, "sums": sums, "gaussian": gaussian}
        given |= {"concentrated": concentrated, "renyi": renyi}
        read = {name: PROBABILITY.typed(name, share) for name, share in given.items()}
        if sum(read.values()) > 1:
            raise ParameterError(
                f"The shares add up to {float(sum(read.values())):g}, but must add up to at most 1."
            )
        for name, share in read.items():
            object.__setattr__(self, name, share)


USUAL_SHARES = Shares(leak=0.25, sums=0.25, gaussian=0.25, concentrated=0.125, renyi=0.125)


@dataclass(frozen=True, slots=True)
class FilterAccount:
    """One filter of the bank; an amount of None is infinite, and an account once over is dead."""

    notion: Notion
    order: Fraction | None
    share: Fraction
    amount: Fraction | None = ZERO
    leak: Fraction = ZERO
    live: bool = True

    def grown(self, more: "FilterAmount", count: int, epsilon: Fraction) -> Self:
        """The account after `count` more such releases, and whether it still lives."""
        if self.amount is None or more.amount is None:
            return replace(self, amount=None, live=False)
        after = replace(
            self,
            amount=tidy(self.amount + count * more.amount),
            leak=self.leak + count * more.leak,
        )
        return replace(after, live=self.live and within(after, epsilon))

    def reading(self) -> Fraction:
        """The epsilon that the total stands for, at the account's share of delta."""
        if not self.amount or self.notion is Notion.SUMS:
            return self.amount or ZERO
        if self.notion is Notion.GAUSSIAN:
            curve: Privacy = GaussianDP(mu_squared=self.amount)
        else:
            curve = ZCDP(self.amount) if self.order is None else RenyiDP(self.order, self.amount)
        return as_typed(curve.epsilon(self.share))


class FilterAmount(NamedTuple):
    """What one release adds to an account; the leak is beyond the common one (sums only)."""

    amount: Fraction | None
    leak: Fraction = ZERO


class FilterPrice(NamedTuple):
    """What one release adds to each account, and its leak, which is common to all."""

    leak: Fraction
    amounts: tuple[FilterAmount, ...]


def open_accounts(delta: Fraction, shares: Shares) -> tuple[FilterAccount, ...]:
    """The accounts that have a share; sums always, since pure releases need no delta."""
    single = {
        Notion.SUMS: shares.sums,
        Notion.GAUSSIAN: shares.gaussian,
        Notion.CONCENTRATED: shares.concentrated,
    }
    accounts = [FilterAccount(notion, None, share * delta) for notion, share in single.items()]
    accounts += [
        FilterAccount(Notion.RENYI, order, shares.renyi * delta / len(ORDERS)) for order in ORDERS
    ]
    return tuple(account for account in accounts if account.share or account.notion is Notion.SUMS)


def within(account: FilterAccount, epsilon: Fraction) -> bool:
    """Whether the total certainly implies no more than the account's share of delta."""
    total = account.amount
    if total is None:
        return False
    if account.notion is Notion.SUMS:
        return total <= epsilon and account.leak <= account.share
    if total == 0:
        return True
    if account.notion is Notion.GAUSSIAN:
        return at_most(gaussian_delta(total, epsilon), account.share)
    if account.order is not None:
        return at_most(order_delta(account.order, total, epsilon), account.share)
    # Any order is a proof, so the search for the best needs no certificate.
    order = best_order(rough(total), rough(epsilon))
    implied = certain(lambda: renyi_delta(total, epsilon, order), bits=ANY_ACCURACY)
    return at_most(implied, account.share)


def price_of(
    privacy: Privacy, accounts: tuple[FilterAccount, ...], *, delta: Fraction
) -> FilterPrice:
    """What a release adds to each account; curves of no family are read at `delta`."""
    parts = privacy.as_parts()
    if not all(part.has_family for part, _ in parts):
        parts = _point(privacy, delta).as_parts()
    leak = sum((count * rational_above(part.certain_leak()) for part, count in parts), ZERO)
    bare = _without_leaks(parts)
    amounts = (_amount(bare, account.notion, account.order, delta) for account in accounts)
    return FilterPrice(leak, tuple(amounts))


@lru_cache(maxsize=1024)
def _point(privacy: Privacy, delta: Fraction) -> Privacy:
    """The curve as one (epsilon, delta) pair, or itself where no epsilon will do."""
    epsilon = privacy.epsilon(delta)
    return privacy if isinf(epsilon) else ApproxDP(epsilon, delta)


def _without_leaks(parts: tuple[Part, ...]) -> Composed:
    """What is left of the parts when nothing leaks: (e, d)-DP becomes e-DP (proof, 3)."""
    kept: list[Part] = []
    for part, count in parts:
        worst = part.worst_loss()
        if is_zero(part.certain_leak()) or worst is None:
            kept.append((part, count))
        elif not is_zero(worst):
            kept.append((PureDP(rational_above(worst)), count))
    return Composed(kept)


@lru_cache(maxsize=4096)
def _amount(
    bare: Composed, notion: Notion, order: Fraction | None, delta: Fraction
) -> FilterAmount:
    match notion:
        case Notion.SUMS:
            return _sum(bare, delta)
        case Notion.GAUSSIAN:
            return FilterAmount(bare.gdp_mu_squared())
        case Notion.CONCENTRATED:
            return FilterAmount(bare.zcdp_rho())
        case Notion.RENYI:
            return FilterAmount(bare.renyi_divergence(order or ORDERS[0]))


def _sum(bare: Composed, delta: Fraction) -> FilterAmount:
    """The parts with a largest loss at that loss, the others together at one delta."""
    ended = Composed(part for part in bare.parts if part[0].worst_loss() is not None)
    endless = [part * count for part, count in bare.parts if part.worst_loss() is None]
    loss = ended.pure_epsilon()
    if not endless:
        return FilterAmount(loss)
    epsilon = compose(*endless).epsilon(delta)  # inf at a delta of 0
    if loss is None or isinf(epsilon):
        return FilterAmount(None)
    return FilterAmount(loss + as_typed(epsilon), delta)


def tidy(total: Fraction) -> Fraction:
    """The total, rounded up to a multiple of 2^-256 where its denominator has grown huge."""
    if total.denominator.bit_length() <= MAX_DENOMINATOR_BITS:
        return total
    return Fraction(-(-total.numerator * GRID // total.denominator), GRID)
