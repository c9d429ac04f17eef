"""The exponential mechanism: a private choice among candidates.

If every candidate's utility u moves by at most `sensitivity` between neighbours, choose
candidate o with probability proportional to exp(epsilon · u(o) / (2 · sensitivity)); for
monotone utilities the 2 is not needed.

Theorem.  The choice is (epsilon, 0)-DP; more sharply, its loss has a range of at most
epsilon, so its curve is `BoundedRange(epsilon)`. The utility of the choice falls short of
the best by more than (2·sensitivity/epsilon)(ln|O| + t) with probability at most e^(−t).
  Proven:   docs/explanation/proofs/exponential.md
  Tested:   exact laws of neighbouring utilities; the choices against the law
  Assumed:  the bits are uniform; an observer does not see how long it took

Utilities are taken as the binary numbers that they are and multiplied with a rational;
ties in the random comparison are decided by more bits, so the law is exact.

McSherry, Talwar: Mechanism design via differential privacy (2007). Dong, Durfee, Rogers:
Optimal differential privacy composition for exponential mechanisms (2020).
"""

from dataclasses import dataclass

from letalone.mechanisms.chooser import Chooser
from letalone.mechanisms.parameters import about
from letalone.privacy import BoundedRange, Privacy
from letalone.randomness.bits import BitSource
from letalone.randomness.choice import Scores, choose


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Exponential(Chooser):
    """Chooses a candidate with probability ∝ e^(factor · utility).

    Parameters: `epsilon` is what a choice costs. `sensitivity` is the most that one unit can
    move the utility of any one candidate. `monotone=True` says that adding a unit can only
    raise utilities (counts): half the noise, for add/remove neighbours only.
    """

    @property
    def privacy(self) -> Privacy:
        """What a choice reveals."""
        return about(BoundedRange(self.epsilon), self.neighbours)

    def _draw(self, scores: Scores, bits: BitSource) -> int:
        return choose(scores, bits)
