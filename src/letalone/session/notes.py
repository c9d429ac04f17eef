"""Notes shown with an answer. They depend on the question, never on the data."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from letalone.answers.release import SplitPart
from letalone.errors.spelling import plural
from letalone.plans.aggregates.facts import Needs, facts_of
from letalone.plans.aggregates.features import PerUnit, made_of
from letalone.plans.aggregates.formula_trees import in_words as formula_in_words
from letalone.plans.aggregates.formulas import (
    Aggregate,
    Formula,
    expressions_of,
    with_formula_parts,
)
from letalone.plans.aggregates.of_columns import (
    CountUnits,
    Extreme,
    Histogram,
    PrivateBounds,
    Quantiles,
    steps_in_words,
)
from letalone.plans.described import describe_plan
from letalone.plans.expressions import (
    ColumnRef,
    DatePart,
    DateText,
    Expression,
    StartOf,
    child_nodes,
    column_names,
)
from letalone.plans.plan import Plan, PublicJoin
from letalone.plans.types import Type
from letalone.plans.wording import and_words

if TYPE_CHECKING:
    from letalone.tables.compiled import PricePart

HALF = Fraction(1, 2)
WITHIN_ROWS = "the rows within that limit"
WITHIN_BOUNDS = "the values within their bounds: a value outside counts as the nearest bound"
FILTERED = " that pass the filter"
UTC_WORDS = "counted in UTC, and so are their days and months"
KEYS = "keys"  # what the part that finds keys is called
STARVED = 3
FROM_TEXT = " read from text"
# Rows in an interval, in errors to expect: each end has half the ε of the value; of many
# quantiles, ends and value are read off the same numbers.
SPANNED, SPANNED_BY_MANY = 4, 2
FEW = 100  # rows; nobody expects much of fewer
READ = {
    Type.INTEGER: "are not whole numbers (such as 'unknown' or '1,234')",
    Type.NUMBER: "are not numbers (such as 'unknown' or '1,234.50')",
    Type.BOOLEAN: "are neither true nor false",
    Type.DATE: "are not dates with the year first (as 2024-01-31)",
    Type.TIMESTAMP: "are not times with the year first (as 2024-01-31 14:30:00)",
}


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know when reading an answer.

    `hint` is what Python can change about it. `plain` says it to people at a page, where other
    words are plainer.
    """

    words: str
    hint: str = ""
    plain: str = ""

    @property
    def stored(self) -> str:
        """The note as it goes with an answer."""
        return f"{self.words}{self.hint}"


def question_for_people(plan: Plan) -> str:
    """The question with the unit by its name, and medians by theirs."""
    unit = plan.schema.unit

    def describe(asked: Aggregate) -> str:
        match asked:
            case CountUnits() if unit is not None:
                return f"number of different {unit}"
            case Quantiles(at=(rank,)) if rank == HALF:
                return f"median of {steps_in_words(asked)}"
            case Formula(parts, tree):
                return formula_in_words(tree, [describe(part) for part in parts])
            case _:
                return facts_of(asked).describe(asked)

    return describe_plan(plan, describe)


