"""Draws charts as SVG on the server: no script, no inline style, every word escaped.

Widths are percentages and heights are pixels, so that a chart is as wide as its place and its
letters keep their size, on a phone too. Colours are classes (static/charts.css). Each chart is
an image with a title and a description for those who do not see it; `figure` puts the numbers
beneath as a table.

  Tested:   tests/curator/console/test_charts.py
"""

from letalone.curator.console.charts.bars import bars_with_errors
from letalone.curator.console.charts.drawing import ChartMark, figure, make_mark
from letalone.curator.console.charts.lines import lines_with_errors
from letalone.curator.console.charts.spending import burn_down
from letalone.curator.console.charts.trade_off import trade_off

__all__ = [
    "ChartMark", "bars_with_errors", "burn_down", "figure", "lines_with_errors",
    "make_mark", "trade_off",
]  # fmt: skip
