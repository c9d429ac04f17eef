"""Partitions of the outputs into cells, each weighed by how much it tells.

A cell is a range of a number, a range together with a lowest set bit, or one single
output. Its weight is the logarithm of how much more often one input falls into it than
the other, learned from draws; the tails of the weight are unions of cells, the most
telling first.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from letalone.audit.leaves import ERROR, NUMBER
from letalone.audit.outputs import NO_BIT, Floats, Integers, Outputs, lowest_bits

MAX_CELLS_NAMED = 4  # cells of an event that are named in words
LOW_BITS = "low-order bits differ: "


class Keyed(Protocol):
    """A whole number for every output: the cell of a partition that it falls into."""

    def headline(self, keys: Integers) -> str:
        """What it means that these cells tell the inputs apart; may be empty."""
        del keys
        return ""

    def keys(self, outputs: Outputs) -> Integers:
        """The cell of each output."""
        ...

    def words_for(self, key: int) -> str:
        """The cell, in words."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class RangeCells(Keyed):
    """The range, between given edges, that one coordinate falls into."""

    place: int
    name: str
    edges: Floats

    def keys(self, outputs: Outputs) -> Integers:
        return np.searchsorted(self.edges, outputs.column(self.place), side="left")

    def words_for(self, key: int) -> str:
        low = -np.inf if key == 0 else self.edges[key - 1]
        high = np.inf if key == len(self.edges) else self.edges[key]
        if np.isnan(high):  # in order of size, what is no number comes last
            return f"{self.name} above {low:.6g}, or not a number"
        return f"{self.name} in ({low:.6g}, {high:.6g}]"


@dataclass(frozen=True, slots=True, eq=False)
class RangesAndBits(Keyed):
    """The range and the lowest set bit together: a grid that is finer here than there."""

    ranges: RangeCells

    def headline(self, keys: Integers) -> str:
        """That it is the bits which tell, unless all of these are no numbers."""
        return LOW_BITS if np.any(keys % 4096 <= NO_BIT + 2048) else ""

    def keys(self, outputs: Outputs) -> Integers:
        bits = lowest_bits(outputs.column(self.ranges.place))
        bits = np.where(np.isnan(bits), NO_BIT + 1, bits).astype(np.int64)
        return self.ranges.keys(outputs) * 4096 + bits + 2048

    def words_for(self, key: int) -> str:
        within, bit = divmod(key, 4096)
        if bit - 2048 > NO_BIT:
            return f"{self.ranges.name} is not a finite number"
        return f"{self.ranges.words_for(within)} with lowest set bit {power_of_two(bit - 2048)}"


@dataclass(frozen=True, slots=True, eq=False)
class Exactly(Keyed):
    """The output itself, bit by bit."""

    known: Outputs

    def keys(self, outputs: Outputs) -> Integers:
        return outputs.names

    def words_for(self, key: int) -> str:
        return f"the output is {self.known.words_for(key)}"


@dataclass(frozen=True, slots=True, eq=False)
class Forms(Keyed):
    """All of an output but its numbers: keys, labels, the shape."""

    forms: dict[int, str]

    def keys(self, outputs: Outputs) -> Integers:
        return np.nan_to_num(outputs.column(0)).astype(np.int64)

    def words_for(self, key: int) -> str:
        form = self.forms.get(key, "of none before")
        if form == NUMBER or form.startswith(ERROR):
            return f"the output is {'a number' if form == NUMBER else form}"
        return f"the output has the form {form}"


@dataclass(frozen=True, slots=True, eq=False)
class CellWeights:
    """How much more often one input falls into the output's cell: the log of the ratio."""

    cells: Keyed
    keys: Integers
    weights: Floats

    def score(self, outputs: Outputs) -> Floats:
        # A cell that was never seen while learning weighs nothing.
        keys = self.cells.keys(outputs)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.weights[places], 0.0)

    def words(self, threshold: float, *, above: bool) -> str:
        inside = self.weights >= threshold if above else self.weights <= threshold
        unseen = threshold <= 0 if above else threshold >= 0
        # An event that holds outputs never seen is told by what is not in it.
        chosen = np.flatnonzero(~inside if unseen else inside)
        named = self.keys[chosen[np.argsort(-np.abs(self.weights[chosen]))]]
        shown = "; ".join(self.cells.words_for(int(key)) for key in named[:MAX_CELLS_NAMED])
        more = f"; and {len(named) - MAX_CELLS_NAMED} more" if len(named) > MAX_CELLS_NAMED else ""
        if len(named) == 0:
            return "any output" if unseen else "no output"
        head = self.cells.headline(named)
        if len(named) == 1:
            return f"{head}{'not: ' if unseen else ''}{shown}"
        return f"{head}{'none' if unseen else 'one'} of these holds: {shown}{more}"


def ranges_of(one: Outputs, other: Outputs, place: int, count: int) -> RangeCells:
    """At most `count` ranges of a coordinate with about as many of these draws in each."""
    both = np.sort(np.concatenate([one.column(place), other.column(place)]))
    edges = both[(np.arange(1, count) * len(both)) // count]
    return RangeCells(place, name_of(one, place), np.unique(edges))


def exactly(one: Outputs, other: Outputs) -> Exactly:
    """Single outputs, among which these can be put in words."""
    numbers = np.concatenate([one.numbers, other.numbers])
    names = np.concatenate([one.names, other.names])
    return Exactly(Outputs(numbers, names, one.shown | other.shown, one.forms | other.forms))


def weigh_cells(cells: Keyed, one: Outputs, other: Outputs) -> CellWeights:
    """The cells with the weights that these draws give them."""
    mine, theirs = cells.keys(one), cells.keys(other)
    keys, places = np.unique(np.concatenate([mine, theirs]), return_inverse=True)
    count = len(keys)
    # Half a draw more in every cell: what was seen once is not believed to be certain.
    often = np.bincount(places[: len(mine)], minlength=count) + 0.5
    seldom = np.bincount(places[len(mine) :], minlength=count) + 0.5
    return CellWeights(cells, keys, np.log(often / seldom))


def name_of(outputs: Outputs, place: int) -> str:
    """A coordinate, in words."""
    if outputs.forms:
        return f"number {place} in the output"
    return "the output" if outputs.width == 1 else f"coordinate {place} of the output"


def power_of_two(exponent: int) -> str:
    """The place of a lowest set bit, in words."""
    return "that of zero" if exponent >= NO_BIT else f"2^{exponent}"
