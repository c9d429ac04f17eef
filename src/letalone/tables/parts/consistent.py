"""Trees of counts whose noisy nodes agree: the counts of cells that fit all levels best.

The cells are grouped `branches` at a time, and those groups again, `levels` times. Every node
gets noise of the same size. What is known of a node is known twice, by itself and by the sum of
its children, and least squares weigh both: from below, each node becomes the weighted mean of
itself and its children's sum; from above, what is left over is shared among the children in
proportion to their variances (Hay et al. for equal numbers of children).

The rank of a cell less a share of all rows is a linear form of the nodes. Its weights a depend
on the shape alone, and Σa² and Σa⁴ say how far its noise strays (`intervals.reach`).

Theorem.  A unit moves the nodes by `levels` times what it moves the cells by, in L1 and in L2
squared. `counts` is the least squares solution; `power_sums` and `squares` are its weights'.
  Proven:   docs/explanation/proofs/tables.md, section 4
  Tested:   against a dense least squares solution and its weights, for uneven shapes, too
  Assumed:  nothing beyond double precision

Hay, Rastogi, Miklau, Suciu: Boosting the accuracy of differentially private histograms through
consistency (2010). Honaker: Efficient use of differentially private binary trees (2015).
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.tables.columns import Floats, Integers

MOST_LEVELS = 17
LOOKED_AT = 65  # places at which shapes are compared
HOPELESS = 1.5  # deeper trees are not looked at once one is this much worse than the best


@dataclass(frozen=True, slots=True, eq=False)
class CountTree:
    """The shape of a tree over cells with its weights of least squares; levels from the top."""

    ends: tuple[Integers, ...]  # where the nodes of a level end, in cells, after a leading 0
    children: tuple[Integers, ...]  # the first child of each node, and one beyond the last
    own: tuple[Floats, ...]  # a node's weight beside the sum of its children
    parts: tuple[Floats, ...]  # a child's part of what is left over in its parent

    @property
    def levels(self) -> int:
        """How many counts a row is in."""
        return len(self.ends)

    @property
    def count(self) -> int:
        return len(self.ends[-1]) - 1

    def vector(self, cells: NDArray[Any]) -> Integers:
        """The counts of all nodes, levels beside each other from the top, a row for each key."""
        sums = np.pad(np.cumsum(np.asarray(cells, dtype=np.int64), axis=1), ((0, 0), (1, 0)))
        return np.concatenate([np.diff(sums[:, ends], axis=1) for ends in self.ends], axis=1)

    def counts(self, noisy: Floats) -> Floats:
        """The counts of cells that fit a noisy vector best, a row for each key."""
        sizes = np.cumsum([len(ends) - 1 for ends in self.ends])
        fitted = np.split(noisy, sizes[:-1], axis=1)
        sums = fitted[1:]
        for level in range(self.levels - 2, -1, -1):
            sums[level] = _sum_children(fitted[level + 1], self.children[level])
            weights = self.own[level]
            fitted[level] = weights * fitted[level] + (1 - weights) * sums[level]
        nodes = fitted[0]
        for level, children in enumerate(self.children):
            surplus = np.repeat(nodes - sums[level], np.diff(children), axis=1)
            nodes = fitted[level + 1] + surplus * self.parts[level]
        return nodes

    def squares(self, forms: Floats) -> Floats:
        """Σa² of the noise in linear forms of the cells' counts, one for each row."""
        onto = [forms]  # what stands before the final count of each node, levels from the top
        for children, parts in zip(self.children[::-1], self.parts[::-1], strict=True):
            onto.insert(0, _sum_children(onto[0] * parts, children))
        before, total = onto[0], np.zeros(len(forms))
        for level, weights in enumerate(self.own):
            total += np.sum((before * weights) ** 2, axis=1)
            if level < len(self.children):
                passed = before * (1 - weights) - onto[level]
                many = np.diff(self.children[level])
                before = onto[level + 1] + np.repeat(passed, many, axis=1)
        return total


@lru_cache(maxsize=64)
def tree_for(count: int) -> CountTree:
    """The tree over so many cells whose ranks have the least variance under Laplace noise."""
    best, least = tree_of(count, 1, count), np.inf
    for levels in range(1, MOST_LEVELS + 1):
        tree = tree_of(count, levels, _root_above(count, levels))
        places = np.unique(np.linspace(0, count, LOOKED_AT, dtype=np.int64))
        spread = levels * float(np.mean(power_sums(tree, 0.5, places)[0])) ** 0.5
        if spread > HOPELESS * least:
            break
        best, least = (tree, spread) if spread < least else (best, least)
    return best


