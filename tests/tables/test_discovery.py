"""Private keys: who is listed, and what that reveals."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from mpmath import exp, mp, mpf

from letalone.errors import ParameterError
from letalone.plans.aggregates.of_columns import Count, Mean
from letalone.plans.stored_plans import plan_from_json
from letalone.privacy import ADD_REMOVE, REPLACE
from letalone.tables.compiled import compile_plan
from letalone.tables.parts.discovery import Discovery
from letalone.tables.sensitivity import Contribution
from seeded import SeededBits
from tables.memory_engine import MemoryEngine
from tables.plans_for_tests import EVERYTHING, F, X, plan_of

CHOICES = list(product([False, True], repeat=4))


def listing(count: int, scale: Fraction, threshold: int) -> Any:
    """P[count + noise ≥ threshold], with 50 digits; a key that nobody has is never listed."""
    if count == 0:
        return mpf(0)
    alpha, above = exp(-mpf(scale.denominator) / scale.numerator), threshold - count
    if above > 0:
        return alpha**above / (1 + alpha)
    return 1 - alpha ** (1 - above) / (1 + alpha)


def worst_delta(found: Discovery, one: list[int], other: list[int], threshold: int) -> Any:
    """The exact δ at ε between the lists of keys of two tables of counts."""
    mp.dps = 50
    scale = found.touched / found.epsilon
    p, q = ([listing(count, scale, threshold) for count in table] for table in (one, other))
    factor, total = exp(mpf(found.epsilon.numerator) / found.epsilon.denominator), mpf(0)
    for listed in product([False, True], repeat=len(one)):
        here, there = mpf(1), mpf(1)
        for is_listed, mine, yours in zip(listed, p, q, strict=True):
            here *= mine if is_listed else 1 - mine
            there *= yours if is_listed else 1 - yours
        total += max(mpf(0), here - factor * there)
    return total


def neighbours_of(groups: int, *, replace: bool) -> list[tuple[list[int], list[int]]]:
    """All ways in which one unit (or one for another) changes the counts of a few keys."""
    found: list[tuple[list[int], list[int]]] = []
    keys = 2 * groups if replace else groups
    for start in product([0, 1, 3], repeat=keys):
        added = [count + (place < groups) for place, count in enumerate(start)]
        if replace:
            removed = [count + (place >= groups) for place, count in enumerate(start)]
            found.append((removed, added))
        else:
            found.append((list(start), added))
    return found


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(F(1), F(1, 100)), (F(1, 2), F(1, 10**6)), (F(4), F(1, 5))]
)
def test_the_list_of_keys_is_private_and_a_lower_threshold_is_not(
    replace: bool, groups: int, epsilon: Fraction, delta: Fraction
) -> None:
    """By exact sums over all lists, in both directions."""
    found = Discovery(Contribution(groups, 1, groups, None, replace), epsilon, delta)
    pairs = neighbours_of(groups, replace=replace)
    both = pairs + [(other, one) for one, other in pairs]
    assert (
        max(worst_delta(found, *pair, found.threshold) for pair in both)
        <= mpf(delta.numerator) / delta.denominator
    )
    lower = found.threshold - (4 if groups * (1 + replace) > 1 else 1)
    if lower > 1 and not replace:
        broken = max(worst_delta(found, *pair, lower) for pair in both)
        assert broken > mpf(delta.numerator) / delta.denominator


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(("rows", "few"), [(1, 2), (3, 1), (3, 2), (5, 5)])
def test_a_unit_moves_as_many_keys_as_it_may_count_in_while_they_are_found(
    rows: int, few: int, replace: bool
) -> None:
    """Over all pairs of units in up to four groups: what each moves is what the noise is for,
    however many rows count. The bound is reached."""
    neighbours = REPLACE if replace else ADD_REMOVE
    plan = plan_of(
        {"n": Count()}, keys=None, unit="u", neighbours=neighbours, max_rows=rows, key_groups=few
    )
    whole = compile_plan(plan, epsilon=1, delta=1e-6)
    assert whole.discovery is not None
    others = [{"u": 0, "d": d, "x": 1.0, "a": 0} for d in "AC"]
    sets = [[d for d, has in zip("ABCD", chosen, strict=True) if has] for chosen in CHOICES]

    def counts(groups: list[str]) -> dict[Any, int]:
        mine = [{"u": 1, "d": d, "x": 1.0, "a": 0} for d in groups]
        return dict(MemoryEngine(others + mine).discover(whole.scope))

    moved: list[int] = []
    for here, there in product(sets, sets if replace else [[]]):
        one, other = counts(here), counts(there)
        moves = [abs(one.get((d,), 0) - other.get((d,), 0)) for d in "ABCD"]
        assert max(moves) <= 1
        moved.append(sum(moves))
    assert max(moved) == min(whole.discovery.touched, 4)


def test_few_groups_find_the_keys_that_ten_rows_find_and_the_values_have_all_rows() -> None:
    """The threshold is that of ten rows; only the noise of the values grows."""
    ten = compile_plan(
        plan_of({"n": Count()}, keys=None, unit="u", max_rows=10), epsilon=1, delta=1e-6
    )
    many = plan_of({"n": Count()}, keys=None, unit="u", max_rows=300, key_groups=10)
    whole = compile_plan(many, epsilon=1, delta=1e-6)
    assert ten.discovery is not None
    assert whole.discovery is not None
    assert whole.discovery.threshold == ten.discovery.threshold
    assert whole.expected_error("n") == pytest.approx(30 * ten.expected_error("n"), rel=0.01)
    assert whole.privacy.delta(1) <= 1e-6
    assert "in at most 10 of the groups" in whole.parts[0].groups
    assert plan_from_json(many.to_json()) == many
    assert "300 rows per u, and 10 groups while groups are found" in many.in_words()


def test_frequent_keys_are_listed_sorted_and_rare_ones_are_not() -> None:
    rows = [
        {"u": i, "d": d, "x": 1.0, "a": 0} for i, d in enumerate("C" * 500 + "A" * 500 + "rare")
    ]
    rows += [{"u": i, "d": None, "x": 1.0, "a": 0} for i in range(500)]
    plan = plan_of({"n": Count(), "m": Mean(X, F(0), F(2))}, keys=None)
    whole = compile_plan(plan, epsilon=1, delta=1e-6)
    engine = MemoryEngine(rows)
    for seed in range(20):
        bits = SeededBits(seed)
        known = whole.with_keys(engine.discover(whole.scope), bits)
        assert known.keys == ((None,), ("A",), ("C",))
        answers = known.finish(engine.measure(known.scope, known.measures), bits)
        assert answers.keys == known.keys
        assert np.all(np.abs(answers["n"].values - 500) < 60)


def test_the_keys_have_their_price_beside_that_of_the_values() -> None:
    plan = plan_of({"n": Count()}, keys=None)
    whole = compile_plan(plan, epsilon=1, delta=1e-6)
    assert [part.name for part in whole.parts] == ["keys", "n"]
    assert sum(part.share for part in whole.parts) == 1
    assert whole.privacy.delta(1) <= 1e-6
    assert whole.expected_error("n") > compile_plan(
        plan_of({"n": Count()}), epsilon=1
    ).expected_error("n")


def test_replacing_costs_more_than_adding() -> None:
    one = compile_plan(plan_of({"n": Count()}, keys=None), epsilon=1, delta=1e-6)
    other = compile_plan(
        plan_of({"n": Count()}, keys=None, neighbours=REPLACE), epsilon=1, delta=1e-6
    )
    assert one.discovery is not None
    assert other.discovery is not None
    assert other.discovery.threshold > one.discovery.threshold


def test_an_empty_table_has_no_keys_and_an_empty_answer() -> None:
    whole = compile_plan(plan_of({"n": Count()}, keys=None), epsilon=1, delta=1e-6)
    known = whole.with_keys([], SeededBits(1))
    assert known.keys == ()
    assert known.finish([[]], SeededBits(1))["n"].values.shape == (0,)


def test_every_aggregate_has_an_empty_answer_where_no_key_is_listed() -> None:
    whole = compile_plan(plan_of(EVERYTHING, keys=None), epsilon=1, delta=1e-6)
    known = whole.with_keys([], SeededBits(1))
    answers = known.finish(MemoryEngine([]).measure(known.scope, known.measures), SeededBits(1))
    assert list(answers.answers) == list(EVERYTHING)
    assert all(len(answer.values) == 0 for answer in answers.answers.values())


def test_without_a_delta_the_refusal_says_what_to_give() -> None:
    with pytest.raises(ParameterError, match=r"List them: keys=.*Or give a delta"):
        compile_plan(plan_of({"n": Count()}, keys=None), epsilon=1)
    with pytest.raises(ParameterError, match=r"Call .with_keys first"):
        compile_plan(plan_of({"n": Count()}, keys=None), epsilon=1, delta=1e-6).finish([[]])
