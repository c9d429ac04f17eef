"""A few hundred queries of bench/fuzz_sql.py, which asks a hundred thousand."""

import logging
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages import pick

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "bench" / "fuzz_sql.py"))


@pytest.fixture(scope="module")
def fuzzer() -> Iterator[Any]:
    level = logging.getLogger().level
    made = SCRIPT["fuzzer"]()
    yield made
    logging.getLogger().removeHandler(made.heard)
    logging.getLogger().setLevel(level)


@pytest.mark.long
@settings(
    max_examples=pick(40, 100),
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 2**32), release=st.sampled_from([False] * 19 + [True]))
def test_no_query_tells_a_secret_or_touches_data_without_a_charge(
    fuzzer: Any, seed: int, release: bool
) -> None:
    fuzzer.check(SCRIPT["Grammar"](seed).query(), release=release)
    found, fuzzer.findings = fuzzer.findings, []
    assert not found, found[0]


@settings(max_examples=pick(40, 100), derandomize=True, deadline=None)
@given(text=st.text(max_size=50))
def test_no_text_at_all_does(fuzzer: Any, text: str) -> None:
    fuzzer.check(f"SELECT COUNT(*) FROM visits WHERE {text}", release=False)
    found, fuzzer.findings = fuzzer.findings, []
    assert not found, found[0]


def test_the_fuzzer_sees_a_secret_a_log_and_a_refusal_that_depends_on_data(fuzzer: Any) -> None:
    """Its power: each kind of finding is found where it is put."""
    secret = SCRIPT["SECRETS"][0]
    fuzzer._quiet("SELECT", f"an error about {secret}")
    logging.getLogger("some.engine").warning("a row")
    fuzzer._quiet("SELECT", "fine")
    real = fuzzer.empty.asked
    fuzzer.empty.asked = lambda _: (None, "another refusal")
    fuzzer.check("SELECT COUNT(*) FROM visits", release=False)
    fuzzer.empty.asked = real
    asked = fuzzer.full.asked
    fuzzer.full.asked = lambda _: (fuzzer.full.session._table.engine.prepare(None), "x")
    fuzzer.check("SELECT COUNT(*) FROM visits", release=False)
    fuzzer.full.asked = asked
    found, fuzzer.findings = fuzzer.findings, []
    assert [words.split(" for ")[0] for words in found][:3] == [
        f"{secret!r} was said",
        "something was logged",
        "depends on data",
    ]
    assert len(found) > 3, "touching data without a charge is found"
