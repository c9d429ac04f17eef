"""Draws a chart with matplotlib, and writes it to a file.

The only file of the layers that loads matplotlib, and it does so when it is called. An .svg is
written by ourselves, with the looks of the console, and needs no other package.

  Tested:   tests/drawing/test_figure.py; test_picture.py in tests/answers, attacks and audit
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from math import isnan
from pathlib import Path
from textwrap import fill
from typing import Any, NoReturn, cast

from letalone.drawing.chart import (
    AxisKind,
    Chart,
    ChartAxis,
    PlacedSeries,
    Series,
    SeriesPoint,
    SeriesStyle,
    Sheet,
)
from letalone.drawing.field import UNKNOWN_DEPTH, depths_of
from letalone.drawing.looks import LIGHT, SERIES
from letalone.drawing.scales import AxisScale, time_ticks
from letalone.drawing.svg import XML, to_svg
from letalone.errors import ParameterError
from letalone.errors.installing import how_to_install, not_installed

FORMATS = (".svg", ".png", ".pdf")
WIDTHS = {1: 7.0, 2: 5.5}  # of a chart in inches, by the number of columns
HEIGHT, SQUARE, BAR, LEGEND = 2.9, 5.4, 0.22, 0.21  # in inches
LETTERS = 12  # of a title in an inch
SHORT = 20  # letters of a name that stands beside
SVG = ".svg"
SHOWN_DPI = 80  # in a notebook
MARKS = "osD^vPX"  # for whoever sees no colours
DASHES = ("-", "--", ":", "-.", (0, (8, 3)), (0, (3, 5)), (0, (1, 3)))


def plot(drawn: Chart | Sheet, path: object = None) -> Any:
    """The picture, which a notebook shows by itself; written to a file where a path is given.

    It is a matplotlib figure. Without matplotlib it is an SVG, and only an .svg is written.
    """
    target = None if path is None else check_drawable(path)
    if target is not None and target.suffix.lower() == SVG:
        write_svg(drawn, target)
        target = None
    if not can_draw():
        return SvgPicture(to_svg(drawn))
    figure = to_figure(drawn)
    if target is not None:
        figure.savefig(target)
    return figure


@dataclass(frozen=True, slots=True, repr=False)
class SvgPicture:
    """What `.plot()` returns where matplotlib is not installed."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return "A picture, shown in a notebook. .plot('picture.svg') writes it to a file."

    def __getattr__(self, name: str) -> NoReturn:
        how = how_to_install("plot")
        raise AttributeError(f"A picture without matplotlib has no {name!r}. To install it: {how}.")


def write_svg(drawn: Chart | Sheet, path: Path | str) -> Path:
    """Writes an .svg file, and returns its path."""
    target = Path(path)
    if target.suffix.lower() != SVG:
        raise ParameterError(f"The chart is to go to '{target}', but the name must end in .svg.")
    target.write_text(XML + to_svg(drawn), "utf-8")
    return target


def check_drawable(path: object = None) -> Path | None:
    """Refuses a path where no picture can be written, and a machine that cannot draw it."""
    target = None if path is None else Path(cast("str", path))
    if target is not None and target.suffix.lower() not in FORMATS:
        allowed = ", ".join(FORMATS)
        raise ParameterError(f"The picture is to go to '{target}', but must end in {allowed}.")
    if not can_draw(target):
        raise ParameterError(
            not_installed(".plot()", "matplotlib", "plot") + " An .svg file needs nothing more."
        )
    return target


def can_draw(path: Path | None = None) -> bool:
    """Whether what this picture needs is installed."""
    alone = path is not None and path.suffix.lower() == SVG
    return alone or find_spec("matplotlib") is not None


def to_figure(drawn: Chart | Sheet) -> Any:
    """A matplotlib figure, which notebooks show by itself."""
    sheet = drawn if isinstance(drawn, Sheet) else Sheet("", (drawn,))
    figure = _empty_figure()
    for place, chart in zip(_places(figure, sheet), sheet.charts, strict=True):
        _draw_chart(place, chart, columns=sheet.columns)
    letters = int(LETTERS * sheet.columns * WIDTHS[sheet.columns])
    lines = [fill(_plain(line), letters) for line in sheet.title.split("\n")]
    figure.suptitle("\n".join(lines), fontsize=10)
    return figure


