"""An attack as a picture: lines, points and bars, as data first.

The only file of the attacks that draws; matplotlib is loaded when it is called.

  Tested:   tests/attacks/test_picture.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill
from typing import Any, cast

from letalone.errors import ParameterError
from letalone.privacy import Privacy

FORMATS = (".svg", ".png", ".pdf")
WIDTH, HEIGHT = 7.0, 4.2
LETTERS = 80  # of a title in a line
STEPS = 40  # of a bound along the axis


class Shape(Enum):
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
    shape: Shape = Shape.LINE
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


def bound(privacy: Privacy, label: str, rates: Sequence[float] = ()) -> Series:
    """D6: the most often that any test is right about one person, by its false alarms."""
    across = tuple(rates) or tuple(step / STEPS for step in range(STEPS + 1))
    caught = tuple(1 - privacy.tradeoff(rate) for rate in across)
    return Series(label, across, caught, Shape.BOUND)


def draw(picture: Picture, path: object = None) -> Any:
    """The figure, written to a file where a path is given."""
    target = None if path is None else _target(path)
    figure = _figure()
    place = figure.subplots()
    for number, series in enumerate(picture.series):
        _draw_one(place, series, number=number, width=_bar_width(picture))
    place.set_title(fill(picture.title, LETTERS), loc="left", fontsize=10)
    place.set_xlabel(picture.across)
    place.set_ylabel(picture.up)
    if picture.places:
        place.set_xticks(range(len(picture.places)), picture.places, fontsize=9)
    if picture.logarithmic:
        place.set_xscale("log")
    _dress(place, legend=len(picture.series) > 1)
    if target is not None:
        figure.savefig(target)
    return figure


def _dress(place: Any, *, legend: bool) -> None:
    place.spines[["top", "right"]].set_visible(False)
    place.grid(visible=True, color="0.92")
    place.set_axisbelow(True)
    if legend:
        place.legend(fontsize=8)


def _bar_width(picture: Picture) -> float:
    bars = sum(series.shape is Shape.BARS for series in picture.series)
    return 0.8 / max(bars, 1)


def _draw_one(place: Any, series: Series, *, number: int, width: float) -> None:
    colour = {"color": f"C{number}", "label": series.label}
    match series.shape:
        case Shape.LINE:
            place.plot(series.across, series.up, **colour)
        case Shape.BOUND:
            place.plot(series.across, series.up, color="0.4", linestyle="--", label=series.label)
        case Shape.POINTS:
            place.errorbar(series.across, series.up, yerr=_bars(series), fmt="o", **colour)
        case Shape.BARS:
            moved = [spot + (number + 0.5) * width - 0.4 for spot in series.across]
            place.bar(moved, series.up, width, yerr=_bars(series), capsize=3, **colour)


def _bars(series: Series) -> list[list[float]] | None:
    if not series.low:
        return None
    below = [max(0.0, value - low) for value, low in zip(series.up, series.low, strict=True)]
    above = [max(0.0, high - value) for value, high in zip(series.up, series.high, strict=True)]
    return [below, above]


def _target(path: object) -> Path:
    target = Path(cast("str", path))
    if target.suffix.lower() not in FORMATS:
        allowed = ", ".join(FORMATS)
        raise ParameterError(f"The picture is to go to '{target}', but must end in {allowed}.")
    return target


def _figure() -> Any:
    if find_spec("matplotlib") is None:
        raise ParameterError(
            ".plot() needs matplotlib, which is not installed: pip install 'letalone[plot]'."
        )
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
