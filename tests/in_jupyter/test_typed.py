"""What a person types into a fresh notebook, cell by cell, and what they see.

Three things went wrong for the first who tried: `la.open` failed in a kernel without ipywidgets,
`.plot()` showed `<Figure size 700x620 with 2 Axes>`, and the shipped notebook did both.
"""

from pathlib import Path

import pytest

from in_jupyter.kernels import type_cells

pytestmark = pytest.mark.long
OPEN = """
import pandas as pd
import letalone as la

frame = pd.DataFrame({"person": range(900), "ward": ["A", "B", "C"] * 300})
table = la.open(frame, unit="person", budget=2)
table
"""
ASK = 'answer = table.group_by("ward", keys=["A", "B", "C"]).agg(n=la.count()).release(epsilon=1)'
# How people prepare for pictures, or do not; a magic comes from an older habit.
PREPARED = {
    "nothing": "",
    "pyplot": "import matplotlib.pyplot as plt",
    "inline": "%matplotlib inline",
}


@pytest.mark.parametrize("without", [(), ("ipywidgets",)], ids=["widgets", "plain"])
def test_a_table_opens_in_any_kernel(without: tuple[str, ...], tmp_path: Path) -> None:
    (shown,) = type_cells(OPEN, folder=tmp_path, without=without)
    assert "budget" in shown["text/html"]


@pytest.mark.parametrize("prepared", PREPARED)
def test_a_picture_appears_by_itself(prepared: str, tmp_path: Path) -> None:
    cells = [OPEN, PREPARED[prepared], ASK, "answer.plot()"]
    *_, shown = type_cells(*cells, folder=tmp_path, without=["ipywidgets"])
    assert shown["image/png"].startswith("iVBOR")  # base64 of PNG's first bytes


def test_a_picture_appears_without_matplotlib(tmp_path: Path) -> None:
    *_, shown = type_cells(OPEN, ASK, "answer.plot()", folder=tmp_path, without=["matplotlib"])
    assert shown["image/svg+xml"].startswith("<svg")


def test_an_answer_is_a_table_with_ranges_and_a_picture_of_them(tmp_path: Path) -> None:
    *_, preview, answer = type_cells(
        OPEN,
        'table.group_by("ward", keys=["A", "B", "C"]).agg(n=la.count()).preview(epsilon=1)',
        f"{ASK}\nanswer",
        folder=tmp_path,
        without=["ipywidgets", "matplotlib"],
    )
    assert "<td>n</td><td>± " in preview["text/html"]
    table, picture = answer["text/html"].split("</table>")
    assert table.count("<tr>") == 4
    assert table.count("[") == 3  # a range in each row
    assert picture.count("chart-error") >= 3


def test_a_slider_is_a_widget_and_spends_nothing_by_being_shown(tmp_path: Path) -> None:
    cells = [OPEN, "la.EpsilonSlider(table.agg(n=la.count()).bound(max_rows=1))", "table.spent"]
    _, slider, spent = type_cells(*cells, folder=tmp_path)
    assert "application/vnd.jupyter.widget-view+json" in slider
    assert spent["text/plain"] == "Budget(epsilon=0)"
