"""Keys: the groups that an answer has rows for, listed beforehand.

    keys=["A", "B"]                          one column
    keys=[("A", 2023), ("B", 2024)]          several columns
    keys=la.product(["A", "B"], [2023, 2024])   every combination

A key matches exactly: text byte by byte, None only the missing value. Rows whose key is
not listed are dropped; a listed key that no row has is answered all the same. The keys of a
column of numbers are whole numbers of at most 2^53; any other number is missing as a key.

  Tested:   tests/plans/test_keys.py
"""

from collections.abc import Iterable, Sequence
from datetime import date
from fractions import Fraction
from itertools import product as combinations
from math import prod
from typing import cast

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.typed import refusal
from letalone.plans.constants import as_value
from letalone.plans.types import Key, Type, type_of_value
from letalone.plans.wording import value_in_words

MOST_KEYS = 1_000_000
EXACT = 2**53  # every whole number up to it is a double
EXAMPLES = {
    Type.TEXT: "text, such as 'A'",
    Type.INTEGER: "a whole number of 64 bits, such as 7",
    Type.NUMBER: "a whole number of at most 2^53, such as 7",
    Type.BOOLEAN: "True or False",
    Type.DATE: "a date, such as datetime.date(2024, 1, 31) or '2024-01-31'",
}


def product(*columns: Iterable[object]) -> tuple[tuple[object, ...], ...]:
    """Every combination of the keys of several columns: `la.product(["A", "B"], [2023, 2024])`."""
    lists = [_as_list(column) for column in columns]
    if not lists:
        raise ParameterError("la.product got no lists. Give the keys of each column as a list.")
    _check_number(prod(len(keys) for keys in lists))
    return tuple(combinations(*lists))


def read_keys(keys: object, types: Sequence[Type]) -> tuple[tuple[Key, ...], ...]:
    """One tuple a group, checked: of the right length and types, none twice."""
    rows = _as_list(keys)
    _check_number(len(rows))
    for kind in types:
        check_groupable(kind, "the group column")
    read = _read_at_once(rows, types) or tuple(_row(row, types) for row in rows)
    _check_distinct(read)
    return read


def _read_at_once(rows: list[object], types: Sequence[Type]) -> tuple[tuple[Key, ...], ...] | None:
    """Keys of one column of texts or of whole numbers, of which there may be a million; None where
    they have to be looked at one by one."""
    if len(types) != 1 or types[0] not in (Type.TEXT, Type.INTEGER):
        return None
    kinds = set(map(type, rows))
    if kinds == {tuple}:
        tuples = cast("list[tuple[object, ...]]", rows)
        if set(map(len, tuples)) != {1}:
            return None
        rows = [value for (value,) in tuples]
        kinds = set(map(type, rows))
    if kinds != {str if types[0] is Type.TEXT else int}:
        return None
    if not _are_well_formed(cast("list[str]", rows)) if kinds == {str} else _beyond(rows):
        return None
    return tuple((cast("Key", value),) for value in rows)


def _are_well_formed(texts: list[str]) -> bool:
    try:
        "".join(texts).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _beyond(rows: list[object]) -> bool:
    numbers = cast("list[int]", rows)
    return min(numbers) < -(2**63) or max(numbers) >= 2**63


def read_column_keys(keys: object, kind: Type) -> tuple[Key, ...]:
    """The keys of one column."""
    return tuple(row[0] for row in read_keys(keys, (kind,)))


def check_groupable(kind: Type, words: str) -> None:
    """Refuses what has no keys."""
    if kind.is_groupable:
        return
    timed = 'Take a part of it: la.col("time").part("month").'
    remedy = timed if kind is Type.TIMESTAMP else "Cast it to text in the table."
    raise UnsupportedQuery(
        f"'{words}' is {kind.value} and cannot be a key; text, whole numbers, dates and truth"
        f" values can. {remedy}"
    )


def _as_list(keys: object) -> list[object]:
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        raise refusal("keys", keys, "a list, such as ['A', 'B']")
    return list(cast("Iterable[object]", keys))


def _check_number(number: int) -> None:
    if not number:
        raise ParameterError(
            "keys is an empty list, so there is nothing to answer. List at least one key, or"
            " leave keys out."
        )
    if number > MOST_KEYS:
        raise ParameterError(
            f"There are {number:,} keys, but there may be at most {MOST_KEYS:,}. Group by fewer"
            " columns or list fewer keys."
        )


def _row(row: object, types: Sequence[Type]) -> tuple[Key, ...]:
    values = cast("tuple[object, ...]", row) if isinstance(row, tuple) else (row,)
    shown: object = values if isinstance(row, tuple) else row
    if len(values) != len(types):
        raise refusal(
            "key",
            shown,
            f"a tuple of {len(types)} values, one for each group column"
            if len(types) > 1
            else "one value: there is one group column",
            "la.product makes every combination of several lists.",
        )
    return tuple(_key(value, kind) for value, kind in zip(values, types, strict=True))


def _key(value: object, kind: Type) -> Key:
    read = value if type(value) is int else as_value(value)  # there may be a million
    if read is None:
        return None
    if kind is Type.DATE and isinstance(read, str):
        read = _day(read)
    if kind is Type.NUMBER and isinstance(read, Fraction) and read.denominator == 1:
        read = int(read)
    if type_of_value(read) is not kind.of_keys or not _in_range(read, kind):
        raise refusal("key", value, f"{EXAMPLES[kind]}, since the column is {kind.value}")
    return cast("Key", read)


def _day(text: str) -> str | date:
    """The date that a text writes, year first; else the text, which is refused."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return text


def _in_range(value: object, kind: Type) -> bool:
    if not isinstance(value, int):
        return True
    return abs(value) <= EXACT if kind is Type.NUMBER else -(2**63) <= value < 2**63


def _check_distinct(rows: tuple[tuple[Key, ...], ...]) -> None:
    if len(set(rows)) == len(rows):
        return
    seen: set[tuple[Key, ...]] = set()
    for row in rows:
        if row in seen:
            words = ", ".join(value_in_words(key) for key in row)
            raise ParameterError(f"The key {words} is listed twice. List each key once.")
        seen.add(row)
