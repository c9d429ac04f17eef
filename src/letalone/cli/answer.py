"""What `letalone query` prints: the answer with its error bars, its price, and what is left.

A screen has the few lines that matter. `--explain` has all: the question in words, every note.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isinf
from pathlib import Path

from rich.console import Console

from letalone.answers.arranged import NONE_PASSES
from letalone.answers.promise import as_sure
from letalone.cli.ready import FOR_BOUNDS, Bounds, Ready, beyond
from letalone.cli.screen import (
    WIDEST,
    console,
    flowing,
    in_short,
    in_two_digits,
    print_json,
    protection_text,
    rounded_up,
)
from letalone.cli.tabled import tabled
from letalone.ledger import DataSet
from letalone.ledger.data_sets import budget_to_json
from letalone.plans.constants import shown
from letalone.plans.domains import is_covered
from letalone.privacy import Neighbours
from letalone.privacy.bounds import six
from letalone.privacy.filters import brief, left_in_words
from letalone.session import Release
from letalone.session.notes import FROM_TEXT, notes_of, public_people

HEIGHT = 24  # of a screen, with room for the next prompt
WIDEST_TABLE = 160
RAW = (
    "values are noisy numbers as they were drawn: they can be added up, and may lie beyond their"
    " intervals (a count below 0)"
)
ABOUT = "for the noise, not for what bounds leave out"
UNKNOWN = "Unknown: too few rows for this noise to tell; the interval still holds."
READ = re.compile(rf"(.*) (is|are){FROM_TEXT}")


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, the bounds that were bought for it, and how the budget stands by then."""

    asked: Ready
    release: Release
    bounds: Bounds
    standing: DataSet
    more: float
    ledger: Path


@dataclass(frozen=True, slots=True)
class Written:
    """The files that were written, and why others were not."""

    plot: Path | None
    receipt: Path | None
    remarks: tuple[str, ...] = ()
    failed: Exception | None = None


def print_answer(found: Answered, written: Written) -> None:
    """The table, what to know of it, the price, what is left."""
    if found.asked.request.as_json:
        print_json("query", _as_json(found, written))
        return
    screen = console(WIDEST_TABLE)
    width = min(screen.width, WIDEST)
    lines = [flowing(line, width) for line in [*_lines(found), *written.remarks]]
    files = list(_files(found, written))
    below = sum(line.count("\n") + 1 for line in lines) + len(files)
    numbers = tabled(found.release, width=screen.width, height=HEIGHT - below)
    for one in numbers.tables:
        screen.print(one, markup=False)
    _print_lines(screen, [*numbers.more, *lines, *files])


def _print_lines(screen: Console, lines: list[str]) -> None:
    for line in lines:
        screen.print(line, markup=False, soft_wrap=True)


def _files(found: Answered, written: Written) -> Iterator[str]:
    share = " (of the answer; the bounds have an entry of their own)" if found.bounds else ""
    if written.plot is not None:
        yield f"Drawn to {written.plot}"
    if written.receipt is not None:
        yield f"Receipt{share}: {written.receipt}"


def _lines(found: Answered) -> list[str]:
    release = found.release
    whole = found.asked.request.explain
    lines = [_about_bars(found, whole=whole)]
    lines += [words for words in [release.standing.remark] if words]
    lines += _without_groups(found)
    lines += [UNKNOWN] * _has_unknown(release)
    lines += _all_notes(release) if whole else _unusual(found) + rows_that_count(found.asked)
    lines += [_bought(found)] if found.bounds else []
    more = "" if whole else " All about it, for free: --explain."
    return [*lines, f"{_price(found)} {_left(found)}{more}"]


def _about_bars(found: Answered, *, whole: bool) -> str:
    question = [f"That is the {found.release.asked.question}."] if whole else []
    bars = f"In brackets: {as_sure(found.release.confidence)} error bars {ABOUT}."
    return " ".join([*question, bars, *_left_out(found.asked)])


def _all_notes(release: Release) -> list[str]:
    return ["Notes: " + "; ".join(without_python(note) for note in release.notes) + "."]


def _price(found: Answered) -> str:
    if found.release.repeated:
        return (
            "The same answer as before: it is free. Changed data needs a new version in the schema"
            " file."
        )
    whom = protection_text(neighbours_of(found.asked))
    return f"Price: {brief(found.asked.total)}, to protect {whom}."


def _left(found: Answered) -> str:
    return f"{left_of(found.standing)}, {_more(found.more)} ({found.ledger})."


def left_of(known: DataSet) -> str:
    """What is left of a budget, in words."""
    return f"Left: about {left_in_words(known.state)} of ε = {six(known.budget.epsilon)}"


def _unusual(found: Answered) -> list[str]:
    """The notes that are not those of every such question; those about text are one."""
    plan = found.asked.answer.plan
    usual = set(notes_of(plan)) - set(public_people(plan))
    notes = [note for note in found.release.notes if note not in usual]
    read = [words[1] for note in notes if (words := READ.match(note))]
    names = ", ".join(read).replace(" and ", ", ")
    cells = f"Cells of {names} that cannot be read count as missing."
    others = [f"Note: {without_python(note)}." for note in notes if not READ.match(note)]
    return [*others, *([cells] if read else [])]


