"""Rows that are units: one row for each unit, whose columns are features of all its rows.

Public tables are joined, columns derived and rows filtered first; then the rows of a unit,
however many, become one row. A unit without any such row has none. What follows in the plan
is about these rows.

Theorem.  A unit is one row at most, which depends on that unit's rows alone, and not on their
order. Every feature has a value in every row, or is missing where it says so.
  Proven:   docs/explanation/proofs/tables.md, section 8
  Tested:   tests/plans/test_features.py; tests/engines/test_units.py, against plain Python
  Assumed:  the engine adds up whole numbers exactly

Missing values: a total, a mean, a largest and a smallest value skip them and are missing where
nothing else is; a condition that is missing is not true, so `any` and `all` are never missing;
`last` and `first` take the value of one row, missing or not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import cast

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.typed import read_flag, refusal
from letalone.plans.aggregates.facts import as_number
from letalone.plans.bounds import check_numeric, check_range, resolve_bounds
from letalone.plans.clauses import Join
from letalone.plans.constants import LARGEST_BOUND, as_bound
from letalone.plans.dates import read_dates, read_derived
from letalone.plans.domains import closed_domain
from letalone.plans.expressions import ColumnRef, Expression
from letalone.plans.records import StructuralEquality, stored_as
from letalone.plans.schema import Column, Schema, check_name, check_names
from letalone.plans.types import Key, Type
from letalone.plans.typing import ORDERED, ColumnTypes, columns_of
from letalone.plans.wording import in_words

MOST_FEATURES = 100
STEPS = 40  # a value to be added up has about so many bits
WHOLE = 2**52  # whole numbers below it are added up as they are


@stored_as("UnitCount")
class UnitCount:
    """How many rows the unit has."""


@stored_as("UnitTotal")
class UnitTotal(StructuralEquality):
    """The total of the values of the unit's rows, each clamped to [lower, upper]."""

    of: Expression
    lower: Fraction | None = None
    upper: Fraction | None = None


@stored_as("UnitMean")
class UnitMean(StructuralEquality):
    """The mean of the values of the unit's rows, each clamped to [lower, upper]."""

    of: Expression
    lower: Fraction | None = None
    upper: Fraction | None = None


@stored_as("UnitExtreme")
class UnitExtreme(StructuralEquality):
    """The largest or the smallest value among the unit's rows."""

    of: Expression
    largest: bool


@stored_as("UnitCondition")
class UnitCondition(StructuralEquality):
    """Whether a condition is true in some row of the unit, or in every one."""

    of: Expression
    every: bool


@stored_as("UnitValue")
class UnitValue(StructuralEquality):
    """The value in the row with the largest `by`, or the smallest; of several, the smallest value.

    A row whose `by` is missing comes after all others, and a missing value after all others
    with the same `by`.
    """

    of: Expression
    by: Expression
    last: bool


Feature = UnitCount | UnitTotal | UnitMean | UnitExtreme | UnitCondition | UnitValue


@stored_as("PerUnit")
class PerUnit(StructuralEquality):
    """What is done to rows before there is one for each unit, and what that one holds."""

    features: tuple[tuple[str, Feature], ...]
    where: Expression | None = None
    derived: tuple[tuple[str, Expression], ...] = ()
    joins: tuple[Join, ...] = ()


@dataclass(frozen=True, slots=True)
class StepGrid:
    """The values that are added up: whole numbers from low to high, times 2^-shift."""

    low: int
    high: int
    shift: int
    kind: Type  # of the total


def rows_schema(schema: Schema, per_unit: PerUnit | None) -> Schema:
    """The columns of the rows that a question is about: the table's, or the features."""
    if per_unit is None:
        return schema
    before = columns_before(schema, per_unit)
    columns = [_column(name, feature, before) for name, feature in per_unit.features]
    return Schema(schema.name, tuple(columns), neighbours=schema.neighbours)


def always_there(schema: Schema, per_unit: PerUnit | None) -> frozenset[str]:
    """The features that no unit misses."""
    if per_unit is None:
        return frozenset()
    before = columns_before(schema, per_unit)
    return frozenset(name for name, feature in per_unit.features if _is_there(feature, before))


