"""Covariances, correlations, slopes and regressions: right without noise, covered with it."""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.plans.aggregates.of_columns import CountValues, Deviation, Variance
from letalone.plans.aggregates.of_pairs import Correlation, Covariance, Regression, Slope
from letalone.plans.expressions import col
from letalone.plans.plan import Aggregate, Bounding, GroupColumn, Plan
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.tables.ahead import epsilon_for
from letalone.tables.compiled import compile_plan
from letalone.tables.intervals import Family, NoiseLaw
from letalone.tables.parts import regression as regressions
from letalone.tables.parts.chosen_parts import parts_of
from letalone.tables.parts.pair_parts import PairPart
from letalone.tables.parts.regression import LeastSquaresSolver
from seeded import SeededBits
from tables.memory_engine import MemoryEngine
from tables.plans_for_tests import A, D, F, X, plan_of
from tables.two_columns import exact, lines

X_FIRST = (F(0), F(1000), F(0), F(120))
A_FIRST = (F(0), F(120), F(0), F(1000))
ASKED: dict[str, Aggregate] = {
    "covariance": Covariance(X, A, *X_FIRST),
    "sample": Covariance(A, X, *A_FIRST, sample=True),
    "correlation": Correlation(X, A, *X_FIRST),
    "slope": Slope(X, A, *X_FIRST),
    "back": Slope(A, X, *A_FIRST),
    "line": Regression(X, (A,), F(0), F(1000), (F(0),), (F(120),)),
}
PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "covariance": lambda x, a: np.cov(x, a, bias=True)[0, 1],
    "sample": lambda x, a: np.cov(x, a)[0, 1],
    "correlation": lambda x, a: np.corrcoef(x, a)[0, 1],
    "slope": lambda x, a: np.polyfit(a, x, 1)[0],
    "back": lambda x, a: np.polyfit(x, a, 1)[0],
    "line": lambda x, a: np.polyfit(a, x, 1)[::-1],
}
LARGE = 10**6  # an epsilon at which noise is negligible
KEYS = 100


def covered(names: list[str], *, rows: int, runs: int, **options: Any) -> list[Any]:
    """The shares of intervals that hold the truth, and would if they were a fifth narrower."""
    groups = lines(1, keys=KEYS, rows=rows, **options)
    keys = tuple(f"k{number}" for number in range(KEYS))
    whole = compile_plan(plan_of({name: ASKED[name] for name in names}, keys=keys), epsilon=1)
    integers, bits = exact(whole.measures, groups), SeededBits(rows)
    truth = {name: np.array([PLAIN[name](g["x"], g["a"]) for g in groups]) for name in names}
    hits: dict[str, list[Any]] = {name: [] for name in names}
    for _ in range(runs):
        found = whole.finish(integers, bits)
        for name in names:
            hits[name].append([holds(found[name], truth[name], wide) for wide in (1.0, 0.8)])
    return [np.mean(hits[name], axis=(0, 2)) for name in names]


def holds(answer: Any, truth: Any, wide: float = 1.0) -> Any:
    """Whether the interval, so many times as wide, holds the truth; one without ends does."""
    known = np.isfinite(answer.high)
    low, high = (np.where(known, end, 0.0) for end in (answer.low, answer.high))
    return ~known | (np.abs(truth - (low + high) / 2) <= wide * (high - low) / 2)


