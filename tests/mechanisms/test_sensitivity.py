"""Sensitivities by brute force over all neighbours of small tables, and reached there."""

from fractions import Fraction
from itertools import product
from math import hypot, sqrt

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.mechanisms import sensitivity, utility
from letalone.mechanisms.sensitivity import count, histogram, mean, mean_vector
from letalone.privacy import ADD_REMOVE, REPLACE, Neighbours, Relation


def contributions(values, rows, *, filtered):
    """What a unit may add to a table: exactly one row, or up to `rows` of them."""
    if rows == 1 and not filtered:
        return [(value,) for value in values]
    sizes = range(rows + 1)
    return [rows_of for size in sizes for rows_of in product(values, repeat=size)]


def neighbour_changes(query, values, rows, relation, *, filtered=False):
    """query(D) - query(D') for all neighbours around an empty rest and a rest of one unit."""
    units = contributions(values, rows, filtered=filtered)
    rests = [(), *units]
    others = units if relation is REPLACE else [()]
    return [
        np.subtract(query((*rest, *one)), query((*rest, *other)))
        for rest in rests
        for one in units
        for other in others
    ]


def largest(changes, norm):
    return max(float(np.linalg.norm(np.atleast_1d(change), norm)) for change in changes)


BOUNDS = [(0, 1), (-1, 1), (2, 5), (-5, -2), (-3, 7)]


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_m4_a_sum_moves_by_exactly_its_sensitivity(lower, upper, rows, filtered, relation):
    values = sorted({lower, upper, (lower + upper) / 2})
    changes = neighbour_changes(sum, values, rows, relation, filtered=filtered)
    stated = sensitivity.sum(lower, upper, rows=rows, filtered=filtered, neighbours=relation)
    assert largest(changes, 1) == stated.l1 == stated.l2


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_m4_a_count_moves_by_exactly_its_sensitivity(rows, relation):
    changes = neighbour_changes(lambda table: sum(table), (0, 1), rows, relation, filtered=True)
    assert largest(changes, 1) == count(rows=rows, neighbours=relation).l1 == rows


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_m4_a_histogram_moves_by_exactly_its_sensitivity_in_both_norms(rows, relation):
    def query(table):
        return [table.count(group) for group in "abc"]

    changes = neighbour_changes(query, "abc", rows, relation, filtered=rows > 1)
    stated = histogram(rows=rows, neighbours=relation)
    assert largest(changes, 1) == stated.l1
    assert largest(changes, 2) <= float(stated.l2) <= largest(changes, 2) * (1 + 1e-15)


def test_m4_the_table_of_the_claims():
    assert mean(0, 1, size=100).l1 == Fraction(1, 100)
    assert mean(-1, 1, size=100).l1 == Fraction(2, 100)
    assert mean_vector(3, size=100).l2 == Fraction(6, 100)
    assert count().l1 == count(neighbours=REPLACE).l1 == 1
    assert histogram().l1 == histogram().l2 == 1
    assert histogram(neighbours=REPLACE).l1 == 2
    assert float(histogram(neighbours=REPLACE).l2) >= sqrt(2)
    assert sensitivity.sum(-3, 7, neighbours=REPLACE).l1 == 10
    assert sensitivity.sum(-3, 7).l1 == 7
    assert sensitivity.sum(-8, 7).l1 == 8
    assert sensitivity.sum(2, 5, neighbours=REPLACE).l1 == 3
    assert sensitivity.sum(2, 5, neighbours=REPLACE, filtered=True).l1 == 5


@pytest.mark.parametrize("size", [1, 2, 3])
def test_m4_a_mean_moves_by_exactly_its_sensitivity(size):
    tables = list(product((-1, 0, 2), repeat=size))
    worst = max(
        abs(Fraction(sum(one), size) - Fraction(sum(other), size))
        for one in tables
        for other in tables
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1
    )
    assert mean(-1, 2, size=size).l1 == worst


def test_d5_a_vector_mean_moves_by_its_l2_and_by_root_d_times_that_in_l1():
    """Opposite points of the ball: along an axis for L2, along the diagonal for both."""
    stated = mean_vector(1, size=2, dimension=4)
    diagonal = np.full(4, 0.5)
    change = (diagonal - -diagonal) / 2
    assert np.linalg.norm(change, 2) == float(stated.l2) == 1
    assert np.linalg.norm(change, 1) == 2 <= float(stated.l1) <= 2 * (1 + 1e-15)
    assert mean_vector(1, size=2).l1 is None


def test_d5_of_k_rows_in_one_group_l2_is_k_and_not_root_k():
    assert histogram(rows=4).l2 == 4
    assert float(histogram(rows=4, neighbours=REPLACE).l2) >= hypot(4, 4)


