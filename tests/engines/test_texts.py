"""Long texts on DuckDB: nothing fails, and nothing takes more than some steps for each letter."""

from time import perf_counter

import pytest

from engines.test_expressions import COLUMNS, values_in
from letalone.plans.expressions import ColumnRef, Length

TEXT = ColumnRef('t"')
LONG = "a" * 300_000
SLOW = [  # tried in every way, these would take the ninth power of the length, or the fourth
    TEXT.like("%a" * 9 + "b"),
    TEXT.like("%a%a%a%_b%"),
    TEXT.like("a%a%a%a_a%b"),
    TEXT.ilike("%AAAA%" + "_" * 200 + "b"),
    TEXT.contains("a" * 900 + "b"),
]
CONCAT = TEXT.concat(TEXT, TEXT)
LIMIT_SECONDS = 5


def row(text):
    return dict.fromkeys(COLUMNS) | {'t"': text}


@pytest.mark.parametrize("condition", SLOW, ids=range(len(SLOW)))
def test_a_hostile_pattern_takes_no_longer_than_a_look_at_the_text(condition):
    start = perf_counter()
    assert values_in([row(LONG)], condition) == [False]
    assert perf_counter() - start < LIMIT_SECONDS


def test_a_text_that_is_put_together_is_missing_beyond_a_million_letters():
    rows = [row("ä" * 333_333), row("ä" * 333_334)]
    assert values_in(rows, Length(CONCAT)) == [999_999, None]
    doubled = TEXT
    for _ in range(6):
        doubled = doubled.concat(doubled)
    assert values_in([row("x" * 20_000), row("x")], Length(doubled)) == [None, 64]
