"""Where noise on the answer is useless and a private choice is what helps.

  private_price      revenue collapses just above a bid, so a price with a little noise may
                     earn nothing; choosing a price from a list by its revenue does not
  best_option        the option with the most votes: vaccine A or B
  frequent_itemsets  the k sets of items that most transactions contain

Every list to choose from is public and given by the caller, never read off the data.
Choices are by the exponential mechanism with the sensitivity that each function states.
With `neighbours=ADD_REMOVE` utilities are monotone, which needs half the noise; the
default REPLACE holds for both relations at the epsilon given.

  Proven:   docs/explanation/proofs/applications.md
  Tested:   sensitivities by brute force; laws against full enumeration
  Assumed:  the bits are uniform; an observer does not see how long it took
"""

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import TypeVar, cast

import numpy as np

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, Constraint, Number
from letalone.mechanisms.exponential import Exponential
from letalone.mechanisms.itemsets import (
    choose_itemsets,
    count_itemsets,
    count_support,
    count_units,
)
from letalone.mechanisms.top_k import TopK
from letalone.privacy import ADD_REMOVE, REPLACE, Neighbours
from letalone.randomness.bits import SYSTEM, BitSource

Item = TypeVar("Item", bound=Hashable)
Price = TypeVar("Price", bound=Number)

PRICE = Constraint(
    "a positive number",
    lambda x: x > 0,
    "Prices are a public list to choose from.",
    (0, -1, float("nan"), float("inf")),
)
PRICE_BITS = 24  # so that a price times half a billion buyers is exact as a float


def private_price(
    valuations: Sequence[float],
    *,
    prices: Sequence[Price],
    epsilon: Number,
    neighbours: Neighbours = REPLACE,
    bits: BitSource = SYSTEM,
) -> Price:
    """The price to ask of all, chosen for its revenue: price × how many would pay it.

    One valuation a buyer. A buyer moves the revenue at a price by at most that price, so
    the sensitivity is the largest price in the list. A valuation that is not a number buys
    nothing.
    """
    units = _price_units(prices)
    limits = np.array([float(price) for price in prices])
    paid = _buyers_at(valuations, limits)
    revenue = [min(unit * buyers, 2**53) for unit, buyers in zip(units, paid, strict=True)]
    mechanism = Exponential(
        epsilon=epsilon, sensitivity=max(units), monotone=_is_add_remove(neighbours)
    )
    return prices[mechanism.choose_index(revenue, bits=bits)]


def best_option(
    votes: Iterable[Hashable],
    *,
    options: Sequence[Item],
    epsilon: Number,
    neighbours: Neighbours = REPLACE,
    bits: BitSource = SYSTEM,
) -> Item:
    """The option with the most votes, privately.

    One vote a person, so the sensitivity is 1. A vote for anything else is dropped.
    """
    places = _places(options, "options")
    counts = [0] * len(options)
    for vote in votes:
        place = _place(vote, places)
        if place is not None:
            counts[place] += 1
    mechanism = Exponential(epsilon=epsilon, sensitivity=1, monotone=_is_add_remove(neighbours))
    return options[mechanism.choose_index(counts, bits=bits)]


