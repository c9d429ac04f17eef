"""An answer filtered, sorted and cut: HAVING, ORDER BY, LIMIT and OFFSET on what was released.

All of it looks at the noisy numbers alone, so it costs nothing and needs no proof of its own:
post-processing. The ledger stores, and a receipt signs, the whole answer; what is here is a view
of it, so the same question in another order is the same question, and free.

  Tested:   tests/answers/test_arranged.py
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from math import isnan
from operator import eq, ge, gt, le, lt, ne
from typing import Any, TypeVar, cast

from letalone.answers.columns import Cell, Output
from letalone.answers.release import ReleaseRecord

AnyRelease = TypeVar("AnyRelease", bound=ReleaseRecord)
COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": eq,
    "<>": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}
RANGE = re.compile(r"\[(-?\d+(?:[./]\d+)?), ")


@dataclass(frozen=True, slots=True)
class OutputRef:
    """The cell of a column: a key, or a noisy number."""

    name: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """A constant."""

    value: Cell


@dataclass(frozen=True, slots=True)
class HavingTest:
    """A comparison (= <> < <= > >=), `and`, `or`, `not` or `missing`; true, false or unknown."""

    op: str
    parts: tuple["Condition", ...]

    __test__ = False  # not one of pytest's


Condition = OutputRef | Fixed | HavingTest


@dataclass(frozen=True, slots=True)
class Order:
    """One column to sort by; rows without a value come last, unless `missing_first`.

    Where the column holds `ranges` such as '[0, 10)', they are sorted by where they begin.
    """

    name: str
    descending: bool = False
    missing_first: bool = False
    ranges: bool = False


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Which rows of an answer are shown, and in which order; `hidden` columns are not."""

    having: Condition | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    hidden: tuple[str, ...] = ()

    def in_words(self) -> str:
        sentences: list[str] = []
        if self.having is not None:
            sentences.append(f"only those with {_words(self.having)}")
        if self.order:
            ways = [
                f"{order.name}{' downwards' if order.descending else ''}" for order in self.order
            ]
            sentences.append(f"sorted by {', '.join(ways)}")
        if self.offset:
            sentences.append(f"without the first {self.offset:,}")
        if self.limit is not None:
            sentences.append(f"at most {self.limit:,} of them")
        return f"Rows are {'; '.join(sentences)}: by the noisy numbers." if sentences else ""


AS_IT_IS = Arrangement()


def arrange_release(release: AnyRelease, how: Arrangement) -> AnyRelease:
    """The view of a release; the receipt that goes with it is that of the whole."""
    if how == AS_IT_IS:
        return release
    rows = release.rows()
    having = how.having or Fixed(value=True)
    kept = [place for place, row in enumerate(rows) if _value(having, row) is True]
    places = kept
    for order in reversed(how.order):
        places = _sort_rows(places, [row.get(order.name) for row in rows], order)
    end = None if how.limit is None else how.offset + how.limit
    places = places[how.offset : end]
    shown = tuple(output for output in release.outputs if output.aggregate not in how.hidden)
    standing = release.standing
    none_passes = _none_passes(how) if rows and not kept else None
    remarks = (standing.remark, how.in_words(), none_passes)
    remark = " ".join(words for words in remarks if words)
    return replace(
        release,
        keys=tuple(
            replace(column, values=tuple(column.values[place] for place in places))
            for column in release.keys
        ),
        outputs=tuple(_output(output, places) for output in shown),
        standing=replace(standing, remark=remark or None, none_passes=none_passes),
    )


def _none_passes(how: Arrangement) -> str:
    """That HAVING keeps nothing, and which question shows all rows and was paid for."""
    moved = " and with what it compares at the end of SELECT" if how.hidden else ""
    return f"No row passes HAVING. The same question without it{moved} is free."


def _value(condition: Condition, row: Mapping[str, Cell]) -> Cell:
    match condition:
        case OutputRef(name):
            return _without_nan(row.get(name))
        case Fixed(value):
            return value
        case HavingTest(op, parts):
            values = [_value(part, row) for part in parts]
            return _compare(op, *values) if op in COMPARED else _combine_truths(op, values)


def _combine_truths(op: str, found: Sequence[Cell]) -> bool | None:
    match op:
        case "and":
            return False if False in found else None if None in found else True
        case "or":
            return True if True in found else None if None in found else False
        case "not":
            return None if found[0] is None else not found[0]
        case _:
            return found[0] is None


def _compare(op: str, left: Cell, right: Cell) -> bool | None:
    if left is None or right is None:
        return None
    left, right = _alike(left, right), _alike(right, left)
    try:
        return COMPARED[op](left, right)
    except TypeError:  # text beside a number
        return None


def _alike(one: Cell, other: Cell) -> Cell:
    """Text beside a date is a date."""
    if not isinstance(one, str) or not isinstance(other, date):
        return one
    try:
        return date.fromisoformat(one)
    except ValueError:
        return None


def _without_nan(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and isnan(cell) else cell


def _sort_rows(places: list[int], cells: Sequence[Cell], order: Order) -> list[int]:
    """A stable sort, downwards too: equal ones stay in the order in which they were."""
    sortable = {
        place: _sortable(_without_nan(cells[place]), ranges=order.ranges) for place in places
    }
    present = [place for place in places if sortable[place] is not None]
    gone = [place for place in places if sortable[place] is None]
    present.sort(key=lambda place: cast("Any", sortable[place]), reverse=order.descending)
    return [*gone, *present] if order.missing_first else [*present, *gone]


def _sortable(cell: Cell, *, ranges: bool) -> tuple[float, str] | None:
    match cell:
        case None:
            return None
        case str():
            match = RANGE.match(cell) if ranges else None
            return (float(Fraction(match[1])) if match else 0.0, cell)
        case date():
            return (float(cell.toordinal()), "")
        case _:
            return (float(cell), "")


def _output(output: Output, places: Sequence[int]) -> Output:
    values, low, high = (
        None if cells is None else tuple(cells[place] for place in places)
        for cells in (output.values, output.low, output.high)
    )
    return replace(output, values=values or (), low=low, high=high)


def _words(condition: Condition) -> str:
    match condition:
        case OutputRef(name):
            return name
        case Fixed(value):
            return repr(value) if isinstance(value, str) else f"{value}"
        case HavingTest("not", (of,)):
            return f"not ({_words(of)})"
        case HavingTest("missing", (of,)):
            return f"{_words(of)} missing"
        case HavingTest(op, parts):
            within = [_words(p) if op in COMPARED else f"({_words(p)})" for p in parts]
            return f" {op} ".join(within)
