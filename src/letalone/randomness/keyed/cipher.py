"""ChaCha: 16 words of 32 bits for each place, from a key of 256 bits, for many places at once.

Twelve rounds: the best attacks known reach seven, and the 12-round form is what the standard
generator of Rust's `rand` is made of. The 128 bits that tell blocks apart are a place of 64 bits
and a tail of two words; no caller may use a key twice with the same place and tail.

  Tested:   published vectors of 20 and 12 rounds; another program's ChaCha20 on random input
  Assumed:  ChaCha12 looks random to anyone without its key

Bernstein: ChaCha, a variant of Salsa20 (2008). Nir, Langley: RFC 8439 (2018).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ROUNDS = 12
CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)  # "expand 32-byte k"
HALF = np.uint64(32)
NEXT, AFTER, LAST = [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]  # columns become diagonals

Halves = NDArray[np.uint32]


def blocks(
    key: Sequence[int],
    places: NDArray[np.uint64],
    tail: tuple[int, int],
    *,
    rounds: int = ROUNDS,
) -> Halves:
    """16 rows of words, a column for each place."""
    start = np.empty((16, places.size), np.uint32)
    start[:12] = np.array((*CONSTANTS, *key), np.uint32)[:, None]
    start[12], start[13] = places.astype(np.uint32), (places >> HALF).astype(np.uint32)
    start[14:] = np.array(tail, np.uint32)[:, None]
    a, b, c, d = start.copy().reshape(4, 4, -1)
    for _ in range(rounds // 2):
        _quarters(a, b, c, d)
        b, c, d = b[NEXT], c[AFTER], d[LAST]
        _quarters(a, b, c, d)
        b, c, d = b[LAST], c[AFTER], d[NEXT]
    return np.concatenate([a, b, c, d]) + start


def _quarters(a: Halves, b: Halves, c: Halves, d: Halves) -> None:
    """Four quarter rounds side by side, in place; sums are modulo 2^32."""
    spare = np.empty_like(a)
    for left, right, far, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        left += right
        far ^= left
        np.left_shift(far, np.uint32(turn), out=spare)
        far >>= np.uint32(32 - turn)
        far |= spare
