"""The accountant, asked about the parts of a composition: lazily, order by order, remembered.

What the accountant says depends a little on which curves it has cached. What is told does not go
up and down with that: pairs (epsilon, delta) that were told of a composition are remembered, and
the next one lies between its neighbours.

Theorem.  While they are remembered, delta never rises with epsilon, whatever was asked before and
in which order; asked at an epsilon that was told for a delta, it is no more than that delta; and
all that is told is an upper bound.
  Proven:   `Told` keeps its deltas falling. A delta is taken down only to one that holds at a
            smaller epsilon, hence here, too; else it is taken up, as an upper bound may be
  Tested:   tests/privacy/test_order_of_questions.py

numpy and the loss distributions are loaded when the first composition is asked about.
"""

from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import inf, prod
from threading import Lock
from typing import TYPE_CHECKING

from letalone.exact.balls import float_above, float_below
from letalone.privacy.curve import Privacy

if TYPE_CHECKING:
    from letalone.privacy.loss.grids import Sources

COARSER = 4.0
MOST_ORDERS = 64
MOST_TOLD = 256  # pairs of one composition
A_HAIR = 2.0**-41  # half of what an epsilon is moved up by, after a curve gave it
Parts = tuple[tuple[Privacy, int], ...]


class Told:
    """The pairs (epsilon, delta) that were told of one composition: deltas fall."""

    def __init__(self) -> None:
        self._epsilons, self._deltas = list[float](), list[float]()
        self._lock = Lock()

    def find(self, epsilon: float) -> float | None:
        """The delta that was told at this epsilon, or became known since."""
        with self._lock:
            at = bisect_left(self._epsilons, epsilon)
            return self._deltas[at] if self._epsilons[at : at + 1] == [epsilon] else None

    def put_in_line(self, epsilon: float, delta: float) -> float:
        """A delta to tell: no more than at a smaller epsilon, no less than at a larger one."""
        with self._lock:
            at = bisect_left(self._epsilons, epsilon)
            delta = max(min([delta, *self._deltas[at - 1 : at]]), *self._deltas[at : at + 1], 0.0)
            self._insert(at, epsilon, delta)
            return delta

    def know(self, epsilon: float, delta: float) -> None:
        """From now on no more is told from this epsilon on."""
        with self._lock:
            at = bisect_left(self._epsilons, epsilon)
            self._deltas[at:] = [min(earlier, delta) for earlier in self._deltas[at:]]
            self._insert(at, epsilon, min([delta, *self._deltas[at - 1 : at]]))

    def _insert(self, at: int, epsilon: float, delta: float) -> None:
        if self._epsilons[at : at + 1] == [epsilon]:
            self._deltas[at] = delta
            return
        self._epsilons.insert(at, epsilon)
        self._deltas.insert(at, delta)
        if len(self._epsilons) > MOST_TOLD:  # every second one still keeps the others in line
            del self._epsilons[1::2], self._deltas[1::2]


@lru_cache(maxsize=1024)
def _recall(parts: Parts) -> Told:  # noqa: ARG001
    return Told()


@lru_cache(maxsize=1024)
def is_known(parts: Parts) -> bool:
    """Whether every part has a loss distribution."""
    return bool(parts) and bool(_orders(parts))


def delta_above(parts: Parts, epsilon: Fraction) -> Fraction:
    """An upper bound on delta at an epsilon that is 0 or more; it never rises with epsilon."""
    at, known = float_below(epsilon), _recall(parts)
    delta = known.find(at)
    if delta is None:
        delta = known.put_in_line(at, _worst(parts, "delta_above", at))
    return Fraction(delta)


@lru_cache(maxsize=1024)
def delta_below(parts: Parts, epsilon: Fraction) -> Fraction:
    """A lower bound on delta at an epsilon that is 0 or more; 0 where nothing is known."""
    return Fraction(_best(parts, "delta_below", float_above(epsilon)))


@lru_cache(maxsize=1024)
def epsilon_above(parts: Parts, delta: Fraction) -> float:
    """An upper bound on epsilon at a delta above 0."""
    at = float_below(delta)
    epsilon = inf if at <= 0 else _worst(parts, "epsilon_above", at)
    if epsilon < inf:
        _recall(parts).know(epsilon * (1 - A_HAIR), at)
    return epsilon


@lru_cache(maxsize=1024)
def epsilon_below(parts: Parts, delta: Fraction) -> float:
    """A lower bound on epsilon at a delta above 0."""
    return _best(parts, "epsilon_below", float_above(delta))


def _worst(parts: Parts, above: str, at: float) -> float:
    """The worst of all orders; mostly a coarse look shows that the others are no worse."""
    first, *others = _orders(parts)
    worst = _ask_accountant(first, above, at)
    for order in others:
        if _ask_accountant(order, above, at, coarser=COARSER) > worst:
            worst = max(worst, _ask_accountant(order, above, at))
    return worst


def _best(parts: Parts, below: str, at: float) -> float:
    """The best bound from below of the orders that are reached."""
    return max((_ask_accountant(order, below, at) for order in _reached_orders(parts)), default=0.0)


def _ask_accountant(order: "Sources", bound: str, at: float, **options: float) -> float:
    """The accountant's bound of this name, or where losses are few the same from all of them."""
    from letalone.privacy.loss import accountant, enumerated

    losses = enumerated.enumerate_losses(order)
    if losses is None:
        return getattr(accountant, bound)(order, at, **options)
    return getattr(losses, bound)(at)


@lru_cache(maxsize=1024)
def _orders(parts: Parts) -> "tuple[Sources, ...]":
    """One list of losses for each way in which the two tables may differ; none if unknown.

    Parts that tell the same groups apart share the way; others may differ in any.
    """
    known = [part.losses() for part, _ in parts]
    orders_of_parts = [orders for orders in known if orders is not None]
    groups = [part.directions() for part, _ in parts]
    lengths = {group: len(orders) for group, orders in zip(groups, orders_of_parts, strict=False)}
    if len(orders_of_parts) < len(known) or prod(lengths.values()) > MOST_ORDERS:
        return ()
    ways = (dict(zip(lengths, way, strict=True)) for way in product(*map(range, lengths.values())))
    counts = [count for _, count in parts]
    lists = (
        tuple((o[way[g]], n) for o, g, n in zip(orders_of_parts, groups, counts, strict=True))
        for way in ways
    )
    return tuple(dict.fromkeys(lists))


@lru_cache(maxsize=1024)
def _reached_orders(parts: Parts) -> "tuple[Sources, ...]":
    """Losses that the parts reach together: all in their first order, or all in their last."""
    if not _orders(parts):
        return ()
    reached = [(orders, count) for part, count in parts if (orders := part.reached())]
    ends = (tuple((orders[side], count) for orders, count in reached) for side in (0, -1))
    return tuple(dict.fromkeys(ends)) if reached else ()
