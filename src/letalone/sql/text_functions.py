"""Functions of text and of dates in SQL: LIKE, UPPER, SUBSTR, CONCAT, LENGTH; STRFTIME, DATE_DIFF.

They mean the same in every dialect here, which they do not elsewhere: letters are code points,
capitals are those of A to Z, CONCAT of a missing value is missing as || is, and DATE_DIFF counts
the seconds, minutes, hours, days, months, quarters or years that begin between two dates. What
dialects understand differently and nothing here can mean (a backslash in a pattern, a place before
the first letter) is refused.

  Tested:   tests/sql/test_text_functions.py
  Assumed:  sqlglot reads SQL as it is meant
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from sqlglot import exp

from letalone.plans import expressions as nodes
from letalone.plans.dates import read_moment
from letalone.plans.domains import OPPOSITE
from letalone.plans.expressions import (
    Arithmetic,
    Comparison,
    Concat,
    DatePart,
    Expression,
    Literal,
    Respelled,
)
from letalone.plans.types import Type
from letalone.sql.date_functions import whole_years
from letalone.sql.names import Translating, only
from letalone.sql.refusals import refuse_node
from letalone.sql.text import Unread, slip

Translate = Callable[[exp.Expr], Expression]
Reader = Callable[[exp.Expr, Translate], Expression]
# What is counted of a date, and how many there are in a year.
COUNTED: Mapping[str, tuple[nodes.Part, int] | None] = {
    "DAY": None,
    "HOUR": None,
    "MINUTE": None,
    "SECOND": None,
    "MONTH": ("month", 12),
    "QUARTER": ("quarter", 4),
    "YEAR": ("year", 1),
}
WHOLE = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400}  # units, in seconds
COMPARED: dict[type[exp.Expr], nodes.ComparisonOp] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
TIMES_OF_DAY = ("HOUR", "MINUTE", "SECOND")
# The letters of other patterns of dates, each longest first, as those of STRFTIME.
TO_CHAR = {
    "YYYY": "%Y", "YY": "%y", "FMMonth": "%B", "FMDay": "%A", "HH24": "%H", "MM": "%m", "MI": "%M",
    "Mon": "%b", "DDD": "%j", "DD": "%d", "Dy": "%a", "ID": "%u", "Q": "%q",
}  # fmt: skip
DATE_FORMAT = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "EEEE": "%A", "EEE": "%a",
    "E": "%a", "DDD": "%j", "dd": "%d", "HH": "%H", "mm": "%M", "Q": "%q",
}  # fmt: skip
SAME_IN_MYSQL = re.compile("(%[YymdHjab]|[^%A-Za-z])+")
SEPARATOR = re.compile("[^A-Za-z\"'%]")
POSITIONS: dict[object, nodes.Spelling] = {
    None: "trim",
    "BOTH": "trim",
    "LEADING": "trim_start",
    "TRAILING": "trim_end",
}


def _read_like(node: exp.Expr, translate: Translate) -> Expression:
    return _like(node, translate, escape=None)


def _read_escape(node: exp.Expr, translate: Translate) -> Expression:
    """LIKE … ESCAPE '!'."""
    only(node, "this", "expression")
    if type(node.this) not in (exp.Like, exp.ILike):
        raise refuse_node(node)
    return _like(node.this, translate, escape=_constant(node.args["expression"], "ESCAPE"))


def _like(node: exp.Expr, translate: Translate, *, escape: str | None) -> Expression:
    only(node, "this", "expression", "negate")
    pattern = _constant(node.args["expression"], "The pattern of LIKE")
    of = translate(node.this)
    like = of.ilike if type(node) is exp.ILike else of.like
    condition = like(pattern, escape=escape)
    return nodes.Not(condition) if node.args.get("negate") else condition


def _read_affix(node: exp.Expr, translate: Translate) -> Expression:
    """STARTS_WITH, ENDS_WITH and CONTAINS."""
    only(node, "this", "expression")
    return _affix(type(node), node.this, node.args["expression"], translate)


def _affix(kind: type[exp.Expr], of: exp.Expr, text: exp.Expr, translate: Translate) -> Expression:
    letters, value = _constant(text, "The text that is looked for"), translate(of)
    if kind is exp.Contains:
        return value.contains(letters)
    return value.starts_with(letters) if kind is exp.StartsWith else value.ends_with(letters)


def _read_substring(node: exp.Expr, translate: Translate) -> Expression:
    only(node, "this", "start", "length")
    start, length = node.args["start"], node.args.get("length")
    place = _place(start, "The first letter of SUBSTR")
    count = None if length is None else _place(length, "The length of SUBSTR")
    return translate(node.this).substr(place, count)


def _read_left(node: exp.Expr, translate: Translate) -> Expression:
    only(node, "this", "expression", "negative_length_returns_empty")
    count = _place(node.args["expression"], "The length of LEFT")
    return translate(node.this).substr(1, count)


def _read_right(node: exp.Expr, translate: Translate) -> Expression:
    only(node, "this", "expression", "negative_length_returns_empty")
    count = _place(node.args["expression"], "The length of RIGHT")
    return translate(node.this).substr(-count)


def _read_upper(node: exp.Expr, translate: Translate) -> Expression:
    only(node, "this")
    return Respelled("upper" if type(node) is exp.Upper else "lower", translate(node.this))


def _read_trim(node: exp.Expr, translate: Translate) -> Expression:
    only(node, "this", "position", words={"expression": "TRIM of other letters than blanks"})
    return Respelled(POSITIONS[node.args.get("position")], translate(node.this))


def _read_length(node: exp.Expr, translate: Translate) -> Expression:
    counted = "binary" if node.args.get("binary") is True else "this"  # a mark of BigQuery's parser
    only(node, "this", counted)
    return translate(node.this).length()


def _read_concat(node: exp.Expr, translate: Translate) -> Expression:
    only(node, "expressions", "safe", "coalesce")
    return Concat(tuple(translate(part) for part in node.expressions))


def _read_pipes(node: exp.Expr, translate: Translate) -> Expression:
    """a || b || c is one text of three."""
    only(node, "this", "expression", "safe")
    parts: list[Expression] = []
    for side in (node.this, node.args["expression"]):
        part = translate(side)
        parts += part.parts if isinstance(part, Concat) else [part]
    return Concat(tuple(parts))


def _read_day_name(node: exp.Expr, translate: Translate) -> Expression:
    only(node, "this")
    return translate(node.this).strftime("%A" if type(node) is exp.Dayname else "%B")


def _read_day(node: exp.Expr, translate: Translate) -> Expression:
    """DATE(at): the day of a time."""
    only(node, "this")
    return nodes.StartOf("day", translate(node.this))


def _read_date_text(node: exp.Expr, translate: Translate) -> Expression:
    """STRFTIME, with the pattern on either side, and what other parsers make of its namesakes."""
    only(node, "this", "format")
    pattern, of = node.args["format"], node.this
    if _is_text(of) and not _is_text(pattern):
        pattern, of = of, pattern
    # The parser's mark of what Spark reads by exactly two digits: it writes two.
    letters = re.sub("(?<=%[a-zA-Z])strict", "", _constant(pattern, "The pattern of a date"))
    return translate(of).strftime(letters)


def _read_to_char(node: exp.Expr, translate: Translate) -> Expression:
    only(node, "this", "format")
    pattern = _constant(node.args["format"], "The pattern of TO_CHAR")
    return translate(node.this).strftime(_strftime(pattern, TO_CHAR, node))


def _read_difference(node: exp.Expr, translate: Translate) -> Expression:
    """DATE_DIFF('day', start, end): how many days, or months, begin between two dates."""
    only(node, "this", "expression", "unit", "date_part_boundary")
    unit = "DAY" if node.args.get("unit") is None else str(node.args["unit"].name).upper()
    # Spark counts whole months; only its parser puts this around dates.
    whole = unit != "DAY" and type(node.this) is exp.TsOrDsToDate
    if unit not in COUNTED or whole:
        instead = (
            "Write DATE_DIFF('day', start, end), with second, minute, hour, day, month, quarter or"
            " year."
        )
        raise Unread("This difference of dates is not read", instead, node=node)
    end, start = translate(node.this), translate(node.args["expression"])
    if unit in TIMES_OF_DAY:
        return _count_hours(end, start, TIMES_OF_DAY[: TIMES_OF_DAY.index(unit) + 1])
    if (found := COUNTED[unit]) is None:
        return end.days_since(start)
    return Arithmetic("-", *(_count_periods(date, *found) for date in (end, start)))


def _read_whole_difference(node: exp.Expr, translate: Translate) -> Expression:
    """TIMESTAMPDIFF(YEAR, born, day), which counts whole years, and days of dates."""
    end, start, unit = _sides_of(node, translate)
    type_of = cast("Translating", translate).names.type_of
    dates = all(type_of(side) is Type.DATE for side in (end, start))
    if dates and unit == "DAY":
        return end.days_since(start)
    if dates and unit == "YEAR":
        return whole_years(end, start)
    if unit == "SECOND" and all(type_of(side) is Type.TIMESTAMP for side in (end, start)):
        return end.seconds_since(start)
    raise refuse_node(node)


def _sides_of(node: exp.Expr, translate: Translate) -> tuple[Expression, Expression, str]:
    only(node, "this", "expression", "unit")
    unit = node.args.get("unit")
    word = "" if unit is None else str(unit.name).upper()
    if word not in WHOLE and word not in ("MONTH", "QUARTER", "YEAR"):
        refused = refuse_node(node)
        refused.puzzling, refused.edit = True, None  # the unit comes first in other dialects
        raise refused
    end, start = translate(node.this), translate(node.args["expression"])
    return _as_date(end), _as_date(start), word


def _as_date(of: Expression) -> Expression:
    """A date in quotes."""
    is_text = isinstance(of, Literal) and isinstance(of.value, str)
    return Literal(read_moment(cast("str", of.value), Type.DATE)) if is_text else of


def compare_whole(node: exp.Binary, translate: Translate) -> Expression | None:
    """TIMESTAMPDIFF(DAY, came_at, left_at) <= 3, of two times: whole days, in seconds."""
    op, sides = COMPARED.get(type(node)), [node.this.unnest(), node.expression.unnest()]
    if op is not None and type(sides[1]) is exp.TimestampDiff:
        op, sides = OPPOSITE[op], sides[::-1]
    number = str(sides[1].this) if type(sides[1]) is exp.Literal else ""
    if op is None or type(sides[0]) is not exp.TimestampDiff or not number.isdecimal():
        return None
    end, start, unit = _sides_of(sides[0], translate)
    type_of = cast("Translating", translate).names.type_of
    if unit not in WHOLE or any(type_of(side) is not Type.TIMESTAMP for side in (end, start)):
        return None
    return _whole(op, end.seconds_since(start), int(number), WHOLE[unit])


def _whole(op: nodes.ComparisonOp, seconds: Expression, number: int, width: int) -> Expression:
    """A comparison of how many whole units there are, cut towards 0, with a number from 0 on."""
    end, start = Literal((number + 1) * width), Literal(number * width)
    above = (
        Comparison(">=", seconds, start) if number else Comparison(">", seconds, Literal(-width))
    )
    match op:
        case "<=":
            return Comparison("<", seconds, end)
        case ">":
            return Comparison(">=", seconds, end)
        case ">=":
            return above
        case "<":
            return nodes.Not(above)
        case "=":
            return above & Comparison("<", seconds, end)
        case "<>":
            return nodes.Not(above & Comparison("<", seconds, end))


def _count_hours(end: Expression, start: Expression, units: Sequence[str]) -> Expression:
    """How many hours, minutes or seconds begin between two times."""
    count: Expression = end.days_since(start)
    for unit, size in zip(units, (24, 60, 60), strict=False):
        part = cast("nodes.Part", unit.lower())
        count = count * size + (end.part(part) - start.part(part))
    return count


def _count_periods(date: Expression, part: nodes.Part, in_a_year: int) -> Expression:
    """Which month, quarter or year it is, counted from the year 0."""
    day = nodes.StartOf("day", date)
    year = DatePart("year", day)
    return year if part == "year" else year * in_a_year + DatePart(part, day)


def _is_text(node: exp.Expr) -> bool:
    return type(node) is exp.Literal and bool(node.args.get("is_string"))


def _constant(node: exp.Expr, what: str) -> str:
    if not _is_text(node):
        raise Unread(f"{what} must be a text in quotes", "Write it out: 'A%'.", node=node)
    return cast("str", node.this)


def _place(node: exp.Expr, what: str) -> int:
    """A place or a number of letters; those below 1 mean something else in each dialect."""
    digits = str(node.this) if type(node) is exp.Literal and not _is_text(node) else ""
    if not digits.isdecimal() or int(digits) < 1:
        instead = "Letters are counted from 1; RIGHT(ward, 2) takes the last ones."
        raise slip(f"{what} must be a whole number from 1 on", instead, node=node)
    return int(digits)


def _strftime(pattern: str, letters: Mapping[str, str], node: exp.Expr) -> str:
    """Another kind of pattern as one of STRFTIME."""
    written, rest = "", pattern
    while rest:
        known = next((word for word in letters if rest.startswith(word)), "")
        if not known and SEPARATOR.match(rest) is None:
            instead = f"Known are {', '.join(letters)}; or write STRFTIME(day, '%Y-%m')."
            what = f"{rest[:20]!r} in the pattern is not known"
            padded = pattern.replace("Day", "FMDay").replace("Month", "FMMonth")
            edit = None if padded == pattern else f"'{padded}'"
            place = node if edit is None else node.args["format"]
            raise slip(what, instead, node=place, final=True, edit=edit)
        written += letters.get(known, rest[0])
        rest = rest[len(known) or 1 :]
    return written


def _two(node: exp.Expr, example: str) -> tuple[exp.Expr, exp.Expr]:
    if len(node.expressions) != 2:
        name = str(node.this).upper()
        raise slip(f"{name} takes two arguments", f"Write {example}.", node=node)
    first, second = node.expressions
    return first, second


def _prefix(node: exp.Expr, translate: Translate) -> Expression:
    kind = exp.StartsWith if str(node.this).upper() == "PREFIX" else exp.EndsWith
    return _affix(kind, *_two(node, "STARTS_WITH(ward, 'A')"), translate)


def _date_format(node: exp.Expr, translate: Translate) -> Expression:
    """Spark's letters, or MySQL's where they are those of STRFTIME."""
    of, pattern = _two(node, "STRFTIME(day, '%Y-%m')")
    written = _constant(pattern, "The pattern of DATE_FORMAT")
    if "%" not in written:
        written = _strftime(written, DATE_FORMAT, node)
    elif SAME_IN_MYSQL.fullmatch(written) is None:
        raise slip("This pattern is not known", "Write STRFTIME(day, '%Y-%m').", node=node)
    return translate(of).strftime(written)


def _format_date(node: exp.Expr, translate: Translate) -> Expression:
    """FORMAT_DATE('%Y', day) of BigQuery, and STRFTIME as dialects know it that have none."""
    first, second = _two(node, "STRFTIME(day, '%Y-%m')")
    return _read_date_text(exp.TimeToStr(this=first, format=second), translate)


def _trim_both(node: exp.Expr, translate: Translate) -> Expression:
    if len(node.expressions) != 1:
        raise slip("BTRIM takes a text alone", "Write TRIM(ward).", node=node)
    return Respelled("trim", translate(node.expressions[0]))


NAMED_FUNCTIONS: dict[str, Reader] = {
    "PREFIX": _prefix,
    "SUFFIX": _prefix,
    "BTRIM": _trim_both,
    "STRFTIME": _format_date,
    "FORMAT_DATE": _format_date,
    "DATE_FORMAT": _date_format,
}
TEXT_FUNCTIONS: dict[type[exp.Expr], Reader] = {
    exp.Like: _read_like,
    exp.ILike: _read_like,
    exp.Escape: _read_escape,
    exp.StartsWith: _read_affix,
    exp.EndsWith: _read_affix,
    exp.Contains: _read_affix,
    exp.Substring: _read_substring,
    exp.Left: _read_left,
    exp.Right: _read_right,
    exp.Upper: _read_upper,
    exp.Lower: _read_upper,
    exp.Trim: _read_trim,
    exp.Length: _read_length,
    exp.Concat: _read_concat,
    exp.DPipe: _read_pipes,
    exp.Dayname: _read_day_name,
    exp.Monthname: _read_day_name,
    exp.Date: _read_day,
    exp.TimeToStr: _read_date_text,
    exp.ToChar: _read_to_char,
    exp.DateDiff: _read_difference,
    exp.TimestampDiff: _read_whole_difference,
}
