"""How far one unit moves what an engine measures: the one place that says so.

A unit counts with at most `rows` rows in all, at most `per_group` of them in one group; a filter, a
missing value or the bounding may drop any of them, or parts of them: its rows have weights, and it
may be in any number of groups. `full` = rows / per_group is the number of groups that it can fill.
Measures are in parts of 1/`lattice` of a row. The vector meant is always that of all groups
together.

Theorem.  Let k = per_group, f = full, m the number of groups in the answer (where it is not
public beforehand: no bound on it), M = max(|a|, |b|) and R = max(b, 0) − min(a, 0).
  number a group, a row adding a value in [a, b] (counts, sums):
    add/remove  L1 f'kM           L2² f'(kM)²            with f' = min(f, m)
    replace     L1 okR + 2(f'−o)kM     L2² the larger of o(kR)² + 2(f'−o)(kM)² and f'(kR)²
                                                         with o = max(0, 2f' − m)
                where weights of groups are roots and values have both signs, t = min(|a|, |b|):
                L2² f'k²·(2M² + t²M²/(M² − t²)), or f'(kR)² where tM ≥ M² − t²; m(kR)² at most
  several numbers a group, a row adding at most w to them, none negative (cells, corners):
    add/remove  L1 fkw            L2² f(kw)²
    replace     L1 2fkw           L2² 2f(kw)²
  units: as rows, with one row in each of `groups` groups.  different values: as rows.
  Sums of squares and products are rounded down, each by less than 1 in every group of the answer.
  ranks: proofs, section 4.  Rounding sums down to a multiple of a number: section 3.
  Proven:   docs/explanation/proofs/tables.md, sections 1 to 4, and proofs/weights.md
  Tested:   by every neighbour of random small tables; reached there
  Assumed:  the engine bounds and clamps as `engines.core.measures` says
"""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace
from fractions import Fraction
from math import ceil, isqrt

from letalone.engines.core import measures
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.plans.plan import Plan
from letalone.privacy.neighbours import is_replace

MAX_FOUND_KEYS = 2**20  # of keys that are discovered, so many are answered


@dataclass(frozen=True, slots=True)
class Contribution:
    """How much of a table one unit can be; `rows` is None where rows are not bounded.

    lattice: what a row counts in measures. roots: whether weights of groups may be roots.
    key_groups: in how many groups a unit counts while keys are found; None: in `groups`.
    """

    rows: int | None
    per_group: int
    groups: int
    keys: int | None
    replace: bool
    clipped: bool = False
    lattice: int = 1
    roots: bool = False
    key_groups: int | None = None

    @property
    def found_in(self) -> int:
        """In how many groups a unit counts while keys are found."""
        return self.groups if self.key_groups is None else self.key_groups

    @property
    def most_rows(self) -> int:
        """The bound on rows, or a refusal that says how to set one."""
        if self.rows is None:
            raise ParameterError(
                "One unit may have any number of rows here, so nothing but count_distinct has a"
                " bound. Give max_rows=, the most rows of a unit that count, such as 10."
            )
        return self.rows

    @property
    def filled(self) -> int:
        """How many groups of the answer a unit can fill with rows: f'."""
        full = self.most_rows // self.per_group
        return full if self.keys is None else min(full, self.keys)

    @property
    def touched(self) -> int:
        """How many groups can differ between neighbours: with weights, all that are answered."""
        keys = MAX_FOUND_KEYS if self.keys is None else self.keys
        return keys if self.lattice > 1 else min(self.groups * (2 if self.replace else 1), keys)


@dataclass(frozen=True, slots=True)
class Moved:
    """The most that neighbours differ by: in L1, and in L2 squared; whole numbers."""

    l1: int
    l2_squared: int

    def times(self, factor: int) -> "Moved":
        return Moved(self.l1 * factor, self.l2_squared * factor**2)


def contribution(plan: Plan, *, weight_bits: int = measures.WEIGHT_BITS) -> Contribution:
    """How much one unit counts for in the answer to a plan."""
    replace = is_replace(plan.schema.neighbours)
    keys = _keys(plan)
    bounding = plan.bounding
    if plan.schema.unit is None or plan.per_unit is not None:
        return Contribution(1, 1, 1, keys, replace)
    groups = _least(_most_groups(plan), keys)
    if groups is None:
        raise _refuse_unbounded("groups", "max_groups=, the most groups that one unit counts in")
    weighed = Contribution(
        None,
        1,
        groups,
        keys,
        replace,
        lattice=1 << weight_bits,
        key_groups=bounding.key_groups,
    )
    if bounding.clip:
        return dataclass_replace(weighed, rows=groups, clipped=True, roots=True)
    if bounding.max_rows is None:
        return weighed
    if bounding.max_groups is None or not plan.groups:
        return dataclass_replace(weighed, rows=bounding.max_rows, per_group=bounding.max_rows)
    rows = groups * bounding.max_rows
    return dataclass_replace(weighed, rows=rows, per_group=bounding.max_rows, roots=True)


def sensitivity_of(
    measure: measures.Measure, unit: Contribution, lattice: int | None = None
) -> Moved:
    """How far one unit moves a measure, over all groups; in parts of 1/lattice, its own."""
    return _row_sensitivity(measure, unit).times(unit.lattice if lattice is None else lattice)


