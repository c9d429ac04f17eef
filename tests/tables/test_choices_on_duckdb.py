"""Scores of choices, from DuckDB's own counts: no neighbour moves one further than is claimed.

Quantiles, extremes, top_k and private bounds choose among candidates by scores. Here a release
runs up to the choice: la.open's plan, DuckDB's counts, the scores. They are compared between random
small tables and their neighbours, with what the mechanism takes their sensitivity to be.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import letalone as la
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.mechanisms.choosing import Chooser
from letalone.mechanisms.top_k import TopK
from letalone.tables.compiled import Compiled, compile_plan
from letalone.tables.parts.quantiles import RankPart

MOST = 3  # rows that are kept of a person
ASKED: dict[str, Any] = {
    "median": la.median("a", lower=0, upper=9),
    "late": la.quantile("a", 0.9, lower=0, upper=9),
    "least": la.min("a", lower=0, upper=9),
    "most": la.max("a", lower=0, upper=9),
    "top": la.top_k("d", 1, candidates=["A", "B", "C"]),
    "bounds": la.private_bounds("a"),
}
RELATIONS = {"add/remove": la.ADD_REMOVE, "replace": la.REPLACE}
Person = list[tuple[str, int | None]]
Scores = list[tuple[Fraction, list[Fraction]]]

a_row = st.tuples(st.sampled_from("ABCD"), st.sampled_from([None, -3, 0, 1, 4, 8, 9, 40]))
# Nobody else has rows that are left out: which of them are kept is drawn anew in each table.
others = st.lists(st.lists(a_row, max_size=MOST), max_size=4)
a_person = st.lists(a_row, max_size=2 * MOST)


def table_of(tables: list[list[Person]]) -> pa.Table:
    """All tables in one, told apart by the column t; nobody is in two of them."""
    people = [(number, person) for number, people in enumerate(tables) for person in people]
    rows = [(t, unit, *row) for unit, (t, person) in enumerate(people) for row in person]
    cells = zip(*rows, strict=True) if rows else ((), (), (), ())
    kinds = {"t": pa.int64(), "u": pa.int64(), "d": pa.string(), "a": pa.int64()}
    columns = zip(kinds.items(), cells, strict=True)
    return pa.table({name: pa.array(column, kind) for (name, kind), column in columns})


@cache
def question(relation: str, tables: int = 0) -> Compiled:
    """What is asked of one table, or of several at once; it does not depend on their rows."""
    budget = la.Budget(epsilon=10**6)
    with la.open(table_of([]), unit="u", budget=budget, neighbours=RELATIONS[relation]) as session:
        asked = session.group_by("t", keys=range(tables)) if tables else session
        return compile_plan(asked.agg(**ASKED).bound(max_rows=MOST, max_groups=1).plan, epsilon=1)


def counted(tables: list[list[Person]]) -> list[list[Any]]:
    """What DuckDB counts in each table for the question."""
    whole = question("add/remove", len(tables))
    assert whole.measures == question("add/remove").measures
    engine = open_duck(table_of(tables), schema=whole.plan.schema)
    try:
        found = engine.measure(whole.scope, whole.measures)
    finally:
        engine.close()
    return [[[values[place]] for values in found] for place in range(len(tables))]


@contextmanager
def listening(heard: Scores) -> Iterator[None]:
    """Mechanisms tell their sensitivity and the scores that they are given."""

    def choose(mechanism: Any, scores: Any, **_: Any) -> int:
        exact = [Fraction(int(score)) for score in np.asarray(scores)]
        heard.append((Fraction(mechanism.sensitivity), exact))
        return 0

    def choose_some(mechanism: Any, scores: Any, **_: Any) -> list[int]:
        return [choose(mechanism, scores)]

    with (
        # Few cells: the ends of intervals would be read off a noisy tree.
        patch.object(RankPart, "by_tree", False),
        patch.object(Chooser, "choose_index", choose),
        patch.object(TopK, "choose_indices", choose_some),
    ):
        yield


def scores(relation: str, counts: list[Any]) -> Scores:
    heard: Scores = []
    with listening(heard):
        question(relation).finish(counts)
    return heard


def moved(one: Scores, other: Scores) -> list[Fraction]:
    """For each choice, the largest change of a score as a part of what is claimed."""
    return [
        max(abs(a - b) for a, b in zip(mine, theirs, strict=True)) / claimed
        for (claimed, mine), (_, theirs) in zip(one, other, strict=True)
    ]


@pytest.mark.long
@settings(max_examples=2, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(tables=st.lists(st.tuples(others, a_person, a_person), min_size=8, max_size=8))
def test_no_neighbour_moves_a_score_further_than_claimed(tables: list[Any]) -> None:
    """Eight tables at a time, since one statement costs far more than its rows."""
    found = counted([[*rest, person] for rest, *two in tables for person in ([], *two)])
    for three in zip(found[::3], found[1::3], found[2::3], strict=True):
        nobody, one, other = (scores("add/remove", counts) for counts in three)
        assert max(*moved(one, nobody), *moved(other, nobody)) <= 1
        nobody, one, other = (scores("replace", counts) for counts in three)
        assert max(*moved(one, other), *moved(one, nobody)) <= 1


LOW: Person = [("A", 0)] * 5
HIGH: Person = [("B", 9)] * 5
CROWD: list[Person] = [[("A", age), ("B", age), ("C", age)] for age in range(10)]


@pytest.mark.long
@pytest.mark.few("add/remove")
@pytest.mark.parametrize("relation", RELATIONS)
def test_some_neighbour_moves_each_score_by_more_than_half_of_the_claim(relation: str) -> None:
    """So half of the sensitivity would be found too little, for every choice."""
    nobody, low, high = counted([[*CROWD, person] for person in ([], LOW, HIGH)])
    pairs = [(low, nobody), (high, nobody)] if relation == "add/remove" else [(low, high)]
    reached = np.max([moved(*(scores(relation, one) for one in pair)) for pair in pairs], axis=0)
    assert len(reached) == 4 * 3 + 1 + 2, "every choice of every aggregate is looked at"
    assert all(part > Fraction(1, 2) for part in reached), reached
