"""The suite over letalone itself: all are in it, it can accuse, and it shares its error.

With the system's randomness an honest run is accused with probability 1e-6 here.
"""

from dataclasses import replace

import pytest

from letalone import mechanisms
from letalone.audit import audit_self
from letalone.audit.suite import AuditCase, aggregate_cases, mechanism_cases
from letalone.mechanisms import Laplace


def test_every_public_mechanism_is_in_it() -> None:
    names = {case.name.split(",")[0] for case in mechanism_cases()}
    assert names == set(mechanisms.__all__)


def test_honest_mechanisms_are_not_accused() -> None:
    cases = [replace(case, samples=case.samples // 10) for case in mechanism_cases()]
    heard: list[str] = []
    suite = audit_self(confidence=0.999999, cases=cases, told=heard.append)
    assert suite.accused == ()
    assert heard == [case.name for case in cases] == [name for name, _ in suite.found]


@pytest.mark.long
@pytest.mark.parametrize("case", aggregate_cases(), ids=lambda case: case.name)
def test_an_aggregate_passes_through_all_layers(case: AuditCase) -> None:
    suite = audit_self(confidence=0.999999, cases=[replace(case, samples=200)])
    assert suite.accused == ()


@pytest.mark.long
def test_a_claim_of_next_to_nothing_is_accused() -> None:
    """Power: a suite whose two inputs were the same, or that drew no noise, would not see this."""
    quick = ("Laplace", "Geometric", "Gaussian", "RandomizedResponse")
    cases = [case for case in mechanism_cases() if case.name in quick]
    few = [case for case in aggregate_cases(2000) if case.name in ("count", "sum", "histogram")]
    suite = audit_self(cases=[*cases, *few], claimed_epsilon=0.1)
    assert len(suite.accused) == len(cases) + len(few) == 7


def test_the_error_is_shared_by_all() -> None:
    case = AuditCase("a", Laplace(epsilon=1, sensitivity=1), 0.0, 1.0, samples=200)
    suite = audit_self(confidence=0.9, cases=[case] * 4)
    assert {found.confidence for _, found in suite.found} == {0.975}
    assert suite.confidence == 0.9
