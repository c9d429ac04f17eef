# pyright: basic, reportMissingImports=false, reportIndexIssue=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false, reportOperatorIssue=false
# Kernels are Triton's language, which looks like Python and has types of its own.
"""The noise of `randomness.keyed` on a graphics card: one pass over the flat gradient.

Each program draws a tile: a block of the cipher to a thread, eight sums to a block. What floats
leave open is written as NaN and counted, and the host decides it. Triton comes with PyTorch for
graphics cards; with TRITON_INTERPRET=1 the kernel runs on any processor, which is how it is tested.

  Proven:   docs/explanation/proofs/device_noise.md
  Tested:   tests/on_triton: number for number against the reference; compiled for a card
  Assumed:  the card's log, sqrt, sin and cos of 64 bits are as right as the proof asks
"""

from functools import lru_cache

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from letalone.learn.torch.tensors import as_tensor
from letalone.randomness.keyed.law import PART_MASK, TILE, TILE_BLOCKS, KeyedLaw
from letalone.randomness.keyed.run_keys import NoiseKey

DOUBLE_ROUNDS = 6


def write_sums(
    total: Tensor, into: Tensor, *, law: KeyedLaw, divisor: int, key: NoiseKey, step: int
) -> int:
    """Writes (total + noise) / divisor, NaN where floats leave it open; returns how often."""
    device = total.device
    words = torch.tensor(key.words, dtype=torch.int64, device=device)
    count = torch.zeros(1, dtype=torch.int32, device=device)
    with torch.cuda.device_of(total):  # Triton starts on the current card
        _write_tile[(triton.cdiv(total.numel(), TILE),)](
            total,
            into,
            count,
            words,
            _constants(law, divisor, device),
            step,
            total.numel(),
            side=TILE_BLOCKS,
            rounds=DOUBLE_ROUNDS,
            mask=PART_MASK,
            num_warps=TILE_BLOCKS // 32,  # a thread for each block
            enable_fp_fusion=False,
        )
    return int(count)


@lru_cache(maxsize=8)
def _constants(law: KeyedLaw, divisor: int, device: torch.device) -> Tensor:
    """On the device, as 64 bits: Triton passes a float as one of 32."""
    return as_tensor(np.append(law.constants, divisor)).to(device)


@triton.jit
def _quarter(a, b, c, d):
    a += b
    d ^= a
    d = (d << 16) | (d >> 16)
    c += d
    b ^= c
    b = (b << 12) | (b >> 20)
    a += b
    d ^= a
    d = (d << 8) | (d >> 24)
    c += d
    b ^= c
    b = (b << 7) | (b >> 25)
    return a, b, c, d


@triton.jit
def _same(word, like):
    return tl.zeros_like(like) + word.to(tl.uint32)


@triton.jit
def _double(high, low):
    """Two words as a float, rounded once."""
    return high.to(tl.float64) * 4294967296.0 + low.to(tl.float64)


@triton.jit
def _write_sum(total, into, index, size, noise, margin, constants):
    """One number of each block, rounded and divided, or NaN; returns where it is NaN."""
    inside = index < size
    value = tl.load(total + index, mask=inside, other=0.0).to(tl.float64)
    units = value * tl.load(constants + 1)
    floors = tl.floor(units)
    sums = (units - floors) + 0.5 + noise
    wholes = tl.floor(sums)
    rest = sums - wholes
    sure = (rest >= margin) & (rest <= 1.0 - margin)
    rounded = (floors + wholes) * tl.load(constants + 2) / tl.load(constants + 8)
    rounded = tl.where(sure, rounded, float("nan"))
    tl.store(into + index, rounded.to(into.dtype.element_ty), mask=inside)
    return tl.where(inside & (sure == 0), 1, 0)


