"""Tables as rows of features, by declared bounds and values: nothing is read off the data.

    TableEncoder({"age": (17, 90), "work": ["private", "public"], "member": bool}, knots=8)

Encoding is free: what a row becomes depends on that row and on the declaration alone.

Theorem.  Every row has an L2 norm of at most `norm`, whatever its cells are.
  Proven:   each of m columns adds at most 1 to the square (`declared_columns`), and `norm` is a
            float that is at least √m, read in binary or as its shortest decimal
  Tested:   tests/learn/test_encoding.py, over odd cells of every kind
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import inf, nextafter, sqrt
from numbers import Integral
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from letalone.errors import FormatError, ParameterError
from letalone.errors.problem import Spelled
from letalone.errors.spelling import check_format, did_you_mean
from letalone.exact.typed import refusal
from letalone.learn.features import declared_columns
from letalone.learn.features.declared_columns import Cells, Declared, Floats
from letalone.plans.records import read_stored, to_stored
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.privacy.curve import Json

FORMAT, PLAIN = 2, 1  # without knots it is written as it always was
MOST_KNOTS = 64
KIND = "table encoder"
DAMAGE = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns frames, dictionaries of columns and arrays into rows of numbers from −1 to 1.

    `columns` says what is known of each column: (lower, upper) for numbers, a list of values for
    categories, bool for truth values. A pair of bounds is a tuple: a list of two numbers means two
    categories. A frame may have more columns than these; an array has exactly these, in this order.
    With `knots` a number becomes its place and its nearness to so many points between its bounds,
    so that a linear model can follow a curve (income rises with age, and falls again).
    """

    def __init__(self, columns: Mapping[str, object], knots: int | None = None) -> None:
        self.columns, self.knots = columns, knots

    @classmethod
    def of(
        cls, schema: Schema, features: Sequence[str], *, knots: int | None = None
    ) -> "TableEncoder":
        """The encoder for some columns of a table, by the bounds and keys of its schema."""
        return cls({name: _declared_in(schema, name) for name in features}, knots)

    @property
    def norm(self) -> float:
        """A certified bound on the L2 norm of every row: what `data_norm` asks for."""
        return _root_above(len(self._declared()))

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The places of features that belong together: those of a category, those of knots."""
        widths = (width for column in self._declared() for width in _widths(column))
        ends = accumulate(widths, initial=0)
        return tuple(tuple(range(start, end)) for start, end in pairwise(ends))

    def fit(self, X: Any = None, y: Any = None) -> Self:  # noqa: ARG002, N803
        """Checks the declaration; looks at no data."""
        self._declared()
        return self

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """One row of features for each row of the table."""
        declared = self._declared()
        columns = _columns_of(X, [column.name for column in declared])
        parts = zip(declared, columns, strict=True)
        return np.hstack([column.encoded(cells) for column, cells in parts])

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:  # noqa: ARG002
        """Names such as age and work=a."""
        names = [name for column in self._declared() for name in column.feature_names]
        return np.array(names, dtype=object)

    def to_json(self) -> Json:
        """The declaration as JSON, without loss."""
        columns = [_column_to_json(column) for column in self._declared()]
        if self.knots is None:
            return {"format": PLAIN, "kind": KIND, "columns": columns}
        return {"format": FORMAT, "kind": KIND, "columns": columns, "knots": int(self.knots)}

    @classmethod
    def from_json(cls, stored: Mapping[str, object]) -> "TableEncoder":
        """The encoder that `to_json` wrote; refuses what is damaged or newer."""
        wrong = "This is not a stored table encoder."
        check_format("This table encoder", stored, FORMAT, kind=KIND, otherwise=wrong)
        try:
            read = dict(_read(column) for column in cast("list[Json]", stored["columns"]))
            knots = stored.get("knots")
            encoder = cls(read, cast("int | None", knots))
            if encoder.to_json() == dict(stored) and type(knots) in (int, type(None)):
                return encoder
        except DAMAGE:
            pass
        raise FormatError("This encoder is damaged: a field is not what to_json writes there.")

    def _declared(self) -> tuple[Declared, ...]:
        if not isinstance(self.columns, Mapping) or not self.columns:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refusal(
                "columns",
                self.columns,
                "a dictionary, such as {'age': (17, 90), 'work': ['a', 'b'], 'member': bool}",
            )
        knots = _read_knots(self.knots)
        return tuple(
            declared_columns.read_declared(name, what, knots=knots)
            for name, what in self.columns.items()
        )

    def __sklearn_tags__(self) -> Any:
        tags = cast("Any", super()).__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _read_knots(typed: object) -> int:
    if typed is None:
        return 0
    is_whole = not isinstance(typed, bool) and isinstance(typed, Integral)
    if not is_whole or not 2 <= int(cast("int", typed)) <= MOST_KNOTS:
        numbers = f"a whole number from 2 to {MOST_KNOTS}, such as 8"
        raise refusal("knots", typed, Spelled(f"{numbers}, or None", numbers))
    return int(cast("int", typed))


def _widths(column: Declared) -> tuple[int, ...]:
    """How many features of a column belong together; a number's place is apart from its knots."""
    if isinstance(column, declared_columns.NumberColumn):
        return (1, column.knots) if column.knots else (1,)
    return (len(column.feature_names),)


