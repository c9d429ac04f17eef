"""A release as charts: each aggregate in a chart of its own, with its error bars.

A value that is unknown is drawn as its interval, in grey. Groups that are days or months are drawn
as lines over time, one for each value of a second column; two columns of other groups as a heat map
where they have many values.

Days, and months and years written as 2024-01 or 2024, stand at their moments. A heat map has a
field for each pair of groups, and says what stands beside its number to who points at it.

  Tested:   tests/answers/test_picture.py
"""

import re
from collections.abc import Sequence
from datetime import date
from math import isfinite, nan
from typing import cast

from letalone.answers.columns import Cell, CellKind, KeyColumn, Output
from letalone.answers.views import cell_text, interval_text, is_drawn, key_text
from letalone.drawing.chart import AxisKind, Chart, ChartAxis, Series, SeriesStyle, Sheet
from letalone.drawing.scales import number, seconds
from letalone.errors import ParameterError

MOST_PLACES = 60
MOST_SERIES = 8
MOST_BELOW = 3  # charts that stand below each other; more stand in two columns
LABELS = {1: 70, 2: 55}  # letters of labels side by side, by the number of columns
LEAST_MOMENTS = 3  # two are no line
MOST_LINES = 6
LEAST_FIELDS = 9  # of a heat map; fewer groups are drawn with their error bars
MOST_ACROSS, MOST_DOWN = 24, 40
MONTH = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?")
YEARS = range(1000, 3000)
YEAR = re.compile(r"(^|_)year", re.IGNORECASE)
Points = tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]  # values, low, high
Moments = tuple[int, list[float]]  # which column has them, and each in seconds since 1970


def draw_release(keys: Sequence[KeyColumn], outputs: Sequence[Output], *, title: str) -> Sheet:
    """A chart for each aggregate that has a number with an interval."""
    drawn = [output for output in outputs if is_drawn(output)]
    if not drawn or not drawn[0].values:
        raise ParameterError("There is nothing to draw: no number here has an interval.")
    names = list(dict.fromkeys(output.aggregate for output in drawn))
    columns = 1 if len(names) <= MOST_BELOW else 2
    charts = tuple(_chart(name, keys, outputs, letters=LABELS[columns]) for name in names)
    return Sheet(title, charts, columns)


def _chart(
    name: str, keys: Sequence[KeyColumn], outputs: Sequence[Output], *, letters: int
) -> Chart:
    """Over time, as a heat map, or by name, as the groups are."""
    chosen = [output for output in outputs if output.aggregate == name]
    drawn = [output for output in chosen if is_drawn(output)]
    if len(drawn) == 1 and (times := find_times(keys)) is not None:
        return draw_over_time(name, keys, drawn[0], times)
    if len(drawn) == 1 and is_for_a_heat_map(keys):
        return draw_heat_map(name, keys, drawn[0])
    return _chart_by_name(name, keys, chosen, letters=letters)


def _chart_by_name(
    name: str, keys: Sequence[KeyColumn], chosen: Sequence[Output], *, letters: int
) -> Chart:
    """Groups across; where an aggregate has several numbers, those, and a series a group."""
    drawn = [output for output in chosen if is_drawn(output)]
    groups, winners = _groups(keys), [] if keys else _winners(chosen)
    if len(drawn) == 1:
        labels, points = winners or groups, [("", points_of(drawn[0]))]
    else:
        labels = winners or [output.label or output.name for output in drawn]
        points = list(zip(groups, _turn([points_of(output) for output in drawn]), strict=True))
    is_whole = all(output.kind is CellKind.INTEGER for output in drawn)
    bars = is_whole and all(label.startswith("[") for label in labels)
    style = SeriesStyle.BARS if bars else SeriesStyle.POINTS
    series = tuple(_series(words, cells, style) for words, cells in points[:MOST_SERIES])
    unknown = any(point.is_unknown for line in series for point in line.points())
    word = f"{name} (count)" if _winners(chosen) else name
    shown = tuple(labels[:MOST_PLACES])
    return Chart(
        word + _cut(len(labels), MOST_PLACES) + " (grey: unknown)" * unknown,
        ChartAxis("", AxisKind.NAMES, shown),
        ChartAxis(),
        series,
        note=_cut(len(points), MOST_SERIES).strip(),
        lying=sum(len(label) + 2 for label in shown) > letters,  # else they would overlap
    )


def _series(words: str, points: Points, style: SeriesStyle) -> Series:
    values, low, high = (column[:MOST_PLACES] for column in points)
    places = tuple(float(place) for place in range(len(values)))
    return Series(words, places, values, style, low, high)


def _turn(columns: Sequence[Points]) -> list[Points]:
    """The numbers of each group, from those of each output."""
    parts = [list(zip(*cells, strict=True)) for cells in zip(*columns, strict=True)]
    return list(zip(*parts, strict=True))


def _cut(number: int, most: int) -> str:
    return f" (the first {most} of {number:,})" if number > most else ""


def _winners(outputs: Sequence[Output]) -> list[str]:
    """The names that were chosen, where an aggregate chooses some."""
    return [
        cell_text(output.values[0]) for output in outputs if not is_drawn(output) and output.values
    ]


