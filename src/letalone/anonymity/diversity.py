"""What a group gives away about a sensitive value: l-diversity and t-closeness.

For a group g with n_g rows, n_gs of them with value s, in a table of N rows, N_s with value s:

  distinct l     the number of values s with n_gs > 0
  entropy l      exp(-sum over s of (n_gs/n_g) ln(n_gs/n_g))
  recursive      with counts r_1 >= … >= r_m, the largest l with r_1 < c (r_l + … + r_m)
  t              the total variation: half the sum over s of |n_gs/n_g - N_s/N|
  t, ordered     the earth mover's distance, values in order and evenly spaced from 0 to 1

Of a table, l is the least over its groups and t the largest.

Theorem.  t_g = (sum over s in g of max(0, n_gs N - n_g N_s)) / (n_g N), and the ordered distance
is never above it.
  Proven:   both distributions sum to 1, so what one has more is what the other has more; values
            outside of g add nothing to the positive part. Mass that is moved goes at most 1 far.
  Tested:   tests/anonymity/test_measure.py against sums over all values, in fractions

Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-diversity (2007). Li, Li,
Venkatasubramanian: t-closeness (2007).

Counting people where a person has several rows: five rows of one person are one person.

Let group g be one combination of quasi-identifiers, and let every row belong to a person.

  n_g     the people with a row in g, each counted once; k is the least of them
  n_gs    the people with a row in g that has value s; l counts the s with n_gs > 0
  shares  n_gs / (sum over s of n_gs), for entropy l and for t; those of the table likewise, from
          N_s, the people who have value s anywhere

A person can be in several groups, and have several values in one. Where each person has one row,
all of this is what it is for rows. Rows without a person are taken to be of one person, so that k
is not too large.

A value is certain to anyone who finds the group of a person if the person is alone in it, or if
it is the only one that is left of the group's values once some that are wrong were ruled out.

  Tested:   tests/anonymity/test_people.py against sets in plain Python
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from letalone.anonymity import value_cells
from letalone.anonymity.value_cells import ValueCells, ValueHistogram, Whole, combine_codes

Real = NDArray[np.float64]
EXACT = 2**31  # up to so many rows a product of two counts fits into 63 bits
Unit = NDArray[np.int64] | None  # the person of each cell; None where a row is a person


def distinct(cells: ValueHistogram) -> Whole:
    """How many values each group has."""
    return np.bincount(cells.group)


def entropies(cells: ValueHistogram) -> Real:
    """exp of each group's entropy."""
    sizes = _sizes(cells)
    share = cells.count / sizes[cells.group]
    return np.exp(np.bincount(cells.group, weights=-share * np.log(share)))


def recursive(cells: ValueHistogram, c: Fraction) -> Whole:
    """The largest l of each group with r_1 < c (r_l + … + r_m); 0 where there is none."""
    order = np.lexsort((-cells.count, cells.group))
    counts, group = cells.count[order], cells.group[order]
    number = distinct(cells)
    starts = np.cumsum(number) - number
    before = np.cumsum(counts) - counts  # of all groups, so differences of it are taken
    tails = (before[starts] + _sizes(cells))[group] - before
    largest = counts[starts][group]
    fits = int(counts.sum()) * max(c.numerator, c.denominator) < 2**63
    kind = np.int64 if fits else object
    holds = largest.astype(kind) * c.denominator < tails.astype(kind) * c.numerator
    return np.bincount(group, weights=holds.astype(np.float64)).astype(np.int64)


def closeness(cells: ValueHistogram, whole: Whole) -> Real:
    """t of each group: its total variation from the whole table."""
    sizes, total = _sizes(cells), int(whole.sum())
    kind = np.int64 if total < EXACT else np.float64
    more = cells.count.astype(kind) * total - sizes[cells.group] * whole[cells.value].astype(kind)
    positive = np.maximum(more, 0)
    if kind is np.float64:
        return np.bincount(cells.group, weights=positive) / (sizes * float(total))
    starts = np.flatnonzero(np.diff(cells.group, prepend=-1))
    return np.add.reduceat(positive, starts) / (sizes * total)


