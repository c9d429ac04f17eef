"""Chooses cells by their ranks: what the parts of an answer that are chosen have in common.

Utilities of ranks are computed exactly, whatever the number of rows and the share, and then
clamped at −2^53, so that a float holds each: no utility wraps or is rounded.

Theorem.  Clamping moves no two utilities further apart, so a unit moves the clamped ones by no
more than `sensitivity.rank_moves` says. A choice that falls short of the best by s < 2^53 at most,
at some confidence, still does: a clamped utility is 2^53 below the best, which is 0.
  Proven:   x ↦ max(x, −2^53) is a contraction; a clamped utility has a weight of at most
            e^(−factor · s) times the best one's, as it had
  Tested:   tests/tables/test_choices.py: the law where rows times the denominator pass 2^63
"""

from fractions import Fraction

import numpy as np

from letalone.errors import ParameterError
from letalone.mechanisms import Exponential
from letalone.randomness.bits import BitSource
from letalone.tables.columns import Integers, Wholes

LARGEST = 2**53  # what is missed by more counts as missed by this
WRAPS = 2**61


def refuse_tiny(epsilon: Fraction, *far: float) -> None:
    """Refuses an ε for which a choice would be aimed farther off than utilities reach."""
    if max(far) > LARGEST:
        raise ParameterError(
            f"A part of the answer gets epsilon {float(epsilon):.3g}, for which the ranks to choose"
            " would not fit into 64 bits. Give a larger epsilon, or bound units to fewer rows."
        )


def choose_rank(
    mechanism: Exponential, cells: Integers, target: int, *, scale: int, bits: BitSource
) -> int:
    """A cell at whose place the rank target / scale lies; −1: below all, len(cells): above."""
    targets = np.array([target], dtype=object)
    return int(choose_ranks(mechanism, cells[None], targets, scale=scale, bits=bits)[0])


def choose_ranks(
    mechanism: Exponential, cells: Integers, targets: Wholes, *, scale: int, bits: BitSource
) -> Integers:
    """The same for each row of cells and its target."""
    utilities = rank_utilities(cells, targets, scale)
    chosen = [mechanism.choose_index(row, bits=bits) for row in utilities]
    return np.array(chosen, dtype=np.int64) - 1


def rank_utilities(cells: Integers, targets: Wholes, scale: int) -> Integers:
    """The utilities of the place below all cells, of each cell, and of the place above all.

    That of a cell is −scale times the number of rows by which the target is missed:
    −max(0, scale·#{x < cell} − target, target − scale·#{x ≤ cell}), at least −2^53. Some cell, or
    one of the two places beyond them, has utility 0.
    """
    rows = np.cumsum(cells, axis=1)
    largest = max(scale * int(np.max(rows, initial=0)), *(abs(int(aim)) for aim in targets), 0)
    exact = np.int64 if largest < WRAPS else object  # differences of two such fit, too
    counted, aims = scale * rows.astype(exact), targets.astype(exact)[:, None]
    none, beyond = np.zeros_like(aims), np.maximum(aims, counted[:, -1:])
    below = np.concatenate((aims, none, counted), axis=1) - aims
    above = aims - np.concatenate((none, counted, beyond), axis=1)
    missed = np.maximum(0, np.maximum(below, above))
    return -np.minimum(missed, LARGEST).astype(np.int64)
