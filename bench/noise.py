"""Noise: letalone's exact, secure draws beside numpy's, which are neither, and OpenDP's.

    python bench/noise.py [--count 1000000] [--rounds 15] [--no-opendp] [--json]

CPU time, one process, the two taking turns; a ratio is numpy's time over ours, so above 1
means faster than numpy. OpenDP runs in an environment of its own on the same machine.
"""

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from peers import run_in

import letalone
from letalone.mechanisms import DiscreteGaussian, Gaussian, Geometric, Laplace
from letalone.randomness.bits import SYSTEM
from letalone.randomness.bulk import Floats
from letalone.randomness.choice import Scores, choose, permute_and_flip
from letalone.randomness.discrete_gaussian import sample_discrete_gaussians
from letalone.randomness.geometric import sample_geometrics
from letalone.randomness.real_noise import add_gaussians, add_laplaces

OPENDP = "opendp==0.16.0"
OPENDP_SCRIPT = """
import json, time
import opendp.prelude as dp
dp.enable_features("contrib")
def rate(measurement, data):
    measurement(data[:100])
    start = time.process_time()
    measurement(data)
    return len(data) / (time.process_time() - start)
n = 20_000
ints = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
ints2 = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
reals = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
reals2 = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
print(json.dumps({
    "geometric 10": rate(dp.m.make_laplace(*ints, scale=10.0), [0] * n),
    "discrete Gaussian 10": rate(dp.m.make_gaussian(*ints2, scale=10.0), [0] * n),
    "Laplace 10": rate(dp.m.make_laplace(*reals, scale=10.0), [0.0] * n),
    "Gaussian 10": rate(dp.m.make_gaussian(*reals2, scale=10.0), [0.0] * n),
}))
"""

Job = Callable[[], object]


