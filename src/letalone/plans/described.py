"""A plan in words, for people who have to agree to it.

  count and mean of cost clamped to [0, 1000], for each of 3 wards; only rows with age >= 65;
  at most 10 rows per patient_id

Tested:   tests/plans/test_described.py
"""

from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from fractions import Fraction
from itertools import starmap
from typing import TYPE_CHECKING, Any, cast

from letalone.errors.spelling import plural
from letalone.plans.aggregates import features
from letalone.plans.aggregates.facts import facts_of
from letalone.plans.aggregates.features import PerUnit
from letalone.plans.clauses import Bounding, GroupColumn, Join, PrivateJoin
from letalone.plans.expressions import Clamp
from letalone.plans.types import Key
from letalone.plans.wording import and_words, clamped_in_words, in_words, join_words, value_in_words

if TYPE_CHECKING:
    from letalone.plans.plan import Plan


def describe_plan(plan: "Plan", describe: Callable[[Any], str] | None = None) -> str:
    """The question as one sentence, its parts separated by semicolons.

    `describe` words an aggregate in place of its own words.
    """
    describe = describe or (lambda aggregate: facts_of(aggregate).describe(aggregate))
    aggregates = [describe(aggregate) for _, aggregate in plan.aggregates]
    parts = [and_words(aggregates) + _groups(plan.groups, plan.keys)]
    parts += _steps(plan, "rows" if plan.per_unit is None else "units")
    if plan.per_unit is None:
        return "; ".join([*parts, _bounding(plan.schema.unit, plan.bounding)])
    made = [f"{name} is {_feature(feature)}" for name, feature in plan.per_unit.features]
    one_row = f"each {plan.schema.unit} is one row, made of all its rows"
    return "; ".join([*parts, one_row, *made, *_steps(plan.per_unit, "of its rows")])


def describe_open(plan: "Plan", other: "Plan") -> str:
    """The question where bounds are still to be found: those in which the two plans differ."""
    others = dict(other.aggregates)
    left_open = {id(of): _leave_open(of, others[name]) for name, of in plan.aggregates}
    return describe_plan(plan, lambda of: facts_of(of).describe(left_open[id(of)]))


def _leave_open(one: Any, other: Any) -> Any:
    """The same, for words alone, with None in place of the numbers that differ.

    A column that is clamped to bounds still to be found is read as it is: what is made of it has
    open bounds, too, unless they are named.
    """
    if isinstance(one, Fraction):
        return one if one == other else None
    if isinstance(one, Clamp) and one.lower != other.lower and one.upper != other.upper:
        return _leave_open(one.of, other.of)
    if isinstance(one, tuple):
        pairs = zip(cast("tuple[Any, ...]", one), other, strict=True)
        return tuple(starmap(_leave_open, pairs))
    if not is_dataclass(one) or isinstance(one, type):
        return one
    described = copy(one)  # a frozen record that was checked when it was made
    for name in (field.name for field in fields(one)):
        left = _leave_open(getattr(one, name), getattr(other, name))
        object.__setattr__(described, name, left)
    return described


def _steps(of: "Plan | PerUnit", rows: str) -> list[str]:
    """Which rows, and what is beside them."""
    parts = [] if of.where is None else [f"only {rows} with {in_words(of.where)}"]
    parts += [f"where {name} is {in_words(expression)}" for name, expression in of.derived]
    return [*parts, *(_join(join) for join in of.joins)]


def _feature(feature: features.Feature) -> str:
    match feature:
        case features.UnitCount():
            return "their number"
        case features.UnitTotal(of, Fraction() as lower, Fraction() as upper):
            return f"the total of {clamped_in_words(of, lower, upper)}"
        case features.UnitMean(of, Fraction() as lower, Fraction() as upper):
            return f"the mean of {clamped_in_words(of, lower, upper)}"
        case features.UnitExtreme(of, largest):
            return f"the {'largest' if largest else 'smallest'} {in_words(of)}"
        case features.UnitCondition(of, every):
            return f"whether {in_words(of)} in {'each' if every else 'any'} of them"
        case features.UnitValue(of, by, last):
            which = f"{'largest' if last else 'smallest'} {in_words(by)}"
            return f"{in_words(of)} in the one with the {which}"
        case features.UnitTotal() | features.UnitMean():
            raise AssertionError("the bounds of a feature are filled in when a plan is made")


def _groups(groups: tuple[GroupColumn, ...], keys: tuple[tuple[Key, ...], ...] | None) -> str:
    if not groups:
        return ""
    names = and_words([_group(group) for group in groups])
    if keys is None:
        return f", for each {names} that enough units have"
    if len(keys) <= 5 and len(groups) == 1:
        shown_keys = [value_in_words(groups[0].shown(key)) for (key,) in keys]
        return f", for each {names} among {join_words(shown_keys)}"
    what = "values" if len(groups) == 1 else "combinations"
    return f", for each of {len(keys):,} {what} of {names}"


def _group(group: GroupColumn) -> str:
    words = in_words(group.of)
    return words if words == group.name else f"{group.name} ({words})"


def _join(join: Join) -> str:
    on = and_words([left if left == right else f"{left} = {right}" for left, right in join.on])
    if isinstance(join, PrivateJoin):
        return f"joined with one row of each in the private data set {join.name} on {on}"
    kept = ", and kept without a partner" if join.outer else ""
    return f"joined with the public table {join.name} on {on}{kept}"


def _bounding(unit: str | None, bounding: Bounding) -> str:
    if unit is None:
        return "each row is protected on its own"
    rows = "" if bounding.max_rows is None else f"at most {plural(bounding.max_rows, 'row')}"
    if bounding.max_groups is None:
        few = bounding.key_groups
        finding = "" if few is None else f", and {plural(few, 'group')} while groups are found"
        return f"{rows} per {unit}{finding}" if rows else f"all rows of each {unit}, once"
    groups = f"at most {plural(bounding.max_groups, 'group')}"
    if bounding.clip:
        how = "with one total in each, cut off at the bounds of one row"
    else:
        how = f"with {rows} in each" if rows else "once in each"
    return f"{groups} per {unit}, {how}"
