"""Defines what every attack returns: numbers, lines to compare, a paragraph and a picture.

A report is a frozen record. It lists the numbers for programs by name, in `_json`, and draws what
`_picture` describes; so one page and one command show any of them. What is drawn (lines, points,
bars) is a record first, so that a test can look at it.

  Tested:   tests/attacks/test_results.py, test_picture.py, tests/golden (the JSON of each attack)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter
from textwrap import fill
from typing import Any, ClassVar, cast

from letalone.answers.figure import empty_figure, save_figure
from letalone.answers.promise import most_caught
from letalone.privacy import PureDP

Line = tuple[str, str, str]  # what was measured; published today; through letalone
WIDTH, HEIGHT, LEGEND = 5.4, 3.5, 0.21  # in inches: readable on a telephone; a line of the legend
TITLE_WIDTH = 62  # of a title in a line
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito
MARKS = "osD^vP"  # for whoever sees no colours


class SeriesStyle(Enum):
    """How a series is drawn."""

    LINE = "line"
    POINTS = "points"
    BARS = "bars"
    BOUND = "bound"  # dashed and grey: what nobody can pass


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers that belong together; `low` and `high` are the ends of error bars."""

    label: str
    across: tuple[float, ...]
    up: tuple[float, ...]
    shape: SeriesStyle = SeriesStyle.LINE
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """All that is drawn. `places` names the marks along the axis, where they are no numbers."""

    title: str
    across: str
    up: str
    series: tuple[Series, ...]
    places: tuple[str, ...] = ()
    logarithmic: bool = False  # along the axis


def draw(picture: Picture, path: object = None) -> Any:
    """The figure, written to a file where a path is given."""
    lines = len(picture.series) if len(picture.series) > 1 else 0
    figure = empty_figure(path, figsize=(WIDTH, HEIGHT + LEGEND * lines))
    place = figure.subplots()
    bars = sum(series.shape is SeriesStyle.BARS for series in picture.series)
    for number, series in enumerate(picture.series):
        _draw_one(place, series, number=number, width=0.8 / max(bars, 1))
    place.set_title(fill(picture.title, TITLE_WIDTH), loc="left", fontsize=10)
    place.set_xlabel(picture.across)
    place.set_ylabel(picture.up)
    if picture.places:
        place.set_xticks(range(len(picture.places)), picture.places, fontsize=9)
    if picture.logarithmic:
        place.set_xscale("log")
        place.xaxis.get_major_locator().set_params(subs=(1, 2, 5))
        place.xaxis.set_major_formatter("{x:,g}")
    place.yaxis.set_major_formatter("{x:,.6g}")
    place.spines[["top", "right"]].set_visible(False)
    place.grid(visible=True, color="0.92")
    place.set_axisbelow(True)
    if lines:  # below the picture, where it hides nothing
        figure.legend(fontsize=9, loc="outside lower left", frameon=False)
    return save_figure(figure, path)


def _draw_one(place: Any, series: Series, *, number: int, width: float) -> None:
    colour = {"color": COLOURS[number % len(COLOURS)], "label": series.label}
    mark = MARKS[number % len(MARKS)]
    match series.shape:
        case SeriesStyle.LINE:
            place.plot(series.across, series.up, **colour)
        case SeriesStyle.BOUND:
            place.plot(series.across, series.up, color="0.4", linestyle="--", label=series.label)
        case SeriesStyle.POINTS:
            place.errorbar(series.across, series.up, yerr=_bars(series), fmt=mark, **colour)
        case SeriesStyle.BARS:
            moved = [spot + (number + 0.5) * width - 0.4 for spot in series.across]
            place.bar(moved, series.up, width, yerr=_bars(series), capsize=3, **colour)


def _bars(series: Series) -> list[list[float]] | None:
    if not series.low:
        return None
    below = [max(0.0, value - low) for value, low in zip(series.up, series.low, strict=True)]
    above = [max(0.0, high - value) for value, high in zip(series.up, series.high, strict=True)]
    return [below, above]


def beyond_line(private: bool, today: bool | None = None) -> Line:
    """Whether more is given away than was promised; `today` where it was measured."""
    words = {True: "yes", False: "no", None: ""}
    return "beyond the bound (95 % sure)", words[today], words[private]


class Numbers:
    """A record with `to_json`: the attributes that `_json` lists.

    An entry is the name of an attribute, or `name=attribute` where programs know it by another. A
    method stands for what it returns without arguments.
    """

    __slots__ = ()
    _json: ClassVar[str]

    def to_json(self) -> dict[str, object]:
        """The numbers, for programs."""
        return _listed_numbers(self, self._json)


class AttackReport(Numbers):
    """The result of an attack.

    It is no ABC, whose `register` would become the default of a field of that name.
    """

    __slots__ = ()
    epsilon: float  # of the private release next to it

    @property
    def words(self) -> str:
        """A paragraph for a privacy officer."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.words

    def lines(self) -> list[Line]:
        """The numbers to compare: at most a dozen."""
        raise NotImplementedError

    def _picture(self) -> Picture:
        raise NotImplementedError

    @property
    def _most_caught(self) -> float:
        """D6: how often a person is found at ε and 5 % false alarms, at most."""
        return most_caught(PureDP(self.epsilon))

    @property
    def _limit_label(self) -> str:
        return f"the most that ε = {self.epsilon:g} allows (D6)"

    def plot(self, path: object = None) -> Any:
        """A matplotlib figure, written to a file where a path is given."""
        return draw(self._picture(), path)


def _listed_numbers(record: object, listed: str) -> dict[str, object]:
    entries = [entry.partition("=") for entry in listed.split()]
    return {name: _plain(attrgetter(path or name)(record)) for name, _, path in entries}


def _plain(value: object) -> object:
    """A value as JSON has it: records as their numbers, tuples as lists, keys as text."""
    if callable(value):
        return _plain(value())
    listed: str | None = getattr(value, "_json", None)
    if listed is not None:
        return _listed_numbers(value, listed)
    if isinstance(value, tuple):
        return [_plain(part) for part in cast("tuple[object, ...]", value)]
    if isinstance(value, Mapping):
        parts = cast("Mapping[object, object]", value)
        return {str(name): _plain(part) for name, part in parts.items()}
    return value
