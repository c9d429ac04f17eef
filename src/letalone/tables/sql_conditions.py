"""The conditions of the small SQL: comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL, arithmetic.

Text beside a column of dates is read as a date, as SQL does: day >= '2024-01-31'.

  Proven:   by `TRANSLATED`: a node of a type that is not in it ends in a refusal
  Tested:   tests/tables/test_sql_reader.py
  Assumed:  sqlglot reads SQL as it is meant
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import cast

from sqlglot import exp

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.plans.constants import as_value
from letalone.plans.expressions import (
    Arithmetic,
    ArithmeticOp,
    ColumnRef,
    Comparison,
    ComparisonOp,
    Expression,
    IsNull,
    Literal,
    Negated,
    Not,
    OneOf,
)
from letalone.plans.schema import Schema
from letalone.plans.types import Type

ALLOWED = (
    "A question is SELECT [columns,] COUNT(*), COUNT(DISTINCT unit), SUM(column), AVG(column)"
    " FROM table [WHERE conditions] [GROUP BY columns]."
)
CONDITIONS = (
    "A condition is made of columns, constants, = <> < <= > >=, IN, BETWEEN, IS NULL, AND, OR, NOT"
    " and + - * /."
)
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
}
DATES = (exp.DType.DATE, exp.DType.DATE32)
TIMES = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ, exp.DType.TIMESTAMPTZ)


@dataclass(frozen=True, slots=True)
class Names:
    """What names mean: the columns of the schema, and what the SQL calls the table."""

    schema: Schema
    table: set[str]

    def column(self, node: exp.Expr) -> str:
        """The column that is meant: capitals count only in quotes, as in SQL."""
        only(node, "this", "table", words={"db": "a name with dots", "catalog": "a name with dots"})
        prefix = node.text("table").casefold()
        if prefix and prefix not in self.table:
            raise ParameterError(f"There is no table {prefix!r} in this SQL. Leave out the prefix.")
        identifier = node.this
        if type(identifier) is not exp.Identifier:
            raise UnsupportedQuery(f"A column must be called by its name. {ALLOWED}")
        name = identifier.name
        if not identifier.quoted:
            by_lower = {one.name.casefold(): one.name for one in self.schema.columns}
            name = by_lower.get(name.casefold(), name)
        return self.schema.column(name).name

    def type_of(self, of: Expression) -> Type | None:
        """The type of a bare column."""
        return self.schema.column(of.name).type if isinstance(of, ColumnRef) else None

    def shown(self, node: exp.Expr) -> str:
        """What kind of thing a node is: its SQL name."""
        name = node.this if type(node) is exp.Anonymous else None
        return str(name or node.key).upper()[:40]


def only(node: exp.Expr, *allowed: str, words: Mapping[str, str]) -> None:
    """Refuses a node that carries more than the parts that are translated."""
    for name, value in node.args.items():
        if name not in allowed and value not in (None, False, []):
            what = words.get(name) or f"{node.key.upper()} with {name.strip('_').upper()}"
            raise UnsupportedQuery(f"{what} is not read here. {ALLOWED}")


def condition(node: exp.Expr, names: Names) -> Expression:
    """The expression of a node of SQL, or a refusal."""
    translate = TRANSLATED.get(type(node))
    if type(node) in (exp.Like, exp.ILike):
        raise UnsupportedQuery(
            "LIKE is not read here: list the values that are meant, as in ward IN ('A', 'B')."
        )
    if translate is None:
        raise UnsupportedQuery(f"{names.shown(node)} is not read in a condition. {CONDITIONS}")
    return translate(node, names)


def _column(node: exp.Expr, names: Names) -> Expression:
    return ColumnRef(names.column(node))


def _constant(node: exp.Expr, _: Names) -> Expression:
    only(node, "this", "is_string", words={})
    if node.args.get("is_string"):
        return Literal(cast("str", node.this))
    digits = cast("str", node.this)
    try:
        return Literal(as_value(int(digits) if digits.isdecimal() else Decimal(digits)))
    except InvalidOperation:
        raise ParameterError(f"{digits[:40]!r} is no number.") from None


def _truth(node: exp.Expr, _: Names) -> Expression:
    return Literal(bool(node.this))


def _brackets(node: exp.Expr, names: Names) -> Expression:
    only(node, "this", words={})
    return condition(node.this, names)


def _and(node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "expression", words={})
    return condition(node.this, names) & condition(cast("exp.And", node).expression, names)


def _or(node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "expression", words={})
    return condition(node.this, names) | condition(cast("exp.Or", node).expression, names)


def _not(node: exp.Expr, names: Names) -> Expression:
    only(node, "this", words={})
    return Not(condition(node.this, names))


def _negative(node: exp.Expr, names: Names) -> Expression:
    only(node, "this", words={})
    of = condition(node.this, names)
    if isinstance(of, Literal) and not isinstance(of.value, bool | str | date | None):
        return Literal(-of.value)
    return Negated(of)


def _computed(node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "expression", "typed", "safe", words={})
    left, right = _sides(node, names)
    return Arithmetic(COMPUTED[type(node)], left, right)


def _compared(node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "expression", words={})
    left, right = _sides(node, names)
    pair = _as_dates(left, right, names), _as_dates(right, left, names)
    return Comparison(COMPARED[type(node)], *pair)


def _sides(node: exp.Expr, names: Names) -> tuple[Expression, Expression]:
    binary = cast("exp.Binary", node)
    return condition(binary.left, names), condition(binary.right, names)


def _between(node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "low", "high", words={"symmetric": "BETWEEN SYMMETRIC"})
    of, low, high = (condition(node.args[name], names) for name in ("this", "low", "high"))
    low, high = _as_dates(low, of, names), _as_dates(high, of, names)
    return Comparison(">=", of, low) & Comparison("<=", of, high)


def _is(node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "expression", words={})
    if type(cast("exp.Is", node).expression) is not exp.Null:
        raise UnsupportedQuery("IS stands before NULL and NOT NULL only: write = TRUE.")
    return IsNull(condition(node.this, names))


def _one_of(node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "expressions", words={"query": "A query within a query"})
    of = condition(node.this, names)
    values = [_as_dates(condition(value, names), of, names) for value in node.expressions]
    if not values or not all(isinstance(value, Literal) for value in values):
        raise UnsupportedQuery("IN takes a list of constants: ward IN ('A', 'B').")
    return OneOf(of, tuple(cast("Literal", value).value for value in values))


def _missing(*_: object) -> Expression:
    raise UnsupportedQuery("NULL equals nothing: write IS NULL or IS NOT NULL.")


def _cast(node: exp.Expr, names: Names) -> Expression:
    """DATE '2024-01-31' and TIMESTAMP '2024-01-31 10:00', which sqlglot reads as casts."""
    only(node, "this", "to", words={})
    kind = cast("exp.DataType", node.args["to"]).this
    if type(node.this) is not exp.Literal or kind not in (*DATES, *TIMES):
        raise UnsupportedQuery("Types are declared in the schema file, not cast in the SQL.")
    text = condition(node.this, names)
    return _moment(text, Type.DATE if kind in DATES else Type.TIMESTAMP)


def _as_dates(side: Expression, other: Expression, names: Names) -> Expression:
    """Text beside a column of dates or times, as one of these."""
    kind = names.type_of(other)
    if kind in (Type.DATE, Type.TIMESTAMP) and isinstance(side, Literal):
        return _moment(side, kind) if isinstance(side.value, str) else side
    return side


def _moment(text: Expression, kind: Type) -> Expression:
    written = str(cast("Literal", text).value)
    read = date.fromisoformat if kind is Type.DATE else datetime.fromisoformat
    try:
        return Literal(read(written))
    except ValueError:
        pass
    example = "'2024-01-31'" if kind is Type.DATE else "'2024-01-31 14:30:00'"
    raise ParameterError(f"{written[:40]!r} is no {kind.value}: write it as {example}.")


TRANSLATED: dict[type[exp.Expr], Callable[[exp.Expr, Names], Expression]] = {
    exp.Column: _column,
    exp.Literal: _constant,
    exp.Boolean: _truth,
    exp.Null: _missing,
    exp.Paren: _brackets,
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    exp.Neg: _negative,
    exp.Between: _between,
    exp.Is: _is,
    exp.In: _one_of,
    exp.Cast: _cast,
    **dict.fromkeys(COMPARED, _compared),
    **dict.fromkeys(COMPUTED, _computed),
}
