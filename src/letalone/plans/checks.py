"""What makes a plan answerable, checked once, before data is touched.

A plan that passes is total: its expressions cannot fail on any row, its keys are of the
right types, its names are distinct, its sizes are limited, and one unit's share of the
answer is bounded.

  Tested:   tests/plans/test_query.py, each refusal
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.typed import refusal
from letalone.plans.aggregates.facts import check_aggregate, facts_of
from letalone.plans.aggregates.features import PerUnit, check_features, rows_schema
from letalone.plans.aggregates.formulas import Aggregate, shown_name, with_formula_parts
from letalone.plans.aggregates.of_columns import CountUnits, Extreme, Histogram, Quantiles
from letalone.plans.clauses import Bounding, GroupColumn, Join, PrivateJoin, PublicJoin
from letalone.plans.expressions import ColumnRef, Expression, inline_columns
from letalone.plans.keys import check_groupable
from letalone.plans.schema import Schema, check_name, check_names
from letalone.plans.types import Key, Type
from letalone.plans.typing import ColumnTypes, columns_of
from letalone.plans.wording import in_words

if TYPE_CHECKING:
    from letalone.plans.plan import Plan

MOST_CELLS = 1_000_000
MOST_AGGREGATES = 100
MOST_GROUP_COLUMNS = 10
MOST_DERIVED = 100


def check_plan(plan: "Plan") -> None:
    """Refuses, in words and with a remedy, what has no total and bounded answer."""
    if plan.per_unit is not None:
        check_per_unit(plan.per_unit, plan.schema)
    schema = rows_schema(plan.schema, plan.per_unit)
    check_columns(schema, plan.joins, plan.derived)
    columns = columns_of(schema, joins=plan.joins, derived=plan.derived)
    if plan.where is not None:
        _check_where(plan.where, columns)
    columns = columns_of(schema, joins=plan.joins, derived=plan.derived, where=plan.where)
    check_groups(plan.groups, columns)
    check_grouped(plan.keys, plan.groups)
    check_aggregates(plan.aggregates, columns)
    _check_outputs(plan.groups, plan.aggregates)
    _check_cells(plan.keys, plan.aggregates)
    check_bounding(plan.bounding, plan)


def check_per_unit(per_unit: PerUnit, schema: Schema) -> None:
    """Refuses what has no total answer before there is one row for each unit."""
    check_columns(schema, per_unit.joins, per_unit.derived)
    if per_unit.where is not None:
        columns = columns_of(schema, joins=per_unit.joins, derived=per_unit.derived)
        _check_where(per_unit.where, columns)
    check_features(per_unit, schema)


def check_columns(
    schema: Schema, joins: Sequence[Join], derived: Sequence[tuple[str, Expression]]
) -> None:
    """Names that are distinct, and joins whose columns are there."""
    if not isinstance(schema, Schema):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise refusal("schema", schema, "a la.Schema")
    types = {column.name: column.type for column in schema.columns}
    for join in joins:
        if isinstance(join, PrivateJoin):
            _check_partner(join, schema)
        else:
            _check_join(join, schema, types)
        types |= {column.name: column.type for column in join.columns}
    for name, _ in derived:
        check_name("derived column", name)
    if len(derived) > MOST_DERIVED:
        raise ParameterError(f"There are {len(derived)} derived columns; at most {MOST_DERIVED}.")
    others = [join.name for join in joins if isinstance(join, PrivateJoin)]
    check_names([schema.name, *others], "data sets of the question")
    joined = [column.name for join in joins for column in join.columns]
    names = [column.name for column in schema.columns]
    check_names([*names, *joined, *(name for name, _ in derived)], "columns of the question")


def check_groups(groups: Sequence[GroupColumn], columns: ColumnTypes) -> None:
    """Group columns of types that have keys, as they say."""
    if len(groups) > MOST_GROUP_COLUMNS:
        raise ParameterError(
            f"There are {len(groups)} group columns, but there may be at most {MOST_GROUP_COLUMNS}."
        )
    for group in groups:
        check_name("group column", group.name)
        kind = columns.type_of(group.of).type
        check_groupable(kind, in_words(group.of))
        if kind is not group.type:
            raise ParameterError(
                f"Group column {group.name!r} is said to be {group.type.value}, but is"
                f" {kind.value}."
            )


def check_grouped(keys: object, groups: Sequence[GroupColumn]) -> None:
    """Refuses keys of nothing."""
    if keys is not None and not groups:
        raise ParameterError("keys are listed, but there is no group column. Give .group_by(…).")


def check_not_unit(groups: Iterable[tuple[str, Expression]], columns: ColumnTypes) -> None:
    """Refuses to look for groups that are one unit each: whatever the data, none would be found."""
    for name, of in groups:
        inlined, unit = inline_columns(of, columns.derived), columns.unit
        if unit is not None and isinstance(inlined, ColumnRef) and inlined.name == unit:
            raise UnsupportedQuery(
                f"The groups of {name!r} are not listed, and each would be one {unit} alone, whom"
                " the noise hides: none would ever be found. In Python, .per_unit(…) makes one row"
                f" of each {unit}, to ask about; in SQL, ask for AVG(…) or COUNT(DISTINCT {unit})"
                f" without GROUP BY {name}."
            )


def check_aggregates(aggregates: Sequence[tuple[str, Aggregate]], columns: ColumnTypes) -> None:
    """Between one and a hundred named aggregates that the columns can answer."""
    number = max(len(aggregates), len(with_formula_parts(aggregates)))
    if not 1 <= number <= MOST_AGGREGATES:
        raise ParameterError(
            f"A question has {number} aggregates, but needs from 1 to {MOST_AGGREGATES}:"
            " .agg(n=la.count())."
        )
    for name, aggregate in aggregates:
        check_name("aggregate", name)
        if not isinstance(aggregate, Aggregate):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refusal(f"aggregate {name!r}", aggregate, "one such as la.count()")
        check_aggregate(aggregate, columns)


def check_bounding(bounding: Bounding, plan: "Plan") -> None:
    """Refuses a bounding that bounds nothing, and one where there is nothing to bound."""
    if not plan.groups and (bounding.max_groups or 1) > 1:
        raise ParameterError(
            f"max_groups is {bounding.max_groups}, but the question has no groups. Leave it out."
        )
    if plan.per_unit is not None or plan.schema.unit is None:
        _check_one_row(bounding, per_unit=plan.per_unit is not None)
    elif bounding.clip:
        _check_clip(bounding, plan)
    else:
        _check_unit(bounding, plan)


def _check_where(where: Expression, columns: ColumnTypes) -> None:
    kind = columns.type_of(where).type
    if kind is not Type.BOOLEAN:
        raise ParameterError(
            f"The filter '{in_words(where)}' is {kind.value}, but must be a condition, such as"
            ' la.col("age") >= 65.'
        )


def _check_partner(join: PrivateJoin, schema: Schema) -> None:
    check_name("data set", join.name)
    if schema.unit is None:
        raise ParameterError(
            f"{join.name!r} is another private table, which is joined on the unit, and here each"
            " row is a unit. Join it before .per_unit(…), to a table whose unit is a column."
        )
    if len(join.on) != 1 or join.on[0][0] != schema.unit:
        raise ParameterError(
            f"{join.name!r} is another private table, so it is joined on the units of both: give"
            f" on={schema.unit!r}, or a pair of names, the unit here first."
        )
    check_name("unit", join.on[0][1])


def _check_join(join: PublicJoin, schema: Schema, types: Mapping[str, Type]) -> None:
    """Joined on columns of the table, or of one that is joined before."""
    check_name("public table", join.name)
    if not join.on:
        raise ParameterError(
            f"The join with {join.name!r} has no columns to join on. Give on='code'."
        )
    for left, right in join.on:
        check_groupable(types[left] if left in types else schema.column(left).type, left)
        check_name("column of a public table", right)


def _check_outputs(
    groups: Sequence[GroupColumn], aggregates: Sequence[tuple[str, Aggregate]]
) -> None:
    """The answer has a column for each group, and for each aggregate one with two bounds."""
    names = [group.name for group in groups]
    for name, _ in aggregates:
        names += [name, f"{name}_low", f"{name}_high"]
    check_names(names, "columns of the answer (each aggregate has _low and _high, too)")


def _check_cells(
    keys: tuple[tuple[Key, ...], ...] | None, aggregates: Sequence[tuple[str, Aggregate]]
) -> None:
    number = 1 if keys is None else len(keys)
    for name, aggregate in with_formula_parts(aggregates):
        if not isinstance(aggregate, Quantiles | Extreme | Histogram):
            continue
        if number * aggregate.cells > MOST_CELLS:
            raise ParameterError(
                f"{shown_name(name)!r} needs {number:,} keys × {aggregate.cells:,} cells, but there"
                f" may be {MOST_CELLS:,} in all. Take a larger step, closer bounds or fewer keys."
            )


def _check_one_row(bounding: Bounding, *, per_unit: bool) -> None:
    if bounding != Bounding(max_rows=1 if per_unit else None):
        why = "After .per_unit(…) each unit is one row" if per_unit else "The unit is the row"
        name = ", or name the column that identifies a person: unit='patient_id'"
        raise ParameterError(
            f"{why}, so there is nothing to bound: leave out max_rows, max_groups and"
            f" clip{'' if per_unit else name}."
        )


def _check_clip(bounding: Bounding, plan: "Plan") -> None:
    if bounding.max_groups is None or bounding.max_rows is not None:
        raise ParameterError(
            "clip=True clips each unit's own total in each group, so it needs max_groups=… and no"
            " max_rows."
        )
    for name, aggregate in with_formula_parts(plan.aggregates):
        if not facts_of(aggregate).can_clip:
            raise UnsupportedQuery(
                f"{shown_name(name)!r} is not a total, so a unit's share of it cannot be clipped."
                " Use max_rows=… instead of clip=True, or ask it in a separate question."
            )


def _check_unit(bounding: Bounding, plan: "Plan") -> None:
    aggregates = with_formula_parts(plan.aggregates)
    only_units = all(isinstance(aggregate, CountUnits) for _, aggregate in aggregates)
    if only_units and (bounding.max_groups is not None or not plan.groups):
        return
    if bounding.max_rows is None:
        raise ParameterError(
            f"max_rows is missing: the most rows per {plan.schema.unit!r}, in each group if there"
            " are groups. Give max_rows=…, or max_groups=… with clip=True."
        )
