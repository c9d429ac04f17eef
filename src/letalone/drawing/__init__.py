"""Draws charts: for files, for pages of the console and for notebooks, all from the same records.

A `Chart` is data: axes, series, marks. `to_svg` writes it as text, without any other package;
`to_figure` draws it with matplotlib. Scales, round numbers, escaping, looks and colours are here,
once; who has something to show makes a chart of it.

  Tested:   tests/drawing
"""

from letalone.drawing.chart import (
    AxisKind,
    Chart,
    ChartAxis,
    ChartMark,
    Series,
    SeriesStyle,
    Sheet,
)
from letalone.drawing.figure import FORMATS, can_draw, check_drawable, plot, to_figure, write_svg
from letalone.drawing.svg import page_svg, to_html, to_svg

__all__ = [
    "FORMATS",
    "AxisKind",
    "Chart",
    "ChartAxis",
    "ChartMark",
    "Series",
    "SeriesStyle",
    "Sheet",
    "can_draw",
    "check_drawable",
    "page_svg",
    "plot",
    "to_figure",
    "to_html",
    "to_svg",
    "write_svg",
]
