"""What people ask, audited as it is answered: la.open, the plan, DuckDB's sums, the noise.

The sums of two neighbouring tables are taken once, by the statements that a release runs; noise is
drawn upon them many times: as many groups with the same sums are as many draws. The claims are
true, so over seeds one run of this file in a million would accuse a correct answer. Each case is
accused when its noise is that of a larger epsilon, so it can fail.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import letalone as la
from letalone.audit import Verdict, audit, confidence_of_each
from letalone.session.query import Query
from letalone.tables.compiled import compile_plan
from seeded import SeededBits

HUGE = la.Budget(epsilon=10**6, delta=0.9)
Row = tuple[int, str, float | None, int]
FEW: list[Row] = [(unit, "A", 0.0, 0) for unit in range(3)]
PLAIN: list[Row] = [(9, "A", 1.0, 9)]
GREEDY = PLAIN * 4  # one person with more rows than are kept
ONE_ROW: dict[str, Any] = {"max_rows": 1}
TWO_ROWS: dict[str, Any] = {"max_rows": 2}
Case = tuple[dict[str, Any], list[Row], list[Row], dict[str, Any], int, float]

# What is asked; all rows but one person's; that person's; bounds; draws; what is accused.
CASES: dict[str, Case] = {
    "count": ({"n": la.count()}, FEW, PLAIN, ONE_ROW, 2500, 4),
    "count, two rows": ({"n": la.count()}, FEW, GREEDY, TWO_ROWS, 2500, 4),
    "count_distinct": ({"n": la.count_distinct()}, FEW, GREEDY, {}, 2500, 4),
    "sum": ({"s": la.sum("x", lower=-1, upper=1)}, FEW, PLAIN, ONE_ROW, 2500, 4),
    "sum, two rows": ({"s": la.sum("x", lower=0, upper=1)}, FEW, GREEDY, TWO_ROWS, 2500, 4),
    "sum, clipped": (
        {"s": la.sum("x", lower=0, upper=1)},
        FEW,
        GREEDY,
        {"max_groups": 1, "clip": True},
        2500,
        4,
    ),
    "mean": ({"m": la.mean("x", lower=0, upper=1)}, FEW, PLAIN, ONE_ROW, 3000, 8),
    "mean of a missing value": (
        {"n": la.count(), "m": la.mean("x", lower=0, upper=1)},
        FEW,
        [(9, "A", None, 9)],
        ONE_ROW,
        3000,
        8,
    ),
    "variance": ({"v": la.variance("x", lower=0, upper=1)}, FEW, PLAIN, ONE_ROW, 2000, 16),
    "quantile": ({"q": la.median("a", lower=0, upper=9)}, FEW[:1], PLAIN, ONE_ROW, 400, 40),
    "quantiles": (
        {"q": la.quantile("a", [0.25, 0.5, 0.75], lower=0, upper=9)},
        FEW[:1],
        PLAIN,
        ONE_ROW,
        3000,
        12,
    ),
    "histogram": ({"h": la.histogram("a", [0, 2, 9])}, FEW, PLAIN, ONE_ROW, 2500, 4),
    "max": ({"e": la.max("a", lower=0, upper=9)}, [], PLAIN, ONE_ROW, 400, 160),
    "top_k": ({"t": la.top_k("d", 1, candidates=["A", "B"])}, [], PLAIN, ONE_ROW, 1000, 8),
    "private_bounds": ({"b": la.private_bounds("a")}, FEW[:1], PLAIN, ONE_ROW, 160, 200),
}
SURE = confidence_of_each(2 * len(CASES) + 2, Fraction(999_999, 1_000_000))


def opened(rows: list[Row]) -> la.Session:
    units, groups, numbers, ages = zip(*rows, strict=True) if rows else ((), (), (), ())
    table = pa.table(
        {
            "u": pa.array(units, pa.int64()),
            "g": pa.array(["k0"] * len(rows), pa.string()),
            "d": pa.array(groups, pa.string()),
            "x": pa.array(numbers, pa.float64()),
            "a": pa.array(ages, pa.int64()),
        }
    )
    return la.open(table, unit="u", budget=HUGE)


@cache
def nobody() -> la.Session:
    """An empty table: a plan does not depend on the rows."""
    return opened([])


def question(session: la.Session, name: str, keys: list[str]) -> Query:
    asked, _, _, bounds, _, _ = CASES[name]
    bounds = {"max_groups": 1, **bounds}
    return session.group_by("g", keys=keys).agg(**asked).bound(**bounds)


@cache
def sums(name: str, *, more: bool) -> list[Any]:
    """The exact numbers of a release about one group, as the engine gives them."""
    _, rows, person, _, _, _ = CASES[name]
    with opened([*rows, *person] if more else rows) as session:
        plan = question(session, name, ["k0"]).plan
        whole, engine = compile_plan(plan, epsilon=1), session._table.engine
        return list(engine.measure(whole.scope, whole.measures))


def drawn(name: str, epsilon: Any) -> Callable[..., Any]:
    bits = SeededBits(3)

    def many(more: bool, count: int) -> Any:
        plan = question(nobody(), name, [f"k{place}" for place in range(count)]).plan
        whole = compile_plan(plan, epsilon=epsilon)
        exact = [values * count for values in sums(name, more=more)]
        answers = whole.finish(exact, bits).answers.values()
        columns = [np.asarray(answer.values).reshape(count, -1) for answer in answers]
        labels = [answer.labels == "B" for answer in answers if answer.labels is not None]
        return np.concatenate([*columns, *labels], axis=1)

    return many


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_an_answer_keeps_its_claim_and_one_with_less_noise_is_accused(name: str) -> None:
    *_, samples, accused = CASES[name]
    found = [
        audit(
            drawn(name, epsilon),
            False,
            True,
            claimed_epsilon=1,
            samples=samples,
            confidence=SURE,
            many=True,
        ).verdict
        for epsilon in (1, accused)
    ]
    assert found == [Verdict.CONSISTENT, Verdict.ACCUSED]


def discovered(epsilon: Any, delta: float) -> Callable[..., Any]:
    """Whether a key that one person has, or nobody, is among those that are found."""
    bits = SeededBits(4)

    def many(more: bool, count: int) -> Any:
        rows = [(unit, "A", 0.0, 0) for unit in range(20)]
        with opened([*rows, (99, "B", 0.0, 0)] if more else rows) as session:
            plan = session.group_by("d").agg(n=la.count()).bound(max_rows=1, max_groups=1).plan
            whole = compile_plan(plan, epsilon=epsilon, delta=delta)
            found = dict(session._table.engine.discover(whole.scope))
        # The person's key under as many names: each is kept or not by itself.
        names = [f"k{place:05}" for place in range(count)]
        units = found.get(("B",))
        kept = whole.with_keys([((name,), units) for name in names] if units else [], bits).keys
        shown = {key for (key,) in kept or ()}
        return np.array([[name in shown] for name in names], dtype=float)

    return many


@pytest.mark.parametrize(("delta", "verdict"), [(0.125, "consistent"), (0.5, "accused")])
def test_found_keys_keep_their_claim_and_a_larger_delta_is_accused(
    delta: float, verdict: str
) -> None:
    """A key of one person is shown with probability delta at most: claimed is 1/8."""
    found = audit(
        discovered(1, delta),
        False,
        True,
        claimed_epsilon=1,
        claimed_delta=0.125,
        samples=2000,
        confidence=SURE,
        many=True,
    )
    assert found.verdict is Verdict(verdict)
