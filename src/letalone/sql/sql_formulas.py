"""Formulas over aggregates: SUM(a) / COUNT(*), 100 * AVG(x), ROUND(…), as trees of ours.

NULLIF(COUNT(*), 0) is read as COUNT(*): a division by what may be 0 has an open interval anyway.

  Tested:   tests/sql/test_question.py, test_arranging.py
"""

from collections.abc import Callable, Collection, Mapping
from itertools import chain, count
from typing import cast

from sqlglot import exp

from letalone.plans.aggregates.facts import AggregateRequest
from letalone.plans.aggregates.formula_trees import Computable, Function, apply_function, combine
from letalone.plans.expressions import ColumnRef, Literal
from letalone.sql.aggregates import AGGREGATED, aggregate, is_aggregate, name_aggregate
from letalone.sql.date_functions import DATES, TEXTS, TIMES, WHOLE
from letalone.sql.names import named_by, only
from letalone.sql.refusals import refuse_node, sql_name
from letalone.sql.text import Unread
from letalone.sql.values import COMPUTED, Translator, number_of

FORMULA = "A formula over aggregates is made of numbers, + - * /, ROUND, ABS, SQRT, LN and EXP."
APPLIED: dict[type[exp.Expr], Function] = {
    exp.Abs: "absolute",
    exp.Sqrt: "root",
    exp.Exp: "exponential",
    exp.Ln: "logarithm",
    exp.Floor: "floor",
    exp.Ceil: "ceiling",
}
FREE = (*TEXTS, *TIMES, *DATES)  # types that numbers are not
Value = Computable | Literal


class Formulas:
    """Translates formulas; `known` are aggregates that the query gave a name."""

    def __init__(self, translate: Translator, known: Mapping[str, Computable]) -> None:
        self.translate, self.known = translate, known

    def __call__(self, node: exp.Expr) -> Computable:
        """The aggregate or the formula that a node stands for, or a refusal."""
        value = self._value(node)
        if isinstance(value, Computable):
            return value
        raise Unread("A constant is selected", "Ask for an aggregate: COUNT(*).", node=node)

    def _value(self, node: exp.Expr) -> Value:
        if is_aggregate(node):
            return aggregate(node, self.translate)
        translate = FORMULAS.get(type(node))
        if translate is None:
            raise refuse_node(node, AGGREGATED if isinstance(node, exp.Func) else FORMULA)
        return translate(self, node)

    def read_literal(self, node: exp.Expr) -> Value:
        literal = self.translate(node)
        if isinstance(literal, Literal) and isinstance(literal.value, str | bool):
            raise Unread("Text is selected", "Ask for an aggregate: COUNT(*).", node=node)
        return cast("Literal", literal)

    def read_named(self, node: exp.Expr) -> Value:
        """An aggregate by its name in SELECT."""
        name = named_by(node, self.known)
        if name is not None and not node.args.get("table"):
            return self.known[name]
        column = self.translate.names.column(node).name
        grouped = f"SELECT {column}, COUNT(*) … GROUP BY {column}."
        instead = f"Count it, add it up, or put it into GROUP BY: {grouped}"
        raise Unread(f"{column!r} is selected as it is, which would show rows", instead, node=node)

    def read_brackets(self, node: exp.Expr) -> Value:
        only(node, "this")
        return self._value(node.this)

    def read_operation(self, node: exp.Expr) -> Value:
        only(node, "this", "expression", "typed", "safe")
        binary = cast("exp.Binary", node)
        left, right = self._value(binary.this), self._value(binary.expression)
        if isinstance(left, Literal) and isinstance(right, Literal):
            return _constant(self.translate(node), node)
        return combine(COMPUTED[type(node)], _plain(left), _plain(right))

    def read_negative(self, node: exp.Expr) -> Value:
        only(node, "this")
        of = self._value(node.this)
        return cast("Literal", self.translate(node)) if isinstance(of, Literal) else -of

    def read_applied(self, node: exp.Expr) -> Value:
        only(node, "this")
        return apply_function(APPLIED[type(node)], _plain(self._value(node.this)))

    def read_cast(self, node: exp.Expr) -> Value:
        """A noisy number as a float is itself; as a decimal or a whole number it is rounded."""
        only(node, "this", "to", "_type", "safe")
        value, kind = self._value(node.this), cast("exp.DataType", node.args["to"])
        digits = [str(part.name) for part in kind.expressions]
        if isinstance(value, Literal) or kind.this in FREE:
            raise refuse_node(node, FORMULA)
        if kind.this in WHOLE:
            return apply_function("rounded", value, 0)
        return value if len(digits) < 2 else apply_function("rounded", value, int(digits[1]))

    def read_rounded(self, node: exp.Expr) -> Value:
        only(node, "this", "decimals")
        decimals = node.args.get("decimals")
        digits = 0 if decimals is None else number_of(decimals, self.translate, "The digits")
        if digits != int(digits):
            raise Unread("ROUND takes whole digits", "Write ROUND(AVG(cost), 2).", node=node)
        return apply_function("rounded", _plain(self._value(node.this)), int(digits))

    def read_nullif(self, node: exp.Expr) -> Value:
        only(node, "this", "expression")
        other = self._value(cast("exp.Nullif", node).expression)
        if not isinstance(other, Literal) or other.value != 0:
            instead = "Only NULLIF(…, 0) is read, before a division."
            raise Unread(f"This {sql_name(node)} is not read", instead, node=node)
        return self._value(node.this)

    def read_coalesce(self, node: exp.Expr) -> Value:
        if not is_never_missing(node):
            raise refuse_node(node, FORMULA)
        return self._value(cast("exp.Coalesce", node).this)