def cpu(job: Job) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def side_by_side(ours: Job, theirs: Job, rounds: int) -> tuple[float, float]:
    """Median CPU seconds of each; they take turns so that both meet the same disturbances."""
    ours(), theirs()
    pairs = [(cpu(ours), cpu(theirs)) for _ in range(rounds)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def vector_jobs(count: int) -> dict[str, tuple[Job, Job, float | None]]:
    """name -> ours, numpy's, the ratio that is asked for.

    First draws against draws; then whole releases, in which letalone also checks and clamps
    the values and numpy only adds.
    """
    generator = np.random.default_rng(1)
    zeros, whole = np.zeros(count), np.zeros(count, np.int64)

    def integers(draws: Floats) -> NDArray[np.int64]:
        return np.rint(draws).astype(np.int64)

    jobs: dict[str, tuple[Job, Job, float | None]] = {}
    for scale in (1, 10, 10**3, 10**6):
        jobs[f"geometric {scale}"] = (
            lambda s=Fraction(scale): sample_geometrics(s, count, SYSTEM),
            lambda s=scale: integers(generator.laplace(0, s, count)),
            1.0,
        )
        jobs[f"discrete Gaussian {scale}"] = (
            lambda s=Fraction(scale): sample_discrete_gaussians(s, count, SYSTEM),
            lambda s=scale: integers(generator.normal(0, s, count)),
            1.0,
        )
    jobs["Laplace 10"] = (
        lambda: add_laplaces(zeros, Fraction(10), SYSTEM),
        lambda: zeros + generator.laplace(0, 10, count),
        0.8,
    )
    jobs["Gaussian 10"] = (
        lambda: add_gaussians(zeros, Fraction(10), SYSTEM),
        lambda: zeros + generator.normal(0, 10, count),
        0.8,
    )
    geometric = Geometric(scale=1000, sensitivity=1)
    discrete = DiscreteGaussian(sigma=1000, sensitivity=1)
    laplace, gauss = Laplace(scale=10, sensitivity=1), Gaussian(sigma=10, sensitivity=1)
    jobs["release: geometric 1000"] = (
        lambda: geometric.release(whole),
        lambda: whole + integers(generator.laplace(0, 1000, count)),
        None,
    )
    jobs["release: d. Gaussian 1000"] = (
        lambda: discrete.release(whole),
        lambda: whole + integers(generator.normal(0, 1000, count)),
        None,
    )
    jobs["release: Laplace 10"] = (
        lambda: laplace.release(zeros),
        lambda: zeros + generator.laplace(0, 10, count),
        None,
    )
    jobs["release: Gaussian 10"] = (
        lambda: gauss.release(zeros),
        lambda: zeros + generator.normal(0, 10, count),
        None,
    )
    return jobs


def scalar_jobs() -> dict[str, Job]:
    laplace, gauss = Laplace(scale=10, sensitivity=1), Gaussian(sigma=10, sensitivity=1)
    geometric = Geometric(scale=10, sensitivity=1)
    discrete = DiscreteGaussian(sigma=10, sensitivity=1)
    return {
        "Laplace": lambda: laplace.release(1.5),
        "Gaussian": lambda: gauss.release(1.5),
        "geometric": lambda: geometric.release(1),
        "discrete Gaussian": lambda: discrete.release(1),
    }


def microseconds(job: Job, calls: int = 5000) -> float:
    job()
    return cpu(lambda: [job() for _ in range(calls)]) / calls * 1e6


def selection_jobs(count: int) -> dict[str, tuple[Job, Job]]:
    generator = np.random.default_rng(2)
    utilities = generator.random(count) * 20
    scores = Scores(utilities, Fraction(1, 2))

    def gumbel() -> object:
        return np.argmax(utilities * 0.5 + generator.gumbel(size=count))

    return {
        "exponential": (lambda: choose(scores, SYSTEM), gumbel),
        "permute and flip": (lambda: permute_and_flip(scores, SYSTEM), gumbel),
    }


def measure(count: int, rounds: int, opendp: bool) -> dict[str, object]:
    peers = run_in(OPENDP, OPENDP_SCRIPT) if opendp else {}
    vectors: dict[str, object] = {}
    for name, (ours, theirs, asked) in vector_jobs(count).items():
        mine, numpy_time = side_by_side(ours, theirs, rounds)
        vectors[name] = {
            "ms": mine * 1e3,
            "numpy_ms": numpy_time * 1e3,
            "ratio": numpy_time / mine,
            "asked": asked,
            "opendp_ratio": count / mine / peers[name] if name in peers else None,
        }
    scalars = {name: microseconds(job) for name, job in scalar_jobs().items()}
    selection = {name: side_by_side(*jobs, rounds) for name, jobs in selection_jobs(count).items()}
    return {
        "machine": f"{platform.machine()}, Python {platform.python_version()},"
        f" numpy {np.__version__}, letalone {letalone.__version__}",
        "count": count,
        "vectors": vectors,
        "scalar_microseconds": scalars,
        "selection": {
            name: {"ms": a * 1e3, "gumbel_ms": b * 1e3, "ratio": b / a}
            for name, (a, b) in selection.items()
        },
    }


def show(result: dict[str, object]) -> None:
    print(f"{result['machine']}; vectors of {result['count']:,}, CPU time")
    print(f"{'law':26}{'ours ms':>9}{'numpy ms':>10}{'ratio':>8}{'asked':>7}{'× OpenDP':>10}")
    for name, row in result["vectors"].items():  # type: ignore[attr-defined]
        opendp = f"{row['opendp_ratio']:.0f}" if row["opendp_ratio"] else ""
        print(
            f"{name:26}{row['ms']:9.2f}{row['numpy_ms']:10.2f}{row['ratio']:8.2f}"
            f"{row['asked'] or '':>7}{opendp:>10}"
        )
    print("one number, µs:", {k: round(v, 1) for k, v in result["scalar_microseconds"].items()})  # type: ignore[attr-defined]
    for name, row in result["selection"].items():  # type: ignore[attr-defined]
        print(
            f"selection, {name:20}{row['ms']:9.2f} ms; numpy's Gumbel {row['gumbel_ms']:.2f} ms;"
            f" ratio {row['ratio']:.2f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--no-opendp", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.count, options.rounds, not options.no_opendp)
    print(json.dumps(found)) if options.json else show(found)
