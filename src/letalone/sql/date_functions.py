"""Dates and casts in SQL: parts and starts of dates, intervals beside constants, CAST.

    EXTRACT(dow FROM day)    DATE '2024-12-31' - INTERVAL '30 days'    at >= day + INTERVAL 7 DAY

A cast is read where it cannot fail: between numbers and truth values, of a time to its day, and of
numbers and dates to text. An interval beside a constant gives a constant; beside a column it is
read in a comparison of dates, where it counts days.

  Tested:   tests/sql/test_question.py, tests/session/test_sql_habits.py
  Assumed:  sqlglot reads SQL as it is meant
"""

from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import cast

from sqlglot import exp

from letalone.plans import expressions as nodes
from letalone.plans.dates import first_day, read_moment
from letalone.plans.expressions import Case, Comparison, Concat, Expression, Literal
from letalone.plans.types import Type
from letalone.sql.names import Translating, only
from letalone.sql.refusals import INTERVAL, WEEKDAY, is_now, refuse_node
from letalone.sql.text import Unread, slip

PARTS: dict[str, nodes.Part] = {
    "YEAR": "year",
    "QUARTER": "quarter",
    "MONTH": "month",
    "DAY": "day",
    "DOY": "yearday",
    "DAYOFYEAR": "yearday",
    "WEEK": "week",
    "ISOWEEK": "week",
    "WEEKOFYEAR": "week",
    "ISODOW": "weekday",
    "DAYOFWEEK_ISO": "weekday",
    "HOUR": "hour",
    "MINUTE": "minute",
    "SECOND": "second",
}
DATE_FUNCTIONS: dict[type[exp.Expr], nodes.Part] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfYear: "yearday",
    exp.DayOfWeekIso: "weekday",
    exp.Week: "week",
    exp.WeekOfYear: "week",
    exp.Hour: "hour",
    exp.Minute: "minute",
    exp.Second: "second",
}
PERIODS: dict[nodes.Period, str] = {
    "year": "YEAR YYYY YY",
    "quarter": "QUARTER",
    "month": "MONTH MON MM",
    "week": "WEEK ISOWEEK",
    "day": "DAY DD",
}
DATES = (exp.DType.DATE, exp.DType.DATE32)
TIMES = (
    exp.DType.TIMESTAMP,
    exp.DType.TIMESTAMPNTZ,
    exp.DType.TIMESTAMPTZ,
    exp.DType.DATETIME,
    exp.DType.DATETIME2,
)
FLOATS = (exp.DType.FLOAT, exp.DType.DOUBLE, exp.DType.DECIMAL, exp.DType.BIGDECIMAL)
WHOLE = tuple(exp.DataType.INTEGER_TYPES)
TEXTS = tuple(exp.DataType.TEXT_TYPES)
# What a date written as two digits, or four, is as a number.
WRITTEN: dict[str, nodes.Part] = {
    "%Y": "year", "%m": "month", "%d": "day", "%H": "hour", "%M": "minute", "%j": "yearday",
    "%q": "quarter", "%u": "weekday",
}  # fmt: skip
BACKWARDS = (exp.Sub, exp.DateSub, exp.DatetimeSub, exp.TimestampSub)
SHIFTS = (
    exp.DateAdd, exp.DateSub, exp.TsOrDsAdd, exp.DatetimeAdd, exp.DatetimeSub, exp.TimestampAdd,
    exp.TimestampSub,
)  # fmt: skip
MOST_DAYS = 200_000
SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400, "WEEK": 604800}
Shift = tuple[exp.Expr, int, str]  # of what, by how many, of which unit


def _read_cast(node: exp.Expr, translate: Translating) -> Expression:
    """DATE '2024-01-31' and TIMESTAMP '2024-01-31 10:00', which sqlglot reads as casts; and casts
    that cannot fail."""
    kind = cast("exp.DataType", node.args["to"]).this
    literal = type(node.this) is exp.Literal and node.this.args.get("is_string")
    only(node, "this", "to", "_type", "safe")
    if literal and kind in (*DATES, *TIMES):
        return Literal(read_moment(node.this.this, Type.DATE if kind in DATES else Type.TIMESTAMP))
    of = translate(node.this)
    if isinstance(of, nodes.DateText) and of.pattern in WRITTEN and kind in (*WHOLE, *FLOATS):
        return nodes.DatePart(WRITTEN[of.pattern], of.of)
    changed = _change_type(of, kind, translate.names.type_of(of))
    has_digits = kind in FLOATS and len(node.args["to"].expressions) > 1
    if changed is None or (has_digits and changed is of):
        raise refuse_node(node)
    return changed


