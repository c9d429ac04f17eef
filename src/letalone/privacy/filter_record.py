"""A filter that outlives the process: its state as JSON, and back.

Rationals are stored as text, so nothing is rounded. What is read back is checked: the
shares must add up to no more than the budget's delta, no amount may be negative, and an
account that is over its limit must be marked dead.

  Tested:   the round trip; damaged, newer and generous states are refused
"""

from fractions import Fraction
from typing import cast

from letalone.errors import FormatError, LetaloneError
from letalone.exact.typed import read_rational
from letalone.privacy.bank import FilterAccount, Notion, within
from letalone.privacy.bounds import ZERO
from letalone.privacy.budget import Budget
from letalone.privacy.curve import Json
from letalone.privacy.filters import FilterState
from letalone.privacy.neighbours import Neighbours, Relation

FORMAT = 1
DAMAGE = (LetaloneError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError)


def state_to_json(state: FilterState) -> Json:
    """The state as JSON, exactly."""
    label = state.neighbours
    return {
        "format": FORMAT,
        "kind": "filter",
        "epsilon": str(state.budget.epsilon),
        "delta": str(state.budget.delta),
        "leak_limit": str(state.leak_limit),
        "leak": str(state.leak),
        "releases": state.releases,
        "neighbours": label and {"relation": label.relation.value, "unit": label.unit},
        "accounts": [_store_account(account) for account in state.accounts],
    }


def state_from_json(stored: Json) -> FilterState:
    """The state that was stored; refuses what is damaged or newer than this letalone."""
    if not isinstance(stored, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise FormatError("This is not a stored filter: it must be a JSON object.")
    written = stored.get("format")
    if stored.get("kind") != "filter" or not isinstance(written, int):
        raise FormatError("This is not a stored filter: it has no 'format' number and kind.")
    if written > FORMAT:
        raise FormatError(
            f"This filter has format {written}, and this letalone reads up to format {FORMAT}. "
            "Update letalone to read it."
        )
    try:
        state = _restore_state(stored)
    except DAMAGE as error:
        raise FormatError(f"This stored filter is damaged: {error}") from None
    if not _is_sound(state):
        raise FormatError("This stored filter is damaged: its numbers do not fit its budget.")
    return state


def _store_account(account: FilterAccount) -> Json:
    return {
        "notion": account.notion.value,
        "order": None if account.order is None else str(account.order),
        "share": str(account.share),
        "amount": None if account.amount is None else str(account.amount),
        "leak": str(account.leak),
        "live": account.live,
    }


def _restore_state(stored: Json) -> FilterState:
    accounts = cast("list[Json]", stored["accounts"])
    label = cast("dict[str, str | None] | None", stored["neighbours"])
    return FilterState(
        budget=Budget(_number(stored["epsilon"]), _number(stored["delta"])),
        leak_limit=_number(stored["leak_limit"]),
        accounts=tuple(_account(account) for account in accounts),
        leak=_number(stored["leak"]),
        releases=int(cast("int", stored["releases"])),
        neighbours=None
        if label is None
        else Neighbours(Relation(label["relation"]), label["unit"]),
    )


def _account(stored: Json) -> FilterAccount:
    order, amount = stored["order"], stored["amount"]
    return FilterAccount(
        notion=Notion(stored["notion"]),
        order=None if order is None else _number(order),
        share=_number(stored["share"]),
        amount=None if amount is None else _number(amount),
        leak=_number(stored["leak"]),
        live=stored["live"] is True,
    )


def _number(stored: object) -> Fraction:
    return read_rational(cast("str", stored))


def _is_sound(state: FilterState) -> bool:
    amounts = [state.leak, state.leak_limit]
    for account in state.accounts:
        amounts += [account.share, account.leak, account.amount or ZERO]
    shares = sum((account.share for account in state.accounts), state.leak_limit)
    live = (account for account in state.accounts if account.live)
    over = [account for account in live if not within(account, state.budget.epsilon)]
    ordered = all(
        account.order is not None and account.order > 1
        if account.notion is Notion.RENYI
        else account.order is None
        for account in state.accounts
    )
    return (
        min(amounts) >= 0
        and shares <= state.budget.delta
        and ordered
        and not over
        and (state.is_open and state.releases >= 0)
    )