def ordered_closeness(cells: ValueHistogram, whole: Whole) -> Real:
    """t of each group by the ordered earth mover's distance, the values in the order of codes.

    Up to value i the group has F_i of its n rows and the table C_i of its N. Where F stays the
    same, from one of the group's values to the next, the sum of |F N - C_i n| needs only where
    C n passes F N, and sums of C.
    """
    values = np.flatnonzero(whole)
    if len(values) < 2:
        return np.zeros(int(cells.group[-1]) + 1)
    total, sizes = int(whole.sum()), _sizes(cells)
    kind = np.int64 if len(values) * total**2 < 2**62 else np.float64
    upto = np.cumsum(whole[values])
    sums = np.concatenate([[0], np.cumsum(upto)]).astype(kind)
    place, within = np.searchsorted(values, cells.value), _within(cells)
    starts = np.concatenate([[True], cells.group[1:] != cells.group[:-1]])
    ends = np.append(place[1:], len(values))
    ends[np.append(starts[1:], True)] = len(values)
    size = sizes[cells.group]
    turn = np.clip(np.searchsorted(upto, -(-within * total // size)), place, ends)
    share, size = within.astype(kind) * total, size.astype(kind)
    moved = share * (2 * turn - place - ends) + size * (sums[place] + sums[ends] - 2 * sums[turn])
    moved += np.where(starts, size * sums[place], 0)  # below its first value the group has none
    summed = np.add.reduceat(moved, np.flatnonzero(starts))
    return summed / (sizes.astype(np.float64) * total * (len(values) - 1))


def _within(cells: ValueHistogram) -> Whole:
    """The rows of a cell's group up to this cell."""
    upto = np.cumsum(cells.count)
    starts = np.flatnonzero(np.diff(cells.group, prepend=-1))
    return upto - (upto[starts] - cells.count[starts])[cells.group]


def _sizes(cells: ValueHistogram) -> Whole:
    starts = np.flatnonzero(np.diff(cells.group, prepend=-1))
    return np.add.reduceat(cells.count, starts)


def people_in(group: Whole, rows: Whole, unit: Unit, *, groups: int) -> Whole:
    """How many people each group has, of `groups` numbered groups."""
    if unit is None:
        return np.bincount(group, weights=rows, minlength=groups).astype(np.int64)
    first = _first_of_each([group, unit])
    return np.bincount(group[first], minlength=groups)


def people_by_value(group: Whole, value: Whole, rows: Whole, *, unit: Unit) -> ValueHistogram:
    """The people of each value in each group."""
    if unit is None:
        return value_cells.histogram(group, value, rows)
    first = _first_of_each([group, value, unit])
    return value_cells.histogram(group[first], value[first], np.ones(len(first), np.int64))


def people_with(value: Whole, rows: Whole, unit: Unit) -> Whole:
    """The people of each value in the whole table."""
    return people_in(value, rows, unit, groups=int(value.max()) + 1)


def alone(group: Whole, sizes: Whole, unit: Unit) -> int:
    """The people who are alone in a group."""
    if unit is None:
        return int((sizes == 1).sum())
    return len(np.unique(unit[sizes[group] == 1]))


def certain(
    cells: ValueCells, value: Whole, counted: ValueHistogram, sizes: Whole, ruled_out: int = 0
) -> int:
    """The people whose value is certain in one of their groups, or the rows where each is one."""
    if cells.person is None:
        return int(sizes[distinct(counted) <= ruled_out + 1].sum())
    first = _first_of_each([cells.group, cells.person, value])
    group, value, unit = cells.group[first], value[first], cells.person[first]
    values = np.bincount(group[_first_of_each([group, value])], minlength=len(sizes))
    _, pair, number = np.unique(
        combine_codes([group, unit]), return_inverse=True, return_counts=True
    )
    one_is_left = (number[pair] == 1) & (values[group] <= ruled_out + 1)
    return len(np.unique(unit[one_is_left | (sizes[group] == 1)]))


def _first_of_each(columns: list[Whole]) -> Whole:
    return np.unique(combine_codes(columns), return_index=True)[1]
