"""Columns that are turned into features by what was declared about them, cell by cell.

A number between bounds becomes a place from −1 to 1, one of several values becomes a 1 among
zeros, a truth value becomes ±1. What is missing, unknown or unreadable becomes 0 everywhere.
A number with knots becomes its place and how near it is to each of a few points, the two next to
it sharing 1: a weight for each point, and a linear model follows any curve through them.

Theorem.  The features of a cell are a function of that cell and of the declaration alone, and
the squares of those of one column add up to at most 1.
  Proven:   lists are read cell by cell, never as an array whose type one cell could change; whole
            numbers as doubles meet the same declared values, which are below 2^53; the
            operations on doubles are single IEEE operations, and the last one clamps to ±1;
            with knots x² + a² + (1 − a)² is at most 2, and both parts are multiplied by 0.707,
            whose square is below 1/2 by more than all roundings
  Tested:   tests/learn/test_encoding.py, each cell alone and among others
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.engines.texts.text_grammar import is_written_as
from letalone.errors import ParameterError
from letalone.exact.typed import refusal
from letalone.learn.features.row_cells import Floats, as_objects
from letalone.plans.constants import as_bound, as_value
from letalone.plans.schema import check_name
from letalone.plans.types import Key, Type

Cells = NDArray[Any]
EXACT = 2**53
NO_VALUE = object()
KNOT_SHARE = 0.707  # of a number's features, for its place and for its knots
READABLE = (bool, int, float, str, Decimal, Fraction, np.generic)


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A number between declared bounds, which become −1 and 1; `knots` is 0 or at least 2."""

    name: str
    lower: Fraction
    upper: Fraction
    knots: int = 0

    @property
    def feature_names(self) -> tuple[str, ...]:
        step = (self.upper - self.lower) / max(1, self.knots - 1)
        points = [f"{float(self.lower + step * place):.6g}" for place in range(self.knots)]
        if len(set(points)) < len(points):
            points = [f"knot {place}" for place in range(1, self.knots + 1)]
        return (self.name, *(f"{self.name} near {point}" for point in points))

    def encoded(self, cells: Cells) -> Floats:
        """Places from −1 to 1, clamped, and nearness to knots; 0 for what is no finite number."""
        middle, half = _middle(self.lower, self.upper)
        numbers = as_numbers(cells)
        known = np.isfinite(numbers)
        with np.errstate(over="ignore", invalid="ignore"):
            places = np.where(known, np.clip((numbers - middle) / half, -1.0, 1.0), 0.0)
        if not self.knots:
            return places[:, np.newaxis]
        near = known[:, np.newaxis] * _nearness(places, self.knots)
        return KNOT_SHARE * np.hstack([places[:, np.newaxis], near])


@dataclass(frozen=True, slots=True)
class Category:
    """One of several declared values, each of which becomes a feature of 0 or 1."""

    name: str
    values: tuple[Key, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}={value}" for value in self.values)

    def encoded(self, cells: Cells) -> Floats:
        """A 1 where a value is met; zeros for values that were not declared."""
        places = {value: place for place, value in enumerate(self.values)}
        rest = len(self.values)
        codes = [_looked_up(places, cell, rest) for cell in _plain(cells)]
        return np.eye(rest + 1, rest)[np.array(codes, np.int64)]


@dataclass(frozen=True, slots=True)
class Flag:
    """A truth value, which becomes −1 or 1."""

    name: str

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (self.name,)

    def encoded(self, cells: Cells) -> Floats:
        """1 for True, −1 for False, 0 for anything else."""
        places = {True: 1, False: -1}
        codes = [_looked_up(places, cell, 0) for cell in _plain(cells)]
        return np.array(codes, np.float64)[:, np.newaxis]


Declared = NumberColumn | Category | Flag


def read_declared(name: object, what: object, *, knots: int = 0) -> Declared:
    """A column from what was typed: (lower, upper), a list of values, or bool."""
    check_name("column", name)
    word = cast("str", name)
    match what:
        case tuple():
            return _read_number(word, cast("tuple[object, ...]", what), knots)
        case list():
            return _read_category(word, cast("list[object]", what))
        case _ if what is bool:
            return Flag(word)
        case _:
            raise refusal(
                f"column {word!r}",
                what,
                "(lower, upper) for numbers, a list such as ['a', 'b'] for values, or bool",
            )


