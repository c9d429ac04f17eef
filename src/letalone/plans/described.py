"""A plan in words, for people who have to agree to it.

  count and mean of cost clamped to [0, 1000], for each of 3 wards; only rows with age >= 65;
  each patient_id counts with at most 10 rows

Tested:   tests/plans/test_described.py
"""

from fractions import Fraction
from typing import cast

from letalone.plans.constants import shown
from letalone.plans.expressions import Case, Expression, Literal
from letalone.plans.features import (
    Feature,
    PerUnit,
    UnitCondition,
    UnitCount,
    UnitExtreme,
    UnitMean,
    UnitTotal,
    UnitValue,
)
from letalone.plans.parts import (
    Aggregate,
    Bounding,
    Correlation,
    Count,
    CountPresent,
    CountUnits,
    CountValues,
    Covariance,
    Deviation,
    Extreme,
    Formula,
    GroupColumn,
    Histogram,
    Join,
    Mean,
    PrivateBounds,
    PrivateJoin,
    Quantiles,
    Regression,
    Slope,
    Sum,
    TopK,
    Variance,
)
from letalone.plans.query import Plan
from letalone.plans.trees import in_words as formula_in_words
from letalone.plans.types import Key
from letalone.plans.wording import in_words, listed, value_in_words


def described(plan: Plan) -> str:
    """The question as one sentence, its parts separated by semicolons."""
    asked = [_aggregate(aggregate) for _, aggregate in plan.aggregates]
    parts = [_and(asked) + _groups(plan.groups, plan.keys)]
    parts += _steps(plan, "rows" if plan.per_unit is None else "units")
    if plan.per_unit is None:
        return "; ".join([*parts, _bounding(plan.schema.unit, plan.bounding, plan.where)])
    features = [f"{name} is {_feature(one)}" for name, one in plan.per_unit.features]
    one_row = f"each {plan.schema.unit} is one row, made of all its rows"
    return "; ".join([*parts, one_row, *features, *_steps(plan.per_unit, "of its rows")])


def _steps(of: Plan | PerUnit, rows: str) -> list[str]:
    """Which rows, and what is beside them."""
    parts = [] if of.where is None else [f"only {rows} with {in_words(of.where)}"]
    parts += [f"where {name} is {in_words(one)}" for name, one in of.derived]
    return [*parts, *(_join(join) for join in of.joins)]


def _feature(feature: Feature) -> str:
    match feature:
        case UnitCount():
            return "their number"
        case UnitTotal(of, lower, upper):
            return f"the total of {_within(of, cast('Fraction', lower), cast('Fraction', upper))}"
        case UnitMean(of, lower, upper):
            return f"the mean of {_within(of, cast('Fraction', lower), cast('Fraction', upper))}"
        case UnitExtreme(of, largest):
            return f"the {'largest' if largest else 'smallest'} {in_words(of)}"
        case UnitCondition(of, every):
            return f"whether {in_words(of)} in {'each' if every else 'any'} of them"
        case UnitValue(of, by, last):
            which = f"{'largest' if last else 'smallest'} {in_words(by)}"
            return f"{in_words(of)} in the one with the {which}"


def _aggregate(aggregate: Aggregate) -> str:
    match aggregate:
        case Count():
            return "count"
        case CountUnits():
            return "number of units"
        case CountPresent(Case(((condition, Literal(1)),), Literal(None))):
            return f"count of rows with {in_words(condition)}"
        case CountPresent(of):
            return f"count of rows that have {in_words(of)}"
        case Formula(inner, tree):
            return formula_in_words(tree, [_aggregate(part) for part in inner])
        case CountValues(of):
            return f"number of different values of {in_words(of)}"
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
            return f"{_sample(aggregate)}variance of {_clamped(aggregate)}"
        case Deviation():
            return f"{_sample(aggregate)}standard deviation of {_clamped(aggregate)}"
        case Covariance() | Correlation() | Slope() | Regression():
            return _compared(aggregate)


def _compared(asked: Covariance | Correlation | Slope | Regression) -> str:
    of = _clamped(asked)
    match asked:
        case Regression(by=by, by_lower=lowest, by_upper=highest):
            features = zip(by, lowest, highest, strict=True)
            return f"linear regression of {of} on {_and([_within(*one) for one in features])}"
        case _:
            by = _within(asked.by, asked.by_lower, asked.by_upper)
    match asked:
        case Covariance():
            return f"{_sample(asked)}covariance of {of} and {by}"
        case Correlation():
            return f"correlation of {of} and {by}"
        case Slope():
            return f"slope of {of} along {by}"


def _sample(asked: Variance | Deviation | Covariance) -> str:
    return "sample " if asked.sample else ""


def _within(of: Expression, lower: Fraction, upper: Fraction) -> str:
    return f"{in_words(of)} clamped to [{shown(lower)}, {shown(upper)}]"


Clamped = Sum | Mean | Variance | Deviation | Covariance | Correlation | Slope | Regression


def _clamped(aggregate: Clamped | Quantiles | Extreme) -> str:
    said = _within(aggregate.of, aggregate.lower, aggregate.upper)
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


def _join(join: Join) -> str:
    on = _and([left if left == right else f"{left} = {right}" for left, right in join.on])
    if isinstance(join, PrivateJoin):
        return f"joined with one row of each in the private data set {join.name} on {on}"
    return f"joined with the public table {join.name} on {on}"


def _bounding(unit: str | None, bounding: Bounding, where: Expression | None) -> str:
    if unit is None:
        return "each row is protected on its own"
    rows = "" if bounding.max_rows is None else f"at most {_number(bounding.max_rows, 'row')}"
    if bounding.max_groups is None:
        chosen = ", chosen before the filter" if rows and where is not None else ""
        return f"each {unit} counts with {rows or 'all its rows, once'}{chosen}"
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