def without_python(note: str) -> str:
    """A note without what is written in Python to change that."""
    return note.split("; .bound")[0].split(": .batch")[0]


def _has_unknown(release: Release) -> bool:
    pairs = zip(release.outputs, release.shown, strict=True)
    return any(shown.values.count(None) > raw.values.count(None) for raw, shown in pairs)


def neighbours_of(asked: Ready) -> Neighbours:
    """Who is protected, as the question or its table says."""
    label = asked.answer.privacy.neighbours
    return asked.schema.protects if label is None else label


def _without_groups(found: Answered) -> list[str]:
    """Why there is nothing: how many units a group needs to be listed is public."""
    keys, finding = found.release.keys, found.asked.answer.discovery
    filtered = NONE_PASSES in (found.release.standing.remark or "")
    if not keys or keys[0].values or finding is None or filtered:
        return []
    return [
        f"No group is listed: one is where about {finding.threshold:,} or more {found.release.unit}"
        " have it, give or take the noise. Raise --epsilon, lower --max-rows or --max-groups, or"
        " list the groups with --keys."
    ]


def _left_out(asked: Ready) -> list[str]:
    """That rows may fall into no group: from the question and the schema alone."""
    plan = asked.answer.plan
    if plan.keys is None:
        few = f"Groups that too few {asked.schema.unit or 'row'} have are not listed."
        return [few] if plan.groups else []
    # The keys here are all combinations of those of each column.
    pairs = zip(plan.groups, zip(*plan.keys, strict=True), strict=True)
    if all(is_covered(group.of, plan.columns, keys) for group, keys in pairs):
        return []
    return ["Rows of other groups are left out."]


def rows_that_count(asked: Ready) -> list[str]:
    """How many rows count where nobody said it: the error grows with that number."""
    most, unit = asked.answer.plan.bounding.max_rows, asked.schema.unit
    if asked.request.max_rows is not None or most is None or unit is None or most == 1:
        return []
    first = ", chosen before WHERE" if asked.answer.plan.where is not None else ""
    return [
        f"Up to {most} rows of each {unit} count{first}; a smaller --max-rows makes less noise."
    ]


def _more(more: float) -> str:
    if isinf(more):
        return "for any number of questions like this"
    return f"enough for {more:,} more like this" if more else "too little for another like this"


def _bought(found: Answered) -> str:
    bounds = ", ".join(_bound(name, *ends) for name, ends in found.bounds.items())
    part = in_short(float(FOR_BOUNDS * found.asked.total.epsilon))
    return (
        f"A fifth of ε, {part}, bought bounds: {bounds} (public: --bounds takes them next time)."
        f" {caution(found.asked)}"
    )


def caution(asked: Ready) -> str:
    """How many units a table needs for its bought bounds to mean something: public facts alone."""
    if asked.bounds is None:
        return ""
    rows, unit = beyond(asked.bounds), asked.schema.unit or "row"
    return (
        f"BEWARE: about {rounded_up(rows, 0)} {unit} may lie beyond each bound. Trust bounds and"
        f" answer only if you know that {in_two_digits(10 * rows)} {unit} or more are asked about."
    )


def _bound(name: str, lower: Fraction, upper: Fraction) -> str:
    return f"{name}={shown(lower)}:{shown(upper)}"


def _as_json(found: Answered, written: Written) -> dict[str, object]:
    release = found.release
    notes = [without_python(note) for note in release.notes]
    return {
        "data_set": release.data_set,
        "question": release.asked.question,
        "unit": release.unit,
        "neighbours": str(release.privacy.neighbours),
        "epsilon": float(found.asked.total.epsilon),
        "delta": float(found.asked.total.delta),
        "confidence": release.confidence,
        "columns": list(release.columns),
        "rows": [_cells(row) for row in release.rows()],
        "notes": [
            *notes,
            *_none_passes(release),
            RAW,
            *_without_groups(found),
            *rows_that_count(found.asked),
            *written.remarks,
        ],
        "private_bounds": {name: [str(end) for end in ends] for name, ends in found.bounds.items()},
        "repeated": release.repeated,
        "budget": budget_to_json(found.standing.budget),
        "remaining": budget_to_json(found.standing.remaining),
        "more_like_this": None if isinf(found.more) else found.more,
        "ledger": str(found.ledger),
        "plot": written.plot and str(written.plot),
        "receipt": written.receipt and str(written.receipt),
    }


def _none_passes(release: Release) -> list[str]:
    remark = release.standing.remark or ""
    return [remark[remark.index(NONE_PASSES) :]] if NONE_PASSES in remark else []


def _cells(row: Mapping[str, object]) -> dict[str, object]:
    """Dates as text: JSON has none."""
    plain = (str, int, float, type(None))
    return {name: cell if isinstance(cell, plain) else str(cell) for name, cell in row.items()}
