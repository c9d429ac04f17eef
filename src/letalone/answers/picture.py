"""A release as a picture: each aggregate in a field of its own, with its error bars.

A value that is unknown is drawn as its interval, in grey.

  Tested:   tests/answers/test_picture.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from textwrap import fill
from typing import Any, cast

from letalone.answers.columns import CellKind, KeyColumn, Output
from letalone.answers.figure import empty_figure, save_figure
from letalone.answers.views import cell_text, is_drawn, key_text
from letalone.errors import ParameterError

MOST_PLACES = 60
MOST_SERIES = 8
MOST_BELOW = 3  # fields that stand below each other; more stand in two columns
WIDTHS = {1: 7.0, 2: 5.5}  # of a field in inches, by the number of columns
LETTERS = 12  # of a title in an inch
LABELS = 10  # letters of labels side by side in an inch

Point = tuple[float, float, float]


def draw(
    keys: Sequence[KeyColumn], outputs: Sequence[Output], *, title: str, path: object = None
) -> Any:
    """The figure, written to a file where a path is given."""
    figure = empty_figure(path)
    drawn = [output for output in outputs if is_drawn(output)]
    if not drawn or not drawn[0].values:
        raise ParameterError("There is nothing to draw: no number here has an interval.")
    names = list(dict.fromkeys(output.aggregate for output in drawn))
    across = 1 if len(names) <= MOST_BELOW else 2
    fields = [_field(name, keys, outputs, width=WIDTHS[across]) for name in names]
    for place, field in zip(_places(figure, fields, across), fields, strict=True):
        _draw_one(place, field)
    lines = [
        fill(_plain(line), int(LETTERS * across * WIDTHS[across])) for line in title.split("\n")
    ]
    figure.suptitle("\n".join(lines), fontsize=10)
    return save_figure(figure, path)


def _places(figure: Any, fields: Sequence["_Field"], across: int) -> list[Any]:
    """Where each field is drawn, in rows of one or two; rows are as high as they must be."""
    rows = [fields[start : start + across] for start in range(0, len(fields), across)]
    heights = [max(field.height for field in row) for row in rows]
    figure.set_size_inches(across * WIDTHS[across], 1 + sum(heights))
    axes = figure.subplots(len(rows), across, squeeze=False, height_ratios=heights)
    places = [place for row in axes for place in row]
    for place in places[len(fields) :]:
        place.remove()
    return places[: len(fields)]


@dataclass(frozen=True, slots=True)
class _Field:
    """One aggregate: what stands along the axis, and the points of each series."""

    name: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[Point, ...]], ...]
    bars: bool
    legend: str = ""
    width: float = WIDTHS[1]

    @property
    def sideways(self) -> bool:
        """Whether the labels would overlap side by side: then they stand below each other."""
        return sum(len(label) + 2 for label in self.labels) > LABELS * self.width

    @property
    def height(self) -> float:
        """In inches."""
        return max(2.6, 0.22 * len(self.labels)) if self.sideways else 2.6

    @property
    def ends(self) -> tuple[float, float]:
        """Where the axis of values starts and ends: at 0, unless something lies below it."""
        points = [point for _, points in self.series for point in points]
        low = min((low for _, low, _ in points if isfinite(low)), default=0.0)
        high = max((high for _, _, high in points if isfinite(high)), default=1.0)
        low, high = min(low, 0.0), max(high, 0.0)
        room = 0.06 * (high - low or 1.0)
        return low - (room if low < 0 else 0.0), high + room


def _field(
    name: str, keys: Sequence[KeyColumn], outputs: Sequence[Output], *, width: float
) -> _Field:
    """Groups across; where an aggregate has several numbers, those, and a series a group."""
    chosen = [output for output in outputs if output.aggregate == name]
    drawn = [output for output in chosen if is_drawn(output)]
    groups, winners = _groups(keys), [] if keys else _winners(chosen)
    if len(drawn) == 1:
        labels, series = winners or groups, [("", _points(drawn[0]))]
    else:
        labels = winners or [one.label or one.name for one in drawn]
        points = list(zip(*(_points(output) for output in drawn), strict=True))
        series = list(zip(groups, points, strict=True))
    shown = tuple((words, tuple(points[:MOST_PLACES])) for words, points in series[:MOST_SERIES])
    is_whole = all(output.kind is CellKind.INTEGER for output in drawn)
    word = f"{name} (count)" if _winners(chosen) else name
    unknown = any(_is_unknown(point) for _, points in shown for point in points)
    return _Field(
        name=word + _cut(len(labels), MOST_PLACES) + " (grey: unknown)" * unknown,
        labels=tuple(labels[:MOST_PLACES]),
        series=shown,
        bars=is_whole and all(label.startswith("[") for label in labels),
        legend=_cut(len(series), MOST_SERIES).strip(),
        width=width,
    )


def _cut(number: int, most: int) -> str:
    return f" (the first {most} of {number:,})" if number > most else ""


def _winners(outputs: Sequence[Output]) -> list[str]:
    """The names that were chosen, where an aggregate chooses some."""
    return [
        cell_text(output.values[0]) for output in outputs if not is_drawn(output) and output.values
    ]


def _draw_one(place: Any, field: _Field) -> None:
    for number, (words, points) in enumerate(field.series):
        _draw_series(place, field, points, words, number=number)
    if len(field.series) > 1:
        place.legend(
            fontsize=8, title=field.legend or None, loc="upper left", bbox_to_anchor=(1.01, 1)
        )
    place.set_title(fill(_plain(field.name), int(LETTERS * field.width)), loc="left", fontsize=10)
    place.spines[["top", "right"]].set_visible(False)
    labels, ticks = [_plain(label) for label in field.labels], range(len(field.labels))
    along = (-0.6, len(field.labels) - 0.4)
    if field.sideways:
        place.set_yticks(ticks, labels, fontsize=8)
        place.set_xlim(*field.ends)
        place.set_ylim(*reversed(along))
    else:
        place.set_xticks(ticks, labels, fontsize=9)
        place.set_ylim(*field.ends)
        place.set_xlim(*along)
    axis = place.xaxis if field.sideways else place.yaxis
    axis.set_major_formatter("{x:,.6g}")
    axis.grid(visible=True, color="0.92")
    place.set_axisbelow(True)


def _draw_series(
    place: Any, field: _Field, points: Sequence[Point], words: str, *, number: int
) -> None:
    width = 0.8 / len(field.series)
    first = (width - 0.8) / 2 if len(field.series) > 1 else 0.0
    across = [spot + first + number * width for spot in range(len(points))]
    # A count below 0 lies below its interval, which ends at 0: it is drawn at that end.
    values = [min(max(value, low), high) for value, low, high in points]
    below = [value - low for value, (_, low, _) in zip(values, points, strict=True)]
    above = [high - value for value, (_, _, high) in zip(values, points, strict=True)]
    how = {"fmt": "none" if field.bars else "o", "capsize": 3, "ecolor": f"C{number}"}
    label = {"label": _plain(words) or None}
    if field.bars:
        draw = place.barh if field.sideways else place.bar
        draw(across, values, width, alpha=0.35, color=f"C{number}", **label)
    how |= {} if field.bars else {"color": f"C{number}", **label}
    if field.sideways:
        place.errorbar(values, across, xerr=[below, above], **how)
    else:
        place.errorbar(across, values, yerr=[below, above], **how)
    unknown = [(at, *ends) for at, ends in zip(across, points, strict=True) if _is_unknown(ends)]
    draw_line = place.hlines if field.sideways else place.vlines
    for at, _, low, high in unknown:
        draw_line(at, low, high, color="0.75", linewidth=4)


def _is_unknown(point: Point) -> bool:
    """Whether there is an interval, and no value worth saying."""
    value, low, high = point
    return isnan(value) and isfinite(low) and isfinite(high)


def _points(output: Output) -> list[Point]:
    """Value, low and high of each group; what is missing is drawn nowhere."""
    ends = zip(output.values, output.low or (), output.high or (), strict=True)
    return [_point(*triple) for triple in ends]


def _point(*cells: object) -> Point:
    value, low, high = (nan if cell is None else float(cast("float", cell)) for cell in cells)
    return value, low, high


def _groups(keys: Sequence[KeyColumn]) -> list[str]:
    if not keys:
        return [""]
    rows = zip(*(column.values for column in keys), strict=True)
    return [", ".join(key_text(cell) for cell in row) for row in rows]


def _plain(text: str) -> str:
    """Dollar signs would start a formula."""
    return text.replace("$", r"\$")
