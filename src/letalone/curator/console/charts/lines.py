"""Draws groups whose keys are numbers or days as points of a line, each with its range."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from markupsafe import Markup

from letalone.curator.console.charts import axes, drawing
from letalone.curator.console.charts.axes import BOTTOM, LEFT, RIGHT, TOP, AxisScale, number

MAX_POINTS = 150
HINTS = 60  # with more points their numbers are in the table only
Key = float | date


class Point(NamedTuple):
    """A key, its place across, and a number that is known."""

    key: Key
    at: float
    estimate: float
    mark: drawing.ChartMark

    def words(self) -> str:
        return f"{_key_in_words(self.key)}: {self.mark.words}"


def lines_with_errors(
    keys: Sequence[Key], marks: Sequence[drawing.ChartMark], *, title: str, confidence: str
) -> Markup:
    """The points in the order of their keys, joined; groups without a value are left out."""
    rows = zip(keys, marks, strict=True)
    points = [
        Point(key, axes.seconds(key) if isinstance(key, date) else float(key), mark.estimate, mark)
        for key, mark in rows
        if mark.estimate is not None
    ]
    ordered = sorted(points, key=lambda point: point.at)
    shown = ordered[:MAX_POINTS]
    places = [place for point in shown for place in point.mark.places()]
    up = AxisScale.around(places, start=BOTTOM, end=TOP)
    dated = bool(keys) and isinstance(keys[0], date)
    across = _across(shown, dated=dated)
    parts = [*axes.levels(up), *_keys(across, shown, dated=dated), *_draw_points(shown, across, up)]
    about = _about(ordered, confidence)
    return drawing.svg(parts, height=axes.HEIGHT, title=title, about=about, kind="chart-lines")


def _across(shown: Sequence[Point], *, dated: bool) -> AxisScale:
    places = [point.at for point in shown] or [0.0, 1.0]
    if dated:
        return axes.exactly(min(places), max(places))
    around = places if len(set(places)) > 1 else [places[0] - 1, places[0] + 1]
    return AxisScale.around(around, start=LEFT + 1, end=RIGHT - 1, with_zero=False)


def _keys(across: AxisScale, shown: Sequence[Point], *, dated: bool) -> list[str]:
    if dated:
        return axes.moments(across) if shown else []
    parted = not all(isinstance(point.key, int) for point in shown)
    ticks = [(across.place(tick), across.words(tick)) for tick in across.ticks()]
    return [
        drawing.text(x, BOTTOM + 20, words if parted else words.replace(",", ""), anchor="middle")
        for x, words in ticks
    ]


def _key_in_words(key: Key) -> str:
    """A key in words; a whole number may be a year, and its thousands are not parted."""
    if isinstance(key, date):
        return key.isoformat()
    return str(key) if isinstance(key, int) else number(key)


def _draw_points(shown: Sequence[Point], across: AxisScale, up: AxisScale) -> list[str]:
    """The line beneath, then the ranges and the points."""
    at = [(across.place(point.at), up.place(point.estimate)) for point in shown]
    wide = axes.inner(across)
    joined = drawing.path(
        [(wide.place(point.at), y) for point, (_, y) in zip(shown, at, strict=True)], "chart-line"
    )
    parts = [drawing.stretch([joined], left=across.start, right=across.end)]
    for point, (x, y) in zip(shown, at, strict=True):
        marks = [drawing.dot(x, y, "chart-point")]
        if point.mark.ends is not None:
            low, high = (up.place(end) for end in point.mark.ends)
            marks.insert(0, drawing.line((x, low), (x, high), "chart-error"))
        parts += [drawing.with_tooltip(marks, point.words())] if len(shown) <= HINTS else marks
    return parts


def _about(points: Sequence[Point], confidence: str) -> str:
    if not points:
        return "There are no points."
    words = f"{len(points)} {'point' if len(points) == 1 else 'points'}."
    words += f" First: {points[0].words()}. Last: {points[-1].words()}."
    largest = max(points, key=lambda point: point.estimate)
    words += f" Most: {largest.words()}."
    words += drawing.about_ranges((point.mark for point in points), "An upright line", confidence)
    rest = len(points) - MAX_POINTS
    return words + (f" {rest} more points are in the table only." if rest > 0 else "")
