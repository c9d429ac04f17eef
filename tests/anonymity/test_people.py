"""Where a person has several rows: k, l and t count people, against sets in plain Python."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymity import brute
from letalone.anonymity import Anonymity, anonymize, limits, measure
from letalone.anonymity.measuring import measure_cells
from letalone.anonymity.value_cells import cells_of
from letalone.engines.frames.coded import encode_column
from letalone.errors import ParameterError

Row = tuple[Any, Any, Any]  # a person, a quasi-identifier, a sensitive value
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob", "cleo", "dan", None]),
        st.sampled_from([1, 2, None]),
        st.sampled_from(["a", "b", "c"]),
    ),
    min_size=1,
    max_size=25,
)
ASKED: dict[str, Any] = {"quasi_identifiers": ["q"], "sensitive": ["s"], "unit": "who"}
MANY: dict[str, Any] = {**ASKED, "quasi_identifiers": ["age"], "sensitive": ["ill"]}


def as_table(rows: Sequence[Row]) -> pa.Table:
    who, q, s = zip(*rows, strict=True)
    return pa.table({"who": pa.array(who, pa.string()), "q": pa.array(q, pa.int64()), "s": s})


def people_of(rows: Sequence[Row]) -> dict[Hashable, set[Any]]:
    found: dict[Hashable, set[Any]] = defaultdict(set)
    for who, q, _ in rows:
        found[q].add(who)
    return found


def groups_of(rows: Sequence[Row]) -> dict[Hashable, Counter[Hashable]]:
    """How many people of each group have a value: each person once, however many rows."""
    found: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for _, q, s in set(rows):
        found[q][s] += 1
    return found


def certain_of(rows: Sequence[Row], ruled_out: int) -> int:
    """Alone in a group, or the only value of theirs is the only one that is left of it."""
    people, groups, values = people_of(rows), groups_of(rows), defaultdict(set)
    for who, q, s in rows:
        values[who, q].add(s)
    return len(
        {
            who
            for (who, q), own in values.items()
            if len(people[q]) == 1 or (len(own) == 1 and len(groups[q]) - ruled_out <= 1)
        }
    )


def distance(group: Counter[Hashable], whole: Counter[Hashable]) -> float:
    return sum(abs(group[v] / group.total() - n / whole.total()) for v, n in whole.items()) / 2


def check(found: Anonymity, rows: Sequence[Row]) -> None:
    people, groups = people_of(rows), groups_of(rows)
    whole = Counter(s for _, s in {(who, s) for who, _, s in rows})
    assert (found.rows, found.people) == (len(rows), len({who for who, _, _ in rows}))
    assert found.k == min(len(one) for one in people.values())
    assert found.uniques == len({who for one in people.values() if len(one) == 1 for who in one})
    assert found.l == brute.l_of(list(groups.values()))
    assert found.entropy_l == pytest.approx(brute.entropy_l_of(list(groups.values())), rel=1e-12)
    assert found.recursive(2) == brute.recursive_of(list(groups.values()), 2)
    worst = max(distance(group, whole) for group in groups.values())
    assert found.t == pytest.approx(worst, abs=1e-12)
    assert found.sensitive["s"].certain == certain_of(rows, 0)


@given(ROWS)
def test_a2_every_figure_counts_people_as_sets_do(rows: list[Row]) -> None:
    """The rows as cells of one row each, without DuckDB, which has the next test."""
    who, q, s = (encode_column(as_table(rows), name, called=name) for name in ("who", "q", "s"))
    once = np.ones(len(rows), np.int64)
    found = measure_cells(cells_of([q], [s], once, unit=who))
    check(found, rows)
    assert found.k <= measure_cells(cells_of([q], [s], once)).k


@settings(max_examples=5)
@given(ROWS)
def test_the_grouped_pass_gives_the_same_figures(rows: list[Row]) -> None:
    found = measure(as_table(rows), **ASKED)
    check(found, rows)
    assert found.unit == "who"


@settings(max_examples=5)
@given(ROWS)
def test_exposed_people_are_those_of_plain_python(rows: list[Row]) -> None:
    (one,) = limits(as_table(rows), **ASKED).exposures.values()
    assert one.known == tuple(certain_of(rows, facts) for facts in range(3))
    groups, people = groups_of(rows), people_of(rows)
    right = sum(max(group.values()) for group in groups.values())
    assert one.guessed == pytest.approx(right / sum(len(some) for some in people.values()))
    whole = Counter(s for _, s in {(who, s) for who, _, s in rows})
    assert one.guessed_before == pytest.approx(max(whole.values()) / one.people)


@settings(max_examples=5)
@given(ROWS)
def test_with_one_row_a_person_people_are_rows(rows: list[Row]) -> None:
    table = as_table([(str(n), q, s) for n, (_, q, s) in enumerate(rows)])
    by_people, by_rows = measure(table, **ASKED), measure(table, **{**ASKED, "unit": None})
    names = ("k", "l", "t", "entropy_l", "uniques", "groups", "people", "risk", "sensitive")
    assert all(getattr(by_people, name) == getattr(by_rows, name) for name in names)


def test_five_rows_of_one_person_are_not_five_people() -> None:
    """k = 5 by rows, with three diagnoses; but whoever finds the group finds all about ann."""
    table = as_table([("ann", 1, s) for s in "aabbc"])
    rows = measure(table, quasi_identifiers=["q"], sensitive=["s"])
    people = measure(table, **ASKED)
    assert (rows.k, rows.uniques, rows.l, rows.sensitive["s"].certain) == (5, 0, 3, 0)
    assert (people.k, people.uniques, people.l, people.sensitive["s"].certain) == (1, 1, 3, 1)
    assert (people.rows, people.people, people.risk.prosecutor) == (5, 1, 1)
    assert people.smallest() == [{"q": 1, "people": 1}]
    with pytest.raises(ParameterError, match="fewer people"):
        anonymize(table, **ASKED, k=2)


def test_rows_without_a_person_are_one_person() -> None:
    """Whose they are is not known; were each one a person, k could be too large."""
    assert measure(as_table([(None, 1, "a")] * 4), **ASKED).k == 1


def test_one_person_cannot_outweigh_the_others() -> None:
    """Ninety rows of ann say a; by people, the group is half a and half b, as the table is."""
    rows = [("ann", 1, "a")] * 90 + [("bob", 1, "b"), ("cleo", 2, "a"), ("dan", 2, "b")]
    assert measure(as_table(rows), **ASKED).t == 0
    assert measure(as_table(rows), **{**ASKED, "unit": None}).t > 0.4


def test_a_person_in_two_groups_is_one_of_the_people_around() -> None:
    table = as_table([("ann", 1, "a"), ("ann", 2, "a"), ("bob", 1, "b")])
    assert measure(table, **ASKED, population=2).risk.is_estimate
    with pytest.raises(ParameterError, match="population is 1, but the table has 2 people"):
        measure(table, **ASKED, population=1)


MANY_ROWS = st.lists(
    st.tuples(
        st.integers(0, 9), st.sampled_from([20, 21, 30, 31, 90]), st.sampled_from(["a", "b", "c"])
    ),
    min_size=12,
    max_size=60,
)


@pytest.mark.long
@settings(max_examples=8)
@given(
    MANY_ROWS,
    st.integers(1, 5),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([None, 0, 0.2, 0.5]),
    st.sampled_from([0, 0.1, 0.5]),
)
def test_a2_a_table_by_people_has_k_people_in_every_group(
    rows: list[Row], k: int, values: int | None, t: float | None, share: float
) -> None:
    """The sensitive value names its row here, so that every row's person is found again."""
    if len({who for who, _, _ in rows}) < k or len({s for *_, s in rows}) < (values or 1):
        return
    who, ages, ills = zip(*rows, strict=True)
    table = pa.table({"who": who, "age": ages, "ill": ills, "at": list(range(len(rows)))})
    asked: dict[str, Any] = {**MANY, "sensitive": ["ill", "at"]}
    made = anonymize(table, **asked, k=k, max_suppressed=share)
    released = [(who[row["at"]], row["age"], row["ill"]) for row in made.as_arrow.to_pylist()]
    assert made.as_arrow.column_names == ["age", "ill", "at"]
    assert min(len(one) for one in people_of(released).values()) >= k
    assert made.suppressed == len(rows) - len(released) <= share * len(rows)
    found = anonymize(table, **MANY, k=k, l=values, t=t, max_suppressed=share).anonymity
    assert found.k >= k
    assert values is None or found.l >= values
    assert t is None or found.t <= t


