"""Prints what `letalone query --dry-run` says: price, split, errors to expect; nothing is spent.

All of it follows from the question and what is public: no data is looked at.
"""

import re
from dataclasses import replace
from typing import cast

from letalone.answers.promise import as_sure
from letalone.cli import screen
from letalone.cli.show_release import (
    HEIGHT,
    Offer,
    answer_of,
    caution,
    left_of,
    neighbours_of,
    rows_that_count,
    total_price,
    without_python,
)
from letalone.cli.table_commands import QueryOptions
from letalone.cli.tabled import HEAD
from letalone.ledger import DataSet
from letalone.ledger.data_sets import budget_to_json
from letalone.plans.facts import ErrorKind, facts_of
from letalone.plans.trees import Computable
from letalone.privacy.filters import brief
from letalone.session.notes import find_starved, short_of_rows
from letalone.session.pricing import Priced
from letalone.sql.given_bounds import columns_within
from letalone.tables.compiled import PricePart

BOUNDS, LIMIT = "bounds of ", "row limit"
WHOLE = 10  # a larger error has no use for digits after the point
MAX_LINES = 10  # of the table on a screen
SAME = "same"


def print_preview(priced: Offer, options: QueryOptions, known: DataSet | None) -> None:
    """The price, the split and the errors to expect; nothing is spent."""
    if options.as_json:
        screen.print_json("query", _as_json(priced, options, known))
        return
    width = screen.console().width
    rows = [row for share in _shares(priced) for row in _rows(priced, share)]
    screen.put(
        screen.table("part", "share of ε", "error to expect", "noise", rows=rows[:MAX_LINES])
    )
    more = [f"and {len(rows) - MAX_LINES} more: --json has all"] if len(rows) > MAX_LINES else []
    notes = [*more, *_lines(priced, options, known)]
    lines = [screen.flowing(line, width) for line in notes]
    words = screen.flowing(f"That would be the {_question(priced)}.", width)
    taken = sum(line.count("\n") + 1 for line in (words, *lines))
    is_full = options.explain or HEAD + min(len(rows), MAX_LINES) + taken <= HEIGHT
    screen.put(*[words] * is_full, *lines)


def _warnings(priced: Priced) -> list[str]:
    """What would be starved, in the words of the terminal."""
    starved = find_starved(priced.terms.split)
    return [*map(without_python, (*starved, *short_of_rows(priced.plan, priced.compiled.parts)))]


def _rows(priced: Offer, share: PricePart) -> list[tuple[str, str, str, str]]:
    """A line for each aggregate; those that share a part are paid for together."""
    noise, price = _noise(share), f"{float(100 * share.share):.3g} %"
    if not share.errors:
        return [(share.name, price, _threshold(answer_of(priced)), noise)]
    (first, *rest) = [(name, _error_text(priced, share, name)) for name in share.errors]
    name = share.name if not rest else first[0]
    return [(name, price, first[1], noise), *((other, SAME, error, SAME) for other, error in rest)]


def _noise(share: PricePart) -> str:
    """Its name, without how it is divided."""
    words = share.words.rpartition(", by ")[2]
    return re.split(r" noise| \(|:| mechanism|,| for ", words)[0]


def _threshold(priced: Priced) -> str:
    finding, unit = priced.compiled.discovery, priced.table.schema.unit or "row"
    return "" if finding is None else f"from about {finding.threshold:,} {unit} on"


def _shares(priced: Offer) -> list[PricePart]:
    """The parts of the price, as shares of the whole."""
    answer = answer_of(priced)
    if isinstance(priced, Priced):
        return list(answer.compiled.parts)
    total = priced.total.epsilon
    before = ((priced.limit, LIMIT, ""), (priced.bounds, BOUNDS, "{}"), (answer, "", "{}"))
    return [
        replace(
            part,
            name=head + tail.format(part.name),
            share=part.share * one.terms.epsilon / total,
        )
        for one, head, tail in before
        if one is not None
        for part in one.compiled.parts
    ]


def _error_text(priced: Offer, share: PricePart, name: str) -> str:
    error, answer = share.errors[name], answer_of(priced)
    if error is not None and share.name.startswith(BOUNDS):
        return f"{_digits(error)} {answer.table.schema.unit or 'row'} beyond each"
    if error is not None and share.name == LIMIT:
        return f"± {_digits(error)} {answer.table.schema.unit}"
    kind, over = facts_of(dict(answer.plan.aggregates)[name]).error, ""
    if error is None and kind is ErrorKind.PER_ROW:
        error, over = answer.compiled.expected_error(name, rows=1), " / rows in the group"
    if error is None:
        return "less where a group has more rows"
    if kind is ErrorKind.IN_ROWS:
        return f"± {_digits(error)} rows"
    return f"± {_digits(error)}{' × the range found' * _is_bounded(priced, name)}{over}"


def _is_bounded(priced: Offer, name: str) -> bool:
    """Whether bounds are bought of what an aggregate adds up."""
    if isinstance(priced, Priced):
        return False
    added = columns_within(cast("Computable", dict(priced.query.aggregates)[name]))
    return any(column in priced.columns for column in added)


def _digits(error: float) -> str:
    return screen.rounded_up(error, 0 if error >= WHOLE else 2)


def _lines(priced: Offer, options: QueryOptions, known: DataSet | None) -> list[str]:
    sure, answer = as_sure(options.confidence), answer_of(priced)
    lines = [
        *(f"Beware: {warning}." for warning in _warnings(answer)),
        *_row_limit(priced),
        *filter(None, [caution(priced)]),
        f"Error bars are right {sure} of the time. Price: {brief(total_price(priced))}, to protect"
        f" {screen.protection_text(neighbours_of(answer))}. Nothing was spent, and no data was"
        " looked at.",
    ]
    if known is None:
        return lines
    return [*lines, f"{left_of(known)}. {'It fits.' if priced.fits else 'It does not fit.'}"]


def _row_limit(priced: Offer) -> list[str]:
    """What is known of the row limit, or that a tenth of ε finds it."""
    answer = answer_of(priced)
    if isinstance(priced, Priced) or priced.limit is None:
        return rows_that_count(answer.remark)
    rows, unit = answer.plan.bounding.max_rows, answer.table.schema.unit
    part = screen.in_short(float(priced.limit.terms.epsilon))
    return [
        f"ε = {part} of it finds how many rows per {unit} count whole. The errors are for {rows:,}"
        " rows, and grow with that number."
    ]


def _question(priced: Offer) -> str:
    """The question in words; bounds that are not bought yet are left open."""
    words = answer_of(priced).plan.in_words()
    for name in () if isinstance(priced, Priced) else priced.columns:
        words = words.replace(f"{name} clamped to [0, 1]", f"{name} clamped to the bounds found")
    return words


def _as_json(priced: Offer, options: QueryOptions, known: DataSet | None) -> dict[str, object]:
    total, answer = total_price(priced), answer_of(priced)
    return {
        "dry_run": True,
        "question": _question(priced),
        "unit": answer.table.schema.unit or "row",
        "epsilon": float(total.epsilon),
        "delta": float(total.delta),
        "confidence": options.confidence,
        "parts": [
            {"name": part.name, "share": part.share, "noise": part.words, "errors": part.errors}
            for part in _shares(priced)
        ],
        "budget": None if known is None else budget_to_json(known.budget),
        "remaining": None if known is None else budget_to_json(known.remaining),
        "fits": None if known is None else priced.fits,
        "warnings": _warnings(answer),
    }
