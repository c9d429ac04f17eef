"""Formats numbers, times and budgets: spent is rounded up, what is left is rounded down."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from math import inf, isfinite
from math import log10 as logarithm
from operator import methodcaller
from typing import Any, cast

from markupsafe import Markup, escape

from letalone.answers.preview import Preview
from letalone.answers.promise import as_sure
from letalone.curator.console.directions import FILTER, isolate_markup, join_isolated, turns
from letalone.errors import LetaloneError
from letalone.plans.constants import format_constant
from letalone.plans.plan import Plan
from letalone.plans.stored_plans import plan_from_json
from letalone.privacy.bounds import six
from letalone.privacy.curve import Json
from letalone.session.notes import plain_notes, question_for_people
from letalone.wire.records import PastReleaseRecord

WITHOUT_DIGITS = 1000  # from here on without digits after the point
OF_EPSILON = re.compile(r"ε = (\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
LINK = Markup('<a class="epsilon" href="/epsilon?epsilon={}" title="What does ε mean?">ε = {}</a>')
NOTHING = "says nothing"
KINDS = {"integer": "whole number", "boolean": "yes or no", "timestamp": "date and time"}


def amount(value: Fraction | float, *, up: bool = True) -> str:
    """A number in six digits at most, rounded up; or down, for what is left.

    A float is a number that was typed: its shortest decimal.
    """
    return six(Fraction(repr(value)) if isinstance(value, float) else Fraction(value), up=up)


def format_time(value: datetime) -> str:
    """A time in UTC, for reading."""
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def part(spent: Fraction, whole: Fraction) -> int:
    """Hundredths of a whole, rounded up, at most 100."""
    return min(100, -int(-(100 * spent) // whole)) if whole else 100


def log10(value: Any) -> float:
    """Where a slider stands for an ε that was typed; in the middle where that is no number."""
    try:
        return round(logarithm(float(value)), 2)
    except ValueError:
        return -1.0


def question_in_words(plan: Plan) -> str:
    """A question in the words of people: what a unit is called, and medians by their name."""
    words = question_for_people(plan)
    return words[:1].upper() + words[1:]


def describe_past(past: PastReleaseRecord) -> str:
    """The question of an earlier answer, in the words of people."""
    plan = _plan(past.release)
    return past.question if plan is None else question_in_words(plan)


def notes_in_words(notes: Sequence[str], plan: Plan) -> list[str]:
    """Notes as they are stored, in the words of people."""
    plain = plain_notes(plan)
    return [plain.get(note, note) for note in notes]


def plain(notes: Sequence[str], past: PastReleaseRecord) -> Sequence[str]:
    """The notes of an earlier answer, in the words of people."""
    plan = _plan(past.release)
    return notes if plan is None else notes_in_words(notes, plan)


def _plan(release: Json) -> Plan | None:
    """The plan of an earlier answer; None where this letalone cannot read it any more."""
    try:
        return plan_from_json(cast("Json", release["plan"]))
    except LetaloneError:
        return None


def link_epsilons(words: str) -> Markup:
    """Words in which every ε leads to what it means."""
    parts = OF_EPSILON.split(words)  # words, then a number, then words, and so on
    return Markup("").join(
        LINK.format(part, part) if place % 2 else escape(isolate_markup(part))
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
        shown = ((rows, _error(error, width)) for rows, error in by_rows.items())
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
    digits = f"{error:,.0f}" if isfinite(error) and error >= WITHOUT_DIGITS else f"{error:.3g}"
    return f"± {digits}" if error < width else NOTHING


FILTERS: dict[str, Callable[..., Any]] = {
    "amount": amount, "exact": format_constant, "moment": format_time, "part": part,
    "plain": plain, "log10": log10, "sure": as_sure, "linked": link_epsilons,
    "machine": methodcaller("isoformat"), "asked": describe_past, "kind": kind,
    FILTER: isolate_markup, "join": join_isolated, "turns": turns,
}  # fmt: skip