def test_a_cut_that_keeps_k_rows_but_not_k_people_is_not_made() -> None:
    """Two ages with three rows each; the older three rows are one person's."""
    ages, who = [20, 20, 20, 60, 60, 60], ["ann", "bob", "cleo", "dan", "dan", "dan"]
    table = pa.table({"age": ages, "who": who, "ill": list("abcabc")})
    by_rows = anonymize(table, **{**MANY, "unit": None}, k=3, max_suppressed=0)
    by_people = anonymize(table, **MANY, k=3, max_suppressed=0)
    assert (by_rows.anonymity.groups, by_people.anonymity.groups) == (2, 1)
    assert by_people.anonymity.k == 4
    assert "who" in by_people.dropped


def test_cuts_go_by_people_and_not_only_the_check_at_the_end() -> None:
    """Were they made by rows, dan's three would be a part, and one group the only way out."""
    who = ["ann", "bob", "cleo", "eve", "fay", "gus", "dan", "dan", "dan"]
    table = pa.table({"age": [20] * 3 + [60] * 3 + [90] * 3, "who": who, "ill": list("abc") * 3})
    made = anonymize(table, **MANY, k=3, max_suppressed=0).anonymity
    assert (made.groups, made.k) == (2, 3)


def test_who_has_two_values_among_others_is_certain_to_nobody() -> None:
    """Both have both, so no wrong value can be ruled out; cleo has one of two."""
    both = [(who, 1, s) for who in ("ann", "bob") for s in "ab"]
    (one,) = limits(as_table(both), **ASKED).exposures.values()
    assert one.known == (0, 0, 0)
    (one,) = limits(as_table([*both, ("cleo", 1, "a")]), **ASKED).exposures.values()
    assert one.known == (0, 1, 1)


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("q", "'q' is the unit"),
        ("s", "'s' is the unit"),
        ("whom", "Did you mean 'who'"),
        (3, "one column"),
        (["who"], "one column"),
    ],
)
def test_a_unit_that_is_none_is_refused_with_the_remedy(unit: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        measure(as_table([("ann", 1, "a")]), **{**ASKED, "unit": unit})


def test_missing_and_nan_units_are_one_person_together() -> None:
    """Neither says who it is; two people in a group of one would be a k that is too large."""
    unit = pa.array([None, float("nan"), 1.0, 1.0])
    table = pa.table({"q": ["a", "a", "b", "b"], "s": ["x", "y", "x", "y"], "u": unit})
    found = measure(table, quasi_identifiers="q", sensitive="s", unit="u")
    assert (found.k, found.people, found.uniques) == (1, 2, 2)
