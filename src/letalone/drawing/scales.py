"""Computes scales: where a number stands on an axis, the round ones written beside, their words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import ceil, floor, isfinite, log10

from letalone.drawing.chart import AxisKind, ChartAxis

PARTS = 4  # about so many steps: their numbers fit beside each other on a phone
LARGE_UNITS = ((1e12, "tn"), (1e9, "bn"), (1e6, "M"))
BEYOND, BELOW = 1e15, 1e-4
SMALLEST = 1e-300  # on an axis of factors
INVISIBLE = 1e-6  # of a power of ten: a point that far beyond a tick is on it
WIDE = 3  # powers of ten, from which on only those are ticks
MOST_POWERS = 8
DAY = 86_400.0
MOST_TICKS = 5
MINUTES = (1, 2, 5, 15, 30, 60, 120, 180, 360)
DAYS = (1, 2, 7, 14)
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000)
MONTH = 30.44 * DAY
Tick = tuple[float, str]


@dataclass(frozen=True, slots=True)
class AxisScale:
    """An axis from one number to another, drawn from `start` to `end`."""

    axis: ChartAxis
    low: float
    high: float
    start: float
    end: float
    step: float = 1.0

    @classmethod
    def around(
        cls,
        axis: ChartAxis,
        values: Iterable[float],
        *,
        between: tuple[float, float],
        rounded: bool = True,
        parts: int = PARTS,
    ) -> "AxisScale":
        """The scale that holds all values that fit; `rounded`, zero and up to round numbers.

        On an axis of factors the ends are powers of ten, in which it is even.
        """
        low, high = axis.ends or _ends(axis, values, rounded=rounded)
        if axis.kind is AxisKind.FACTORS:
            low, high = _factor_ends(low, high) if rounded else (low, high)
            return cls(axis, low, high, *between)
        step = _step((high - low) / parts)
        if rounded and not axis.ends:
            low, high = floor(low / step) * step, ceil(high / step) * step
        return cls(axis, low, high, *between, step)

    def place(self, value: float) -> float:
        """Where a value is drawn; beyond the ends, at the end."""
        level = _level(self.axis, value)
        part = (min(max(level, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * part

    def ticks(self) -> list[Tick]:
        """Round numbers between the ends, with their words."""
        match self.axis.kind:
            case AxisKind.NAMES:
                return [(float(place), name) for place, name in enumerate(self.axis.names)]
            case AxisKind.MOMENTS:
                return time_ticks(self.low, self.high)
            case AxisKind.FACTORS:
                return [(tick, number(tick)) for tick in _factor_ticks(self.low, self.high)]
            case AxisKind.NUMBERS:
                first, last = self.low / self.step - 1e-9, self.high / self.step + 1e-9
                counts = range(ceil(first), floor(last) + 1)
                return [(count * self.step, self.words(count * self.step)) for count in counts]

    def words(self, tick: float) -> str:
        """A tick, with as many digits as its step has, in the unit of the largest."""
        if self.axis.percent:
            return f"{100 * tick:.0f} %"
        largest = max(abs(self.low), abs(self.high))
        if largest >= BEYOND or largest < BELOW:
            return "0" if tick == 0 else _power_of_ten(tick)
        unit, letters = _unit(largest) if self.axis.parted else (1.0, "")
        words = "0" if tick == 0 else _plain(tick / unit, self.step / unit) + letters
        return words if self.axis.parted else words.replace(",", "")


def fits(axis: ChartAxis, value: float) -> bool:
    """Whether a value can be drawn."""
    return isfinite(value) and (axis.kind is not AxisKind.FACTORS or value >= SMALLEST)


def _level(axis: ChartAxis, value: float) -> float:
    return log10(max(value, SMALLEST)) if axis.kind is AxisKind.FACTORS else value


def _ends(axis: ChartAxis, values: Iterable[float], *, rounded: bool) -> tuple[float, float]:
    if axis.kind is AxisKind.NAMES:
        return -0.5, max(len(axis.names), 1) - 0.5
    levels = [_level(axis, value) for value in values if fits(axis, value)]
    if axis.kind is AxisKind.FACTORS:
        low, high = (min(levels), max(levels)) if levels else (0.0, 1.0)
        return low, high if high > low else low + 1
    levels += [0.0] if rounded else []
    low, high = (min(levels), max(levels)) if levels else (0.0, 1.0)
    if high - low > 1e-12 * max(abs(low), abs(high)):
        return low, high
    return (low, low + (abs(low) or 1.0)) if rounded else (low - 1, low + 1)


def _factor_ends(low: float, high: float) -> tuple[float, float]:
    """The tick at or beyond either end, as powers of ten."""
    if high - low >= WIDE:
        return floor(low + INVISIBLE), ceil(high - INVISIBLE)
    ends = [log10(tick) for tick in _ones_twos_fives(low, high)]
    least = max(end for end in ends if end <= low + INVISIBLE)
    return least, min(end for end in ends if end >= high - INVISIBLE)


def _factor_ticks(low: float, high: float) -> list[float]:
    if high - low >= WIDE:
        first, last = ceil(low), floor(high)
        every = max(1, (last - first) // MOST_POWERS)
        return [10.0**power for power in range(last, first - 1, -every)]
    return [tick for tick in _ones_twos_fives(low, high) if low <= log10(tick) <= high]


def _ones_twos_fives(low: float, high: float) -> list[float]:
    """Round numbers around two logarithms; floats whose own logarithm is what is compared."""
    powers = range(floor(low) - 1, floor(high) + 2)
    return [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]


def _step(rough: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is not below."""
    unit = 10.0 ** floor(log10(rough))
    return next(times * unit for times in (1, 2, 5, 10, 20) if times * unit >= rough * (1 - 1e-9))


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


def seconds(moment: date | datetime) -> float:
    """A moment, or the beginning of a day, in seconds since 1970 in UTC."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def time_ticks(low: float, high: float) -> list[Tick]:
    """A few round moments from `low` to `high`, each with its words; at least one."""
    span = max(high - low, 1.0)
    best = list[Tick]()
    for ticks in _choices(low, high, span):
        best = ticks
        if len(best) <= MOST_TICKS:
            break
    return best[:MOST_TICKS] or [(low, _time_at(low).strftime("%Y-%m-%d"))]


def _choices(low: float, high: float, span: float) -> Iterator[list[Tick]]:
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
