"""Draws the field of a chart as SVG: its ticks, series, marks, and the names of the series."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, isnan, nan

from letalone.drawing.chart import (
    OWN_COLOUR,
    SIDE_BY_SIDE,
    AxisKind,
    Chart,
    PlacedSeries,
    Series,
    SeriesPoint,
    SeriesStyle,
    ShadedField,
)
from letalone.drawing.elements import (
    Place,
    abbreviate,
    dot,
    draw_shade,
    group,
    line,
    path,
    rectangle,
    stretch,
    text,
)
from letalone.drawing.looks import SERIES
from letalone.drawing.scales import PARTS, AxisScale, Tick, fits

ROW = 20  # pixels: a line of words
BAR_ROW, NEXT_BAR = 26, 14  # pixels: a group with one bar, and each bar more
HINTS = 60  # with more points their numbers are not told one by one
RIGHT, EDGE = 97.0, 102.0  # percent: where series end, and words, which pages leave room for
UP_PARTS = 5
LEAST_DEPTH, MOST_DEPTH, UNKNOWN_DEPTH = 0.04, 0.55, 0.3  # of the colour, in a heat map
LETTER = 1.05  # percent of the width, about, that a digit takes in a field
LINES = {  # and the class of the line, before that of its colour
    SeriesStyle.LINE: "chart-line ",
    SeriesStyle.AREA: "chart-line ",
    SeriesStyle.JOINED: "chart-line ",
    SeriesStyle.BOUND: "",
    SeriesStyle.LIMIT: "",
}
FILLED = (SeriesStyle.AREA, SeriesStyle.REGION)
STANDING = (*SIDE_BY_SIDE, SeriesStyle.JOINED)


@dataclass(frozen=True, slots=True)
class ChartFormat:
    """Sizes of a chart: percent across, pixels down, letters."""

    left: float
    lying_left: float
    high: float
    square: float
    label: int  # the longest label beside a bar
    letter: float  # percent, about, of the narrowest place
    titled: bool
    width: int = 720  # where it is fixed, in pixels
    square_width: int = 420


PAGE = ChartFormat(16, 33, 220, 340, label=16, letter=2, titled=False)
ALONE = ChartFormat(10, 30, 300, 340, label=32, letter=1, titled=True)
SQUARE = ChartFormat(16, 38, 340, 340, label=22, letter=1.8, titled=True)
NARROW = ChartFormat(16, 38, 240, 240, label=22, letter=1.8, titled=True)  # one of two columns


@dataclass(frozen=True, slots=True)
class ChartField:
    """The part of a chart in which series are drawn."""

    chart: Chart
    along: AxisScale
    values: AxisScale
    left: float
    top: float
    bottom: float

    @classmethod
    def of(cls, chart: Chart, size: ChartFormat, top: float) -> "ChartField":
        left = size.lying_left if chart.lying or chart.is_heat_map else size.left
        bottom = top + _height(chart, size)
        points = field_points(chart)
        xs = [*(point.x for point in points), *(mark.x for mark in chart.marks)]
        ys = [level for point in points for level in point.levels()]
        ys += [mark.y for mark in chart.marks]
        ways = ((left + 1, RIGHT - 1), (bottom, top)), ((top, bottom), (left, RIGHT))
        across, up = ways[chart.lying]
        parts = PARTS if chart.lying else UP_PARTS
        along = AxisScale.around(chart.across, xs, between=across, rounded=False, parts=parts)
        values = AxisScale.around(chart.up, ys, between=up, parts=parts)
        return cls(chart, along, values, left, top, bottom)

    def at(self, x: float, y: float) -> Place:
        """Where a point is drawn."""
        along, value = self.along.place(x), self.values.place(y)
        return (value, along) if self.chart.lying else (along, value)

    def is_drawn(self, x: float, y: float) -> bool:
        return fits(self.chart.across, x) and fits(self.chart.up, y)


def _height(chart: Chart, size: ChartFormat) -> float:
    if chart.is_heat_map:
        return BAR_ROW * max(1, len(chart.up.names))
    if not chart.lying:
        return size.square if chart.square else size.high
    bars = max(1, sum(series.style in SIDE_BY_SIDE for series in chart.series))
    return (BAR_ROW + NEXT_BAR * (bars - 1)) * max(1, len(chart.across.names))


def field_points(chart: Chart) -> list[SeriesPoint]:
    """All points that can be drawn, or whose range can."""
    return [
        point
        for point in chart.points()
        if fits(chart.across, point.x) and (fits(chart.up, point.y) or point.is_unknown)
    ]


def draw_ticks(field: ChartField, size: ChartFormat) -> Iterator[str]:
    """Lines at round numbers, with their words to the left or beneath."""
    lying, left = field.chart.lying or field.chart.is_heat_map, field.left
    turned = field.chart.lying
    side, below = (field.along, field.values) if turned else (field.values, field.along)
    for tick, words in side.ticks():
        y = side.place(tick)
        if not lying:
            kind = "chart-axis" if tick == 0 else "chart-grid"
            yield line((left, y), (RIGHT, y), kind)
        shown = abbreviate(words, size.label) if lying else words
        yield text((left - 1.5, y + 4), shown, anchor="end", kind="" if lying else "chart-tick")
    ruled = below.axis.kind in (AxisKind.NUMBERS, AxisKind.FACTORS)
    yield from _beneath(field, below, size, ruled=ruled)


def _beneath(
    field: ChartField, scale: AxisScale, size: ChartFormat, *, ruled: bool
) -> Iterator[str]:
    """Ticks below the field; where words would come too close, every second one, or third."""
    ticks = sorted(scale.ticks())
    for tick, _ in ticks if ruled else ():
        x, look = scale.place(tick), "chart-axis" if tick == 0 else "chart-grid"
        yield line((x, field.top), (x, field.bottom), look)
    kind = "chart-tick" if field.chart.lying else ""
    for left, right, words in _space_words(scale, ticks, size.letter):
        beyond = right > EDGE
        at, anchor = (100.0, "end") if beyond else ((left + right) / 2, "middle")
        yield text((at, field.bottom + 20), words, anchor=anchor, kind=kind)


def _space_words(
    scale: AxisScale, ticks: Sequence[Tick], letter: float
) -> list[tuple[float, float, str]]:
    """The words of ticks, with about the places where each begins and ends."""
    middles = [(scale.place(tick), len(words) * letter / 2, words) for tick, words in ticks]
    spans = [(middle - half, middle + half, words) for middle, half, words in middles]
    kept = (spans[::every] for every in range(1, len(spans) + 1))
    apart = (
        some for some in kept if all(span[1] + letter <= other[0] for span, other in pairwise(some))
    )
    return next(apart, spans[:1])


def _colour(placed: PlacedSeries) -> str:
    """The class of its colour."""
    style = placed.series.style
    return f"chart-{style.value if style in OWN_COLOUR else placed.colour % len(SERIES) + 1}"


def draw_lines(field: ChartField) -> list[str]:
    """What runs through many places: areas first, then lines."""
    paths = list[str]()
    for placed in field.chart.place_series():
        series, colour = placed.series, _colour(placed)
        corners = _corners(field, series)
        if series.style in FILLED:
            paths.append(_area(field, corners, colour))
        if series.style in LINES:
            paths.append(path(corners, f"{LINES[series.style]}{colour}"))
    return [stretch(paths, field.bottom + 2)] if paths else []


def _corners(field: ChartField, series: Series) -> list[Place]:
    points = zip(series.xs, series.ys, strict=True)
    return [field.at(x, y) for x, y in points if field.is_drawn(x, y)]


def _area(field: ChartField, corners: Sequence[Place], colour: str) -> str:
    foot = field.values.place(0)
    feet = [(corners[-1][0], foot), (corners[0][0], foot)] if corners else []
    return path([*corners, *feet], f"chart-area {colour}", closed=True)


def draw_places(field: ChartField) -> list[str]:
    """What stands at its place: points and bars, each with its range."""
    parts = list[str]()
    for placed in field.chart.place_series():
        points = placed.series.points() if placed.series.style in STANDING else []
        for point in points:
            words = point.words if len(points) <= HINTS else ""
            parts.append(group(_draw_point(field, placed, point), words))
    return parts


def draw_shades(field: ChartField) -> list[str]:
    """The fields of a heat map, each with its number where there is room for it."""
    parts = list[str]()
    for series in field.chart.series:
        if series.style is SeriesStyle.SHADES:
            cells = zip(series.fields(), depths_of(series), strict=True)
            drawn = (pair for pair in cells if field.is_drawn(pair[0].x, pair[0].y))
            parts += [_draw_shade(field, *pair) for pair in drawn]
    return parts


def _draw_shade(field: ChartField, cell: ShadedField, depth: float) -> str:
    x, y, shown = cell.x, cell.y, cell.text
    corners = field.at(x - 0.48, y - 0.46), field.at(x + 0.48, y + 0.46)
    kind = "chart-unknown" if isnan(depth) else "chart-1"
    parts = [draw_shade(*corners, kind, UNKNOWN_DEPTH if isnan(depth) else depth)]
    room = (corners[1][0] - corners[0][0]) / LETTER
    if shown and len(shown) <= room:
        middle, down = field.at(x, y)
        parts.append(text((middle, down + 4), shown, anchor="middle", kind="chart-tick"))
    return group(parts, cell.words)


def depths_of(series: Series) -> list[float]:
    """How full of its colour each field is: letters on the fullest can still be read."""
    values = [field.value for field in series.fields()]
    known = [value for value in values if isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    low = min(low, 0.0)
    span = (high - low) or 1.0
    return [
        LEAST_DEPTH + (MOST_DEPTH - LEAST_DEPTH) * (value - low) / span if isfinite(value) else nan
        for value in values
    ]


def _draw_point(field: ChartField, placed: PlacedSeries, point: SeriesPoint) -> list[str]:
    x, colour = point.x + placed.moved, _colour(placed)
    if point.is_unknown:
        return [line(field.at(x, point.low), field.at(x, point.high), "chart-unknown")]
    if not field.is_drawn(point.x, point.y):
        across, down = field.at(x, 0)
        empty = [text((across + 1, down + 4), "no value", kind="chart-note")]
        return empty if field.chart.lying else []
    error = _error_bar(field, x, point) if point.has_range else []
    if placed.series.style is not SeriesStyle.BARS:
        return [*error, dot(field.at(x, point.inside), f"chart-point {colour}")]
    half = 0.4 * placed.width
    corners = field.at(x - half, 0), field.at(x + half, point.inside)
    return [rectangle(*corners, f"chart-bar {colour}"), *error]


def _error_bar(field: ChartField, x: float, point: SeriesPoint) -> list[str]:
    low, high = field.at(x, point.low), field.at(x, point.high)
    parts = [line(low, high, "chart-error")]
    if field.chart.lying:
        ends = [((across, y - 4), (across, y + 4)) for across, y in (low, high)]
        parts += [line(*end, "chart-error") for end in ends]
    return parts


def draw_marks(field: ChartField, size: ChartFormat) -> Iterator[str]:
    """Single points with their words."""
    for mark in field.chart.marks:
        if not field.is_drawn(mark.x, mark.y):
            continue
        x, y = field.at(mark.x, mark.y)
        yield dot((x, y), "chart-mark", radius=4.5)
        if mark.words:  # to the right, where a falling curve leaves room
            right = x + 1.5 + size.letter * len(mark.words) <= EDGE
            beside = x + 1.5 if right else x - 1.5
            yield text((beside, y - 7), mark.words, anchor="start" if right else "end")


def draw_legend(chart: Chart, top: float) -> Iterator[str]:
    """The names of the series, below the drawing, where they hide nothing."""
    for place, placed in enumerate(chart.legend()):
        y = top + ROW * place
        yield from _sample(placed.series.style, _colour(placed), y - 4)
        yield text((11, y), abbreviate(placed.series.label, 90))


def _sample(style: SeriesStyle, colour: str, y: float) -> Iterator[str]:
    if style in FILLED or style is SeriesStyle.BARS:
        kind = "chart-area" if style in FILLED else "chart-bar"
        yield rectangle((2, y - 6), (9, y + 6), f"{kind} {colour}")
    if style is SeriesStyle.SHADES:
        yield draw_shade((2, y - 6), (9, y + 6), "chart-1", MOST_DEPTH)
    if style in LINES:
        yield line((2, y), (9, y), f"{LINES[style]}{colour}")
    if style in (SeriesStyle.POINTS, SeriesStyle.JOINED):
        yield dot((5.5, y), f"chart-point {colour}")
