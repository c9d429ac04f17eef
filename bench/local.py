"""The local model: reports a second, time to estimate, variance over theory, shuffled batches.

    python bench/local.py [--people 1000000] [--no-rivals] [--json]

CPU time, one process. Variance over theory is the mean squared error of all estimated shares of
many surveys of 1,000 people, over the variance that the oracle states: 1 is exact. Rivals (pure-ldp
and multi-freq-ldpy) run in an environment of their own with fewer people, because they take a
Python loop for each; multi-freq-ldpy cuts shares at 0 and makes them add up to 1, so that shares of
values that nobody holds come out too large on average: the column "bias at 0" shows it, in
standard deviations of an unbiased share.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from peers import run_in

from letalone.exact.balls import ball
from letalone.local import (
    CountMeanSketch,
    Duchi,
    FrequencyOracle,
    HadamardResponse,
    Hybrid,
    KaryResponse,
    LocalHashing,
    NumberOracle,
    Piecewise,
    PrivUnit,
    ShuffledBatch,
    SubsetSelection,
    UnaryEncoding,
)
from letalone.local.vectors.pulls import ideal_cosine, squared_error
from letalone.privacy.curves.shuffled_counts import counts_above

RIVALS = "pure-ldp==1.2.0 multi-freq-ldpy==0.2.5 scikit-learn statsmodels xxhash<4"
RATES: dict[str, tuple[FrequencyOracle, float]] = {  # with the least rate asked for, in millions
    "k-ary response, 16 values": (KaryResponse(16, epsilon=1), 5),
    "subset selection, 16 values": (SubsetSelection(16, epsilon=1), 1),
    "subset selection, 128 values": (SubsetSelection(128, epsilon=1), 0),
    "unary encoding, 128 values": (UnaryEncoding(128, epsilon=1), 1),
    "local hashing, 1,024 values": (LocalHashing(1024, epsilon=1), 1),
    "Hadamard response, 1,024 values": (HadamardResponse(1024, epsilon=1), 0),
    "count-mean sketch, 100,000 values": (CountMeanSketch(100_000, epsilon=1), 0),
}
ESTIMATES: dict[str, tuple[FrequencyOracle, float]] = {  # with the most seconds allowed
    "k-ary response": (KaryResponse(1024, epsilon=1), 1),
    "subset selection": (SubsetSelection(1024, epsilon=1), 1),
    "unary encoding": (UnaryEncoding(1024, epsilon=1), 1),
    "local hashing": (LocalHashing(1024, epsilon=1), 10),
    "Hadamard response": (HadamardResponse(1024, epsilon=1), 1),
}
ORACLES: dict[str, FrequencyOracle] = {
    "k-ary response": KaryResponse(16, epsilon=1),
    "subset selection": SubsetSelection(16, epsilon=1),
    "unary encoding": UnaryEncoding(16, epsilon=1),
    "unary encoding, symmetric": UnaryEncoding(16, epsilon=1, symmetric=True),
    "local hashing": LocalHashing(16, epsilon=1),
    "Hadamard response": HadamardResponse(16, epsilon=1),
}
NUMBERS: dict[str, NumberOracle] = {
    "Duchi": Duchi(-1, 1, epsilon=1),
    "piecewise": Piecewise(-1, 1, epsilon=1),
    "hybrid": Hybrid(-1, 1, epsilon=1),
}
VECTORS: dict[str, PrivUnit] = {
    "PrivUnit, 16 coordinates, ε = 2": PrivUnit(16, epsilon=2),
    "PrivUnit, 16 coordinates, ε = 4": PrivUnit(16, epsilon=4),
    "PrivUnit, 128 coordinates, ε = 2": PrivUnit(128, epsilon=2),
}
VECTOR_PEOPLE, VECTOR_SURVEYS = 5, 4000
SURVEYS, PEOPLE = 2000, 1000
RIVAL_SURVEYS, RIVAL_PEOPLE = 100, 1000

RIVAL_SCRIPT = """
import json, time
import numpy as np
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client, GRR_Aggregator_MI
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client, SS_Aggregator_MI
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client, UE_Aggregator_MI
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client, LH_Aggregator_MI
D, E, SURVEYS, N = 16, 1.0, @surveys, @people
def pure(client, server, **more):
    c = client(E, D, **more, index_mapper=lambda x: x)
    def survey(values):
        s = server(E, D, **more, index_mapper=lambda x: x)
        start = time.process_time()
        reports = [c.privatise(int(v)) for v in values]
        spent = time.process_time() - start
        s.aggregate_all(reports)
        shares = np.array([s.estimate(x, suppress_warnings=True) for x in range(D)]) / len(values)
        return spent, shares
    return survey
def multi(client, aggregate):
    def survey(values):
        start = time.process_time()
        reports = [client(int(v), D, E) for v in values]
        spent = time.process_time() - start
        return spent, np.asarray(aggregate(reports, D, E))
    return survey
