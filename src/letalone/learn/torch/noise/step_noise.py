"""The noise of a step: ideal Gaussian numbers on the sum, rounded once, and only then divided.

An ideal number is added to the exact value and the result rounded to a grid that depends on the
noise alone, so floats leak nothing, on whatever device the sum was computed. There are two roads:

  on the processor    as in every other release (`randomness.real_noise`)
  on a graphics card  where the sum lies there: from a key of the run, the step and the place
                      (`randomness.keyed`); the sum does not leave the card

  Proven:   docs/explanation/proofs/exact_sampling.md, section 6, and device_noise.md
  Tested:   tests/deep_learning/test_steps.py and test_device_noise.py: the law, with power
"""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from warnings import warn

import numpy as np
import torch
from torch import Tensor

from letalone.learn.torch.tensors import as_tensor
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.keyed.gaussians import add_keyed_gaussians, decide
from letalone.randomness.keyed.law import KeyedLaw
from letalone.randomness.keyed.run_keys import NoiseKey, RunKeys
from letalone.randomness.real_noise import add_gaussians

AT_ONCE = 1 << 19  # numbers, so that they stay in the cache
TRIAL = 1 << 15  # numbers, of which with usual luck none is left open
DEVICES: tuple[str, ...] = ("cuda",)  # where noise can be drawn from a key; tests add the processor


def write_noisy(
    total: Tensor,
    into: Tensor,
    *,
    sigma: Fraction,
    divisor: int,
    bits: BitSource,
    keys: RunKeys | None = None,
    step: int = 0,
) -> None:
    """Writes (total + noise) / divisor, each number with noise of its own; once for each step."""
    law = KeyedLaw(sigma)
    if keys is None or not law.fits or not draws_on(total.device):
        _write_from_bits(total, into, sigma=sigma, divisor=divisor, bits=bits)
    else:
        _write_from_key(total, into, law, divisor, keys.claim(step), step)


def draws_on(device: torch.device) -> bool:
    """Whether noise for a sum on this device is drawn there."""
    return device.type in DEVICES and (device.type == "cpu" or kernel_works(device))


@cache
def kernel_works(device: torch.device) -> bool:
    """Whether the kernel gives the reference's numbers on public sums; warns where it does not."""
    try:
        fault = "" if _passes_trial(device) else "it gives other numbers than the reference"
    except Exception as error:  # of a compiler or a driver, of whichever kind
        fault = f"{type(error).__name__}: {error}"
    if fault:
        warn(f"Noise is drawn on the processor, not on {device}: {fault}.", stacklevel=2)
    return not fault


def _passes_trial(device: torch.device) -> bool:
    from letalone.learn.torch.noise.noise_kernel import write_sums  # Triton is not everywhere

    law, key = KeyedLaw(Fraction(3)), NoiseKey(range(8))
    for kind, divisor in ((np.float64, 1), (np.float32, 3)):
        sums = np.linspace(-9, 9, TRIAL).astype(kind)
        total = as_tensor(sums).to(device)
        into = torch.empty_like(total)
        unsure = write_sums(total, into, law=law, divisor=divisor, key=key, step=1)
        noisy = add_keyed_gaussians(sums.astype(np.float64), law, key, 1)
        if unsure or not np.array_equal(into.cpu(), (noisy / divisor).astype(kind)):
            return False
    return True


def noise_words(device: torch.device) -> tuple[str, ...]:
    """What a record says of where the noise was drawn, unless it is as everywhere else."""
    where = f"noise was drawn where the model is ({device.type}), from a key that is not stored"
    return (where,) if draws_on(device) else ()


def _write_from_key(
    total: Tensor, into: Tensor, law: KeyedLaw, divisor: int, key: NoiseKey, step: int
) -> None:
    if total.device.type == "cpu":
        noisy = add_keyed_gaussians(total.numpy().astype(np.float64), law, key, step)
        into.copy_(as_tensor(noisy / divisor))
        return
    from letalone.learn.torch.noise.noise_kernel import write_sums

    if write_sums(total, into, law=law, divisor=divisor, key=key, step=step):
        decide_open(total, into, law, divisor, key, step)


def decide_open(
    total: Tensor, into: Tensor, law: KeyedLaw, divisor: int, key: NoiseKey, step: int
) -> None:
    """Writes what the kernel left open, which it marked as NaN."""
    places = into.isnan().nonzero().flatten()
    sums = total[places].double().cpu().numpy()
    exact = decide(sums, places.cpu().numpy(), law, key, step)
    into[places] = as_tensor(exact / divisor).to(into)


def _write_from_bits(
    total: Tensor, into: Tensor, *, sigma: Fraction, divisor: int, bits: BitSource
) -> None:
    # Arrays, not tensors: each thread that works with tensors would bring threads of its own.
    sums, is_here = total.cpu().numpy(), into.device.type == "cpu"
    found = into.numpy() if is_here else np.empty(len(sums), sums.dtype)

    def write(start: int) -> None:
        noisy = add_gaussians(sums[start : start + AT_ONCE].astype(np.float64), sigma, bits)
        np.divide(noisy, divisor, out=noisy)
        found[start : start + AT_ONCE] = noisy

    starts = range(0, len(total), AT_ONCE)
    if bits is not SYSTEM or len(starts) == 1 or torch.get_num_threads() == 1:
        for start in starts:  # in order: the bits of tests are
            write(start)
    else:
        with ThreadPoolExecutor(torch.get_num_threads()) as pool:
            for _ in pool.map(write, starts):
                pass  # whatever was raised is raised here
    if not is_here:
        into.copy_(as_tensor(found))
