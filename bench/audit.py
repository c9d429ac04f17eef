"""Audits: how close the certified bound comes, what it accuses, and how long it takes.

    python bench/audit.py [--seeds 5] [--long] [--draws 10] [--json]

CPU time, one process. Laplace noise of epsilon = 1 is audited at 10^4, 10^5 and 10^6 draws
on each input; then wrong claims and true ones. With --long every mechanism and aggregate of
letalone, with `draws` times as many draws as `letalone audit --self` has, and every linear
estimator by one fit each; the error is shared within each of the two lists.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from letalone.audit import (
    Audit,
    Verdict,
    audit,
    audit_self,
    audit_training,
    confidence_of_each,
)
from letalone.audit.suite import aggregate_cases, mechanism_cases
from letalone.learn import LinearSVC, LogisticRegression, Ridge
from letalone.mechanisms import Gaussian, Geometric, Laplace, RandomizedResponse

TARGETS = {10**4: 0.85, 10**5: 0.95, 10**6: 0.975}
LAPLACE = Laplace(epsilon=1, sensitivity=1)


def timed(job: Callable[[], Audit]) -> tuple[Audit, float]:
    start = time.process_time()
    found = job()
    return found, time.process_time() - start


def closeness(seeds: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for samples, target in TARGETS.items():
        runs = [
            timed(lambda n=samples: audit(LAPLACE, 0.0, 1.0, claimed_epsilon=1, samples=n))
            for _ in range(seeds)
        ]
        lowers = [found.lower for found, _ in runs]
        rows.append(
            {
                "samples": samples,
                "least": min(lowers),
                "median": statistics.median(lowers),
                "target": target,
                "seconds": statistics.median(seconds for _, seconds in runs),
            }
        )
    return rows


def verdicts() -> list[dict[str, Any]]:
    generator = np.random.default_rng()

    def numpy_laplace(value: float, count: int) -> np.ndarray:
        return value + generator.laplace(0, 1, count)

    small_delta = Gaussian(epsilon=1, delta=1e-3, sensitivity=1)
    jobs: list[tuple[str, Verdict, tuple[Any, ...], dict[str, Any]]] = [
        ("sensitivity 2 taken for 1", Verdict.ACCUSED, (LAPLACE, 0.0, 2.0), {}),
        ("halved scale", Verdict.ACCUSED, (Laplace(scale=0.5, sensitivity=1), 0.0, 1.0), {}),
        (
            "Gaussian σ = 1 as pure",
            Verdict.ACCUSED,
            (Gaussian(sigma=1, sensitivity=1), 0.0, 1.0),
            {},
        ),
        (
            "Gaussian (1, 0.001) as pure",
            Verdict.ACCUSED,
            (small_delta, 0.0, 1.0),
            {"samples": 10**6},
        ),
        ("numpy's Laplace on floats", Verdict.ACCUSED, (numpy_laplace, 0.0, 1.0), {"many": True}),
        ("Laplace", Verdict.CONSISTENT, (LAPLACE, 0.0, 1.0), {}),
        ("Geometric", Verdict.CONSISTENT, (Geometric(epsilon=1, sensitivity=1), 0, 1), {}),
        (
            "Gaussian (1, 0.001)",
            Verdict.CONSISTENT,
            (small_delta, 0.0, 1.0),
            {"claimed_delta": 1e-3},
        ),
        (
            "randomized response",
            Verdict.CONSISTENT,
            (RandomizedResponse(epsilon=1, categories=2), 0, 1),
            {},
        ),
    ]
    rows: list[dict[str, Any]] = []
    for name, expected, given, options in jobs:
        found, seconds = timed(lambda g=given, o=options: audit(*g, claimed_epsilon=1, **o))
        rows.append(
            {
                "job": name,
                "lower": found.lower,
                "verdict": found.verdict.value,
                "as expected": found.verdict is expected,
                "seconds": seconds,
                "event": found.event,
            }
        )
    return rows


def itself(draws: int) -> list[dict[str, Any]]:
    cases = [*mechanism_cases(), *aggregate_cases()]
    more = [replace(case, samples=draws * case.samples) for case in cases]
    start = time.process_time()
    suite = audit_self(cases=more)
    seconds = time.process_time() - start
    return [
        {"job": name, "lower": found.lower, "verdict": found.verdict.value, "of all": seconds}
        for name, found in suite.found
    ]


def estimators(canaries: int = 400) -> list[dict[str, Any]]:
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(500, 3))
    labels, targets = (rows[:, 0] > 0).astype(int), np.clip(rows[:, 0] / 3, -1, 1)
    jobs = [
        (f"{kind.__name__}, {method}, ε = {epsilon}", made, labels)
        for kind in (LogisticRegression, LinearSVC)
        for method in ("objective", "output", "gradient")
        for epsilon in (1, 8)
        for made in [kind(epsilon, 1e-6, data_norm=1, classes=[0, 1], method=method)]
    ]
    jobs.append(("Ridge, ε = 1", Ridge(1, 1e-6, data_norm=1, target_bounds=(-1, 1)), targets))
    sure = confidence_of_each(len(jobs))
    found: list[dict[str, Any]] = []
    for name, model, y in jobs:
        start = time.process_time()
        one = audit_training(model, rows, y, canaries=canaries, confidence=sure)
        seconds = time.process_time() - start
        row = {"job": name, "lower": one.lower, "verdict": one.verdict.value, "seconds": seconds}
        found.append({**row, "right": one.guesses.right, "made": one.guesses.made})
    return found


def show(title: str, rows: list[dict[str, Any]]) -> None:
    print(f"\n{title}")
    for row in rows:
        guessed = f"  {row['right']} of {row['made']} right" if "made" in row else ""
        print(f"{row['job']:<40} ≥ {row['lower']:.4f}  {row['verdict']:<11}{guessed}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    close, found = closeness(options.seeds), verdicts()
    more: dict[str, list[dict[str, Any]]] = {}
    if options.long:
        more["letalone itself, claimed epsilon 1, one run in twenty accuses any"] = itself(
            options.draws
        )
        more["one fit each, claimed epsilon as planned"] = estimators()
    if options.json:
        print(json.dumps({"closeness": close, "verdicts": found, **more}))
        return
    print(f"Laplace, epsilon 1, confidence 95 %, {options.seeds} audits each")
    print(f"{'samples':>9} {'least':>8} {'median':>8} {'target':>8} {'CPU s':>7}")
    for row in close:
        print(
            f"{row['samples']:>9} {row['least']:>8.4f} {row['median']:>8.4f}"
            f" {row['target']:>8} {row['seconds']:>7.2f}"
        )
    print("\nclaimed epsilon 1; a true claim may be accused in one audit of twenty")
    for row in found:
        sign = "" if row["as expected"] else "   NOT EXPECTED"
        print(
            f"{row['job']:<28} ≥ {row['lower']:.4f}  {row['verdict']:<11}"
            f" {row['seconds']:.2f} s{sign}\n    {row['event'][:160]}"
        )
    for title, rows in more.items():
        show(title, rows)


if __name__ == "__main__":
    main()
