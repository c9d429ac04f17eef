"""A question about a table: which rows, which groups, which aggregates, how bounded.

A `Plan` is frozen data, checked when it is made, with one canonical spelling; the SHA-256
of that spelling names the question. Sensitivity, noise and price are functions of the plan
alone. `make_plan` builds one from what people write, if it names nobody (`plans.unnamed`).

In order: public tables are joined, derived columns computed, rows filtered, units bounded,
groups formed. Every name in an expression is a column of the table, of a public table, or
an earlier derived one. With `per_unit` the rows are units and the columns their features
(`plans.aggregates.features`): then all of this is about them, and a unit is one row.

  Tested:   tests/plans/test_query.py
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from hashlib import sha256
from itertools import product
from math import prod
from typing import cast

from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Problem, Remedy, Spelled, problem
from letalone.errors.remedies import FindKeys, NameKeys
from letalone.exact.canonical import canonical
from letalone.exact.typed import refusal
from letalone.plans import checks
from letalone.plans.aggregates import features
from letalone.plans.aggregates.features import PerUnit
from letalone.plans.aggregates.formula_trees import Computable, FormulaRequest
from letalone.plans.aggregates.formulas import Aggregate, with_formula_parts
from letalone.plans.aggregates.of_columns import CountUnits, PrivateBounds
from letalone.plans.aggregates.requests import AggregateRequest, resolve_aggregate
from letalone.plans.bounds import resolve_all
from letalone.plans.clauses import Bounding, GroupColumn, Join, PrivateJoin
from letalone.plans.clauses import PublicJoin as PublicJoin
from letalone.plans.constants import as_bound, format_constant
from letalone.plans.dates import first_day, read_dates, read_derived
from letalone.plans.described import describe_plan
from letalone.plans.domains import domain_of
from letalone.plans.expressions import (
    Bin,
    ColumnRef,
    DatePart,
    DateText,
    Expression,
    StartOf,
    as_expression,
)
from letalone.plans.keys import MOST_KEYS, read_keys
from letalone.plans.keys import product as all_of
from letalone.plans.records import StructuralEquality, fields_to_stored
from letalone.plans.schema import Schema
from letalone.plans.types import Key, Type
from letalone.plans.typing import ColumnTypes, columns_of
from letalone.plans.unnamed import check_names_nobody

FORMAT = 1
KIND = "plan"
USUAL_MAX_ROWS = 10
NOT_LISTED = (
    "No keys are given, so which keys there are must be found out privately, and that needs a delta"
    " above 0."
)
Group = str | GroupColumn | tuple[str, Expression]


@dataclass(frozen=True, slots=True, eq=False)
class Plan(StructuralEquality):
    """A frozen question; see the module. `keys=None` with groups: keys are found privately."""

    schema: Schema
    where: Expression | None
    derived: tuple[tuple[str, Expression], ...]
    joins: tuple[Join, ...]
    groups: tuple[GroupColumn, ...]
    keys: tuple[tuple[Key, ...], ...] | None
    aggregates: tuple[tuple[str, Aggregate], ...]
    bounding: Bounding
    per_unit: PerUnit | None = None

    def __post_init__(self) -> None:
        checks.check_plan(self)
        if self.keys is not None:
            keys = read_keys(self.keys, [group.type for group in self.groups])
            object.__setattr__(self, "keys", keys)

    @property
    def columns(self) -> ColumnTypes:
        """What expressions can name, as it is in the rows that the filter keeps."""
        return columns_of(
            features.rows_schema(self.schema, self.per_unit),
            joins=self.joins,
            derived=self.derived,
            where=self.where,
            present=features.always_there(self.schema, self.per_unit),
        )

    @property
    def partners(self) -> tuple[PrivateJoin, ...]:
        """The other private tables, whose data sets are charged, too."""
        joins = (*self.joins, *(() if self.per_unit is None else self.per_unit.joins))
        return tuple(join for join in joins if isinstance(join, PrivateJoin))

    def to_json(self) -> dict[str, object]:
        """The plan as JSON, format 1, without loss."""
        return {"format": FORMAT, "kind": KIND, **fields_to_stored(self)}

    def digest(self) -> str:
        """The SHA-256 of the canonical spelling: the same for the same question."""
        return sha256(canonical(self.to_json())).hexdigest()

    def in_words(self) -> str:
        return describe_plan(self)


def make_plan(
    schema: Schema,
    aggregates: Mapping[str, Computable | Aggregate],
    *,
    where: object = None,
    derived: Sequence[tuple[str, object]] = (),
    joins: Sequence[Join] = (),
    groups: Sequence[Group] = (),
    keys: object = None,
    max_rows: int | None = None,
    max_groups: int | None = None,
    clip: bool = False,
    per_unit: PerUnit | None = None,
    find_keys: bool = True,
) -> Plan:
    """A plan from what people write: bounds, steps, keys and bounding that were left out filled in.

    Keys that are not listed are those that are public anyway (see `domain_of`); if there
    are none for some group column, they are found privately, or missing without `find_keys`.
    One error names all bounds and keys that are
    missing.
    """
    named = tuple((name, as_expression(value)) for name, value in derived)
    units = None if per_unit is None else units_of(per_unit, schema)
    rows = features.rows_schema(schema, units)
    checks.check_columns(rows, joins, named)
    named = read_derived(named, rows, joins)
    columns = columns_of(rows, joins=joins, derived=named)
    condition = None if where is None else read_dates(as_expression(where), columns)
    group_list = (groups,) if isinstance(groups, str | GroupColumn) else groups
    grouped = tuple(_group(group, columns) for group in group_list)
    kept = columns_of(rows, joins=joins, derived=named, where=condition)
    resolved, listed = resolve_all(
        partial(_resolve_aggregates, aggregates, columns, kept),
        partial(_keys, keys, grouped, columns, condition, find=find_keys),
    )
    given = Bounding(max_rows, max_groups, clip)
    plan = Plan(
        schema=schema,
        where=condition,
        derived=named,
        joins=tuple(joins),
        groups=grouped,
        keys=listed,
        aggregates=resolved,
        bounding=_bounding(schema, grouped, resolved, given, per_unit=units is not None),
        per_unit=units,
    )
    check_names_nobody(plan)
    return plan


def units_of(per_unit: PerUnit, schema: Schema) -> PerUnit:
    """The features with everything filled in, checked."""
    features.check_has_unit(schema)
    checks.check_columns(schema, per_unit.joins, per_unit.derived)
    units = features.resolve_features(per_unit, schema)
    checks.check_per_unit(units, schema)
    return units


def bins(
    of: str | Expression, lower: object, upper: object, width: object, *, name: str | None = None
) -> GroupColumn:
    """Ranges of a number to group by, like Python's range: `la.bins("age", 0, 100, 10)`.

    Its keys are [0, 10), [10, 20), … [90, 100]: each range has its start, the last its end, too.
    Rows whose value lies outside of all ranges, or is missing, are dropped.
    """
    node = ColumnRef(of) if isinstance(of, str) else as_expression(of)
    shown_as = node.name if name is None and isinstance(node, ColumnRef) else name
    if shown_as is None:
        raise ParameterError("Ranges of an expression need a name: la.bins(…, name='cost_each').")
    low, high = as_bound("lower", lower), as_bound("upper", upper)
    step = as_bound("width", width)
    if low >= high or step <= 0 or ((high - low) / step).denominator != 1:
        raise ParameterError(
            f"The ranges go from {format_constant(low)} to {format_constant(high)} in steps of"
            f" {format_constant(step)}, but a whole number of positive steps must lead from lower"
            " up to upper."
        )
    count = int((high - low) / step)
    return GroupColumn(shown_as, Bin(node, low, step, count), Type.INTEGER)


def _read_dates_of(asked: Computable | Aggregate, columns: ColumnTypes) -> Computable | Aggregate:
    if isinstance(asked, FormulaRequest):
        parts = tuple(cast("Computable", _read_dates_of(part, columns)) for part in asked.parts)
        return replace(asked, parts=parts)
    if not isinstance(asked, AggregateRequest) or asked.of is None:
        return asked
    by = tuple(read_dates(column, columns) for column in asked.by)
    return replace(asked, of=read_dates(asked.of, columns), by=by)


def _resolve_aggregates(
    aggregates: Mapping[str, Computable | Aggregate], columns: ColumnTypes, kept: ColumnTypes
) -> tuple[tuple[str, Aggregate], ...]:
    dated_ones = [_read_dates_of(request, columns) for request in aggregates.values()]
    resolved = resolve_all(*(partial(resolve_aggregate, request, kept) for request in dated_ones))
    return tuple(zip(aggregates, resolved, strict=True))


def _group(group: Group, columns: ColumnTypes) -> GroupColumn:
    match group:
        case GroupColumn():
            return group
        case str():
            return GroupColumn(group, ColumnRef(group), columns.type_of(ColumnRef(group)).type)
        case (str() as name, Expression() as of):
            of = read_dates(of, columns)
            return GroupColumn(name, of, columns.type_of(of).type)
        case _:  # pyright: ignore[reportUnnecessaryComparison]
            raise refusal(
                "group column", group, "a column's name, a pair (name, expression) or la.bins(…)"
            )


def expression_of(group: Group) -> Expression:
    """What a group column is in each row."""
    match group:
        case GroupColumn(of=of):
            return of
        case str():
            return ColumnRef(group)
        case (_, of):
            return of


def missing_keys(groups: Sequence[GroupColumn], *remedies: Remedy, python: str) -> Problem:
    """What is wrong where groups are neither listed nor to be found."""
    names = tuple(group.name for group in groups)
    listing = NameKeys(names, tuple(map(_kind_of_keys, groups)))
    words = Spelled(python, Code.MISSING_KEYS.template.format(columns=", ".join(names)))
    return problem(Code.MISSING_KEYS, listing, *remedies, words=words, columns=names)


def _kind_of_keys(group: GroupColumn) -> str:
    """What its keys look like: the type, or the part of a date."""
    match group.of:
        case DatePart(part="year"):
            return "year"
        case DateText(pattern="%Y-%m"):
            return "month"
        case _:
            return group.type.value


def _keys(
    keys: object,
    groups: Sequence[GroupColumn],
    columns: ColumnTypes,
    where: Expression | None,
    *,
    find: bool,
) -> tuple[tuple[Key, ...], ...] | None:
    if keys is not None:
        checks.check_grouped(keys, groups)
        if isinstance(keys, Mapping):
            keys = _combine_keys(cast("Mapping[str, object]", keys), groups, columns, where)
        read = read_keys(keys, [group.type for group in groups])
        for group, column in zip(groups, zip(*read, strict=True), strict=True):
            _check_column_keys(group, column)
        return read
    by_group = [(group, domain_of(group.of, columns, where)) for group in groups]
    without = [group for group, domain in by_group if domain is None]
    if not groups or without:
        checks.check_not_unit(((group.name, group.of) for group in groups), columns)
        if groups and not find:
            raise ParameterError(missing_keys(without, FindKeys(), python=NOT_LISTED))
        return None
    domains = [domain for _, domain in by_group if domain is not None]
    number = prod(len(domain) for domain in domains)
    if number > MOST_KEYS:
        raise ParameterError(
            f"The declared keys have {number:,} combinations, but there may be at most"
            f" {MOST_KEYS:,}. List the ones you want: keys=[…]."
        )
    return tuple(product(*domains))


def _combine_keys(
    keys: Mapping[str, object],
    groups: Sequence[GroupColumn],
    columns: ColumnTypes,
    where: Expression | None,
) -> tuple[tuple[object, ...], ...]:
    """Every combination of the keys that are listed by column, or public anyway."""
    names = [group.name for group in groups]
    if unknown := [name for name in keys if name not in names]:
        raise ParameterError(
            f"keys are listed for {unknown[0]!r}, which is not a group column. The group columns"
            f" are: {', '.join(names)}."
        )
    lists = [keys.get(group.name) or domain_of(group.of, columns, where) for group in groups]
    if without := [group for group, keys in zip(groups, lists, strict=True) if keys is None]:
        missing = " and ".join(repr(group.name) for group in without)
        raise ParameterError(missing_keys(without, python=f"keys are missing for {missing}."))
    return all_of(*cast("list[Sequence[object]]", lists))


def _check_column_keys(group: GroupColumn, keys: Sequence[Key]) -> None:
    """The keys of ranges are their numbers, and those of months first days: one beyond them, or
    one that begins no month, would be paid for and be empty."""
    of = group.of
    for key in keys:
        if isinstance(of, Bin) and not (isinstance(key, int) and 0 <= key < of.count):
            raise ParameterError(
                f"The key {key!r} of {group.name!r} is not a range: ranges are numbered from 0"
                f" to {of.count - 1}. Leave them out, and list other columns' keys by"
                " name: keys={'sex': ['F', 'M']}."
            )
        if not isinstance(of, StartOf) or not isinstance(key, date):
            continue
        if key != (first := first_day(key, of.period)):
            raise ParameterError(
                f"The key {key} of {group.name!r} begins no {of.period}. List first days, such as"
                f" {first}."
            )


def _bounding(
    schema: Schema,
    groups: Sequence[GroupColumn],
    aggregates: Sequence[tuple[str, Aggregate]],
    given: Bounding,
    *,
    per_unit: bool,
) -> Bounding:
    """What was given; else the usual rows, unless the unit is the row or units are counted.

    One row is enough for bounds alone: the error grows with the number of rows.
    """
    if per_unit:
        return Bounding(max_rows=1) if given == Bounding() else given
    aggregates = with_formula_parts(aggregates)
    only_units = all(isinstance(aggregate, CountUnits) for _, aggregate in aggregates)
    if only_units and not groups and not given.clip:
        return Bounding()  # a unit counts once, whichever of its rows the filter keeps
    if given != Bounding():
        alone = given.clip and not groups and given.max_groups is None
        return Bounding(given.max_rows, 1, clip=True) if alone else given
    if schema.unit is None:
        return given
    only_bounds = all(isinstance(aggregate, PrivateBounds) for _, aggregate in aggregates)
    return Bounding(max_rows=1 if only_bounds else USUAL_MAX_ROWS)