def _row_sensitivity(measure: measures.Measure, unit: Contribution) -> Moved:
    match measure:
        case measures.Rows() | measures.RowsWith():
            return number_moves(0, 1, unit)
        case measures.DistinctValues():
            refuse_clip(unit)
            return number_moves(0, 1, unit)
        case measures.ProductSum():
            refuse_clip(unit)
            return number_moves(*measure.ends, unit)
        case measures.DistinctUnits():
            each = Contribution(unit.groups, 1, unit.groups, unit.keys, unit.replace)
            return number_moves(0, 1, each)
        case measures.GridSum(low=low, high=high, power=1):
            return number_moves(0, high - low, unit)
        case measures.GridSum(low=low, high=high):
            middle = (low + high) // 2
            return number_moves(0, max((low - middle) ** 2, (high - middle) ** 2), unit)
        case measures.CellCounts() | measures.ValueCounts():
            refuse_clip(unit)
            return shares_move(1, unit)


def number_moves(low: int, high: int, unit: Contribution) -> Moved:
    """One number for each group, to which a row adds a value from `low` to `high`."""
    k, reach = unit.per_group, max(abs(low), abs(high)) * unit.per_group
    span = (max(high, 0) - min(low, 0)) * k
    full = unit.filled
    if not unit.replace:
        return Moved(full * reach, full * reach**2)
    both = max(0, 2 * full - unit.keys) if unit.keys is not None else 0
    apart = 2 * (full - both)
    squares = max(both * span**2 + apart * reach**2, full * span**2)
    if unit.roots and low < 0 < high:
        squares = _opposite_squares(min(-low, high) * k, reach, unit)
    return Moved(both * span + apart * reach, squares)


def _opposite_squares(less: int, reach: int, unit: Contribution) -> int:
    """The squares of two contributions' differences, whose groups have roots for weights."""
    span, rest = less + reach, reach**2 - less**2
    largest = span**2 if less * reach >= rest else 2 * reach**2 + -(-((less * reach) ** 2) // rest)
    every = unit.filled * largest
    return every if unit.keys is None else min(every, unit.keys * span**2)


def shares_move(weight: int, unit: Contribution) -> Moved:
    """Several numbers for each group, to which a row adds at most `weight`, none negative."""
    times = 2 if unit.replace else 1
    filled, each = times * unit.filled, unit.per_group * weight
    return Moved(filled * each, filled * each**2)


def rounded_shares_move(weight: Fraction, unit: Contribution, numbers: int) -> Moved:
    """The same for sums rounded down to whole numbers; `numbers` of them for each group."""
    single = shares_move(1, unit)
    scaled = Moved(ceil(single.l1 * weight), ceil(single.l2_squared * weight**2))
    return _after_rounding(scaled, unit, numbers)


def products_move(products: Sequence[measures.ProductSum], row: int, unit: Contribution) -> Moved:
    """Several numbers for each group, a row adding a product from −row or 0 to row, rounded down.

    Each is scaled so that its largest product counts `row`. At most what each moves, added up.
    """
    each = [number_moves(-row if product.ends[0] else 0, row, unit) for product in products]
    return _after_rounding(together(*each), unit, len(products))


def together(*each: Moved) -> Moved:
    """Several vectors beside each other: at most what each moves, added up."""
    return Moved(sum(moved.l1 for moved in each), sum(moved.l2_squared for moved in each))


def _after_rounding(moved: Moved, unit: Contribution, numbers: int) -> Moved:
    """The same after rounding down: each number of a group that differs strays by less than 1."""
    moving, squares = numbers * unit.touched, moved.l2_squared
    # The norm of a sum is at most the sum of the norms: (√s + √m)² = s + m + 2√(sm).
    return Moved(moved.l1 + moving, squares + moving + 2 * isqrt(squares * moving) + 2)


def rank_moves(share: Fraction, unit: Contribution) -> Fraction:
    """How far all groups' utilities of rank share·n + constant move, added up."""
    largest, rows = max(share, 1 - share), unit.most_rows
    refuse_clip(unit)
    if not unit.replace:
        return rows * largest
    return Fraction(rows) if unit.keys == 1 else 2 * rows * largest


def count_utility_moves(unit: Contribution) -> int:
    """How far all groups' counts of candidates move, the most of each group added up."""
    refuse_clip(unit)
    rows = unit.most_rows
    return 2 * rows if unit.replace and unit.keys != 1 else rows


def refuse_clip(unit: Contribution) -> None:
    """Refuses what a clipped total has no answer for."""
    if unit.clipped:
        raise UnsupportedQuery(
            "A clipped total is one number of a unit, not of a row, so it has no histogram, no"
            " quantile, no top_k, no variance, no different values and no products. Bound rows"
            " instead: max_rows= without clip."
        )


def _keys(plan: Plan) -> int | None:
    if not plan.groups:
        return 1
    return None if plan.keys is None else len(plan.keys)


def _most_groups(plan: Plan) -> int | None:
    if not plan.groups:
        return 1
    bounding = plan.bounding
    if bounding.max_groups is None and bounding.clip:
        raise _refuse_unbounded("groups", "max_groups= with clip=True")
    return bounding.max_groups if bounding.max_groups is not None else bounding.max_rows


def _refuse_unbounded(what: str, remedy: str) -> ParameterError:
    return ParameterError(
        f"One unit may have rows in any number of {what}, so no noise would hide it. Give {remedy}."
    )


def _least(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return first if second is None else second
    return min(first, second)
