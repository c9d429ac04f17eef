"""Who takes part: every unit by its own coin, in bins of which one changes with one unit."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, chisquare

from letalone.errors import ParameterError
from letalone.learn.torch.gradients.sums import single_will_do
from letalone.learn.torch.sampling import bins_for, draw_units, pieces_of, units_of
from seeded import SeededBits

pytestmark = pytest.mark.long


def test_each_unit_is_drawn_by_a_coin_of_its_own():
    """2000 draws of 6 units. A correct sampler would fail for one seed in 10^6."""
    bits, rate = SeededBits(3), Fraction(1, 5)
    drawn = [frozenset(draw_units(6, rate, bits).tolist()) for _ in range(2000)]
    sizes = np.bincount([len(one) for one in drawn], minlength=7)
    binomial = [
        15625 / 15625 * c * 0.2**k * 0.8 ** (6 - k) for k, c in enumerate((1, 6, 15, 20, 15, 6, 1))
    ]
    merged = [*sizes[:4], sizes[4:].sum()], [*binomial[:4], sum(binomial[4:])]
    assert chisquare(merged[0], 2000 * np.array(merged[1]) / sum(merged[1])).pvalue > 1e-6
    assert chisquare([2000 - merged[0][1], merged[0][1]], [1800, 200]).pvalue < 1e-6, "no power"
    both = sum({0, 1} <= one for one in drawn)
    assert binomtest(both, 2000, 1 / 25).pvalue > 1e-6
    assert any(not one for one in drawn), "empty draws happen"


def test_pieces_hold_everybody_who_was_drawn_once():
    units = units_of(100, None, 1)
    drawn = np.arange(0, 100, 2)
    for padded in (False, True):
        pieces = [*pieces_of(drawn, units, bins=3, size=7, padded=padded, bits=SeededBits(1))]
        held = np.concatenate([piece.places[piece.real] for piece in pieces])
        assert sorted(held) == sorted(drawn)
        assert all(len(p.places) == 7 if padded else len(p.places) <= 7 for p in pieces)


def test_one_unit_more_changes_one_bin():
    """The words of the others are the same; that of the last unit comes behind them."""
    units = units_of(60, None, 1)

    def bins(count):
        bits, drawn = SeededBits(4), np.arange(count)
        pieces = pieces_of(drawn, units, bins=5, size=60, padded=False, bits=bits)
        return {tuple(piece.places[:, 0]) for piece in pieces}

    assert len(bins(60) - bins(59)) == 1
    assert len(bins(59) - bins(60)) == 1


def test_a_bin_of_two_pieces_is_added_in_doubles():
    units = units_of(20, None, 1)
    pieces = pieces_of(np.arange(20), units, bins=1, size=15, padded=False, bits=SeededBits(1))
    assert [piece.doubles for piece in pieces] == [True, True]
    one = pieces_of(np.arange(20), units, bins=1, size=20, padded=False, bits=SeededBits(1))
    assert [piece.doubles for piece in one] == [False]


def test_most_bins_need_one_piece():
    assert bins_for(512, 344) == 2
    assert bins_for(10, 344) == 1


def test_single_precision_is_left_where_too_many_pieces_are_added():
    assert single_will_do(512, bins_for(512, 344), 344)
    assert single_will_do(1024, bins_for(1024, 344), 344)
    assert not single_will_do(4096, bins_for(4096, 344), 344)
    assert not single_will_do(512, bins_for(512, 1), 1)


def test_nobody_drawn_makes_no_piece():
    units = units_of(0, None, 1)
    drawn = draw_units(len(units), Fraction(1, 2), SeededBits(1))
    assert not [*pieces_of(drawn, units, bins=2, size=4, padded=True, bits=SeededBits(1))]


def test_a_unit_is_all_examples_of_one_label_and_bounded():
    labels = np.array(["b", "a", "b", "c", "b", "b"])
    units = units_of(6, labels, 3)
    assert len(units) == 3
    assert [sorted(units.drawn(u, SeededBits(1)).tolist()) for u in (0, 2)] == [[1], [3]]
    bits, seen = SeededBits(2), set()
    for _ in range(200):
        own = units.drawn(1, bits).tolist()
        assert len(own) == len(set(own)) == 3
        seen |= set(own)
    assert seen == {0, 2, 4, 5}, "which examples take part is drawn anew"


def test_an_empty_data_set_has_no_units():
    assert len(units_of(0, None, 1)) == 0
    assert len(units_of(0, np.array([], int), 4)) == 0


def test_an_example_without_a_label_is_nobodys():
    units = units_of(4, np.array([2.0, np.nan, 2.0, np.nan]), 5)
    assert [units.drawn(u, SeededBits(1)).tolist() for u in range(len(units))] == [[0, 2]]


@pytest.mark.parametrize("others", [[None], ["x"], [0.5], [float("nan")], [[1]]])
def test_one_odd_label_joins_no_others(others):
    """As floats, 2^53 and 2^53 + 1 are one person; as text, 1 and '1'."""
    labels = [2**53, 2**53 + 1, 1, "1", *others]
    for column in (labels, np.array([*labels, None], object)[:5]):
        units = units_of(5, column, 5)
        own = [units.drawn(u, SeededBits(1)).tolist() for u in range(len(units))]
        assert [one for one in own if one != [4]] == [[0], [1], [2], [3]]


@pytest.mark.parametrize("labels", [[1, 2], np.array([[1], [2], [3]])])
def test_labels_of_another_shape_are_refused(labels):
    with pytest.raises(ParameterError, match="unit must be one column"):
        units_of(3, labels, 2)


@pytest.mark.parametrize("odd", [None, float("nan"), pd.NA, pd.NaT, Decimal("sNaN")])
def test_a_cell_that_is_no_label_refuses_nobody(odd) -> None:
    """pandas' NA equals nothing, not even itself, and says so by an error."""
    units = units_of(4, ["a", odd, "b", "a"], 2)
    assert [part.tolist() for part in np.split(units.order, units.starts[1:-1])] == [[0, 3], [2]]
