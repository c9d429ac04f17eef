"""Ranks: a uniformly random order of each unit's rows that no other unit has a say in."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from letalone.engines.ranks import draw_ranks
from scipy.stats import chisquare

from letalone.engines import ranks as module
from seeded import SeededBits


class PositionBits:
    """Bits that belong to a row: its own, whatever other rows there are."""

    word_size = 64

    def __init__(self, words):
        self._words, self._next = np.array(words, np.uint64), 0

    def fill(self, out):
        out[...] = self._words[self._next : self._next + out.size]
        self._next += out.size


def ranks_of(codes, bits):
    there = np.zeros(len(codes), np.bool_)
    return draw_ranks(np.array(codes, np.int64), there, bits=bits, progress=lambda _: None)


WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**31, 2**32, 2**32 + 1, 2**33])
ROWS = st.lists(st.tuples(st.sampled_from([-(2**63), -1, 0, 5, 2**63 - 1]), WORDS), max_size=40)


@given(ROWS)
def test_each_units_ranks_are_1_to_its_number_of_rows(rows):
    ranks = ranks_of([code for code, _ in rows], SeededBits(len(rows)))
    for unit, many in Counter(code for code, _ in rows).items():
        mine = sorted(int(r) for r, (code, _) in zip(ranks, rows, strict=True) if code == unit)
        assert mine == list(range(1, many + 1))


@given(ROWS, ROWS, st.randoms(use_true_random=False))
def test_a_units_ranks_stay_as_they_are_when_other_units_come_or_go(rows, others, random):
    """With the same bits for the same rows: the coupling of the proof."""
    mine = [(5, word) for _, word in rows]
    mixed = [("mine", row) for row in mine]
    for code, word in others:
        mixed.insert(random.randint(0, len(mixed)), ("other", (code if code != 5 else 6, word)))
    alone = ranks_of([5] * len(mine), PositionBits([word for _, word in mine]))
    together = ranks_of(
        [code for _, (code, _) in mixed], PositionBits([word for _, (_, word) in mixed])
    )
    among = [int(r) for r, (whose, _) in zip(together, mixed, strict=True) if whose == "mine"]
    assert among == [int(rank) for rank in alone]


NEAR = st.sampled_from([word << 32 for word in (0, 1, 2, 3, 2**31, 2**31 + 1)])
WIDEST = st.sampled_from([7, 2**40, 2**62])  # room for 32 or 17 random bits in a key, or too wide


@given(st.lists(st.tuples(st.sampled_from([0, 1]), NEAR | WORDS), max_size=40), WIDEST)
def test_a_units_rows_are_in_the_order_of_their_own_32_bits_and_then_of_the_table(rows, widest):
    """However few of the bits have room in the keys."""
    rows = [*rows, (widest, 0)]
    ranks = ranks_of([code for code, _ in rows], PositionBits([word for _, word in rows]))
    for unit in {code for code, _ in rows}:
        mine = [number for number, (code, _) in enumerate(rows) if code == unit]
        wanted = sorted(mine, key=lambda number: (rows[number][1] >> 32, number))
        assert sorted(mine, key=lambda number: ranks[number]) == wanted


def p_value(orders):
    """Of a chi-squared test that all six orders of three rows are equally likely."""
    counts = Counter(orders)
    return chisquare([counts[order] for order in sorted(counts)]).pvalue if len(counts) > 5 else 0


def test_all_orders_of_a_units_rows_are_equally_likely_and_not_two_percent_off():
    """The seed is fixed. Over seeds, a correct order would fail once in 10^6."""
    units = 60_000
    codes = np.tile(np.arange(units), 3)
    ranks = ranks_of(codes, SeededBits(11)).reshape(3, units).T
    orders = [tuple(int(r) for r in one) for one in ranks]
    assert p_value(orders) > 1e-6
    for place in range(units // 50):
        orders[place] = (1, 2, 3)
    assert p_value(orders) < 1e-6, "too few units to see two percent"


@pytest.mark.parametrize("block", [1, 3, 7, 1000])
def test_blocks_do_not_show_in_the_ranks(block, monkeypatch):
    codes = np.random.default_rng(5).integers(0, 9, 500)
    whole = ranks_of(codes, SeededBits(2))
    words = np.empty(500, np.uint64)
    SeededBits(2).fill(words)
    monkeypatch.setattr(module, "BLOCK_ROWS", block)
    assert np.array_equal(ranks_of(codes, PositionBits(words)), whole)


def test_more_than_65535_rows_get_ranks_of_more_than_16_bits():
    assert ranks_of([1] * 65_535, SeededBits(1)).dtype == np.uint16
    ranks = ranks_of([1] * 65_536, SeededBits(1))
    assert ranks.dtype == np.uint32
    assert ranks.max() == 65_536


def test_rows_without_a_unit_take_nobodys_place():
    """They come with the code 0, which a unit can have, too."""
    codes, missing = np.zeros(100, np.int64), np.arange(100) % 3 == 0
    ranks = draw_ranks(codes, missing, bits=SeededBits(1), progress=lambda _: None)
    assert sorted(ranks[~missing]) == list(range(1, 67))
    assert not ranks[missing].any()
