"""Prints what `letalone query --dry-run` says: price, split, errors to expect; nothing is spent.

All of it follows from the question and what is public: no data is looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, cast

from letalone.answers.promise import as_sure
from letalone.cli import screen
from letalone.cli.tables.show_release import (
    HEIGHT,
    Offer,
    answer_of,
    caution,
    left_of,
    neighbours_of,
    rows_that_count,
    total_price,
)
from letalone.cli.tables.table_commands import QueryOptions
from letalone.cli.tables.tabled import HEAD
from letalone.ledger import DataSet
from letalone.ledger.data_sets import budget_to_json
from letalone.mechanisms import Gaussian, Geometric, Laplace
from letalone.plans.aggregates.facts import ErrorKind, facts_of
from letalone.plans.aggregates.formula_trees import Computable
from letalone.privacy.budget import brief
from letalone.session.backend import PricedQuestion
from letalone.session.notes import find_starved, short_of_rows
from letalone.session.pricing import Priced
from letalone.session.steps.two_questions import PricedBoth
from letalone.sql.given_bounds import columns_within
from letalone.tables.compiled import Compiled, PricePart
from letalone.tables.parts.candidates import BoundsPart, TopPart
from letalone.tables.parts.part import ChoicePart
from letalone.tables.parts.quantiles import RankPart

# Of what chooses, and of what adds noise; a table has no room for more than the name.
NOISE_NAMES: dict[type, str] = {
    TopPart: "permute-and-flip",
    BoundsPart: "exponential",
    RankPart: "exponential",
    Geometric: "geometric",
    Laplace: "Laplace",
    Gaussian: "Gaussian",
}
WHOLE = 10  # a larger error has no use for digits after the point
MAX_LINES = 10  # of the table on a screen
SAME = "same"
RISKY = "at this ε an answer can show almost surely whether one person is in the data"


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the price, as a share of the whole; of the answer, or of what is found first."""

    part: PricePart
    share: Fraction
    noise: str
    finds: Literal["bounds", "row limit"] | None = None
    asked: Literal["", "first: "] = ""

    @property
    def name(self) -> str:
        if self.finds == "row limit":
            return f"{self.asked}{self.finds}"
        return f"{self.asked}{'' if self.finds is None else 'bounds of '}{self.part.name}"


def print_preview(priced: Offer | PricedBoth, options: QueryOptions, known: DataSet | None) -> None:
    """The price, the split and the errors to expect; nothing is spent."""
    if options.as_json:
        screen.print_json("query", _as_json(priced, options, known))
        return
    width = screen.console().width
    rows = [row for offer, share in _all_shares(priced) for row in _rows(offer, share)]
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


def _last(priced: Offer | PricedBoth) -> Offer:
    """What is answered in the end: the outer question, where another is asked first."""
    return priced.offers[-1] if isinstance(priced, PricedBoth) else priced


def _warnings(priced: Offer | PricedBoth) -> list[str]:
    """What would hardly protect, or be too noisy, in the words of the terminal."""
    offers = priced.offers if isinstance(priced, PricedBoth) else (priced,)
    risk = priced.risk
    is_dear = risk is not None and "threshold" not in risk.facts
    needs = [f"{RISKY}: it would need --yes"] * is_dear
    noisy = (words for offer in offers for words in _noise_warnings(answer_of(offer)))
    return [*needs, *dict.fromkeys(noisy)]


def _noise_warnings(answer: Priced) -> Iterator[str]:
    yield from (note.words for note in find_starved(answer.terms.split))
    yield from short_of_rows(answer.plan, answer.compiled.parts)


def _rows(priced: Offer, share: Share) -> list[tuple[str, str, str, str]]:
    """A line for each aggregate; those that share a part are paid for together."""
    noise, price = share.noise, f"{float(100 * share.share):.3g} %"
    if not share.part.errors:
        return [(share.name, price, _write_threshold(answer_of(priced)), noise)]
    (first, *rest) = [(name, _error_text(priced, share, name)) for name in share.part.errors]
    name = share.name if not rest else f"{share.asked}{first[0]}"
    return [(name, price, first[1], noise), *((other, SAME, error, SAME) for other, error in rest)]


def _noise_names(compiled: Compiled) -> Iterator[str]:
    """For each of the parts of a price, in their order."""
    split = compiled.split
    if split.discovery is not None:
        yield NOISE_NAMES[Geometric]
    for place, part in enumerate(split.parts.parts):
        drawn = part if isinstance(part, ChoicePart) else split.noises[place].mechanism
        yield NOISE_NAMES[type(drawn)]


def _write_threshold(priced: Priced) -> str:
    finding, unit = priced.compiled.discovery, priced.table.schema.unit or "row"
    return "" if finding is None else f"from about {finding.threshold:,} {unit} on"


def _all_shares(priced: Offer | PricedBoth) -> list[tuple[Offer, Share]]:
    """The parts of the price, each with its question, in the order in which they are asked."""
    total = total_price(priced).epsilon
    if not isinstance(priced, PricedBoth):
        return [(priced, share) for share in _shares(priced, total)]
    *inner, outer = priced.offers
    first = [
        (offer, replace(share, asked="first: "))
        for offer in inner
        for share in _shares(offer, total)
    ]
    return [*first, *((outer, share) for share in _shares(outer, total))]