def _empty_figure() -> Any:
    """Without pyplot, so without a window and nothing to be closed; a notebook asks for a PNG."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            drawn = BytesIO()
            cast("Any", self).savefig(drawn, format="png", dpi=SHOWN_DPI)
            return drawn.getvalue()

    return ShownFigure(layout="constrained")


def _places(figure: Any, sheet: Sheet) -> list[Any]:
    """Where each chart is drawn, in rows of one or two; rows are as high as they must be."""
    columns, charts = sheet.columns, sheet.charts
    rows = [charts[start : start + columns] for start in range(0, len(charts), columns)]
    heights = [max(_height(chart, columns) for chart in row) for row in rows]
    figure.set_size_inches(columns * WIDTHS[columns], 1 + sum(heights))
    axes = figure.subplots(len(rows), columns, squeeze=False, height_ratios=heights)
    places = [place for row in axes for place in row]
    for place in places[len(charts) :]:
        place.remove()
    return places[: len(charts)]


def _height(chart: Chart, columns: int) -> float:
    field = SQUARE if chart.square else HEIGHT
    legend = 0 if _fits_beside(chart, columns) else LEGEND * len(chart.legend())
    if chart.is_heat_map:
        return max(1.2, BAR * len(chart.up.names))
    return legend + (max(field, BAR * len(chart.across.names)) if chart.lying else field)


def _fits_beside(chart: Chart, columns: int) -> bool:
    """Whether the names of the series have room to the right; else they stand beneath."""
    longest = max((len(placed.series.label) for placed in chart.legend()), default=0)
    return columns == 1 and longest <= SHORT and not chart.square


def _draw_chart(place: Any, chart: Chart, *, columns: int) -> None:
    for placed in chart.place_series():
        _draw_series(place, placed, lying=chart.lying)
    for mark in chart.marks:
        place.plot(mark.x, mark.y, "o", color=LIGHT["mark"], clip_on=False)
        place.annotate(_plain(mark.words), (mark.x, mark.y), (5, 5), textcoords="offset points")
    title = fill(_plain(chart.title), int(LETTERS * WIDTHS[columns]))
    place.set_title(title, loc="left", fontsize=10)
    _draw_axes(place, chart)
    if chart.legend():
        below = -0.5 / (SQUARE if chart.square else HEIGHT)
        at = (1.01, 1) if _fits_beside(chart, columns) else (0, below)
        place.legend(fontsize=8, title=chart.note or None, loc="upper left", bbox_to_anchor=at)


def _draw_axes(place: Any, chart: Chart) -> None:
    across, up = ("y", "x") if chart.lying else ("x", "y")
    levels = [level for point in chart.points() for level in point.levels()]
    _draw_axis(place, across, chart.across, [point.x for point in chart.points()])
    _draw_axis(place, up, chart.up, levels)
    if chart.across.kind is AxisKind.NAMES and not chart.is_heat_map:
        _set_limits_by_names(place, chart, levels)
    place.set_aspect("equal" if chart.square else "auto")
    place.spines[["top", "right"]].set_visible(False)
    if chart.is_heat_map:
        place.set_xlabel(f"{_plain(chart.across.name)}\n{_plain(chart.note)}", fontsize=9)
    else:
        place.grid(visible=True, color="0.92")
    if chart.across.kind is AxisKind.MOMENTS and not chart.up.ends:
        place.set_ylim(bottom=min([0.0, *levels]))
    place.set_axisbelow(True)


def _draw_axis(place: Any, way: str, axis: ChartAxis, values: Sequence[float]) -> None:
    drawn = getattr(place, f"{way}axis")
    drawn.set_label_text(_plain(axis.name))
    match axis.kind:
        case AxisKind.FACTORS:
            getattr(place, f"set_{way}scale")("log")
            drawn.set_minor_formatter("")
            ticks = AxisScale.around(axis, values, between=(0, 1)).ticks()
            drawn.set_ticks(*zip(*ticks, strict=True))
        case AxisKind.NAMES:
            names = [_plain(name) for name in axis.names]
            drawn.set_ticks(range(len(names)), names, fontsize=8 if way == "y" else 9)
        case AxisKind.MOMENTS:
            drawn.set_ticks(*zip(*time_ticks(min(values), max(values)), strict=True))
        case AxisKind.NUMBERS:
            drawn.set_major_formatter("{x:.0%}" if axis.percent else "{x:,.6g}")
    if axis.ends is not None:
        getattr(place, f"set_{way}lim")(*axis.ends)


def _set_limits_by_names(place: Any, chart: Chart, levels: Sequence[float]) -> None:
    """Half a place at both ends; values from 0 on, unless something lies below it."""
    low, high = min(0.0, *levels, 0.0), max(0.0, *levels, 0.0)
    room = 0.06 * (high - low or 1.0)
    values = low - (room if low < 0 else 0.0), high + room
    first, last = -0.6, len(chart.across.names) - 0.4
    if chart.lying:
        place.set(xlim=values, ylim=(last, first))
    else:
        place.set(xlim=(first, last), ylim=values)


def _draw_series(place: Any, placed: PlacedSeries, *, lying: bool) -> None:
    series, number = placed.series, placed.colour % len(SERIES)
    points = (series.xs, series.ys)
    named = {"color": SERIES[number], "label": _plain(series.label) or None}
    lines = named | {"linestyle": DASHES[number]}
    match series.style:
        case SeriesStyle.LINE:
            place.plot(*points, **lines)
        case SeriesStyle.AREA:
            place.plot(*points, **lines)
            place.fill_between(series.xs, 0, series.ys, color=SERIES[number], alpha=0.22)
        case SeriesStyle.REGION:
            place.fill_between(series.xs, 0, series.ys, alpha=0.25, linewidth=0, **named)
        case SeriesStyle.BOUND | SeriesStyle.LIMIT:
            look = {"color": LIGHT[series.style.value], "linestyle": "--"}
            place.plot(*points, **named | look)
        case SeriesStyle.JOINED:
            place.plot(*points, marker=MARKS[number], **lines)
            if series.low:
                look = {"color": SERIES[number], "marker": MARKS[number], "label": None}
                _draw_places(place, placed, look, lying=lying)
        case SeriesStyle.SHADES:
            _draw_shades(place, series)
        case SeriesStyle.POINTS | SeriesStyle.BARS:
            _draw_places(place, placed, named | {"marker": MARKS[number]}, lying=lying)


def _draw_shades(place: Any, series: Series) -> None:
    for cell, depth in zip(series.fields(), depths_of(series), strict=True):
        x, y, unknown = cell.x, cell.y, isnan(depth)
        look = {"color": LIGHT["unknown"] if unknown else SERIES[0], "linewidth": 0}
        corners = (
            [x - 0.48, x + 0.48, x + 0.48, x - 0.48],
            [y - 0.46, y - 0.46, y + 0.46, y + 0.46],
        )
        place.fill(*corners, alpha=UNKNOWN_DEPTH if unknown else depth, **look)
        place.text(x, y, _plain(cell.text), ha="center", va="center", fontsize=7, clip_on=True)


def _draw_places(place: Any, placed: PlacedSeries, named: dict[str, Any], *, lying: bool) -> None:
    """Points or bars with their error bars, and the ranges of what is not known."""
    points, bars = placed.series.points(), placed.series.style is SeriesStyle.BARS
    at = [point.x + placed.moved for point in points]
    values = [point.inside for point in points]
    how = {"ecolor": LIGHT["error"] if bars else named["color"], "capsize": 3, "linestyle": ""}
    if bars:
        draw = place.barh if lying else place.bar
        draw(at, values, placed.width, alpha=0.65, color=named["color"], label=named["label"])
    how |= {"fmt": "none"} if bars else named
    if placed.series.low or not bars:
        ends = _errors(points) if placed.series.low else None
        where = (values, at) if lying else (at, values)
        place.errorbar(*where, **{"xerr" if lying else "yerr": ends}, **how)
    for x, point in zip(at, points, strict=True):
        if point.is_unknown:
            draw = place.hlines if lying else place.vlines
            draw(x, point.low, point.high, color=LIGHT["unknown"], linewidth=4)


def _errors(points: Sequence[SeriesPoint]) -> list[list[float]]:
    below = [max(0.0, point.inside - point.low) for point in points]
    return [below, [max(0.0, point.high - point.inside) for point in points]]


def _plain(text: str) -> str:
    """Dollar signs would start a formula."""
    return text.replace("$", r"\$")
