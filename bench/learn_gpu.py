"""What a private step costs beside a plain one on a GPU, each mode against its like.

    PYTHONPATH=src python bench/learn_gpu.py --json gpu.json        # everything, one H200: minutes
    PYTHONPATH=src python bench/learn_gpu.py --only mlp cnn --steps 10
    PYTHONPATH=src python bench/learn_gpu.py --device cpu --small   # whether it runs, in a minute

Networks: an MLP 1024-8192-8192-1024 at batches of 2048; transformers of 12 blocks over 256 places,
1024 wide at 64 and 2048 wide at 32; a small CNN at 1024; WRN-16-4 with group norms at 1024. Plain
and private have the same weights, batch, optimizer (fused AdamW) and bfloat16 autocast.

    eager        as PyTorch runs it
    compiled     torch.compile, of the model and the loss; of the whole private step
    graph        the same, replayed as one CUDA graph (mode "reduce-overhead")

"private" is precision="fast" on a batch of exactly the plain one's size: forward, backward to the
outputs, norms, weighted sums, noise by torch.randn (*not* secure: it stands for a generator on the
device) and the optimizer. "proven" is the default precision, "low" memory="low". `trainer`
is a whole step of `PrivateTrainer` with its own coins, padding and secure noise on the processor.
Times are medians by device events; memory is the peak above what was there before.

Needs PyTorch, numpy, python-flint, cryptography and SQLAlchemy, and this repository on PYTHONPATH.
A machine without python-flint (exact arithmetic of plans) or the others: `pip install python-flint
cryptography SQLAlchemy`, or carry their wheels there. Opacus is measured too where it is installed.
"""

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import torch
from learn_gpu_networks import NETWORKS, SMALL, Network, loss_of
from torch import nn

from letalone.learn.torch import Flat, PrivateTrainer
from letalone.learn.torch.gradients.checks import checked_way
from letalone.learn.torch.gradients.compiled import Compiled
from letalone.learn.torch.gradients.computing import Adder, AtOnce, PieceShare, Summing
from letalone.learn.torch.gradients.low_memory import TwoPasses
from letalone.learn.torch.gradients.precision import Precision
from letalone.learn.torch.gradients.recording import ExampleBatch, trained
from letalone.learn.torch.gradients.sums import Sums, emptied
from letalone.learn.torch.sampling import bins_for
from letalone.learn.torch.tensors import split

Step = Callable[[], object]
MIB = 2**20


@dataclass(frozen=True)
class Setting:
    """Where and how long to measure."""

    device: torch.device
    steps: int
    warm: int
    half: bool

    def half_precision(self) -> Any:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.half)


@dataclass(frozen=True)
class Measure:
    """What one way to step costs."""

    milliseconds: float
    mebibytes: float
    first_seconds: float


def made(network: Network, setting: Setting) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = network.make().to(setting.device)
    on_gpu = setting.device.type == "cuda"
    rate: Any = torch.tensor(1e-4, device=setting.device) if on_gpu else 1e-4
    return model, torch.optim.AdamW(model.parameters(), lr=rate, fused=True, capturable=on_gpu)


