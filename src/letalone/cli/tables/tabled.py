"""The numbers of an answer on a screen: in one table, or in several below each other.

A table that is wider than the terminal would be broken within its words. It is taken apart
instead: each part has the groups in front and as many numbers as fit.

  Tested:   tests/cli/test_tabled.py
"""

from dataclasses import dataclass

from rich.cells import cell_len
from rich.table import Table

from letalone.answers.views import Grid, grid
from letalone.cli.screen import table
from letalone.session.release import Release

MAX_ROWS = 12  # to ask again with --rows all is free
HEAD = 2  # lines: the names, and the rule below them
BETWEEN = 3  # columns between two cells


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The tables, and what they leave out."""

    tables: tuple[Table, ...]
    more: tuple[str, ...]


def lay_out(release: Release, *, width: int, height: int, wanted: int | None = None) -> TableLayout:
    """The answer in tables of at most this width, and of this height where they can be.

    Where so many rows are wanted, they have all columns, however high the tables are.
    """
    rows, rest = grid(release.keys, release.shown, most=wanted or MAX_ROWS)
    number = len(rows) - 1 + rest
    front = max(1, len(release.keys))
    parts = _parts(rows, front=front, width=width)
    kept, many = min(number, wanted or 0), len(parts)
    if wanted is None:
        kept, many = _fitting(number, len(parts), height=height)
    shown, hidden = parts[:many], parts[many:]
    more = [f"and {number - kept:,} more rows: --rows all shows them"] if number > kept else []
    columns = sum(len(part[0]) - front for part in hidden)
    more += [f"and {columns} more columns: --rows all shows them"] if columns else []
    return TableLayout(tuple(_table(part[: kept + 1], front) for part in shown), tuple(more))


def _fitting(number: int, parts: int, *, height: int) -> tuple[int, int]:
    """How many rows, and how many tables: all, or as many as leave lines to say how many more."""
    if number <= MAX_ROWS and parts * (HEAD + number) <= height:
        return number, parts
    room = min(number, max(1, min(MAX_ROWS, (height - 1) // parts - HEAD)))
    if parts * (HEAD + room) < height:
        return room, parts
    return room, max(1, (height - 2) // (HEAD + room))


def _parts(rows: Grid, *, front: int, width: int) -> list[Grid]:
    """The columns in as many tables as it takes, each with the first ones in front."""
    widths = [max(map(cell_len, column)) + BETWEEN for column in zip(*rows, strict=True)]
    room = width + BETWEEN - sum(widths[:front])
    parts: list[list[int]] = [[]]
    for place in range(front, len(widths)):
        taken = sum(widths[other] for other in parts[-1])
        if parts[-1] and taken + widths[place] > room:
            parts.append([])
        parts[-1].append(place)
    return [[[*row[:front], *(row[place] for place in part)] for row in rows] for part in parts]


def _table(rows: Grid, front: int) -> Table:
    head, *cells = rows
    names = [name or "answer" for name in head]
    return table(*names, right=names[front:], rows=cells)
