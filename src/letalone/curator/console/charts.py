"""Makes the charts of the console: answers by group, and how much of a budget is spent.

They are drawn by `letalone.drawing`, in the colours of the page (static/charts.css). What is drawn
is what is written: ends and words are those of the table beside it. `figure` puts a caption and a
table to a chart.

  Tested:   tests/curator/console/test_charts.py
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from math import isfinite, nan
from typing import NamedTuple

from markupsafe import Markup

from letalone.curator.console.directions import isolate
from letalone.drawing.chart import AxisKind, Chart, ChartAxis, Series, SeriesStyle
from letalone.drawing.scales import number, seconds
from letalone.drawing.svg import page_svg
from letalone.errors.spelling import plural

MAX_BARS = 40
MAX_POINTS = 150
MAX_SHARES = 4  # purposes that are drawn under a budget
MAX_STEPS = 200
Steps = Sequence[tuple[datetime, float]]
Key = float | date


class MeasuredNumber(NamedTuple):
    """A number of an answer, the range in which the exact one probably is, and both in words."""

    value: float | None
    low: float | None
    high: float | None
    words: str

    @property
    def is_known(self) -> bool:
        return self.value is not None and isfinite(self.value)

    @property
    def has_range(self) -> bool:
        return all(end is not None and isfinite(end) for end in (self.low, self.high))


def bars_with_errors(
    labels: Sequence[str], found: Sequence[MeasuredNumber], *, title: str, confidence: str
) -> Chart:
    """A bar for each group; where its error is known, a line over the likely range.

    Of more than `MAX_BARS` groups the first are drawn, and the chart says so.
    """
    words = [f"{label}: {number.words}" for label, number in zip(labels, found, strict=True)]
    rest = len(found) - MAX_BARS
    verb = "is" if rest == 1 else "are"
    note = f"{plural(rest, 'more group')} {verb} in the table only." if rest > 0 else ""
    about = _about("bar", words, found) + _about_ranges(found, "A line on a bar", confidence)
    return Chart(
        title,
        ChartAxis("", AxisKind.NAMES, tuple(labels[:MAX_BARS])),
        ChartAxis(),
        (_series(range(len(found)), found, words, SeriesStyle.BARS, most=MAX_BARS),),
        about=" ".join(part for part in (about, note) if part),
        note=note,
        lying=True,
    )


def lines_with_errors(
    keys: Sequence[Key], found: Sequence[MeasuredNumber], *, title: str, confidence: str
) -> Chart:
    """The points in the order of their keys, joined; groups without a value are left out."""
    pairs = [pair for pair in zip(keys, found, strict=True) if pair[1].is_known]
    ordered = sorted(pairs, key=lambda pair: _place(pair[0]))
    numbers = [number for _, number in ordered]
    words = [f"{_key_in_words(key)}: {number.words}" for key, number in ordered]
    rest = len(ordered) - MAX_POINTS
    more = f" {rest} more points are in the table only." if rest > 0 else ""
    ends = f" First: {words[0]}. Last: {words[-1]}." if words else ""
    about = _about("point", words, numbers, ends)
    places = [_place(key) for key, _ in ordered]
    dated = bool(keys) and isinstance(keys[0], date)
    parted = not all(isinstance(key, int) for key in keys)  # a whole number may be a year
    return Chart(
        title,
        ChartAxis("", AxisKind.MOMENTS if dated else AxisKind.NUMBERS, parted=parted),
        ChartAxis(),
        (_series(places, numbers, words, SeriesStyle.JOINED, most=MAX_POINTS),),
        about=about + _about_ranges(numbers, "An upright line", confidence) + more,
    )


def _series(
    places: Iterable[float],
    found: Sequence[MeasuredNumber],
    words: Sequence[str],
    style: SeriesStyle,
    *,
    most: int,
) -> Series:
    columns = zip(*((n.value, n.low, n.high) for n in found[:most]), strict=True)
    cells = [tuple(nan if cell is None else cell for cell in column) for column in columns]
    values, low, high = cells or ((), (), ())
    across = tuple(float(place) for place in places)[:most]
    return Series("", across, values, style, low, high, tuple(words[:most]))


def _place(key: Key) -> float:
    return seconds(key) if isinstance(key, date) else float(key)


def _key_in_words(key: Key) -> str:
    if isinstance(key, date):
        return key.isoformat()
    return str(key) if isinstance(key, int) else number(key)


def _about(kind: str, words: Sequence[str], found: Sequence[MeasuredNumber], ends: str = "") -> str:
    """How many there are, and the largest, for those who do not see the chart."""
    if not words:
        return "There are no groups." if kind == "bar" else f"There are no {kind}s."
    pairs = zip(found, words, strict=True)
    known = [(number.value or 0.0, label) for number, label in pairs if number.is_known]
    least = f" Least: {min(known)[1]}." if known and not ends else ""
    largest = f" Most: {max(known)[1]}." if known else ""
    return f"{plural(len(words), kind)}.{ends}{least}{largest}"


def _about_ranges(found: Iterable[MeasuredNumber], line: str, confidence: str) -> str:
    """What the lines over a chart are, and what it means where there is none."""
    known = [number for number in found if number.is_known]
    words = ""
    if any(number.has_range for number in known):
        words += f" {line} is the range that holds the exact number {confidence} of the time."
    if any(not number.has_range for number in known):
        words += " Where there is no line, the error is not known."
    return words


def burn_down(
    points: Steps, caps: Steps, *, until: datetime, parts: Mapping[str, Steps], title: str
) -> Chart:
    """Spent ε after each charge, up to `until`, under the caps: a cap may have been raised.

    `parts` are levels under it (purposes, analysts), drawn as lines; of more than four, the four
    that have spent the most.
    """
    spent = {name: steps[-1][1] for name, steps in parts.items() if steps}
    names = sorted(spent, key=lambda name: -spent[name])[:MAX_SHARES]
    drawn = (points, caps, *(parts[name] for name in names))
    end = max([seconds(until), *(seconds(when) for steps in drawn for when, _ in steps)])
    chosen = [_stairs(name, _thin(parts[name]), end, SeriesStyle.LINE) for name in names]
    total = "all together" if names else ""
    cap = max((value for _, value in caps), default=1.0)
    return Chart(
        title,
        ChartAxis("", AxisKind.MOMENTS),
        ChartAxis(),
        (
            _stairs(total, _thin(points), end, SeriesStyle.AREA),
            _stairs("", caps, end, SeriesStyle.LIMIT),
            *chosen,
        ),
        about=_about_spending(points, cap, {name: spent[name] for name in names}),
    )


def _thin(steps: Steps) -> Steps:
    """At most `MAX_STEPS` steps: of those that lie close, the last, which has spent the most."""
    every = -(-len(steps) // MAX_STEPS)
    return steps if every <= 1 else [*steps[every - 1 : -1 : every], steps[-1]]


def _stairs(label: str, steps: Steps, end: float, style: SeriesStyle) -> Series:
    """Each level from its moment on, until the next, and the last to the end."""
    starts = [seconds(when) for when, _ in steps]
    ends = [*starts[1:], end]
    xs = tuple(x for both in zip(starts, ends, strict=False) for x in both)
    ys = tuple(level for _, level in steps for _ in range(2))
    return Series(label, xs, ys, style)


def _about_spending(points: Steps, cap: float, parts: Mapping[str, float]) -> str:
    words = f"The cap is {number(cap)}."
    if not points:
        return f"Nothing is spent yet. {words}"
    (first, _), (last, spent) = points[0], points[-1]
    words = f"From {first:%Y-%m-%d} to {last:%Y-%m-%d}, {number(spent)} was spent. {words}"
    each = "; ".join(f"{isolate(name)} {number(level)}" for name, level in parts.items())
    return words + (f" Of it: {each}." if each else "")


def figure(
    chart: Chart, *, caption: str, heads: Sequence[str] = (), rows: Sequence[Sequence[str]] = ()
) -> Markup:
    """The chart; with rows, a table that opens, for whoever would rather read numbers."""
    table = _table(caption, heads, rows) if rows else Markup("")
    words = Markup("<figcaption>{}</figcaption>").format(caption)
    drawn = draw(chart)
    return Markup('<figure class="chart-figure">{}{}{}</figure>').format(drawn, words, table)


def draw(chart: Chart) -> Markup:
    """The chart alone, as markup: every word in it is escaped."""
    return Markup(page_svg(chart))


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    first = Markup("").join(Markup('<th scope="col">{}</th>').format(cell) for cell in heads)
    lines = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(_cell(n, cell) for n, cell in enumerate(row)))
        for row in rows
    )
    return Markup(
        "<details><summary>The numbers as a table</summary>"
        '<div class="table-box" tabindex="0" role="region" aria-label="{}"><table>'
        '<caption class="unseen">{}</caption>'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div></details>"
    ).format(caption, caption, first, lines)


def _cell(index: int, words: str) -> Markup:
    if index == 0:
        return Markup('<th scope="row">{}</th>').format(words)
    return Markup('<td class="number">{}</td>').format(words)
