"""Months and days as other dialects write them, in the words that are read.

  DATEFROMPARTS(YEAR(day), MONTH(day), 1)               DATE_TRUNC('month', day)
  DATEADD(month, DATEDIFF(month, 0, day), 0)            DATE_TRUNC('month', day)
  STR_TO_DATE(DATE_FORMAT(day, '%Y-%m-01'), '%Y-%m-%d') DATE_TRUNC('month', day)
  CONVERT(varchar(7), day, 120)                         STRFTIME(day, '%Y-%m')
  CONVERT(date, at)                                     CAST(at AS DATE)

Tested:   tests/session/test_sql_models.py
"""

from collections.abc import Callable
from typing import cast

from sqlglot import exp

FIRST_DAYS = {"%Y-%m-01": "MONTH", "%Y-01-01": "YEAR", "%Y-%m-%d": "DAY"}
PERIODS = ("YEAR", "QUARTER", "MONTH", "DAY")
EPOCH = "1900-01-01"  # SQL Server's day 0
# What CONVERT writes, by its style, and how much of it stands in so many letters.
STYLES = {"120": "%Y-%m-%d", "121": "%Y-%m-%d", "23": "%Y-%m-%d", "126": "%Y-%m-%d"}
BY_LENGTH = {"4": "%Y", "7": "%Y-%m", "10": "%Y-%m-%d"}
SHORT = {"4": "%Y", "6": "%Y%m", "8": "%Y%m%d"}  # of style 112
WRAPPED = (exp.TsOrDsToDate, exp.TsOrDsToTimestamp, exp.TimeStrToTime, exp.TsOrDsToDatetime)


def _bare(node: exp.Expr) -> exp.Expr:
    """A date without what parsers put around it."""
    while type(node) in (*WRAPPED, exp.Paren):
        node = node.this
    return node


def _start(of: exp.Expr, period: str) -> exp.Expr:
    return exp.TimestampTrunc(this=_bare(of).copy(), unit=exp.var(period))


def _is_one(node: exp.Expr | None) -> bool:
    return type(node) is exp.Literal and str(node.this) in ("1", "01")


def _part(node: exp.Expr | None, kind: type[exp.Expr], word: str) -> exp.Expr | None:
    """Of which date a node is the year, or the month."""
    if isinstance(node, kind):
        return _bare(node.this)
    named = isinstance(node, exp.Extract) and str(node.this.name).upper() == word
    return _bare(cast("exp.Extract", node).expression) if named else None


def _from_parts(node: exp.Expr) -> exp.Expr:
    """DATEFROMPARTS(YEAR(day), MONTH(day), 1), and MAKE_DATE of the same."""
    parts = [node.args.get(name) for name in ("year", "month", "day")]
    year, month = _part(parts[0], exp.Year, "YEAR"), _part(parts[1], exp.Month, "MONTH")
    if year is None or not _is_one(parts[2]):
        return node
    if _is_one(parts[1]):
        return _start(year, "YEAR")
    return _start(year, "MONTH") if month == year else node


def _added(node: exp.Expr) -> exp.Expr:
    """DATEADD(month, DATEDIFF(month, 0, day), 0): the first day of a month."""
    by, unit = node.args.get("expression"), node.args.get("unit")
    if type(by) is not exp.DateDiff or unit is None or by.args.get("unit") is None:
        return node
    words = {str(one.name).upper() for one in (unit, by.args["unit"])}
    from_zero = all(_is_day_zero(day) for day in (node.this, by.args["expression"]))
    word = next(iter(words))
    return _start(by.this, word) if from_zero and len(words) == 1 and word in PERIODS else node


def _is_day_zero(node: exp.Expr) -> bool:
    node = _bare(node)
    return type(node) is exp.Literal and str(node.this) in ("0", EPOCH)


def _read_back(node: exp.Expr) -> exp.Expr:
    """A date of the text of a date: STR_TO_DATE(DATE_FORMAT(day, '%Y-%m-01'), '%Y-%m-%d')."""
    written = node.args.get("format")
    if type(node) is exp.StrToDate and (written is None or written.name != "%Y-%m-%d"):
        return node
    if isinstance(node, exp.Cast) and node.args["to"].this not in (exp.DType.DATE,):
        return node
    text = _text_of(_bare(node.this))
    if text is None:
        return node
    of, pattern = text
    period = FIRST_DAYS.get(pattern)
    return node if period is None else _start(of, period)


def _text_of(node: exp.Expr) -> tuple[exp.Expr, str] | None:
    """Of which date a text is, and by which pattern."""
    if type(node) is exp.TimeToStr:
        return _bare(node.this), str(node.args["format"].name)
    if type(node) is exp.Concat and len(node.expressions) == 2:
        first, last = _text_of(node.expressions[0]), node.expressions[1]
    elif type(node) is exp.DPipe:
        first, last = _text_of(node.this), node.expression
    else:
        return None
    if first is None or type(last) is not exp.Literal:
        return None
    return first[0], first[1] + str(last.this)


def _converted(node: exp.Expr) -> exp.Expr:
    """CONVERT(varchar(7), day, 120) of SQL Server, and CONVERT(date, at)."""
    kind, of = cast("exp.DataType", node.this), node.args["expression"]
    style = "" if node.args.get("style") is None else str(node.args["style"].name)
    if not style:
        return exp.Cast(this=of, to=kind.copy())
    length = "".join(str(part.name) for part in kind.expressions)
    pattern = SHORT.get(length) if style == "112" else BY_LENGTH.get(length)
    if kind.this not in exp.DataType.TEXT_TYPES or pattern is None:
        return node
    if style != "112" and style not in STYLES:
        return node
    return exp.TimeToStr(this=_bare(of), format=exp.Literal.string(pattern))


CHANGED_DATES: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.DateFromParts: _from_parts,
    exp.DateAdd: _added,
    exp.StrToDate: _read_back,
    exp.Cast: _read_back,
    exp.TryCast: _read_back,
    exp.Convert: _converted,
}
