"""Operations on cells of one row of an answer: arithmetic, comparisons, CASE, COALESCE, texts.

What is computed from a missing cell is missing, but for AND and OR (which know three truths), IS
NULL, CASE and COALESCE. Nothing fails: what cannot be computed is missing, and so is a text of more
than `MOST_LETTERS`. Letters are A to Z where capitals are made, as in WHERE.

  Tested:   tests/answers/test_cell_operations.py, against DuckDB
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, localcontext
from functools import partial
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from letalone.answers.columns import Cell, CellKind

MAX_DIGITS = 30  # more change nothing, and take time
MAX_PRECISION = 400  # digits of a double before and after its point
MOST_LETTERS = 10_000
UP = str.maketrans(ascii_lowercase, ascii_uppercase)
DOWN = str.maketrans(ascii_uppercase, ascii_lowercase)


def calculate(op: str, cells: Sequence[Cell]) -> Cell:
    """The cell that an operation of `OPERATIONS` gives; missing where it gives none."""
    try:
        if op in OF_MISSING:
            result = OF_MISSING[op](*cells)
        elif any(cell is None for cell in cells):
            return None
        else:
            result = OF_CELLS[op](*cells)
    except (ArithmeticError, TypeError, ValueError):
        return None
    if isinstance(result, str) and len(result) > MOST_LETTERS:
        return None
    return None if isinstance(result, float) and math.isnan(result) else result


def kind_of(cell: Cell) -> CellKind:
    """What kind of cell one is."""
    match cell:
        case bool():
            return CellKind.BOOLEAN
        case int():
            return CellKind.INTEGER
        case float():
            return CellKind.NUMBER
        case date():
            return CellKind.DATE
        case _:
            return CellKind.TEXT


def kind_of_result(op: str, kinds: Sequence[CellKind | None]) -> CellKind:
    """What an operation gives, of parts that hold this; None is said of a missing constant."""
    if op in TRUTHS:
        return CellKind.BOOLEAN
    if op in TEXTS:
        return CellKind.TEXT
    if op not in CHOICES:
        return CellKind.INTEGER if op == "length" else CellKind.NUMBER
    kinds = [*kinds[1::2], *kinds[-1:]] if op == "case" else kinds[:1] if op == "nullif" else kinds
    known = {kind for kind in kinds if kind is not None}
    if known <= {CellKind.INTEGER, CellKind.NUMBER}:
        return CellKind.INTEGER if known == {CellKind.INTEGER} else CellKind.NUMBER
    return next(kind for kind in kinds if kind is not None)


def _numbers(of: Callable[..., Any]) -> Callable[..., Any]:
    """The same of numbers alone: text times a number would be a long text."""

    def checked(*cells: Cell) -> Cell:
        if not all(isinstance(cell, int | float) for cell in cells):
            raise TypeError
        return of(*cells)

    return checked


def _texts(of: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*cells: Cell) -> Cell:
        if not all(isinstance(cell, str) for cell in cells):
            raise TypeError
        return of(*cells)

    return checked


def _alike(of: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A comparison of two cells of one kind; text beside a date is a date."""

    def checked(left: Cell, right: Cell) -> Cell:
        left, right = as_date_beside(left, right), as_date_beside(right, left)
        numbers = all(isinstance(cell, int | float) for cell in (left, right))
        if not numbers and type(left) is not type(right):
            raise TypeError
        return of(left, right)

    return checked


def as_date_beside(one: Cell, other: Cell) -> Cell:
    """The cell; a text beside a date as the date that it says."""
    if not isinstance(one, str) or not isinstance(other, date):
        return one
    return date.fromisoformat(one)


def _round(of: float, digits: float = 0, *, how: str = ROUND_HALF_UP) -> float:
    """Halves away from 0, as SQL does it, or towards 0."""
    places = max(-MAX_DIGITS, min(MAX_DIGITS, int(digits)))
    exact = Decimal(of) if isinstance(of, int) else Decimal(repr(of))
    with localcontext(prec=MAX_PRECISION):
        return float(exact.quantize(Decimal(1).scaleb(-places), how))


def _and(*truths: Cell) -> Cell:
    return False if False in truths else None if None in truths else all(truths)


def _or(*truths: Cell) -> Cell:
    return True if True in truths else None if None in truths else any(truths)


def _case(*cells: Cell) -> Cell:
    """Conditions and what they give, in turn, and what is given otherwise."""
    *branches, otherwise = cells
    for condition, value in zip(branches[::2], branches[1::2], strict=True):
        if condition is True:
            return value
    return otherwise


def _first_known(*cells: Cell) -> Cell:
    return next((cell for cell in cells if cell is not None), None)


def _null_if(of: Cell, other: Cell) -> Cell:
    return None if of == other else of


def _extreme(choose: Callable[..., Any], *cells: Cell) -> Cell:
    if not all(isinstance(cell, int | float) for cell in cells):
        raise TypeError
    return choose(cells)


def _join(*cells: Cell) -> str:
    return "".join(_as_text(cell) for cell in cells)


def _as_text(cell: Cell) -> str:
    match cell:
        case bool():
            return "true" if cell else "false"
        case date():
            return cell.isoformat()
        case _:
            return str(cell)


COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _is_missing(cell: Cell) -> bool:
    return cell is None


def _not(truth: Cell) -> bool:
    return not truth


def _in_capitals(text: str) -> str:
    return text.translate(UP)


def _in_small_letters(text: str) -> str:
    return text.translate(DOWN)


def _divide(of: float, by: float) -> float:
    return of / by


OF_MISSING: Mapping[str, Callable[..., Cell]] = {
    "and": _and,
    "or": _or,
    "missing": _is_missing,
    "case": _case,
    "coalesce": _first_known,
    "nullif": _null_if,
}
OF_CELLS: Mapping[str, Callable[..., Any]] = {
    "+": _numbers(operator.add),
    "-": _numbers(operator.sub),
    "*": _numbers(operator.mul),
    "/": _numbers(_divide),
    "negative": _numbers(operator.neg),
    "absolute": _numbers(abs),
    "rounded": _numbers(_round),
    "truncated": _numbers(partial(_round, how=ROUND_DOWN)),
    "floor": _numbers(math.floor),
    "ceiling": _numbers(math.ceil),
    "root": _numbers(math.sqrt),
    "exponential": _numbers(math.exp),
    "logarithm": _numbers(math.log),
    "greatest": partial(_extreme, max),
    "least": partial(_extreme, min),
    "not": _not,
    "joined": _join,
    "capitals": _texts(_in_capitals),
    "small letters": _texts(_in_small_letters),
    "length": _texts(len),
    **{op: _alike(compare) for op, compare in COMPARISONS.items()},
}
OPERATIONS = (*OF_MISSING, *OF_CELLS)
TRUTHS = (*COMPARISONS, "and", "or", "not", "missing")
TEXTS = ("joined", "capitals", "small letters")
CHOICES = ("case", "coalesce", "nullif", "greatest", "least")
