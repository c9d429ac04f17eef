"""A hundred and fifty queries of bench/fuzz_sql.py over HTTP; `--http` there sends many more."""

import runpy
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[3] / "bench" / "fuzz_http.py"))
QUERIES, RELEASED = 80, 15


@pytest.fixture(scope="module")
def fuzzer() -> Iterator[Any]:
    with ExitStack() as stack:
        yield SCRIPT["http_fuzzer"](stack)


@pytest.mark.long
def test_no_query_over_http_tells_a_secret_or_depends_on_data(fuzzer: Any) -> None:
    grammar = SCRIPT["SQL"]["Grammar"](20261115)
    for number in range(QUERIES):
        fuzzer.check(grammar.query(), release=number % RELEASED == 0)
    assert not fuzzer.findings, fuzzer.findings[0]
    assert fuzzer.counted["200"] > QUERIES / 5, "many are understood"
    assert fuzzer.counted["released"], "and some are released"


def test_the_fuzzer_sees_a_secret_a_log_and_an_answer_that_depends_on_data(fuzzer: Any) -> None:
    """Its power: each kind of finding is found where it is put."""
    sql, secret = "SELECT COUNT(*) AS n FROM visits WHERE cost > 7", SCRIPT["SECRETS"][0]
    fuzzer.full.log.write(f"asked: {sql} about {secret}")
    fuzzer.check(sql, release=False)
    real = fuzzer.empty.ask
    fuzzer.empty.ask = lambda *_: real("preview", "SELECT")
    fuzzer.check(sql, release=False)
    fuzzer.empty.ask = real
    found, fuzzer.findings = fuzzer.findings, []
    kinds = [words.split(" for ")[0] for words in found]
    assert kinds == [f"{secret!r} was said", "SQL was logged", "depends on data"]
