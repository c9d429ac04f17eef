"""Which parts answer a plan: aggregates that can share noise share it.

Sums, means, variances and deviations of the same column within the same bounds share corners
(`moments.Corners`). A count of rows is read off corners, too, where there are any: off all that no
row is missing from, weighted by precision; or else off one, with a corner for missing values. A
sum alone, with no count beside it, has noise for itself. Everything else is a part of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast
from typing import Literal as OneOfThese

from letalone.engines.core.measures import (
    WEIGHT_BITS,
    CellCounts,
    DistinctUnits,
    DistinctValues,
    RowsWith,
)
from letalone.plans.aggregates import of_columns as ask
from letalone.plans.aggregates.formulas import Aggregate, with_formula_parts
from letalone.plans.aggregates.of_columns import Deviation, Sum, Variance
from letalone.plans.aggregates.of_pairs import Regression
from letalone.plans.expressions import Expression
from letalone.plans.plan import Plan
from letalone.plans.types import Type
from letalone.plans.typing import ColumnTypes
from letalone.tables.grid import CellScale, grid_for
from letalone.tables.parts.candidates import BoundsPart, TopPart
from letalone.tables.parts.moments import Corners, Moment, MomentsPart
from letalone.tables.parts.pair_parts import is_pair, pair_parts
from letalone.tables.parts.part import AnyPart
from letalone.tables.parts.quantiles import RankPart, TreePart
from letalone.tables.parts.regression import regression_part
from letalone.tables.parts.vectors import CountPart, SharedCount, TotalPart
from letalone.tables.sensitivity import Contribution, contribution, refuse_clip

Group = tuple[tuple[str, Moment], ...]
Named = list[tuple[str, Aggregate]]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of an answer, and the count that is read off some of them."""

    parts: tuple[AnyPart, ...]
    shared: SharedCount | None = None


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """What is public about a plan."""

    columns: ColumnTypes
    unit: Contribution
    bits: int

    def is_missing(self, group: Group) -> bool:
        """Whether the column of a group may be missing in some row."""
        return self.columns.type_of(group[0][1].of).nullable

    def is_whole(self, of: Expression) -> bool:
        return self.columns.type_of(of).type is Type.INTEGER


def parts_of(plan: Plan, *, bits: int, weight_bits: int = WEIGHT_BITS) -> Parts:
    """The parts of a plan, on grids of about 2^bits steps."""
    facts = PlanFacts(plan.columns, contribution(plan, weight_bits=weight_bits), bits)
    named = with_formula_parts(plan.aggregates)
    counts = tuple(name for name, aggregate in named if isinstance(aggregate, ask.Count))
    moments = _moments_with_count(facts, named, counts)
    pairs = pair_parts(named, facts.unit, facts.bits, facts.is_whole)
    rest = (
        PARTS[type(aggregate)](facts, names, aggregate)
        for names, aggregate in _once_each(named)
        if type(aggregate) in PARTS and not is_pair(aggregate)
    )
    return Parts((*moments.parts, *pairs, *rest), moments.shared)


def _once_each(asked: Named) -> list[tuple[tuple[str, ...], Aggregate]]:
    """What is asked for under several names, by a formula, say, is answered once."""
    by_question: dict[str, tuple[tuple[str, ...], Aggregate]] = {}
    for name, aggregate in asked:
        names, _ = by_question.get(repr(aggregate), ((), aggregate))
        by_question[repr(aggregate)] = ((*names, name), aggregate)
    return list(by_question.values())


def _moments_with_count(facts: PlanFacts, asked: Named, counts: tuple[str, ...]) -> Parts:
    groups = _groups(asked)
    readers = _readers(facts, groups) if counts else []
    parts = [_moments(facts, group, counted=place in readers) for place, group in enumerate(groups)]
    if counts and not readers:
        return Parts((*parts, CountPart(counts, facts.unit)))
    forms = [(place, cast("MomentsPart", parts[place]).corners.all_rows) for place in readers]
    is_whole = facts.unit.lattice == 1
    return Parts(tuple(parts), SharedCount(counts, tuple(forms), is_whole) if forms else None)


