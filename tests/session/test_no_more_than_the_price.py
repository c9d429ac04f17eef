"""No cell, key, id, frame or parameter tells more than its price, or fails after the charge."""

import datetime as dt
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import letalone as la
from letalone.errors import LetaloneError, ParameterError

LARGE = la.Budget(epsilon=1000, delta=1e-3)
SURE = 51  # an epsilon at which a count is exact for certain, nearly


def test_a_public_table_is_not_replaced_by_one_that_is_joined_later():
    """One row counted a hundred times: the second table is not unique on the first's key."""
    private = pa.table({"u": [1], "k1": ["a"], "k2": ["x"]})
    unique = pa.table({"p1": ["a"], "p2": ["x"], "v": [1]})
    doubled = pa.table({"p1": ["a"] * 100, "p2": ["x", *(f"y{i}" for i in range(99))]})
    table = la.open(private, unit="u", budget=LARGE)
    query = table.join(unique, on={"k1": "p1"}).agg(n=la.count()).bound(max_rows=1)
    table.join(unique, on={"k2": "p2"})
    table.join(doubled, on={"k2": "p2"})
    assert query.release(epsilon=SURE).rows()[0]["n"] == 1


def test_a_public_frame_that_is_changed_afterwards_changes_nothing():
    keys = np.arange(100)
    public = pd.DataFrame({"k": keys}, copy=False)
    public["v"] = 1
    table = la.open(pa.table({"u": [1], "k": [0]}), unit="u", budget=LARGE)
    query = table.join(public, on="k").agg(n=la.count()).bound(max_rows=1)
    keys[:] = 0
    assert query.release(epsilon=SURE).rows()[0]["n"] == 1


@pytest.mark.parametrize(
    "odd",
    ["", None, dt.date(1, 1, 1)],
    ids=["empty text", "missing", "the first day"],
)
def test_one_odd_key_does_not_stop_the_discovery_of_keys(odd):
    """An error here would tell that the key is there, exactly, and freeze the data set."""
    usual = dt.date(2020, 1, 1) if isinstance(odd, dt.date) else "A"
    private = pa.table({"u": range(101), "g": [usual] * 100 + [odd]})
    table = la.open(private, unit="u", budget=LARGE)
    query = table.group_by("g").agg(n=la.count()).bound(max_rows=1)
    assert [row["g"] for row in query.release(epsilon=1, delta=1e-6).rows()] == [usual]


@pytest.mark.few("-800000")
@pytest.mark.parametrize("days", [3_000_000, -800_000, 2**31 - 2])
def test_a_date_beyond_the_calendar_is_a_missing_one(days):
    dates = pa.array([18_000] * 100 + [days], pa.int32()).cast(pa.date32())
    table = la.open(pa.table({"u": range(101), "g": dates}), unit="u", budget=LARGE)
    query = table.group_by("g").agg(n=la.count()).bound(max_rows=1)
    assert len(query.release(epsilon=1, delta=1e-6).rows()) == 1
    missing = table.where(la.col("g").is_null()).agg(n=la.count()).bound(max_rows=1)
    assert missing.release(epsilon=SURE).rows()[0]["n"] == 1


@pytest.mark.parametrize("kind", [pa.decimal128(38, 0), pa.uint64()], ids=str)
def test_two_people_whose_ids_are_the_same_float_are_two(kind):
    """Read as floats, fifty people were one unit, and one of them could push out another."""
    first = 9_223_372_036_854_775_900 if kind == pa.uint64() else 765_432_109_876_543_210
    ids = pa.array([first + person for person in range(50)], pa.uint64()).cast(kind)
    table = la.open(pa.table({"u": ids}), unit="u", budget=LARGE)
    answer = table.agg(n=la.count_distinct()).release(epsilon=SURE)
    assert answer.rows()[0]["n"] == 50


