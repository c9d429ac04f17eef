"""Pseudonyms that are hashes of a small space are reversed by hashing the whole space.

In 2014 New York published 173 million taxi trips with the medallion of each cab as its MD5. There
are some 20 million ways to write a medallion; a laptop hashes them all in minutes, and the list
read backwards gives every medallion. A ZIP code, a date of birth, a telephone number is no
different, and a slower or longer hash changes the minutes, not the outcome.

The spaces tried, the smallest first, until all are found: ZIP codes, dates in four ways of
writing, medallions, whole numbers, and patterns of one's own (# is a digit, @ a letter).

  Tested:   tests/attacks/test_pseudonyms.py: all are found, in either case of letters; hashes
            with a key are not
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import md5, sha1, sha256
from itertools import product
from math import prod
from time import process_time
from typing import Any, ClassVar

import numpy as np

from letalone.answers.promise import FALSE_ALARMS, as_percent
from letalone.attacks import stage
from letalone.attacks.counted_table import Whole, names_of, read
from letalone.attacks.result import AttackReport, Line
from letalone.drawing.chart import AxisKind, Chart, ChartAxis, Series, SeriesStyle
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.frames.coded import FIRST, Coded
from letalone.errors import ParameterError
from letalone.errors.spelling import plural, plural_rows
from letalone.exact.typed import COUNT, EPSILON, Number
from letalone.plans.types import Type

DIGITS, LETTERS = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
HEX = frozenset("0123456789abcdef")
PATTERNS = ("#@##", "#####", "@@###")  # a cab, a ZIP code, a limousine
FIRST_DAY, LAST_DAY = np.datetime64("1900-01-01"), np.datetime64("2030-01-01")
MAX_TRIED = 100_000_000
ALGORITHMS: dict[int, tuple[str, Callable[[bytes], Any]]] = {
    32: ("MD5", lambda text: md5(text, usedforsecurity=False)),
    40: ("SHA-1", lambda text: sha1(text, usedforsecurity=False)),
    64: ("SHA-256", sha256),
}


@dataclass(frozen=True, slots=True)
class Reversed:
    """One column: `found` of its `values` distinct hashes are reversed.

    `rows_found` of its `rows` have one of these. `spaces` says in which space how many were
    found, and `example` is one of them.
    """

    column: str
    algorithm: str
    values: int
    found: int
    rows: int
    rows_found: int
    spaces: dict[str, int]
    example: tuple[str, str] | None
    tried: int
    seconds: float
    _json: ClassVar[str] = "column algorithm values found rows rows_found spaces tried seconds"


@dataclass(frozen=True, slots=True)
class Pseudonyms(AttackReport):
    """The columns that are hashes, and how many of these are reversed."""

    columns: tuple[Reversed, ...]
    epsilon: float
    _json: ClassVar[str] = "columns most_allowed=_most_caught epsilon"

    @property
    def words(self) -> str:
        if not self.columns:
            return "No column looks like a hash (MD5, SHA-1 or SHA-256 in hexadecimal digits)."
        sentences = " ".join(_column_words(column) for column in self.columns[:3])
        return (
            f"{sentences} A hash without a key hides nothing where all possible values can be"
            " tried. A secret key would stop this attack, but not the linkage of the rest of the"
            " row. A private release has no pseudonyms in it: with"
            f" ε = {self.epsilon:g}, one person is found {as_percent(self._most_caught)} of the"
            f" time at most, at {as_percent(FALSE_ALARMS)} false alarms."
        )

    def lines(self) -> list[Line]:
        limit = f"at most {as_percent(self._most_caught)}"
        rows: list[Line] = []
        for column in self.columns[:4]:
            name = f"{column.column} ({column.algorithm})"
            rows.append(
                (f"{name}: reversed", f"{column.found:,} of {column.values:,}", "no pseudonyms")
            )
            rows.append((f"{name}: seconds", f"{column.seconds:.1f}", ""))
        return [*rows, ("one person found", "no limit", limit)]

    def _picture(self) -> Chart:
        if not self.columns:
            raise ParameterError("There is nothing to draw: no column looks like a hash.")
        places = tuple(float(place) for place in range(len(self.columns)))
        shares = tuple(column.found / column.values for column in self.columns)
        bars = Series("reversed", places, shares, SeriesStyle.BARS)
        labels = tuple(
            f"{column.column}\n{column.algorithm}, {column.seconds:.1f} s"
            for column in self.columns
        )
        title = "Pseudonyms that are hashes: the share that is reversed"
        return Chart(
            title,
            ChartAxis("column", AxisKind.NAMES, labels),
            ChartAxis("share reversed"),
            (bars,),
        )


def reverse_hashes(
    table: object = None,
    *,
    columns: Iterable[str] = (),
    patterns: Iterable[str] = (),
    largest: Number = 1_000_000,
    epsilon: Number = 1.0,
) -> Pseudonyms:
    """Reverses pseudonyms that are unsalted hashes of something short.

    table: a file or frame; without one, made-up taxi trips. columns: those to try; without any,
    every column of text that looks like hashes.
    patterns: more to try, such as "+1202555####" (# is a digit, @ a letter).
    largest: whole numbers below this are tried; 10,000,000 take some ten seconds.
    """
    spent = float(EPSILON.typed("epsilon", epsilon))
    more_patterns = [patterns] if isinstance(patterns, str) else list(patterns)
    spaces = _spaces(more_patterns, int(COUNT.typed("largest", largest)))
    source = stage.taxis() if table is None else table
    given = names_of("columns", columns) if columns else []
    names = given or _texts(source)
    results = [_reverse_column(source, name, spaces, needed=bool(given)) for name in names]
    return Pseudonyms(tuple(result for result in results if result is not None), spent)


@dataclass(frozen=True, slots=True)
class _Space:
    name: str
    size: int
    texts: Callable[[], Iterator[str]]


def _spaces(patterns: list[str], largest: int) -> list[_Space]:
    made = [_pattern(pattern) for pattern in dict.fromkeys([*PATTERNS, *patterns])]
    days = int((LAST_DAY - FIRST_DAY).astype(int))
    made.append(_Space("dates", 4 * days, _dates))
    made.append(_Space("whole numbers", largest, lambda: map(str, range(largest))))
    return sorted(made, key=lambda space: space.size)


def _pattern(pattern: str) -> _Space:
    signs = [{"#": DIGITS, "@": LETTERS}.get(sign, sign) for sign in pattern]
    size = prod(len(sign) for sign in signs)
    if size > MAX_TRIED:
        raise ParameterError(
            f"The pattern {pattern!r} has {size:,} values, but at most {MAX_TRIED:,} are tried."
            " Fix more of its signs."
        )
    return _Space(pattern, size, lambda: map("".join, product(*signs)))


def _dates() -> Iterator[str]:
    for day in np.arange(FIRST_DAY, LAST_DAY).astype(str).tolist():
        year, month, date = day.split("-")
        yield from (day, f"{year}{month}{date}", f"{month}/{date}/{year}", f"{date}.{month}.{year}")


def _texts(source: object) -> list[str]:
    with closing(open_duck(source)) as engine:
        return [column.name for column in engine.schema().columns if column.type is Type.TEXT]


def _reverse_column(
    source: object, name: str, spaces: list[_Space], *, needed: bool
) -> Reversed | None:
    """What is found of one column; None where it does not look like hashes."""
    table = read(source, [name])
    column = table.columns[name]
    texts = [text.lower() for text in column.texts()]
    length = len(texts[0]) if texts else 0
    hashes = length in ALGORITHMS and all(len(t) == length and set(t) <= HEX for t in texts)
    if not hashes:
        if needed:
            raise ParameterError(
                f"Column {name!r} does not hold MD5, SHA-1 or SHA-256 in hexadecimal digits."
            )
        return None
    return _search_spaces(column, table.rows, texts, spaces)


def _search_spaces(column: Coded, rows: Whole, texts: list[str], spaces: list[_Space]) -> Reversed:
    algorithm, hashed = ALGORITHMS[len(texts[0])]
    start, tried, where = process_time(), 0, dict[str, int]()
    wanted = {bytes.fromhex(text) for text in texts}
    everyone, texts_by_digest = len(wanted), dict[bytes, str]()
    for space in spaces:
        if len(texts_by_digest) == everyone:
            break
        for text in space.texts():
            digest = hashed(text.encode()).digest()
            if digest in wanted:
                texts_by_digest.setdefault(digest, text)
        tried += space.size
        where[space.name] = len(texts_by_digest) - sum(where.values())
    known = np.array([False] * FIRST + [bytes.fromhex(text) in texts_by_digest for text in texts])
    first = min(((text, digest.hex()) for digest, text in texts_by_digest.items()), default=None)
    return Reversed(
        column=column.name,
        algorithm=algorithm,
        values=everyone,
        found=len(texts_by_digest),
        rows=int(rows.sum()),
        rows_found=int(rows[known[column.codes]].sum()),
        spaces={space: number for space, number in where.items() if number},
        example=first,
        tried=tried,
        seconds=process_time() - start,
    )


def _column_words(column: Reversed) -> str:
    reversed_ones = plural(column.found, "was", "were") if column.found else "none was"
    rows = f", in {column.rows_found:,} of {plural_rows(column.rows)}" if column.found else ""
    example = f" ({column.example[1][:8]}… is {column.example[0]})" if column.example else ""
    return (
        f"Column {column.column!r} holds {plural(column.values, 'value')} hashed by"
        f" {column.algorithm}: {reversed_ones} reversed in {column.seconds:.1f}"
        f" seconds{example}{rows}."
    )
