"""`measure` against the definitions in plain Python, from every source, in every row order."""

import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymity import brute
from letalone.anonymity import Anonymity, measure
from letalone.anonymity.diversity import closeness, ordered_closeness
from letalone.anonymity.measuring import measure_cells
from letalone.anonymity.value_cells import cells_of
from letalone.engines.frames.coded import encode_column
from letalone.errors import ParameterError

NAN = float("nan")
QUASI = st.sampled_from([None, NAN, -0.0, 0.0, 1.5])
VALUES = st.sampled_from([None, 1, 2, 3, 7])
MANY_GROUPS = st.tuples(QUASI, st.sampled_from(["a", "b", None]), VALUES)
FEW_GROUPS = st.tuples(st.sampled_from([None, 1.5]), st.just("a"), VALUES)
ROWS = st.one_of(*(st.lists(one, min_size=1, max_size=40) for one in (MANY_GROUPS, FEW_GROUPS)))
ORDER = [brute.key_of(value) for value in (None, 1, 2, 3, 7)]


def as_table(rows: list[tuple[Any, ...]]) -> pa.Table:
    q, r, s = zip(*rows, strict=True)
    kinds = (pa.float64(), pa.string(), pa.int64())
    arrays = [
        pa.array(one, kind, from_pandas=False) for one, kind in zip((q, r, s), kinds, strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=["q", "r", "s"])


@given(ROWS, st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(4)]))
def test_a2_every_figure_is_that_of_the_definitions(
    rows: list[tuple[Any, ...]], c: Fraction
) -> None:
    """The rows as cells of one row each, without DuckDB, which has the next test."""
    zeros = [(0.0 if row[0] == 0 else row[0], *row[1:]) for row in rows]
    q, r, s = (encode_column(as_table(zeros), name, called=name) for name in "qrs")
    found = measure_cells(cells_of([q, r], [s], np.ones(len(rows), np.int64)))
    assert found.k == brute.k_of(brute.groups_of(rows, 2))
    check(found, rows, c)


@settings(max_examples=10)
@given(ROWS)
def test_the_grouped_pass_gives_the_same_figures(rows: list[tuple[Any, ...]]) -> None:
    found = measure(as_table(rows), quasi_identifiers=["q", "r"], sensitive=["s"])
    assert found.k == brute.k_of(brute.groups_of(rows, 2))
    check(found, rows, Fraction(2))


def check(found: Anonymity, rows: list[tuple[Any, ...]], c: Fraction) -> None:
    groups = brute.groups_of(rows, 2)
    assert (found.rows, found.groups) == (len(rows), len(groups))
    assert (found.k, found.l) == (brute.k_of(groups), brute.l_of(groups))
    assert found.uniques == sum(group.total() == 1 for group in groups)
    assert found.entropy_l == pytest.approx(brute.entropy_l_of(groups), rel=1e-12)
    assert found.recursive(c) == brute.recursive_of(groups, c)
    check_closeness(found, groups)


def check_closeness(found: Anonymity, groups: list[Counter[Any]]) -> None:
    """Group by group: the worst group often has one value, and then much could be wrong."""
    cells = found.sensitive["s"].cells
    whole = np.bincount(cells.value, weights=cells.count).astype(np.int64)
    every, ordered = closeness(cells, whole), ordered_closeness(cells, whole)
    assert (found.t, found.t_ordered) == (every.max(), ordered.max())
    assert sorted(every) == pytest.approx([float(t) for t in brute.ts_of(groups)], abs=1e-15)
    expected = [float(t) for t in brute.ordered_ts_of(groups, ORDER)]
    assert sorted(ordered) == pytest.approx(expected, abs=1e-15)
    assert (ordered <= every + 1e-15).all()


