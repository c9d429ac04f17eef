"""Mondrian: a table is cut in two, and each part again, as long as both halves keep the promise.

All parts of a round are cut at once, on arrays, so that a million rows take seconds. A part is cut
along its widest column, at the place nearest to its middle among the coarsest steps of that
column's hierarchy; where that would break the promise, along the next widest.

Where no cut is possible because a few rows lie apart, these may be left out ("suppressed"), up
to an allowance.

With units, k and t count people, as `people` says; where to cut and what is left out go by rows.

Theorem.  If the whole table keeps the promise, every part does: at least k people, at least l
values of each sensitive column, a total variation of at most t from the whole table.
  Proven:   a cut is made only if both halves keep it, rows are left out only if the rest keeps
            it; the table that is compared with is the one given, before any row is left out
  Tested:   tests/anonymity/test_anonymize.py

LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity (2006).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from letalone.anonymity import diversity
from letalone.anonymity.diversity import people_by_value, people_in, people_with
from letalone.anonymity.hierarchies import Ladder
from letalone.anonymity.value_cells import Whole

Flags = NDArray[np.bool_]
NEVER = np.iinfo(np.int64).max
# Rows are left out only where they are at most one in so many of their part.
MAX_ONE_IN_LEFT_OUT = 10
OUT = -1


@dataclass(frozen=True, slots=True)
class Promise:
    """What every part must keep."""

    k: int
    l: int | None = None  # noqa: E741  (the name that the literature gives it)
    t: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MondrianTable:
    """Cells as they are cut: codes by column and cell, rows, sensitive codes, whole counts.

    `unit` is the person of each cell; None where a row is a person.
    """

    ladders: tuple[Ladder, ...]
    codes: Whole
    rows: Whole
    sensitive: tuple[Whole, ...]
    in_table: tuple[Whole, ...]
    unit: Whole | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A try to cut parts in two: cells in order, the side of each, and what holds of the parts."""

    cells: Whole
    right: Flags
    part: Whole
    small: Whole  # the rows of the smaller side of each part
    small_is_right: Flags
    holds: Flags
    may_trim: Flags


def table_of(
    ladders: tuple[Ladder, ...],
    rows: Whole,
    sensitive: tuple[Whole, ...],
    unit: Whole | None = None,
) -> MondrianTable:
    """What is cut."""
    codes = np.stack([ladder.column.codes for ladder in ladders])
    in_table = tuple(people_with(column, rows, unit) for column in sensitive)
    return MondrianTable(ladders, codes, rows, sensitive, in_table, unit)


def partition(table: MondrianTable, promise: Promise, *, allowance: int = 0) -> Whole:
    """The part of each cell; -1 where its rows are left out, at most `allowance` rows in all."""
    part = np.zeros(len(table.rows), np.int64)
    active, parts = np.arange(len(table.rows)), 1
    while len(active):
        active = active[np.argsort(part[active], kind="stable")]
        before = parts
        parts, spent, going_on = _round(
            table, promise, part, active, parts=before, allowance=allowance
        )
        allowance -= spent
        active = active[going_on]
    return part


def _round(
    table: MondrianTable, promise: Promise, part: Whole, cells: Whole, *, parts: int, allowance: int
) -> tuple[int, int, Flags]:
    """Cuts each part of these cells once; returns the parts, the rows left out, what goes on."""
    starts = np.flatnonzero(np.diff(part[cells], prepend=OUT - 1))
    local = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(cells)))
    ranked, splittable = _rank_columns(table, cells, starts)
    pending = np.ones(len(starts), np.bool_)
    trims: list[Cut] = []
    for rank in range(len(table.ladders)):
        column = ranked[:, rank]
        pending_now = pending & splittable[np.arange(len(starts)), column]
        chosen = pending_now[local]
        if not chosen.any():
            continue
        cut = _cut(table, promise, cells[chosen], local[chosen], column)
        done = cut.holds[cut.part] & cut.right
        numbers = np.cumsum(cut.holds) - 1 + parts
        part[cut.cells[done]] = numbers[cut.part[done]]
        parts += int(cut.holds.sum())
        pending &= ~cut.holds
        trims.append(cut)
    spent, trimmed = _trim(part, trims, pending, allowance)
    return parts, spent, (~pending | trimmed)[local] & (part[cells] != OUT)


def _rank_columns(table: MondrianTable, cells: Whole, starts: Whole) -> tuple[Whole, Flags]:
    """The columns of each part from wide to narrow, and which of them have two values."""
    widths = np.empty((len(starts), len(table.ladders)))
    splittable = np.empty(widths.shape, np.bool_)
    for number, ladder in enumerate(table.ladders):
        codes = table.codes[number, cells]
        low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
        widths[:, number] = ladder.places[high] - ladder.places[low]
        splittable[:, number] = low < high
    widths[~splittable] = -1
    return np.argsort(-widths, axis=1, kind="stable"), splittable


