"""Random directions that a short seed names: the client and the collector make the same ones.

Direction j of a seed is a vector of d normal numbers, divided by its length. The numbers come in
pairs by Box and Muller's formula from blocks of AES-128 in counter mode, the seed being the key: so
one direction can be made without the others, in any language.

  Proven:   nothing; privacy does not depend on it
  Tested:   golden directions; one by itself is as among all; mean and covariance of many
  Assumed:  AES looks random, so directions are isotropic; floats move them by about 2^-50
"""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

from letalone.mechanisms.values import Floats

SEED_BYTES = 16
BLOCK_BYTES = 16  # of AES: two words, which give two normal numbers


def all_directions(seed: bytes, count: int, dimension: int) -> Floats:
    """The first directions of a seed, a row each."""
    return _normalise(_words(seed, 0, count, dimension), dimension)


def named_directions(seeds: list[bytes], places: list[int], dimension: int) -> Floats:
    """One direction of each seed."""
    named = zip(seeds, places, strict=True)
    words = [_words(seed, place, 1, dimension) for seed, place in named]
    return _normalise(np.concatenate(words), dimension)


def _words(seed: bytes, first: int, count: int, dimension: int) -> NDArray[np.uint64]:
    """A row of words for each direction from `first` on."""
    blocks = (dimension + 1) // 2
    start = (first * blocks).to_bytes(BLOCK_BYTES, "big")
    stream = Cipher(AES(seed), CTR(start)).encryptor().update(bytes(count * blocks * BLOCK_BYTES))
    return np.frombuffer(stream, "<u8").reshape(count, 2 * blocks)


def _normalise(words: NDArray[np.uint64], dimension: int) -> Floats:
    parts = (words >> np.uint64(11)).astype(np.float64)
    radius = np.sqrt(-2 * np.log((parts[:, ::2] + 0.5) * 2.0**-53))
    angle = parts[:, 1::2] * (2 * np.pi * 2.0**-53)
    normals = np.empty(parts.shape)
    normals[:, ::2], normals[:, 1::2] = radius * np.cos(angle), radius * np.sin(angle)
    kept = normals[:, :dimension]
    return kept / np.sqrt(np.einsum("ij,ij->i", kept, kept))[:, None]
