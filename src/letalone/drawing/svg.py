"""Writes a chart as SVG: no script, no inline style, every word escaped.

`page_svg` is for a page that links the style sheet: it has no title of its own, because the page
has, and is as wide as its place. `to_svg` stands alone, in a file or a notebook: it carries title,
style and size. Each is an image with a title and a description for those who do not see it.

  Tested:   tests/drawing/test_svg.py
"""

from collections.abc import Iterable, Iterator
from textwrap import wrap

from letalone.drawing.chart import Chart, Sheet
from letalone.drawing.elements import clean, text
from letalone.drawing.field import (
    ALONE,
    NARROW,
    PAGE,
    RIGHT,
    ROW,
    SQUARE,
    ChartField,
    ChartFormat,
    draw_legend,
    draw_lines,
    draw_marks,
    draw_places,
    draw_shades,
    draw_ticks,
    field_points,
)
from letalone.drawing.looks import style
from letalone.errors import ParameterError

XML = '<?xml version="1.0" encoding="utf-8"?>\n'
MARGIN = 14  # pixels, of a chart that stands alone


def page_svg(chart: Chart) -> str:
    """A chart for a page that has the style sheet."""
    parts, height = draw_chart(chart, PAGE)
    size = f'width="100%" height="{height:.0f}"'
    if chart.square:
        size = f'viewBox="0 0 {PAGE.square_width} {height:.0f}"'
    return _image(parts, size, chart.title, chart.about or _describe(chart), chart.square)


def to_svg(drawn: Chart | Sheet) -> str:
    """A chart, or several, that stand alone."""
    charts = drawn.charts if isinstance(drawn, Sheet) else (drawn,)
    if not any(field_points(chart) for chart in charts):
        raise ParameterError("There is nothing to draw: no point of the curves is finite.")
    square = isinstance(drawn, Chart) and drawn.square
    if isinstance(drawn, Sheet):
        parts, height = _draw_sheet(drawn)
    else:
        parts, height = draw_chart(drawn, SQUARE if square else ALONE)
    width = ALONE.square_width if square else ALONE.width
    about = " ".join(chart.about or _describe(chart) for chart in charts)
    return _image(_frame(parts, width, height), _box(width, height), drawn.title, about, square)


def _box(width: float, height: float) -> str:
    wide, high = width + 2 * MARGIN, height + MARGIN
    return f'viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" height="{high:.0f}"'


def _frame(parts: Iterable[str], width: float, height: float) -> list[str]:
    """The parts with their style, on the ground, a little away from its edges."""
    ground = '<rect class="chart-ground" width="100%" height="100%"/>'
    inner = f'<svg class="chart" x="{MARGIN}" width="{width}" height="{height:.0f}">'
    return [style(), ground, inner, *parts, "</svg>"]


def to_html(drawn: Chart | Sheet, words: str = "") -> str:
    """The same for a notebook, under a paragraph."""
    return (f"<p>{clean(words)}</p>" if words else "") + to_svg(drawn)


def _image(parts: Iterable[str], size: str, title: str, about: str, square: bool) -> str:
    kind = "chart chart-square" if square else "chart"
    head = f'<svg class="{kind}" role="img" {size} xmlns="http://www.w3.org/2000/svg">'
    named = f"<title>{clean(title)}</title><desc>{clean(about)}</desc>"
    return "".join([head, named, *parts, "</svg>"])


def _describe(chart: Chart) -> str:
    """What those hear who do not see it, where nothing better was written."""
    axes = (("Across", chart.across.name), ("Up", chart.up.name))
    words = [f"{way}: {name}." for way, name in axes if name]
    names = "; ".join(series.label for series in chart.series if series.label)
    return " ".join([*words, f"Drawn: {names}." if names else f"{chart.title}."])


def _draw_sheet(sheet: Sheet) -> tuple[list[str], float]:
    """The charts in rows of one or two, each in its own part of the width."""
    columns, top = sheet.columns, 8.0 + ROW * len(_title_lines(sheet.title, ALONE))
    parts = list(_title(sheet.title, ALONE))
    for first in range(0, len(sheet.charts), columns):
        row = sheet.charts[first : first + columns]
        drawn = [draw_chart(chart, ALONE if columns == 1 else NARROW) for chart in row]
        height = max(high for _, high in drawn)
        for place, (inner, _) in enumerate(drawn):
            at = f'x="{100 * place / columns:.0f}%" y="{top:.0f}" width="{100 / columns:.0f}%"'
            parts.append(f'<svg class="chart" {at} height="{height:.0f}">{"".join(inner)}</svg>')
        top += height + ROW
    return parts, top


def draw_chart(chart: Chart, size: ChartFormat) -> tuple[list[str], float]:
    """The elements of a chart, and how high it is."""
    lines = _title_lines(chart.title, size) if size.titled else []
    side, below = (chart.up, chart.across) if not chart.lying else (chart.across, chart.up)
    top = 12.0 + ROW * (len(lines) + bool(side.name))
    field = ChartField.of(chart, size, top)
    legend = field.bottom + 22 + ROW * bool(below.name)
    middle = (field.left + RIGHT) / 2
    parts = [
        *(_title(chart.title, size) if lines else ()),
        *([text((0.5, top - 10), side.name)] if side.name else []),
        *draw_ticks(field, size),
        *([text((middle, legend), below.name, anchor="middle")] if below.name else []),
        *draw_shades(field), *draw_lines(field), *draw_places(field), *draw_marks(field, size),
        *draw_legend(chart, legend + ROW),
    ]  # fmt: skip
    end = legend + ROW * len(chart.legend()) + 8
    if chart.note:
        parts.append(text((0.5, end + 14), chart.note, kind="chart-note"))
    return parts, end + (ROW if chart.note else 0)


def _title_lines(title: str, size: ChartFormat) -> list[str]:
    letters = int(88 / size.letter)
    return [part for words in title.split("\n") for part in wrap(words, letters)]


def _title(title: str, size: ChartFormat) -> Iterator[str]:
    for place, words in enumerate(_title_lines(title, size)):
        yield text((0.5, 18 + ROW * place), words, kind="chart-title")
