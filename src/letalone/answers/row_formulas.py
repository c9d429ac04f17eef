"""Columns computed from an answer: shares of a total, ranks, running sums, the row before.

They are made of noisy numbers that are released already: post-processing, and free. A result has
no interval of its own, since those of its parts do not hold all at once. As in SQL a missing value
is left out of sums and ranks last, and a division by 0 is missing.

  Tested:   tests/answers/test_row_formulas.py, against DuckDB
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import reduce
from itertools import accumulate, groupby
from math import isnan
from typing import Any, NamedTuple, cast

from letalone.answers.cell_operations import calculate
from letalone.answers.columns import Cell

RANGE = re.compile(r"\[(-?\d+(?:[./]\d+)?), ")
Row = Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class OutputRef:
    """The cell of a column: a key, or a noisy number."""

    name: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """A constant."""

    value: Cell


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
class Calculation:
    """An operation of cell_operations.py on cells of one row."""

    op: str
    parts: tuple["RowFormula", ...]


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """A function of `WINDOWS` over the rows of an answer that share a partition, in an order.

    `frame` are the first and the last row that count, from this one on (None: no end); without it
    all rows count, or with an order those up to this one and its equals. `number` is the distance
    of LAG and LEAD, and how many tiles NTILE makes.
    """

    function: str
    of: "RowFormula | None" = None
    partition: tuple[str, ...] = ()
    order: tuple[Order, ...] = ()
    frame: tuple[int | None, int | None] | None = None
    number: int = 1


@dataclass(frozen=True, slots=True)
class KeyLookUp:
    """What a public table says beside keys of the answer: pairs of keys and a cell."""

    keys: tuple[str, ...]
    known: tuple[tuple[tuple[Cell, ...], Cell], ...]


RowFormula = OutputRef | Fixed | Calculation | WindowFunction | KeyLookUp


def compute_column(formula: RowFormula, rows: Sequence[Row]) -> list[Cell]:
    """The cell of each row."""
    match formula:
        case OutputRef(name):
            return [without_nan(row.get(name)) for row in rows]
        case Fixed(value):
            return [value] * len(rows)
        case Calculation(op, parts):
            columns = [compute_column(part, rows) for part in parts]
            return [calculate(op, cells) for cells in zip(*columns, strict=True)]
        case WindowFunction():
            return _compute_window(formula, rows)
        case KeyLookUp(keys, known):
            cells = dict(known)
            return [cells.get(tuple(row.get(key) for key in keys)) for row in rows]


def without_nan(cell: Cell) -> Cell:
    """A cell; a number that is none is missing."""
    return None if isinstance(cell, float) and isnan(cell) else cell


def sort_rows(places: list[int], cells: Sequence[Cell], order: Order) -> list[int]:
    """A stable sort, downwards too: equal ones stay in the order in which they were."""
    sortable = {
        place: _sortable(without_nan(cells[place]), ranges=order.ranges) for place in places
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
            return (cell, "")  # whole numbers as they are: a double has no more than 53 bits


def _compute_window(window: WindowFunction, rows: Sequence[Row]) -> list[Cell]:
    cells = [1] * len(rows) if window.of is None else compute_column(window.of, rows)
    result: list[Cell] = [None] * len(rows)
    for part in _partitions(window.partition, rows):
        places = part
        for order in reversed(window.order):
            places = sort_rows(places, [row.get(order.name) for row in rows], order)
        run = _Run(window, [cells[place] for place in places], _peers(places, window.order, rows))
        for place, cell in zip(places, WINDOWS[window.function](run), strict=True):
            result[place] = cell
    return result


def _partitions(names: Sequence[str], rows: Sequence[Row]) -> Iterable[list[int]]:
    parts: dict[tuple[Cell, ...], list[int]] = {}
    for place, row in enumerate(rows):
        parts.setdefault(tuple(row.get(name) for name in names), []).append(place)
    return parts.values()


class _Peers(NamedTuple):
    """Rows that the order does not tell apart: where they begin and end, and which they are."""

    first: int
    last: int
    number: int


def _peers(places: Sequence[int], order: Sequence[Order], rows: Sequence[Row]) -> list[_Peers]:
    """The peers of each row."""
    cells = [tuple(without_nan(rows[place].get(by.name)) for by in order) for place in places]
    result: list[_Peers] = []
    for number, (_, members) in enumerate(groupby(range(len(cells)), cells.__getitem__)):
        ends = list(members)
        result += [_Peers(ends[0], ends[-1], number)] * len(ends)
    return result


@dataclass(frozen=True, slots=True)
class _Run:
    """The rows of a partition in their order."""

    window: WindowFunction
    cells: Sequence[Cell]
    peers: Sequence[_Peers]

    def frames(self) -> Iterator[tuple[int, int]]:
        """Of each row the places of the first that counts, and of the one after the last."""
        rows = len(self.cells)
        for at, peers in enumerate(self.peers):
            if self.window.frame is None:
                yield 0, peers.last + 1  # all are peers where there is no order
            else:
                first, last = self.window.frame
                begin = 0 if first is None else min(rows, max(0, at + first))
                yield begin, rows if last is None else min(rows, max(begin, at + last + 1))


class _Sum(NamedTuple):
    rows: int = 0
    total: Any = 0
    low: Any = None
    high: Any = None

    def add(self, cell: Any) -> "_Sum":
        if cell is None:
            return self
        if self.rows == 0:
            return _Sum(1, _amount(cell), cell, cell)
        low, high = min(self.low, cell), max(self.high, cell)
        return _Sum(self.rows + 1, self.total + _amount(cell), low, high)


def _amount(cell: Any) -> Any:
    return cell if isinstance(cell, int | float) else 0  # texts and dates have no sum


def _sums(run: _Run) -> Iterator[_Sum]:
    """What is in the frame of each row: those that begin at the first row are added up once."""
    running = list(accumulate(run.cells, _Sum.add, initial=_Sum()))
    for begin, end in run.frames():
        if begin == 0:
            yield running[end]
        else:
            yield reduce(_Sum.add, run.cells[begin:end], _Sum())


def _of_sums(read: Callable[[_Sum], Cell]) -> Callable[[_Run], list[Cell]]:
    """Missing where nothing is in the frame."""

    def read_all(run: _Run) -> list[Cell]:
        return [_or_missing(read, part) if part.rows else None for part in _sums(run)]

    return read_all


def _or_missing(read: Callable[[_Sum], Cell], found: _Sum) -> Cell:
    try:
        return read(found)
    except ArithmeticError:  # beyond all doubles
        return None


def _ends(place: int) -> Callable[[_Run], list[Cell]]:
    return lambda run: [
        run.cells[(begin, end - 1)[place]] if begin < end else None for begin, end in run.frames()
    ]


def _beside(run: _Run, sign: int) -> list[Cell]:
    places = [at + sign * run.window.number for at in range(len(run.cells))]
    return [run.cells[at] if 0 <= at < len(run.cells) else None for at in places]


def _tiles(run: _Run) -> list[Cell]:
    """The first tiles have one row more, where rows are left over."""
    size, larger = divmod(len(run.cells), run.window.number)
    sizes = [size + (tile < larger) for tile in range(min(run.window.number, len(run.cells)))]
    return [tile for tile, rows in enumerate(sizes, 1) for _ in range(rows)]


WINDOWS: Mapping[str, Callable[[_Run], Sequence[Cell]]] = {
    "sum": _of_sums(lambda found: found.total),
    "avg": _of_sums(lambda found: found.total / found.rows),
    "min": _of_sums(lambda found: found.low),
    "max": _of_sums(lambda found: found.high),
    "count": lambda run: [part.rows for part in _sums(run)],
    "first_value": _ends(0),
    "last_value": _ends(1),
    "lag": lambda run: _beside(run, -1),
    "lead": lambda run: _beside(run, 1),
    "row_number": lambda run: range(1, len(run.cells) + 1),
    "rank": lambda run: [peers.first + 1 for peers in run.peers],
    "dense_rank": lambda run: [peers.number + 1 for peers in run.peers],
    "percent_rank": lambda run: [p.first / max(1, len(run.peers) - 1) for p in run.peers],
    "cume_dist": lambda run: [(peers.last + 1) / len(run.peers) for peers in run.peers],
    "ntile": _tiles,
}
COUNTING = ("count", "row_number", "rank", "dense_rank", "ntile")  # whole numbers come out