def test_a_unit_column_called_row_is_refused():
    """Its label would be that of single rows, in the ledger and in receipts."""
    with pytest.raises(ParameterError, match="'row'"):
        la.open(pa.table({"row": [1]}), unit="row", budget=LARGE)


@pytest.mark.parametrize("most", [{"max_rows": 2**62}, {"max_rows": 1, "max_groups": 10**30}])
def test_no_parameter_makes_the_engine_fail_after_the_charge(most):
    table = la.open(pa.table({"u": [1], "g": ["a"], "x": [1]}), unit="u", budget=LARGE)
    query = table.group_by("g", keys=["a"]).agg(n=la.count())
    with pytest.raises(LetaloneError, match="2\\^31"):
        query.bound(**most).release(epsilon=1)
    assert table.spent == la.Budget(0)


def test_a_link_to_a_file_has_the_schema_and_the_budget_of_the_file(tmp_path):
    from letalone.cli.places import ledger_path
    from letalone.sources.places import schema_path

    file, link = tmp_path / "visits.csv", tmp_path / "link.csv"
    file.write_text("pid\n1\n", "utf-8")
    link.symlink_to(file)
    assert schema_path(link) == schema_path(file)
    assert ledger_path(str(link)) == ledger_path(str(file))


def test_a_value_on_a_decimal_edge_lies_in_the_range_that_starts_there() -> None:
    """0.3 / 0.1 is below 3 in doubles; ranges are told apart by their edges instead."""
    values = [number / 10 for number in range(11)]
    table = pa.table({"x": pa.array(values)})
    groups = [la.bins("x", 0, 1, Fraction(1, 10))]
    with la.open(table, unit=la.ROW, budget=la.Budget(10**6), name="edges") as edges:
        found = edges.group_by(*groups).agg(n=la.count()).release(epsilon=10**5)
    assert [round(row["n"]) for row in found.rows()] == [1] * 9 + [2]


def test_a_category_that_is_no_text_opens_as_any_other_cell() -> None:
    """Half of a surrogate pair: the error of a conversion would carry the cell."""
    values = pd.Index(["SECRET\ud800", "plain"], dtype="object")
    frame = pd.DataFrame({"c": pd.Categorical.from_codes([0, 1], categories=values)})
    with la.open(frame, unit=la.ROW, budget=la.Budget(1), name="odd") as odd:
        assert odd.columns == {"c": "text"}


LONG = 0.3333333333333333
TINY = "would not fit into 64 bits"


@pytest.mark.parametrize(
    ("asked", "epsilon", "words"),
    [
        (lambda: la.quantile("x", LONG, lower=0, upper=100), 1, "six digits"),
        (lambda: la.quantile("x", [0.5, LONG], lower=0, upper=100), 1, "six digits"),
        ("SELECT QUANTILE_CONT(x, 0.3333333333333333333333) FROM data", 1, "six digits"),
        (lambda: la.median("x", lower=0, upper=100), 1e-16, TINY),
        (lambda: la.max("x", lower=0, upper=100), 1e-17, TINY),
        (lambda: la.private_bounds("x"), 1e-18, TINY),
        ("SELECT MEDIAN(x) FROM data", 1e-16, TINY),
    ],
)
@pytest.mark.long  # others of this file stay
def test_ranks_that_64_bits_do_not_hold_are_refused_for_nothing(asked, epsilon, words):
    """Products that wrapped told of one person at any epsilon; numbers too long froze the data."""
    table = la.open(pa.table({"u": range(50), "x": range(50)}), unit="u", budget=LARGE)

    def ask():
        if isinstance(asked, str):
            return table.sql(asked, bounds={"x": (0, 100)}, max_rows=1).release(epsilon)
        return table.agg(q=asked()).bound(max_rows=1).release(epsilon)

    with pytest.raises(LetaloneError, match=words):
        ask()
    assert table.spent.epsilon == 0
    assert table.agg(n=la.count()).bound(max_rows=1).release(SURE).rows()[0]["n"] == 50
