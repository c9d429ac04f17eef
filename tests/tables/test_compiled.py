"""A plan with its price: what is decided without data, and what comes out with it."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from letalone.engines.core.measures import scope_of
from letalone.engines.core.statements import ALONE
from letalone.errors import ParameterError
from letalone.plans.aggregates.of_columns import (
    Count,
    CountUnits,
    CountValues,
    Mean,
    MostFrequent,
    Sum,
    Variance,
)
from letalone.plans.plan import Plan
from letalone.privacy import REPLACE, Relation
from letalone.tables.ahead import epsilon_for
from letalone.tables.compiled import Compiled, compile_plan
from letalone.tables.parts.vectors import SharedCount
from seeded import SeededBits
from tables.memory_engine import MemoryEngine, Row
from tables.plans_for_tests import EVERYTHING, PRESENT, A, D, F, X, plan_of

PEOPLE = {"unit": "u", "max_rows": 2, "max_groups": 3}
LARGE = 10**6  # an epsilon at which noise is negligible


def table(rows: int, seed: int = 1) -> list[Row]:
    generator = np.random.Generator(np.random.PCG64(seed))
    return [
        {
            "u": int(generator.integers(0, max(rows // 3, 1))),
            "d": "ABCD"[int(generator.integers(0, 4))],
            "x": None if generator.random() < 0.1 else float(generator.gamma(2, 100)),
            "a": int(generator.integers(0, 100)),
        }
        for _ in range(rows)
    ]


def answered(plan: Plan, rows: list[Row], seed: int = 1, **price: Any) -> Any:
    whole = compile_plan(plan, **price)
    exact = MemoryEngine(rows).measure(whole.scope, whole.measures)
    return whole.finish(exact, SeededBits(seed))


@pytest.mark.parametrize("options", [{}, PEOPLE, {"neighbours": REPLACE}, {"grouped": False}])
@pytest.mark.parametrize("price", [{"epsilon": 0.7}, {"epsilon": 1.3, "delta": 1e-6}])
@pytest.mark.parametrize("names", [tuple(EVERYTHING), ("n",), ("n", "mean"), ("median", "n")])
def test_the_whole_reveals_at_most_what_was_asked(
    options: dict[str, Any], price: dict[str, Any], names: tuple[str, ...]
) -> None:
    if options.get("grouped") is False:
        options = {**options}
    plan = plan_of({name: EVERYTHING[name] for name in names}, **options)
    whole = compile_plan(plan, **price)
    asked, delta = price["epsilon"], price.get("delta", 0)
    assert whole.privacy.delta(asked) <= delta
    assert sum((part.share for part in whole.parts), Fraction(0)) <= 1
    if not delta:
        assert whole.privacy.worst_loss() == Fraction(str(asked))
        assert whole.privacy.epsilon(0) == asked
        assert sum(part.share for part in whole.parts) == 1


def test_gaussian_noises_together_cost_what_was_asked() -> None:
    asked = {"n": CountUnits(), "m": Mean(X, F(0), F(1)), "s": Sum(A, F(0), F(9))}
    keys = tuple(f"k{number}" for number in range(100))
    plan = plan_of(asked, keys=keys, unit="u", max_groups=50, max_rows=1)
    whole = compile_plan(plan, epsilon=1, delta=1e-6)
    assert {part.words for part in whole.parts} == {"Gaussian noise"}
    assert whole.privacy.epsilon(1e-6) <= 1
    assert whole.privacy.epsilon(1e-6) > 0.9999
    mixed = compile_plan(
        plan_of(
            {**asked, "q": EVERYTHING["median"]}, keys=keys, unit="u", max_groups=50, max_rows=1
        ),
        epsilon=1,
        delta=1e-6,
    )
    assert mixed.privacy.delta(1) <= 1e-6


@pytest.mark.parametrize("epsilon", [F(1, 10**6), F(1, 100), 100])
def test_noise_fits_into_64_bits_however_small_epsilon_is(epsilon: Any) -> None:
    """Beyond a scale of 2^50 the mechanism's own clamp of the noise would be seen."""
    plan = plan_of(EVERYTHING, unit="u", max_rows=50, max_groups=20)
    for noise in compile_plan(plan, epsilon=epsilon).split.noises.values():
        assert noise.law.scale <= 2**50
    with pytest.raises(ParameterError, match=r"would not fit into 64 bits.*larger epsilon"):
        compile_plan(plan, epsilon=F(1, 10**15))


