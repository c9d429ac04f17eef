"""Surveys with two counters: reports a second, bytes of a report, and the noise that each adds.

    python bench/counters.py [--reports 300] [--people 2000] [--json]

CPU time, one process: what a client of Python needs to split an answer, and what both counters
need to check a report and add it up (each does half of that). The error is that of an estimated
share or mean among so many people: the noise of both counters, in parts of the scale.
"""

import argparse
import json
import time
from math import exp
from typing import Any

from letalone.local.split.circuits import Circuit, OneOption, WholeNumber, YesNo
from letalone.local.split.counting import SplitReport, TwoCounters

QUESTIONS: dict[str, Circuit] = {
    "yes or no": YesNo(),
    "one of 4": OneOption(4),
    "one of 16": OneOption(16),
    "one of 64": OneOption(64),
    "a whole number to 1,000": WholeNumber(1000),
}


def count(question: TwoCounters, reports: list[SplitReport]) -> None:
    """Both counters receive, check and add up all reports."""
    key = bytes(range(32))
    counters = [question.counter(place, key) for place in (0, 1)]
    for one in reports:
        told = [
            counter.receive(one.nonce, one.report.public, share)
            for counter, share in zip(counters, one.report.shares, strict=True)
        ]
        for counter in counters:
            counter.finish(one.nonce, (told[0], told[1]))
    totals = [counter.tell() for counter in counters]
    question.estimate(totals[0], totals[1])


def measure(circuit: Circuit, number: int, people: int) -> dict[str, Any]:
    question = TwoCounters(circuit, 1)
    start = time.process_time()
    reports = [question.report(1) for _ in range(number)]
    split = time.process_time()
    count(question, reports)
    counted = time.process_time()
    one = reports[0]
    largest = circuit.largest if isinstance(circuit, WholeNumber) else 1
    ratio = exp(-1 / float(question.noise.scale))
    spread = (2 * ratio) ** 0.5 / (1 - ratio)
    return {
        "client": number / (split - start),
        "counters": number / (counted - split),
        "bytes": [len(one.nonce + one.report.public + share) for share in one.report.shares],
        "deviation": spread,
        "error": (2**0.5) * spread / largest / people,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=300)
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows = {name: measure(one, asked.reports, asked.people) for name, one in QUESTIONS.items()}
    if asked.json:
        print(json.dumps(rows, indent=1))
        return
    head = f"{'client/s':>9} {'both counters/s':>16} {'bytes':>12} {'noise each':>11} {'error':>8}"
    print(f"{'question, ε = 1':26} {head}")
    for name, row in rows.items():
        sizes = " + ".join(map(str, row["bytes"]))
        print(
            f"{name:26} {row['client']:9.0f} {row['counters']:16.0f} {sizes:>12}"
            f" {row['deviation']:11.2f} {row['error']:8.3%}"
        )


if __name__ == "__main__":
    main()
