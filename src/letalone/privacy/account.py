"""The accountant, asked about the parts of a composition: lazily, order by order, remembered.

numpy and the loss distributions are loaded when the first composition is asked about.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING

from letalone.exact.balls import float_above, float_below
from letalone.privacy.curve import Privacy

if TYPE_CHECKING:
    from letalone.privacy.loss.accountant import Sources

COARSER = 4.0
Parts = tuple[tuple[Privacy, int], ...]


@lru_cache(maxsize=1024)
def is_known(parts: Parts) -> bool:
    """Whether every part has a loss distribution."""
    return bool(parts) and bool(_orders(parts))


@lru_cache(maxsize=1024)
def delta_above(parts: Parts, epsilon: Fraction) -> Fraction:
    """An upper bound on delta at an epsilon that is 0 or more."""
    from letalone.privacy.loss.accountant import delta_above as above

    return Fraction(_worst(parts, above, float_below(epsilon)))


@lru_cache(maxsize=1024)
def delta_below(parts: Parts, epsilon: Fraction) -> Fraction:
    """A lower bound on delta at an epsilon that is 0 or more; 0 where nothing is known."""
    from letalone.privacy.loss.accountant import delta_below as below

    orders = _orders(parts)
    return Fraction(below(orders[0], float_above(epsilon))) if orders else Fraction(0)


@lru_cache(maxsize=1024)
def epsilon_above(parts: Parts, delta: Fraction) -> float:
    """An upper bound on epsilon at a delta above 0."""
    from letalone.privacy.loss.accountant import epsilon_above as above

    at = float_below(delta)
    if at <= 0:
        return inf
    return _worst(parts, above, at)


def _worst(parts: Parts, above: Callable[..., float], at: float) -> float:
    """The worse of both orders; mostly a coarse look shows that the second is no worse."""
    first, *others = _orders(parts)
    worst = above(first, at)
    for order in others:
        if above(order, at, coarser=COARSER) > worst:
            worst = max(worst, above(order, at))
    return worst


@lru_cache(maxsize=1024)
def epsilon_below(parts: Parts, delta: Fraction) -> float:
    """A lower bound on epsilon at a delta above 0."""
    from letalone.privacy.loss.accountant import epsilon_below as below

    return below(_orders(parts)[0], float_above(delta))


@lru_cache(maxsize=1024)
def _orders(parts: Parts) -> "tuple[Sources, ...]":
    from letalone.privacy.loss.sources import orders_of

    known = [(orders_of(part), count) for part, count in parts]
    if any(orders is None for orders, _ in known):
        return ()
    removed, added = (tuple((o[side], n) for o, n in known if o) for side in (0, 1))
    return (removed,) if removed == added else (removed, added)
