"""Expressions of one row: comparisons, AND, OR, NOT, IN, BETWEEN, arithmetic; and functions of one:
CASE, COALESCE, GREATEST and LEAST, CLAMP, parts and starts of dates; those of text and the other
ones of dates are in text_functions.py.

Text beside a column of dates is read as a date, as SQL does: day >= '2024-01-31'. Two things
differ from some engines, so that nothing can fail: x / 0 is missing, and GREATEST and LEAST of a
missing value are missing.

  Proven:   by `TRANSLATED` and `FUNCTIONS`: a node that is in neither ends in a refusal
  Tested:   tests/sql/test_question.py, test_refusals.py
  Assumed:  sqlglot reads SQL as it is meant
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import partial
from typing import cast

from sqlglot import exp

from letalone.plans import expressions as nodes
from letalone.plans.constants import as_value
from letalone.plans.expressions import (
    Case,
    Clamp,
    ColumnRef,
    Comparison,
    Expression,
    Literal,
    same,
)
from letalone.plans.types import Type
from letalone.sql import public_queries
from letalone.sql.date_functions import (
    DATE_READERS,
    NAMED_DATES,
    move_date,
    read_duration,
    read_shift,
    read_shifted,
)
from letalone.sql.names import Names, only
from letalone.sql.refusals import refuse_node
from letalone.sql.text import Unread, slip
from letalone.sql.text_functions import (
    COMPARED,
    NAMED_FUNCTIONS,
    TEXT_FUNCTIONS,
    compare_whole,
)

COMPUTED: dict[type[exp.Expr], nodes.ArithmeticOp] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.SafeDivide: "/",
}
MOST_LISTED = 10_000
DIGITS = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")
ZERO, ONE = Literal(0), Literal(1)


@dataclass(frozen=True, slots=True)
class Translator:
    """Translates expressions of one row over the columns that a query can name."""

    names: Names

    def __call__(self, node: exp.Expr) -> Expression:
        translate = TRANSLATED.get(type(node))
        if translate is None:
            raise refuse_node(node)
        return translate(node, self)

    def several(self, parts: Sequence[exp.Expr]) -> list[Expression]:
        return [self(part) for part in parts]


def _constant(node: exp.Expr, _: Translator) -> Expression:
    only(node, "this", "is_string")
    if node.args.get("is_string"):
        return Literal(cast("str", node.this))
    digits = cast("str", node.this)
    try:
        return Literal(as_value(int(digits) if digits.isdecimal() else Decimal(digits)))
    except InvalidOperation:
        pass
    raise slip(f"{digits[:40]!r} is not a number", "Write it as 1000 or 0.5.", node=node)


def _missing(node: exp.Expr, _: Translator) -> Expression:
    raise Unread("NULL equals nothing", "Write IS NULL or IS NOT NULL.", node=node, word="NULL")


def _brackets(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this")
    return translate(node.this)


def _date_brackets(node: exp.Expr, translate: Translator) -> Expression:
    """What parsers put around dates, with what they take for a date that has none."""
    only(node, "this", "default_date")
    return translate(node.this)


def _sides(node: exp.Expr, translate: Translator) -> tuple[Expression, Expression]:
    binary = cast("exp.Binary", node)
    return translate(binary.this), translate(binary.expression)


def _connect(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "expression")
    left, right = _sides(node, translate)
    return left & right if type(node) is exp.And else left | right


def _not(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this")
    return nodes.Not(translate(node.this))


def _negative(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this")
    of = translate(node.this)
    if isinstance(of, Literal) and not isinstance(of.value, bool | str | date | None):
        return Literal(-of.value)
    return nodes.Negated(of)


def _compute(node: exp.Expr, translate: Translator) -> Expression:
    if type(node) in (exp.Add, exp.Sub) and type(node.args.get("expression")) is exp.Interval:
        return read_shift(node, translate)
    only(node, "this", "expression", "typed", "safe")
    sides = _sides(node, translate)
    moved = move_date(type(node), *sides)
    return nodes.Arithmetic(COMPUTED[type(node)], *sides) if moved is None else moved


def _compare(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "expression")
    whole = compare_whole(cast("exp.Binary", node), translate)
    if whole is not None:
        return whole
    lasting = read_duration(cast("exp.Binary", node), translate)
    if lasting is not None:
        return Comparison(COMPARED[type(node)], *lasting)
    shifted = read_shifted(cast("exp.Binary", node), translate)
    if shifted is not None:
        return Comparison(COMPARED[type(node)], *shifted)
    rest = _read_remainder(cast("exp.Binary", node), translate)
    if rest is not None:
        return rest
    left, right = _sides(node, translate)
    if isinstance(left, Literal) and isinstance(right, Literal):
        instead = "Compare with a column; text stands in single quotes, names in double ones."
        raise Unread("Two constants are compared", instead, node=node)
    return Comparison(COMPARED[type(node)], *_alike(left, right, translate))


def _read_remainder(node: exp.Binary, translate: Translator) -> Expression | None:
    """age % 2 = 0, of whole numbers with declared bounds: those that have this remainder."""
    of, by = node.this.unnest(), node.expression
    if type(of) is not exp.Mod or type(node) not in (exp.EQ, exp.NEQ):
        return None
    column, divisor, remainder = (
        translate(of.this.unnest()),
        translate(of.expression),
        translate(by),
    )
    typed = next(
        (c for c in translate.names.schema.columns if same(ColumnRef(c.name), column)), None
    )
    ends = None if typed is None else (typed.lower, typed.upper)
    values = [value.value if isinstance(value, Literal) else None for value in (divisor, remainder)]
    whole = typed is not None and typed.type is Type.INTEGER
    if not whole or ends is None or None in ends or not all(type(v) is int for v in values):
        return None
    low, high = (int(cast("Fraction", end)) for end in ends)
    by_number, rest = cast("tuple[int, int]", tuple(values))
    if by_number < 1 or high - low > MOST_LISTED or low < 0:
        return None
    met = tuple(number for number in range(low, high + 1) if number % by_number == rest)
    listed = public_queries.one_of(column, met)
    return nodes.Not(listed) if type(node) is exp.NEQ else listed


def _alike(
    left: Expression, right: Expression, translate: Translator
) -> tuple[Expression, Expression]:
    """Both sides; digits in quotes beside a number are that number: YEAR(day) = '2024'; 1 and 0
    beside a truth value are true and false: icu = 1."""
    return _digits(left, right, translate), _digits(right, left, translate)


def _digits(side: Expression, other: Expression, translate: Translator) -> Expression:
    if isinstance(side, Literal) and type(side.value) is int and side.value in (0, 1):
        known = None if isinstance(other, Literal) else translate.names.type_of(other)
        return Literal(bool(side.value)) if known is Type.BOOLEAN else side
    if not (isinstance(side, Literal) and isinstance(side.value, str)):
        return side
    is_number = DIGITS.fullmatch(side.value.strip()) is not None
    if not is_number or isinstance(other, Literal):
        return side
    if not translate.names.type_of(other).is_numeric:
        return side
    digits = side.value.strip()
    return Literal(as_value(int(digits) if digits.lstrip("-").isdecimal() else Decimal(digits)))


def _read_between(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "low", "high", words={"symmetric": "BETWEEN SYMMETRIC"})
    of, *ends = translate.several([node.args[name] for name in ("this", "low", "high")])
    low, high = (_digits(end, of, translate) for end in ends)
    return Comparison(">=", of, low) & Comparison("<=", of, high)


def _is(node: exp.Expr, translate: Translator) -> Expression:
    """IS NULL, IS TRUE and IS FALSE; the last two are never missing."""
    only(node, "this", "expression")
    value = cast("exp.Is", node).expression
    if type(value) is exp.Boolean:
        meant = translate(node.this)
        condition = meant if value.this else nodes.Not(meant)
        return Case(((condition, Literal(True)),), Literal(False))
    if type(value) is not exp.Null:
        raise Unread("IS stands before NULL, TRUE and FALSE only", "Write =.", node=node)
    unmatched = public_queries.read_unmatched(node.this, translate)
    return unmatched if unmatched is not None else nodes.IsNull(translate(node.this))


def _read_distinct_from(node: exp.Expr, translate: Translator) -> Expression:
    """IS [NOT] DISTINCT FROM: missing equals missing, and nothing else."""
    only(node, "this", "expression")
    left, right = _alike(*_sides(node, translate), translate)
    equal: Expression = Case(((Comparison("=", left, right), Literal(True)),), Literal(False))
    if not isinstance(left, Literal) and not isinstance(right, Literal):
        equal = equal | (nodes.IsNull(left) & nodes.IsNull(right))
    return equal if type(node) is exp.NullSafeEQ else nodes.Not(equal)


def _one_of(node: exp.Expr, translate: Translator) -> Expression:
    if node.args.get("query") is not None:
        return public_queries.read_in(node, translate, Translator)
    only(node, "this", "expressions")
    of = translate(node.this)
    values = [_digits(value, of, translate) for value in translate.several(node.expressions)]
    if not values or not all(isinstance(value, Literal) for value in values):
        instead = "Write them out: ward IN ('A', 'B')."
        raise Unread("IN takes a list of constants", instead, node=node)
    return nodes.OneOf(of, tuple(cast("Literal", value).value for value in values))


def _read_scalar(node: exp.Expr, translate: Translator) -> Expression:
    return public_queries.read_scalar(node, translate, Translator)


def _read_exists(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this")
    return public_queries.read_exists(node, translate, Translator)


def number_of(node: exp.Expr, translate: Translator, what: str) -> Fraction:
    """A constant number."""
    number = _end(translate(node))
    if number is None:
        raise Unread(f"{what} must be a number", "Write it out: 0.5.", node=node)
    return number


def _read_case(node: exp.Expr, translate: Translator) -> Expression:
    """CASE WHEN … THEN … ELSE … END, with or without a subject."""
    only(node, "this", "ifs", "default")
    branches: list[tuple[Expression, Expression]] = []
    for branch in cast("list[exp.If]", node.args["ifs"]):
        subject = None if node.this is None else translate(node.this)
        condition = translate(branch.this)
        if subject is not None:
            condition = Comparison("=", *_alike(subject, condition, translate))
        branches.append((condition, _result(branch.args["true"], translate)))
    return Case(tuple(branches), _result(node.args.get("default"), translate))


def _result(node: exp.Expr | None, translate: Translator) -> Expression:
    """What a CASE gives: NULL, too, also where nothing is said."""
    return Literal(None) if node is None or type(node) is exp.Null else translate(node)


def _read_if(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "true", "false")
    otherwise = _result(node.args.get("false"), translate)
    return Case(((translate(node.this), _result(node.args["true"], translate)),), otherwise)


def _read_coalesce(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "expressions", "is_null", "is_nvl")
    *first, last = translate.several([node.this, *node.expressions])
    if not first:
        return last
    return nodes.coalesce(*first, last)


def _read_absolute(node: exp.Expr, translate: Translator) -> Expression:
    """The size of a number: never below 0, which its type says, too."""
    only(node, "this")
    of = translate(node.this)
    return Clamp(Case(((Comparison("<", of, ZERO), nodes.Negated(of)),), of), Fraction(0), None)


def _read_extreme(node: exp.Expr, translate: Translator, *, largest: bool) -> Expression:
    """GREATEST(0, x) clamps; GREATEST(x, y) is a case. What is missing makes it missing."""
    only(node, "this", "expressions", "ignore_nulls")
    values = translate.several([node.this, *node.expressions])
    extreme, *rest = sorted(values, key=lambda value: isinstance(value, Literal))
    for value in rest:
        end = _end(value)
        if end is None:
            extreme = _larger(extreme, value, largest=largest)
        else:
            extreme = _clamp_to(extreme, *((end, None) if largest else (None, end)))
    return extreme


def _end(node: Expression) -> Fraction | None:
    if not isinstance(node, Literal) or isinstance(node.value, bool):
        return None
    return Fraction(node.value) if isinstance(node.value, int | Fraction) else None


def _clamp_to(of: Expression, lower: Fraction | None, upper: Fraction | None) -> Expression:
    """GREATEST(0, LEAST(x, 1000)) is one clamp."""
    if isinstance(of, Clamp) and (of.lower is None) != (lower is None):
        low, high = of.lower if lower is None else lower, of.upper if upper is None else upper
        if low is not None and high is not None and low <= high:
            return Clamp(of.of, low, high)
    return Clamp(of, lower, upper)


def _larger(left: Expression, right: Expression, *, largest: bool) -> Expression:
    op: nodes.ComparisonOp = ">=" if largest else "<="
    opposite: nodes.ComparisonOp = "<" if largest else ">"
    first, second = Comparison(op, left, right), Comparison(opposite, left, right)
    return Case(((first, left), (second, right)), Literal(None))


def _read_nullif(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "expression")
    left, right = _sides(node, translate)
    return Case(((Comparison("=", left, right), Literal(None)),), left)


def _read_function(node: exp.Expr, translate: Translator) -> Expression:
    name = str(node.this).upper()
    if name not in FUNCTIONS:
        raise refuse_node(node)
    return FUNCTIONS[name](node, translate)


def _read_isnull(node: exp.Expr, translate: Translator) -> Expression:
    """ISNULL(cost, 0) of SQL Server; with one argument it is MySQL's IS NULL."""
    if len(node.expressions) == 1:
        return nodes.IsNull(translate(node.expressions[0]))
    if len(node.expressions) != 2:
        raise slip("ISNULL takes a value and another", "Write COALESCE(cost, 0).", node=node)
    return nodes.coalesce(*translate.several(node.expressions))