def _shares(priced: Offer, total: Fraction) -> list[Share]:
    """The parts of the price: of what is found first, then of the answer."""
    answer = answer_of(priced)
    if isinstance(priced, Priced):
        return _shares_of(answer, total)
    limit = [] if priced.limit is None else _shares_of(priced.limit, total, "row limit")
    bounds = [] if priced.bounds is None else _shares_of(priced.bounds, total, "bounds")
    return [*limit, *bounds, *_shares_of(answer, total)]


def _shares_of(
    priced: PricedQuestion, total: Fraction, finds: Literal["bounds", "row limit"] | None = None
) -> list[Share]:
    here = priced.here()
    weight, pairs = (
        here.terms.epsilon / total,
        zip(here.compiled.parts, _noise_names(here.compiled), strict=True),
    )
    return [Share(part, weight * part.share, noise, finds) for part, noise in pairs]


def _error_text(priced: Offer, share: Share, name: str) -> str:
    error, answer = share.part.errors[name], answer_of(priced)
    if error is not None and share.finds is not None:
        unit = answer.table.schema.unit or "row"
        sign, end = ("± ", "") if share.finds == "row limit" else ("", " outside each")
        return f"{sign}{_digits(error)} {unit}{end}"
    kind, over = facts_of(dict(answer.plan.aggregates)[name]).error, ""
    if error is None and kind is ErrorKind.PER_ROW:
        error, over = answer.compiled.expected_error(name, rows=1), " / rows in the group"
    if error is None:
        return "less where a group has more rows"
    if kind is ErrorKind.IN_ROWS:
        return f"± {_digits(error)} rows"
    return f"± {_digits(error)}{' × the range found' * _is_bounded(priced, name)}{over}"


def _is_bounded(priced: Offer, name: str) -> bool:
    """Whether bounds are found first for what an aggregate adds up."""
    if isinstance(priced, Priced):
        return False
    added = columns_within(cast("Computable", dict(priced.query.aggregates)[name]))
    return any(column in priced.columns for column in added)


def _digits(error: float) -> str:
    return screen.rounded_up(error, 0 if error >= WHOLE else 2)


def _lines(priced: Offer | PricedBoth, options: QueryOptions, known: DataSet | None) -> list[str]:
    sure, last = as_sure(options.confidence), _last(priced)
    answer = answer_of(last)
    lines = [
        *_two_questions(priced),
        *(f"Warning: {warning}." for warning in _warnings(priced)),
        *_row_limit(last),
        *filter(None, [caution(last)]),
        f"This would spend {brief(total_price(priced))} for"
        f" {screen.protection_text(neighbours_of(answer))}. {sure} of the time, the error is at"
        " most this. Nothing was spent, and no data was read.",
    ]
    if known is None:
        return lines
    remaining = left_of(known, needs_delta=answer.terms.privacy.certain_leak() > 0)
    return [*lines, f"Budget: {remaining}. {'It fits.' if priced.fits else 'It does not fit.'}"]


def _two_questions(priced: Offer | PricedBoth) -> list[str]:
    return [priced.in_words] if isinstance(priced, PricedBoth) else []


def _row_limit(priced: Offer) -> list[str]:
    """What is known of the row limit, or that a tenth of ε finds it."""
    answer = answer_of(priced)
    return _found_first(priced) or rows_that_count(answer)


def _found_first(priced: Offer) -> list[str]:
    return [] if isinstance(priced, Priced) or priced.limit is None else [priced.found_first]


def _question(priced: Offer | PricedBoth) -> str:
    if isinstance(priced, PricedBoth):
        return f"{_question(priced.offers[-1])} (0 stands for the answer to what is asked first)"
    return priced.plan.in_words() if isinstance(priced, Priced) else priced.question


def _as_json(
    priced: Offer | PricedBoth, options: QueryOptions, known: DataSet | None
) -> dict[str, object]:
    total, last = total_price(priced), _last(priced)
    answer = answer_of(last)
    return {
        "dry_run": True,
        "question": _question(priced),
        "first": _first_as_json(priced),
        "unit": answer.table.schema.unit or "row",
        "epsilon": float(total.epsilon),
        "delta": float(total.delta),
        "confidence": options.confidence,
        "parts": [
            {
                "name": share.name,
                "share": share.share,
                "noise": share.part.words,
                "errors": share.part.errors,
            }
            for _, share in _all_shares(priced)
        ],
        "budget": None if known is None else budget_to_json(known.budget),
        "remaining": None if known is None else budget_to_json(known.remaining),
        "fits": None if known is None else priced.fits,
        "warnings": [*_two_questions(priced), *_warnings(priced), *_found_first(last)],
    }


def _first_as_json(priced: Offer | PricedBoth) -> list[dict[str, object]]:
    """The questions that are asked first."""
    if not isinstance(priced, PricedBoth):
        return []
    return [{"sql": sql, "epsilon": float(priced.share)} for sql, _ in priced.first.asked]
