"""Prints the answer of `letalone query`: with its ranges, what it spent, and the budget left.

A screen has the few lines that matter. `--explain` has all: the question in words, every note.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isinf
from pathlib import Path

from letalone.answers.promise import as_sure
from letalone.cli import screen
from letalone.cli.screen import in_two_digits, rounded_up
from letalone.cli.tables.answer_files import write_csv
from letalone.cli.tables.table_commands import QueryOptions
from letalone.cli.tables.tabled import lay_out
from letalone.cli.typed import ALL
from letalone.ledger import DataSet
from letalone.ledger.data_sets import budget_to_json
from letalone.plans.constants import format_constant
from letalone.plans.domains import is_covered
from letalone.privacy import Budget, Neighbours
from letalone.privacy.bounds import in_three_digits, six
from letalone.privacy.budget import brief
from letalone.privacy.neighbours import relation_verb
from letalone.session.joins.private_joins import read_from_text
from letalone.session.notes import notes_of, public_people, without_hints
from letalone.session.pricing import Priced
from letalone.session.release import Release
from letalone.session.steps.bounds_purchase import BOUNDS_SHARE, Bounds
from letalone.session.steps.in_steps import FoundAnswer, PricedInSteps
from letalone.session.steps.row_limit import warn_of_rows
from letalone.session.steps.two_questions import FirstAnswer, PricedBoth

HEIGHT = 24  # of a screen, with room for the next prompt
WIDEST_TABLE = 160
RAW = (
    "values are the noisy numbers before any are cut off at 0: use these for sums; a value can be"
    " outside its range"
)
FEW_LINES = 3
ALL_OF_THEM = 1 << 60  # rows, of answers that lie on their side, too
SEE = "More: --explain"
NEW_VERSION = "If the data changed, raise `version` in the schema file."
UNKNOWN = "unknown: there are too few rows for this much noise. The range is still valid."


Offer = Priced | PricedInSteps  # a question at its price, as `letalone query` shows it


def answer_of(priced: Offer) -> Priced:
    """The answer at its price, without the bounds that are found for it."""
    return priced if isinstance(priced, Priced) else priced.answer


def total_price(priced: Offer | PricedBoth) -> Budget:
    """The price of all that is done; a delta only where the noise makes use of it."""
    if isinstance(priced, PricedBoth):
        prices = [total_price(offer) for offer in priced.offers]
        return Budget(sum((price.epsilon for price in prices), Fraction(0)), prices[-1].delta)
    if not isinstance(priced, Priced):
        return priced.total
    privacy = priced.terms.privacy
    is_pure = privacy.worst_loss() is not None and privacy.certain_leak() == 0
    return Budget(priced.terms.epsilon, 0 if is_pure else priced.terms.delta)


@dataclass(frozen=True, slots=True)
class QueryResult:
    """An answer, what was found and asked for it first, and how the budget stands by then."""

    options: QueryOptions
    priced: Offer
    found: FoundAnswer
    standing: DataSet
    more: float
    ledger: Path
    first: tuple[FirstAnswer, ...] = ()

    @property
    def is_free(self) -> bool:
        """Whether all of it was answered before."""
        return self.release.repeated and not any(answer.paid for answer in self.first)

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

    out: Path | None
    plot: Path | None
    receipt: Path | None
    remarks: tuple[str, ...] = ()
    failed: Exception | None = None


def print_answer(result: QueryResult, written: WrittenFiles) -> None:
    """The table, what to know of it, what was spent, the budget left."""
    options = result.options
    if options.as_json:
        screen.print_json("query", answer_as_json(result, written))
        return
    if options.csv:
        write_csv(sys.stdout, result.release)
    # What a program reads is CSV and nothing else; the words are for who has typed the command.
    terminal = screen.console(WIDEST_TABLE, stderr=options.csv)
    width = min(terminal.width, screen.WIDEST)
    lines = [screen.flowing(line, width) for line in [*_lines(result, width), *written.remarks]]
    files = list(_files(result, written))
    below = sum(line.count("\n") + 1 for line in lines) + len(files)
    numbers = lay_out(
        result.release, width=terminal.width, height=HEIGHT - below, wanted=_read_rows(result)
    )
    tables = [] if options.csv else [*numbers.tables, *numbers.more]
    for part in (*tables, *lines, *files):
        terminal.print(part, markup=False, soft_wrap=isinstance(part, str))


def _read_rows(result: QueryResult) -> int | None:
    """How many rows were asked for; a pipe or a file has all, a screen as many as fit."""
    rows = result.options.rows
    if rows is None and screen.is_terminal():
        return None
    return int(rows) if rows not in (None, ALL) else ALL_OF_THEM


def _files(result: QueryResult, written: WrittenFiles) -> Iterator[str]:
    others = [
        *["number asked first"] * bool(result.first),
        *["row limit"] * (result.found.limit is not None),
        *["bounds"] * bool(result.bounds),
    ]
    what = " and ".join(others)
    share = f" (of the answer; the {what} have a separate entry)" if others else ""
    if written.out is not None:
        yield f"Written to {written.out}"
    if written.plot is not None:
        yield f"Drawn to {written.plot}"
    if written.receipt is not None:
        yield f"Receipt{share}: {written.receipt}"


def _lines(result: QueryResult, width: int) -> list[str]:
    release = result.release
    is_full = result.options.explain
    lines = [f"That is the {release.asked.question}."] if is_full else []
    lines += [words for words in [release.standing.remark] if words]
    lines += _without_groups(result)
    lines += [UNKNOWN] * _has_unknown(release)
    lines += [f"Notes: {'; '.join(_notes(result))}."] if is_full else _unusual(result)
    lines += [_bounds_text(result)] if result.bounds else []
    return [*lines, *_footer(result, width)]


def _footer(result: QueryResult, width: int) -> list[str]:
    """The ranges, what was spent, where to go on: the longest words that fit into three lines."""
    ranges = f"[low, high]: {as_sure(result.release.confidence)} noise range."
    groups, rows = _left_out(answer_of(result.priced)), rows_that_count(result.answered)
    about = [ranges, *groups, *rows]
    after = [NEW_VERSION] * result.is_free
    more = [] if result.options.explain else ["Details (free): --explain."]
    ledger, spent = f"Ledger: {result.ledger}", _write_spending(result)
    lines = [" ".join(about), spent, " ".join([*after, *more, ledger])]
    if result.options.explain:
        return lines
    low, short = _rows_in_short(result), _write_spending(result, in_short=True)
    choices = (
        lines,
        [" ".join([*about, spent, *after, *more])],
        [" ".join([ranges, *groups, *low, short, *after, SEE])],
        [" ".join([ranges, *low, short, *after, SEE])],  # that totals may be low is never left out
    )
    return next((those for those in choices if _height(those, width) <= FEW_LINES), choices[-1])


def _height(lines: Iterable[str], width: int) -> int:
    return sum(screen.flowing(line, width).count("\n") + 1 for line in lines)


def _rows_in_short(result: QueryResult) -> list[str]:
    """That rows beyond the limit count less, without what would help."""
    words = warn_of_rows(result.answered.plan) if rows_that_count(result.answered) else None
    return [] if words is None else [f"{words}."]


def _write_spending(result: QueryResult, *, in_short: bool = False) -> str:
    answer, repeated = answer_of(result.priced), result.is_free
    needs_delta = not repeated and answer.terms.privacy.certain_leak() > 0
    rest = left_of(result.standing, needs_delta=needs_delta)
    enough = f"{rest}, {_more(result.more)}{'' if in_short or not result.more else ' like this'}."
    if repeated:
        return f"Same question, same answer, nothing spent; {f'{rest}.' if in_short else enough}"
    unit = f"per {result.release.unit}"
    relation = relation_verb(neighbours_of(answer).relation)
    whom = f"{unit} ({relation} one)" if result.options.explain else unit
    return f"Spent {brief(paid_price(result))} {whom}; {enough}"


def left_of(known: DataSet, *, needs_delta: bool) -> str:
    """The budget left, in words; of its δ only if the question needs one."""
    rest = f"about {in_three_digits(known.remaining.epsilon)} of {six(known.budget.epsilon)} left"
    if not needs_delta or not known.budget.delta:
        return rest
    return f"{rest} (δ: {in_three_digits(known.state.leak_left)})"


def _unusual(result: QueryResult) -> list[str]:
    """The notes that are not those of every such question.

    Those about text are one, shown where a number is unknown: cells that cannot be read may be why.
    """
    priced = result.answered
    from_text = read_from_text(priced.table, priced.plan)
    usual = set(notes_of(priced.plan, from_text=from_text)) - set(public_people(priced.plan))
    # Those of the question as it is worded now: an answer may be older, and so its words.
    notes = _notes(result, [note for note in priced.terms.notes if note not in usual])
    if not _has_unknown(result.release):
        return [f"Note: {note}." for note in notes]
    without = notes_of(priced.plan)
    used = [
        name
        for name in sorted(from_text)
        if notes_of(priced.plan, from_text=frozenset({name})) != without
    ]
    cells = (
        f"Cells of {', '.join(used)} that cannot be read as the declared type count as missing:"
        " numbers are written 1234.5, dates 2024-01-31."
    )
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
        f"No group passed the threshold. At this ε and δ a group needs about"
        f" {finding.threshold:,} {result.release.unit}, after noise. Raise --epsilon, lower"
        " --max-rows or --max-groups, or list the groups with --keys."
    ]


def _left_out(priced: Priced) -> list[str]:
    """That rows may fall into no group: from the question and the schema alone."""
    plan = priced.plan
    if plan.keys is None:
        return ["Rare groups are not listed."] if plan.groups else []
    # The keys here are all combinations of those of each column.
    pairs = zip(plan.groups, zip(*plan.keys, strict=True), strict=True)
    if all(is_covered(group.of, plan.columns, keys, plan.where) for group, keys in pairs):
        return []
    return ["Other groups are not counted."]


def rows_that_count(priced: Priced) -> list[str]:
    """How many rows of a person count whole where nobody gave a number."""
    return [] if priced.row_note is None else [priced.row_note.on("options")]


def _more(more: float) -> str:
    if isinf(more):
        return "enough for any number"
    return f"enough for {more:,} more" if more else "too little for another like this"


def paid_price(result: QueryResult) -> Budget:
    """What was charged for a fresh answer: what was found before is free."""
    total = total_price(result.priced)
    if result.is_free:
        first = sum((answer.release.asked.epsilon for answer in result.first), Fraction(0))
        return Budget(total.epsilon + first, total.delta)
    first = sum((answer.paid for answer in result.first), Fraction(0))
    if result.release.repeated:
        return Budget(first, 0)
    return Budget(first + total.epsilon - result.found.known_before, total.delta)


def _bounds_text(result: QueryResult) -> str:
    bounds = ", ".join(
        f"{name}={format_constant(lower)}:{format_constant(upper)}"
        for name, (lower, upper) in result.bounds.items()
    )
    assert isinstance(result.priced, PricedInSteps)
    part = screen.in_short(float(BOUNDS_SHARE * result.priced.epsilon))
    words = f"Finding bounds spent a fifth of ε, {part}"
    if result.found.known_before >= BOUNDS_SHARE * result.priced.epsilon:
        words = "Bounds that were found before, free now"
    return f"{words}: {bounds} (public: use them with --bounds). {caution(result.priced)}"


def caution(priced: Offer) -> str:
    """How many people a table needs for found bounds to mean something: public facts alone."""
    if isinstance(priced, Priced) or priced.bounds is None:
        return ""
    rows, unit = priced.rows_beyond, priced.answer.table.schema.unit or "row"
    return (
        f"Warning: about {rounded_up(rows, 0)} {unit} may be outside each bound. With fewer than"
        f" {in_two_digits(10 * rows)} {unit}, do not use this answer."
    )


def answer_as_json(result: QueryResult, written: WrittenFiles) -> dict[str, object]:
    """The answer with all that is known of it, for programs."""
    release, price = result.release, paid_price(result)
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
        "first": [_first_as_json(answer) for answer in result.first],
        "repeated": result.is_free,
        "budget": budget_to_json(result.standing.budget),
        "remaining": budget_to_json(result.standing.remaining),
        "more_like_this": None if isinf(result.more) else result.more,
        "ledger": result.ledger,
        "out": written.out,
        "plot": written.plot,
        "receipt": written.receipt,
    }


def _first_as_json(answer: FirstAnswer) -> dict[str, object]:
    low, high = answer.range or (None, None)
    return {
        "sql": answer.sql,
        "value": float(answer.number),
        "low": low,
        "high": high,
        "epsilon": float(answer.release.asked.epsilon),
        "repeated": answer.release.repeated,
    }


def _row_limit(result: QueryResult) -> dict[str, object]:
    """How many rows of a person count whole, and the ε that found it where it was found."""
    limit, rows = result.answered.limit, result.answered.plan.bounding.max_rows
    return {"rows": rows, "found_for": None if limit is None else float(limit.epsilon)}
