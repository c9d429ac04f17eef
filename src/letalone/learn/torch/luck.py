"""Secret luck: what torch draws within a step (dropout, augmentation) follows from secret bits.

Users seed torch with numbers that anybody may know. Then one unit more would give all units behind
it in its piece another dropout, as everybody could tell. So each step seeds torch's generators from
the bits that draw the units, and leaves them afterwards as it found them.

  Proven:   docs/explanation/proofs/deep_learning.md, section 1
  Tested:   tests/deep_learning/test_luck.py
  Assumed:  what torch's generators draw from a secret state looks random
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from letalone.learn.torch.tensors import as_tensor
from letalone.randomness.bits import BitSource

STATE_WORDS = 624  # of the Mersenne twister, each in 64 bits
STATE_START = 24  # bytes before them: seed, how many are left, the next
LOW = np.uint64(0xFFFFFFFF)


@contextmanager
def secret_luck(device: torch.device, bits: BitSource) -> Generator[None]:
    """What torch draws in here is secret and new; what it draws afterwards is as it was."""
    words = np.empty(1 + STATE_WORDS, np.uint64)
    bits.fill(words)
    cards = [device] if device.type == "cuda" else []
    anything = cast("Any", torch)
    with anything.random.fork_rng(devices=cards):
        anything.manual_seed(int(words[0]))  # cards take all 64 bits
        anything.set_rng_state(_filled(anything.get_rng_state(), words[0], words[1:] & LOW))
        yield


def _filled(state: Tensor, seed: np.uint64, words: NDArray[np.uint64]) -> Tensor:
    """The state of the processor's generator, all of it secret: a seed there has 32 bits."""
    content = state.numpy().copy()
    place = slice(STATE_START, STATE_START + words.nbytes)
    if len(content) < place.stop or content[place][:8].view(np.uint64)[0] != seed & LOW:
        raise RuntimeError(
            "This version of torch keeps its generator in a form that is not known here. Install"
            " the version that letalone was tested with."
        )
    content[place] = words.view(np.uint8)
    return as_tensor(content)
