"""A time axis: days and moments as numbers, and round dates beside it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta

DAY = 86_400.0
MOST_TICKS = 5
MINUTES = (1, 2, 5, 15, 30, 60, 120, 180, 360)
DAYS = (1, 2, 7, 14)
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000)
MONTH = 30.44 * DAY


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
            yield _hours(_multiples(low, high, 60.0 * minutes))
    for days in DAYS:
        if span / (days * DAY) <= MOST_TICKS + 1:
            words = "%d %b %Y" if days > 1 else "%d %b"
            yield [(at, _format(at, words)) for at in _multiples(low, high, days * DAY)]
    for months in MONTHS:
        if span / (months * MONTH) <= MOST_TICKS + 1:
            words = "%b %Y" if months < 12 else "%Y"
            yield [(at, _format(at, words)) for at in _firsts(low, high, months)]


def _hours(ticks: Sequence[float]) -> list[tuple[float, str]]:
    """Times of day; the first has its day, too."""
    return [(at, _format(at, "%H:%M" if n else "%d %b %H:%M", n)) for n, at in enumerate(ticks)]


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
