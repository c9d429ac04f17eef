"""An aggregate as people write it, before the table is known.

`aggregates` and `pairs` make these and fill in the rest.

  Tested:   tests/plans/test_aggregates.py
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import cast

from letalone.errors import ParameterError
from letalone.exact.typed import Number, refusal
from letalone.plans.bounds import check_range
from letalone.plans.constants import as_bound
from letalone.plans.expressions import Case, ColumnRef, Expression, Literal, Not
from letalone.plans.parts import Compared
from letalone.plans.trees import Computable
from letalone.plans.types import Type
from letalone.plans.typing import Columns
from letalone.plans.wording import in_words

Of = str | Expression
Bounds = Mapping[str, tuple[Number, Number]]
Range = tuple[Fraction, Fraction]


class Kind(Enum):
    """The aggregates by the names that people call them."""

    COUNT = "count"
    COUNT_DISTINCT = "count_distinct"
    SUM = "sum"
    MEAN = "mean"
    VARIANCE = "variance"
    STD = "std"
    QUANTILE = "quantile"
    MIN = "min"
    MAX = "max"
    HISTOGRAM = "histogram"
    TOP_K = "top_k"
    PRIVATE_BOUNDS = "private_bounds"
    COVARIANCE = "covariance"
    CORRELATION = "correlation"
    REGRESSION_SLOPE = "regression_slope"
    LINEAR_REGRESSION = "linear_regression"


@dataclass(frozen=True, slots=True, eq=False)
class Asked(Computable, Compared):
    """An aggregate as it was asked for; `by` and `bounds` where it is about several columns."""

    kind: Kind
    of: Expression | None = None
    lower: Fraction | None = None
    upper: Fraction | None = None
    step: Fraction | None = None
    at: tuple[Fraction, ...] = ()
    edges: tuple[Fraction, ...] = ()
    k: int = 1
    candidates: tuple[object, ...] | None = None
    by: tuple[Expression, ...] = ()
    bounds: tuple[tuple[str, Range], ...] = ()
    sample: bool = False


def read_of(of: object) -> Expression:
    """A column's name or an expression, as an expression."""
    if isinstance(of, str):
        return ColumnRef(of)
    if isinstance(of, Expression):
        return of
    raise refusal("column", of, 'a column\'s name or an expression, such as la.col("cost") / 2')


def read_bounds(bounds: object) -> tuple[tuple[str, Range], ...]:
    """Bounds by the name of a column: {"cost": (0, 1000)}."""
    if bounds is None:
        return ()
    if not isinstance(bounds, Mapping):
        raise refusal("bounds", bounds, 'such as {"cost": (0, 1000)}')
    given = cast("Mapping[object, object]", bounds)
    return tuple((str(name), _range(str(name), ends)) for name, ends in given.items())


def as_number(of: Expression, columns: Columns) -> Expression:
    """A condition as 1 or 0, missing where it is missing; anything else as it is."""
    if columns.type_of(of).type is not Type.BOOLEAN:
        return of
    return Case(((of, Literal(1)), (Not(of), Literal(0))), Literal(None))


def name_of(of: Expression) -> str:
    """What an expression is called where bounds are given: its column, or its words."""
    return of.name if isinstance(of, ColumnRef) else in_words(of)


def _range(name: str, ends: object) -> Range:
    pair = list(cast("tuple[object, ...]", ends)) if isinstance(ends, tuple | list) else []
    if len(pair) != 2:
        raise ParameterError(
            f"The bounds of {name!r} must be two numbers, the lower one first:"
            f" bounds={{{name!r}: (0, 1000)}}."
        )
    low, high = as_bound("lower", pair[0]), as_bound("upper", pair[1])
    check_range(low, high, words=name)
    return low, high
