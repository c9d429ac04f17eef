"""Prints the answer of `letalone query`: with its error bars, its price, and what is left.

A screen has the few lines that matter. `--explain` has all: the question in words, every note.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isinf
from pathlib import Path

from letalone.answers.promise import as_sure
from letalone.cli import screen
from letalone.cli.screen import in_two_digits, rounded_up
from letalone.cli.tables.table_commands import QueryOptions
from letalone.cli.tables.tabled import lay_out
from letalone.ledger import DataSet
from letalone.ledger.data_sets import budget_to_json
from letalone.plans.constants import format_constant
from letalone.plans.domains import is_covered
from letalone.privacy import Budget, Neighbours
from letalone.privacy.bounds import six
from letalone.privacy.budget import brief
from letalone.privacy.filters import left_in_words
from letalone.session.joins.private_joins import read_from_text
from letalone.session.notes import notes_of, public_people, without_hints
from letalone.session.pricing import Priced
from letalone.session.release import Release
from letalone.session.steps.bounds_purchase import BOUNDS_SHARE, Bounds
from letalone.session.steps.in_steps import FoundAnswer, PricedInSteps

HEIGHT = 24  # of a screen, with room for the next prompt
WIDEST_TABLE = 160
RAW = (
    "values are noisy numbers as they were drawn: they can be added up, and may lie beyond their"
    " intervals (a count below 0)"
)
ABOUT = "for the noise, not for what bounds leave out"
UNKNOWN = "Unknown: too few rows for this noise to tell; the interval still holds."


Offer = Priced | PricedInSteps  # a question at its price, as `letalone query` shows it


def answer_of(priced: Offer) -> Priced:
    """The answer at its price, without the bounds that are bought for it."""
    return priced if isinstance(priced, Priced) else priced.answer


def total_price(priced: Offer) -> Budget:
    """The price of all that is done; a delta only where the noise makes use of it."""
    if not isinstance(priced, Priced):
        return priced.total
    privacy = priced.terms.privacy
    is_pure = privacy.worst_loss() is not None and privacy.certain_leak() == 0
    return Budget(priced.terms.epsilon, 0 if is_pure else priced.terms.delta)


@dataclass(frozen=True, slots=True)
class QueryResult:
    """An answer, what was found for it first, and how the budget stands by then."""

    options: QueryOptions
    priced: Offer
    found: FoundAnswer
    standing: DataSet
    more: float
    ledger: Path

    @property
    def answered(self) -> Priced:
        """The question with what was found for it."""
        return self.found.priced.here()

    @property
    def release(self) -> Release:
        return self.found.release

    @property
    def bounds(self) -> Bounds:
        return self.found.bounds


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The files that were written, and why others were not."""

    plot: Path | None
    receipt: Path | None
    remarks: tuple[str, ...] = ()
    failed: Exception | None = None


def print_answer(result: QueryResult, written: WrittenFiles) -> None:
    """The table, what to know of it, the price, what is left."""
    if result.options.as_json:
        screen.print_json("query", _as_json(result, written))
        return
    terminal = screen.console(WIDEST_TABLE)
    width = min(terminal.width, screen.WIDEST)
    lines = [screen.flowing(line, width) for line in [*_lines(result), *written.remarks]]
    files = list(_files(result, written))
    below = sum(line.count("\n") + 1 for line in lines) + len(files)
    numbers = lay_out(result.release, width=terminal.width, height=HEIGHT - below)
    for part in (*numbers.tables, *numbers.more, *lines, *files):
        terminal.print(part, markup=False, soft_wrap=isinstance(part, str))


def _files(result: QueryResult, written: WrittenFiles) -> Iterator[str]:
    found = [*["row limit"] * (result.found.limit is not None), *["bounds"] * bool(result.bounds)]
    what = " and ".join(found)
    share = f" (of the answer; the {what} have an entry of their own)" if found else ""
    if written.plot is not None:
        yield f"Drawn to {written.plot}"
    if written.receipt is not None:
        yield f"Receipt{share}: {written.receipt}"


def _lines(result: QueryResult) -> list[str]:
    release = result.release
    is_full = result.options.explain
    lines = [_about_bars(result, is_full=is_full)]
    lines += [words for words in [release.standing.remark] if words]
    lines += rows_that_count(result.answered)
    lines += _without_groups(result)
    lines += [UNKNOWN] * _has_unknown(release)
    if is_full:
        lines.append(f"Notes: {'; '.join(_notes(result))}.")
    else:
        lines += _unusual(result)
    lines += [_bounds_text(result)] if result.bounds else []
    left = f"{left_of(result.standing)}, {_more(result.more)} ({result.ledger})."
    more = "" if is_full else " All about it, for free: --explain."
    return [*lines, f"{_price(result)} {left}{more}"]


def _about_bars(result: QueryResult, *, is_full: bool) -> str:
    question = [f"That is the {result.release.asked.question}."] if is_full else []
    bars = f"In brackets: {as_sure(result.release.confidence)} error bars {ABOUT}."
    return " ".join([*question, bars, *_left_out(answer_of(result.priced))])


def _price(result: QueryResult) -> str:
    if result.release.repeated:
        return (
            "The same answer as before: it is free. Changed data needs a new version in the schema"
            " file."
        )
    whom = screen.protection_text(neighbours_of(answer_of(result.priced)))
    return f"Price: {brief(total_price(result.priced))}, to protect {whom}."