def declaration_of(column: Column) -> object:
    """What a schema says of a column, as an encoder is told it; None where it is too little."""
    if column.lower is not None and column.upper is not None:
        return (column.lower, column.upper)
    if column.keys is not None:
        return list(column.keys)
    return bool if column.type is Type.BOOLEAN else None


def _declared_in(schema: Schema, name: str) -> object:
    column = schema.column(name)
    declared = declaration_of(column)
    if declared is not None:
        return declared
    wanted = "lower and upper" if column.type.is_numeric else "keys"
    raise ParameterError(
        f"Column {name!r} has no declared {wanted}, and they are not read off the data. Add"
        " them to its schema, or leave the column out."
    )


def _columns_of(table: Any, names: Sequence[str]) -> list[Cells]:
    """The cells of each named column; errors depend on names and shapes alone."""
    if isinstance(table, Mapping) or hasattr(table, "columns"):
        cells = [declared_columns.cells_of(_find_column(table, name)) for name in names]
    else:
        # Lists are read cell by cell, as one could change the type of all.
        kind = None if isinstance(table, np.ndarray) else object
        cells = _in_order(np.asarray(table, dtype=kind), len(names))
    if len({len(column) for column in cells}) > 1 or any(column.ndim != 1 for column in cells):
        raise ParameterError("The columns differ in length, but must have a cell for each row.")
    return cells


def _find_column(table: Any, name: str) -> object:
    """A column by its name; an Arrow table calls its columns by name as well."""
    known: list[str] = [str(column) for column in _names(table)]
    if name not in known:
        raise ParameterError(
            f"The table has no column {name!r}. Its columns are: {', '.join(known[:30])}."
            + did_you_mean(name, known)
        )
    return table[name]


def _names(table: Any) -> Sequence[object]:
    if isinstance(table, Mapping):
        return list(cast("Mapping[object, object]", table))
    return list(getattr(table, "column_names", table.columns))


def _in_order(array: Cells, width: int) -> list[Cells]:
    if array.ndim != 2 or array.shape[1] != width:
        raise ParameterError(
            f"The array has the shape {array.shape}, but must have {width} columns, one for each"
            " declared column, in their order."
        )
    return [array[:, place] for place in range(width)]


def _root_above(number: int) -> float:
    """A float whose square is at least the number, in binary and as the decimal that it prints."""
    root = sqrt(number)
    while min(Fraction(root), Fraction(repr(root))) ** 2 < number:
        root = nextafter(root, inf)
    return root


def _column_to_json(column: Declared) -> Json:
    match column:
        case declared_columns.NumberColumn():
            bounds = [str(column.lower), str(column.upper)]
            return {"name": column.name, "bounds": bounds}
        case declared_columns.Category():
            return {"name": column.name, "values": [to_stored(value) for value in column.values]}
        case declared_columns.Flag():
            return {"name": column.name, "values": None}


def _read(stored: Json) -> tuple[str, object]:
    name = cast("str", stored["name"])
    if "bounds" in stored:
        lower, upper = (Fraction(text) for text in cast("list[str]", stored["bounds"]))
        return name, (lower, upper)
    values = cast("list[object] | None", stored["values"])
    return name, bool if values is None else [read_stored(value, depth=1) for value in values]
