"""What the auditor finds, whom it accuses, and how rarely it is wrong."""

import re
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from letalone.audit import Audit, Verdict, audit, confidence_of_each, events
from letalone.audit.auditor import CONFIDENCE, SAMPLES, judge
from letalone.audit.bound import HitCounts, epsilon_below, product_level
from letalone.audit.draws import source_of
from letalone.audit.events import best_event
from letalone.audit.outputs import Layout, read
from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, DELTA, EPSILON_OR_ZERO
from letalone.mechanisms import Gaussian, Geometric, Laplace, RandomizedResponse
from seeded import SeededBits

LAPLACE = Laplace(epsilon=1, sensitivity=1)
NOTHING, ONE_IN_TWENTY = Fraction(0), Fraction(1, 20)
LEVEL = product_level(ONE_IN_TWENTY)


@pytest.mark.parametrize(("samples", "least"), [(10_000, 0.85), (100_000, 0.95)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_laplace_noise_is_bounded_closely_and_not_accused(
    samples: int, least: float, seed: int
) -> None:
    """Over seeds, one audit in a hundred is below 0.85 at 10^4 draws."""
    found = audit(LAPLACE, 0.0, 1.0, claimed_epsilon=1, samples=samples, bits=SeededBits(seed))
    assert least <= found.lower <= 1
    assert found.verdict is Verdict.CONSISTENT


@pytest.mark.parametrize(
    ("mechanism", "other"),
    [
        (LAPLACE, 2.0),
        (Laplace(scale=0.5, sensitivity=1), 1.0),
        (Gaussian(sigma=1, sensitivity=1), 1.0),
    ],
    ids=["sensitivity 2 taken for 1", "halved scale", "Gaussian sold as pure"],
)
def test_a_wrong_claim_is_accused(mechanism: Any, other: float) -> None:
    found = audit(mechanism, 0.0, other, claimed_epsilon=1, samples=10_000, bits=SeededBits(7))
    assert found.verdict is Verdict.ACCUSED
    assert found.lower > 1.4


def test_a_gaussian_is_accused_of_being_pure_and_not_at_its_own_delta() -> None:
    gaussian = Gaussian(epsilon=1, delta=0.01, sensitivity=1)
    for delta, verdict in ((0, Verdict.ACCUSED), (0.01, Verdict.CONSISTENT)):
        found = audit(
            gaussian,
            0.0,
            1.0,
            claimed_epsilon=1,
            claimed_delta=delta,
            samples=300_000,
            bits=SeededBits(3),
        )
        assert found.verdict is verdict
        assert found.lower > 0.9


@pytest.mark.parametrize(("one", "other"), [(0.0, 1.0), (3.0, 4.0), (0.1, 0.2)])
def test_the_floats_of_numpy_noise_are_accused(one: float, other: float) -> None:
    """The scale is right; the low-order bits of the sum tell which value was there."""
    generator = np.random.default_rng(5)

    def noisy(value: float, count: int) -> np.ndarray:
        return value + generator.laplace(0, 1, count)

    found = audit(noisy, one, other, claimed_epsilon=1, samples=20_000, many=True)
    assert found.verdict is Verdict.ACCUSED
    assert found.lower > 3
    assert "lowest set bit" in found.event

    rounded = audit(
        lambda value, count: np.rint(noisy(value, count) * 1024) / 1024,
        one,
        other,
        claimed_epsilon=1,
        samples=20_000,
        many=True,
    )
    assert rounded.verdict is Verdict.CONSISTENT


def false_accusations(mechanism: Any, other: float, seeds: range) -> int:
    """How often a true claim of epsilon = 1 is accused, in audits of 2,000 draws."""

    def accused(seed: int) -> bool:
        source = source_of(mechanism, many=False, bits=SeededBits(seed))
        return is_above_one(judge(source, 0, other, 2000, NOTHING)[1])

    return sum(map(accused, seeds))


def is_above_one(counts: HitCounts) -> bool:
    """Whether the bound is above 1; computed only where one pair of its set does not deny it."""
    often, seldom, total = counts.often, counts.seldom, counts.total
    tail = LEVEL / stats.binom.sf(often - 1, total, often / total)
    most = stats.beta.isf(tail, seldom + 1, total - seldom) * (1 - 1e-6)
    if often / total <= 2.718 * most:
        return False
    return epsilon_below(counts, delta=NOTHING, miss=ONE_IN_TWENTY) > 1


@pytest.mark.long
def test_true_claims_are_falsely_accused_in_at_most_one_audit_of_twenty() -> None:
    """Epsilon is exactly 1 for both, so there is no room but the confidence.

    An auditor that is wrong in 15 % would pass with probability below 2e-5.
    """
    assert stats.binom.cdf(10, 200, 0.15) < 2e-5
    response = RandomizedResponse(epsilon=1, categories=2)
    wrong = false_accusations(LAPLACE, 1, range(100)) + false_accusations(response, 1, range(100))
    assert wrong <= 10


def test_an_auditor_that_judges_on_the_draws_it_chose_from_is_caught_by_that_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Power: the luckiest of all events, judged by its own luck."""
    monkeypatch.setattr(events, "CAUTION", 1.0)

    def accused(seed: int) -> bool:
        bits = SeededBits(seed)
        drawn = (LAPLACE.release(np.full(500, value), bits=bits) for value in (0.0, 1.0))
        one, other = (read(part, Layout(1)) for part in drawn)
        return is_above_one(best_event(one, other, delta=NOTHING)[1].counts(one, other))

    assert sum(map(accused, range(60))) > 6


def test_the_draws_that_choose_are_not_those_that_judge() -> None:
    """The first half differs wildly, the second not at all: nothing may be certified."""
    asked: list[int] = []

    def drifting(value: float, count: int) -> np.ndarray:
        asked.append(count)
        return np.full(count, value) if len(asked) <= 2 else np.zeros(count)

    found = audit(drifting, 0.0, 1.0, claimed_epsilon=1, samples=1001, many=True)
    assert found.lower == 0
    assert asked == [500, 500, 501, 501]
    assert found.counts.total == 501


def test_neighbours_may_be_given_in_either_order() -> None:
    for one, other in ((0, 1), (1, 0)):
        found = audit(
            Geometric(epsilon=2, sensitivity=1),
            one,
            other,
            claimed_epsilon=1,
            samples=4000,
            bits=SeededBits(2),
        )
        assert found.verdict is Verdict.ACCUSED


def test_a_leak_under_the_second_input_only_is_found() -> None:
    generator = np.random.default_rng(1)

    def leaky(value: int, count: int) -> np.ndarray:
        return np.where(generator.random(count) < 0.05 * value, 7, generator.integers(0, 5, count))

    found = audit(leaky, 0, 1, claimed_epsilon=3, samples=20_000, many=True)
    assert found.verdict is Verdict.ACCUSED
    allowed = audit(leaky, 0, 1, claimed_epsilon=3, claimed_delta=0.05, samples=20_000, many=True)
    assert allowed.verdict is Verdict.CONSISTENT


@pytest.mark.long  # functions: the other tests of this file; bulk: cli/test_audit.py
def test_functions_methods_objects_and_bulk_functions_are_all_audited() -> None:
    bits = SeededBits(4)

    class Wrapped:
        def release(self, value: float) -> float:
            return LAPLACE.release(value, bits=bits)

    many = [
        audit(lambda v: LAPLACE.release(v, bits=bits), 0.0, 3.0, claimed_epsilon=1, samples=2000),
        audit(LAPLACE.release, 0.0, 3.0, claimed_epsilon=1, samples=2000, bits=bits),
        audit(LAPLACE, 0.0, 3.0, claimed_epsilon=1, samples=2000, bits=bits),
        audit(Wrapped(), 0.0, 3.0, claimed_epsilon=1, samples=2000),
        audit(
            lambda v, n: LAPLACE.release(np.full(n, v), bits=bits),
            0.0,
            3.0,
            claimed_epsilon=1,
            samples=2000,
            many=True,
        ),
        audit(LAPLACE, [0.0, 1.0], [3.0, 1.0], claimed_epsilon=1, samples=2000, bits=bits),
        audit(
            RandomizedResponse(epsilon=3, categories=["yes", "no"]),
            "yes",
            "no",
            claimed_epsilon=1,
            samples=2000,
            bits=bits,
        ),
    ]
    assert all(found.verdict is Verdict.ACCUSED for found in many)


def test_objects_of_other_classes_are_asked_for_one_draw_at_a_time() -> None:
    """An array given to them might get one draw for all its entries."""
    seen: list[object] = []

    class Unknown(Laplace):
        def release(self, value: Any) -> Any:
            seen.append(value)
            return float(len(seen))

    audit(Unknown(epsilon=1, sensitivity=1), 0.0, 1.0, claimed_epsilon=1, samples=100)
    assert len(seen) == 200
    assert set(seen) == {0.0, 1.0}


def test_the_verdict_compares_exactly() -> None:
    found = audit(LAPLACE, 0.0, 1.0, claimed_epsilon=0, samples=1000, bits=SeededBits(1))
    assert found.verdict is Verdict.ACCUSED
    exactly = Audit(**{**fields_of(found), "claimed_epsilon": Fraction(found.lower)})
    assert exactly.verdict is Verdict.CONSISTENT
    less = Audit(**{**fields_of(found), "claimed_epsilon": Fraction(np.nextafter(found.lower, 0))})
    assert less.verdict is Verdict.ACCUSED


def fields_of(found: Audit) -> dict[str, Any]:
    return {name: getattr(found, name) for name in Audit.__dataclass_fields__}


def test_an_audit_prints_bound_claim_event_and_counts() -> None:
    found = audit(
        LAPLACE,
        0.0,
        2.0,
        claimed_epsilon=0.5,
        claimed_delta=0.001,
        samples=4000,
        bits=SeededBits(1),
    )
    shown = repr(found)
    assert shown.startswith("Audit(accused: ε ≥ 1.")
    for part in (
        "95 % confidence",
        "claimed ε = 0.5, δ = 0.001",
        "the output",
        "more often under `",
        "of 2,000 draws each",
    ):
        assert part in shown
    assert float(shown.split("ε ≥ ")[1].split(" ")[0]) <= found.lower
    with pytest.raises(FrozenInstanceError):
        found.lower = 0.0


def test_several_audits_share_the_error() -> None:
    assert confidence_of_each(10) == Fraction(995, 1000)
    assert confidence_of_each(1, 0.9) == Fraction(9, 10)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("claimed_epsilon", EPSILON_OR_ZERO),
        ("claimed_delta", DELTA),
        ("samples", SAMPLES),
        ("confidence", CONFIDENCE),
    ],
)
def test_a_bad_parameter_is_refused_before_anything_is_drawn(name: str, rule: Any) -> None:
    def never(value: object) -> None:
        raise AssertionError("the mechanism was asked")

    for value in rule.refused:
        with pytest.raises(ParameterError, match=f"{name} is .*, but must be"):
            audit(never, 0, 1, **{"claimed_epsilon": 1, name: value})
    for value in COUNT.refused:
        with pytest.raises(ParameterError, match=r"tests is .*, but must be"):
            confidence_of_each(value)


def test_what_cannot_be_asked_is_refused_with_the_remedy() -> None:
    with pytest.raises(ParameterError, match="has the type int, but must be a function"):
        audit(3, 0, 1, claimed_epsilon=1)
    with pytest.raises(ParameterError, match="returned 1 outputs, but 500 were asked for"):
        audit(lambda value, _: [value], 0, 1, claimed_epsilon=1, samples=1000, many=True)


def test_a_class_a_narrow_function_and_percents_are_refused_with_the_remedy() -> None:
    with pytest.raises(ParameterError, match=r"class Laplace itself.*Laplace\(…\)"):
        audit(Laplace, 0.0, 1.0, claimed_epsilon=1)
    with pytest.raises(ParameterError, match=r"mechanism\(value, count\), but it takes \(value\)"):
        audit(lambda value: value, 0.0, 1.0, claimed_epsilon=1, many=True)
    with pytest.raises(ParameterError, match="100 audits of honest mechanisms"):
        audit(lambda value: value, 0.0, 1.0, claimed_epsilon=1, confidence=95)


def test_an_event_is_told_in_few_digits_and_plain_words() -> None:
    generator = np.random.default_rng(3)
    shifted = audit(
        lambda x: x + float(np.round(generator.laplace() * 2**40) / 2**40),
        0.0,
        2.0,
        claimed_epsilon=0.1,
        samples=2000,
    )
    assert not re.search(r"\d\.\d{7}", shifted.event)
    single = audit(
        lambda x: "a" if generator.random() < 0.2 + 0.6 * x else "b",
        0,
        1,
        claimed_epsilon=0.1,
        samples=1000,
    )
    assert single.event.startswith("the output is '")
    same = audit(lambda _: "a", 0, 1, claimed_epsilon=0.1, samples=100)
    assert same.event.startswith("any output (")


def test_numbers_that_are_none_are_told_as_such() -> None:
    generator = np.random.default_rng(4)
    found = audit(
        lambda x: float("nan") if generator.random() < 0.1 + 0.6 * x else generator.integers(9),
        0,
        1,
        claimed_epsilon=0.1,
        samples=2000,
    )
    assert "nan" not in found.event
    assert "number" in found.event


def test_leaking_bits_are_named_before_they_are_listed() -> None:
    generator = np.random.default_rng(5)
    found = audit(
        lambda value, count: value + generator.laplace(0, 1, count),
        0.0,
        1.0,
        claimed_epsilon=1,
        samples=20_000,
        many=True,
    )
    assert found.event.startswith("low-order bits differ: ")
