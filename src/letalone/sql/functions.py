"""Functions of one row: CASE, COALESCE, GREATEST and LEAST, CLAMP, parts and starts of dates.

Proven:   by `FUNCTIONS` and `values.TRANSLATED`: what is in neither ends in a refusal
Tested:   tests/sql/test_question.py, test_refusals.py
"""

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from letalone.plans.dates import read_moment
from letalone.plans.expressions import (
    Case,
    Clamp,
    Comparison,
    ComparisonOp,
    DatePart,
    Expression,
    IsNull,
    Literal,
    Negated,
    Not,
    Part,
    Period,
    StartOf,
)
from letalone.plans.types import Type
from letalone.sql.names import only
from letalone.sql.refusals import refuse_node
from letalone.sql.text import Unread, slip

if TYPE_CHECKING:
    from letalone.sql.values import Translator

PARTS: dict[str, Part] = {
    "YEAR": "year",
    "MONTH": "month",
    "DAY": "day",
    "ISODOW": "weekday",
    "DAYOFWEEK_ISO": "weekday",
    "HOUR": "hour",
}
DATE_FUNCTIONS: dict[type[exp.Expr], Part] = {
    exp.Year: "year",
    exp.Month: "month",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfWeekIso: "weekday",
    exp.Hour: "hour",
}
PERIODS: dict[str, Period] = {
    "YEAR": "year",
    "YYYY": "year",
    "YY": "year",
    "QUARTER": "quarter",
    "MONTH": "month",
    "MON": "month",
    "MM": "month",
    "WEEK": "week",
    "ISOWEEK": "week",
    "DAY": "day",
    "DD": "day",
}
DATES = (exp.DType.DATE, exp.DType.DATE32)
TIMES = (
    exp.DType.TIMESTAMP,
    exp.DType.TIMESTAMPNTZ,
    exp.DType.TIMESTAMPTZ,
    exp.DType.DATETIME,
)
ZERO, ONE = Literal(0), Literal(1)


def number_of(node: exp.Expr, translate: "Translator", what: str) -> Fraction:
    """A constant number."""
    number = _end(translate(node))
    if number is None:
        raise Unread(f"{what} must be a number", "Write it out: 0.5.", node=node)
    return number


def read_cast(node: exp.Expr, _: "Translator") -> Expression:
    """DATE '2024-01-31' and TIMESTAMP '2024-01-31 10:00', which sqlglot reads as casts."""
    kind = cast("exp.DataType", node.args["to"]).this
    literal = type(node.this) is exp.Literal and node.this.args.get("is_string")
    if not literal or kind not in (*DATES, *TIMES):
        raise refuse_node(node)
    only(node, "this", "to", "_type")
    return Literal(read_moment(node.this.this, Type.DATE if kind in DATES else Type.TIMESTAMP))


def read_case(node: exp.Expr, translate: "Translator") -> Expression:
    """CASE WHEN … THEN … ELSE … END, with or without a subject."""
    only(node, "this", "ifs", "default")
    branches: list[tuple[Expression, Expression]] = []
    for branch in cast("list[exp.If]", node.args["ifs"]):
        subject = None if node.this is None else translate(node.this)
        condition = translate(branch.this)
        condition = condition if subject is None else Comparison("=", subject, condition)
        branches.append((condition, _result(branch.args["true"], translate)))
    default = node.args.get("default")
    otherwise = Literal(None) if default is None else _result(default, translate)
    return Case(tuple(branches), otherwise)


def _result(node: exp.Expr, translate: "Translator") -> Expression:
    """What a CASE gives: NULL, too."""
    return Literal(None) if type(node) is exp.Null else translate(node)


def read_if(node: exp.Expr, translate: "Translator") -> Expression:
    """IF(condition, value, other)."""
    only(node, "this", "true", "false")
    other = node.args.get("false")
    otherwise = Literal(None) if other is None else _result(other, translate)
    branch = (translate(node.this), _result(node.args["true"], translate))
    return Case((branch,), otherwise)