def plain_step(network: Network, setting: Setting, mode: str) -> Step:
    model, optimizer = made(network, setting)
    inputs, targets = network.data(setting.device)

    def loss(inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        with setting.half_precision():
            outputs = model(inputs)
        return loss_of(outputs, targets).mean()

    ready = compiled(loss, mode)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        ready(inputs, targets).backward()
        optimizer.step()

    return step


def compiled(function: Any, mode: str) -> Any:
    if mode == "eager":
        return function
    return torch.compile(
        function, dynamic=False, mode="reduce-overhead" if mode == "graph" else None
    )


def private_step(
    network: Network, setting: Setting, mode: str, *, precision: Precision, low: bool = False
) -> Step:
    """One piece of exactly the plain batch: no coins, no padding, noise of torch.randn."""
    model, optimizer = made(network, setting)
    inputs, targets = network.data(setting.device)
    way = checked_way(model, loss_of, (inputs[0], targets[0]))
    summing = Summing(model, loss_of, way, Flat(1), precision)
    batch = ExampleBatch(inputs, targets, torch.ones(len(inputs), device=setting.device))
    share, adder = PieceShare(1, doubles=False), adder_of(summing, mode, low=low)
    if mode != "eager":
        adder.prepare(lambda: batch, share)
    kept: list[Sums] = []

    def step() -> None:
        sums = emptied(kept.pop() if kept else None, trained(model), single=True)
        adder.add(batch, sums, share)
        kept.append(sums.finished())
        torch.randn(sums.gradient.shape, device=setting.device, out=sums.gradient)
        sums.gradient.add_(sums.total).div_(len(inputs))
        parts = split(sums.gradient, sums.sizes)
        for parameter, part in zip(model.parameters(), parts, strict=True):
            parameter.grad = part.view_as(parameter)
        optimizer.step()

    return step


def adder_of(summing: Summing, mode: str, *, low: bool) -> Adder:
    if low:
        return TwoPasses(summing)
    if mode == "eager":
        return AtOnce(summing)
    return Compiled(summing, "inductor", replayed=mode == "graph")


def trainer_step(network: Network, setting: Setting, stack: ExitStack) -> Step:
    """With coins, padded pieces and noise that is secure, as `fit` does it."""
    model, optimizer = made(network, setting)
    inputs, targets = network.data(setting.device)
    many = [values.repeat(4, *[1] * (values.dim() - 1)) for values in (inputs, targets)]
    size = next(s for s in count(network.batch) if bins_for(network.batch, s) == 1)
    trainer = PrivateTrainer(
        model,
        loss_of,
        epsilon=8,
        delta=1e-6,
        rows=4 * network.batch,
        batch_size=network.batch,
        epochs=50,
        clip=1.0,
        optimizer=optimizer,
        precision="fast",
        compile=setting.device.type == "cuda",
        physical_batch_size=size,
    )
    steps = stack.enter_context(trainer.steps((many[0], many[1])))

    def step() -> None:
        next(steps)
        optimizer.step()

    return step


def opacus_step(network: Network, setting: Setting) -> Step | None:
    """Ghost clipping; None where Opacus is missing."""
    try:
        from opacus.grad_sample import GradSampleModuleFastGradientClipping
        from opacus.optimizers.optimizer_fast_gradient_clipping import (
            DPOptimizerFastGradientClipping,
        )
        from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping
    except ImportError:
        return None
    model, optimizer = made(network, setting)
    inputs, targets = network.data(setting.device)
    wrapped = GradSampleModuleFastGradientClipping(
        model, max_grad_norm=1.0, use_ghost_clipping=True
    )
    private = DPOptimizerFastGradientClipping(
        optimizer, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=len(inputs)
    )
    loss = DPLossFastGradientClipping(wrapped, private, Criterion())

    def step() -> None:
        private.zero_grad()
        with setting.half_precision():
            outputs = wrapped(inputs)
        loss(outputs, targets).backward()
        private.step()

    return step


class Criterion(nn.Module):
    """The loss as Opacus calls it."""

    reduction = "mean"

    def forward(self, outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        losses = loss_of(outputs, targets)
        return losses.mean() if self.reduction == "mean" else losses


def measured(make: Callable[[], Step | None], setting: Setting) -> Measure | str:
    """Median time and peak memory of the steps that are made; or the name of what went wrong."""
    release(setting)
    before = allocated(setting)
    try:
        step = make()
        if step is None:
            return "not installed"
        began = time.perf_counter()
        for _ in range(setting.warm):
            step()
        wait(setting)
        first = time.perf_counter() - began
        reset(setting)
        times = [timed(step, setting) for _ in range(setting.steps)]
        peak = (allocated(setting, peak=True) - before) / MIB
        return Measure(statistics.median(times), peak, first)
    except Exception as error:  # one way that fails leaves the others to be measured
        return f"{type(error).__name__}: {str(error)[:300]}"


def timed(step: Step, setting: Setting) -> float:
    """Milliseconds, by events of the device where it has some."""
    if setting.device.type != "cuda":
        began = time.perf_counter()
        step()
        return (time.perf_counter() - began) * 1e3
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    wait(setting)
    start.record()
    step()
    end.record()
    wait(setting)
    return start.elapsed_time(end)


def wait(setting: Setting) -> None:
    if setting.device.type == "cuda":
        torch.cuda.synchronize()


def release(setting: Setting) -> None:
    """Frees what the last way used."""
    torch.compiler.reset()
    gc.collect()
    if setting.device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def reset(setting: Setting) -> None:
    if setting.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()


def allocated(setting: Setting, *, peak: bool = False) -> float:
    if setting.device.type != "cuda":
        return 0
    return torch.cuda.max_memory_allocated() if peak else torch.cuda.memory_allocated()


def ways(network: Network, setting: Setting, *, modes: list[str], stack: ExitStack) -> Any:
    """Every way to step, by its name; plain ones first."""
    fast, proven = Precision.FAST, Precision.PROVEN
    for mode in modes:
        yield f"plain {mode}", partial(plain_step, network, setting, mode)
    for mode in modes:
        yield f"private {mode}", partial(private_step, network, setting, mode, precision=fast)
    low = partial(private_step, network, setting, "eager", precision=fast, low=True)
    yield "low eager", low
    yield "proven eager", partial(private_step, network, setting, "eager", precision=proven)
    yield "Opacus eager", partial(opacus_step, network, setting)
    yield "trainer", partial(trainer_step, network, setting, stack)


def compare(network: Network, setting: Setting, modes: list[str]) -> dict[str, Any]:
    """Everything about one network, printed as it comes."""
    found: dict[str, Any] = {}
    for name, make in way_list(network, setting, modes):
        result = measured(make, setting)
        found[name] = result if isinstance(result, str) else vars(result)
        print(line(network, name, found), flush=True)
    return found


def way_list(network: Network, setting: Setting, modes: list[str]) -> Any:
    with ExitStack() as stack:
        yield from ways(network, setting, modes=modes, stack=stack)


def line(network: Network, name: str, found: dict[str, Any]) -> str:
    """One way in words, with its ratios to the plain ones."""
    result = found[name]
    if isinstance(result, str):
        return f"{network.name:>12} {name:<17} {result}"
    rate = network.batch / result["milliseconds"] * 1e3
    text = f"{network.name:>12} {name:<17} {result['milliseconds']:9.2f} ms {rate:10,.0f}/s"
    text += f" {result['mebibytes']:9,.0f} MiB"
    for plain in ("eager", "compiled", "graph"):
        base = found.get(f"plain {plain}")
        if isinstance(base, dict):
            text += f"  {result['milliseconds'] / base['milliseconds']:5.2f} x {plain}"
            if base["mebibytes"] and plain in name.replace("low", "eager"):
                text += f" ({result['mebibytes'] / base['mebibytes']:.2f} x memory)"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--small", action="store_true", help="tiny networks, two steps each")
    parser.add_argument("--only", nargs="*", help="of the networks, those with these names")
    parser.add_argument("--modes", nargs="*", help="eager, compiled, graph")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--json", help="a file for the numbers")
    asked = parser.parse_args()
    device = torch.device(asked.device)
    if asked.small:
        torch.set_num_threads(1)  # threads would wait for each other longer than they compute
    setting = Setting(device, 2 if asked.small else asked.steps, 1 if asked.small else 5, half=True)
    modes = asked.modes or (["eager"] if asked.small else ["eager", "compiled", "graph"])
    where = torch.cuda.get_device_name() if device.type == "cuda" else "processor"
    print(f"{where}, PyTorch {torch.__version__}, medians of {setting.steps} steps", flush=True)
    found: dict[str, Any] = {"device": where, "torch": torch.__version__}
    for network in SMALL if asked.small else NETWORKS:
        if not asked.only or network.name in asked.only:
            found[network.name] = compare(network, setting, modes)
            if asked.json:  # after each: a machine may be taken away
                Path(asked.json).write_text(json.dumps(found, indent=1), "utf-8")


if __name__ == "__main__":
    main()
