"""The noise of a step: ideal Gaussian numbers on the sum, rounded once, and only then divided.

It is the same noise as of every other release (`randomness.real_noise`): an ideal number is added
to the exact value and the result rounded to a grid that depends on the noise alone, so floats leak
nothing, on whatever device the sum was computed.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 6
  Tested:   tests/deep_learning/test_steps.py: the law, with power
"""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from letalone.learn.torch.tensors import as_tensor
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.real_noise import add_gaussians

AT_ONCE = 1 << 19  # numbers, so that they stay in the cache


def write_noisy(
    total: Tensor, into: Tensor, *, sigma: Fraction, divisor: int, bits: BitSource
) -> None:
    """Writes (total + noise) / divisor, each number with noise of its own."""

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
