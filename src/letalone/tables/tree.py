"""Many quantiles in one release: a tree of counts with noise on every node.

Each row is counted once on each level of a tree over the cells (`consistent`). All quantiles,
however many, are read off the same noisy tree (`ranks`).

Theorem.  A unit moves the tree by `levels` times what it moves the cells by, in L1 and in L2
squared.
  Proven:   docs/explanation/proofs/tables.md, section 4
  Tested:   tests/tables/test_quantiles.py: intervals hold the true quantile as often as they say,
            where a cell has few rows; more often where a cell has more rows than the noise
  Assumed:  nothing beyond what `ranks` says
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from letalone.engines.measures import Measure
from letalone.tables.columns import Answer
from letalone.tables.consistent import Tree, tree_for
from letalone.tables.noise import Noise
from letalone.tables.ranks import ranks_of, spread, widest
from letalone.tables.scales import Scale
from letalone.tables.sensitivity import Contribution, Moved, sensitivity_of
from letalone.tables.vectors import ROOT_TWO, VectorPart, Wholes

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TreePart(VectorPart):
    """Several quantiles of one column."""

    names: tuple[str, ...]
    unit: Contribution
    scale: Scale
    shares: tuple[Fraction, ...]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The cells."""
        return (self.scale.cells,)

    @property
    def tree(self) -> Tree:
        """The tree over the cells."""
        return tree_for(self.scale.cells.count)

    @property
    def moved(self) -> Moved:
        """Each level moves as the cells do."""
        return tree_moves(self.tree, self.scale, self.unit)

    @property
    def weight(self) -> float:
        """The noise of a rank, over all cells."""
        return ROOT_TWO * self.moved.l1 * max(spread(self.tree, float(q)) for q in self.shares)

    def vector(self, exact: list[Wholes]) -> Wholes:
        """All nodes."""
        return self.tree.vector(exact[0])

    def answers(self, noisy: Floats, noise: Noise, confidence: float) -> dict[str, Answer]:
        """Each quantile with its interval, one row for each key."""
        ranks = ranks_of(self.tree, noisy)
        found = [
            ranks.interval(float(share), noise.law, confidence=confidence) for share in self.shares
        ]
        place, low, high = (np.stack(ends, axis=1) for ends in zip(*found, strict=True))
        return dict.fromkeys(self.names, self.scale.answer(place, low, high))

    def width(self, noise: Noise, confidence: float) -> float:
        """The widest band, in rows."""
        law = noise.law
        found = (widest(self.tree, float(q), law.family, confidence) for q in self.shares)
        return law.deviation * max(found)


def tree_moves(tree: Tree, scale: Scale, unit: Contribution) -> Moved:
    """How far one unit moves a tree over cells: each level moves as the cells do."""
    one = sensitivity_of(scale.cells, unit)
    return Moved(tree.levels * one.l1, tree.levels * one.l2_squared)