def columns_before(schema: Schema, per_unit: PerUnit) -> ColumnTypes:
    """The columns that features can be made of."""
    return columns_of(schema, joins=per_unit.joins, derived=per_unit.derived, where=per_unit.where)


def resolve_features(per_unit: PerUnit, schema: Schema) -> PerUnit:
    """The same with dates read and bounds filled in."""
    derived = read_derived(per_unit.derived, schema, per_unit.joins)
    columns = columns_of(schema, joins=per_unit.joins, derived=derived)
    where = None if per_unit.where is None else read_dates(per_unit.where, columns)
    features = tuple(
        (name, _resolve_feature(feature, columns)) for name, feature in per_unit.features
    )
    return PerUnit(features, where, derived, per_unit.joins)


def check_has_unit(schema: Schema) -> None:
    """Refuses features of rows that are units of their own."""
    if schema.unit is None:
        raise ParameterError(
            "The unit is the row, so each row is a unit already: leave .per_unit(…) out, or name"
            " the column that identifies a person: unit='patient_id'."
        )


def check_features(per_unit: PerUnit, schema: Schema) -> None:
    """Refuses features that these columns cannot have, whoever made them."""
    check_has_unit(schema)
    if not 1 <= len(per_unit.features) <= MOST_FEATURES:
        raise ParameterError(
            f".per_unit(…) got {len(per_unit.features)} features, but needs from 1 to"
            f" {MOST_FEATURES}: .per_unit(visits=la.per_unit.count())."
        )
    check_names([name for name, _ in per_unit.features], "features of a unit")
    columns = columns_before(schema, per_unit)
    for name, feature in per_unit.features:
        check_name("feature", name)
        if not isinstance(feature, Feature):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refusal(f"feature {name!r}", feature, 'one such as la.per_unit.sum("cost")')
        _check(feature, columns)


def made_of(feature: Feature) -> Sequence[Expression]:
    """The expressions that a feature is made of."""
    match feature:
        case UnitCount():
            return ()
        case UnitValue(of, by):
            return (of, by)
        case _:
            return (feature.of,)


def steps_of(feature: UnitTotal | UnitMean, kind: Type) -> StepGrid:
    """The steps for values of this type; whole numbers are kept as they are, unless huge.

    The ends are rounded inwards, so that totals and means keep to the bounds.
    """
    lower, upper = cast("Fraction", feature.lower), cast("Fraction", feature.upper)
    largest = max(abs(lower), abs(upper))
    is_whole = kind is Type.INTEGER and largest < WHOLE
    shift = 0 if is_whole else STEPS - _bits(largest)
    unit = Fraction(2) ** shift
    low, high = ceil(lower * unit), floor(upper * unit)
    if low > high:
        raise ParameterError(
            f"There is no whole number between the bounds of '{in_words(feature.of)}', which is"
            " integer. Give wider bounds."
        )
    return StepGrid(low, high, shift, Type.INTEGER if is_whole else Type.NUMBER)


def _bits(number: Fraction) -> int:
    """The least number of bits with number <= 2^bits, or one more."""
    return number.numerator.bit_length() - number.denominator.bit_length() + 1


def _resolve_feature(feature: Feature, columns: ColumnTypes) -> Feature:
    match feature:
        case UnitTotal(of) | UnitMean(of):
            of = as_number(read_dates(of, columns), columns)
            check_numeric(of, columns, done="adding up")
            lower, upper = resolve_bounds(of, columns, lower=feature.lower, upper=feature.upper)
            return replace(feature, of=of, lower=lower, upper=upper)
        case UnitExtreme(of) | UnitCondition(of):
            return replace(feature, of=read_dates(of, columns))
        case UnitValue(of, by):
            return replace(feature, of=read_dates(of, columns), by=read_dates(by, columns))
        case _:
            return feature


