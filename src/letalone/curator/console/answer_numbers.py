"""The numbers of an answer as its page has them: the rows of the table, and a chart of each column.

Table, chart and file are made of `Release.shown`, so they say the same: a count that the noise
took below 0 is near 0, and its range is that of 0.

  Tested:   tests/curator/console/test_answer_numbers.py
"""

from dataclasses import dataclass
from datetime import date
from typing import Any, cast

from markupsafe import Markup

from letalone.answers.columns import Cell, CellKind, Output
from letalone.answers.promise import as_sure
from letalone.answers.views import cell_text, key_text, output_cells
from letalone.curator.console.charts import (
    ChartMark,
    bars_with_errors,
    lines_with_errors,
    make_mark,
)
from letalone.curator.console.directions import isolate
from letalone.curator.console.spreadsheets import yes_or_no
from letalone.session.release import Release

FEWEST_POINTS = 4  # fewer are bars, also of days and numbers
Row = tuple[list[str], list["Value"]]


@dataclass(frozen=True, slots=True)
class Value:
    """One number of an answer, and between which ends it lies."""

    words: str
    ends: tuple[str, ...] = ()

    def said(self) -> str:
        """Both in one line."""
        return f"{self.words}, {' to '.join(self.ends)}" if self.ends else self.words


@dataclass(frozen=True, slots=True)
class Chart:
    """A column of an answer, drawn."""

    name: str
    svg: Markup


def rows_and_charts(found: Release) -> tuple[list[Row], list[Chart]]:
    """All rows; and a chart for each column of numbers that has several groups."""
    shown, drawn = found.shown, found.outputs
    values = [_values(*pair) for pair in zip(drawn, shown, strict=True)]
    keys = [[_key(cell) for cell in column.values] for column in found.keys]
    size = len(values[0]) if values else 0
    rows = [([item[row] for item in keys], [item[row] for item in values]) for row in range(size)]
    several = bool(found.keys) and size > 0
    columns = [
        item for item in zip(shown, values, strict=True) if several and item[0].kind.is_numeric
    ]
    return rows, [Chart(item.name, _draw(found, item, words)) for item, words in columns]


def _values(drawn: Output, shown: Output) -> list[Value]:
    """The cells, with as many digits as mean something; ends are rounded outwards."""
    if shown.low is None:
        return [Value(yes_or_no(cell) or cell_text(cell)) for cell in shown.values]
    cells = output_cells(shown)
    rows = zip(cells, drawn.values, shown.values, strict=True)
    return [_split(cell, near=value not in (None, noisy)) for cell, noisy, value in rows]


def _key(cell: Cell) -> str:
    return yes_or_no(cell) or key_text(cell)


def _split(cell: str, *, near: bool) -> Value:
    words, _, ends = cell.partition(" [")
    words = f"near {words}" if near else words
    return Value(words, tuple(ends.removesuffix("]").split(", ")) if ends else ())


def _draw(found: Release, output: Output, values: list[Value]) -> Markup:
    marks = _marks(output, values)
    sure = as_sure(found.confidence)
    (first, *others) = found.keys
    cells = cast("tuple[Any, ...]", first.values)
    if not others and first.kind in (CellKind.DATE, CellKind.INTEGER, CellKind.NUMBER):
        ordered = all(isinstance(cell, date | int | float) for cell in cells)
        if ordered and len(cells) >= FEWEST_POINTS:
            return lines_with_errors(cells, marks, title=output.name, confidence=sure)
    rows = zip(*(column.values for column in found.keys), strict=True)
    labels = [", ".join(isolate(_key(cell)) for cell in row) for row in rows]
    return bars_with_errors(labels, marks, title=output.name, confidence=sure)


def _marks(output: Output, values: list[Value]) -> list[ChartMark]:
    """What is drawn is what the table says: the number, its low and its high."""
    none = (None,) * len(values)
    rows = zip(output.values, output.low or none, output.high or none, values, strict=True)
    return [
        make_mark(_float(number), _float(low), _float(high), value.said())
        for number, low, high, value in rows
    ]


def _float(value: Cell) -> float | None:
    return float(value) if isinstance(value, int | float) else None