def tree_of(count: int, levels: int, branches: int) -> CountTree:
    """A tree over so many cells; the last node of a level may have fewer children."""
    sizes: list[int] = [branches**level for level in range(levels - 1, -1, -1)]
    ends = [np.append(np.arange(0, count, size), count) for size in sizes]
    children = [np.searchsorted(lower, upper) for upper, lower in pairwise(ends)]
    own, parts = [np.ones(count)], list[Floats]()  # `own` is the variance of what is fitted, too
    for inner in children[::-1]:
        spread = np.add.reduceat(own[0], inner[:-1])
        parts.insert(0, own[0] / np.repeat(spread, np.diff(inner)))
        own.insert(0, spread / (1 + spread))
    return CountTree(tuple(ends), tuple(children), tuple(own), tuple(parts))


def power_sums(tree: CountTree, share: float, places: Integers) -> tuple[Floats, Floats]:
    """Σa² and Σa⁴ of the noise in #{x < place} − share · n, for places from 0 to all cells.

    Only nodes above a place have children on both sides of it. All others on one side have one
    factor before them, which their descendants inherit: what these add is known beforehand.
    """
    power_totals = np.zeros((2, len(places)))
    path = [np.minimum(np.searchsorted(e, places, side="right"), len(e) - 1) - 1 for e in tree.ends]
    onto = _onto_path(tree, share, places, path)
    passed = np.zeros(len(places))
    for level, (below, at) in enumerate(zip(_descendants(tree), path, strict=True)):
        first, last = _siblings(tree, path, level)
        for power, sums in enumerate(below):
            exponent = 2 * power + 2
            power_totals[power] += (1 - share + passed) ** exponent * (sums[at] - sums[first])
            power_totals[power] += (passed - share) ** exponent * (sums[last] - sums[at + 1])
            power_totals[power] += ((onto[level] + passed) * tree.own[level][at]) ** exponent
        before = onto[level] + passed
        passed = before * (1 - tree.own[level][at]) - onto[level]
    return power_totals[0], power_totals[1]


def _onto_path(
    tree: CountTree, share: float, places: Integers, path: list[Integers]
) -> list[Floats]:
    """What stands before the final counts of the nodes that hold a place."""
    onto: list[Floats] = [np.where(places > path[-1], 1 - share, -share)]
    for level in range(tree.levels - 2, -1, -1):
        parts, at = tree.parts[level], path[level + 1]
        sums = _cumulate(parts)
        below = sums[at] - sums[tree.children[level][path[level]]]
        onto.insert(0, below + parts[at] * (onto[0] + share) - share)
    return onto


def _siblings(tree: CountTree, path: list[Integers], level: int) -> tuple[Integers, Integers]:
    """The first of a node and its siblings, and one beyond the last."""
    if level == 0:
        return np.zeros_like(path[0]), np.full_like(path[0], len(tree.ends[0]) - 1)
    children, parent = tree.children[level - 1], path[level - 1]
    return children[parent], children[parent + 1]


def _descendants(tree: CountTree) -> list[tuple[Floats, Floats]]:
    """Running sums over each level of what a node and all below it add to Σa² and Σa⁴."""
    each = [np.ones((2, tree.count))]
    for weights, children in zip(tree.own[-2::-1], tree.children[::-1], strict=True):
        inner = _sum_children(each[0], children)
        powers = [[weight**2, weight**4] for weight in (weights, 1 - weights)]
        each.insert(0, np.array(powers[0]) + np.array(powers[1]) * inner)
    return [(_cumulate(pair[0]), _cumulate(pair[1])) for pair in each]


def _cumulate(values: Floats) -> Floats:
    return np.concatenate([np.zeros(1), np.cumsum(values)])


def _sum_children(values: Floats, children: Integers) -> Floats:
    """The sums of each node's children, along the last axis."""
    return np.add.reduceat(values, children[:-1], axis=1)


def _root_above(count: int, levels: int) -> int:
    """The least whole number, 2 or more, whose power reaches the count."""
    root = max(2, ceil(count ** (1 / levels)) - 1)
    while root**levels < count:
        root += 1
    return root
