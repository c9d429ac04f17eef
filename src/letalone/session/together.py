"""What several answers reveal together, charged at once.

A batch is fixed before its first answer, so its curve is the composition of its parts, by
loss distributions where they are known. Accounts that add up along the way cannot take such a
curve. They are charged with the parts, which leaves most room for later questions; or with one
(ε, δ) that the whole curve keeps, where as many more such batches fit then and it saves ε: that
is so for the last batches of a budget, and some fit in this way only.

Theorem.  Both are sound charges: the first is the curve, the second a pair that it keeps.
  Proven:   docs/explanation/proofs/filters.md, section 3; composition.md
  Tested:   tests/session/test_batches.py
  Assumed:  the choice depends on prices and on the ledger, never on the data
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isinf

from letalone.errors import BudgetExceeded
from letalone.privacy import ApproxDP, Privacy, compose
from letalone.privacy.filters import FilterState, charged, how_many_more

# Where the curve may be read: these parts of the budget's delta.
POINTS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10))
WORTH = Fraction(1, 50)  # it uses up some of the delta, so it must save this part of the cost


def cheapest(curves: Sequence[Privacy], state: FilterState) -> Privacy:
    """What to charge for all curves together."""
    whole = compose(*curves)
    usual, fits = _left(state, whole), how_many_more(state, whole)
    points = [(_left(state, point), point) for point in _points(whole, state)]
    kept = [one for one in points if how_many_more(state, one[1]) >= fits]
    left, best = max(kept, key=lambda choice: choice[0], default=(usual, whole))
    saves = left - usual > WORTH * (state.remaining.epsilon - usual)
    return best if saves else whole


def _points(whole: Privacy, state: FilterState) -> Iterator[Privacy]:
    for part in POINTS if state.budget.delta else ():
        delta = part * state.budget.delta
        epsilon = whole.epsilon(delta)
        if not isinf(epsilon):
            yield ApproxDP(epsilon, delta).labelled(whole.neighbours)


def _left(state: FilterState, curve: Privacy) -> Fraction:
    """What is left of ε after the charge; less than nothing where it does not fit."""
    try:
        return charged(state, curve).remaining.epsilon
    except BudgetExceeded:
        return Fraction(-1)
