"""Reads columns of pandas whose dtype follows their cells, each as what it is declared to be.

One missing cell makes int64 float64 and bool object; one odd cell makes anything object. So such a
dtype is data, and nothing may follow from it: all numbers are one type, and a column is converted
to the type that was declared, whatever it holds. pandas' nullable dtypes (Int64, boolean, string,
those of Arrow) are types of their own, and stay as they are.

Theorem.  Under a declared type, what is read of a cell depends on its value alone, not on the dtype
that the column has because of other cells; and the result's type on the declared type alone.
  Proven:   a value of the declared kind is itself: a number the nearest double, or, as an integer,
            itself where it is whole and of 64 bits; a moment in UTC, cut to microseconds. Any
            other is written as text, by one rule for all dtypes (`cell_text`), and read as text is;
            so are the ends of an interval. What cannot be read is missing. Categories are read by
            themselves, and cells take theirs by code: a missing cell, which has none, is no part
            of that. A unit is a whole number or a text, each in one way,
            so that no two people are one (decision 10).
  Tested:   tests/engines/test_loose_columns.py: each value in columns of every dtype that holds it
  Assumed:  a value is what pandas keeps: an int64 beyond 2^53 that pandas made a double before,
            beside a missing cell, is that double (a nullable Int64 or a category keeps it)
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.engines.core import syntax
from letalone.engines.core.failure import hide_engine_errors
from letalone.engines.core.stored_types import Stored
from letalone.engines.duckdb.duck_reading import read
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.engines.frames import arrow
from letalone.errors import ParameterError
from letalone.plans.schema import Column
from letalone.plans.types import Type

Values = NDArray[Any]
NUMBERS = dict.fromkeys("iuf", Type.NUMBER)
KINDS = {**NUMBERS, "b": Type.BOOLEAN, "M": Type.TIMESTAMP, "O": Type.TEXT}
NOTHING = ("NAType", "NaTType")  # pandas' own words for a missing value
DATED = (Type.DATE, Type.TIMESTAMP)
IN_MICROSECONDS = {"s": 10**6, "ms": 10**3, "us": 1}
TEXTS = "texts"


def is_loose(series: Any) -> bool:
    """Whether the dtype of a column follows its cells: of all that are not nullable."""
    return type(getattr(series.dtype, "na_value", None)).__name__ != "NAType"


def kind_of(series: Any) -> Type:
    """The type that a column is declared to have where nobody declares one: from its dtype."""
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        dtype = series.cat.categories.dtype
    return KINDS.get(dtype.kind, Type.OTHER)


def check_unit(name: str, kind: Type) -> None:
    """Refuses a unit of a type in which several values become one."""
    if kind not in (Type.INTEGER, Type.TEXT):
        raise ParameterError(
            f"The unit {name!r} is declared {kind.value}, which could make one person of two. In a"
            f" pandas frame a unit is integer or text: types={{{name!r}: 'text'}}."
        )


def as_declared(
    columns: Sequence[tuple[str, Any, Type]], *, unit: str | None = None
) -> Mapping[str, object]:
    """Arrow columns by name, each of its type, from pandas' columns and their declared types.

    unit: no two values become one there. Text is a whole number as it is written, or missing.
    """
    made: dict[str, object] = {}
    texts: list[tuple[str, object, Type]] = []
    for name, series, kind in columns:
        if hasattr(series.dtype, "categories"):
            made[name] = _by_code(name, series, kind, unit)
            continue
        values = _values(series)
        array = _of_its_kind(series, values, kind)
        if array is None and kind is Type.TEXT and series.dtype == "str":
            array = arrow.array_of(series)
        if array is not None:
            made[name] = array
            continue
        cells = (cell_text(cell, kind) for cell in _cells(series, values))
        exact = kind is Type.INTEGER and name == unit
        spelled = arrow.texts_of(text if not exact or _is_whole(text) else None for text in cells)
        if kind is Type.TEXT:
            made[name] = spelled
        else:
            texts.append((name, spelled, kind))
    return made | (_read(texts) if texts else {})


def cell_text(cell: object, kind: Type) -> str | None:
    """A cell as the text of a column of this type; None where it is missing or cannot be written.

    A number is written without a fraction where it has none, so that 1 and 1.0 are one text.
    """
    try:
        return _text(cell, kind)
    except Exception:  # an object's own, whatever it is: its words are private
        return None


def _by_code(name: str, series: Any, kind: Type, unit: str | None) -> object:
    """A column of categories: each is read once, whatever cells there are, and taken by its code.

    As an array, pandas would make whole numbers doubles, and one of two, for a missing cell.
    """
    values = series.cat.categories
    # With its dtype, since pandas would look for another one, and stop at what is no text.
    alone = type(series)(values, dtype=values.dtype)
    categories = as_declared([(name, alone, kind)], unit=unit)[name]
    codes = np.asarray(series.cat.codes, np.int64)
    return arrow.take_cells(categories, codes, codes < 0)


def _values(series: Any) -> Values:
    """The cells as an array; moments are in UTC."""
    if getattr(series.dtype, "kind", "") == "M":
        return np.asarray(series.to_numpy(f"datetime64[{series.dt.unit}]"))
    return np.asarray(series)


def _of_its_kind(series: Any, values: Values, kind: Type) -> object | None:
    """The column where its values are of the declared kind; None where they have to be read."""
    stored = values.dtype.kind
    match kind:
        case Type.NUMBER if stored in "iufb":
            with np.errstate(over="ignore"):
                return arrow.column_of(values.astype(np.float64), kind)
        case Type.INTEGER if stored in "iufb":
            return _integers(values)
        case Type.BOOLEAN if stored == "b":
            return arrow.column_of(values, kind)
        case Type.TIMESTAMP if stored == "M":
            return arrow.column_of(_microseconds(values), kind)
        case Type.DATE if stored == "M":
            return arrow.column_of(_microseconds(values).astype("datetime64[D]"), kind)
        case Type.OTHER:
            cells = _cells(series, values)
            return arrow.presence_of(cell_text(cell, kind) is None for cell in cells)
        case _:
            return None


def _integers(values: Values) -> object:
    """Whole numbers of 64 bits; any other is missing, and never rounded to somebody else's."""
    if values.dtype.kind in "ib":
        return arrow.column_of(values.astype(np.int64), Type.INTEGER)
    if values.dtype.kind == "u":
        missing = values > np.uint64(2**63 - 1)
    else:
        values = values.astype(np.float64)
        # A comparison with NaN is false; 2^63 is a double, and the first that does not fit.
        missing = ~((values == np.floor(values)) & (values >= -(2.0**63)) & (values < 2.0**63))
    integers = np.where(missing, values.dtype.type(0), values).astype(np.int64)
    return arrow.column_of(integers, Type.INTEGER, missing)


