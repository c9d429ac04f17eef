"""Dates as text: patterns of `strftime`, of the letters that all engines can be made to agree on.

    %Y 2024   %y 24   %m 01   %d 31   %H 23   %M 59   %j 031   %q 1   %u 3 (Monday is 1)
    %A Wednesday   %a Wed   %B January   %b Jan   %% %

Names are English. Times are in UTC. Years have four digits, and numbers are filled up with zeros.

  Tested:   tests/plans/test_date_patterns.py, against Python's strftime
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from typing import Literal

from letalone.errors import ParameterError
from letalone.exact.typed import refusal
from letalone.plans.constants import well_formed

Part = Literal[
    "year", "month", "day", "weekday", "hour", "quarter", "yearday", "minute", "second",
    "week",
]  # fmt: skip
PART_RANGE = {
    "quarter": (1, 4),
    "month": (1, 12),
    "day": (1, 31),
    "yearday": (1, 366),
    "weekday": (1, 7),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
    "week": (1, 53),
}
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
MAX_DATE_PATTERN_LENGTH = 100  # letters
MAX_TEXTS = 10_000


@dataclass(frozen=True, slots=True)
class DateField:
    """One letter of a pattern: a part of a date as its last digits, or by its name."""

    part: Part
    digits: int = 0
    names: tuple[str, ...] = ()

    def write(self, value: int) -> str:
        """The part as text."""
        if self.names:
            return self.names[value - 1]
        return str(10**4 + value)[-self.digits :]


FIELDS = {
    "Y": DateField("year", 4),
    "y": DateField("year", 2),
    "q": DateField("quarter", 1),
    "m": DateField("month", 2),
    "d": DateField("day", 2),
    "j": DateField("yearday", 3),
    "u": DateField("weekday", 1),
    "H": DateField("hour", 2),
    "M": DateField("minute", 2),
    "A": DateField("weekday", names=DAY_NAMES),
    "a": DateField("weekday", names=tuple(name[:3] for name in DAY_NAMES)),
    "B": DateField("month", names=MONTH_NAMES),
    "b": DateField("month", names=tuple(name[:3] for name in MONTH_NAMES)),
}
Piece = str | DateField


def as_date_pattern(pattern: object) -> str:
    """The pattern, or an error that says what is wrong with it."""
    if not isinstance(pattern, str) or not pattern:
        raise refusal("pattern", pattern, "text, such as '%Y-%m'")
    if len(pattern) > MAX_DATE_PATTERN_LENGTH:
        raise ParameterError(
            f"The pattern has {len(pattern):,} letters, but may have at most"
            f" {MAX_DATE_PATTERN_LENGTH}. Shorten it."
        )
    if not any(isinstance(piece, DateField) for piece in pieces_of(pattern)):
        raise refusal("pattern", pattern, f"one with a part of a date, of {_list_known()}")
    return well_formed("pattern", pattern)


@cache
def pieces_of(pattern: str) -> tuple[Piece, ...]:
    """Text and parts of a date in their order."""
    pieces: list[Piece] = []
    for piece in _pieces(pattern):
        if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return tuple(pieces)


def parts_in(pattern: str) -> tuple[Part, ...]:
    """The parts of a date that a pattern shows, each once."""
    fields = (piece for piece in pieces_of(pattern) if isinstance(piece, DateField))
    return tuple(dict.fromkeys(field.part for field in fields))


def all_texts(pattern: str) -> tuple[str, ...] | None:
    """Every text that a date can have by a pattern; None where it shows years, or too many."""
    parts = parts_in(pattern)
    ends = [PART_RANGE[part] for part in parts if part in PART_RANGE]
    ranges = [range(first, last + 1) for first, last in ends]
    if len(ranges) < len(parts) or prod(map(len, ranges)) > MAX_TEXTS:
        return None
    values = (dict(zip(parts, some, strict=True)) for some in product(*ranges))
    return tuple(dict.fromkeys(write_parts(pattern, value) for value in values))


def write_parts(pattern: str, values: Mapping[Part, int]) -> str:
    """A date by a pattern, of the parts that this shows."""
    pieces = pieces_of(pattern)
    return "".join(p if isinstance(p, str) else p.write(values[p.part]) for p in pieces)


def _pieces(pattern: str) -> Iterator[Piece]:
    signs = iter(pattern)
    for sign in signs:
        if sign != "%":
            yield sign
            continue
        letter = next(signs, "")
        if letter != "%" and letter not in FIELDS:
            raise ParameterError(
                f"%{letter} in the pattern {pattern[:40]!r} is not known. Known are"
                f" {_list_known()}."
            )
        yield FIELDS.get(letter, "%")


def _list_known() -> str:
    return ", ".join(f"%{letter}" for letter in FIELDS) + " and %%"
