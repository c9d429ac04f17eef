"""What a column's values are to a reader: numbers, dates or names.

Cells of a CSV file are text. Where every one of them is written as a number, or as a date year
first, they are put in that order; values stay apart where their text differs. The owner asks
here about their own table, so looking at values is no leak.

  Tested:   tests/anonymity/test_hierarchies.py
"""

import re
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from letalone.engines.frames.coded import Coded

NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,2})?\s*")
NOT_A_NUMBER = re.compile(r"\s*[-+]?nan\s*", re.IGNORECASE)
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class ColumnNature(Enum):
    """How values are told apart and put in order."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"


@dataclass(frozen=True, slots=True, eq=False)
class Natural:
    """A column in its natural order; `points` are its numbers or moments, where it has them."""

    column: Coded
    kind: ColumnNature
    points: NDArray[np.float64] | NDArray[np.datetime64] | None = None

    @property
    def is_ordered(self) -> bool:
        return self.kind is not ColumnNature.NAME


def natural(column: Coded) -> Natural:
    """The column with its codes in the order of its numbers or dates."""
    if column.is_dated:
        return Natural(column, ColumnNature.DATE, column.moments())
    if column.is_ordered:
        return Natural(column, ColumnNature.NUMBER, column.numbers())
    if not column.is_text:
        return Natural(column, ColumnNature.NAME)
    texts = column.texts()
    if texts and all(map(NUMBER.fullmatch, texts)):
        return _in_order(column, np.array([float(text) for text in texts]))
    if texts and all(map(DAY.fullmatch, texts)):
        try:
            return Natural(column, ColumnNature.DATE, np.array(texts, "datetime64[D]"))
        except ValueError:  # 2024-02-30 is a text
            return Natural(column, ColumnNature.NAME)
    return Natural(column, ColumnNature.NAME)


def order_column(column: Coded) -> Coded | None:
    """The column with its codes in an order that means something; None where there is none.

    The text NaN among numbers is a missing one, and stands before them as those do.
    """
    in_order = natural(column)
    if in_order.is_ordered:
        return in_order.column
    texts = column.texts() if column.is_text else []
    missing = np.array([NOT_A_NUMBER.fullmatch(text) is not None for text in texts], np.bool_)
    numbers = [text for text, none in zip(texts, missing, strict=True) if not none]
    if not numbers or not all(map(NUMBER.fullmatch, numbers)):
        return None
    places = np.full(len(texts), -np.inf)
    places[~missing] = [float(text) for text in numbers]
    return _in_order(column, places).column


def _in_order(column: Coded, numbers: NDArray[np.float64]) -> Natural:
    order = np.argsort(numbers, kind="stable")  # equal numbers stay in the order of their texts
    return Natural(column.moved(np.argsort(order)), ColumnNature.NUMBER, numbers[order])
