"""Time is an output: a loop as long as the value is accused, a clock that ignores it is not.

The clock is made up, so that nothing here depends on the machine.
"""

from typing import Any

import numpy as np
import pytest

from letalone.audit import Verdict, audit_timing
from letalone.audit.timing import WARM_UP
from letalone.errors import ParameterError


class Machine:
    """A clock that a mechanism moves on, with noise and a drift."""

    def __init__(self, *, leak: int) -> None:
        self.now, self.leak, self.asked = 0, leak, []
        self.generator = np.random.default_rng(1)

    def __call__(self) -> int:
        return self.now

    def mechanism(self, value: int) -> int:
        self.asked.append(value)
        drift = len(self.asked) // 10
        self.now += 1000 + drift + int(self.generator.integers(0, 100)) + self.leak * value
        return 0


def audited(machine: Machine, **options: Any) -> Any:
    return audit_timing(
        machine.mechanism, 0, 1, claimed_epsilon=1, samples=1000, clock=machine, **options
    )


def test_a_time_that_depends_on_the_value_is_accused() -> None:
    found = audited(Machine(leak=1000))
    assert found.verdict is Verdict.ACCUSED
    assert found.event.startswith("time in seconds: the output is at")


def test_a_drift_that_meets_both_inputs_is_not() -> None:
    """The machine slows by a fifth along the way. Draws on one input after all on the other would
    be told apart with certainty."""
    assert audited(Machine(leak=0), confidence=0.999).verdict is Verdict.CONSISTENT


def test_inputs_alternate_in_an_order_that_cannot_be_foreseen() -> None:
    machine = Machine(leak=0)
    audited(machine)
    pairs = np.array(machine.asked[2 * WARM_UP :]).reshape(-1, 2)
    assert len(pairs) == 1000
    assert np.all(pairs.sum(axis=1) == 1)
    assert 350 < pairs[:, 0].sum() < 650  # outside by chance: below 1e-20


def test_the_real_clock_sees_a_long_loop() -> None:
    def slow(value: int) -> None:
        for _ in range(50 + 100_000 * value):
            pass

    found = audit_timing(slow, 0, 1, claimed_epsilon=1, samples=200)
    assert found.verdict is Verdict.ACCUSED


def test_bad_parameters_are_refused_before_anything_is_asked() -> None:
    machine = Machine(leak=0)
    with pytest.raises(ParameterError, match="samples is"):
        audit_timing(machine.mechanism, 0, 1, claimed_epsilon=1, samples=3)
    assert machine.asked == []
