"""How damage is named, and how much two computed states may differ before it is one.

Prices that are found with floating-point transforms may differ in their last digits from one
machine to another, by far less than one part in a million.
"""

from dataclasses import replace
from fractions import Fraction

from letalone.errors import LedgerDamaged
from letalone.ledger.entries import Entry
from letalone.privacy.bank import FilterAccount
from letalone.privacy.filters import FilterState

LAST_DIGITS = Fraction(1, 10**6)


def damage_at(where: Entry | int, why: str) -> LedgerDamaged:
    """The error that names the first bad entry."""
    number = where if isinstance(where, int) else where.number
    what = f"entry {where}" if isinstance(where, int) else str(where)
    before = f"Entries 1 to {number - 1} hold. " if number > 1 else ""
    return LedgerDamaged(
        f"The ledger is damaged at {what}: {why}. {before}Answer nothing from it, and compare it "
        "with a copy."
    )


def states_are_near(left: FilterState, right: FilterState) -> bool:
    """Whether two states are the same but for the last digits of what was charged."""
    pairs = list(zip(left.accounts, right.accounts, strict=False))
    return (
        _bare(left) == _bare(right)
        and len(left.accounts) == len(right.accounts)
        and _near(left.leak, right.leak)
        and all(_near(a.amount, b.amount) and _near(a.leak, b.leak) for a, b in pairs)
    )


def _bare(state: FilterState) -> FilterState:
    """The state without what was charged."""
    return replace(state, leak=Fraction(0), accounts=tuple(map(_empty, state.accounts)))


def _empty(account: FilterAccount) -> FilterAccount:
    return replace(account, amount=Fraction(0), leak=Fraction(0))


def _near(one: Fraction | None, other: Fraction | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= LAST_DIGITS * max(one, other)
