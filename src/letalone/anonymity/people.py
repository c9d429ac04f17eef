"""Counting people where a person has several rows: five rows of one person are one person.

Let group g be one combination of quasi-identifiers, and let every row belong to a person.

  n_g     the people with a row in g, each counted once; k is the least of them
  n_gs    the people with a row in g that has value s; l counts the s with n_gs > 0
  shares  n_gs / (sum over s of n_gs), for entropy l and for t; those of the table likewise, from
          N_s, the people who have value s anywhere

A person can be in several groups, and have several values in one. Where each person has one row,
all of this is what it is for rows. Rows without a person are taken to be of one person, so that k
is not too large.

A value is certain to whoever finds the group of a person if the person is alone in it, or if it is
the only one that is left of the group's values once some that are wrong were ruled out.

  Tested:   tests/anonymity/test_people.py against sets in plain Python
"""

import numpy as np
from numpy.typing import NDArray

from letalone.anonymity.cells import Histogram, Whole, combined, histogram

Unit = NDArray[np.int64] | None  # the person of each cell; None where a row is a person


def people_in(group: Whole, rows: Whole, unit: Unit, *, groups: int) -> Whole:
    """How many people each group has, of `groups` numbered groups."""
    if unit is None:
        return np.bincount(group, weights=rows, minlength=groups).astype(np.int64)
    first = _first_of_each([group, unit])
    return np.bincount(group[first], minlength=groups)


def people_by_value(group: Whole, value: Whole, rows: Whole, *, unit: Unit) -> Histogram:
    """The people of each value in each group."""
    if unit is None:
        return histogram(group, value, rows)
    first = _first_of_each([group, value, unit])
    return histogram(group[first], value[first], np.ones(len(first), np.int64))


def people_with(value: Whole, rows: Whole, unit: Unit) -> Whole:
    """The people of each value in the whole table."""
    return people_in(value, rows, unit, groups=int(value.max()) + 1)


def alone(group: Whole, sizes: Whole, unit: Unit) -> int:
    """The people who are alone in a group."""
    if unit is None:
        return int((sizes == 1).sum())
    return len(np.unique(unit[sizes[group] == 1]))


def certain(cells: Histogram, sizes: Whole, *, ruled_out: int) -> int:
    """The rows whose value is the only one that is left, where a row is a person."""
    number = np.bincount(cells.group)
    return int(sizes[number <= ruled_out + 1].sum())


def certain_people(group: Whole, value: Whole, unit: Whole, sizes: Whole, *, ruled_out: int) -> int:
    """The people whose value is certain in one of their groups."""
    first = _first_of_each([group, unit, value])
    group, value, unit = group[first], value[first], unit[first]
    values = np.bincount(group[_first_of_each([group, value])], minlength=len(sizes))
    _, pair, own = np.unique(combined([group, unit]), return_inverse=True, return_counts=True)
    one_is_left = (own[pair] == 1) & (values[group] <= ruled_out + 1)
    return len(np.unique(unit[one_is_left | (sizes[group] == 1)]))


def _first_of_each(columns: list[Whole]) -> Whole:
    """A place of every combination."""
    return np.unique(combined(columns), return_index=True)[1]