@pytest.mark.long
@pytest.mark.parametrize(
    ("names", "rows"),
    [
        (["covariance", "sample"], 2000),
        (["slope"], 5000),
        (["line"], 5000),
        (["correlation"], 10_000),
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(names: list[str], rows: int) -> None:
    """95 % of 3,000 intervals, and the standard error is 0.4 %: 93 and 97 % are five of them."""
    for share, narrower in covered(names, rows=rows, runs=30):
        assert np.all((share > 0.93) & (share < 0.97))
        assert np.all(narrower < 0.93), "too few to see intervals that are a fifth too narrow"


@pytest.mark.long
@pytest.mark.parametrize("rows", [5, 30, 100, 300])
@pytest.mark.parametrize("options", [{}, {"steep": 0.0, "noise": 30.0}])
def test_where_noise_is_large_intervals_hold_the_truth_at_least_as_often(
    rows: int, options: dict[str, float]
) -> None:
    """The mean is 95 % or more, and 93 % two standard errors below that or more."""
    for share, _ in covered(list(ASKED), rows=rows, runs=6, **options):
        assert np.all(share > 0.93)


def rows_of(*values: tuple[Any, Any]) -> list[dict[str, Any]]:
    return [{"u": place, "d": "A", "x": x, "a": a} for place, (x, a) in enumerate(values)]


def answered(asked: dict[str, Aggregate], rows: Any, *, epsilon: Any = 1, seed: int = 1) -> Any:
    whole = compile_plan(plan_of(asked, keys=("A",)), epsilon=epsilon)
    return whole.finish(MemoryEngine(rows).measure(whole.scope, whole.measures), SeededBits(seed))


def test_without_noise_the_answers_are_the_plain_ones_over_rows_that_have_both() -> None:
    (group,) = lines(4, keys=1, rows=800)
    pairs = list(zip(group["x"].tolist(), group["a"].tolist(), strict=True))
    found = answered(ASKED, rows_of(*pairs, (None, 100), (900.0, None)), epsilon=LARGE)
    for name, plain in PLAIN.items():
        truth = plain(group["x"], group["a"])
        assert np.allclose(found[name].values[0], truth, rtol=1e-3), name
        half = (found[name].high[0] - found[name].low[0]) / 2
        assert np.all(half < 1e-3 * np.abs(truth)), name


def test_values_beyond_the_bounds_count_at_the_bounds() -> None:
    beyond = rows_of(*[(5000.0, 500), (-5000.0, -500)] * 50)
    at_them = rows_of(*[(1000.0, 120), (0.0, 0)] * 50)
    one, other = (answered(ASKED, rows, epsilon=LARGE) for rows in (beyond, at_them))
    for name in ASKED:
        assert one[name].values.tolist() == other[name].values.tolist()
    assert one["correlation"].values[0] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    "rows",
    [rows_of(), rows_of((3.0, 4)), rows_of(*[(None, 4)] * 500)],
    ids=["no rows", "one row", "never both"],
)
def test_without_rows_values_are_missing_and_intervals_are_the_whole_range(rows: Any) -> None:
    found = answered(ASKED, rows)
    for name, answer in found.answers.items():
        assert np.all(np.isnan(answer.values)), name
    assert (found["covariance"].low[0], found["covariance"].high[0]) == (-30_000, 30_000)
    assert (found["correlation"].low[0], found["correlation"].high[0]) == (-1, 1)
    assert np.all(np.isinf(found["slope"].low) & np.isinf(found["line"].high))


def test_without_spread_there_is_no_correlation_and_no_slope_but_a_covariance() -> None:
    found = answered(ASKED, rows_of(*[(500.0, n % 100) for n in range(3000)]))
    assert np.isnan(found["correlation"].values[0])
    assert np.isnan(found["back"].values[0])
    assert found["covariance"].low[0] < 0 < found["covariance"].high[0]
    assert found["slope"].low[0] < 0 < found["slope"].high[0]


def test_aggregates_of_the_same_two_columns_share_corners_whichever_comes_first() -> None:
    (part,) = parts_of(plan_of(ASKED), bits=30).parts
    assert isinstance(part, PairPart)
    assert part.corners.count == 9
    counts = {
        name: parts_of(plan_of({name: ASKED[name]}), bits=30).parts[0].corners.count  # pyright: ignore
        for name in ASKED
    }
    assert counts == {
        "covariance": 4,
        "sample": 4,
        "correlation": 9,
        "slope": 6,
        "back": 6,
        "line": 6,
    }
    apart = {"c": ASKED["covariance"], "e": Covariance(X, A, F(0), F(999), F(0), F(120))}
    assert len(parts_of(plan_of(apart), bits=30).parts) == 2


@pytest.mark.parametrize("bits", [8, 24, 30])
@pytest.mark.parametrize("name", ASKED)
def test_a_row_has_few_enough_units_and_is_hardly_rounded(name: str, bits: int) -> None:
    (part,) = parts_of(plan_of({name: ASKED[name]}), bits=bits).parts
    assert isinstance(part, PairPart)
    assert 2**bits <= part.corners.row <= 2 ** (bits + 1)
    assert part.moved.l1 <= part.corners.row + part.corners.count + 1


def test_samples_have_one_row_less() -> None:
    (group,) = lines(4, keys=1, rows=12)
    asked: dict[str, Aggregate] = {
        "v": Variance(X, F(0), F(1000), sample=True),
        "z": Deviation(X, F(0), F(1000), sample=True),
        "p": Variance(X, F(0), F(1000)),
    }
    found = answered(asked, rows_of(*[(x, 0) for x in group["x"].tolist()]), epsilon=LARGE)
    assert found["v"].values[0] == pytest.approx(np.var(group["x"], ddof=1), rel=1e-3)
    assert found["z"].values[0] == pytest.approx(np.std(group["x"], ddof=1), rel=1e-3)
    assert found["v"].values[0] > 1.05 * found["p"].values[0]
    for rows in ([], rows_of((3.0, 0))):
        empty = answered(asked, rows)
        assert np.all(empty["v"].high >= empty["v"].values)
        assert np.all(np.isfinite(empty["v"].values) & np.isfinite(empty["z"].values))


def test_different_values_are_counted() -> None:
    rows = rows_of(*[(float(n % 40), None) for n in range(100)], (None, 1))
    found = answered(
        {"x": CountValues(X), "a": CountValues(A), "w": CountValues(D)}, rows, epsilon=LARGE
    )
    assert [found[name].values[0] for name in ("x", "a", "w")] == [40, 1, 1]


@pytest.mark.parametrize("name", ASKED)
def test_errors_to_expect_need_rows_and_fall_with_them(name: str) -> None:
    whole = compile_plan(plan_of({name: ASKED[name]}), epsilon=1)
    with pytest.raises(ParameterError, match="Give rows="):
        whole.expected_error(name)
    # A line's falls a little faster, since its matrix is less spoiled, too. What places stray from
    # values does not fall.
    assert whole.expected_error(name, rows=20_000) == pytest.approx(
        whole.expected_error(name, rows=10_000) / 2, rel=0.01 if name == "line" else 2e-3
    )
    least = epsilon_for(whole.plan, error=whole.expected_error(name, rows=10_000), rows=10_000)
    assert 0.98 < least < 1.02  # three digits


def test_a_line_of_which_nothing_will_be_known_has_an_endless_error() -> None:
    whole = compile_plan(plan_of({"line": ASKED["line"]}), epsilon=1)
    assert whole.expected_error("line", rows=5) == inf


# Several features


def features(seed: int, count: int, rows: int) -> list[Any]:
    generator = np.random.Generator(np.random.PCG64(seed))
    found = []
    for _ in range(40):
        t = generator.uniform(-1, 1, (rows, count))
        t[:, 0] = (t[:, 0] + t[:, -1]) / 2  # the first and the last go together
        y = 50 + 20 * t @ np.arange(1, count + 1) / count + 5 * generator.normal(size=rows)
        columns = {f"x{place}": 10 + 5 * t[:, place] for place in range(count)}
        found.append({"y": np.clip(y, 0, 100), **columns})
    return found


def regression(count: int, **options: Any) -> Plan:
    names = [f"x{place}" for place in range(count)]
    columns = (Column("d", Type.TEXT), *(Column(name, Type.NUMBER) for name in ("y", *names)))
    by, ends = tuple(col(name) for name in names), ((F(5),) * count, (F(15),) * count)
    return Plan(
        schema=Schema("t", columns),
        where=None,
        derived=(),
        joins=(),
        groups=(GroupColumn("d", D, Type.TEXT),),
        keys=tuple((f"k{number}",) for number in range(40)),
        aggregates=(("fit", Regression(col("y"), by, F(0), F(100), *ends)),),
        bounding=Bounding(**options),
    )


def solved(group: Any) -> Any:
    y, *xs = group.values()
    return np.linalg.lstsq(np.column_stack([np.ones(len(y)), *xs]), y, rcond=None)[0]


@pytest.mark.few("3-30000")
@pytest.mark.parametrize(
    ("count", "rows", "price"), [(2, 30_000, {}), (3, 30_000, {"delta": 1e-6})]
)
def test_coefficients_are_covered_as_often_as_they_say(count: int, rows: int, price: Any) -> None:
    """95 % of 40 · 25 intervals of each of three or four: 93 and 97 % are five standard errors."""
    groups = features(1, count, rows)
    whole = compile_plan(regression(count), epsilon=1, **price)
    integers, truth = exact(whole.measures, groups), np.array([solved(group) for group in groups])
    hits = []
    for seed in range(25):
        answer = whole.finish(integers, SeededBits(seed))["fit"]
        hits.append([holds(answer, truth), holds(answer, truth, 0.8)])
    shares = np.mean(hits, axis=(0, 2, 3))
    assert 0.93 < shares[0] < 0.97
    assert shares[1] < 0.93, "too few to see intervals that are a fifth too narrow"


@pytest.mark.parametrize(("count", "rows"), [(2, 3000), (4, 5000), (2, 100), (3, 0)])
def test_where_noise_is_large_coefficients_are_covered_or_missing(count: int, rows: int) -> None:
    groups = features(1, count, max(rows, 1))
    whole = compile_plan(regression(count), epsilon=1)
    integers = exact(whole.measures, groups)
    truth = np.array([solved(group) for group in groups])
    if not rows:
        integers = [[0] * 40 for _ in integers]
    for seed in range(5):
        answer = whole.finish(integers, SeededBits(seed))["fit"]
        assert np.mean(holds(answer, truth)) > 0.93
        assert np.all(np.isnan(answer.values) == np.isinf(answer.high))
        assert rows > 1000 or np.all(np.isnan(answer.values))


def shown_near_the_edge(ratio: float, family: Family = Family.GAUSSIAN) -> tuple[float, float]:
    """How often steep coefficients are shown, and covered where they are.

    Two features that go together; the least eigenvalue is `ratio` times the noise of the matrix.
    """
    pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    forms, left = np.eye(9), np.zeros((3, 3, 9))
    for place, (i, k) in enumerate(pairs):
        left[i, k] = left[k, i] = forms[place]
    squares = LeastSquaresSolver(left, forms[-3:], np.eye(3), np.zeros(3), np.zeros(4))
    moments = np.array([[3.0, 0, 0], [0, 1, 0.95], [0, 0.95, 1]])
    law = NoiseLaw(family, 1.0)
    matrix = moments * ratio * 3 * law.deviation / 0.05  # nine entries: e is 3 deviations
    beta = np.array([0.2, 3.0, -3.0])
    truth = np.array([*(matrix[pair] for pair in pairs), *(matrix @ beta)])
    draw = np.random.Generator(np.random.PCG64(7))
    noise = (draw.normal if family is Family.GAUSSIAN else draw.laplace)(size=(8000, 9))
    answer = squares.answer(truth + noise, law, 0.95)
    shown = ~np.isnan(answer.values[:, 1])
    held = (answer.low <= beta) & (beta <= answer.high)
    return float(np.mean(shown)), float(np.mean(held[shown, 1]))


def test_coefficients_that_are_shown_near_the_edge_are_covered_as_often_as_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """About 800 are shown at 2: with a coverage of 95 %, below 93 % once in 200 seeds."""
    for ratio, seen in ((2, 0.1), (2.5, 0.5), (3, 0.85), (6, 1)):
        shown, covered = shown_near_the_edge(ratio)
        assert shown == pytest.approx(seen, abs=0.1)
        assert covered > 0.95
    monkeypatch.setattr(regressions, "KNOWN", 2)
    monkeypatch.setattr(regressions, "STRAYS", 1)
    assert shown_near_the_edge(1.5)[1] < 0.93, "the usual noise alone would be too little"


@pytest.mark.long  # test_coefficients_are_covered_as_often_as_they_say stays
def test_with_laplace_noise_they_are_where_one_in_ten_is_shown() -> None:
    """About 800 at 2, with 95.5 %: below 93 % once in 1,000 seeds; at 1.5, one in 70, 78 %."""
    for ratio, seen in ((2, 0.1), (2.5, 0.5), (3, 0.9), (6, 1)):
        shown, covered = shown_near_the_edge(ratio, Family.LAPLACE)
        assert shown == pytest.approx(seen, abs=0.1)
        assert covered > 0.93
    assert shown_near_the_edge(1.5, Family.LAPLACE)[1] < 0.9, (
        "if not, say so in tables.parts.regression"
    )


@pytest.mark.parametrize(("count", "products"), [(2, 9), (3, 14), (8, 54)])
def test_a_regression_has_as_many_products_as_it_says(count: int, products: int) -> None:
    (part,) = parts_of(regression(count), bits=30).parts
    assert len(part.measures) == products
    assert part.weight == pytest.approx(2**0.5 * products, rel=1e-4)
    assert part.moved.l2_squared == pytest.approx(products * part.row**2, rel=1e-4)  # pyright: ignore


def test_without_noise_coefficients_are_those_of_least_squares() -> None:
    groups = features(2, 3, 500)
    whole = compile_plan(regression(3), epsilon=LARGE)
    answer = whole.finish(exact(whole.measures, groups), SeededBits(1))["fit"]
    assert np.allclose(answer.values, [solved(group) for group in groups], rtol=1e-3, atol=1e-2)
