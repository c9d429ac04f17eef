"""Emits expressions of a plan as DuckDB SQL, with the plan's semantics and nothing that can fail.

Theorem.  The SQL of an admitted expression raises on no row, and a term that is not finite
stands for a missing value wherever it goes.
  Proven:   sums, differences, products and negations of a non-finite double are non-finite,
            and so is a quotient of one by a finite number, so guarding the end of a chain
            guards its middle. Only division by an infinity gives something finite again:
            divisors are guarded first. x / 0 is not finite, hence missing.
            Casts of doubles to integers happen within bounds below 2^53 only.
  Tested:   tests/engines/test_expressions.py, against a slow evaluation in Python
  Assumed:  DuckDB computes in IEEE doubles (`ieee_floating_point_ops`), as lockdown.py sets
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import cast

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.amounts import Edges, number_range
from letalone.engines.core.stored_types import SQL_TYPES, end_of
from letalone.engines.core.syntax import DATE, DOUBLE, Sql
from letalone.engines.core.terms import Levels, SqlTerm, as_double, deepest
from letalone.engines.texts import writing
from letalone.plans import expressions as nodes
from letalone.plans.constants import Value
from letalone.plans.expressions import Bin, Expression, Node
from letalone.plans.types import Type, type_of_value
from letalone.plans.typing import is_whole

ARITHMETIC: Mapping[str, syntax.Binary] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul, "/": exp.Div}
COMPARISONS: Mapping[str, syntax.Binary] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


class ExpressionEmitter:
    """Turns expressions over the given columns into terms over one chain of levels."""

    def __init__(self, levels: Levels, columns: Mapping[str, SqlTerm]) -> None:
        self._levels, self._columns = levels, columns

    def value(self, expression: Expression) -> SqlTerm:
        """A term that is NULL wherever the expression is missing."""
        return self._levels.guarded(self.term(expression))

    def term(self, expression: Expression) -> SqlTerm:
        """A term that may still be non-finite where the expression is missing."""
        match cast("Node", expression):
            case nodes.ColumnRef(name):
                return self._columns[name]
            case nodes.Literal(value):
                return literal(value)
            case nodes.Arithmetic(op, left, right):
                return self._arithmetic(op, left, right)
            case nodes.Negated(of):
                term = as_double(self.term(of))
                return replace(term, sql=syntax.minus(term.sql), simple=False)
            case nodes.Comparison(op, left, right):
                return self._comparison(op, self.value(left), self.value(right))
            case nodes.And(parts):
                return self._chain(exp.And, parts)
            case nodes.Or(parts):
                return self._chain(exp.Or, parts)
            case nodes.Not(of):
                return self._condition(of, syntax.negate)
            case nodes.IsNull(of):
                return self._condition(of, syntax.is_null)
            case nodes.OneOf(of, values):
                return self._one_of(self.value(of), values)
            case nodes.Case(branches, otherwise):
                return self._case(branches, otherwise)
            case nodes.DatePart(part, of):
                return writing.extract_part(part, self.value(of))
            case nodes.StartOf(period, of):
                return self._start(period, self.value(of))
            case nodes.DateText(pattern, of):
                return writing.write_date(pattern, self.value(of), self._levels)
            case nodes.Like(of, pattern):
                return self._levels.dialect.match(self.value(of), pattern, self._levels)
            case nodes.Respelled(how, of):
                return writing.respell(how, self.value(of))
            case nodes.Substring(of, start, letters):
                return writing.cut(self.value(of), start, letters)
            case nodes.Length(of):
                return writing.count_letters(self.value(of))
            case nodes.Concat(parts):
                return writing.concatenate([self.value(part) for part in parts], self._levels)
            case nodes.Bin():
                return self._bin(cast("Bin", expression))
            case nodes.Clamp(of, lower, upper):
                return self._clamp(self.value(of), lower, upper)

    def _arithmetic(self, op: str, left: Expression, right: Expression) -> SqlTerm:
        left_term = self.term(left)
        right_term = self.value(right) if op == "/" else self.term(right)
        if left_term.type is Type.DATE:
            return days_between(left_term, right_term)
        first, second = as_double(left_term), as_double(right_term)
        return self._levels.dialect.arithmetic(ARITHMETIC[op], first, second, self._levels)

    def _comparison(self, op: str, left: SqlTerm, right: SqlTerm) -> SqlTerm:
        if left.type is not right.type and left.type.is_numeric:
            return self._comparison(op, as_double(left), as_double(right))
        return _true_or_false(syntax.operation(COMPARISONS[op], left.sql, right.sql), left, right)

    def _chain(self, kind: type[exp.And] | type[exp.Or], parts: tuple[Expression, ...]) -> SqlTerm:
        terms = [self.value(part) for part in parts]
        return _true_or_false(syntax.join_conditions(kind, [term.sql for term in terms]), *terms)

    def _condition(self, of: Expression, make: Callable[[Sql], Sql]) -> SqlTerm:
        term = self.value(of)
        return _true_or_false(make(term.sql), term)

    def _one_of(self, of: SqlTerm, values: tuple[Value, ...]) -> SqlTerm:
        once = self._levels.name(of)
        return _true_or_false(is_one_of(once, values), once)

    def _case(
        self, branches: tuple[tuple[Expression, Expression], ...], otherwise: Expression
    ) -> SqlTerm:
        conditions = [self.value(condition) for condition, _ in branches]
        results = _alike([*(self.term(value) for _, value in branches), self.term(otherwise)])
        each = zip(conditions, results, strict=False)
        pairs = [(condition.sql, result.sql) for condition, result in each]
        sql = syntax.case(*pairs, otherwise=results[-1].sql)
        finite = all(result.finite for result in results)
        return SqlTerm(sql, results[0].type, finite=finite, depth=deepest([*conditions, *results]))

    def _start(self, period: str, of: SqlTerm) -> SqlTerm:
        """Never before the year 1, since its first day is a Monday."""
        first = syntax.call("DATE_TRUNC", syntax.text(period), of.sql)
        return SqlTerm(syntax.cast_to(first, DATE), Type.DATE, depth=of.depth)

    def _bin(self, node: Bin) -> SqlTerm:
        x = self._levels.name(as_double(self.term(node.of)))
        edges = Edges.of(node.lower, node.width, node.count)
        number, depth = number_range(x, edges, self._levels)
        return SqlTerm(syntax.case((edges.hold(x.sql), number)), Type.INTEGER, depth=depth)

    def _clamp(self, of: SqlTerm, lower: Fraction | None, upper: Fraction | None) -> SqlTerm:
        """A comparison with NULL is not true, so what is missing stays so."""
        ends = [end for end in (lower, upper) if end is not None]
        integer = of.type is Type.INTEGER and all(is_whole(end) for end in ends)
        x = self._levels.name(of if integer else as_double(of))
        sides = ((exp.LT, lower), (exp.GT, upper))
        branches = [(side, end_of(end, whole=integer)) for side, end in sides if end is not None]
        pairs = [(syntax.operation(side, x.sql, end), end.copy()) for side, end in branches]
        return replace(x, sql=syntax.case(*pairs, otherwise=x.sql), simple=False)


def days_between(end: SqlTerm, start: SqlTerm) -> SqlTerm:
    """How many days after another date a date is, as a double."""
    days = syntax.call("DATE_DIFF", syntax.text("day"), start.sql, end.sql)
    return SqlTerm(syntax.cast_to(days, DOUBLE), Type.NUMBER, depth=deepest((start, end)))


def literal(value: Value) -> SqlTerm:
    """The term of a constant; None is a NULL of type OTHER until a case gives it one."""
    if value is None:
        return SqlTerm(syntax.NULL.copy(), Type.OTHER)
    return SqlTerm(syntax.constant(value), type_of_value(value))


def _true_or_false(sql: Sql, *made_of: SqlTerm) -> SqlTerm:
    return SqlTerm(sql, Type.BOOLEAN, depth=deepest(made_of))


def is_one_of(of: SqlTerm, values: tuple[Value, ...]) -> Sql:
    """IN, with whole numbers compared as such and numbers as doubles."""
    doubles = [v for v in values if isinstance(v, Fraction)] if of.type is Type.INTEGER else []
    others = [value for value in values if value not in doubles]
    if of.type is Type.NUMBER:
        others = [Fraction(v) if isinstance(v, int) else v for v in others]
    parts = [
        syntax.is_one_of(side, [syntax.constant(value) for value in chosen])
        for side, chosen in ((of.sql, others), (as_double(of).sql, doubles))
        if chosen
    ]
    nothing = syntax.case((syntax.is_present(of.sql), exp.Boolean(this=False)))
    return syntax.join_conditions(exp.Or, parts) if parts else nothing


def number_value(of: SqlTerm, values: tuple[Value, ...]) -> Sql:
    """Which of the values it is, counted from 0; NULL where it is none."""
    each = enumerate(values)
    return syntax.case(*((is_one_of(of, (value,)), syntax.whole(n)) for n, value in each))


def _alike(results: list[SqlTerm]) -> list[SqlTerm]:
    kinds = {result.type for result in results} - {Type.OTHER}
    kind = kinds.pop() if len(kinds) == 1 else Type.NUMBER
    if kind is Type.NUMBER:
        results = [r if r.type is Type.OTHER else as_double(r) for r in results]
    null = SqlTerm(syntax.cast_to(syntax.NULL, SQL_TYPES[kind]), kind)
    return [replace(null, sql=null.sql.copy()) if r.type is Type.OTHER else r for r in results]
