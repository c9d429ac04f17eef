"""Functions that a connection to an SQLite file gets from Python: none of them can fail.

Cells of text come as bytes (`CAST(… AS BLOB)`), since Python would stop at one that is no UTF-8;
what text stands for is in text_grammar.py. Whole numbers of more than 64 bits, which SQLite does
not have, are decimal digits as text: only these functions make them, and take them.

Functions of text take what was read before, which is UTF-8: SQLite's own end at a NUL character,
and its LIKE takes small letters for capitals. They take about n steps for a text of n letters, and
LIKE n · m for a pattern of m.

  Proven:   cells: each function catches what Python raises for a value (`_missing_if_odd`). Sums
            and products: their operands are whole numbers or digits that were made here
  Tested:   tests/engines/conformance/test_sqlite.py
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from functools import lru_cache, wraps
from hashlib import sha256
from math import isfinite, ldexp, sqrt
from sqlite3 import Connection

from letalone.engines.texts.text_grammar import LARGEST, read_text
from letalone.plans.dates import first_day
from letalone.plans.expressions import Period
from letalone.plans.texts.like_patterns import Segment, segments_of
from letalone.plans.types import Type

NAME = "LETALONE_"
Cell = int | float | str | bytes | None


def register_functions(connection: Connection) -> None:
    """Makes all functions known to a connection, by their names in statements."""
    for name, (arguments, function) in FUNCTIONS.items():
        connection.create_function(f"{NAME}{name}", arguments, function, deterministic=True)
    connection.create_aggregate(f"{NAME}SUM", 1, _Sum)  # pyright: ignore[reportArgumentType]


def write_day(day: date) -> str:
    """A date or a time in UTC as statements have it: of one length, so that text has its order."""
    is_time = isinstance(day, datetime)
    return day.isoformat(sep=" ", timespec="microseconds") if is_time else day.isoformat()


def _missing_if_odd(read: Callable[..., Cell]) -> Callable[..., Cell]:
    """NULL where a cell is NULL, or cannot be read."""

    @wraps(read)
    def reading(*cells: Cell) -> Cell:
        try:
            return None if None in cells else read(*cells)
        except (ValueError, ArithmeticError):  # UnicodeError and decimal's are among them
            return None

    return reading


def _reader(kind: Type) -> Callable[..., Cell]:
    """What reads the text of a cell as a value of a type, in the form that statements have."""

    def read(cell: bytes) -> Cell:
        value = read_text(cell.decode(), kind)
        if isinstance(value, date):
            return write_day(value)
        return int(value) if isinstance(value, bool) else value

    return _missing_if_odd(read)


@_missing_if_odd
def _round_half_even(number: float) -> Cell:
    """Half to even, as processors do."""
    return round(number) if -LARGEST <= round(number) < LARGEST else None


@_missing_if_odd
def _spell_double(number: float) -> Cell:
    """The shortest spelling of a finite double."""
    return repr(number) if isfinite(number) else None


@_missing_if_odd
def _start(period: Period, moment: str) -> Cell:
    return first_day(date.fromisoformat(moment[:10]), period).isoformat()


def _narrow(whole: int) -> Cell:
    return whole if -LARGEST <= whole < LARGEST else str(whole)


@_missing_if_odd
def _long(total: int | str) -> Cell:
    """A total in 64 bits, or the nearest number that they hold but for the smallest."""
    return max(1 - LARGEST, min(int(total), LARGEST - 1))


@_missing_if_odd
def _double_of(total: int | str) -> Cell:
    """A total as a double: from 2^53 on without its last bits, as `Dialect.double_of` has it."""
    number = int(total)
    bits = next(n for n in (0, 11, 32) if abs(number) < 1 << (53 + n) or n == 32)
    return ldexp(float(abs(number) >> bits), bits) * (-1 if number < 0 else 1)


@_missing_if_odd
def _times(left: int | str, right: int | str) -> Cell:
    return _narrow(int(left) * int(right))


def _words(*words: int | None) -> Cell:
    """The number whose words of 24 bits these are, each from -2^63 on; NULL of no rows."""
    known = [word << (24 * place) for place, word in enumerate(words) if word is not None]
    return _narrow(sum(known)) if known else None


@_missing_if_odd
def _root(number: float) -> Cell:
    return sqrt(number)


@_missing_if_odd
def _sha256(text: bytes) -> Cell:
    return sha256(text).hexdigest()


@_missing_if_odd
def _like(text: str, pattern: str) -> Cell:
    return _expression_of(pattern).fullmatch(text) is not None


@lru_cache
def _expression_of(pattern: str) -> re.Pattern[str]:
    """A pattern of LIKE as a regular expression, which tries no place twice: each segment in the
    middle keeps the first place where it stands (see texts/matching.py)."""
    first, *rest = map(_spell_segment, segments_of(pattern))
    middle = "".join(f"(?>.*?{segment})" for segment in rest[:-1])
    return re.compile(first + (f"{middle}.*{rest[-1]}" if rest else ""), re.DOTALL)


def _spell_segment(segment: Segment) -> str:
    return "".join("." if letter is None else re.escape(letter) for letter in segment)


@_missing_if_odd
def _substring(text: str, start: int, *letters: int) -> Cell:
    """From a place on, which is positive; so many letters, or all."""
    return text[start - 1 :][slice(*letters)] if letters else text[start - 1 :]


@_missing_if_odd
def _last_letters(text: str, letters: int) -> Cell:
    return text[-letters:]


@_missing_if_odd
def _translate(text: str, letters: str, others: str) -> Cell:
    return text.translate(str.maketrans(letters, others))


@_missing_if_odd
def _trim(text: str, side: str) -> Cell:
    ways = {"BOTH": text.strip, "LEADING": text.lstrip, "TRAILING": text.rstrip}
    return ways[side](" ")


class _Sum:
    """The exact sum of whole numbers; NULL of none."""

    def __init__(self) -> None:
        self._total: int | None = None

    def step(self, value: int | str | None) -> None:
        if value is not None:
            self._total = (self._total or 0) + int(value)

    def finalize(self) -> Cell:
        return None if self._total is None else _narrow(self._total)


READ = (Type.INTEGER, Type.NUMBER, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP)
FUNCTIONS: dict[str, tuple[int, Callable[..., Cell]]] = {
    **{kind.name: (1, _reader(kind)) for kind in READ},
    "TEXT": (1, _missing_if_odd(bytes.decode)),
    "ROUNDED": (1, _round_half_even),
    "SPELLED": (1, _spell_double),
    "START": (2, _start),
    "LONG": (1, _long),
    "DOUBLE_OF": (1, _double_of),
    "TIMES": (2, _times),
    "WORDS": (-1, _words),
    "ROOT": (1, _root),
    "SHA256": (1, _sha256),
    "DOUBLE": (1, _missing_if_odd(float)),
    "LIKE": (2, _like),
    "LENGTH": (1, _missing_if_odd(len)),
    "SUBSTR": (-1, _substring),
    "RIGHT": (2, _last_letters),
    "TRANSLATE": (3, _translate),
    "TRIM": (2, _trim),
}
