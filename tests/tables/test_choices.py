"""Choices of ranks: the law is the one that was proven, however many rows and digits there are.

Products of rows and a share's denominator once wrapped at 2^63: one person more turned the best
cell into the worst, at any epsilon.
"""

from itertools import pairwise, product
from math import gcd
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.mechanisms import Exponential
from letalone.plans.aggregates.of_columns import Extreme, MostFrequent, PrivateBounds, Quantiles
from letalone.plans.plan import Aggregate
from letalone.tables.compiled import SURE, compile_plan
from letalone.tables.parts.choices import LARGEST, choose_ranks, rank_utilities
from letalone.tables.parts.chosen_parts import parts_of
from letalone.tables.parts.quantiles import RankPart
from seeded import SeededBits
from tables.plans_for_tests import A, D, F, X, plan_of

CELLS, PLACE = 10, 2
SURE_MOST = 1 - F(1, 10**9)
ROWS = (92, 2000, 2**20, 10**9)
THIRD = F(333_333, 10**6)
EDGE = (2**63 // 666_667, 2**63 // 666_667 + 1)
SHARES = (F(1, 3), F(2, 3), F(99, 100), F(1, 10**6))


def fine(share: Any, rows: int) -> Any:
    """A share near another, with 2^63 between the products for so many rows and one more."""
    rest = 2**63 // (rows + 1) + 1  # (1 − share) times the denominator
    many = int(rest / (1 - share))
    while gcd(many, rest) > 1:
        many += 1
    return F(many - rest, many)


def all_in_one_cell(rows: int) -> Any:
    cells = np.zeros((1, CELLS), np.int64)
    cells[0, PLACE] = rows
    return cells


def utilities(share: Any, cells: Any) -> list[int]:
    many = share.denominator
    targets = share.numerator * np.sum(cells, axis=1).astype(object)
    return rank_utilities(cells, targets, many)[0].tolist()


def by_definition(share: Any, cells: Any) -> list[int]:
    counts = [int(count) for count in cells[0]]
    many, target = share.denominator, share.numerator * sum(counts)
    upto = [many * sum(counts[:place]) for place in range(len(counts) + 1)]
    missed = [max(0, low - target, target - high) for low, high in pairwise(upto)]
    return [-min(one, LARGEST) for one in (target, *missed, max(0, upto[-1] - target))]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("near", SHARES)
def test_one_row_moves_no_utility_by_more_than_proven_where_products_pass_2_63(
    near: Any, rows: int
) -> None:
    """Wrapped, that of the best cell fell from 0 to −2^63 here."""
    for share in (near, fine(near, rows)):
        before, after = (all_in_one_cell(rows + more) for more in (0, 1))
        pairs = zip(utilities(share, before), utilities(share, after), strict=True)
        most = max(share, 1 - share) * share.denominator
        assert all(abs(one - other) <= most for one, other in pairs)
        for cells in (before, after):
            assert utilities(share, cells) == by_definition(share, cells)
            assert utilities(share, cells)[PLACE + 1] == 0


def test_the_products_of_this_test_do_pass_2_63() -> None:
    for share, rows in product(SHARES, ROWS):
        found = fine(share, rows)
        rest = found.denominator - found.numerator
        assert rest * rows < 2**63 <= rest * (rows + 1)


def test_utilities_of_any_numbers_are_those_of_the_definition() -> None:
    draw = np.random.Generator(np.random.PCG64(1))
    for _ in range(300):
        size = int(draw.integers(1, 40))
        cells = draw.integers(0, 2**size, (1, CELLS), dtype=np.int64)
        share = F(int(draw.integers(1, 10**6)), 10 ** int(draw.integers(6, 25)))
        found = utilities(share, cells)
        assert found == by_definition(share, cells)
        assert [int(float(one)) for one in found] == found, "a float holds each"


@pytest.mark.parametrize("rows", EDGE)
def test_the_law_where_products_pass_2_63_is_that_of_fewer_rows(rows: int) -> None:
    """All 50 are the cell of the data, but for one seed in 10^40; wrapped, none was."""
    cells = np.repeat(all_in_one_cell(rows), 50, axis=0)
    targets = THIRD.numerator * np.sum(cells, axis=1).astype(object)
    mechanism = Exponential(epsilon=1, sensitivity=(1 - THIRD) * THIRD.denominator)
    found = choose_ranks(mechanism, cells, targets, scale=THIRD.denominator, bits=SeededBits(2))
    assert set(found.tolist()) == {PLACE}


@pytest.mark.parametrize("rows", EDGE)
def test_the_value_and_the_ends_of_so_many_rows_are_their_cell(rows: int) -> None:
    asked = Quantiles(A, F(0), F(9), (THIRD,), F(1))
    (part,) = parts_of(plan_of({"q": asked}), bits=30).parts
    assert isinstance(part, RankPart)
    cells = np.zeros((2, part.cells.count), dtype=object)
    cells[:, PLACE] = rows
    for by_tree in (True, False):
        with patch.object(RankPart, "by_tree", by_tree):
            answer = part.answers([cells], F(2), confidence=0.95, bits=SeededBits(3))["q"]
        for found in (answer.values, answer.low, answer.high):
            assert found.tolist() == [PLACE, PLACE]


ASKED: dict[str, Aggregate] = {
    "median": Quantiles(A, F(0), F(99), (F(1, 2),), F(1)),
    "fine": Quantiles(A, F(0), F(99), (F(999_999, 10**6),), F(1)),
    "largest": Extreme(A, F(0), F(99), True, F(1)),
    "bounds": PrivateBounds(X),
    "top": MostFrequent(D, 2, ("A", "B", "C")),
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("power", [16, 18, 20, 30, 100])
def test_an_epsilon_whose_ranks_would_not_fit_is_refused_before_data_is_touched(
    name: str, power: int
) -> None:
    """It once froze the data set, after the charge."""
    plan = plan_of({"q": ASKED[name]})
    with pytest.raises(ParameterError, match=r"would not fit into 64 bits\. Give a larger epsilon"):
        compile_plan(plan, epsilon=F(1, 10**power))


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("power", range(18))
@pytest.mark.few("0-")
def test_what_is_not_refused_is_answered_for_any_data(name: str, power: int) -> None:
    plan = plan_of({"q": ASKED[name]}, keys=("A",))
    try:
        whole = compile_plan(plan, epsilon=F(1, 10**power), confidence=float(SURE_MOST))
    except ParameterError:
        assert power >= 8
        return
    for rows in (0, 1, 2**40):
        whole.finish([_full(measure, rows) for measure in whole.measures], SeededBits(power))


def _full(measure: Any, rows: int) -> list[int]:
    return [rows // getattr(measure, "count", 1)] * getattr(measure, "count", 1)


@pytest.mark.parametrize("confidence", [*SURE.refused, 0.9999999999999999])
def test_a_confidence_that_floats_do_not_hold_is_refused(confidence: float) -> None:
    for asked in ASKED.values():
        with pytest.raises(ParameterError, match=r"confidence is .* to 0\.999999999"):
            compile_plan(plan_of({"q": asked}), epsilon=1, confidence=confidence)
