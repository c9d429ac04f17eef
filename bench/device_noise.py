"""Noise of a key, drawn where the sum lies, beside torch.randn and the noise of the processor.

    python bench/device_noise.py [--count 4000000] [--rounds 7] [--device cuda]

A ratio is the time of torch.randn and an addition over ours, so above 1 means faster. Kinds take
turns. On the processor it is CPU time of one thread; on a card, time between two of its events.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import torch

from letalone.learn.torch.noise import step_noise as noise
from letalone.randomness.bits import SYSTEM
from letalone.randomness.keyed.run_keys import RunKeys

SIGMA, DIVISOR = Fraction(3), 512
Job = Callable[[], object]


class Noisy:
    """Steps of a run that has nothing but noise; `keyed` or from the processor's bits."""

    def __init__(self, total: torch.Tensor, *, keyed: bool) -> None:
        self.total, self.into, self.step = total, torch.empty_like(total), 0
        self.keys = RunKeys(SYSTEM) if keyed else None

    def __call__(self) -> None:
        self.step += 1
        wanted = {"sigma": SIGMA, "divisor": DIVISOR, "bits": SYSTEM}
        noise.write_noisy(self.total, self.into, **wanted, keys=self.keys, step=self.step)


def plain(total: torch.Tensor) -> Job:
    """What is neither secure nor safe from floats."""
    into = torch.empty_like(total)

    def draw() -> None:
        torch.randn(total.shape, out=into)
        into.mul_(float(SIGMA)).add_(total).div_(DIVISOR)

    return draw


def seconds(job: Job, device: torch.device) -> float:
    if device.type != "cuda":
        start = time.process_time()
        job()
        return time.process_time() - start
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    job()
    last.record()
    torch.cuda.synchronize()
    return first.elapsed_time(last) / 1000


def main(count: int, rounds: int, device: torch.device) -> None:
    torch.set_num_threads(1)
    noise.DEVICES = ("cpu", "cuda")
    total = torch.randn(count, device=device)
    jobs = {
        "torch.randn, which is not secure": plain(total),
        "of a key, where the sum lies": Noisy(total, keyed=True),
        "of the processor's bits": Noisy(total, keyed=False),
    }
    for job in jobs.values():
        job()
    turns = [{name: seconds(job, device) for name, job in jobs.items()} for _ in range(rounds)]
    first = next(iter(jobs))
    print(f"{count:,} numbers of {total.dtype} on {device}, torch {torch.__version__}")
    for name in jobs:
        median = statistics.median(turn[name] for turn in turns)
        ratio = statistics.median(turn[first] / turn[name] for turn in turns)
        print(f"{name:34}{count / median / 1e6:12,.1f} million/s{ratio:8.2f} x torch.randn")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--device", type=torch.device, default=torch.device("cpu"))
    options = parser.parse_args()
    main(options.count, options.rounds, options.device)
