"""What a private step costs beside a plain one: an MLP of 5.8 million weights on this processor.

    python bench/learn_torch.py --batch 512 --seconds 40 --threads 2
    python bench/learn_torch.py --threads 1 --cpu-time    # where others use the machine, too

Steps of all kinds alternate in one process, so that whatever else the machine does meets them all.
Printed are medians, and the median of the ratios of neighbouring steps. Opacus (ghost clipping, and
noise of torch.randn, which is not secure) is measured, too, where it is installed.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack

import torch
from torch import nn

from letalone.learn.torch import PrivateTrainer

EXAMPLES, WIDTH, CLASSES = 60_000, 784, 10
Step = Callable[[], object]
Clock = Callable[[], float]


def network() -> nn.Module:
    torch.manual_seed(0)
    wide = (nn.Linear(WIDTH, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU())
    return nn.Sequential(*wide, nn.Linear(2048, CLASSES))


def plain_step(inputs: torch.Tensor, labels: torch.Tensor, batch: int) -> Step:
    model, loss = network(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        chosen = torch.randint(0, EXAMPLES, (batch,))
        optimizer.zero_grad()
        loss(model(inputs[chosen]), labels[chosen]).backward()
        optimizer.step()

    return step


def private_step(inputs: torch.Tensor, labels: torch.Tensor, batch: int, stack: ExitStack) -> Step:
    """With the trainer's own sampling, clipping and noise."""
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = PrivateTrainer(
        model,
        nn.CrossEntropyLoss(reduction="none"),
        epsilon=3,
        delta=1e-5,
        rows=EXAMPLES,
        batch_size=batch,
        epochs=50,
        optimizer=optimizer,
    )
    steps = stack.enter_context(trainer.steps((inputs, labels)))

    def step() -> None:
        next(steps)
        optimizer.step()

    return step


def opacus_step(inputs: torch.Tensor, labels: torch.Tensor, batch: int) -> Step | None:
    try:
        from opacus.grad_sample import GradSampleModuleFastGradientClipping
        from opacus.optimizers.optimizer_fast_gradient_clipping import (
            DPOptimizerFastGradientClipping,
        )
        from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping
    except ImportError:
        return None
    model = GradSampleModuleFastGradientClipping(
        network(), max_grad_norm=1.0, use_ghost_clipping=True
    )
    optimizer = DPOptimizerFastGradientClipping(
        torch.optim.SGD(model.parameters(), lr=0.1),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        expected_batch_size=batch,
    )
    loss = DPLossFastGradientClipping(model, optimizer, nn.CrossEntropyLoss())

    def step() -> None:
        chosen = torch.nonzero(torch.rand(EXAMPLES) < batch / EXAMPLES)[:, 0]
        optimizer.zero_grad()
        loss(model(inputs[chosen]), labels[chosen]).backward()
        optimizer.step()

    return step


def measure(steps: dict[str, Step], seconds: float, clock: Clock) -> dict[str, list[float]]:
    """Times of each kind, one after the other until the time is over; the first two not counted."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times["plain"]) < 5:
        for name, step in steps.items():
            began = clock()
            step()
            times[name].append(clock() - began)
    return {name: found[2:] for name, found in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--cpu-time", action="store_true", help="not the time that passes")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    torch.manual_seed(1)
    inputs = torch.randn(EXAMPLES, WIDTH)
    labels = torch.randint(0, CLASSES, (EXAMPLES,))
    with ExitStack() as stack:
        made = {
            "plain": plain_step(inputs, labels, asked.batch),
            "letalone": private_step(inputs, labels, asked.batch, stack),
            "Opacus, ghost": opacus_step(inputs, labels, asked.batch),
        }
        clock = time.process_time if asked.cpu_time else time.perf_counter
        steps = {name: step for name, step in made.items() if step}
        times = measure(steps, asked.seconds, clock)
    weights = sum(p.numel() for p in network().parameters())
    print(f"{weights:,} weights, batch {asked.batch}, {asked.threads} threads, medians:")
    for name, found in times.items():
        ratio = statistics.median(a / b for a, b in zip(found, times["plain"], strict=True))
        print(f"{name:>14}  {statistics.median(found) * 1e3:7.1f} ms  {ratio:5.2f} x plain")
    if made["Opacus, ghost"] is None:
        print("Opacus is not installed here.")


if __name__ == "__main__":
    main()
