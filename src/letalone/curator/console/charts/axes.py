"""Draws the axes of a chart: numbers and moments, and the round ones that are written beside."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from math import ceil, floor, isfinite, log10

from letalone.curator.console.charts.drawing import ACROSS, line, text

PARTS = 4  # about so many steps: their numbers fit beside each other on a phone
LARGE_UNITS = ((1e12, "tn"), (1e9, "bn"), (1e6, "M"))
BEYOND, BELOW = 1e15, 1e-4
TOP, BOTTOM, HEIGHT = 12, 232, 262
LEFT, RIGHT = 16.0, 97.0
BETWEEN = 22.0  # percent, between two moments that are written
DAY = 86_400.0
MOST_TICKS = 5
MINUTES = (1, 2, 5, 15, 30, 60, 120, 180, 360)
DAYS = (1, 2, 7, 14)
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000)
MONTH = 30.44 * DAY


@dataclass(frozen=True, slots=True)
class AxisScale:
    """An axis from one round number to another, drawn from `start` to `end`."""

    low: float
    high: float
    step: float
    start: float
    end: float

    @classmethod
    def around(
        cls, values: Iterable[float], *, start: float, end: float, with_zero: bool = True
    ) -> "AxisScale":
        """The scale that holds all values, and zero; those that are not finite are left out."""
        finite = [value for value in values if isfinite(value)] + ([0.0] if with_zero else [])
        low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
        if not high - low > 1e-12 * max(abs(low), abs(high)):
            high = low + (abs(low) or 1.0)
        step = _step((high - low) / PARTS)
        return cls(floor(low / step) * step, ceil(high / step) * step, step, start, end)

    def place(self, value: float) -> float:
        """Where a value is drawn; beyond the ends, at the end."""
        part = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * part

    def ticks(self) -> list[float]:
        """The round numbers, both ends among them."""
        first = round(self.low / self.step)
        last = round(self.high / self.step)
        return [count * self.step for count in range(first, last + 1)]

    def words(self, tick: float) -> str:
        """A tick, with as many digits as its step has, in the unit of the largest."""
        largest = max(abs(self.low), abs(self.high))
        if largest >= BEYOND or largest < BELOW:
            return "0" if tick == 0 else _power_of_ten(tick)
        unit, letters = _unit(largest)
        return "0" if tick == 0 else _plain(tick / unit, self.step / unit) + letters


def number(value: float) -> str:
    """A number for reading, in about four digits: 1,200 or 3.4M."""
    if not isfinite(value):
        return "no number"
    size = abs(value)
    if size >= BEYOND or (0 < size < BELOW):
        return _power_of_ten(value)
    unit, letters = _unit(size)
    return _plain(value / unit, None) + letters


def _unit(size: float) -> tuple[float, str]:
    return next((unit for unit in LARGE_UNITS if size >= unit[0]), (1.0, ""))


def _plain(value: float, step: float | None) -> str:
    if step is None:
        digits = 0 if value == 0 else max(0, 3 - floor(log10(abs(value))))
    else:
        digits = max(0, -floor(log10(step) + 1e-9))
    written = f"{value:,.{digits}f}"
    written = written.rstrip("0").rstrip(".") if step is None and "." in written else written
    return "0" if float(written.replace(",", "")) == 0 else written.replace("-", "−")


def _power_of_ten(value: float) -> str:
    return f"{value:.3g}".replace("e-0", "e-").replace("e+", "e").replace("-", "−")


def _step(rough: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is not below."""
    unit = 10.0 ** floor(log10(rough))
    return next(times * unit for times in (1, 2, 5, 10, 20) if times * unit >= rough * (1 - 1e-9))


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


def seconds(moment: date | datetime) -> float:
    """A moment, or the beginning of a day, in seconds since 1970 in UTC."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def time_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """A few round moments from `low` to `high`, each with its words; at least one."""
    span = max(high - low, 1.0)
    best = list[tuple[float, str]]()
    for ticks in _choices(low, high, span):
        best = ticks
        if len(best) <= MOST_TICKS:
            break
    return best[:MOST_TICKS] or [(low, _time_at(low).strftime("%Y-%m-%d"))]


def _choices(low: float, high: float, span: float) -> Iterator[list[tuple[float, str]]]:
    """Ticks from the finest step to the coarsest, those of which few enough fit."""
    for minutes in MINUTES:
        if span < DAY and span / (60 * minutes) <= MOST_TICKS + 1:
            ticks = enumerate(_multiples(low, high, 60.0 * minutes))  # the first has its day, too
            yield [(at, _format(at, "%H:%M" if n else "%d %b %H:%M", n)) for n, at in ticks]
    for days in DAYS:
        if span / (days * DAY) <= MOST_TICKS + 1:
            words = "%d %b %Y" if days > 1 else "%d %b"
            yield [(at, _format(at, words)) for at in _multiples(low, high, days * DAY)]
    for months in MONTHS:
        if span / (months * MONTH) <= MOST_TICKS + 1:
            words = "%b %Y" if months < 12 else "%Y"
            yield [(at, _format(at, words)) for at in _firsts(low, high, months)]


def _multiples(low: float, high: float, step: float) -> Sequence[float]:
    first = -int(-low // step)
    return [count * step for count in range(first, int(high // step) + 1)]


def _firsts(low: float, high: float, months: int) -> Iterator[float]:
    start = _time_at(low)
    count = (start.year * 12 + start.month - 1) // months * months
    while count // 12 <= datetime.max.year:
        if count >= 12:  # there is no year 0
            at = seconds(date(count // 12, count % 12 + 1, 1))
            if at > high:
                return
            if at >= low:
                yield at
        count += months


def _format(at: float, words: str, keep: int = 0) -> str:
    label = _time_at(at).strftime(words)
    return label if keep else label.removeprefix("0")


def _time_at(at: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=at)