def _groups(asked: Named) -> list[Group]:
    """Aggregates of the same column within the same bounds, together."""
    groups: dict[str, list[tuple[str, Moment]]] = {}
    for name, aggregate in asked:
        if isinstance(aggregate, Moment):
            about = repr((aggregate.of, aggregate.lower, aggregate.upper))
            groups.setdefault(about, []).append((name, aggregate))
    return [tuple(group) for group in groups.values()]


def _readers(facts: PlanFacts, groups: list[Group]) -> list[int]:
    """The places of the groups whose corners give the number of rows."""
    places = list(range(len(groups)))
    present = [place for place in places if not facts.is_missing(groups[place])]
    with_corners = [place for place in present if not _is_sum(groups[place])]
    some = [place for place in places if not _is_sum(groups[place])]
    return with_corners or present[:1] or some[:1] or places[:1]


def _is_sum(group: Group) -> bool:
    return all(isinstance(aggregate, Sum) for _, aggregate in group)


def _moments(facts: PlanFacts, group: Group, *, counted: bool) -> AnyPart:
    first, names = group[0][1], tuple(name for name, _ in group)
    is_whole = facts.is_whole(first.of)
    if _is_sum(group) and not counted:
        grid = grid_for(first.lower, first.upper, facts.bits, whole=is_whole, largest=facts.bits)
        return TotalPart(names, facts.unit, first.of, grid)
    squares = any(isinstance(aggregate, Variance | Deviation) for _, aggregate in group)
    if squares:
        refuse_clip(facts.unit)
    degree: OneOfThese[1, 2] = 2 if squares else 1
    grid = grid_for(first.lower, first.upper, facts.bits, whole=is_whole)
    missing = counted and facts.is_missing(group)
    corners = Corners(first.of, grid, degree, missing=missing, lattice=facts.unit.lattice)
    return MomentsPart(names, facts.unit, group, corners, counted, first.lower, first.upper)


def _scale(facts: PlanFacts, asked: ask.Quantiles | ask.Extreme) -> CellScale:
    is_whole = facts.is_whole(asked.of) and asked.lower.denominator == asked.step.denominator == 1
    return CellScale(asked.of, asked.lower, asked.upper, asked.step, is_whole)


def _histogram(facts: PlanFacts, names: tuple[str, ...], asked: ask.Histogram) -> AnyPart:
    first, step = asked.edges[0], asked.step
    ends = tuple(int((edge - first) / step) for edge in asked.edges[1:])
    return CountPart(names, facts.unit, CellCounts(asked.of, first, step, asked.cells), ends)


def _quantiles(facts: PlanFacts, names: tuple[str, ...], asked: ask.Quantiles) -> AnyPart:
    scale, shares = _scale(facts, asked), asked.at
    if len(shares) == 1:
        return RankPart(names, facts.unit, scale, shares[0])
    return TreePart(names, facts.unit, scale, shares)


def _extreme(facts: PlanFacts, names: tuple[str, ...], asked: ask.Extreme) -> AnyPart:
    share = Fraction(int(asked.largest))
    return RankPart(names, facts.unit, _scale(facts, asked), share, extreme=True)


# What answers an aggregate that shares its noise with no other; counts of rows and moments of
# one column are in `_moments_with_count`, those of two in `pair_parts.pair_parts`.
PARTS: dict[type, Callable[[PlanFacts, tuple[str, ...], Any], AnyPart]] = {
    ask.CountUnits: lambda facts, names, _: CountPart(names, facts.unit, DistinctUnits()),
    ask.CountPresent: lambda facts, names, asked: CountPart(names, facts.unit, RowsWith(asked.of)),
    ask.CountValues: lambda facts, names, asked: CountPart(
        names, facts.unit, DistinctValues(asked.of)
    ),
    ask.Quantiles: _quantiles,
    ask.Extreme: _extreme,
    ask.Histogram: _histogram,
    ask.MostFrequent: lambda facts, names, asked: TopPart(
        names, facts.unit, asked.of, asked.k, asked.candidates
    ),
    ask.PrivateBounds: lambda facts, names, asked: BoundsPart(
        names, facts.unit, asked.of, facts.is_whole(asked.of)
    ),
    Regression: lambda facts, names, asked: regression_part(
        names, facts.unit, asked, facts.bits, facts.is_whole
    ),
}
