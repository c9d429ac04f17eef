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
from letalone.plans.dates import read_moment
from letalone.plans.expressions import Case, Clamp, Comparison, Expression, Literal
from letalone.plans.types import Type
from letalone.sql.names import Names, only
from letalone.sql.refusals import SUBQUERY, refuse_node
from letalone.sql.text import Unread, slip
from letalone.sql.text_functions import NAMED_FUNCTIONS, TEXT_FUNCTIONS

COMPARED: dict[type[exp.Expr], nodes.ComparisonOp] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
COMPUTED: dict[type[exp.Expr], nodes.ArithmeticOp] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.SafeDivide: "/",
}
PARTS: dict[str, nodes.Part] = {
    "YEAR": "year",
    "QUARTER": "quarter",
    "MONTH": "month",
    "DAY": "day",
    "DOY": "yearday",
    "DAYOFYEAR": "yearday",
    "ISODOW": "weekday",
    "DAYOFWEEK_ISO": "weekday",
    "HOUR": "hour",
    "MINUTE": "minute",
}
DATE_FUNCTIONS: dict[type[exp.Expr], nodes.Part] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfYear: "yearday",
    exp.DayOfWeekIso: "weekday",
    exp.Hour: "hour",
    exp.Minute: "minute",
}
PERIODS: dict[nodes.Period, str] = {
    "year": "YEAR YYYY YY",
    "quarter": "QUARTER",
    "month": "MONTH MON MM",
    "week": "WEEK ISOWEEK",
    "day": "DAY DD",
}
DATES = (exp.DType.DATE, exp.DType.DATE32)
TIMES = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ, exp.DType.TIMESTAMPTZ, exp.DType.DATETIME)
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
    return nodes.Not(translate(node.this))


