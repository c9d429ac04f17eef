"""A table is as wide as the screen allows, and no name or number in it is broken."""

from io import StringIO

import pytest
from rich.console import Console

import letalone as la
from answers.releases import made
from letalone.answers.columns import CellKind, KeyColumn, Output
from letalone.answers.views import grid
from letalone.cli.tables.tabled import HEAD, MAX_ROWS, TableLayout, lay_out

WARDS = ("Cardiology", "Surgery", "Oncology", "Paediatrics", "Intensive care")


def answer(names: list[str], *, rows: int = 5) -> la.Release:
    wards = tuple(WARDS[n % 5] + " " * (n // 5) for n in range(rows))
    cells = ((1234.5,) * rows, (1018.25,) * rows, (1378.75,) * rows)
    outputs = tuple(Output(name, name, "", CellKind.NUMBER, *cells) for name in names)
    return made(keys=(KeyColumn("ward", CellKind.TEXT, wards),), outputs=outputs)


def lines_of(found: TableLayout, width: int) -> list[str]:
    """What a terminal shows; it has lines of any length, so that a broken cell is seen."""
    written = StringIO()
    for one in found.tables:
        Console(file=written, width=width, highlight=False).print(one, markup=False)
    return [line.rstrip() for line in written.getvalue().splitlines()]


NAMES = ["number_of_visits", "average_cost", "spread_of_cost", "average_stay", "median_age"]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("number", [1, 3, 5])
def test_every_name_and_number_stands_unbroken_within_the_width(width: int, number: int) -> None:
    release = answer(NAMES[:number])
    found = lay_out(release, width=width, height=24)
    lines = lines_of(found, width)
    assert max(map(len, lines)) <= width
    cells, _ = grid(release.keys, release.shown, most=MAX_ROWS)
    for row in cells:
        for cell in row:
            assert any(cell in line for line in lines), cell
    assert not found.more


def test_a_wider_screen_needs_fewer_tables() -> None:
    release = answer(NAMES)
    many = [len(lay_out(release, width=width, height=24).tables) for width in (80, 120, 160)]
    assert many == [3, 2, 1]
    for one in lay_out(release, width=80, height=24).tables:
        assert one.columns[0].header == "ward", "groups stand in front of each"


@pytest.mark.parametrize("rows", [0, 1, 5, 30])
@pytest.mark.parametrize("number", [1, 5, 20])
def test_tables_have_the_height_that_is_left_and_say_what_is_not_shown(
    rows: int, number: int
) -> None:
    release = answer([f"number_{n}" for n in range(number)], rows=rows)
    for height in range(4, 25):
        found = lay_out(release, width=80, height=height)
        lines = lines_of(found, 80)
        assert len(lines) + len(found.more) <= max(height, HEAD + 3)
        shown = sum(len(one.columns) - 1 for one in found.tables)
        kept = found.tables[0].row_count
        said = [f"and {rows - kept} more rows: --rows all shows them"] * (rows > kept)
        said += [f"and {number - shown} more columns: --rows all shows them"] * (number > shown)
        assert list(found.more) == said
        assert kept >= min(rows, 1)


def test_numbers_without_groups_stand_below_each_other() -> None:
    outputs = tuple(Output(n, n, "", CellKind.INTEGER, (5,), (4,), (6,)) for n in NAMES)
    found = lay_out(made(keys=(), outputs=outputs), width=80, height=24)
    assert [line.split()[0] for line in lines_of(found, 80)[HEAD:]] == NAMES
