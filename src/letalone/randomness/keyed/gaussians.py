"""Gaussian noise of a key, added to many numbers: the reference of every device.

    add_keyed_gaussians(values, law, key, step)

Floats decide where value + noise provably rounds as the ideal sum does; what lies within their
margin of a border between two grid points is decided exactly. So any processor whose functions are
as good as the margin assumes gives these numbers, bit for bit.

  Proven:   docs/explanation/proofs/device_noise.md
  Tested:   tests/randomness/test_keyed.py
  Assumed:  IEEE 754 arithmetic; log and sqrt are right to 2^-50 of their result, sin and cos of at
            most π/4 to 2^-50 (numpy's are within 4 units in the last place)
"""

import numpy as np

from letalone.randomness.bulk import Floats, Places
from letalone.randomness.keyed.cipher import Halves, blocks
from letalone.randomness.keyed.exact_sum import exact_sum
from letalone.randomness.keyed.law import LANES, PART_MASK, TILE, TILE_BLOCKS, KeyedLaw
from letalone.randomness.keyed.run_keys import NoiseKey

TILES_AT_ONCE = 8  # their words stay in the second-level cache
TWO_32 = 2.0**32


def add_keyed_gaussians(
    values: Floats, law: KeyedLaw, key: NoiseKey, step: int, *, start: int = 0
) -> Floats:
    """Each value + its own number; values[0] is number `start`, a multiple of 2,048."""
    out = np.empty_like(values)
    for first in range(0, values.size, TILE * TILES_AT_ONCE):
        part = slice(first, first + TILE * TILES_AT_ONCE)
        out[part] = _rounded(values[part], law, key, step, start + first)
    return out


def decide(values: Floats, places: Places, law: KeyedLaw, key: NoiseKey, step: int) -> Floats:
    """The exact sums of values[i] and number places[i]."""
    pairs = zip(values.tolist(), places.tolist(), strict=True)
    return np.array([exact_sum(value, law, key, step, place) for value, place in pairs])


def _rounded(values: Floats, law: KeyedLaw, key: NoiseKey, step: int, start: int) -> Floats:
    tiles = -(-values.size // TILE)
    padded = np.zeros(tiles * TILE)
    padded[: values.size] = values
    first = start // LANES
    places = np.arange(first, first + tiles * TILE_BLOCKS, dtype=np.uint64)
    words = blocks(key.words, places, (step, 0)).reshape(4, 4, tiles, TILE_BLOCKS)
    lanes = padded.reshape(tiles, LANES, TILE_BLOCKS).transpose(1, 0, 2)
    # Whatever the caller wants to hear about overflow: here it would depend on the values.
    with np.errstate(all="ignore"):
        found = float_sums(lanes, words, law.constants).transpose(1, 0, 2).reshape(-1)
    out = found[: values.size]
    unsure = np.flatnonzero(np.isnan(out))
    out[unsure] = decide(values[unsure], unsure + start, law, key, step)
    return out


def float_sums(values: Floats, words: Halves, constants: Floats) -> Floats:
    """The rounded sums by lanes, NaN where floats leave them open; words: pair, which, block."""
    sigma, per_step, step = constants[:3]
    uniform = _doubles(words[:, 0], words[:, 1]) * TWO_32**-2
    # Not −0 where U is rounded to 1: the margin is infinite there, not below all numbers.
    radius: Floats = np.abs(np.sqrt(-2 * np.log(uniform)))
    lines = _lines(words[:, 2], words[:, 3], constants[3])
    noise = (sigma * radius * lines).swapaxes(0, 1).reshape(values.shape)
    margin = np.repeat(_margin(uniform, radius, constants), 2, axis=0)
    units = values * per_step
    floors = np.floor(units)
    sums = units - floors + 0.5 + noise
    wholes = np.floor(sums)
    rest = sums - wholes
    sure = (rest >= margin) & (rest <= 1 - margin)
    # Both are whole numbers in float64, so the sum is the exact one rounded once.
    return np.where(sure, (floors + wholes) * step, np.nan)


def _lines(top: Halves, low: Halves, last: float) -> Floats:
    """The cosine and the sine of each pair's angle, in its part of the circle."""
    angle = _doubles(top & np.uint32(PART_MASK), low) * last
    cosine, sine, swaps = np.cos(angle), np.sin(angle), (top >> np.uint32(31)) != 0
    first = np.where(swaps, sine, cosine) * _signs(top, 30)
    second = np.where(swaps, cosine, sine) * _signs(top, 29)
    return np.array((first, second), np.float64)


def _signs(top: Halves, bit: int) -> Floats:
    return 1.0 - 2.0 * (top >> np.uint32(bit) & np.uint32(1)).astype(np.float64)


def _doubles(high: Halves, low: Halves) -> Floats:
    """Two words as one float, rounded once."""
    return high.astype(np.float64) * TWO_32 + low


def _margin(uniform: Floats, radius: Floats, constants: Floats) -> Floats:
    """More than all that the floats of a pair can be off, in steps of the grid."""
    per_radius, per_rounding, per_unread, flat = constants[4:]
    uneven: Floats = (per_rounding * uniform + per_unread) / (uniform * radius)
    return uneven + (per_radius * radius + flat)
