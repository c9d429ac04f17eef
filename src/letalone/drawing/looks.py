"""The looks of charts: a style sheet by classes, and the colours of a chart that stands alone.

The sheet (chart.css) says how wide and how broken lines are; pages link it, and give the classes
the colours of the page. A chart in a file or a notebook carries both: light, and dark where its
reader prefers that. Colours are told apart by people who see fewer, after Okabe and Ito; what
carries meaning stands out by 3 : 1 from the ground, and lines differ by their dashes as well.

  Tested:   tests/drawing/test_svg.py
"""

from functools import cache
from pathlib import Path

SHEET = Path(__file__).with_name("chart.css")
COLOURS = {  # class: its colour in the light, and in the dark
    "chart-ground": ("#ffffff", "#14191f"),
    "chart-label": ("#1d2733", "#e6eaee"),
    "chart-error": ("#1d2733", "#e6eaee"),
    "chart-mark": ("#1d2733", "#e6eaee"),
    "chart-grid": ("#dde1e6", "#333d48"),
    "chart-axis": ("#8b8f98", "#76818f"),
    "chart-bound": ("#566072", "#a7b0bd"),
    "chart-unknown": ("#9199a4", "#76818f"),
    "chart-limit": ("#a32a20", "#f2a097"),
    "chart-1": ("#0072b2", "#6cb8e6"),
    "chart-2": ("#c75300", "#f0905a"),
    "chart-3": ("#007f5c", "#4fc3a0"),
    "chart-4": ("#a8457f", "#e29cc4"),
    "chart-5": ("#8a6100", "#e8b84a"),
    "chart-6": ("#5a4fa0", "#b3aaf0"),
    "chart-7": ("#1d2733", "#e6eaee"),
}
SERIES = tuple(light for name, (light, _) in COLOURS.items() if name[-1].isdigit())
LIGHT = {name.removeprefix("chart-"): light for name, (light, _) in COLOURS.items()}


@cache
def style() -> str:
    """The style sheet of a chart that stands alone."""
    light, dark = (
        "".join(f".{name}{{color:{both[theme]}}}" for name, both in COLOURS.items())
        for theme in (0, 1)
    )
    looks = SHEET.read_text("utf-8")
    return f"<style>{looks}{light}@media(prefers-color-scheme:dark){{{dark}}}</style>"