def _clamp(node: exp.Expr, translate: Translator) -> Expression:
    if len(node.expressions) != 3:
        raise slip("CLAMP takes a value and two bounds", "Write CLAMP(cost, 0, 1000).", node=node)
    of, *ends = node.expressions
    lower, upper = (number_of(end, translate, "A bound of CLAMP") for end in ends)
    return Clamp(translate(of), lower, upper)


FUNCTIONS: dict[str, Callable[[exp.Expr, Translator], Expression]] = {
    "CLAMP": _clamp,
    "ISNULL": _read_isnull,
    **NAMED_DATES,
    **NAMED_FUNCTIONS,
}
TRANSLATED: dict[type[exp.Expr], Callable[[exp.Expr, Translator], Expression]] = {
    exp.Column: lambda node, translate: translate.names.column(node),
    exp.Literal: _constant,
    exp.Boolean: lambda node, _: Literal(bool(node.this)),
    exp.Null: _missing,
    exp.Paren: _brackets,
    exp.And: _connect,
    exp.Or: _connect,
    exp.Not: _not,
    exp.Neg: _negative,
    exp.Between: _read_between,
    exp.Is: _is,
    exp.In: _one_of,
    exp.Subquery: _read_scalar,
    exp.Exists: _read_exists,
    exp.Case: _read_case,
    exp.If: _read_if,
    exp.Coalesce: _read_coalesce,
    exp.Nullif: _read_nullif,
    exp.Abs: _read_absolute,
    exp.Greatest: partial(_read_extreme, largest=True),
    exp.Least: partial(_read_extreme, largest=False),
    exp.TsOrDsToDate: _date_brackets,  # Spark's parser puts it around dates, as the next
    exp.TimeStrToTime: _brackets,
    exp.TsOrDsToTimestamp: _brackets,
    exp.NullSafeEQ: _read_distinct_from,
    exp.NullSafeNEQ: _read_distinct_from,
    **DATE_READERS,
    **TEXT_FUNCTIONS,
    exp.Anonymous: _read_function,
    **dict.fromkeys(COMPARED, _compare),
    **dict.fromkeys(COMPUTED, _compute),
}
