"""What `letalone query` prints: the answer with its error bars, or what it would cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isinf
from pathlib import Path

from rich.table import Table

from letalone.answers.arranged import NONE_PASSES
from letalone.answers.views import grid
from letalone.cli.ready import FOR_BOUNDS, Bounds, Ready, beyond
from letalone.cli.screen import (
    console,
    flowing,
    in_short,
    in_two_digits,
    print_json,
    protected,
    rounded_up,
    table,
)
from letalone.ledger import DataSet
from letalone.ledger.data_sets import budget_to_json
from letalone.plans.constants import shown
from letalone.plans.domains import is_covered
from letalone.privacy import Budget, Neighbours
from letalone.privacy.filters import brief
from letalone.session import Release
from letalone.session.notes import notes_of, public_people
from letalone.session.preview import IN_ROWS
from letalone.sql.bounds import columns_within
from letalone.tables.compiled import Share

LEAST_ROWS, MOST_ROWS = 3, 12  # on a screen; to ask again with --json is free
HEIGHT = 24  # of a screen, with room for the next prompt
AROUND = 3  # the head of a table, its line, and how many rows are left out
BARS = "Error bars are about the noise, not about what the bounds leave out."
BOUNDS = "bounds of "
WHOLE = 10  # a larger error has no use for digits after the point
RAW = (
    "values are noisy numbers as they were drawn: they can be added up, and may lie beyond their"
    " intervals (a count below 0)"
)
UNKNOWN = "Unknown: too few rows for this noise; the interval is the whole range."
NO_ERROR = "depends on how many rows a group has"


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, the bounds that were bought for it, and how the budget stands by then."""

    asked: Ready
    release: Release
    bounds: Bounds
    budget: Budget
    remaining: Budget
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
    """The table, the question in words, the price, what is left."""
    if found.asked.request.as_json:
        print_json("query", _as_json(found, written))
        return
    screen = console()
    lines = [flowing(line, screen.width) for line in [*_lines(found), *written.remarks]]
    files = [path for path in (written.plot, written.receipt) if path is not None]
    below = sum(line.count("\n") + 1 for line in lines) + len(files)
    most = max(LEAST_ROWS, min(MOST_ROWS, HEIGHT - AROUND - below))
    screen.print(_table(found.release, most=most), markup=False)
    for line in lines:
        screen.print(line, markup=False)
    share = " (of the answer; the bounds have an entry of their own)" if found.bounds else ""
    for words, path in (
        (f"Drawn to {written.plot}", written.plot),
        (f"Receipt{share}: {written.receipt}", written.receipt),
    ):
        if path is not None:
            screen.print(words, markup=False, soft_wrap=True)


def print_preview(asked: Ready, known: DataSet | None) -> None:
    """The price, the split and the errors to expect; nothing is spent."""
    fits = None if known is None else asked.fits(known.state)
    if asked.request.as_json:
        print_json("query", _preview_as_json(asked, known, fits=fits))
        return
    screen = console()
    rows = table("part", "share of ε", "error to expect", "noise")
    for share in _shares(asked):
        rows.add_row(share.name, _percent(share.share), _error(asked, share), share.words)
    screen.print(rows, markup=False)
    for line in _preview_lines(asked, known, fits=fits):
        screen.print(flowing(line, screen.width), markup=False)


def _table(release: Release, *, most: int) -> Table:
    (head, *rows), rest = grid(release.keys, release.shown, most=most)
    names = [name or "answer" for name in head]
    keys = max(1, len(release.keys))
    shown_rows = table(*names, right=tuple(names[keys:]))
    for row in rows:
        shown_rows.add_row(*row)
    if rest:
        shown_rows.add_row(f"and {rest:,} more", *[""] * (len(names) - 2), "--json has all")
    return shown_rows


def _lines(found: Answered) -> list[str]:
    release, confidence = found.release, f"{100 * found.release.confidence:g} %"
    bars = f"In brackets: {confidence} error bars. {BARS}"
    lines = [" ".join([f"That is the {release.asked.question}.", *_left_out(found.asked), bars])]
    lines += [words for words in [release.standing.remark] if words]
    lines += _without_groups(found)
    lines += [UNKNOWN] * _has_unknown(release)
    lines += _unusual(found)
    lines += _rows(found.asked)
    if found.bounds:
        lines.append(_bought(found))
    whom = protected(_neighbours(found.asked))
    price = f"Price: {brief(found.asked.total)}, to protect {whom}."
    if release.repeated:
        price = (
            "The same question was answered before: this is that answer, and it is free. If the"
            " data has changed since, raise the version in the schema file."
        )
    left = f"Left: about {brief(found.remaining, up=False)} of {brief(found.budget)}"
    return [*lines, f"{price} {left}, {_more(found.more)} ({found.ledger})."]


