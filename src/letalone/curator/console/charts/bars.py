"""Groups as bars that lie, each with the range in which the exact number probably is."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from markupsafe import Markup

from letalone.curator.console.charts.drawing import (
    hinted,
    line,
    rectangle,
    shortened,
    svg,
    text,
)
from letalone.curator.console.charts.scale import Scale, number

MOST = 40
ROW, TOP, FOOT = 26, 6, 30
LEFT, RIGHT = 33.0, 96.0


@dataclass(frozen=True, slots=True)
class _Bar:
    label: str
    estimate: float | None
    halfwidth: float | None

    def words(self) -> str:
        if self.estimate is None:
            return f"{self.label}: no value"
        more = "" if self.halfwidth is None else f" ± {number(self.halfwidth)}"
        return f"{self.label}: {number(self.estimate)}{more}"

    def ends(self) -> list[float]:
        if self.estimate is None:
            return []
        width = self.halfwidth or 0.0
        return [self.estimate - width, self.estimate + width]


def bars_with_errors(
    labels: Sequence[str],
    estimates: Sequence[float | None],
    halfwidths: Sequence[float | None],
    *,
    title: str = "The answer as bars",
    confidence: str = "95 %",
) -> Markup:
    """A bar for each group; where its error is known, a line over the likely range.

    Of more than `MOST` groups the first are drawn, and the chart says so.
    """
    bars = [_read(*one) for one in zip(labels, estimates, halfwidths, strict=True)]
    shown = bars[:MOST]
    ends = [end for bar in shown for end in bar.ends()]
    scale = Scale.around(ends, start=LEFT, end=RIGHT)
    bottom = TOP + ROW * max(1, len(shown))
    parts = [*_axis(scale, bottom), *(_row(scale, n, bar) for n, bar in enumerate(shown))]
    rest = len(bars) - len(shown)
    if rest:
        parts.append(text(0, bottom + 44, _left_out(rest), kind="chart-note"))
    about = _about(bars, confidence, rest)
    height = bottom + FOOT + (22 if rest else 0)
    return svg(parts, height=height, title=title, about=about, kind="chart-bars")


def _read(label: str, estimate: float | None, halfwidth: float | None) -> _Bar:
    known = estimate is not None and isfinite(estimate)
    sure = known and halfwidth is not None and isfinite(halfwidth) and halfwidth >= 0
    return _Bar(label, estimate if known else None, halfwidth if sure else None)


def _axis(scale: Scale, bottom: float) -> list[str]:
    parts = list[str]()
    for tick in scale.ticks():
        x = scale.place(tick)
        parts += [
            line((x, TOP), (x, bottom), "chart-axis" if tick == 0 else "chart-grid"),
            text(x, bottom + 18, scale.words(tick), anchor="middle", kind="chart-tick"),
        ]
    return parts


def _row(scale: Scale, index: int, bar: _Bar) -> str:
    middle = TOP + ROW * index + ROW / 2
    parts = [text(LEFT - 2, middle + 4, shortened(bar.label), anchor="end")]
    if bar.estimate is None:
        parts.append(text(scale.place(0) + 1, middle + 4, "no value", kind="chart-note"))
        return hinted(parts, bar.words())
    left, right = sorted((scale.place(0), scale.place(bar.estimate)))
    parts.append(rectangle(left, right, top=middle - 8, bottom=middle + 8, kind="chart-bar"))
    if bar.halfwidth is not None:
        parts += whisker([scale.place(end) for end in bar.ends()], middle)
    return hinted(parts, bar.words())


def whisker(ends: Sequence[float], y: float) -> list[str]:
    """The likely range as a line that lies, with a short line at either end."""
    low, high = ends
    caps = [line((x, y - 4), (x, y + 4), "chart-error") for x in (low, high)]
    return [line((low, y), (high, y), "chart-error"), *caps]


def _left_out(rest: int) -> str:
    return f"{rest} more {'group is' if rest == 1 else 'groups are'} in the table only."


def _about(bars: Sequence[_Bar], confidence: str, rest: int) -> str:
    """The chart in words."""
    if not bars:
        return "There are no groups."
    found = f"{len(bars)} {'bar' if len(bars) == 1 else 'bars'}."
    known = [bar for bar in bars if bar.estimate is not None]
    if known:
        least = min(known, key=lambda bar: bar.estimate or 0.0)
        most = max(known, key=lambda bar: bar.estimate or 0.0)
        found += f" Least: {least.words()}. Most: {most.words()}."
    if any(bar.halfwidth is not None for bar in bars):
        found += f" A line on a bar is the range that holds the exact number {confidence} of times."
    if any(bar.halfwidth is None for bar in known):
        found += " Where there is no line, the error is not known."
    return found + (f" {_left_out(rest)}" if rest else "")
