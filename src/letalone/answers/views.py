"""A release as people see it: an aligned table in a terminal, a plain table in a notebook.

Ends of intervals are rounded outwards, from the shortest decimals that are read as them: what is
shown holds whenever the interval does.

  Tested:   tests/answers/test_views.py
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext
from html import escape
from math import floor, isfinite, log10
from textwrap import fill
from unicodedata import east_asian_width

from letalone.answers.columns import Cell, KeyColumn, Output

WIDEST = 100
MOST_ROWS, MOST_OUTPUTS = 20, 20
MOST_ROWS_IN_HTML = 200
LONGEST_CELL = 40
UNKNOWN = "unknown"  # the interval of such a number is all that was public before
MOST_DIGITS = 400  # more than any float has on either side of the point

Grid = list[list[str]]


def cell_text(cell: Cell) -> str:
    """A value without an interval."""
    match cell:
        case None:
            return "missing"
        case bool():
            return str(cell).lower()
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:,.6g}"
        case _:
            return _printable(str(cell))


def key_text(cell: Cell) -> str:
    """A key: a year has no thousands to be set apart."""
    return str(cell) if type(cell) is int else cell_text(cell)


def interval_text(value: Cell, low: Cell, high: Cell) -> str:
    """A value with the ends of its interval: 12.3 [11.8, 12.9]."""
    name, *ends = interval_parts(value, low, high)
    return f"{name} [{', '.join(ends)}]" if ends else name


def interval_parts(value: Cell, low: Cell, high: Cell) -> tuple[str, ...]:
    """A value and the ends of its interval, where it has one."""
    name = UNKNOWN if value is None else cell_text(value)
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return (cell_text(value),) if low is high else (name, _end(low, -1), _end(high, 1))
    if isinstance(low, int) and isinstance(high, int):
        return name, f"{low:,}", f"{high:,}"
    digits = _digits(low, high)
    if digits is None:
        return name, cell_text(low), cell_text(high)
    if isinstance(value, int | float) and isfinite(value):
        name = _round_number(value, digits, ROUND_HALF_EVEN)
    least = _round_number(low, digits, ROUND_FLOOR)
    return name, least, _round_number(high, digits, ROUND_CEILING)


def _end(end: Cell, side: int) -> str:
    """An end, rounded outwards; open where there is none."""
    if not isinstance(end, int | float):
        return "−∞" if side < 0 else "∞"
    # Moved by more than six digits lose.
    return f"{end:,}" if isinstance(end, int) else f"{end + side * abs(end) * 1e-5:,.6g}"


def output_cells(output: Output) -> list[str]:
    """The cells of an output, each with its interval."""
    if output.low is None or output.high is None:
        return [cell_text(value) for value in output.values]
    ends = zip(output.values, output.low, output.high, strict=True)
    return [interval_text(*triple) for triple in ends]


def grid(keys: Sequence[KeyColumn], outputs: Sequence[Output], *, most: int) -> tuple[Grid, int]:
    """Headings and the first rows, and how many rows are left out.

    Where nothing is grouped there is one row, which is easier to read as a column.
    """
    if not keys:
        rows = [[output.name, *output_cells(output)] for output in outputs if output.values]
        return [["", "value"], *rows[:most]], max(0, len(rows) - most)
    columns = [[k.name, *map(key_text, k.values[:most])] for k in keys]
    columns += [[o.name, *output_cells(_first(o, most))] for o in outputs]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return rows, max(0, len(keys[0].values) - most)


def as_text(keys: Sequence[KeyColumn], outputs: Sequence[Output], lines: Sequence[str]) -> str:
    """The table as aligned text, then the lines, each wrapped."""
    shown, rest = grid(keys, outputs[:MOST_OUTPUTS] if keys else outputs, most=MOST_ROWS)
    cut = [[_cut(_printable(cell)) for cell in row] for row in shown]
    fitting = _fitting(cut, fixed=len(keys) or 1)
    table = _align([row[:fitting] for row in cut], left=len(keys) or 1)
    hidden = (len(keys) + len(outputs) - fitting) if keys else 0
    more = [f"… and {rest:,} more: .rows() has all"] if rest else []
    more += [f"… and {hidden} more columns: .columns names all"] if hidden > 0 else []
    return "\n".join([*table, *more, flowing(lines)])


def flowing(lines: Sequence[str]) -> str:
    """Lines that are broken where they would be too long to read."""
    return "\n".join(fill(_printable(line), WIDEST, subsequent_indent="  ") for line in lines)


def in_three_lines(lines: Sequence[str]) -> list[str]:
    """Lines as they are, or one paragraph where one of them is too long for a line."""
    given = [line for line in lines if line]
    return given if all(len(line) <= WIDEST for line in given) else [" ".join(given)]


def as_html(keys: Sequence[KeyColumn], outputs: Sequence[Output], lines: Sequence[str]) -> str:
    """The table as HTML, then the lines."""
    shown, rest = grid(keys, outputs, most=MOST_ROWS_IN_HTML)
    more = [f"… and {rest:,} more"] if rest else []
    return grid_as_html(shown, [*more, *lines])


def grid_as_html(shown: Grid, lines: Sequence[str]) -> str:
    """Headings, rows, then lines in small letters; every text is escaped."""
    head, *rows = shown
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    words = "<br>".join(map(escape, lines))
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f"{table}<p><small>{words}</small></p>"


def lines_as_html(text: str) -> str:
    """Lines of text as they stand."""
    return f"<pre>{escape(text)}</pre>"


def _first(output: Output, most: int) -> Output:
    low, high = (ends and ends[:most] for ends in (output.low, output.high))
    return replace(output, values=output.values[:most], low=low, high=high)


def _digits(low: float, high: float) -> int | None:
    """Digits after the point that leave two of the interval's width."""
    width = high - low
    if not isfinite(width) or width <= 0:
        return None
    return min(15, max(0, 1 - floor(log10(width))))


def _round_number(number: float, digits: int, way: str) -> str:
    with localcontext(prec=MOST_DIGITS):
        rounded = Decimal(repr(number)).quantize(Decimal(1).scaleb(-digits), rounding=way)
        return f"{rounded if rounded else abs(rounded):,f}"


def _fitting(rows: Grid, fixed: int) -> int:
    """How many columns fit; the keys and one more are shown whatever they take."""
    total, count = -2, 0
    for column in zip(*rows, strict=True):
        total += max(map(_width, column)) + 2
        if total > WIDEST and count > fixed:
            break
        count += 1
    return count


def _align(rows: Grid, *, left: int) -> list[str]:
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell + " " * (width - _width(cell))
            if place < left
            else " " * (width - _width(cell)) + cell
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"


def _printable(text: str) -> str:
    """A name cannot move the cursor or start a line of its own."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def is_drawn(output: Output) -> bool:
    """Whether an output is a number with an interval."""
    return output.kind.is_numeric and output.low is not None and output.high is not None
