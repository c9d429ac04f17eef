"""Writes how an answer is sorted, filtered and cut as a part of its address, and as SQL again.

Only what was released is arranged, so whoever changes the address sees no more than before.

  Tested:   tests/curator/console/test_arranging.py
"""

from collections.abc import Mapping, Sequence
from datetime import date
from json import dumps, loads
from typing import Any, cast

from letalone.answers import arranged
from letalone.answers.cell_operations import COMPARISONS, OPERATIONS
from letalone.answers.columns import Cell
from letalone.answers.row_formulas import (
    WINDOWS,
    Calculation,
    Fixed,
    KeyLookUp,
    Order,
    OutputRef,
    RowFormula,
    WindowFunction,
)
from letalone.curator.asking.building import quote_name, write_constant
from letalone.curator.http.problems import problem_error
from letalone.sql.windows import MAX_DISTANCE

PARTS = {"and": 0, "or": 0, "not": 1, "missing": 1, **dict.fromkeys(COMPARISONS, 2)}  # 0: any
MAX_LIMIT, MAX_ADDRESS_LENGTH = 10**9, 1500  # letters, so that an address is not too long
_NOTHING_MORE: list[Any] = [[], None]  # computed, and kept afterwards
NOT_READ = "The address does not say how to sort the answer. Look at the whole answer."


def as_address(how: arranged.Arrangement) -> str:
    """As a parameter; "" where nothing is arranged."""
    if how == arranged.AS_IT_IS:
        return ""
    having = None if how.having is None else _write_condition(how.having)
    parts: list[Any] = [having, _write_orders(how.order), how.limit, how.offset, list(how.hidden)]
    if how.computed or how.keep is not None or how.stacked:
        keep = None if how.keep is None else _write_condition(how.keep)
        parts += [[[name, _write_formula(formula)] for name, formula in how.computed], keep]
        parts += [_columns(how)] if how.stacked else []
    return dumps(parts, ensure_ascii=False, separators=(",", ":"))


def from_address(text: str) -> arranged.Arrangement:
    """What `as_address` wrote; refused where it is anything else."""
    if not text:
        return arranged.AS_IT_IS
    try:
        having, order, limit, offset, hidden, *more = loads(text[: 2 * MAX_ADDRESS_LENGTH])
        computed, keep, *stacked = more or _NOTHING_MORE
        return arranged.Arrangement(
            having=None if having is None else _condition(having),
            order=tuple(_order(*item) for item in order),
            limit=None if limit is None else _number(limit),
            offset=_number(offset),
            hidden=tuple(_text(item) for item in hidden),
            computed=tuple((_text(name), _formula(formula)) for name, formula in computed),
            keep=None if keep is None else _condition(keep),
            stacked=tuple(_column(names) for names in (stacked or [[]])[0]),
        )
    except (ValueError, TypeError, RecursionError):
        raise problem_error("not-valid", NOT_READ) from None


def as_sql(how: arranged.Arrangement, calls: Mapping[str, str]) -> list[str]:
    """HAVING, ORDER BY, LIMIT and OFFSET; `calls` has the SQL of columns that are not shown.

    Where columns are computed from others the question comes back without them, and as a whole.
    """
    if how.computed:
        return []

    def name(column: str) -> str:
        return calls[column] if column in how.hidden else quote_name(column)

    lines = [] if how.having is None else [f"HAVING {_in_sql(how.having, name)}"]
    if how.order:
        columns = [
            f"{name(by.name)}{' DESC' * by.descending}{' NULLS FIRST' * by.missing_first}"
            for by in how.order
        ]
        lines.append(f"ORDER BY {', '.join(columns)}")
    lines += [] if how.limit is None else [f"LIMIT {how.limit}"]
    return lines + ([f"OFFSET {how.offset}"] if how.offset else [])


def _columns(how: arranged.Arrangement) -> list[list[str]]:
    return [[name, *cells] for name, cells in how.stacked]


def _column(names: Any) -> tuple[str, tuple[str, ...]]:
    name, *cells = map(_text, names)
    return name, tuple(cells)


