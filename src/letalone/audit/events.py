"""Choosing one event: the tail of a view that tells two inputs apart best.

The draws for choosing are split once more: views learn from the first part, and the tail,
its threshold and its direction are taken from the second. An event is compared with
others by about the bound that it would give (Wilson's interval for both rates). Nothing
that happens here touches the draws that judge.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from letalone.audit.bound import HitCounts
from letalone.audit.outputs import Floats, Outputs
from letalone.audit.views import View, learn

LEARN = 4  # one in so many of the draws for choosing teaches the views
# Standard deviations. Some thousands of events are compared, and the luckiest of so many
# seems better than it is by about this much; with 2, rare lucky ones win and disappoint.
CAUTION = 4.0
# Thresholds at these shares of the learning draws: even in the middle, halving at the ends.
_ENDS = 2.0 ** -np.arange(14, 6, -1)
LEVELS = np.concatenate([_ENDS, np.arange(1, 64) / 64, 1 - _ENDS[::-1]])


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A tail of a view, and the input under which it is expected more often."""

    view: View
    threshold: float
    above: bool
    favours_one: bool

    def hits(self, outputs: Outputs) -> int:
        scores = self.view.score(outputs)
        inside = scores >= self.threshold if self.above else scores <= self.threshold
        return int(np.count_nonzero(inside))

    def counts(self, one: Outputs, other: Outputs) -> HitCounts:
        """How often it happened under the input that it favours, and under the other."""
        often, seldom = (one, other) if self.favours_one else (other, one)
        return HitCounts(self.hits(often), self.hits(seldom), len(one))

    def __str__(self) -> str:
        often, seldom = ("one", "other") if self.favours_one else ("other", "one")
        words = self.view.words(self.threshold, above=self.above)
        return f"{words} (more often under `{often}` than under `{seldom}`)"


def best_event(one: Outputs, other: Outputs, *, delta: Fraction) -> tuple[float, Event]:
    """The event that seems to give the largest bound, after about that bound; from these draws."""
    learned = len(one) // LEARN
    teachers = one.part(0, learned), other.part(0, learned)
    judges = one.part(learned, len(one)), other.part(learned, len(other))
    choices = (_best_tail(view, teachers, judges, float(delta)) for view in learn(*teachers))
    return max(choices, key=lambda choice: choice[0])


def _best_tail(
    view: View,
    teachers: tuple[Outputs, Outputs],
    judges: tuple[Outputs, Outputs],
    delta: float,
) -> tuple[float, Event]:
    thresholds = _thresholds(*(view.score(part) for part in teachers))
    tails = [_tails(view.score(part), thresholds) for part in judges]
    total = len(judges[0])
    # Rows: at least, at most; then the same with the inputs exchanged.
    often, seldom = np.stack([tails[0], tails[1]]), np.stack([tails[1], tails[0]])
    excess = _wilson(often, total, -CAUTION) - delta
    worth = np.log(np.maximum(excess, 1e-300) / _wilson(seldom, total, CAUTION))
    way, tail, place = np.unravel_index(int(np.argmax(worth)), worth.shape)
    event = Event(view, float(thresholds[place]), bool(tail == 0), bool(way == 0))
    return float(worth[way, tail, place]), event


def _thresholds(one: Floats, other: Floats) -> Floats:
    quantiles = [_quantiles(np.sort(scores[~np.isnan(scores)])) for scores in (one, other)]
    both = np.unique(np.concatenate(quantiles))
    return both if both.size else np.zeros(1)


def _quantiles(ordered: Floats) -> Floats:
    return ordered[(LEVELS * len(ordered)).astype(np.int64)] if ordered.size else ordered


def _tails(scores: Floats, thresholds: Floats) -> NDArray[np.int64]:
    """How many scores are at least each threshold, and how many at most."""
    ordered = np.sort(scores[~np.isnan(scores)])
    at_least = len(ordered) - np.searchsorted(ordered, thresholds, side="left")
    return np.stack([at_least, np.searchsorted(ordered, thresholds, side="right")])


def _wilson(hits: NDArray[np.int64], total: int, deviations: float) -> Floats:
    share, squared = hits / total, deviations**2 / total
    width = deviations / np.sqrt(total) * np.sqrt(share * (1 - share) + squared / 4)
    return np.maximum((share + squared / 2 + width) / (1 + squared), 0)
