"""A small chart as an SVG file: curves over a logarithmic axis, with their names.

Drawn by hand in text, so that it needs no other package. Colours are those of Okabe and
Ito, told apart by people who see fewer; line styles differ as well. Lines drawn later are
thinner, so that of two that coincide both are seen. Names stand in the emptiest corner.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from math import ceil, floor, inf, isfinite, log10
from pathlib import Path

from letalone.errors import ParameterError

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 76, 700, 44, 384
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
STYLES = ("", "7 4", "2 3", "9 3 2 3", "14 5", "4 6", "1 4")
SMALLEST = 1e-300
LETTER = 7  # about the width of one, and more than it
ROW = 18
INVISIBLE = 1e-6  # of a power of ten: a point that far beyond a tick is on it
WIDE = 3  # powers of ten, from which on only those are ticks


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A name and its points; points that are not finite, or not above 0, are left out."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class CurveMark:
    """A point of its own, with words beside it."""

    x: float
    y: float
    words: str


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """What an axis shows, and whether its steps are factors."""

    name: str
    factors: bool = True


def write_chart(
    path: Path | str,
    curves: Sequence[ChartLine],
    *,
    title: str,
    across: ChartAxis,
    up: ChartAxis,
    marks: Sequence[CurveMark] = (),
) -> Path:
    """Draw the curves into an .svg file, and return its path."""
    target = Path(path)
    if target.suffix.lower() != ".svg":
        raise ParameterError(f"The chart is to go to '{target}', but the name must end in .svg.")
    drawn = chart(curves, title=title, across=across, up=up, marks=marks)
    target.write_text(drawn, encoding="utf-8")
    return target


def chart(
    curves: Sequence[ChartLine],
    *,
    title: str,
    across: ChartAxis,
    up: ChartAxis,
    marks: Sequence[CurveMark] = (),
) -> str:
    """The chart as text."""
    drawn = [_keep_fitting(curve, across, up) for curve in curves]
    known = [mark for mark in marks if _fits(mark.x, across) and _fits(mark.y, up)]
    places = [point for curve in drawn for point in curve.points]
    if not places:
        raise ParameterError("There is nothing to draw: no point of the curves is finite.")
    places += [(mark.x, mark.y) for mark in known]
    columns = _Scale.around((x for x, _ in places), (LEFT, RIGHT), across)
    rows = _Scale.around((y for _, y in places), (BOTTOM, TOP), up).to_ticks()
    inner = [
        *(_line_across(rows, tick) for tick in rows.ticks()),
        *(_line_up(columns, tick) for tick in columns.ticks()),
        *_lines_and_names(drawn, columns, rows),
        *(_draw_mark(mark, columns, rows) for mark in known),
        _text(LEFT, 24, title, size=15),
        _text((LEFT + RIGHT) / 2, HEIGHT - 10, across.name, anchor="middle"),
        _text(14, TOP - 8, up.name),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" role="img"><title>{escape(title)}</title>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    )
    return "\n".join([head, *inner, "</svg>\n"])


def _lines_and_names(
    drawn: Sequence[ChartLine], columns: "_Scale", rows: "_Scale"
) -> Iterable[str]:
    pixels = [[(columns.place(x), rows.place(y)) for x, y in curve.points] for curve in drawn]
    edge, top = _free_corner(pixels, max(len(curve.name) for curve in drawn))
    for index, (curve, points) in enumerate(zip(drawn, pixels, strict=True)):
        stroke = _stroke(index, len(drawn))
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        yield f'<polyline points="{path}" fill="none" {stroke}/>'
        yield _legend(curve.name, edge, top + 16 + ROW * index, stroke)


def _free_corner(pixels: Sequence[Sequence[tuple[float, float]]], longest: int) -> tuple[int, int]:
    """Left and top end of the names, in the corner through which the lines run least."""
    width, height = 60 + LETTER * longest, ROW * len(pixels) + 8
    passed = [
        (x + (other_x - x) * step / 16, y + (other_y - y) * step / 16)
        for points in pixels
        for (x, y), (other_x, other_y) in pairwise(points)
        for step in range(17)
    ]

    def crossed(corner: tuple[int, int]) -> int:
        left, top = corner
        return sum(left <= x <= left + width and top <= y <= top + height for x, y in passed)

    corners = [(x, y) for x in (LEFT, RIGHT - width) for y in (TOP, BOTTOM - height)]
    return min(corners, key=crossed)


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where a number stands on an axis."""

    low: float
    high: float
    ends: tuple[int, int]
    factors: bool

    @classmethod
    def around(cls, values: Iterable[float], ends: tuple[int, int], axis: ChartAxis) -> "_Scale":
        levels = [log10(value) if axis.factors else value for value in values]
        low, high = min(levels), max(levels)
        if not axis.factors:
            low = min(low, 0.0)
        return cls(low, high if high > low else low + 1, ends, axis.factors)

    def place(self, value: float) -> float:
        level = log10(value) if self.factors else value
        start, end = self.ends
        return start + (end - start) * (level - self.low) / (self.high - self.low)

    def to_ticks(self) -> "_Scale":
        """The same scale, up to the tick at or beyond either end."""
        if not self.factors:
            step = _step(self.low, self.high)
            low, high = floor(self.low / step) * step, ceil(self.high / step) * step
        elif self.high - self.low >= WIDE:
            low, high = floor(self.low + INVISIBLE), ceil(self.high - INVISIBLE)
        else:
            ends = [log10(tick) for tick in _ones_twos_fives(self.low, self.high)]
            low = max(end for end in ends if end <= self.low + INVISIBLE)
            high = min(end for end in ends if end >= self.high - INVISIBLE)
        return replace(self, low=low, high=high)

    def ticks(self) -> list[float]:
        if not self.factors:
            step = _step(self.low, self.high)
            return [n * step for n in range(ceil(self.low / step), floor(self.high / step) + 1)]
        first, last = ceil(self.low), floor(self.high)
        every = max(1, (last - first) // 8)
        if self.high - self.low >= WIDE:
            return [10.0**power for power in range(last, first - 1, -every)]
        between = _ones_twos_fives(self.low, self.high)
        return [tick for tick in between if self.low <= log10(tick) <= self.high]


def _ones_twos_fives(low: float, high: float) -> list[float]:
    """Round numbers around two logarithms; floats whose own logarithm is what is compared."""
    powers = range(floor(low) - 1, floor(high) + 2)
    return [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]


def _step(low: float, high: float) -> float:
    rough = (high - low) / 6
    unit = 10.0 ** floor(log10(rough))
    return next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough)