def test_d5_float_bounds_are_read_the_wider_way():
    stated = sensitivity.sum(0.1, 0.3, neighbours=REPLACE)
    assert stated.l1 >= max(Fraction(0.3), Fraction(3, 10)) - min(Fraction(0.1), Fraction(1, 10))
    for low in ("-0.1", "-0.3", "-0.7", "0.1", "0.3"):  # the binary number is below, or above
        widest = min(Fraction(float(low)), Fraction(low))
        assert sensitivity.sum(float(low), 1, neighbours=REPLACE).l1 == 1 - widest
        assert widest > 0 or sensitivity.sum(float(low), 0.01).l1 == -widest


@pytest.mark.parametrize(
    "arguments", [{"neighbours": ADD_REMOVE}, {"filtered": True}, {"rows": 2}], ids=str
)
def test_m4_a_mean_without_a_public_size_is_refused_and_names_what_to_do(arguments):
    for attempt in (
        lambda: mean(0, 1, size=10, **arguments),
        lambda: mean_vector(1, size=10, **arguments),
    ):
        with pytest.raises(ParameterError, match="release a sum and a count, and divide"):
            attempt()


def test_bad_bounds_and_counts_are_refused():
    for lower, upper in ((1, 1), (2, 1)):
        with pytest.raises(ParameterError, match="lower must be below upper"):
            sensitivity.sum(lower, upper)
    for bad in (float("nan"), float("inf"), "x", None, True):
        with pytest.raises(ParameterError, match="lower is"):
            sensitivity.sum(bad, 1)
        with pytest.raises(ParameterError, match="upper is"):
            sensitivity.sum(0, bad)
        with pytest.raises(ParameterError, match="radius is"):
            mean_vector(bad, size=10)
    for bad in (0, -1, 1.5, None):
        with pytest.raises(ParameterError, match="rows is"):
            count(rows=bad)
        with pytest.raises(ParameterError, match="rows is"):
            histogram(rows=bad)
        with pytest.raises(ParameterError, match="size is"):
            mean(0, 1, size=bad)
        if bad is not None:
            with pytest.raises(ParameterError, match="dimension is"):
                mean_vector(1, size=10, dimension=bad)


def test_a_sensitivity_prints_its_norms_and_neighbours():
    text = repr(histogram(neighbours=REPLACE))
    assert text == "Sensitivity(L1 2, L2 1.41422, replace one unit)", "1.41421 is below √2"
    assert repr(mean_vector(1, size=4)) == "Sensitivity(L1 unknown, L2 0.5, replace one unit)"


WRONG_NEIGHBOURS = ["banana", "replace", Relation.REPLACE, None, 1]
CALLS = [
    lambda **given: sensitivity.count(**given),
    lambda **given: sensitivity.sum(0, 1, **given),
    lambda **given: sensitivity.mean(0, 1, size=9, **given),
    lambda **given: sensitivity.histogram(**given),
    lambda **given: sensitivity.mean_vector(1, size=9, **given),
    lambda **given: sensitivity.Sensitivity(Fraction(1), Fraction(1), **given),
]


@pytest.mark.parametrize("wrong", WRONG_NEIGHBOURS)
@pytest.mark.parametrize("call", CALLS)
def test_neighbours_are_one_of_the_two(call, wrong):
    with pytest.raises(ParameterError, match=r"must be la.ADD_REMOVE or la.REPLACE"):
        call(neighbours=wrong)


@pytest.mark.parametrize("flag", ["no", 1, None])
@pytest.mark.parametrize("call", [CALLS[1], CALLS[2], CALLS[4]])
def test_filtered_is_true_or_false_and_nothing_that_counts_as_one(call, flag):
    with pytest.raises(ParameterError, match=r"filtered is .* but must be True or False"):
        call(filtered=flag)


def test_a_relation_by_its_word_has_the_sensitivity_of_that_relation():
    """`Neighbours("replace")` once had that of add/remove."""
    worded = Neighbours("replace")
    assert sensitivity.histogram(neighbours=worded) == sensitivity.histogram(neighbours=REPLACE)
    assert sensitivity.histogram(neighbours=worded).l1 == 2


@pytest.mark.parametrize("module", [sensitivity, utility])
def test_a_public_module_lists_what_it_defines_and_nothing_else(module):
    defined = {
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    }
    assert set(module.__all__) == defined
    assert module.__all__ == sorted(module.__all__)


def test_m4_a_mean_computed_in_floats_moves_further_than_the_real_one():
    """What the sensitivity is not about; exact sums are within it."""
    low, size = 2.0**52, 3
    tables = [low + 1, low, low], [low + 1, low + 1, low]
    real = mean(low, low + 1, size=size).l1
    exact = [sum(map(Fraction, table)) / size for table in tables]
    in_floats = [Fraction(sum(table) / size) for table in tables]
    assert abs(exact[0] - exact[1]) <= real
    assert abs(in_floats[0] - in_floats[1]) > real
