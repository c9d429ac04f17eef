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

from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import inf, lcm, nan
from numbers import Real
from typing import TypeVar, cast

import numpy as np

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, Number, positive
from letalone.mechanisms.choosing import Exponential
from letalone.mechanisms.containers import count_of, is_one_of, private_entries, public_list
from letalone.mechanisms.itemsets import choose_itemsets, count_itemsets, count_support, read_widest
from letalone.mechanisms.top_k import TopK
from letalone.privacy import REPLACE, Neighbours
from letalone.privacy.neighbours import is_replace
from letalone.randomness.bits import SYSTEM, BitSource

Item = TypeVar("Item", bound=Hashable)
Price = TypeVar("Price", bound=Number)

PRICE = positive("Prices are a public list to choose from.")
NOT_BASKETS = (str, bytes, bytearray, Mapping)
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
    the sensitivity is the largest price in the list. A valuation that cannot be read, because
    it is NaN or not a number (None, text, a truth value), buys nothing; one beyond the largest
    float counts as infinite. No valuation raises an error.
    """
    listed = public_list("prices", prices)
    units = _price_units(listed)
    limits = np.array([float(price) for price in listed])
    paid = _buyers_at(valuations, limits)
    revenue = [min(unit * buyers, 2**53) for unit, buyers in zip(units, paid, strict=True)]
    mechanism = Exponential(
        epsilon=epsilon, sensitivity=max(units), monotone=not is_replace(neighbours)
    )
    return listed[mechanism.choose_index(revenue, bits=bits)]


def best_option(
    votes: Iterable[Hashable],
    *,
    options: Sequence[Item],
    epsilon: Number,
    neighbours: Neighbours = REPLACE,
    bits: BitSource = SYSTEM,
) -> Item:
    """The option with the most votes, privately.

    One vote a person, so the sensitivity is 1. A vote for anything else is dropped, and so is
    one that cannot be looked up (a list, a thing whose hash raises an error).
    """
    listed = public_list("options", options)
    places = _places(listed, "options")
    counts = [0] * len(listed)
    for vote in private_entries("The votes", votes, entry="one vote a person"):
        place = _place(vote, places)
        if place is not None:
            counts[place] += 1
    mechanism = Exponential(epsilon=epsilon, sensitivity=1, monotone=not is_replace(neighbours))
    return listed[mechanism.choose_index(counts, bits=bits)]


def frequent_itemsets(
    transactions: Iterable[Iterable[Hashable]],
    *,
    items: Sequence[Item],
    k: int,
    max_size: int,
    epsilon: Number,
    delta: Number = 0,
    user: Iterable[Hashable] | None = None,
    max_transactions: int | None = None,
    max_items: int = 50,
    neighbours: Neighbours = REPLACE,
    bits: BitSource = SYSTEM,
) -> list[tuple[Item, ...]]:
    """The k sets of 1 to `max_size` items that most transactions contain, best first.

    `items` is the public universe; every set over it is a candidate, seen or not, and
    anything else in a transaction is dropped. Sets are tuples in the order of `items`. A
    transaction is a list, a tuple or a set; one that cannot be read as such (None, NaN, text,
    a mapping, a thing that raises an error) is empty. Of a transaction with more than
    `max_items` of the items (50 where it is not given) the first in the order of `items` are
    kept, so that no single basket has more subsets than fit into memory.

    The unit of privacy is a transaction. With `user`, one entry a transaction, it is a
    user: counted is then how many users have the set in some transaction (sensitivity 1);
    with `max_transactions=m` as well, in how many transactions it is, each user's first m
    being kept (sensitivity m). Transactions without a user (None, NaN, what cannot be a name)
    are dropped. With a delta the k rounds share epsilon more generously.
    """
    listed = public_list("items", items)
    places = _places(listed, "items")
    size = min(int(COUNT.typed("max_size", max_size)), len(listed))
    kept = _most_kept(max_transactions, by_user=user is not None)
    top = TopK(
        k=k,
        epsilon=epsilon,
        delta=delta,
        sensitivity=kept or 1,
        method="one-shot",
        monotone=not is_replace(neighbours),
    )
    total = count_itemsets(len(listed), size)
    if top.k > total:
        choice = count_of(total, "itemset", "itemsets")
        raise ParameterError(f"k is {top.k}, but there is a choice of only {choice}. Lower k.")
    widest = read_widest(max_items, items=len(listed), max_size=size)
    baskets = _baskets(transactions, places, user, widest)
    units = (basket[:kept] for basket in baskets)
    support = count_support(units, size, once=not kept)
    chosen = choose_itemsets(
        support, items=len(listed), max_size=size, k=top.k, factor=top.factor, bits=bits
    )
    return [tuple(listed[place] for place in itemset) for itemset in chosen]


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


def _buyers_at(valuations: Iterable[float], limits: "np.typing.NDArray[np.float64]") -> list[int]:
    worth = _worths(valuations)
    worth = np.sort(worth[~np.isnan(worth)])
    return [int(worth.size - place) for place in np.searchsorted(worth, limits, side="left")]


def _worths(valuations: Iterable[float]) -> "np.typing.NDArray[np.float64]":
    """A float for each buyer, NaN where there is no number."""
    entries = private_entries("The valuations", valuations, entry="one number a buyer")
    if getattr(valuations, "ndim", 1) != 1:
        raise ParameterError("The valuations are a table, but must be one row: a number a buyer.")
    if type(valuations) is np.ndarray and valuations.dtype.char in "bhilqBHILQefd":
        return valuations.astype(np.float64)
    return np.fromiter((_worth(entry) for entry in entries), np.float64)


def _worth(valuation: object) -> float:
    """A number as a float, beyond the largest one infinite; NaN for anything else."""
    if not is_one_of(valuation, Real, Decimal) or is_one_of(valuation, bool, np.bool_):
        return nan
    number = cast("float", valuation)
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf
    except Exception:  # an error would tell something about this buyer
        return nan


def _baskets(
    transactions: Iterable[Iterable[Hashable]],
    places: dict[Hashable, int],
    user: Iterable[Hashable] | None,
    widest: int,
) -> list[list[frozenset[int]]]:
    """The transactions of each unit, as sets of places, in the unit's own order."""
    given = private_entries("The transactions", transactions, entry="a list of items each")
    baskets = [_basket(transaction, places, widest) for transaction in given]
    if user is None:
        return [[basket] for basket in baskets]
    users = list(private_entries("The users", user, entry="a name for each transaction"))
    if len(users) != len(baskets):
        raise ParameterError(
            "There are not as many users as transactions, but each transaction needs one user."
        )
    by_user: dict[Hashable, list[frozenset[int]]] = {}
    for name, basket in zip(users, baskets, strict=True):
        if _is_name(name):
            by_user.setdefault(name, []).append(basket)
    return list(by_user.values())


