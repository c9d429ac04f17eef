"""Whose turn it is: where noise is correlated, a unit may take part in every so-manieth step only.

At the start each unit is thrown into a part by bits of its own, and step t draws from the part
whose turn it is, each of its units by a coin of its own. A run that goes on from a file throws its
units anew.

  Proven:   docs/explanation/proofs/correlated_noise.md, section 2
  Tested:   tests/deep_learning/test_turns.py
  Assumed:  the bits are uniform and secret
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from letalone.learn.torch.sampling import Places, draw_units
from letalone.randomness.bits import BitSource


class UnitTurns:
    """The parts of all units, thrown when the first is asked for."""

    def __init__(self, units: int, parts: int, bits: BitSource) -> None:
        self._units, self._parts, self._bits = units, parts, bits
        self._part_of: NDArray[np.uint64] | None = None

    def draw(self, step: int, rate: Fraction) -> Places:
        """Each unit of the part whose turn it is with probability `rate`."""
        if self._parts == 1:
            return draw_units(self._units, rate, self._bits)
        members = np.flatnonzero(self._thrown() == (step - 1) % self._parts)
        return members[draw_units(len(members), rate, self._bits)]

    def _thrown(self) -> NDArray[np.uint64]:
        if self._part_of is None:
            words = np.empty(self._units, np.uint64)
            self._bits.fill(words)
            self._part_of = words % np.uint64(self._parts)
        return self._part_of
