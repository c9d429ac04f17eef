"""Numbers and dates as spreadsheets of other languages write them: 1.234,50 and 31.12.2024.

Only for columns that the owner names: a cell that is not written so stays as it is, and is
counted, since the owner may see it.

  Tested:   tests/cli/test_convert.py
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from letalone.engines.texts.text_grammar import is_written_as
from letalone.errors import ParameterError
from letalone.plans.types import Type

# Thousands may be set apart by points, blanks or apostrophes, the same all through.
WITH_COMMA = re.compile(
    r" *[-+]?(\d+|[1-9]\d{0,2}([. \u00a0\u202f'])\d{3}(\2\d{3})*)(,\d+)? *", re.ASCII
)
SEPARATORS_OF_THOUSANDS = re.compile(r"(?<=\d)[. \u00a0\u202f'](?=\d)")
PARTS_OF_A_DAY = {
    "DD": r"(?P<day>\d{1,2})",
    "MM": r"(?P<month>\d{1,2})",
    "YYYY": r"(?P<year>\d{4})",
}
PART_OF_A_DAY = re.compile("DD|MM|YYYY")
TIME_OF_DAY = r"(?P<time>[ T]\d{1,2}:\d{2}(:\d{2})?)?"

ReadCell = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Spellings:
    """The columns whose cells are numbers with a decimal comma, and those of dates, with how."""

    decimal_comma: Sequence[str] = ()
    dates: Mapping[str, str] | None = None

    def readers(self) -> dict[str, ReadCell]:
        """By column: the cell as it is written for letalone; None of one that is not read."""
        commas = dict.fromkeys(self.decimal_comma, with_point)
        return commas | {name: day_reader(name, how) for name, how in (self.dates or {}).items()}


def with_point(text: str) -> str | None:
    """1234.50 for 1.234,50; a number with a point is one already."""
    if WITH_COMMA.fullmatch(text):
        return SEPARATORS_OF_THOUSANDS.sub("", text).replace(",", ".")
    return text if is_written_as(text, Type.NUMBER) else None


def day_reader(column: str, how: str) -> ReadCell:
    """What reads days written as DD.MM.YYYY, a time after it included."""
    parts = PART_OF_A_DAY.findall(how)
    if sorted(parts) != sorted(PARTS_OF_A_DAY):
        raise ParameterError(
            f"--date {column}={how} is not understood: write how the day stands in the cells with"
            " DD, MM and YYYY, each once, as in --date day=DD.MM.YYYY or --date day=MM/DD/YYYY."
        )
    between = PART_OF_A_DAY.split(how)
    pieces = [
        PARTS_OF_A_DAY[part] + re.escape(after)
        for part, after in zip(parts, between[1:], strict=True)
    ]
    pattern = " *" + re.escape(between[0]) + "".join(pieces) + TIME_OF_DAY + " *"
    return partial(_day, re.compile(pattern, re.ASCII))


def _day(pattern: re.Pattern[str], text: str) -> str | None:
    matched = pattern.fullmatch(text)
    if matched is None:
        return text if is_written_as(text, Type.TIMESTAMP) else None
    try:
        day = date(*(int(matched[part]) for part in ("year", "month", "day")))
    except ValueError:
        return None
    return f"{day.isoformat()}{matched['time'] or ''}"


def has_commas(cells: Sequence[str]) -> bool:
    """Whether the cells are numbers, some of them with a decimal comma."""
    return any("," in cell for cell in cells) and all(map(WITH_COMMA.fullmatch, cells))


def likely_order(cells: Sequence[str]) -> str | None:
    """How days are written, if all can be read so: DD.MM.YYYY; None if none fits all."""
    sign = next((sign for sign in "./-" if sign in cells[0]), ".")
    orders = [sign.join(parts) for parts in (("DD", "MM", "YYYY"), ("MM", "DD", "YYYY"))]
    fits = (how for how in orders if None not in map(day_reader("day", how), cells))
    return next(fits, None)
