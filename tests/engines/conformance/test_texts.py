"""Long texts on PostgreSQL, whose texts end at 2^30 bytes and whose lengths at 2^31."""

from time import perf_counter

import pytest

from engines.conformance.test_expressions import connection, values_in  # noqa: F401
from engines.test_texts import CONCAT, LIMIT_SECONDS, LONG, SLOW, TEXT, row
from letalone.plans.expressions import Length


@pytest.mark.parametrize("condition", SLOW, ids=range(len(SLOW)))
def test_a_hostile_pattern_takes_no_longer_than_a_look_at_the_text(connection, condition):  # noqa: F811
    start = perf_counter()
    assert values_in(connection, [row(LONG)], condition) == [False]
    assert perf_counter() - start < LIMIT_SECONDS


def test_a_text_that_is_put_together_is_missing_beyond_a_million_letters(connection):  # noqa: F811
    rows = [row("ä" * 333_333), row("ä" * 333_334)]
    assert values_in(connection, rows, Length(CONCAT)) == [999_999, None]
    doubled = TEXT
    for _ in range(6):
        doubled = doubled.concat(doubled)
    assert values_in(connection, [row("x" * 20_000), row("x")], Length(doubled)) == [None, 64]
