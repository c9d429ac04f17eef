"""Units take turns: parts by dice of their own, coins within the part whose turn it is."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from letalone.learn.torch.turns import UnitTurns
from seeded import SeededBits

pytestmark = pytest.mark.long


def test_a_unit_takes_part_in_steps_of_its_own_part_only():
    turns, seen = UnitTurns(600, 4, SeededBits(1)), {}
    for step in range(1, 41):
        for unit in turns.draw(step, Fraction(2, 5)):
            seen.setdefault(int(unit), set()).add(step % 4)
    assert len(seen) > 590
    assert all(len(steps) == 1 for steps in seen.values())


def test_parts_are_thrown_and_coins_have_the_rate_of_the_turn():
    """A correct sampler would fail for one seed in 10^6."""
    turns = UnitTurns(4000, 4, SeededBits(2))
    everybody = [turns.draw(step, Fraction(1)) for step in range(1, 5)]
    assert sorted(np.concatenate(everybody)) == [*range(4000)]
    sizes = [len(part) for part in everybody]
    assert chisquare(sizes).pvalue > 1e-6
    assert chisquare([1200, 1000, 900, 900]).pvalue < 1e-6, "no power"
    ends = np.isin(np.arange(3999), everybody[0]) & np.isin(np.arange(1, 4000), everybody[0])
    assert binomtest(int(ends.sum()), 3999, 1 / 16).pvalue > 1e-6, "neighbours in a row are apart"
    drawn = sum(len(turns.draw(step, Fraction(1, 5))) for step in range(1, 41))
    assert binomtest(drawn, 10 * 4000, 0.2).pvalue > 1e-6
    assert binomtest(drawn, 10 * 4000, 0.05).pvalue < 1e-6


def test_one_unit_more_throws_nobody_else():
    """The words of the others are the same; that of the last unit comes behind them."""
    parts = []
    for units in (99, 100):
        turns = UnitTurns(units, 3, SeededBits(4))
        parts.append([set(turns.draw(step, Fraction(1)).tolist()) for step in (1, 2, 3)])
    assert [b - a for a, b in zip(*parts, strict=True)].count({99}) == 1
    assert all(a <= b for a, b in zip(*parts, strict=True))


def test_every_run_throws_anew():
    first, second = (UnitTurns(100, 2, SeededBits(seed)).draw(1, Fraction(1)) for seed in (1, 2))
    assert set(first) != set(second)


def test_one_part_draws_everybody_each_time():
    turns = UnitTurns(50, 1, SeededBits(1))
    assert all(len(turns.draw(step, Fraction(1))) == 50 for step in (1, 2, 3))


def test_nobody_has_no_part():
    assert len(UnitTurns(0, 4, SeededBits(1)).draw(3, Fraction(1, 2))) == 0