def test_without_a_delta_noise_is_never_gaussian() -> None:
    keys = tuple(f"k{number}" for number in range(100))
    plan = plan_of({"n": Count()}, keys=keys, unit="u", max_groups=50, max_rows=1)
    (part,) = compile_plan(plan, epsilon=1).parts
    assert part.words.startswith(("geometric", "Laplace"))
    (part,) = compile_plan(plan, epsilon=1, delta=1e-6).parts
    assert part.words == "Gaussian noise"
    (row,) = compile_plan(plan_of({"n": Count()}), epsilon=1, delta=1e-6).parts
    assert row.words.startswith("geometric"), "one group a row: geometric noise is smaller"


def test_the_label_names_neighbours_and_unit() -> None:
    row = compile_plan(plan_of({"n": Count()}), epsilon=1).privacy.neighbours
    assert str(row) == "add or remove one row"
    person = compile_plan(plan_of({"n": Count()}, neighbours=REPLACE, **PEOPLE), epsilon=1).privacy
    assert person.neighbours is not None
    assert (person.neighbours.relation, person.neighbours.unit) == (Relation.REPLACE, "u")


def everything_but_finish(whole: Compiled) -> tuple[Any, ...]:
    names = [name for name, _ in whole.plan.aggregates]
    errors = [whole.expected_error(name, rows=1000) for name in names]
    return repr(whole.privacy), repr(whole.parts), repr(whole.measures), errors


def test_nothing_but_finish_depends_on_the_data() -> None:
    """The plan never sees a table; here one is measured in between, full and empty."""
    plan = plan_of(EVERYTHING, **PEOPLE)
    seen: list[Any] = []
    for rows in (table(200), []):
        whole = compile_plan(plan, epsilon=1, delta=1e-6)
        before = everything_but_finish(whole)
        whole.finish(MemoryEngine(rows).measure(whole.scope, whole.measures), SeededBits(1))
        assert everything_but_finish(whole) == before
        seen += [before, epsilon_for(plan_of({"n": Count()}), error=5)]
    assert seen[:2] == seen[2:]


@pytest.mark.parametrize("rows", [0, 1, 60])
@pytest.mark.parametrize("options", [{}, PEOPLE, {"grouped": False}])
def test_every_key_is_answered_whatever_the_table_holds(rows: int, options: Any) -> None:
    answers = answered(plan_of(EVERYTHING, **options), table(rows), epsilon=1)
    keys = 1 if options.get("grouped") is False else 2
    assert len(answers.keys) == keys
    assert list(answers.answers) == list(EVERYTHING)
    for answer in answers.answers.values():
        assert answer.values.shape == answer.low.shape == answer.high.shape
        assert answer.values.shape[0] == keys
        assert np.all(np.isfinite(answer.values))
        assert np.all(answer.low <= answer.high)


