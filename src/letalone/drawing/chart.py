"""Defines a chart as data: its axes, series and single marks, and the words about it."""

from dataclasses import dataclass
from enum import Enum
from math import isfinite, isnan, nan


class SeriesStyle(Enum):
    """How a series is drawn."""

    LINE = "line"
    AREA = "area"  # a line and all that is beneath it
    REGION = "region"  # what is beneath, without a line
    POINTS = "points"
    JOINED = "joined"  # points with a line through them
    BARS = "bars"
    BOUND = "bound"  # dashed and grey: what nobody can pass
    LIMIT = "limit"  # dashed and red: what must not be passed
    SHADES = "shades"  # of a heat map: a field at each place, the darker the more


SIDE_BY_SIDE = (SeriesStyle.BARS, SeriesStyle.POINTS)  # of several series, at each name
OWN_COLOUR = (SeriesStyle.BOUND, SeriesStyle.LIMIT)


class AxisKind(Enum):
    """What the places along an axis are."""

    NUMBERS = "numbers"
    FACTORS = "factors"  # numbers above 0, whose steps are factors
    MOMENTS = "moments"  # seconds since 1970, in UTC
    NAMES = "names"  # 0, 1, 2, … stand for names


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """What an axis shows. `parted`: a comma parts thousands, as it does not in years."""

    name: str = ""
    kind: AxisKind = AxisKind.NUMBERS
    names: tuple[str, ...] = ()
    ends: tuple[float, float] | None = None
    percent: bool = False
    parted: bool = True


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers that belong together.

    `low` and `high` are the ends of error bars, where there are any. Where the number itself is
    not known (nan), its range is drawn in grey. `words` are for who points at a number. A heat map
    has its numbers in `shades` and what stands in each field in `texts`; `xs` and `ys` are places.
    """

    label: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    style: SeriesStyle = SeriesStyle.LINE
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    words: tuple[str, ...] = ()
    shades: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()

    def fields(self) -> list["ShadedField"]:
        """The fields of a heat map; what has no shade of its own has its height."""
        none = ("",) * len(self.xs)
        cells = (self.shades or self.ys, self.texts or none, self.words or none)
        return [ShadedField(*cell) for cell in zip(self.xs, self.ys, *cells, strict=True)]

    def points(self) -> list["SeriesPoint"]:
        """The numbers one by one."""
        none = (nan,) * len(self.xs)
        words = self.words or ("",) * len(self.xs)
        low, high = self.low or none, self.high or none
        return [
            SeriesPoint(*cells) for cells in zip(self.xs, self.ys, low, high, words, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class ShadedField:
    """One number of a heat map, its place, what stands in its field, and its words."""

    x: float
    y: float
    value: float
    text: str
    words: str


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """One number, its place, its range and its words."""

    x: float
    y: float
    low: float
    high: float
    words: str

    @property
    def is_known(self) -> bool:
        return isfinite(self.y)

    @property
    def has_range(self) -> bool:
        return isfinite(self.low) and isfinite(self.high)

    @property
    def is_unknown(self) -> bool:
        """Whether there is a range, and no number worth saying."""
        return isnan(self.y) and self.has_range

    @property
    def inside(self) -> float:
        """The number, or the end of its range that it lies beyond: a count below 0, at 0."""
        return min(max(self.y, self.low), self.high) if self.has_range else self.y

    def levels(self) -> list[float]:
        """All numbers that must have room."""
        ends = [self.low, self.high] if self.has_range else []
        return [*([self.inside] if self.is_known else []), *ends]


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A point of its own, with words beside it."""

    x: float
    y: float
    words: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """All that is drawn. `about` is for those who do not see it; `note` stands beneath.

    A chart that is `lying` has its places from top to bottom, and its numbers across. One that is
    `square` is as high as it is wide, so that both axes have one measure.
    """

    title: str
    across: ChartAxis
    up: ChartAxis
    series: tuple[Series, ...]
    marks: tuple[ChartMark, ...] = ()
    about: str = ""
    note: str = ""
    lying: bool = False
    square: bool = False

    @property
    def is_heat_map(self) -> bool:
        """Whether both axes have names, with a field wherever two of them meet."""
        return bool(self.series) and all(
            series.style is SeriesStyle.SHADES for series in self.series
        )

    def place_series(self) -> list["PlacedSeries"]:
        """The series with their colours; those that stand side by side, with their places."""
        named = self.across.kind is AxisKind.NAMES
        beside = sum(series.style in SIDE_BY_SIDE for series in self.series) if named else 1
        width, colour, place, placed = 0.8 / max(1, beside), 0, 0, list[PlacedSeries]()
        for series in self.series:
            moves = named and series.style in SIDE_BY_SIDE
            moved = (place + 0.5) * width - 0.4 if moves else 0.0
            placed.append(PlacedSeries(series, colour, moved, width))
            colour += series.style not in OWN_COLOUR
            place += moves
        return placed

    def legend(self) -> list["PlacedSeries"]:
        """The series that must be told apart."""
        named = [placed for placed in self.place_series() if placed.series.label]
        return named if len(named) > 1 else []

    def points(self) -> list[SeriesPoint]:
        """The numbers of all series."""
        return [point for series in self.series for point in series.points()]


@dataclass(frozen=True, slots=True)
class PlacedSeries:
    """A series, the number of its colour, and how far and wide it stands beside its places."""

    series: Series
    colour: int
    moved: float
    width: float


@dataclass(frozen=True, slots=True)
class Sheet:
    """Several charts under one title, in one column or two."""

    title: str
    charts: tuple[Chart, ...]
    columns: int = 1