def _unusual(found: Answered) -> list[str]:
    """The notes that are not those of every such question: cells that cannot be read, say."""
    plan = found.asked.answer.plan
    usual = set(notes_of(plan)) - set(public_people(plan))
    return [f"Note: {_in_short(note)}." for note in found.release.notes if note not in usual]


def _in_short(note: str) -> str:
    """A note without what is written in Python to change that."""
    return note.split("; .bound")[0].split(": .batch")[0]


def _has_unknown(release: Release) -> bool:
    pairs = zip(release.outputs, release.shown, strict=True)
    return any(shown.values.count(None) > raw.values.count(None) for raw, shown in pairs)


def _neighbours(asked: Ready) -> Neighbours:
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
    return ["Rows that fall into none of these groups are left out."]


def _rows(asked: Ready) -> list[str]:
    """How many rows count where nobody said it: the error grows with that number."""
    most, unit = asked.answer.plan.bounding.max_rows, asked.schema.unit
    if asked.request.max_rows is not None or most is None or unit is None or most == 1:
        return []
    first = " They are chosen before WHERE." if asked.answer.plan.where is not None else ""
    return [
        f"Up to {most} rows of each {unit} count, and the noise is made for that many: where each"
        f" has fewer in the table, --max-rows makes the error smaller.{first}"
    ]


def _more(more: float) -> str:
    if isinf(more):
        return "for any number of questions like this"
    return f"enough for {more:,} more like this" if more else "too little for another like this"


def _bought(found: Answered) -> str:
    bounds = ", ".join(_bound(name, *ends) for name, ends in found.bounds.items())
    part = in_short(float(FOR_BOUNDS * found.asked.total.epsilon))
    return (
        f"A fifth of ε, {part}, bought bounds: {bounds}. {_caution(found.asked)} They are public:"
        " --bounds takes them next time."
    )


def _caution(asked: Ready) -> str:
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
    notes = [_in_short(note) for note in release.notes]
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
            *_rows(found.asked),
            *written.remarks,
        ],
        "private_bounds": {name: [str(end) for end in ends] for name, ends in found.bounds.items()},
        "repeated": release.repeated,
        "budget": budget_to_json(found.budget),
        "remaining": budget_to_json(found.remaining),
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


def _error(asked: Ready, share: Share) -> str:
    return ", ".join(_one_error(asked, share, name) for name in share.errors)


def _one_error(asked: Ready, share: Share, name: str) -> str:
    error = share.errors[name]
    if error is None:
        return NO_ERROR
    if share.name.startswith(BOUNDS):
        return f"{_digits(error)} {asked.schema.unit or 'row'} beyond each"
    if isinstance(dict(asked.answer.plan.aggregates)[name], IN_ROWS):
        return f"± {_digits(error)} rows"
    added = columns_within(asked.parts.aggregates[name])
    bought = any(column in asked.bought for column in added)
    return f"± {_digits(error)}{' × the range found' if bought else ''}"


def _digits(error: float) -> str:
    return rounded_up(error, 0 if error >= WHOLE else 2)


def _preview_lines(asked: Ready, known: DataSet | None, *, fits: bool | None) -> list[str]:
    confidence = f"{100 * asked.request.confidence:g} %"
    lines = [
        f"That would be the {_question(asked)}, with {confidence} error bars.",
        f"Price: {brief(asked.total)}, to protect {protected(_neighbours(asked))}. Nothing"
        " was spent, and no data was looked at.",
        *_rows(asked),
        *([_caution(asked)] if asked.bounds else []),
    ]
    if known is None:
        return lines
    allowed = "It fits." if fits else "It does not fit."
    left = f"Left: about {brief(known.remaining, up=False)} of {brief(known.budget)}."
    return [*lines, f"{left} {allowed}"]


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
    }
