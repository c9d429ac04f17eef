"""How often a test for one person is right, and whether that is more than D6 allows.

A test says "in" or "not in". Its threshold is chosen on the first half of the trials and judged
on the second, so that what is counted are independent coins.

Theorem.  If a release keeps a trade-off curve f and the trials are independent, `exceeds` is true
with probability at most 1 - confidence: each of the two rates is outside its one-sided interval
with probability at most half of that. The other direction is the same event: `tradeoff` is the
lower envelope of both, so (a, b) lies below it exactly where (b, a) does. The false alarms are
counted, too, so what D6 allows is stated at the upper end of their interval: `allowed` is below
what the curve allows this very test with probability at most half of 1 - confidence, and
`exceeds` says that the lower end of the detections is above it.
  Proven:   docs/explanation/proofs/tradeoff.md (D6); the intervals are Clopper and Pearson's
  Tested:   tests/attacks/test_rates.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from letalone.answers.promise import as_percent, most_caught
from letalone.attacks.result import Numbers
from letalone.drawing.chart import Series, SeriesStyle
from letalone.privacy import Privacy

Floats = NDArray[np.float64]
BOUND_STEPS = 40  # of a bound along the axis


@dataclass(frozen=True, slots=True)
class Rates(Numbers):
    """How often a test said "in": `caught` of the members, `alarms` of the outsiders."""

    caught: int
    members: int
    alarms: int
    outsiders: int
    _json: ClassVar[str] = (
        "detection false_alarm interval alarms_at_most=_alarms_at_most members outsiders"
    )

    @property
    def detection(self) -> float:
        """The share of members that were found."""
        return self.caught / self.members

    @property
    def false_alarm(self) -> float:
        """The share of outsiders that were taken for members."""
        return self.alarms / self.outsiders

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Where the rate of detection lies, this surely."""
        miss = (1 - confidence) / 2
        return least(self.caught, self.members, miss), most(self.caught, self.members, miss)

    @property
    def _alarms_at_most(self) -> float:
        return most(self.alarms, self.outsiders, 0.025)

    def exceeds(self, privacy: Privacy, confidence: float = 0.95) -> bool:
        """Whether the test is better than the curve allows, beyond sampling error."""
        return self.interval(confidence)[0] > self.allowed(privacy, confidence)

    def allowed(self, privacy: Privacy, confidence: float = 0.95) -> float:
        """D6: the most that a test with these false alarms detects, this surely."""
        return most_caught(privacy, most(self.alarms, self.outsiders, (1 - confidence) / 2))

    def told(self, confidence: float = 0.95) -> str:
        """The rate of detection with its interval, in percent."""
        low, high = self.interval(confidence)
        return f"{as_percent(self.detection)} ({100 * low:.0f} to {100 * high:.0f})"


def least(hits: int, trials: int, miss: float) -> float:
    """A rate that the true one is below with probability at most `miss`."""
    return float(betaincinv(hits, trials - hits + 1, miss)) if hits else 0.0


def most(hits: int, trials: int, miss: float) -> float:
    """A rate that the true one is above with probability at most `miss`."""
    return float(betaincinv(hits + 1, trials - hits, 1 - miss)) if hits < trials else 1.0


def exchange(rates: Rates) -> Rates:
    """The same with members and outsiders exchanged."""
    return Rates(rates.alarms, rates.outsiders, rates.caught, rates.members)


def series_of(
    label: str, across: Sequence[float], rates: Sequence[Rates], style: SeriesStyle
) -> Series:
    """Rates of detection with their intervals, to be drawn."""
    low, high = zip(*(rate.interval() for rate in rates), strict=True)
    return Series(label, tuple(across), tuple(rate.detection for rate in rates), style, low, high)


def bound(privacy: Privacy, label: str, rates: Sequence[float] = ()) -> Series:
    """D6: the most often that any test is right about one person, by its false alarms."""
    across = tuple(rates) or tuple(step / BOUND_STEPS for step in range(BOUND_STEPS + 1))
    caught = tuple(1 - privacy.tradeoff(rate) for rate in across)
    return Series(label, across, caught, SeriesStyle.BOUND)


def judge_scores(members: Floats, outsiders: Floats, false_alarm: float) -> Rates:
    """The test "the score is high": threshold from the first half, rates from the second."""
    (first, second), (_, later) = _halves(outsiders), _halves(members)
    threshold = np.quantile(first, 1 - false_alarm, method="higher")
    caught, alarms = int((later > threshold).sum()), int((second > threshold).sum())
    return Rates(caught, len(later), alarms, len(second))


def _halves(scores: Floats) -> tuple[Floats, Floats]:
    middle = len(scores) // 2
    return scores[:middle], scores[middle:]