@triton.jit
def _write_pair(
    total, into, index, size, first, second, top, low, constants, side: tl.constexpr,
    mask: tl.constexpr,
):  # fmt: skip
    """Two numbers of each block, `index` and the one a lane further; returns how many are NaN."""
    uniform = _double(first, second) * 5.421010862427522e-20  # 2^-64
    radius = tl.abs(tl.sqrt(-2.0 * tl.log(uniform)))  # not −0: the margin is infinite there
    angle = _double(top & mask, low) * tl.load(constants + 3)
    cosine = tl.cos(angle)
    sine = tl.sin(angle)
    swaps = (top >> 31) != 0
    one = tl.where(swaps, sine, cosine)
    other = tl.where(swaps, cosine, sine)
    one = tl.where(((top >> 30) & 1) != 0, -one, one)
    other = tl.where(((top >> 29) & 1) != 0, -other, other)
    uneven = (tl.load(constants + 5) * uniform + tl.load(constants + 6)) / (uniform * radius)
    margin = tl.load(constants + 4) * radius + uneven + tl.load(constants + 7)
    radius *= tl.load(constants)
    unsure = _write_sum(total, into, index, size, radius * one, margin, constants)
    index += side
    return unsure + _write_sum(total, into, index, size, radius * other, margin, constants)


@triton.jit(do_not_specialize=["step", "size"])
def _write_tile(
    total, into, count, key, constants, step, size, side: tl.constexpr, rounds: tl.constexpr,
    mask: tl.constexpr,
):  # fmt: skip
    """The 8 · side numbers of one tile."""
    tile = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, side)
    block = tile * side + lane
    x12 = block.to(tl.uint32)
    x13 = (block >> 32).to(tl.uint32)
    zero = tl.zeros_like(x12)
    x0, x1 = zero + 0x61707865, zero + 0x3320646E
    x2, x3 = zero + 0x79622D32, zero + 0x6B206574
    x4, x5 = _same(tl.load(key), zero), _same(tl.load(key + 1), zero)
    x6, x7 = _same(tl.load(key + 2), zero), _same(tl.load(key + 3), zero)
    x8, x9 = _same(tl.load(key + 4), zero), _same(tl.load(key + 5), zero)
    x10, x11 = _same(tl.load(key + 6), zero), _same(tl.load(key + 7), zero)
    x14, x15 = _same(step, zero), zero
    s12, s13, s14 = x12, x13, x14
    k4, k5, k6, k7, k8, k9, k10, k11 = x4, x5, x6, x7, x8, x9, x10, x11
    for _ in tl.static_range(rounds):
        x0, x4, x8, x12 = _quarter(x0, x4, x8, x12)
        x1, x5, x9, x13 = _quarter(x1, x5, x9, x13)
        x2, x6, x10, x14 = _quarter(x2, x6, x10, x14)
        x3, x7, x11, x15 = _quarter(x3, x7, x11, x15)
        x0, x5, x10, x15 = _quarter(x0, x5, x10, x15)
        x1, x6, x11, x12 = _quarter(x1, x6, x11, x12)
        x2, x7, x8, x13 = _quarter(x2, x7, x8, x13)
        x3, x4, x9, x14 = _quarter(x3, x4, x9, x14)
    x0, x1, x2, x3 = x0 + 0x61707865, x1 + 0x3320646E, x2 + 0x79622D32, x3 + 0x6B206574
    x4, x5, x6, x7 = x4 + k4, x5 + k5, x6 + k6, x7 + k7
    x8, x9, x10, x11 = x8 + k8, x9 + k9, x10 + k10, x11 + k11
    x12, x13, x14 = x12 + s12, x13 + s13, x14 + s14  # the last word began as 0
    i = tile * (8 * side) + lane
    unsure = _write_pair(total, into, i, size, x0, x1, x2, x3, constants, side, mask)
    i += 2 * side
    unsure += _write_pair(total, into, i, size, x4, x5, x6, x7, constants, side, mask)
    i += 2 * side
    unsure += _write_pair(total, into, i, size, x8, x9, x10, x11, constants, side, mask)
    i += 2 * side
    unsure += _write_pair(total, into, i, size, x12, x13, x14, x15, constants, side, mask)
    open_sums = tl.sum(unsure, axis=0)
    if open_sums > 0:
        tl.atomic_add(count, open_sums)
