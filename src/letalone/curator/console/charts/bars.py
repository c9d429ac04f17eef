"""Draws groups as bars that lie, each with the range in which the exact number probably is."""

from collections.abc import Sequence

from markupsafe import Markup

from letalone.curator.console.charts import drawing
from letalone.curator.console.charts.axes import AxisScale

MAX_BARS = 40
ROW, TOP, FOOT = 26, 6, 30
LEFT, RIGHT = 33.0, 96.0
Bar = tuple[str, drawing.ChartMark]


def bars_with_errors(
    labels: Sequence[str], marks: Sequence[drawing.ChartMark], *, title: str, confidence: str
) -> Markup:
    """A bar for each group; where its error is known, a line over the likely range.

    Of more than `MAX_BARS` groups the first are drawn, and the chart says so.
    """
    bars = list(zip(labels, marks, strict=True))
    shown = bars[:MAX_BARS]
    places = [place for _, mark in shown for place in mark.places()]
    scale = AxisScale.around(places, start=LEFT, end=RIGHT)
    bottom = TOP + ROW * max(1, len(shown))
    parts = [*_axis(scale, bottom), *(_row(scale, n, bar) for n, bar in enumerate(shown))]
    rest = len(bars) - len(shown)
    if rest:
        parts.append(drawing.text(0, bottom + 44, _left_out(rest), kind="chart-note"))
    about = _about(bars, confidence, rest)
    height = bottom + FOOT + (22 if rest else 0)
    return drawing.svg(parts, height=height, title=title, about=about, kind="chart-bars")


def _axis(scale: AxisScale, bottom: float) -> list[str]:
    parts = list[str]()
    for tick in scale.ticks():
        x = scale.place(tick)
        parts += [
            drawing.line((x, TOP), (x, bottom), "chart-axis" if tick == 0 else "chart-grid"),
            drawing.text(x, bottom + 18, scale.words(tick), anchor="middle", kind="chart-tick"),
        ]
    return parts


def _row(scale: AxisScale, index: int, bar: Bar) -> str:
    (label, mark), middle = bar, TOP + ROW * index + ROW / 2
    parts = [drawing.text(LEFT - 2, middle + 4, drawing.abbreviate(label), anchor="end")]
    if mark.estimate is None:
        parts.append(drawing.text(scale.place(0) + 1, middle + 4, "no value", kind="chart-note"))
        return drawing.with_tooltip(parts, _words(bar))
    start, right = sorted((scale.place(0), scale.place(mark.estimate)))
    size = {"top": middle - 8, "bottom": middle + 8}
    parts.append(drawing.rectangle(start, right, **size, kind="chart-bar"))
    if mark.ends is not None:
        low, high = (scale.place(end) for end in mark.ends)
        parts.append(drawing.line((low, middle), (high, middle), "chart-error"))
        ends = [((x, middle - 4), (x, middle + 4)) for x in (low, high)]
        parts += [drawing.line(*end, "chart-error") for end in ends]
    return drawing.with_tooltip(parts, _words(bar))


def _words(bar: Bar) -> str:
    label, mark = bar
    return f"{label}: {mark.words}"


def _left_out(rest: int) -> str:
    return f"{rest} more {'group is' if rest == 1 else 'groups are'} in the table only."


def _about(bars: Sequence[Bar], confidence: str, rest: int) -> str:
    if not bars:
        return "There are no groups."
    words = f"{len(bars)} {'bar' if len(bars) == 1 else 'bars'}."
    known = [bar for bar in bars if bar[1].estimate is not None]
    if known:
        least = min(known, key=lambda bar: bar[1].estimate or 0.0)
        largest = max(known, key=lambda bar: bar[1].estimate or 0.0)
        words += f" Least: {_words(least)}. Most: {_words(largest)}."
    words += drawing.about_ranges((mark for _, mark in bars), "A line on a bar", confidence)
    return words + (f" {_left_out(rest)}" if rest else "")