def _cut(table: MondrianTable, promise: Promise, cells: Whole, local: Whole, column: Whole) -> Cut:
    """Each part in two along its column, as near to the middle as its hierarchy allows."""
    dimension = column[local]
    code = table.codes[dimension, cells]
    order = np.argsort(local * (int(code.max()) + 1) + code, kind="stable")
    cells, local, code, dimension = cells[order], local[order], code[order], dimension[order]
    starts = np.flatnonzero(np.diff(local, prepend=-1))
    inner = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(cells)))
    rows = table.rows[cells]
    upto = np.cumsum(rows)
    total = np.add.reduceat(rows, starts)
    below = upto - (upto[starts] - rows[starts])[inner]
    allowed = _allowed_cuts(table, code, dimension, inner, starts)
    score = np.where(allowed, np.abs(2 * below - total[inner]), NEVER)
    best = np.minimum.reduceat(score, starts)
    place = np.arange(len(cells))
    at = np.minimum.reduceat(np.where(score == best[inner], place, NEVER), starts)
    right, taken = place > at[inner], below[at]
    small = np.minimum(taken, total - taken)
    side, sides = 2 * inner + right, 2 * len(starts)
    fits = _fits(table, promise, cells, side, sides)
    unit = None if table.unit is None else table.unit[cells]
    enough = people_in(side, rows, unit, groups=sides) >= promise.k
    small_is_right = taken * 2 > total
    rest = np.where(small_is_right, (fits & enough)[::2], (fits & enough)[1::2])
    too_few = np.where(small_is_right, ~enough[1::2], ~enough[::2])
    leaves_few = too_few & (small * MAX_ONE_IN_LEFT_OUT <= total)
    holds = (fits & enough)[::2] & (fits & enough)[1::2]
    made = (small, small_is_right, holds, leaves_few & rest)
    counts, *flags = (_by_part(part, local[starts], len(column)) for part in made)
    return Cut(cells, right, local, counts, *(flag.astype(np.bool_) for flag in flags))


def _by_part(values: Whole | Flags, parts: Whole, number: int) -> Whole:
    """Values of some parts among all of them; zero for the others."""
    values_of_all = np.zeros(number, np.int64)
    values_of_all[parts] = values
    return values_of_all


def _allowed_cuts(
    table: MondrianTable, code: Whole, dimension: Whole, inner: Whole, starts: Whole
) -> Flags:
    """After which cells a part may be cut: where its coarsest steps change."""
    changes = np.append((code[1:] != code[:-1]) & (inner[1:] == inner[:-1]), False)
    depth = np.full(len(code), NEVER)
    places = np.flatnonzero(changes)
    for number, ladder in enumerate(table.ladders):
        here = places[dimension[places] == number]
        alike = np.zeros(len(here), np.int64)
        for steps in ladder.steps:  # on each level in turn, as steps lie within steps
            alike += steps[code[here]] == steps[code[here + 1]]
        depth[here] = alike
    return changes & (depth == np.minimum.reduceat(depth, starts)[inner])


def _fits(table: MondrianTable, promise: Promise, cells: Whole, side: Whole, sides: int) -> Flags:
    fits = np.ones(sides, np.bool_)
    if promise.l is None and promise.t is None:
        return fits
    unit = None if table.unit is None else table.unit[cells]
    for values, in_table in zip(table.sensitive, table.in_table, strict=True):
        by_value = people_by_value(side, values[cells], table.rows[cells], unit=unit)
        if promise.l is not None:
            fits &= diversity.distinct(by_value) >= promise.l
        if promise.t is not None:
            fits &= diversity.closeness(by_value, in_table) <= promise.t
    return fits


def _trim(part: Whole, cuts: list[Cut], pending: Flags, allowance: int) -> tuple[int, Flags]:
    """Leaves out few rows of parts that cannot be cut, the fewest first; how many, and where."""
    trimmed, spent = np.zeros(len(pending), np.bool_), 0
    for cut in cuts:
        wanted = np.flatnonzero(cut.may_trim & pending & ~trimmed)
        wanted = wanted[np.argsort(cut.small[wanted], kind="stable")]
        chosen = wanted[np.cumsum(cut.small[wanted]) <= allowance - spent]
        spent += int(cut.small[chosen].sum())
        now = np.zeros(len(pending), np.bool_)
        now[chosen] = True
        gone = now[cut.part] & (cut.right == cut.small_is_right[cut.part])
        part[cut.cells[gone]] = OUT
        trimmed |= now
    return spent, trimmed