def _change_type(of: Expression, kind: exp.DType, known: Type) -> Expression | None:
    """The expression as another type; None where that could fail on a row, or depends on who
    rounds."""
    whole = known in (Type.INTEGER, Type.BOOLEAN)
    match known:
        case Type.DATE if kind in DATES:
            return of
        case Type.TIMESTAMP if kind in DATES:
            return nodes.StartOf("day", of)
        case Type.DATE | Type.TIMESTAMP if kind in TIMES:
            return of
        case Type.BOOLEAN if kind in (*WHOLE, *FLOATS):
            return Case(((of, Literal(1)), (nodes.Not(of), Literal(0))), Literal(None))
        case Type.INTEGER | Type.NUMBER if kind in FLOATS or (whole and kind in WHOLE):
            return of
        case Type.TEXT if kind in TEXTS:
            return of
        case Type.INTEGER if kind in TEXTS:
            return Concat((of, Literal("")))
        case Type.DATE if kind in TEXTS:
            return nodes.DateText("%Y-%m-%d", of)
        case Type.BOOLEAN if kind == exp.DType.BOOLEAN:
            return of
        case _:
            return None


def _read_extract(node: exp.Expr, translate: Translating) -> Expression:
    only(node, "this", "expression")
    name, of = str(node.this.name), cast("exp.Extract", node).expression
    if name.upper() == "YEAR" and is_age(of):
        return read_age(of, translate)
    between = seconds_between(of, translate) if name.upper() == "EPOCH" else None
    return _read_part(name, of, translate, node) if between is None else between


def _read_part(name: str, of: exp.Expr, translate: Translating, node: exp.Expr) -> Expression:
    """A part of a date by its name."""
    if name.upper() == "DOW":
        return _from_sunday(translate(of))
    part = PARTS.get(name.upper())
    if part is None and name.upper() in ("DAYOFWEEK", "WEEKDAY", "DW"):
        raise WEEKDAY.at(exp.var(name), name, edit="DOW")
    if part is None:
        instead = f"Parts are {', '.join(PARTS)} and DOW (Sunday is 0)."
        raise Unread(f"The part {name[:20]!r} of a date is not read", instead, node=node)
    return nodes.DatePart(part, translate(of))


def _from_sunday(of: Expression) -> Expression:
    """The day of the week from 0, Sunday, to 6: as a CASE, whose values are known."""
    day = nodes.DatePart("weekday", of)
    branches = [(Comparison("=", day, Literal(n)), Literal(n % 7)) for n in (7, 1, 2, 3, 4, 5, 6)]
    return Case(tuple(branches), Literal(None))


def _read_date_function(node: exp.Expr, translate: Translating) -> Expression:
    only(node, "this")
    return nodes.DatePart(DATE_FUNCTIONS[type(node)], translate(node.this))


def _read_start(node: exp.Expr, translate: Translating) -> Expression:
    """DATE_TRUNC('month', date): the first day of a year, quarter, month or week, as a date."""
    only(node, "this", "unit", "input_type_preserved", words={"zone": "DATE_TRUNC with a zone"})
    unit = cast("exp.Expr", node.args["unit"])
    monday = type(unit) is exp.WeekStart and unit.name.upper() == "MONDAY"
    period = "week" if monday else None if type(unit) is exp.WeekStart else _period(unit)
    of = translate(node.this)
    if period is not None and isinstance(of, Literal) and isinstance(of.value, date):
        day = of.value.date() if isinstance(of.value, datetime) else of.value
        return Literal(first_day(day, period))
    if period is None or isinstance(of, Literal):
        instead = (
            "Write DATE_TRUNC('month', day), with year, quarter, month, week or day; weeks begin on"
            " Monday: DATE_TRUNC(day, ISOWEEK) in BigQuery. Hours: EXTRACT(HOUR FROM at)."
        )
        hours = type(unit) in (exp.Var, exp.Literal) and unit.name.upper() == "HOUR"
        edit = f"STRFTIME({node.this.sql('duckdb')}, '%Y-%m-%d %H:00')" if hours else None
        raise Unread("This DATE_TRUNC is not read", instead, node=node, edit=edit)
    return nodes.StartOf(period, of)


def _period(unit: exp.Expr) -> nodes.Period | None:
    word = unit.name.upper() if type(unit) in (exp.Var, exp.Literal) else None
    return next((period for period, words in PERIODS.items() if word in words.split()), None)


def _read_named_part(node: exp.Expr, translate: Translating) -> Expression:
    """DATE_PART('year', day), and DATEPART(year, day) of SQL Server."""
    words = node.expressions
    if len(words) != 2 or type(words[0]) not in (exp.Literal, exp.Column, exp.Var):
        raise slip("DATE_PART takes a part and a date", "Write YEAR(day).", node=node)
    part, of = words
    return _read_part(str(part.name), of, translate, node)