def _negative(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this")
    of = translate(node.this)
    if isinstance(of, Literal) and not isinstance(of.value, bool | str | date | None):
        return Literal(-of.value)
    return nodes.Negated(of)


def _compute(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "expression", "typed", "safe")
    return nodes.Arithmetic(COMPUTED[type(node)], *_sides(node, translate))


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
    return nodes.IsNull(translate(node.this))


def _one_of(node: exp.Expr, translate: Translator) -> Expression:
    if node.args.get("query") is not None:
        raise SUBQUERY.at(node)
    only(node, "this", "expressions")
    of, values = translate(node.this), translate.several(node.expressions)
    if not values or not all(isinstance(value, Literal) for value in values):
        instead = "Write them out: ward IN ('A', 'B')."
        raise Unread("IN takes a list of constants", instead, node=node)
    return nodes.OneOf(of, tuple(cast("Literal", value).value for value in values))


def number_of(node: exp.Expr, translate: Translator, what: str) -> Fraction:
    """A constant number."""
    number = _end(translate(node))
    if number is None:
        raise Unread(f"{what} must be a number", "Write it out: 0.5.", node=node)
    return number


def _read_cast(node: exp.Expr, translate: Translator) -> Expression:
    """DATE '2024-01-31' and TIMESTAMP '2024-01-31 10:00', which sqlglot reads as casts; and the day
    of a time, which cannot fail."""
    kind = cast("exp.DataType", node.args["to"]).this
    literal = type(node.this) is exp.Literal and node.this.args.get("is_string")
    if kind in DATES and type(node.this) is exp.Column:
        only(node, "this", "to", "_type")
        return nodes.StartOf("day", translate(node.this))
    if not literal or kind not in (*DATES, *TIMES):
        raise refuse_node(node)
    only(node, "this", "to", "_type")
    return Literal(read_moment(node.this.this, Type.DATE if kind in DATES else Type.TIMESTAMP))


def _read_case(node: exp.Expr, translate: Translator) -> Expression:
    """CASE WHEN … THEN … ELSE … END, with or without a subject."""
    only(node, "this", "ifs", "default")
    branches: list[tuple[Expression, Expression]] = []
    for branch in cast("list[exp.If]", node.args["ifs"]):
        subject = None if node.this is None else translate(node.this)
        condition = translate(branch.this)
        condition = condition if subject is None else Comparison("=", subject, condition)
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
    only(node, "this", "expressions")
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


def _read_extract(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "expression")
    return _part(str(node.this.name), cast("exp.Extract", node).expression, translate, node)


def _part(name: str, of: exp.Expr, translate: Translator, node: exp.Expr) -> Expression:
    part = PARTS.get(name.upper())
    if part is None:
        instead = f"Parts are {', '.join(PARTS)}."
        raise Unread(f"The part {name[:20]!r} of a date is not read", instead, node=node)
    return nodes.DatePart(part, translate(of))


def _read_date_function(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this")
    return nodes.DatePart(DATE_FUNCTIONS[type(node)], translate(node.this))


def _read_start(node: exp.Expr, translate: Translator) -> Expression:
    """DATE_TRUNC('month', date): the first day of a year, quarter, month or week, as a date."""
    only(node, "this", "unit", "input_type_preserved", words={"zone": "DATE_TRUNC with a zone"})
    unit = cast("exp.Expr", node.args["unit"])
    monday = type(unit) is exp.WeekStart and unit.name.upper() == "MONDAY"
    period = "week" if monday else None if type(unit) is exp.WeekStart else _period(unit)
    of = translate(node.this)
    if period is None or isinstance(of, Literal):
        instead = (
            "Write DATE_TRUNC('month', day), with year, quarter, month, week or day; weeks begin on"
            " Monday: DATE_TRUNC(day, ISOWEEK) in BigQuery. Hours: EXTRACT(HOUR FROM at)."
        )
        raise Unread("This DATE_TRUNC is not read", instead, node=node)
    return nodes.StartOf(period, of)


def _period(unit: exp.Expr) -> nodes.Period | None:
    word = unit.name.upper() if type(unit) in (exp.Var, exp.Literal) else None
    return next((period for period, words in PERIODS.items() if word in words.split()), None)


def _read_nullif(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", "expression")
    left, right = _sides(node, translate)
    return Case(((Comparison("=", left, right), Literal(None)),), left)


def _read_function(node: exp.Expr, translate: Translator) -> Expression:
    name = str(node.this).upper()
    if name not in FUNCTIONS:
        raise refuse_node(node)
    return FUNCTIONS[name](node, translate)


def _clamp(node: exp.Expr, translate: Translator) -> Expression:
    if len(node.expressions) != 3:
        raise slip("CLAMP takes a value and two bounds", "Write CLAMP(cost, 0, 1000).", node=node)
    of, *ends = node.expressions
    lower, upper = (number_of(end, translate, "A bound of CLAMP") for end in ends)
    return Clamp(translate(of), lower, upper)


def _named_part(node: exp.Expr, translate: Translator) -> Expression:
    if len(node.expressions) != 2 or type(node.expressions[0]) is not exp.Literal:
        raise slip("DATE_PART takes a part and a date", "Write YEAR(day).", node=node)
    part, of = node.expressions
    return _part(str(part.this), of, translate, node)


FUNCTIONS: dict[str, Callable[[exp.Expr, Translator], Expression]] = {
    "CLAMP": _clamp,
    "DATE_PART": _named_part,
    "DATEPART": _named_part,
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
    exp.Cast: _read_cast,
    exp.Case: _read_case,
    exp.If: _read_if,
    exp.Coalesce: _read_coalesce,
    exp.Nullif: _read_nullif,
    exp.Abs: _read_absolute,
    exp.Greatest: partial(_read_extreme, largest=True),
    exp.Least: partial(_read_extreme, largest=False),
    exp.Extract: _read_extract,
    exp.TimestampTrunc: _read_start,
    exp.DateTrunc: _read_start,
    exp.DatetimeTrunc: _read_start,
    exp.TsOrDsToDate: _brackets,  # Spark's parser puts it around dates, as the next
    exp.TimeStrToTime: _brackets,
    **TEXT_FUNCTIONS,
    exp.Anonymous: _read_function,
    **dict.fromkeys(COMPARED, _compare),
    **dict.fromkeys(COMPUTED, _compute),
    **dict.fromkeys(DATE_FUNCTIONS, _read_date_function),
}