jobs = {
    "pure-ldp direct encoding": pure(DEClient, DEServer),
    "pure-ldp optimised unary": pure(UEClient, UEServer, use_oue=True),
    "pure-ldp local hashing": pure(LHClient, LHServer, use_olh=True),
    "multi-freq-ldpy GRR": multi(GRR_Client, GRR_Aggregator_MI),
    "multi-freq-ldpy subset selection": multi(SS_Client, SS_Aggregator_MI),
    "multi-freq-ldpy optimised unary": multi(UE_Client, UE_Aggregator_MI),
    "multi-freq-ldpy local hashing": multi(LH_Client, LH_Aggregator_MI),
}
found = {}
values = np.arange(N) % (D // 2)
shares = np.bincount(values, minlength=D) / N
for name, survey in jobs.items():
    try:
        survey(values[:100])
        runs = [survey(values) for _ in range(SURVEYS)]
    except Exception as error:
        found[name] = {"failed": type(error).__name__ + ": " + str(error)[:80]}
        continue
    estimates = np.array([run[1] for run in runs])
    found[name] = {"rate": SURVEYS * N / sum(run[0] for run in runs),
                   "square": float(((estimates - shares) ** 2)[:, D // 2:].mean()),
                   "at_0": float(estimates[:, D // 2:].mean())}
print(json.dumps(found))
"""

Job = Callable[[], Any]
SHUFFLED: dict[str, Callable[[int], FrequencyOracle | NumberOracle]] = {
    "KaryResponse, 2 values": lambda local: KaryResponse(2, epsilon=local),
    "KaryResponse": lambda local: KaryResponse(16, epsilon=local),
    "SubsetSelection": lambda local: SubsetSelection(16, epsilon=local),
    "UnaryEncoding": lambda local: UnaryEncoding(16, epsilon=local),
    "LocalHashing": lambda local: LocalHashing(16, epsilon=local),
    "HadamardResponse": lambda local: HadamardResponse(16, epsilon=local),
    "Hybrid": lambda local: Hybrid(0, 1, epsilon=local),
}
MOST_EXACT = 1000  # with so many people each m is looked at by itself


def timed(job: Job) -> tuple[float, Any]:
    start = time.process_time()
    done = job()
    return time.process_time() - start, done


def measure_rates(people: int) -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {}
    for name, (oracle, asked) in RATES.items():
        values = np.arange(people) % oracle.size
        oracle.privatize(values[:1000])
        seconds = min(timed(lambda o=oracle, v=values: o.privatize(v))[0] for _ in range(3))
        rate = people / seconds / 1e6
        rows[name] = {"rate": rate, "asked": asked, "bytes": oracle.report_bytes}
    return rows


def measure_estimates(people: int) -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {}
    for name, (oracle, allowed) in ESTIMATES.items():
        some = oracle.privatize(np.arange(people // 10) % oracle.size)
        reports = np.concatenate([some] * 10)
        seconds = timed(lambda o=oracle, r=reports: o.estimate(r))[0]
        rows[name] = {"seconds": seconds, "allowed": allowed, "bytes": oracle.report_bytes}
    return rows


def measure_variance(surveys: int) -> dict[str, float]:
    values = np.arange(PEOPLE) % 16
    shares = np.bincount(values, minlength=16) / PEOPLE
    found: dict[str, float] = {}
    for name, oracle in ORACLES.items():
        stated = np.array([oracle.variance(PEOPLE, float(share)) for share in shares])
        squares = [
            (oracle.estimate(oracle.privatize(values)).value - shares) ** 2 / stated
            for _ in range(surveys)
        ]
        found[name] = float(np.mean(squares))
    for name, oracle in NUMBERS.items():
        reports = oracle.privatize(np.full(surveys * 100, 0.3))
        spread = float(np.var(oracle.unbias(reports)) * (oracle.upper - oracle.lower) ** 2)
        found[f"{name}, at 0.3 of [-1, 1]"] = spread / oracle.variance(1, 0.3)
    return found


def measure_vectors() -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {}
    for name, oracle in VECTORS.items():
        vector = np.arange(1.0, oracle.dimension + 1)
        vectors = np.tile(vector / np.linalg.norm(vector), (VECTOR_PEOPLE, 1))
        seconds, surveys = timed(
            lambda o=oracle, v=vectors: [o.privatize(v) for _ in range(VECTOR_SURVEYS)]
        )
        squares = [((oracle.estimate(r).value - vectors[0]) ** 2).sum() for r in surveys]
        rows[name] = {
            "rate": VECTOR_PEOPLE * VECTOR_SURVEYS / seconds,
            "bytes": oracle.report_bytes,
            "stated": oracle.variance(1),
            "ideal": squared_error(ideal_cosine(oracle.ratio, oracle.dimension)),
            "over": float(np.mean(squares)) / oracle.variance(VECTOR_PEOPLE),
        }
    return rows


def exact_epsilon(batch: ShuffledBatch, low: float, high: float) -> float | None:
    """Of the worst batch: for two answers, with a block for each person."""
    lie, reports = batch.oracle.lie_of_two(), batch.reports
    if lie is None or reports > MOST_EXACT:
        return None
    for _ in range(8):
        middle = (low + high) / 2
        delta = counts_above(reports, lambda: ball(lie), Fraction(middle), reports)
        low, high = (low, middle) if delta <= 1e-6 else (middle, high)
    return high


def measure_batches() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, make in SHUFFLED.items():
        for local in (1, 2, 4, 6):
            for reports in (10**3, 10**4, 10**5, 10**6):
                batch = ShuffledBatch(make(local), reports=reports)
                seconds, (low, high) = timed(lambda b=batch: b.epsilon_bounds(1e-6))
                row = {"oracle": name, "local": local, "reports": reports, "low": low, "high": high}
                exact, closed = exact_epsilon(batch, low, high), batch.closed_form(1e-6)
                rows.append({**row, "exact": exact, "closed": closed, "seconds": seconds})
    return rows


def measure_rivals() -> dict[str, dict[str, Any]]:
    script = RIVAL_SCRIPT.replace("@surveys", str(RIVAL_SURVEYS))
    found = run_in(RIVALS, script.replace("@people", str(RIVAL_PEOPLE)))
    stated = {
        "direct": KaryResponse,
        "GRR": KaryResponse,
        "subset": SubsetSelection,
        "unary": UnaryEncoding,
        "hashing": LocalHashing,
    }
    for name, row in found.items():
        kind = next(made for word, made in stated.items() if word in name)
        variance = kind(16, epsilon=1).variance(RIVAL_PEOPLE)
        if "rate" in row:
            row |= {"over": row["square"] / variance, "bias": row["at_0"] / variance**0.5}
    return found


def show(results: dict[str, Any]) -> None:
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}\n")
    print(f"{'client':36} {'M reports/s':>12} {'asked':>6} {'bytes':>6}")
    for name, row in results["rates"].items():
        print(f"{name:36} {row['rate']:12.2f} {row['asked']:6g} {row['bytes']:6}")
    print(f"\n{'estimate, 1,024 values':36} {'CPU s':>12} {'limit':>6} {'bytes':>6}")
    for name, row in results["estimates"].items():
        print(f"{name:36} {row['seconds']:12.3f} {row['allowed']:6g} {row['bytes']:6}")
    print(f"\n{'variance over theory':36} {'ratio':>12}")
    for name, ratio in results["variance"].items():
        print(f"{name:36} {ratio:12.3f}")
    show_vectors(results["vectors"])
    show_rivals(results.get("rivals", {}))
    show_batches(results["batches"])


def show_rivals(rows: dict[str, dict[str, Any]]) -> None:
    if not rows:
        return
    print(f"\n{'rivals, 16 values':36} {'M reports/s':>12} {'variance':>9} {'bias at 0':>10}")
    for name, row in rows.items():
        if "failed" in row:
            print(f"{name:36} {row['failed']}")
        else:
            print(f"{name:36} {row['rate'] / 1e6:12.4f} {row['over']:9.2f} {row['bias']:10.2f}")


def show_vectors(rows: dict[str, dict[str, float]]) -> None:
    head = f"{'reports/s':>10} {'bytes':>6} {'n·error':>9} {'ideal':>9} {'over':>6}"
    print(f"\n{'vectors: squared error':36} {head}")
    for name, row in rows.items():
        print(
            f"{name:36} {row['rate']:10.0f} {row['bytes']:6} {row['stated']:9.2f}"
            f" {row['ideal']:9.2f} {row['over']:6.3f}"
        )


def show_batches(rows: list[dict[str, Any]]) -> None:
    head = (
        f"{'reports':>8} {'local':>6} {'low':>9} {'exact':>9} {'high':>9} {'gap':>7} {'2021':>8}"
        f" {'CPU s':>6}"
    )
    print(f"\n{'shuffled, 16 values, δ = 1e-6':30} {head}")
    for row in rows:
        closed = f"{row['closed']:8.4f}" if row["closed"] is not None else "       –"
        exact = f"{row['exact']:9.5f}" if row["exact"] is not None else "        –"
        gap = row["high"] / row["low"] - 1
        print(
            f"{row['oracle']:30} {row['reports']:8} {row['local']:6} {row['low']:9.5f}"
            f" {exact} {row['high']:9.5f} {gap:6.1%} {closed} {row['seconds']:6.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--surveys", type=int, default=SURVEYS)
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    results: dict[str, Any] = {
        "rates": measure_rates(asked.people),
        "estimates": measure_estimates(asked.people),
        "variance": measure_variance(asked.surveys),
        "vectors": measure_vectors(),
        "batches": measure_batches(),
    }
    if not asked.no_rivals:
        results["rivals"] = measure_rivals()
    if asked.json:
        print(json.dumps(results, indent=1))
    else:
        show(results)


if __name__ == "__main__":
    main()