def seconds_between(node: exp.Expr, translate: Translating) -> Expression | None:
    """left_at - came_at, of two times, in whole seconds; None for anything else."""
    node = node.unnest()
    if type(node) is not exp.Sub or type(node.args.get("expression")) is exp.Interval:
        return None
    end, start = translate(node.this), translate(node.args["expression"])
    return end.seconds_since(start) if _are_times((end, start), translate) else None


def read_duration(node: exp.Binary, translate: Translating) -> tuple[Expression, Expression] | None:
    """The sides of left_at - came_at > INTERVAL '7 days', and of left_at > came_at + INTERVAL …,
    in seconds."""
    for side, other, sign in ((node.expression, node.this, 1), (node.this, node.expression, -1)):
        seconds = _seconds_of(side)
        between = None if seconds is None else seconds_between(other, translate)
        if between is None and (shift := _shift_of(side)) is not None:
            of, count, unit = shift
            seconds = count * SECONDS[unit] if unit in SECONDS else None
            if seconds is not None and not is_now(of) and not is_now(other):
                end, start = translate(other), translate(of)
                between = end.seconds_since(start) if _are_times((end, start), translate) else None
        if seconds is not None and between is not None:
            sides = between, Literal(seconds)
            return sides if sign > 0 else (sides[1], sides[0])
    return None


def _seconds_of(node: exp.Expr) -> int | None:
    """How long an interval is that does not depend on the month."""
    node = node.unnest()
    if type(node) is not exp.Interval:
        return None
    count, unit = _number_of(node.this), node.args.get("unit")
    word = "" if unit is None else str(unit.name).upper().rstrip("S")
    if count is None or abs(count) > MOST_DAYS or word not in SECONDS:
        return None
    return count * SECONDS[word]


def _are_times(of: tuple[Expression, Expression], translate: Translating) -> bool:
    return all(
        not isinstance(one, Literal) and translate.names.type_of(one) is Type.TIMESTAMP
        for one in of
    )


def read_shift(node: exp.Expr, translate: Translating) -> Expression:
    """A constant date plus or minus an interval: a constant."""
    shift = _shift_of(node)
    if shift is None:
        refused = refuse_node(node)
        refused.puzzling = True  # other dialects may count otherwise
        raise refused
    of, count, unit = shift
    if is_now(of):
        raise refuse_node(of)
    start = translate(of)
    value = start.value if isinstance(start, Literal) else None
    if isinstance(value, str):
        value = cast("date", read_moment(value, Type.DATE))
    if not isinstance(value, date):
        raise INTERVAL.at(node)
    moved = _shifted(value, count, unit)
    if moved is None:
        raise INTERVAL.at(node)
    return Literal(moved)


def move_date(kind: type[exp.Expr], left: Expression, right: Expression) -> Expression | None:
    """DATE '2024-01-31' - 30, as PostgreSQL counts days."""
    day = left.value if isinstance(left, Literal) else None
    count = right.value if isinstance(right, Literal) else None
    if not isinstance(day, date) or type(count) is not int or kind not in (exp.Add, exp.Sub):
        return None
    moved = _shifted(day, count if kind is exp.Add else -count, "DAY")
    return None if moved is None or abs(count) > MOST_DAYS else Literal(moved)


def read_shifted(node: exp.Binary, translate: Translating) -> tuple[Expression, Expression] | None:
    """The sides of a comparison of a date with another column's, so many days on: as days."""
    for side, other, sign in ((node.expression, node.this, 1), (node.this, node.expression, -1)):
        shift = _shift_of(side)
        if shift is None or is_now(shift[0]) or is_now(other):
            continue
        of, count, unit = shift
        start = translate(of)
        if isinstance(start, Literal) or isinstance(end := translate(other), Literal):
            continue
        days = count * {"DAY": 1, "WEEK": 7}.get(unit, 0)
        _check_days(node, translate, (end, start), sign=sign, days=days)
        if sign < 0:
            return Literal(days), end.days_since(start)
        return end.days_since(start), Literal(days)
    return None


def _check_days(
    node: exp.Binary,
    translate: Translating,
    sides: tuple[Expression, Expression],
    *,
    sign: int,
    days: int,
) -> None:
    """Days are enough to compare two dates; and a time with the midnight that ends a day."""
    end, start = (translate.names.type_of(side) for side in sides)
    at_midnight = start is Type.DATE and (
        end is Type.DATE or type(node) in ((exp.GTE, exp.LT) if sign > 0 else (exp.LTE, exp.GT))
    )
    if not days or not at_midnight:
        raise INTERVAL.at(node)


