"""What to know when reading an answer: functions of the question, never of the data."""

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
    PrivateBounds,
    Quantiles,
    steps_in_words,
)
from letalone.plans.described import describe_plan
from letalone.plans.expressions import Expression, column_names
from letalone.plans.plan import Plan, PublicJoin
from letalone.plans.types import Type

if TYPE_CHECKING:
    from letalone.tables.compiled import PricePart

HALF = Fraction(1, 2)
WITHIN_ROWS = "the rows within that limit"
WITHIN_BOUNDS = "the values within their bounds: a value beyond counts as the bound"
FILTERED = " that pass the filter"
KEYS = "keys"  # what the part that finds keys is called
STARVED = 3
FROM_TEXT = " read from text"
# Rows in an interval, in errors to expect: each end has half the ε of the value; of many
# quantiles, ends and value are read off the same numbers.
SPANNED, SPANNED_BY_MANY = 4, 2
FEW = 100  # rows; nobody expects much of fewer
READ = {
    Type.INTEGER: "are no whole number, such as 'unknown' or '1,234',",
    Type.NUMBER: "are no number, such as 'unknown' or '1,234.50',",
    Type.BOOLEAN: "are neither true nor false",
    Type.DATE: "are no date written year first, as 2024-01-31,",
    Type.TIMESTAMP: "are no time written year first, as 2024-01-31 14:30:00,",
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
    """What gets less than a third of an equal share of ε, because others beside it need more."""
    for part in parts:
        if part.name != KEYS and STARVED * len(parts) * part.share < 1:
            yield Note(
                f"{part.name} has {float(100 * part.share):.2g} % of ε, because what stands beside"
                " it needs more; a question of its own would be more accurate",
                ": .batch takes an ε for each",
            )


def in_rows(plan: Plan, parts: "Sequence[PricePart]") -> Iterator[str]:
    """How many rows lie beyond an extreme or a bound: known beforehand, from the price."""
    errors = {name: error for part in parts for name, error in part.errors.items()}
    for name, aggregate in plan.aggregates:
        if not isinstance(aggregate, Extreme | PrivateBounds):
            continue
        rows = ceil((errors.get(name) or 0) + 0.5)
        if isinstance(aggregate, Extreme):
            yield f"{name} is meant to be some {rows:,} rows inwards, and may be twice as many"
        if isinstance(aggregate, PrivateBounds):
            yield (
                f"about {rows:,} rows may lie beyond each of {name} and be clamped: trust bounds"
                f" only where {10 * rows:,} rows or more are asked about"
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
            size = "of fewer" if rows is None else f"of {rows:,}"
            yield (
                f"{name} needs about {needed:,} rows: {size}, its interval would be most of its"
                " range; more ε helps, or fewer rows of each unit"
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
        yield Note(f"each {unit} is one row, whatever number of rows it has")
    elif bounding.clip:
        where = f" in at most {plural(groups or 1, 'group')}" if plan.groups else ""
        yield Note(
            f"each {unit} counts once{where}, with its own total clipped to the range of one row",
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
        most, which = plural(rows, "row"), FILTERED if plan.where is not None else ""
        yield Note(
            f"{_one(unit)} with more than {most}{which} counts as {rows:,}: each of its rows counts"
            f" {rows:,}/n",
            "; .bound(max_rows=…) changes that",
        )
    yield Note(f"rows without {unit} are left out")


def _one(unit: str) -> str:
    return f"{'an' if unit[:1].lower() in 'aeiou' else 'a'} {unit}"


def _partners(plan: Plan) -> Iterator[str]:
    for join in plan.partners:
        yield (
            f"{join.name} is private, too, and is charged the same; one of its rows of each"
            f" {join.on[0][1]} counts, chosen by a hash, and who is not in it is left out"
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
        how = " and ".join(["bounded"] * bounded + ["clamped"] * clamped)
        within = ", and ".join([WITHIN_ROWS] * bounded + [WITHIN_BOUNDS] * clamped)
        plain = f"the ranges are about {within}"
        yield Note(f"intervals speak of the {how} data", plain=plain)


def _groups(plan: Plan) -> Iterator[Note]:
    if plan.groups and plan.keys is None:
        yield Note(
            "keys that too few units have are not listed, and nothing is said about them",
            plain="groups that too few people have are not listed",
        )
    elif plan.groups:
        plain = "rows of groups that are not listed are not counted"
        yield Note("rows with other keys are left out", plain=plain)
