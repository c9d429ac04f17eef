"""Says how numbers, dates, times and truth values are written in text: one grammar for all.

A cell that the grammar does not admit is missing, on DuckDB, PostgreSQL, Spark and in Python. Of
what it admits, each engine's own cast reads the same value; what is left to the cast is whether
the day exists (2023-02-29 does not) and whether the number fits.

Blanks (U+0020) at both ends are left out. A text has at most LONGEST letters, with the blanks.
  number      [sign] digits [. digits] [e [sign] one to three digits]: 12, -3.5, .5, 5., 1e3. It is
              the nearest double: what is nearer to infinity is missing, what is nearer to 0 is 0
  integer     [sign] digits [. digits], rounded half away from zero; missing beyond 64 bits. With up
              to 18 and 15 digits also an exponent of one to three, which is not negative: 1.2e3
  date        year-month-day, year first, four digits, from 0001; a time of day behind it is ignored
  timestamp   a date, and if there is one a time of day: blank or T, hours:minutes, if need be
              :seconds and up to six digits of a fraction, and Z or an offset such as +02 or +02:00,
              up to fourteen hours. It is in UTC, also without an offset
  boolean     true, t, yes, y, 1, false, f, no, n, 0, in any case of letters

The patterns are written in what RE2, PostgreSQL and Java have in common, without anchors, which
differ: each engine matches whole texts in its own way.

`read_text` reads a text in Python, for engines whose own casts cannot.

  Tested:   tests/engines/conformance/test_text_grammar.py, tests/on_spark/test_text_grammar.py
"""

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from math import isfinite

from letalone.plans.types import Type

MAX_TEXT_LENGTH = 400  # letters
NUMBER = "[-+]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][-+]?[0-9]{1,3})?"
YEAR = "([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
DAY = f"{YEAR}-(0?[1-9]|1[0-2])-(0?[1-9]|[12][0-9]|3[01])"
OFFSET = "(Z|[-+]((0[0-9]|1[0-3])(:[0-5][0-9])?|14(:00)?))"
CLOCK = f"([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{{1,6}})?)?{OFFSET}?"
POWER = "[0-9]{1,18}([.][0-9]{0,15})?[eE][+]?[0-9]{1,3}"
WHOLE = f"[-+]?({POWER}|[0-9]+([.][0-9]*)?|[.][0-9]+)"
PATTERNS: Mapping[Type, str] = {
    Type.INTEGER: WHOLE,
    Type.NUMBER: NUMBER,
    Type.DATE: f"{DAY}([ T]{CLOCK})?",
    Type.TIMESTAMP: f"{DAY}([ T]{CLOCK})?",
}
TRUE, FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
LARGEST = 2**63
_TIME = re.compile(r"(\d+):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:([-+])(\d\d)(?::(\d\d))?)?Z?$")
_COMPILED = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}


def is_written_as(text: str, kind: Type) -> bool:
    """Whether the grammar admits a text; of a date, also where the day does not exist."""
    plain = text.strip(" ")
    if kind is Type.BOOLEAN:
        return plain.lower() in (*TRUE, *FALSE)
    return len(text) <= MAX_TEXT_LENGTH and _COMPILED[kind].fullmatch(plain) is not None


def read_text(text: str, kind: Type) -> bool | int | float | date | None:
    """What a text stands for: None where the grammar does not admit it, or no value fits."""
    if not is_written_as(text, kind):
        return None
    plain = text.strip(" ")
    try:
        match kind:
            case Type.BOOLEAN:
                return plain.lower() in TRUE
            case Type.INTEGER:
                number = int(Decimal(plain).to_integral_value(ROUND_HALF_UP))  # half from zero
                return number if -LARGEST <= number < LARGEST else None
            case Type.NUMBER:
                return float(plain) if isfinite(float(plain)) else None
            case Type.DATE:
                return _read_day(plain)
            case _:
                return _read_moment(plain)
    except (ValueError, ArithmeticError):  # a day that does not exist, or beyond the calendar
        return None


def _read_day(text: str) -> date:
    return date(*(int(part) for part in re.split("[ T]", text)[0].split("-")))


def _read_moment(text: str) -> datetime:
    """In UTC."""
    day, clock = datetime.combine(_read_day(text), time()), _TIME.search(text[8:])
    if clock is None:
        return day
    hours, minutes, seconds, fraction, sign, ahead, more = clock.groups(default="0")
    since = timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds))
    offset = timedelta(hours=int(ahead), minutes=int(more)) * (-1 if sign == "-" else 1)
    return day + since + timedelta(microseconds=int(fraction.ljust(6, "0"))) - offset
