"""What to know when reading an answer: functions of the question, never of the data."""

from collections.abc import Iterator, Sequence
from math import ceil

from letalone.answers.release import SplitPart
from letalone.plans.described import described
from letalone.plans.expressions import Expression, column_names
from letalone.plans.facts import Needs, facts_of
from letalone.plans.features import PerUnit, made_of
from letalone.plans.formulas import expressions_of, flattened
from letalone.plans.parts import Extreme, PrivateBounds, Quantiles
from letalone.plans.query import Plan, PublicJoin
from letalone.plans.types import Type
from letalone.tables.compiled import Share

FIRST = " among all its rows, before the filter"
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


def question_of(plan: Plan) -> str:
    """The question in words."""
    return described(plan)


def notes_of(plan: Plan, *, from_text: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The notes that belong to every answer to this question.

    `from_text` names the columns that are stored as text and declared to be something else.
    """
    joined = (*_partners(plan), *public_people(plan))
    said = (_units(plan), joined, _intervals(plan), _groups(plan), _aggregates(plan))
    return (*(note for notes in said for note in notes), *_read(plan, from_text))


def starved(parts: Sequence[SplitPart]) -> Iterator[str]:
    """What gets less than a third of an equal share of ε, because others beside it need more."""
    for part in parts:
        if part.name != KEYS and STARVED * len(parts) * part.share < 1:
            yield (
                f"{part.name} has {float(100 * part.share):.2g} % of ε, because what stands beside"
                " it needs more; a question of its own would be more accurate: .batch takes an ε"
                " for each"
            )


def in_rows(plan: Plan, parts: Sequence[Share]) -> Iterator[str]:
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


def short_of_rows(plan: Plan, parts: Sequence[Share], *, rows: int | None = None) -> Iterator[str]:
    """Quantiles that would say little: of fewer rows than this, or of so many as are given."""
    errors = {name: error for part in parts for name, error in part.errors.items()}
    asked = [(name, one) for name, one in plan.aggregates if isinstance(one, Quantiles)]
    for name, aggregate in asked:
        spanned = SPANNED if len(aggregate.at) == 1 else SPANNED_BY_MANY
        needed = ceil(spanned * (errors.get(name) or 0))
        if needed > (FEW if rows is None else rows):
            there = "of fewer" if rows is None else f"of {rows:,}"
            yield (
                f"{name} needs about {needed:,} rows: {there}, its interval would be most of its"
                " range; more ε helps, or fewer rows of each unit"
            )


def _read(plan: Plan, from_text: frozenset[str]) -> Iterator[str]:
    """Columns whose cells may turn out not to be readable: which, nobody is told."""
    used = {name for of in expressions_in(plan) for name in column_names(of)}
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
        yield from _of_rows(plan.per_unit)
    if plan.where is not None:
        yield plan.where
    yield from (of for _, of in plan.derived)
    yield from (group.of for group in plan.groups)
    yield from (of for _, one in plan.aggregates for of in expressions_of(one))


def _of_rows(before: PerUnit) -> Iterator[Expression]:
    if before.where is not None:
        yield before.where
    yield from (of for _, of in before.derived)
    yield from (of for _, feature in before.features for of in made_of(feature))


def _units(plan: Plan) -> Iterator[str]:
    unit, bounding = plan.schema.unit, plan.bounding
    if unit is None:
        return
    rows, groups = bounding.max_rows, bounding.max_groups
    if plan.per_unit is not None:
        yield f"each {unit} is one row, whatever number of rows it has"
    elif bounding.clip:
        where = f" in at most {_number(groups or 1, 'group')}" if plan.groups else ""
        yield (
            f"each {unit} counts once{where}, with its own total clipped to the range of one row;"
            " .bound(max_rows=…) takes rows instead"
        )
    elif groups is not None:
        inside = "once" if rows is None else f"with at most {_number(rows, 'row')}"
        yield (
            f"each {unit} counts in at most {_number(groups, 'group')}, {inside} in each, chosen at"
            " random; .bound(…) changes that"
        )
    elif rows is not None:
        yield (
            f"each {unit} counts with at most {_number(rows, 'row')}, chosen at random"
            f"{FIRST if plan.where is not None else ''}; .bound(max_rows=…) changes that"
        )
    yield f"rows without {unit} are left out"


def _partners(plan: Plan) -> Iterator[str]:
    for join in plan.partners:
        yield (
            f"{join.name} is private, too, and is charged the same; one of its rows of each"
            f" {join.on[0][1]} counts, chosen at random, and who is not in it is left out"
        )


def public_people(plan: Plan) -> Iterator[str]:
    """Public tables that are joined on the unit: each of their rows is about one."""
    for join in (*plan.joins, *(() if plan.per_unit is None else plan.per_unit.joins)):
        on_unit = any(left == plan.schema.unit for left, _ in join.on)
        if isinstance(join, PublicJoin) and on_unit:
            yield f"{join.name} is taken as public: nothing in it is protected"


def _intervals(plan: Plan) -> Iterator[str]:
    bounded = plan.schema.unit is not None and plan.bounding.max_rows is not None
    bounded = (bounded or plan.bounding.max_groups is not None) and plan.per_unit is None
    asked = flattened(plan.aggregates)
    clamped = any(facts_of(aggregate).needs is Needs.BOUNDS for _, aggregate in asked)
    if bounded or clamped:
        how = " and ".join(["bounded"] * bounded + ["clamped"] * clamped)
        yield f"intervals speak of the {how} data"


def _groups(plan: Plan) -> Iterator[str]:
    if plan.groups and plan.keys is None:
        yield "keys that too few units have are not listed, and nothing is said about them"
    elif plan.groups:
        yield "rows with other keys are left out"


def _aggregates(plan: Plan) -> Iterator[str]:
    for name, aggregate in plan.aggregates:
        if (note := facts_of(aggregate).note) is not None:
            yield f"{name} {note(aggregate)}"


def _number(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