def notes_of(plan: Plan, *, from_text: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The notes that belong to every answer to this question.

    `from_text` names the columns that are stored as text and declared to be something else.
    """
    return (*(note.stored for note in _notes(plan)), *_read(plan, from_text))


def plain_notes(plan: Plan) -> dict[str, str]:
    """The notes in the words of people, by the words in which they are stored."""
    return {note.stored: note.plain or note.words for note in _notes(plan)}


def without_hints(notes: Iterable[str], plan: Plan, parts: Sequence[SplitPart]) -> Iterator[str]:
    """Stored notes without what is written in Python to change something: for other faces."""
    words = {note.stored: note.words for note in (*_notes(plan), *find_starved(parts))}
    return (words.get(note, note) for note in notes)


def _notes(plan: Plan) -> Iterator[Note]:
    yield from _units(plan)
    yield from (Note(words) for words in (*_partners(plan), *public_people(plan)))
    yield from (*_intervals(plan), *_groups(plan))
    for name, aggregate in plan.aggregates:
        if (note := facts_of(aggregate).note) is not None:
            yield Note(f"{name} {note(aggregate)}")


def find_starved(parts: Sequence[SplitPart]) -> Iterator[Note]:
    """Results that get less than a third of an equal part of ε, because others need more."""
    for part in parts:
        if part.name != KEYS and STARVED * len(parts) * part.share < 1:
            yield Note(
                f"{part.name} gets only {float(100 * part.share):.2g} % of ε, because the other"
                " results need more; asked alone, it would be more accurate",
                ": .batch takes an ε for each",
            )


def warnings_about_noise(
    plan: Plan, parts: "Sequence[PricePart]", split: Sequence[SplitPart]
) -> tuple[str, ...]:
    """The notes that are not about every such question but about its noise."""
    return (*(note.stored for note in find_starved(split)), *in_rows(plan, parts))


def warnings_of(
    plan: Plan, parts: "Sequence[PricePart]", split: Sequence[SplitPart]
) -> tuple[str, ...]:
    """The notes that a reader of the answer must not miss."""
    others = (*_partners(plan), *public_people(plan), *_edges(plan))
    return (*others, *warnings_about_noise(plan, parts, split))


def _edges(plan: Plan) -> Iterator[str]:
    """Where a histogram counts what is beyond its edges."""
    for name, aggregate in plan.aggregates:
        note = facts_of(aggregate).note
        if isinstance(aggregate, Histogram) and note is not None:
            yield f"{name} {note(aggregate)}"


def unusual_notes(notes: Iterable[str], plan: Plan) -> tuple[str, ...]:
    """Stored notes without those of every such question."""
    stated = {*_partners(plan), *public_people(plan), *_edges(plan)}
    usual = {note.stored for note in _notes(plan)} - stated
    return tuple(note for note in notes if note not in usual)


def in_rows(plan: Plan, parts: "Sequence[PricePart]") -> Iterator[str]:
    """How many rows are outside an extreme or a bound: known in advance, from the price."""
    errors = {name: error for part in parts for name, error in part.errors.items()}
    for name, aggregate in plan.aggregates:
        if not isinstance(aggregate, Extreme | PrivateBounds):
            continue
        rows = ceil((errors.get(name) or 0) + 0.5)
        if isinstance(aggregate, Extreme):
            end, beyond = ("largest", "larger") if aggregate.largest else ("smallest", "smaller")
            yield (
                f"{name} is not the {end} value: about {rows:,} rows (perhaps {2 * rows:,}) are"
                f" {beyond}; the exact one would expose one person"
            )
        if isinstance(aggregate, PrivateBounds):
            yield (
                f"about {rows:,} rows may be outside each of {name} and count as the bound; do not"
                f" use these bounds with fewer than {10 * rows:,} rows"
            )


def short_of_rows(
    plan: Plan, parts: "Sequence[PricePart]", *, rows: int | None = None
) -> Iterator[str]:
    """Quantiles that would say little: of fewer rows than this, or of so many as are given."""
    errors = {name: error for part in parts for name, error in part.errors.items()}
    quantiles = [
        (name, aggregate) for name, aggregate in plan.aggregates if isinstance(aggregate, Quantiles)
    ]
    for name, aggregate in quantiles:
        spanned = SPANNED if len(aggregate.at) == 1 else SPANNED_BY_MANY
        needed = ceil(spanned * (errors.get(name) or 0))
        if needed > (FEW if rows is None else rows):
            size = "with fewer" if rows is None else f"with {rows:,}"
            yield (
                f"{name} needs about {needed:,} rows: {size}, its range covers most of the possible"
                " values; a larger ε helps, or fewer rows per person"
            )


def _read(plan: Plan, from_text: frozenset[str]) -> Iterator[str]:
    """Columns whose cells may turn out not to be readable: which, nobody is told."""
    used = {name for expression in expressions_in(plan) for name in column_names(expression)}
    joined = [column for join in plan.partners for column in join.columns]
    alike: dict[Type, list[str]] = {}
    for column in (*plan.schema.columns, *joined):
        if column.name in used & from_text:
            alike.setdefault(column.type, []).append(column.name)
    for kind, names in alike.items():
        are = "is" if len(names) == 1 else "are"
        cells = f"cells that {READ[kind]} count as missing"
        yield f"{' and '.join(names)} {are}{FROM_TEXT}: {cells}"


def in_utc(plan: Plan, zoned: frozenset[str], *, is_loose: bool = False) -> Iterator[str]:
    """Columns that may have a time zone, and whose hours, days or months the question looks at.

    `is_loose`: cells decide whether they have one, so it is not told.

    A feature or a derived column that is made of one may be such a time itself.
    """
    before = plan.per_unit
    made = [] if before is None else [*before.derived]
    made += [(n, part) for n, f in (before.features if before else ()) for part in made_of(f)]
    known = {name: [name] for name in zoned}
    for name, expression in (*made, *plan.derived):
        if zones := [zone for read in column_names(expression) for zone in known.get(read, ())]:
            known[name] = zones
    used = [name for expression in expressions_in(plan) for name in _times_of(expression, plan)]
    names = dict.fromkeys(zone for name in used for zone in known.get(name, ()))
    if names:
        times = f"times of {and_words([*names])}"
        if is_loose:
            yield f"if {times} have a time zone, they are {UTC_WORDS}"
        else:
            yield f"{times} with a time zone are {UTC_WORDS}"


def _times_of(expression: Expression, plan: Plan) -> Iterator[str]:
    """The columns of which a date or a part of it is taken."""
    dates = {column.name for column in plan.schema.columns if column.type is Type.DATE}
    if isinstance(expression, DatePart | StartOf | DateText):
        yield from column_names(expression)
    elif isinstance(expression, ColumnRef) and expression.name in dates:
        yield expression.name
    else:
        for part in child_nodes(expression):
            yield from _times_of(part, plan)


def expressions_in(plan: Plan) -> Iterator[Expression]:
    """All that a question looks at in a row."""
    if plan.per_unit is not None:
        yield from expressions_of_rows(plan.per_unit)
    if plan.where is not None:
        yield plan.where
    yield from (expression for _, expression in plan.derived)
    yield from (group.of for group in plan.groups)
    yield from (
        expression for _, aggregate in plan.aggregates for expression in expressions_of(aggregate)
    )


def expressions_of_rows(before: PerUnit) -> Iterator[Expression]:
    """All that features of units look at in a row."""
    if before.where is not None:
        yield before.where
    yield from (expression for _, expression in before.derived)
    yield from (expression for _, feature in before.features for expression in made_of(feature))


def _units(plan: Plan) -> Iterator[Note]:
    unit, bounding = plan.schema.unit, plan.bounding
    if unit is None:
        return
    rows, groups = bounding.max_rows, bounding.max_groups
    if plan.per_unit is not None:
        yield Note(f"all rows of {_one(unit)} are combined into one")
    elif bounding.clip:
        where = f" in at most {plural(groups or 1, 'group')}" if plan.groups else ""
        yield Note(
            f"one total per {unit} is counted{where}, cut off at the bounds of one row",
            "; .bound(max_rows=…) takes rows instead",
        )
    elif groups is not None:
        inside = (
            "" if rows is None else f", and with more than {plural(rows, 'row')} in one as {rows:,}"
        )
        yield Note(
            f"{_one(unit)} in more than {plural(groups, 'group')} counts less in each{inside}",
            "; .bound(…) changes that",
        )
    elif rows is not None:
        limit, which = plural(rows, "row"), FILTERED if plan.where is not None else ""
        yield Note(
            f"at most {limit} per {unit}{which} are counted (of n > {rows:,} rows, each counts"
            f" {rows:,}/n)",
            "; .bound(max_rows=…) changes that",
        )
    yield Note(f"rows without {unit} are left out")


def _one(unit: str) -> str:
    return f"{'an' if unit[:1].lower() in 'aeiou' else 'a'} {unit}"


def _partners(plan: Plan) -> Iterator[str]:
    for join in plan.partners:
        yield (
            f"{join.name} is private, too, and its budget is charged the same; one of its rows per"
            f" {join.on[0][1]} is used, chosen by a hash, and rows without a match are left out"
        )


def public_people(plan: Plan) -> Iterator[str]:
    """Public tables that are joined on the unit: each of their rows is about one."""
    for join in (*plan.joins, *(() if plan.per_unit is None else plan.per_unit.joins)):
        on_unit = any(column == plan.schema.unit for column, _ in join.on)
        if isinstance(join, PublicJoin) and on_unit:
            yield f"{join.name} is taken as public: nothing in it is protected"


def _intervals(plan: Plan) -> Iterator[Note]:
    bounded = plan.schema.unit is not None and plan.bounding.max_rows is not None
    bounded = (bounded or plan.bounding.max_groups is not None) and plan.per_unit is None
    parts = with_formula_parts(plan.aggregates)
    clamped = any(facts_of(aggregate).needs is Needs.BOUNDS for _, aggregate in parts)
    if bounded or clamped:
        within = ", and ".join([WITHIN_ROWS] * bounded + [WITHIN_BOUNDS] * clamped)
        yield Note(f"the ranges are about {within}")


def _groups(plan: Plan) -> Iterator[Note]:
    if plan.groups and plan.keys is None:
        yield Note("groups that too few people have are not listed")
    elif plan.groups:
        yield Note("rows of groups that are not listed are not counted")
