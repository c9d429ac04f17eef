"""Answers about billions of rows: no sum is clamped, and intervals know that values are rounded.

Groups are given as exact integers, not as rows. Each key is a run of its own.
"""

from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from letalone.mechanisms import Gaussian, Geometric
from letalone.plans.aggregates.of_columns import Count, Deviation, Mean, Sum, Variance
from letalone.plans.aggregates.of_pairs import Correlation, Covariance, Regression, Slope
from letalone.plans.plan import Aggregate
from letalone.randomness.bits import BitSource
from letalone.randomness.real_noise import add_gaussian, grid_exponent
from letalone.tables.columns import NoisyColumn
from letalone.tables.compiled import Compiled, compile_plan
from letalone.tables.grid import grid_for
from letalone.tables.noise import Noise
from seeded import SeededBits
from tables.many_rows import Kind, exact
from tables.plans_for_tests import A, F, X, plan_of

RUNS = 400
PEOPLE: dict[str, Any] = {"unit": "u", "max_groups": 40, "max_rows": 1}
LOW, HIGH = F(0), F(1000)
BOTH = (LOW, HIGH, F(0), F(120))

SUMS: dict[str, Aggregate] = {
    "n": Count(),
    "mean": Mean(X, LOW, HIGH),
    "sum": Sum(X, LOW, HIGH),
    "alone": Sum(X, LOW, F(2000)),
    "variance": Variance(A, F(0), F(120)),
    "covariance": Covariance(X, A, *BOTH),
}

PAIRS: dict[str, Aggregate] = {
    "spread": Variance(X, LOW, HIGH),
    "slope": Slope(X, A, *BOTH),
    "correlation": Correlation(X, A, *BOTH),
    "line": Regression(X, (A,), LOW, HIGH, (F(0),), (F(120),)),
}


@cache
def priced(names: tuple[str, ...], epsilon: Any, delta: Any) -> Compiled:
    """People with a delta, whose noise is Gaussian; rows without one."""
    keys, bounds = tuple(f"k{number}" for number in range(RUNS)), PEOPLE if delta else {}
    asked = {name: {**SUMS, **PAIRS, "deviation": Deviation(X, LOW, HIGH)}[name] for name in names}
    return compile_plan(plan_of(asked, keys=keys, **bounds), epsilon=epsilon, delta=delta)


def released(whole: Compiled, kinds: list[Kind], seed: int) -> Any:
    assert whole.keys is not None
    weighed = [(whole.scope.lattice * rows, row) for rows, row in kinds]
    return whole.finish(exact(whole.measures, weighed, keys=len(whole.keys)), SeededBits(seed))


def covered(answer: NoisyColumn, truth: float) -> float:
    return float(np.mean((answer.low <= truth) & (truth <= answer.high)))


@pytest.mark.parametrize("delta", [0, F(1, 10**6)])
def test_sums_of_billions_of_rows_are_not_clamped(delta: Any) -> None:
    """Nine rows in ten at the top, the rest at the bottom: sums go far beyond 2^53 and 2^62.

    Of 400 intervals at 95 % fewer than 90 % hold in less than 1e-4 of all seeds.
    """
    whole = priced(tuple(SUMS), 1, delta)
    for rows in (10**9, 10**10):
        kinds: list[Kind] = [
            (rows // 10 * 9, {"x": 950.0, "a": 120.0}),
            (rows // 10, {"x": 0.0, "a": 0.0}),
        ]
        truths = {
            "n": rows,
            "mean": 855,
            "sum": 855 * rows,
            "alone": 855 * rows,
            "variance": 0.09 * 120**2,
            "covariance": 0.09 * 950 * 120,
        }
        answers = released(whole, kinds, seed=rows % 97)
        for name, truth in truths.items():
            assert covered(answers[name], truth) >= 0.9, (name, rows)
            assert answers[name].values == pytest.approx([truth] * RUNS, rel=1e-5), (name, rows)


@pytest.mark.parametrize("sigma", [Fraction(1, 1000), F(3), F(2) ** 31 / 7, F(2) ** 60 + 1])
def test_gaussian_noise_is_added_to_the_exact_number_whatever_its_size(sigma: Fraction) -> None:
    """Word for word: an ideal number added to the exact one, and the sum rounded once."""
    noise = Noise(Gaussian(sigma=sigma, sensitivity=1))
    for seed, number in enumerate([0, 1, -7, 2**53 + 1, -(2**61) + 3, 10**20 + 1, 3**45]):
        if number < 2**72 * sigma:  # others are clamped: more rows than there are
            kinds = (object, np.int64) if abs(number) < 2**62 else (object,)
            for kind in kinds:
                found = noise.release(np.array([[number]], dtype=kind), SeededBits(seed))
                assert found[0, 0] == add_gaussian(number, sigma, SeededBits(seed))


def test_what_gaussian_noise_is_added_to_moves_as_far_as_the_number_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is rounded before the noise could move by more than was paid for."""
    given: list[int] = []
    release = Gaussian.release

    def watch(mechanism: Gaussian, value: Any, *, bits: BitSource) -> Any:
        given.extend(int(one) for one in value.ravel())
        return release(mechanism, value, bits=bits)

    monkeypatch.setattr(Gaussian, "release", watch)
    numbers = Random(1)
    for power in range(20, 81, 4):
        noise = Noise(Gaussian(sigma=Fraction(2) ** power + 1, sensitivity=1))
        given.clear()
        asked = [numbers.randrange(2 ** (power + 20)) for _ in range(50)]
        noise.release(np.array([asked], dtype=object), SeededBits(power))
        apart = [one - number for one, number in zip(given, asked, strict=True)]
        grid = 1 << max(0, grid_exponent(noise.mechanism.sigma))
        assert all(one % grid == 0 for one in apart), power


def test_geometric_noise_is_added_to_the_exact_number_whatever_its_size() -> None:
    noise = Noise(Geometric(scale=2**31, sensitivity=1))
    for seed, number in enumerate([0, -7, 2**62, -(2**64) + 3, 10**20 + 1]):
        found = noise.release(np.array([[number]], dtype=object), SeededBits(seed))
        drawn = noise.mechanism.release(np.array([[0]]), bits=SeededBits(seed))
        assert found[0, 0] == float(number + int(drawn[0, 0]))


def above_a_place(share: Fraction) -> Fraction:
    """A value so much of a step above a place, whichever of the plan's grids it is on."""
    return 300 + share * grid_for(LOW, HIGH, 30, whole=False).step


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), (10, 0), (1, 1e-6), (10, 1e-6)])
@pytest.mark.parametrize("rows", [10**8, 10**9, 10**11])
def test_means_and_sums_are_covered_where_all_values_are_rounded_alike(
    epsilon: int, delta: float, rows: int
) -> None:
    """Without allowance for it, coverage at 95 % is 0 for means and sums of 10^11 rows.

    Of 400 runs at 95 % fewer than 90.5 % hold in less than 2e-4 of all seeds.
    """
    whole = priced(("n", "mean", "sum", "alone"), epsilon, delta)
    for share in (F(9, 10), F(0), F(1, 2)):
        value = above_a_place(share)
        answers = released(whole, [(rows, {"x": value, "a": F(0)})], seed=int(9 * share))
        truths = {"n": rows, "mean": value, "sum": value * rows, "alone": value * rows}
        for name, truth in truths.items():
            assert covered(answers[name], float(truth)) >= 0.905, (name, share)


