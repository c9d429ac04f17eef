"""Permute-and-flip: a private choice that is never worse than the exponential mechanism's.

If every candidate's utility u moves by at most `sensitivity` between neighbours, go through
the candidates in random order and take the first whose coin, with heads of probability
exp(epsilon · (u(o) − best) / (2 · sensitivity)), shows heads; for monotone utilities the 2
is not needed.

Theorem.  The choice is (epsilon, 0)-DP. Nothing sharper is claimed: the bounded range of
the exponential mechanism is not known for it. The utility of the choice falls short of the
best by more than (2·sensitivity/epsilon)(ln|O| + t) with probability at most e^(−t).
  Proven:   docs/explanation/proofs/permute_and_flip.md
  Tested:   exact laws of neighbouring utilities; the choices against the law
  Assumed:  the bits are uniform; an observer does not see how long it took

McKenna, Sheldon: Permute-and-flip: a new mechanism for differentially private
selection (2020).
"""

from dataclasses import dataclass

from letalone.mechanisms.chooser import Chooser
from letalone.mechanisms.parameters import about
from letalone.privacy import Privacy, PureDP
from letalone.randomness.bits import BitSource
from letalone.randomness.choice import Scores, permute_and_flip


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PermuteAndFlip(Chooser):
    """Chooses the first candidate, in random order, whose coin shows heads.

    Parameters: `epsilon` is what a choice costs. `sensitivity` is the most that one unit can
    move the utility of any one candidate. `monotone=True` says that adding a unit can only
    raise utilities (counts): half the noise, for add/remove neighbours only.
    """

    @property
    def privacy(self) -> Privacy:
        """What a choice reveals."""
        return about(PureDP(self.epsilon), self.neighbours)

    def _draw(self, scores: Scores, bits: BitSource) -> int:
        return permute_and_flip(scores, bits)
