"""Operations on cells of an answer are those of DuckDB, and nothing fails."""

import itertools
import math
from datetime import date

import duckdb
import pytest

from letalone.answers.cell_operations import OPERATIONS, calculate, kind_of_result
from letalone.answers.columns import CellKind

TRUTHS = (True, False, None)
NUMBERS = (-1.5, 0, 2, 7.25, None)
TEXTS = ("", "Ab", "zé", None)
IN_SQL = {
    **{op: f"{{}} {op} {{}}" for op in ("=", "<>", "<", "<=", ">", ">=")},
    "+": "{} + {}",
    "-": "{} - {}",
    "*": "{} * {}",
    "nullif": "NULLIF({}, {})",
    "coalesce": "COALESCE({}, {})",
}
OF_ONE = {
    "negative": "-({})",
    "absolute": "ABS({})",
    "floor": "FLOOR({})",
    "ceiling": "CEIL({})",
    "missing": "({}) IS NULL",
    "truncated": "TRUNC({})",
    "rounded": "ROUND({})",
}


def in_sql(cell: object) -> str:
    match cell:
        case None:
            return "NULL"
        case str():
            return f"'{cell}'"
        case bool():
            return str(cell)
        case _:
            return f"CAST({cell} AS DOUBLE)"


def by_duckdb(expression: str) -> object:
    return duckdb.execute(f"SELECT {expression}").fetchall()[0][0]


def same(ours: object, theirs: object) -> bool:
    if ours is None or theirs is None or isinstance(ours, str | bool):
        return ours == theirs
    return math.isclose(float(ours), float(theirs))


@pytest.mark.parametrize("op", IN_SQL)
def test_operations_on_two_cells(op: str) -> None:
    pairs = list(itertools.product(NUMBERS, NUMBERS))
    pairs += list(itertools.product(TEXTS, TEXTS)) if op not in "+-*" else []
    for pair in pairs:
        sql = IN_SQL[op].format(*map(in_sql, pair))
        assert same(calculate(op, pair), by_duckdb(sql)), sql


@pytest.mark.parametrize("op", OF_ONE)
def test_operations_on_a_number(op: str) -> None:
    for cell in NUMBERS:
        assert same(calculate(op, (cell,)), by_duckdb(OF_ONE[op].format(in_sql(cell)))), cell


def test_truths_are_three() -> None:
    for one, other in itertools.product(TRUTHS, TRUTHS):
        for op in ("and", "or"):
            sql = f"{in_sql(one)}::BOOLEAN {op} {in_sql(other)}::BOOLEAN"
            assert calculate(op, (one, other)) is by_duckdb(sql)
    assert [calculate("not", (truth,)) for truth in TRUTHS] == [False, True, None]


def test_a_case_takes_the_first_that_is_true() -> None:
    assert calculate("case", (None, 1, True, 2, True, 3, 4)) == 2
    assert calculate("case", (None, 1, False, 2, 4)) == 4
    assert calculate("case", (False, 1, None)) is None


def test_texts_are_put_together_up_to_a_length() -> None:
    assert calculate("joined", ("A", 1, 2.5, True, date(2024, 1, 2))) == "A12.5true2024-01-02"
    assert calculate("joined", ("A", None)) is None
    assert calculate("joined", ("x" * 6000, "y" * 6000)) is None
    assert calculate("capitals", ("aé",)) == "Aé"
    assert calculate("length", ("zé",)) == 2


def test_a_text_beside_a_date_is_one() -> None:
    assert calculate("<", (date(2024, 1, 2), "2024-02-01")) is True
    assert calculate("=", (date(2024, 1, 2), "soon")) is None


@pytest.mark.parametrize("op", OPERATIONS)
def test_nothing_fails_whatever_the_cells(op: str) -> None:
    for cells in [(), ("A",), ("A", 1), (1, "A", True), (10**400, 0.5), (-1,)]:
        found = calculate(op, cells)
        assert found is None or isinstance(found, str | int | float | bool | date), cells


def test_what_a_column_holds() -> None:
    text, whole, number = CellKind.TEXT, CellKind.INTEGER, CellKind.NUMBER
    assert kind_of_result("case", (CellKind.BOOLEAN, text, None)) is text
    assert kind_of_result("case", (CellKind.BOOLEAN, whole, number)) is number
    assert kind_of_result("case", (CellKind.BOOLEAN, whole, None)) is whole
    assert kind_of_result("case", (CellKind.BOOLEAN, None, None)) is number
    assert kind_of_result("nullif", (whole, number)) is whole
    assert kind_of_result("<", (text, text)) is CellKind.BOOLEAN
    assert kind_of_result("length", (text,)) is whole
    assert kind_of_result("/", (whole, whole)) is number
