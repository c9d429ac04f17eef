"""Expressions in words, for explanations and refusals: `age >= 65 and ward is one of 'A', 'B'`.

Tested:   tests/plans/test_described.py
"""

from datetime import date
from fractions import Fraction
from typing import cast

from letalone.plans import expressions as nodes
from letalone.plans.constants import Value, format_constant
from letalone.plans.expressions import Expression
from letalone.plans.texts.like_patterns import small

LISTED = 5
RESPELLED: dict[nodes.Spelling, str] = {
    "upper": "{} in capitals",
    "lower": "{} in small letters",
    "trim": "{} without blanks at its ends",
    "trim_start": "{} without blanks at its beginning",
    "trim_end": "{} without blanks at its end",
}


def _seconds_in_words(days: Expression, whole: Expression) -> str | None:
    """How `seconds_since` is read aloud; None for any other sum."""
    match days:
        case nodes.Arithmetic("-", nodes.StartOf("day", end), nodes.StartOf("day", start)):
            is_it = nodes.same(whole, end.seconds_since(start))
            return f"the seconds from {in_words(start)} to {in_words(end)}" if is_it else None
        case _:
            return None


def in_words(expression: Expression) -> str:
    """The expression as a person would read it aloud; size-checked expressions only."""
    match cast("nodes.Node", expression):
        case nodes.ColumnRef(name):
            return name if name.isidentifier() else repr(name)
        case nodes.Literal(value):
            return value_in_words(value)
        case nodes.Arithmetic("+", nodes.Arithmetic("*", days)) as sum_ if (
            words := _seconds_in_words(days, sum_)
        ):
            return words
        case nodes.Arithmetic(op, left, right) | nodes.Comparison(op, left, right):
            return f"{_part(left)} {op} {_part(right)}"
        case nodes.Negated(of):
            return f"-{_part(of)}"
        case nodes.And(parts):
            return " and ".join(_part(part) for part in parts)
        case nodes.Or(parts):
            return " or ".join(_part(part) for part in parts)
        case nodes.Not(nodes.IsNull(of)):
            return f"{_part(of)} is not missing"
        case nodes.Not(of):
            return f"not {_part(of)}"
        case nodes.IsNull(of):
            return f"{_part(of)} is missing"
        case nodes.OneOf(of, values):
            return (
                f"{_part(of)} is one of {join_words([value_in_words(value) for value in values])}"
            )
        case nodes.Case(
            ((of, nodes.Literal(1)), (nodes.Not(opposite), nodes.Literal(0))), nodes.Literal(None)
        ) if nodes.same(of, opposite):
            return f"({in_words(of)}, as 1 or 0)"
        case nodes.Case(branches, otherwise):
            return _cases(branches, otherwise)
        case nodes.DatePart(part, of):
            return f"the {part} of {_part(of)}"
        case nodes.StartOf("day", of):
            return f"the date of {_part(of)}"
        case nodes.StartOf(period, of):
            return f"the first day of the {period} of {_part(of)}"
        case nodes.DateText("%A" | "%B" as pattern, of):
            return f"the name of the {'day' if pattern == '%A' else 'month'} of {_part(of)}"
        case nodes.DateText(pattern, of):
            return f"{_part(of)} written as {pattern!r}"
        case nodes.Like(nodes.Respelled("lower", of), pattern) if pattern == small(pattern):
            return f"{_part(of)} is like {pattern!r} in any case of letters"
        case nodes.Like(of, pattern):
            return f"{_part(of)} is like {pattern!r}"
        case nodes.Respelled(how, of):
            return RESPELLED[how].format(_part(of))
        case nodes.Substring(of, start, letters):
            return _letters(start, letters, _part(of))
        case nodes.Length(of):
            return f"the number of letters of {_part(of)}"
        case nodes.Concat(parts):
            return " followed by ".join(_part(part) for part in parts)
        case nodes.Bin(of, lower, width, count):
            end = format_constant(lower + count * width)
            return (
                f"{_part(of)} in ranges of {format_constant(width)} from"
                f" {format_constant(lower)} to {end}"
            )
        case nodes.Clamp(of, lower, upper):
            return f"{_part(of)} clamped to {_ends(lower, upper)}"


def short_name(expression: Expression) -> str | None:
    """What a column of it is called: month_day, upper_ward; None where that would be long."""
    match cast("nodes.Node", expression):
        case nodes.ColumnRef(name):
            return name
        case nodes.DatePart(part, nodes.ColumnRef(name)):
            return f"{part}_{name}"
        case nodes.StartOf(period, nodes.ColumnRef(name)):
            return f"{period}_of_{name}"
        case nodes.DateText("%A" | "%B" as pattern, nodes.ColumnRef(name)):
            return f"{'dayname' if pattern == '%A' else 'monthname'}_{name}"
        case nodes.Respelled(how, nodes.ColumnRef(name)):
            return f"{how}_{name}"
        case _:
            return None


def value_in_words(value: Value) -> str:
    """A constant: 65, 0.1, 'A', 2024-01-31, missing."""
    match value:
        case None:
            return "missing"
        case bool():
            return str(value).lower()
        case Fraction():
            return format_constant(value)
        case date():
            return str(value)
        case _:
            return repr(value)


def clamped_in_words(of: Expression, lower: Fraction | None, upper: Fraction | None) -> str:
    """Values within bounds: cost clamped to [0, 1000]; None where bounds are still to be found."""
    if lower is None or upper is None:
        return f"{in_words(of)} clamped to the bounds found"
    return f"{in_words(of)} clamped to [{format_constant(lower)}, {format_constant(upper)}]"


def and_words(words: list[str]) -> str:
    """Words with an "and" before the last."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def join_words(words: list[str]) -> str:
    """The first few, and how many there are in all."""
    if len(words) <= LISTED:
        return ", ".join(words)
    return f"{', '.join(words[:LISTED])}, … ({len(words):,} in all)"


def _cases(branches: tuple[tuple[Expression, Expression], ...], otherwise: Expression) -> str:
    cases = "; ".join(f"{_part(value)} if {_part(condition)}" for condition, value in branches)
    return f"({cases}; otherwise {_part(otherwise)})"


def _letters(start: int, letters: int | None, of: str) -> str:
    if start < 0:
        return f"the last {_some_letters(-start)} of {of}"
    if start == 1 and letters is not None:
        return f"the first {_some_letters(letters)} of {of}"
    if letters is None:
        return f"{of} from letter {start} on"
    return f"letters {start} to {start + letters - 1} of {of}"


def _some_letters(number: int) -> str:
    return "letter" if number == 1 else f"{number} letters"


def _ends(lower: Fraction | None, upper: Fraction | None) -> str:
    if lower is None:
        return f"at most {format_constant(upper or Fraction())}"
    return (
        f"at least {format_constant(lower)}"
        if upper is None
        else f"[{format_constant(lower)}, {format_constant(upper)}]"
    )


def _part(expression: Expression) -> str:
    """In brackets unless it is one word."""
    words = in_words(expression)
    return (
        words
        if isinstance(expression, nodes.ColumnRef | nodes.Literal | nodes.Case)
        else f"({words})"
    )