def _groups(keys: Sequence[KeyColumn]) -> list[str]:
    if not keys:
        return [""]
    rows = zip(*(column.values for column in keys), strict=True)
    return [", ".join(key_text(cell) for cell in row) for row in rows]


def points_of(output: Output) -> Points:
    """Value, low and high of each group; what is missing is drawn nowhere."""
    columns = (output.values, output.low or (), output.high or ())
    values, low, high = (
        tuple(nan if cell is None else float(cast("float", cell)) for cell in cells)
        for cells in columns
    )
    return values, low, high


def find_times(keys: Sequence[KeyColumn]) -> Moments | None:
    """The column of moments, where there is one and at most one other column."""
    if not 1 <= len(keys) <= 2:
        return None
    for place, column in enumerate(keys):
        moments = [_as_moment(cell, column) for cell in column.values]
        known = [moment for moment in moments if moment is not None]
        if len(known) == len(moments) and len(set(known)) >= LEAST_MOMENTS:
            others = {value for other in keys if other is not column for value in other.values}
            return (place, known) if len(others) <= MOST_LINES else None
    return None


def _as_moment(cell: Cell, column: KeyColumn) -> float | None:
    """A day, the first of a month, or of a year in a column that is called one."""
    if isinstance(cell, date):
        return seconds(cell)
    if column.kind is CellKind.INTEGER and YEAR.search(column.name) and cell in YEARS:
        return seconds(date(cast("int", cell), 1, 1))
    match = MONTH.fullmatch(cell) if isinstance(cell, str) else None
    if match is None:
        return None
    year, month, day = (int(part or 1) for part in match.groups())
    try:
        return seconds(date(year, month, day))
    except ValueError:
        return None


def draw_over_time(name: str, keys: Sequence[KeyColumn], output: Output, times: Moments) -> Chart:
    """A line for each value of the other column, or one."""
    place, moments = times
    others = [
        key_text(cell) for column in keys if column is not keys[place] for cell in column.values
    ]
    labels = others or [""] * len(moments)
    cells = list(zip(labels, moments, *points_of(output), strict=True))
    lines = tuple(
        _line(label, sorted(cell[1:] for cell in cells if cell[0] == label))
        for label in dict.fromkeys(labels)
    )
    unknown = any(point.is_unknown for line in lines for point in line.points())
    title = name + " (grey: unknown)" * unknown
    return Chart(title, ChartAxis(keys[place].name, AxisKind.MOMENTS), ChartAxis(), lines)


def _line(label: str, cells: Sequence[tuple[float, ...]]) -> Series:
    at, values, low, high = zip(*cells, strict=True)
    return Series(label, at, values, SeriesStyle.JOINED, low, high)


def is_for_a_heat_map(keys: Sequence[KeyColumn]) -> bool:
    """Whether there are two columns of groups, with many pairs that still fit a picture."""
    if len(keys) != 2:
        return False
    many = sorted(len(set(column.values)) for column in keys)
    least, largest = many
    fits = least <= MOST_ACROSS and largest <= MOST_DOWN
    return fits and least > 1 and least * largest >= LEAST_FIELDS


def has_bars(keys: Sequence[KeyColumn]) -> bool:
    """Whether ranges are drawn, which a heat map has no place for."""
    return find_times(keys) is not None or not is_for_a_heat_map(keys)


def draw_heat_map(name: str, keys: Sequence[KeyColumn], output: Output) -> Chart:
    """A field for each pair, the shorter names across."""
    texts = [[key_text(cell) for cell in column.values] for column in keys]
    names = [list(dict.fromkeys(column)) for column in texts]
    lengths = [sum(len(label) + 2 for label in labels) for labels in names]
    across = 0 if lengths[0] < lengths[1] else 1
    down = 1 - across
    last = len(names[down]) - 1
    values = points_of(output)[0]
    ends = zip(output.values, output.low or (), output.high or (), strict=True)
    series = Series(
        "",
        tuple(float(names[across].index(label)) for label in texts[across]),
        tuple(float(last - names[down].index(label)) for label in texts[down]),
        SeriesStyle.SHADES,
        words=tuple(
            f"{label}, {other}: {interval_text(*triple)}"
            for label, other, triple in zip(*texts, ends, strict=True)
        ),
        shades=values,
        texts=tuple(number(value) if isfinite(value) else "?" for value in values),
    )
    sides = ((across, names[across]), (down, names[down][::-1]))  # the first stands on top
    along, up = (_names_axis(keys[way].name, labels) for way, labels in sides)
    return Chart(name, along, up, (series,), note=_note(output))


def _names_axis(name: str, labels: Sequence[str]) -> ChartAxis:
    return ChartAxis(name, AxisKind.NAMES, tuple(labels), (-0.5, len(labels) - 0.5))


def _note(output: Output) -> str:
    """How wide the ranges are that the picture does not show, and what grey means."""
    low, high = output.low or (), output.high or ()
    wide = [
        float(cast("float", end)) - float(cast("float", start))
        for start, end in zip(low, high, strict=True)
        if start is not None and end is not None
    ]
    ranges = [f"The ranges are up to {cell_text(max(wide))} wide."] if wide else []
    unknown = ["Grey: unknown."] if None in output.values else []
    return " ".join(["Darker is more.", *ranges, *unknown])