def _shift_of(node: exp.Expr) -> Shift | None:
    """The parts of day + INTERVAL 1 DAY, DATE_SUB(day, INTERVAL 1 DAY) and DATEADD(day, 1, day)."""
    node = node.unnest()
    by = node.args.get("expression")
    if type(node) in (exp.Add, exp.Sub) and type(by) is exp.Interval:
        by, unit = by.this, by.args.get("unit")
    elif isinstance(node, SHIFTS) and by is not None:
        unit = node.args.get("unit")
        if type(by) is exp.Interval:
            by, unit = by.this, by.args.get("unit")
    else:
        return None
    count, word = _number_of(by), "DAY" if unit is None else str(unit.name).upper().rstrip("S")
    if count is None or abs(count) > MOST_DAYS:
        return None
    backwards = type(node) in BACKWARDS
    return node.this, -count if backwards else count, word


def _number_of(node: exp.Expr | None) -> int | None:
    match node:
        case exp.Neg() | exp.Paren():
            inner = _number_of(node.this)
            return inner if inner is None or type(node) is exp.Paren else -inner
        case exp.Mul():
            sides = _number_of(node.this), _number_of(node.expression)
            return None if None in sides else cast("int", sides[0]) * cast("int", sides[1])
        case exp.Literal() if str(node.this).lstrip("-").isdecimal():
            return int(str(node.this))
        case _:
            return None


def _shifted(start: date, count: int, unit: str) -> date | None:
    months = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}.get(unit)
    try:
        if months is None:
            if unit in ("SECOND", "MINUTE", "HOUR"):
                midnight = datetime(start.year, start.month, start.day)
                at = start if isinstance(start, datetime) else midnight
                return at + timedelta(seconds=SECONDS[unit] * count)
            days = {"DAY": 1, "WEEK": 7}.get(unit)
            return None if days is None else start + timedelta(days=days * count)
        place = start.year * 12 + start.month - 1 + months * count
        year, month = place // 12, place % 12 + 1
        return start.replace(year=year, month=month, day=min(start.day, monthrange(year, month)[1]))
    except (OverflowError, ValueError):
        return None


def is_age(node: exp.Expr) -> bool:
    """AGE(day, born) of PostgreSQL, of two dates."""
    named = type(node) is exp.Anonymous and str(node.this).upper() == "AGE"
    return named and len(node.expressions) == 2


def read_age(node: exp.Expr, translate: Translating) -> Expression:
    """EXTRACT(YEAR FROM AGE(day, born)): how many whole years lie between two dates."""
    sides = [_constant_date(translate(side)) for side in node.expressions]
    known = [Type.DATE if isinstance(s, Literal) else translate.names.type_of(s) for s in sides]
    if any(kind is not Type.DATE for kind in known):
        raise refuse_node(node)
    return whole_years(sides[0], sides[1])


def _constant_date(of: Expression) -> Expression:
    if isinstance(of, Literal) and isinstance(of.value, str):
        return Literal(read_moment(of.value, Type.DATE))
    return of


def whole_years(end: Expression, start: Expression) -> Expression:
    """How many whole years lie between two dates; below 0 where the end comes first."""
    upwards, downwards = _years(end, start), nodes.Negated(_years(start, end))
    later, earlier = Comparison(">=", end, start), Comparison("<", end, start)
    return Case(((later, upwards), (earlier, downwards)), Literal(None))


def _years(end: Expression, start: Expression) -> Expression:
    """Years that begin between two dates, without the last one if it is not full."""
    years = _part_of("year", end) - _part_of("year", start)
    days = [_part_of("month", day) * 100 + _part_of("day", day) for day in (end, start)]
    return years - Case(((Comparison("<", *days), Literal(1)),), Literal(0))


def _part_of(part: nodes.Part, of: Expression) -> Expression:
    if isinstance(of, Literal) and isinstance(of.value, date):
        return Literal(cast("int", getattr(of.value, part)))
    return nodes.DatePart(part, of)


Reader = Callable[[exp.Expr, Translating], Expression]
DATE_READERS: dict[type[exp.Expr], Reader] = {
    exp.Cast: _read_cast,
    exp.TryCast: _read_cast,
    exp.Extract: _read_extract,
    exp.TimestampTrunc: _read_start,
    exp.DateTrunc: _read_start,
    exp.DatetimeTrunc: _read_start,
    **dict.fromkeys(SHIFTS, read_shift),
    **dict.fromkeys(DATE_FUNCTIONS, _read_date_function),
}
NAMED_DATES: dict[str, Reader] = {
    "DATE_PART": _read_named_part,
    "DATEPART": _read_named_part,
}
