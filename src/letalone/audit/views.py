"""Ways to look at an output: each turns it into one number, whose tails are events.

  the number itself        of each telling coordinate
  ranges                   5, 10 or 20 ranges with as many draws in each, by how much more
                           often one input falls into a range than the other
  exact outputs            likewise for every single output seen: categories, small
                           supports, floats that one input reaches and the other does not
  low-order bits           the lowest set bit, the zeros at the end of the 53 bits, and the
                           lowest bit within ranges: what careless floats give away
  all coordinates at once  the least-squares direction, and the sum of the ranges' weights

A cell is a range of a number, a range together with a lowest set bit, or one single output. Its
weight is the logarithm of how much more often one input falls into it than the other, learned from
draws; the tails of the weight are unions of cells, the most telling first.

What a view needs to know it learns from draws that are used for nothing else. Nothing
here can make an audit wrong: a view that learned nonsense gives a weak event.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from letalone.audit.outputs import (
    ERROR,
    NO_BIT,
    NUMBER,
    Floats,
    Integers,
    Outputs,
    lowest_bits,
    trailing_zeros,
)

RANGES = (5, 10, 20)  # few: the weights of few ranges are learned well
COORDINATES = 8  # of longer vectors, so many of the most telling are looked at one by one
MAX_COORDINATES_TOGETHER = 64  # and so many together
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


class View(Protocol):
    """A number for every output, and words for "the number is at least (at most) x"."""

    def score(self, outputs: Outputs) -> Floats:
        """The number of each output; NaN where there is none."""
        ...

    def words(self, threshold: float, *, above: bool) -> str:
        """The event that the number is at least, or at most, the threshold."""
        ...


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A number that is read off one coordinate: `says` is its tail in words, for a threshold."""

    place: int
    read: Callable[[Floats], Floats]
    says: Callable[[str, float], str]

    def score(self, outputs: Outputs) -> Floats:
        return self.read(outputs.column(self.place))

    def words(self, threshold: float, *, above: bool) -> str:
        return self.says(_side(above), threshold)


def _views_of_number(place: int, name: str) -> tuple[ColumnView, ColumnView, ColumnView]:
    """The coordinate itself, its lowest set bit, and the zeros at the end of its 53 bits."""
    bit = f"{LOW_BITS}the lowest set bit of {name} is"
    end = f"{LOW_BITS}{name} ends with"
    return (
        ColumnView(place, lambda column: column, lambda side, x: f"{name} is {side} {x:.6g}"),
        ColumnView(place, lowest_bits, lambda side, x: f"{bit} {side} {power_of_two(int(x))}"),
        ColumnView(place, trailing_zeros, lambda side, x: f"{end} {side} {int(x)} zero bits of 53"),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ProjectionView:
    """A weighted sum of coordinates, by least squares."""

    places: Integers
    weights: Floats

    def score(self, outputs: Outputs) -> Floats:
        # Not by a matrix product: its rounding may depend on where in a batch a row stands.
        pairs = zip(self.weights, self.places, strict=True)
        return _sum_of(weight * outputs.column(int(place)) for weight, place in pairs)

    def words(self, threshold: float, *, above: bool) -> str:
        shown = ", ".join(f"{weight:.3g}" for weight in self.weights[:MAX_CELLS_NAMED])
        more = ", …" if len(self.weights) > MAX_CELLS_NAMED else ""
        return (
            f"the sum of coordinates with weights {shown}{more} is {_side(above)} {threshold:.6g}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class SumView:
    """The sum of the weights of all coordinates' ranges."""

    parts: tuple[CellWeights, ...]

    def score(self, outputs: Outputs) -> Floats:
        return _sum_of(part.score(outputs) for part in self.parts)

    def words(self, threshold: float, *, above: bool) -> str:
        return (
            f"the learned log-likelihood ratios of {len(self.parts)} coordinates sum to"
            f" {_side(above)} {threshold:.6g}"
        )


def learn(one: Outputs, other: Outputs) -> Iterator[View]:
    """Every view that these outputs suggest, the plainest first."""
    places = _telling(one, other)
    for place in places[:COORDINATES]:
        yield from _of_one_number(one, other, int(place))
    yield weigh_cells(exactly(one, other), one, other)
    if one.width > 1:
        kept = places[:MAX_COORDINATES_TOGETHER]
        yield _direction(one, other, kept)
        yield SumView(
            tuple(weigh_cells(ranges_of(one, other, int(p), 10), one, other) for p in kept)
        )


def _of_one_number(one: Outputs, other: Outputs, place: int) -> Iterator[View]:
    if one.forms and place == 0:
        yield weigh_cells(Forms(one.forms | other.forms), one, other)
        return
    number, lowest_bit, zeros = _views_of_number(place, name_of(one, place))
    yield number
    for count in RANGES:
        yield weigh_cells(ranges_of(one, other, place, count), one, other)
    yield lowest_bit
    yield zeros
    yield weigh_cells(RangesAndBits(ranges_of(one, other, place, RANGES[-1])), one, other)


def _telling(one: Outputs, other: Outputs) -> Integers:
    """The coordinates, those first whose means differ by most standard deviations."""
    spread = np.std(_finite(one.numbers), axis=0) + np.std(_finite(other.numbers), axis=0)
    moved = np.abs(_finite(one.numbers).mean(axis=0) - _finite(other.numbers).mean(axis=0))
    worth = moved / np.maximum(spread, 1e-300)
    if one.forms:
        worth[0] = np.inf  # what is no number is told first: an error, a label
    return np.argsort(-worth, kind="stable")


def _direction(one: Outputs, other: Outputs, places: Integers) -> ProjectionView:
    mine, theirs = _finite(one.numbers[:, places]), _finite(other.numbers[:, places])
    spread = np.atleast_2d(np.cov(mine, rowvar=False) + np.cov(theirs, rowvar=False))
    # A little of the identity, for coordinates whose noise is the same.
    ridge = 1e-12 * max(float(np.trace(spread)), 1e-200) * np.eye(len(places))
    moved = mine.mean(axis=0) - theirs.mean(axis=0)
    weights = np.asarray(cast("Any", np.linalg).solve(spread + ridge, moved), np.float64)
    size = float(np.abs(weights).max())
    return ProjectionView(places, weights / size if size > 0 else weights)


def _sum_of(terms: Iterable[Floats]) -> Floats:
    return reduce(np.add, terms)


def _finite(numbers: Floats) -> NDArray[np.float64]:
    return np.clip(np.nan_to_num(numbers), -1e100, 1e100)


def _side(above: bool) -> str:
    return "at least" if above else "at most"
