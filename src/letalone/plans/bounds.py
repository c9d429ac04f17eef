"""Bounds of values that are added up or searched, and the steps between them.

The exact sums are whole numbers on a grid of doubles, so a range must be wide enough for
its own size: [10^9, 10^9 + 1] is fine, [10^15, 10^15 + 1] holds too few doubles.

  Tested:   tests/plans/test_bounds.py
"""

from fractions import Fraction

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.typed import SCALE, refusal
from letalone.plans.constants import as_bound, shown
from letalone.plans.expressions import ColumnRef, Expression
from letalone.plans.types import Type
from letalone.plans.typing import Columns, Typed
from letalone.plans.wording import in_words

MOST_CELLS = 100_000
USUAL_CELLS = 1000
# Doubles have 53 bits; a range of 2^-32 of its size leaves 2^21 grid points within it.
NARROWEST = Fraction(1, 2**32)
SMALLEST_WIDTH = Fraction(1, 10**100)
ZERO = Fraction(0)


def check_range(lower: Fraction, upper: Fraction, *, words: str) -> None:
    """Refuses a range that is empty or too narrow for its size."""
    if lower >= upper:
        raise ParameterError(
            f"The bounds of '{words}' are lower={shown(lower)} and upper={shown(upper)}, but lower"
            " must be below upper."
        )
    if upper - lower < max(max(abs(lower), abs(upper)) * NARROWEST, SMALLEST_WIDTH):
        raise ParameterError(
            f"The bounds of '{words}' are too close together for numbers of their size: doubles"
            f" cannot tell enough values apart between them. Shift the values first:"
            f' la.col("x") - {shown(lower)}, with lower=0.'
        )


def resolved_bounds(
    of: Expression, columns: Columns, *, lower: object, upper: object
) -> tuple[Fraction, Fraction]:
    """The given bounds, else those that the schema declares; a refusal with the remedies.

    Where an expression has one value alone, as CASE WHEN … THEN 1 END has, they hold 0, too.
    """
    low = _declared(of, columns, "lower") if lower is None else as_bound("lower", lower)
    high = _declared(of, columns, "upper") if upper is None else as_bound("upper", upper)
    if low is None or high is None:
        raise _missing_bounds(in_words(of), low, high)
    if low == high and lower is None and upper is None:
        low, high = (ZERO, Fraction(1)) if low == 0 else (min(low, ZERO), max(high, ZERO))
    check_range(low, high, words=in_words(of))
    return low, high


def check_numeric(of: Expression, columns: Columns, *, done: str) -> Typed:
    """The type of a number; refuses anything else."""
    typed = columns.type_of(of)
    if not typed.type.is_numeric:
        raise UnsupportedQuery(
            f"'{in_words(of)}' is {typed.type.value}, but {done} needs numbers."
            + _numeric_hint(of, typed.type)
        )
    return typed


def friendly_step(lower: Fraction, upper: Fraction, kind: Type) -> Fraction:
    """The step between candidates that nobody named.

    1 for whole numbers in a range of at most 100,000. Else the largest of 1, 2 and 5 times a
    power of ten that is at most a thousandth of the range: 1,001 to 2,501 candidates.
    """
    if kind is Type.INTEGER and upper - lower < MOST_CELLS:
        return Fraction(1)
    most = (upper - lower) / USUAL_CELLS
    power = Fraction(1)
    while power > most:
        power /= 10
    while power * 10 <= most:
        power *= 10
    return next(power * times for times in (5, 2, 1) if power * times <= most)


def read_step(step: object, lower: Fraction, upper: Fraction) -> Fraction:
    """A step that was given: positive, no wider than the range, not too many candidates."""
    number = SCALE.typed("step", as_bound("step", step))
    if number > upper - lower:
        raise refusal("step", step, f"at most the width of the range, {shown(upper - lower)}")
    check_cells((upper - lower) // number + 1)
    return number


def check_cells(cells: int) -> None:
    """Refuses more candidates or cells than can be counted in one pass."""
    if cells > MOST_CELLS:
        raise ParameterError(
            f"There are {cells:,} values to choose among, but there may be at most"
            f" {MOST_CELLS:,}. Take a larger step or closer bounds."
        )


def _declared(of: Expression, columns: Columns, side: str) -> Fraction | None:
    """What the schema says: of a column itself, or by interval arithmetic of an expression."""
    if isinstance(of, ColumnRef) and of.name in columns.declared:
        return getattr(columns.declared[of.name], side)
    end: float = getattr(columns.type_of(of), side)
    return None if abs(end) == float("inf") else as_bound(side, end)


def _missing_bounds(words: str, low: Fraction | None, high: Fraction | None) -> ParameterError:
    sides = [side for side, end in (("lower", low), ("upper", high)) if end is None]
    return ParameterError(
        f"'{words}' has no declared {' and '.join(sides)} bound, and none is read from the data."
        " Give lower=…, upper=… from what is publicly known, declare them in the schema file, or"
        " buy them with la.private_bounds, at a price."
    )


def _numeric_hint(of: Expression, kind: Type) -> str:
    match kind:
        case Type.DATE | Type.TIMESTAMP:
            return ' Take a part of it: la.col("day").part("year").'
        case Type.TEXT if isinstance(of, ColumnRef):
            return (
                " Declare its type in the schema file or with la.open(…,"
                f" types={{{of.name!r}: 'number'}}), or 'boolean' if it holds yes and no;"
                " cells such as 1,234.5 or 'unknown' are left out then."
            )
        case _:
            return ""
