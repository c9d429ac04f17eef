"""Expressions of one row: comparisons, AND, OR, NOT, IN, BETWEEN, arithmetic, CASE, date parts.

Text beside a column of dates is read as a date, as SQL does: day >= '2024-01-31'. Two things
differ from some engines, so that nothing can fail: x / 0 is missing, and GREATEST and LEAST of a
missing value are missing.

  Proven:   by `TRANSLATED` and `FUNCTIONS`: a node that is in neither ends in a refusal
  Tested:   tests/sql/test_question.py, test_refusals.py
  Assumed:  sqlglot reads SQL as it is meant
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import cast

from sqlglot import exp

from letalone.plans.constants import as_value
from letalone.plans.expressions import (
    Arithmetic,
    ArithmeticOp,
    Comparison,
    ComparisonOp,
    Expression,
    IsNull,
    Literal,
    Negated,
    Not,
    OneOf,
)
from letalone.sql import functions
from letalone.sql.names import Names, only
from letalone.sql.refusals import SUBQUERY, refuse_node
from letalone.sql.text import Unread, slip

COMPARED: dict[type[exp.Expr], ComparisonOp] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
COMPUTED: dict[type[exp.Expr], ArithmeticOp] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.SafeDivide: "/",
}


@dataclass(frozen=True, slots=True)
class Translator:
    """Translates expressions of one row over the columns that a query can name."""

    names: Names

    def __call__(self, node: exp.Expr) -> Expression:
        """The expression that a node stands for, or a refusal."""
        translate = TRANSLATED.get(type(node))
        if translate is None:
            raise refuse_node(node)
        return translate(node, self)

    def several(self, nodes: Sequence[exp.Expr]) -> list[Expression]:
        return [self(node) for node in nodes]


def _constant(node: exp.Expr, _: Translator) -> Expression:
    only(node, "this", "is_string")
    if node.args.get("is_string"):
        return Literal(cast("str", node.this))
    digits = cast("str", node.this)
    try:
        return Literal(as_value(int(digits) if digits.isdecimal() else Decimal(digits)))
    except InvalidOperation:
        pass
    raise slip(f"{digits[:40]!r} is no number", "Write it as 1000 or 0.5.", node=node)


def _missing(node: exp.Expr, _: Translator) -> Expression:
    raise Unread("NULL equals nothing", "Write IS NULL or IS NOT NULL.", node=node, word="NULL")


def _brackets(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this")
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
    return Not(translate(node.this))


def _negative(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this")
    of = translate(node.this)
    if isinstance(of, Literal) and not isinstance(of.value, bool | str | date | None):
        return Literal(-of.value)
    return Negated(of)


def _compute(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "expression", "typed", "safe")
    return Arithmetic(COMPUTED[type(node)], *_sides(node, translate))


def _compare(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "expression")
    left, right = _sides(node, translate)
    if isinstance(left, Literal) and isinstance(right, Literal):
        instead = "Compare with a column; text stands in single quotes, names in double ones."
        raise Unread("Two constants are compared", instead, node=node)
    return Comparison(COMPARED[type(node)], left, right)


def _read_between(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "low", "high", words={"symmetric": "BETWEEN SYMMETRIC"})
    of, low, high = translate.several([node.args[name] for name in ("this", "low", "high")])
    return Comparison(">=", of, low) & Comparison("<=", of, high)


def _is(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "expression")
    if type(cast("exp.Is", node).expression) is not exp.Null:
        raise Unread("IS stands before NULL and NOT NULL only", "Write = TRUE.", node=node)
    return IsNull(translate(node.this))


def _one_of(node: exp.Expr, translate: Translator) -> Expression:
    if node.args.get("query") is not None:
        raise SUBQUERY.at(node)
    only(node, "this", "expressions")
    of, values = translate(node.this), translate.several(node.expressions)
    if not values or not all(isinstance(value, Literal) for value in values):
        instead = "Write them out: ward IN ('A', 'B')."
        raise Unread("IN takes a list of constants", instead, node=node)
    return OneOf(of, tuple(cast("Literal", value).value for value in values))


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
    exp.Cast: functions.read_cast,
    exp.Case: functions.read_case,
    exp.If: functions.read_if,
    exp.Coalesce: functions.read_coalesce,
    exp.Nullif: functions.read_nullif,
    exp.Abs: functions.read_absolute,
    exp.Greatest: partial(functions.read_extreme, largest=True),
    exp.Least: partial(functions.read_extreme, largest=False),
    exp.Extract: functions.read_extract,
    exp.TimestampTrunc: functions.read_start,
    exp.DateTrunc: functions.read_start,
    exp.DatetimeTrunc: functions.read_start,
    exp.TsOrDsToDate: _brackets,  # Spark's parser puts it around dates
    exp.Anonymous: functions.read_function,
    **dict.fromkeys(COMPARED, _compare),
    **dict.fromkeys(COMPUTED, _compute),
    **dict.fromkeys(functions.DATE_FUNCTIONS, functions.read_date_function),
}
