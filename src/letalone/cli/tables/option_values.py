"""Reads the options of `letalone query`: keys, bounds, a budget, the unit.

    --keys ward=A,B,C      --keys 'ward="A, B",C'     --bounds cost=0:1000     --budget 2:1e-6

They are public, so an error quotes them. Where it is clear what was meant, a remedy has it.
"""

import csv
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from letalone.cli.screen import number_text
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Argument, Problem, Remedy, Result, without_context
from letalone.errors.remedies import LeaveOut, NameBudget, SetValue
from letalone.errors.spelling import nearest
from letalone.exact.typed import as_typed
from letalone.plans.bounds import check_range
from letalone.plans.constants import as_bound
from letalone.plans.keys import check_groupable, read_column_keys
from letalone.plans.schema import Schema, unknown_column
from letalone.plans.types import Key, Type
from letalone.privacy import Budget

ROW = "row"
USUAL_BUDGET = 2
USUAL_DELTA = 1e-6
NUMBER = re.compile(r"(?<![\d.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def read_unit(word: str, schema: Schema) -> str | None:
    """The column that was named, or None for `row`, unless a column is called that."""
    names = [column.name for column in schema.columns]
    return None if word == ROW and word not in names else schema.column(word).name


def read_bounds(
    words: Sequence[str],
    schema: Schema,
    added: Sequence[str] = (),
    *,
    selected: Collection[str] = (),
) -> dict[str, tuple[Fraction, Fraction]]:
    """The bounds by column; `added` are those that the question adds up, which may be meant.

    `selected` are names that SELECT gives to what it adds up.
    """
    meant, argument = mend_bounds(words, added), Argument("bounds")
    remedy = SetValue(argument, meant) if meant != tuple(words) else LeaveOut(argument)
    return _with_remedy(lambda: dict(_read_range(word, schema, selected) for word in words), remedy)


def _with_remedy(read: Callable[[], Result], remedy: Remedy) -> Result:
    """What is read; or the error that it cannot be, with this remedy."""
    return without_context(
        read,
        ParameterError,
        error=lambda error: ParameterError(
            replace(error.problem, remedies=(remedy,), advised=True)
        ),
    )


def _read_range(
    word: str, schema: Schema, selected: Collection[str]
) -> tuple[str, tuple[Fraction, Fraction]]:
    name, _, ends = word.rpartition("=")
    if not name:
        raise ParameterError(f"--bounds {word} names no column: write --bounds cost=0:1000.")
    column = name if name in selected else schema.column(name).name
    lower, _, upper = ends.partition(":")
    low, high = _end(word, lower), _end(word, upper)
    check_range(low, high, words=column)
    return column, (low, high)


def mend_bounds(words: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Bounds with the right column and the smaller end first; `names` are added up."""
    return tuple(_mend_range(word, names) for word in words)


def _mend_range(word: str, names: Sequence[str]) -> str:
    typed, _, ends = word.rpartition("=")
    near = nearest(typed, names)
    numbers = sorted({float(n): n for n in ("0", *NUMBER.findall(ends))[-2:]}.items())
    if len(numbers) != 2 or not (near or len(names) == 1):
        return word
    (_, lower), (_, upper) = numbers
    return f"{near or names[0]}={lower}:{upper}"


def read_keys(
    words: Sequence[str], groups: Mapping[str, Type], columns: Mapping[str, Type]
) -> dict[str, tuple[Key, ...]]:
    """The keys by group column; `columns` are all that there are, with their types."""
    remedy = LeaveOut(Argument("keys"))
    return _with_remedy(lambda: dict(_read_group(word, groups, columns) for word in words), remedy)


def _read_group(
    word: str, groups: Mapping[str, Type], columns: Mapping[str, Type]
) -> tuple[str, tuple[Key, ...]]:
    name, equals, listed = word.partition("=")
    types = {**columns, **groups}
    if not equals and name not in types:
        raise ParameterError(f"--keys {word} names no column. Write --keys COLUMN={word}.")
    if name not in types:
        raise unknown_column(name, list(types), table="the question")
    if not listed:
        raise ParameterError(f"--keys {word} lists no keys. Write --keys {name}=A,B,C.")
    check_groupable(types[name], name)
    (texts,) = csv.reader([listed], skipinitialspace=True)
    keys = [_key(text, types[name], name) for text in texts]
    if name not in groups:
        raise ParameterError(f"--keys names {name!r}, which is not in GROUP BY.")
    return name, read_column_keys(keys, types[name])


def read_public(words: Sequence[str]) -> dict[str, str]:
    """The files of public tables by name."""
    files: dict[str, str] = {}
    for word in words:
        name, _, path = word.partition("=")
        if not name or not path:
            raise ParameterError(
                f"--public {word} names no file: write --public cities=cities.csv."
            )
        files[name] = path
    return files


def read_budget(word: str) -> Budget:
    """An epsilon, and a delta after a colon where there is one."""
    epsilon, _, delta = word.partition(":")
    try:
        return Budget(Decimal(epsilon), Decimal(delta or "0"))
    except InvalidOperation:
        words = (
            f"--budget is {word!r}, but must be an epsilon such as 2, or an epsilon and a delta"
            " such as 2:1e-6."
        )
    except ParameterError as error:
        words = str(error)
    raise ParameterError(advise(words, NameBudget(USUAL_BUDGET)))


def advise(words: str, *remedies: Remedy, code: Code = Code.VALUE_NOT_ALLOWED) -> Problem:
    """A problem in words that say what would help, too; a command can be made of the remedies."""
    return Problem(code, remedies=remedies, words=words, advised=True)


def usual_budget(epsilon: float | None, delta: float | None) -> str:
    """An example of a budget: four questions like this one, with room for its delta.

    It always has one: without a delta no groups could ever be found.
    """
    enough = max(USUAL_BUDGET, 4 * (epsilon or 0))
    room = max(as_typed(USUAL_DELTA), 100 * as_typed(delta or 0))
    return f"{number_text(enough)}:{number_text(float(room))}"


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
                return {"true": True, "false": False}[text.lower()]
            case Type.DATE:
                return date.fromisoformat(text)
            case _:
                return text
    except (ValueError, KeyError):
        raise ParameterError(
            f"{text[:40]!r} cannot be a key of {name!r}, since that column is {kind.value}."
        ) from None
