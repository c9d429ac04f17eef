"""What `letalone query --dry-run` prints: price, split, errors to expect; nothing is spent.

All of it follows from the question and what is public: no data is looked at.
"""

import re
from fractions import Fraction

from letalone.answers.promise import as_sure
from letalone.answers.release import SplitPart
from letalone.cli.answer import (
    HEIGHT,
    caution,
    left_of,
    neighbours_of,
    rows_that_count,
    without_python,
)
from letalone.cli.ready import FOR_BOUNDS, Ready
from letalone.cli.screen import console, flowing, print_json, protection_text, rounded_up, table
from letalone.cli.tabled import HEAD
from letalone.ledger import DataSet
from letalone.ledger.data_sets import budget_to_json
from letalone.plans.facts import ErrorKind, facts_of
from letalone.privacy.filters import brief
from letalone.session.notes import short_of_rows, starved
from letalone.sql.bounds import columns_within
from letalone.tables.compiled import Share

BOUNDS = "bounds of "
WHOLE = 10  # a larger error has no use for digits after the point
MOST = 10  # lines of the table on a screen
NO_ERROR = "less where a group has more rows"
SAME = "same"


def print_preview(asked: Ready, known: DataSet | None) -> None:
    """The price, the split and the errors to expect; nothing is spent."""
    fits = None if known is None else asked.fits(known.state)
    if asked.request.as_json:
        print_json("query", _preview_as_json(asked, known, fits=fits))
        return
    screen = console()
    rows = [row for share in _shares(asked) for row in _rows(asked, share)]
    shown = table("part", "share of ε", "error to expect", "noise")
    for row in rows[:MOST]:
        shown.add_row(*row)
    screen.print(shown, markup=False)
    more = [f"and {len(rows) - MOST} more: --json has all"] if len(rows) > MOST else []
    lines = [flowing(line, screen.width) for line in [*more, *_lines(asked, known, fits=fits)]]
    words = flowing(f"That would be the {_question(asked)}.", screen.width)
    taken = sum(line.count("\n") + 1 for line in (words, *lines))
    whole = asked.request.explain or HEAD + min(len(rows), MOST) + taken <= HEIGHT
    for line in [words, *lines] if whole else lines:
        screen.print(line, markup=False)


def _warnings(asked: Ready) -> list[str]:
    """What would be starved, in the words of the terminal."""
    plan, parts = asked.answer.plan, asked.answer.parts
    split = [SplitPart(one.name, one.share, one.words, one.groups) for one in parts]
    return [without_python(one) for one in (*starved(split), *short_of_rows(plan, parts))]


def _rows(asked: Ready, share: Share) -> list[tuple[str, str, str, str]]:
    """A line for each aggregate; those that share a part are paid for together."""
    noise, price = _noise(share), _percent(share.share)
    if not share.errors:
        return [(share.name, price, _found(asked), noise)]
    (first, *rest) = [(name, _one_error(asked, share, name)) for name in share.errors]
    name = share.name if not rest else first[0]
    return [(name, price, first[1], noise), *((one, SAME, error, SAME) for one, error in rest)]


def _noise(share: Share) -> str:
    """Its name, without how it is divided."""
    words = share.words.rpartition(", by ")[2]
    return re.split(r" noise| \(|:| mechanism|,| for ", words)[0]


def _found(asked: Ready) -> str:
    found = asked.answer.discovery
    return (
        "" if found is None else f"from about {found.threshold:,} {asked.schema.unit or 'row'} on"
    )


def _shares(asked: Ready) -> list[Share]:
    """The parts of the price, as shares of the whole."""
    if asked.bounds is None:
        return list(asked.answer.parts)
    rest = 1 - FOR_BOUNDS
    parts = [(one, FOR_BOUNDS * one.share) for one in asked.bounds.parts]
    parts += [(one, rest * one.share) for one in asked.answer.parts]
    named = [f"{BOUNDS}{one.name}" if one.name in asked.bought else one.name for one, _ in parts]
    return [
        Share(name, share, one.words, one.groups, one.errors)
        for name, (one, share) in zip(named, parts, strict=True)
    ]


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.3g} %"


def _one_error(asked: Ready, share: Share, name: str) -> str:
    error = share.errors[name]
    if error is not None and share.name.startswith(BOUNDS):
        return f"{_digits(error)} {asked.schema.unit or 'row'} beyond each"
    kind, over = facts_of(dict(asked.answer.plan.aggregates)[name]).error, ""
    if error is None and kind is ErrorKind.PER_ROW:
        error, over = asked.answer.expected_error(name, rows=1), " / rows in the group"
    if error is None:
        return NO_ERROR
    if kind is ErrorKind.IN_ROWS:
        return f"± {_digits(error)} rows"
    added = columns_within(asked.parts.aggregates[name])
    bought = any(column in asked.bought for column in added)
    return f"± {_digits(error)}{' × the range found' if bought else ''}{over}"


def _digits(error: float) -> str:
    return rounded_up(error, 0 if error >= WHOLE else 2)


def _lines(asked: Ready, known: DataSet | None, *, fits: bool | None) -> list[str]:
    sure = as_sure(asked.request.confidence)
    lines = [
        *(f"Beware: {warning}." for warning in _warnings(asked)),
        *rows_that_count(asked),
        *([caution(asked)] if asked.bounds else []),
        f"Error bars are right {sure} of the time. Price: {brief(asked.total)}, to protect"
        f" {protection_text(neighbours_of(asked))}. Nothing was spent, and no data was looked at.",
    ]
    if known is None:
        return lines
    return [*lines, f"{left_of(known)}. {'It fits.' if fits else 'It does not fit.'}"]


def _question(asked: Ready) -> str:
    """The question in words; bounds that are not bought yet are left open."""
    words = asked.answer.plan.in_words()
    for name in asked.bought:
        words = words.replace(f"{name} clamped to [0, 1]", f"{name} clamped to the bounds found")
    return words


def _preview_as_json(
    asked: Ready, known: DataSet | None, *, fits: bool | None
) -> dict[str, object]:
    return {
        "dry_run": True,
        "question": _question(asked),
        "unit": asked.schema.unit or "row",
        "epsilon": float(asked.total.epsilon),
        "delta": float(asked.total.delta),
        "confidence": asked.request.confidence,
        "parts": [
            {"name": one.name, "share": str(one.share), "noise": one.words, "errors": one.errors}
            for one in _shares(asked)
        ],
        "budget": None if known is None else budget_to_json(known.budget),
        "remaining": None if known is None else budget_to_json(known.remaining),
        "fits": fits,
        "warnings": _warnings(asked),
    }