def left_of(known: DataSet) -> str:
    """What is left of a budget, in words."""
    return f"Left: about {left_in_words(known.state)} of ε = {six(known.budget.epsilon)}"


def _unusual(result: QueryResult) -> list[str]:
    """The notes that are not those of every such question; those about text are one."""
    priced = result.answered
    from_text = read_from_text(priced.table, priced.plan)
    usual = set(notes_of(priced.plan, from_text=from_text)) - set(public_people(priced.plan))
    notes = _notes(result, [note for note in result.release.notes if note not in usual])
    # How the cells of a column are read is worth a note where the question looks at it.
    without = notes_of(priced.plan)
    used = [
        name
        for name in sorted(from_text)
        if notes_of(priced.plan, from_text=frozenset({name})) != without
    ]
    cells = f"Cells of {', '.join(used)} that cannot be read count as missing."
    return [*(f"Note: {note}." for note in notes), *[cells] * bool(used)]


def _notes(result: QueryResult, chosen: Iterable[str] | None = None) -> list[str]:
    """The notes of an answer, or those that are chosen, without what Python can change."""
    notes, plan = result.release.notes, result.answered.plan
    split = result.release.asked.split
    return [*without_hints(notes if chosen is None else chosen, plan, split)]


def _has_unknown(release: Release) -> bool:
    pairs = zip(release.outputs, release.shown, strict=True)
    return any(shown.values.count(None) > raw.values.count(None) for raw, shown in pairs)


def neighbours_of(priced: Priced) -> Neighbours:
    """Who is protected, as the question or its table says."""
    label = priced.terms.privacy.neighbours
    return priced.table.schema.protects if label is None else label


def _without_groups(result: QueryResult) -> list[str]:
    """Why there is nothing: how many units a group needs to be listed is public."""
    keys, finding = result.release.keys, answer_of(result.priced).compiled.discovery
    if not keys or keys[0].values or finding is None or result.release.standing.none_passes:
        return []
    return [
        f"No group is listed: one is where about {finding.threshold:,} or more"
        f" {result.release.unit} have it, give or take the noise. Raise --epsilon, lower --max-rows"
        " or --max-groups, or list the groups with --keys."
    ]


def _left_out(priced: Priced) -> list[str]:
    """That rows may fall into no group: from the question and the schema alone."""
    plan, unit = priced.plan, priced.table.schema.unit or "row"
    if plan.keys is None:
        return [f"Groups that too few {unit} have are not listed."] if plan.groups else []
    # The keys here are all combinations of those of each column.
    pairs = zip(plan.groups, zip(*plan.keys, strict=True), strict=True)
    if all(is_covered(group.of, plan.columns, keys) for group, keys in pairs):
        return []
    return ["Rows of other groups are left out."]


def rows_that_count(priced: Priced) -> list[str]:
    """How many rows of a person count whole where nobody gave a number."""
    return [] if priced.row_note is None else [priced.row_note.on("options")]


def _more(more: float) -> str:
    if isinf(more):
        return "for any number of questions like this"
    return f"enough for {more:,} more like this" if more else "too little for another like this"


def _bounds_text(result: QueryResult) -> str:
    bounds = ", ".join(
        f"{name}={format_constant(lower)}:{format_constant(upper)}"
        for name, (lower, upper) in result.bounds.items()
    )
    assert isinstance(result.priced, PricedInSteps)
    part = screen.in_short(float(BOUNDS_SHARE * result.priced.epsilon))
    return (
        f"A fifth of ε, {part}, bought bounds: {bounds} (public: --bounds takes them next time)."
        f" {caution(result.priced)}"
    )


def caution(priced: Offer) -> str:
    """How many units a table needs for its bought bounds to mean something: public facts alone."""
    if isinstance(priced, Priced) or priced.bounds is None:
        return ""
    rows, unit = priced.rows_beyond, priced.answer.table.schema.unit or "row"
    return (
        f"BEWARE: about {rounded_up(rows, 0)} {unit} may lie beyond each bound. Trust bounds and"
        f" answer only if you know that {in_two_digits(10 * rows)} {unit} or more are asked about."
    )


def _as_json(result: QueryResult, written: WrittenFiles) -> dict[str, object]:
    release, price = result.release, total_price(result.priced)
    return {
        "data_set": release.data_set,
        "question": release.asked.question,
        "unit": release.unit,
        "neighbours": str(release.privacy.neighbours),
        "epsilon": float(price.epsilon),
        "delta": float(price.delta),
        "confidence": release.confidence,
        "columns": list(release.columns),
        "rows": list(release.rows()),
        "notes": [
            *_notes(result),
            *filter(None, [release.standing.none_passes]),
            RAW,
            *_without_groups(result),
            *rows_that_count(result.answered),
            *written.remarks,
        ],
        "private_bounds": result.bounds,
        "row_limit": _row_limit(result),
        "repeated": release.repeated,
        "budget": budget_to_json(result.standing.budget),
        "remaining": budget_to_json(result.standing.remaining),
        "more_like_this": None if isinf(result.more) else result.more,
        "ledger": result.ledger,
        "plot": written.plot,
        "receipt": written.receipt,
    }


def _row_limit(result: QueryResult) -> dict[str, object]:
    """How many rows of a person count whole, and the ε that found it where it was found."""
    found, rows = result.answered.limit, result.answered.plan.bounding.max_rows
    return {"rows": rows, "found_for": None if found is None else float(found.epsilon)}
