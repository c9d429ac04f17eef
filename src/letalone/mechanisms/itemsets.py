"""Itemsets over a public universe: counted where seen, drawn by number where not.

An itemset of size s over m items is a row of s increasing places. Itemsets are numbered by
size first and then in the combinatorial number system, so a uniform number below the
total is a uniform itemset, and none has to be listed. Itemsets of equal support have equal
probability: a choice first picks a support, weighted with how many itemsets have it, and
then one of those. The unseen ones are the largest such group. The law is the one of a
choice among all candidates.

  Proven:   docs/explanation/proofs/applications.md, section 3
  Tested:   the numbering is a bijection; the choices against a full enumeration
  Assumed:  the bits are uniform
"""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT
from letalone.randomness.bits import BitSource
from letalone.randomness.choice import Scores, choose
from letalone.randomness.uniform import sample_below

Itemset = tuple[int, ...]

MOST_CANDIDATES = 2**62
MOST_SUBSETS = 2**24  # of one basket, listed in memory


def count_itemsets(items: int, max_size: int) -> int:
    """How many itemsets have between 1 and max_size of so many items."""
    total = sum(comb(items, size) for size in range(1, max_size + 1))
    if total >= MOST_CANDIDATES:
        raise ParameterError(
            f"There are {total} itemsets of up to {max_size} of {items} items, but must be fewer"
            " than 2^62. Lower max_size, or list fewer items."
        )
    return total


def read_widest(max_items: int, *, items: int, max_size: int) -> int:
    """How many items of a basket are kept, if so many have few enough subsets to list."""
    widest = min(int(COUNT.typed("max_items", max_items)), items)
    subsets = sum(comb(widest, size) for size in range(1, min(max_size, widest) + 1))
    if subsets > MOST_SUBSETS:
        raise ParameterError(
            f"max_items is {max_items}, but must be lower for a max_size of {max_size}: a basket"
            f" of {widest} items would have {subsets} subsets, more than 2^24. Lower either."
        )
    return widest


def itemset_at(number: int, items: int) -> Itemset:
    """The itemset with this number."""
    size = 1
    while number >= comb(items, size):
        number -= comb(items, size)
        size += 1
    places: list[int] = []
    for remaining in range(size, 0, -1):
        place = _largest_below(number, remaining, items)
        number -= comb(place, remaining)
        places.append(place)
    return tuple(reversed(places))


def _largest_below(number: int, size: int, items: int) -> int:
    """The largest place with comb(place, size) at most the number."""
    low, high = size - 1, items
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if comb(middle, size) <= number else (low, middle)
    return low


def choose_itemsets(
    support: Counter[Itemset],
    *,
    items: int,
    max_size: int,
    k: int,
    factor: Fraction,
    bits: BitSource,
) -> list[Itemset]:
    """k itemsets, each drawn among those left with probability ∝ e^(factor · support)."""
    groups: dict[int, list[Itemset]] = {}
    for itemset in sorted(support):
        groups.setdefault(support[itemset], []).append(itemset)
    taken = set(support)
    total = count_itemsets(items, max_size)
    chosen: list[Itemset] = []
    for _ in range(k):
        group = _choose_group(groups, total - len(taken), factor, bits)
        if group is None:
            chosen.append(_draw_unseen(taken, items=items, total=total, bits=bits))
            taken.add(chosen[-1])
        else:
            chosen.append(group.pop(sample_below(len(group), bits)))
    return chosen


def _choose_group(
    groups: dict[int, list[Itemset]], unseen: int, factor: Fraction, bits: BitSource
) -> list[Itemset] | None:
    """One of the groups of equal support, or None for the unseen ones."""
    supports = [support for support, group in groups.items() if group]
    if unseen:
        supports.append(0)
    sizes = [len(groups[support]) if support else unseen for support in supports]
    utilities, multiplicities = np.array(supports, np.float64), np.array(sizes, np.int64)
    place = choose(Scores(utilities, factor, multiplicities), bits)
    return groups[supports[place]] if supports[place] else None


def _draw_unseen(taken: set[Itemset], *, items: int, total: int, bits: BitSource) -> Itemset:
    """A uniform itemset that is not taken."""
    if 2 * len(taken) >= total:  # few are left, and about as many in all as were seen
        every = (itemset_at(number, items) for number in range(total))
        unseen = [itemset for itemset in every if itemset not in taken]
        return unseen[sample_below(len(unseen), bits)]
    while True:
        itemset = itemset_at(sample_below(total, bits), items)
        if itemset not in taken:
            return itemset


def count_support(
    units: Iterable[Iterable[frozenset[int]]], max_size: int, *, once: bool
) -> Counter[Itemset]:
    """How many baskets contain each itemset that any contains; a unit counts `once`, or by each."""
    support: Counter[Itemset] = Counter()
    for baskets in units:
        itemsets = (itemset for basket in baskets for itemset in _subsets(basket, max_size))
        support.update(set(itemsets) if once else itemsets)
    return support


def _subsets(basket: frozenset[int], max_size: int) -> Iterable[Itemset]:
    places = sorted(basket)
    for size in range(1, min(max_size, len(places)) + 1):
        yield from combinations(places, size)