@pytest.mark.long
def test_with_negligible_noise_the_answers_are_the_plain_ones() -> None:
    rows = table(3000)
    answers = answered(plan_of(EVERYTHING), rows, epsilon=LARGE)
    for place, key in enumerate("AB"):
        mine = [row for row in rows if row["d"] == key]
        x = np.array([row["x"] for row in mine if row["x"] is not None])
        a = np.array([row["a"] for row in mine])
        clamped = np.clip(x, 0, 1000)
        plain = {
            "n": len(mine),
            "units": len(mine),
            "total": np.clip(x, -100, 1000).sum(),
            "mean": clamped.mean(),
            "variance": clamped.var(),
            "deviation": np.clip(a, 0, 120).std(),
            "median": np.sort(a)[(len(a) - 1) // 2],
            "oldest": a.max(),
        }
        for name, value in plain.items():
            assert answers[name].values[place] == pytest.approx(value, rel=1e-3), name
        ages = [np.sum(a < 18), np.sum((a >= 18) & (a < 65)), np.sum(a >= 65)]
        assert answers["ages"].values[place].tolist() == ages
        quartiles = np.quantile(a, [0.25, 0.5, 0.75], method="inverted_cdf")
        assert np.abs(answers["quartiles"].values[place] - quartiles).max() <= 1
        low, high = answers["bounds"].values[place]
        assert low <= x.min() < 2 * max(low, 1e-3)
        assert high / 2 < x.max() <= high


def test_top_k_names_the_winners_and_counts_them() -> None:
    rows = [{"u": 1, "d": d, "x": 0, "a": 0} for d in "A" * 50 + "B" * 900 + "C" * 400]
    plan = plan_of({"t": MostFrequent(D, 2, ("A", "B", "C", "D"))}, grouped=False)
    answer = answered(plan, rows, epsilon=1)["t"]
    assert answer.labels is not None
    assert answer.labels.tolist() == [["B", "C"]]
    assert np.all(np.abs(answer.values - [[900, 400]]) < 60)
    assert np.all((answer.low <= [[900, 400]]) & (answer.high >= [[900, 400]]))


@pytest.mark.parametrize("candidates", [("A", None, "B", "D"), (None, "B"), (None,)])
def test_candidates_are_counted_in_their_order_and_missing_may_be_one(
    candidates: tuple[str | None, ...],
) -> None:
    wards: list[str | None] = [*"A" * 50, *"B" * 900, *"C" * 2000, *([None] * 400)]
    rows = [{"u": 1, "d": d, "x": 0, "a": 0} for d in wards]
    plan = plan_of({"t": MostFrequent(D, len(candidates), candidates)}, grouped=False)
    answer = answered(plan, rows, epsilon=1000)["t"]
    assert answer.labels is not None
    counts = {d: wards.count(d) for d in candidates}
    assert answer.labels.tolist() == [sorted(counts, key=lambda d: -counts[d])]
    assert answer.values.tolist() == [sorted(counts.values(), reverse=True)]


def test_a_count_is_read_off_two_columns_that_are_never_missing() -> None:
    asked = {"n": Count(), "m": Mean(X, F(0), F(9)), "a": Mean(A, F(0), F(9))}
    both = PRESENT & ~A.is_null()
    shared = compile_plan(plan_of(asked, where=both), epsilon=1).split.parts.shared
    assert isinstance(shared, SharedCount)
    assert len(shared.forms) == 2
    one = compile_plan(plan_of(asked, where=PRESENT), epsilon=1)
    assert len(one.split.parts.shared.forms) == 1  # pyright: ignore
    assert not one.split.parts.parts[0].corners.missing  # pyright: ignore
    none = compile_plan(plan_of(asked), epsilon=1).split.parts
    assert none.parts[0].corners.missing  # pyright: ignore


def test_a_count_with_missing_values_counts_all_rows() -> None:
    rows = [{"u": 1, "d": "A", "x": None if i % 3 else 5.0, "a": 0} for i in range(3000)]
    answers = answered(plan_of({"n": Count(), "m": Mean(X, F(0), F(10))}), rows, epsilon=10)
    assert abs(answers["n"].values[0] - 3000) < 5
    assert answers["m"].values[0] == pytest.approx(5.0, abs=0.05)


def test_p6_all_groups_are_one_charge_and_the_parts_say_so() -> None:
    few = compile_plan(plan_of({"n": Count()}, keys="AB"), epsilon=1)
    many = compile_plan(plan_of({"n": Count()}, keys=tuple(f"k{i}" for i in range(500))), epsilon=1)
    assert few.privacy.delta(F(1, 2)) == many.privacy.delta(F(1, 2))
    assert few.expected_error("n") == many.expected_error("n")
    assert "one charge for all 500 groups together" in many.parts[0].groups
    person = compile_plan(plan_of({"n": Count()}, unit="u", max_rows=1, max_groups=2), epsilon=1)
    assert "counts for at most 2 rows" in person.parts[0].groups


@pytest.mark.parametrize(
    ("asked", "error", "rows"),
    [
        ({"n": Count()}, 5, None),
        ({"s": Sum(X, F(0), F(1000))}, 2500, None),
        ({"n": Count(), "m": Mean(X, F(0), F(1000))}, {"m": 3}, 2000),
        ({"v": Variance(X, F(0), F(10))}, 1, 500),
        ({"q": EVERYTHING["median"]}, 40, None),
        ({"q": EVERYTHING["quartiles"]}, 40, None),
    ],
)
def test_epsilon_for_is_enough_and_the_least_of_three_digits(
    asked: Any, error: Any, rows: Any
) -> None:
    plan = plan_of(asked)
    epsilon = epsilon_for(plan, error=error, rows=rows)
    limits = error if isinstance(error, dict) else dict.fromkeys(asked, error)
    digits = F(str(epsilon))
    step = F(1, 10000) if digits < F(1, 10) else F(1, 1000) if digits < 1 else F(1, 100)

    def errors(cost: Fraction) -> list[bool]:
        whole = compile_plan(plan, epsilon=cost)
        return [whole.expected_error(n, rows=rows) <= most for n, most in limits.items()]

    assert all(errors(digits))
    assert not all(errors(digits - step))


def test_the_error_expected_is_the_width_that_comes_out() -> None:
    groups = table(4000)
    plan = plan_of({"n": Count(), "m": Mean(X, F(0), F(1000)), "s": Sum(A, F(0), F(9))})
    whole = compile_plan(plan, epsilon=1)
    answers = whole.finish(
        MemoryEngine(groups).measure(scope_of(plan), whole.measures), SeededBits(4)
    )
    for name in ("n", "s"):
        half = (answers[name].high - answers[name].low) / 2
        assert half == pytest.approx([whole.expected_error(name)] * 2, abs=0.51)
    half = (answers["m"].high - answers["m"].low) / 2
    assert np.all(half <= whole.expected_error("m", rows=900))
    assert np.all(half >= whole.expected_error("m", rows=900) * 0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: compile_plan(p, epsilon=0), r"epsilon is 0, but must be a positive number"),
        (lambda p: compile_plan(p, epsilon=1, confidence=95), r"confidence is 95"),
        (lambda p: compile_plan(p, epsilon=1).expected_error("k"), r"no aggregate 'k'.*are: n, m"),
        (lambda p: compile_plan(p, epsilon=1).expected_error("m"), r"Give rows="),
        (lambda p: epsilon_for(p, error={"k": 1}), r"must name some of the aggregates: n, m"),
        (lambda p: epsilon_for(p, error=-1), r"error is -1"),
        (lambda p: compile_plan(p, epsilon=1).with_keys([]), r"Call .finish"),
    ],
)
def test_refusals_say_what_to_do(make: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make(plan_of({"n": Count(), "m": Mean(X, F(0), F(1))}))


def test_an_explanation_names_every_aggregate_its_share_and_no_number_of_rows() -> None:
    parts = compile_plan(plan_of(EVERYTHING, **PEOPLE), epsilon=1).parts
    assert {name for part in parts for name in part.errors} == set(EVERYTHING)
    assert sum(part.share for part in parts) == 1
    for part in parts:
        assert part.words
        assert "one charge for all 2 groups together" in part.groups


@pytest.mark.parametrize("tiny", ["1e-400", "1e-10"])
def test_a_confidence_that_is_none_as_a_float_is_refused_with_the_price(tiny: str) -> None:
    """Else it is 0.0 or 1.0 after the charge, when nothing may fail any more."""
    for confidence in (Fraction(tiny), 1 - Fraction(tiny)):
        with pytest.raises(ParameterError, match=r"from 1e-9 to 0\.999999999"):
            compile_plan(plan_of({"n": Count()}), epsilon=1, confidence=confidence)


def test_both_ends_of_confidence_have_widths() -> None:
    for confidence in (Fraction(1, 10**9), 1 - Fraction(1, 10**9)):
        for delta in (0, Fraction(1, 10**6)):
            whole = compile_plan(plan_of(EVERYTHING), epsilon=1, delta=delta, confidence=confidence)
            assert whole.epsilon == 1


def test_a_width_that_no_float_holds_is_refused_before_the_charge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("letalone.tables.noise.Noise.width", lambda *_: float("inf"))
    with pytest.raises(ParameterError, match="more than a float can hold"):
        compile_plan(plan_of({"n": Count()}), epsilon=1)


@pytest.mark.parametrize("options", [{}, PEOPLE])
def test_a_part_that_needs_a_statement_of_its_own_has_no_other_measure(
    options: dict[str, Any],
) -> None:
    """Where each statement chooses rows anew (Spark), the sums of one part are of one choice."""
    everything = {**EVERYTHING, "kinds": CountValues(D)}
    parts = compile_plan(plan_of(everything, **options), epsilon=1).split.parts.parts
    alone = [part for part in parts if any(isinstance(one, ALONE) for one in part.measures)]
    assert alone
    assert all(len(part.measures) == 1 for part in alone)
