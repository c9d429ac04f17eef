"""Bounds of values that are added up or searched, and the steps between them.

The exact sums are whole numbers on a grid of doubles, so a range must be wide enough for
its own size: [10^9, 10^9 + 1] is fine, [10^15, 10^15 + 1] holds too few doubles.

  Tested:   tests/plans/test_aggregates.py, test_missing.py
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import isinf
from typing import Any, cast

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.errors.codes import Code, Group
from letalone.errors.problem import Problem, Spelled, problem
from letalone.errors.remedies import AddBounds, BuyBounds, ClampExpression, DeclareTypes
from letalone.exact.typed import SCALE, refusal
from letalone.plans import expressions as nodes
from letalone.plans.constants import as_bound, format_constant
from letalone.plans.expressions import ColumnRef, Expression
from letalone.plans.schema_file import key_in_file
from letalone.plans.types import Type
from letalone.plans.typing import ColumnTypes, ExpressionType
from letalone.plans.wording import in_words

MOST_CELLS = 100_000
USUAL_CELLS = 1000
# Doubles have 53 bits; a range of 2^-32 of its size leaves 2^21 grid points within it.
NARROWEST = Fraction(1, 2**32)
SMALLEST_WIDTH = Fraction(1, 10**100)
ZERO = Fraction(0)
UNIT_RANGE = (ZERO, Fraction(1))  # stands for bounds that are not known yet


def check_range(lower: Fraction, upper: Fraction, *, words: str) -> None:
    """Refuses a range that is empty or too narrow for its size."""
    if lower >= upper:
        raise ParameterError(
            f"The bounds of '{words}' are lower={format_constant(lower)} and"
            f" upper={format_constant(upper)}, but lower must be below upper."
        )
    if upper - lower < max(max(abs(lower), abs(upper)) * NARROWEST, SMALLEST_WIDTH):
        raise ParameterError(
            f"The bounds of '{words}' are too close together for numbers of their size: doubles"
            f" cannot tell enough values apart between them. Shift the values first:"
            f' la.col("x") - {format_constant(lower)}, with lower=0.'
        )


def resolve_bounds(
    of: Expression, columns: ColumnTypes, *, lower: object, upper: object, by_name: bool = False
) -> tuple[Fraction, Fraction]:
    """The given bounds, else those that the schema declares; a refusal with the remedies.

    Where an expression has one value alone, as CASE WHEN … THEN 1 END has, they hold 0, too.
    `by_name`: bounds are given by the names of columns.
    """
    low = _declared_bound(of, columns, "lower") if lower is None else as_bound("lower", lower)
    high = _declared_bound(of, columns, "upper") if upper is None else as_bound("upper", upper)
    if low is None or high is None:
        sides = [side for side, end in (("lower", low), ("upper", high)) if end is None]
        raise ParameterError(_missing_bounds(of, columns, sides, by_name=by_name))
    if low == high and lower is None and upper is None:
        low, high = (ZERO, Fraction(1)) if low == 0 else (min(low, ZERO), max(high, ZERO))
    check_range(low, high, words=in_words(of))
    return low, high


def check_numeric(of: Expression, columns: ColumnTypes, *, done: str) -> ExpressionType:
    """The type of a number; refuses anything else."""
    typed = columns.type_of(of)
    if not typed.type.is_numeric:
        name = of.name if isinstance(of, ColumnRef) else in_words(of)
        told = f"'{name}' is {typed.type.value}, but {done} needs numbers."
        is_text = typed.type is Type.TEXT and isinstance(of, ColumnRef)
        remedies = (DeclareTypes((of.name,)),) if is_text else ()
        words = Spelled(*(told + hint for hint in _numeric_hints(of, typed.type)))
        raise UnsupportedQuery(
            Problem(Code.NO_PRIVATE_ANSWER, remedies=remedies, words=words, advised=True)
        )
    return typed


def friendly_step(lower: Fraction, upper: Fraction, kind: Type) -> Fraction:
    """The step between candidates that nobody named.

    1 for whole numbers in a range of at most 100,000. Else the largest of 1, 2 and 5 times a
    power of ten that is at most a thousandth of the range: 1,001 to 2,501 candidates.
    """
    if kind is Type.INTEGER and upper - lower < MOST_CELLS:
        return Fraction(1)
    widest = (upper - lower) / USUAL_CELLS
    power = Fraction(1)
    while power > widest:
        power /= 10
    while power * 10 <= widest:
        power *= 10
    return next(power * times for times in (5, 2, 1) if power * times <= widest)


def read_step(step: object, lower: Fraction, upper: Fraction) -> Fraction:
    """A step that was given: positive, no wider than the range, not too many candidates."""
    number = SCALE.typed("step", as_bound("step", step))
    if number > upper - lower:
        raise refusal(
            "step", step, f"at most the width of the range, {format_constant(upper - lower)}"
        )
    check_cells((upper - lower) // number + 1)
    return number


def check_cells(cells: int) -> None:
    """Refuses more candidates or cells than can be counted in one pass."""
    if cells > MOST_CELLS:
        raise ParameterError(
            f"There are {cells:,} values to choose among, but there may be at most"
            f" {MOST_CELLS:,}. Take a larger step or closer bounds."
        )


def _declared_bound(of: Expression, columns: ColumnTypes, side: str) -> Fraction | None:
    """What the schema says: of a column itself, or by interval arithmetic of an expression."""
    if isinstance(of, ColumnRef) and of.name in columns.declared:
        return getattr(columns.declared[of.name], side)
    end: float = getattr(columns.type_of(of), side)
    return None if abs(end) == float("inf") else as_bound(side, end)


def _missing_bounds(
    of: Expression, columns: ColumnTypes, sides: list[str], *, by_name: bool
) -> Problem:
    words = in_words(of)
    python = (
        f"'{words}' has no declared {' and '.join(sides)} bound, and none is read from the data."
    )
    lacking = columns_without_bounds(of, columns)
    if not lacking or is_unbounded(clamp_columns(of, dict.fromkeys(lacking, UNIT_RANGE)), columns):
        options = Code.MISSING_EXPRESSION_BOUNDS.template.format(expression=words)
        return problem(
            Code.MISSING_EXPRESSION_BOUNDS,
            ClampExpression(words),
            words=Spelled(python, options),
            expression=words,
        )
    return missing_bounds(lacking, python=python, by_name=by_name)


def missing_bounds(columns: tuple[str, ...], *, python: str, by_name: bool = False) -> Problem:
    """What is wrong where columns have no bounds, in Python's words and in those of the code."""
    options = Code.MISSING_BOUNDS.template.format(columns=" and ".join(columns))
    remedies = AddBounds(columns, by_name=by_name), BuyBounds(columns)
    words = Spelled(python, options)
    return problem(Code.MISSING_BOUNDS, *remedies, words=words, columns=columns)


