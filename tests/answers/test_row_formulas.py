"""Columns computed from an answer are what DuckDB computes from the same rows."""

import math
import random
from functools import cache

import duckdb
import pytest

from letalone.answers.row_formulas import (
    WINDOWS,
    Calculation,
    Fixed,
    Order,
    OutputRef,
    WindowFunction,
    compute_column,
)

FRAMES = {
    None: "",
    (None, 0): "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    (-2, 0): "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    (-1, 1): "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    (0, None): "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    (None, None): "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    (2, 4): "ROWS BETWEEN 2 FOLLOWING AND 4 FOLLOWING",
}
RANKING = ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist")


def table(seed: int) -> list[dict[str, object]]:
    """Rows with equal numbers, missing ones, and two groups."""
    draw = random.Random(seed)
    return [
        {
            "id": place,
            "ward": draw.choice(["A", "B", None]),
            "day": draw.randrange(5),
            "n": draw.choice([None, *range(-3, 9)]),
        }
        for place in range(draw.randrange(14))
    ]


@cache
def database() -> duckdb.DuckDBPyConnection:
    """One for all tests: to open one takes longer than to ask it."""
    return duckdb.connect()


def by_duckdb(rows: list[dict[str, object]], call: str, over: str) -> list[object]:
    duck = database()
    duck.execute("CREATE OR REPLACE TABLE t (id INTEGER, ward TEXT, day INTEGER, n INTEGER)")
    if rows:
        several = ", ".join(["(?, ?, ?, ?)"] * len(rows))
        cells = [row[name] for row in rows for name in ("id", "ward", "day", "n")]
        duck.execute(f"INSERT INTO t VALUES {several}", cells)
    found = duck.execute(f"SELECT {call} OVER ({over}) FROM t ORDER BY id").fetchall()
    return [cell for (cell,) in found]


def same(ours: list[object], theirs: list[object]) -> bool:
    def equal(one: object, other: object) -> bool:
        if one is None or other is None:
            return one is other
        return math.isclose(float(one), float(other), rel_tol=1e-12)  # pyright: ignore

    return len(ours) == len(theirs) and all(map(equal, ours, theirs))


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("function", ["sum", "avg", "min", "max", "count"])
@pytest.mark.parametrize("ordered", [False, True])
def test_frames(function: str, frame: tuple[int | None, int | None] | None, ordered: bool) -> None:
    for seed in range(12):
        rows = table(seed)
        # A frame of rows needs an order that tells them all apart.
        names = ["day", "id"] if frame else ["day"]
        order = tuple(map(Order, names)) if ordered or frame else ()
        window = WindowFunction(function, OutputRef("n"), ("ward",), order, frame)
        by = f"ORDER BY {', '.join(names)}" if order else ""
        over = f"PARTITION BY ward {by} {FRAMES[frame]}"
        assert same(compute_column(window, rows), by_duckdb(rows, f"{function}(n)", over))


@pytest.mark.parametrize("function", RANKING)
@pytest.mark.parametrize("descending", [False, True])
def test_ranks(function: str, descending: bool) -> None:
    for seed in range(12):
        rows = table(seed)
        order = [Order("n", descending=descending)]
        by = f"n {'DESC' if descending else 'ASC'} NULLS LAST"
        if function == "row_number":
            order, by = [*order, Order("id")], f"{by}, id"
        window = WindowFunction(function, None, (), tuple(order))
        assert same(
            compute_column(window, rows), by_duckdb(rows, f"{function}()", f"ORDER BY {by}")
        )


@pytest.mark.parametrize("number", [1, 2, 3, 20])
@pytest.mark.parametrize("function", ["lag", "lead", "ntile"])
def test_rows_beside_and_tiles(function: str, number: int) -> None:
    for seed in range(12):
        rows = table(seed)
        window = WindowFunction(
            function, OutputRef("n"), ("ward",), (Order("day"), Order("id")), number=number
        )
        call = f"ntile({number})" if function == "ntile" else f"{function}(n, {number})"
        over = "PARTITION BY ward ORDER BY day, id"
        assert same(compute_column(window, rows), by_duckdb(rows, call, over))


@pytest.mark.parametrize("function", ["first_value", "last_value"])
def test_ends_of_a_frame(function: str) -> None:
    for seed in range(12):
        rows = table(seed)
        order = (Order("day"), Order("id"))
        window = WindowFunction(function, OutputRef("n"), ("ward",), order, (-1, 1))
        over = f"PARTITION BY ward ORDER BY day, id {FRAMES[-1, 1]}"
        assert same(compute_column(window, rows), by_duckdb(rows, f"{function}(n)", over))


def test_every_function_is_compared() -> None:
    compared = {"sum", "avg", "min", "max", "count", "lag", "lead", "ntile", *RANKING}
    assert compared | {"first_value", "last_value"} == set(WINDOWS)


def test_a_share_of_the_total() -> None:
    rows = [{"n": 1.0}, {"n": 3.0}, {"n": None}]
    total = WindowFunction("sum", OutputRef("n"))
    share = Calculation("/", (Calculation("*", (Fixed(100), OutputRef("n"))), total))
    assert compute_column(share, rows) == [25.0, 75.0, None]


@pytest.mark.parametrize(
    ("op", "cells", "expected"),
    [
        ("/", (1, 0), None),
        ("/", (1, None), None),
        ("nullif", (0, 0), None),
        ("nullif", (2, 0), 2),
        ("nullif", (2, None), 2),
        ("rounded", (2.344, 2), 2.34),
        ("rounded", (float("inf"), 0), None),
        ("rounded", (2.5, 0), 3.0),
        ("*", ("A", 10**9), None),
        ("-", ("A", 1), None),
        ("*", (1e308, 1e308), float("inf")),
    ],
)
def test_calculations_never_fail(op: str, cells: tuple[object, ...], expected: object) -> None:
    parts = tuple(Fixed(cell) for cell in cells)  # pyright: ignore
    assert compute_column(Calculation(op, parts), [{}]) == [expected]