def frequent_itemsets(
    transactions: Sequence[Iterable[Hashable]],
    *,
    items: Sequence[Item],
    k: int,
    max_size: int,
    epsilon: Number,
    delta: Number = 0,
    user: Sequence[Hashable] | None = None,
    max_transactions: int | None = None,
    neighbours: Neighbours = REPLACE,
    bits: BitSource = SYSTEM,
) -> list[tuple[Item, ...]]:
    """The k sets of 1 to `max_size` items that most transactions contain, best first.

    `items` is the public universe; every set over it is a candidate, seen or not, and
    anything else in a transaction is dropped. Sets are tuples in the order of `items`.

    The unit of privacy is a transaction. With `user`, one entry a transaction, it is a
    user: counted is then how many users have the set in some transaction (sensitivity 1);
    with `max_transactions=m` as well, in how many transactions it is, each user's first m
    being kept (sensitivity m). With a delta the k rounds share epsilon more generously.
    """
    places = _places(items, "items")
    size = min(int(COUNT.typed("max_size", max_size)), len(items))
    kept = _most_kept(max_transactions, by_user=user is not None)
    top = TopK(
        k=k,
        epsilon=epsilon,
        delta=delta,
        sensitivity=kept or 1,
        method="one-shot",
        monotone=_is_add_remove(neighbours),
    )
    total = count_itemsets(len(items), size)
    if top.k > total:
        raise ParameterError(f"k is {top.k}, but there are only {total} itemsets. Lower k.")
    baskets = _baskets(transactions, places, user)
    units = (basket[:kept] for basket in baskets)
    support = count_support(units, size) if kept else count_units(units, size)
    chosen = choose_itemsets(
        support, items=len(items), max_size=size, k=top.k, factor=top.factor, bits=bits
    )
    return [tuple(items[place] for place in itemset) for itemset in chosen]


def _price_units(prices: Sequence[Number]) -> list[int]:
    """The prices as whole numbers: exact over a common denominator, or to 24 bits."""
    if len(prices) == 0:
        raise ParameterError("There is no price to choose from. Give at least one.")
    typed = [PRICE.typed("a price", price) for price in prices]
    common = lcm(*(price.denominator for price in typed))
    unit = Fraction(1, common)
    if max(typed) / unit >= 2**PRICE_BITS:
        unit = max(typed) / 2**PRICE_BITS
    return [int(price / unit) for price in typed]


def _buyers_at(valuations: Sequence[float], limits: "np.typing.NDArray[np.float64]") -> list[int]:
    try:
        worth = np.asarray(valuations, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            "The valuations are not a list of numbers. Give one number for each buyer."
        ) from None
    worth = np.sort(worth[~np.isnan(worth)])
    return [int(worth.size - place) for place in np.searchsorted(worth, limits, side="left")]


def _baskets(
    transactions: Sequence[Iterable[Hashable]],
    places: dict[Hashable, int],
    user: Sequence[Hashable] | None,
) -> list[list[frozenset[int]]]:
    """The transactions of each unit, as sets of places, in the unit's own order."""
    if user is None:
        return [[_basket(transaction, places)] for transaction in transactions]
    if len(user) != len(transactions):
        raise ParameterError(
            f"There are {len(transactions)} transactions and {len(user)} users, but each"
            " transaction needs one user."
        )
    by_user: dict[Hashable, list[frozenset[int]]] = {}
    for name, transaction in zip(user, transactions, strict=True):
        by_user.setdefault(name, []).append(_basket(transaction, places))
    return list(by_user.values())


def _basket(transaction: Iterable[Hashable], places: dict[Hashable, int]) -> frozenset[int]:
    found = (_place(item, places) for item in transaction)
    return frozenset(place for place in found if place is not None)


def _place(item: object, places: dict[Hashable, int]) -> int | None:
    try:
        return places.get(cast("Hashable", item))
    except TypeError:  # not hashable, so none of the public ones
        return None


def _places(names: Sequence[Hashable], what: str) -> dict[Hashable, int]:
    places = {name: place for place, name in enumerate(names)}
    if not places:
        raise ParameterError(f"There are no {what} to choose from. Give at least one.")
    if len(places) < len(names):
        raise ParameterError(f"One of the {what} is listed twice, but they must differ.")
    return places


def _most_kept(max_transactions: int | None, *, by_user: bool) -> int | None:
    if max_transactions is None:
        return None
    if not by_user:
        raise ParameterError(
            f"max_transactions is {max_transactions}, but no user is given. Say with user= whose"
            " transaction each is, or leave max_transactions out."
        )
    return int(COUNT.typed("max_transactions", max_transactions))


def _is_add_remove(neighbours: Neighbours) -> bool:
    return neighbours.relation == ADD_REMOVE.relation