def cells_of(column: object) -> Cells:
    """A column's cells as an array of one dimension."""
    if isinstance(column, np.ndarray):
        return cast("Cells", column)
    if hasattr(column, "to_numpy"):
        return np.asarray(cast("Any", column).to_numpy())
    return as_objects(list(cast("Sequence[object]", column)))


def as_numbers(cells: Cells) -> Floats:
    """Cells as doubles, texts read by the grammar of all engines; NaN for what is no number."""
    if cells.dtype.kind in "iufb":
        with np.errstate(over="ignore"):
            return cells.astype(np.float64)
    return np.array([_number(cell) for cell in _plain(cells)], np.float64)


def _read_number(name: str, bounds: tuple[object, ...], knots: int) -> NumberColumn:
    if len(bounds) != 2:
        raise refusal(f"column {name!r}", bounds, "(lower, upper), two numbers")
    lower, upper = (as_bound(f"a bound of column {name!r}", bound) for bound in bounds)
    if lower >= upper or _middle(lower, upper)[1] == 0:
        raise refusal(f"column {name!r}", bounds, "(lower, upper) with lower below upper")
    return NumberColumn(name, lower, upper, knots)


def _read_category(name: str, values: list[object]) -> Category:
    read = tuple(as_value(value) for value in values)
    if not read or not all(_is_value(value) for value in read):
        raise refusal(
            f"column {name!r}",
            values,
            "a list of texts, whole numbers below 2^53, truth values or dates",
            "Numbers have bounds: a tuple (lower, upper).",
        )
    if len(set(read)) < len(read):
        raise ParameterError(f"Column {name!r} lists a value twice. List each once.")
    return Category(name, cast("tuple[Key, ...]", read))


def _is_value(value: object) -> bool:
    """Where a cell is missing, some frames make doubles of all others, which hold 53 bits."""
    if isinstance(value, int):
        return abs(value) < EXACT
    return not isinstance(value, Fraction | datetime)


def _nearness(places: Floats, knots: int) -> Floats:
    """For each place from −1 to 1, a part of 1 for the knot on its left and the rest for the other.

    The middle of rounding is monotone and both ends are exact, so no place is beyond the last knot.
    """
    spot = (places + 1) / 2 * (knots - 1)
    below = np.minimum(spot.astype(np.int64), knots - 2)
    beyond = (spot - below)[:, np.newaxis]
    each = np.eye(knots)
    return (1 - beyond) * each[below] + beyond * each[below + 1]


def _middle(lower: Fraction, upper: Fraction) -> tuple[float, float]:
    return float((lower + upper) / 2), float((upper - lower) / 2)


def _number(cell: object) -> float:
    """The cell as a number, texts read by the grammar of all engines; 0 / 0 where it is none."""
    written = not isinstance(cell, str) or is_written_as(cell, Type.NUMBER)
    if not written or not isinstance(cell, READABLE):
        return float("nan")
    try:
        number = float(cast("float", cell))
    except Exception:  # of an object that is none, whatever it says
        return float("nan")
    return number if isfinite(number) else float("nan")


def _plain(cells: Cells) -> list[object]:
    """The cells as Python's own objects; moments are cut to their day."""
    days = cells.astype("datetime64[D]") if cells.dtype.kind == "M" else cells
    return cast("list[object]", days.tolist())


def _looked_up(places: dict[Any, int], cell: object, rest: int) -> int:
    """The place of a cell; a float that is no number counts as missing."""
    try:
        return places.get(_as_key(cell), rest)
    except Exception:  # of an object that cannot be hashed or compared, whatever it says
        return rest


def _as_key(cell: object) -> object:
    """The cell as declared values are; for what cannot be one, an object that equals none."""
    if isinstance(cell, np.generic):
        cell = cast("object", cell.item())
    if isinstance(cell, float):
        return None if cell != cell else cell
    return cell if cell is None or isinstance(cell, bool | int | str | date) else NO_VALUE