def rounded_apart() -> tuple[list[Kind], dict[str, float]]:
    """Three kinds of rows of which one alone is rounded, and what is true about them."""
    step = grid_for(LOW, HIGH, 20, whole=False).step
    kinds = [(4, 300 + F(9, 10) * step, 30), (4, F(600), 90), (2, F(500), 30)]
    rows = sum(many for many, _, _ in kinds)
    means = [sum(kind[0] * kind[at] for kind in kinds) / F(rows) for at in (1, 2)]
    moments = {
        pair: sum(
            many * (x - means[0]) ** pair[0] * (a - means[1]) ** pair[1] for many, x, a in kinds
        )
        / F(rows)
        for pair in ((2, 0), (1, 1), (0, 2))
    }
    slope = moments[1, 1] / moments[0, 2]
    truths = {
        "spread": float(moments[2, 0]),
        "deviation": float(moments[2, 0]) ** 0.5,
        "slope": float(slope),
        "correlation": float(moments[1, 1]) / float(moments[2, 0] * moments[0, 2]) ** 0.5,
        "intercept": float(means[0] - slope * means[1]),
    }
    return [(many * 10**8, {"x": x, "a": F(a)}) for many, x, a in kinds], truths


@pytest.mark.parametrize("name", ["spread", "deviation", "slope", "correlation", "line"])
def test_spreads_and_lines_are_covered_where_one_kind_of_rows_is_rounded(name: str) -> None:
    """10^9 rows at epsilon 10. As above: a right interval fails in less than 2e-4 of all seeds.

    Without the allowance a spread was covered in 82 % of the runs, and all others in none.
    """
    kinds, truths = rounded_apart()
    answer = released(priced((name,), 10, 0), kinds, seed=4)[name]
    if name != "line":
        assert covered(answer, truths[name]) >= 0.905
        return
    for at, truth in enumerate((truths["intercept"], truths["slope"])):
        held = (answer.low[:, at] <= truth) & (truth <= answer.high[:, at])
        assert np.mean(held) >= 0.905


def test_values_clamped_to_a_bound_beside_the_grid_are_covered() -> None:
    """0.1 lies on no grid, so that what is beyond it counts as up to two steps more."""
    asked = {"n": Count(), "mean": Mean(X, F(0), F(1, 10)), "sum": Sum(X, F(0), F(1, 10))}
    keys, rows = tuple(map(str, range(RUNS))), 10**11
    for names in (("n", "mean", "sum"), ("sum",)):
        plan = plan_of({name: asked[name] for name in names}, keys=keys)
        answers = released(compile_plan(plan, epsilon=10), [(rows, {"x": 5.0})], seed=6)
        for name, truth in (("mean", 0.1), ("sum", rows / 10)):
            if name in names:
                assert covered(answers[name], truth) >= 0.905


def test_whole_numbers_on_a_grid_that_holds_them_are_not_widened() -> None:
    """Nor is any noise spent on how many there are."""
    for of, whole in ((A, True), (X, False)):
        plan = plan_of({"sum": Sum(of, F(0), F(120))}, keys="A")
        priced_sum = compile_plan(plan, epsilon=1)
        (part,) = priced_sum.split.parts.parts
        assert len(part.vector([np.array([1]), np.array([1])])[0]) == (1 if whole else 2)  # pyright: ignore
        kinds: list[Kind] = [(10**11, {"x": 7.0, "a": 7.0})]
        answer = released(priced_sum, kinds, seed=1)["sum"]
        wide = float((answer.high - answer.low)[0]) / 2
        assert wide == pytest.approx(priced_sum.expected_error("sum", rows=10**11), rel=1e-6)
        assert (wide < 400) == whole, "about three scales of 120, or half a step of 10^11 rows"