def _check(feature: Feature, columns: ColumnTypes) -> None:
    match feature:
        case UnitCount():
            return
        case UnitTotal(of, lower, upper) | UnitMean(of, lower, upper):
            kind = check_numeric(of, columns, done="adding up").type
            if lower is None or upper is None:
                resolve_bounds(of, columns, lower=lower, upper=upper)
                raise ParameterError(f"The bounds of '{in_words(of)}' are not filled in.")
            check_range(lower, upper, words=in_words(of))
            steps_of(feature, kind)
        case UnitExtreme(of, largest):
            read_flag("largest", largest)
            _check_ordered(of, columns)
        case UnitCondition(of, every):
            read_flag("every", every)
            _check_condition(of, columns)
        case UnitValue(of, by, last):
            read_flag("last", last)
            _check_ordered(by, columns)
            if columns.type_of(of).type is Type.OTHER:
                raise UnsupportedQuery(
                    f"'{in_words(of)}' is a column whose type letalone does not know. Cast it to"
                    " text, a number or a date in the table."
                )


def _check_ordered(of: Expression, columns: ColumnTypes) -> None:
    kind = columns.type_of(of).type
    if not kind.is_numeric and kind not in ORDERED:
        hint = " Use la.per_unit.any or all." if kind is Type.BOOLEAN else ""
        raise UnsupportedQuery(
            f"'{in_words(of)}' is {kind.value}, which has no order that is the same everywhere."
            f" Numbers, dates and times can be ordered.{hint}"
        )


def _check_condition(of: Expression, columns: ColumnTypes) -> None:
    kind = columns.type_of(of).type
    if kind is not Type.BOOLEAN:
        raise ParameterError(
            f"'{in_words(of)}' is {kind.value}, but must be a condition, such as"
            ' la.per_unit.any(la.col("ward") == "ICU").'
        )


def _is_there(feature: Feature, before: ColumnTypes) -> bool:
    """Whether every unit has the feature: each has a row, and in it what the feature is of."""
    if isinstance(feature, UnitCount | UnitCondition):
        return True
    return not before.type_of(feature.of).nullable


def _column(name: str, feature: Feature, before: ColumnTypes) -> Column:
    """What is public about a feature, because of what is public about the rows."""
    match feature:
        case UnitCount():
            return Column(name, Type.INTEGER, Fraction(1))
        case UnitCondition():
            return Column(name, Type.BOOLEAN)
        case UnitMean(_, lower, upper):
            return Column(name, Type.NUMBER, lower, upper)
        case UnitTotal():
            return _total(name, feature, before)
        case UnitExtreme(of) | UnitValue(of):
            return _one_of_them(name, of, before)


def _total(name: str, feature: UnitTotal, before: ColumnTypes) -> Column:
    """One row at least is added up, and nobody knows how many: only one side is known."""
    steps = steps_of(feature, before.type_of(feature.of).type)
    is_whole = steps.kind is Type.INTEGER
    lower, upper = cast("tuple[Fraction, Fraction]", (feature.lower, feature.upper))
    if is_whole:
        lower, upper = Fraction(steps.low), Fraction(steps.high)
    return Column(name, steps.kind, lower if lower >= 0 else None, upper if upper <= 0 else None)


def _one_of_them(name: str, of: Expression, before: ColumnTypes) -> Column:
    """A value of some row: within the same bounds, and one of the same keys."""
    kind = before.type_of(of).type
    if isinstance(of, ColumnRef) and of.name in before.declared:
        return replace(before.declared[of.name], name=name)
    lower, upper = _ends(of, before) if kind.is_numeric else (None, None)
    return Column(name, kind, lower, upper, _keys(of, before, kind))


def _ends(of: Expression, before: ColumnTypes) -> tuple[Fraction | None, Fraction | None]:
    """The interval of an expression; none where it is a point or too large to be a bound."""
    typed = before.type_of(of)
    largest = WHOLE if typed.type is Type.INTEGER else LARGEST_BOUND
    if typed.lower >= typed.upper:
        return None, None
    ends = [
        as_bound("bound", end) if abs(end) < largest else None for end in (typed.lower, typed.upper)
    ]
    return ends[0], ends[1]


def _keys(of: Expression, before: ColumnTypes, kind: Type) -> tuple[Key, ...] | None:
    if kind is Type.BOOLEAN or not kind.is_groupable:
        return None
    return closed_domain(of, before) or None