def _is_name(user: object) -> bool:
    # NaN differs from itself: one person would become as many as there are transactions.
    if user is None or (is_one_of(user, float, np.generic) and bool(user != user)):
        return False
    try:
        hash(user)
    except Exception:  # whatever it raises, it cannot be a name
        return False
    return True


def _basket(transaction: object, places: dict[Hashable, int], widest: int) -> frozenset[int]:
    positions = (_place(item, places) for item in _items_of(transaction))
    return frozenset(sorted({place for place in positions if place is not None})[:widest])


def _items_of(transaction: object) -> list[object]:
    """What is in a transaction; nothing where it cannot be read, so that none raises an error."""
    if is_one_of(transaction, *NOT_BASKETS):
        return []
    try:
        return list(cast("Iterable[object]", transaction))
    except Exception:  # an error would tell something about this basket
        return []


def _place(item: object, places: dict[Hashable, int]) -> int | None:
    try:
        return places.get(cast("Hashable", item))
    except Exception:  # not hashable, so none of the public ones
        return None


def _places(names: Sequence[Hashable], what: str) -> dict[Hashable, int]:
    try:
        places = {name: place for place, name in enumerate(names)}
    except TypeError:
        raise ParameterError(
            f"One of the {what} is a list or another thing that can change, but they must be"
            " words, numbers or tuples of them."
        ) from None
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
