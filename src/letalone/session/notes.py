"""What to know when reading an answer: functions of the question, never of the data."""

from collections.abc import Iterator

from letalone.plans.described import described
from letalone.plans.query import (
    Aggregate,
    Count,
    CountUnits,
    Extreme,
    Plan,
    PrivateBounds,
    Quantiles,
    TopK,
)

NOT_CLAMPED = (Count, CountUnits, PrivateBounds, TopK)


def question_of(plan: Plan) -> str:
    """The question in words."""
    return described(plan)


def notes_of(plan: Plan) -> tuple[str, ...]:
    """The notes that belong to every answer to this question."""
    return (*_units(plan), *_intervals(plan), *_groups(plan), *_aggregates(plan))


def _units(plan: Plan) -> Iterator[str]:
    unit, bounding = plan.schema.unit, plan.bounding
    if unit is None:
        return
    rows, groups = bounding.max_rows, bounding.max_groups
    if bounding.clip:
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
            f"each {unit} counts with at most {_number(rows, 'row')}, chosen at random;"
            " .bound(max_rows=…) changes that"
        )
    yield f"rows without {unit} are left out"


def _intervals(plan: Plan) -> Iterator[str]:
    bounded = plan.schema.unit is not None and plan.bounding.max_rows is not None
    bounded = bounded or plan.bounding.max_groups is not None
    clamped = any(not isinstance(aggregate, NOT_CLAMPED) for _, aggregate in plan.aggregates)
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
        if (note := _note(aggregate)) is not None:
            yield f"{name} {note}"


def _note(aggregate: Aggregate) -> str | None:
    match aggregate:
        case Extreme(largest=largest):
            end = "largest" if largest else "smallest"
            return (
                f"is a private extreme quantile, some rows inwards of the {end} value (.preview"
                f" says how many); its interval is about that quantile, not about the {end} value"
            )
        case PrivateBounds():
            return (
                "are choices among 0 and powers of two, and have no interval; .preview says how"
                " many rows may lie beyond each and be clamped"
            )
        case TopK():
            return "are the winners, chosen privately; the intervals are those of their counts"
        case Quantiles():
            return "is a choice among the steps; its interval holds the true quantile"
        case _:
            return None


def _number(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
