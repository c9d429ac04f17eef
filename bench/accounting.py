"""Accounting: letalone's certified bounds beside dp-accounting's loss distributions.

    python bench/accounting.py [--json]

CPU seconds. dp-accounting runs in an environment of its own on the same machine; each job is
asked once, cold, after imports. The ratio is ours (both bounds) over theirs (upper bound).
Truths: an independent contour integral (tests/contour.py) and closed forms.
"""

import argparse
import json
import time
from collections.abc import Callable
from fractions import Fraction

from peers import run_in

import letalone as la
from letalone.privacy import GaussianDP, LaplacePrivacy, RandomizedResponsePrivacy, compose
from letalone.privacy.planning import noise_for

RIVAL = "dp-accounting"
RIVAL_SCRIPT = """
import json, time, warnings
warnings.filterwarnings("ignore")
import dp_accounting as dp
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld import privacy_loss_distribution as pld
def timed(job):
    start = time.process_time()
    value = job()
    return [value, time.process_time() - start]
def a():
    return pld.from_laplace_mechanism(10.0).self_compose(1000).get_epsilon_for_delta(1e-6)
def b():
    return pld.from_gaussian_mechanism(1.0).get_epsilon_for_delta(1e-5)
def c():
    law = pld.from_gaussian_mechanism(0.8, sampling_prob=0.01)
    return law.self_compose(10_000).get_epsilon_for_delta(1e-5)
def f():
    def event(sigma):
        return dp.SelfComposedDpEvent(
            dp.PoissonSampledDpEvent(0.004, dp.GaussianDpEvent(sigma)), 20_000)
    return dp.calibrate_dp_mechanism(PLDAccountant, event, 2.0, 1e-5, tol=1e-6)
def fewer(count=10**4):
    law = pld.from_gaussian_mechanism(1.0, sampling_prob=0.001)
    return law.self_compose(count).get_epsilon_for_delta(1e-5)
def steps():
    return fewer(10**6)
def apart():
    law = pld.from_gaussian_mechanism(1 / 0.3)
    for i in range(500):
        law = law.compose(pld.from_laplace_mechanism(1 / (0.01 + i * 1e-5)))
    return law.get_epsilon_for_delta(1e-6)
def mix():
    law = pld.from_laplace_mechanism(10.0).self_compose(300)
    law = law.compose(pld.from_gaussian_mechanism(10.0).self_compose(100))
    law = law.compose(pld.from_randomized_response(0.95, 2).self_compose(50))
    return law.get_epsilon_for_delta(1e-6)
jobs = dict(a=a, b=b, c=c, f=f, fewer=fewer, steps=steps, mix=mix, apart=apart)
print(json.dumps({n: timed(j) for n, j in jobs.items()}))
"""

Bounds = tuple[float, float]
JOBS: dict[str, tuple[str, float | None, Callable[[], Bounds]]] = {
    "a": (
        "1000 × Laplace ε=0.1, δ=1e-6",
        18.950292,
        lambda: (LaplacePrivacy(0.1) * 1000).epsilon_bounds(1e-6),
    ),
    "b": ("Gaussian σ=1, δ=1e-5", 4.377178095681, lambda: GaussianDP(1).epsilon_bounds(1e-5)),
    "c": (
        "10^4 × Poisson q=.01 σ=.8, δ=1e-5",
        10.05363,
        lambda: (GaussianDP(1.25).sampled(0.01) * 10**4).epsilon_bounds(1e-5),
    ),
    "f": (
        "σ for ε=2, δ=1e-5, q=.004, 20,000 steps",
        1.325575,
        lambda: (noise_for(2, 1e-5, steps=20_000, rate=0.004),) * 2,
    ),
    "fewer": (
        "10^4 × Poisson q=.001 σ=1, δ=1e-5",
        None,
        lambda: (GaussianDP(1).sampled(0.001) * 10**4).epsilon_bounds(1e-5),
    ),
    "steps": (
        "10^6 × Poisson q=.001 σ=1, δ=1e-5",
        None,
        lambda: (GaussianDP(1).sampled(0.001) * 10**6).epsilon_bounds(1e-5),
    ),
    "mix": (
        "300 Laplace + 100 Gaussian + 50 answers, δ=1e-6",
        None,
        lambda: compose(
            LaplacePrivacy(0.1) * 300,
            GaussianDP(0.1) * 100,
            RandomizedResponsePrivacy(truth=0.525, categories=2) * 50,
        ).epsilon_bounds(1e-6),
    ),
    "apart": (
        "500 different Laplace + a Gaussian, δ=1e-6",
        None,
        lambda: compose(
            *(LaplacePrivacy(Fraction(1000 + i, 10**5)) for i in range(500)), GaussianDP(0.3)
        ).epsilon_bounds(1e-6),
    ),
}


def measure() -> dict[str, dict[str, object]]:
    rival = run_in(RIVAL, RIVAL_SCRIPT)
    (GaussianDP(0.3).sampled(0.5) * 3).epsilon_bounds(1e-3)  # imports
    rows: dict[str, dict[str, object]] = {}
    for name, (words, truth, job) in JOBS.items():
        start = time.process_time()
        low, high = job()
        seconds = time.process_time() - start
        value, theirs = rival[name]
        rows[name] = {
            "job": words,
            "truth": truth,
            "lower": low,
            "upper": high,
            "seconds": seconds,
            "rival": value,
            "rival_seconds": theirs,
            "ratio": seconds / theirs,
        }
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    found = measure()
    if parser.parse_args().json:
        print(json.dumps(found))
    else:
        print(f"letalone {la.__version__} beside {RIVAL}, CPU seconds")
        for row in found.values():
            off = ""
            if row["truth"]:
                off = "  ({:+.1e}, {:+.1e})".format(
                    row["lower"] / row["truth"] - 1, row["upper"] / row["truth"] - 1
                )
            print(
                f"{row['job']}\n   ours [{row['lower']:.6f}, {row['upper']:.6f}]{off}"
                f" {row['seconds']:.2f} s; theirs {row['rival']:.6f} {row['rival_seconds']:.2f} s;"
                f" ratio {row['ratio']:.2f}"
            )
        more = found["steps"]["seconds"] / found["fewer"]["seconds"]
        print(f"10^6 steps cost {more:.2f} times what 10^4 do")
