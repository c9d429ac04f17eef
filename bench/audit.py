"""Audits: how close the bound comes, what it accuses, and what ours and others' promises are worth.

    nice -n 10 python bench/audit.py [--quick] [--only WORD] [--json | --markdown]

First the auditor itself: Laplace noise of epsilon = 1 at 10^4, 10^5 and 10^6 draws on each input,
then wrong claims and true ones. Then every mechanism of letalone, every aggregate through DuckDB
and every estimator of `letalone.learn`; then OpenDP, diffprivlib and python-dp, each in an
environment of its own. The error is shared within each list, so that a list of true claims
is accused by one run in twenty. --quick has fewer draws and takes about a minute and a half of CPU,
once the environments are there; the whole takes some seven, estimated from its lists. --only runs
the lists whose title contains the word.
"""

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import audit_ours
import numpy as np
from audit_rivals import RIVALS, rival

from letalone.audit import Audit, Verdict, audit
from letalone.mechanisms import Gaussian, Geometric, Laplace, RandomizedResponse

Rows = list[dict[str, Any]]
TARGETS = {10**4: 0.85, 10**5: 0.95, 10**6: 0.975}
LAPLACE = Laplace(epsilon=1, sensitivity=1)
LONGEST = 110  # signs of an event that are shown


def timed(job: Callable[[], Audit]) -> tuple[Audit, float]:
    start = time.process_time()
    found = job()
    return found, time.process_time() - start


def closeness(seeds: int) -> Rows:
    rows: Rows = []
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


def numpy_laplace(value: float, count: int) -> np.ndarray:
    return value + np.random.default_rng().laplace(0, 1, count)


def known() -> list[tuple[str, Verdict, tuple[Any, ...], dict[str, Any]]]:
    """Claims whose truth is known: a name, the verdict that is right, what to audit."""
    small_delta = Gaussian(epsilon=1, delta=1e-3, sensitivity=1)
    halved, unit = Laplace(scale=0.5, sensitivity=1), Gaussian(sigma=1, sensitivity=1)
    geometric = Geometric(epsilon=1, sensitivity=1)
    coins = RandomizedResponse(epsilon=1, categories=2)
    accused, consistent = Verdict.ACCUSED, Verdict.CONSISTENT
    more = {"samples": 10**6}
    return [
        ("sensitivity 2 taken for 1", accused, (LAPLACE, 0.0, 2.0), {}),
        ("halved scale", accused, (halved, 0.0, 1.0), {}),
        ("Gaussian σ = 1 as pure", accused, (unit, 0.0, 1.0), {}),
        ("Gaussian (1, 0.001) as pure", accused, (small_delta, 0.0, 1.0), more),
        ("numpy's Laplace on floats", accused, (numpy_laplace, 0.0, 1.0), {"many": True}),
        ("Laplace", consistent, (LAPLACE, 0.0, 1.0), {}),
        ("Geometric", consistent, (geometric, 0, 1), {}),
        ("Gaussian (1, 0.001)", consistent, (small_delta, 0.0, 1.0), {"claimed_delta": 1e-3}),
        ("randomized response", consistent, (coins, 0, 1), {}),
    ]


def verdicts() -> Rows:
    rows: Rows = []
    for name, expected, given, options in known():
        found, seconds = timed(lambda g=given, o=options: audit(*g, claimed_epsilon=1, **o))
        right = "" if found.verdict is expected else ", NOT EXPECTED"
        rows.append(
            {
                "job": name,
                "epsilon": 1.0,
                "delta": float(found.claimed_delta),
                "pair": "known",
                "lower": found.lower,
                "verdict": found.verdict.value + right,
                "samples": found.samples,
                "seconds": seconds,
                "event": found.event,
            }
        )
    return rows


def lists(quick: bool) -> dict[str, Callable[[], Rows]]:
    """Every list of audits by its title."""
    found: dict[str, Callable[[], Rows]] = {
        "claims whose truth is known": verdicts,
        "letalone, mechanisms": lambda: audit_ours.mechanisms(1 if quick else 5),
        "letalone, aggregates through DuckDB": lambda: audit_ours.through_duckdb(
            0.25 if quick else 2
        ),
        "letalone, many fits": lambda: audit_ours.fits(100 if quick else 600),
        "letalone, one fit": lambda: audit_ours.one_fit_each(100 if quick else 400),
    }
    for name in RIVALS:
        found[name] = lambda n=name: rival(n, 0.03 if quick else 0.4)
    return found


def machine() -> dict[str, str]:
    names = ("letalone", "numpy", "scipy", "scikit-learn", "duckdb")
    versions = {name: version(name) for name in names}
    return {"Python": platform.python_version(), "machine": platform.machine(), **versions}


def claim(row: dict[str, Any]) -> str:
    slack = f", δ = {row['delta']:g}" if row["delta"] else ""
    return f"ε = {row['epsilon']:g}{slack}"


def at_least(row: dict[str, Any]) -> str:
    return "–" if row["lower"] is None else f"{int(row['lower'] * 1000) / 1000:.3f}"


def show(title: str, rows: Rows) -> None:
    print(f"\n{title}")
    for row in rows:
        print(
            f"{row['job']:<30} {claim(row):<18} ≥ {at_least(row):<6} {row['verdict']:<11}"
            f" {row['samples']:>8,}  {row['event'][:LONGEST]}"
        )


def show_markdown(title: str, rows: Rows) -> None:
    print(f"\n### {title}\n\n| what | claimed | ε is at least | verdict | draws | by |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        event = row["event"].split(" (more often")[0][:LONGEST].replace("|", "\\|")
        verdict = f"**{row['verdict']}**" if row["verdict"] != "consistent" else "consistent"
        by = event if row["verdict"] != "consistent" else ""
        cells = [row["job"], claim(row), at_least(row), verdict, f"{row['samples']:,}", by]
        print(f"| {' | '.join(cells)} |")


def show_closeness(rows: Rows, seeds: int) -> None:
    print(f"Laplace, epsilon 1, confidence 95 %, {seeds} audits each")
    print(f"{'samples':>9} {'least':>8} {'median':>8} {'target':>8} {'CPU s':>7}")
    for row in rows:
        print(
            f"{row['samples']:>9} {row['least']:>8.4f} {row['median']:>8.4f}"
            f" {row['target']:>8} {row['seconds']:>7.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    start, seeds = time.monotonic(), 1 if options.quick else 5
    close = [] if options.only else closeness(seeds)
    found: dict[str, Rows] = {}
    for title, job in lists(options.quick).items():
        if options.only in title:
            print(f"{time.monotonic() - start:5.0f} s  {title} …", file=sys.stderr, flush=True)
            found[title] = job()
    seconds = time.monotonic() - start
    if options.json:
        told = {"machine": machine(), "seconds": seconds, "closeness": close, "lists": found}
        print(json.dumps(told, ensure_ascii=False))
        return
    print(", ".join(f"{name} {what}" for name, what in machine().items()), f"{seconds:.0f} s")
    if close:
        show_closeness(close, seeds)
    for title, rows in found.items():
        (show_markdown if options.markdown else show)(title, rows)


if __name__ == "__main__":
    main()
