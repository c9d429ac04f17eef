"""Where a number stands on an axis, and which round numbers are written beside it."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

PARTS = 4  # about so many steps: their numbers fit beside each other on a phone
LARGE = ((1e12, "tn"), (1e9, "bn"), (1e6, "M"))
BEYOND, BELOW = 1e15, 1e-4


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
    return next((unit for unit in LARGE if size >= unit[0]), (1.0, ""))


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
