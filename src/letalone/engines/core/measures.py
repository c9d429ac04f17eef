"""Defines what a plan asks of an engine: which rows, and exact whole numbers about them.

A `RowScope` says how much each row counts; a measure is a sum over them. Every engine gives
the same integers, one for each key in the listed order (a single one without groups), and
0 where nothing is. They are exact and private: only the noise makes them an answer.

GridSum:  i = clamp(floor(x · 2^shift), low, high); the sum of (i − low) for power 1 and
of (i − middle)² for power 2, middle = (low + high) // 2. A missing x adds nothing.
ProductSum: the sum of the products of (i − middle)^power over columns on grids, over the rows in
which none of the columns is missing; all powers 0: how many such rows there are.
DistinctValues: how many different x there are; a missing x is none.
Cells:    how many x fall into [lower + j·step, lower + (j + 1)·step), j = 0 … count − 1;
what lies below is counted in the first cell, what lies above in the last.
Edges are rounded to the nearest double, so 0.29 lies in the cell that starts at 0.29.
ValueCounts: how many x are equal to each of the listed values, which differ; a missing x is none.

Bounding, where the unit is a column: rows whose unit is missing are dropped, and every number is
counted in parts of 1/S of a row, S = 2^weight_bits. A row weighs S, or less where its unit has more
rows than may count; n and g are counted after joins and filter:

max_rows = k alone: S·min(1, k/n), rounded down, for a unit with n rows.
max_groups = G: of listed groups only. A pair of a unit and a group weighs v = S·min(1, G/g) for a
unit in g groups (norm 1), or S·min(1, √(G/g)) (norm 2), rounded down; a row of a pair with n rows
v·min(1, k/n). clip: a pair is one row, whose i is the sum of theirs, clamped to low … high; it
weighs v, and cells and counts of values are refused.
DistinctUnits: pairs, G = max_groups or else max_rows. Without groups: S for each unit.
DistinctValues: S for each different value that is left by a cut, the first of a unit by a digest:
k of its pairs of a group and a value, or k values in each of G groups. Engines spell doubles and
times in ways of their own, so of these a cut may keep others on another engine.

per_unit: the rows are units, one each, and where, derived, joins, groups and measures are about
their features; nothing is bounded then.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Literal

from letalone.errors import ParameterError
from letalone.plans.aggregates.features import PerUnit
from letalone.plans.constants import Value
from letalone.plans.expressions import Expression
from letalone.plans.plan import Bounding, GroupColumn, Join, Plan
from letalone.plans.schema import Schema
from letalone.plans.types import Key

WEIGHT_BITS = 20


@dataclass(frozen=True, slots=True)
class RowScope:
    """The part of a plan that says which rows count, in which groups, and how bounded."""

    schema: Schema
    where: Expression | None
    derived: tuple[tuple[str, Expression], ...]
    joins: tuple[Join, ...]
    groups: tuple[GroupColumn, ...]
    keys: tuple[tuple[Key, ...], ...] | None
    bounding: Bounding
    per_unit: PerUnit | None = None
    weight_bits: int = WEIGHT_BITS
    norm: Literal[1, 2] = 1

    @property
    def lattice(self) -> int:
        """What a whole row counts in measures."""
        weighed = self.schema.unit is not None and self.per_unit is None
        return 1 << self.weight_bits if weighed else 1

    @property
    def most_groups(self) -> int | None:
        """How many groups of a unit count whole; None: all."""
        bounding = self.bounding
        return bounding.max_rows if bounding.max_groups is None else bounding.max_groups

    @property
    def most_key_groups(self) -> int | None:
        """In how many groups a unit counts while keys are found; None: all."""
        few = self.bounding.key_groups
        return self.most_groups if few is None else few


def scope_of(plan: Plan) -> RowScope:
    """The scope of a plan."""
    rows = (plan.schema, plan.where, plan.derived, plan.joins)
    return RowScope(*rows, plan.groups, plan.keys, plan.bounding, plan.per_unit)


@dataclass(frozen=True, slots=True)
class Rows:
    """How many rows."""


@dataclass(frozen=True, slots=True)
class RowsWith:
    """How many rows in which the expression is not missing."""

    of: Expression


@dataclass(frozen=True, slots=True)
class DistinctUnits:
    """How many different units."""


@dataclass(frozen=True, slots=True)
class GridSum:
    """The sum of values on a grid, or of their squares about its middle."""

    of: Expression
    low: int
    high: int
    shift: int
    power: Literal[1, 2] = 1


LARGEST_PRODUCT = 2**86
"""2^40 rows of such products stay below 2^126, and sums have 128 bits; so do 2^36 rows of products
of at most 2^70 with weights of 2^20."""


@dataclass(frozen=True, slots=True)
class ProductSum:
    """The sum of products of places about the middles of their grids."""

    places: tuple[GridSum, ...]
    powers: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.largest > LARGEST_PRODUCT:
            raise ParameterError("These products are too large to be added up. Take coarser grids.")

    @property
    def largest(self) -> int:
        """The largest product of one row, without its sign."""
        each = zip(self.places, self.powers, strict=True)
        return prod(((grid.high - grid.low + 1) // 2) ** power for grid, power in each)

    @property
    def ends(self) -> tuple[int, int]:
        """Between which numbers the product of a row lies: a square is not negative."""
        signed = any(power % 2 for power in self.powers)
        return -self.largest if signed else 0, self.largest


@dataclass(frozen=True, slots=True)
class DistinctValues:
    """How many different values there are."""

    of: Expression


@dataclass(frozen=True, slots=True)
class CellCounts:
    """A histogram of values over equal cells."""

    of: Expression
    lower: Fraction
    step: Fraction
    count: int


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """How often each of some listed values is there."""

    of: Expression
    values: tuple[Value, ...]

    @property
    def count(self) -> int:
        """How many numbers it is for each key."""
        return len(self.values)


Listed = CellCounts | ValueCounts  # several numbers for each key
Measure = Rows | RowsWith | DistinctUnits | GridSum | ProductSum | DistinctValues | Listed
Exact = list[int] | list[list[int]]


def looked_at(measure: Measure) -> tuple[Expression, ...]:
    """What a measure looks at in each row."""
    match measure:
        case Rows() | DistinctUnits():
            return ()
        case ProductSum(places):
            return tuple(grid.of for grid in places)
        case _:
            return (measure.of,)
