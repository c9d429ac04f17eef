"""A plan in words, for people who have to agree to it.

  count and mean of cost clamped to [0, 1000], for each of 3 wards; only rows with age >= 65;
  each patient_id counts with at most 10 rows

Tested:   tests/plans/test_described.py
"""

from letalone.plans.constants import shown
from letalone.plans.parts import (
    Aggregate,
    Bounding,
    Count,
    CountUnits,
    Deviation,
    Extreme,
    GroupColumn,
    Histogram,
    Mean,
    PrivateBounds,
    PublicJoin,
    Quantiles,
    Sum,
    TopK,
    Variance,
)
from letalone.plans.query import Plan
from letalone.plans.types import Key
from letalone.plans.wording import in_words, listed, value_in_words


def described(plan: Plan) -> str:
    """The question as one sentence, its parts separated by semicolons."""
    asked = [_aggregate(aggregate) for _, aggregate in plan.aggregates]
    parts = [_and(asked) + _groups(plan.groups, plan.keys)]
    if plan.where is not None:
        parts.append(f"only rows with {in_words(plan.where)}")
    parts += [f"where {name} is {in_words(of)}" for name, of in plan.derived]
    parts += [_join(join) for join in plan.joins]
    return "; ".join([*parts, _bounding(plan.schema.unit, plan.bounding)])


def _aggregate(aggregate: Aggregate) -> str:
    match aggregate:
        case Count():
            return "count"
        case CountUnits():
            return "number of units"
        case Histogram(of, edges):
            ends = f"from {shown(edges[0])} to {shown(edges[-1])}"
            return f"histogram of {in_words(of)} in {len(edges) - 1} ranges {ends}"
        case TopK(of, k, candidates):
            return f"{k} most frequent of {len(candidates)} candidates for {in_words(of)}"
        case PrivateBounds(of):
            return f"private bounds of {in_words(of)}"
        case Quantiles():
            ranks = _and([shown(rank) for rank in aggregate.at])
            return f"quantile{'s' * (len(aggregate.at) > 1)} {ranks} of {_clamped(aggregate)}"
        case Extreme(largest=largest):
            return f"private {'maximum' if largest else 'minimum'} of {_clamped(aggregate)}"
        case Sum():
            return f"sum of {_clamped(aggregate)}"
        case Mean():
            return f"mean of {_clamped(aggregate)}"
        case Variance():
            return f"variance of {_clamped(aggregate)}"
        case Deviation():
            return f"standard deviation of {_clamped(aggregate)}"


def _clamped(aggregate: Sum | Mean | Variance | Deviation | Quantiles | Extreme) -> str:
    ends = f"[{shown(aggregate.lower)}, {shown(aggregate.upper)}]"
    said = f"{in_words(aggregate.of)} clamped to {ends}"
    if isinstance(aggregate, Quantiles | Extreme):
        said += f" in steps of {shown(aggregate.step)}"
    return said


def _groups(groups: tuple[GroupColumn, ...], keys: tuple[tuple[Key, ...], ...] | None) -> str:
    if not groups:
        return ""
    names = _and([_group(group) for group in groups])
    if keys is None:
        return f", for each {names} that enough units have"
    if len(keys) <= 5 and len(groups) == 1:
        shown_keys = [value_in_words(groups[0].shown(key)) for (key,) in keys]
        return f", for each {names} among {listed(shown_keys)}"
    what = "values" if len(groups) == 1 else "combinations"
    return f", for each of {len(keys):,} {what} of {names}"


def _group(group: GroupColumn) -> str:
    words = in_words(group.of)
    return words if words == group.name else f"{group.name} ({words})"


def _join(join: PublicJoin) -> str:
    on = _and([left if left == right else f"{left} = {right}" for left, right in join.on])
    return f"joined with the public table {join.name} on {on}"


def _bounding(unit: str | None, bounding: Bounding) -> str:
    if unit is None:
        return "each row is protected on its own"
    rows = "" if bounding.max_rows is None else f"at most {_number(bounding.max_rows, 'row')}"
    if bounding.max_groups is None:
        return f"each {unit} counts with {rows or 'all its rows, once'}"
    groups = f"at most {_number(bounding.max_groups, 'group')}"
    if bounding.clip:
        how = "with its total in each clipped to the range of one row"
    else:
        how = f"with {rows} in each" if rows else "once in each"
    return f"each {unit} counts in {groups}, {how}"


def _number(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _and(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
