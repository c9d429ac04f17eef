"""The page "What SQL works" is current, complete, and true: each of its examples is run."""

import re
import runpy
from pathlib import Path

import pytest
from sqlglot import exp, parse_one

from letalone.errors import LetaloneError
from letalone.sql.aggregates import AGGREGATES, NAMED
from letalone.sql.question import read_question
from letalone.sql.sql_formulas import FORMULAS
from letalone.sql.values import FUNCTIONS, TRANSLATED

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "what_sql_works.py"))
VISITS, TABLES = SCRIPT["VISITS"], {"cities": SCRIPT["CITIES"]}
REFUSED = list(SCRIPT["refused"]())
# What only another dialect's parser makes of the same words.
ELSEWHERE = {
    exp.TsOrDsToDate, exp.DayOfWeekIso, exp.Quantile, exp.PercentileDisc, exp.Null,
    exp.DatetimeTrunc, exp.TimeStrToTime, exp.TsOrDsToTimestamp, exp.TsOrDsAdd, exp.DatetimeAdd,
    exp.DatetimeSub, exp.TimestampAdd, exp.TimestampSub,
}  # fmt: skip


def test_the_page_is_current() -> None:
    """If this fails: python docs/what_sql_works.py"""
    assert SCRIPT["PAGE"].read_text("utf-8") == SCRIPT["page"]()


def test_everything_that_is_translated_stands_in_an_example() -> None:
    """An entry of a table without an example would be undocumented SQL."""
    nodes: set[type] = set()
    names: set[str] = set()
    for sql, _ in SCRIPT["worked"]():
        query = re.sub("^EXPLAIN", "", sql)
        for dialect in ("duckdb", "spark", "bigquery") if "`" not in sql else ("spark",):
            for node in parse_one(query, read=dialect).walk():
                nodes.add(type(node))
                names |= {str(node.this).upper()} if type(node) is exp.Anonymous else set()
    assert {*TRANSLATED, *AGGREGATES, *FORMULAS} - nodes <= ELSEWHERE
    assert {*NAMED, *FUNCTIONS} <= names


@pytest.mark.parametrize("one", REFUSED, ids=lambda one: one.example)
def test_what_the_page_says_is_refused_is(one) -> None:
    with pytest.raises(LetaloneError):
        read_question(one.example, VISITS, tables=TABLES)
