"""How the options of `letalone query` are written: keys, bounds, a budget.

    --keys ward=A,B,C      --keys 'ward="A, B",C'     --bounds cost=0:1000     --budget 2:1e-6

They are public, so an error quotes them.
"""

import csv
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from letalone.errors import ParameterError
from letalone.plans.bounds import check_range
from letalone.plans.constants import as_bound
from letalone.plans.keys import check_groupable, read_column_keys
from letalone.plans.schema import Schema, unknown_column
from letalone.plans.types import Key, Type
from letalone.privacy import Budget

TRUTHS = {"true": True, "false": False}


def read_bounds(words: Sequence[str], schema: Schema) -> dict[str, tuple[Fraction, Fraction]]:
    """The bounds by column."""
    found: dict[str, tuple[Fraction, Fraction]] = {}
    for word in words:
        name, _, ends = word.rpartition("=")
        if not name:
            raise ParameterError(f"--bounds {word} names no column: write --bounds cost=0:1000.")
        column = schema.column(name).name
        lower, _, upper = ends.partition(":")
        found[column] = _end(word, lower), _end(word, upper)
        check_range(*found[column], words=column)
    return found


def read_keys(words: Sequence[str], types: Mapping[str, Type]) -> dict[str, tuple[Key, ...]]:
    """The keys by group column, or by column."""
    found: dict[str, tuple[Key, ...]] = {}
    for word in words:
        name, equals, listed = word.partition("=")
        if not equals and name not in types:
            raise ParameterError(f"--keys {word} names no column. Write --keys COLUMN={word}.")
        if name not in types:
            raise unknown_column(name, list(types), table="the question")
        if not listed:
            raise ParameterError(f"--keys {word} lists no keys. Write --keys {name}=A,B,C.")
        check_groupable(types[name], name)
        (texts,) = csv.reader([listed], skipinitialspace=True)
        keys = [_key(text, types[name], name) for text in texts]
        found[name] = read_column_keys(keys, types[name])
    return found


def read_public(words: Sequence[str]) -> dict[str, str]:
    """The files of public tables by name."""
    found: dict[str, str] = {}
    for word in words:
        name, _, path = word.partition("=")
        if not name or not path:
            raise ParameterError(
                f"--public {word} names no file: write --public cities=cities.csv."
            )
        found[name] = path
    return found


def read_budget(word: str) -> Budget:
    """An epsilon, and a delta after a colon where there is one."""
    epsilon, _, delta = word.partition(":")
    try:
        return Budget(Decimal(epsilon), Decimal(delta or "0"))
    except InvalidOperation:
        raise ParameterError(
            f"--budget is {word!r}, but must be an epsilon such as 2, or an epsilon and a delta"
            " such as 2:1e-6."
        ) from None


def _end(word: str, end: str) -> Fraction:
    try:
        return as_bound("bound", Decimal(end))
    except InvalidOperation:
        raise ParameterError(
            f"--bounds {word} is not understood: write --bounds cost=0:1000, the column and the two"
            " numbers to which its values are clamped."
        ) from None


def _key(text: str, kind: Type, name: str) -> Key:
    try:
        match kind:
            case Type.INTEGER | Type.NUMBER:
                return int(text)
            case Type.BOOLEAN:
                return TRUTHS[text.lower()]
            case Type.DATE:
                return date.fromisoformat(text)
            case _:
                return text
    except (ValueError, KeyError):
        raise ParameterError(
            f"{text[:40]!r} cannot be a key of {name!r}, since that column is {kind.value}."
        ) from None
