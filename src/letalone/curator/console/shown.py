"""How numbers, times and budgets are shown: spent is rounded up, what is left is rounded down."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from fractions import Fraction
from math import inf, isfinite
from math import log10 as logarithm
from typing import Any

from markupsafe import Markup, escape

from letalone.answers.promise import as_sure
from letalone.curator.console.directions import FILTER, given, joined, turns
from letalone.plans.constants import shown
from letalone.privacy.bounds import six
from letalone.session.preview import Preview

LARGE = 1000  # from here on without digits after the point
OF_EPSILON = re.compile(r"ε = (\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
LINK = Markup('<a class="epsilon" href="/epsilon?epsilon={}" title="What does ε mean?">ε = {}</a>')
IN_QUOTES = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
EACH = re.compile(r"; each (.+) counts with ")
OF_PYTHON = re.compile(r"[;:,]?\s\.[a-z_]+\([^)]*\)[^;.]*")
OF_NOTES = (  # as notes are stored, and as people read them
    (r"^each (.+) counts with at most (\S+ rows?), (.+)$", r"at most \2 per \1 are counted, \3"),
    (r"^intervals speak of the bounded data$", "the ranges are about the rows within that limit"),
    (
        r"^intervals speak of the clamped data$",
        "the ranges are about the values within their bounds: a value beyond counts as the bound",
    ),
    (
        r"^intervals speak of the bounded and clamped data$",
        "the ranges are about the rows within that limit, and the values within their bounds:"
        " a value beyond counts as the bound",
    ),
    (r"^rows with other keys are left out$", "rows of groups that are not listed are not counted"),
    (
        r"^keys that too few units have are not listed, .*$",
        "groups that too few people have are not listed",
    ),
)
NOTHING = "says nothing"
KINDS = {"integer": "whole number", "boolean": "yes or no", "timestamp": "date and time"}


def amount(value: Fraction | float, *, up: bool = True) -> str:
    """A number in six digits at most, rounded up; or down, for what is left.

    A float is a number that was typed: its shortest decimal.
    """
    return six(Fraction(repr(value)) if isinstance(value, float) else Fraction(value), up=up)


def exact(value: Fraction) -> str:
    """A number with all its digits: 0.1, 1000, 1/3."""
    return shown(value)


def moment(value: datetime) -> str:
    """A time in UTC, for reading."""
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def machine(value: date) -> str:
    """A time or a day, for machines."""
    return value.isoformat()


def part(spent: Fraction, whole: Fraction) -> int:
    """Hundredths of a whole, rounded up, at most 100."""
    return min(100, -int(-(100 * spent) // whole)) if whole else 100


def log10(value: Any) -> float:
    """Where a slider stands for an ε that was typed; in the middle where that is no number."""
    try:
        return round(logarithm(float(value)), 2)
    except ValueError:
        return -1.0


def plain(note: str) -> str:
    """A note in the words of people, without those that are for Python."""
    words = OF_PYTHON.sub("", note)
    for stored, said in OF_NOTES:
        words = re.sub(stored, said, words)
    return words


def asked(question: str) -> str:
    """A question in words, in those of people: what a unit is, and medians by their name."""
    unit = EACH.findall(question)
    parts = IN_QUOTES.split(question)  # words, then what stands in quotes, and so on
    for place in range(0, len(parts), 2):
        parts[place] = parts[place].replace("quantile 0.5 of ", "median of ")
        if unit:
            parts[place] = parts[place].replace(
                "number of units", f"number of different {unit[-1]}"
            )
    words = "".join(parts)
    return words[:1].upper() + words[1:]


def linked(words: str) -> Markup:
    """Words in which every ε leads to what it means."""
    parts = OF_EPSILON.split(words)  # words, then a number, then words, and so on
    return Markup("").join(
        LINK.format(part, part) if place % 2 else escape(given(part))
        for place, part in enumerate(parts)
    )


def kind(type_: str) -> str:
    """A type of a column, in words."""
    return KINDS.get(type_, type_)


def error_words(preview: Preview, name: str, *, width: float = inf) -> str:
    """How far off a column of the answer will be, in words.

    `width`: from the least to the most that it can be. An error as large leaves all of that open.
    """
    error, by_rows = preview.errors[name], preview.by_rows.get(name)
    if error is None and by_rows:
        shown = ((rows, _error(one, width)) for rows, one in by_rows.items())
        listed = (f"with {rows:,} rows {words}" for rows, words in shown)
        return "; ".join(listed).replace("± ", "±\N{NO-BREAK SPACE}")
    if error is None and name in preview.formulas:
        return "depends on the numbers that it is computed from"
    if error is None:
        return "depends on how many rows there are: say below about how many to see it"
    if error == inf:
        return "nothing would be known: take a larger ε, or ask for less"
    rows = " rows" if name in preview.in_rows else ""
    alone = preview.alone.get(name)
    more = "" if alone is None else f" ({_error(alone, width)} alone)"
    return f"{_error(error, width)}{rows}{more}"


def _error(error: float, width: float) -> str:
    return f"± {_digits(error)}" if error < width else NOTHING


def _digits(error: float) -> str:
    return f"{error:,.0f}" if isfinite(error) and error >= LARGE else f"{error:.3g}"


FILTERS: dict[str, Callable[..., Any]] = {
    "amount": amount, "exact": exact, "moment": moment, "machine": machine, "part": part,
    "plain": plain, "log10": log10, "sure": as_sure,
    "linked": linked, "asked": asked, "kind": kind,
    FILTER: given, "join": joined, "turns": turns,
}  # fmt: skip
