"""Makes an answer's numbers into the rows of its table, a chart of each column, and a CSV file.

Table, chart and file are made of `Release.shown`, so they say the same: a count that the noise
took below 0 is near 0, and its range is that of 0.

In the file, text that a spreadsheet would take for a formula begins with an apostrophe, which says
that it is text: a group may be called anything. Blanks and signs that are not seen may come before
the sign that starts a formula, and this may be a full-width one.

  Tested:   tests/curator/console/test_answer_numbers.py, test_files.py
"""

from csv import writer
from dataclasses import dataclass, replace
from datetime import date
from io import StringIO
from typing import Any, cast
from unicodedata import normalize

from markupsafe import Markup

from letalone.answers.columns import Cell, CellKind, Output
from letalone.answers.promise import as_sure
from letalone.answers.views import cell_text, interval_parts, is_drawn, key_text
from letalone.curator.console import charts
from letalone.curator.console.directions import isolate
from letalone.session.release import Release

FEWEST_POINTS = 4  # fewer are bars, also of days and numbers
SIGNS = frozenset("=+-@")  # what a spreadsheet would compute
LINES = ("\t", "\r", "\n")
NOISY = "_noisy"
Row = tuple[list[str], list["Value"]]


@dataclass(frozen=True, slots=True)
class Value:
    """One number of an answer, and between which ends it lies; `near` where noise took it below."""

    words: str
    ends: tuple[str, ...] = ()
    near: bool = False

    def said(self) -> str:
        return f"{self.words}, {' to '.join(self.ends)}" if self.ends else self.words


@dataclass(frozen=True, slots=True)
class DrawnColumn:
    """A column of an answer, drawn."""

    name: str
    svg: Markup


def rows_and_charts(release: Release) -> tuple[list[Row], list[DrawnColumn]]:
    """All rows; and a chart for each column of numbers that has several groups."""
    shown, drawn = release.shown, release.outputs
    values = [_values(*pair) for pair in zip(drawn, shown, strict=True)]
    keys = [[_key(cell) for cell in column.values] for column in release.keys]
    size = len(values[0]) if values else 0
    rows = [([item[row] for item in keys], [item[row] for item in values]) for row in range(size)]
    several = bool(release.keys) and size > 0
    numeric = [pair for pair in zip(shown, values, strict=True) if pair[0].kind.is_numeric]
    plots = [
        DrawnColumn(item.name, _draw(release, item, words)) for item, words in numeric if several
    ]
    return rows, plots


def _values(drawn: Output, shown: Output) -> list[Value]:
    """The cells, with as many digits as mean something; ends are rounded outwards."""
    if shown.low is None or shown.high is None:
        return [Value(yes_or_no(cell) or cell_text(cell)) for cell in shown.values]
    rows = zip(drawn.values, shown.values, shown.low, shown.high, strict=True)
    return [_number(noisy, *cells) for noisy, *cells in rows]


def _key(cell: Cell) -> str:
    return yes_or_no(cell) or key_text(cell)


def _number(noisy: Cell, value: Cell, low: Cell, high: Cell) -> Value:
    words, *ends = interval_parts(value, low, high)
    near = value not in (None, noisy)
    return Value(f"near {words}" if near else words, tuple(ends), near)


def _draw(release: Release, output: Output, values: list[Value]) -> Markup:
    marks = _marks(output, values)
    sure = as_sure(release.confidence)
    (first, *others) = release.keys
    cells = cast("tuple[Any, ...]", first.values)
    if not others and first.kind in (CellKind.DATE, CellKind.INTEGER, CellKind.NUMBER):
        ordered = all(isinstance(cell, date | int | float) for cell in cells)
        if ordered and len(cells) >= FEWEST_POINTS:
            chart = charts.lines_with_errors(cells, marks, title=output.name, confidence=sure)
            return charts.draw(chart)
    rows = zip(*(column.values for column in release.keys), strict=True)
    labels = [", ".join(isolate(_key(cell)) for cell in row) for row in rows]
    chart = charts.bars_with_errors(labels, marks, title=output.name, confidence=sure)
    return charts.draw(chart)


def _marks(output: Output, values: list[Value]) -> list[charts.MeasuredNumber]:
    """What is drawn is what the table says: the number, its low and its high."""
    none = (None,) * len(values)
    rows = zip(output.values, output.low or none, output.high or none, values, strict=True)
    return [
        charts.MeasuredNumber(_float(number), _float(low), _float(high), value.said())
        for number, low, high, value in rows
    ]


def _float(value: Cell) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def as_csv(release: Release) -> str:
    """All rows: as they are shown, then each number as it was drawn, which can be added up."""
    shown = replace(release, outputs=release.shown)
    all_rows = shown.rows()
    columns = [(name, tuple(row[name] for row in all_rows)) for name in shown.columns]
    drawn = [output for output in release.outputs if is_drawn(output)]
    columns += [(output.name + NOISY, output.values) for output in drawn]
    out = StringIO(newline="")
    write = writer(out)
    write.writerow([as_text(name) for name, _ in columns])
    rows = zip(*(cells for _, cells in columns), strict=True)
    write.writerows([as_text(cell) for cell in row] for row in rows)
    return out.getvalue()


def as_text(cell: Any) -> Any:
    """The cell; marked as text where a spreadsheet would compute it."""
    if isinstance(cell, bool):
        return yes_or_no(cell)
    return f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell


def yes_or_no(cell: Cell) -> str:
    """A truth as people write it, on the page, in its chart and in its file; "" of all else."""
    return ("no", "yes")[cell] if isinstance(cell, bool) else ""


def _is_formula(text: str) -> bool:
    first = next((letter for letter in text if letter.isprintable() and letter != " "), "")
    return text.startswith(LINES) or normalize("NFKC", first)[:1] in SIGNS