def read_coalesce(node: exp.Expr, translate: "Translator") -> Expression:
    """The first value that is not missing."""
    only(node, "this", "expressions")
    *first, last = translate.several([node.this, *node.expressions])
    if not first:
        return last
    return Case(tuple((Not(IsNull(value)), value) for value in first), last)


def read_absolute(node: exp.Expr, translate: "Translator") -> Expression:
    """The size of a number: never below 0, which its type says, too."""
    only(node, "this")
    of = translate(node.this)
    return Clamp(Case(((Comparison("<", of, ZERO), Negated(of)),), of), Fraction(0), None)


def read_extreme(node: exp.Expr, translate: "Translator", *, largest: bool) -> Expression:
    """GREATEST(0, x) clamps; GREATEST(x, y) is a case. What is missing makes it missing."""
    only(node, "this", "expressions", "ignore_nulls")
    extreme, *rest = sorted(
        translate.several([node.this, *node.expressions]),
        key=lambda value: isinstance(value, Literal),
    )
    for value in rest:
        end = _end(value)
        if end is None:
            extreme = _larger(extreme, value, largest=largest)
        else:
            extreme = _clamp_to(extreme, *((end, None) if largest else (None, end)))
    return extreme


def _end(node: Expression) -> Fraction | None:
    """A constant number."""
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
    op: ComparisonOp = ">=" if largest else "<="
    opposite: ComparisonOp = "<" if largest else ">"
    first, second = Comparison(op, left, right), Comparison(opposite, left, right)
    return Case(((first, left), (second, right)), Literal(None))


def read_extract(node: exp.Expr, translate: "Translator") -> Expression:
    """EXTRACT(part FROM date)."""
    only(node, "this", "expression")
    return _part(str(node.this.name), cast("exp.Extract", node).expression, translate, node)


def _part(name: str, of: exp.Expr, translate: "Translator", node: exp.Expr) -> Expression:
    part = PARTS.get(name.upper())
    if part is None:
        instead = f"Parts are {', '.join(PARTS)}."
        raise Unread(f"The part {name[:20]!r} of a date is not read", instead, node=node)
    return DatePart(part, translate(of))


def read_date_function(node: exp.Expr, translate: "Translator") -> Expression:
    """YEAR(date) and its kin."""
    only(node, "this")
    return DatePart(DATE_FUNCTIONS[type(node)], translate(node.this))


def read_start(node: exp.Expr, translate: "Translator") -> Expression:
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
    return StartOf(period, of)


def _period(unit: exp.Expr) -> Period | None:
    return PERIODS.get(unit.name.upper()) if type(unit) in (exp.Var, exp.Literal) else None


def read_nullif(node: exp.Expr, translate: "Translator") -> Expression:
    """Missing where both are equal."""
    only(node, "this", "expression")
    pair = cast("exp.Nullif", node)
    left, right = translate(pair.this), translate(pair.expression)
    return Case(((Comparison("=", left, right), Literal(None)),), left)


def read_function(node: exp.Expr, translate: "Translator") -> Expression:
    """A function that sqlglot does not know."""
    name = str(node.this).upper()
    if name not in FUNCTIONS:
        raise refuse_node(node)
    return FUNCTIONS[name](node, translate)


def _clamp(node: exp.Expr, translate: "Translator") -> Expression:
    if len(node.expressions) != 3:
        raise slip("CLAMP takes a value and two bounds", "Write CLAMP(cost, 0, 1000).", node=node)
    of, *ends = node.expressions
    lower, upper = (number_of(end, translate, "A bound of CLAMP") for end in ends)
    return Clamp(translate(of), lower, upper)


def _named_part(node: exp.Expr, translate: "Translator") -> Expression:
    if len(node.expressions) != 2 or type(node.expressions[0]) is not exp.Literal:
        raise slip("DATE_PART takes a part and a date", "Write YEAR(day).", node=node)
    part, of = node.expressions
    return _part(str(part.this), of, translate, node)


FUNCTIONS: dict[str, Callable[[exp.Expr, "Translator"], Expression]] = {
    "CLAMP": _clamp,
    "DATE_PART": _named_part,
}