def _write_orders(orders: Sequence[Order]) -> list[Any]:
    return [[by.name, by.descending, by.missing_first, by.ranges] for by in orders]


def _write_formula(formula: RowFormula) -> list[Any]:
    match formula:
        case OutputRef() | Fixed():
            return _write_condition(formula)
        case Calculation(op, parts):
            return [op, *(_write_formula(part) for part in parts)]
        case WindowFunction(function, of, partition, order, frame, number):
            inner = None if of is None else _write_formula(of)
            ends = None if frame is None else list(frame)
            return ["over", function, inner, list(partition), _write_orders(order), ends, number]
        case KeyLookUp(keys, known):
            pairs = [[*map(_write_cell, key), _write_cell(cell)] for key, cell in known]
            return ["look up", list(keys), pairs]


def _write_cell(cell: Cell) -> list[Any]:
    return _write_condition(Fixed(cell))


def _formula(stored: Any) -> RowFormula:
    op, *parts = stored
    match op, parts:
        case "column" | "value", _:
            return cast("OutputRef | Fixed", _condition(stored))
        case "over", [str() as function, of, partition, order, frame, int() as number] if (
            function in WINDOWS and 1 <= number <= MAX_DISTANCE
        ):
            inner = None if of is None else _formula(of)
            names, orders = tuple(map(_text, partition)), tuple(_order(*by) for by in order)
            return WindowFunction(function, inner, names, orders, _ends(frame), number)
        case "look up", [keys, pairs]:
            cells = [tuple(cast("Fixed", _condition(cell)).value for cell in row) for row in pairs]
            known = tuple((row[:-1], row[-1]) for row in cells)
            return KeyLookUp(tuple(map(_text, keys)), known)
        case _, _ if op in OPERATIONS:
            return Calculation(_text(op), tuple(map(_formula, parts)))
        case _:
            raise ValueError


def _ends(stored: Any) -> tuple[int | None, int | None] | None:
    if stored is None:
        return None
    first, last = stored
    for end in (first, last):
        if end is not None and (type(end) is not int or abs(end) > MAX_DISTANCE):
            raise ValueError
    return first, last


def _write_condition(condition: arranged.Condition) -> list[Any]:
    match condition:
        case arranged.OutputRef(name):
            return ["column", name]
        case arranged.Fixed(date() as day):
            return ["day", day.isoformat()]
        case arranged.Fixed(value):
            return ["value", value]
        case arranged.HavingTest(op, parts):
            return [op, *(_write_condition(part) for part in parts)]


def _condition(stored: Any) -> arranged.Condition:
    op, *parts = stored
    match op, parts:
        case "column", [name]:
            return arranged.OutputRef(_text(name))
        case "day", [day]:
            return arranged.Fixed(date.fromisoformat(day))
        case "value", [str() as value]:
            return arranged.Fixed(_text(value))
        case "value", [int() | float() | None as value]:
            return arranged.Fixed(value)
        case _, _ if op in PARTS and PARTS[op] in (0, len(parts)):
            return arranged.HavingTest(op, tuple(_condition(part) for part in parts))
        case _:
            raise ValueError


def _order(name: object, *flags: object) -> arranged.Order:
    if len(flags) != 3 or not all(isinstance(flag, bool) for flag in flags):
        raise ValueError
    return arranged.Order(_text(name), *cast("tuple[bool, bool, bool]", flags))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # an address has no halves of letters
    return value


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value <= MAX_LIMIT:
        raise ValueError
    return value


def _in_sql(condition: arranged.Condition, name: Any) -> str:
    match condition:
        case arranged.OutputRef(column):
            return name(column)
        case arranged.Fixed(value):
            return write_constant(value)
        case arranged.HavingTest("not", (of,)):
            return f"NOT ({_in_sql(of, name)})"
        case arranged.HavingTest("missing", (of,)):
            return f"{_in_sql(of, name)} IS NULL"
        case arranged.HavingTest(op, parts) if op in COMPARISONS:
            first, right = (_in_sql(part, name) for part in parts)
            return f"{first} {op} {right}"
        case arranged.HavingTest(op, parts):
            return f" {op.upper()} ".join(f"({_in_sql(part, name)})" for part in parts)
