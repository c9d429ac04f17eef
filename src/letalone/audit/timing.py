"""How long an answer takes is an output as well: an audit of the time alone.

Draws on the two inputs alternate, in an order that a coin decides for each pair, so that what
drifts (a machine that warms up, another program) meets both inputs alike.

Theorem.  The time reveals at least `lower` in some state of the machine, unless the draws misled,
with probability at most 1 − confidence, where pairs are independent; they need not be alike.
  Proven:   docs/explanation/proofs/audit.md, section 6
  Tested:   a loop as long as the value is accused, one that takes as long for all is not
  Assumed:  a machine whose load does not follow the coins

CPU time of this thread is measured, not the clock on the wall. What is found holds for this
machine; an attacker over a network sees less, one on the same processor may see more.
"""

from collections.abc import Callable
from fractions import Fraction
from time import thread_time_ns
from typing import Any

import numpy as np

from letalone.audit.auditor import SAMPLES, Audit, judge_pairs, read_claim
from letalone.audit.bound import epsilon_below_apart
from letalone.audit.draws import asker_of, copier_of
from letalone.audit.outputs import Floats, Raw
from letalone.exact.typed import Number
from letalone.randomness.bits import SYSTEM, BitSource

WARM_UP = 20  # calls on each input whose time is not looked at: the first ones load code


def audit_timing(
    mechanism: Any,
    one: object,
    other: object,
    *,
    claimed_epsilon: Number,
    claimed_delta: Number = 0,
    samples: int = 10_000,
    confidence: Number = 0.95,
    bits: BitSource | None = None,
    clock: Callable[[], int] = thread_time_ns,
) -> Audit:
    """Whether the time that a mechanism takes tells two neighbouring inputs apart."""
    epsilon, delta, miss = read_claim(claimed_epsilon, claimed_delta, confidence)
    count = int(SAMPLES.typed("samples", samples))
    ask = asker_of(mechanism, bits=bits)
    copies = copier_of(one), copier_of(other)

    def taken(which: int) -> float:
        given = copies[which]()  # before the clock starts: copying takes time, too
        start = clock()
        ask(given)
        return (clock() - start) / 1e9

    for which in (0, 1) * WARM_UP:
        ask(copies[which]())
    event, counts = judge_pairs(lambda n: _alternating(taken, n), count, delta)
    return Audit(
        lower=epsilon_below_apart(counts, delta=delta, miss=miss),
        event=f"time in seconds: {event}",
        counts=counts,
        claimed_epsilon=epsilon,
        claimed_delta=delta,
        samples=count,
        confidence=float(1 - Fraction(miss)),
    )


def _alternating(taken: Callable[[int], float], count: int) -> tuple[Raw, Raw]:
    times: Floats = np.empty((2, count))
    for place in range(count):
        first = SYSTEM.word() & 1
        for which in (first, 1 - first):
            times[which, place] = taken(which)
    return times[0], times[1]