def _microseconds(values: Values) -> Values:
    """Moments in microseconds, the rest cut off; missing where they do not fit."""
    unit, _ = np.datetime_data(values.dtype)
    if unit not in IN_MICROSECONDS:
        return values.astype("datetime64[us]")  # nanoseconds always fit, and are rounded down
    limit = (2**63 - 1) // IN_MICROSECONDS[unit]
    counts = values.astype(np.int64)
    fits = (counts <= limit) & (counts >= -limit)
    return np.where(fits, values, np.datetime64("NaT")).astype("datetime64[us]")


def _cells(series: Any, values: Values) -> Iterable[object]:
    """The cells as objects: moments as pandas has them, whose text is theirs."""
    return series.astype(object) if values.dtype.kind in "mM" else values.astype(object)


def _text(cell: object, kind: Type) -> str | None:
    if isinstance(cell, np.bool_ | np.integer | np.floating):
        cell = cast("object", cell.item())
    if _is_missing(cell):
        return None
    match cell:
        case bool() if kind.is_numeric:
            return str(int(cell))
        case float():
            return _number_text(cell, kind)
        case datetime() if kind in DATED:
            moment = cell if cell.tzinfo is None else cell.astimezone(UTC)
            text = moment.isoformat(" ", "microseconds")
            return text[: len("2024-01-31")] if kind is Type.DATE else text
        case _ if type(cell).__name__ == "Interval":
            return _interval_text(cast("Any", cell), kind)
        case _:
            # Half of a surrogate pair, which Arrow cannot hold, becomes a question mark.
            return str.encode(str(cell), "utf-8", "replace").decode("utf-8")


def _interval_text(interval: Any, kind: Type) -> str:
    """Its ends as they are written in any column: a missing cell makes all ends doubles."""
    start = "[" if interval.closed in ("left", "both") else "("
    end = "]" if interval.closed in ("right", "both") else ")"
    return f"{start}{_text(interval.left, kind)}, {_text(interval.right, kind)}{end}"


def _is_whole(text: str | None) -> bool:
    """Whether a text is the one that a whole number has."""
    digits = (text or "").removeprefix("-")
    return digits.isascii() and digits.isdigit() and (digits[0] != "0" or text == "0")


def _number_text(number: float, kind: Type) -> str | None:
    is_whole = number.is_integer()
    if kind is Type.INTEGER and not is_whole:
        return None
    return str(int(number)) if is_whole and kind is not Type.NUMBER else float.__repr__(number)


def _is_missing(cell: object) -> bool:
    if cell is None or type(cell).__name__ in NOTHING:
        return True
    if isinstance(cell, np.datetime64 | np.timedelta64):
        return bool(np.isnat(cast("Any", cell)))
    if type(cell) is Decimal:
        return cell.is_nan()
    return isinstance(cell, float | complex) and cell != cell


def _read(texts: Sequence[tuple[str, object, Type]]) -> dict[str, object]:
    """Columns of text as of their declared types, by the one way in which text is read."""
    numbered = [(str(number), text) for number, (_, text, _) in enumerate(texts)]
    values = [
        syntax.alias(
            read(Stored(str(n), "VARCHAR"), syntax.column(str(n)), Column(str(n), kind)).sql, str(n)
        )
        for n, (_, _, kind) in enumerate(texts)
    ]
    query = syntax.select(values, syntax.table(TEXTS))
    with closing(LockedDuck()) as duck:
        duck.lock([])
        duck.connection.register(TEXTS, arrow.table_of(numbered))
        table = hide_engine_errors(lambda: duck.read(query, arrow.read_all))
    columns = cast("Any", table).columns
    return {name: column for (name, _, _), column in zip(texts, columns, strict=True)}
