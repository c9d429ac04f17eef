"""A small chart as an SVG file: curves over a logarithmic axis, with their names.

Drawn by hand in text, so that it needs no other package. Colours are those of Okabe and
Ito, told apart by people who see fewer; line styles differ as well.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, inf, isfinite, log10
from pathlib import Path

from letalone.errors import ParameterError

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 76, 700, 44, 384
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
STYLES = ("", "7 4", "2 3", "9 3 2 3")
SMALLEST = 1e-300


@dataclass(frozen=True, slots=True)
class Curve:
    """A name and its points; points that are not finite, or not above 0, are left out."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis shows, and whether its steps are factors."""

    name: str
    factors: bool = True


def write_chart(
    path: Path | str, curves: Sequence[Curve], *, title: str, across: Axis, up: Axis
) -> Path:
    """Draw the curves into an .svg file, and return its path."""
    target = Path(path)
    if target.suffix.lower() != ".svg":
        raise ParameterError(f"The chart is to go to '{target}', but the name must end in .svg.")
    target.write_text(chart(curves, title=title, across=across, up=up), encoding="utf-8")
    return target


def chart(curves: Sequence[Curve], *, title: str, across: Axis, up: Axis) -> str:
    """The chart as text."""
    drawn = [_kept(curve, across, up) for curve in curves]
    places = [point for curve in drawn for point in curve.points]
    if not places:
        raise ParameterError("There is nothing to draw: no point of the curves is finite.")
    columns = _Scale.around((x for x, _ in places), (LEFT, RIGHT), across)
    rows = _Scale.around((y for _, y in places), (BOTTOM, TOP), up)
    # Names stand in the corner on the left that the curves leave free.
    falling = places[0][1] > places[-1][1]
    top = BOTTOM - 18 * len(drawn) - 8 if falling else TOP
    inner = [
        *(_line_across(rows, tick) for tick in rows.ticks()),
        *(_line_up(columns, tick) for tick in columns.ticks()),
        *(_drawn(curve, index, columns, rows) for index, curve in enumerate(drawn)),
        *(_legend(curve.name, index, top) for index, curve in enumerate(drawn)),
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


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where a number stands on an axis."""

    low: float
    high: float
    ends: tuple[int, int]
    factors: bool

    @classmethod
    def around(cls, values: Iterable[float], ends: tuple[int, int], axis: Axis) -> "_Scale":
        levels = [log10(value) if axis.factors else value for value in values]
        low, high = min(levels), max(levels)
        if not axis.factors:
            low = min(low, 0.0)
        return cls(low, high if high > low else low + 1, ends, axis.factors)

    def place(self, value: float) -> float:
        level = log10(value) if self.factors else value
        start, end = self.ends
        return start + (end - start) * (level - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        if not self.factors:
            return _round_steps(self.low, self.high)
        first, last = -floor(-self.low), floor(self.high)
        every = max(1, (last - first) // 8)
        whole = [10.0**power for power in range(first, last + 1, every)]
        if len(whole) >= 3:
            return whole
        between = [m * 10.0**p for p in range(floor(self.low), last + 1) for m in (1, 2, 5)]
        return [tick for tick in between if self.low <= log10(tick) <= self.high]


def _round_steps(low: float, high: float) -> list[float]:
    rough = (high - low) / 6
    unit = 10.0 ** floor(log10(rough))
    step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough)
    first = -floor(-low / step)
    return [n * step for n in range(first, floor(high / step) + 1)]


def _kept(curve: Curve, across: Axis, up: Axis) -> Curve:
    def fits(value: float, axis: Axis) -> bool:
        return isfinite(value) and value >= (SMALLEST if axis.factors else -inf)

    points = tuple((x, y) for x, y in curve.points if fits(x, across) and fits(y, up))
    return Curve(curve.name, points)


def _drawn(curve: Curve, index: int, columns: _Scale, rows: _Scale) -> str:
    path = " ".join(f"{columns.place(x):.1f},{rows.place(y):.1f}" for x, y in curve.points)
    return f'<polyline points="{path}" fill="none" {_stroke(index)}/>'


def _stroke(index: int) -> str:
    style = STYLES[index % len(STYLES)]
    dashes = f' stroke-dasharray="{style}"' if style else ""
    return f'stroke="{COLOURS[index % len(COLOURS)]}" stroke-width="2.2"{dashes}'


def _legend(name: str, index: int, top: float) -> str:
    y = top + 16 + 18 * index
    line = f'<line x1="{LEFT + 12}" y1="{y - 4}" x2="{LEFT + 44}" y2="{y - 4}" {_stroke(index)}/>'
    return line + _text(LEFT + 52, y, name)


def _line_across(rows: _Scale, tick: float) -> str:
    y = rows.place(tick)
    line = f'<line x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>'
    return line + _text(LEFT - 8, y + 4, f"{tick:g}", anchor="end")


def _line_up(columns: _Scale, tick: float) -> str:
    x = columns.place(tick)
    line = f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{BOTTOM}" stroke="#eeeeee"/>'
    return line + _text(x, BOTTOM + 20, f"{tick:g}", anchor="middle")


def _text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="#222222">{escape(words)}</text>'
    )
