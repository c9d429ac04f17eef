"""An odometer: how much was spent so far, where nobody has set a limit.

    meter = Odometer(delta=1e-6)
    meter.charge(PureDP(0.1))         # 0.125: the first mark that is not passed

A row of filters, one for each mark e_1 < e_2 < …, each with an equal part of delta. All
are charged for every release; the reading is the smallest mark whose filter never refused.

Theorem.  With r(h) the reading after a transcript h,
    P(S) <= sum over h in S of e^r(h) Q(h) + delta
for every event S, whenever the questions and the time to stop are chosen from earlier
answers. So whoever stops when a reading is reached has that epsilon, after the fact.
  Proven:   docs/explanation/proofs/filters.md, section 5
  Tested:   the reading never falls, and is the mark at which a filter would have refused
"""

from fractions import Fraction
from math import inf
from threading import Lock

from letalone.errors import BudgetExceeded
from letalone.exact.typed import DELTA, EPSILON, Number
from letalone.privacy.bank import USUAL_SHARES, Shares
from letalone.privacy.bounds import above
from letalone.privacy.budget import Budget
from letalone.privacy.curve import Privacy
from letalone.privacy.filters import FilterState, charged, opened

USUAL_MARKS = tuple(
    Fraction(2) ** power * more for power in range(-3, 6) for more in (1, Fraction(3, 2))
)


class Odometer:
    """Reads the smallest of fixed marks that all releases together are certainly within."""

    __slots__ = ("_lock", "_marks", "_states", "delta")

    def __init__(
        self,
        delta: Number,
        *,
        marks: tuple[Number, ...] = USUAL_MARKS,
        shares: Shares = USUAL_SHARES,
    ) -> None:
        self.delta = DELTA.typed("delta", delta)
        levels = sorted({EPSILON.typed("mark", mark) for mark in marks})
        self._states: list[FilterState | None] = [
            opened(Budget(mark, self.delta / len(levels)), shares) for mark in levels
        ]
        self._marks = tuple(levels)
        self._lock = Lock()

    def charge(self, privacy: Privacy, *, delta: Number | None = None) -> float:
        """Count a release, before its noise is drawn; returns the reading."""
        with self._lock:
            self._states = [
                state and _charged_or_passed(state, privacy, delta) for state in self._states
            ]
        return self.epsilon

    @property
    def epsilon(self) -> float:
        """The smallest mark that was never passed; inf where all were."""
        pairs = zip(self._marks, self._states, strict=True)
        left = [mark for mark, state in pairs if state is not None]
        return above(left[0]) if left else inf

    def __copy__(self) -> "Odometer":
        return self

    def __deepcopy__(self, memo: object) -> "Odometer":
        return self

    def __repr__(self) -> str:
        return f"Odometer(at most ε = {self.epsilon:g}, δ = {float(self.delta):g})"


def _charged_or_passed(
    state: FilterState, privacy: Privacy, delta: Number | None
) -> FilterState | None:
    try:
        return charged(state, privacy, delta=delta)
    except BudgetExceeded:
        return None  # passed, and for ever: later releases are not tried
