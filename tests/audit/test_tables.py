"""Neighbours are found: the person whom a mechanism forgets to bound is the one taken out.

Honest mechanisms are audited at 99.9 %, so that one run in a thousand would accuse each.
"""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from letalone.audit import Verdict, audit_table
from letalone.audit.units import units_of
from letalone.errors import ParameterError
from letalone.mechanisms import Geometric, Laplace
from seeded import SeededBits

GREEDY = {"who": ["a"] * 5 + ["b", "c", "d"], "x": [1.0] * 8}
COUNT, SUM = Geometric(epsilon=1, sensitivity=1), Laplace(epsilon=1, sensitivity=1)


def audited(mechanism: Any, table: Any, **options: Any) -> Any:
    return audit_table(mechanism, table, claimed_epsilon=1, confidence=0.999, many=True, **options)


def counted(kept: int) -> Any:
    """A noisy count of rows, of which so many of a person count."""
    bits = SeededBits(1)

    def mechanism(table: Any, copies: int) -> Any:
        each = np.unique(np.asarray(table["who"]).astype(str), return_counts=True)[1]
        exact = int(np.minimum(each, kept).sum())
        return COUNT.release(np.full(copies, exact), bits=bits)

    return mechanism


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame, pl.DataFrame])
def test_a_count_that_does_not_bound_rows_is_accused_through_the_greediest(kind: Any) -> None:
    found = audited(counted(100), kind(GREEDY), unit="who", samples=2000)
    assert found.audit.verdict is Verdict.ACCUSED
    assert isinstance(found.other, type(kind(GREEDY)))
    assert set(np.asarray(found.other["who"]).tolist()) == {"b", "c", "d"}
    honest = audited(counted(1), kind(GREEDY), unit="who", samples=2000)
    assert honest.audit.verdict is Verdict.CONSISTENT


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_a_sum_that_does_not_clamp_is_accused_through_the_extreme_row(kind: Any) -> None:
    bits = SeededBits(2)

    def summed(rows: Any, copies: int) -> Any:
        return SUM.release(np.full(copies, float(sum(rows))), bits=bits)

    def clamped(rows: Any, copies: int) -> Any:
        return summed(np.clip(rows, 0, 1), copies)

    table = kind([0.5] * 50 + [9.0] + [0.25] * 50)
    found = audited(summed, table, samples=2000)
    assert found.audit.verdict is Verdict.ACCUSED
    assert len(found.other) == 100
    assert 9.0 not in list(found.other)
    assert audited(clamped, table, samples=2000).audit.verdict is Verdict.CONSISTENT


def test_the_draws_that_choose_a_neighbour_do_not_judge_it() -> None:
    """Until a pair is chosen, all differ wildly; after that, nothing does."""
    asked: list[int] = []

    def drifting(rows: Any, copies: int) -> Any:
        asked.append(copies)
        return np.full(copies, float(len(rows)) if copies == 100 else 0.0)

    found = audited(drifting, [1.0, 2.0, 3.0], samples=800)
    assert found.audit.lower == 0
    assert asked == [100] * (1 + found.tried) + [400] * 4


def test_errors_for_some_tables_are_outputs() -> None:
    def refuses(rows: list[float]) -> int:
        if len(rows) < 3:
            raise ValueError("too few")
        return 0

    found = audit_table(refuses, [1.0, 2.0, 3.0], claimed_epsilon=1, samples=400)
    assert found.audit.verdict is Verdict.ACCUSED
    assert "the output is a number (more often under `one`" in repr(found)


def test_units_are_rows_or_values_of_a_column() -> None:
    assert units_of([3.0, 1.0, 2.0], None).telling() == [0, 1]
    found = units_of(pa.table(GREEDY), "who")
    assert (found.count, found.telling()) == (4, [0, 1])
    missing = pa.table({"who": [None, "a", "a"], "x": [1, None, 3]})
    assert units_of(missing, "who").count == 2


@pytest.mark.parametrize(
    ("table", "unit", "said"),
    [
        ([], None, "The table is empty"),
        (3, None, "has the type int"),
        (pa.table(GREEDY), "whom", "Columns are: who, x"),
    ],
)
def test_what_has_no_units_is_refused(table: Any, unit: str | None, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        audited(COUNT.release, table, unit=unit)


BIG = 2**53


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (pa.array([BIG, BIG + 1, None]), [1, 2, 0]),
        (pa.array(["None", None, "x"]), [1, 0, 2]),
        (pa.array(["a", "a\0", "a"]), [0, 1, 0]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), [0, 1, 0]),
        (pa.array([[1], [2], [1]]), [0, 1, 0]),
        (pa.array([None, float("nan"), -0.0, 0.0]), [0, 0, 1, 1]),
    ],
)
def test_units_are_told_apart_by_their_values_and_not_by_how_these_print(
    values: Any, codes: list[int]
) -> None:
    """As floats, or as text, two people would be taken out at once: a false accusation."""
    table = pa.table({"who": values})
    assert units_of(table, "who").codes.tolist() == codes
    assert units_of(pl.from_arrow(table), "who").codes.tolist() == codes


def test_units_of_several_types_are_told_apart() -> None:
    mixed = pd.DataFrame({"who": [1, "1", None, float("nan"), 1.0]})
    assert units_of(mixed, "who").codes.tolist() == [0, 1, 2, 2, 0]
    assert units_of([(1, "a"), ("1", "b"), (1, "c")], "0").codes.tolist() == [0, 1, 0]
    with pytest.raises(ParameterError, match="same length"):
        units_of([(1, 2), (1,)], None)