def resolve_all(*steps: Callable[[], Any]) -> list[Any]:
    """What each step returns; or one error with all that is missing for any of them."""
    results: list[Any] = []
    missing: list[Problem] = []
    for step in steps:
        try:
            results.append(step())
        except ParameterError as error:
            if error.code.group is not Group.MISSING:
                raise
            missing += [replace(error.problem, others=()), *error.problem.others]
    if missing:
        raise ParameterError(_join_problems(missing)) from None
    return results


def _join_problems(missing: list[Problem]) -> Problem:
    """Columns without bounds as one problem, and the others beside it, each once."""
    without = [problem for problem in missing if problem.code is Code.MISSING_BOUNDS]
    others = [problem for problem in missing if problem.code is not Code.MISSING_BOUNDS]
    if without:
        others.insert(0, _join_bounds(without))
    first, *rest = {repr(problem): problem for problem in others}.values()
    return replace(first, others=tuple(rest))


def _join_bounds(without: list[Problem]) -> Problem:
    names = tuple(dict.fromkeys(name for problem in without for name in problem.facts["columns"]))
    if len(names) == 1:
        return without[0]
    python = f"{' and '.join(map(repr, names))} have no declared bounds, and none are read from the"
    by_name = all(cast("AddBounds", problem.remedies[0]).by_name for problem in without)
    return missing_bounds(names, python=f"{python} data.", by_name=by_name)


def columns_without_bounds(of: Expression, columns: ColumnTypes) -> tuple[str, ...]:
    """The columns of numbers in an expression whose bounds are not known."""
    names = dict.fromkeys(nodes.column_names(nodes.inline_columns(of, columns.derived)))
    return tuple(name for name in names if _is_open(name, columns))


def is_unbounded(of: Expression, columns: ColumnTypes) -> bool:
    """Whether the values of an expression have no bounds, as those of a quotient."""
    typed = columns.type_of(of)
    return isinf(typed.lower) or isinf(typed.upper)


def clamp_columns(of: Expression, bounds: Mapping[str, tuple[Fraction, Fraction]]) -> Expression:
    """The expression with each of these columns clamped where it is read."""
    if isinstance(of, ColumnRef):
        ends = bounds.get(of.name)
        return of if ends is None else nodes.Clamp(of, *ends)
    return nodes.with_parts(of, lambda part: clamp_columns(part, bounds))


def _is_open(name: str, columns: ColumnTypes) -> bool:
    typed = columns.type_of(ColumnRef(name))
    return typed.type.is_numeric and (isinf(typed.lower) or isinf(typed.upper))


def _numeric_hints(of: Expression, kind: Type) -> tuple[str, str, str]:
    """What would help, in Python, in options and over HTTP."""
    match kind:
        case Type.DATE | Type.TIMESTAMP:
            part = " Take a part of it: EXTRACT(year FROM day)."
            return ' Take a part of it: la.col("day").part("year").', part, part
        case Type.TEXT if isinstance(of, ColumnRef):
            declare = " Declare its type in the schema file"
            left_out = (
                ", or 'boolean' if it holds yes and no; cells such as 1,234.5 or 'unknown' are"
                " left out then."
            )
            return (
                f"{declare} or with la.open(…, types={{{of.name!r}: 'number'}}){left_out}",
                f"{declare}: type = 'number' below [columns.{key_in_file(of.name)}]{left_out}",
                " Its owner can declare it a number, or boolean if it holds yes and no.",
            )
        case _:
            return "", "", ""