@settings(max_examples=5)
@given(ROWS, st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_their_split_changes_a_bit(
    rows: list[tuple[Any, ...]], random: Random
) -> None:
    shuffled = random.sample(rows, len(rows))
    one, other = (
        measure(as_table(some), quasi_identifiers=["q", "r"], sensitive=["s"])
        for some in (rows, shuffled)
    )
    assert one == other
    assert str(one.smallest()) == str(other.smallest())


def test_a_nan_quasi_identifier_does_not_hide_a_unique_row() -> None:
    """A rival drops the group of NaN and says k = 2."""
    frame = pl.DataFrame({"q": [1.0, 1.0, NAN], "s": ["a", "b", "c"]})
    found = measure(frame, quasi_identifiers=["q"], sensitive=["s"])
    assert (found.k, found.l, found.uniques) == (1, 1, 1)
    gone = pd.DataFrame({"q": [1.0, 1.0, NAN], "s": ["a", "b", "c"]})
    assert measure(gone, quasi_identifiers=["q"], sensitive=["s"]).k == 1


def test_nan_and_null_are_two_values_and_all_nans_are_one() -> None:
    other_nan = np.array([0xFFF8000000000001], np.uint64).view(np.float64)[0]
    cells = pa.array([NAN, other_nan, None, None, None], pa.float64(), from_pandas=False)
    found = measure(pa.table({"q": cells}), quasi_identifiers=["q"])
    assert found.sizes() == [(2, 1), (3, 1)]
    floats = pa.table({"q": pa.array([0.0, -0.0, NAN, NAN], pa.float32(), from_pandas=False)})
    assert measure(floats, quasi_identifiers=["q"]).sizes() == [(2, 2)]


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_zero_has_one_sign_in_cells_of_different_values(kind: pa.DataType) -> None:
    """DuckDB keeps the sign that it meets first in each cell, and Arrow tells the two apart."""
    zeros = pa.array([0.0, -0.0, NAN, NAN], kind, from_pandas=False)
    found = measure(pa.table({"q": zeros, "s": [1, 2, 1, 2]}), quasi_identifiers="q", sensitive="s")
    assert (found.k, found.groups, found.l) == (2, 2, 2)
    turned = pa.table({"q": [1, 1, 1, 1], "s": zeros})
    assert measure(turned, quasi_identifiers="q", sensitive="s").l == 2


def test_a_permuted_index_changes_nothing() -> None:
    """A rival mixes up positions and labels, and says l = 2 where it is 1."""
    frame = pd.DataFrame({"q": ["x", "x", "y", "y"], "s": ["a", "a", "a", "b"]})
    for index in ([0, 1, 2, 3], [3, 1, 0, 2], [7, 7, 7, 7]):
        found = measure(frame.set_axis(index), quasi_identifiers=["q"], sensitive=["s"])
        assert (found.k, found.l) == (2, 1)


def test_entropy_l_is_not_cut_to_a_whole_number() -> None:
    """A rival says 1 where it is 1.89."""
    frame = pa.table({"q": ["x"] * 3, "s": ["a", "a", "b"]})
    found = measure(frame, quasi_identifiers=["q"], sensitive=["s"])
    assert found.entropy_l == pytest.approx(3 / 2 ** (2 / 3), rel=1e-12)


@pytest.mark.parametrize("values", [[5, 5, 5, 5], ["a"] * 4, [None] * 4])
def test_t_of_a_constant_column_is_zero(values: list[object]) -> None:
    """A rival divides by zero."""
    frame = pa.table({"q": ["x", "x", "y", "y"], "s": values})
    found = measure(frame, quasi_identifiers=["q"], sensitive=["s"])
    assert (found.t, found.t_ordered in (None, 0.0), found.l) == (0.0, True, 1)


def test_every_source_gives_the_same_figures(tmp_path: Path) -> None:
    table = pa.table(
        {"zip": ["02138", "02138", "2138", None], "age": [30, 30, 41, 41], "s": [1, 2, 3, 3]}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("zip,age,s\n02138,30,1\n02138,30,2\n2138,41,3\n,41,3\n")
    with duckdb.connect(tmp_path / "t.duckdb") as made:
        made.execute(
            "CREATE TABLE t AS SELECT * FROM read_parquet(?)", [str(tmp_path / "t.parquet")]
        )
    sources = [tmp_path / f"t.{kind}" for kind in ("parquet", "csv", "duckdb")]
    frames = [table, table.to_pandas(), pl.from_arrow(table), pl.from_arrow(table).lazy()]
    found = [
        measure(s, quasi_identifiers=["zip", "age"], sensitive=["s"]) for s in [*sources, *frames]
    ]
    assert all(one.to_json() == found[0].to_json() for one in found)
    assert found[0].k == 1
    assert found[0].t_ordered == pytest.approx(0.375)  # (1/4 + 1/2) / 2


def test_text_with_a_collation_is_told_apart_by_its_bytes(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "t.duckdb") as made:
        made.execute("CREATE TABLE t (q VARCHAR COLLATE NOCASE)")
        made.execute("INSERT INTO t VALUES ('a'), ('A')")
    assert measure(tmp_path / "t.duckdb", quasi_identifiers=["q"]).k == 1


def test_several_sensitive_columns_count_by_the_worst() -> None:
    frame = pa.table({"q": ["x", "x", "y", "y"], "s": [1, 2, 1, 2], "u": ["a", "a", "a", "b"]})
    found = measure(frame, quasi_identifiers="q", sensitive=["s", "u"])
    assert (found.sensitive["s"].l, found.sensitive["u"].l, found.l) == (2, 1, 1)
    assert found.t == found.sensitive["u"].t == 0.25
    assert found.sensitive["u"].certain == 2


def test_the_smallest_groups_are_shown_with_their_values() -> None:
    frame = pa.table({"q": ["y", "x", "y"], "n": [1, None, 1]})
    (first, second) = measure(frame, quasi_identifiers=["q", "n"]).smallest()
    assert first == {"q": "x", "n": None, "rows": 1}
    assert second == {"q": "y", "n": 1, "rows": 2}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"quasi_identifiers": []}, "is empty"),
        ({"quasi_identifiers": ["q", "q"]}, "twice"),
        ({"quasi_identifiers": ["qq"]}, "Did you mean 'q'"),
        ({"quasi_identifiers": [3]}, "names of columns"),
        ({"quasi_identifiers": ["q"], "sensitive": ["q"]}, "both"),
        ({"quasi_identifiers": ["lists"]}, "Convert it to text"),
        ({"quasi_identifiers": ["q"], "population": 1}, "population is 1"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_the_remedy(wrong: Any, words: str) -> None:
    frame = pa.table({"q": ["x", "y"], "lists": [[1], [2]]})
    with pytest.raises(ParameterError, match=words):
        measure(frame, **wrong)


def test_without_rows_or_sensitive_columns_there_is_no_figure() -> None:
    with pytest.raises(ParameterError, match="no rows"):
        measure(pa.table({"q": pa.array([], pa.string())}), quasi_identifiers=["q"])
    found = measure(pa.table({"q": ["x"]}), quasi_identifiers=["q"])
    for ask in (lambda: found.l, lambda: found.t, lambda: found.recursive(2)):
        with pytest.raises(ParameterError, match="No sensitive column"):
            ask()


def test_no_refusal_quotes_a_cell(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,s\nsecret-7,secret-8\n")
    with pytest.raises(ParameterError) as caught:
        measure(tmp_path / "t.csv", quasi_identifiers=["nothing"], sensitive=["s"])
    assert "secret" not in str(caught.value)


def test_a_hundred_thousand_rows_take_a_fraction_of_a_second() -> None:
    """A tenth of the goal, a million rows in a second of CPU; bench/anonymity.py has the whole."""
    random = np.random.default_rng(1)
    frame = pa.table(
        {
            "zip": pa.array([f"{n:05}" for n in range(1000)]).take(
                pa.array(random.integers(0, 1000, 10**5))
            ),
            "birth": pa.array(random.integers(0, 30_000, 10**5)),
            "s": pa.array(random.integers(0, 20, 10**5)),
        }
    )
    measure(frame, quasi_identifiers=["zip"], sensitive=["s"])
    start = time.process_time()
    measure(frame, quasi_identifiers=["zip", "birth"], sensitive=["s"])
    assert time.process_time() - start < 1