def is_never_missing(node: exp.Expr) -> bool:
    """Whether it is COALESCE(SUM(cost), 0): a count, a sum and a mean have an answer anyway."""
    if type(node) is not exp.Coalesce:
        return False
    of = node.this.this if type(node.this) is exp.Filter else node.this
    return type(of) in (exp.Count, exp.Sum, exp.Avg)


def default_name(node: exp.Expr, asked: Computable) -> str:
    """The name of a column that nobody gave one."""
    while type(node) in (exp.Paren, exp.Round, exp.Cast, exp.Coalesce):
        node = node.this
    if isinstance(asked, AggregateRequest) and is_aggregate(node):
        return name_aggregate(node, asked)
    return "formula"


def free_name(name: str, asked: Computable | None, *, taken: Collection[str]) -> str:
    """The name where it is free; else with its column, as count_distinct_sex, or a number."""
    used = {candidate.casefold() for candidate in taken}
    if name.casefold() not in used:
        return name
    if isinstance(asked, AggregateRequest) and asked.word == "count_distinct":
        columns = [asked.of.name] if isinstance(asked.of, ColumnRef) else []
        name = "_".join([name, *columns])
    candidates = chain([name], (f"{name}_{number}" for number in count(2)))
    return next(candidate for candidate in candidates if candidate.casefold() not in used)


def _plain(value: Value) -> object:
    return value.value if isinstance(value, Literal) else value


def _constant(found: object, node: exp.Expr) -> Literal:
    """1 / 3 in doubles is not what is meant: only constants that are written out."""
    if not isinstance(found, Literal):
        instead = "Write the result: 0.5 for 1 / 2."
        raise Unread("A calculation with constants alone", instead, node=node)
    return found


FORMULAS: dict[type[exp.Expr], Callable[[Formulas, exp.Expr], Value]] = {
    exp.Literal: Formulas.read_literal,
    exp.Subquery: Formulas.read_literal,
    exp.Column: Formulas.read_named,
    exp.Paren: Formulas.read_brackets,
    exp.Neg: Formulas.read_negative,
    **dict.fromkeys(APPLIED, Formulas.read_applied),
    exp.Cast: Formulas.read_cast,
    exp.TryCast: Formulas.read_cast,
    exp.Round: Formulas.read_rounded,
    exp.Nullif: Formulas.read_nullif,
    exp.Coalesce: Formulas.read_coalesce,
    **dict.fromkeys(COMPUTED, Formulas.read_operation),
}
