"""Which columns are surely there in the rows that a filter keeps.

A filter keeps a row only where its condition is true. `age >= 65` is true only where age
is not missing, so no aggregate over the kept rows skips a row for a missing age.

Theorem.  If `condition` is true in a row, then every column of `surely_present(condition)`
is not missing in it.
  Proven:   by induction: arithmetic, negation, parts and starts of dates, ranges, clamps,
            comparisons and `isin` are missing where an operand is; `and` is true only if all
            parts are; `or` only if one is, so what all parts share is kept; `not` is true only
            where its operand is false, hence not missing
  Tested:   tests/plans/test_presence.py, against every row of small tables
"""

from functools import reduce
from typing import cast

from letalone.plans.expressions import (
    And,
    Arithmetic,
    Bin,
    Case,
    Clamp,
    ColumnRef,
    Comparison,
    DatePart,
    Expression,
    IsNull,
    Literal,
    Negated,
    Node,
    Not,
    OneOf,
    Or,
    StartOf,
)

Names = frozenset[str]
NOTHING: Names = frozenset()


def surely_present(condition: Expression | None) -> Names:
    """Columns that are not missing wherever the condition is true."""
    match cast("Node | None", condition):
        case And(parts):
            return NOTHING.union(*(surely_present(part) for part in parts))
        case Or(parts):
            return reduce(Names.intersection, (surely_present(part) for part in parts))
        case Not(IsNull(of)) | Not(of):
            return _columns_needed(of)
        case None:
            return NOTHING
        case _:
            return _columns_needed(cast("Expression", condition))


def _columns_needed(expression: Expression) -> Names:
    """Columns that are not missing wherever the expression is not missing."""
    match cast("Node", expression):
        case ColumnRef(name):
            return frozenset((name,))
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return _columns_needed(left) | _columns_needed(right)
        case Negated(of) | Not(of) | OneOf(of) | Bin(of) | Clamp(of):
            return _columns_needed(of)
        case DatePart(_, of) | StartOf(_, of):
            return _columns_needed(of)
        # `and`, `or` and cases can be there without all of their parts; `is_null` always is.
        case And() | Or() | Case() | IsNull() | Literal():
            return NOTHING
