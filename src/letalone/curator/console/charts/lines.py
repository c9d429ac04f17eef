"""Groups whose keys are numbers or days as points of a line, each with its likely range."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from markupsafe import Markup

from letalone.curator.console.charts.drawing import (
    ACROSS,
    dot,
    line,
    path,
    stretch,
    svg,
    text,
    with_tooltip,
)
from letalone.curator.console.charts.mark import ChartMark, about_ranges
from letalone.curator.console.charts.scale import AxisScale, number
from letalone.curator.console.charts.times import seconds, time_ticks

MOST = 150
HINTS = 60  # with more points their numbers are in the table only
TOP, BOTTOM, HEIGHT = 12, 232, 262
LEFT, RIGHT = 16.0, 97.0
BETWEEN = 22.0  # percent, between two moments that are written
Key = float | date


class Point(NamedTuple):
    """A key, its place across, and a number that is known."""

    key: Key
    at: float
    estimate: float
    mark: ChartMark

    def words(self) -> str:
        """The point in words."""
        return f"{_key_in_words(self.key)}: {self.mark.words}"


def lines_with_errors(
    keys: Sequence[Key],
    marks: Sequence[ChartMark],
    *,
    title: str = "The answer as a line",
    confidence: str = "95 %",
) -> Markup:
    """The points in the order of their keys, joined; groups without a value are left out."""
    rows = zip(keys, marks, strict=True)
    points = (_read(key, mark.estimate, mark) for key, mark in rows if mark.estimate is not None)
    ordered = sorted(points, key=lambda point: point.at)
    shown = ordered[:MOST]
    places = [place for point in shown for place in point.mark.places()]
    up = AxisScale.around(places, start=BOTTOM, end=TOP)
    dated = bool(keys) and isinstance(keys[0], date)
    across = _across(shown, dated=dated)
    parts = [*levels(up), *_keys(across, shown, dated=dated), *_draw_points(shown, across, up)]
    about = _about(ordered, confidence)
    return svg(parts, height=HEIGHT, title=title, about=about, kind="chart-lines")


def levels(up: AxisScale) -> list[str]:
    """Lines across at round numbers, which stand to the left."""
    parts = list[str]()
    for tick in up.ticks():
        y = up.place(tick)
        kind = "chart-axis" if tick == 0 else "chart-grid"
        parts += [
            line((LEFT, y), (RIGHT, y), kind),
            text(LEFT - 1.5, y + 4, up.words(tick), anchor="end", kind="chart-tick"),
        ]
    return parts


def moments(across: AxisScale) -> list[str]:
    """Round moments beneath, those that do not come too close."""
    parts, last = list[str](), -BETWEEN
    for at, words in time_ticks(across.low, across.high):
        x = across.place(at)
        if x - last >= BETWEEN:
            parts.append(text(x, BOTTOM + 20, words, anchor=anchor(x)))
            last = x
    return parts


def anchor(x: float) -> str:
    """Words near the right edge end there; on the left there is room."""
    return "end" if x > RIGHT - 8 else "middle"


def exactly(low: float, high: float) -> AxisScale:
    """A scale across from one end to the other, round or not; one moment is in the middle."""
    apart = 0 if high > low else 1
    return AxisScale(low - apart, high + apart, 1.0, LEFT + 1, RIGHT - 1)


def inner(across: AxisScale) -> AxisScale:
    """The same scale in the steps of a stretched drawing between its ends."""
    return replace(across, start=0.0, end=float(ACROSS))


def _read(key: Key, estimate: float, mark: ChartMark) -> Point:
    at = seconds(key) if isinstance(key, date) else float(key)
    return Point(key, at, estimate, mark)


def _across(shown: Sequence[Point], *, dated: bool) -> AxisScale:
    places = [point.at for point in shown] or [0.0, 1.0]
    if dated:
        return exactly(min(places), max(places))
    around = places if len(set(places)) > 1 else [places[0] - 1, places[0] + 1]
    return AxisScale.around(around, start=LEFT + 1, end=RIGHT - 1, with_zero=False)


def _keys(across: AxisScale, shown: Sequence[Point], *, dated: bool) -> list[str]:
    if dated:
        return moments(across) if shown else []
    parted = not all(isinstance(point.key, int) for point in shown)
    ticks = [(across.place(tick), across.words(tick)) for tick in across.ticks()]
    return [
        text(x, BOTTOM + 20, words if parted else words.replace(",", ""), anchor="middle")
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
    wide = inner(across)
    joined = path(
        [(wide.place(point.at), y) for point, (_, y) in zip(shown, at, strict=True)], "chart-line"
    )
    parts = [stretch([joined], left=across.start, right=across.end)]
    for point, (x, y) in zip(shown, at, strict=True):
        marks = [dot(x, y, "chart-point")]
        if point.mark.ends is not None:
            low, high = (up.place(end) for end in point.mark.ends)
            marks.insert(0, line((x, low), (x, high), "chart-error"))
        parts += [with_tooltip(marks, point.words())] if len(shown) <= HINTS else marks
    return parts


def _about(found: Sequence[Point], confidence: str) -> str:
    """The chart in words."""
    if not found:
        return "There are no points."
    words = f"{len(found)} {'point' if len(found) == 1 else 'points'}."
    words += f" First: {found[0].words()}. Last: {found[-1].words()}."
    largest = max(found, key=lambda point: point.estimate)
    words += f" Most: {largest.words()}."
    words += about_ranges((point.mark for point in found), "An upright line", confidence)
    rest = len(found) - MOST
    return words + (f" {rest} more points are in the table only." if rest > 0 else "")
