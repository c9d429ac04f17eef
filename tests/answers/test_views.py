"""What is shown: aligned, rounded outwards, escaped."""

import math
import re

import numpy as np
import pytest

from answers.releases import OUTPUTS, made
from letalone.answers.columns import CellKind, KeyColumn, Output
from letalone.answers.views import cell_text, grid, interval_text


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        ((12.34, 11.84, 12.86), "12.3 [11.8, 12.9]"),
        ((812, 806, 1818), "812 [806, 1,818]"),
        ((-5, 0, 3), "-5 [0, 3]"),
        ((0.00123, 0.00101, 0.0014901), "0.00123 [0.00101, 0.00150]"),
        ((0.5, 0.1, 0.3), "0.50 [0.10, 0.30]"),
        ((5.0, 5.0, 5.0), "5 [5, 5]"),
        ((1.0, -math.inf, math.inf), "1 [-inf, inf]"),
        ((-0.001, -4.0, 4.0), "0.0 [-4.0, 4.0]"),
        (("x", None, None), "x"),
    ],
)
def test_an_interval_is_short_and_clear(cells: tuple[float, ...], shown: str) -> None:
    assert interval_text(*cells) == shown


def test_what_is_shown_holds_whenever_the_interval_does() -> None:
    random = np.random.default_rng(2)
    for _ in range(2000):
        low = float(random.normal() * 10 ** random.uniform(-12, 12))
        high = low + float(10 ** random.uniform(-12, 12))
        shown = interval_text((low + high) / 2, low, high)
        ends = re.search(r"\[(\S+), (\S+)\]$", shown)
        assert ends is not None
        if high > low:
            assert float(ends[1].replace(",", "")) <= low
            assert float(ends[2].replace(",", "")) >= high


def test_columns_are_aligned_and_the_last_lines_are_price_unit_and_what_is_left() -> None:
    keys = (KeyColumn("ward", CellKind.TEXT, ("A", None, "鍵")),)
    release = made(keys=keys, outputs=OUTPUTS[1:])
    lines = str(release).splitlines()
    assert lines[:4] == [
        "ward                  cost      top",
        "A        12.3 [11.8, 12.9]        x",
        "missing     0.1 [0.0, 9.0]  missing",
        "鍵          3.0 [0.0, 4.0]        y",
    ]
    assert lines[-3:] == [
        "[low, high]: 95 % noise range.",
        "Spent ε = 0.5 per patient.",
        "More: .explain()",
    ]
    assert "- each patient counts with at most 10 rows" in lines
    assert str(release) == repr(release)


def test_a_long_answer_is_cut_and_says_so() -> None:
    many = tuple(range(1000))
    release = made(
        keys=(KeyColumn("k", CellKind.INTEGER, many),),
        outputs=tuple(
            Output(f"output_{place}", "o", str(place), CellKind.INTEGER, many, many, many)
            for place in range(40)
        ),
    )
    shown = str(release)
    assert len(shown.splitlines()) < 30
    assert all(len(line) <= 100 for line in shown.splitlines())
    assert "and 980 more" in shown
    assert re.search(r"and 3\d more columns", shown)


def test_names_cannot_draw_on_the_terminal_or_the_page() -> None:
    name = "\x1b[2J\nPrice: ε = 0<script>alert(1)</script>"
    release = made(
        keys=(KeyColumn(name, CellKind.TEXT, (name,)),),
        outputs=(Output(name, name, "", CellKind.INTEGER, (1,), (0,), (2,)),),
        notes=(name,),
    )
    assert "\x1b" not in str(release)
    assert "\nPrice: ε = 0<" not in str(release)
    assert "<script>" not in release._repr_html_()
    assert "&lt;script&gt;" in release._repr_html_()


def test_cells_are_shown_as_people_write_them() -> None:
    assert [cell_text(cell) for cell in (None, True, 1234, 0.5, "a\tb")] == [
        "missing",
        "true",
        "1,234",
        "0.5",
        "a\\tb",
    ]


def test_a_year_that_is_a_key_has_no_thousands_set_apart() -> None:
    years = KeyColumn("year", CellKind.INTEGER, (2024, None))
    counts = Output("n", "n", "", CellKind.INTEGER, (2024, 5), (2000, 1), (2050, 9))
    rows, _ = grid([years], [counts], most=5)
    assert rows[1:] == [["2024", "2,024 [2,000, 2,050]"], ["missing", "5 [1, 9]"]]
