"""A release as charts: each aggregate in a chart of its own, with its error bars.

A value that is unknown is drawn as its interval, in grey.

  Tested:   tests/answers/test_picture.py
"""

from collections.abc import Sequence
from math import nan
from typing import cast

from letalone.answers.columns import CellKind, KeyColumn, Output
from letalone.answers.views import cell_text, is_drawn, key_text
from letalone.drawing.chart import AxisKind, Chart, ChartAxis, Series, SeriesStyle, Sheet
from letalone.errors import ParameterError

MOST_PLACES = 60
MOST_SERIES = 8
MOST_BELOW = 3  # charts that stand below each other; more stand in two columns
LABELS = {1: 70, 2: 55}  # letters of labels side by side, by the number of columns

Points = tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]  # values, low, high


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
    """Groups across; where an aggregate has several numbers, those, and a series a group."""
    chosen = [output for output in outputs if output.aggregate == name]
    drawn = [output for output in chosen if is_drawn(output)]
    groups, winners = _groups(keys), [] if keys else _winners(chosen)
    if len(drawn) == 1:
        labels, points = winners or groups, [("", _points(drawn[0]))]
    else:
        labels = winners or [one.label or one.name for one in drawn]
        points = list(zip(groups, _turned([_points(one) for one in drawn]), strict=True))
    is_whole = all(output.kind is CellKind.INTEGER for output in drawn)
    bars = is_whole and all(label.startswith("[") for label in labels)
    style = SeriesStyle.BARS if bars else SeriesStyle.POINTS
    series = tuple(_series(words, cells, style) for words, cells in points[:MOST_SERIES])
    unknown = any(point.is_unknown for one in series for point in one.points())
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


def _turned(columns: Sequence[Points]) -> list[Points]:
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


def _points(output: Output) -> Points:
    """Value, low and high of each group; what is missing is drawn nowhere."""
    columns = (output.values, output.low or (), output.high or ())
    values, low, high = (
        tuple(nan if cell is None else float(cast("float", cell)) for cell in cells)
        for cells in columns
    )
    return values, low, high


def _groups(keys: Sequence[KeyColumn]) -> list[str]:
    if not keys:
        return [""]
    rows = zip(*(column.values for column in keys), strict=True)
    return [", ".join(key_text(cell) for cell in row) for row in rows]