def _fits(value: float, axis: ChartAxis) -> bool:
    return isfinite(value) and value >= (SMALLEST if axis.factors else -inf)


def _keep_fitting(curve: ChartLine, across: ChartAxis, up: ChartAxis) -> ChartLine:
    points = tuple((x, y) for x, y in curve.points if _fits(x, across) and _fits(y, up))
    return ChartLine(curve.name, points)


def _stroke(index: int, count: int) -> str:
    style = STYLES[index % len(STYLES)]
    dashes = f' stroke-dasharray="{style}"' if style else ""
    width = 1.8 + 0.6 * (count - 1 - index)
    return f'stroke="{COLOURS[index % len(COLOURS)]}" stroke-width="{width:.1f}"{dashes}'


def _legend(name: str, left: int, y: int, stroke: str) -> str:
    line = f'<line x1="{left + 12}" y1="{y - 4}" x2="{left + 44}" y2="{y - 4}" {stroke}/>'
    return line + _text(left + 52, y, name)


def _draw_mark(mark: CurveMark, columns: _Scale, rows: _Scale) -> str:
    x, y = columns.place(mark.x), rows.place(mark.y)
    right = x + 9 + LETTER * len(mark.words) <= WIDTH  # where a falling curve leaves room
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="#000000"/>'
    beside = x + 9 if right else x - 9
    return circle + _text(beside, y - 7, mark.words, anchor="start" if right else "end")


def _line_across(rows: _Scale, tick: float) -> str:
    y = rows.place(tick)
    line = f'<line x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>'
    return line + _text(LEFT - 8, y + 4, _number(tick), anchor="end")


def _line_up(columns: _Scale, tick: float) -> str:
    x = columns.place(tick)
    line = f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{BOTTOM}" stroke="#eeeeee"/>'
    return line + _text(x, BOTTOM + 20, _number(tick), anchor="middle")


def _number(tick: float) -> str:
    return f"{tick:g}".replace("e-0", "e-").replace("e+0", "e")


def _text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="#222222">{escape(words)}</text>'
    )
