"""`letalone audit --self`: a short suite over letalone's own mechanisms and aggregates.

Each is audited on a pair of neighbours at an epsilon of 1 with the system's randomness. The error
is shared by all audits, so an honest installation is accused by one run in twenty at 95 %,
whatever the number of audits is.

An aggregate is asked as people ask it, of a table with as many groups as draws are wanted, all
with the same rows: each group gets noise of its own. The other table has one person more in every
group, and each group is a pair of neighbours.

  Proven:   docs/explanation/proofs/audit.md, sections 4 and 7
  Tested:   tests/audit/test_suite.py: every public mechanism is in it; what is claimed to be far
            less than it is, is accused in every case
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pyarrow as pa

from letalone.audit.auditor import Audit, AuditVerdict, audit, confidence_of_each
from letalone.exact.typed import Number
from letalone.mechanisms import (
    AboveThreshold,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    PermuteAndFlip,
    RandomizedResponse,
    TopK,
)
from letalone.plans.aggregates import requests
from letalone.privacy import Budget

UP, DOWN = [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]
DELTA = Fraction(1, 100)
ROWS_PER_GROUP = 3  # rows of each group; the other table has one more
QUICK_DRAWS, SLOW_DRAWS = 20_000, 4000  # draws on each input


@dataclass(frozen=True, slots=True)
class AuditCase:
    """One audit of the suite."""

    name: str
    mechanism: Any
    one: Any
    other: Any
    delta: Fraction = Fraction(0)
    samples: int = QUICK_DRAWS
    many: bool = False


@dataclass(frozen=True, slots=True)
class Suite:
    """What the audits found; `confidence` is that of all together."""

    found: tuple[tuple[str, Audit], ...]
    confidence: float

    @property
    def accused(self) -> tuple[str, ...]:
        """The names of those that contradict their claim."""
        return tuple(name for name, audit in self.found if audit.verdict is AuditVerdict.ACCUSED)


def audit_self(
    *,
    confidence: Number = 0.95,
    claimed_epsilon: Number = 1,
    cases: Sequence[AuditCase] | None = None,
    told: Callable[[str], None] | None = None,
) -> Suite:
    """Audits every case at a confidence that all of them share; `told` hears each name before."""
    chosen = [*mechanism_cases(), *aggregate_cases()] if cases is None else cases
    each = confidence_of_each(len(chosen), confidence)
    audits: list[tuple[str, Audit]] = []
    for case in chosen:
        if told is not None:
            told(case.name)
        result = audit(
            case.mechanism,
            case.one,
            case.other,
            claimed_epsilon=claimed_epsilon,
            claimed_delta=case.delta,
            samples=case.samples,
            confidence=each,
            many=case.many,
        )
        audits.append((case.name, result))
    return Suite(tuple(audits), float(confidence))


def mechanism_cases() -> list[AuditCase]:
    """Every public mechanism, at an epsilon of 1."""
    unit: dict[str, Any] = {"epsilon": 1, "sensitivity": 1}
    peeling = TopK(k=2, **unit).choose_indices
    one_shot = TopK(k=2, delta=DELTA, method="one-shot", **unit).choose_indices
    threshold = AboveThreshold(threshold=0, **unit)
    pair = [-1.0, -1.0, 1.0], [0.0, 0.0, 0.0]
    return [
        AuditCase("Laplace", Laplace(**unit), 0.0, 1.0),
        AuditCase("Laplace, vector", Laplace(**unit), [0.0, 5.0], [0.5, 4.5]),
        AuditCase("Geometric", Geometric(**unit), 0, 1),
        AuditCase("Gaussian", Gaussian(delta=DELTA, **unit), 0.0, 1.0, DELTA),
        AuditCase("DiscreteGaussian", DiscreteGaussian(delta=DELTA, **unit), 0, 1, DELTA),
        AuditCase("RandomizedResponse", RandomizedResponse(epsilon=1, categories=3), 0, 1),
        AuditCase("Exponential", Exponential(**unit).choose_index, UP, DOWN, samples=SLOW_DRAWS),
        AuditCase(
            "PermuteAndFlip", PermuteAndFlip(**unit).choose_index, UP, DOWN, samples=SLOW_DRAWS
        ),
        AuditCase("AboveThreshold", threshold, *pair, samples=SLOW_DRAWS),
        AuditCase("TopK, peeling", peeling, UP, DOWN, samples=SLOW_DRAWS),
        AuditCase("TopK, one-shot", one_shot, UP, DOWN, DELTA, samples=SLOW_DRAWS),
    ]


def aggregate_cases(samples: int = SLOW_DRAWS) -> list[AuditCase]:
    """Aggregates of a table, through all layers."""
    ends: dict[str, Any] = {"lower": 0, "upper": 1}
    questions = {
        "count": requests.count(),
        "count_distinct": requests.count_distinct(),
        "sum": requests.sum("x", **ends),
        "mean": requests.mean("x", **ends),
        "variance": requests.variance("x", **ends),
        "median": requests.median("a", lower=0, upper=9),
        "histogram": requests.histogram("a", [0, 2, 9]),
        "top_k": requests.top_k("d", 1, candidates=["A", "B"]),
    }
    fewer = {"median": samples // 5}
    return [
        AuditCase(
            name, draw_releases(what), False, True, samples=fewer.get(name, samples), many=True
        )
        for name, what in questions.items()
    ]


def draw_releases(what: Any) -> Callable[[bool, int], Any]:
    """Draws of an aggregate: a release of as many equal groups."""

    def draw(more: bool, count: int) -> Any:
        from letalone.session.opening import open as open_session  # loads an engine

        names = [f"k{place}" for place in range(count)]
        session = open_session(_table(names, more), unit="u", budget=Budget(epsilon=1))
        with session:
            query = session.group_by("g", keys=names).agg(answer=what)
            release = query.bound(max_rows=1, max_groups=1).release(epsilon=1)
        return _rows({name: np.asarray(release[name]) for name in release.columns})

    return draw


def _table(names: Sequence[str], more: bool) -> Any:
    groups, rows = len(names), ROWS_PER_GROUP + more
    person = [1] if more else []
    x = np.tile([0] * ROWS_PER_GROUP + person, groups)
    labels = np.where(x == 1, "B", "A")
    units, keys = np.arange(groups * rows), np.repeat(np.asarray(names), rows)
    columns = {"u": units, "g": keys, "x": x.astype(float), "a": 9 * x, "d": labels}
    return cast("Any", pa).table(columns)


def _rows(named: Mapping[str, Any]) -> Any:
    columns = [column for name, column in named.items() if name != "g"]
    if all(column.dtype.kind in "biuf" for column in columns):
        return np.stack([column.astype(float) for column in columns], axis=1)
    return list(zip(*(column.tolist() for column in columns), strict=True))
