"""How numbers, times and budgets are shown: spent is rounded up, what is left is rounded down."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from fractions import Fraction
from math import log10 as logarithm
from typing import Any

from markupsafe import Markup, escape

from letalone.answers.promise import as_sure
from letalone.plans.constants import shown
from letalone.privacy.bounds import six

OF_EPSILON = re.compile(r"ε = (\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
LINK = Markup('<a class="epsilon" href="/epsilon?epsilon={}" title="What does ε mean?">ε = {}</a>')
OF_PYTHON = re.compile(r"[;:,]?\s\.[a-z_]+\([^)]*\)[^;.]*")


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
    """A note without the words that are for Python."""
    return OF_PYTHON.sub("", note)


def linked(words: str) -> Markup:
    """Words in which every ε leads to what it means."""
    parts = OF_EPSILON.split(words)  # words, then a number, then words, and so on
    return Markup("").join(
        LINK.format(part, part) if place % 2 else escape(part) for place, part in enumerate(parts)
    )


FILTERS: dict[str, Callable[..., Any]] = {
    "amount": amount, "exact": exact, "moment": moment, "machine": machine, "part": part,
    "plain": plain, "log10": log10, "sure": as_sure,
    "linked": linked,
}  # fmt: skip
